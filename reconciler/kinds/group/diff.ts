/**
 * What differs about the groups. They are looked at together, because a rule may name another group: replacing or
 * deleting that one takes the rule with it, and the rule must then point at the new one.
 */

import { canonicalLiveRule, describeRule, type GroupIdentity, ruleKey, sortRules } from "../../core/canonical/rules";
import { type Change, type FieldChange, fieldChange, movedField, type Reason } from "../../core/diff/changes";
import type { DiffContext } from "../../core/diff/context";
import {
  creation,
  creationReason,
  type DiffOutcome,
  type Facts,
  forgettingReason,
  kept,
  madeByIntent,
  removalReason,
  unchanged,
  updateReason,
} from "../../core/diff/difference";
import { explain, type LeftOpen } from "../../core/diff/explain";
import { type FoundLive, find, type Known } from "../../core/diff/find";
import { goneNote } from "../../core/diff/findings";
import type { PairOf } from "../../core/diff/pair";
import type { Address } from "../../core/model/address";
import { computedIn, shownText } from "../../core/model/computed";
import type { DesiredGroup, Inherited, Reference } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { groupFields } from "../../core/model/fields";
import type { LiveGroup } from "../../core/model/live";
import type { RecordedGroup, RetiredGroup, State } from "../../core/model/recorded";
import { groupIdNamed, namingGroup, type Rule } from "../../core/model/rule";
import { canonicalText } from "../../core/text/canonical-text";
import { onlyDefined } from "../../core/text/objects";
import { falls, follows, groupFieldChanges, isNameUnknown, labelGroup, rulesLeftBehind } from "./changed-fields";
import {
  byAddress,
  comparison,
  type GroupsThatGo,
  isDeclarable,
  leavesOthers,
  type RulesComparison,
} from "./compare-rules";
import { groupNotes } from "./findings";

interface GroupFacts
  extends Facts<"group">,
    Pick<RulesComparison, "added" | "following" | "owed" | "removed" | "cascaded" | "platformRules" | "left"> {
  /** Old groups of former replacements that still wait to be deleted. */
  readonly retired: readonly RetiredGroup[];
  /** The declared rules that are to be there. Absent: all of them. */
  readonly declared?: readonly Rule[];
  /** For a group that is replaced: the rules of the one that takes its place. */
  readonly successor?: readonly Rule[];
}

export type GroupDifference = GroupFacts & DiffOutcome<"group">;

type GroupPair = PairOf<"group">;
type FoundGroup = FoundLive<LiveGroup>;
type ActedGroup<A extends GroupDifference["action"]> = Partial<GroupFacts> &
  Extract<DiffOutcome<"group">, { action: A }>;

/** Groups that are desired and exist, with their comparison. */
interface ComparedGroup {
  readonly pair: GroupPair;
  readonly desired: DesiredGroup;
  readonly found: Known<LiveGroup>;
  readonly rules: RulesComparison;
}

export function diffGroups(pairs: readonly GroupPair[], context: DiffContext, state: State): GroupDifference[] {
  const found = pairs.map((pair) => ({ pair, entry: find(pair, "group", context) }));
  const retired = retiredIds(found, state);
  const dying = new Set([...retired, ...idsDeleted(found)]);
  const renewed = new Map(
    found.flatMap(({ pair, entry }) =>
      pair.desired === undefined
        ? []
        : formerSelves(pair.recorded, entry).map(({ id }): [string, Address] => [id, pair.address]),
    ),
  );
  const going: GroupsThatGo = { dying, retired, renewed, gone: idsGone(found), buried: buriedIds(state) };
  const ids = new Map<Address, string>();
  for (const { pair, entry } of found) if (entry.how === "known") ids.set(pair.address, entry.id);

  // First decides which groups are replaced, then compares all of them again: a rule towards a replaced group has to
  // name the new one.
  let identify = identifyBy(ids, new Set());
  let compared = compareGroups(found, context, identify, going);
  const replaced = new Set<Address>();
  for (let before = -1; before < replaced.size; ) {
    before = replaced.size;
    for (const [address, { rules, found }] of compared) {
      if (!rules.replaces) continue;
      replaced.add(address);
      dying.add(found.id);
      renewed.set(found.id, address);
    }
    if (before === replaced.size) break;
    identify = identifyBy(ids, replaced);
    compared = compareGroups(found, context, identify, going);
  }
  return found.map(({ pair, entry }) => {
    const { address, desired, recorded } = pair;
    const base: GroupFacts = {
      ...{ kind: "group", address, desired, recorded, retired: recorded?.retired ?? [], diagnostics: [] },
      ...{ added: [], following: [], owed: [], removed: [], cascaded: [], platformRules: [], left: [] },
    };
    if (entry.how === "error") return { ...base, ...unchanged, diagnostics: [entry.diagnostic] };
    if (desired === undefined) return { ...base, ...removalOfGroup(pair, entry, context) };
    const one = compared.get(address);
    return one === undefined
      ? { ...base, ...creationOfGroup(pair, desired, entry, identify) }
      : { ...base, ...updateOfGroup(one, context, replaced.has(address), going) };
  });
}

interface FoundPair {
  readonly pair: GroupPair;
  readonly entry: FoundGroup;
}

/** All groups that are desired and exist. */
function compareGroups(
  found: readonly FoundPair[],
  context: DiffContext,
  identify: GroupIdentity,
  going: GroupsThatGo,
): Map<Address, ComparedGroup> {
  const compared = new Map<Address, ComparedGroup>();
  for (const { pair, entry } of found) {
    const { address, desired } = pair;
    if (entry.how !== "known" || desired === undefined) continue;
    const rules = comparison(pair, desired, entry, context, identify, going);
    compared.set(address, { pair, desired, found: entry, rules });
  }
  return compared;
}

const idsDeleted = (found: readonly FoundPair[]): readonly string[] =>
  found.flatMap(({ pair, entry }) =>
    pair.desired === undefined && !pair.forget && entry.how === "known" ? [entry.id] : [],
  );

/** Ids of groups that earlier runs replaced and this plan deletes. */
const retiredIds = (found: readonly FoundPair[], state: State): ReadonlySet<string> =>
  new Set(
    [
      ...found.flatMap(({ pair, entry }) => formerSelves(pair.recorded, entry)),
      ...[...state.resources.values()].flatMap((record) => (record.kind === "group" ? (record.retired ?? []) : [])),
    ].map(({ id }) => id),
  );

/** What a group has replaced and is still to be deleted. One that an interrupted replacement made has left its old self. */
const formerSelves = (
  recorded: RecordedGroup | undefined,
  entry: FoundGroup,
  otherwise = recorded?.id ?? "",
): readonly RetiredGroup[] => [
  ...(recorded?.retired ?? []),
  ...(recorded === undefined || entry.how !== "known" || entry.id === recorded.id
    ? []
    : [{ id: recorded.id, name: recorded.name ?? otherwise }]),
];

const idsGone = (found: readonly FoundPair[]): ReadonlySet<string> =>
  new Set(found.flatMap(({ entry }) => (entry.how === "absent" && entry.gone !== undefined ? [entry.gone.id] : [])));

/**
 * Ids of groups that earlier runs replaced and deleted, or found to be gone. Some services leave the rules that name
 * them.
 */
function buriedIds(state: State): Set<string> {
  const buried = new Set<string>();
  for (const { kind, id, missingSince } of state.orphans.values())
    if (kind === "group" && missingSince !== undefined) buried.add(id);
  for (const record of state.resources.values())
    if (record.kind === "group") for (const id of record.buried ?? []) buried.add(id);
  return buried;
}

/** An address stands for the id of its group, except where this plan gives the group a new id. */
const identifyBy =
  (ids: ReadonlyMap<Address, string>, renewed: ReadonlySet<Address>): GroupIdentity =>
  (group: Reference) =>
    "id" in group ? group.id : renewed.has(group.address) ? group.address : (ids.get(group.address) ?? group.address);

function updateOfGroup(
  { pair, desired, found, rules }: ComparedGroup,
  context: DiffContext,
  isReplaced: boolean,
  going: GroupsThatGo,
): ActedGroup<"none" | "update" | "import" | "replace"> {
  const { recorded } = pair;
  const { id, live, adopted } = found;
  const others = isReplaced ? rules.left.filter((rule) => !rules.outdated.includes(rule)) : rules.left;
  const stays = isReplaced ? othersTakenAlong(desired, others, going, context) : others;
  const declared = declaredThere(desired, recorded, live, context);
  const fields = [
    ...groupFieldChanges(desired, recorded, live, rules, context),
    ...rulesLeftBehind(others, stays, context),
  ];
  const retired = formerSelves(recorded, found, desired.name);
  const moved = movedField(pair);
  const acts = fields.length > 0 || moved.length > 0 || retired.length > 0;
  const action = isReplaced ? "replace" : adopted !== undefined ? "import" : acts ? "update" : undefined;
  return {
    live,
    adopts: adopted !== undefined,
    added: rules.added,
    following: rules.following,
    owed: rules.owed,
    removed: rules.removed,
    cascaded: rules.cascaded,
    platformRules: rules.platformRules,
    left: stays,
    retired,
    declared,
    successor: isReplaced ? [...declared, ...stays, ...rules.following] : undefined,
    ...kept<"group">(action, id, desired, () => ({
      address: pair.address,
      kind: "group",
      name: live?.name ?? recorded?.name ?? desired.name,
      fields: [...moved, ...fields],
      ...reasonOfUpdate({ pair, desired, found, rules }, context, fields, { isMoved: moved.length > 0, retired }),
      losses: [],
      movedFrom: pair.movedFrom,
      source: desired.source,
    })),
    diagnostics: [
      ...groupNotes(desired, rules, found, context),
      ...(isReplaced && adopted !== "interrupted" && isNameUnknown(desired, recorded, live)
        ? [nameNotSaid(desired, id, context.replace.has(pair.address))]
        : []),
    ],
  };
}

function reasonOfUpdate(
  { pair, desired, found: { adopted }, rules }: ComparedGroup,
  context: DiffContext,
  fields: readonly FieldChange[],
  { isMoved, retired }: { readonly isMoved: boolean; readonly retired: readonly RetiredGroup[] },
): Pick<Change, "reason" | "because"> {
  const { recorded } = pair;
  const left = context.leftOpen(desired);
  const own = fields.filter(({ verb }) => verb !== follows);
  const usual = updateReason({
    isRequested: context.replace.has(pair.address),
    adopted,
    // What a run that was cut off has yet to add is no change of the file or the service.
    hasFields: fields.length > rules.owed.length,
    isDrift: recorded !== undefined && isAsApplied(desired, recorded, rules, fields, context),
    left,
    otherwise: isMoved ? "moved" : "interrupted",
  });
  const isFalling = usual === "drifted" && own.length > 0 && own.every(({ verb }) => verb === falls);
  const reason = isFalling || (fields.length > 0 && own.length === 0 && isOfFields(usual)) ? "follows" : usual;
  const because =
    newAddresses(reason, own, rules.added) ??
    (isFalling ? "a group that its rules name goes" : why(reason, own, retired, left, desired.inherited));
  return { reason, because };
}

/** A replacement renames the old group aside and gives the new one its name, which nobody knows. */
const nameNotSaid = ({ address, source }: DesiredGroup, id: string, isRequested: boolean): Diagnostic => ({
  severity: "error",
  code: "plan/name-not-said",
  summary: `${address} (${id}) would be replaced, and nobody has said what it is called in the service`,
  detail:
    "The service does not show the name, and the key of the block is no more than a label. Whoever finds the group by its name would lose it.",
  fix: `write its name into the block: name: …, or ${isRequested ? "plan without --replace" : "leave the rule where it is: lifecycle: { on_rule_removal: keep }"}`,
  address,
  source,
});

/** The declared rules, or those of them that are there, where the file leaves the rules alone. */
function declaredThere(
  { rules, lifecycle }: DesiredGroup,
  recorded: RecordedGroup | undefined,
  live: LiveGroup | undefined,
  context: DiffContext,
): readonly Rule[] {
  if (!lifecycle.ignoreChanges.includes("rules")) return rules;
  const keyOf = (rule: Rule): string => ruleKey(rule, byAddress(context));
  const present = new Set((live?.rules?.map(canonicalLiveRule) ?? recorded?.rules ?? []).map(keyOf));
  return rules.filter((rule) => present.has(keyOf(rule)));
}

/** Of the rules that nobody declares, those that are there on the group that takes this one's place. */
function othersTakenAlong(
  desired: DesiredGroup,
  left: readonly Rule[],
  { gone, buried, renewed }: GroupsThatGo,
  context: DiffContext,
): readonly Rule[] {
  if (!leavesOthers(desired, context)) return [];
  // The service takes no rule that names a group which is not there, and nobody can send what a file cannot say.
  const isIdle = (named: string): boolean => gone.has(named) || buried.has(named) || renewed.has(named);
  return left.filter((rule) => isDeclarable(rule) && !isIdle(groupIdNamed(rule) ?? ""));
}

/**
 * Whether the file says of what differs what was applied last, whatever became of the groups that the rules name. Rules
 * that were left where they are go when the file says so.
 */
function isAsApplied(
  desired: DesiredGroup,
  recorded: RecordedGroup,
  { removed }: RulesComparison,
  fields: readonly FieldChange[],
  context: DiffContext,
): boolean {
  const identify = byAddress(context);
  const differing = new Set(fields.map(({ field }) => field));
  const left = new Set(recorded.left?.map((rule) => ruleKey(rule, identify)));
  return (
    (!differing.has(groupFields.rules.field) ||
      (sameRules(desired.rules, recorded.rules, identify) &&
        !removed.some(({ rule }) => left.has(ruleKey(rule, identify))))) &&
    (!differing.has(groupFields.name.field) || (recorded.name ?? desired.name) === desired.name) &&
    (!differing.has(groupFields.description.field) ||
      canonicalText(recorded.description ?? "") === (desired.description ?? ""))
  );
}

function removalOfGroup(
  pair: GroupPair,
  entry: FoundGroup,
  context: DiffContext,
): ActedGroup<"none" | "delete" | "forget"> {
  const { recorded } = pair;
  const known = entry.how === "known" ? entry : undefined;
  if (known === undefined || (recorded !== undefined && known.adopted !== "interrupted"))
    return recorded === undefined ? unchanged : removeKnown(pair, recorded, entry, context);
  // The block is gone from the file, and an interrupted run created the group: its intent says what the group was to be.
  const made = madeByIntent(pair, known, { rules: [], platformRules: [] });
  const former = recorded === undefined ? made.retired : formerSelves(recorded, known);
  return { adopts: true, ...removeKnown(pair, { ...made, ...onlyDefined({ retired: former }) }, entry, context) };
}

function removeKnown(
  pair: GroupPair,
  recorded: RecordedGroup,
  entry: FoundGroup,
  context: DiffContext,
): ActedGroup<"delete" | "forget"> {
  const known = entry.how === "known" ? entry : undefined;
  const retired = formerSelves(recorded, entry);
  const id = known?.id ?? recorded.id;
  const why =
    pair.forget || entry.how === "absent"
      ? forgettingReason(pair, entry.how === "absent" ? entry.gone : undefined)
      : removalReason(context.options.destroy === true);
  const facts = { recorded, retired };
  const name = known?.live?.name ?? recorded.name ?? recorded.id;
  const change = { address: pair.address, kind: "group" as const, name, id, fields: [], ...why, losses: [] };
  return pair.forget || (entry.how === "absent" && retired.length === 0)
    ? { ...facts, action: "forget", change: { ...change, action: "forget" } }
    : { ...facts, action: "delete", id, change: { ...change, action: "delete" } };
}

function creationOfGroup(
  pair: GroupPair,
  desired: DesiredGroup,
  entry: FoundGroup,
  identify: GroupIdentity,
): ActedGroup<"create"> {
  const gone = entry.how === "absent" ? entry.gone : undefined;
  const fields: FieldChange[] = [fieldChange(groupFields.name, undefined, desired.name, "create")];
  if (desired.description !== undefined)
    fields.push(fieldChange(groupFields.description, undefined, shownText(desired.description), "create"));
  for (const rule of desired.rules)
    fields.push(fieldChange(groupFields.rules, undefined, describeRule(rule, labelGroup(identify)), "add rule"));
  return {
    action: "create",
    desired,
    added: desired.rules,
    change: creation(desired, fields, creationReason(desired, gone)),
    diagnostics: gone === undefined ? [] : [goneNote(pair, gone, "this plan makes it anew")],
  };
}

const sameRules = (a: readonly Rule[], b: readonly Rule[], identify: GroupIdentity): boolean => {
  if (a.length !== b.length) return false;
  const keys = new Set(b.map((rule) => ruleKey(rule, identify)));
  return a.every((rule) => keys.has(ruleKey(rule, identify)));
};

/** The rules as the record keeps them: groups by id wherever one is known, and none whose address is not known yet. */
export const recordRules = (rules: readonly Rule[], resolve: (group: Reference) => string | undefined): Rule[] =>
  sortRules(
    rules.flatMap((rule): Rule[] => {
      if (rule.remote.kind === "computed") return [];
      return [
        namingGroup(rule, (named) => {
          const id = resolve(named);
          return id === undefined ? named : { id };
        }),
      ];
    }),
  );

/** A reason that says why the fields differ. */
const isOfFields = (reason: Reason): boolean =>
  reason === "changed" || reason === "drifted" || reason === "interrupted";

/** The file has not changed: a VM that a rule names gets another address. */
function newAddresses(reason: Reason, fields: readonly FieldChange[], added: readonly Rule[]): string | undefined {
  if (reason !== "changed" || fields.some(({ field }) => field !== groupFields.rules.field)) return undefined;
  const texts = added.flatMap(({ remote }) => (remote.kind === "computed" ? [remote.text] : []));
  if (texts.length === 0 || texts.length < added.length) return undefined;
  const vms = [...new Set(texts.flatMap((text) => computedIn(text).map(({ address }) => address)))];
  return `${vms.length > 3 ? `${vms.length} VMs` : vms.join(", ")} ${vms.length === 1 ? "gets another address" : "get other addresses"}`;
}

function why(
  reason: Reason,
  fields: readonly FieldChange[],
  retired: readonly RetiredGroup[],
  left: LeftOpen | undefined,
  inherited: Inherited | undefined,
): string {
  if (reason === "interrupted" && retired.length > 0)
    return `the group it replaced (${retired.map((group) => group.name).join(", ")}) still waits to be deleted`;
  return explain(reason, fields, left, inherited);
}
