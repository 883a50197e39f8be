/** A file that is being written is not acted on before it has stopped changing. */
import { expect, it } from "vitest";
import { readWhenStill } from "../../reconciler/cli/still-files";

const whole = "volumes:\n  one: { size: 1 }\n  two: { size: 1 }\n";
const cut = "volumes:\n  one: { size: 1 }\n";

/** The file as it is from one pause to the next; the last text stays. */
function writer(...texts: readonly string[]) {
  let at = 0;
  const text = (): string => texts[Math.min(at, texts.length - 1)] ?? "";
  return {
    read: () => ({ sources: [{ file: "reconcile.yaml", text: text() }] }),
    looks: {
      named: () => ["reconcile.yaml"],
      textOf: text,
      pause: async () => {
        at++;
      },
    },
  };
}

it.each([
  ["was whole from the start", [whole]],
  ["was cut at the end of a line when it was first read", [cut, whole]],
  ["was written in several pieces", ["", "volumes:\n", cut, whole]],
])("a file that %s is read whole", async (_, texts) => {
  const { read, looks } = writer(...texts);
  expect((await readWhenStill(read, looks)).sources[0]?.text).toBe(whole);
});

it("a file that never rests ends the round, and says how to put one in place", async () => {
  let count = 0;
  const read = () => ({ sources: [{ file: "reconcile.yaml", text: String(count) }] });
  const looks = { named: () => [], textOf: () => String(count), pause: async () => void count++ };
  await expect(readWhenStill(read, looks)).rejects.toThrow("changed each of the 20 times");
});

it.each([
  ["is put in place a moment after its neighbours", (at: number) => (at === 0 ? ["a.yaml"] : ["a.yaml", "b.yaml"])],
  ["has gone a moment later", (at: number) => (at === 0 ? ["a.yaml", "b.yaml"] : ["a.yaml"])],
])("a folder is read again where a file of it %s", async (_, filesAt) => {
  let at = 0;
  const read = () => ({ sources: filesAt(at).map((file) => ({ file, text: file })) });
  const looks = { named: () => filesAt(at), textOf: (file: string) => file, pause: async () => void at++ };
  expect((await readWhenStill(read, looks)).sources.map(({ file }) => file)).toEqual(filesAt(1));
});

it("a file of variables is read again that was cut when it was read, though it is none of the sources", async () => {
  let text = "n: 1";
  const read = () => ({ sources: [], n: text });
  const pause = async () => {
    text = "n: 10\n";
  };
  expect(await readWhenStill(read, { named: () => ["n.vars.yaml"], textOf: () => text, pause })).toMatchObject({
    n: "n: 10\n",
  });
});
