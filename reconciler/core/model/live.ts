/**
 * What the service says exists, as read through the dialect. A field that this deployment's records do not show is
 * absent (`undefined`): unobserved, which is never the same as empty.
 */

import { comparedOfGroup, type LiveGroup } from "../../kinds/group/live";
import { comparedOfVm, type LiveVm } from "../../kinds/vm/live";
import { comparedOfVolume, type LiveVolume } from "../../kinds/volume/live";
import { groupedBy } from "../text/objects";
import { notLookedAt, type ScopeDoubt, type Sighting, valueSeen } from "./evidence";
import { definitionOf, eachKind, type Kind, perKind } from "./kinds";

export type { LiveGroup, LiveRule } from "../../kinds/group/live";
export {
  addressesShown,
  type LiveVm,
  type LiveVmVolume,
  powerShown,
  showsAddresses,
  type VmPhase,
} from "../../kinds/vm/live";
export type { LiveVolume } from "../../kinds/volume/live";
export type { Sighting } from "./evidence";

export interface LiveOf {
  readonly vm: LiveVm;
  readonly volume: LiveVolume;
  readonly group: LiveGroup;
}

/** The fields that a plan compares, by their names in the file, of kinds that compare more than their plain rows. */
const ownCompared: { readonly [K in Kind]?: Readonly<Record<string, string | undefined>> } = {
  vm: comparedOfVm,
  volume: comparedOfVolume,
  group: comparedOfGroup,
};

const shownRows = (kind: Kind) =>
  Object.entries(definitionOf(kind).fields).filter(([, { compare }]) => compare === "plain");

export const comparedOf = perKind(
  (kind): Readonly<Record<string, string | undefined>> =>
    ownCompared[kind] ?? Object.fromEntries(shownRows(kind).map(([key, { field }]) => [key, field])),
);

/** The word of the service for it; `undefined`: it did not fail, or nothing of its kind can. */
export function failedState(live: LiveOf[Kind]): string | undefined {
  const failed = "failed" in live ? live.failed : "phase" in live && live.phase === "failed";
  return failed && "status" in live ? (live.status ?? "failed") : undefined;
}

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
  [...sightings.values()].flatMap((sighting) => valueSeen(sighting) ?? []);

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

export const groupByName = <T extends { readonly name?: string }>(items: readonly T[]): Map<string, T[]> =>
  groupedBy(items, ({ name }) => name?.toLowerCase());

export const sight = <K extends Kind>({ of }: Live, kind: K, id: string): Sighting<LiveOf[K]> =>
  of[kind].byId.get(id) ?? of[kind].unlisted;

/** The resource as it was seen; `undefined`: it was not, or it has no id. */
export const findSeen = <K extends Kind>({ of }: Live, kind: K, id: string | undefined): LiveOf[K] | undefined =>
  id === undefined ? undefined : valueSeen(of[kind].byId.get(id));
