/**
 * What the state learns although nothing is sent: a lifecycle flag, another spelling of the same value, the id of a
 * data volume that a record showed for the first time, a new address. A run in which it learns nothing writes nothing.
 */

import type { ResourceDifference } from "../diff/all";
import type { Pair } from "../diff/pair";
import type { Address } from "../model/address";
import { hasErrors } from "../model/diagnostic";
import { disksOf } from "../model/disks";
import { ofKind } from "../model/kinds";
import type { Live } from "../model/live";
import {
  type Intent,
  isAskedSnapshot,
  movedIntent,
  type PlannedChange,
  type State,
  type StateChange,
} from "../model/recorded";
import { deepEqual } from "../text/deep-equal";
import { vanished } from "./missing";
import { nextRecord, type ResolveGroup } from "./next-record";
import type { Step } from "./step";

export function bookkeeping(
  differences: readonly ResourceDifference[],
  pairs: readonly Pair[],
  before: State,
  live: Live,
  steps: readonly Step[],
  resolve: ResolveGroup,
): PlannedChange[] {
  const changes: PlannedChange[] = [...vanished(differences, pairs, before)];
  const pairAt = new Map(pairs.map((pair) => [pair.address, pair]));
  for (const difference of differences) {
    const { address } = difference;
    const { intent, movedFrom: from } = pairAt.get(address) ?? {};
    // The open create was looked for and not found: it made nothing. What bears its name from now on is somebody
    // else's.
    if (intent !== undefined && isOver(difference, intent)) changes.push({ type: "intent", address, intent: null });
    const next = nextRecord(difference, resolve);
    if (from !== undefined) {
      changes.push({ type: "resource", address: from, record: null });
      // What is gone keeps its record until it is made anew: nothing else names the volume that it left behind.
      const former = difference.recorded ?? before.resources.get(from);
      const record = next ?? (former && { ...former, address });
      if (record !== undefined) changes.push({ type: "resource", address, record });
      // After the record: an id that is new to an address ends the create that is open there.
      changes.push(...moveIntent(from, difference, before));
      continue;
    }
    if (next !== undefined && !deepEqual(next, before.resources.get(address)))
      changes.push({ type: "resource", address, record: next });
  }
  return [...changes, ...unneededSnapshots(pairs, steps), ...endedOrphans(differences, before, live)];
}

/** From now on an open create is looked for under the new address alone. */
function moveIntent(from: Address, difference: ResourceDifference, { intents }: State): StateChange[] {
  const { address } = difference;
  const intent = intents.get(from);
  if (intent === undefined) return [];
  const gone: StateChange = { type: "intent", address: from, intent: null };
  return isOver(difference, intent)
    ? [gone]
    : [gone, { type: "intent", address, intent: movedIntent(intent, address) }];
}

const isOver = (difference: ResourceDifference, intent: Intent): boolean =>
  difference.change?.action === "create" ||
  isReplacementNotMade(difference, intent) ||
  (difference.desired === undefined &&
    difference.change === undefined &&
    difference.diagnostics.length === 0 &&
    !("idUnknown" in difference && difference.idUnknown === true));

/** A replacement that was cut off before the service had its create: what the record names is still the resource. */
const isReplacementNotMade = (
  { kind, recorded, adopts, desired, change, diagnostics }: ResourceDifference,
  { operation }: Intent,
): boolean =>
  operation === `${kind}.create` &&
  recorded?.id !== undefined &&
  adopts !== true &&
  (desired ?? change) !== undefined &&
  !hasErrors(diagnostics);

/**
 * Orphans that are none any more: written down before a step that then did not leave them behind; written down for a VM
 * that was out of sight for a moment; or deleted by a run that was cut off before it could record that. An orphan that
 * somebody else deleted is missing from now on.
 */
function endedOrphans(differences: readonly ResourceDifference[], before: State, live: Live): PlannedChange[] {
  if (before.orphans.size === 0) return [];
  const kept = new Set<string>();
  for (const { kind, recorded, live, change } of differences) {
    if (recorded?.id === undefined || change?.action === "replace" || change?.reason === "gone") continue;
    // What is deleted has its record until then.
    kept.add(`${kind}:${recorded.id}`);
    if (live !== undefined && change?.action !== "delete")
      for (const { id } of disksOf(ofKind(recorded, "vm") ?? {})) kept.add(`volume:${id}`);
  }
  return [...before.orphans].flatMap(([key, orphan]): PlannedChange[] => {
    const { kind, id, missingSince, deleting } = orphan;
    const gone = kind !== "image" && live.of[kind].byId.get(id)?.seen === "gone";
    if (kept.has(key) || (gone && deleting === true)) return [{ type: "orphan", key, orphan: null }];
    return gone && missingSince === undefined ? [{ type: "missing", orphan }] : [];
  });
}

/** The change that a snapshot was taken for is done or not wanted any more: no later run has to find that snapshot. */
function unneededSnapshots(pairs: readonly Pair[], steps: readonly Step[]): StateChange[] {
  const taken = pairs.filter(
    ({ intent, recorded }) =>
      intent?.operation === "vm.snapshot" && !(isAskedSnapshot(intent) && recorded?.id !== undefined),
  );
  if (taken.length === 0) return [];
  const wanted = new Set(steps.flatMap((step) => (step.action.operation === "vm.snapshot" ? [step.address] : [])));
  return taken.flatMap(({ address }) => (wanted.has(address) ? [] : [{ type: "intent", address, intent: null }]));
}
