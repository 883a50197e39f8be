/**
 * Which live resource an address means: found by its record, an open create, an import, or none.
 */

import { kindOf } from "../model/address";
import type { Diagnostic } from "../model/diagnostic";
import { type Gone, notLookedAt, valueSeen } from "../model/evidence";
import { identity } from "../model/identity";
import { type Kind, kindRows } from "../model/kinds";
import type { LiveOf } from "../model/live";
import type { Intent } from "../model/recorded";
import type { Reason } from "./changes";
import { type DiffContext, isUnclaimed, type KindSeen, seenOf } from "./context";
import { cutByService, describeStrangers, type Judged, judgeMade, type Made, type Stranger } from "./evidence";
import {
  importGone,
  importKept,
  importManaged,
  importSpelt,
  nameTaken,
  severalNamed,
  unsettledIntent,
  type Vanished,
} from "./findings";
import type { Pair } from "./pair";

export type FoundLive<L> =
  | { readonly how: "error"; readonly diagnostic: Diagnostic }
  | { readonly how: "absent"; readonly gone?: Vanished }
  | Known<L>;

export interface Known<L> {
  readonly how: "known";
  readonly id: string;
  readonly live?: L;
  /** Why the resource belongs to this address although no record of the address names it. */
  readonly adopted?: Reason;
}

/** A VM has ways of its own (find-vm.ts): its volumes and its dialect tell more of it. */
export function find<K extends Kind>(pair: Pair, kind: K, context: DiffContext): FoundLive<LiveOf[K]> {
  const seen = seenOf(context, kind);
  const known = pair.recorded === undefined ? pair.import?.id : pair.recorded.id;
  if (pair.intent !== undefined && (known === undefined || pair.recorded !== undefined)) {
    const made = findMade(pair, pair.intent, known, seen, context);
    if (made !== undefined) return made;
  }
  if (known !== undefined) return findKnown(pair, known, seen, context);
  return absentUnless(namesake(pair, seen, context), pair, context);
}

/**
 * Finds what an open create made. `undefined`: it made nothing, and the resource that the record names is looked for.
 * `asSent`: the create as what was found is held against it.
 */
export function findMade<L extends LiveOf[Kind]>(
  pair: Pair,
  intent: Intent,
  known: string | undefined,
  seen: KindSeen<L>,
  context: DiffContext,
  asSent = intent,
): FoundLive<L> | undefined {
  if (!seen.listed) return foundError(unseenCreate(pair, intent, context));
  const before = new Set([...intent.idsBefore, known]);
  const candidates = strangersNamed(intent.name, pair, seen, context).filter(({ id }) => !before.has(id));
  const judged = judgeMade(asSent, candidates, context, pair.desired);
  const unclear = unclearCreate(pair, intent, judged);
  if (unclear !== undefined) return foundError(unclear);
  const only = judged.ours[0];
  if (only !== undefined) return { how: "known", id: only.id, live: only, adopted: "interrupted" };
  const cut = cutByService(intent, (name) => strangersNamed(name, pair, seen, context), context, pair.desired);
  if (cut !== undefined) return foundError(unsettledIntent(pair, intent, cut));
  const inItsPlace = otherThanMade(pair, intent, judged.strangers, context);
  if (inItsPlace !== undefined) return foundError(inItsPlace);
  // Resources that bore the name before the create was sent were looked at when the create was planned.
  return known === undefined ? { how: "absent" } : undefined;
}

/** By the id of the record or of the import. */
export function findKnown<L extends LiveOf[Kind]>(
  pair: Pair,
  id: string,
  seen: KindSeen<L>,
  context: DiffContext,
): FoundLive<L> {
  const isImport = pair.recorded?.id === undefined;
  const manager = context.addressOf(identity(pair.kind, id));
  if (isImport && manager !== undefined && manager !== pair.address)
    return foundError(importManaged(pair, id, manager));
  const keeper = isImport ? context.keeperOf(identity(pair.kind, id)) : undefined;
  if (keeper !== undefined) return foundError(importKept(pair, id, keeper));
  const sighting = seen.sight(id);
  if (sighting.seen === "gone" && isImport && pair.import?.again !== true) return foundError(importGone(pair, id));
  // A service that takes an id in any case has one resource under several texts, and an address must not have a second one.
  if (sighting.seen === "yes" && isImport && sighting.value.id !== id)
    return foundError(importSpelt(pair, id, sighting.value.id));
  if (sighting.seen === "gone")
    return absentUnless(namesake(pair, seen, context), pair, context, vanishedAs(id, sighting));
  return { how: "known", id, live: valueSeen(sighting), adopted: isImport ? "imported" : undefined };
}

export const vanishedAs = (id: string, gone: Gone): Vanished => ({ ...gone, id });

export const foundError = (diagnostic: Diagnostic): { readonly how: "error"; readonly diagnostic: Diagnostic } => ({
  how: "error",
  diagnostic,
});

/** Something else that bears the name which the file wants stands in the way of a create. */
const absentUnless = <L extends LiveOf[Kind]>(
  inItsPlace: L | undefined,
  pair: Pair,
  context: DiffContext,
  gone?: Vanished,
): FoundLive<L> =>
  inItsPlace === undefined
    ? { how: "absent", gone }
    : foundError(nameTaken(pair, inItsPlace, [], orphanAt(pair, inItsPlace, context)));

export const orphanAt = ({ kind }: Pair, { id }: { readonly id: string }, { orphanOf }: DiffContext) =>
  orphanOf(identity(kind, id));

export const strangersNamed = <L extends LiveOf[Kind]>(
  name: string,
  pair: Pair,
  seen: KindSeen<L>,
  context: DiffContext,
): L[] => (seen.byName.get(name.toLowerCase()) ?? []).filter(({ id }) => isUnclaimed(pair.address, id, context));

const namesake = <L extends LiveOf[Kind]>(pair: Pair, seen: KindSeen<L>, context: DiffContext): L | undefined =>
  pair.desired === undefined ? undefined : strangersNamed(pair.desired.name, pair, seen, context)[0];

export const bearsName = (live: { readonly name?: string }, name: string | undefined): boolean =>
  name !== undefined && live.name?.toLowerCase() === name.toLowerCase();

/**
 * What bears the name of an open create and differs from what was sent is somebody else's, or was changed since. Where
 * the file wants that name it stands in the way. Where it has another name by now, or the block is gone, the create stays
 * open until a person has said which it is: nothing else would remember what it may have made.
 */
export function otherThanMade(
  pair: Pair,
  intent: Intent,
  strangers: readonly Stranger<Made>[],
  context: DiffContext,
): Diagnostic | undefined {
  const inItsPlace = strangers.find(({ live }) => bearsName(live, pair.desired?.name));
  if (inItsPlace !== undefined)
    return nameTaken(pair, inItsPlace.live, strangers, orphanAt(pair, inItsPlace.live, context));
  if (strangers.length === 0 || pair.forget) return undefined;
  const isOther = `What bears its name is somebody else's, or was changed since: ${describeStrangers(strangers)}`;
  const unsettled = unsettledIntent(pair, intent, isOther);
  return pair.desired === undefined ? { ...unsettled, severity: "warning" } : unsettled;
}

/** Says of an open create that no list was read: the service has none, or this plan did not look. */
export function unseenCreate(pair: Pair, intent: Intent, context: DiffContext): Diagnostic {
  const { unlisted } = context.live.of[kindOf(pair.address)];
  if (unlisted.seen === "unobserved" && unlisted.reason === notLookedAt.reason)
    return { ...unsettledIntent(pair, intent, "This plan did not look"), fix: "plan without --no-refresh" };
  const doubt = unlisted.seen === "unobserved" ? unlisted.vanished?.doubt : undefined;
  const list = `The list of ${kindRows[pair.kind].fullNoun}s`;
  return unsettledIntent(pair, intent, doubt && `${list} proves nothing here (${doubt})`);
}

/** Why nobody can say which live resource an open create made, or that it made none. */
export function unclearCreate(
  pair: Pair,
  intent: Intent,
  { ours, doubtful, strangers }: Judged<Made>,
): Diagnostic | undefined {
  const candidates = [...ours, ...doubtful];
  if (candidates.length > 1) return severalNamed(pair, intent.name, candidates);
  const [doubt] = doubtful;
  if (doubt !== undefined) {
    const named = `${doubt.id} has its name, and the service shows nothing else that tells whether this create made it`;
    return unsettledIntent(pair, intent, named);
  }
  if (intent.accepted !== true || ours.length > 0) return undefined;
  const isOther = `The resource with its name was not made by this create: ${describeStrangers(strangers)}`;
  return unsettledIntent(pair, intent, strangers.length === 0 ? undefined : isOther);
}
