/**
 * The twin: the observed world as a world of the embedded service, with the same ids. What the observation does not
 * show is taken from the records, then from the file, then from what the contract says of a new resource; every
 * assumption is reported. The twin has the operations of the dialect and no others.
 */

import type { Entities, Flavor, Group, Image, Project, Region, User, Vm, Volume } from "../../emulator/entities";
import type { WorldDump } from "../../emulator/world";
import { catalogueId, type Index, indexCatalogue, isUuid, resolveEntry } from "../core/canonical/catalogue";
import type { Desired, DesiredVm } from "../core/model/desired";
import { valueSeen } from "../core/model/evidence";
import { allOfKind } from "../core/model/kinds";
import {
  type CatalogueEntry,
  type Live,
  type LiveGroup,
  type LiveVm,
  type Sighting,
  shownOf,
  sight,
} from "../core/model/live";
import type { RecordedGroup, RecordedVm, State } from "../core/model/recorded";
import { groupIdNamed } from "../core/model/rule";
import { twinRules } from "./twin-rules";

export interface TwinInput {
  readonly desired: Desired;
  readonly state: State;
  readonly live: Live;
  /** Milliseconds since 1970, in the twin's time. */
  readonly now: number;
  readonly newId: () => string;
}

export interface Twin {
  readonly world: WorldDump;
  /** Whether the twin refuses what is in no catalogue; only where the whole catalogue was seen. */
  readonly strict: boolean;
  /** What the twin cannot know, one sentence each. */
  readonly assumptions: readonly string[];
}

export const twinToken = "twin";
const twinProject = "00000000-0000-4000-8001-0000000000f1";
/** The project of the VM that stands for the unknown users of a retired group; no list shows that VM. */
const idOfElsewhere = "00000000-0000-4000-8001-0000000000f2";

interface Builder extends TwinInput {
  readonly createdAt: string;
  readonly assumptions: string[];
  readonly flavors: Index | undefined;
  readonly images: Index | undefined;
  readonly vmRecords: ReadonlyMap<string, RecordedVm>;
  readonly wanted: ReadonlyMap<string, DesiredVm>;
  seq: number;
}

export function buildTwin(input: TwinInput): Twin {
  const { desired, state, live } = input;
  const createdAt = new Date(input.now).toISOString();
  const projects = projectNames(desired, state);
  const wantedVms = allOfKind(desired.resources, "vm");
  const vmRecords = new Map(
    allOfKind(state.resources.values(), "vm").flatMap((record) =>
      record.id !== undefined ? [[record.id, record] as const] : [],
    ),
  );
  const flavors = catalogueOf(live.catalogue.flavors, flavorNames(input, wantedVms)).map(
    (entry): Flavor => ({ ...entry, vcpus: 1, ram_gb: 1, provisionable: true }),
  );
  const listed = catalogueOf(live.catalogue.images, imageNames(input, wantedVms));
  const unlisted = unlistedIn(listed, imageNames(input, wantedVms));
  const images = [...listed, ...unlisted].map(
    (entry): Image => ({ ...entry, project_id: null, created_at: createdAt }),
  );
  const builder: Builder = {
    ...input,
    createdAt,
    assumptions: [],
    flavors: indexCatalogue(flavors),
    images: indexCatalogue(images),
    vmRecords,
    wanted: new Map(wantedVms.map((vm) => [vm.address, vm])),
    seq: 1,
  };
  const vms = twinVms(builder);
  const volumes = twinVolumes(builder, vms);
  const { groups, rules } = twinGroups(builder);
  const regions: Region[] = catalogueOf(live.catalogue.regions, [
    ...wantedVms.map((vm) => vm.region),
    ...[...vmRecords.values()].flatMap(({ region }) => region ?? []),
  ]);
  const world: WorldDump = {
    version: 1,
    projects: [{ id: twinProject, name: projects[0] ?? "twin" } satisfies Project],
    users: twinUsers(builder, wantedVms),
    flavors,
    images,
    regions,
    vms: [...vms, ...vmsElsewhere(builder)],
    volumes,
    groups,
    rules,
    floating_ips: vms.flatMap(({ id, floating_ip }) =>
      floating_ip === null ? [] : [{ id: floating_ip, project_id: twinProject, vm_id: id }],
    ),
    settings: [],
  };
  const seen = live.catalogue;
  if (seen.flavors === undefined || seen.images === undefined || seen.regions === undefined)
    builder.assumptions.push(
      "not every list of flavors, images and regions could be read: what the file names is taken to exist",
    );
  const taken = unlisted.filter(({ id }) => wantedVms.some(({ image }) => image === id)).map(({ id }) => id);
  if (taken.length > 0)
    builder.assumptions.push(
      `what the list of images does not show exists, as a private image may: ${taken.join(", ")}`,
    );
  builder.assumptions.push(
    "every listed flavor can be provisioned, and no quota is reached",
    "no VM beside those known uses a security group, so deleting one is not refused for that",
  );
  return { world, strict: seen.images !== undefined && projects.length <= 1, assumptions: builder.assumptions };
}

const sortedOnce = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();

function projectNames(desired: Desired, state: State): string[] {
  const named = allOfKind(desired.resources, "vm").map((resource) => resource.project);
  if (named.length === 0)
    for (const record of allOfKind(state.resources.values(), "vm"))
      if (record.project !== undefined) named.push(record.project);
  return sortedOnce(named);
}

/** The list as it was read; without one, an entry for every name in use. */
const catalogueOf = (listed: readonly CatalogueEntry[] | undefined, inUse: readonly string[]) =>
  listed?.map(({ id, name }) => ({ id, name: name ?? id })) ?? sortedOnce(inUse).map((name) => ({ id: name, name }));

/** An image that no list shows is sent as it is where its id is written (plan/image-unlisted). */
const unlistedIn = (listed: readonly CatalogueEntry[], inUse: readonly string[]) => {
  const index = indexCatalogue(listed);
  return sortedOnce(inUse)
    .filter((image) => isUuid(image) && resolveEntry(image, index).found === "none")
    .map((image) => ({ id: image, name: image }));
};

const flavorNames = ({ live, state }: TwinInput, wanted: readonly DesiredVm[]): string[] => [
  ...wanted.map((vm) => vm.flavor),
  ...shownOf(live, "vm").flatMap((vm) => vm.flavor ?? []),
  ...allOfKind(state.resources.values(), "vm").flatMap((record) => record.flavor ?? []),
];

const imageNames = ({ live, state }: TwinInput, wanted: readonly DesiredVm[]): string[] => [
  ...wanted.map((vm) => vm.image),
  ...shownOf(live, "vm").flatMap((vm) => vm.image ?? []),
  ...allOfKind(state.resources.values(), "vm").flatMap((record) =>
    [record.imageId, record.image].filter((image) => image !== undefined),
  ),
];

/** The caller leads the project; every owner of a VM, present or wanted, is a member of it. */
const localPart = (email: string): string => email.slice(0, email.indexOf("@"));

function twinUsers({ live, state, newId }: Builder, wanted: readonly DesiredVm[]): User[] {
  const owners = new Set<string>(wanted.map((vm) => vm.owner));
  for (const vm of shownOf(live, "vm")) if (vm.owner !== undefined) owners.add(vm.owner);
  for (const record of allOfKind(state.resources.values(), "vm"))
    if (record.owner !== undefined) owners.add(record.owner);
  const emails = sortedOnce([...owners].filter((owner) => owner.includes("@")));
  const known = new Set(emails.map((email) => localPart(email).toLowerCase()));
  const names = sortedOnce([...owners].filter((owner) => !owner.includes("@") && !known.has(owner.toLowerCase())));
  const member = [{ project_id: twinProject, role: "member", active: true }] as const;
  const caller: User = {
    id: newId(),
    email: "rehearsal@twin.invalid",
    username: "rehearsal",
    token: twinToken,
    system_admin: false,
    memberships: [{ project_id: twinProject, role: "owner", active: true }],
  };
  return [
    caller,
    ...[...emails, ...names.map((name) => `${name}@twin.invalid`)].map((email) => ({
      id: newId(),
      email,
      username: localPart(email),
      system_admin: false,
      memberships: member,
    })),
  ];
}

function twinVms(builder: Builder): Vm[] {
  const { live } = builder;
  const seen = shownVms(live);
  const vms = [...seen.values()].map((vm) => twinVm(builder, vm));
  const isUnseen = (id: string): boolean => !seen.has(id) && isCountedAsThere(sight(live, "vm", id));
  for (const [id, record] of builder.vmRecords)
    if (isUnseen(id)) {
      const phase = record.power === "stopped" ? "stopped" : "running";
      vms.push(twinVm(builder, { kind: "vm", id, name: record.name, phase }));
    }
  if (live.of.vm.listed) return vms;
  for (const id of sortedOnce(hostsNamed(builder)))
    if (isUnseen(id) && !builder.vmRecords.has(id))
      vms.push(twinVm(builder, { kind: "vm", id, name: `vm-${id}`.toLowerCase(), phase: "running" }));
  return vms;
}

/** The ids of VMs to which volumes are attached, or shall be. */
const hostsNamed = ({ live, desired, state }: Builder): string[] => [
  ...allOfKind(desired.resources, "volume").flatMap((resource) =>
    resource.attachTo !== undefined && "id" in resource.attachTo ? [resource.attachTo.id] : [],
  ),
  ...shownOf(live, "volume").flatMap(({ attachedTo }) => attachedTo ?? []),
  ...allOfKind(state.resources.values(), "volume").flatMap(({ attachedTo }) => attachedTo ?? []),
];

/** One row for each field: the value that was seen, else the recorded one, else the wanted one. */
function twinVm(builder: Builder, vm: LiveVm): Vm {
  const { createdAt } = builder;
  const record = builder.vmRecords.get(vm.id);
  const wanted = record === undefined ? undefined : builder.wanted.get(record.address);
  const known = (key: "flavor" | "owner" | "userId" | "region" | "project" | "image"): string | undefined =>
    record?.[key] ?? wanted?.[key];
  const flavor = catalogueId(vm.flavor ?? known("flavor") ?? "", builder.flavors);
  return {
    id: vm.id,
    seq: builder.seq++,
    project_id: twinProject,
    project: known("project") ?? "",
    name: vm.name.toLowerCase(),
    flavor_id: flavor,
    image_id: catalogueId(vm.image ?? record?.imageId ?? known("image") ?? "", builder.images),
    owner: vm.owner ?? known("owner") ?? "",
    user_id: known("userId") ?? "",
    region: known("region") ?? "",
    root_size: record?.rootSizeGb ?? wanted?.rootSizeGb ?? 50,
    floating_ip: vm.floatingIp ?? null,
    private_ip: vm.privateIp ?? null,
    root_wipes: 0,
    groups: [],
    created_at: createdAt,
    ...twinState(builder, vm, flavor, record),
  };
}

/** A VM in transition reaches its next state in the twin as it would in the service. */
function twinState(
  { now }: Builder,
  vm: LiveVm,
  flavor: string,
  record: RecordedVm | undefined,
): Pick<Vm, "status" | "pending" | "resize_from"> {
  const settled = { pending: null, resize_from: null };
  const resizeFrom = { flavor_id: record?.resizing?.from ?? flavor, status: "ACTIVE" };
  switch (vm.phase) {
    case "running":
      return { status: "ACTIVE", ...settled };
    case "stopped":
      return { status: "SHUTOFF", ...settled };
    case "failed":
      return { status: "ERROR", ...settled };
    case "verify_resize":
      return { status: "VERIFY_RESIZE", pending: null, resize_from: resizeFrom };
    case "changing":
      return record?.resizing === undefined
        ? { status: "REBOOT", pending: { until: now, becomes: { status: "ACTIVE" } }, resize_from: null }
        : { status: "RESIZE", pending: { until: now, becomes: { status: "VERIFY_RESIZE" } }, resize_from: resizeFrom };
  }
}

type Placed = Pick<Volume, "id" | "name" | "size" | "attached_to" | "root">;

function twinVolumes(builder: Builder, vms: readonly Vm[]): Volume[] {
  const liveVms = shownVms(builder.live);
  const placed = new Map(knownVolumes(builder, liveVms).map((volume) => [volume.id, volume]));
  for (const vm of vms)
    for (const disk of disksPlaced(builder, vm, liveVms.get(vm.id)))
      if (!placed.has(disk.id)) placed.set(disk.id, disk);
  return [...placed.values()].map((volume) => ({
    ...volume,
    seq: builder.seq++,
    project_id: twinProject,
    status: volume.attached_to === null ? "available" : "in-use",
    created_at: builder.createdAt,
  }));
}

/** The VMs that were seen, in a list or one by one. */
const shownVms = (live: Live): ReadonlyMap<string, LiveVm> => new Map(shownOf(live, "vm").map((vm) => [vm.id, vm]));

/** What no look shows counts as there in a plan, until its absence is proven, or presumed by one that asks for it. */
const isCountedAsThere = (sighting: Sighting<unknown>): boolean =>
  sighting.seen === "yes" || (sighting.seen === "unobserved" && sighting.vanished === undefined);

/** What was seen or is recorded, unless it is gone. */
function* notGone<L, R extends { readonly id: string }>(
  sightings: ReadonlyMap<string, Sighting<L>>,
  records: ReadonlyMap<string, R>,
): Generator<{ readonly id: string; readonly seen: L | undefined; readonly record: R | undefined }> {
  for (const id of new Set([...sightings.keys(), ...records.keys()])) {
    const sighting = sightings.get(id);
    if (sighting !== undefined && !isCountedAsThere(sighting)) continue;
    yield { id, seen: valueSeen(sighting), record: records.get(id) };
  }
}

function knownVolumes({ live, state }: Builder, liveVms: ReadonlyMap<string, LiveVm>): Placed[] {
  const hangsOn = new Map<string, { readonly vm: string; readonly root: boolean }>();
  for (const vm of liveVms.values())
    for (const { id, root } of vm.volumes ?? []) hangsOn.set(id, { vm: vm.id, root: root === true });
  const records = new Map(allOfKind(state.resources.values(), "volume").map((record) => [record.id, record]));
  return Array.from(notGone(live.of.volume.byId, records), ({ id, seen, record }) => {
    const place = hangsOn.get(id);
    const host = place?.vm ?? (seen === undefined ? record?.attachedTo : undefined) ?? null;
    return {
      id,
      name: seen?.name ?? record?.name ?? id,
      size: seen?.sizeGb ?? record?.sizeGb ?? 1,
      attached_to: seen?.attachedTo === undefined ? host : seen.attachedTo,
      root: place?.root ?? false,
    };
  });
}

/** Every VM has a root disk and the data volume that it was created with, also where records do not show volumes. */
function disksPlaced(builder: Builder, vm: Vm, live: LiveVm | undefined): Placed[] {
  const record = builder.vmRecords.get(vm.id);
  const wanted = record === undefined ? undefined : builder.wanted.get(record.address);
  const disks = live?.volumes ?? [
    { id: builder.newId(), root: true },
    { id: record?.dataVolumeId ?? builder.newId(), root: false },
  ];
  return disks.map(({ id, root = false }) => ({
    id,
    name: `${vm.name}-${root ? "root" : "data"}`,
    size: root ? vm.root_size : (record?.sizeGb ?? wanted?.sizeGb ?? 1),
    attached_to: record?.dataVolumeDetached === true && id === record.dataVolumeId ? null : vm.id,
    root,
  }));
}

/** One loop for each source of groups: seen or recorded, retired, the default, and those that only rules name. */
function twinGroups(builder: Builder): { readonly groups: Group[]; readonly rules: Entities["rule"][] } {
  const { live, state, desired, createdAt } = builder;
  const groups = new Map<string, Group>();
  const put = (id: string, name: string, description: string): Group => {
    const group: Group = {
      id,
      seq: builder.seq++,
      project_id: twinProject,
      name: name.toLowerCase(),
      description,
      created_by: "rehearsal@twin.invalid",
      platform: name === "default",
      created_at: createdAt,
    };
    groups.set(id, group);
    return group;
  };
  const records = new Map(allOfKind(state.resources.values(), "group").map((record) => [record.id, record]));
  const wanted = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const withRules: [Group, LiveGroup | RecordedGroup][] = [];
  for (const { id, seen, record } of notGone(live.of.group.byId, records)) {
    const declared = record === undefined ? undefined : wanted.get(record.address);
    const name = seen?.name ?? record?.name ?? declared?.name ?? `group-${id}`;
    const group = put(id, name, seen?.description ?? record?.description ?? "");
    const source = seen?.rules === undefined ? record : seen;
    if (source !== undefined) withRules.push([group, source]);
  }
  for (const { id, name } of [...records.values()].flatMap(({ retired }) => retired ?? []))
    if (!groups.has(id)) put(id, name, "");
  if (![...groups.values()].some((group) => group.platform)) put(builder.newId(), "default", "Default security group");
  const { rules, strangers } = twinRules(withRules, builder);
  // A group outside of this file, known only because a rule names it.
  if (!live.of.group.listed)
    for (const id of sortedOnce([...strangers, ...namedById(desired)])) if (!groups.has(id)) put(id, `group-${id}`, "");
  return { groups: [...groups.values()], rules };
}

/** The groups that rules of the file name by their id. */
const namedById = ({ resources }: Desired): string[] =>
  allOfKind(resources, "group")
    .flatMap((resource) => resource.rules)
    .flatMap((rule) => groupIdNamed(rule) ?? []);

/** An earlier run could not delete its retired groups because VMs still use them, so the twin has such VMs. */
function vmsElsewhere(builder: Builder): Vm[] {
  const retired = allOfKind(builder.state.resources.values(), "group").flatMap((record) =>
    (record.retired ?? []).map(({ id }) => id),
  );
  if (retired.length === 0) return [];
  builder.assumptions.push("the security groups that earlier replacements left are still attached to VMs");
  const stranger = twinVm(builder, { kind: "vm", id: builder.newId(), name: "uses-retired-groups", phase: "running" });
  return [{ ...stranger, project_id: idOfElsewhere, groups: retired }];
}
