/**
 * A whole desired state, planned and applied from a program: what `reconcile plan` and `reconcile apply` do, without a
 * terminal. Everything that could be lost is in the plan's consents, and `apply` refuses without the grants for them.
 */
import { randomUUID } from "node:crypto";
import { type Connection, openConnection, type Settings } from "./connect";
import type { PlanOptions } from "./core/diff/context";
import type { Desired } from "./core/model/desired";
import { hasErrors } from "./core/model/diagnostic";
import type { ExternalValues } from "./core/model/external";
import { type Grants, noGrants } from "./core/plan/consent";
import type { Plan } from "./core/plan/plan";
import { applyPlan, hasNothingToDo } from "./engine/apply";
import { awaitInterrupted } from "./engine/await-interrupted";
import type { EngineEvent } from "./engine/events";
import { fetchExternal } from "./engine/externals";
import { type Prepared, preparePlan } from "./engine/plan";
import type { RunReport } from "./engine/run-plan";
import { holderOf } from "./outside/holder";
import { closedOrRefused, Refused } from "./refused";
import { openProtectedStore, storesFrom } from "./store/open";
import type { StateStore } from "./store/store";

export interface PlanRequest extends PlanOptions {
  /** Where the state is: a path, a URL, or a store that is open already. */
  readonly state: string | StateStore;
  /** False: the service is not asked, everything is as the state has it. */
  readonly refresh?: boolean;
  readonly onEvent?: (event: EngineEvent) => void;
  /** Ends the look at the service. */
  readonly signal?: AbortSignal;
}

/** A plan with what it was made from: the one argument that `apply` takes. */
export interface CloudPlan extends Plan {
  readonly prepared: Prepared;
  readonly store: StateStore;
}

export interface ApplyRequest {
  /** What is permitted; left out: nothing that needs a consent. */
  readonly grants?: Partial<Omit<Grants, "unprotect">>;
  readonly onEvent?: (event: EngineEvent) => void;
  /** What is under way is finished, and nothing more is started. */
  readonly signal?: AbortSignal;
  /** Waits are given up as well; the next run goes on from there. */
  readonly stopWaiting?: AbortSignal;
}

export interface Cloud extends Connection {
  /**
   * Looks at what the file reads of elsewhere: outputs of other projects, and things of the service by id or name. Read
   * the file with `external: "later"` first, and with what this answers for a desired state that can be planned. Throws
   * Refused when something is not there. Sends only reads.
   */
  look(desired: Desired): Promise<ExternalValues>;
  /** Looks at the service and plans: sends only reads and writes nothing. */
  plan(desired: Desired, request: PlanRequest): Promise<CloudPlan>;
  /**
   * Carries a plan out. Before anything is sent it throws ConsentMissing when the plan needs more than `grants` give,
   * StateMovedOn when the state has changed since the plan was made, and Refused when the plan has errors.
   */
  apply(plan: CloudPlan, request?: ApplyRequest): Promise<RunReport>;
}

export function openCloud(settings: Settings, folder: string): Cloud {
  const connection = openConnection(settings, folder);
  const openStore = (state: string | StateStore): StateStore =>
    typeof state === "string"
      ? openProtectedStore(state, { environment: process.env, insecureHttp: settings.insecureHttp === true, folder })
      : state;
  return {
    ...connection,
    async look({ external = { reads: [], lookups: [] } }) {
      const { client } = await connection.portsOf([]);
      const open = storesFrom(folder, { insecureHttp: settings.insecureHttp === true });
      const { values, diagnostics } = await fetchExternal(external, client, open);
      if (hasErrors(diagnostics)) throw new Refused(diagnostics);
      return values;
    },
    async plan(desired, { state, refresh, onEvent, signal, ...options }) {
      const closed = closedOrRefused(desired);
      const store = openStore(state);
      const { client, clock, timing } = await connection.portsOf(desired.resources);
      const lineage = randomUUID();
      const { discoveryWindowMs } = timing;
      await awaitInterrupted(store, client, { clock, timing }, lineage, signal ?? new AbortController().signal);
      const prepared = await preparePlan({
        desired: closed,
        store,
        client,
        options,
        clock,
        lineage,
        observe: refresh !== false,
        discoveryWindowMs,
        emit: onEvent,
        signal,
      });
      return { ...prepared.plan, prepared, store };
    },
    async apply({ prepared, store }, { grants, onEvent = () => undefined, signal, stopWaiting } = {}) {
      const { plan, desired } = prepared;
      if (hasErrors(plan.diagnostics))
        throw new Refused(plan.diagnostics.filter(({ severity }) => severity === "error"));
      if (hasNothingToDo(plan, prepared)) return nothingDone;
      const never = new AbortController().signal;
      return applyPlan({
        prepared,
        store,
        ports: { ...(await connection.portsOf(desired.resources)), emit: onEvent },
        holder: holderOf("a program"),
        stop: { soft: signal ?? never, hard: stopWaiting ?? never },
        planId: randomUUID(),
        // No program lifts prevent_destroy.
        grants: { ...noGrants, ...grants, unprotect: [] },
      });
    },
  };
}

const nothingDone: RunReport = {
  steps: [],
  counts: { done: 0, failed: 0, skipped: 0, waiting: 0 },
  orphans: [],
  interrupted: false,
};
