/**
 * What the state learns although nothing is sent: a lifecycle flag, another spelling of the same value, the id of a
 * data volume that a record showed for the first time, a new address. A run in which it learns nothing writes nothing.
 */

import type { Difference } from "../diff/all";
import { recordRules } from "../diff/group";
import type { Pair } from "../diff/pair";
import type { Address } from "../model/address";
import type { DesiredGroup, Reference } from "../model/desired";
import type { Live } from "../model/live";
import {
  movedIntent,
  type PlannedChange,
  type RecordedGroup,
  type RecordedResource,
  type RecordedVm,
  type RecordedVolume,
  type State,
  type StateChange,
} from "../model/recorded";
import { deepEqual } from "../text/deep-equal";
import { vanished } from "./missing";
import { groupRecord, holdBack, vmRecord, volumeRecord } from "./records";
import type { Step } from "./step";

export function bookkeeping(
  differences: readonly Difference[],
  pairs: readonly Pair[],
  before: State,
  live: Live,
  steps: readonly Step[],
  resolve: (group: Reference) => string | undefined,
): PlannedChange[] {
  const changes: PlannedChange[] = [...vanished(differences, pairs, before)];
  const moved = new Map<Address, Address>();
  for (const pair of pairs) if (pair.movedFrom !== undefined) moved.set(pair.address, pair.movedFrom);
  const intents = new Set(pairs.filter((pair) => pair.intent !== undefined).map((pair) => pair.address));
  for (const difference of differences) {
    // Looked for and not found: it was never made, and what is found under its name from now on is another's.
    if (intents.has(difference.address) && isOver(difference))
      changes.push({ type: "intent", address: difference.address, intent: null });
    const next = nextRecord(difference, resolve);
    const from = moved.get(difference.address);
    if (from !== undefined) {
      changes.push({ type: "resource", address: from, record: null }, ...moveIntent(from, difference, before));
      if (next !== undefined || difference.recorded !== undefined)
        changes.push({ type: "resource", address: difference.address, record: (next ?? difference.recorded)! });
      continue;
    }
    if (next !== undefined && !deepEqual(next, before.resources.get(difference.address)))
      changes.push({ type: "resource", address: difference.address, record: next });
  }
  changes.push(...unneededSnapshots(pairs, steps), ...endedOrphans(differences, before, live));
  return changes;
}

/** A create that is open is looked for under the new address from now on, and under that one alone. */
function moveIntent(from: Address, difference: Difference, { intents }: State): StateChange[] {
  const { address } = difference;
  const intent = intents.get(from);
  if (intent === undefined) return [];
  const gone: StateChange = { type: "intent", address: from, intent: null };
  return isOver(difference) ? [gone] : [gone, { type: "intent", address, intent: movedIntent(intent, address) }];
}

const isOver = (difference: Difference): boolean =>
  difference.change?.action === "create" ||
  (difference.desired === undefined &&
    difference.change === undefined &&
    difference.diagnostics.length === 0 &&
    !("idUnknown" in difference && difference.idUnknown === true));

/**
 * Written down before the step that would have left it behind, or for a VM that was out of sight for a moment; or
 * deleted by a run that was cut off before it could say so. What somebody else deleted is missing from now on.
 */
function endedOrphans(differences: readonly Difference[], before: State, live: Live): PlannedChange[] {
  if (before.orphans.size === 0) return [];
  const kept = new Set<string>();
  for (const { kind, recorded, live, change } of differences) {
    if (recorded?.id === undefined || change?.action === "replace" || change?.action === "delete") continue;
    if (change?.reason === "gone") continue;
    kept.add(`${kind}:${recorded.id}`);
    if (recorded.kind === "vm" && live !== undefined) kept.add(`volume:${recorded.dataVolumeId}`);
  }
  return [...before.orphans].flatMap(([key, orphan]): PlannedChange[] => {
    const { kind, id, missingSince, deleting } = orphan;
    const gone = kind === "volume" && live.volumes.get(id)?.seen === "gone";
    if (kept.has(key) || (gone && deleting === true)) return [{ type: "orphan", key, orphan: null }];
    return gone && missingSince === undefined ? [{ type: "missing", orphan }] : [];
  });
}

/** What a snapshot was taken for is done or not wanted any more, so it is nobody's to be found again. */
function unneededSnapshots(pairs: readonly Pair[], steps: readonly Step[]): StateChange[] {
  const taken = pairs.filter(({ intent }) => intent?.operation === "vm.snapshot");
  if (taken.length === 0) return [];
  const wanted = new Set(steps.flatMap((step) => (step.action.operation === "vm.snapshot" ? [step.address] : [])));
  return taken.flatMap(({ address }) => (wanted.has(address) ? [] : [{ type: "intent", address, intent: null }]));
}

/** What a group was told without an answer, less what is compared now and found to be as wanted either way. */
function stillOpen(
  { updating }: RecordedGroup,
  desired: DesiredGroup,
  pending: readonly string[],
): RecordedGroup["updating"] {
  if (updating === undefined) return undefined;
  const { name, description } = updating;
  const open = {
    ...(name !== undefined && pending.includes("name") ? { name } : {}),
    ...(description !== undefined && (pending.includes("description") || desired.description === undefined)
      ? { description }
      : {}),
  };
  return Object.keys(open).length === 0 ? undefined : open;
}

/** `undefined` where a step of its own writes the record, or nothing is recorded. */
function nextRecord(
  difference: Difference,
  resolve: (group: Reference) => string | undefined,
): RecordedResource | undefined {
  const { recorded, desired, change } = difference;
  if (recorded === undefined || desired === undefined) return undefined;
  if (change !== undefined && change.action !== "update" && change.action !== "replace") return undefined;
  const pending = (change?.fields ?? []).map((field) => field.field);
  switch (difference.kind) {
    case "vm": {
      const old = recorded as RecordedVm;
      if (difference.idUnknown === true || change?.action === "replace") return undefined;
      const settled =
        old.building === true &&
        difference.live !== undefined &&
        difference.live.phase !== "changing" &&
        difference.live.phase !== "failed";
      const decided =
        old.resizing !== undefined &&
        difference.live !== undefined &&
        difference.verify === undefined &&
        difference.live.phase !== "changing";
      const runs = difference.live?.phase === "running";
      const next: RecordedVm = {
        ...old,
        ...vmRecord(difference.desired!, difference.imageId ?? old.imageId),
        id: old.id,
        deleting: undefined,
        power: difference.desired!.power ?? undefined,
        ...(difference.dataVolumeId === undefined ? {} : { dataVolumeId: difference.dataVolumeId }),
        ...(settled ? { building: undefined } : {}),
        ...(decided ? { resizing: undefined } : {}),
        ...(old.stoppedForFlush === true && (difference.desired!.power !== undefined || runs)
          ? { stoppedForFlush: undefined }
          : {}),
        ...(old.dataVolumeDetached === true &&
        difference.dataVolumeOff !== true &&
        difference.live?.volumes !== undefined
          ? { dataVolumeDetached: undefined }
          : {}),
      };
      const { lifecycle } = difference.desired!;
      const phase = difference.live?.phase;
      const undecided = [
        ...pending,
        ...lifecycle.ignoreChanges,
        ...(difference.verify === undefined ? [] : ["flavor_id"]),
        ...(lifecycle.onImageChange === "ignore" ? ["image_id"] : []),
        // On its way somewhere: whether it runs is compared when it has arrived.
        ...(phase === undefined || phase === "running" || phase === "stopped" ? [] : ["power"]),
      ];
      return holdBack(next, old, undecided);
    }
    case "volume": {
      const old = recorded as RecordedVolume;
      const next: RecordedVolume = {
        ...old,
        ...volumeRecord(difference.desired!),
        id: old.id,
        deleting: undefined,
        ...(difference.attachedTo === undefined
          ? { attachedTo: undefined }
          : { attachedTo: difference.desired!.attachTo === undefined ? old.attachedTo : difference.attachedTo }),
        ...(difference.live?.attachedTo === undefined || pending.includes("attach_to") ? {} : { attaching: undefined }),
      };
      return holdBack(next, old, [...pending, ...difference.desired!.lifecycle.ignoreChanges]);
    }
    case "group": {
      if (change?.action === "replace") return undefined;
      const old = recorded as RecordedGroup;
      const { added, removed } = difference;
      const next: RecordedGroup = {
        ...old,
        ...groupRecord(
          difference.desired!,
          resolve,
          difference.platformRules.length > 0 ? difference.platformRules : old.platformRules,
        ),
        id: old.id,
        deleting: undefined,
        updating: stillOpen(old, difference.desired!, pending),
        // What is there already, and what is there still; the steps of each rule say the rest.
        rules: recordRules(
          [...difference.desired!.rules.filter((rule) => !added.includes(rule)), ...removed.map(({ rule }) => rule)],
          resolve,
        ),
      };
      return holdBack(next, old, [
        ...pending.filter((field) => field !== "rules"),
        ...difference.desired!.lifecycle.ignoreChanges,
      ]);
    }
    default:
      return difference satisfies never;
  }
}
