/** The steps of a volume. Its own record tells when they are done, and whether they were after a lost answer. */

import { notLookedAt } from "../../core/model/evidence";
import { toAsk, toSay } from "../../core/model/fix";
import { findSeen, type LiveVolume, sight } from "../../core/model/live";
import { accepted, type Failure, isGone, type Outcome, type Rejection } from "../../core/model/outcome";
import type { RecordedResource } from "../../core/model/recorded";
import type { Fields, FieldsOfDataVolume } from "../../core/plan/record-patch";
import type { ActOn, OperationOn, Step } from "../../core/plan/step";
import { createOnce, type HowFound } from "../../engine/create-once";
import { oweNothing } from "../../engine/guest";
import { recordCreated, recordEnd } from "../../engine/record-step";
import {
  couldNotLook,
  doneAndSeen,
  doneUnseen,
  failedBy,
  idOf,
  noId,
  type OnExisting,
  onExisting,
  optionsFor,
  type Performer,
  type Performers,
  partsOfCreate,
  type Run,
  type StepResult,
  withWrites,
} from "../../engine/run";
import { onceArrived, sendAndLook } from "../../engine/send-and-look";
import { sendDelete } from "../../engine/send-delete";
import { fetchVm, isConflict, onceSteady } from "../vm/watch";
import { proveStopped } from "../vm/watch-stopped";
import { openMoveFix } from "./open-moves";
import { changedSincePlan, lookAtVolume, lookForAttachment, onceVolumeSteady, waitForVolume, watchOf } from "./watch";

const onVolume = <O extends ActOn<"volume">>(perform: OnExisting<O>) =>
  onExisting<O>((action) => action.volume, perform);

const attach: OnExisting<"volume.attach"> = async (step, action, id, run) => {
  const vmId = idOf(action.vm, run);
  return vmId === undefined ? noId(action.vm) : move(step, { id, vmId, way: "attaching" }, run);
};

const detach: OnExisting<"volume.detach"> = async (step, action, id, run) => {
  const vmId = idOf(action.vm, run);
  if (vmId === undefined) return noId(action.vm);
  const prove = async () => (action.flush === "stop" ? (await proveStopped(step, run, vmId)).result : undefined);
  return move(step, { id, vmId, way: "detaching" }, run, prove);
};

interface VolumeMove {
  readonly id: string;
  readonly vmId: string;
  readonly way: "attaching" | "detaching";
}

/**
 * Attaches or detaches. The move is written down first: whatever ends this run, the next one knows what to look for.
 */
async function move(
  step: Step<ActOn<"volume">>,
  moving: VolumeMove,
  run: Run,
  prove?: () => Promise<StepResult | undefined>,
): Promise<StepResult> {
  const { client } = run.ports;
  const { id, vmId, way } = moving;
  const options = optionsFor(step, run);
  const before = run.recorder.state.resources.get(step.address);
  const { goesBackTo = undefined } = step.record !== undefined && "goesBackTo" in step.record ? step.record : {};
  const noted = notesOfMove(before, moving, goesBackTo);
  const note = async (fields: Fields | FieldsOfDataVolume | undefined): Promise<void> => {
    if (before === undefined || fields === undefined) return;
    await run.recorder.record([{ type: "patch", address: step.address, of: before.id, fields }]);
  };
  const isAttach = way === "attaching";
  const look = lookForAttachment(run, id, vmId, isAttach);
  await note(noted?.sent);
  const unproven = await prove?.();
  if (unproven !== undefined) {
    await note(noted?.refused);
    await oweNothing(step, run);
    return unproven;
  }
  const send = () => (isAttach ? client.attachVolume(id, vmId, options) : client.detachVolume(id, vmId, true, options));
  // An earlier run has sent it, and nobody knows yet what became of that.
  const isSentBefore = noted?.isSentBefore === true && (await onceArrived(look, run)) === "done";
  const outcome: Outcome<unknown> = isSentBefore
    ? accepted(undefined)
    : await onceVolumeSteady(watchOf(step, run), id, () =>
        onceSteady(step, run, vmId, () => sendAndLook(send, look, run, isConflict)),
      );
  if (outcome.status === "accepted") {
    const settled = await waitForVolume(
      watchOf(step, run),
      id,
      isAttach ? { for: "attached", vmId } : { for: "detached", vmId },
    );
    if (settled.end === "done") return recordEnd(step, run, settled, { ...noted?.done, ...step.record });
    return isAttach ? saidByVm(settled, id, vmId, run) : settled;
  }
  if (outcome.status === "unknown" && noted !== undefined)
    return endOfMoveUnknown(
      step.address,
      moving,
      `the answer was lost (${outcome.reason}), and looking could not tell whether it was done`,
    );
  if (noted !== undefined && maySayAlready(outcome, way) && (await look()) === "cannot-tell") {
    await oweNothing(step, run);
    const { message = outcome.message } = failedBy(outcome);
    return endOfMoveUnknown(step.address, moving, `and looking could not tell whether it hangs there: ${message}`);
  }
  if (outcome.status !== "unknown") {
    // What the service shows on the VM and will not take off may be off by an earlier request: a later look tells.
    if (isAttach || !isConflict(outcome) || (await look()) !== "not-done") await note(noted?.refused);
    await oweNothing(step, run);
  }
  return isAttach ? saidByVm(failedBy(outcome), id, vmId, run) : failedBy(outcome);
}

/** The record of a VM may show a volume on it while the volume's own says that it hangs nowhere. */
async function saidByVm(result: StepResult, id: string, vmId: string, run: Run): Promise<StepResult> {
  if (result.end !== "failed") return result;
  const read = await fetchVm(run, vmId);
  if (!read.seen || read.vm?.volumes?.some((disk) => disk.id === id) !== true) return result;
  return {
    ...result,
    message: `${result.message}; the record of VM ${vmId} names the volume, and the volume's own record does not say so`,
    fix: "run the same command again: it looks first; if it does not help, in the dialect: records.volume.attached_to with the place that shows it, or [] where none does",
  };
}

/** The record of a move: of a volume with an address, or of a VM's data volume. */
function notesOfMove(before: RecordedResource | undefined, { id, vmId, way }: VolumeMove, goesBackTo?: string) {
  // The volume that a replacement detaches is not the recorded one by then.
  if (before?.kind === "volume" && before.id === id) {
    const settled = { attaching: undefined, detaching: undefined };
    return {
      isSentBefore: before[way] === vmId,
      sent: { ...settled, [way]: vmId, goesBackTo: goesBackTo ?? before.goesBackTo },
      refused: { attaching: before.attaching, detaching: before.detaching, goesBackTo: before.goesBackTo },
      done: way === "attaching" ? { ...settled, attachedTo: vmId, goesBackTo: undefined } : settled,
    };
  }
  if (before?.kind !== "vm") return undefined;
  return {
    isSentBefore: before.dataVolumeId === id && before.dataVolumeMoving === way,
    sent: { dataVolumeId: id, dataVolumeMoving: way },
    refused: { dataVolumeMoving: before.dataVolumeMoving },
    done: { dataVolumeMoving: undefined },
  };
}

const grow: OnExisting<"volume.resize"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const options = optionsFor(step, run);
  const outcome = await onceVolumeSteady(watchOf(step, run), id, () =>
    sendAndLook(
      () => client.resizeVolume(id, action.sizeGb, options),
      lookAtVolume(run, id, (volume) => (volume.sizeGb ?? 0) >= action.sizeGb),
      run,
      isConflict,
    ),
  );
  if (outcome.status === "rejected" || outcome.status === "unavailable") await oweNothing(step, run);
  if (outcome.status === "accepted") {
    const settled = await waitForVolume(watchOf(step, run), id, { for: "grown", sizeGb: action.sizeGb });
    return settled.end === "done" ? recordEnd(step, run, settled) : settled;
  }
  const failed = failedBy(outcome);
  const isLost = outcome.status === "unknown";
  const owner = run.recorder.state.resources.get(step.address)?.id;
  const isShown = findSeen(run.live, "volume", id)?.sizeGb !== undefined || isUnlooked(id, run);
  if (isShown || owner === undefined || !(isLost || failed.fix === undefined)) return failed;
  // A request whose answer was lost may have been done, and no look ever tells.
  const when = `the service does not show its size; where its console says ${action.sizeGb} GB by now`;
  const grown = toSay(
    [`${when}: `, ["state rm", step.address], ", then ", ["import", step.address, owner]],
    `${when}: pulumi state delete with its URN, then adopt: "${owner}"`,
  );
  return { ...failed, fix: isLost ? [grown, toAsk("else run the same command again")] : [grown] };
};

const remove: OnExisting<"volume.delete"> = async (step, _, id, run) => {
  const { client } = run.ports;
  const watch = watchOf(step, run);
  const sent = await sendDelete(step, id, run, {
    unfinished: async () =>
      (await lookAtVolume(run, id, () => false)()) === "changing" ? ("on its way" as const) : undefined,
    refuse: () => lookAgain(step, id, run),
    send: () => onceVolumeSteady(watch, id, () => client.deleteVolume(id, optionsFor(step, run))),
    look: () => client.getVolume(id),
  });
  if (sent.end !== undefined) return sent.end;
  const settled = sent.answer.status === "accepted" ? await waitForVolume(watch, id, { for: "gone" }) : doneAndSeen;
  if (settled.end === "done") await sent.record();
  return settled;
};

/**
 * Checks directly before the delete that the volume is still the one that the plan named: of that name and size, and
 * attached nowhere else.
 */
async function lookAgain({ address }: Step, id: string, run: Run): Promise<StepResult | undefined> {
  const { client } = run.ports;
  const look = await client.getVolume(id, { signal: run.signal, makesSure: true });
  if (look.status !== "accepted") return isGone(look) ? undefined : couldNotLook(`volume ${id}`, look);
  const planned = findSeen(run.live, "volume", id);
  const recorded = run.recorder.state.resources.get(address);
  const own = recorded?.kind === "volume" && recorded.id === id ? recorded : undefined;
  const now = changedSincePlan(look.value, {
    name: planned?.name ?? own?.name,
    sizeGb: planned?.sizeGb ?? own?.sizeGb,
    hosts: [planned?.attachedTo, own?.attachedTo, own?.attaching],
  });
  if (now === undefined) return undefined;
  return {
    end: "failed",
    code: "apply/volume-changed",
    message: `nothing was sent: volume ${id} is not what the plan named: ${now}`,
    fix: `run the same command again${isUnlooked(id, run) ? " without --no-refresh" : ""}: it plans on the volume as it is now, and names what would be lost`,
  };
}

/** The plan was made from memory. */
function isUnlooked(id: string, { live }: Run): boolean {
  const sighting = sight(live, "volume", id);
  return sighting.seen === "unobserved" && sighting.reason === notLookedAt.reason;
}

const alreadySo: Readonly<Record<VolumeMove["way"], RegExp>> = {
  attaching: /\balready\b.*\b(attached|in[ _-]use|mounted|connected)\b|\b(attached|in[ _-]use)\b.*\balready\b/is,
  detaching: /\balready\b.*\bdetached\b|\bdetached\b.*\balready\b|\bnot\b( \w+)?\W+attached\b/is,
};

/** Whether a refusal may be because the volume hangs there already, or not any more. */
const maySayAlready = (outcome: Failure, way: VolumeMove["way"]): outcome is Rejection =>
  outcome.status === "rejected" &&
  (outcome.condition === "conflict" ||
    (way === "attaching" && outcome.condition === "volume_attached") ||
    (isConflict(outcome) && alreadySo[way].test(outcome.message)));

/** Where the service does not show what a volume hangs on, only a person can tell. */
const endOfMoveUnknown = (address: string, { id, vmId, way }: VolumeMove, why: string): StepResult => ({
  end: "unknown",
  code: "apply/outcome-unknown",
  message: `outcome unknown: volume ${id} was to be ${way === "attaching" ? "attached to" : "detached from"} VM ${vmId}, ${why}`,
  fix: openMoveFix(address),
});

const create: Performer<"volume.create"> = async (step, action, run) => {
  const { client } = run.ports;
  const { record } = step;
  const keep = async (volume: LiveVolume, how: HowFound): Promise<StepResult> => {
    await recordCreated(step, volume.id, record, run);
    const written = { kind: "volume", id: volume.id } as const;
    const parts = partsOfCreate<"volume">(volume, [
      { ...written, field: "name", value: action.name.toLowerCase(), said: `name: ${action.name}` },
      { ...written, field: "size", value: String(action.sizeGb), said: `size: ${action.sizeGb} GB` },
    ]);
    // An answer without a state does not say that the volume is ready, and what comes next may need it.
    if (volume.changing === true || volume.status === undefined) {
      if (volume.status !== undefined) run.progress(step, volume.status);
      const waited = await waitForVolume(watchOf(step, run), volume.id, { for: "steady" });
      return waited.end === "done" ? withWrites(waited, parts) : waited;
    }
    return volume.failed
      ? {
          end: "failed",
          code: "apply/volume-failed",
          message: `volume ${volume.id} was created in state ${volume.status}`,
        }
      : how === "seen"
        ? doneAndSeen
        : doneUnseen(
            { ...written, field: "existence", value: volume.id, said: "that it exists", answered: true },
            ...parts,
          );
  };
  return createOnce(
    step,
    {
      kind: "volume",
      name: action.name,
      record,
      send: () => client.createVolume(action.name, action.sizeGb, optionsFor(step, run)),
      keep,
    },
    run,
  );
};

export const volumePerformers: Performers<OperationOn<"volume">> = {
  "volume.create": create,
  "volume.attach": onVolume(attach),
  "volume.detach": onVolume(detach),
  "volume.resize": onVolume(grow),
  "volume.delete": onVolume(remove),
};
