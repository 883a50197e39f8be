import { pairResources } from "../core/diff/pair";
import type { Address } from "../core/model/address";
import { declarationMark } from "../core/model/declaration-mark";
import type { Desired } from "../core/model/desired";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { allOfKind, ofKind } from "../core/model/kinds";
import type { RunEnd, RunStart, State, StateChange } from "../core/model/recorded";
import { type Grants, noGrants } from "../core/plan/consent";
import type { Sightings } from "../core/plan/memory";
import { changesOutputs, outputsNow } from "../core/plan/outputs";
import { PermittedPlan } from "../core/plan/permitted";
import { countChangesAndForgotten, isEmpty, type Plan } from "../core/plan/plan";
import { whatIsMeant } from "../core/plan/select";
import type { FoldedState } from "../core/state/fold";
import { writeSnapshot } from "../core/state/text";
import { deepEqual } from "../core/text/deep-equal";
import { asError } from "../core/text/errors";
import { invariant } from "../core/text/invariant";
import { ifAny, onlyDefined } from "../core/text/objects";
import { serviceIngressOf } from "../kinds/group/findings";
import { owedLater } from "../kinds/vm/guest-steps";
import { remounts } from "../kinds/volume/mount-again";
import type { Holder, StateSession, StateStore } from "../store/store";
import { whyMayBeCreated } from "./await-interrupted";
import { assertWhole } from "./half-moved";
import { openStoredState, type Prepared } from "./plan";
import type { Ports } from "./ports";
import { createRecorder, type Recorder } from "./recorder";
import { notSeenIn, type RunReport, runPlan, type StopSignals, unseenIn } from "./run-plan";

/** A scope that the user accepted is recorded, even when there is nothing else to do. */
export const hasNothingToDo = (plan: Plan, { scope }: Pick<Prepared, "scope"> = {}): boolean =>
  isEmpty(plan) &&
  plan.bookkeeping.length === 0 &&
  owedLater(plan).length === 0 &&
  !changesOutputs(plan.outputs) &&
  (scope === undefined || plan.options.acceptService !== true);

export class StateMovedOn extends Error {
  override readonly name = "StateMovedOn";
  readonly code = "state/moved-on" satisfies DiagnosticCode;
}

/** Throws StateMovedOn when the state is not the one that the plan was made from. */
export function assertNotMoved(
  plan: Plan,
  { serial, lineage }: Pick<FoldedState, "serial" | "lineage">,
  { location }: Pick<StateStore, "location">,
): void {
  if (serial === plan.serial && (lineage === plan.lineage || plan.serial === 0)) return;
  throw new StateMovedOn(
    `the state ${location} was changed by somebody else since this plan was made (serial ${plan.serial} then, ${serial} now); plan again`,
  );
}

/** Locks the state and opens it for writing; a new one gets its lineage with the first that is recorded. */
export async function openForWriting(
  store: StateStore,
  holder: Holder,
  lineage: string,
  signal?: AbortSignal,
  { duringMove = false }: { readonly duringMove?: boolean } = {},
): Promise<{ readonly recorder: Recorder; readonly lineage: string; readonly serial: number }> {
  const session = await store.lock(holder, signal);
  try {
    const stored = await session.read();
    const { state } = openStoredState(stored, store.location, lineage);
    if (!duringMove) assertWhole(state, store.location);
    // Entries of an older holder of the lock are not folded.
    invariant(session.epoch >= state.epoch, "no holder of the state has an older epoch than the last one");
    const isNew = (stored.snapshot ?? "").trim() === "";
    return {
      recorder: createRecorder(state, isNew ? beginning(session, state) : session),
      lineage: state.lineage,
      serial: state.serial,
    };
  } catch (error) {
    await session.release().catch(() => undefined);
    throw error;
  }
}

/** Whoever ends without recording anything, as when refused, makes no state. */
function beginning(session: StateSession, state: FoldedState): StateSession {
  let hasBegun = false;
  const replace = async (snapshot: string): Promise<void> => {
    await session.replace(snapshot);
    hasBegun = true;
  };
  return {
    ...session,
    replace,
    async append(lines) {
      if (!hasBegun) await replace(writeSnapshot({ ...state, epoch: session.epoch }));
      await session.append(lines);
    },
  };
}

export interface ApplyInput {
  readonly prepared: Prepared;
  readonly store: StateStore;
  readonly ports: Ports;
  readonly holder: Holder;
  readonly stop: StopSignals;
  readonly planId: string;
  /** The commit of the files, where it is known. */
  readonly commit?: string;
  /** What the user permits; left out: nothing that needs a consent. */
  readonly grants?: Grants;
}

function hostsMade({ changes }: Plan, { state }: Recorder): Pick<RunReport, "hosts"> {
  const hosts = changes.flatMap(({ address, action }) => {
    const record =
      action === "create" || action === "replace" || action === "import" ? state.resources.get(address) : undefined;
    return ofKind(record, "vm") ?? [];
  });
  return { hosts: ifAny(hosts) };
}

function remountsIn(
  { steps }: RunReport,
  { resources }: Desired,
  { state, addressOf }: Recorder,
): Pick<RunReport, "remounts"> {
  const declared = new Map(resources.map((resource) => [resource.address, resource]));
  const open = new Set(steps.flatMap(({ step, result }) => (result.end === "unknown" ? [step.address] : [])));
  const done = steps.flatMap(({ step, result }) =>
    // Where it is not known whether a flushed volume came off, nobody is told that it hangs there.
    result.end === "done" && !(step.action.operation === "flush" && open.has(step.address)) ? [step] : [],
  );
  return { remounts: ifAny(remounts(done, state.resources, (address) => declared.get(address), addressOf)) };
}

/** What the service put on the groups that were made, beside what was asked for. */
function warningsIn({ steps }: RunReport, { resources }: Desired, { state }: Recorder): Pick<RunReport, "warnings"> {
  const sources = new Map(resources.map(({ address, source }) => [address, source]));
  const made = steps.flatMap(({ step: { address, action }, result }) =>
    action.operation === "group.create" && result.end === "done" ? (state.resources.get(address) ?? []) : [],
  );
  return {
    warnings: ifAny(allOfKind(made, "group").flatMap((group) => serviceIngressOf(group, sources.get(group.address)))),
  };
}

/** The outputs from now on. An output of a resource that the run did not get to is left out. */
async function recordOutputs(
  prepared: Prepared,
  plan: Plan,
  recorder: Recorder,
): Promise<Pick<RunReport, "outputs" | "broken">> {
  if (plan.outputs === undefined) return {};
  const { outputs: before = {} } = recorder.state;
  const desired = whatIsMeant(prepared.desired, plan.options);
  // As the plan read them: also where a move that the targets leave out is not recorded yet.
  const { resources } = pairResources(desired, recorder.state).state;
  const outputs = outputsNow(desired.outputs ?? [], resources);
  try {
    if (!deepEqual(before, outputs)) await recorder.record([{ type: "outputs", outputs }]);
    return { outputs };
  } catch (error) {
    return { broken: asError(error) };
  }
}

/** There is nothing to do, but the look itself is recorded: without it, every plan would look again. */
export async function rememberSeen(
  { state, sightings }: Prepared,
  store: StateStore,
  holder: Holder,
  signal?: AbortSignal,
): Promise<void> {
  if (sightings?.isDue !== true) return;
  const { recorder, serial } = await openForWriting(store, holder, state.lineage, signal);
  try {
    if (serial === state.serial) await recorder.record([seenChange(sightings)]);
  } finally {
    await recorder.close();
  }
}

const seenChange = ({ at, addresses }: Sightings): StateChange => ({ type: "seen", at, addresses });

/** Throws ConsentMissing, before the state is even locked, when the plan needs more than the grants give. */
export const applyPlan = async ({ grants, ...input }: ApplyInput): Promise<RunReport> =>
  carryOutPermitted(PermittedPlan.of(input.prepared.plan, grants ?? noGrants), input);

const mostOpenRecorded = 1000;

function recordedStart(
  plan: Plan,
  desired: Desired,
  { runs }: Pick<State, "runs">,
  { holder: { who, host, command }, commit }: Pick<ApplyInput, "holder" | "commit">,
): Omit<RunStart, "number" | "at" | "id"> {
  const declared = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const { leftOut = { resources: [] } } = desired;
  // What a run of a part does not reach is as open as it was.
  const { targets, excludes, destroy } = plan.options;
  const isWhole = targets === undefined && excludes === undefined;
  const open: Record<Address, string> = isWhole ? {} : { ...runs?.at(-1)?.open };
  // For a run of very many changes, a list of those that were not reached is not worth its room in the state.
  for (const { address } of plan.steps.slice(0, mostOpenRecorded)) {
    const resource = declared.get(address);
    open[address] = resource === undefined ? "" : declarationMark(resource);
  }
  const counts = Object.entries(countChangesAndForgotten(plan.changes)).filter(([, count]) => count > 0);
  return {
    by: { who, host, command, commit },
    consents: plan.consents.map(({ kind, address }) => (address === undefined ? kind : `${kind} ${address}`)),
    ...(isWhole && destroy !== true && leftOut.resources.length === 0 ? {} : { part: true }),
    changes: Object.fromEntries(counts),
    open,
  };
}

/** The end of the run is recorded for people alone. What was done is recorded already. */
async function rememberEnd(
  report: RunReport,
  { open, sightings }: Pick<RunStart, "open"> & Pick<Prepared, "sightings">,
  recorder: Recorder,
  { clock }: Ports,
): Promise<RunReport> {
  if (report.broken !== undefined) return report;
  const { counts, interrupted, bug, steps } = report;
  const reached = new Set(steps.map(({ step }) => step.address));
  const left = new Set([
    ...steps.flatMap(({ step, result }) => (result.end === "done" ? [] : [step.address])),
    ...notSeenIn(report).map(({ address }) => address),
  ]);
  const outcome = interrupted
    ? "interrupted"
    : counts.failed > 0 || bug !== undefined
      ? "failed"
      : counts.waiting > 0 || notSeenIn(report).length > 0
        ? "waiting"
        : "done";
  const unseen = unseenIn(report).map((one) => `${one.address}: ${one.said}`);
  const end: RunEnd = {
    endedAt: clock.instant(),
    outcome,
    steps: counts,
    open: Object.fromEntries(Object.entries(open).filter(([address]) => left.has(address) || !reached.has(address))),
    unseen: unseen.length === 0 ? undefined : unseen.slice(0, mostOpenRecorded),
  };
  const seen = [
    ...(sightings === undefined ? [] : [seenChange(sightings)]),
    ...seenByRun(report, left, recorder, end.endedAt),
  ];
  try {
    await recorder.record([...seen, { type: "run_end", end }]);
    return report;
  } catch (error) {
    return { ...report, unclosed: asError(error) };
  }
}

/** What the run has done and seen is seen as well, so that the plan after it may take it from memory. */
function seenByRun(
  report: RunReport,
  left: ReadonlySet<Address>,
  { state: { resources } }: Recorder,
  at: string,
): StateChange[] {
  const blind = new Set(unseenIn(report).map(({ address }) => address));
  const done = new Set(report.steps.map(({ step }) => step.address));
  const addresses = [...done].filter(
    (address) => !left.has(address) && !blind.has(address) && resources.get(address)?.id !== undefined,
  );
  if (addresses.length === 0) return [];
  return [
    { type: "seen", at, ...onlyDefined({ addresses: addresses.length < resources.size ? addresses : undefined }) },
  ];
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
    assertNotMoved(plan, opened, store);
    const { bookkeeping } = plan;
    const { state } = opened.recorder;
    const doubt = await whyMayBeCreated(bookkeeping, state, prepared.live, ports.client, ports, input.stop.soft);
    if (doubt !== undefined) throw new StateMovedOn(`${doubt}; plan again`);
    const run = recordedStart(permitted.plan, prepared.desired, state, input);
    const remembered = { id: input.planId, run };
    report = await runPlan(permitted, prepared.live, opened.recorder, ports, input.stop, remembered, prepared.scope);
    if (report.broken === undefined) report = { ...report, ...(await recordOutputs(prepared, plan, opened.recorder)) };
    report = {
      ...report,
      ...hostsMade(plan, opened.recorder),
      ...remountsIn(report, prepared.desired, opened.recorder),
      ...warningsIn(report, prepared.desired, opened.recorder),
    };
    report = await rememberEnd(report, { open: run.open, sightings: prepared.sightings }, opened.recorder, ports);
  } catch (error) {
    await opened.recorder.close().catch(() => undefined);
    throw error;
  }
  try {
    await opened.recorder.close();
  } catch (error) {
    // The report of what was done is given all the same.
    return report.broken === undefined ? { ...report, unclosed: asError(error) } : report;
  }
  return report;
}
