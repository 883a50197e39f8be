/** One rule of a group as a resource of its own: the engine's group, of which only this rule is managed. */

import { canonicalLiveRule, ruleKey } from "../../core/canonical/rules";
import { closedWith, type DesiredGroup, nothingDesired } from "../../core/model/desired";
import { type LiveGroup, type LiveRule, sight } from "../../core/model/live";
import type { RecordedGroup } from "../../core/model/recorded";
import { namingGroup, type Rule } from "../../core/model/rule";
import { itemAt } from "../../core/text/invariant";
import { assertSameService, notFound, notProvenGone } from "../../one/guards";
import {
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerService,
  isUnknown,
  type Property,
  type PropertyChange,
  type Props,
} from "../../one/handler";
import { noteNamed } from "../../one/made-here";
import { groupsIn, type NamedId, refuseUnknownIds } from "../../one/named-ids";
import { asProperty, checkInputs, desiredOf, type Written } from "../../one/one-desired";
import { carryOut, type HowFresh, plain, planAsObserved, type Remembered, stateOf } from "../../one/one-run";
import { claimMade, claimSeen, claimTaken, newOwner, releaseClaim, staysWithAnother } from "../../one/ownership";
import { recordedKey, recordedProperty, rememberedIn } from "../../one/shape";
import { ruleAsProperties, ruleForFile, ruleProperties } from "./one-rule-properties";

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
  const checked = checkInputs(inputs, raw, write);
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
  const rule = itemAt((desired.resources[0] as DesiredGroup).rules, 0);
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
  context: HandlerContext,
  service: HandlerService,
  desired: DesiredGroup,
  record: RecordedGroup,
  { scope }: Remembered = {},
  look: HowFresh = "fresh",
) {
  const state = stateOf(address, { record, scope });
  return planAsObserved(
    service,
    closedWith(nothingDesired, { resources: [desired] }),
    state,
    address,
    context.signal,
    look,
  );
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
  const errors = planned.plan.diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new HandlerFailure(errors);
  return sight(planned.live, "group", groupId);
}

/** `undefined` when the rule is gone. */
async function look(
  context: HandlerContext,
  service: HandlerService,
  groupId: string,
  remembered?: Remembered,
): Promise<LiveGroup | undefined> {
  const sighting = await sightingOf(context, service, groupId, remembered);
  return sighting.seen === "yes" ? sighting.value : undefined;
}

const findRule = (group: LiveGroup, key: string): LiveRule | undefined =>
  group.rules?.find((rule) => ruleKey(canonicalLiveRule(rule)) === key);

function idsIn(id: string): { readonly groupId: string; readonly ruleId: string } {
  const [groupId, ruleId, ...rest] = id.split("/");
  if (!groupId || !ruleId || rest.length > 0)
    throw new HandlerFailure([
      { severity: "error", code: "plan/bad-id", summary: `${id} is no id of a rule`, fix: "write GROUP-ID/RULE-ID" },
    ]);
  return { groupId, ruleId };
}

const thing = (id: string): string => `rule:${id}`;

const takesOver = (groupId: string): string =>
  `the rule is in group ${groupId} already: nothing is added, and it is managed here from now on. Where another resource of this program goes that named the same rule, the two are one rule, which stays; aliases: [{ name: "<its former name>" }] keeps it the same resource`;

const inputsIn = (before: Props): Props =>
  Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(inputs, name)));

export const ruleHandler: Handler = {
  type: "SecurityGroupRule",
  description:
    "One rule of a security group, for groups whose rulesMode is additive, and for rules between groups that name each other.",
  inputs,
  outputs: {
    ruleId: { type: "string", description: "The id of the rule in its group." },
    [recordedKey]: recordedProperty,
  },
  stables: ["securityGroupId", "ruleId"],

  check: checkRule,

  async diff(context, id, before, wanted) {
    const service = await context.service();
    const remembered = rememberedIn(before);
    assertSameService(service, remembered, `rule ${id}`);
    claimSeen(service, thing(id), remembered, context.notes);
    const changes: PropertyChange[] = [];
    const unknown = Object.keys(inputs).filter((name) => isUnknown(wanted[name]));
    const sameTraffic =
      unknown.length === 0 &&
      before["securityGroupId"] === wanted["securityGroupId"] &&
      ruleKey(ruleOf(before)) === ruleKey(ruleOf(wanted));
    for (const [property, { replaces, default: usual }] of Object.entries(inputs)) {
      const same = (before[property] ?? usual) === (wanted[property] ?? usual);
      if (same && !unknown.includes(property)) continue;
      if (property === "onRuleRemoval" && remembered.imported === true && before[property] === undefined) continue;
      if (replaces === true && sameTraffic) continue;
      changes.push({ property, replaces: replaces === true });
    }
    const replaces = changes.filter((change) => change.replaces).map(({ property }) => property);
    const described = changes.some(({ property }) => property === "description") && replaces.length === 0;
    return {
      changes,
      replaces,
      deleteBeforeReplace: false,
      warnings: described ? ["the service cannot change the description of a rule; it is only noted"] : [],
    };
  },

  async preview(context, props) {
    const service = await context.service();
    const groupId = props["securityGroupId"];
    if (typeof groupId !== "string" || isUnknown(groupId)) return [];
    await refuseUnknownIds(service, namedIn(props));
    const sighting = await sightingOf(context, service, groupId, undefined, "recent");
    const isThere = sighting.seen === "yes" && findRule(sighting.value, ruleKey(ruleOf(props))) !== undefined;
    return isThere ? [takesOver(groupId)] : [];
  },

  async create(context, props) {
    const service = await context.service();
    const groupId = String(props["securityGroupId"]);
    noteNamed(service, namedIn(props));
    const rule = ruleOf(props);
    const planned = await plan(context, service, groupWith([rule], "additive"), recordWith(groupId, []));
    if (sight(planned.live, "group", groupId).seen === "gone") throw notFound(`security group ${groupId}`);
    const isThere = planned.plan.changes.length === 0;
    if (isThere) context.log("warning", takesOver(groupId));
    const ran = await carryOut(context, service, planned, false);
    if (ran.problems.length > 0) throw new HandlerFailure(ran.problems);
    const group = await look(context, service, groupId);
    const made = group === undefined ? undefined : findRule(group, ruleKey(rule));
    if (made === undefined) throw notFound(`such rule in group ${groupId}, although it was just added`);
    const id = `${groupId}/${made.id}`;
    const owner = newOwner();
    if (isThere) claimTaken(service, thing(id), owner, context.notes);
    else claimMade(service, thing(id), owner);
    const recorded = { owner, scope: { origin: service.client.origin } };
    return { id, outputs: plain({ ...props, ruleId: made.id, [recordedKey]: recorded }) };
  },

  async read(context, id, before) {
    const { groupId, ruleId } = idsIn(id);
    const service = await context.service();
    const remembered = before === undefined ? undefined : rememberedIn(before);
    const sighting = await sightingOf(context, service, groupId, remembered, "recent");
    if (sighting.seen === "unobserved" && before !== undefined) {
      context.log("warning", `rule ${id} was not seen, and is kept as it was: ${sighting.reason}`);
      return { id, inputs: inputsIn(before), outputs: before };
    }
    const live = sighting.seen === "yes" ? sighting.value.rules?.find((rule) => rule.id === ruleId) : undefined;
    if (live === undefined) return undefined;
    const rule = canonicalLiveRule(live);
    // The rule keeps the spelling in which it was written.
    const same = before !== undefined && ruleKey(ruleOf(before)) === ruleKey(rule);
    const known = remembered ?? { owner: newOwner(), scope: { origin: service.client.origin }, imported: true };
    const shown = plain(same ? inputsIn(before) : { securityGroupId: groupId, ...ruleAsProperties(rule, groupId) });
    return { id, inputs: shown, outputs: { ...shown, ruleId, [recordedKey]: plain(known) } };
  },

  async update(context, id, before, props) {
    const service = await context.service();
    const { owner = newOwner() } = rememberedIn(before);
    claimMade(service, thing(id), owner);
    const recorded = { owner, scope: { origin: service.client.origin } };
    const ruleId = before["ruleId"] ?? idsIn(id).ruleId;
    return { id, outputs: plain({ ...props, ruleId, [recordedKey]: recorded }) };
  },

  async delete(context, id, before) {
    const service = await context.service();
    const { groupId, ruleId } = idsIn(id);
    const remembered = rememberedIn(before);
    assertSameService(service, remembered, `rule ${id}`);
    const stays = staysWithAnother(service, thing(id), remembered.owner, context.notes, `rule ${id}`);
    if (stays !== undefined) return context.log("warning", stays);
    const sighting = await sightingOf(context, service, groupId, remembered, "forRemoval");
    if (sighting.seen === "unobserved") throw notProvenGone(`rule ${id}`, `of its group, ${sighting.reason}`);
    const group = sighting.seen === "yes" ? sighting.value : undefined;
    const live = group?.rules?.find((rule) => rule.id === ruleId);
    if (group === undefined || live === undefined) return releaseClaim(service, thing(id), context.notes);
    if (!service.client.can.deletesRules) {
      const what = `rule ${ruleId} of group ${groupId} cannot be deleted by itself: this service has no operation for it`;
      if (before["onRuleRemoval"] === "keep") return context.log("warning", `${what}; it stays`);
      throw new HandlerFailure([
        {
          severity: "error",
          code: "plan/rule-stays",
          summary: what,
          fix: 'onRuleRemoval: "keep", the option deletedWith: its group, or rules declared within the group',
        },
      ]);
    }
    const all = (group.rules ?? []).map((rule) => ({ id: rule.id, rule: canonicalLiveRule(rule) }));
    const others = all.filter((one) => one.id !== ruleId).map(({ rule }) => rule);
    const planned = await plan(
      context,
      service,
      groupWith(others, "authoritative"),
      recordWith(
        groupId,
        all.map(({ rule }) => rule),
      ),
    );
    const ran = await carryOut(context, service, planned, false);
    if (ran.problems.length > 0) throw new HandlerFailure(ran.problems);
    releaseClaim(service, thing(id), context.notes);
  },
};
