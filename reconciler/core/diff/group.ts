/**
 * What differs about the groups. They are looked at together, because a rule may name another group: replacing or
 * deleting that one takes the rule with it, and the rule must then point at the new one.
 */
import { describeRule, type GroupIdentity, ruleKey, sortRules } from "../canonical/rules";
import type { Address } from "../model/address";
import type { DesiredGroup, Reference } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { groupFields } from "../model/fields";
import type { LiveGroup } from "../model/live";
import type { RecordedGroup, RetiredGroup, State } from "../model/recorded";
import type { Rule } from "../model/rule";
import type { Change, Difference, FieldChange, Reason } from "./changes";
import { fieldChange, movedField } from "./changes";
import { type DiffContext, groupsSeen } from "./context";
import { explain } from "./explain";
import { type Found, find, type Vanished } from "./find";
import { goneNote, letGo, neverMade, noLongerExists } from "./findings";
import { type Comparison, comparison, isPlatformShaped, type LiveRulePair } from "./group-rules";
import type { Pair } from "./pair";

export interface GroupDifference extends Difference<DesiredGroup, RecordedGroup, LiveGroup> {
  readonly kind: "group";
  readonly id?: string;
  readonly adopts?: boolean;
  /** Rules to add and, one by one, to take away. */
  readonly added: readonly Rule[];
  readonly removed: readonly LiveRulePair[];
  /** Rules that vanish because the group they name is deleted in this plan. */
  readonly cascaded: readonly LiveRulePair[];
  readonly platformRules: readonly string[];
  /** Old groups of former replacements that still wait to be deleted. */
  readonly retired: readonly RetiredGroup[];
}

export function diffGroups(pairs: readonly Pair[], context: DiffContext, state: State): GroupDifference[] {
  const found = new Map(pairs.map((pair) => [pair.address, find(pair, groupsSeen(context), context)]));
  const dying = dyingIds(pairs, found, state);
  const ids = new Map<Address, string>();
  for (const [address, entry] of found) if (entry.how === "known") ids.set(address, entry.id);

  // First who is replaced, then everything else again with that known: a rule to a replaced group points at the new one.
  let identify = identifyBy(ids, new Set());
  let compared = compareGroups(pairs, found, context, identify, dying);
  const replaced = new Set<Address>();
  for (const [address, { replaces }] of compared) if (replaces) replaced.add(address);
  if (replaced.size > 0) {
    for (const address of replaced) dying.add(ids.get(address)!);
    identify = identifyBy(ids, replaced);
    compared = compareGroups(pairs, found, context, identify, dying);
  }
  return pairs.map((pair) => {
    const { address } = pair;
    return diffGroup(pair, found.get(address)!, context, identify, compared.get(address), replaced.has(address));
  });
}

/** The rules of all groups that are wanted and there. */
function compareGroups(
  pairs: readonly Pair[],
  found: ReadonlyMap<Address, Found<LiveGroup>>,
  context: DiffContext,
  identify: GroupIdentity,
  dying: ReadonlySet<string>,
): Map<Address, Comparison> {
  const compared = new Map<Address, Comparison>();
  for (const pair of pairs) {
    const entry = found.get(pair.address)!;
    if (entry.how === "known" && pair.desired !== undefined)
      compared.set(pair.address, comparison(pair, entry, context, identify, dying));
  }
  return compared;
}

/** Ids of groups that will not be there after this plan, those of earlier replacements included. */
function dyingIds(pairs: readonly Pair[], found: ReadonlyMap<Address, Found<LiveGroup>>, state: State): Set<string> {
  const dying = new Set<string>();
  for (const pair of pairs) {
    const entry = found.get(pair.address);
    if (pair.desired === undefined && !pair.forget && entry?.how === "known") dying.add(entry.id);
    // Gone already: rules that still name it are the service's to drop.
    if (entry?.how === "absent" && entry.gone !== undefined) dying.add(entry.gone.id);
    for (const retired of (pair.recorded as RecordedGroup | undefined)?.retired ?? []) dying.add(retired.id);
  }
  for (const record of state.resources.values())
    if (record.kind === "group") for (const retired of record.retired ?? []) dying.add(retired.id);
  return dying;
}

/** An address is its id, but for a group that gets a new one in this plan. */
const identifyBy =
  (ids: ReadonlyMap<Address, string>, renewed: ReadonlySet<Address>): GroupIdentity =>
  (group: Reference) =>
    "id" in group ? group.id : renewed.has(group.address) ? group.address : (ids.get(group.address) ?? group.address);

function diffGroup(
  pair: Pair,
  entry: Found<LiveGroup>,
  context: DiffContext,
  identify: GroupIdentity,
  rules: Comparison | undefined,
  replaced: boolean,
): GroupDifference {
  const desired = pair.desired as DesiredGroup | undefined;
  const recorded = pair.recorded as RecordedGroup | undefined;
  const retired = recorded?.retired ?? [];
  const base = {
    kind: "group" as const,
    address: pair.address,
    desired,
    recorded,
    retired,
    added: [],
    removed: [],
    cascaded: [],
    platformRules: [],
  };
  if (entry.how === "error") return { ...base, diagnostics: [entry.diagnostic] };
  if (desired === undefined) return { ...base, ...removeGroup(pair, recorded, entry, context) };
  if (entry.how === "absent") {
    const diagnostics =
      entry.gone === undefined ? [] : [goneNote(pair, "security group", entry.gone, "it will be created again")];
    return { ...base, added: desired.rules, change: createChange(desired, entry.gone, identify), diagnostics };
  }
  const compared = rules!;
  const diagnostics = groupNotes(desired, compared, entry, context);
  const fields = groupFieldChanges(desired, recorded, entry.live, compared, context);
  // The rules that were applied, whatever became of the groups they name.
  const byAddress: GroupIdentity = (group) =>
    "address" in group ? group.address : (context.addressOfId.get(group.id) ?? group.id);
  const drifted =
    recorded !== undefined &&
    sameRules(desired.rules, recorded.rules, byAddress) &&
    (recorded.name ?? desired.name) === desired.name &&
    (recorded.description ?? "") === (desired.description ?? "");
  // A group whose adoption comes from an interrupted replacement leaves its old self to be retired.
  const former =
    entry.adopted === "interrupted" && recorded !== undefined
      ? [{ id: recorded.id, name: recorded.name ?? desired.name }]
      : [];
  const allRetired = [...retired, ...former];
  const requested = context.replace.has(pair.address);
  const moved = movedField(pair);
  const acts =
    replaced || entry.adopted !== undefined || fields.length > 0 || moved.length > 0 || allRetired.length > 0;
  const reason: Reason = requested
    ? "requested"
    : (entry.adopted ??
      (fields.length > 0 ? (drifted ? "drifted" : "changed") : moved.length > 0 ? "moved" : "interrupted"));
  const change: Change | undefined = acts
    ? {
        address: pair.address,
        kind: "group",
        action: replaced ? "replace" : entry.adopted !== undefined ? "import" : "update",
        name: entry.live?.name ?? recorded?.name ?? desired.name,
        id: entry.id,
        fields: [...moved, ...fields],
        reason,
        because: why(reason, fields, allRetired),
        losses: [],
        movedFrom: pair.movedFrom,
        source: desired.source,
      }
    : undefined;
  return {
    ...base,
    live: entry.live,
    id: entry.id,
    adopts: entry.adopted !== undefined,
    added: compared.added,
    removed: compared.removed,
    cascaded: compared.cascaded,
    platformRules: compared.platformRules,
    retired: allRetired,
    change,
    diagnostics,
  };
}

function removeGroup(
  pair: Pair,
  recorded: RecordedGroup | undefined,
  entry: Found<LiveGroup>,
  context: DiffContext,
): Partial<GroupDifference> & { diagnostics: Diagnostic[] } {
  if (recorded === undefined) {
    // Its block is gone, and it was created all the same: the intent says what it was to be.
    if (entry.how !== "known") return { diagnostics: [] };
    const made = createdBy(pair, entry);
    return { recorded: made, adopts: true, ...removeGroup(pair, made, entry, context) };
  }
  const former =
    entry.how === "known" && entry.id !== recorded.id ? [{ id: recorded.id, name: recorded.name ?? recorded.id }] : [];
  const destroy = context.options.destroy === true;
  const gone = entry.how === "absent";
  const forgets = pair.forget || (gone && (recorded.retired ?? []).length === 0);
  const id = entry.how === "known" ? entry.id : recorded.id;
  return {
    id,
    retired: [...(recorded.retired ?? []), ...former],
    diagnostics: [],
    change: {
      address: pair.address,
      kind: "group",
      action: forgets ? "forget" : "delete",
      name: (entry.how === "known" ? entry.live?.name : undefined) ?? recorded.name ?? recorded.id,
      id,
      fields: [],
      reason: pair.forget ? "let_go" : gone ? "gone" : destroy ? "destroy" : "removed",
      because: pair.forget
        ? letGo
        : gone
          ? entry.gone === undefined
            ? neverMade
            : noLongerExists("security group", entry.gone)
          : destroy
            ? "everything in the state is to be destroyed"
            : "it is no longer declared",
      losses: [],
    },
  };
}

function createChange(desired: DesiredGroup, gone: Vanished | undefined, identify: GroupIdentity): Change {
  const fields: FieldChange[] = [fieldChange(groupFields.name, undefined, desired.name, "create")];
  if (desired.description !== undefined)
    fields.push(fieldChange(groupFields.description, undefined, desired.description, "create"));
  for (const rule of desired.rules)
    fields.push(fieldChange(groupFields.rules, undefined, describeRule(rule, labelGroup(identify)), "add rule"));
  return {
    address: desired.address,
    kind: "group",
    action: "create",
    name: desired.name,
    fields,
    reason: gone === undefined ? "declared" : "gone",
    because: gone === undefined ? "it is declared and does not exist yet" : noLongerExists("security group", gone),
    losses: [],
    source: desired.source,
  };
}

const labelGroup =
  (identify: GroupIdentity): GroupIdentity =>
  (group) =>
    "address" in group ? group.address : identify(group);

function groupFieldChanges(
  desired: DesiredGroup,
  recorded: RecordedGroup | undefined,
  live: LiveGroup | undefined,
  compared: Comparison,
  context: DiffContext,
): FieldChange[] {
  const ignored = new Set(desired.lifecycle.ignoreChanges);
  const fields: FieldChange[] = [];
  // Told and never answered: where nobody can look, it may be either, and is told again unless both are what is wanted.
  const told = recorded?.updating;
  const names = live?.name === undefined ? [recorded?.name, told?.name] : [live.name];
  const otherName = names.find((name) => name !== undefined && name.toLowerCase() !== desired.name);
  if (otherName !== undefined && !ignored.has("name"))
    fields.push(fieldChange(groupFields.name, otherName, desired.name));
  const isKnown = live?.description !== undefined || recorded !== undefined;
  const descriptions =
    live?.description === undefined
      ? [recorded?.description ?? "", told?.description ?? recorded?.description ?? ""]
      : [live.description];
  const otherDescription = descriptions.findIndex((description) => description !== desired.description);
  if (desired.description !== undefined && isKnown && otherDescription >= 0 && !ignored.has("description"))
    fields.push(fieldChange(groupFields.description, descriptions[otherDescription] || undefined, desired.description));
  const label: GroupIdentity = (group) =>
    "address" in group ? group.address : (context.addressOfId.get(group.id) ?? group.id);
  // A rule that falls with the group it names and is wanted towards the one that takes its place is neither new nor gone.
  const falling = new Set(compared.cascaded.map(({ rule }) => describeRule(rule, label)));
  const added = compared.added.map((rule) => describeRule(rule, label));
  for (const text of added) {
    if (falling.has(text)) fields.push(fieldChange(groupFields.rules, text, text, "point at the new group"));
    else fields.push(fieldChange(groupFields.rules, undefined, text, "add rule"));
    falling.delete(text);
  }
  for (const { rule } of compared.removed)
    fields.push(fieldChange(groupFields.rules, describeRule(rule, label), undefined, "remove rule"));
  for (const text of falling)
    fields.push(fieldChange(groupFields.rules, text, undefined, "falls with the group it names"));
  return fields;
}

function groupNotes(
  desired: DesiredGroup,
  compared: Comparison,
  entry: Extract<Found<LiveGroup>, { how: "known" }>,
  context: DiffContext,
): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const { rule } of compared.kept)
    diagnostics.push({
      severity: "warning",
      code: "plan/rule-kept",
      summary: `${desired.address} still admits ${describeRule(rule)}, which the file does not declare`,
      detail: "lifecycle.on_rule_removal is keep, and this service cannot delete one rule.",
      fix: "lifecycle.on_rule_removal: replace",
      address: desired.address,
      source: desired.source,
    });
  const open = compared.platformRules.filter((key) => key.startsWith("egress") && key.endsWith(" any * any"));
  const meaningless = desired.rules.filter(
    (rule) =>
      rule.direction === "egress" &&
      !isPlatformShaped(rule) &&
      open.some((key) => key.split(" ")[1] === rule.ethertype),
  );
  if (meaningless.length > 0)
    diagnostics.push({
      severity: "warning",
      code: "plan/egress-open",
      summary: `${desired.address}: the service's own rule lets everything out, so ${meaningless.length === 1 ? "its egress rule restricts" : `its ${meaningless.length} egress rules restrict`} nothing`,
      detail: meaningless.map((rule) => describeRule(rule)).join("; "),
      address: desired.address,
      source: desired.source,
    });
  if (entry.live?.rules === undefined && context.live.groups.get(entry.id)?.seen === "yes")
    diagnostics.push({
      severity: "note",
      code: "plan/rules-unobserved",
      summary: `the rules of ${desired.address} could not be read; the record stands in`,
      address: desired.address,
    });
  return diagnostics;
}

const sameRules = (a: readonly Rule[], b: readonly Rule[], identify: GroupIdentity): boolean => {
  if (a.length !== b.length) return false;
  const keys = new Set(b.map((rule) => ruleKey(rule, identify)));
  return a.every((rule) => keys.has(ruleKey(rule, identify)));
};

/** The rules as the record keeps them: groups by id wherever one is known. */
export const recordRules = (rules: readonly Rule[], resolve: (group: Reference) => string | undefined): Rule[] =>
  sortRules(
    rules.map((rule) => {
      if (rule.remote.kind !== "group") return rule;
      const id = resolve(rule.remote.group);
      return id === undefined ? rule : { ...rule, remote: { kind: "group", group: { id } } };
    }),
  );

function why(reason: Reason, fields: readonly FieldChange[], retired: readonly RetiredGroup[]): string {
  if (fields.length > 0 && fields.every((field) => field.verb === "point at the new group"))
    return "a group that its rules name is replaced";
  if (reason === "interrupted" && retired.length > 0)
    return `the group it replaced (${retired.map((group) => group.name).join(", ")}) still waits to be deleted`;
  return explain(reason, fields);
}

/** What an intent says of a group that was created all the same. */
const createdBy = (pair: Pair, entry: Extract<Found<LiveGroup>, { how: "known" }>): RecordedGroup => ({
  kind: "group",
  name: entry.live?.name ?? pair.intent?.name ?? entry.id,
  rules: [],
  platformRules: [],
  preventDestroy: false,
  ...(pair.intent?.record as Omit<RecordedGroup, "id"> | undefined),
  address: pair.address,
  id: entry.id,
});
