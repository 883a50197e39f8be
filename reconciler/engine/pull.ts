/**
 * Reads what exists, for a file that says the same: VMs from the list, their disks from the records, groups and volumes
 * from the ids given, or from a list where the service has one. Sends only reads; what it found is made into YAML by
 * config/live-blocks.ts.
 */

import type { ObservedWorld } from "../config/world-blocks";
import { type Index, indexCatalogue, resolveEntry } from "../core/canonical/catalogue";
import type { Diagnostic } from "../core/model/diagnostic";
import type { VmDisks } from "../core/model/disks";
import { type Kind, kindRows, kinds, type Section, sectionOf } from "../core/model/kinds";
import type { LiveGroup, LiveOf, LiveVm, LiveVolume } from "../core/model/live";
import { type Failure, type Outcome, valueIn } from "../core/model/outcome";
import { inShell } from "../core/text/in-shell";
import { itemAt, mustGet } from "../core/text/invariant";
import { onlyDefined } from "../core/text/objects";
import { isEmptyBesideList, readWholeGroup } from "../kinds/group/observe";
import type { ServiceReader } from "../service/client";
import { listName, listOfKind, readOfKind } from "./observe";
import { readFailed } from "./read-failed";

/** `all`: everything that this service can list. */
export type Wanted = readonly string[] | "all";

/** Each by id or name. A kind that is left out is not read. */
export type PullWanted = Readonly<Partial<Record<Section, Wanted>>>;

export interface Pulled extends Required<ObservedWorld> {
  /** Resources that may exist and could not be seen, a line for each. */
  readonly unseen: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

export async function pullWorld(client: ServiceReader, wanted: PullWanted): Promise<Pulled> {
  const diagnostics: Diagnostic[] = [];
  const [{ all, chosen }, groups, listed] = await Promise.all([
    pullVms(client, wanted.vms ?? [], diagnostics),
    pullGroups(client, wanted.groups ?? [], diagnostics),
    wanted.volumes === "all" ? listWhole("volume", client, diagnostics).then(indexedById) : undefined,
  ]);
  const named = wanted.volumes === "all" ? [] : (wanted.volumes ?? []);
  const roots = new Set(
    all.flatMap((vm) => (vm.volumes ?? []).filter((disk) => disk.root === true).map(({ id }) => id)),
  );
  const volumes = await readVolumes(client, { listed, vms: chosen, named, roots }, diagnostics);
  const disksOf = new Map(all.map((vm) => [vm.id, disksOfVm(vm, volumes)]));
  // Root and data disks belong to their VM's block; what else hangs on a chosen VM is a volume of its own.
  const own = new Set(
    [...disksOf.values()].flatMap(({ root, data }) =>
      [root, data].flatMap((disk) => (disk === undefined ? [] : [disk.id])),
    ),
  );
  const further = chosen.flatMap((vm) => (mustGet(disksOf, vm.id).told ? (vm.volumes ?? []).map(({ id }) => id) : []));
  // The list shows their root disks as well, which stand in no block of their own.
  const untold = all.filter((vm) => !mustGet(disksOf, vm.id).told);
  const doubtful = new Set(untold.flatMap((vm) => (vm.volumes ?? []).map(({ id }) => id)));
  const isOnUntold = ({ id, attachedTo }: LiveVolume): boolean =>
    doubtful.has(id) || untold.some((vm) => vm.id === attachedTo);
  const everything = [...(listed?.values() ?? [])].flatMap((volume) => (isOnUntold(volume) ? [] : [volume.id]));
  const picked = [...new Set([...further, ...named, ...everything])].filter(
    (id) => !own.has(id) && !roots.has(id) && volumes.has(id),
  );
  for (const id of named)
    if (own.has(id) || roots.has(id))
      diagnostics.push({
        severity: "note",
        code: "pull/disk-of-vm",
        summary: `volume ${id} is a disk of its VM and stands in that VM's block`,
      });
  const others = await Promise.all(
    kinds.flatMap((kind) => {
      const section = sectionOf[kind];
      return section in ownSections ? [] : [pullUsual(kind, client, wantedIds(wanted, section), diagnostics)];
    }),
  );
  return {
    others: others.flat(),
    unseen: [...unseenBy(client, wanted), ...hostsNotListed(all, wanted, listed)],
    vms: (await withNames(client, chosen)).map((vm) => ({ vm, disks: mustGet(disksOf, vm.id) })),
    volumes: picked.map((id) => mustGet(volumes, id)),
    groups,
    diagnostics,
  };
}

/** The sections that are read in ways of their own. */
const ownSections: Readonly<Record<Section, true>> = { vms: true, volumes: true, groups: true };

/** A kind without a flag of its own is read where nothing, or everything, is asked for. */
const wantedIds = (wanted: PullWanted, section: string): Wanted =>
  new Map(Object.entries(wanted)).get(section) ?? (wanted.vms === "all" && wanted.groups === "all" ? "all" : []);

async function pullUsual(
  kind: Kind,
  client: ServiceReader,
  wanted: Wanted,
  diagnostics: Diagnostic[],
): Promise<readonly LiveOf[Kind][]> {
  const noun = kindRows[kind].fullNoun;
  if (wanted !== "all") return readEachOf(wanted, (id) => readOfKind(kind, client, id), noun, diagnostics);
  return (await listWhole(kind, client, diagnostics)) ?? [];
}

/** `undefined`: there is no list, or it could not be read, which is told. */
async function listWhole<K extends Kind>(
  kind: K,
  client: ServiceReader,
  diagnostics: Diagnostic[],
): Promise<readonly LiveOf[K][] | undefined> {
  if (!client.can.canFindCreated(kind)) return undefined;
  const listed = await unlessEmpty(() => listOfKind(kind, client));
  if (listed.status === "accepted") return listed.value;
  diagnostics.push(readFailed(listName(kind), listed));
  return undefined;
}

const indexedById = <T extends { readonly id: string }>(
  all: readonly T[] | undefined,
): ReadonlyMap<string, T> | undefined => all && new Map(all.map((one) => [one.id, one]));

/** Kinds of which only those with a known id can be read. */
const unseenBy = (client: ServiceReader, wanted: PullWanted): string[] => [
  ...(wanted.vms === "all" && client.can.seesVms !== "list"
    ? ["VMs: this service has no list of them; name those there are with --vm ID"]
    : []),
  ...(wanted.volumes === "all" && client.can.seesVolumes !== "list"
    ? ["volumes that hang on no VM: this service has no list of volumes; name them with --volume ID"]
    : []),
  ...(wanted.groups === "all" && client.can.seesGroups !== "list"
    ? ["security groups: this service has no list of them; name them with --group ID"]
    : []),
];

/** VMs that the list of volumes names, and the list of VMs lacks. */
function hostsNotListed(
  vms: readonly LiveVm[],
  wanted: PullWanted,
  volumes: ReadonlyMap<string, LiveVolume> | undefined,
): string[] {
  const known = new Set(vms.map(({ id }) => id));
  const hosts = [...(volumes?.values() ?? [])].flatMap(({ attachedTo }) => attachedTo ?? []);
  return wanted.vms === "all"
    ? [...new Set(hosts)]
        .filter((id) => !known.has(id))
        .map((id) => `VM ${id}, on which volumes hang, and which the list of VMs does not show`)
    : [];
}

/** Flavors and images by the names that people know, where a list shows one name for the id. */
async function withNames(client: ServiceReader, vms: readonly LiveVm[]): Promise<readonly LiveVm[]> {
  if (vms.length === 0) return vms;
  const [flavors, images] = await Promise.all([
    client.can.listsFlavors ? client.listFlavors() : undefined,
    client.can.listsImages ? client.listImages() : undefined,
  ]);
  const indexOf = (listed: typeof flavors) => indexCatalogue(valueIn(listed));
  const [flavorIndex, imageIndex] = [indexOf(flavors), indexOf(images)];
  return vms.map((vm) => ({
    ...vm,
    ...onlyDefined({
      flavor: vm.flavor === undefined ? undefined : catalogueName(vm.flavor, flavorIndex),
      image: vm.image === undefined ? undefined : catalogueName(vm.image, imageIndex),
    }),
  }));
}

/** A name is written only when it leads back to the same entry. */
function catalogueName(shown: string, index: Index | undefined): string {
  const entry = resolveEntry(shown, index);
  if (entry.found !== "one" || entry.entry.name === undefined) return shown;
  const back = resolveEntry(entry.entry.name, index);
  return back.found === "one" && back.entry.id === entry.entry.id ? entry.entry.name : shown;
}

async function pullVms(client: ServiceReader, wanted: Wanted, diagnostics: Diagnostic[]) {
  if (wanted.length === 0) return { all: [], chosen: [] };
  if (client.can.seesVms !== "list") {
    if (wanted === "all") {
      diagnostics.push({
        severity: "note",
        code: "pull/vms-unlisted",
        summary: "no VMs: this service has no list of them",
        fix: client.can.readsOneVm ? "name them: reconcile pull --vm ID" : undefined,
      });
      return { all: [], chosen: [] };
    }
    const chosen = await readEachOf(wanted, (id) => client.getVm(id), "VM", diagnostics);
    return { all: chosen, chosen };
  }
  const all = await listWhole("vm", client, diagnostics);
  if (all === undefined) return { all: [], chosen: [] };
  if (wanted === "all") return { all, chosen: all };
  const chosen = new Set<LiveVm>();
  for (const text of wanted) {
    const byId = all.filter((vm) => vm.id === text);
    const found = byId.length > 0 ? byId : all.filter((vm) => vm.name.toLowerCase() === text.toLowerCase());
    if (found.length === 0) diagnostics.push(missingId("VM", text));
    if (found.length > 1)
      diagnostics.push({
        severity: "error",
        code: "pull/several",
        summary: `several VMs are called ${text}: ${found.map(({ id }) => id).join(", ")}`,
        fix: `--vm ${inShell(itemAt(found, 0).id)}`,
      });
    else for (const vm of found) chosen.add(vm);
  }
  return { all, chosen: all.filter((vm) => chosen.has(vm)) };
}

interface VolumesWanted {
  readonly listed: ReadonlyMap<string, LiveVolume> | undefined;
  readonly vms: readonly LiveVm[];
  readonly named: readonly string[];
  readonly roots: ReadonlySet<string>;
}

async function readVolumes(
  client: ServiceReader,
  { listed, vms, named, roots }: VolumesWanted,
  diagnostics: Diagnostic[],
): Promise<ReadonlyMap<string, LiveVolume>> {
  const ids = new Set([...vms.flatMap((vm) => (vm.volumes ?? []).map(({ id }) => id)), ...named]);
  const unread = [...ids].filter((id) => listed?.has(id) !== true);
  // Some services name a VM's root disk in its record, and have no volume of that id.
  const mayLack = (id: string): boolean => roots.has(id) && !named.includes(id);
  const read = await readEachOf(unread, (id) => client.getVolume(id), "volume", diagnostics, mayLack);
  return new Map([...(listed ?? []), ...read.map((volume) => [volume.id, volume] as const)]);
}

/** The first disk that is not the root disk is taken for the one that was created with the VM. */
function disksOfVm(vm: LiveVm, volumes: ReadonlyMap<string, LiveVolume>): VmDisks {
  const entries = vm.volumes;
  if (entries === undefined || (entries.length > 0 && entries.every((entry) => entry.root === undefined)))
    return { told: false };
  const root = entries.find((entry) => entry.root === true);
  const data = entries.find((entry) => entry.root !== true);
  return {
    told: true,
    root: root === undefined ? undefined : volumes.get(root.id),
    data: data === undefined ? undefined : volumes.get(data.id),
  };
}

async function pullGroups(client: ServiceReader, wanted: Wanted, diagnostics: Diagnostic[]): Promise<LiveGroup[]> {
  if (wanted.length === 0) return [];
  const heads = indexedById(await listWhole("group", client, diagnostics));
  const ids = wanted === "all" ? [...(heads?.keys() ?? [])] : wanted;
  return readEachOf(
    ids,
    async (id) => {
      const read = await unlessEmpty(
        () => readWholeGroup(client, id, heads),
        ({ rules }) => rules,
      );
      return read.status === "accepted" && isEmptyBesideList(client, read.value, heads) ? shownNowhere : read;
    },
    "security group",
    diagnostics,
  );
}

/** Nothing is known yet that a false answer would lack, so that one that shows nothing counts when it came twice. */
async function unlessEmpty<T>(
  read: () => Promise<Outcome<T>>,
  shown: (value: T) => unknown = (value) => value,
): Promise<Outcome<T>> {
  const outcome = await read();
  if (outcome.status !== "accepted") return outcome;
  const list = shown(outcome.value);
  return Array.isArray(list) && list.length === 0 ? read() : outcome;
}

async function readEachOf<T>(
  ids: readonly string[],
  read: (id: string) => Promise<Outcome<T>>,
  what: string,
  diagnostics: Diagnostic[],
  mayLack: (id: string) => boolean = () => false,
): Promise<T[]> {
  const outcomes = await Promise.all([...new Set(ids)].map(async (id) => [id, await read(id)] as const));
  const values: T[] = [];
  for (const [id, outcome] of outcomes) {
    if (outcome.status === "accepted") values.push(outcome.value);
    else if (!isNotThere(outcome)) diagnostics.push(readFailed(`${what} ${id}`, outcome));
    else if (!mayLack(id)) diagnostics.push(missingId(what, id));
  }
  return values;
}

const shownNowhere: Failure = { status: "rejected", condition: "not_found", message: "no list and no rules show it" };

const isNotThere = (failure: Failure): boolean =>
  failure.status === "rejected" && (failure.condition === "not_found" || failure.condition === "invalid_id");

const missingId = (what: string, id: string): Diagnostic => ({
  severity: "error",
  code: "pull/not-found",
  summary: `the service shows no ${what} ${id}`,
  fix: "correct the id, and check with reconcile doctor that this credential sees the project",
});
