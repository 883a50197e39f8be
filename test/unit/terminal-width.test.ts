/** What a terminal shows is broken between parts and words, and the axis of a short run has marks that differ. */
import { PassThrough } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { askForWord } from "../../reconciler/cli/ask";
import { onceAProject } from "../../reconciler/cli/once-a-project";
import { createOutput } from "../../reconciler/cli/output";
import { whereLines, whereText } from "../../reconciler/report/where-text";

const where = {
  service: "https://cloud.example.com",
  project: "acme",
  environment: "prod",
  state: "reconcile.prod.state.json",
  commit: "4801ef3f935b0000",
};

describe("the line that says where", () => {
  it.each([40, 60, 80, 100])("keeps names whole in %i columns", (width) => {
    const lines = whereLines(where, width).split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    for (const whole of ["environment prod", "project acme", "state reconcile.prod.state.json", "commit 4801ef3f935b"])
      expect(lines.some((line) => line.includes(whole))).toBe(true);
    expect(lines.join(" ")).toBe(whereText(where));
  });
});

describe("a note", () => {
  const text = "Embedded service: no cloud; .reconcile/world, 20 times faster than planned.";
  const noted = (isTTY: boolean): string => {
    const written: string[] = [];
    const before = Object.getOwnPropertyDescriptors(process.stderr);
    const write = vi.spyOn(process.stderr, "write").mockImplementation((said) => {
      written.push(String(said));
      return true;
    });
    Object.assign(process.stderr, { isTTY, columns: 40 });
    try {
      createOutput("apply", {}).note(text);
    } finally {
      write.mockRestore();
      Object.assign(process.stderr, { isTTY: before["isTTY"]?.value, columns: before["columns"]?.value });
    }
    return written.join("");
  };

  it("is broken between words in a terminal, and nowhere else", () => {
    const lines = noted(true).trimEnd().split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
    expect(lines.join(" ")).toBe(text);
    expect(noted(false)).toBe(`${text}\n`);
  });
});

describe("a question", () => {
  const asked = async (columns: number | undefined): Promise<string> => {
    const input = new PassThrough();
    const output = new PassThrough();
    if (columns !== undefined) Object.assign(output, { columns });
    const answer = askForWord(
      "detach volume data from vm.db (needs a flush): unmount or sync it inside the guest first. Is it unmounted or synced? [y/N]",
      new AbortController().signal,
      input,
      output,
    );
    input.write("y\n");
    expect(await answer).toBe("y");
    return String(output.read());
  };

  it("is broken between words where a terminal says how wide it is, and nowhere else", async () => {
    const lines = (await asked(40)).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
    expect((await asked(undefined)).trimEnd()).not.toContain("\n");
  });
});

describe("a note that nobody can act upon", () => {
  const note = { severity: "note", code: "plan/group-names-unobserved", summary: "" } as const;
  const run = {} as never;

  it("is said while the project is new, and where it is refused", () => {
    expect(onceAProject([note], {})).toEqual([note]);
    expect(onceAProject([note], { runs: [run] })).toEqual([note]);
    expect(onceAProject([note], { runs: [run, run] })).toEqual([]);
    const denied = { ...note, severity: "error" } as const;
    expect(onceAProject([denied], { runs: [run, run] })).toEqual([denied]);
  });
});
