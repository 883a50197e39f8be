import { describe, expect, it } from "vitest";
import { type ValueShape, valueProblem } from "../../reconciler/cli/flag-values";
import { flagRows } from "../../reconciler/cli/flags";
import { readFlags } from "../../reconciler/cli/read-flags";

/** What each shape takes and refuses. */
const values: Record<ValueShape, readonly [taken: readonly string[], refused: readonly string[]]> = {
  number: [
    ["0", "20", "0.5"],
    ["", " ", "x", "-1", "Infinity", "1e999"],
  ],
  count: [
    ["1", "10"],
    ["", "0", "-1", "1.5", "all", "ten"],
  ],
  "count or all": [
    ["1", "all"],
    ["0", "ALL", "1.5"],
  ],
  duration: [
    ["30ms", "2s", "15m", "1h"],
    ["", "0", "2", "2d", "soon", "1000h"],
  ],
  "duration or 0": [
    ["0", "30s"],
    ["00", "5"],
  ],
  age: [
    ["12h", "7d", "400d"],
    ["7", "d", "1w"],
  ],
  code: [
    ["exposure/open-port", "exposure/*", "*", "policy/ours"],
    ["exposure/open-prt", "nothing/*", ""],
  ],
};

describe("the values of flags", () => {
  it.each(Object.entries(values) as [ValueShape, (typeof values)[ValueShape]][])("%s", (shape, [taken, refused]) => {
    for (const text of taken) expect(valueProblem(shape, "--flag", text), text).toBeUndefined();
    for (const text of refused)
      expect(valueProblem(shape, "--flag", text), text).toMatchObject({ severity: "error", code: "cli/bad-flag" });
  });

  it("are held all at once, each with a value that would do", () => {
    const words = ["--parallelism", "0", "--deny", "exposure/open-prt", "--max-age=5x", "--deny", "x", "--var", "a=b"];
    const { problems, badValues } = readFlags(words, {
      name: "plan",
      flags: ["parallelism", "deny", "max-age", "var"],
    });
    expect(problems).toEqual([]);
    expect(badValues.map(({ summary, fix }) => [summary, fix])).toEqual([
      ["--parallelism must be a whole number of at least 1, not 0", "--parallelism 10"],
      ["--deny exposure/open-prt denies nothing: there is no such code", "--deny exposure/open-port"],
      ["--max-age 5x is no duration", "--max-age 12h (30m, 7d, …)"],
      ["--deny x denies nothing: there is no such code", "reconcile explain lists all codes"],
    ]);
  });

  it("refuses an empty argument, which nobody types, but for the words of another program", () => {
    const command = { name: "state rm", flags: [], positionals: { min: 1, max: 9, what: "an address" } };
    expect(readFlags(["", "vm.db"], command).problems).toEqual([
      "reconcile state rm has an empty argument: a variable of the shell may be unset",
    ]);
    expect(readFlags(["vm.db", "--", "echo", ""], command)).toMatchObject({
      problems: [],
      args: ["vm.db", "echo", ""],
    });
  });

  it("have a shape wherever help calls them a number, a duration or a code", () => {
    const without = Object.entries(flagRows).filter(
      ([name, { value, shape }]) =>
        name !== "port" && shape === undefined && /^(N|D|N\|all|DURATION|CODE)$/.test(value ?? ""),
    );
    expect(without.map(([name]) => name)).toEqual([]);
  });
});
