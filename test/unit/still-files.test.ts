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
  const looks = { textOf: () => String(count), pause: async () => void count++ };
  await expect(readWhenStill(read, looks)).rejects.toThrow("changed each of the 20 times");
});
