/**
 * Who makes a plan, and who may say of a desired state that nothing is missing from it. Whoever adds a way to plan meets
 * this list: a desired state comes from files through `closeDesired`, and never from a read that nobody carried out.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { asClosed, isOpen } from "../../reconciler/core/model/desired";
import { readDesired } from "../../reconciler/index";

const root = join(__dirname, "../..");
const sources = ["reconciler", "provider"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name))),
);
const callersOf = (name: string): string[] =>
  sources
    .filter((file) => {
      const text = readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
      return new RegExp(`(?<!function )(?<!const )\\b${name}\\(`).test(text);
    })
    .sort();

describe("a desired state from which something is missing", () => {
  it("is planned by nobody: these call the planner", () => {
    expect(callersOf("preparePlan")).toEqual([
      "reconciler/cli/move/project.ts",
      "reconciler/open-project.ts",
      "reconciler/rehearse/file-test.ts",
      "reconciler/rehearse/prove.ts",
      "reconciler/rehearse/rehearsal.ts",
    ]);
    expect(callersOf("makePlan")).toEqual([
      "reconciler/cli/take-over.ts",
      "reconciler/engine/drift.ts",
      "reconciler/engine/plan.ts",
      "reconciler/one/one-run.ts",
    ]);
  });

  it("is closed by those who read files and by those who fetch, and by nobody else", () => {
    expect(callersOf("closeDesired")).toEqual(["reconciler/cli/move/project.ts", "reconciler/open-project.ts"]);
    expect(callersOf("asClosed")).toEqual([
      // A file without reads and lookups: there is nothing to fetch.
      "reconciler/cli/check-files.ts",
      "reconciler/cli/externals.ts",
      // The values of a test are in the test.
      "reconciler/cli/file-tests.ts",
      "reconciler/config/read/desired.ts",
      "reconciler/core/model/desired.ts",
      "reconciler/engine/externals.ts",
      "reconciler/refused.ts",
      // The chapters of a proof are in the program.
      "reconciler/rehearse/prove.ts",
    ]);
    expect(callersOf("closedWith")).toEqual([
      "reconciler/cli/commands/pull.ts",
      // The judges of the branch that a pull request is for.
      "reconciler/cli/fleet/open-project.ts",
      "reconciler/cli/take-over.ts",
      "reconciler/core/plan/as-recorded.ts",
      "reconciler/core/plan/undo.ts",
      "reconciler/kinds/group/one-rule.ts",
      "reconciler/kinds/group/one.ts",
      "reconciler/kinds/volume/one-attachment.ts",
      // The same wish, with more fields left to others.
      "reconciler/one/differences.ts",
      "reconciler/one/looking.ts",
      "reconciler/one/resource-plans.ts",
      // The same wish, with the folder in which each flush command runs.
      "reconciler/open-service.ts",
    ]);
  });

  it("has no mark that a copy could bring along: a changed copy is no closed state for the compiler", () => {
    const { desired } = readDesired([{ file: "f.yaml", text: "version: 1\n" }]);
    if (desired === undefined) throw new Error("not read");
    const copy = { ...desired, resources: [] };
    // @ts-expect-error a spread leaves the mark out
    const closed: typeof desired = copy;
    expect(isOpen(closed)).toBe(false);
  });

  it("is a bug when somebody says that nothing is missing", () => {
    const text = 'version: 1\nreads: { n: { state: x.json } }\ngroups: { web: { description: "${read.n.x}" } }\n';
    const { desired } = readDesired([{ file: "f.yaml", text }], { external: "later" });
    if (desired === undefined) throw new Error("not read");
    expect(isOpen(desired)).toBe(true);
    expect(() => asClosed(desired)).toThrow("reads and lookups were not carried out");
  });
});
