/** Finds a list of what hangs on what, where neither volumes nor VMs show it in their records. */
import { isObject, onlyDefined } from "../../core/text/objects";
import type { AttachmentRoute, RecordPlace, Route } from "../../dialect/dialect";
import { type AttachmentEvidence, type AttachmentPlaces, learnAttachments } from "../../dialect/learn/attachments";
import { volumesOfVm } from "../../dialect/learn/disks";
import { absentIsNoList, itemsAt } from "../../dialect/learn/items";
import { translated, type Way } from "../../dialect/learn/pages";
import type { Made } from "../../dialect/learn/place";
import { attachmentAskings } from "../../dialect/learn/where";
import { findAt, tokensOf } from "../../dialect/places";
import { compilePointers, findText } from "../../dialect/pointers";
import { fillRoute, namesVm } from "../../dialect/requests";
import { foldersTold, guessesAtOnce } from "./find-list";
import type { Learnings } from "./learnings";
import { isSuccess, look } from "./look";
import { pagesBehind } from "./read-whole";

/** Of each list for a VM so many are looked at. */
const mostVms = 3;

export async function findAttachments(learnings: Learnings): Promise<void> {
  const { ports, given, made } = learnings;
  const told = ports.told?.attachments;
  if (given.attachments !== undefined) {
    learnings.attachments = (await withoutWhatIsOver(learnings, given.attachments)) ?? learnings.attachments;
    return;
  }
  // A trial looks for it while something hangs on its VM.
  if (made !== undefined && made.hangs === undefined) return;
  const isShownByVolumes = learnings.placeOf("volume", "attached_to") !== undefined;
  const isShown = isShownByVolumes || learnings.placeOf("vm", "volumes") !== undefined;
  const isKnown = learnings.texts("vm", "id").length > 0 && learnings.texts("volume", "id").length > 0;
  if (isKnown && (told !== undefined || !isShown)) learnings.attachments = await amongLists(learnings, told);
  if (isKnown && told === undefined && !isShownByVolumes) learnings.attachments ??= await byEachVm(learnings);
  if (told !== undefined && learnings.attachments === undefined)
    learnings.open.push(
      `operations.attachments: the list at ${told.path} shows nothing that hangs on anything; look again when a volume is attached, or let a trial attach one`,
    );
}

/** Once something was taken off, one list of all shows whether it keeps what is over. */
async function withoutWhatIsOver(learnings: Learnings, given: AttachmentRoute): Promise<AttachmentRoute | undefined> {
  if (namesVm(given) || (learnings.made?.free?.size ?? 0) === 0) return undefined;
  const { items = [] } = (await listAt(learnings, given)) ?? {};
  return items.some(isOfSome) && !given.items.some(isOfSome) ? { ...given, items } : undefined;
}

async function amongLists(learnings: Learnings, told: Route | undefined): Promise<AttachmentRoute | undefined> {
  const vms = learnings.lists.get("vm.list")?.route;
  const all = told === undefined ? attachmentAskings(learnings.styles, foldersTold(learnings), vms) : [told];
  for (let from = 0; from < all.length; from += guessesAtOnce) {
    const found = await Promise.all(all.slice(from, from + guessesAtOnce).map((route) => listAt(learnings, route)));
    const list = found.find((one) => one !== undefined);
    if (list !== undefined) return list;
  }
  return undefined;
}

/** A VM that is read by itself shows its volumes, for which no list says what they hang on. */
async function byEachVm(learnings: Learnings): Promise<AttachmentRoute | undefined> {
  const { verdict, route = null } = learnings.findings.get("vm.get") ?? {};
  return verdict === "found" && route !== null
    ? listAt(learnings, route, (body, evidence) => volumesInRecord(learnings, route, body, evidence))
    : undefined;
}

/** It chooses some of the items. */
const isOfSome = (place: RecordPlace): boolean => typeof place === "object" && place.where !== undefined;

/** The volumes in the record of a VM, as a list of what hangs on it. */
function volumesInRecord(
  { payload, given, made }: Learnings,
  { item = [""] }: Route,
  body: unknown,
  evidence: AttachmentEvidence,
): AttachmentPlaces | undefined {
  const held = payload(body);
  const at = item.filter((place) => typeof place === "string").find((place) => isObject(findAt(held, tokensOf(place))));
  if (at === undefined) return undefined;
  const known = { ...evidence, flavors: new Set<string>(), images: new Set<string>(), made };
  const fields = volumesOfVm(given, [findAt(held, tokensOf(at))], known);
  const placeOf = (name: string) => fields.find(({ field }) => field === name)?.place;
  const [volumes, volume] = [placeOf("volumes"), placeOf("volume_entry.id")];
  if (volumes === undefined || volume === undefined) return undefined;
  const items = typeof volumes === "string" ? at + volumes : { ...volumes, in: at + (volumes.in ?? "") };
  const volumeAt = compilePointers([volume]);
  const pairs = (itemsAt(held, items) ?? []).flatMap((one) => {
    const id = findText(one, volumeAt);
    return id == null ? [] : [{ vm: undefined, volume: id }];
  });
  // A VM without any may leave them out.
  const [place = items] = absentIsNoList([items]);
  return pairs.length === 0 ? undefined : { items: place, volume, pairs };
}

/** The list at this address; `undefined`: it is no list of what hangs on what. */
async function listAt(
  learnings: Learnings,
  { item: _, ...route }: Route,
  inRecord?: (body: unknown, evidence: AttachmentEvidence) => AttachmentPlaces | undefined,
): Promise<AttachmentRoute | undefined> {
  const { ports, given, made } = learnings;
  const isByVm = namesVm(route);
  const vms = made?.hangs === undefined ? learnings.texts("vm", "id").slice(0, mostVms) : [made.hangs.vm];
  const evidence = {
    vms: new Set(learnings.texts("vm", "id")),
    vmNames: new Set(learnings.texts("vm", "name")),
    volumes: new Set(learnings.texts("volume", "id")),
    free: made?.free,
  };
  const shown: ShownList[] = [];
  for (const vm of isByVm ? vms : [undefined]) {
    const filled = fillRoute(route, onlyDefined({ id: vm }), given);
    if (filled === undefined) return undefined;
    const request = { operation: "volume.list", method: route.method, ...filled } as const;
    const seen = await look(ports, request);
    if (!isSuccess(seen)) return undefined;
    const on = (body: unknown) =>
      inRecord === undefined ? learnAttachments(learnings.payload(body), evidence, isByVm) : inRecord(body, evidence);
    const places = on(seen.body);
    if (places === undefined) continue;
    const way = inRecord === undefined ? wayOfOthers(learnings, places.items, seen.body) : undefined;
    const later = await pagesBehind(learnings, way ?? {}, request, seen, places.items);
    const pairs = [...places.pairs, ...later.flatMap((body) => on(body)?.pairs ?? [])];
    shown.push({ ...places, ...onlyDefined({ way, of: vm }), pairs });
  }
  const [first] = shown;
  if (
    first === undefined ||
    !(made?.hangs === undefined ? isApart(learnings, shown, vms) : showsWhatWasMade(made.hangs, made.free, shown))
  )
    return undefined;
  const { items, vm, volume, way } = first;
  return {
    ...route,
    items: learnings.emptied.size > 0 ? absentIsNoList([items]) : [items],
    ...onlyDefined({ pagination: way }),
    vm: vm === undefined ? [] : [vm],
    volume: [volume],
  };
}

interface ShownList extends AttachmentPlaces {
  /** How it goes on. */
  readonly way?: Way;
  /** Whose list it is, where each VM has one. */
  readonly of?: string;
}

/** What a trial attached itself is shown where it hangs, and what hangs on nothing is not shown. */
function showsWhatWasMade(
  { vm, volume }: NonNullable<Made["hangs"]>,
  free: ReadonlySet<string> = new Set(),
  shown: readonly ShownList[],
): boolean {
  const pairs = shown.flatMap((list) => list.pairs.map((pair) => ({ ...pair, vm: pair.vm ?? list.of })));
  const isThere = pairs.some((pair) => pair.vm === vm && (volume === undefined || pair.volume === volume));
  return isThere && !pairs.some((pair) => free.has(pair.volume));
}

/** Lists of several VMs show different volumes; one that shows all of them may be the list of volumes itself. */
function isApart(learnings: Learnings, shown: readonly ShownList[], vms: readonly string[]): boolean {
  if (shown.some(({ vm }) => vm !== undefined)) return true;
  const volumes = shown.flatMap(({ pairs }) => pairs.map(({ volume }) => volume));
  const isTold = vms.length > 1 || learnings.texts("volume", "id").some((id) => !volumes.includes(id));
  return isTold && new Set(volumes).size === volumes.length;
}

/** It goes on as the other lists do. */
function wayOfOthers({ lists, payload }: Learnings, items: RecordPlace, body: unknown): Way | undefined {
  const pointer = typeof items === "string" ? items : (items.in ?? "");
  const at = payload(body) === body ? pointer : `/data${pointer}`;
  const [first] = [...lists.values()].flatMap(({ way, route, at: from }) => {
    const own = way ?? route.pagination;
    return own === undefined ? [] : [translated(own, from, at)];
  });
  return first;
}
