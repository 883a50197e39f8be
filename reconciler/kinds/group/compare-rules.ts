/** The rules of one group as wanted against those the service has: what to add, what to take away, what falls by itself. */
import { canonicalLiveRule, type GroupIdentity, referenceText, ruleKey, ruleOfKey } from "../../core/canonical/rules";
import type { DiffContext } from "../../core/diff/context";
import type { Known } from "../../core/diff/find";
import type { PairOf } from "../../core/diff/pair";
import type { Address } from "../../core/model/address";
import type { DesiredGroup } from "../../core/model/desired";
import { identity } from "../../core/model/identity";
import { ofKind } from "../../core/model/kinds";
import type { LiveGroup, LiveRule } from "../../core/model/live";
import type { RecordedGroup } from "../../core/model/recorded";
import { groupAddressNamed, groupIdNamed, namingGroup, type Rule } from "../../core/model/rule";
import { otherForms } from "./same-traffic";

export interface LiveRulePair {
  readonly live: LiveRule;
  readonly rule: Rule;
}

/** By their ids. */
export interface GroupsThatGo {
  /** They will not be there after this plan. */
  readonly dying: ReadonlySet<string>;
  /** Of those, what earlier runs replaced and could not delete yet. */
  readonly retired: ReadonlySet<string>;
  /** Of those, what another group takes the place of, in this plan or since an earlier one: where that one is. */
  readonly renewed: ReadonlyMap<string, Address>;
  /** The service does not have them any more. */
  readonly gone: ReadonlySet<string>;
  /** Earlier runs replaced and deleted them. */
  readonly buried: ReadonlySet<string>;
}

export interface RulesComparison {
  /** Rules to add and, one by one, to take away. */
  readonly added: readonly Rule[];
  readonly removed: readonly LiveRulePair[];
  readonly kept: readonly LiveRulePair[];
  /** Rules that cannot be taken away one by one, and name a group that is gone. */
  readonly idle: readonly LiveRulePair[];
  /** Rules that vanish because the group they name is deleted in this plan. */
  readonly cascaded: readonly LiveRulePair[];
  /** Of those, what is a change. That a rule goes with a group that was replaced was told by the plan that replaced it. */
  readonly falling: readonly LiveRulePair[];
  /** Rules that nobody declares and that are to stay, and name a group in whose place there is another one. */
  readonly outdated: readonly Rule[];
  /** The same towards that group, where they are not there yet. */
  readonly following: readonly Rule[];
  /** Of those, what a replacement that was cut off has yet to add: the record alone has them. */
  readonly owed: readonly Rule[];
  readonly replaces: boolean;
  readonly platformRules: readonly string[];
  /** Rules that nobody declares and that stay where they are. */
  readonly left: readonly Rule[];
  /** Those of the service's own that let traffic in, are seen, and are not declared. */
  readonly serviceIngress: readonly Rule[];
}

/** A group is its address, where it has one: the same before and after it is replaced. */
export const byAddress =
  ({ addressOf }: Pick<DiffContext, "addressOf">): GroupIdentity =>
  (group) =>
    "address" in group ? group.address : (addressOf(identity("group", group.id)) ?? group.id);

/**
 * The declared rules beside those that are there, before anything is decided. `shown`: as the service shows them, or
 * `undefined` where the record has to stand for them.
 */
function matchRules(
  rules: readonly Rule[],
  live: LiveGroup | undefined,
  recorded: Pick<RecordedGroup, "rules" | "platformRules"> | undefined,
  identify: GroupIdentity,
) {
  const keyOf = (rule: Rule): string => ruleKey(rule, identify);
  const shown = live?.rules?.map((one) => ({ live: one, rule: canonicalLiveRule(one) }));
  const present: readonly LiveRulePair[] =
    shown ?? (recorded?.rules ?? []).map((rule) => ({ live: { id: "", direction: rule.direction }, rule }));
  const wanted = new Map(rules.map((rule) => [keyOf(rule), rule]));
  const have = new Set(present.map(({ rule }) => keyOf(rule)));
  const platform = platformRules(present, recorded?.platformRules, identify);
  const extra: LiveRulePair[] = [];
  const serviceIngress: Rule[] = [];
  for (const { live, rule } of present) {
    const key = keyOf(rule);
    if (wanted.has(key)) continue;
    if (!platform.has(key)) extra.push({ live, rule });
    else if (shown !== undefined && rule.direction === "ingress") serviceIngress.push(rule);
  }
  return {
    shown,
    missing: [...wanted].filter(([key]) => !have.has(key)).map(([, rule]) => rule),
    extra,
    platformRules: [...platform].sort(),
    serviceIngress,
    /** Neither declared nor there. */
    isNew: (rule: Rule): boolean => !have.has(keyOf(rule)) && !wanted.has(keyOf(rule)),
  };
}

/** Towards the group that takes the place of the one a rule names. */
function towardsNew(rule: Rule, renewed: ReadonlyMap<string, Address>): Rule {
  const address = renewed.get(groupIdNamed(rule) ?? "");
  return address === undefined ? rule : namingGroup(rule, () => ({ address }));
}

export function comparison(
  pair: PairOf<"group">,
  desired: DesiredGroup,
  entry: Known<LiveGroup>,
  context: DiffContext,
  identify: GroupIdentity,
  groups: GroupsThatGo,
): RulesComparison {
  const recorded = entry.adopted === undefined ? pair.recorded : undefined;
  const authoritative = isAuthoritative(desired);
  const left = recorded?.left ?? [];
  const { shown, missing, extra, platformRules, serviceIngress, isNew } = matchRules(
    desired.rules,
    entry.live,
    recorded && (authoritative ? recorded : { ...recorded, rules: [...recorded.rules, ...left] }),
    identify,
  );
  const { cascaded, lasting } = withWhatFalls(extra, shown !== undefined, groups, context);
  const added = ignoresRules(desired) && !areStillToSet(pair) ? fallenAmong(missing, cascaded, context) : missing;
  const { outdated, takenOff, owed, following } = authoritative
    ? nothingFollows
    : rulesThatFollow(pair, extra, recorded, groups.renewed, identify, isNew, context);
  const goes = new Set([...cascaded, ...takenOff].map(({ rule }) => rule));
  // To replace this group for such a rule would leave a rule that names this one, and so on for ever.
  const namesNobody = naming(new Set([...groups.buried, ...groups.gone]));
  const idle = authoritative && !context.can.deletesRules ? lasting.filter(namesNobody) : [];
  const others = shown === undefined ? [] : lasting.map(({ rule }) => rule);
  const { held, forms } = otherForms(desired.rules, added, others, identify);
  const unwanted = lasting.filter((item) => !idle.includes(item) && !forms.has(item.rule));
  const isKept = keepsRules(desired, context);
  const surplus = authoritative ? unwanted : [];
  const stays = leavesOthers(desired, context) ? unwanted.filter((item) => !takenOff.includes(item)) : [];
  const removed = isKept ? [] : [...surplus, ...takenOff];
  return {
    added: [...added.filter((rule) => !held.has(rule)), ...following],
    removed,
    kept: isKept ? surplus : [],
    idle,
    cascaded,
    falling: cascaded.filter((item) => !naming(groups.retired)(item)),
    outdated: outdated.map(({ rule }) => rule),
    following,
    owed,
    replaces: context.replace.has(pair.address) || (removed.length > 0 && !context.can.deletesRules),
    platformRules,
    left: shown === undefined ? left.filter((rule) => !goes.has(rule)) : stays.map(({ rule }) => rule),
    serviceIngress,
  };
}

const naming =
  (groups: ReadonlySet<string>) =>
  ({ rule }: LiveRulePair): boolean =>
    groups.has(groupIdNamed(rule) ?? "");

/** The rules that go with the groups that they name, and the others. */
function withWhatFalls(
  extra: readonly LiveRulePair[],
  isShown: boolean,
  { dying, gone }: GroupsThatGo,
  { can }: DiffContext,
): { readonly cascaded: readonly LiveRulePair[]; readonly lasting: readonly LiveRulePair[] } {
  // Where a named group is kept, what names it has to go first. A rule that is shown and names a group that is gone has
  // outlived it.
  if (can.keepsNamedGroups) return { cascaded: [], lasting: extra };
  const falls = naming(isShown ? dying : new Set([...dying, ...gone]));
  return { cascaded: extra.filter(falls), lasting: extra.filter((item) => !falls(item)) };
}

/** What the file leaves alone is not added, but for what falls in this plan and is declared. */
function fallenAmong(missing: readonly Rule[], cascaded: readonly LiveRulePair[], context: DiffContext): Rule[] {
  const keyOf = (rule: Rule): string => ruleKey(rule, byAddress(context));
  const fallen = new Set(cascaded.map(({ rule }) => keyOf(rule)));
  return missing.filter((rule) => fallen.has(keyOf(rule)));
}

const nothingFollows = { outdated: [], takenOff: [], owed: [], following: [] };

/** What rules that nobody declares and that name a replaced group become. */
function rulesThatFollow(
  pair: PairOf<"group">,
  extra: readonly LiveRulePair[],
  recorded: RecordedGroup | undefined,
  renewed: ReadonlyMap<string, Address>,
  identify: GroupIdentity,
  isNew: (rule: Rule) => boolean,
  { can }: DiffContext,
) {
  // A rule that is to stay has to name the new group, and the old one cannot go while any names it.
  const outdated = extra.filter(({ rule }) => renewed.has(groupIdNamed(rule) ?? ""));
  const owed = rulesOwed(pair, recorded, identify, renewed).filter(isNew);
  const turned = outdated.map(({ rule }) => towardsNew(rule, renewed));
  const takenOff = can.keepsNamedGroups && can.deletesRules ? outdated : [];
  return {
    outdated,
    takenOff,
    owed,
    following: [...turned.filter((rule) => isDeclarable(rule) && isNew(rule)), ...owed],
  };
}

/**
 * Rules that nobody declares and that come after the create of a replaced group, as they name that group or another one
 * that is replaced with it. Until they are there the record names it by its address, as no id was known.
 */
function rulesOwed(
  { intent }: PairOf<"group">,
  recorded: RecordedGroup | undefined,
  identify: GroupIdentity,
  renewed: ReadonlyMap<string, Address>,
): readonly Rule[] {
  const { left = [] } = recorded ?? ofKind(intent?.record, "group") ?? {};
  const toBe = new Set(renewed.values());
  return left.filter((rule) => {
    const named = groupAddressNamed(rule);
    return named !== undefined && (toBe.has(named) || identify({ address: named }) !== named);
  });
}

/** The create could not bring them. */
const areStillToSet = ({ recorded, intent }: PairOf<"group">): boolean =>
  (recorded?.stillToSet ?? intent?.record?.stillToSet) === "rules";

const ignoresRules = ({ lifecycle }: DesiredGroup): boolean => lifecycle.ignoreChanges.includes("rules");

const isAuthoritative = (desired: DesiredGroup): boolean =>
  desired.rulesMode === "authoritative" && !ignoresRules(desired);

const keepsRules = ({ lifecycle }: DesiredGroup, { can }: Pick<DiffContext, "can">): boolean =>
  lifecycle.onRuleRemoval === "keep" && !can.deletesRules;

/** Whether rules that the file does not declare stay where they are. */
export const leavesOthers = (desired: DesiredGroup, context: Pick<DiffContext, "can">): boolean =>
  !isAuthoritative(desired) || keepsRules(desired, context);

/** The keys of the rules that the service itself put on the group. `known`: `undefined` where no record says which. */
function platformRules(
  present: readonly LiveRulePair[],
  known: readonly string[] | undefined,
  identify: GroupIdentity,
): ReadonlySet<string> {
  const seen = present.filter(
    ({ live, rule }) => live.platform === true || (known === undefined && isPlatformShaped(rule)),
  );
  return new Set([...(known ?? []), ...seen.map(({ rule }) => ruleKey(rule, identify))]);
}

/**
 * Of a new group: the keys of the rules that the service put there by itself, which are those beyond what was sent and
 * the forms in which it keeps that. While nobody has looked, the usual ones are taken for granted, and so they are where
 * a list shows nothing or lacks what was sent: it may be behind.
 */
export function platformRulesBeyond(
  rules: readonly LiveRule[] | undefined = [],
  sent: ReadonlySet<string>,
): readonly string[] {
  const shown = new Map(rules.map(canonicalLiveRule).map((rule) => [ruleKey(rule), rule]));
  const missing = [...sent].filter((key) => !shown.has(key)).map(ruleOfKey);
  const beyond = [...shown.values()].filter((rule) => !sent.has(ruleKey(rule)));
  const { held, forms } = otherForms([...sent].map(ruleOfKey), missing, beyond, referenceText);
  const isBehind = shown.size === 0 || missing.length > held.size;
  const own = beyond.filter((rule) => !forms.has(rule)).map((rule) => ruleKey(rule));
  return [...new Set([...(isBehind ? usualPlatformRules.filter((key) => !sent.has(key)) : []), ...own])].sort();
}

/** The key of the rule with which everything may leave. */
export const openEgress = (ethertype: Rule["ethertype"]): string =>
  ruleKey({ direction: "egress", ethertype, protocol: "any", remote: { kind: "any" } });

/** What services put on a new group by themselves. */
const usualPlatformRules: readonly string[] = [openEgress("IPv4"), openEgress("IPv6")];

/** Whether a rule is like those that services put on a new group by themselves: all outgoing traffic is let out. */
export const isPlatformShaped = (rule: Rule): boolean =>
  rule.direction === "egress" && rule.protocol === "any" && rule.ports === undefined && rule.remote.kind === "any";

const declarable: ReadonlySet<string> = new Set(["tcp", "udp", "icmp", "any"]);

/** Whether a file, and so a request, can say the rule. */
export const isDeclarable = (rule: Rule): boolean =>
  declarable.has(rule.protocol) &&
  (rule.ports === undefined || (rule.ports.min >= 1 && rule.ports.min <= rule.ports.max)) &&
  !(rule.remote.kind === "cidr" && !rule.remote.cidr.includes("/"));
