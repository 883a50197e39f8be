/**
 * What the record of each kind says after looking alone, before any request: everything on which the file and the
 * service agree, and the former value of every field that a step is still to change.
 */

import { isNameUnknown } from "../../kinds/group/changed-fields";
import { type GroupDifference, recordRules } from "../../kinds/group/diff";
import type { UsualDifference } from "../../kinds/usual/diff";
import type { VmDifference } from "../../kinds/vm/diff";
import { commandRecorded, debtsLeft } from "../../kinds/vm/guest-steps";
import { isFlushHeld, isLabel, type VolumeDifference } from "../../kinds/volume/diff";
import { canonicalLiveRule, referenceText, ruleKey } from "../canonical/rules";
import type { ResourceDifference } from "../diff/all";
import { stillUnseen } from "../diff/effect";
import { type DesiredGroup, type DesiredVm, leftToOthers, powerDeclared, type Reference } from "../model/desired";
import { referencesIn } from "../model/facts";
import { type FieldRow, fieldsOf } from "../model/fields";
import { addressesShown, type LiveOf, type LiveVm, powerShown } from "../model/live";
import type { RecordedGroup, RecordedResource, RecordedVm, RecordedVolume } from "../model/recorded";
import { hostOf } from "../model/relations";
import type { Rule } from "../model/rule";
import { deepEqual } from "../text/deep-equal";
import { fieldsIn, ifAny, keysOf, onlyDefined } from "../text/objects";
import { groupRecord, holdBack, plainRecord, vmRecord, volumeRecord } from "./records";

export type ResolveGroup = (group: Reference) => string | undefined;

/** `undefined` where a step of its own writes the record, or nothing is recorded. */
export function nextRecord(difference: ResourceDifference, resolve: ResolveGroup): RecordedResource | undefined {
  switch (difference.kind) {
    case "vm":
      return nextVm(difference);
    case "volume":
      return nextVolume(difference);
    case "group":
      return nextGroup(difference, resolve);
    default:
      return nextUsual(difference satisfies never);
  }
}

/** Of a kind that is its rows and its relations alone. */
function nextUsual(difference: UsualDifference): RecordedResource | undefined {
  const { action, kind, recorded: old, desired, hangsOn } = difference;
  if (old === undefined || desired === undefined || (action !== "none" && action !== "update")) return undefined;
  const host = hostOf[kind];
  // Where the file does not say where it hangs, only what this tool put there is recorded.
  const isTold = hangsOn === undefined || referencesIn(desired).length > 0;
  const on = host === undefined || !isTold ? {} : { [host.recorded]: hangsOn };
  const record: Partial<RecordedResource> = { ...plainRecord(desired), ...on, deleting: undefined };
  const next = revised(old, record, unseenNow(old, difference.live, difference));
  return holdBack(next, old, [...pendingFields(difference), ...ignoredFields(difference)]);
}

/**
 * What the file leaves alone stays as it is recorded, until the service shows what the file says. `alike`: fields that
 * are not written in both in one form, and say the same.
 */
function ignoredFields(
  { desired, live }: Pick<ResourceDifference, "desired" | "live">,
  alike: readonly string[] = [],
): readonly string[] {
  if (desired === undefined) return [];
  const [wished, shown] = [fieldsIn(desired), fieldsIn(live ?? {})];
  const rows = Object.entries<FieldRow>(fieldsOf[desired.kind]);
  const agrees = new Set([
    ...alike,
    ...rows.flatMap(([key, { field }]) => (shown[key] !== undefined && shown[key] === wished[key] ? [field] : [])),
  ]);
  return leftToOthers(desired).filter((field) => !agrees.has(field));
}

const pendingFields = ({ change }: Pick<ResourceDifference, "change">): readonly string[] =>
  (change?.fields ?? []).map(({ field }) => field);

/** The same record where nothing differs: most plans change little, and comparing costs less than copying. */
function revised<R extends RecordedResource>(old: R, ...parts: readonly Partial<R>[]): R {
  let next = old;
  for (const part of parts)
    for (const key in part) if (!deepEqual(next[key], part[key])) next = { ...next, [key]: part[key] };
  return next;
}

/** Nothing where nothing was unseen: a record without the list stays as it is. */
const unseenNow = (
  old: RecordedResource,
  live: LiveOf[RecordedResource["kind"]] | undefined,
  { action }: Pick<ResourceDifference, "action">,
): Pick<RecordedResource, "unseen"> =>
  old.unseen === undefined ? {} : { unseen: ifAny(stillUnseen(old.unseen, live, action === "none")) };

interface KnownVm {
  readonly difference: VmDifference;
  readonly desired: DesiredVm;
  readonly old: RecordedVm;
}

/** What a record remembers of work under way, and when that work is over. */
const isMemoryOver: Readonly<
  Record<
    "building" | "resizing" | "stoppedForFlush" | "dataVolumeDetached" | "dataVolumeMoving" | "stillToSet",
    (vm: KnownVm, live: LiveVm | undefined) => boolean
  >
> = {
  building: (_, live) => live !== undefined && live.phase !== "changing" && live.phase !== "failed",
  resizing: ({ difference }, live) =>
    live !== undefined && live.phase !== "changing" && difference.verify === undefined,
  stoppedForFlush: ({ desired }, live) => powerDeclared(desired) !== undefined || live?.phase === "running",
  dataVolumeDetached: ({ difference, old }, live) =>
    difference.dataVolumeOff !== true && (live?.volumes !== undefined || old.dataVolumeMoving !== undefined),
  // Where nothing shows where the data volume is, there is no plan.
  dataVolumeMoving: ({ difference }) => difference.dataVolumeOff !== true,
  stillToSet: ({ difference }, live) => powerShown(live) !== undefined && !pendingFields(difference).includes("power"),
};

const workUnderWay = keysOf(isMemoryOver);

function nextVm(difference: VmDifference): RecordedVm | undefined {
  const { action, recorded: old, desired, live } = difference;
  if (old === undefined || desired === undefined || difference.idUnknown === true) return undefined;
  if (action !== "none" && action !== "update") return undefined;
  const vm: KnownVm = { difference, desired, old };
  const known = {
    deleting: undefined,
    power: desired.power,
    dataVolumeId: difference.dataVolumeId ?? old.dataVolumeId,
    disks: difference.disks,
    afterReady: commandRecorded(old.afterReady, desired.afterReady),
    afterAttach: commandRecorded(old.afterAttach, desired.afterAttach),
    owes: debtsLeft(old, desired),
  };
  const over: Partial<Record<keyof typeof isMemoryOver, undefined>> = {};
  for (const key of workUnderWay) if (old[key] !== undefined && isMemoryOver[key](vm, live)) over[key] = undefined;
  const record = vmRecord(desired, difference.imageId ?? old.imageId);
  const next = revised<RecordedVm>(old, record, known, addressesShown(live), over, unseenNow(old, live, difference));
  return holdBack(next, old, [...pendingFields(difference), ...undecidedFields(vm)]);
}

function undecidedFields({ difference, desired: { power } }: KnownVm): readonly string[] {
  const { live, verify } = difference;
  return [
    ...ignoredFields(difference, difference.alike),
    ...(verify === undefined ? [] : ["flavor_id"]),
    // The VM is in transition: whether it runs as the file says is compared when it has arrived.
    ...(power === undefined || live === undefined || powerShown(live) !== undefined ? [] : ["power"]),
  ];
}

function nextVolume(difference: VolumeDifference): RecordedVolume | undefined {
  const { action, recorded: old, desired, attachedTo } = difference;
  if (old === undefined || desired === undefined) return undefined;
  if (action !== "none" && action !== "update" && action !== "replace") return undefined;
  const pending = pendingFields(difference);
  const isOpen = pending.includes("attach_to");
  const next = revised<RecordedVolume>(old, volumeRecord(desired), {
    deleting: undefined,
    afterAttach: commandRecorded(old.afterAttach, desired.afterAttach),
    owes: debtsLeft(old, desired),
    // Where the file does not say where the volume hangs, only an attachment that this tool made is recorded.
    attachedTo: attachedTo === undefined || desired.attachTo !== undefined ? attachedTo : old.attachedTo,
    attaching: isOpen ? old.attaching : undefined,
    detaching: isOpen ? old.detaching : undefined,
    goesBackTo: attachedTo === undefined ? old.goesBackTo : undefined,
    stoppedVm: difference.stoppedVm,
    stillToSet: isOpen ? old.stillToSet : undefined,
    ...unseenNow(old, difference.live, difference),
  });
  const hangsAsSaid = difference.wantedOn?.id === attachedTo;
  const held = [...pending, ...ignoredFields(difference, hangsAsSaid ? ["attach_to"] : [])];
  if (isFlushHeld(difference)) held.push("flush");
  return holdBack(next, old, isLabel(desired, old) ? [...held, "name"] : held);
}

function nextGroup(difference: GroupDifference, resolve: ResolveGroup): RecordedGroup | undefined {
  const { action, recorded: old, desired, added, removed, cascaded, platformRules, left, owed } = difference;
  if (old === undefined || desired === undefined || (action !== "none" && action !== "update")) return undefined;
  const pending = pendingFields(difference);
  // Which desired rules exist already, and which rules to remove, or that go with another group, still exist. The step
  // of each rule records the rest.
  const alone = rulesLeftAlone(difference, resolve);
  const applied = new Set(old.rules.map((rule) => ruleKey(rule)));
  const falling = cascaded.filter(({ rule }) => applied.has(ruleKey(rule)));
  const going = [...removed, ...falling].map(({ rule }) => rule);
  const there = alone ?? [...desired.rules.filter((rule) => !added.includes(rule)), ...going];
  const platform = platformRules.length > 0 ? platformRules : old.platformRules;
  const next = revised<RecordedGroup>(old, groupRecord(desired, resolve, platform, there), {
    deleting: undefined,
    left: ifAny([...recordRules(left, resolve), ...owed]),
    stillToSet: added.length === 0 ? undefined : old.stillToSet,
    updating: stillOpen(old, desired, pending),
    ...unseenNow(old, difference.live, difference),
  });
  const ignored = ignoredFields(difference, alone === undefined ? [] : ["rules"]);
  const held = [...pending.filter((field) => field !== "rules"), ...ignored];
  return holdBack(next, old, isNameUnknown(desired, old, difference.live) ? [...held, "name"] : held);
}

/**
 * What is recorded of rules that the file leaves alone: each is as it was, until the service shows what the file says of
 * it. `undefined`: the file does not leave them alone, or nobody sees them.
 */
export function rulesLeftAlone(difference: GroupDifference, resolve: ResolveGroup): Rule[] | undefined {
  const { desired, live, recorded, cascaded } = difference;
  if (desired?.lifecycle.ignoreChanges.includes("rules") !== true || live?.rules === undefined) return undefined;
  const keyOf = (rule: Rule): string => ruleKey(rule, (group) => resolve(group) ?? referenceText(group));
  const keysIn = (rules: readonly Rule[]): ReadonlySet<string> => new Set(rules.map(keyOf));
  const before = recorded?.rules ?? [];
  const [known, declared, shown] = [before, desired.rules, live.rules.map(canonicalLiveRule)].map(keysIn);
  const falls = keysIn(cascaded.map(({ rule }) => rule));
  return [
    ...before.filter((rule) => !falls.has(keyOf(rule)) && (shown?.has(keyOf(rule)) || declared?.has(keyOf(rule)))),
    ...desired.rules.filter((rule) => shown?.has(keyOf(rule)) && !known?.has(keyOf(rule))),
  ];
}

/**
 * The name and description of an update whose answer was lost, without those that are compared now and found as desired
 * either way.
 */
function stillOpen(
  { updating }: RecordedGroup,
  desired: DesiredGroup,
  pending: readonly string[],
): RecordedGroup["updating"] {
  if (updating === undefined) return undefined;
  const { name, description } = updating;
  const open = onlyDefined({
    name: name !== undefined && pending.includes("name") ? name : undefined,
    description:
      description !== undefined && (pending.includes("description") || desired.description === undefined)
        ? description
        : undefined,
  });
  return ifAny(open);
}
