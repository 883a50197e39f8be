/** Deleting a VM, and writing down which of its volumes outlive it: nothing else remembers them. */
import { isGone } from "../core/model/outcome";
import { type Orphan, orphanKey, type RecordedVm, type StateChange } from "../core/model/recorded";
import type { Step, StepAction } from "../core/plan/step";
import { confirmGone, confirmVolumeGone } from "./confirm-gone";
import {
  done,
  failedBy,
  missingInstead,
  noteDeleting,
  optionsFor,
  type Run,
  recordOf,
  type StepResult,
} from "./perform";
import { patchRecord } from "./recorder";
import { canSee, findVm, learnt, onceSteady, waitForVm } from "./watch-vm";

export async function deleteVm(
  step: Step,
  action: Extract<StepAction, { operation: "vm.delete" }>,
  id: string,
  run: Run,
): Promise<StepResult> {
  const { client } = run.ports;
  // Written down first: should the answer be lost, nothing else tells which volume outlived it.
  const sighting = run.live.vmById.get(id);
  const seen = learnt(step, run, sighting?.seen === "yes" ? sighting.value : undefined);
  const before = run.recorder.state.resources.get(step.address) as RecordedVm | undefined;
  const record = before === undefined ? undefined : (patchRecord(before, seen) as RecordedVm);
  if (record !== undefined && seen.dataVolumeId !== undefined)
    await run.recorder.record([{ type: "resource", address: step.address, record }]);
  const sentBefore = await noteDeleting(step, id, run, true);
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
  const preserved = named ?? lastKnownVolumes(id, record, run);
  // Taken off it by a run that was interrupted, it was not the VM's to preserve; it is ours to remember all the same.
  const own = record?.dataVolumeId;
  const alone = named !== undefined && own !== undefined && !named.includes(own) && (await isThere(own, run));
  const left = [...preserved, ...(alone ? [own] : [])].filter(
    (volume) => !managed.has(volume) && run.recorder.addressOf(volume) === undefined,
  );
  const orphans = left.map(
    (volume): Orphan => ({
      kind: "volume",
      id: volume,
      // The answer tells its id alone; this is what it was to whoever made it.
      name: `data volume of ${record?.name ?? id}`,
      reason: `outlived VM ${record?.name ?? id}`,
      ...(record?.sizeGb !== undefined && left.length === 1 ? { sizeGb: record.sizeGb } : {}),
    }),
  );
  const changes: StateChange[] = orphans.map((orphan) => ({ type: "orphan", key: orphanKey(orphan), orphan }));
  changes.push(...missingInstead(step, id, run, deleted, sentBefore));
  await run.recorder.record([...changes, ...recordOf(step, run)]);
  for (const orphan of orphans) run.ports.emit({ type: "orphan", orphan });
  if (run.hasFollowers(step)) {
    const { vm: _, ...result } = await waitForVm(step, run, id, { for: "gone" });
    if (result.end !== "done") return result;
  }
  if (action.preservedVolumes === "delete" && client.has("volume.delete")) return deleteLeftovers(orphans, run);
  return done;
}

const isThere = async (volume: string, { ports: { client }, signal }: Run): Promise<boolean> =>
  !client.has("volume.get") || !isGone(await client.getVolume(volume, { signal }));

/** When the answer that names them was lost: what the VM was last seen with. */
function lastKnownVolumes(id: string, record: RecordedVm | undefined, run: Run): string[] {
  const sighting = run.live.vmById.get(id);
  const disks = sighting?.seen === "yes" ? (sighting.value.volumes ?? []) : [];
  const seen = disks.filter((disk) => disk.root === false).map((disk) => disk.id);
  return [...new Set([...seen, ...(record?.dataVolumeId === undefined ? [] : [record.dataVolumeId])])];
}

async function deleteLeftovers(orphans: readonly Orphan[], run: Run): Promise<StepResult> {
  for (const orphan of orphans.filter(({ id }) => run.mayLose("volume", id))) {
    const { client } = run.ports;
    const deleted = await client.deleteVolume(orphan.id, { signal: run.signal, mayWrite: run.mayWrite });
    const outcome = await confirmVolumeGone(deleted, orphan.id, client);
    if (outcome.status !== "accepted")
      return {
        ...failedBy(outcome),
        message: `the VM is deleted, but its volume ${orphan.id} is not: ${failedBy(outcome).message}`,
        fix: `reconcile orphans delete ${orphan.id}`,
      };
    await run.recorder.record([{ type: "orphan", key: orphanKey(orphan), orphan: null }]);
  }
  return done;
}
