/**
 * Looks at the service once: the fewest requests that show everything the records and the file speak of. One list of
 * VMs, one read a volume and a group where there is no list, the catalogue only when something has to be looked up in it.
 */
import { type Kind, kinds, parseAddress } from "../core/model/address";
import type { Desired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { isDoubt, judgeScope, type Look, notLookedAt, type Sighting, weigh } from "../core/model/evidence";
import { type Live, type LiveGroup, type LiveVm, type LiveVolume, sightGroup, sightVm } from "../core/model/live";
import { type Orphan, orphanKey, type State } from "../core/model/recorded";
import type { ServiceClient } from "../service/client";
import {
  cannotLook,
  type Observed,
  type Options,
  observeEach,
  observeGroups,
  observeVms,
  observeVolumes,
  wordOf,
} from "./observe";
import { readCatalogue } from "./observe-catalogue";
import { forbiddenFix } from "./read-failed";
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

function addressNotes(ids: ReadonlySet<string>, vmById: ReadonlyMap<string, Sighting<LiveVm>>): Diagnostic[] {
  return [...ids].flatMap((id) => {
    const sighting = vmById.get(id);
    if (sighting?.seen !== "yes") return [];
    const { name, notAddresses = [] } = sighting.value;
    return notAddresses.map(({ field, found }) => ({
      severity: "warning" as const,
      code: "plan/address-unread",
      summary: `the ${field} of VM ${name} is no IP address and counts as not shown: ${found.length > 60 ? `${found.slice(0, 60)}…` : found}`,
      fix: `describe where the record has it in the dialect (records.vm.${field})`,
    }));
  });
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
