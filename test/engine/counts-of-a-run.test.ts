/** How the steps of a run are counted at its end, and which of them nobody is told of (engine/run-plan.ts). */
import { expect, it } from "vitest";
import { isGate } from "../../reconciler/core/plan/step";
import { countSteps, lacksIds, notSeenIn, type StepReport } from "../../reconciler/engine/run-plan";

const marker = { operation: "record", changes: [] } as const;
const note = { operation: "record", changes: [{ type: "orphan", key: "volume:v", orphan: null }] } as const;
const start = { operation: "vm.start", vm: { address: "vm.web" } } as const;
const reported = (action: StepReport["step"]["action"], result: StepReport["result"]): StepReport => ({
  step: { id: "vm.web/start", address: "vm.web", title: "t", action, needs: [], holds: [], estimateMs: 0 },
  result,
  waitedMs: 0,
});
const done = { end: "done" } as const;
const none = { done: 0, failed: 0, skipped: 0, waiting: 0 };

it.each<readonly [what: string, report: StepReport, counts: object]>([
  ["one that is done", reported(start, done), { done: 1 }],
  ["one that failed", reported(start, { end: "failed", code: "apply/bug", message: "m" }), { failed: 1 }],
  ["one of which nobody knows", reported(start, { end: "unknown", code: "apply/bug", message: "m" }), { failed: 1 }],
  ["one that was not started", reported(start, { end: "skipped" }), { skipped: 1 }],
  ["a note in the state", reported(note, done), { done: 1 }],
  ["a marker of the order", reported(marker, done), {}],
  ["a marker of the order that was not reached", reported(marker, { end: "skipped" }), {}],
])("counts %s", (_, report, counts) => {
  expect(countSteps([report])).toEqual({ ...none, ...counts });
  expect(isGate(report.step)).toBe(Object.keys(counts).length === 0);
});

const failed = { end: "failed", code: "state/store-failed", message: "m" } as const;
it.each<readonly [what: string, result: StepReport["result"], lacks: boolean]>([
  ["at the state, with advice", { ...failed, fix: "reconcile import vm.web 7" }, true],
  ["at the state, without", failed, false],
  ["elsewhere, with advice", { ...failed, code: "service/conflict", fix: "take another name" }, false],
  ["at nothing that has a code", { end: "failed", message: "m", fix: "f" }, false],
  ["in the end, for somebody", { ...failed, end: "waiting", fix: "f" }, false],
])("tells of ids that the state lacks where a step failed %s", (_, result, lacks) =>
  expect(lacksIds({ steps: [reported(start, done), reported(start, result)] })).toBe(lacks),
);

it("calls not seen what the service could have shown, and nothing that nobody can look at", () => {
  const write = { address: "vm.web", title: "t", field: "power" as const, said: "is stopped" };
  const unseen = [
    { ...write, why: { unseen: "nobody-can-look", because: "b" } },
    { ...write, why: { unseen: "not-looked", because: "b" } },
  ] as const;
  const steps = [reported(start, { ...done, unseen }), reported(start, { end: "skipped" })];
  expect(notSeenIn({ steps })).toEqual([unseen[1]]);
});
