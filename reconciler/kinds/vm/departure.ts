/**
 * Decides once what a deleted VM takes with it and what it leaves: the losses and leavings of the plan's text, the
 * consents and the steps all follow from it. Only the data volume that was created with the VM may go along, and only
 * when its id and size are known and it hangs where it was made. Every other volume lives on.
 */

import type { Change } from "../../core/diff/changes";
import type { DiffContext, Hanging } from "../../core/diff/context";
import type { Pair } from "../../core/diff/pair";
import type { Address } from "../../core/model/address";
import type { DesiredVm } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { notLookedAt, valueSeen } from "../../core/model/evidence";
import { told, toSay } from "../../core/model/fix";
import { identity } from "../../core/model/identity";
import { findSeen, type LiveVm, type Sighting, sight } from "../../core/model/live";
import { type Loss, rootDiskLoss, volumeLabel, volumeLoss } from "../../core/model/loss";
import type { RecordedVm } from "../../core/model/recorded";
import { ifAny, onlyDefined } from "../../core/text/objects";

export interface Departure {
  /**
   * Every disk that hangs on it, the root disk and those under an address of their own included: at the delete there may
   * be no other. Absent: nothing shows what hangs there.
   */
  readonly hanging?: readonly string[];
  /** The data volume that is deleted with the VM. */
  readonly deletes?: { readonly id: string; readonly sizeGb: number };
  /** Volumes that live on and have no address. */
  readonly leaves: readonly Hanging[];
}

export interface LossesOfRemoval extends Required<Pick<Change, "losses">>, Pick<Change, "leaves"> {
  readonly departure: Departure;
  readonly notes: readonly Diagnostic[];
}

export interface Leaving {
  readonly id: string | undefined;
  readonly name: string;
  readonly live: LiveVm | undefined;
  readonly recorded: RecordedVm | undefined;
  readonly desired: DesiredVm | undefined;
  readonly dataVolumeId: string | undefined;
  /** The VM is still being built: its record does not show its disks yet, and nothing was ever in use on them. */
  readonly young: boolean;
}

export function lossesOfRemoval(leaving: Leaving, pair: Pair, context: DiffContext): LossesOfRemoval {
  const { id, name, live, recorded, dataVolumeId, young } = leaving;
  const root = rootDiskLoss({ id, name, sizeGb: recorded?.rootSizeGb }, "is deleted with it");
  const hanging = id === undefined || young ? undefined : hangingOn(id, live, context);
  const isManaged = (volume: string): boolean => context.addressOf(identity("volume", volume)) !== undefined;
  const strangers = (hanging ?? []).filter(
    (disk) => disk.root !== true && disk.id !== dataVolumeId && !isManaged(disk.id),
  );
  // Where no record tells the root disk from the others, each of them may be it.
  const maybeRoot = hanging?.every((disk) => disk.root === undefined) === true ? ", unless it is its root disk" : "";
  const own = ownVolume(leaving, hanging, context);
  const notes: Diagnostic[] = [];
  if (hanging === undefined && !young && id !== undefined)
    notes.push(unseen(pair, name, sight(context.live, "vm", id)));
  if (own.keeps !== undefined) notes.push(kept(pair, name, own.keeps));
  const leaves: Hanging[] = [...(own.stays === undefined ? [] : [own.stays]), ...strangers];
  const said = [
    ...(own.fate === undefined ? [] : [own.fate]),
    ...strangers.map((disk) => {
      const keeper = keptByAnother(disk.id, pair.address, context);
      return keeper === undefined
        ? `volume ${volumeLabel(disk)}, which hangs on VM ${name} and is not in this state, stays behind as an orphan${maybeRoot}`
        : `volume ${volumeLabel(disk)}, which hangs on VM ${name} and is the data volume of ${keeper}, stays`;
    }),
  ];
  return {
    losses: own.deletes === undefined ? [root] : [root, ownVolumeLoss(own.deletes, name, context)],
    leaves: ifAny(said),
    departure: { hanging: hanging?.map((disk) => disk.id), deletes: own.deletes, leaves },
    notes,
  };
}

/** Somebody has moved the data volume of another declared VM here: that VM's record goes on knowing it. */
export function keptByAnother(disk: string, address: Address, { keeperOf }: DiffContext): Address | undefined {
  const keeper = keeperOf(identity("volume", disk));
  return keeper === address ? undefined : keeper;
}

/** The VM's record and the volumes' own records, whichever show it; `undefined` when neither does. */
export function hangingOn(id: string, live: LiveVm | undefined, context: DiffContext): readonly Hanging[] | undefined {
  const byVolume = context.volumesOn.get(id) ?? [];
  if (live?.volumes === undefined && !context.hostsShown) return undefined;
  const disks = new Map<string, Hanging>(byVolume.map((disk) => [disk.id, disk]));
  for (const { id: disk, root } of live?.volumes ?? []) {
    const volume = findSeen(context.live, "volume", disk);
    disks.set(disk, { id: disk, name: volume?.name, sizeGb: volume?.sizeGb, root });
  }
  return [...disks.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

interface Own {
  readonly deletes?: { readonly id: string; readonly sizeGb: number };
  readonly stays?: Hanging;
  /** What becomes of the data volume, when it lives on. */
  readonly fate?: string;
  /** Why the data volume lives on although the file says that it goes with its VM. */
  readonly keeps?: string;
}

/** Where the VM's own data volume is, as far as anything shows it. */
interface OwnDisk {
  readonly id: string | undefined;
  readonly sizeGb: number | undefined;
  /** The volume hangs on another VM. */
  readonly elsewhere: string | undefined;
  /** The volume hangs on no VM. */
  readonly isOff: boolean;
}

/**
 * The data volume that was to go with a VM that is gone by now: an earlier run has sent the VM's delete. Where the
 * address is protected it stays an orphan: what permitted the delete was for that run.
 */
export function stillToDelete(
  recorded: RecordedVm,
  desired: DesiredVm | undefined,
  context: DiffContext,
): Departure["deletes"] {
  const { id, name, dataVolumeId } = recorded;
  const isProtected = recorded.preventDestroy || desired?.lifecycle.preventDestroy === true;
  if (isProtected || recorded.deleting !== true || dataVolumeId === undefined) return undefined;
  if (findSeen(context.live, "volume", dataVolumeId) === undefined) return undefined;
  // The VM's end took it off.
  const ours = { ...recorded, dataVolumeDetached: true };
  const leaving = { id, name, live: undefined, recorded: ours, desired, dataVolumeId, young: false };
  return ownVolume(leaving, undefined, context).deletes;
}

export const ownVolumeLoss = (own: NonNullable<Departure["deletes"]>, host: string, context: DiffContext): Loss =>
  volumeLoss(own, `${ownLabel(own, host, context)} is deleted with its data`);

/** By the name that the service shows, as every other volume. */
const ownLabel = (
  { id, sizeGb }: { readonly id: string; readonly sizeGb: number | undefined },
  host: string,
  { live }: DiffContext,
): string => `data volume ${volumeLabel({ id, name: findSeen(live, "volume", id)?.name, sizeGb })} of VM ${host}`;

function ownVolume(leaving: Leaving, hanging: readonly Hanging[] | undefined, context: DiffContext): Own {
  const { name, recorded, desired, dataVolumeId: id } = leaving;
  // A volume with an address of its own is neither lost nor left behind here: its own steps decide.
  if (id !== undefined && context.addressOf(identity("volume", id)) !== undefined) return {};
  const disk = ownDisk(leaving, hanging, context);
  if (disk === undefined) return {};
  const { sizeGb, elsewhere } = disk;
  const label =
    id === undefined
      ? `the data volume${sizeGb === undefined ? "" : ` of ${sizeGb} GB`} of VM ${name}`
      : ownLabel({ id, sizeGb }, name, context);
  const stays: Own = {
    fate:
      elsewhere === undefined
        ? `${label} stays behind as an orphan`
        : `${label}, which hangs on VM ${elsewhere}, stays there as an orphan`,
    stays: id === undefined ? undefined : { id, ...onlyDefined({ sizeGb }) },
  };
  const policy = desired?.lifecycle.preservedVolumes ?? recorded?.onDelete.preservedVolumes ?? "retain";
  if (policy === "retain" || !context.can.deletesVolumes) return stays;
  const mine = mayGoAlong(disk, recorded);
  return "keeps" in mine ? { ...stays, ...mine } : { deletes: mine };
}

/** `undefined`: the volume is gone. */
function ownDisk(
  { id: vm, recorded, dataVolumeId: id }: Leaving,
  hanging: readonly Hanging[] | undefined,
  context: DiffContext,
): OwnDisk | undefined {
  const sighting = id === undefined ? undefined : sight(context.live, "volume", id);
  if (sighting?.seen === "gone") return undefined;
  const seen = valueSeen(sighting);
  const host = seen?.attachedTo;
  const isUnlisted = host === undefined && id !== undefined && hanging?.every((disk) => disk.id !== id) === true;
  return {
    id,
    sizeGb: seen?.sizeGb ?? recorded?.sizeGb,
    elsewhere: typeof host === "string" && host !== vm ? host : undefined,
    isOff: host === null || isUnlisted,
  };
}

/**
 * The volume that is deleted with the VM, or why none is: it has to be known as the one created with the VM, and to
 * hang where it was made.
 */
function mayGoAlong(
  { id, sizeGb, elsewhere, isOff }: OwnDisk,
  recorded: RecordedVm | undefined,
): Required<Own>["deletes"] | Required<Pick<Own, "keeps">> {
  if (id === undefined) return { keeps: "the service's records do not show which volume it is" };
  if (sizeGb === undefined) return { keeps: "its size is not known" };
  if (elsewhere !== undefined) return { keeps: `it hangs on VM ${elsewhere}` };
  const isOurDoing = recorded?.dataVolumeDetached === true || recorded?.dataVolumeMoving !== undefined;
  if (isOff && !isOurDoing) return { keeps: "somebody has taken it off the VM" };
  const isGuessed = recorded?.dataVolumeId === undefined;
  if (isGuessed && recorded?.sizeGb !== undefined && recorded.sizeGb !== sizeGb)
    return { keeps: `volume ${id} of ${sizeGb} GB is not the one of ${recorded.sizeGb} GB that was made` };
  return { id, sizeGb };
}

const kept = ({ address, desired }: Pair, name: string, why: string): Diagnostic => ({
  severity: "warning",
  code: "plan/data-volume-kept",
  summary: `the data volume of VM ${name} is not deleted with it: ${why}`,
  detail: "preserved_volumes: delete takes only the volume that was created with the VM, known by its id and size.",
  ...told([
    toSay(
      ["delete it when the VM is gone: ", ["orphans list"], " names it, ", ["orphans delete", "ID"], " ends it"],
      'delete it when the VM is gone: the update names it, for adopt: "<its id>"',
    ),
  ]),
  address,
  source: desired?.source,
});

function unseen({ address, desired }: Pair, name: string, vm: Sighting<LiveVm>): Diagnostic {
  const isUnlooked = vm.seen === "unobserved" && vm.reason === notLookedAt.reason;
  return {
    severity: "warning",
    code: "plan/attachments-unseen",
    summary: `nothing shows which volumes hang on VM ${name}, which is to be deleted`,
    detail: `${isUnlooked ? "This plan did not look" : "No record shows it"}. What outlives the VM and has no address here becomes an orphan as far as the answer to the delete names it.`,
    fix: isUnlooked
      ? "plan without --no-refresh"
      : "describe the VM record's volumes in the dialect (records.vm.volumes), or name the list of volumes (operations.volume.list)",
    address,
    source: desired?.source,
  };
}

/** The volumes on each VM that a plan changes, by address: a saved plan holds only while they are the same. */
export function attachmentsOf(
  vms: readonly { readonly address: string; readonly id: string | undefined }[],
  context: DiffContext,
): Readonly<Record<string, readonly string[]>> {
  const attached: Record<string, readonly string[]> = {};
  for (const { address, id } of vms) {
    if (id === undefined) continue;
    const disks = hangingOn(id, findSeen(context.live, "vm", id), context);
    if (disks !== undefined) attached[address] = disks.map((disk) => disk.id);
  }
  return attached;
}
