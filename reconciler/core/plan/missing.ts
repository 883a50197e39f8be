/**
 * A resource that vanished is never forgotten: its record is kept in an orphan that is "missing since". When the
 * service shows the resource again, the record is taken back, or a diagnostic says that something else has its place by
 * now.
 */

import type { ResourceDifference } from "../diff/all";
import { otherByNow } from "../diff/evidence";
import type { Pair } from "../diff/pair";
import type { Address } from "../model/address";
import type { Desired } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { type Gone, presumedGone } from "../model/evidence";
import { told, toSay } from "../model/fix";
import { addressesByIdentity } from "../model/identity";
import { kinds, ofKind, perKind } from "../model/kinds";
import { type Live, sight, withSightings } from "../model/live";
import { type Orphan, orphanKey, type PlannedChange, type RecordedResource, type State } from "../model/recorded";
import { lazily } from "../text/lazily";

/**
 * The world in which an absence of these resources that is not proven counts as one: for a plan that would make them
 * anew, which then needs the user's word, and for a user who names what is there in the place of one.
 */
export function presumeVanished(live: Live, records: readonly Pick<RecordedResource, "kind" | "id">[]): Live {
  const presumed = perKind(() => new Map<string, Gone>());
  for (const { kind, id } of records) {
    if (id === undefined) continue;
    const sighting = sight(live, kind, id);
    if (sighting.seen === "unobserved" && sighting.vanished !== undefined)
      presumed[kind].set(id, presumedGone(sighting.vanished));
  }
  if (kinds.every((kind) => presumed[kind].size === 0)) return live;
  return withSightings(live, (kind) => new Map([...live.of[kind].byId, ...presumed[kind]]));
}

/** The records of resources that are gone, kept beside the resources that take their place. */
export function vanished(
  differences: readonly ResourceDifference[],
  pairs: readonly Pair[],
  before: State,
): PlannedChange[] {
  const recordedAt = lazily(() => new Map(pairs.map(({ address, recorded }) => [address, recorded])));
  return differences.flatMap(({ change }): PlannedChange[] => {
    const record = change?.reason === "gone" ? recordedAt().get(change.address) : undefined;
    if (change === undefined || record?.id === undefined || record.deleting === true) return [];
    const orphan = missingOrphan(record, record.id, change.because);
    // An earlier run found the resource missing already, and did not get further.
    return before.orphans.get(orphanKey(orphan))?.missingSince === undefined ? [{ type: "missing", orphan }] : [];
  });
}

export const missingOrphan = (record: RecordedResource, id: string, because: string): Omit<Orphan, "missingSince"> => ({
  kind: record.kind,
  id,
  name: record.name ?? id,
  reason: `it was ${record.address}; ${because}`,
  sizeGb: ofKind(record, "volume")?.sizeGb,
  record,
});

export interface Reappeared {
  readonly state: State;
  readonly changes: readonly PlannedChange[];
  readonly diagnostics: readonly Diagnostic[];
}

export function takeBack(state: State, desired: Desired, live: Live): Reappeared {
  const missing = [...state.orphans].filter(([, { missingSince }]) => missingSince !== undefined);
  if (missing.length === 0) return { state, changes: [], diagnostics: [] };
  const resources = new Map(state.resources);
  const orphans = new Map(state.orphans);
  const changes: PlannedChange[] = [];
  const diagnostics: Diagnostic[] = [];
  const declared = new Set<Address>(desired.resources.map(({ address }) => address));
  const managed = addressesByIdentity(state.resources.values());
  for (const [key, orphan] of missing) {
    if (!isShown(orphan, live) || managed.has(key)) continue;
    const { missingSince, record, ...found } = orphan;
    const shownAgain = (summary: string, more: Partial<Diagnostic>): void =>
      void diagnostics.push({ severity: "warning", code: "plan/shown-again", summary, ...more });
    const what = `${orphan.kind} ${orphan.id} (${orphan.name}) was missing since ${missingSince}`;
    const other = otherByNow(record, live, { id: orphan.id, wasGone: true });
    if (other !== undefined) {
      const fix = toSay(
        ["if it is the one that was missing: ", ["import", "ADDR", orphan.id]],
        `if it is the one that was missing, adopt: "${orphan.id}" manages it again`,
      );
      shownAgain(`${what}, and the service shows its id again; ${other}`, {
        detail: "It is left alone, and what was missing counts as missing.",
        ...told([fix]),
      });
      continue;
    }
    const address = record?.address ?? "";
    // Of several that were missed at one address, the first has it from here on.
    const isFree = !resources.has(address) && !state.intents.has(address);
    if (record !== undefined && declared.has(address) && isFree) {
      resources.set(record.address, record);
      orphans.delete(key);
      changes.push({ type: "resource", address: record.address, record }, { type: "orphan", key, orphan: null });
      shownAgain(
        `${address}: ${orphan.kind} ${orphan.id} was missing since ${missingSince} and shows again; it is taken back`,
        { address },
      );
    } else {
      const shown = { ...found, reason: `${found.reason}; it shows again` };
      orphans.set(key, shown);
      changes.push({ type: "orphan", key, orphan: shown });
      const fix = toSay(
        [["orphans list"], "; to manage it again: ", ["import", "ADDR", orphan.id]],
        `adopt: ${JSON.stringify(orphan.id)} manages it again`,
      );
      shownAgain(`${what} and shows again`, {
        detail: "Something else has its place by now, or its block is gone from the file, so it is an orphan.",
        ...told([fix]),
      });
    }
  }
  return { state: changes.length === 0 ? state : { ...state, resources, orphans }, changes, diagnostics };
}

function isShown({ kind, id }: Orphan, live: Live): boolean {
  if (kind === "image") return false;
  return sight(live, kind, id).seen === "yes";
}
