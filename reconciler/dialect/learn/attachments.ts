/**
 * Tells a list of what hangs on what, apart from the records of volumes: its items name a volume and a VM, or they stand
 * below the VM and name a volume.
 */
import type { RecordPlace } from "../dialect";
import { compilePointers, findText } from "../pointers";
import { findListIn } from "./items";
import { idWord, type KnownThings, learnPlace, type PlaceRule } from "./place";
import { attachedTo } from "./records";
import { leavesOf, samePlace } from "./values";

export interface AttachmentPlaces {
  readonly items: RecordPlace;
  /** Left out where the list is that of one VM. */
  readonly vm?: RecordPlace;
  readonly volume: RecordPlace;
  /** What hangs on what, as the items show it. */
  readonly pairs: readonly { readonly vm: string | undefined; readonly volume: string }[];
}

const volumeRule: PlaceRule = {
  names: [new RegExp(`^(volume|disk|drive|blockvolume|blockdevice|storage|device)${idWord}?$`), /^id$/],
  refersTo: ({ volumes }) => volumes,
  // Root disks may be in no list of volumes.
  outlives: true,
};

const words = [
  "attachments",
  "volumeAttachments",
  "diskAttachments",
  "volumes",
  "disks",
  "drives",
  "attached",
  "items",
];

/** `undefined`: it is no such list, or nothing that is known hangs on anything. */
export function learnAttachments(
  payload: unknown,
  evidence: Pick<KnownThings, "vms" | "vmNames" | "volumes">,
  ofVm: boolean,
): AttachmentPlaces | undefined {
  const found = findListIn(payload, words);
  if (found === undefined || "several" in found || found.items.length === 0) return undefined;
  const known: KnownThings = { ...evidence, flavors: new Set(), images: new Set() };
  const leaves = found.items.map((item) => leavesOf(item));
  const volume = learnPlace(volumeRule, leaves, known)?.place;
  if (volume === undefined) return undefined;
  const others = leaves.map((all) => all.filter(({ place }) => !samePlace(place, volume)));
  const vm = ofVm ? undefined : attachedTo(others, known);
  if (!ofVm && vm === undefined) return undefined;
  const [volumeAt, vmAt] = [compilePointers([volume]), compilePointers(vm === undefined ? [] : [vm])];
  const pairs = found.items.flatMap((item) => {
    const [one, host] = [findText(item, volumeAt), findText(item, vmAt) ?? undefined];
    return one == null || (!ofVm && host === undefined) ? [] : [{ vm: host, volume: one }];
  });
  const { place: items } = found;
  return vm === undefined ? { items, volume, pairs } : { items, vm, volume, pairs };
}
