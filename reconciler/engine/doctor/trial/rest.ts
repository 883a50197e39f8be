/** Looks at a VM or a volume of a trial until it rests, or until it is gone. */
import { ofKind } from "../../../core/model/kinds";
import type { LiveOf } from "../../../core/model/live";
import { findListed, isGone, type Outcome, type Rejection } from "../../../core/model/outcome";
import { deepEqual } from "../../../core/text/deep-equal";
import { onlyDefined } from "../../../core/text/objects";
import { placeOfAbsence } from "../../../dialect/conditions";
import type { ErrorRule } from "../../../dialect/dialect";
import { listOfKind, readOfKind } from "../../observe";
import { canList, isListed, orNothing } from "./lists";
import type { TrialThing } from "./notes";
import { nounOf, TrialProblem, telling, wordsOf } from "./say";
import type { Trial } from "./watch";

type Watchable = "vm" | "volume";

export interface TrialLook<K extends Watchable = Watchable> {
  readonly word: string | undefined;
  /** It is listed still, and not found by its id any more since it was deleted. */
  readonly isLeaving?: boolean;
  readonly live: LiveOf[K];
}

export interface Watched<K extends Watchable> {
  /** Each word that was seen, in turn. */
  readonly words: readonly string[];
  /** `undefined`: the resource does not exist any more. */
  readonly last: TrialLook<K> | undefined;
  readonly ms: number;
}

/** `undefined`: the service shows that it does not exist. Throws when nothing can be told. */
export async function lookAt<K extends Watchable>(
  trial: Trial,
  kind: K,
  id: string,
): Promise<TrialLook<K> | undefined> {
  const byItself = trial.client.can.readsOne(kind);
  const ask = () => (byItself ? readOfKind(kind, trial.client, id) : inList(trial, kind, id));
  let outcome = await ask();
  // A read that breaks off, or that the service has no time for, says nothing; it is asked again for a while.
  for (let again = 0; again < 6 && !isDecided(outcome); again++) {
    await trial.wait(2 ** again);
    outcome = await ask();
  }
  if (outcome.status === "accepted") return { word: outcome.value.status, live: outcome.value };
  // What is not found by an id that a list shows is there, and the id is read in a wrong way.
  if (isGone(outcome)) return byItself ? listedAs(trial, kind, id) : undefined;
  const told = byItself && outcome.status === "rejected" ? await lookBeside(trial, kind, id, outcome) : "untold";
  if (told !== "untold") return told;
  throw new TrialProblem(`the ${nounOf(kind)} of the trial cannot be read: ${wordsOf(outcome)}`);
}

/** What its list tells, where it cannot be read by itself. */
async function lookBeside<K extends Watchable>(
  trial: Trial,
  kind: K,
  id: string,
  refused: Rejection,
): Promise<TrialLook<K> | undefined | "untold"> {
  const listed = await isListed(trial, kind, id);
  const isKnown = trial.errors.some((rule) => rule.is === "not_found" && rule.status === refused.httpStatus);
  const wasDeleted = trial.isDeleted(kind, id) || trial.notes.wasToGo(kind, id);
  const mayBeAway = isAbsent(refused) && (isKnown || wasDeleted);
  if (listed === false || (listed === undefined && mayBeAway)) {
    if (isAbsent(refused) || wasDeleted) await goneAs(trial, kind, id, refused);
    return undefined;
  }
  // Its list shows it a while longer, as a read of it does where that says so in the service's own words.
  return (mayBeAway ? await listedAs(trial, kind, id) : undefined) ?? "untold";
}

async function listedAs<K extends Watchable>(trial: Trial, kind: K, id: string): Promise<TrialLook<K> | undefined> {
  if (!trial.client.can.canFindCreated(kind)) return undefined;
  const listed = await inList(trial, kind, id);
  if (listed.status !== "accepted") return undefined;
  return { word: listed.value.status, live: listed.value, isLeaving: trial.isDeleted(kind, id) };
}

/**
 * What a read answers about the trial's own, once it is gone, means "not found": by its status, by words that say so, or
 * by a place of such words to which it redirects.
 */
async function goneAs(trial: Trial, kind: "vm" | "volume", id: string, outcome: Rejection): Promise<void> {
  const { httpStatus: status = 0 } = outcome;
  if (status >= 300 && status < 400) {
    const location = placeOfAbsence((await trial.shownNow(kind, id)).location)?.replaceAll(id, "*");
    if (location === undefined || trial.errors.some((known) => known.location === location)) return;
    trial.errors.push({ is: "not_found", location });
    trial.say(`What is gone is answered with a redirect to ${location}.`);
    return;
  }
  const message = isAbsent(outcome) ? undefined : telling(outcome.message);
  if (status === 0 || (message === undefined && !isAbsent(outcome))) return;
  const rule: ErrorRule = { is: "not_found", status, ...onlyDefined({ message }) };
  if (trial.errors.some((known) => deepEqual(known, rule))) return;
  const words = message === undefined ? `${status}` : `${status} and "${message}"`;
  if (message === undefined || speaksOfAbsence.test(message)) {
    trial.errors.push(rule);
    trial.say(`What is gone is answered with ${words}.`);
    return;
  }
  trial.open.push(
    `errors: a ${nounOf(kind)} that was deleted is answered with ${words}; if that is said of nothing else: errors: [{ is: not_found, status: ${status}, message: ${JSON.stringify(message)} }]`,
  );
}

/** What was deleted by the word that its list shows: how a read of it says so. */
export async function tellAbsence(trial: Trial, kind: "vm" | "volume", id: string): Promise<void> {
  const outcome = trial.client.can.readsOne(kind) ? await readOfKind(kind, trial.client, id) : undefined;
  if (outcome?.status === "rejected" && !isGone(outcome) && isAbsent(outcome)) await goneAs(trial, kind, id, outcome);
}

const speaksOfAbsence = /not[ _-]?found|not be found|no such|not exist|n't exist|no longer|unknown|deleted/i;

/** Looks until it is so, for as long as a word has to stay unchanged. */
export async function until(trial: Trial, isSo: () => Promise<boolean>): Promise<boolean> {
  const { clock, timing } = trial.ports;
  const start = clock.now();
  for (let looks = 1; ; looks++, await trial.wait()) {
    if (await isSo()) return true;
    if (clock.now() - start > timing.quietMs && looks >= fewestLooks) return false;
  }
}

/**
 * Whether its list leaves out one that is there, as it is just now: such as one of running VMs alone. By such a list,
 * what is stopped would be made once more. It is left out in the end, since the trial goes on with it.
 */
export async function isHidden(trial: Trial, kind: TrialThing["kind"], id: string, how: string): Promise<boolean> {
  if (!canList(trial, kind) || (await until(trial, async () => (await isListed(trial, kind, id)) !== false)))
    return false;
  trial.hidden.set(kind, how);
  return true;
}

async function inList<K extends Watchable>(trial: Trial, kind: K, id: string): Promise<Outcome<LiveOf[K]>> {
  const listed = await orNothing(trial, `${kind}.list`, () => listOfKind(kind, trial.client));
  return findListed(listed, (one) => one.id === id, "it is in no list");
}

/** A service that answers slowly is looked at as often as another before nothing counts as having changed. */
const fewestLooks = 4;

/** Waits until the resource has settled: at a word that means so, or at a word that does not change any more. */
export async function settle<K extends Watchable>(
  trial: Trial,
  kind: K,
  id: string,
  isRest: (look: TrialLook<K>) => boolean,
  quietMs = trial.ports.timing.quietMs,
  /** What is done at each look. */
  onLook?: () => Promise<void>,
): Promise<Watched<K>> {
  const { clock, timing } = trial.ports;
  const start = clock.now();
  const words: string[] = [];
  let since = start;
  let looks = 0;
  for (;;) {
    await onLook?.();
    const look = await lookAt(trial, kind, id);
    const now = clock.now();
    looks++;
    if (look?.word !== undefined && look.word !== words.at(-1)) {
      words.push(look.word);
      [since, looks] = [now, 1];
    }
    // A word that speaks of something under way is given longer to change.
    const isOnItsWay =
      look !== undefined &&
      (isOfProgress(look) || trial.isLively(kind, look.word)) &&
      !isGoneBy(trial.words[kind], look.word);
    const patience = isOnItsWay ? quietMs * 12 : quietMs;
    const isQuiet = now - since >= patience && looks >= fewestLooks;
    const isOver = look === undefined || isRest(look) || isQuiet || now - start >= timing.mostMs;
    if (isOver) return { words, last: look, ms: now - start };
    await trial.wait();
  }
}

/** A word at which a deleted one of its kind came to rest. */
export const isGoneBy = (words: Trial["words"]["vm"], word: string | undefined): boolean =>
  word !== undefined && words["gone"]?.has(word) === true;

/** A volume that is not on its way: by a word that is known, since any other may be one of progress. */
export function isReady(trial: Trial, { live, word }: TrialLook<"volume">): boolean {
  if (live.changing === true) return false;
  const ready = [...(trial.words.volume["ready"] ?? []), ...trial.report.dialect.states.volume.ready];
  return word === undefined || restful.test(word) || ready.some((one) => one.toLowerCase() === word.toLowerCase());
}

const isDecided = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "accepted" || outcome.status === "rejected";

/** Words with which volumes are at rest. */
const restful =
  /^(available|in[-_ ]?use|ready|online|attached|detached|unattached|free|used|active|idle|enabled|ok|normal|done)$/i;
/** Words that speak of something under way, where nothing is known of them. */
const progress =
  /^(?!running|existing)\w*ing$|^(new|build|queued|busy|maintenance|init|in[-_ ]?progress|locked|transition)$/i;
export const speaksOfProgress = (word: string): boolean => progress.test(word);

const isOfProgress = ({ live, word = "", isLeaving }: TrialLook): boolean =>
  isLeaving === true || (progress.test(word) && (ofKind(live, "vm")?.phase ?? "changing") === "changing");

const isAbsent = ({ httpStatus }: Rejection): boolean => httpStatus === 404 || httpStatus === 410;
