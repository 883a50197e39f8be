/**
 * Looks at the service once: the fewest requests that show everything the records and the file speak of. One list of
 * VMs, one read a volume and a group where there is no list, the catalogue only when something has to be looked up in it.
 */
import { isUuid } from "../core/canonical/catalogue";
import { type Kind, kinds, parseAddress } from "../core/model/address";
import type { Desired, DesiredVm } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import {
  isDoubt,
  judgeScope,
  type Look,
  notFoundTwice,
  notInList,
  type Sighting,
  type Unobserved,
  weigh,
} from "../core/model/evidence";
import {
  type Catalogue,
  type CatalogueEntry,
  type Live,
  type LiveGroup,
  type LiveVm,
  type LiveVolume,
  sightGroup,
  sightVm,
} from "../core/model/live";
import type { Operation } from "../core/model/operation";
import { type Failure, isGone, type Outcome } from "../core/model/outcome";
import { type Orphan, orphanKey, type RecordedVm, type State } from "../core/model/recorded";
import type { ServiceClient } from "../service/client";
import { scopeOf } from "./scope";

export interface Refreshed {
  readonly live: Live;
  readonly findings: readonly Diagnostic[];
}

export interface RefreshOptions {
  readonly signal?: AbortSignal;
  /** Whether what was created then may not be in a list yet. */
  readonly isYoung?: (createdAt: string) => boolean;
  /** The user says that it is the right service, project and credential. */
  readonly acceptService?: boolean;
}

export async function refresh(
  client: ServiceClient,
  desired: Desired,
  state: State,
  options: RefreshOptions = {},
): Promise<Refreshed> {
  const findings: Diagnostic[] = [];
  const young = new Set<string>();
  for (const record of state.resources.values())
    if (record.kind === "vm" && record.id !== undefined && record.createdAt !== undefined)
      if (options.isYoung?.(record.createdAt) === true) young.add(record.id);
  const ids = knownIds(desired, state);
  const [vms, volumes, groups] = await Promise.all([
    observeVms(client, ids.vm, desired, state, findings, { ...signalOf(options), young }),
    observeVolumes(client, ids.volume, volumeOrphans(state), findings, signalOf(options)),
    observeGroups(client, ids.group, state, findings, signalOf(options)),
  ]);
  contradict(volumes, vms.looks);
  const forbidden = new Set([...vms.forbidden, ...volumes.forbidden, ...groups.forbidden]);
  const looks = { vm: vms.looks, volume: volumes.looks, group: groups.looks };
  const now = scopeOf(client, desired);
  const verdict = judgeScope({
    remembered: state.scope,
    now,
    accepted: options.acceptService === true,
    ...(await witnessesOf(client, state, looks, signalOf(options))),
    forbidden: [...forbidden],
  });
  findings.push(...importsUnseen(desired, state, looks, forbidden, isDoubt(verdict)));
  const weighAll = <T>(found: ReadonlyMap<string, Look<T>>): ReadonlyMap<string, Sighting<T>> =>
    new Map([...found].map(([id, look]) => [id, weigh(look, verdict)]));
  const live: Live = {
    vmById: weighAll(vms.looks),
    ...(vms.listed === undefined ? {} : { vms: vms.listed }),
    volumes: weighAll(volumes.looks),
    volumesListed: volumes.listed,
    groups: weighAll(groups.looks),
    groupsListed: groups.listed,
    unlisted: {
      vm: weigh(vms.unlisted, verdict),
      volume: weigh(volumes.unlisted, verdict),
      group: weigh(groups.unlisted, verdict),
    },
    catalogue: {},
    ...(isDoubt(verdict) ? { doubt: verdict } : {}),
  };
  findings.push(...addressNotes(ids.vm, live.vmById));
  const catalogue = await readCatalogue(client, desired, state, live.vms, live.vmById, findings, signalOf(options));
  return { live: { ...live, catalogue }, findings };
}

/** A volume that a VM's record names is there, whatever a list or a read said of it: two answers that differ prove nothing. */
function contradict(volumes: Observed<LiveVolume>, vms: ReadonlyMap<string, Look<LiveVm>>): void {
  for (const vm of vms.values()) {
    if (vm.seen !== "yes") continue;
    for (const { id } of vm.value.volumes ?? []) {
      const look = volumes.looks.get(id) ?? volumes.unlisted;
      if (look.seen === "absent")
        volumes.looks.set(id, {
          seen: "unobserved",
          reason: `${look.because}, and yet the record of VM ${vm.value.name} names it`,
        });
    }
  }
}

/**
 * What is known already may be out of sight for a while; what is to be taken over has to be seen. An absence in a scope
 * that is proven is told with the changes.
 */
function importsUnseen(
  desired: Desired,
  state: State,
  looks: Looks,
  forbidden: ReadonlySet<string>,
  isDoubted: boolean,
): Diagnostic[] {
  return desired.imports.flatMap(({ to, id, source }): Diagnostic[] => {
    const kind = parseAddress(to)?.kind;
    if (id === undefined || kind === undefined || state.resources.has(to)) return [];
    const at = { address: to, ...(source === undefined ? {} : { source }) };
    const cannot = `${to} cannot be imported:`;
    if (forbidden.has(`${kind}:${id}`))
      return [
        {
          severity: "error",
          code: "plan/import-unseen",
          summary: `${cannot} ${wordOf[kind]} ${id} may not be looked at with this credential`,
          fix: forbiddenFix,
          ...at,
        },
      ];
    if (!isDoubted || looks[kind].get(id)?.seen !== "absent") return [];
    const summary = `${cannot} the service shows no ${wordOf[kind]} ${id}`;
    return [{ severity: "error", code: "plan/import-not-found", summary, fix: "correct the id", ...at }];
  });
}

const volumeOrphans = ({ orphans }: State): string[] =>
  [...orphans.values()].flatMap(({ kind, id }) => (kind === "volume" ? [id] : []));

const signalOf = ({ signal }: Options): Options => (signal === undefined ? {} : { signal });

type Looks = Readonly<{
  vm: ReadonlyMap<string, Look<LiveVm>>;
  volume: ReadonlyMap<string, Look<LiveVolume>>;
  group: ReadonlyMap<string, Look<LiveGroup>>;
}>;

/** What was seen again of what the state remembers, and what was not. */
async function witnessesOf(client: ServiceClient, state: State, looks: Looks, options: Options) {
  const seen = new Set<string>();
  for (const kind of kinds) for (const [id, look] of looks[kind]) if (look.seen === "yes") seen.add(`${kind}:${id}`);
  for (const look of looks.vm.values())
    if (look.seen === "yes") for (const { id } of look.value.volumes ?? []) seen.add(`volume:${id}`);
  const absent: string[] = [];
  const recorded: string[] = [];
  const dataVolumes: string[] = [];
  for (const record of state.resources.values()) {
    if (record.id === undefined) continue;
    if (looks[record.kind].get(record.id)?.seen === "absent") absent.push(`${record.kind}:${record.id}`);
    // That it does not show what a run has sent the delete of says nothing against the service or the credential.
    if (record.deleting !== true) recorded.push(`${record.kind}:${record.id}`);
    if (record.kind !== "vm" || record.dataVolumeId === undefined) continue;
    if (record.deleting !== true || seen.has(`volume:${record.dataVolumeId}`)) dataVolumes.push(record.dataVolumeId);
  }
  // An open create that does not show counts as never sent, and is sent again.
  for (const { address } of state.intents.values()) absent.push(`the create of ${address}`);
  recorded.push(...dataVolumes.map((id) => `volume:${id}`));
  const present = [...state.orphans.values()].filter(
    ({ missingSince, deleting }) => missingSince === undefined && deleting !== true,
  );
  recorded.push(...present.map(orphanKey));
  const left = present.flatMap(({ kind, id }) => (kind === "volume" ? [id] : []));
  // Volumes outlive their VMs: where nothing else is seen, one of them tells that the credential is still the same.
  if (absent.length > 0 && !recorded.some((one) => seen.has(one)))
    for (const id of [...dataVolumes, ...left].slice(0, mostWitnesses))
      if ((await client.getVolume(id, options)).status === "accepted") {
        seen.add(`volume:${id}`);
        break;
      }
  return { recorded, absent, seen };
}

const mostWitnesses = 3;

/** Only the lists in which two spellings of one thing are looked up; a list that cannot be read counts as not there. */
export const observeCatalogue = (
  client: ServiceClient,
  desired: Desired,
  state: State,
  signal?: AbortSignal,
): Promise<Catalogue> =>
  readCatalogue(client, desired, state, undefined, new Map(), [], signal === undefined ? {} : { signal });

const notLookedAt = { seen: "unobserved", reason: "it was not looked at" } as const;
const cannotLook = (what: string): Unobserved => ({
  seen: "unobserved",
  reason: `this service has no way to look at ${what}`,
});

/** Nothing is asked: everything is as recorded. */
export const unobserved: Live = {
  vmById: new Map(),
  volumes: new Map(),
  volumesListed: false,
  groups: new Map(),
  groupsListed: false,
  unlisted: { vm: notLookedAt, volume: notLookedAt, group: notLookedAt },
  catalogue: {},
};

type Options = { readonly signal?: AbortSignal };

/** What one kind's look at the service found; `unlisted`: what it says of every other id. */
interface Observed<T> {
  readonly looks: Map<string, Look<T>>;
  readonly unlisted: Look<never>;
  /** What the credential may not look at, as `vm:ID`. */
  readonly forbidden: readonly string[];
}

/** The data volumes that go with their VM, which a plan names by their size as it is now. */
function volumesThatMayGo(desired: Desired, state: State): string[] {
  const wished = new Map(
    desired.resources.flatMap((one) => (one.kind === "vm" ? [[one.address, one.lifecycle.preservedVolumes]] : [])),
  );
  return [...state.resources.values()].flatMap((record) =>
    record.kind === "vm" &&
    record.dataVolumeId !== undefined &&
    (wished.get(record.address) ?? record.onDelete.preservedVolumes) === "delete"
      ? [record.dataVolumeId]
      : [],
  );
}

function knownIds(desired: Desired, state: State): Record<Kind, Set<string>> {
  const ids = { vm: new Set<string>(), volume: new Set<string>(), group: new Set<string>() };
  for (const record of state.resources.values()) if (record.id !== undefined) ids[record.kind].add(record.id);
  for (const id of volumesThatMayGo(desired, state)) ids.volume.add(id);
  for (const { to, id } of desired.imports) {
    const kind = parseAddress(to)?.kind;
    if (id !== undefined && kind !== undefined && !state.resources.has(to)) ids[kind].add(id);
  }
  // What is missing may show again, and an orphan may be deleted by somebody.
  for (const { kind, id, missingSince } of state.orphans.values())
    if (kind !== "image" && missingSince !== undefined) ids[kind].add(id);
  return ids;
}

async function observeVms(
  client: ServiceClient,
  ids: ReadonlySet<string>,
  desired: Desired,
  state: State,
  findings: Diagnostic[],
  options: Options & { readonly young: ReadonlySet<string> },
): Promise<Observed<LiveVm> & { readonly listed?: readonly LiveVm[] }> {
  const looks = new Map<string, Look<LiveVm>>();
  const concerned =
    ids.size > 0 || desired.resources.some((resource) => resource.kind === "vm") || state.intents.size > 0;
  if (client.has("vm.list")) {
    if (!concerned) return { listed: [], looks, unlisted: notLookedAt, forbidden: [] };
    const listed = await client.listVms(options);
    if (listed.status !== "accepted") {
      findings.push(readFailed("the list of VMs", listed));
      return { looks, unlisted: unobservedBy(listed), forbidden: [] };
    }
    for (const vm of listed.value) looks.set(vm.id, { seen: "yes", value: vm });
    const unlisted = new Set([...ids].filter((id) => !looks.has(id)));
    const forbidden = await lookAgain(client, unlisted, looks, findings, options);
    const found = [...unlisted].flatMap((id) => {
      const look = looks.get(id);
      return look?.seen === "yes" ? [look.value] : [];
    });
    return { listed: [...listed.value, ...found], looks, unlisted: notInList("the list of VMs"), forbidden };
  }
  const unlisted = cannotLook("VMs");
  if (client.has("vm.get")) {
    const forbidden = await observeEach("vm", ids, (id) => client.getVm(id, options), looks, findings);
    return { looks, unlisted, forbidden };
  }
  if (ids.size > 0)
    findings.push({
      severity: "note",
      code: "plan/vms-unobserved",
      summary: `${ids.size} ${ids.size === 1 ? "VM is" : "VMs are"} known from the state alone: this service has no way to look at VMs`,
      detail: "What was changed behind this tool's back is not seen.",
    });
  return { looks, unlisted, forbidden: [] };
}

/**
 * A list may be behind, or lose an entry from one page to the next while it is read. What the state knows and the list
 * does not show is asked for by itself, or looked for once more where there is no such read.
 */
async function lookAgain(
  client: ServiceClient,
  unlisted: ReadonlySet<string>,
  looks: Map<string, Look<LiveVm>>,
  findings: Diagnostic[],
  options: Options & { readonly young: ReadonlySet<string> },
): Promise<readonly string[]> {
  if (unlisted.size === 0) return [];
  if (client.has("vm.get")) return observeEach("vm", unlisted, (id) => client.getVm(id, options), looks, findings);
  const listed = await client.listVms(options);
  if (listed.status !== "accepted") findings.push(readFailed("the list of VMs", listed));
  else for (const vm of listed.value) if (unlisted.has(vm.id)) looks.set(vm.id, { seen: "yes", value: vm });
  for (const id of unlisted) {
    if (looks.has(id)) continue;
    // Two lists in a row may lack what they have shown already: until its window is over, that says nothing.
    if (options.young.has(id)) {
      looks.set(id, { seen: "unobserved", reason: "it is so young that the list of VMs may not show it" });
      findings.push({
        severity: "warning",
        code: "plan/not-listed-yet",
        summary: `VM ${id} was created a moment ago, and the list of VMs does not show it`,
        detail: "A list may be behind for a while (service.timing.discovery_window), so this plan counts it as there.",
        fix: "plan again when that time is over; apply waits for it and looks again by itself",
      });
    } else looks.set(id, listed.status === "accepted" ? notInList("the list of VMs") : unobservedBy(listed));
  }
  return [];
}

function addressNotes(ids: ReadonlySet<string>, vmById: ReadonlyMap<string, Sighting<LiveVm>>): Diagnostic[] {
  return [...ids].flatMap((id) => {
    const sighting = vmById.get(id);
    if (sighting?.seen !== "yes") return [];
    const { name, notAddresses = [] } = sighting.value;
    return notAddresses.map(({ field, found }) => ({
      severity: "note" as const,
      code: "plan/address-unread",
      summary: `the ${field} of VM ${name} is no IP address and counts as not shown: ${found.length > 60 ? `${found.slice(0, 60)}…` : found}`,
      fix: `describe where the record has it in the dialect (records.vm.${field})`,
    }));
  });
}

async function observeVolumes(
  client: ServiceClient,
  ids: ReadonlySet<string>,
  orphans: readonly string[],
  findings: Diagnostic[],
  options: Options,
): Promise<Observed<LiveVolume> & { readonly listed: boolean }> {
  const looks = new Map<string, Look<LiveVolume>>();
  const read = (wanted: ReadonlySet<string>): Promise<readonly string[]> =>
    observeEach("volume", wanted, (id) => client.getVolume(id, options), looks, findings);
  if (!client.has("volume.list"))
    return { looks, unlisted: cannotLook("a volume by its list"), forbidden: await read(ids), listed: false };
  const listed = await client.listVolumes(options);
  if (listed.status !== "accepted") {
    findings.push(readFailed("the list of volumes", listed));
    return { looks, unlisted: unobservedBy(listed), forbidden: [], listed: false };
  }
  for (const volume of listed.value) looks.set(volume.id, { seen: "yes", value: volume });
  // A list may be behind: what it does not show counts as gone only when its own address says so too.
  const forbidden = await read(new Set([...ids, ...orphans].filter((id) => !looks.has(id))));
  return { looks, unlisted: notInList("the list of volumes"), forbidden, listed: true };
}

/** Volumes that nothing manages, one by one: no plan asks for them where there is no list to find them in. */
export async function observeOrphans(
  client: ServiceClient,
  desired: Desired,
  state: State,
  orphans: readonly Orphan[],
) {
  const ids = orphans.flatMap(({ kind, id }) => (kind === "volume" ? [id] : []));
  const looks = new Map<string, Look<LiveVolume>>();
  const findings: Diagnostic[] = [];
  const [{ live }] = await Promise.all([
    // What is missing is looked for by its id, and so are these.
    refresh(client, desired, {
      ...state,
      orphans: new Map(orphans.map((orphan) => [orphanKey(orphan), { missingSince: "", ...orphan }])),
    }),
    observeEach("volume", new Set(ids), (id) => client.getVolume(id), looks, findings),
  ]);
  const all = {
    vm: new Map<string, Look<LiveVm>>([...live.vmById].filter(isSeen)),
    volume: new Map([...live.volumes].filter(isSeen).concat([...looks].filter(isSeen))),
    group: new Map<string, Look<LiveGroup>>([...live.groups].filter(isSeen)),
  };
  const verdict = judgeScope({
    remembered: state.scope,
    now: scopeOf(client, desired),
    accepted: false,
    ...(await witnessesOf(client, state, all, {})),
    absent: [...looks].flatMap(([id, { seen }]) => (seen === "absent" ? [`volume:${id}`] : [])),
    forbidden: [],
  });
  const sight = ({ kind, id }: Orphan): Sighting<LiveVm | LiveVolume | LiveGroup> => {
    const look = looks.get(id);
    if (kind === "volume" && look !== undefined) return weigh(look, verdict);
    return kind === "vm" ? sightVm(live, id) : kind === "group" ? sightGroup(live, id) : cannotLook(`one ${kind}`);
  };
  return { sight, findings };
}

const isSeen = <T>(entry: [string, Look<T> | Sighting<T>]): entry is [string, { seen: "yes"; value: T }] =>
  entry[1].seen === "yes";

async function observeGroups(
  client: ServiceClient,
  known: ReadonlySet<string>,
  state: State,
  findings: Diagnostic[],
  options: Options,
): Promise<Observed<LiveGroup> & { readonly listed: boolean }> {
  const looks = new Map<string, Look<LiveGroup>>();
  const ids = new Set(known);
  let listed: ReadonlyMap<string, LiveGroup> | undefined;
  let unlisted: Look<never> = cannotLook("a security group by its list");
  if (client.has("group.list")) {
    const answer = await client.listGroups(options);
    if (answer.status === "accepted") {
      listed = new Map(answer.value.map((group) => [group.id, group]));
      unlisted = notInList("the list of security groups");
    } else {
      findings.push(readFailed("the list of security groups", answer));
      unlisted = unobservedBy(answer);
    }
  } else if (ids.size > 0 && !client.has("group.get"))
    findings.push({
      severity: "note",
      code: "plan/group-names-unobserved",
      summary: "this service shows the rules of security groups, and not their names and descriptions",
    });
  for (const group of listed?.values() ?? []) {
    looks.set(group.id, { seen: "yes", value: group });
    // What an open create may have made is known by its rules.
    if (isNamedInIntent(group, state)) ids.add(group.id);
  }
  const forbidden = await observeEach(
    "group",
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
    looks,
    findings,
  );
  return { looks, unlisted, forbidden, listed: listed !== undefined };
}

const isNamedInIntent = ({ name }: LiveGroup, { intents }: State): boolean =>
  intents.size > 0 &&
  [...intents.values()].some(
    (intent) => intent.operation === "group.create" && intent.name.toLowerCase() === name?.toLowerCase(),
  );

/** Returns what may not be looked at. */
async function observeEach<T>(
  kind: Kind,
  ids: ReadonlySet<string>,
  read: (id: string) => Promise<Outcome<T>>,
  into: Map<string, Look<T>>,
  findings: Diagnostic[],
): Promise<readonly string[]> {
  const what = wordOf[kind];
  // One wrong answer must make nothing anew: "not found" is believed when it is said twice.
  const readTwice = async (id: string): Promise<Outcome<T>> => {
    const outcome = await read(id);
    return isGone(outcome) ? read(id) : outcome;
  };
  const forbidden: string[] = [];
  const answers = await Promise.all([...ids].map(async (id) => [id, await readTwice(id)] as const));
  for (const [id, outcome] of answers) {
    if (outcome.status === "accepted") into.set(id, { seen: "yes", value: outcome.value });
    else if (isGone(outcome) && into.has(id))
      findings.push(readFailed(`${what} ${id}, which its list shows,`, outcome));
    else if (isGone(outcome)) into.set(id, notFoundTwice);
    else if (outcome.status === "rejected" && outcome.condition === "forbidden") {
      forbidden.push(`${kind}:${id}`);
      into.set(id, unobservedBy(outcome));
      findings.push({
        severity: "warning",
        code: "plan/forbidden",
        summary: `${what} ${id} may not be looked at with this credential; the record stands in`,
        detail: outcome.message,
      });
    } else {
      if (!into.has(id)) into.set(id, unobservedBy(outcome));
      findings.push(readFailed(`${what} ${id}`, outcome));
    }
  }
  return forbidden;
}

const wordOf: Record<Kind, string> = { vm: "VM", volume: "volume", group: "security group" };

const unobservedBy = (failure: Failure): Unobserved => ({
  seen: "unobserved",
  reason: failure.status === "rejected" ? failure.message : failure.reason,
  ...(failure.status === "rejected" && failure.hint !== undefined ? { fix: failure.hint } : {}),
});

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

const forbiddenFix = "use a credential that may read this project";

const fixes: Partial<Record<string, string>> = {
  unauthenticated: "set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION to a valid credential",
  forbidden: forbiddenFix,
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
  // What an open create made is known by its flavor and image, whether or not it is still wanted.
  const isOpen = [...state.intents.values()].some(({ operation }) => operation === "vm.create");
  const needs = { flavors: isOpen, images: isOpen, regions: false };
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
