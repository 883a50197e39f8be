/**
 * Tells a list of what hangs on what, apart from the records of volumes: its items name a volume and a VM, or they stand
 * below the VM and name a volume.
 */
import type { RecordPlace, Selector } from "../dialect";
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

/** What is known of what hangs on what; `free`: volumes that hang on nothing. */
export type AttachmentEvidence = Pick<KnownThings, "vms" | "vmNames" | "volumes"> & {
  readonly free?: ReadonlySet<string> | undefined;
};

/** `undefined`: it is no such list, or nothing that is known hangs on anything. */
export function learnAttachments(
  payload: unknown,
  { free = new Set(), ...evidence }: AttachmentEvidence,
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
  const pairsOf = (list: readonly unknown[]) =>
    list.flatMap((item) => {
      const [one, host] = [findText(item, volumeAt), findText(item, vmAt) ?? undefined];
      return one == null || (!ofVm && host === undefined) ? [] : [{ vm: host, volume: one }];
    });
  const { place, items: all } = found;
  const isOver = (item: unknown): boolean => free.has(findText(item, volumeAt) ?? "");
  const [over, standing] = [all.filter(isOver), all.filter((item) => !isOver(item))];
  const where = over.length === 0 ? undefined : wordOfStanding(standing, over);
  const items = where === undefined ? place : { ...(typeof place === "string" ? { in: place } : place), where };
  const pairs = pairsOf(where === undefined ? all : standing);
  return vm === undefined ? { items, volume, pairs } : { items, vm, volume, pairs };
}

/** What an attachment says as long as it stands, where those that are over stay in the list. */
function wordOfStanding(standing: readonly unknown[], over: readonly unknown[]): Selector["where"] {
  const shown = over.map((item) => new Map(leavesOf(item).map(({ place, value }) => [place, value])));
  for (const { place, value } of standing.flatMap((item) => leavesOf(item))) {
    if (typeof place !== "string" || typeof value !== "string" || !/^[A-Za-z][A-Za-z_ -]*$/.test(value)) continue;
    if (shown.every((one) => one.has(place) && one.get(place) !== value))
      return { [/^\/[^/]*$/.test(place) ? place.slice(1) : place]: value };
  }
  return undefined;
}
