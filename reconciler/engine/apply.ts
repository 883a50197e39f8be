import { type Grants, noGrants } from "../core/plan/consent";
import { PermittedPlan } from "../core/plan/permitted";
import { isEmpty, type Plan } from "../core/plan/plan";
import { emptyState } from "../core/state/fold";
import { writeSnapshot } from "../core/state/text";
import { invariant } from "../core/text/invariant";
import type { Holder, StateStore } from "../store/store";
import { whyMayBeCreated } from "./await-interrupted";
import { openState, type Prepared } from "./plan";
import type { Ports } from "./ports";
import { createRecorder, type Recorder } from "./recorder";
import { type RunReport, runPlan, type StopSignals } from "./run-plan";

/** A service that was accepted is remembered, whatever else there is to do. */
export const hasNothingToDo = (plan: Plan, { scope }: Pick<Prepared, "scope"> = {}): boolean =>
  isEmpty(plan) && plan.bookkeeping.length === 0 && (scope === undefined || plan.options.acceptService !== true);

export class StateMovedOn extends Error {
  override readonly name = "StateMovedOn";
  readonly code = "state/moved-on";
}

/** Locks the state and opens it for writing; a new one gets its lineage first. */
export async function openForWriting(
  store: StateStore,
  holder: Holder,
  lineage: string,
  signal?: AbortSignal,
): Promise<{ readonly recorder: Recorder; readonly lineage: string; readonly serial: number }> {
  const session = await store.lock(holder, signal);
  try {
    let stored = await session.read();
    if (stored.snapshot === undefined) {
      await session.replace(writeSnapshot({ ...emptyState(lineage), epoch: session.epoch }));
      stored = await session.read();
    }
    const { state } = openState(stored, store.location, lineage);
    // What an older holder writes counts for nothing.
    invariant(session.epoch >= state.epoch, "no holder of the state has an older epoch than the last one");
    return { recorder: createRecorder(state, session), lineage: state.lineage, serial: state.serial };
  } catch (error) {
    await session.release().catch(() => undefined);
    throw error;
  }
}

export interface ApplyInput {
  readonly prepared: Prepared;
  readonly store: StateStore;
  readonly ports: Ports;
  readonly holder: Holder;
  readonly stop: StopSignals;
  readonly planId: string;
  /** What the user permits; left out: nothing that needs a consent. */
  readonly grants?: Grants;
}

/** Throws ConsentMissing, before the state is even locked, when the plan needs more than the grants give. */
export async function applyPlan({ grants, ...input }: ApplyInput): Promise<RunReport> {
  return carryOutPermitted(PermittedPlan.of(input.prepared.plan, grants ?? noGrants), input);
}

export async function carryOutPermitted(
  permitted: PermittedPlan,
  input: Omit<ApplyInput, "grants">,
): Promise<RunReport> {
  const { prepared, store, ports } = input;
  const { plan } = permitted;
  const opened = await openForWriting(store, input.holder, plan.lineage, input.stop.soft);
  let report: RunReport;
  try {
    if (opened.serial !== plan.serial || (opened.lineage !== plan.lineage && plan.serial !== 0))
      throw new StateMovedOn(
        `the state ${store.location} was changed by somebody else since this plan was made (serial ${plan.serial} then, ${opened.serial} now); plan again`,
      );
    const { bookkeeping } = plan;
    const { state } = opened.recorder;
    const doubt = await whyMayBeCreated(bookkeeping, state, prepared.live, ports.client, ports, input.stop.soft);
    if (doubt !== undefined) throw new StateMovedOn(`${doubt}; plan again`);
    report = await runPlan(permitted, prepared.live, opened.recorder, ports, input.stop, input.planId, prepared.scope);
  } catch (error) {
    await opened.recorder.close().catch(() => undefined);
    throw error;
  }
  try {
    await opened.recorder.close();
  } catch (error) {
    // What was done is told all the same.
    return report.broken === undefined ? { ...report, unclosed: error as Error } : report;
  }
  return report;
}
