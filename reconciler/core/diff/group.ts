/**
 * What differs about the groups. They are looked at together, because a rule may name another group: replacing or
 * deleting that one takes the rule with it, and the rule must then point at the new one.
 */
import { canonicalLiveRule, describeRule, type GroupIdentity, ruleKey, sortRules } from "../canonical/rules";
import type { Address } from "../model/address";
import type { DesiredGroup, Reference } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { groupFields } from "../model/fields";
import type { LiveGroup, LiveRule } from "../model/live";
import type { RecordedGroup, RetiredGroup, State } from "../model/recorded";
import type { Rule } from "../model/rule";
import type { Change, Difference, FieldChange, Reason } from "./changes";
import { fieldChange } from "./changes";
import { type DiffContext, sightGroup } from "./context";
import { goneNote, nameTaken, severalNamed, unsettledIntent } from "./findings";
import type { Pair } from "./pair";

export interface LiveRulePair {
  readonly live: LiveRule;
  readonly rule: Rule;
}

export interface GroupDifference extends Difference<DesiredGroup, RecordedGroup, LiveGroup> {
  readonly kind: "group";
  readonly id?: string;
  readonly adopts?: boolean;
  /** Rules to add and, one by one, to take away. */
  readonly added: readonly Rule[];
  readonly removed: readonly LiveRulePair[];
  /** Rules that vanish because the group they name is deleted in this plan. */
  readonly cascaded: readonly LiveRulePair[];
  /** Its rules can only be taken away by replacing it. */
  readonly replaces: boolean;
  readonly platformRules: readonly string[];
  /** Old groups of former replacements that still wait to be deleted. */
  readonly retired: readonly RetiredGroup[];
}

type Found =
  | { readonly how: "error"; readonly diagnostic: Diagnostic }
  | { readonly how: "absent"; readonly gone?: string }
  | { readonly how: "known"; readonly id: string; readonly live?: LiveGroup; readonly adopted?: Reason };

export function diffGroups(pairs: readonly Pair[], context: DiffContext, state: State): GroupDifference[] {
  const found = new Map(pairs.map((pair) => [pair.address, findGroup(pair, context)]));
  const dying = dyingIds(pairs, found, state);
  const ids = new Map<Address, string>();
  for (const [address, entry] of found) if (entry.how === "known") ids.set(address, entry.id);

  // First who is replaced, then everything else again with that known: a rule to a replaced group points at the new one.
  const identify = identifyBy(ids, new Set());
  const replaced = new Set<Address>();
  for (const pair of pairs) {
    const entry = found.get(pair.address)!;
    if (
      entry.how === "known" &&
      pair.desired !== undefined &&
      comparison(pair, entry, context, identify, dying).replaces
    )
      replaced.add(pair.address);
  }
  const dyingAndReplaced = new Set(dying);
  for (const address of replaced) dyingAndReplaced.add(ids.get(address)!);
  const identifyAfter = identifyBy(ids, replaced);
  return pairs.map((pair) =>
    diffGroup(pair, found.get(pair.address)!, context, identifyAfter, dyingAndReplaced, replaced.has(pair.address)),
  );
}

/** Ids of groups that will not be there after this plan, those of earlier replacements included. */
function dyingIds(pairs: readonly Pair[], found: ReadonlyMap<Address, Found>, state: State): Set<string> {
  const dying = new Set<string>();
  for (const pair of pairs) {
    const entry = found.get(pair.address);
    if (pair.desired === undefined && !pair.forget && entry?.how === "known") dying.add(entry.id);
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

function findGroup(pair: Pair, context: DiffContext): Found {
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

interface Comparison {
  readonly added: readonly Rule[];
  readonly removed: readonly LiveRulePair[];
  readonly kept: readonly LiveRulePair[];
  readonly cascaded: readonly LiveRulePair[];
  readonly replaces: boolean;
  readonly platformRules: readonly string[];
}

function comparison(
  pair: Pair,
  entry: Extract<Found, { how: "known" }>,
  context: DiffContext,
  identify: GroupIdentity,
  dying: ReadonlySet<string>,
): Comparison {
  const desired = pair.desired as DesiredGroup;
  const recorded = entry.adopted === undefined ? (pair.recorded as RecordedGroup | undefined) : undefined;
  const liveRules: readonly LiveRulePair[] | undefined = entry.live?.rules?.map((live) => ({
    live,
    rule: canonicalLiveRule(live),
  }));
  const present: readonly LiveRulePair[] =
    liveRules ?? (recorded?.rules ?? []).map((rule) => ({ live: { id: "", direction: rule.direction }, rule }));
  const wanted = new Map(desired.rules.map((rule) => [ruleKey(rule, identify), rule]));
  const have = new Set(present.map(({ rule }) => ruleKey(rule, identify)));
  const platform = new Set(recorded?.platformRules ?? []);
  for (const { live, rule } of present)
    if (live.platform === true || (recorded === undefined && isPlatformShaped(rule)))
      platform.add(ruleKey(rule, identify));

  const ignored = desired.lifecycle.ignoreChanges.includes("rules");
  const added = ignored ? [] : [...wanted].filter(([key]) => !have.has(key)).map(([, rule]) => rule);
  const extra = present.filter(({ rule }) => {
    const key = ruleKey(rule, identify);
    return !wanted.has(key) && !platform.has(key);
  });
  const cascaded = extra.filter(
    ({ rule }) => rule.remote.kind === "group" && "id" in rule.remote.group && dying.has(rule.remote.group.id),
  );
  const authoritative = desired.rulesMode === "authoritative" && !ignored;
  const surplus = authoritative ? extra.filter((item) => !cascaded.includes(item)) : [];
  const keeps = desired.lifecycle.onRuleRemoval === "keep" && !context.has("group.rule.delete");
  const removed = keeps ? [] : surplus;
  return {
    added,
    removed,
    kept: keeps ? surplus : [],
    cascaded,
    replaces: context.replace.has(pair.address) || (removed.length > 0 && !context.has("group.rule.delete")),
    platformRules: [...platform].sort(),
  };
}

/** What services put on a new group by themselves: everything may leave. */
export const isPlatformShaped = (rule: Rule): boolean =>
  rule.direction === "egress" && rule.protocol === "any" && rule.ports === undefined && rule.remote.kind === "any";

function diffGroup(
  pair: Pair,
  entry: Found,
  context: DiffContext,
  identify: GroupIdentity,
  dying: ReadonlySet<string>,
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
    replaces: false,
    platformRules: [],
  };
  if (entry.how === "error") return { ...base, diagnostics: [entry.diagnostic] };
  if (desired === undefined) return { ...base, ...removeGroup(pair, recorded, entry, context) };
  if (entry.how === "absent") {
    const diagnostics =
      entry.gone === undefined ? [] : [goneNote(pair, "security group", entry.gone, "it will be created again")];
    return { ...base, added: desired.rules, change: createChange(desired, entry.gone, identify), diagnostics };
  }
  const compared = comparison(pair, entry, context, identify, dying);
  const diagnostics = groupNotes(desired, compared, entry, context);
  const fields = groupFieldChanges(desired, recorded, entry.live, compared, identify);
  const drifted =
    recorded !== undefined &&
    sameRules(desired.rules, recorded.rules, identify) &&
    (recorded.name ?? desired.name) === desired.name &&
    (recorded.description ?? "") === (desired.description ?? "");
  // A group whose adoption comes from an interrupted replacement leaves its old self to be retired.
  const former =
    entry.adopted === "interrupted" && recorded !== undefined
      ? [{ id: recorded.id, name: recorded.name ?? desired.name }]
      : [];
  const allRetired = [...retired, ...former];
  const requested = context.replace.has(pair.address);
  const moved: FieldChange[] =
    pair.movedFrom === undefined
      ? []
      : [{ field: "address", before: pair.movedFrom, after: pair.address, verb: "move" }];
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
        because: explain(reason, fields, allRetired),
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
    replaces: replaced,
    platformRules: compared.platformRules,
    retired: allRetired,
    change,
    diagnostics,
  };
}

function removeGroup(
  pair: Pair,
  recorded: RecordedGroup | undefined,
  entry: Found,
  context: DiffContext,
): Partial<GroupDifference> & { diagnostics: Diagnostic[] } {
  if (recorded === undefined) return { diagnostics: [] };
  const destroy = context.options.destroy === true;
  const gone = entry.how === "absent";
  const forgets = pair.forget || (gone && (recorded.retired ?? []).length === 0);
  return {
    id: recorded.id,
    diagnostics: [],
    change: {
      address: pair.address,
      kind: "group",
      action: forgets ? "forget" : "delete",
      name: recorded.name ?? recorded.id,
      id: recorded.id,
      fields: [],
      reason: gone ? "gone" : destroy ? "destroy" : "removed",
      because: pair.forget
        ? "a removed entry says to let it go"
        : gone
          ? "it no longer exists in the service"
          : destroy
            ? "everything in the state is to be destroyed"
            : "it is no longer declared",
      losses: [],
    },
  };
}

function createChange(desired: DesiredGroup, gone: string | undefined, identify: GroupIdentity): Change {
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
    because:
      gone === undefined
        ? "it is declared and does not exist yet"
        : `security group ${gone} no longer exists in the service`,
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
  identify: GroupIdentity,
): FieldChange[] {
  const ignored = new Set(desired.lifecycle.ignoreChanges);
  const fields: FieldChange[] = [];
  const name = live?.name ?? recorded?.name;
  if (name !== undefined && name.toLowerCase() !== desired.name && !ignored.has("name"))
    fields.push(fieldChange(groupFields.name, name, desired.name));
  const description = live?.description ?? recorded?.description;
  if (
    desired.description !== undefined &&
    desired.description !== (description ?? "") &&
    !ignored.has("description") &&
    (live?.description !== undefined || recorded !== undefined)
  )
    fields.push(fieldChange(groupFields.description, description, desired.description));
  const label = labelGroup(identify);
  for (const rule of compared.added)
    fields.push(fieldChange(groupFields.rules, undefined, describeRule(rule, label), "add rule"));
  for (const { rule } of compared.removed)
    fields.push(fieldChange(groupFields.rules, describeRule(rule, label), undefined, "remove rule"));
  return fields;
}

function groupNotes(
  desired: DesiredGroup,
  compared: Comparison,
  entry: Extract<Found, { how: "known" }>,
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

function explain(reason: Reason, fields: readonly FieldChange[], retired: readonly RetiredGroup[]): string {
  const names = [...new Set(fields.map((field) => field.field))].join(", ");
  switch (reason) {
    case "requested":
      return "--replace asks for it";
    case "drifted":
      return `the service no longer has what was applied: ${names}`;
    case "changed":
      return `the file changed: ${names}`;
    case "imported":
      return "an imports entry takes it over";
    case "moved":
      return "a moved entry renames its address";
    default:
      return retired.length > 0
        ? `the group it replaced (${retired.map((group) => group.name).join(", ")}) still waits to be deleted`
        : "an interrupted run left it unfinished";
  }
}

const importGone = (pair: Pair, id: string): Diagnostic => ({
  severity: "error",
  code: "plan/import-not-found",
  summary: `${pair.address} cannot be imported: the service shows no security group ${id}`,
  fix: "correct the id in the imports entry, or remove the entry to create a new group",
  address: pair.address,
  source: pair.import?.source,
});
