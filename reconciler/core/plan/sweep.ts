/**
 * A look at everything, spread over the time between two rounds: which resources each slice looks at, so that each is
 * seen once and no slice sends many more requests than the others. When a slice shows something otherwise than it was,
 * that is no evidence yet: the next round looks itself.
 */
import type { Abilities } from "../model/abilities";
import type { Address } from "../model/address";
import { definitionOf, type IdsOfKinds, type Kind, kinds, perKind } from "../model/kinds";
import { type Catalogue, type Live, type LiveOf, notSeen, type Sighting, withSightings } from "../model/live";
import type { RecordedResource, State } from "../model/recorded";
import { leastOf, onlyDefined } from "../text/objects";

/** What was seen of the resources that the state knows, and when. */
export interface Swept {
  readonly live: Live;
  /** Times by `vm:ID`. */
  readonly at: ReadonlyMap<string, number>;
}

export const nothingSwept: Swept = { live: notSeen, at: new Map() };

type KnownRecord = RecordedResource & { readonly id: string };

const isIdentified = (record: RecordedResource): record is KnownRecord => record.id !== undefined;

const keyOfThing = ({ kind, id }: KnownRecord): string => `${kind}:${id}`;

/** The newer look counts for what it saw, and the earlier look for everything else. */
export function sweptWith(before: Swept, seen: Live, { resources }: Pick<State, "resources">, now: number): Swept {
  const at = new Map<string, number>();
  const keptOfKind = <K extends Kind>(kind: K): ReadonlyMap<string, Sighting<LiveOf[K]>> => {
    const kept = new Map<string, Sighting<LiveOf[K]>>();
    for (const record of resources.values()) {
      if (record.kind !== kind || !isIdentified(record)) continue;
      const { id } = record;
      const fresh = seen.of[kind].byId.get(id);
      const sighting = fresh ?? before.live.of[kind].byId.get(id);
      const seenAt = fresh === undefined ? before.at.get(keyOfThing(record)) : now;
      if (sighting?.seen !== "yes" || seenAt === undefined) continue;
      kept.set(id, sighting);
      at.set(keyOfThing(record), seenAt);
    }
    return kept;
  };
  const live = withSightings(notSeen, keptOfKind);
  return { live: { ...live, catalogue: catalogueOfBoth(seen.catalogue, before.live.catalogue) }, at };
}

const catalogueOfBoth = (now: Catalogue, then: Catalogue): Catalogue => ({ ...then, ...onlyDefined(now) });

/** Without resources that were last seen before that time. */
export const seenSince = (swept: Swept, state: Pick<State, "resources">, since: number): Swept =>
  keptOf(swept, state, (_, seenAt) => seenAt >= since);

/** Without resources that were changed since. */
export const without = (swept: Swept, state: Pick<State, "resources">, changed: ReadonlySet<Address>): Swept =>
  keptOf(swept, state, ({ address }) => !changed.has(address));

function keptOf(
  swept: Swept,
  state: Pick<State, "resources">,
  isKept: (record: RecordedResource, seenAt: number) => boolean,
): Swept {
  const at = new Map<string, number>();
  for (const record of state.resources.values()) {
    const seenAt = isIdentified(record) ? swept.at.get(keyOfThing(record)) : undefined;
    if (isIdentified(record) && seenAt !== undefined && isKept(record, seenAt)) at.set(keyOfThing(record), seenAt);
  }
  return sweptWith({ ...swept, at }, notSeen, state, 0);
}

/** The newer look laid over the earlier one. */
export function laidOver(seen: Live, { live }: Swept): Live {
  const all = withSightings(seen, (kind) => new Map([...live.of[kind].byId, ...seen.of[kind].byId]));
  return { ...all, catalogue: catalogueOfBoth(seen.catalogue, live.catalogue) };
}

/** Resources that nobody has seen. */
export const unswept = ({ resources }: Pick<State, "resources">, { at }: Swept): Address[] =>
  [...resources.values()].flatMap((record) =>
    isIdentified(record) && at.has(keyOfThing(record)) ? [] : [record.address],
  );

/** Resources that are looked at together, with the number of requests. */
interface Unit {
  readonly kind: Kind;
  readonly ids: readonly string[];
  readonly requests: number;
  readonly seenAt: number;
}

/** What a service allows: which kinds it lists, and how many items a page of a list shows. */
export interface Sight {
  readonly can: Abilities;
  readonly pageItems: (kind: Kind) => number;
}

/** The resources of one list are one unit, all others a unit each. Resources that were seen later are left out. */
function unitsOf(
  { resources }: Pick<State, "resources">,
  { at }: Swept,
  { can, pageItems }: Sight,
  since: number,
): Unit[] {
  // What is read beside, such as the rules of a group, is a request of its own, in a list as well.
  const readsBeside = (kind: Kind): boolean => definitionOf(kind).readBeside !== undefined;
  const requestsOf = (kind: Kind): number =>
    readsBeside(kind) && (can.canFindCreated(kind) || can.readsOne(kind)) ? 2 : 1;
  const isSeenInList = (kind: Kind): boolean => !readsBeside(kind) && can.canFindCreated(kind);
  const units: Unit[] = [];
  for (const kind of kinds) {
    if (!can.sees(kind)) continue;
    const all = [...resources.values()].filter(isIdentified).filter((record) => record.kind === kind);
    const seenAt = (record: KnownRecord): number => at.get(keyOfThing(record)) ?? Number.NEGATIVE_INFINITY;
    const due = all.filter((record) => seenAt(record) <= since);
    const requests = Math.ceil(all.length / pageItems(kind));
    if (isSeenInList(kind) && due.length > requests)
      units.push({ kind, ids: due.map(({ id }) => id), requests, seenAt: leastOf(due.map(seenAt)) });
    else for (const one of due) units.push({ kind, ids: [one.id], requests: requestsOf(kind), seenAt: seenAt(one) });
  }
  return units.sort((a, b) => a.seenAt - b.seenAt);
}

/** How many requests a look at all others takes. */
export const requestsLeft = (state: State, swept: Swept, sight: Sight, since: number): number =>
  unitsOf(state, swept, sight, since).reduce((sum, { requests }) => sum + requests, 0);

/** This slice's part of all others, those unseen for longest first. */
export function nextSlice(state: State, swept: Swept, sight: Sight, since: number, slicesLeft: number): IdsOfKinds {
  const units = unitsOf(state, swept, sight, since);
  const share = Math.ceil(units.reduce((sum, { requests }) => sum + requests, 0) / Math.max(1, slicesLeft));
  const ids = perKind(() => new Set<string>());
  let requests = 0;
  for (const unit of units) {
    if (requests >= share) break;
    requests += unit.requests;
    for (const id of unit.ids) ids[unit.kind].add(id);
  }
  return ids;
}
