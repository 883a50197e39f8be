/** The disks that come with the VM of a trial: which of them are its data, and which have to be taken away by themselves. */
import type { LiveVm } from "../../../core/model/live";
import { valueIn } from "../../../core/model/outcome";
import { orNothing } from "./lists";
import type { Trial } from "./watch";

/**
 * The disks that came with the VM and outlive it: those that it shows, and those that say that they hang on it. A service
 * may put a disk that it has on each VM: one that was listed before the trial is somebody else's.
 */
export async function noteDisks(trial: Trial, live: LiveVm | undefined): Promise<void> {
  if (live === undefined) return;
  const listed = trial.client.can.canFindCreated("volume")
    ? await orNothing(trial, "volume.list", () => trial.client.listVolumes())
    : undefined;
  const hanging = valueIn(listed)?.filter(({ attachedTo }) => attachedTo === live.id) ?? [];
  const shown = (live.volumes ?? []).flatMap(({ id, root }) => (root === true ? [] : [id]));
  for (const id of new Set([...shown, ...hanging.map((volume) => volume.id)]))
    if (!trial.made.root.has(id) && !trial.isNoted("volume", id) && !trial.isOfOthers("volume", id))
      trial.notes.add({ kind: "volume", id, askedAt: trial.ports.clock.now(), isTaken: true });
}

/** Tells the disks of its VM apart by their sizes: data was asked for with 1 GB, which is no size of a root disk. */
export async function tellTrialDisks(trial: Trial, live: LiveVm | undefined): Promise<void> {
  for (const { id } of live?.volumes ?? []) {
    const shown = await trial.client.getVolume(id);
    if (shown.status !== "accepted" || shown.value.sizeGb === undefined) continue;
    (shown.value.sizeGb <= 1 ? trial.made.data : trial.made.root).add(id);
  }
}
