/** The life of the trial's volume: attached, taken off again, grown. */
import { operations } from "../../../core/model/operation";
import { absentIsNoList } from "../../../dialect/learn/items";
import { fillRoute } from "../../../dialect/requests";
import { pathWithId } from "../enter";
import { isNothing } from "../find-list";
import { look } from "../look";
import { refusedAs, type TrialAct, trialAct } from "./act";
import { isHidden, isReady, lookAt, settle, type TrialLook, until } from "./rest";
import { persist } from "./send";
import { placeBeside, placeThatDiffers, statesIn, wordsShownAt } from "./states";
import type { Trial } from "./watch";

export const attachingActs: readonly TrialAct[] = [
  trialAct(["vm", "volume"], async ({ trial }, { vm, volume }) => {
    const free = await settle(trial, "volume", volume, (look) => isReady(trial, look));
    // Where no key speaks of a state, words that change with it do.
    if (free.last?.word === undefined) await trial.lookAgain();
    const before = trial.recordOf("volume", volume);
    const moments = [(await trial.shownNow("volume", volume)).record];
    const note = async (): Promise<void> => {
      const { record } = await trial.shownNow("volume", volume);
      if (record !== undefined && statesIn(record) !== statesIn(moments.at(-1))) moments.push(record);
    };
    trial.attached = volume;
    const attach = await persist(trial, () => trial.client.attachVolume(volume, vm));
    if (attach.status === "rejected") {
      trial.attached = undefined;
      trial.open.push(`the volume could not be attached: ${attach.message}`);
      return;
    }
    const isUsed = (one: TrialLook<"volume">): boolean => isReady(trial, one) && one.word !== free.last?.word;
    const used = await settle(trial, "volume", volume, isUsed, undefined, note);
    // Another place may say that it is under way still.
    if (moments.length > 1)
      await until(trial, async () => {
        await note();
        return false;
      });
    trial.sawAttached = used.last !== undefined;
    if (attach.status === "accepted") await isHidden(trial, "volume", volume, "is attached");
    await trial.lookAtHanging(vm, volume);
    const words =
      free.last?.word === undefined ? tellVolumeStates(trial, [before, trial.recordOf("volume", volume)]) : [];
    for (const word of words) trial.mean(trial.words.volume, "ready", word);
    const shown = await lookAt(trial, "volume", volume);
    const isShown = shown?.live.attachedTo === vm;
    trial.say(`Attached, a volume shows ${used.last?.word ?? "no word"}${isShown ? " and the VM it hangs on" : ""}.`);
    await refusedAs(trial, "volume_attached", {
      operation: "volume.resize",
      method: "POST",
      path: pathWithId("volume.resize", volume),
      body: { size: "2" },
    });
    await refusedAs(trial, "flush_not_confirmed", {
      operation: "volume.detach",
      method: "POST",
      path: operations["volume.detach"].path,
      body: { vm_id: vm, volume_id: volume, flush_confirmed: false },
    });
    trial.mean(trial.words.volume, "ready", used.last?.word);
    // Nobody has mounted the volume, so there is nothing to flush.
    const detach = await persist(trial, () => trial.client.detachVolume(volume, vm, true));
    await until(trial, () => isOffList(trial, vm, volume));
    const isFreed = (one: TrialLook<"volume">): boolean => one.word === free.last?.word && isReady(trial, one);
    const freed = await settle(trial, "volume", volume, isFreed);
    if (detach.status === "accepted") trial.attached = undefined;
    // What is said still of one that was taken off is not where it hangs.
    await trial.lookAgain();
    await keepIfOffList(trial, vm, volume);
    const rest = [free.last?.word, used.last?.word, freed.last?.word];
    for (const word of rest) trial.mean(trial.words.volume, "ready", word);
    trial.onTheWay("volume", [...free.words, ...used.words, ...freed.words], rest);
    tellBusyVolumes(trial, moments);
  }),
];

/** Whether a list of what hangs on what shows it no more. Where it is left out once nothing does, the dialect says so. */
export async function isOffList(
  trial: Pick<Trial, "report" | "client" | "learn" | "ports">,
  vm: string,
  volume: string,
): Promise<boolean> {
  const { dialect } = trial.report;
  const { attachments } = dialect;
  const filled = attachments === undefined ? undefined : fillRoute(attachments, { id: vm }, dialect);
  if (attachments === undefined || filled === undefined) return true;
  const shown = await trial.client.getVolume(volume);
  if (shown.status === "accepted") return shown.value.attachedTo !== vm;
  const seen = await look(trial.ports.doctor, { operation: "volume.list", method: attachments.method, ...filled });
  if (isNothing(seen)) trial.learn({ attachments: { ...attachments, items: absentIsNoList(attachments.items) } });
  return isNothing(seen);
}

/** A list that goes on showing what was taken off tells nothing of what hangs on what. */
async function keepIfOffList(trial: Trial, vm: string, volume: string): Promise<void> {
  const { attachments, ...dialect } = trial.report.dialect;
  if (attachments === undefined || (await isOffList(trial, vm, volume))) return;
  trial.learnt({ ...trial.report, dialect });
  trial.open.push(
    `operations.attachments: the list at ${attachments.path} shows a volume that was taken off still; say which of its items count: items: { in: /…, where: { … } }`,
  );
}

/** The words of a volume that is free, and of one that is attached, where they stand at a place that nothing names. */
function tellVolumeStates(trial: Trial, records: readonly unknown[]): readonly string[] {
  if (records.includes(undefined)) return [];
  const { status, attached_to, name } = trial.report.dialect.records.volume;
  const told = placeThatDiffers(records, status);
  const isOther = [...attached_to, ...name].some((place) =>
    [place, typeof place === "string" ? place : place.value].includes(told?.place),
  );
  // A number is no word for a state here: it may be the VM's, and 0 while there is none.
  if (told?.place === undefined || isOther || !told.words.every((word) => /^\p{L}[\p{L}_ -]*$/u.test(word))) return [];
  trial.lookForAt("volume", "status", told.place);
  return told.words;
}

/** Where one place shows a word of rest while another says that something is under way, both are read together. */
function tellBusyVolumes(trial: Trial, moments: readonly unknown[]): void {
  const rest = [moments[0], moments.at(-1)];
  const states = rest.map(statesIn);
  const busy = moments.filter((one) => !states.includes(statesIn(one)));
  const place = placeBeside(rest, busy, trial.report.dialect.records.volume.status);
  if (place === undefined) return;
  trial.lookForAt("volume", "status", place);
  const [changing, ready] = [wordsShownAt(place, busy), wordsShownAt(place, rest)];
  Object.assign(trial.words.volume, { ready: new Set(ready), changing: new Set(changing), gone: new Set() });
  trial.say(`A volume on its way shows ${changing.join(", ")}, and at rest ${ready.join(", ")}.`);
}

export const growingActs: readonly TrialAct[] = [
  trialAct(["volume"], async ({ trial }, { volume: id }) => {
    const before = await settle(trial, "volume", id, (look) => isReady(trial, look));
    const grow = await persist(trial, () => trial.client.resizeVolume(id, 2));
    const rest = new Set([before.last?.word]);
    const isGrown = (one: TrialLook<"volume">): boolean =>
      isReady(trial, one) && rest.has(one.word) && (one.live.sizeGb ?? 2) >= 2;
    const after = await settle(trial, "volume", id, isGrown);
    trial.mean(trial.words.volume, "ready", after.last?.word);
    trial.onTheWay("volume", [...before.words, ...after.words], [before.last?.word, after.last?.word]);
    if (grow.status !== "accepted" || after.last === undefined) return;
    const { sizeGb } = after.last.live;
    // A number that grew with the volume is its size.
    if (sizeGb === undefined) {
      trial.made.sizes.set(id, 2);
      await trial.lookAgain();
    }
    trial.say(`A volume that was grown to 2 GB shows ${sizeGb === undefined ? "no size" : `${sizeGb} GB`}.`);
  }),
];
