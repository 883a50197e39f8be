/** What `--json` says of a run that did not get to its end: an exit code of 1 never comes without an error. */
import { expect, it, vi } from "vitest";
import { forEachPart } from "../../reconciler/cli/each-environment";
import { createOutput } from "../../reconciler/cli/output";
import { exitCodeOf, runDiagnostics } from "../../reconciler/cli/run-end";
import type { RunReport } from "../../reconciler/engine/run-plan";

const clean: RunReport = {
  steps: [],
  counts: { done: 1, failed: 0, skipped: 1, waiting: 0 },
  orphans: [],
  interrupted: false,
};

it.each([
  ["it was interrupted", { ...clean, interrupted: true }, "apply/interrupted"],
  [
    "its lease was lost",
    { ...clean, broken: Object.assign(new Error("the lease is gone"), { code: "state/lease-lost" }) },
    "state/lease-lost",
  ],
  ["its state could not be written", { ...clean, broken: new Error("disk full") }, "state/store-failed"],
])("a run that ends because %s has an error in its summary", (_, report, code) => {
  expect(exitCodeOf(report)).toBe(1);
  expect(runDiagnostics(report)).toMatchObject([{ severity: "error", code }]);
});

it("a run that got to its end has none", () => {
  expect([exitCodeOf(clean), runDiagnostics(clean)]).toEqual([0, []]);
});

it("a bug in one part of a report leaves said what the parts before it had to say", async () => {
  const said: string[] = [];
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0);
  const invocation = { command: "plan", args: [], flags: {}, output: createOutput("plan", {}), commands: {} };
  try {
    const report = forEachPart(invocation, "environment", ["dev", "prod"], async (name, { output }) => {
      if (name === "prod") throw new TypeError("a bug");
      return output.finish({ exitCode: 1, diagnostics: [{ severity: "error", code: "plan/gone", summary: "of dev" }] });
    });
    await expect(report).rejects.toThrow("a bug");
  } finally {
    write.mockRestore();
  }
  expect(said.join("")).toContain("of dev");
});
