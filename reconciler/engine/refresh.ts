/**
 * Looks at the service once: the fewest requests that show everything the records and the file speak of. One list of
 * VMs, one read a volume and a group where there is no list, the catalogue only when something has to be looked up in it.
 */
import { isUuid } from "../core/canonical/catalogue";
import type { Desired, DesiredVm } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import type { Catalogue, CatalogueEntry, Live, LiveGroup, LiveVm, LiveVolume, Sighting } from "../core/model/live";
import type { Operation } from "../core/model/operation";
import { type Failure, isGone, type Outcome } from "../core/model/outcome";
import type { RecordedVm, State } from "../core/model/recorded";
import type { ServiceClient } from "../service/client";

export interface Refreshed {
  readonly live: Live;
  readonly findings: readonly Diagnostic[];
}

export async function refresh(
  client: ServiceClient,
  desired: Desired,
  state: State,
  signal?: AbortSignal,
  isYoung: (createdAt: string) => boolean = () => false,
): Promise<Refreshed> {
  const findings: Diagnostic[] = [];
  const young = new Set<string>();
  for (const record of state.resources.values())
    if (record.kind === "vm" && record.id !== undefined && record.createdAt !== undefined && isYoung(record.createdAt))
      young.add(record.id);
  const options = { young, ...(signal === undefined ? {} : { signal }) };
  const ids = knownIds(desired, state);
  const [vms, volumes, groups] = await Promise.all([
    observeVms(client, ids.vm, desired, state, findings, options),
    observeVolumes(client, ids.volume, state, findings, options),
    observeGroups(client, ids.group, findings, options),
  ]);
  const catalogue = await readCatalogue(client, desired, state, vms.vms, vms.vmById, findings, options);
  return { live: { ...vms, ...volumes, ...groups, catalogue }, findings };
}

/** Only the lists in which two spellings of one thing are looked up; a list that cannot be read counts as not there. */
export const observeCatalogue = (
  client: ServiceClient,
  desired: Desired,
  state: State,
  signal?: AbortSignal,
): Promise<Catalogue> =>
  readCatalogue(client, desired, state, undefined, new Map(), [], signal === undefined ? {} : { signal });

/** Nothing is asked: everything is as recorded. */
export const unobserved: Live = {
  vmById: new Map(),
  volumes: new Map(),
  volumesListed: false,
  groups: new Map(),
  groupsListed: false,
  catalogue: {},
};

type Options = { readonly signal?: AbortSignal };

function knownIds(desired: Desired, state: State): Record<"vm" | "volume" | "group", Set<string>> {
  const ids = { vm: new Set<string>(), volume: new Set<string>(), group: new Set<string>() };
  for (const record of state.resources.values()) if (record.id !== undefined) ids[record.kind].add(record.id);
  for (const request of desired.imports) {
    const kind = request.to.slice(0, request.to.indexOf(".")) as keyof typeof ids;
    if (request.id !== undefined && !state.resources.has(request.to)) ids[kind]?.add(request.id);
  }
  return ids;
}

async function observeVms(
  client: ServiceClient,
  ids: ReadonlySet<string>,
  desired: Desired,
  state: State,
  findings: Diagnostic[],
  options: Options & { readonly young: ReadonlySet<string> },
) {
  const vmById = new Map<string, Sighting<LiveVm>>();
  const concerned =
    ids.size > 0 || desired.resources.some((resource) => resource.kind === "vm") || state.intents.size > 0;
  if (client.has("vm.list")) {
    if (!concerned) return { vms: [], vmById };
    const listed = await client.listVms(options);
    if (listed.status === "accepted") {
      for (const vm of listed.value) vmById.set(vm.id, { seen: "yes", value: vm });
      const unlisted = new Set([...ids].filter((id) => !vmById.has(id)));
      if (unlisted.size === 0) return { vms: listed.value, vmById };
      const found = await lookAgain(client, unlisted, vmById, findings, options);
      return { vms: [...listed.value, ...found], vmById };
    }
    findings.push(readFailed("the list of VMs", listed));
    return { vmById };
  }
  if (client.has("vm.get")) {
    await observeEach(ids, (id) => client.getVm(id, options), vmById, "VM", findings);
    return { vmById };
  }
  if (ids.size > 0)
    findings.push({
      severity: "note",
      code: "plan/vms-unobserved",
      summary: `${ids.size} ${ids.size === 1 ? "VM is" : "VMs are"} known from the state alone: this service has no way to look at VMs`,
      detail: "What was changed behind this tool's back is not seen.",
    });
  return { vmById };
}

/**
 * A list may be behind, or lose an entry from one page to the next while it is read. What the state knows and the list
 * does not show is asked for by itself, or looked for once more where there is no such read.
 */
async function lookAgain(
  client: ServiceClient,
  unlisted: ReadonlySet<string>,
  vmById: Map<string, Sighting<LiveVm>>,
  findings: Diagnostic[],
  options: Options & { readonly young: ReadonlySet<string> },
): Promise<LiveVm[]> {
  if (client.has("vm.get")) await observeEach(unlisted, (id) => client.getVm(id, options), vmById, "VM", findings);
  else {
    const listed = await client.listVms(options);
    if (listed.status !== "accepted") findings.push(readFailed("the list of VMs", listed));
    else for (const vm of listed.value) if (unlisted.has(vm.id)) vmById.set(vm.id, { seen: "yes", value: vm });
    // Two lists in a row may lack what they have shown already: until its window is over, that says nothing.
    for (const id of unlisted)
      if (options.young.has(id) && !vmById.has(id))
        vmById.set(id, { seen: "unobserved", reason: "it is so young that the list of VMs may not show it" });
  }
  return [...unlisted].flatMap((id) => {
    const sighting = vmById.get(id);
    return sighting?.seen === "yes" ? [sighting.value] : [];
  });
}

async function observeVolumes(
  client: ServiceClient,
  ids: ReadonlySet<string>,
  state: State,
  findings: Diagnostic[],
  options: Options,
) {
  const volumes = new Map<string, Sighting<LiveVolume>>();
  if (client.has("volume.list")) {
    const listed = await client.listVolumes(options);
    if (listed.status === "accepted") {
      for (const volume of listed.value) volumes.set(volume.id, { seen: "yes", value: volume });
      // A list may be behind: what it does not show counts as gone only when its own address says so too.
      const orphans = [...state.orphans.values()].filter(({ kind }) => kind === "volume").map(({ id }) => id);
      const unlisted = new Set([...ids, ...orphans].filter((id) => !volumes.has(id)));
      await observeEach(unlisted, (id) => client.getVolume(id, options), volumes, "volume", findings);
      return { volumes, volumesListed: true };
    }
    findings.push(readFailed("the list of volumes", listed));
    return { volumes, volumesListed: false };
  }
  await observeEach(ids, (id) => client.getVolume(id, options), volumes, "volume", findings);
  return { volumes, volumesListed: false };
}

/** Volumes that nothing manages, one by one: no plan asks for them where there is no list to find them in. */
export async function observeOrphans(client: ServiceClient, ids: readonly string[]) {
  const volumes = new Map<string, Sighting<LiveVolume>>();
  const findings: Diagnostic[] = [];
  await observeEach(new Set(ids), (id) => client.getVolume(id), volumes, "volume", findings);
  return { volumes, findings };
}

async function observeGroups(
  client: ServiceClient,
  ids: ReadonlySet<string>,
  findings: Diagnostic[],
  options: Options,
) {
  const groups = new Map<string, Sighting<LiveGroup>>();
  let listed: ReadonlyMap<string, LiveGroup> | undefined;
  if (client.has("group.list")) {
    const answer = await client.listGroups(options);
    if (answer.status === "accepted") listed = new Map(answer.value.map((group) => [group.id, group]));
    else findings.push(readFailed("the list of security groups", answer));
  } else if (ids.size > 0 && !client.has("group.get"))
    findings.push({
      severity: "note",
      code: "plan/group-names-unobserved",
      summary: "this service shows the rules of security groups, and not their names and descriptions",
    });
  for (const group of listed?.values() ?? []) groups.set(group.id, { seen: "yes", value: group });
  await observeEach(
    ids,
    async (id): Promise<Outcome<LiveGroup>> => {
      const [head, rules] = await Promise.all([
        listed === undefined && client.has("group.get") ? client.getGroup(id, options) : undefined,
        client.listRules(id, options),
      ]);
      if (head !== undefined && head.status !== "accepted") return head;
      if (rules.status !== "accepted") return rules;
      return {
        status: "accepted",
        value: { kind: "group", id, ...(head?.value ?? listed?.get(id)), rules: rules.value },
      };
    },
    groups,
    "security group",
    findings,
  );
  return { groups, groupsListed: listed !== undefined };
}

async function observeEach<T>(
  ids: ReadonlySet<string>,
  read: (id: string) => Promise<Outcome<T>>,
  into: Map<string, Sighting<T>>,
  what: string,
  findings: Diagnostic[],
): Promise<void> {
  // One wrong answer must make nothing anew: "not found" is believed when it is said twice.
  const readTwice = async (id: string): Promise<Outcome<T>> => {
    const outcome = await read(id);
    return isGone(outcome) ? read(id) : outcome;
  };
  const sightings = await Promise.all([...ids].map(async (id) => [id, await readTwice(id)] as const));
  for (const [id, outcome] of sightings) {
    if (outcome.status === "accepted") into.set(id, { seen: "yes", value: outcome.value });
    else if (isGone(outcome) && into.has(id))
      findings.push(readFailed(`${what} ${id}, which its list shows,`, outcome as Failure));
    else if (isGone(outcome)) into.set(id, { seen: "gone" });
    else if (outcome.status === "rejected" && outcome.condition === "forbidden") {
      into.set(id, { seen: "unobserved", reason: outcome.message });
      findings.push({
        severity: "warning",
        code: "plan/forbidden",
        summary: `${what} ${id} may not be looked at with this credential; the record stands in`,
        detail: outcome.message,
      });
    } else findings.push(readFailed(`${what} ${id}`, outcome));
  }
}

/** A read that failed leaves nothing to plan on: better no plan than one made from half a world. */
export function readFailed(what: string, failure: Failure): Diagnostic {
  const said = failure.status === "rejected" ? failure.message : failure.reason;
  const code = failure.status === "rejected" ? failure.condition : failure.status;
  return {
    severity: "error",
    code: `service/${code}`,
    summary: `${what} could not be read${failure.httpStatus === undefined ? "" : ` (HTTP ${failure.httpStatus})`}: ${said}`,
    ...(failure.status === "rejected" && failure.hint !== undefined ? { detail: failure.hint } : {}),
    fix:
      failure.status === "rejected"
        ? fixes[failure.condition]
        : ((failure.status === "unavailable" ? failure.fix : undefined) ??
          "check the base URL and the network with: reconcile doctor"),
  };
}

const fixes: Partial<Record<string, string>> = {
  unauthenticated: "set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION to a valid credential",
  forbidden: "use a credential that may read this project",
  invalid_id: "check the id; the service does not take it for one, which does not say that anything is gone",
  not_proven:
    "check the base URL and what stands before the service; or say in the dialect's errors what this answer means",
  unsupported: "say in the dialect that this service does not have it; reconcile doctor prints one that fits",
  unreadable: "describe this answer in the dialect; reconcile doctor prints one that fits",
};

async function readCatalogue(
  client: ServiceClient,
  desired: Desired,
  state: State,
  vms: readonly LiveVm[] | undefined,
  vmById: ReadonlyMap<string, Sighting<LiveVm>>,
  findings: Diagnostic[],
  options: Options,
): Promise<Catalogue> {
  const wants = catalogueNeeds(desired, state, vms, vmById);
  const read = async (
    wanted: boolean,
    operation: Operation,
    what: string,
    list: () => Promise<Outcome<readonly CatalogueEntry[]>>,
  ) => {
    if (!wanted || !client.has(operation)) return undefined;
    const outcome = await list();
    if (outcome.status === "accepted") return outcome.value;
    findings.push({
      ...readFailed(`the list of ${what}`, outcome),
      severity: "warning",
      fix: "names are compared as they were applied last",
    });
    return undefined;
  };
  const [flavors, images, regions] = await Promise.all([
    read(wants.flavors, "flavor.list", "flavors", () => client.listFlavors(options)),
    read(wants.images, "image.list", "images", () => client.listImages(options)),
    read(wants.regions, "region.list", "regions", () => client.listRegions(options)),
  ]);
  return { flavors, images, regions };
}

/** A list is needed for a VM to be created, and where two spellings might be one thing. */
function catalogueNeeds(
  desired: Desired,
  state: State,
  vms: readonly LiveVm[] | undefined,
  vmById: ReadonlyMap<string, Sighting<LiveVm>>,
) {
  const needs = { flavors: false, images: false, regions: false };
  for (const resource of desired.resources) {
    if (resource.kind !== "vm") continue;
    const vm: DesiredVm = resource;
    const recorded = state.resources.get(vm.address) as RecordedVm | undefined;
    const sighting = recorded?.id === undefined ? undefined : vmById.get(recorded.id);
    const live = sighting?.seen === "yes" ? sighting.value : undefined;
    const creates = recorded === undefined || (live === undefined && vms !== undefined) || live?.phase === "failed";
    if (creates) return { flavors: true, images: true, regions: true };
    if (vm.flavor !== (live?.flavor ?? recorded?.flavor)) needs.flavors = true;
    if (!isUuid(vm.image) || (live?.image !== undefined && !isUuid(live.image))) needs.images = true;
    if (recorded?.region !== undefined && recorded.region !== vm.region)
      return { flavors: true, images: true, regions: true };
  }
  return needs;
}
