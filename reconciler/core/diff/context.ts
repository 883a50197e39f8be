/**
 * The context of every diff: one index of the live world, the catalogue and the records, built once for each plan so
 * that no diff scans.
 */

import { type Index, indexCatalogue } from "../canonical/catalogue";
import type { Abilities } from "../model/abilities";
import { type Address, kindOf } from "../model/address";
import { declarationMark } from "../model/declaration-mark";
import { type Desired, type DesiredResource, powerDeclared, type Reference } from "../model/desired";
import { idsKeptBy } from "../model/facts";
import { type AddressOf, addressesByIdentity, type Identity, identity, identityKey, lookUpIn } from "../model/identity";
import { allOfKind, type Kind } from "../model/kinds";
import { findSeen, type Live, type LiveOf, namedIn, type Sighting, shownOf, sight } from "../model/live";
import type { Orphan, RecordedRun, State } from "../model/recorded";
import { appendTo } from "../text/objects";
import type { LeftOpen } from "./explain";

export interface PlanOptions {
  /** Delete everything the state knows, whatever the file says. */
  readonly destroy?: boolean;
  /** Plan only these addresses and what they depend on. */
  readonly targets?: readonly Address[];
  /** Plan everything but these addresses and what depends on them. */
  readonly excludes?: readonly Address[];
  readonly replace?: readonly Address[];
  /** The commands of these are owed again. */
  readonly owe?: readonly Address[];
  /** Take over VMs found by name. */
  readonly adopt?: boolean;
  /**
   * The user says that service, project and credential are the right ones, although the state remembers others or the
   * service shows nothing of it.
   */
  readonly acceptService?: boolean;
  /**
   * Look only at what changed, at what an open create names, and at what was not seen for so long; the rest is taken as
   * it was seen last. Absent: look at everything.
   */
  readonly maxAgeMs?: number;
}

export interface DiffContext {
  readonly live: Live;
  readonly can: Abilities;
  readonly options: PlanOptions;
  readonly flavors: Index | undefined;
  readonly images: Index | undefined;
  readonly regions: Index | undefined;
  /** The size, where the volume was seen and its record shows one. */
  readonly volumeSize: (id: string) => number | undefined;
  /** Live resources of each kind by their names in lower case: those of a list, and VMs that were read one by one. */
  readonly byName: { readonly [K in Kind]: ReadonlyMap<string, readonly LiveOf[K][]> };
  readonly addressOf: AddressOf;
  /** The declared VM whose own data volume this is: it has no address of its own, and gets none. */
  readonly keeperOf: AddressOf;
  /** What the state left behind and knows as its own. */
  readonly orphanOf: (identity: Identity) => Orphan | undefined;
  readonly replace: ReadonlySet<Address>;
  /** The VMs of which the file says whether they run. */
  readonly powerSaid: ReadonlySet<Address>;
  /** Whether the last run had to make this resource as it is declared now, and did not finish that. */
  readonly leftOpen: (desired: DesiredResource) => LeftOpen | undefined;
  /**
   * By VM id: the volumes that hang on the VM, by the volumes' own records or, where those do not show it, by the
   * state.
   */
  readonly volumesOn: ReadonlyMap<string, readonly Hanging[]>;
  /** Whether `volumesOn` would show every volume of the project. */
  readonly hostsShown: boolean;
  /** Where a volume hangs is said by another resource of a program: neither the file nor the state names its VM. */
  readonly attachedApart: boolean;
}

/** A disk on a VM. */
export interface Hanging {
  readonly id: string;
  readonly name?: string;
  readonly sizeGb?: number;
  /** Whether this is the root disk. Absent: no record tells. */
  readonly root?: boolean;
}

export function diffContext(input: {
  readonly desired: Desired;
  readonly state: State;
  readonly live: Live;
  readonly can: Abilities;
  readonly options: PlanOptions;
  readonly attachedApart?: true;
}): DiffContext {
  const { live, state } = input;
  const imported = input.desired.imports.flatMap(({ to, id }) =>
    id !== undefined && state.resources.get(to)?.id === undefined ? [{ kind: kindOf(to), id, address: to }] : [],
  );
  const addresses = addressesByIdentity([...imported, ...state.resources.values()]);
  return {
    live,
    can: input.can,
    options: input.options,
    flavors: indexCatalogue(live.catalogue.flavors),
    images: indexCatalogue(live.catalogue.images),
    regions: indexCatalogue(live.catalogue.regions),
    volumeSize: (id) => findSeen(live, "volume", id)?.sizeGb,
    byName: namedIn(live),
    addressOf: lookUpIn(addresses),
    keeperOf: keepersIn(input.desired, state),
    orphanOf: (one) => state.orphans.get(identityKey(one)),
    replace: new Set(input.options.replace ?? []),
    powerSaid: new Set(
      allOfKind(input.desired.resources, "vm").flatMap((vm) => (powerDeclared(vm) === undefined ? [] : [vm.address])),
    ),
    leftOpen: (desired) => leftOpenBy(desired, state.runs?.at(-1)),
    ...indexHosts(live, state),
    attachedApart: input.attachedApart === true,
  };
}

export function keepersIn({ resources }: Desired, state: State): AddressOf {
  const keepers = new Map<string, Address>();
  for (const { address } of resources) {
    const record = state.resources.get(address);
    for (const key of record === undefined ? [] : idsKeptBy(record)) keepers.set(key, address);
  }
  return lookUpIn(keepers);
}

function leftOpenBy(desired: DesiredResource, last: RecordedRun | undefined): LeftOpen | undefined {
  const declaredThen = last?.open[desired.address];
  if (declaredThen === undefined || declaredThen !== declarationMark(desired)) return undefined;
  return last?.outcome === undefined || last.outcome === "interrupted" ? "stopped" : "unfinished";
}

function indexHosts(live: Live, state: State): Pick<DiffContext, "volumesOn" | "hostsShown"> {
  const volumesOn = new Map<string, Hanging[]>();
  const add = (vm: string, { id, name, sizeGb }: Hanging): void => appendTo(volumesOn, vm, { id, name, sizeGb });
  let hostsShown = live.of.volume.listed;
  for (const volume of shownOf(live, "volume")) {
    if (volume.attachedTo === undefined) hostsShown = false;
    else if (volume.attachedTo !== null) add(volume.attachedTo, volume);
  }
  for (const record of allOfKind(state.resources.values(), "volume")) {
    if (record.attachedTo === undefined) continue;
    const sighting = live.of.volume.byId.get(record.id);
    const isKnown = sighting?.seen === "gone" || (sighting?.seen === "yes" && sighting.value.attachedTo !== undefined);
    if (!isKnown) add(record.attachedTo, record);
  }
  return { volumesOn, hostsShown };
}

/**
 * Whether no other address manages the live resource with this id: then it may be the one that this address looks for.
 */
export function isUnclaimed(address: Address, id: string, { addressOf, keeperOf }: DiffContext): boolean {
  const one = identity(kindOf(address), id);
  return (addressOf(one) ?? keeperOf(one) ?? address) === address;
}

/** The part of the live world that one kind has. */
export interface KindSeen<L> {
  /** Whether `byName` holds all there are. */
  readonly listed: boolean;
  /** Names in lower case. */
  readonly byName: ReadonlyMap<string, readonly L[]>;
  sight(id: string): Sighting<L>;
}

export const seenOf = <K extends Kind>({ live, byName }: DiffContext, kind: K): KindSeen<LiveOf[K]> => ({
  listed: live.of[kind].listed,
  byName: byName[kind],
  sight: (id) => sight(live, kind, id),
});

/** The id a reference stands for; `undefined` while the resource has none yet. */
export const referenceId = (reference: Reference, state: State): string | undefined =>
  "id" in reference ? reference.id : state.resources.get(reference.address)?.id;
