/** Which group of the service an address stands for: recorded, imported, left by an interrupted run, or none. */
import type { DesiredGroup } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import type { LiveGroup } from "../model/live";
import type { RecordedGroup } from "../model/recorded";
import type { Reason } from "./changes";
import { type DiffContext, sightGroup } from "./context";
import { importManaged, nameTaken, severalNamed, unsettledIntent } from "./findings";
import type { Pair } from "./pair";

export type FoundGroup =
  | { readonly how: "error"; readonly diagnostic: Diagnostic }
  | { readonly how: "absent"; readonly gone?: string }
  | { readonly how: "known"; readonly id: string; readonly live?: LiveGroup; readonly adopted?: Reason };

export function findGroup(pair: Pair, context: DiffContext): FoundGroup {
  const known = pair.recorded === undefined ? pair.import?.id : (pair.recorded as RecordedGroup).id;
  if (pair.intent !== undefined && !context.live.groupsListed && (known === undefined || pair.recorded !== undefined))
    return { how: "error", diagnostic: unsettledIntent(pair, "security group") };
  if (pair.intent !== undefined && context.live.groupsListed) {
    const before = new Set([...pair.intent.idsBefore, ...(known === undefined ? [] : [known])]);
    const candidates = named(pair.intent.name, context).filter((group) => !before.has(group.id));
    if (candidates.length > 1)
      return { how: "error", diagnostic: severalNamed(pair, "security group", pair.intent.name, candidates) };
    const only = candidates[0];
    if (only !== undefined) return { how: "known", id: only.id, live: only, adopted: "interrupted" };
  }
  if (known !== undefined) {
    const manager = context.addressOfId.get(known);
    if (pair.recorded === undefined && manager !== undefined && manager !== pair.address)
      return { how: "error", diagnostic: importManaged(pair, "security group", known, manager) };
    const sighting = sightGroup(context, known);
    if (sighting.seen === "gone")
      return pair.recorded !== undefined
        ? { how: "absent", gone: known }
        : { how: "error", diagnostic: importGone(pair, known) };
    return {
      how: "known",
      id: known,
      ...(sighting.seen === "yes" ? { live: sighting.value } : {}),
      ...(pair.recorded === undefined ? { adopted: "imported" as const } : {}),
    };
  }
  const desired = pair.desired as DesiredGroup | undefined;
  const namesake = desired === undefined ? undefined : named(desired.name, context)[0];
  return namesake === undefined
    ? { how: "absent" }
    : { how: "error", diagnostic: nameTaken(pair, "security group", namesake) };
}

const named = (name: string, context: DiffContext): LiveGroup[] =>
  (context.groupsByName.get(name.toLowerCase()) ?? []).filter((group) => !context.addressOfId.has(group.id));

/** What an intent says of a group that was created all the same. */
export const createdBy = (pair: Pair, entry: Extract<FoundGroup, { how: "known" }>): RecordedGroup => ({
  kind: "group",
  name: entry.live?.name ?? pair.intent?.name ?? entry.id,
  rules: [],
  platformRules: [],
  preventDestroy: false,
  ...(pair.intent?.record as Omit<RecordedGroup, "id"> | undefined),
  address: pair.address,
  id: entry.id,
});

const importGone = (pair: Pair, id: string): Diagnostic => ({
  severity: "error",
  code: "plan/import-not-found",
  summary: `${pair.address} cannot be imported: the service shows no security group ${id}`,
  fix: "correct the id in the imports entry, or remove the entry to create a new group",
  address: pair.address,
  source: pair.import?.source,
});
