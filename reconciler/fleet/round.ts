/**
 * One round of one stack: fetch the files, look, plan, decide, and act where the fleet may act. It never throws for an
 * error of the stack: that is its result. The engine makes the changes, under the lock of the state.
 */

import { type Diagnostic, diagnosticsIn } from "../core/model/diagnostic";
import { unseenTexts } from "../core/plan/unseen";
import type { SeenState } from "../core/state/identity";
import { errorMessage } from "../core/text/errors";
import { fingerprint } from "../core/text/hash";
import { fewParts, listed } from "../core/text/list-text";
import { onlyDefined } from "../core/text/objects";
import type { EngineEvent } from "../engine/events";
import { notSeenIn, type RunReport } from "../engine/run-plan";
import { leftInGuests } from "../report/owed-text";
import { resourceStandings, standingText } from "../report/run-standing";
import { describeHolder, LeaseLost, StateLocked, StateSealed, StoreFailed } from "../store/store";
import type { PlanBody, StackRecord } from "./database/stacks";
import {
  type Approval,
  type Decision,
  decide,
  isValidFor,
  joined,
  type UndoRequest,
  undoneWhy,
  undoWhy,
} from "./decide";
import type { FleetSettings } from "./model";
import { type Inputs, inputsOfLeaving, type OpeningPorts, projectInput, readInputs } from "./open-stack";
import type { Picture } from "./picture";
import { CannotUndo, type OpenProject, type Planned, type Project, ReadingEnded } from "./project";
import { asInRepository, type Checkout, SourceFailed } from "./sources/checkout";
import type { EndedRound, RoundEnd } from "./status";
import { openingOf } from "./windows";

export interface RoundPorts extends OpeningPorts {
  readonly openProject: OpenProject;
  readonly checkOut: (stack: StackRecord, signal: AbortSignal) => Promise<Checkout>;
  readonly emit: (event: EngineEvent) => void;
  /**
   * The plan is about to be carried out: written down before anything is sent. False: the stack is not what it was when
   * the round began, or what permits the plan is gone.
   */
  readonly begins: (plan: {
    readonly digest: string;
    readonly revision: string;
    readonly body: PlanBody;
  }) => Promise<boolean>;
  /** The windows of the fleet's file as they are now. */
  readonly windows: () => Promise<FleetSettings["windows"]>;
  readonly now: () => Date;
  /** What people approved of this plan in a pull request, before it was merged. */
  readonly approvedBefore: (digest: string) => Promise<Approval | undefined>;
}

export interface RoundInput {
  readonly stack: StackRecord;
  readonly settings: FleetSettings;
  /** A worker died in a round of this stack: what it left is finished first. */
  readonly resumed: boolean;
  /** Fires when the round is no longer this worker's, or the worker is to end at once. */
  readonly signal: AbortSignal;
  /** Fires when the worker drains: requests in flight are finished, and nothing new is started. */
  readonly drain: AbortSignal;
}

export interface RoundOutcome extends Omit<EndedRound, "giveUpAfter"> {
  /** What somebody had changed at the service, and the run put back as the files want it. */
  readonly corrected?: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly plan?: { readonly digest: string; readonly body: PlanBody };
  readonly approval?: Approval;
  /** Absent: the outputs did not change. */
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly outputsUsed: Readonly<Record<string, unknown>>;
  readonly files?: readonly string[];
  /** Everything that a leaving stack made is gone. */
  readonly gone: boolean;
  /** Absent: nobody could look. */
  readonly picture?: () => Picture;
  /** The approval of this plan no longer counts. */
  readonly voids?: true;
  /** Nothing of the service could be seen. */
  readonly unreachable?: true;
  /** What the files ask for. Absent: no plan was made. */
  readonly wish?: string;
  /** The run that was to be undone is, or it cannot be. */
  readonly undo?: "done" | "impossible";
  /** The store of the state answered with less. */
  readonly isLess?: true;
}

/** The run that this round is to take back. */
const undoOf = ({ undoing, leaving }: StackRecord): UndoRequest | undefined =>
  leaving || undoing?.held !== undefined ? undefined : undoing;

const nothingSeen = { counts: {}, outputsUsed: {}, gone: false };

export async function runRound(input: RoundInput, ports: RoundPorts): Promise<RoundOutcome> {
  const { stack, settings } = input;
  const now = ports.now();
  const looking = openingOf(settings.windows, stack.name, "look", now);
  if (!looking.open && !isThroughWindow(stack, now)) return { ...nothingSeen, result: heldByWindow(looking) };
  const inputs = stack.leaving ? await inputsOfLeaving(stack, ports) : await readInputs(stack, ports);
  if ("end" in inputs) return { ...nothingSeen, result: inputs };
  let checkout: Checkout | undefined;
  try {
    checkout = await ports.checkOut(stack, anyOf(input));
    return namedAsInRepository(await withProject(input, ports, checkout, inputs), checkout);
  } catch (error) {
    const outcome = { ...nothingSeen, ...endedBy(input, error) };
    return checkout === undefined
      ? outcome
      : namedAsInRepository({ ...outcome, revision: checkout.revision }, checkout);
  }
}

/** A person lets a plan be carried out although a window is closed; it is looked at for that. */
const isThroughWindow = ({ approval }: StackRecord, now: Date): boolean =>
  approval?.throughWindow === true && isValidFor(approval, approval.digest, now);

/** Files of a copy are named in texts as the repository names them. */
function namedAsInRepository(outcome: RoundOutcome, checkout: Checkout): RoundOutcome {
  if (checkout.copied !== true) return outcome;
  const name = asInRepository(checkout);
  const { result, plan, picture } = outcome;
  return {
    ...outcome,
    result: name(result),
    ...onlyDefined({
      plan: plan === undefined ? undefined : { ...plan, body: name(plan.body) },
      picture: picture === undefined ? undefined : () => name(picture()),
    }),
  };
}

async function withProject(
  input: RoundInput,
  ports: RoundPorts,
  checkout: Checkout,
  inputs: Inputs,
): Promise<RoundOutcome> {
  const undo = undoOf(input.stack);
  const place = fingerprint(input.stack.spec.state);
  // Another place is to have the same state: nothing is made anew because an address was changed.
  const { stateSeen: known } = input.stack.status;
  let now: SeenState | undefined;
  const project = await ports.openProject({
    ...projectInput(input, ports, checkout, inputs.values),
    signal: anyOf(input),
    ...onlyDefined({ undo: undo === undefined ? undefined : undo.id, stateSeen: known }),
    sawState: (seen) => {
      now = seen;
    },
  });
  const seen = { revision: checkout.revision, outputsUsed: inputs.used, files: project.files };
  const outcome: RoundOutcome = await look(input, ports, project, checkout)
    .then((looked) => ({ ...looked, ...seen }))
    .catch((error: unknown) => ({ ...nothingSeen, ...seen, ...(lessThanSeen(input, error) ?? endedBy(input, error)) }))
    .finally(() => project.close());
  const last = now ?? known;
  if (last === undefined) return outcome;
  const { lineage, serial } = last;
  const seenAt = now === undefined ? (known?.place ?? place) : place;
  return {
    ...outcome,
    stateSeen: { ...onlyDefined({ at: last.at, isLess: outcome.isLess }), lineage, serial, place: seenAt },
  };
}

type Seen = Omit<RoundOutcome, "outputsUsed">;

const lessCodes: ReadonlySet<string> = new Set(["state/gone", "state/went-back", "state/other-state"]);

/** The state's store answers with less than the last round saw, whichever worker that was on. */
function lessThanSeen(
  { stack, drain }: RoundInput,
  error: unknown,
): Pick<RoundOutcome, "result" | "isLess"> | undefined {
  const less = diagnosticsIn(error)?.find(({ code }) => lessCodes.has(code));
  if (less === undefined || drain.aborted) return undefined;
  const isMoved = stack.status.stateSeen?.place !== fingerprint(stack.spec.state);
  const cause = isMoved
    ? "the fleet's file gives it another place, to which reconcile state pull and push bring it; where it is to begin anew"
    : "where it was replaced or removed on purpose";
  const way = `nothing was sent; ${cause}, reconcile fleet resume ${stack.name} takes what is there now`;
  return { isLess: true, result: { end: "failed", why: `${less.summary}: ${way}` } };
}

/** What a worker that drains has not begun to carry out is left to another one. */
const endedBy = ({ drain, stack }: RoundInput, error: unknown): ReturnType<typeof resultOfError> =>
  drain.aborted ? { result: handedOver } : (cutOff(stack, error) ?? resultOfError(error));

const cutOffText = "its state was out of reach for a moment";

/**
 * The database of the states went away and came back, or somebody went on with the state meanwhile: that is no failure
 * of the stack. Where the next round finds the same, it is.
 */
function cutOff({ status }: StackRecord, error: unknown): Pick<RoundOutcome, "result"> | undefined {
  const isMomentary = error instanceof LeaseLost || (error instanceof StoreFailed && error.isAway);
  if (!isMomentary || status.reason?.startsWith(cutOffText) === true) return undefined;
  return { result: { end: "handed_over", why: `${cutOffText}, so that the round is made again: ${error.message}` } };
}

const handedOver = {
  end: "handed_over",
  why: "its worker was stopped before it was done; another one goes on",
} as const;

const overtaken = {
  end: "handed_over",
  why: "the fleet's file, an approval or a person changed what it was to do while it was planned, so that nothing was sent and it is planned anew",
} as const;

const leftToAnother = { ...nothingSeen, result: handedOver };

/** A drain ends reads that were under way, and the plan tells each of them as an error of the service. */
const isCutShort = ({ drain }: RoundInput, { errors }: Planned): boolean => drain.aborted && errors.length > 0;

/** A stack that is in sync needs no lock; every other is planned again under the lock. */
async function look(input: RoundInput, ports: RoundPorts, project: Project, checkout: Checkout): Promise<Seen> {
  if (!input.resumed || !project.leases) {
    const planned = await project.plan(anyOf(input));
    if (isCutShort(input, planned)) return leftToAnother;
    const decision = await decisionOf(input, ports, planned, checkout);
    // What leaves and has nothing left goes only where nobody is at work on its state.
    const isLast = input.stack.leaving && decision?.do === "nothing";
    const mayAct = decision === undefined || isLast ? project.leases : decision.do === "apply";
    if (!mayAct) return withChange(conclude(planned, decision, checkout, input.stack), input, checkout, project);
  }
  const seen = await project.underLock(anyOf(input), (planned) => act(input, ports, planned, checkout));
  return withChange(seen, input, checkout, project);
}

/** Whoever is to approve a plan reads first what was changed in the files, and by whom. */
async function withChange(
  seen: Seen,
  { stack }: RoundInput,
  { changeSince }: Checkout,
  project: Project,
): Promise<Seen> {
  const { plan, result } = seen;
  const waits = result.end === "awaiting_approval" || result.end === "blocked";
  if (plan === undefined || !waits || changeSince === undefined) return seen;
  const files = [...new Set([...stack.files, ...project.files])];
  const change = await changeSince(stack.status.appliedRevision, files);
  return { ...seen, plan: { ...plan, body: { ...plan.body, change } } };
}

/** Absent: the plan has errors. */
async function decisionOf(
  input: RoundInput,
  ports: RoundPorts,
  planned: Planned,
  checkout: Checkout,
): Promise<Decision | undefined> {
  if (planned.errors.length > 0) return undefined;
  const decision = decisionWith(input, ports, planned, checkout, input.stack.approval);
  if (decision.do !== "await" || decision.voids === true) return decision;
  const before = await ports.approvedBefore(digestOf(planned, checkout));
  return before === undefined
    ? decision
    : decisionWith(input, ports, planned, checkout, joined(before, input.stack.approval, ports.now()));
}

function decisionWith(
  { stack, settings }: RoundInput,
  ports: RoundPorts,
  planned: Planned,
  checkout: Checkout,
  approval: Approval | undefined,
): Decision {
  const now = ports.now();
  const { approve, consents, approvers = 1 } = stack.spec;
  const undo = undoOf(stack);
  // Deleting everything, or going back, needs an approval of its own, whatever else is permitted.
  const because = stack.leaving ? leavingWhy : undo === undefined ? undefined : undoText(undo, planned);
  return decide(
    { ...planned.facts, digest: digestOf(planned, checkout) },
    { approve, consents, approvers, because },
    approval,
    openingOf(settings.windows, stack.name, "apply", now),
    now,
    { rejection: stack.rejection, undo: stack.undoing },
  );
}

const leavingWhy = "the stack has left the fleet's file and had destroy: true, so that everything it made is deleted";

const undoText = (undo: UndoRequest, { laterRuns = 0 }: Planned): string =>
  laterRuns === 0
    ? undoWhy(undo)
    : `${undoWhy(undo)}; ${laterRuns === 1 ? "the run after it is" : `the ${laterRuns} runs after it are`} undone as well`;

const digestOf = ({ facts }: Planned, { content }: Checkout): string => `${facts.digest}-${content.slice(-8)}`;

async function act(input: RoundInput, ports: RoundPorts, planned: Planned, checkout: Checkout): Promise<Seen> {
  if (isCutShort(input, planned)) return leftToAnother;
  // Planning takes a while, in which somebody may have closed a window.
  const settings = { ...input.settings, windows: await ports.windows() };
  const decision = await decisionOf({ ...input, settings }, ports, planned, checkout);
  if (decision?.do !== "apply") return conclude(planned, decision, checkout, input.stack);
  const carried = { digest: digestOf(planned, checkout), body: { ...planned.body, why: "" } };
  if (planned.facts.steps > 0 && !(await ports.begins({ ...carried, revision: checkout.revision })))
    return { ...nothingSeen, result: overtaken };
  const { report, outputs, picture } = await planned.apply(
    decision.grants,
    { soft: anyOf(input), hard: input.signal },
    checkout.copied === true ? emitCalled(ports, checkout) : ports.emit,
  );
  const ended = resultOfRun(report, planned, input.stack);
  const isDone = ended.end === "applied" || ended.end === "in_sync";
  const undo = undoOf(input.stack);
  return {
    wish: planned.facts.wish,
    ...(isDone && undo !== undefined ? takenBack(undo) : { result: ended }),
    drifted: planned.facts.drifted.length,
    corrected: isDone && planned.facts.drifted.length > 0 ? planned.facts.drifted : undefined,
    counts: { ...planned.counts, ...report.counts },
    gone: input.stack.leaving && isDone,
    plan: carried,
    begun: planned.facts.steps > 0 ? (true as const) : undefined,
    outputs,
    // A run that did not finish leaves the picture as it was seen before.
    picture: isDone ? picture : planned.picture,
    approval: decision.approval,
  };
}

/** The service is as it was, which is not as the files say. */
const takenBack = (undo: UndoRequest): Pick<RoundOutcome, "result" | "undo"> => ({
  undo: "done",
  result: { end: "applied", but: undoneWhy(undo) },
});

function emitCalled({ emit }: RoundPorts, checkout: Checkout): RoundPorts["emit"] {
  const name = asInRepository(checkout);
  return (event) => emit(name(event));
}

const anyOf = ({ signal, drain }: RoundInput): AbortSignal => AbortSignal.any([signal, drain]);

function conclude(planned: Planned, decision: Decision | undefined, checkout: Checkout, stack: StackRecord): Seen {
  const { facts, counts } = planned;
  const base = { drifted: facts.drifted.length, counts, gone: false, picture: planned.picture, wish: facts.wish };
  const undo = undoOf(stack);
  const digest = digestOf(planned, checkout);
  const offered = (why: string): Pick<Seen, "plan"> => ({ plan: { digest, body: { ...planned.body, why } } });
  if (decision === undefined)
    return { ...base, result: { end: "failed", why: planned.errors.join("; "), lasts: true } };
  switch (decision.do) {
    case "nothing":
      // A worker that died had taken it back, or there is nothing to take back.
      if (undo !== undefined) return { ...base, ...takenBack(undo) };
      return {
        ...base,
        drifted: 0,
        // It never made anything, or a worker died after it had deleted all of it.
        gone: stack.leaving,
        result: { end: "in_sync", note: noteOfRound(planned, planned.leftInGuests) },
        outputs: planned.outputs,
      };
    case "observe":
      return {
        ...base,
        result: {
          end: "observed",
          why: decision.rejected === true ? decision.why : `${pendingText(planned)}, and is left so (${decision.why})`,
        },
        ...(undo === undefined ? {} : { undo: "impossible" as const }),
        ...offered(decision.why),
      };
    case "await":
      return {
        ...base,
        result: { end: "awaiting_approval", plan: digest, why: decision.why },
        voids: decision.voids === true ? (true as const) : undefined,
        ...offered(decision.why),
      };
    case "hold":
      return { ...base, result: heldByWindow({ ...decision, plan: digest }), ...offered(decision.why) };
    case "apply":
      return { ...base, result: { end: "failed", why: "the plan changed while the lock was taken; it is made again" } };
  }
}

const pendingText = ({ facts: { drifted, steps } }: Planned): string =>
  drifted.length > 0
    ? `${listed(drifted, 5)} ${drifted.length === 1 ? "differs" : "differ"} from what was applied`
    : `${steps} ${steps === 1 ? "step is" : "steps are"} pending`;

const heldByWindow = ({
  why,
  until,
  plan,
}: {
  readonly why: string;
  readonly until?: Date;
  readonly plan?: string;
}): RoundEnd => ({
  end: "blocked",
  plan,
  why: until === undefined ? why : `${why} until ${until.toISOString()}`,
  waitingFor: { what: "window", detail: why, until: until?.toISOString() },
});

const noteOfRound = ({ notSeen = [] }: Planned, left: string | undefined): string | undefined => {
  const notes = [...(left === undefined ? [] : [left]), ...(notSeen.length === 0 ? [] : [fewParts(notSeen, 3)])];
  return notes.length === 0 ? undefined : notes.join("; ");
};

function resultOfRun(report: RunReport, planned: Planned, stack: StackRecord): RoundEnd {
  const { broken, unclosed, bug, counts, interrupted, steps } = report;
  const failure = broken ?? bug ?? unclosed;
  if (failure !== undefined) return (cutOff(stack, failure) ?? resultOfError(failure)).result;
  const said = (end: string): string =>
    steps
      .flatMap(({ step, result }) => (result.end === end ? [`${step.address}: ${result.message ?? end}`] : []))
      .join("; ");
  if (counts.failed > 0) return { end: "failed", why: said("failed") || said("unknown") || "a step failed" };
  if (interrupted) {
    const stood = standingText(resourceStandings(report, { changes: [] }));
    return { ...handedOver, why: `${handedOver.why}; ${stood}`, stood };
  }
  const notSeen = notSeenIn(report);
  if (notSeen.length > 0) return { end: "failed", why: unseenTexts(notSeen) };
  if (counts.waiting > 0) return { end: "observed", why: said("waiting") || "it waits for something outside" };
  return { end: planned.facts.steps > 0 ? "applied" : "in_sync", note: noteOfRound(planned, leftInGuests(report)) };
}

/** Which of a person's settings has the key of a state is not in the words of the state. */
const reasonOfError = (error: unknown): string =>
  error instanceof StateSealed && error.fix !== undefined ? `${error.message}: ${error.fix}` : errorMessage(error);

/** The result for an error outside of the plan, in one sentence. */
function resultOfError(error: unknown): Pick<RoundOutcome, "result" | "unreachable" | "undo"> {
  if (error instanceof StateLocked)
    return {
      result: {
        end: "blocked",
        why: error.message,
        waitingFor: { what: "lock", detail: describeHolder(error.holder) },
      },
    };
  if (error instanceof LeaseLost) return { result: { end: "failed", why: error.message } };
  if (error instanceof CannotUndo)
    return { result: { end: "failed", why: `it cannot be undone: ${error.message}`, lasts: true }, undo: "impossible" };
  const diagnostics = diagnosticsIn(error);
  if (diagnostics === undefined) {
    const isHopeless = error instanceof ReadingEnded || (error instanceof SourceFailed && error.isSilent);
    const lasts = isHopeless ? ({ lasts: true } as const) : {};
    return { result: { end: "failed", why: reasonOfError(error), ...lasts } };
  }
  const isSilent = diagnostics.some(({ code }) => code === "service/unavailable" || code === "service/throttled");
  const lasts = diagnostics.every(({ code }) => code.startsWith("config/")) ? ({ lasts: true } as const) : {};
  return { result: { end: "failed", why: sentences(diagnostics), ...lasts }, unreachable: isSilent ? true : undefined };
}

export const sentences = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics
    .map(({ source, summary, detail, fix }) =>
      [
        source === undefined ? "" : `${source.file}:${source.line} `,
        summary,
        detail === undefined ? "" : ` (${detail})`,
        fix === undefined ? "" : `: ${fix}`,
      ].join(""),
    )
    .slice(0, 10)
    .join("; ");
