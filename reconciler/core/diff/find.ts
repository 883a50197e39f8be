/** Which live thing an address means: a volume or a group found by its record, an open create, an import, or nothing. */
import type { Diagnostic } from "../model/diagnostic";
import type { Sighting } from "../model/live";
import type { Reason } from "./changes";
import { type DiffContext, mayBe } from "./context";
import { importGone, importManaged, nameTaken, severalNamed, unsettledIntent, type What } from "./findings";
import type { Pair } from "./pair";

interface Named {
  readonly id: string;
  readonly name?: string;
}

/** One kind's part of what was seen. */
export interface Sightings<L extends Named> {
  readonly what: What;
  /** Whether `byName` holds all there are. */
  readonly listed: boolean;
  /** Names in lower case. */
  readonly byName: ReadonlyMap<string, readonly L[]>;
  sight(id: string): Sighting<L>;
}

export type Found<L> =
  | { readonly how: "error"; readonly diagnostic: Diagnostic }
  | { readonly how: "absent"; readonly gone?: string }
  | { readonly how: "known"; readonly id: string; readonly live?: L; readonly adopted?: Reason };

export function find<L extends Named>(pair: Pair, seen: Sightings<L>, context: DiffContext): Found<L> {
  const { what } = seen;
  const error = (diagnostic: Diagnostic): Found<L> => ({ how: "error", diagnostic });
  const strangers = (name: string): L[] =>
    (seen.byName.get(name.toLowerCase()) ?? []).filter(({ id }) => mayBe(pair.address, id, context));
  const known = pair.recorded === undefined ? pair.import?.id : pair.recorded.id;
  if (pair.intent !== undefined && (known === undefined || pair.recorded !== undefined)) {
    if (!seen.listed) return error(unsettledIntent(pair, what));
    const before = new Set([...pair.intent.idsBefore, known]);
    const candidates = strangers(pair.intent.name).filter(({ id }) => !before.has(id));
    if (candidates.length > 1) return error(severalNamed(pair, what, pair.intent.name, candidates));
    const only = candidates[0];
    if (only !== undefined) return { how: "known", id: only.id, live: only, adopted: "interrupted" };
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
      return inItsPlace === undefined ? { how: "absent", gone: known } : error(nameTaken(pair, what, inItsPlace));
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
