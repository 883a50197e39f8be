/** The engine on a world of tests, whatever stands behind its client: a plan as the command makes it, and its run. */
import { asClosed, type Desired } from "../../reconciler/core/model/desired";
import { PermittedPlan } from "../../reconciler/core/plan/permitted";
import { carryOutPermitted } from "../../reconciler/engine/apply";
import { awaitInterrupted } from "../../reconciler/engine/await-interrupted";
import { type Prepared, type PreparePlan, preparePlan } from "../../reconciler/engine/plan";
import type { Ports } from "../../reconciler/engine/ports";
import type { RunReport, StopSignals } from "../../reconciler/engine/run-plan";
import type { StateStore } from "../../reconciler/store/store";

export interface OnWorld {
  readonly store: StateStore;
  readonly ports: Ports;
  readonly lineage?: string;
}

export const holder = { who: "test", host: "test", pid: 1, since: "2026-01-01T00:00:00Z", command: "test" };
const never = new AbortController().signal;

export const prepareOn = (
  { store, ports: { client, clock }, lineage = "story" }: OnWorld,
  desired: Desired,
  more: Partial<PreparePlan> = {},
): Promise<Prepared> =>
  preparePlan({ desired: asClosed(desired), store, client, clock, lineage, options: {}, observe: true, ...more });

/** As on a twin: nobody is asked. */
export const carryOutOn = (
  { store, ports }: OnWorld,
  prepared: Prepared,
  stop: StopSignals = { soft: never, hard: never },
): Promise<RunReport> =>
  carryOutPermitted(PermittedPlan.onTwin(prepared.plan), {
    ...{ prepared, store, ports, holder, planId: "plan", stop },
  });

/** What a run that was interrupted left in flight, as `apply` waits for it. */
export const awaitOpenOn = ({ store, ports, lineage = "story" }: OnWorld) =>
  awaitInterrupted(store, ports.client, ports, lineage, never);
