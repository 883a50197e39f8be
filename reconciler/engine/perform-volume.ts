/** The steps of a volume. They answer at once; after a lost answer the volume's own record tells. */

import type { LiveVolume } from "../core/model/live";
import type { Failure } from "../core/model/outcome";
import type { Intent, RecordedVolume } from "../core/model/recorded";
import type { Step, StepAction } from "../core/plan/step";
import { confirmVolumeGone } from "./confirm-gone";
import {
  done,
  failedBy,
  idOf,
  isoNow,
  noId,
  optionsFor,
  type Run,
  recordDone,
  type Seen,
  type StepResult,
  sendAndLook,
} from "./perform";
import { readVm } from "./perform-vm";

type VolumeAction = Extract<StepAction, { operation: `volume.${string}` }>;

export async function performVolumeStep(step: Step, action: VolumeAction, run: Run): Promise<StepResult> {
  if (action.operation === "volume.create") return createVolume(step, action, run);
  const id = idOf(action.volume, run);
  if (id === undefined) return noId(action.volume);
  const { client } = run.ports;
  const options = optionsFor(step, run);
  switch (action.operation) {
    case "volume.attach": {
      const vmId = idOf(action.vm, run);
      if (vmId === undefined) return noId(action.vm);
      const outcome = await sendAndLook(
        () => client.attachVolume(id, vmId, options),
        lookForAttachment(run, id, vmId, true),
        run,
        isConflict,
      );
      if (outcome.status !== "accepted") return failedBy(outcome);
      return recordDone(step, run, step.address.startsWith("volume.") ? { attachedTo: vmId } : {});
    }
    case "volume.detach": {
      const vmId = idOf(action.vm, run);
      if (vmId === undefined) return noId(action.vm);
      const outcome = await sendAndLook(
        () => client.detachVolume(id, vmId, true, options),
        lookForAttachment(run, id, vmId, false),
        run,
        isConflict,
      );
      return outcome.status === "accepted" ? recordDone(step, run) : failedBy(outcome);
    }
    case "volume.resize": {
      const outcome = await sendAndLook(
        () => client.resizeVolume(id, action.sizeGb, options),
        lookAt(run, id, (volume) => (volume.sizeGb ?? 0) >= action.sizeGb),
        run,
        isConflict,
      );
      return outcome.status === "accepted" ? recordDone(step, run) : failedBy(outcome);
    }
    case "volume.delete": {
      const outcome = await confirmVolumeGone(await client.deleteVolume(id, options), id, client);
      return outcome.status === "accepted" ? recordDone(step, run) : failedBy(outcome);
    }
    default:
      return action satisfies never;
  }
}

/** Refusals that may mean "it is so already"; the look decides. */
const isConflict = (failure: Failure): boolean =>
  failure.status === "rejected" &&
  (failure.condition === "conflict" || failure.condition === "bad_request" || failure.condition === "invalid_state");

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

async function createVolume(
  step: Step,
  action: Extract<VolumeAction, { operation: "volume.create" }>,
  run: Run,
): Promise<StepResult> {
  const { client } = run.ports;
  const { address } = step;
  const record = step.record as RecordedVolume;
  const idsBefore = run.idsBefore("volume", action.name);
  const intent: Intent = {
    step: step.id,
    address,
    operation: "volume.create",
    name: action.name,
    sentAt: isoNow(run),
    idsBefore,
    record,
  };
  const keep = async (volume: LiveVolume): Promise<StepResult> => {
    await run.recorder.record([
      { type: "resource", address, record: { ...record, id: volume.id } },
      { type: "intent", address, intent: null },
    ]);
    return volume.failed
      ? {
          end: "failed",
          code: "apply/volume-failed",
          message: `volume ${volume.id} was created in state ${volume.status ?? "failed"}`,
        }
      : done;
  };
  for (let attempt = 1; attempt <= 3; attempt++) {
    await run.recorder.record([{ type: "intent", address, intent }]);
    const outcome = await client.createVolume(action.name, action.sizeGb, optionsFor(step, run));
    if (outcome.status === "accepted") return keep(outcome.value);
    const lost = outcome.status === "unknown" || (outcome.status === "rejected" && outcome.condition === "unreadable");
    if (!lost) {
      await run.recorder.record([{ type: "intent", address, intent: null }]);
      return failedBy(outcome);
    }
    if (!client.has("volume.list")) break;
    const found = await discover(run, action.name, idsBefore);
    if (found === undefined || found.length > 1) break;
    if (found.length === 1) return keep(found[0]!);
    run.progress(step, "the lost create was not done; sending it again");
  }
  await run.recorder.record([{ type: "intent", address, intent: { ...intent, unknown: true } }]);
  return outcomeUnknown("volume", intent);
}

/** Looks until one shows or the window is over; `undefined` when nobody can look. */
async function discover(run: Run, name: string, idsBefore: readonly string[]): Promise<LiveVolume[] | undefined> {
  const { clock, client, timing } = run.ports;
  const before = new Set(idsBefore);
  const deadline = clock.now() + timing.discoveryWindowMs;
  for (;;) {
    await clock.sleep(timing.pollIntervalMs, run.signal);
    const listed = await client.listVolumes({ signal: run.signal });
    if (run.signal.aborted || (listed.status === "rejected" && clock.now() >= deadline)) return undefined;
    if (listed.status === "accepted") {
      const found = listed.value.filter(
        (volume) => volume.name === name && !before.has(volume.id) && run.recorder.addressOf(volume.id) === undefined,
      );
      if (found.length > 0 || clock.now() >= deadline) return found;
    } else if (clock.now() >= deadline) return undefined;
  }
}

export const outcomeUnknown = (what: string, intent: Intent): StepResult => ({
  end: "unknown",
  code: "apply/outcome-unknown",
  message: `outcome unknown: the create of ${what} ${intent.name} was sent at ${intent.sentAt} and its answer was lost; repeating it could make a second one`,
  fix: `reconcile import ${intent.address} ID (it exists), or reconcile state resolve ${intent.address} --not-created (it does not)`,
});
