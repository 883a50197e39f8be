/**
 * Deleting a VM: looked at once more directly before, since its plan was made, and what outlives it written down, since
 * nothing else remembers it. Only the data volume that the plan named goes with it.
 */
import type { LiveVm } from "../core/model/live";
import { isGone } from "../core/model/outcome";
import { type Orphan, orphanKey, type RecordedVm, type StateChange } from "../core/model/recorded";
import type { ActionOf, Step } from "../core/plan/step";
import { confirmGone, confirmVolumeGone } from "./confirm-gone";
import { proveStopped } from "./prove-stopped";
import { missingInstead, noteDeleting, recordOf } from "./record-step";
import { patchRecord } from "./recorder";
import { done, failedBy, optionsFor, type Run, recordedVm, type StepResult } from "./run";
import { canSee, findVm, learnt, onceSteady, waitForVm } from "./watch-vm";
import { onceVolumeSteady, waitForVolume, watchOf } from "./watch-volume";

type Delete = ActionOf<"vm.delete">;

export async function deleteVm(step: Step<"vm.delete">, action: Delete, id: string, run: Run): Promise<StepResult> {
  const { client } = run.ports;
  // Written down first: should the answer be lost, nothing else tells which volume outlived it.
  const sighting = run.live.vmById.get(id);
  const seen = learnt(step, run, sighting?.seen === "yes" ? sighting.value : undefined);
  const before = recordedVm(step, run);
  const record = before === undefined ? undefined : patchRecord(before, seen);
  if (record !== undefined && seen.dataVolumeId !== undefined)
    await run.recorder.record([{ type: "resource", address: step.address, record }]);
  const sentBefore = await noteDeleting(step, id, run, true);
  // Nothing that takes time comes between this look and the request.
  const refused = await lookAgain(step, action, id, record, run);
  if (refused !== undefined) {
    if (!sentBefore) await noteDeleting(step, id, run, undefined);
    return refused;
  }
  const deleted = await onceSteady(step, run, id, () =>
    client.deleteVm(id, action.deleteFloatingIp, optionsFor(step, run)),
  );
  const outcome = await confirmGone(deleted, canSee(run) ? () => findVm(run, id) : undefined);
  if (outcome.status !== "accepted") {
    if (outcome.status !== "unknown") await noteDeleting(step, id, run, undefined);
    return failedBy(outcome);
  }
  const managed = new Set(action.managedVolumes);
  const named = outcome.value?.preservedVolumes;
  const preserved = named ?? lastKnownVolumes(id, action, record, run);
  // Taken off it by a run that was interrupted, it was not the VM's to preserve; it is ours to remember all the same.
  const own = action.deletesVolume?.id ?? record?.dataVolumeId;
  const alone = named !== undefined && own !== undefined && !named.includes(own) && (await isThere(own, run));
  const left = [...preserved, ...(alone ? [own] : [])].filter(
    (volume) => !managed.has(volume) && run.recorder.addressOf(volume) === undefined,
  );
  const orphans = left.map((volume) => orphanOf(volume, id, action, record, left.length === 1));
  const changes: StateChange[] = orphans.map((orphan) => ({ type: "orphan", key: orphanKey(orphan), orphan }));
  changes.push(...missingInstead(step, id, run, deleted, sentBefore));
  await run.recorder.record([...changes, ...recordOf(step, run)]);
  for (const orphan of orphans) run.ports.emit({ type: "orphan", orphan });
  if (run.hasFollowers(step) || action.deletesVolume !== undefined) {
    const { vm: _, ...result } = await waitForVm(step, run, id, { for: "gone" });
    if (result.end !== "done") return result;
  }
  const going = orphans.find((orphan) => orphan.id === action.deletesVolume?.id);
  return going === undefined || action.deletesVolume === undefined || !run.mayLose("volume", going.id)
    ? done
    : deleteOwnVolume(step, going, action.deletesVolume, id, run);
}

/** What hung there was looked at when the plan was made; somebody may have attached something, or started it, since. */
async function lookAgain(
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
    const read = await findVm(run, id);
    if (read.status === "accepted") vm = read.value;
    else if (!isGone(read)) return { ...failedBy(read), end: "failed" };
  }
  const hanging = new Set((vm?.volumes ?? []).map((disk) => disk.id));
  if (run.ports.client.can.seesVolumes === "list") {
    const listed = await run.listVolumes();
    if (listed.status !== "accepted") return { ...failedBy(listed), end: "failed" };
    for (const volume of listed.value) if (volume.attachedTo === id) hanging.add(volume.id);
  }
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

function orphanOf(volume: string, id: string, action: Delete, record: RecordedVm | undefined, isOnly: boolean): Orphan {
  const known = action.leaves.find((one) => one.id === volume);
  const host = record?.name ?? id;
  const own = action.deletesVolume?.id ?? record?.dataVolumeId;
  const isOwn = own === undefined ? isOnly && known === undefined : own === volume;
  const sizeGb = known?.sizeGb ?? (isOwn ? (action.deletesVolume?.sizeGb ?? record?.sizeGb) : undefined);
  return {
    kind: "volume",
    id: volume,
    // The answer tells its id alone; this is what it was to whoever made it.
    name: known?.name ?? `${isOwn ? "data volume of" : "volume that hung on"} ${host}`,
    reason: `outlived VM ${host}`,
    ...(sizeGb === undefined ? {} : { sizeGb }),
  };
}

const isThere = async (volume: string, { ports: { client }, signal }: Run): Promise<boolean> =>
  !isGone(await client.getVolume(volume, { signal }));

/** When the answer that names them was lost: what the VM was last seen with. */
function lastKnownVolumes(id: string, action: Delete, record: RecordedVm | undefined, run: Run): string[] {
  const sighting = run.live.vmById.get(id);
  const disks = sighting?.seen === "yes" ? (sighting.value.volumes ?? []) : [];
  const seen = disks.filter((disk) => disk.root === false).map((disk) => disk.id);
  const root = new Set(disks.filter((disk) => disk.root !== false).map((disk) => disk.id));
  const left = action.leaves.map((one) => one.id).filter((volume) => !root.has(volume));
  return [...new Set([...seen, ...left, ...(record?.dataVolumeId === undefined ? [] : [record.dataVolumeId])])];
}

/** The one that the plan named, and only as the plan named it: by then it may hang elsewhere, or have grown. */
async function deleteOwnVolume(
  step: Step,
  orphan: Orphan,
  planned: NonNullable<Delete["deletesVolume"]>,
  vm: string,
  run: Run,
): Promise<StepResult> {
  const { client } = run.ports;
  const fix = `reconcile orphans delete ${orphan.id}`;
  const isNotDeleted = (said: StepResult): StepResult => ({
    ...said,
    message: `the VM is deleted, but its volume ${orphan.id} is not: ${said.message}`,
    fix,
  });
  const look = await client.getVolume(orphan.id, { signal: run.signal });
  if (look.status === "accepted") {
    const { sizeGb, attachedTo } = look.value;
    const otherSize = sizeGb !== undefined && sizeGb !== planned.sizeGb ? `it has ${sizeGb} GB now` : undefined;
    const otherHost = attachedTo != null && attachedTo !== vm ? `it hangs on VM ${attachedTo} now` : undefined;
    const changed = otherSize ?? otherHost;
    if (changed !== undefined)
      return {
        end: "failed",
        code: "apply/attached-since",
        message: `the VM is deleted, but its volume ${orphan.id} is not what the plan named (${planned.sizeGb} GB): ${changed}; it stays as an orphan`,
        fix,
      };
  } else if (!isGone(look)) {
    return { ...isNotDeleted(failedBy(look)), end: "failed" };
  }
  const watch = watchOf(step, run);
  const deleted = await onceVolumeSteady(watch, orphan.id, () => client.deleteVolume(orphan.id, optionsFor(step, run)));
  const outcome = await confirmVolumeGone(deleted, orphan.id, client);
  if (outcome.status !== "accepted") return isNotDeleted(failedBy(outcome));
  const settled = await waitForVolume(watch, orphan.id, { for: "gone" });
  if (settled.end !== "done") return isNotDeleted(settled);
  await run.recorder.record([{ type: "orphan", key: orphanKey(orphan), orphan: null }]);
  return done;
}
