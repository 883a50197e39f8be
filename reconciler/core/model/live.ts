/**
 * What the service says exists, as read through the dialect. A field that this deployment's records do not show is
 * absent (`undefined`): unobserved, which is never the same as empty.
 */

import { appendTo, onlyDefined } from "../text/objects";
import { notLookedAt, type ScopeDoubt, type Sighting } from "./evidence";
import type { ObservedFields, vmFields } from "./fields";
import { definitionOf, eachKind, type Kind, perKind } from "./kinds";

export type { Sighting } from "./evidence";

export type VmPhase = "running" | "stopped" | "verify_resize" | "failed" | "changing";

export interface LiveVmVolume {
  readonly id: string;
  readonly root?: boolean;
}

export interface LiveVm extends ObservedFields<typeof vmFields> {
  readonly kind: "vm";
  readonly id: string;
  readonly name: string;
  /** The service's own word for the state, shown as it is; `undefined` when the record has none. */
  readonly status?: string;
  /** What the dialect makes of the status; a word it does not know is `changing`. */
  readonly phase: VmPhase;
  /** Only the dialect can say whether the service means "deleted" by this state, and it does not. */
  readonly unsaid?: true;
  readonly floatingIp?: string;
  readonly privateIp?: string;
  /** Places where an IP address was looked for and something else was found: the address counts as not shown. */
  readonly notAddresses?: readonly { readonly field: "floating_ip" | "private_ip"; readonly found: string }[];
  readonly volumes?: readonly LiveVmVolume[];
}

export interface LiveVolume {
  readonly kind: "volume";
  readonly id: string;
  readonly name?: string;
  readonly sizeGb?: number;
  readonly status?: string;
  readonly failed: boolean;
  /** Only the dialect can say whether the service means "deleted" by this state, and it does not. */
  readonly unsaid?: true;
  /** The volume is in transition: being made, attached, detached, resized or deleted. */
  readonly changing?: true;
  /**
   * The id of the VM that the volume hangs on. `null`: the record shows that it hangs on none. `undefined`: the record
   * does not show it.
   */
  readonly attachedTo?: string | null;
}

/**
 * Whether a VM that shows no address has none. A stopped VM, or one in transition, may hide an address that it keeps.
 */
export const showsAddresses = ({ phase }: LiveVm): boolean => phase === "running" || phase === "verify_resize";

export function addressesShown(live: LiveVm | undefined): Pick<LiveVm, "privateIp" | "floatingIp"> {
  if (live === undefined) return {};
  const { privateIp, floatingIp } = live;
  if (showsAddresses(live)) return { privateIp, floatingIp };
  return onlyDefined({ privateIp, floatingIp });
}

/** A rule as the service returns it, in the service's own terms but with one spelling; canonical/rules.ts compares it. */
export interface LiveRule {
  readonly id: string;
  readonly direction: string;
  readonly ethertype?: string;
  readonly protocol?: string;
  readonly portMin?: number;
  readonly portMax?: number;
  readonly remoteIp?: string;
  readonly remoteGroupId?: string;
  readonly remoteAddressGroupId?: string;
  readonly description?: string;
  /** belongs_to_default_sg: made by the platform. */
  readonly platform?: boolean;
}

export interface LiveGroup {
  readonly kind: "group";
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly rules?: readonly LiveRule[];
}

export interface LiveOf {
  readonly vm: LiveVm;
  readonly volume: LiveVolume;
  readonly group: LiveGroup;
}

/** The fields that a plan compares, by their names in the file, of kinds that compare more than their plain rows. */
const ownCompared: { readonly [K in Kind]?: { readonly [F in keyof LiveOf[K]]?: string } } = {
  vm: { flavor: "flavor_id", image: "image_id", owner: "owner", status: "power", volumes: "disks" },
  volume: { name: "name", sizeGb: "size", attachedTo: "attach_to" },
  group: { name: "name", description: "description", rules: "rules" },
};

const shownRows = (kind: Kind) =>
  Object.entries(definitionOf(kind).fields).filter(([, { compare }]) => compare === "plain");

export const comparedOf = perKind(
  (kind): Readonly<Record<string, string | undefined>> =>
    ownCompared[kind] ?? Object.fromEntries(shownRows(kind).map(([key, { field }]) => [key, field])),
);

/** A flavor, image or region of the catalogue. For a region without an id the name stands for both. */
export interface CatalogueEntry {
  readonly id: string;
  readonly name?: string;
}

/** `phase`: absent where the record shows no state, which is all that most services tell of an image. */
export interface LiveImage extends CatalogueEntry {
  readonly status?: string;
  readonly phase?: "ready" | "failed" | "changing";
}

export interface Catalogue {
  /** `undefined`: this service has no such list, or it could not be read. */
  readonly flavors?: readonly CatalogueEntry[];
  readonly images?: readonly CatalogueEntry[];
  readonly regions?: readonly CatalogueEntry[];
}

/** What one look at the service says of the resources of a kind. */
export interface SeenOfKind<T> {
  /** Whether `byId` holds every one of the project. */
  readonly listed: boolean;
  readonly byId: ReadonlyMap<string, Sighting<T>>;
  /** What holds for an id that was not looked at by itself. */
  readonly unlisted: Sighting<never>;
}

/** One observation of the service. */
export interface Live {
  readonly of: { readonly [K in Kind]: SeenOfKind<LiveOf[K]> };
  /** Why an absence does not count as gone here. Absent: absences are proven. */
  readonly doubt?: ScopeDoubt;
  readonly catalogue: Catalogue;
}

/** The world when no request was sent: everything is as recorded. */
export const notSeen: Live = {
  of: perKind(() => ({ listed: false, byId: new Map<string, never>(), unlisted: notLookedAt })),
  catalogue: {},
};

export type SightingsOf = { readonly [K in Kind]: ReadonlyMap<string, Sighting<LiveOf[K]>> };

/** A table of what was seen of each kind, made from the kind. */
export const seenBy = (make: <K extends Kind>(kind: K) => SeenOfKind<LiveOf[K]>): Live["of"] =>
  eachKind<Live["of"]>(
    // `make` answers a kind with what was seen of that kind.
    (kind) => make(kind) as Live["of"][Kind],
  );

/** What was seen of each kind, by id, without what was looked for and not found. */
export type SeenOf = {
  readonly [K in Kind]: ReadonlyMap<string, { readonly seen: "yes"; readonly value: LiveOf[K] }>;
};

export const seenByKind = ({ of }: Live): SeenOf =>
  eachKind<SeenOf>((kind) => {
    const all: readonly (readonly [string, Sighting<LiveOf[Kind]>])[] = [...of[kind].byId];
    // The filter is the condition of the type.
    return new Map(all.filter(([, { seen }]) => seen === "yes")) as SeenOf[Kind];
  });

/** The same look with other sightings by id. */
export const withSightings = (
  live: Live,
  make: <K extends Kind>(kind: K) => ReadonlyMap<string, Sighting<LiveOf[K]>>,
): Live => ({ ...live, of: seenBy((kind) => ({ ...live.of[kind], byId: make(kind) })) });

const shownIn = <T>(sightings: ReadonlyMap<string, Sighting<T>>): readonly T[] =>
  [...sightings.values()].flatMap((sighting) => (sighting.seen === "yes" ? [sighting.value] : []));

/** The resources of a kind that were seen. */
export const shownOf = <K extends Kind>({ of }: Live, kind: K): readonly LiveOf[K][] => shownIn(of[kind].byId);

type NamedOf = { readonly [K in Kind]: ReadonlyMap<string, readonly LiveOf[K][]> };

/** By their names in lower case: all of a kind where all were shown, and those of kinds that go by a name also where they were read one by one. */
export const namedIn = (live: Live): NamedOf =>
  eachKind<NamedOf>((kind) => {
    const shown: readonly LiveOf[Kind][] =
      definitionOf(kind).takenByName === true || live.of[kind].listed ? shownOf(live, kind) : [];
    // `shown` is of the kind that `eachKind` asks for.
    return groupByName(shown) as NamedOf[Kind];
  });

export function groupByName<T extends { readonly name?: string }>(items: readonly T[]): Map<string, T[]> {
  const byName = new Map<string, T[]>();
  for (const item of items) {
    if (item.name === undefined) continue;
    const name = item.name.toLowerCase();
    appendTo(byName, name, item);
  }
  return byName;
}

export const sight = <K extends Kind>({ of }: Live, kind: K, id: string): Sighting<LiveOf[K]> =>
  of[kind].byId.get(id) ?? of[kind].unlisted;
