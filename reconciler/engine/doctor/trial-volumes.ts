/** The life of the trial's volume: attached, taken off again, grown. */
import { operations } from "../../core/model/operation";
import { refusedAs, type TrialAct, trialAct } from "./trial-act";
import { pathWithId } from "./trial-groups";
import { isLiveVm, type TrialLook } from "./trial-watch";

export const attachingActs: readonly TrialAct[] = [
  trialAct(["vm", "volume"], async ({ trial }, { vm, volume }) => {
    const free = await trial.settle("volume", volume, (look) => trial.isReady(look));
    const attach = await trial.persist(() => trial.client.attachVolume(volume, vm));
    if (attach.status === "rejected") {
      trial.open.push(`the volume could not be attached: ${attach.message}`);
      return;
    }
    const isUsed = ({ live, word }: TrialLook): boolean => trial.isReady({ live, word }) && word !== free.last?.word;
    const used = await trial.settle("volume", volume, isUsed);
    await trial.lookAgain();
    const shown = await trial.look("volume", volume);
    const isShown = shown !== undefined && !isLiveVm(shown.live) && shown.live.attachedTo === vm;
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
    if (used.last?.word !== undefined) trial.mean(trial.words.volume, "ready", used.last.word);
    // Nobody has mounted the volume, so there is nothing to flush.
    await trial.persist(() => trial.client.detachVolume(volume, vm, true));
    const freed = await trial.settle(
      "volume",
      volume,
      ({ word, live }) => word === free.last?.word && trial.isReady({ word, live }),
    );
    const rest = [free.last?.word, used.last?.word, freed.last?.word];
    for (const word of rest) trial.mean(trial.words.volume, "ready", word);
    trial.onTheWay(trial.words.volume, [...free.words, ...used.words, ...freed.words], rest);
  }),
];

export const growingActs: readonly TrialAct[] = [
  trialAct(["volume"], async ({ trial }, { volume: id }) => {
    const before = await trial.settle("volume", id, (look) => trial.isReady(look));
    const grow = await trial.persist(() => trial.client.resizeVolume(id, 2));
    const rest = new Set([before.last?.word]);
    const after = await trial.settle(
      "volume",
      id,
      ({ live, word }) => trial.isReady({ live, word }) && rest.has(word) && !isLiveVm(live) && (live.sizeGb ?? 2) >= 2,
    );
    trial.mean(trial.words.volume, "ready", after.last?.word);
    trial.onTheWay(trial.words.volume, [...before.words, ...after.words], [before.last?.word, after.last?.word]);
    const live = after.last?.live;
    if (grow.status === "accepted" && live !== undefined && !isLiveVm(live))
      trial.say(
        `A volume that was grown to 2 GB shows ${live.sizeGb === undefined ? "no size" : `${live.sizeGb} GB`}.`,
      );
  }),
];
