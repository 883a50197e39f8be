/** Deletes what a trial has made, as far as its notes name it, and learns how deleting works. */
import { kindRows } from "../../core/model/kinds";
import { isGone, type Outcome } from "../../core/model/outcome";
import { keysOf } from "../../core/text/objects";
import type { TrialThing } from "./trial-notes";
import { isLiveVm, nounOf, secondsOf, stateWords, type Trial, wordsOf } from "./trial-watch";

/** Everything that the notes name, and nothing else. */
export async function takeAway(trial: Trial): Promise<void> {
  if (trial.notes.made.length === 0) return;
  await trial.find();
  for (const kind of keysOf(kindRows))
    for (const thing of trial.notes.made.filter((one) => one.kind === kind).reverse()) await takeAwayOne(trial, thing);
}

export async function takeAwayOne(trial: Trial, thing: TrialThing): Promise<void> {
  // A name may occur twice, if the service allows that.
  const ids = thing.id === undefined ? trial.idsNamed(thing) : [thing.id];
  if (ids.length === 0 && (thing.isTaken === true || !trial.canList(thing.kind))) {
    trial.left.push(
      `${nounOf(thing.kind)} ${thing.name}: it ${thing.isTaken === true ? "was taken" : "may have been made"}, and no list shows it; look for it by its name`,
    );
    return;
  }
  for (const id of ids) {
    const problem = await deleteOne(trial, thing.kind, id);
    if (problem === undefined) continue;
    trial.left.push(`${nounOf(thing.kind)} ${id}${thing.name === undefined ? "" : ` (${thing.name})`}: ${problem}`);
    return;
  }
  trial.notes.drop(thing);
}

/** Why the resource still exists. */
async function deleteOne(trial: Trial, kind: TrialThing["kind"], id: string): Promise<string | undefined> {
  if (kind === "group") {
    const outcome = await trial.client.deleteGroup(id);
    return outcome.status === "accepted" || isGone(outcome) || (await trial.isListed("group", id)) === false
      ? undefined
      : wordsOf(outcome);
  }
  if (kind === "volume") return deleteVolume(trial, id);
  const before = await trial.look("vm", id);
  if (before === undefined) return undefined;
  trial.noteDisks(before.live);
  const outcome = await trial.client.deleteVm(id, true);
  if (outcome.status === "accepted")
    for (const volume of outcome.value.preservedVolumes ?? [])
      if (!trial.notes.made.some((one) => one.id === volume))
        trial.notes.add({ kind: "volume", id: volume, askedAt: trial.ports.clock.now(), isTaken: true });
  return departure(trial, "vm", id, before.word, outcome);
}

async function deleteVolume(trial: Trial, id: string): Promise<string | undefined> {
  const before = await trial.look("volume", id);
  if (before === undefined) return undefined;
  const vm = isLiveVm(before.live) ? undefined : before.live.attachedTo;
  // An attachment to a VM that does not exist, such as 0, is none.
  if (vm !== undefined && vm !== null && (await trial.isListed("vm", vm)) !== false) {
    // The volume is not detached from a VM that is not the trial's: somebody attached it there.
    if (!trial.notes.made.some((one) => one.id === vm)) return `it hangs on ${vm}, which the trial did not make`;
    await trial.client.detachVolume(id, vm, true);
  }
  let problem: string | undefined = "no way to delete a volume is known";
  await trial.tryWrites("volume.delete", "volume", { id }, async () => {
    problem = await departure(trial, "volume", id, before.word, undefined);
    return problem === undefined;
  });
  return problem;
}

/**
 * How a deleted resource disappears: at once, after a while, or never, with a word for its state that means that it is
 * gone.
 */
async function departure(
  trial: Trial,
  kind: "vm" | "volume",
  id: string,
  word: string | undefined,
  asked: Outcome<unknown> | undefined,
): Promise<string | undefined> {
  const went = await trial.settle(kind, id, () => false);
  const words = kind === "vm" ? trial.vmWords : trial.volumeWords;
  const last = went.last?.word;
  if (went.last === undefined) {
    for (const one of went.words) if (one !== word) trial.mean(words, "changing", one);
    if (went.words.length > 0)
      trial.say(`A deleted ${nounOf(kind)} is shown for ${secondsOf(went.ms)} more, as ${stateWords(went.words)}.`);
    return undefined;
  }
  if (last !== undefined && last !== word && (asked === undefined || asked.status === "accepted")) {
    trial.mean(words, "gone", last);
    trial.say(`A deleted ${nounOf(kind)} stays in the list, as ${last}.`);
    return undefined;
  }
  return asked === undefined ? "it is there still" : `it is there still (${wordsOf(asked)})`;
}
