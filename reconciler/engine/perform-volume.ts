/** The steps of a volume. Its own record tells when they are done, and whether they were after a lost answer. */

import type { LiveVolume } from "../core/model/live";
import type { Outcome, Unknown } from "../core/model/outcome";
import type { OperationOn, Step } from "../core/plan/step";
import type { VolumeWait } from "../core/schedule/settle";
import { confirmVolumeGone } from "./confirm-gone";
import { createOnce } from "./create-once";
import { proveStopped } from "./prove-stopped";
import { missingInstead, noteDeleting, recordDone, recordOf } from "./record-step";
import { patchRecord } from "./recorder";
import {
  done,
  failedBy,
  idOf,
  noId,
  type OnExisting,
  onExisting,
  optionsFor,
  type Performer,
  type Performers,
  type Run,
  type StepResult,
} from "./run";
import { type Seen, sendAndLook } from "./send-and-look";
import { isConflict, onceSteady, readVm } from "./watch-vm";
import { onceVolumeSteady, waitForVolume } from "./watch-volume";

type Existing = Exclude<OperationOn<"volume">, "volume.create">;
/** Acts on a volume that is there already. */
type OnVolume<O extends Existing> = OnExisting<O>;

const onVolume = <O extends Existing>(perform: OnExisting<O>) => onExisting<O>((action) => action.volume, perform);

const attach: OnVolume<"volume.attach"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const options = optionsFor(step, run);
  const vmId = idOf(action.vm, run);
  if (vmId === undefined) return noId(action.vm);
  const look = lookForAttachment(run, id, vmId, true);
  // Written down first: should the file let go of it before the next run, it is still known whose doing it was.
  const before = run.recorder.state.resources.get(step.address);
  const note = async (attaching: string | undefined): Promise<void> => {
    if (before?.kind !== "volume") return;
    await run.recorder.record([
      { type: "resource", address: step.address, record: patchRecord(before, { attaching }) },
    ]);
  };
  await note(vmId);
  const outcome = await onceVolumeSteady(step, run, id, () =>
    onceSteady(step, run, vmId, () => sendAndLook(() => client.attachVolume(id, vmId, options), look, run, isConflict)),
  );
  if (outcome.status === "accepted") {
    const settled = await waitForVolume(step, run, id, { for: "attached", vmId });
    if (settled.end !== "done") return settled;
    return recordDone(step, run, before?.kind === "volume" ? { attachedTo: vmId, attaching: undefined } : {});
  }
  if (outcome.status === "unknown" && before?.kind === "volume") return attachUnknown(step.address, id, vmId, outcome);
  if (outcome.status !== "unknown") await note(undefined);
  return failedBy(outcome);
};

const detach: OnVolume<"volume.detach"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const options = optionsFor(step, run);
  const vmId = idOf(action.vm, run);
  if (vmId === undefined) return noId(action.vm);
  if (action.flush === "stop") {
    const proof = await proveStopped(step, run, vmId);
    if (proof.result !== undefined) return proof.result;
  }
  const look = lookForAttachment(run, id, vmId, false);
  const outcome = await onceVolumeSteady(step, run, id, () =>
    onceSteady(step, run, vmId, () =>
      sendAndLook(() => client.detachVolume(id, vmId, true, options), look, run, isConflict),
    ),
  );
  return settle(step, id, run, outcome, { for: "detached", vmId });
};

const grow: OnVolume<"volume.resize"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const options = optionsFor(step, run);
  const outcome = await onceVolumeSteady(step, run, id, () =>
    sendAndLook(
      () => client.resizeVolume(id, action.sizeGb, options),
      lookAt(run, id, (volume) => (volume.sizeGb ?? 0) >= action.sizeGb),
      run,
      isConflict,
    ),
  );
  return settle(step, id, run, outcome, { for: "grown", sizeGb: action.sizeGb });
};

const remove: OnVolume<"volume.delete"> = async (step, _, id, run) => {
  const { client } = run.ports;
  const options = optionsFor(step, run);
  const sentBefore = await noteDeleting(step, id, run, true);
  const deleted = await onceVolumeSteady(step, run, id, () => client.deleteVolume(id, options));
  if (deleted.status === "accepted") return settle(step, id, run, deleted, { for: "gone" });
  const outcome = await confirmVolumeGone(deleted, id, client);
  if (outcome.status === "accepted") {
    await run.recorder.record([...missingInstead(step, id, run, deleted, sentBefore), ...recordOf(step, run)]);
    return done;
  }
  if (outcome.status !== "unknown") await noteDeleting(step, id, run, undefined);
  return failedBy(outcome);
};

async function settle(
  step: Step,
  id: string,
  run: Run,
  outcome: Outcome<unknown>,
  wait: VolumeWait,
): Promise<StepResult> {
  if (outcome.status !== "accepted") return failedBy(outcome);
  const settled = await waitForVolume(step, run, id, wait);
  return settled.end === "done" ? recordDone(step, run) : settled;
}

/** Where the service does not show what a volume hangs on, only a person can tell. */
const attachUnknown = (address: string, id: string, vmId: string, { reason }: Unknown): StepResult => ({
  end: "unknown",
  code: "apply/outcome-unknown",
  message: `outcome unknown: volume ${id} was to be attached to VM ${vmId}, the answer was lost (${reason}), and looking could not tell whether it was done`,
  fix: `reconcile state resolve ${address} --attached (it hangs there), or reconcile state resolve ${address} --detached (it does not)`,
});

const lookAt =
  (run: Run, id: string, isDone: (volume: LiveVolume) => boolean | undefined) => async (): Promise<Seen> => {
    const outcome = await run.ports.client.getVolume(id, { signal: run.signal });
    if (outcome.status !== "accepted") return "cannot-tell";
    const verdict = isDone(outcome.value);
    return verdict === undefined ? "cannot-tell" : verdict ? "done" : "not-done";
  };

/** The volume's record where it shows where the volume hangs, else the VM's list of disks. */
function lookForAttachment(run: Run, id: string, vmId: string, attached: boolean) {
  return async (): Promise<Seen> => {
    const seen = await lookAt(run, id, (volume) =>
      volume.attachedTo === undefined ? undefined : (volume.attachedTo === vmId) === attached,
    )();
    if (seen !== "cannot-tell") return seen;
    const read = await readVm(run, vmId);
    if (!read.seen || read.vm?.volumes === undefined) return "cannot-tell";
    return read.vm.volumes.some((disk) => disk.id === id) === attached ? "done" : "not-done";
  };
}

const create: Performer<"volume.create"> = async (step, action, run) => {
  const { client } = run.ports;
  const { address } = step;
  const { record } = step;
  const keep = async (volume: LiveVolume): Promise<StepResult> => {
    await run.recorder.record([
      { type: "resource", address, record: { ...record, id: volume.id } },
      { type: "intent", address, intent: null },
    ]);
    if (volume.changing === true) {
      run.progress(step, volume.status ?? volume.id);
      return waitForVolume(step, run, volume.id, { for: "steady" });
    }
    return volume.failed
      ? {
          end: "failed",
          code: "apply/volume-failed",
          message: `volume ${volume.id} was created in state ${volume.status ?? "failed"}`,
        }
      : done;
  };
  return createOnce(
    step,
    {
      kind: "volume",
      what: "volume",
      name: action.name,
      record,
      send: () => client.createVolume(action.name, action.sizeGb, optionsFor(step, run)),
      keep,
      acceptedWindowMs: run.ports.timing.discoveryWindowMs,
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
