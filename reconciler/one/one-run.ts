/**
 * Plans and carries out the desired state of one resource with the engine's own plan and run, over a state that lives
 * for one call. The caller makes it durable: what became true comes back as a record, after a failure too.
 */

import { type Address, kindOf } from "../core/model/address";
import { type Closed, nothingDesired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { disksOf } from "../core/model/disks";
import { acceptService as acceptServiceFlag } from "../core/model/evidence";
import { cataloguedOf } from "../core/model/fields";
import { type Kind, ofKind } from "../core/model/kinds";
import { type Live, notSeen, sight } from "../core/model/live";
import type {
  Disk,
  Intent,
  Orphan,
  RecordedResource,
  RecordedVm,
  Scope,
  State,
  StateChange,
} from "../core/model/recorded";
import { type Consent, missingConsent, noGrants } from "../core/plan/consent";
import { ConsentMissing, PermittedPlan } from "../core/plan/permitted";
import { makePlan, type Plan } from "../core/plan/plan";
import { writtenChanges } from "../core/plan/record-patch";
import { unseenDiagnostic } from "../core/plan/unseen";
import { emptyState, type FoldedState } from "../core/state/fold";
import { ifPossible } from "../core/text/errors";
import { fieldsIn, onlyDefined } from "../core/text/objects";
import { observeCatalogue } from "../engine/observe-catalogue";
import { createRecorder, type Recorder } from "../engine/recorder";
import { refresh } from "../engine/refresh";
import { type RunReport, runPlan, unseenIn } from "../engine/run-plan";
import type { StateSession } from "../store/store";
import {
  failure,
  type HandlerContext,
  HandlerFailure,
  type HandlerService,
  type Props,
  sentence,
  throwErrors,
} from "./handler";
import { thingAt, thingOf } from "./ownership";
import { NotedMeanwhile, type OpenCreate, type ProgramNotes } from "./program-notes";
import type { SharedLooks } from "./shared-looks";
import type { Told } from "./stands-on";
import { isVouchedFor, noteRecorded, noteShown, someUnseen, witnessesOf } from "./witnesses";
import { inProgramWords } from "./words";

/** What is kept between two calls: the engine's record, or a create whose outcome is open. */
export interface Remembered {
  readonly record?: RecordedResource;
  readonly intent?: Intent;
  /** The service, project and credential that the record is of. */
  readonly scope?: Scope;
  /** Tells this resource from another one of the program that names the same thing. */
  readonly owner?: string;
  /**
   * The resource was read by its id and not changed since, so it is not known which of its values the program manages.
   */
  readonly imported?: true;
  /** What the command of an attachment was last told. */
  readonly told?: Told;
  /** Properties that the program has left out, and that the last update could not empty in the service. */
  readonly emptying?: readonly string[];
}

/** What a call asks with. */
export interface Asking {
  readonly service: HandlerService;
  readonly signal: AbortSignal;
}

/** One call about a resource that there is. */
export interface OfOne extends Asking {
  readonly context: HandlerContext;
  readonly id: string;
  /** What is kept of it. */
  readonly before: Props;
}

/** The state of one call, and the address that its resource has there. */
export interface OneState extends FoldedState {
  readonly address: Address;
}

export interface PlannedOne {
  readonly plan: Plan;
  readonly live: Live;
  readonly findings: readonly Diagnostic[];
  readonly state: OneState;
  /** What an update leaves alone, because only the service shows it as different. */
  readonly spares?: string;
}

export function stateOf(
  address: Address,
  { record, intent, scope }: Remembered,
  others: readonly RecordedResource[] = [],
): OneState {
  const own = record === undefined ? [] : [{ ...record, address }];
  return {
    ...withRecords([...others, ...own]),
    address,
    intents: new Map(intent === undefined ? [] : [[address, { ...intent, address }]]),
    ...onlyDefined({ scope }),
  };
}

/**
 * Plans on the records alone. Only the catalogue is asked, where two spellings may mean one flavor or image, and before
 * a replacement: the old resource is deleted first, and must not be when the new one would be refused.
 */
export async function planAsRecorded({ service, signal }: Asking, desired: Closed, state: OneState) {
  const planWith = (catalogue: Live["catalogue"]): PlannedOne =>
    planAgain(service, { state, live: { ...notSeen, catalogue }, findings: [] }, desired);
  const lookUp = (asOf: State) => observeCatalogue(service.client, desired, asOf, signal);
  const planned = planWith(spelledAlike(desired, state) ? {} : await lookUp(state));
  const { address } = state;
  if (changeOf(planned)?.action !== "replace" || cataloguedOf[kindOf(address)].length === 0) return planned;
  // As for a resource that does not exist yet: every list of the catalogue.
  return planWith(await lookUp(stateOf(address, {})));
}

/** Every flavor and image is written as it was, so nothing has to be looked up. */
const spelledAlike = (desired: Closed, state: State): boolean =>
  desired.resources.every((resource) => {
    const record = fieldsIn(state.resources.get(resource.address));
    return cataloguedOf[resource.kind].every((key) => record[key] === fieldsIn(resource)[key]);
  });

export async function planAsObserved(of: Asking, desired: Closed, state: OneState, look: HowFresh = "fresh") {
  return planAgain(of.service, { state, ...(await observe(of, desired, state, look)) }, desired);
}

const withRecords = (records: readonly RecordedResource[]): FoldedState => ({
  ...emptyState("one"),
  resources: new Map(records.map((record) => [record.address, record])),
});

/** How old the answers may be that a look uses. */
export type HowFresh = Exclude<keyof SharedLooks, "busyAt" | "vmShownLately">;

const vouchMs = 1000;
const vouchEveryMs = 50;

/**
 * A single record cannot prove that the credential is of the right project. The other resources of the program, which
 * the same process looks at, prove it.
 */
async function observe({ service, signal }: Asking, desired: Closed, state: OneState, look: HowFresh) {
  const { clock, acceptService = false } = service;
  const client = service.looks?.[look] ?? service.client;
  noteRecorded(service, state);
  const seeing = async () => {
    const seen = await refresh(client, desired, state, { signal, acceptService, witnesses: witnessesOf(service) });
    noteShown(service, seen.live);
    return seen;
  };
  let seen = await seeing();
  const isOfService = seen.live.doubt !== undefined && seen.live.doubt.about !== "credential";
  const unproven = kindsUnproven(seen.live, state);
  if (isOfService || unproven.size === 0) return seen;
  const others = someUnseen(service, state, unproven);
  if (others.length > 0) {
    noteShown(service, (await refresh(client, nothingDesired, withRecords(others), { signal })).live);
    seen = await seeing();
    if (kindsUnproven(seen.live, state).size === 0) return seen;
  }
  const until = clock.now() + vouchMs;
  while (!isVouchedFor(service, unproven) && clock.now() < until && !signal.aborted)
    await clock.sleep(vouchEveryMs, signal);
  // What has shown meanwhile is a part of why it is not proven.
  return signal.aborted ? seen : seeing();
}

/**
 * Another project's credential makes something new without a word. Where this process knows other resources of the
 * program, one of them has to show first.
 */
export async function assertOwnProject({ service, signal }: Asking): Promise<void> {
  if (service.acceptService === true || isVouchedFor(service)) return;
  const others = someUnseen(service, emptyState("one"), new Set());
  if (others.length === 0) return;
  const client = service.looks?.forCreate ?? service.client;
  const { live } = await refresh(client, nothingDesired, withRecords(others), { signal });
  noteShown(service, live);
  if (live.doubt === undefined || isVouchedFor(service)) return;
  // Not by their names, which may be secrets of those resources.
  const unseen = others.map(({ kind, id }) => `${kind} ${id}`).join(", ");
  throw failure(
    "consent/accept-service",
    `nothing is made: the service shows none of what this program has made already (${unseen}), and a credential of another project is shown just that`,
    "use the credential of the program's project; if it is the right one, and all of that is gone: pulumi config set reconcile-cloud:acceptService true for one update, and pulumi config rm it after that",
  );
}

/** The kinds of what was looked for and not shown, while nothing proves that it would be. */
function kindsUnproven(live: Live, { resources }: State): ReadonlySet<Kind> {
  const found = new Set<Kind>();
  for (const { kind, id } of resources.values()) {
    const sighting = id === undefined ? undefined : sight(live, kind, id);
    if (sighting?.seen === "unobserved" && (sighting.vanished !== undefined || sighting.fix === acceptServiceFlag))
      found.add(kind);
  }
  return found;
}

/** Plans a desired state on what was seen. */
export function planAgain(
  { client: { can, takesPortRanges, nameProblem } }: HandlerService,
  { state, live, findings }: Pick<PlannedOne, "state" | "live" | "findings">,
  desired: Closed,
): PlannedOne {
  const options = { targets: [state.address] };
  const plan = makePlan({
    ...{ desired, state, live, findings, options },
    ...{ can, takesPortRanges, nameProblem },
    attachedApart: true,
  });
  return { plan, live, findings, state };
}

export const changeOf = ({ plan, state }: PlannedOne) => plan.changes.find(({ address }) => address === state.address);

/** What was seen and done in one run. `problems` is empty when everything planned is done. */
export interface RanOne extends Remembered {
  /** What the run leaves in the records of others that stood beside it in its state. */
  readonly beside: readonly RecordedResource[];
  readonly problems: readonly Diagnostic[];
  /** What a delete was answered "not found" for, and no look had shown before. */
  readonly missing: readonly string[];
}

/**
 * The preview that the user saw is the consent to lose data. It is never the consent to a flush, because only the user
 * knows whether the volume was flushed.
 */
export async function carryOut(
  context: HandlerContext,
  service: HandlerService,
  planned: PlannedOne,
  flushConfirmed: boolean,
  notes?: ProgramNotes,
  said: Pick<OpenCreate, "saidNone" | "hasFormer"> = {},
): Promise<RanOne> {
  throwErrors(planned.plan.diagnostics);
  // A listener that fails costs nobody the id of what was made.
  const log: HandlerContext["log"] = (severity, message) => ifPossible(() => context.log(severity, message));
  const permitted = permit(planned.plan, flushConfirmed);
  for (const diagnostic of planned.plan.diagnostics)
    if (diagnostic.severity === "warning") log("warning", sentence(diagnostic));
  forgetStopOver(context, planned);
  const recorder = recorderWithNotes(context, service, notes, said, createRecorder(planned.state, memorySession()));
  const report = await runPlan(
    permitted,
    planned.live,
    recorder,
    {
      ...service,
      ...onlyDefined({ vmShownLately: service.looks?.vmShownLately }),
      emit: (event) => {
        if (event.type === "step" && (event.status === "started" || event.status === "progress"))
          log("info", inProgramWords(event.message === undefined ? event.title : `${event.title}: ${event.message}`));
      },
    },
    { soft: context.signal, hard: context.signal },
    { id: "one" },
    undefined,
    service.poller,
  );
  if (report.bug instanceof NotedMeanwhile) throw report.bug;
  for (const orphan of recorder.state.orphans.values())
    if (orphan.missingSince === undefined) log("warning", leftBehind(orphan));
  for (const unseen of unseenIn(report))
    if (unseen.why.unseen === "nobody-can-look") log("info", sentence(unseenDiagnostic(unseen)));
  const missing = [...recorder.state.orphans.values()].flatMap((orphan) =>
    orphan.missingSince === undefined ? [] : [`${orphan.kind} ${orphan.name} (${orphan.id})`],
  );
  const { resources, intents } = recorder.state;
  const { address: own } = planned.state;
  const beside = [...resources.values()].filter(({ address }) => address !== own);
  return { record: resources.get(own), intent: intents.get(own), beside, problems: problemsOf(report), missing };
}

/** No state of the program has it. */
const leftBehind = ({ kind, name, id, reason }: Orphan): string =>
  `${kind} ${name} (${id}) still exists: ${reason}; nothing manages it until a resource of this program has adopt: ${JSON.stringify(id)}`;

/**
 * Writes a create down before it is sent, and a stop for a flush, in case neither this process nor its engine sees the
 * end. The stop is also written down where the state keeps nothing of the call: after a delete that failed.
 */
const recorderWithNotes = (
  { notes: ofStops }: HandlerContext,
  service: HandlerService,
  notes: ProgramNotes | undefined,
  said: Pick<OpenCreate, "saidNone" | "hasFormer">,
  recorder: Recorder,
): Recorder =>
  ofStops === undefined
    ? recorder
    : {
        ...recorder,
        get state() {
          return recorder.state;
        },
        async record(changes) {
          const { state } = recorder;
          const written = writtenChanges(changes, state.resources);
          await noteStopOf(ofStops, state, written);
          if (notes !== undefined) {
            await noteCreates(service, notes, said, state, written);
            await noteLeaving(notes, state, written);
          }
          await recorder.record(written);
        },
      };

const stoppedIn = (record: RecordedResource | null | undefined): string | undefined => {
  const vm = ofKind(record ?? undefined, "vm");
  return vm?.stoppedForFlush === true ? vm.id : ofKind(record ?? undefined, "volume")?.stoppedVm;
};

async function noteStopOf(notes: ProgramNotes, { resources }: State, changes: readonly StateChange[]): Promise<void> {
  for (const change of changes) {
    if (change.type !== "resource") continue;
    const [was, is] = [stoppedIn(resources.get(change.address)), stoppedIn(change.record)];
    if (is !== undefined && is !== was) await notes.writeStopped(is);
    if (is === undefined && was !== undefined) notes.forgetStopped();
  }
}

/** Somebody has started the VM again, or it is gone: nothing is left to do about its stop. */
export function forgetStopOver({ notes }: HandlerContext, { live }: Pick<PlannedOne, "live">): void {
  const vm = notes?.findStopped();
  if (vm === undefined) return;
  const sighting = sight(live, "vm", vm);
  if (sighting.seen === "gone" || (sighting.seen === "yes" && sighting.value.phase === "running"))
    notes?.forgetStopped();
}

/**
 * Notes that something is being deleted: once it is gone, nothing else shows that this program meant it to go, and what
 * was attached to a VM.
 */
async function noteLeaving(notes: ProgramNotes, { resources }: State, changes: readonly StateChange[]): Promise<void> {
  for (const change of changes) {
    if (change.type !== "resource" || change.record?.id === undefined) continue;
    const { record } = change;
    // The service refused it, so that whoever finds it gone later has not been told by this program.
    if (record.deleting === true)
      await notes.writeLeaving({ id: change.record.id, disks: disksSeen(ofKind(record, "vm") ?? {}) });
    else if (resources.get(change.address)?.deleting === true) notes.forgetLeaving();
  }
}

const disksSeen = ({ dataVolumeId, disks = [] }: Pick<RecordedVm, "dataVolumeId" | "disks">): readonly Disk[] =>
  disksOf({ disks, dataVolumeId });

async function noteCreates(
  service: HandlerService,
  notes: ProgramNotes,
  said: Pick<OpenCreate, "saidNone" | "hasFormer">,
  { intents }: State,
  changes: readonly StateChange[],
): Promise<void> {
  const openCreateOf = ({ sentAt, idsBefore, accepted }: Intent): OpenCreate => ({
    sentAt,
    idsBefore,
    accepted,
    ...said,
  });
  for (const change of changes) {
    if (change.type === "intent" && change.intent !== null && change.intent.operation !== "vm.snapshot")
      await notes.write(openCreateOf(change.intent), { name: change.intent.name });
    if (change.type !== "intent" || change.intent !== null) continue;
    const open = intents.get(change.address);
    if (open === undefined || open.operation === "vm.snapshot") continue;
    const made = changes.find((one) => one.type === "resource" && one.address === change.address);
    const id = made?.type === "resource" ? made.record?.id : undefined;
    // A note with the id stays until Pulumi's state was seen to hold it; a refused create is no longer open.
    if (id === undefined) notes.settled();
    else {
      const thing = thingAt(service, thingOf(kindOf(open.address), id));
      await notes.write({ ...openCreateOf(open), id }, { name: open.name, thing });
    }
  }
}

/** Throws the consents that are missing, such as one for a flush. */
export const assertPermitted = (planned: PlannedOne, flushConfirmed: boolean): void =>
  void permit(planned.plan, flushConfirmed);

export const warningsOf = ({ plan: made }: PlannedOne): string[] =>
  made.diagnostics.filter(({ severity }) => severity === "warning").map(sentence);

function permit(plan: Plan, flushConfirmed: boolean): PermittedPlan {
  try {
    return PermittedPlan.of(plan, {
      ...noGrants,
      // Nobody has seen that what no proof says is gone would be made a second time.
      approved: plan.consents.filter(({ unproven }) => unproven !== true),
      confirmFlush: flushConfirmed ? ["all"] : [],
    });
  } catch (error) {
    if (!(error instanceof ConsentMissing)) throw error;
    throw new HandlerFailure(error.missing.map(missingHere));
  }
}

/** No flag of the command line gives a program a consent: what it did not know is shown by a preview. */
const missingHere = (consent: Consent): Diagnostic => ({
  ...missingConsent(consent),
  ...(consent.kind === "data_loss" ? { fix: "run a refresh, and look at the preview" } : {}),
});

function problemsOf(report: RunReport): Diagnostic[] {
  const problems: Diagnostic[] = [];
  for (const { step, result } of report.steps) {
    if (result.end === "done" || (result.end === "skipped" && problems.length > 0)) continue;
    const said = "code" in result ? result : undefined;
    problems.push({
      severity: "error",
      code: said?.code ?? `apply/${result.end}`,
      summary: `${step.title}: ${result.message ?? result.end}`,
      ...onlyDefined({ fix: said?.fix, fixParts: said?.fixParts }),
    });
  }
  problems.push(
    ...unseenIn(report)
      .filter(({ why }) => why.unseen !== "nobody-can-look")
      .map((unseen): Diagnostic => ({ ...unseenDiagnostic(unseen), severity: "error" })),
  );
  return problems;
}

const memorySession = (): StateSession => ({
  epoch: 1,
  read: async () => ({ journal: [] }),
  assertHeld: async () => undefined,
  append: async () => undefined,
  replace: async () => undefined,
  release: async () => undefined,
});

/** JSON values only: the store of a kept resource may know no others. */
export const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value));
