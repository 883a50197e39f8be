/** Reads the state, looks at the service and makes a plan. Sends only reads and writes nothing. */

import type { PlanOptions } from "../core/diff/context";
import { type Closed, type Desired, nothingDesired } from "../core/model/desired";
import { type Diagnostic, errorsAmong } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { told } from "../core/model/fix";
import { kinds } from "../core/model/kinds";
import { type Live, notSeen } from "../core/model/live";
import type { RecordedVm, Scope, State } from "../core/model/recorded";
import { type LookMemory, remembering, type Sightings, sightingsIn } from "../core/plan/memory";
import { type Part, partChanged, partTargeted, partUnswept, widened } from "../core/plan/part";
import { makePlan, type Plan } from "../core/plan/plan";
import { laidOver, type Swept, sweptWith } from "../core/plan/sweep";
import type { FoldedState } from "../core/state/fold";
import { WrittenByNewer } from "../core/state/newer";
import { type ReadState, readState } from "../core/state/text";
import type { ServiceReader } from "../service/client";
import type { Clock } from "../service/clock";
import type { StateStore, StoredState } from "../store/store";
import type { EngineEvent } from "./events";
import { assertWhole } from "./half-moved";
import { mayShowLater } from "./looked-for";
import { namedAndNotThere } from "./named-ids";
import { cannotReach } from "./read-failed";
import { type Refreshed, refresh } from "./refresh";
import { assertSameScope, assertShown, scopeOf, scopeToRemember } from "./scope";

export interface Prepared {
  readonly desired: Closed;
  readonly state: FoldedState;
  readonly live: Live;
  readonly plan: Plan;
  /** The scope for the state to remember, once a run writes. Absent: the state has it already. */
  readonly scope?: Scope;
  /** The sightings for the state to remember. Absent: nobody plans from memory. */
  readonly sightings?: Sightings;
  /** Everything that was seen, for a caller that plans again. Absent: nobody does. */
  readonly swept?: Swept;
}

class UnreadableState extends Error {
  override readonly name = "UnreadableState";
  readonly code = "state/unreadable" satisfies DiagnosticCode;
  /** Of another program's document; what else cannot be read has the fix of its code. */
  readonly diagnostics?: readonly Diagnostic[];
  constructor(summary: string, isForeign: boolean) {
    super(summary);
    const fix = "it is another program's: name another place for the state, with --state or state: in the file";
    if (isForeign) this.diagnostics = [{ severity: "error", code: this.code, summary, fix }];
  }
}

export function openStoredState(
  stored: StoredState,
  location: string,
  lineage: string,
): { readonly state: FoldedState; readonly notes: readonly Diagnostic[] } {
  const read = readKept(stored, lineage);
  if (!read.ok && read.newer !== undefined)
    throw new WrittenByNewer(`the state ${location}`, read.problem, read.newer.needs);
  if (!read.ok)
    throw new UnreadableState(`the state ${location} cannot be read: ${read.problem}`, read.foreign === true);
  return {
    state: read.state,
    notes: read.notes.map((summary) => ({ severity: "note" as const, code: "state/cut-off", summary })),
  };
}

/** What is read of a large text takes long, and a run under its lock is handed the same one several times. */
const readBefore = new WeakMap<StoredState, ReadState>();

function readKept(stored: StoredState, lineage: string): ReadState {
  const before = readBefore.get(stored);
  if (before !== undefined) return before;
  const read = readState(stored, lineage);
  // A state that does not exist yet has the lineage that it is given.
  if (stored.snapshot !== undefined) readBefore.set(stored, read);
  return read;
}

class ServiceUnreachable extends Error {
  override readonly name = "ServiceUnreachable";
  readonly code: Diagnostic["code"];
  readonly diagnostics: readonly Diagnostic[];
  constructor(why: Diagnostic) {
    super(why.summary);
    this.code = why.code;
    this.diagnostics = [why];
  }
}

/** A plan for a service that did not answer would say that everything has to be created. */
function assertReached(
  origin: string,
  { live, findings }: { readonly live: Live; readonly findings: readonly Diagnostic[] },
) {
  const lost = findings.filter(({ code }) => code === "service/unavailable" || code === "service/throttled");
  const first = errorsAmong(lost)[0];
  const { flavors, images, regions } = live.catalogue;
  const isSeen =
    [flavors, images, regions].some((list) => list !== undefined) ||
    kinds.some(
      (kind) => live.of[kind].listed || [...live.of[kind].byId.values()].some(({ seen }) => seen !== "unobserved"),
    );
  if (first === undefined || isSeen) return;
  const why = first.summary.slice(first.summary.indexOf(": ") + 2);
  throw new ServiceUnreachable({
    severity: "error",
    code: first.code,
    summary:
      first.code === "service/throttled"
        ? `the service ${origin} lets nothing through: ${why}`
        : `the service ${origin} cannot be reached: ${why}`,
    detail: "Nothing of it could be looked at, so there is no plan.",
    ...told(first.fixParts ?? first.fix ?? cannotReach),
  });
}

export interface PreparePlan {
  readonly desired: Closed;
  readonly store: StateStore;
  readonly client: ServiceReader;
  readonly options: PlanOptions;
  readonly clock: Clock;
  /** For a state that does not exist yet. */
  readonly lineage: string;
  /** False: no request is sent, and everything counts as recorded. */
  readonly observe: boolean;
  readonly emit?: (event: EngineEvent) => void;
  readonly signal?: AbortSignal;
  /** How long after its create a list may be without a VM. */
  readonly discoveryWindowMs?: number;
  /** Called when the text of the state is no longer needed and planning begins. */
  readonly letGo?: (state: State) => void;
  /** For a caller that plans again and again. */
  readonly memory?: LookMemory;
  /** What was seen since the last plan. It counts as a look: this plan looks at the rest, and at what it touches. */
  readonly swept?: Swept;
}

/** A function of its own, so that the text can be freed once the state is read. */
const readIn = async ({ store, lineage }: PreparePlan) => openStoredState(await store.read(), store.location, lineage);

/** For what makes something beside any plan: it is refused where a plan would be, and before anything is sent. */
export async function assertMayCreate(
  client: ServiceReader,
  desired: Desired,
  store: StateStore,
  signal: AbortSignal,
): Promise<void> {
  const { state } = openStoredState(await store.read(), store.location, "");
  assertSameScope(state, scopeOf(client, desired));
  const { live, findings } = await refresh(client, nothingDesired, state, { signal, creates: true });
  assertShown(state, live, findings);
}

export async function preparePlan(input: PreparePlan): Promise<Prepared> {
  const { desired, client, options, swept } = input;
  const before = swept === undefined || swept.at.size === 0 ? undefined : swept;
  const { state, notes } = await readIn(input);
  assertWhole(state, input.store.location);
  input.letGo?.(state);
  const accepted = options.acceptService === true;
  const now = scopeOf(client, desired);
  if (!accepted) assertSameScope(state, now);
  const [started, today] = [input.clock.now(), input.clock.instant()];
  const isYoung = (vm: RecordedVm): boolean =>
    mayShowLater(vm, { client, windowMs: input.discoveryWindowMs ?? 0, now: today });
  const look = async (part: Part | undefined) => {
    const seen = await refresh(client, desired, state, {
      isYoung,
      acceptService: accepted,
      signal: input.signal,
      part,
      before,
      // What is taken from memory was seen by an earlier plan.
      reach: options.maxAgeMs === undefined || state.resources.size === 0,
    });
    // A look that was stopped shows nothing, and the caller knows why.
    if (input.signal?.aborted !== true) assertReached(client.origin, seen);
    assertShown(state, seen.live, seen.findings);
    return seen;
  };
  const known = input.memory === undefined ? state : remembering(state, input.memory);
  const wholeOf = (live: Live): Live => (before === undefined ? live : laidOver(live, before));
  const planFrom = (seen: Refreshed) =>
    makePlan({
      desired,
      state: known,
      live: wholeOf(seen.live),
      can: client.can,
      takesPortRanges: client.takesPortRanges,
      nameProblem: client.nameProblem,
      options,
      isYoung,
      findings: [...notes, ...seen.findings],
    });
  const fromState = (): Plan => planFrom({ live: notSeen, findings: [] });
  /** What to look at: everything (`undefined`), or the part that targets, a sweep or the age of memory leave. */
  const partToSee = (): Part | undefined => {
    if (options.maxAgeMs !== undefined && input.observe)
      return partChanged(fromState(), desired, known, today, input.memory);
    return before === undefined
      ? partTargeted(desired, state, options)
      : partUnswept(fromState(), desired, state, before);
  };
  let part = partToSee();
  const resources = part?.addresses.size ?? state.resources.size;
  input.emit?.({ type: "refresh", status: "started", resources, elapsedMs: 0 });
  let seen = input.observe ? await look(part) : { live: notSeen, findings: [] };
  let plan = planFrom(seen);
  // A narrow plan may touch more than was looked at: that is looked at too, and the plan is made again.
  for (;;) {
    const wider = input.observe && part !== undefined ? widened(part, plan, client.can) : undefined;
    if (wider === undefined) break;
    part = wider;
    seen = await look(part);
    plan = planFrom(seen);
  }
  const nowhere = input.observe ? await namedAndNotThere(plan.steps, seen.live, { ...input, state }) : [];
  if (nowhere.length > 0) plan = planFrom({ ...seen, findings: [...seen.findings, ...nowhere] });
  input.emit?.({ type: "refresh", status: "done", resources, elapsedMs: input.clock.now() - started });
  // The credential may be known only once it was used.
  const scope = scopeToRemember(state, scopeOf(client, desired), seen.live, accepted, part !== undefined, plan.changes);
  const sightings = sightingsIn(known, seen.live, options, today);
  return {
    desired,
    state,
    live: wholeOf(seen.live),
    plan,
    scope,
    sightings,
    swept: swept === undefined ? undefined : sweptWith(swept, seen.live, state, started),
  };
}
