/** What `--json` says of a run that did not get to its end: an exit code of 1 never comes without an error. */
import { expect, it } from "vitest";
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
