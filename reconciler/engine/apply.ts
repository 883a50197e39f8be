/**
 * From a plan to a converged world: what interrupted runs left is looked for first, the lock is taken only when there
 * is something to write, and a state that changed since the plan was made is not written over.
 */
import type { Desired } from "../core/model/desired";
import type { Intent } from "../core/model/recorded";
import { isEmpty, type Plan } from "../core/plan/plan";
import { emptyState } from "../core/state/fold";
import { writeSnapshot } from "../core/state/text";
import type { ServiceClient } from "../service/client";
import type { Holder, StateStore } from "../store/store";
import { openState, type Prepared } from "./plan";
import { createPoller } from "./poller";
import type { Clock, Ports } from "./ports";
import { createRecorder, type Recorder } from "./recorder";
import { type RunReport, runPlan, type StopSignals } from "./run-plan";

export const hasNothingToDo = (plan: Plan): boolean => isEmpty(plan) && plan.bookkeeping.length === 0;

export class StateMovedOn extends Error {
  override readonly name = "StateMovedOn";
  readonly code = "state/moved-on";
}

/** Locks the state and opens it for writing; a new one gets its lineage first. */
export async function openForWriting(
  store: StateStore,
  holder: Holder,
  lineage: string,
): Promise<{ readonly recorder: Recorder; readonly lineage: string; readonly serial: number }> {
  const session = await store.lock(holder);
  try {
    let stored = await session.read();
    if (stored.snapshot === undefined) {
      await session.replace(writeSnapshot({ ...emptyState(lineage), epoch: session.epoch }));
      stored = await session.read();
    }
    const { state } = openState(stored, store.location, lineage);
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
}

export async function applyPlan(input: ApplyInput): Promise<RunReport> {
  const { prepared, store, ports } = input;
  const { plan } = prepared;
  const opened = await openForWriting(store, input.holder, plan.lineage);
  try {
    if (opened.serial !== plan.serial || (opened.lineage !== plan.lineage && plan.serial !== 0))
      throw new StateMovedOn(
        `the state ${store.location} was changed by somebody else since this plan was made (serial ${plan.serial} then, ${opened.serial} now); plan again`,
      );
    return await runPlan(plan, prepared.live, opened.recorder, ports, input.stop, input.planId);
  } finally {
    await opened.recorder.close();
  }
}

/**
 * A create whose answer an earlier run did not get may still be about to show in the list: it is looked for until its
 * discovery window is over, so that the plan made next neither misses it nor makes it twice.
 */
export async function awaitInterrupted(
  store: StateStore,
  client: ServiceClient,
  ports: Pick<Ports, "timing" | "emit"> & { clock: Clock },
  lineage: string,
  signal: AbortSignal,
): Promise<void> {
  const { state } = openState(await store.read(), store.location, lineage);
  const { clock, timing } = ports;
  const open = [...state.intents.values()].filter(
    (intent) => intent.operation === "vm.create" && client.has("vm.list"),
  );
  if (open.length === 0) return;
  const poller = createPoller(client, clock, timing.pollIntervalMs);
  await Promise.all(
    open.map(async (intent) => {
      const left = Date.parse(intent.sentAt) + timing.discoveryWindowMs - clock.now();
      if (!(left > 0) || (await isListed(client, intent))) return;
      await poller.watch(
        (seen) => (seen.named(intent.name).some((vm) => isNew(vm, intent)) ? true : undefined),
        Math.min(left, timing.discoveryWindowMs),
        [],
        signal,
      );
    }),
  );
}

async function isListed(client: ServiceClient, intent: Intent): Promise<boolean> {
  const listed = await client.listVms();
  return listed.status === "accepted" && listed.value.some((vm) => isNew(vm, intent));
}

const isNew = (vm: { readonly id: string; readonly name: string }, intent: Intent): boolean =>
  vm.name.toLowerCase() === intent.name && !intent.idsBefore.includes(vm.id);

export const withoutResources = (desired: Desired): Desired => ({
  ...desired,
  resources: [],
  imports: [],
  moved: [],
  removed: [],
});
