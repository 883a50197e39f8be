/** Which live thing an address means: a volume or a group found by its record, an open create, an import, or nothing. */
import { kindOf } from "../model/address";
import type { Diagnostic } from "../model/diagnostic";
import { notLookedAt } from "../model/evidence";
import type { LiveGroup, LiveVolume } from "../model/live";
import type { Intent } from "../model/recorded";
import type { Reason } from "./changes";
import { type DiffContext, isUnclaimed, type Sightings } from "./context";
import { describeStrangers, type Judged, judgeMade, type Made } from "./evidence";
import {
  importGone,
  importManaged,
  nameTaken,
  severalNamed,
  unsettledIntent,
  type Vanished,
  type What,
} from "./findings";
import type { Pair } from "./pair";

export type Found<L> =
  | { readonly how: "error"; readonly diagnostic: Diagnostic }
  | { readonly how: "absent"; readonly gone?: Vanished }
  | Known<L>;

export interface Known<L> {
  readonly how: "known";
  readonly id: string;
  readonly live?: L;
  /** Why it belongs to an address that has no record of it. */
  readonly adopted?: Reason;
}

export function find<L extends LiveVolume | LiveGroup>(pair: Pair, seen: Sightings<L>, context: DiffContext): Found<L> {
  const { what } = seen;
  const error = (diagnostic: Diagnostic): Found<L> => ({ how: "error", diagnostic });
  const strangers = (name: string): L[] =>
    (seen.byName.get(name.toLowerCase()) ?? []).filter(({ id }) => isUnclaimed(pair.address, id, context));
  const known = pair.recorded === undefined ? pair.import?.id : pair.recorded.id;
  if (pair.intent !== undefined && (known === undefined || pair.recorded !== undefined)) {
    if (!seen.listed) return error(unseenCreate(pair, pair.intent, what, context));
    const before = new Set([...pair.intent.idsBefore, known]);
    const candidates = strangers(pair.intent.name).filter(({ id }) => !before.has(id));
    const judged = judgeMade(pair.intent, candidates, context, pair.desired);
    const unclear = unclearCreate(pair, pair.intent, what, judged);
    if (unclear !== undefined) return error(unclear);
    const only = judged.ours[0];
    if (only !== undefined) return { how: "known", id: only.id, live: only, adopted: "interrupted" };
    const inItsPlace = judged.strangers.find(({ live }) => isNamed(live, pair.desired?.name));
    if (inItsPlace !== undefined) return error(nameTaken(pair, what, inItsPlace.live, judged.strangers));
    // It was not made; who bore its name before was looked at when it was planned.
    if (known === undefined) return { how: "absent" };
  }
  if (known !== undefined) {
    const manager = context.addressOfId.get(known);
    if (pair.recorded === undefined && manager !== undefined && manager !== pair.address)
      return error(importManaged(pair, what, known, manager));
    const sighting = seen.sight(known);
    if (sighting.seen === "gone" && pair.recorded === undefined) return error(importGone(pair, what, known));
    if (sighting.seen === "gone") {
      const inItsPlace = pair.desired === undefined ? undefined : strangers(pair.desired.name)[0];
      const gone = { id: known, because: sighting.because };
      return inItsPlace === undefined ? { how: "absent", gone } : error(nameTaken(pair, what, inItsPlace));
    }
    return {
      how: "known",
      id: known,
      ...(sighting.seen === "yes" ? { live: sighting.value } : {}),
      ...(pair.recorded === undefined ? { adopted: "imported" as const } : {}),
    };
  }
  const namesake = pair.desired === undefined ? undefined : strangers(pair.desired.name)[0];
  return namesake === undefined ? { how: "absent" } : error(nameTaken(pair, what, namesake));
}

const isNamed = (live: { readonly name?: string }, name: string | undefined): boolean =>
  name !== undefined && live.name?.toLowerCase() === name.toLowerCase();

/** An open create where no list was read: because the service has none, or because this plan did not look. */
export function unseenCreate(pair: Pair, intent: Intent, what: What, context: DiffContext): Diagnostic {
  const unlisted = context.live.unlisted[kindOf(pair.address)];
  return unlisted.seen === "unobserved" && unlisted.reason === notLookedAt.reason
    ? { ...unsettledIntent(pair, intent, what, "This plan did not look"), fix: "plan without --no-refresh" }
    : unsettledIntent(pair, intent, what);
}

/** Why nobody can say which live thing an open create made, or that it made none. */
export function unclearCreate(
  pair: Pair,
  intent: Intent,
  what: What,
  { ours, doubtful, strangers }: Judged<Made>,
): Diagnostic | undefined {
  const candidates = [...ours, ...doubtful];
  if (candidates.length > 1) return severalNamed(pair, what, intent.name, candidates);
  const [doubt] = doubtful;
  if (doubt !== undefined)
    return unsettledIntent(
      pair,
      intent,
      what,
      `${doubt.id} bears its name, and the service shows nothing else that tells whether it is the one`,
    );
  if (intent.accepted !== true || ours.length > 0) return undefined;
  return unsettledIntent(
    pair,
    intent,
    what,
    strangers.length === 0 ? undefined : `What bears its name is not the one: ${describeStrangers(strangers)}`,
  );
}
