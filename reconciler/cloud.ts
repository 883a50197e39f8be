/**
 * A whole desired state, planned and applied from a program: what `reconcile plan`, `apply`, `drift` and their neighbours
 * do, without a terminal. Everything that could be lost is in the plan's consents, and `apply` refuses without the
 * grants for them.
 */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { baseUrlOf, openConnection, type Settings } from "./connect";
import type { PlanOptions } from "./core/diff/context";
import { type Finding, findingAsDiagnostic } from "./core/findings/finding";
import type { Desired } from "./core/model/desired";
import { type Diagnostic, errorsAmong, hasErrors } from "./core/model/diagnostic";
import type { ExternalValues } from "./core/model/external";
import type { Outputs } from "./core/model/output";
import type { Orphan, RecordedRun } from "./core/model/recorded";
import { desiredAsRecorded } from "./core/plan/as-recorded";
import { type Grants, noGrants } from "./core/plan/consent";
import type { Plan } from "./core/plan/plan";
import type { FoldedState } from "./core/state/fold";
import { canonicalJson } from "./core/text/canonical-json";
import { onlyDefined } from "./core/text/objects";
import { printable } from "./core/text/printable";
import { assertNotMoved, hasNothingToDo } from "./engine/apply";
import { type DriftReport, findDrift } from "./engine/drift";
import type { EngineEvent } from "./engine/events";
import { fetchExternal } from "./engine/externals";
import { openStoredState, type Prepared } from "./engine/plan";
import { observeOrphans } from "./engine/refresh";
import type { RunReport } from "./engine/run-plan";
import { judgePlan } from "./judge-plan";
import { exposureOf } from "./kinds/group/exposure/exposure";
import { type Owed, owedIn } from "./kinds/vm/guest-steps";
import { openProject, type Project } from "./open-project";
import type { OpenedService } from "./open-service";
import { holderOf } from "./outside/holder";
import { closedOrRefused, Refused, refuse } from "./refused";
import { type Rehearsal, rehearse, speedOfTwin, withCatalogue } from "./rehearse/rehearsal";
import { type ShownExposure, shownExposure } from "./report/exposure-text";
import type { Service } from "./resources";
import { desiredHere, idOfUnsaved, readSaved, type SavedPlan, savePlan, stale, whatChanged } from "./saved-plan";
import { originAt } from "./service/origin-at";
import { locationBeside, openProtectedStore, storesFrom } from "./store/open";
import type { StateStore } from "./store/store";

/** Where a state is: a path, a URL, or a store that is open already. */
export type StatePlace = string | StateStore;

export interface PlanRequest extends PlanOptions {
  readonly state: StatePlace;
  /** What is there now is the state, whatever was seen of it before: it was replaced or removed on purpose. */
  readonly newState?: boolean;
  /** False: the service is not asked, everything is as the state has it. */
  readonly refresh?: boolean;
  readonly onEvent?: (event: EngineEvent) => void;
  /** Ends the look at the service, and `plan` throws `apply/interrupted`. */
  readonly signal?: AbortSignal;
}

const internals: unique symbol = Symbol("reconcile-cloud internals");

/** What a plan was made from. */
interface PlannedFrom extends MadeFor {
  readonly prepared: Prepared;
  readonly diagnostics: readonly Diagnostic[];
  readonly store: StateStore;
  readonly id: string;
}

/** What a plan is for, and nowhere else carried out. */
interface MadeFor extends Pick<SavedPlan, "base_url" | "dialect"> {
  readonly folder?: string;
}

/**
 * A plan: the one argument that `apply` takes. `JSON.stringify` makes of it what `reconcile plan --out` writes; `readPlan`
 * reads that again, and so does `reconcile apply`.
 */
export interface CloudPlan
  extends Pick<
    Plan,
    | "changes"
    | "steps"
    | "consents"
    | "diagnostics"
    | "estimate"
    | "unchanged"
    | "orphans"
    | "outputs"
    | "cost"
    | "owed"
    | "options"
    | "serial"
  > {
  toJSON(): KeptPlan;
  readonly [internals]: object;
}

/** A plan as JSON; the rest of it is as schemas/plan.schema.json says. It holds what the desired state holds. */
export interface KeptPlan {
  readonly format: "reconcile-cloud/plan";
  readonly version: 1;
  /** A digest of all of it: a plan that was changed is refused. */
  readonly id: string;
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

/** What the service shows that is not as the state has it, and the commands that are owed to guests. */
export interface Drifted extends Omit<DriftReport, "seen"> {
  readonly owed: readonly Owed[];
}

/** What a delete left alive. `seen`: what the service says of it, where it was asked. */
export interface LeftOver extends Omit<Orphan, "record" | "deleting" | "replacedBy"> {
  readonly seen?: string;
}

/** One run that wrote a state. Without an outcome it still runs, or was killed. */
export type Run = Omit<RecordedRun, "before" | "did" | "brought" | "number" | "part">;

export interface RehearseRequest {
  /** How many times faster than the real service; 120 when left out. */
  readonly speed?: number;
  readonly onEvent?: (event: EngineEvent) => void;
  readonly signal?: AbortSignal;
}

export interface Cloud extends AsyncDisposable {
  /**
   * Looks at what the file reads of elsewhere: outputs of other projects, and things of the service by id or name. Read
   * the file with `external: "later"` first, and with what this answers for a desired state that can be planned. Throws
   * Refused when something is not there. Sends only reads.
   */
  look(desired: Desired, options?: { readonly newStateOf?: readonly string[] }): Promise<ExternalValues>;
  /** Looks at the service and plans: sends only reads and writes nothing. */
  plan(desired: Desired, request: PlanRequest): Promise<CloudPlan>;
  /**
   * A plan that was kept as JSON: it is made again and compared. Throws Refused (`plan/stale`) when the world, the state,
   * the service or the dialect is not what the plan was made for. `state`: where the state is, when not where the plan
   * says.
   */
  readPlan(kept: string | object, request?: Partial<Pick<PlanRequest, "state" | "signal">>): Promise<CloudPlan>;
  /**
   * Carries a plan out. Before anything is sent it throws ConsentMissing when the plan needs more than `grants` give,
   * StateMovedOn when the state has changed since the plan was made, and Refused when the plan has errors: what `deny`,
   * `checks` and `reachability` of the file refuse is among them.
   */
  apply(plan: CloudPlan, request?: ApplyRequest): Promise<RunReport>;
  /** Who can reach what through the groups, before and after a plan. */
  exposure(plan: CloudPlan): readonly ShownExposure[];
  /** Carries a plan out on a twin of what was seen. The real service is sent only reads, and nothing is written. */
  rehearse(plan: CloudPlan, request?: RehearseRequest): Promise<Rehearsal>;
  /** What the service shows that is not as the state has it. Sends only reads. */
  drift(request: { readonly state: StatePlace; readonly acceptService?: boolean }): Promise<Drifted>;
  /** What deletes left alive, from the state alone; `refresh: true` asks the service about each. */
  orphans(request: { readonly state: StatePlace; readonly refresh?: boolean }): Promise<readonly LeftOver[]>;
  /** The outputs that were recorded by the last run, sensitive ones marked so. Asks the service nothing. */
  outputs(request: { readonly state: StatePlace }): Promise<Outputs>;
  /** The runs that wrote the state, the newest first. Asks the service nothing. */
  history(request: { readonly state: StatePlace }): Promise<readonly Run[]>;
  /** Opens the service, for handlers and look-ups. */
  service(): Promise<Service>;
  close(): Promise<void>;
}

/** `folder`: absolute, so that a program which changes its working folder goes on in the same world with the same state. */
export function openCloud(settings: Settings, folder: string): Cloud {
  const connection = openConnection(settings, folder);
  const insecureHttp = settings.insecureHttp === true;
  const readsWith = (acceptsNewOf?: readonly string[]) => storesFrom(folder, { insecureHttp, acceptsNewOf });
  const openStore = (state: StatePlace, acceptsNew = false): StateStore =>
    typeof state === "string"
      ? openProtectedStore(locationBeside(folder, state), {
          environment: process.env,
          insecureHttp,
          folder,
          acceptsNew,
        })
      : state;
  const baseUrl = (): string => baseUrlOf(settings) ?? "";
  const projectOn = (desired: Desired, service: OpenedService, store: StateStore): Project =>
    openProject({ files: { desired }, folder, service, store, openRead: readsWith() });
  const otherThan = (made: MadeFor, { dialect }: OpenedService): string[] => [
    ...(originAt(baseUrl()) === originAt(made.base_url)
      ? []
      : [`it is for the service ${made.base_url}, not ${baseUrl()}`]),
    ...(folder === (made.folder ?? folder) ? [] : [`it is for the folder ${made.folder}, not ${folder}`]),
    ...(canonicalJson(dialect) === canonicalJson(made.dialect) ? [] : ["the dialect is another one now"]),
  ];
  /** A plan that may be carried out here, with the service as it is reached by now. */
  async function openFor(plan: CloudPlan): Promise<PlannedFrom & { readonly service: OpenedService }> {
    const from = fromOf(plan);
    refuseErrors(from.prepared.plan.diagnostics);
    const service = await connection.opened();
    const differences = otherThan(from, service);
    if (differences.length > 0) throw stale(differences);
    return { ...from, service };
  }
  const stateIn = async (place: StatePlace): Promise<FoldedState> => {
    const store = openStore(place);
    return openStoredState(await store.read(), store.location, randomUUID()).state;
  };

  /** `place`: how the plan names its state, for whoever reads it as JSON. */
  async function planOn(
    desired: Desired,
    place: string,
    store: StateStore,
    { refresh, onEvent, signal, ...options }: Omit<PlanRequest, "state" | "newState">,
    saved?: SavedPlan,
  ): Promise<CloudPlan> {
    const service = await connection.opened();
    const project = projectOn(desired, service, store);
    await project.settle(signal ?? new AbortController().signal);
    const prepared = await heard(onEvent, signal, (emit, until) =>
      project.plan(options, { observe: refresh !== false, emit, signal: until }),
    );
    // What a stopped look did not show is not known, and no plan is made of it.
    if (signal?.aborted === true)
      throw refuse("apply/interrupted", "stopped before everything was looked at, so there is no plan", "plan again");
    const { plan } = prepared;
    if (saved !== undefined) assertSame(saved, plan);
    const judged = judgedByFiles(prepared);
    const asJson = (): SavedPlan =>
      saved ??
      savePlan(plan, prepared.desired, {
        folder,
        sources: [],
        planFile: join(folder, "plan.json"),
        baseUrl: baseUrl(),
        state: place,
        dialect: service.dialect,
        findings: judged.map(findingAsDiagnostic),
      });
    const { changes, steps, consents, estimate, unchanged, orphans, outputs, cost, owed } = plan;
    const refusals = judged.filter(({ refused, code }) => refused !== undefined || code === "policy/not-run");
    const diagnostics = [...plan.diagnostics, ...refusals.map(findingAsDiagnostic)];
    return {
      ...{ changes, steps, consents, diagnostics, estimate, unchanged, orphans, outputs, cost, owed },
      ...{ options: plan.options, serial: plan.serial },
      toJSON: asJson,
      [internals]: {
        ...{ prepared, diagnostics, store, id: saved?.id ?? idOfUnsaved(plan) },
        ...{ base_url: baseUrl(), dialect: service.dialect, folder },
      } satisfies PlannedFrom,
    };
  }

  return {
    service: () => connection.service() as Promise<unknown> as Promise<Service>, // programs see none of what it holds
    close: connection.close,
    [Symbol.asyncDispose]: connection.close,
    async look({ external = { reads: [], lookups: [] } }, { newStateOf } = {}) {
      const { client } = await connection.opened();
      const { values, diagnostics } = await fetchExternal(external, client, readsWith(newStateOf));
      if (hasErrors(diagnostics)) throw new Refused(diagnostics);
      return values;
    },
    plan: async (desired, { state, newState, ...request }) =>
      planOn(closedOrRefused(desired), locationOf(state), openStore(state, newState), request),
    async readPlan(kept, { state, signal } = {}) {
      const saved = readSaved("the plan", typeof kept === "string" ? kept : JSON.stringify(kept));
      const place = state === undefined ? saved.state : locationOf(state);
      const differences = [
        ...otherThan({ base_url: saved.base_url, dialect: saved.dialect }, await connection.opened()),
        ...(place === saved.state ? [] : [`it is for the state ${saved.state}, not ${place}`]),
      ];
      if (differences.length > 0) throw stale(differences);
      const desired = desiredHere(saved, folder);
      return planOn(desired, place, openStore(state ?? saved.state), { ...saved.options, signal }, saved);
    },
    async apply(plan, { grants, onEvent, signal, stopWaiting } = {}) {
      const { prepared, diagnostics, store, service, id } = await openFor(plan);
      refuseErrors(diagnostics);
      if (hasNothingToDo(prepared.plan, prepared)) return nothingDone;
      return heard(onEvent, signal, (emit, soft) =>
        projectOn(prepared.desired, service, store).apply(prepared, {
          holder: holderOf("a program"),
          stop: { soft, hard: stopWaiting ?? new AbortController().signal },
          planId: id,
          emit,
          // No program lifts prevent_destroy.
          grants: { ...noGrants, ...onlyDefined(grants ?? {}), unprotect: [] },
        }),
      );
    },
    exposure: (plan) => shownExposure(exposureOf(fromOf(plan).prepared)),
    async rehearse(plan, { speed = speedOfTwin, onEvent, signal } = {}) {
      if (!Number.isFinite(speed) || speed < 0)
        throw refuse(
          "config/invalid-value",
          `speed must be a number, 0 or more, not ${speed}`,
          "correct it, or leave it out",
        );
      const { prepared, store, service } = await openFor(plan);
      const { client, dialect, realTiming, parallelism } = service;
      const twin = { dialect, timing: realTiming, parallelism, speed, newId: randomUUID };
      const stored = await store.read();
      assertNotMoved(prepared.plan, openStoredState(stored, store.location, randomUUID()).state, store);
      const whole = await withCatalogue(prepared, client);
      return heard(onEvent, signal, (emit, until) => rehearse({ prepared: whole, stored, ...twin }, until, emit));
    },
    async drift({ state: place, acceptService }) {
      const [state, { client }] = await Promise.all([stateIn(place), connection.opened()]);
      const { seen: _, ...found } = await findDrift(client, state, { acceptService });
      return { ...found, owed: owedIn(state.resources.values()) };
    },
    async orphans({ state: place, refresh }) {
      const state = await stateIn(place);
      const orphans = [...state.orphans.values()];
      const sight = refresh === true ? await lookAt(orphans, state) : undefined;
      return orphans.map((orphan) => {
        const { record: _, deleting: __, replacedBy: ___, ...left } = orphan;
        return { ...left, seen: sight?.(orphan) };
      });
    },
    outputs: async ({ state }) => (await stateIn(state)).outputs ?? {},
    async history({ state }) {
      const { runs = [] } = await stateIn(state);
      return runs.map(({ before: _, did: __, brought: ___, number: ____, part: _____, ...run }) => run).reverse();
    },
  };

  async function lookAt(orphans: readonly Orphan[], state: FoldedState): Promise<(orphan: Orphan) => string> {
    const { client } = await connection.opened();
    const { sight, findings } = await observeOrphans(client, desiredAsRecorded(state), state, orphans);
    refuseErrors(findings);
    return (orphan) => sight(orphan).seen;
  }
}

/**
 * A listener that throws, or answers with a promise that is rejected, ends what it listens to as its signal does, and
 * then that is what the caller gets.
 */
async function heard<T>(
  onEvent: (event: EngineEvent) => unknown = () => undefined,
  signal: AbortSignal | undefined,
  work: (emit: (event: EngineEvent) => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let thrown: { readonly error: unknown } | undefined;
  let isOver = false;
  const fail = (error: unknown): void => {
    // Nobody is left to be given it.
    if (isOver) throw error;
    thrown ??= { error };
    stop.abort();
  };
  const emit = (event: EngineEvent): void => {
    if (thrown !== undefined) return;
    try {
      const answer = onEvent(event);
      if (answer instanceof Promise) void answer.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
  const until = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const [ended] = await Promise.allSettled([work(emit, until)]);
  isOver = true;
  if (thrown !== undefined) throw thrown.error;
  if (ended.status === "rejected") throw ended.reason;
  return ended.value;
}

function fromOf(plan: CloudPlan): PlannedFrom {
  // What was parsed from JSON passes for a plan in TypeScript as well.
  if (!(internals in Object(plan)))
    throw refuse(
      "plan/unreadable",
      "this is no plan that plan or readPlan has made",
      "hand in the plan itself; one that was kept as JSON is read with readPlan",
    );
  // Only `planOn` makes a plan, and the symbol is nobody else's.
  return plan[internals] as PlannedFrom;
}

const locationOf = (state: StatePlace): string => (typeof state === "string" ? state : state.location);

/** With the policy, which did not judge it. */
function judgedByFiles(prepared: Prepared): readonly Finding[] {
  const { deny = [], policy } = prepared.desired;
  const { findingsWith } = judgePlan(prepared, prepared.plan.diagnostics, { deny, strict: false });
  if (policy === undefined) return findingsWith([]);
  const summary = `the file's policy was not run: ${printable(policy.command.join(" "))}`;
  const detail = "the library runs none";
  return findingsWith([{ severity: "warning", code: "policy/not-run", summary, detail, source: policy.source }]);
}

function refuseErrors(diagnostics: readonly Diagnostic[]): void {
  if (hasErrors(diagnostics)) throw new Refused(errorsAmong(diagnostics));
}

function assertSame(saved: SavedPlan, plan: Plan): void {
  const differences = whatChanged(saved, plan);
  if (differences.length > 0) throw stale(differences);
}

const nothingDone: RunReport = {
  steps: [],
  counts: { done: 0, failed: 0, skipped: 0, waiting: 0 },
  orphans: [],
  interrupted: false,
};
