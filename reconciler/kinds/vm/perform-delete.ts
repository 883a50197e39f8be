/**
 * Deletes a VM. Looks at it once more directly before, because its plan is older, and writes down what outlives it,
 * because nothing else remembers that. Only the data volume that the plan named is deleted with it.
 */

import { disksOf, inOrder, maybeRoot, orphanedDisk, orphansAdded, unseenDiskName } from "../../core/model/disks";
import { toRun } from "../../core/model/fix";
import { identity } from "../../core/model/identity";
import { findSeen, type LiveVm } from "../../core/model/live";
import { isGone, type Outcome } from "../../core/model/outcome";
import { type Disk, type Orphan, orphanKey, type RecordedVm } from "../../core/model/recorded";
import { type FieldsOf, withFields } from "../../core/plan/record-patch";
import type { ActionOf, Step } from "../../core/plan/step";
import { onlyDefined } from "../../core/text/objects";
import { confirmGone, doubtOf } from "../../engine/confirm-gone";
import { orphanDeleting } from "../../engine/record-step";
import {
  couldNotLook,
  doneAndSeen,
  failedBy,
  type OpenStep,
  optionsFor,
  type Run,
  recordedVm,
  type StepResult,
  whyUnread,
} from "../../engine/run";
import { onceArrived } from "../../engine/send-and-look";
import { sendDelete } from "../../engine/send-delete";
import { changedSincePlan, onceVolumeSteady, waitForVolume, watchOf } from "../volume/watch";
import { canSee, elseGone, fetchVmCheaply, lookAtVm, onceSteady, shownByVm, waitForVm } from "./watch";
import { proveStopped } from "./watch-stopped";

type Delete = ActionOf<"vm.delete">;

export async function performVmDelete(
  step: Step<"vm.delete">,
  action: Delete,
  id: string,
  run: Run,
): Promise<StepResult> {
  const { client } = run.ports;
  // The disks are written down first: if the answer is lost, nothing else tells what outlived the VM.
  const seen = await disksBefore(step, action, id, run);
  const before = recordedVm(step, run);
  const record = before === undefined ? undefined : withFields(before, seen);
  const sent = await sendDelete(step, id, run, {
    beside: seen,
    unfinished: () => stillGoing(id, run),
    // Nothing that takes time comes between this look and the request.
    refuse: () => lookBeforeDelete(step, action, id, record, run),
    send: () => onceSteady(step, run, id, () => client.deleteVm(id, action.deleteFloatingIp, optionsFor(step, run))),
    look: canSee(run) ? () => fetchVmCheaply(run, id) : undefined,
  });
  if (sent.end !== undefined) return sent.end;
  const named = sent.value?.preservedVolumes;
  const orphans = await leftByDelete(id, action, record, named, run);
  if (orphans.length === 0 && named === undefined && action.hanging === undefined)
    run.progress(step, "the answer does not name the volumes that it left, and nothing else shows them");
  await run.recorder.record(orphansAdded(orphans));
  // A delete that was accepted may fail later on: the VM keeps its record until it is gone, and nothing outlives it before.
  const { vm: _, ...result } = await waitForVm(step, run, id, { for: "gone" });
  if (result.end !== "done") return result;
  for (const orphan of orphans) run.ports.emit({ type: "orphan", orphan });
  run.deleted.add(`vm:${id}`);
  const going = orphans.find((orphan) => orphan.id === action.deletesVolume?.id);
  const end =
    going === undefined || action.deletesVolume === undefined || !run.mayLose("volume", going.id)
      ? result
      : await deleteOwnVolume(step, going, action.deletesVolume, id, run);
  // Until the volume is gone as well, the record is what says to the next run that it is to go.
  if (end.end === "done" || end.code === "apply/attached-since") await sent.record();
  return end;
}

/** An earlier run has sent its delete. While it is on its way, that is not sent again. */
async function stillGoing(id: string, run: Run): Promise<StepResult | undefined> {
  const { clock } = run.ports;
  const started = clock.now();
  let shown: LiveVm | undefined;
  const look = lookAtVm(run, id, (vm) => {
    shown = vm;
    return false;
  });
  if ((await onceArrived(look, run)) !== "changing") return undefined;
  return {
    end: "failed",
    code: "apply/timeout",
    message: `an earlier run has sent its delete, and it is still not gone after ${Math.round((clock.now() - started) / 1000)} s`,
    fix: `run the same command again: it goes on waiting; service.timing.vm_create_timeout allows more${elseGone(shown)}`,
  };
}

/** Looks at the VM's disks again: since the plan was made, somebody may have attached one, or started the VM. */
async function lookBeforeDelete(
  step: Step,
  action: Delete,
  id: string,
  record: RecordedVm | undefined,
  run: Run,
): Promise<StepResult | undefined> {
  let vm: LiveVm | undefined;
  if (action.flush === "stop") {
    const proof = await proveStopped(step, run, id);
    if (proof.result !== undefined) return proof.result;
    vm = proof.vm;
  }
  if (action.hanging === undefined) return undefined;
  if (vm === undefined && canSee(run)) {
    const read = await fetchVmCheaply(run, id);
    if (read.status === "accepted") vm = read.value;
    else if (!isGone(read)) return couldNotLook(`VM ${id}`, read);
  }
  const listed = await volumesListedOn(id, run);
  if (listed.status !== "accepted") return couldNotLook("the list of volumes", listed);
  const hanging = new Set([...(vm?.volumes ?? []).map((disk) => disk.id), ...listed.value]);
  const known = new Set([...action.hanging, record?.dataVolumeId]);
  const unknown = [...hanging].filter((volume) => !known.has(volume)).sort();
  if (unknown.length === 0) return undefined;
  const [what, verb] = unknown.length === 1 ? ["volume", "hangs"] : ["volumes", "hang"];
  return {
    end: "failed",
    code: "apply/attached-since",
    message: `nothing was sent: ${what} ${unknown.join(", ")} ${verb} on VM ${vm?.name ?? record?.name ?? id}, and did not when the plan was made`,
    fix: "run the same command again: it plans on what hangs there now, and names what will stay behind",
  };
}

/** None where the service has no list of volumes. */
async function volumesListedOn(id: string, run: Run): Promise<Outcome<readonly string[]>> {
  if (run.ports.client.can.seesVolumes !== "list") return { status: "accepted", value: [] };
  const listed = await run.listVolumes();
  if (listed.status !== "accepted") return listed;
  return { status: "accepted", value: listed.value.flatMap((volume) => (volume.attachedTo === id ? [volume.id] : [])) };
}

/** Disks on the VM that no address manages, as they are seen now or were when the plan was made. */
async function disksBefore(step: Step, action: Delete, id: string, run: Run): Promise<FieldsOf<"vm">> {
  let vm = findSeen(run.live, "vm", id);
  // The plan's look showed no disks, as while a VM is being built.
  if (action.hanging === undefined && canSee(run)) {
    const read = await fetchVmCheaply(run, id);
    if (read.status === "accepted") vm = read.value;
  }
  const seen = shownByVm(step, run, vm);
  const own = seen.dataVolumeId ?? recordedVm(step, run)?.dataVolumeId;
  const shown = new Map((vm?.volumes ?? []).map((disk) => [disk.id, disk.root]));
  const disks = new Map<string, Disk>(seen.disks?.map((disk) => [disk.id, disk]));
  for (const { id: volume, name, sizeGb } of action.leaves)
    if (volume !== own)
      disks.set(volume, { id: volume, ...onlyDefined({ name, sizeGb }), ...maybeRoot(shown.get(volume)) });
  for (const volume of disks.keys()) if (isManaged(volume, action, run)) disks.delete(volume);
  return disks.size === 0 ? seen : { ...seen, disks: inOrder([...disks.values()]) };
}

const isManaged = (volume: string, action: Delete, run: Run): boolean =>
  action.managedVolumes.includes(volume) || run.recorder.addressOf(identity("volume", volume)) !== undefined;

/** The volumes that the answer names, and those known from before that still exist. */
async function leftByDelete(
  id: string,
  action: Delete,
  record: RecordedVm | undefined,
  named: readonly string[] | undefined,
  run: Run,
): Promise<Orphan[]> {
  const { id: own = record?.dataVolumeId, sizeGb = record?.sizeGb } = action.deletesVolume ?? {};
  const before = disksOf({ ...record, ...(own === undefined ? {} : { dataVolumeId: own, sizeGb }) });
  const known = new Map(before.map((disk) => [disk.id, disk]));
  const unnamed = before.filter((disk) => named?.includes(disk.id) !== true);
  const there = await Promise.all(unnamed.map((disk) => outlivesVm(disk, named, run)));
  const left = [...(named ?? []), ...unnamed.filter((_, index) => there[index]).map((disk) => disk.id)].filter(
    (volume) => !isManaged(volume, action, run),
  );
  const host = record?.name ?? id;
  return [...new Set(left)].map((volume) => {
    const isOwn = own === undefined ? left.length === 1 && !known.has(volume) : own === volume;
    // A disk that the answer names is not the root disk.
    const { maybeRoot: doubtful, ...disk } = known.get(volume) ?? { id: volume };
    const told = { ...disk, sizeGb: disk.sizeGb ?? (isOwn ? sizeGb : undefined) };
    const isDoubtful = doubtful === true && named?.includes(volume) !== true;
    // The answer gives only the id. The record says which volume of which size it was.
    return orphanedDisk(
      isDoubtful ? { ...told, maybeRoot: true } : told,
      host,
      disk.name ?? unseenDiskName(host, isOwn),
    );
  });
}

/** Where the answer was lost, a disk that is known not to be the root disk needs no look: it outlives every VM. */
async function outlivesVm(disk: Disk, named: readonly string[] | undefined, run: Run): Promise<boolean> {
  if (named === undefined && disk.maybeRoot !== true) return true;
  if (named !== undefined && named.length > 0 && disk.maybeRoot === true) return false;
  return !isGone(await run.ports.client.getVolume(disk.id, { signal: run.signal }));
}

/**
 * Deletes the data volume that the plan named, and only as the plan named it: by now it may hang elsewhere, have grown,
 * or be another one.
 */
async function deleteOwnVolume(
  step: Step,
  orphan: Orphan,
  planned: NonNullable<Delete["deletesVolume"]>,
  vm: string,
  run: Run,
): Promise<StepResult> {
  const { client } = run.ports;
  const fix = [toRun(["orphans delete", orphan.id])];
  const isNotDeleted = (said: OpenStep): StepResult => ({
    ...said,
    message: `the VM is deleted, but its volume ${orphan.id} is not: ${said.message}`,
    fix,
  });
  const look = await client.getVolume(orphan.id, { signal: run.signal });
  if (look.status === "accepted") {
    const { name } = findSeen(run.live, "volume", orphan.id) ?? {};
    const changed = changedSincePlan(look.value, { name, sizeGb: planned.sizeGb, hosts: [vm] });
    if (changed !== undefined)
      return {
        end: "failed",
        code: "apply/attached-since",
        message: `the VM is deleted, but its volume ${orphan.id} is not what the plan named (${planned.sizeGb} GB): ${changed}; it stays as an orphan`,
        fix,
      };
  } else if (!isGone(look)) {
    return isNotDeleted({ ...failedBy(look), message: `it could not be looked at: ${whyUnread(look)}` });
  }
  const watch = watchOf(step, run);
  await run.recorder.record([orphanDeleting(orphan, true)]);
  const deleted = await onceVolumeSteady(watch, orphan.id, () => client.deleteVolume(orphan.id, optionsFor(step, run)));
  const doubt = doubtOf(run, "volume", orphan.id, false);
  const outcome = await confirmGone(deleted, () => client.getVolume(orphan.id), doubt);
  if (outcome.status !== "accepted") {
    if (outcome.status !== "unknown") await run.recorder.record([orphanDeleting(orphan, undefined)]);
    return isNotDeleted(failedBy(outcome));
  }
  const settled = await waitForVolume(watch, orphan.id, { for: "gone" });
  if (settled.end !== "done") return isNotDeleted(settled);
  run.deleted.add(orphanKey(orphan));
  await run.recorder.record([{ type: "orphan", key: orphanKey(orphan), orphan: null }]);
  return doneAndSeen;
}
