/** Pretends that a plan ran: the scheduler's own order over a made-up clock, with ends decided by the caller. Sends nothing. */
import type { Plan } from "../../reconciler/core/plan/plan";
import type { Step } from "../../reconciler/core/plan/step";
import { createScheduler, type Ended } from "../../reconciler/core/schedule/scheduler";
import type { EngineEvent, StepStatus } from "../../reconciler/engine/events";
import type { RunReport, StepReport } from "../../reconciler/engine/run-plan";

type Result = Exclude<StepReport["result"], { readonly end: "skipped" }>;

export interface PretendedRun {
  readonly run: RunReport;
  readonly events: readonly { readonly at: number; readonly event: EngineEvent }[];
}

export function pretendRun(plan: Plan, resultOf: (step: Step) => Result = () => ({ end: "done" })): PretendedRun {
  const scheduler = createScheduler(plan.steps);
  const events: { at: number; event: EngineEvent }[] = [];
  const reports = new Map<string, StepReport>();
  const running: { step: Step; startedAt: number; endsAt: number }[] = [];
  let now = 0;
  const emit = (step: Step, status: StepStatus, elapsedMs: number, message?: string): void => {
    if (step.action.operation === "record" && step.action.changes.length === 0) return;
    events.push({
      at: now,
      event: {
        type: "step",
        status,
        step: step.id,
        address: step.address,
        operation: step.action.operation,
        attempt: 1,
        elapsedMs,
        title: step.title,
        ...(message === undefined ? {} : { message }),
      },
    });
  };
  const endWithout = (ended: readonly Ended[]): void => {
    for (const { step, end, because } of ended) {
      if (end !== "skipped" && end !== "waiting") continue;
      const message = `because ${because} ${end === "waiting" ? "waits" : "did not succeed"}`;
      reports.set(step.id, { step, result: { end, message }, waitedMs: 0 });
      emit(step, end, 0, message);
    }
  };
  for (;;) {
    for (const step of scheduler.next()) {
      running.push({ step, startedAt: now, endsAt: now + step.estimateMs });
      emit(step, "started", 0);
    }
    running.sort((a, b) => a.endsAt - b.endsAt);
    const next = running.shift();
    if (next === undefined) break;
    now = next.endsAt;
    const { step, startedAt } = next;
    const result = resultOf(step);
    reports.set(step.id, { step, result, startedAt, endedAt: now, waitedMs: 0 });
    emit(step, result.end === "unknown" ? "failed" : result.end, now - startedAt, result.message);
    endWithout(scheduler.finish(step.id, result.end));
  }
  const steps = plan.steps.flatMap((step) => reports.get(step.id) ?? []);
  const counts = { done: 0, failed: 0, skipped: 0, waiting: 0 };
  for (const { step, result } of steps)
    if (!(step.action.operation === "record" && step.action.changes.length === 0))
      counts[result.end === "unknown" ? "failed" : result.end]++;
  return { run: { steps, counts, orphans: [], interrupted: false }, events };
}
