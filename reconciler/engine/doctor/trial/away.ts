/** Deletes what a trial has made, as far as its notes name it, and learns how deleting works. */
import { kindRows } from "../../../core/model/kinds";
import { isGone, type Outcome } from "../../../core/model/outcome";
import { deepEqual } from "../../../core/text/deep-equal";
import { keysOf } from "../../../core/text/objects";
import { mayMeanGone } from "../../../dialect/built-in";
import type { ListRoute } from "../../../dialect/dialect";
import { leavesOf, lettersAndDigits } from "../../../dialect/learn/values";
import { noteDisks } from "./disks";
import { canList, findTrialThings, idsNamed, isListed, listedOf } from "./lists";
import { isCalled, speaksOf, type TrialThing } from "./notes";
import { isGoneBy, isReady, lookAt, settle, speaksOfProgress, type TrialLook, tellAbsence, until } from "./rest";
import { nounOf, secondsOf, stateWords, TrialProblem, wordsOf } from "./say";
import { persist } from "./send";
import { flagOfDeleted } from "./states";
import type { Trial } from "./watch";
import { tryWrites } from "./writes";

/** Everything that the notes name and everything that bears the trial's name, and nothing else. */
export async function takeAway(trial: Trial, name?: string): Promise<void> {
  const names = namesOf(trial, name);
  // What hung on something else, or was busy, is tried once more.
  for (let round = 0; round < 3 && (round === 0 || trial.left.length > 0); round++) {
    trial.left.length = 0;
    if (trial.notes.made.length > 0) await findTrialThings(trial);
    for (const kind of keysOf(kindRows))
      for (const thing of trial.notes.made.filter((one) => one.kind === kind).reverse())
        await takeAwayOne(trial, thing);
    for (const one of names) await sweep(trial, one);
  }
}

interface ListedNow {
  readonly ids: ReadonlySet<string>;
  /** What hangs on what is listed, which no list of volumes need show. */
  readonly disks: readonly string[];
  /** How the list was asked for: another way may show more. */
  readonly route: ListRoute | null;
}

export type ListedBefore = ReadonlyMap<TrialThing["kind"], ListedNow>;

/** What each list shows; a kind without one is left out. */
export async function listedNow(trial: Trial): Promise<ListedBefore> {
  const now = new Map<TrialThing["kind"], ListedNow>();
  for (const kind of keysOf(kindRows)) {
    const route = trial.report.dialect.operations[`${kind}.list`];
    const listed = await listedOf(trial, kind);
    if (listed === undefined) continue;
    const disks = listed.flatMap(({ volumes = [] }) => volumes.map(({ id }) => id));
    now.set(kind, { ids: new Set(listed.map(({ id }) => id)), disks, route });
  }
  return now;
}

/** Names what the lists show after the trial and did not show before it: nobody else need have made it. */
export async function compareWith(trial: Trial, before: ListedBefore): Promise<void> {
  for (const [kind, { ids, route }] of await listedNow(trial)) {
    const earlier = before.get(kind);
    if (earlier === undefined || !deepEqual(earlier.route, route)) continue;
    for (const id of ids)
      if (!earlier.ids.has(id) && !trial.isDeleted(kind, id) && !trial.isNoted(kind, id))
        trial.open.push(`${nounOf(kind)} ${id} came while the trial ran; if nobody else made it, delete it`);
  }
}

/** The beginnings of the names: of this trial, and of what an earlier one has left in the notes. */
const namesOf = (trial: Trial, name: string | undefined): ReadonlySet<string> =>
  new Set([
    ...(name === undefined ? [] : [name]),
    ...trial.notes.made.flatMap((thing) => /^trial-[0-9a-f]{6}/.exec(thing.name ?? "")?.[0] ?? []),
  ]);

/**
 * What is listed under a name that only the trial gives, and whose id stands in no note: one that no list had shown
 * before, or a second one of a name.
 */
async function sweep(trial: Trial, name: string): Promise<void> {
  for (const kind of keysOf(kindRows))
    for (const live of (await listedOf(trial, kind)) ?? []) {
      const { id } = live;
      if (live.name === undefined || !speaksOf(live.name, name) || trial.isDeleted(kind, id)) continue;
      if (trial.isNoted(kind, id)) continue;
      await takeAwayOne(trial, noteSwept(trial, kind, id, live.name));
    }
}

function noteSwept({ notes, ports }: Trial, kind: TrialThing["kind"], id: string, name: string): TrialThing {
  const asked = notes.made.find(
    (one) => one.kind === kind && one.id === undefined && one.name !== undefined && isCalled(name, one.name),
  );
  if (asked !== undefined) return notes.note(asked, { id });
  const thing: TrialThing = { kind, name, id, askedAt: ports.clock.now(), isTaken: true };
  notes.add(thing);
  return thing;
}

/** What cannot be read stays in the notes, and keeps nothing else from being taken away. */
export async function takeAwayOne(trial: Trial, thing: TrialThing): Promise<void> {
  try {
    await takeAwayThing(trial, thing);
  } catch (error) {
    if (!(error instanceof TrialProblem)) throw error;
    trial.left.push(`${nounOf(thing.kind)} ${thing.id ?? thing.name}: ${error.message}`);
  }
}

async function takeAwayThing(trial: Trial, thing: TrialThing): Promise<void> {
  if (!trial.notes.made.includes(thing)) return;
  const ids = thing.id === undefined ? idsNamed(trial, thing) : [thing.id];
  if (ids.length === 0 && (thing.isTaken === true || !canList(trial, thing.kind))) {
    trial.left.push(
      `${nounOf(thing.kind)} ${thing.name}: it ${thing.isTaken === true ? "was taken" : "may have been made"}, and no list shows it by that name; look for it, the service may have changed the name`,
    );
    return;
  }
  let noted = thing;
  for (const id of ids) {
    const other = trial.isOfEarlier ? await nameOfOthers(trial, thing, id) : undefined;
    if (other !== undefined) {
      trial.left.push(
        `${nounOf(thing.kind)} ${id}: it is called ${other}, which is no name of a trial, and was left alone`,
      );
      return;
    }
    const problem = await deleteOne[thing.kind](trial, id, () => {
      noted = trial.notes.note(noted, { id, isDeleteAsked: true });
    });
    if (problem === undefined) continue;
    const what = `${nounOf(thing.kind)} ${id}${thing.name === undefined ? "" : ` (${thing.name})`}`;
    if (trial.mayStay && problem === noWay) {
      trial.say(`The ${what} stays: ${problem}, and it was permitted to stay.`);
      trial.notes.drop(noted, "stays, as was permitted: no way to delete it is known");
    } else trial.left.push(`${what}: ${problem}`);
    return;
  }
  trial.notes.drop(noted, ids.length === 0 ? "did not appear" : "was deleted");
}

/**
 * The name of what an earlier trial has noted, where nothing in its record is of a trial: its id may have become
 * another's since then. `undefined`: nothing speaks against its being the trial's.
 */
async function nameOfOthers(trial: Trial, thing: TrialThing, id: string): Promise<string | undefined> {
  const { kind } = thing;
  const shown = await shownAs[kind](trial, id);
  const name = shown?.name;
  if (name === undefined || isOfTrial(name)) return undefined;
  // A disk that came with the VM has a name that the service gave it.
  const isOwnDisk = thing.name === undefined && shown !== undefined && "sizeGb" in shown && shown.sizeGb === 1;
  const record = (await trial.shownNow(kind, id)).record ?? trial.recordOf(kind, id);
  return isOwnDisk || leavesOf(record).some(({ value }) => isOfTrial(String(value))) ? undefined : name;
}

/** What the service shows of one: no read shows the name of a group. */
const shownAs = {
  vm: async (trial: Trial, id: string) => (await lookAt(trial, "vm", id))?.live,
  volume: async (trial: Trial, id: string) => (await lookAt(trial, "volume", id))?.live,
  group: async (trial: Trial, id: string) => (await listedOf(trial, "group"))?.find((one) => one.id === id),
};

/** A service may write a name in capitals, in other signs, or as a part of its own. */
const isOfTrial = (text: string): boolean => /trial[0-9a-f]{6}/.test(lettersAndDigits(text));

const noWay = "no way to delete a volume is known";

/** Deletes one of a kind; with why it still exists. What is read by its id writes down before that it is to go. */
type DeleteOne = (trial: Trial, id: string, writeDown: () => void) => Promise<string | undefined>;

const deleteOne: Readonly<Record<TrialThing["kind"], DeleteOne>> = {
  vm: deleteTrialVm,
  volume: deleteTrialVolume,
  group: deleteTrialGroup,
};

async function deleteTrialGroup(trial: Trial, id: string): Promise<string | undefined> {
  const outcome = await persist(trial, () => trial.client.deleteGroup(id));
  const isAway = outcome.status === "accepted" || isGone(outcome) || (await isListed(trial, "group", id)) === false;
  if (!isAway) return wordsOf(outcome);
  // One that is listed a while longer was taken away all the same, unless it is listed for good.
  if (!(await until(trial, async () => (await isListed(trial, "group", id)) !== true)))
    return isGone(await trial.client.deleteGroup(id))
      ? `its delete was accepted, and it is listed still; say which items of the list count: operations: group.list: { …, items: { in: /…, where: { … } } }`
      : "it is there still";
  trial.markDeleted("group", id);
  return undefined;
}

async function deleteTrialVm(trial: Trial, id: string, writeDown: () => void): Promise<string | undefined> {
  const before = await lookAt(trial, "vm", id);
  // A list that leaves out what is stopped does not say that it is gone.
  const isUnseen = before === undefined && !trial.isOfEarlier && !trial.isDeleted("vm", id) && trial.hidden.has("vm");
  if (before === undefined ? !isUnseen : isOver(trial, "vm", id, before.word)) return undefined;
  await noteDisks(trial, before?.live);
  const was: Before = { word: before?.word, record: (await trial.shownNow("vm", id)).record };
  writeDown();
  const outcome = await persist(trial, () => trial.client.deleteVm(id, true));
  if (outcome.status === "accepted") {
    trial.markDeleted("vm", id);
    for (const volume of outcome.value.preservedVolumes ?? [])
      if (!trial.isNoted("volume", volume) && !trial.isOfOthers("volume", volume))
        trial.notes.add({ kind: "volume", id: volume, askedAt: trial.ports.clock.now(), isTaken: true });
  }
  if (isUnseen && outcome.status !== "accepted" && !isGone(outcome)) return wordsOf(outcome);
  if (outcome.status === "rejected" && showsDeleted(was.word)) return undefined;
  return departure(trial, "vm", id, was, outcome);
}

/** Whether it stays in its list, and by its word was deleted all the same. */
function isOver(trial: Trial, kind: "vm" | "volume", id: string, word: string | undefined): boolean {
  const isGone = isGoneBy(trial.words[kind], word);
  if (isGone) trial.markDeleted(kind, id);
  return isGone;
}

async function deleteTrialVolume(trial: Trial, id: string, writeDown: () => void): Promise<string | undefined> {
  if ((await lookAt(trial, "volume", id)) === undefined) return undefined;
  // A volume on its way refuses to be deleted.
  const { last: before } = await settle(trial, "volume", id, (look) => isReady(trial, look));
  if (before === undefined || isOver(trial, "volume", id, before.word)) return undefined;
  const vm = before.live.attachedTo;
  // An attachment to a VM that does not exist, such as 0, is none.
  if (vm !== undefined && vm !== null && !trial.isDeleted("vm", vm) && (await isListed(trial, "vm", vm)) !== false) {
    // The volume is not detached from a VM that is not the trial's: somebody attached it there.
    if (!trial.isNoted("vm", vm)) return `it hangs on ${vm}, which the trial did not make`;
    await persist(trial, () => trial.client.detachVolume(id, vm, true));
    await settle(trial, "volume", id, ({ live }) => live.changing !== true && live.attachedTo !== vm);
  }
  let problem: string | undefined = noWay;
  const was: Before = { word: before.word, record: (await trial.shownNow("volume", id)).record };
  writeDown();
  await tryWrites(trial, "volume.delete", "volume", { id }, async () => {
    problem = await departure(trial, "volume", id, was, undefined);
    return problem === undefined;
  });
  if (problem !== noWay) return problem;
  if (trial.isDeleted("volume", id)) return "its delete was accepted, and it is shown still";
  if (showsDeleted(before.word)) return undefined;
  return trial.routes["volume.delete"] === undefined ? noWay : "its delete was refused";
}

/** Of an own one whose delete is refused: an earlier trial deleted it, and was cut off before it wrote that down. */
const showsDeleted = (word: string | undefined): boolean => word !== undefined && mayMeanGone.has(word.toLowerCase());

/** How one showed itself before it was deleted. */
interface Before {
  readonly word: string | undefined;
  readonly record: unknown;
}

/**
 * How a deleted resource disappears: at once, after a while, or never, with a word for its state that means that it is
 * gone.
 */
async function departure(
  trial: Trial,
  kind: "vm" | "volume",
  id: string,
  { word, record }: Before,
  asked: Outcome<unknown> | undefined,
): Promise<string | undefined> {
  const went = await settle(trial, kind, id, () => false);
  const words = trial.words[kind];
  const last = went.last?.word;
  if (went.last === undefined) {
    for (const one of went.words) if (one !== word) trial.mean(words, "changing", one);
    if (went.words.length > 0)
      trial.say(`A deleted ${nounOf(kind)} is shown for ${secondsOf(went.ms)} more, as ${stateWords(went.words)}.`);
    trial.markDeleted(kind, id);
    return undefined;
  }
  if (last !== undefined && (asked === undefined || asked.status === "accepted")) {
    if (last !== word) learnWhereItStays(trial, kind, went.last, last);
    const flag = isGoneBy(words, last) ? undefined : flagOfDeleted(record, (await trial.shownNow(kind, id)).record);
    const isFlagged = flag !== undefined && trial.tellDeletedBy(kind, flag, word ?? last, record);
    if (isFlagged || isGoneBy(words, last)) {
      trial.say(
        `A deleted ${nounOf(kind)} stays in the list, ${isFlagged ? `and ${flag.place} says so` : `as ${last}`}.`,
      );
      trial.markDeleted(kind, id);
      await tellAbsence(trial, kind, id);
      return undefined;
    }
    if (last !== word) return `it is there still, as ${last}`;
  }
  return asked === undefined ? "it is there still" : `it is there still (${wordsOf(asked)})`;
}

/** One that is on its way is not gone, however long that takes, unless a read of it says so: its delete may fail. */
function learnWhereItStays(trial: Trial, kind: "vm" | "volume", { isLeaving }: TrialLook, word: string): void {
  const words = trial.words[kind];
  if (trial.isLively(kind, word) || isGoneBy(words, word)) return;
  if (isLeaving === true || !speaksOfProgress(word)) trial.mean(words, "gone", word);
  else
    trial.open.push(
      `states.${kind}: a deleted ${nounOf(kind)} was ${word} for as long as it was looked at; if it is gone then: states: { ${kind}: { gone: [${word}] } }`,
    );
}
