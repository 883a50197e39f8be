/**
 * Creates a VM, a volume or a group so that none is made twice: written down before it is sent, and after a lost answer
 * looked for before it is sent again.
 *
 *   how it ended                             then
 *   accepted, and the answer tells the id    kept
 *   accepted otherwise (any 2xx)             `accepted` is written down; looked for; never sent again
 *   refused, or nothing was done             the intent is taken back; where the name is taken, one look tells by what
 *   the answer was lost                      looked for; sent again only when the whole list lacked it over the window
 *   an answer whose words may be a refusal   looked for; refused when the whole list lacked it over the window
 *
 * What is found has to be what was sent, not only bear its name (core/diff/evidence.ts). Where nobody can look, or looking
 * does not settle it, the run stops and says what a person has to find out.
 */

import { cutNames, mayBeCut } from "../core/canonical/names";
import { describeStrangers, type Judged, judgeMade, type Made, saysCut } from "../core/diff/evidence";
import { outcomeUnknownFix } from "../core/diff/findings";
import { type Address, type Kind, kindOf } from "../core/model/address";
import { type Advice, adviceText, fixText, toAsk, toRun, toSay } from "../core/model/fix";
import { identity } from "../core/model/identity";
import { kindRows } from "../core/model/kinds";
import { type LiveOf, sight } from "../core/model/live";
import {
  type Failure,
  isRefusedAs,
  type Outcome,
  type Rejection,
  type Unavailable,
  valueIn,
} from "../core/model/outcome";
import { type Intent, type Orphan, orphanKey, type RecordToMake } from "../core/model/recorded";
import type { Step } from "../core/plan/step";
import { asError, errorMessage } from "../core/text/errors";
import { discover } from "./discover";
import type { FirstCreate, Unread } from "./first-create";
import { listOfKind, readOfKind } from "./observe";
import { failedBy, isoNow, type OpenStep, type Run, type StepResult, whyUnread } from "./run";

/** Whether a look has shown what was made, or the answer to its create alone. */
export type HowFound = "answered" | "seen";

export interface Creation<K extends Kind> {
  readonly kind: K;
  readonly name: string;
  /** The record to keep, without its id. Groups are named by id, as they were sent. */
  readonly record: RecordToMake;
  /** Ends with `undefined` where the answer does not tell what was made. */
  send(): Promise<Outcome<LiveOf[K] | undefined>>;
  keep(live: LiveOf[K], how: HowFound): Promise<StepResult>;
  /** How long an accepted create may take to show in the list. Left out: as long as one whose answer was lost. */
  readonly acceptedWindowMs?: number;
  /** Ends an accepted create where the service has no list to find its resource in. */
  unlisted?(): Promise<StepResult>;
}

const nounAt = (address: Address): string => kindRows[kindOf(address)].fullNoun;

/** How often a create may prove not to have been done before the run gives up. */
const createAttempts = 3;

/** Nothing is sent while nobody can tell what a create of the same kind has made in this run. */
export async function createOnce<K extends Kind>(step: Step, creation: Creation<K>, run: Run): Promise<StepResult> {
  const entering = run.firstCreate(creation.kind);
  const first = entering instanceof Promise ? await entering : entering;
  if (first.unread !== undefined) return unsentFailure(step, first.unread);
  try {
    return await createLooking(step, creation, first, run);
  } finally {
    first.leave();
  }
}

const unsentFailure = ({ address }: Step, { name, reason, line }: Unread): StepResult => ({
  end: "failed",
  code: "service/unreadable",
  message: `nothing was sent: what the create of ${nounAt(address)} ${name} made cannot be told, and neither could what this one makes (${reason})`,
  fix: line === undefined ? "describe this answer in the dialect" : lineIn(line),
});

/** The part of a hint that is to be written. */
const lineIn = (hint: string): string => hint.slice(Math.max(hint.lastIndexOf("in the dialect: "), 0));

/**
 * The order of the branches is the proof that nothing is made twice: each one ends the step, or leads to a look before
 * the create is sent again.
 */
async function createLooking<K extends Kind>(
  step: Step,
  creation: Creation<K>,
  first: FirstCreate,
  run: Run,
): Promise<StepResult> {
  const { kind, name } = creation;
  const { address } = step;
  const operation = `${kind}.create` as const;
  const earlier = run.openBefore(operation, name);
  // An earlier run's create may have made something, so the ids from before that create count.
  const before = earlier?.idsBefore ?? [name, ...cutNames(name)].flatMap((one) => run.idsBefore(kind, one));
  const isFree = (id: string): boolean => mayBeGivenAgain({ kind, id }, run);
  let intent: Intent = {
    step: step.id,
    address,
    operation,
    name,
    sentAt: isoNow(run),
    idsBefore: before.some(isFree) ? await stillThere(kind, before, isFree, run) : before,
    record: creation.record,
  };
  const madeBy = (outcome: Outcome<LiveOf[K] | undefined>): LiveOf[K] | undefined => {
    const shown = valueIn(outcome);
    return shown !== undefined && existedBefore(step, kind, shown.id, run) ? undefined : shown;
  };
  for (let attempt = 1; ; attempt++) {
    await run.recorder.record([{ type: "intent", address, intent }]);
    const outcome = await creation.send();
    const made = madeBy(outcome);
    if (made !== undefined || !saysAccepted(outcome)) first.leave();
    if (made !== undefined) return keepOrShowId(step, creation, made, "answered", run);
    // A lost attempt, of this run or of the one before, may have taken the name: the refusal contradicts the list that
    // did not show it.
    const isTaken = (attempt > 1 || earlier !== undefined) && isNameConflict(outcome);
    if (!isTaken && provesNothingDone(outcome))
      return settleRefused(outcome, intent, run, () => bearsItsName(step, kind, intent, run));
    if (saysAccepted(outcome)) intent = { ...intent, accepted: true };
    // Where nobody can look, only an answer in the service's own form proves that the resource is being made.
    if (!run.ports.client.can.canFindCreated(kind)) {
      first.leave(unreadIn(outcome, name));
      return whereNobodyLooks(creation, outcome, intent, run);
    }
    if (intent.accepted === true) await run.recorder.record([{ type: "intent", address, intent }]);
    const found = await findAfterCreate(step, creation, intent, run);
    if ("settled" in found) return found.settled;
    const then = afterLook(outcome, found, intent.accepted === true, isTaken);
    if (typeof then === "object") return settleRefused(then, intent, run);
    if (then === "ask" || attempt >= createAttempts) {
      first.leave(unreadIn(outcome, name));
      return outcomeUnknown(intent, run, found.evidence ?? answerText(outcome), hintOf(outcome));
    }
    run.progress(step, "the lost create was not done; sending it again");
  }
}

/** Whoever asks at the same time has one answer. */
const sharedLists: { readonly [K in Kind]?: (run: Run) => Promise<Outcome<readonly LiveOf[K][]>> } = {
  vm: ({ listVms }) => listVms(),
};

/** Some services give the lowest number that is free: the id of what this run has deleted. Other ids are never given again. */
const mayBeGivenAgain = (one: { readonly kind: Kind; readonly id: string }, run: Run): boolean =>
  /^\d+$/.test(one.id) && run.deleted.has(orphanKey(one));

/** The ids from before, without those that are free: a list after the delete does not show them. */
async function stillThere<K extends Kind>(
  kind: K,
  before: readonly string[],
  isFree: (id: string) => boolean,
  run: Run,
): Promise<readonly string[]> {
  if (!run.ports.client.can.canFindCreated(kind)) return before;
  const listed = await (sharedLists[kind]?.(run) ?? listOfKind(kind, run.ports.client, { signal: run.signal }));
  if (listed.status !== "accepted") return before;
  const shown = new Set(listed.value.map(({ id }) => id));
  return before.filter((id) => !isFree(id) || shown.has(id));
}

/** Of an id that is given again a second read tells, for a list that is behind shows what was deleted. */
async function isReadThere(kind: Kind, id: string, run: Run): Promise<boolean> {
  if (!mayBeGivenAgain({ kind, id }, run)) return true;
  const { client } = run.ports;
  return (
    client.can.readsOne(kind) && (await readOfKind(kind, client, id, { signal: run.signal })).status === "accepted"
  );
}

/** What follows where a look has not found it: the refusal that holds, a person is asked, or it may be sent again. */
function afterLook(
  outcome: Outcome<unknown>,
  { evidence, isOther, isDoubtful }: NothingFound,
  isAccepted: boolean,
  isTaken: boolean,
): Failure | "ask" | "again" {
  if (isTaken && outcome.status === "rejected" && isOther)
    return { ...outcome, message: `${outcome.message} (${evidence})` };
  if (isAccepted || isTaken || isDoubtful) return "ask";
  // What came under this name while the answer was lost may be what was sent, with a size or a text that the service wrote
  // in its own way.
  return (outcome.status === "unknown" ? outcome.refusal : undefined) ?? (isOther ? "ask" : "again");
}

/** Where no list or record can show the new resource, the answer to the create is all there is. */
const whereNobodyLooks = <K extends Kind>(
  { unlisted }: Creation<K>,
  outcome: Outcome<unknown>,
  intent: Intent,
  run: Run,
): StepResult | Promise<StepResult> =>
  outcome.status === "accepted" && unlisted !== undefined
    ? unlisted()
    : outcomeUnknown(intent, run, answerText(outcome), hintOf(outcome));

const hintOf = (outcome: Outcome<unknown>): string | undefined =>
  outcome.status === "unknown" ? outcome.hint : undefined;

/** `undefined`: there was no answer to read, or it was read. */
const unreadIn = (outcome: Outcome<unknown>, name: string): Unread | undefined =>
  outcome.status === "unknown" && outcome.accepted === true
    ? { name, reason: outcome.reason, line: outcome.hint }
    : undefined;

/** What came instead of an answer that can be read. Of a broken connection there is nothing to say. */
const answerText = (outcome: Outcome<unknown>): string | undefined =>
  outcome.status === "unknown" && (outcome.httpStatus !== undefined || outcome.accepted === true)
    ? outcome.reason
    : undefined;

/**
 * An answer with the id of a resource that existed before speaks of something else: it is a proxy's, or the service
 * answers creates in a way of its own.
 */
function existedBefore({ address }: Step, kind: Kind, id: string, run: Run): boolean {
  const manager = run.recorder.addressOf(identity(kind, id));
  if (manager !== undefined && manager !== address) return true;
  if (run.recorder.state.orphans.has(orphanKey({ kind, id }))) return true;
  return sight(run.live, kind, id).seen === "yes" && !mayBeGivenAgain({ kind, id }, run);
}

interface NothingFound {
  /** What was seen instead. */
  readonly evidence: string | undefined;
  /** What bears the name by now differs from what was sent. */
  readonly isOther: boolean;
  readonly isDoubtful: boolean;
}

const doubted = (evidence: string): NothingFound => ({ evidence, isOther: false, isDoubtful: true });

/** `settled`: the step ends. The resource was found, or nobody can tell. */
type FoundMade = { readonly settled: StepResult } | NothingFound;

/** Judges what was not there before, and is no other address's. */
function judgeNew<K extends Kind>(
  { address }: Step,
  kind: K,
  intent: Intent,
  named: readonly LiveOf[K][],
  run: Run,
): Judged<LiveOf[K]> {
  const isNew = ({ id }: LiveOf[K]): boolean =>
    !intent.idsBefore.includes(id) && (run.recorder.addressOf(identity(kind, id)) ?? address) === address;
  return judgeMade(intent, named.filter(isNew), run);
}

/**
 * What has taken the name since the plan looked and is as it was sent: somebody else's, or what a gateway made that sent
 * the create twice. It is told to a person, for nothing else will look for it.
 */
async function bearsItsName(step: Step, kind: Kind, intent: Intent, run: Run): Promise<Made | undefined> {
  if (!run.ports.client.can.canFindCreated(kind)) return undefined;
  const listed = await listOfKind(kind, run.ports.client, { signal: run.signal });
  if (listed.status !== "accepted") return undefined;
  const named = listed.value.filter(({ name }) => name?.toLowerCase() === intent.name.toLowerCase());
  const { ours } = judgeNew(step, kind, intent, named, run);
  return ours.length === 1 ? ours[0] : undefined;
}

/** Looks for what the create may have made, and judges what bears its name. */
async function findAfterCreate<K extends Kind>(
  step: Step,
  creation: Creation<K>,
  intent: Intent,
  run: Run,
): Promise<FoundMade> {
  const { kind, name } = creation;
  const judge = (named: readonly LiveOf[K][]): Judged<LiveOf[K]> => judgeNew(step, kind, intent, named, run);
  const isFound = (named: readonly LiveOf[K][]): boolean => {
    const { ours, doubtful } = judge(named);
    return ours.length + doubtful.length > 0;
  };
  const { discoveryWindowMs } = run.ports.timing;
  const windowMs = intent.accepted === true ? (creation.acceptedWindowMs ?? discoveryWindowMs) : discoveryWindowMs;
  const looked = await discover(kind, { step, name, isEnough: isFound, windowMs }, run);
  if (looked.status === "aborted") return { settled: stoppedLooking(intent) };
  if (looked.status === "blind") return { settled: await endUnreadableList(intent, looked.failure, run) };
  const { ours, doubtful, strangers } = judge(looked.named);
  if (ours.length + doubtful.length > 1) return { settled: await severalFound(intent, [...ours, ...doubtful], run) };
  const [made] = ours;
  if (made !== undefined && (await isReadThere(kind, made.id, run)))
    return { settled: await keepOrShowId(step, creation, made, "seen", run) };
  if (made !== undefined)
    return doubted(`${made.id} has its name, and is what this run has deleted: the list may be behind`);
  const isCut = (one: LiveOf[K]): boolean => mayBeCut(one.name, name) && sight(run.live, kind, one.id).seen !== "yes";
  const cut = ours.length + doubtful.length > 0 ? undefined : judge(looked.all.filter(isCut));
  const [shortened] = [...(cut?.ours ?? []), ...(cut?.doubtful ?? [])];
  if (shortened !== undefined) return doubted(saysCut(shortened, name));
  if (doubtful[0] !== undefined)
    return doubted(
      `${doubtful[0].id} has its name, and the service shows nothing else that tells whether this create made it`,
    );
  const isOther = strangers.length > 0;
  const evidence = isOther ? `what bears its name is not as it was sent: ${describeStrangers(strangers)}` : undefined;
  return { evidence, isOther, isDoubtful: false };
}

const isNameConflict = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "rejected" && (outcome.condition === "conflict" || outcome.condition === "name_taken");

const provesNothingDone = (outcome: Outcome<unknown>): outcome is Rejection | Unavailable =>
  outcome.status === "unavailable" || (outcome.status === "rejected" && !isRefusedAs(outcome, "unreadable"));

/** A write that was answered with something unreadable has its effect. */
const saysAccepted = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "accepted" ||
  (outcome.status === "unknown" && outcome.accepted === true) ||
  isRefusedAs(outcome, "unreadable");

async function settleRefused(
  outcome: Failure,
  { address, name }: Intent,
  run: Run,
  findBearer?: () => Promise<Made | undefined>,
): Promise<StepResult> {
  // Before anything is looked for: what took the name is not taken over where the run is cut off at that look.
  await run.recorder.record([{ type: "intent", address, intent: null }]);
  const failed = failedBy(outcome);
  if (!isNameConflict(outcome) || failed.fix !== undefined) return failed;
  // An address that has what is replaced takes over nothing else.
  if (run.recorder.state.resources.get(address)?.id !== undefined)
    return { ...failed, fix: `another name, or rename or delete what is named ${name} first` };
  const bearer = await findBearer?.();
  const left = orphanNamed(kindOf(address), name, run);
  const taken =
    bearer !== undefined
      ? toRun(["import", address, bearer.id], "it came under that name since, as it was sent: perhaps by this request")
      : left === undefined
        ? toRun(["import", address, "ID"], `where ${name} is yours`)
        : toRun(["import", address, left.id], `the orphan ${left.name}: ${left.reason}`);
  return { ...failed, fix: [taken, toAsk("another name")] };
}

/** What this project left behind under that name; where the service has no list, nothing else tells its id. */
const orphanNamed = (wanted: Kind, name: string, { recorder }: Run): Orphan | undefined =>
  [...recorder.state.orphans.values()].find(
    (orphan) => orphan.kind === wanted && orphan.name.toLowerCase() === name.toLowerCase(),
  );

/** An id that could not be recorded is shown in the message: where nobody can list, it is found nowhere else. */
async function keepOrShowId<K extends Kind>(
  { address }: Step,
  { name, keep }: Creation<K>,
  live: LiveOf[K],
  how: HowFound,
  run: Run,
): Promise<StepResult> {
  try {
    run.deleted.delete(orphanKey(live));
    return await keep(live, how);
  } catch (error) {
    throw new NotRecorded(
      asError(error),
      `${nounAt(address)} ${name} was created as ${live.id}, and that could not be recorded: ${errorMessage(error)}`,
      [toRun(["import", address, live.id])],
    );
  }
}

/** The state could not record an id. `cause`: the failure of the write, which other steps may have shared. */
export class NotRecorded extends Error {
  override readonly name = "NotRecorded";
  constructor(
    override readonly cause: Error & { readonly code?: unknown },
    message: string,
    readonly fix: Advice,
  ) {
    super(message);
  }
}

/** `evidence`: what was seen instead. `hint`: how its answer would have been read. */
function outcomeUnknown(intent: Intent, run: Run, evidence?: string, hint?: string): Promise<StepResult> {
  const became = intent.accepted === true ? "the service accepted it and does not show it" : "its answer was lost";
  const fix = outcomeUnknownFix(intent.address);
  const line = hint === undefined ? undefined : `before anything else is created, ${lineIn(hint)}`;
  return endUnknown(
    intent,
    `${became}; repeating it could make a second one${evidence === undefined ? "" : `; ${evidence}`}`,
    line === undefined ? fix : [toSay([`${fixText(...fix)}; and ${line}`], line)],
    run,
  );
}

/** Nobody knows what became of the create. */
const endUnknown = (intent: Intent, became: string, fix: Advice, run: Run): Promise<StepResult> =>
  recordUnknown(intent, run, {
    code: "apply/outcome-unknown",
    message: `outcome unknown: the create of ${nounAt(intent.address)} ${intent.name} was sent at ${intent.sentAt} and ${became}`,
    fix,
  });

async function recordUnknown(
  intent: Intent,
  run: Run,
  said: Pick<OpenStep, "code" | "message" | "fix">,
): Promise<StepResult> {
  const { address } = intent;
  await run.recorder.record([{ type: "intent", address, intent: { ...intent, unknown: true } }]);
  return { end: "unknown", ...said };
}

/** Ends the step when the list cannot be read: waiting does not help. */
async function endUnreadableList(intent: Intent, failure: Failure, run: Run): Promise<StepResult> {
  const { fix } = failedBy(failure);
  const became = intent.accepted === true ? "accepted" : "its answer was lost";
  return endUnknown(
    intent,
    `${became}, and the list to find it in cannot be read: ${whyUnread(failure)}${fix === undefined ? "" : ` (${adviceText(fix)})`}`,
    outcomeUnknownFix(intent.address),
    run,
  );
}

const stoppedLooking = ({ address }: Intent): StepResult => ({
  end: "unknown",
  code: "apply/interrupted",
  message: `stopped while looking for the ${nounAt(address)}`,
  fix: "run the same command again: it looks for it first, and does not send it again before",
});

function severalFound(intent: Intent, found: readonly Made[], run: Run): Promise<StepResult> {
  const { address, name } = intent;
  const shown = found.map((one) => `${one.id}${"status" in one ? ` (${one.status ?? "?"})` : ""}`);
  return recordUnknown(intent, run, {
    code: "apply/ambiguous",
    message: `${found.length} new ${nounAt(address)}s are named ${name}: ${shown.join(", ")}`,
    fix: outcomeUnknownFix(address),
  });
}
