/**
 * Which of the disks on a VM outlive it. Its own data volume goes by an id of its own as soon as the record shows which
 * it is; the others that no address manages are remembered beside it, because nothing else names them once it is gone.
 */
import type { LiveVmVolume, LiveVolume } from "./live";
import { type Disk, type Orphan, orphanKey, type RecordedVm } from "./recorded";

export type OwnDisks = Pick<RecordedVm, "dataVolumeId" | "disks">;

/** The one disk that is neither the root disk nor managed by itself, or all that may be it. */
export function tellDisks(shown: readonly LiveVmVolume[], isManaged: (id: string) => boolean): OwnDisks {
  const data = shown.filter((disk) => disk.root !== true && !isManaged(disk.id));
  const isTold = shown.some((disk) => disk.root !== undefined);
  const [only, ...others] = data;
  if (only !== undefined && isTold && others.length === 0) return { dataVolumeId: only.id };
  return data.length === 0 ? {} : { disks: inOrder(data.map(({ id, root }) => ({ id, ...maybeRoot(root) }))) };
}

export const maybeRoot = (root: boolean | undefined): Pick<Disk, "maybeRoot"> =>
  root === undefined ? { maybeRoot: true } : {};

export const inOrder = (disks: readonly Disk[]): readonly Disk[] =>
  [...disks].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));

/** The disks that a VM leaves when it is gone, as far as its record names them. */
export function disksOf({ dataVolumeId, sizeGb, disks = [] }: OwnDisks & { readonly sizeGb?: number }): Disk[] {
  const others = disks.filter(({ id }) => id !== dataVolumeId);
  return dataVolumeId === undefined ? others : [{ id: dataVolumeId, sizeGb }, ...others];
}

/**
 * An orphan that may be the root disk. The VM's delete deletes a root disk, so the orphan is dropped once the service
 * does not show it.
 */
export function orphanedDisk(disk: Disk, host: string, name: string): Orphan {
  const { id, sizeGb } = disk;
  const isDoubtful = disk.maybeRoot === true;
  return {
    kind: "volume",
    id,
    name,
    reason: isDoubtful ? `outlived VM ${host}, or was its root disk` : `outlived VM ${host}`,
    sizeGb,
    deleting: isDoubtful ? true : undefined,
  };
}

/** What a disk is called whose own name nobody has seen. */
export const unseenDiskName = (host: string, isOwn: boolean): string => `${unseenDiskNames[isOwn ? 0 : 1]} ${host}`;

const unseenDiskNames = ["data volume of", "volume that hung on"] as const;

/** The name that the service showed. */
export const shownNameOf = ({ id, name }: Orphan): string | undefined =>
  name === id || unseenDiskNames.some((words) => name.startsWith(`${words} `)) ? undefined : name;

export const orphansAdded = (orphans: readonly Orphan[]) =>
  orphans.map((orphan) => ({ type: "orphan" as const, key: orphanKey(orphan), orphan }));

/** The disks of a VM as its record and the volumes' own records tell them apart. */
export interface VmDisks {
  readonly root?: LiveVolume;
  readonly data?: LiveVolume;
  /** False: the records do not tell which disk is which. */
  readonly told: boolean;
}
