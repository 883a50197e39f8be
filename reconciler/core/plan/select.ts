/**
 * Which resources a plan is made for: those the targets name and what they stand on, without those whose record cannot
 * be read. What a narrow plan would pull away under somebody it leaves out is an error.
 */

import { leavesOthers } from "../../kinds/group/compare-rules";
import type { GroupDifference } from "../../kinds/group/diff";
import { hangsOn } from "../../kinds/volume/diff";
import { canonicalLiveRule } from "../canonical/rules";
import type { DiffContext, PlanOptions } from "../diff/context";
import type { Pair } from "../diff/pair";
import { type Address, blockOf, componentsAround, isMeant } from "../model/address";
import type { Desired, DesiredResource } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { valueSeen } from "../model/evidence";
import { computedOfResource, guardedAsDeclared, idsNamedBy, referencesIn } from "../model/facts";
import { type AddressOf, addressesByIdentity, identity, lookUpIn } from "../model/identity";
import { ofKind } from "../model/kinds";
import { findSeen, sight } from "../model/live";
import type { RecordedGroup, RecordedResource, State } from "../model/recorded";
import { hostOf } from "../model/relations";
import { groupIdNamed, type Rule } from "../model/rule";
import { inShell } from "../text/in-shell";
import { lazily } from "../text/lazily";
import { fewOf } from "../text/list-text";
import { nearestName } from "../text/nearest";
import { appendTo, fieldsIn, groupedBy } from "../text/objects";
import { withoutUsers } from "../text/outside-policy";
import type { Step } from "./step";

/** `destroy` is a plan for an empty file. The outputs of what it leaves out stay. */
export function whatIsMeant(desired: Desired, { destroy, targets = [], excludes = [] }: PlanOptions): Desired {
  if (destroy !== true) return desired;
  const isWhole = targets.length === 0 && excludes.length === 0;
  const outputs = isWhole ? [] : (desired.outputs ?? []);
  return { ...desired, resources: [], imports: [], moved: [], removed: [], outputs, leftOut: desired };
}

/** What is recorded, protected as well as the blocks that are left out. */
export function guardedBy(blocks: ReadonlyMap<Address, DesiredResource>, state: State): State {
  if (blocks.size === 0) return state;
  const resources = new Map(
    [...state.resources].map(([address, record]) => {
      const block = blocks.get(address);
      return [address, block === undefined ? record : guardedAsDeclared(record, block)] as const;
    }),
  );
  return { ...state, resources };
}

export const selectTargets = (
  pairs: readonly Pair[],
  { targets = [], excludes = [] }: PlanOptions,
  diagnostics: Diagnostic[],
): readonly Pair[] => withoutExcluded(targetedOnly(pairs, targets), pairs, excludes, diagnostics);

function targetedOnly(pairs: readonly Pair[], targets: readonly Address[]): readonly Pair[] {
  if (targets.length === 0) return pairs;
  const byAddress = new Map(pairs.map((pair) => [pair.address, pair]));
  const named = [...byAddress.keys()].filter((address) => targets.some((target) => isMeant(address, target)));
  // The set grows while it is walked.
  const selected = new Set(named);
  for (const address of selected) for (const next of referencesOf(byAddress.get(address)?.desired)) selected.add(next);
  return pairs.filter((pair) => selected.has(pair.address));
}

/** A resource that depends on one that is left out is left out too: it may need what this plan does not do. */
function withoutExcluded(
  selected: readonly Pair[],
  pairs: readonly Pair[],
  excludes: readonly Address[],
  diagnostics: Diagnostic[],
): readonly Pair[] {
  if (excludes.length === 0) return selected;
  const out = new Set<Address>();
  for (const { address } of pairs) if (excludes.some((named) => isMeant(address, named))) out.add(address);
  const named = new Set(out);
  const dependents = dependentsOf(pairs);
  // The set grows while it is walked.
  for (const address of out) for (const dependent of dependents.get(address) ?? []) out.add(dependent.address);
  for (const { address, desired } of selected)
    if (out.has(address) && !named.has(address))
      diagnostics.push({
        severity: "note",
        code: "plan/left-out",
        summary: `${address} is left out as well, because it depends on a resource that --exclude names`,
        address,
        source: desired?.source,
      });
  return selected.filter(({ address }) => !out.has(address));
}

function dependentsOf(pairs: readonly Pair[]): Map<Address, Pair[]> {
  const dependents = new Map<Address, Pair[]>();
  const addressOf = lookUpIn(addressesByIdentity(pairs.flatMap(({ recorded }) => recorded ?? [])));
  for (const pair of pairs)
    for (const reference of pair.desired === undefined ? hostsRecorded(pair, addressOf) : referencesOf(pair.desired))
      appendTo(dependents, reference, pair);
  return dependents;
}

/** What is not declared any more still hangs where it was put, and cannot come off without a touch of that. */
function hostsRecorded({ kind, recorded, forget }: Pair, addressOf: AddressOf): Address[] {
  const host = hostOf[kind];
  if (recorded === undefined || host === undefined || forget) return [];
  return idsNamedBy(recorded).flatMap((id) => addressOf(identity(host.kind, id)) ?? []);
}

export function referencesOf(desired: DesiredResource | undefined): Address[] {
  if (desired === undefined) return [];
  return [
    ...referencesIn(desired).flatMap((reference) => ("address" in reference ? [reference.address] : [])),
    ...computedOfResource(desired).map(({ address }) => address),
  ];
}

interface Addressed {
  readonly address: Address;
}

/**
 * Addresses in the flags that choose what a plan is for. Those of targets and excludes may be that of a block or a
 * component.
 */
export function unknownAddresses(
  { targets = [], excludes = [], replace = [] }: PlanOptions,
  all: readonly Addressed[],
): Diagnostic[] {
  if (targets.length + excludes.length + replace.length === 0) return [];
  const known = new Set(all.map(({ address }) => address));
  const several = new Set([...known].flatMap((address) => [blockOf(address), ...componentsAround(address)]));
  const named = new Set([...known, ...several]);
  const unknown = (addresses: readonly Address[], flag: string, may: ReadonlySet<Address>): Diagnostic[] =>
    addresses.filter((address) => !may.has(address)).map((address) => unknownAddress(address, may, flag, "error"));
  return [
    ...unknown(targets, "--target", named),
    ...unknown(excludes, "--exclude", named),
    ...unknown(replace, "--replace", known),
  ];
}

/**
 * The `--exclude` that leaves an address out: its own, or those of what it depends on. `undefined`: the targets leave it
 * out.
 */
export function excludedBy(
  pairs: readonly Pair[],
  { targets = [], excludes = [] }: PlanOptions,
): (address: Address) => string | undefined {
  const meant = lazily(() => new Set(targetedOnly(pairs, targets).map(({ address }) => address)));
  return (address) => {
    if (!meant().has(address)) return undefined;
    const own = excludes.filter((named) => isMeant(address, named));
    return (own.length > 0 ? own : excludes).map((named) => `--exclude ${inShell(named)}`).join(" ");
  };
}

/** A resource that is to be replaced and that this plan leaves out would stay as it is, without a word. */
export function replacedAndLeftOut(
  options: PlanOptions,
  pairs: readonly Pair[],
  targeted: readonly Addressed[],
): Diagnostic[] {
  const { replace = [] } = options;
  const meant = new Set(targeted.map(({ address }) => address));
  const excludes = excludedBy(pairs, options);
  return pairs.flatMap(({ address }) => {
    if (!replace.includes(address) || meant.has(address)) return [];
    const flags = excludes(address);
    const named = `--replace ${inShell(address)}`;
    const fix = flags === undefined ? withTarget(address) : `leave out ${named}, or ${flags}`;
    return [tooNarrow(address, `${named} names what this plan leaves out`, fix)];
  });
}

const withTarget = (address: Address): string => `--target ${inShell(address)} as well`;

const tooNarrow = (address: Address, summary: string, fix: string): Diagnostic => ({
  severity: "error",
  code: "plan/target-too-narrow",
  summary,
  fix,
  address,
});

/** A VM that `--exclude` leaves out serves on: it is not stopped so that something comes off it. */
export function excludedAndStopped(
  steps: readonly Step[],
  options: PlanOptions,
  pairs: readonly Pair[],
  targeted: readonly Addressed[],
): Diagnostic[] {
  if (options.excludes === undefined) return [];
  const meant = new Set(targeted.map(({ address }) => address));
  const excludes = excludedBy(pairs, options);
  const stops = groupedBy(steps, ({ downtimeOf = "" }) => (meant.has(downtimeOf) ? undefined : downtimeOf));
  return [...stops].flatMap(([address, [{ title }]]) => {
    const flags = excludes(address);
    if (flags === undefined) return [];
    const summary = `--exclude leaves out ${address}, and this plan would take it down: ${title}`;
    return [tooNarrow(address, summary, `leave out ${flags}, or exclude what comes off it as well`)];
  });
}

/**
 * Permissions in flags that permit nothing. They are warnings: a script goes on giving its permission when what it
 * permitted is done.
 */
export function idlePermissions(
  given: Readonly<Record<string, readonly string[]>>,
  all: readonly Addressed[],
): Diagnostic[] {
  const known = new Set(all.map(({ address }) => address));
  return Object.entries(given).flatMap(([flag, addresses]) =>
    addresses
      .filter((address) => address !== "all" && !known.has(address))
      .map((address) => unknownAddress(address, known, `--${flag}`, "warning")),
  );
}

/** `may`: what the flag may name. */
function unknownAddress(
  address: Address,
  may: ReadonlySet<Address>,
  flag: string,
  severity: Diagnostic["severity"],
): Diagnostic {
  const whole = blockOf(address);
  const of = [...may].filter((one) => one !== whole && isMeant(one, whole));
  const near = may.has(`${address}/`)
    ? `${address}/`
    : ([...may].find((one) => one.endsWith(`.${address}`)) ?? nearestName(address, of.length > 0 ? of : may));
  return {
    severity,
    code: "plan/unknown-address",
    summary: `${flag} ${withoutUsers(address)} names nothing that is declared or recorded`,
    detail: of.length === 0 ? undefined : `${whole} has ${fewOf(of, 8)}`,
    fix: near === undefined ? undefined : `did you mean ${near}?`,
    address: withoutUsers(address),
  };
}

/**
 * Nothing is known of a resource with a damaged record, so every recorded resource that is connected to it is left as
 * it is. A new resource that depends on one of them waits as well.
 */
export function setAsideUnreadable(pairs: readonly Pair[], diagnostics: Diagnostic[]): readonly Pair[] {
  const aside = new Set<Address>();
  for (const pair of pairs) if (pair.quarantined) aside.add(pair.address);
  if (aside.size === 0) return pairs;
  const dependents = dependentsOf(pairs);
  // The queue grows while it is walked.
  const queue = [...aside];
  for (const unreadable of queue) {
    for (const dependent of dependents.get(unreadable) ?? []) {
      if (aside.has(dependent.address)) continue;
      aside.add(dependent.address);
      if (dependent.recorded === undefined) queue.push(dependent.address);
      diagnostics.push({
        severity: "warning",
        code: "plan/left-alone",
        summary: `${dependent.address} is left as it is, because the record of ${unreadable} cannot be read`,
        address: dependent.address,
        source: dependent.desired?.source,
      });
    }
  }
  return pairs.filter((pair) => !aside.has(pair.address));
}

function hostUnder(
  recorded: RecordedResource,
  isDeclared: boolean,
  key: string,
  context: DiffContext,
): string | undefined {
  const volume = ofKind(recorded, "volume");
  if (isDeclared && volume !== undefined) {
    const sighting = sight(context.live, "volume", volume.id);
    return sighting.seen === "gone" ? undefined : hangsOn(volume, valueSeen(sighting), context);
  }
  const id = fieldsIn(recorded)[key];
  return typeof id === "string" ? id : undefined;
}

/** The rules that nobody declares and that stay where they are. */
function rulesLeft({ desired }: Pair, recorded: RecordedGroup, context: DiffContext): readonly Rule[] {
  const shown = findSeen(context.live, "group", recorded.id)?.rules;
  const declared = ofKind(desired, "group");
  const isLeft = declared !== undefined && leavesOthers(declared, context);
  return (isLeft ? shown?.map(canonicalLiveRule) : undefined) ?? recorded.left ?? [];
}

interface Selected {
  readonly all: readonly Pair[];
  /** Those that the flags mean. */
  readonly targeted: readonly Pair[];
  /** Those of them that this plan is made for. */
  readonly pairs: readonly Pair[];
}

/** Volumes on a VM that goes and rules towards a group that goes, which this plan leaves as they are. */
export function leftOutDependents(
  { all, targeted, pairs }: Selected,
  deletedVms: ReadonlySet<string>,
  groups: readonly GroupDifference[],
  context: DiffContext,
): Diagnostic[] {
  const selected = new Set(pairs.map((pair) => pair.address));
  const aside = new Set(targeted);
  const excludes = excludedBy(all, context.options);
  const goingGroups = new Set<string>();
  const replacedGroups = new Set<string>();
  for (const group of groups) {
    if (group.action === "delete" || group.action === "replace") goingGroups.add(group.id);
    if (group.action === "replace") replacedGroups.add(group.id);
  }
  return all.flatMap((pair): Diagnostic[] => {
    const { address, desired, recorded } = pair;
    if (selected.has(address) || recorded === undefined) return [];
    const host = hostOf[recorded.kind];
    // What this file does not declare is as recorded: a plan for one resource knows its neighbours by id.
    const isDeclared = desired !== undefined;
    const on = host === undefined ? undefined : hostUnder(recorded, isDeclared, host.recorded, context);
    const group = ofKind(recorded, "group");
    const left = group === undefined ? [] : rulesLeft(pair, group, context);
    const isNamed = (among: readonly Rule[], going: ReadonlySet<string>): boolean =>
      among.some((rule) => going.has(groupIdNamed(rule) ?? ""));
    // A rule that nobody declares follows a group that is replaced, and goes with one that goes.
    if (!deletedVms.has(on ?? "") && !isNamed(group?.rules ?? [], goingGroups) && !isNamed(left, replacedGroups))
      return [];
    const what = host === undefined ? "a group that its rules name" : "the VM it is attached to";
    if (aside.has(pair))
      return [
        {
          severity: "error",
          code: "plan/left-alone",
          summary: `${address} is left as it is, and this plan would take away ${what}`,
          detail: "Repair the record that cannot be read first, or leave what goes out of the plan with --exclude.",
          address,
          source: desired?.source,
        },
      ];
    const flags = excludes(address);
    const summary = `${flags === undefined ? "the targets leave" : "--exclude leaves"} out ${address}, and this plan would take away ${what}`;
    const fix = flags === undefined ? withTarget(address) : `leave out ${flags}, or exclude ${what} as well`;
    return [tooNarrow(address, summary, fix)];
  });
}
