/** One rule of a group as a resource of its own: the engine's group, of which only this rule is managed. */

import { canonicalLiveRule, ruleKey } from "../../core/canonical/rules";
import { closedWith, type DesiredGroup, nothingDesired } from "../../core/model/desired";
import { acceptService, valueSeen } from "../../core/model/evidence";
import { allOfKind } from "../../core/model/kinds";
import { type LiveGroup, type LiveRule, type Sighting, sight } from "../../core/model/live";
import type { RecordedGroup } from "../../core/model/recorded";
import { namingGroup, type Rule } from "../../core/model/rule";
import { itemAt } from "../../core/text/invariant";
import { createFieldHandler, type FieldResource, fieldThing, keptField, type OfField } from "../../one/field-of";
import { cannotBeLookedAt, keptUnseen, notFound, notProvenGone } from "../../one/guards";
import {
  failure,
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerService,
  isUnknown,
  type Property,
  type PropertyChange,
  type Props,
  throwErrors,
} from "../../one/handler";
import { isReplaced } from "../../one/made-here";
import { groupsIn, type NamedId, refuseUnknownIds } from "../../one/named-ids";
import { asProperty, checkInputs, desiredOf, type Written } from "../../one/one-desired";
import { carryOut, type HowFresh, plain, planAgain, planAsObserved, type Remembered, stateOf } from "../../one/one-run";
import { claimMade, claimTaken, isClaimed, newOwner } from "../../one/ownership";
import { recordedKey } from "../../one/shape";
import { isTrafficUnknown, ruleAsProperties, ruleForFile, ruleProperties, tellingOpen } from "./one-rule-properties";
import { goesFirst, leavingOf, noteRuleEnd } from "./one-rules-going";

const address = "group.rule";

const inputs: Readonly<Record<string, Property>> = {
  securityGroupId: {
    type: "string",
    required: true,
    replaces: true,
    description: "The id of the group the rule is in.",
  },
  ...Object.fromEntries(
    Object.entries(ruleProperties).map(([name, property]) => [
      name,
      name === "description" ? { ...property, behaviour: true as const } : { ...property, replaces: true as const },
    ]),
  ),
  onRuleRemoval: {
    type: "string",
    behaviour: true,
    values: ["fail", "keep"],
    default: "fail",
    description:
      "Where the service cannot delete one rule: fail, or keep it in the service and warn. A rule whose group is deleted with it needs neither: use the option deletedWith.",
  },
};

const rulePart = (props: Props): Props =>
  Object.fromEntries(Object.entries(props).filter(([name]) => Object.hasOwn(ruleProperties, name)));

const write = (props: Props): Written => {
  const fields = Object.entries(ruleForFile(rulePart(props), "unknown"));
  return {
    kind: "group",
    lines: [
      { property: "", field: "name", value: "rule" },
      ...fields.map(([field, value]) => ({ property: asProperty(field), field, value, section: "rule" as const })),
      // A rule without fields admits all incoming traffic.
      ...(fields.length === 0 ? [{ property: "", field: "rules", value: [{}] }] : []),
    ],
  };
};

function checkRule(raw: Props): ReturnType<Handler["check"]> {
  const { protocol } = raw;
  const read = checkInputs(inputs, raw, (known) => write(isUnknown(protocol) ? { ...known, protocol } : known));
  const checked = tellingOpen(read, [raw]);
  const removal = raw["onRuleRemoval"];
  const known =
    removal === undefined || removal === null || isUnknown(removal) || removal === "fail" || removal === "keep";
  return known
    ? checked
    : { ...checked, failures: [...checked.failures, { property: "onRuleRemoval", reason: "must be fail or keep" }] };
}

/** The rule in canonical form; self is the group that the rule is in. */
function ruleOf(props: Props): Rule {
  const { desired } = desiredOf(write(props));
  // `write` writes one group, with this rule alone.
  const rule = itemAt(itemAt(allOfKind(desired.resources, "group"), 0).rules, 0);
  return namingGroup(rule, (named) => ("address" in named ? { id: String(props["securityGroupId"]) } : named));
}

const groupWith = (rules: readonly Rule[], rulesMode: DesiredGroup["rulesMode"]): DesiredGroup => ({
  kind: "group",
  address,
  name: "",
  rulesMode,
  rules,
  lifecycle: { preventDestroy: false, ignoreChanges: ["name", "description"], onRuleRemoval: "keep" },
  source: { file: "properties", line: 1 },
});

const recordWith = (id: string, rules: readonly Rule[]): RecordedGroup => ({
  kind: "group",
  address,
  id,
  rules,
  platformRules: [],
  preventDestroy: false,
});

const namedIn = (props: Props): readonly NamedId[] => [
  { kind: "group", id: String(props["securityGroupId"]) },
  ...groupsIn(props),
];

function plan(
  { signal }: HandlerContext,
  service: HandlerService,
  group: DesiredGroup,
  record: RecordedGroup,
  { scope }: Remembered = {},
  look: HowFresh = "fresh",
) {
  const desired = closedWith(nothingDesired, { resources: [group] });
  return planAsObserved({ service, signal }, desired, stateOf(address, { record, scope }), look);
}

/** The group with its rules as the service shows them. */
async function sightingOf(
  context: HandlerContext,
  service: HandlerService,
  groupId: string,
  remembered?: Remembered,
  look?: HowFresh,
) {
  const planned = await plan(context, service, groupWith([], "additive"), recordWith(groupId, []), remembered, look);
  throwErrors(planned.plan.diagnostics);
  return sight(planned.live, "group", groupId);
}

/** One list may lack the rule falsely, and once it is forgotten nobody looks for it again: gone is what two lists lack. */
async function sightingFor(
  context: HandlerContext,
  service: HandlerService,
  { groupId, ruleId }: RuleIds,
  remembered: Remembered,
  how: HowFresh,
) {
  const first = await sightingOf(context, service, groupId, remembered, how);
  return lacks(first, ruleId) ? sightingOf(context, service, groupId, remembered) : first;
}

const lacks = (sighting: Sighting<LiveGroup>, ruleId: string): boolean =>
  sighting.seen === "yes" && ruleById(sighting.value, ruleId) === undefined;

/** `undefined` when the rule is gone. */
async function look(context: HandlerContext, service: HandlerService, groupId: string): Promise<LiveGroup | undefined> {
  return valueSeen(await sightingOf(context, service, groupId));
}

const findRule = (group: LiveGroup, key: string): LiveRule | undefined =>
  group.rules?.find((rule) => ruleKey(canonicalLiveRule(rule)) === key);

const ruleById = ({ rules }: Pick<LiveGroup, "rules">, ruleId: string): LiveRule | undefined =>
  rules?.find(({ id }) => id === ruleId);

interface RuleIds {
  readonly groupId: string;
  readonly ruleId: string;
}

const ruleTakenOver = (groupId: string): string =>
  `the rule is in group ${groupId} already: nothing is added, and it is managed here from now on. Where another resource of this program goes that named the same rule, the two are one rule, which stays; aliases: [{ name: "<its former name>" }] keeps it the same resource`;

const ruleReplaced = (groupId: string): string =>
  `the rule is in group ${groupId} already: where that is this rule, which is being replaced and goes first (with its group, or by the option deleteBeforeReplace), it is removed and added again; otherwise it stays as it is, and is managed here from now on`;

const inputsIn = (before: Props): Props =>
  Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(inputs, name)));

/** What an update of the rule changes: another spelling of the same traffic is none that makes it anew. */
export function ruleChanges(before: Props, wanted: Props, imported: boolean): PropertyChange[] {
  const changes: PropertyChange[] = [];
  const unknown = Object.keys(inputs).filter((name) => isUnknown(wanted[name]));
  const sameTraffic =
    unknown.length === 0 &&
    before["securityGroupId"] === wanted["securityGroupId"] &&
    ruleKey(ruleOf(before)) === ruleKey(ruleOf(wanted));
  for (const [property, { replaces, default: usual }] of Object.entries(inputs)) {
    const same = (before[property] ?? usual) === (wanted[property] ?? usual);
    if (same && !unknown.includes(property)) continue;
    if (property === "onRuleRemoval" && imported && before[property] === undefined) continue;
    if (replaces === true && sameTraffic) continue;
    changes.push({ property, replaces: replaces === true });
  }
  return changes;
}

/** What a delete of the rule comes to. Without the group the rule is gone as well. */
export function removalOf(
  group: Pick<LiveGroup, "rules"> | undefined,
  ruleId: string,
  canDelete: boolean,
  onRuleRemoval: unknown,
): "is gone" | "goes" | "stays" | "is refused" {
  if (group === undefined || ruleById(group, ruleId) === undefined) return "is gone";
  if (canDelete) return "goes";
  return onRuleRemoval === "keep" ? "stays" : "is refused";
}

const cannotGoAlone = ({ groupId, ruleId }: RuleIds): string =>
  `rule ${ruleId} of group ${groupId} cannot be deleted by itself: this service has no operation for it`;

/**
 * What becomes of a rule that is made anew, where the service cannot delete it by itself. A group that is replaced goes
 * after the rules that name it, and where it goes before its successor is made, its id is unknown when the engine asks
 * about them.
 */
async function leavesBehind(
  { context, service, id, ids, remembered }: OfField<RuleIds>,
  before: Props,
  wanted: Props,
): Promise<readonly string[]> {
  const { deletesRules, keepsNamedGroups } = service.client.can;
  if (deletesRules) return [];
  const goes = (name: "securityGroupId" | "remoteGroup"): boolean =>
    isUnknown(wanted[name]) ||
    (wanted[name] !== before[name] && isReplaced(service, { kind: "group", id: String(before[name]) }));
  if (goes("securityGroupId")) {
    noteRuleEnd(service, id, "with a group");
    return [];
  }
  const sighting = await sightingOf(context, service, ids.groupId, remembered, "recent");
  const keep = [before, wanted].some((props) => props["onRuleRemoval"] === "keep") ? "keep" : "fail";
  const end = sighting.seen === "yes" ? removalOf(sighting.value, ids.ruleId, deletesRules, keep) : "is gone";
  if (end === "is gone") return [];
  if (goes("remoteGroup") && !keepsNamedGroups) {
    noteRuleEnd(service, id, "with a group");
    return [`${cannotGoAlone(ids)}; where the service does not drop it with the group that it names, it stays`];
  }
  if (end === "is refused" && isTrafficUnknown(wanted))
    return [`${cannotGoAlone(ids)}: where what is not known yet changes it, the update is refused`];
  if (end === "is refused")
    throw failure(
      "plan/rule-stays",
      cannotGoAlone(ids),
      'replace its group with it (--replace with the URN of the group), or set onRuleRemoval: "keep", which leaves the former rule there',
    );
  noteRuleEnd(service, id, "keep");
  return [`${cannotGoAlone(ids)}; it stays`];
}

const ruleField: FieldResource<RuleIds> = {
  noun: "rule",
  written: "GROUP-ID/RULE-ID",
  type: "SecurityGroupRule",
  description:
    "One rule of a security group, for groups whose rulesMode is additive, and for rules between groups that name each other.",
  inputs,
  outputs: { ruleId: { type: "string", description: "The id of the rule in its group." } },
  stables: ["securityGroupId", "ruleId"],

  ids: (groupId, ruleId) => ({ groupId, ruleId }),
  said: ({ groupId }) => ({ securityGroupId: groupId }),
  names: { securityGroupId: "group", remoteGroup: "group" },
  check: checkRule,

  changes: (before, wanted, { imported }) => ruleChanges(before, wanted, imported === true),

  async diff(of, before, changes, replaces, wanted) {
    if (replaces.length > 0) return { deleteBeforeReplace: false, warnings: await leavesBehind(of, before, wanted) };
    const described = changes.some(({ property }) => property === "description");
    return {
      deleteBeforeReplace: false,
      warnings: described ? ["the service cannot change the description of a rule; it is only noted"] : [],
    };
  },

  async preview(context, service, props, mayBeItself) {
    const groupId = props["securityGroupId"];
    if (typeof groupId !== "string" || isUnknown(groupId)) return [];
    await refuseUnknownIds(service, namedIn(props));
    const sighting = await sightingOf(context, service, groupId, undefined, "recent");
    if (isTrafficUnknown(props)) return [];
    const key = ruleKey(ruleOf(props));
    const live = sighting.seen === "yes" ? findRule(sighting.value, key) : undefined;
    if (live === undefined) return [];
    if (mayBeItself(`${groupId}/${live.id}`)) return [ruleReplaced(groupId)];
    const isOthers = isClaimed(service, fieldThing(ruleField, `${groupId}/${live.id}`));
    return [isOthers ? ruleTakenOver(groupId) : (goesFirst(service, groupId, key) ?? ruleTakenOver(groupId))];
  },

  async create(context, service, props) {
    const groupId = String(props["securityGroupId"]);
    const rule = ruleOf(props);
    const planned = await plan(context, service, groupWith([rule], "additive"), recordWith(groupId, []));
    if (sight(planned.live, "group", groupId).seen === "gone") throw notFound(`security group ${groupId}`);
    const isThere = planned.plan.changes.length === 0;
    const first = goesFirst(service, groupId, ruleKey(rule));
    if (isThere) context.log("warning", ruleTakenOver(groupId));
    else if (first !== undefined) context.log("warning", first);
    const ran = await carryOut(context, service, planned, false);
    if (ran.problems.length > 0) throw new HandlerFailure(ran.problems);
    const group = await look(context, service, groupId);
    const made = group === undefined ? undefined : findRule(group, ruleKey(rule));
    if (made === undefined) throw notFound(`such rule in group ${groupId}, although it was just added`);
    const id = `${groupId}/${made.id}`;
    const owner = newOwner();
    if (isThere) await claimTaken(service, fieldThing(ruleField, id), owner, context.notes);
    else claimMade(service, fieldThing(ruleField, id), owner);
    return keptField(service, id, { ...props, ruleId: made.id }, owner);
  },

  async read({ context, service, id, ids, remembered }, before, known) {
    const { groupId, ruleId } = ids;
    const sighting = await sightingFor(context, service, ids, remembered, "recent");
    if (sighting.seen === "unobserved") {
      // What is imported or looked up has to be seen: nothing remembers it.
      if (before === undefined && sighting.vanished === undefined && sighting.fix !== acceptService)
        throw cannotBeLookedAt(`rule ${id}`, sighting, true);
      if (before === undefined) return undefined;
      context.log("warning", keptUnseen(`rule ${id}`, sighting));
      return { id, inputs: inputsIn(before), outputs: before };
    }
    const live = sighting.seen === "yes" ? ruleById(sighting.value, ruleId) : undefined;
    if (live === undefined) return undefined;
    const rule = canonicalLiveRule(live);
    // The rule keeps the spelling in which it was written.
    const same = before !== undefined && ruleKey(ruleOf(before)) === ruleKey(rule);
    const shown = plain(same ? inputsIn(before) : { securityGroupId: groupId, ...ruleAsProperties(rule, groupId) });
    return { id, inputs: shown, outputs: { ...shown, ruleId, [recordedKey]: plain(known) } };
  },

  update: async ({ service, id, ids }, before, props, owner) =>
    keptField(service, id, { ...props, ruleId: before["ruleId"] ?? ids.ruleId }, owner),

  async remove({ context, service, id, ids, remembered }, before) {
    const { groupId, ruleId } = ids;
    const sighting = await sightingFor(context, service, ids, remembered, "forRemoval");
    if (sighting.seen === "unobserved") throw notProvenGone(`rule ${id}`, `of its group, ${sighting.reason}`);
    const group = valueSeen(sighting);
    const leaves = leavingOf(service, id) ?? before["onRuleRemoval"];
    const end = removalOf(group, ruleId, service.client.can.deletesRules, leaves);
    if (group === undefined || end === "is gone" || leaves === "with a group") return true;
    if (end === "stays") {
      if (before["onRuleRemoval"] === "keep") context.log("warning", `${cannotGoAlone(ids)}; it stays`);
      return false;
    }
    if (end === "is refused")
      throw failure(
        "plan/rule-stays",
        cannotGoAlone(ids),
        'set onRuleRemoval: "keep", or the option deletedWith: its group, and update once before it goes; or declare the rules within the group',
      );
    // That look may be of some seconds ago. What is to stay is told by one of now: somebody may have added a rule since.
    const lookNow = () => plan(context, service, groupWith([], "additive"), recordWith(groupId, []), remembered);
    let looked = await lookNow();
    if (lacks(sight(looked.live, "group", groupId), ruleId)) looked = await lookNow();
    const now = sight(looked.live, "group", groupId);
    if (now.seen === "unobserved") throw notProvenGone(`rule ${id}`, `of its group, ${now.reason}`);
    const shown = now.seen === "yes" ? ruleById(now.value, ruleId) : undefined;
    if (now.seen !== "yes" || shown === undefined) return true;
    // The others of the group are not this resource's: whoever they are of may remove them meanwhile.
    const { of } = looked.live;
    const alone = { ...now, value: { ...now.value, rules: [shown] } };
    const live = { ...looked.live, of: { ...of, group: { ...of.group, byId: new Map([[groupId, alone]]) } } };
    const record = recordWith(groupId, [canonicalLiveRule(shown)]);
    const desired = groupWith([], "authoritative");
    const planned = planAgain(
      service,
      { ...looked, live, state: stateOf(address, { record }) },
      closedWith(nothingDesired, { resources: [desired] }),
    );
    const ran = await carryOut(context, service, planned, false);
    if (ran.problems.length > 0) throw new HandlerFailure(ran.problems);
    return true;
  },
};

export const ruleHandler: Handler = createFieldHandler(ruleField);
