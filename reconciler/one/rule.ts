/** One rule of a group as a resource of its own: the engine's group with nothing managed but this rule. */
import { canonicalLiveRule, ruleKey } from "../core/canonical/rules";
import { type DesiredGroup, nothingDesired } from "../core/model/desired";
import { type LiveGroup, type LiveRule, sightGroup } from "../core/model/live";
import type { RecordedGroup } from "../core/model/recorded";
import type { Rule } from "../core/model/rule";
import { notFound } from "./attachment";
import {
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerService,
  isUnknown,
  type Property,
  type PropertyChange,
  type Props,
} from "./handler";
import { asProperty, checkInputs, desiredOf, type Written } from "./one-desired";
import { carryOut, plain, planAsObserved, stateOf } from "./one-run";
import { ruleAsProperties, ruleForFile, ruleProperties } from "./rule-properties";

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
      // A rule that says nothing admits everything that comes in.
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

/** The rule in canonical form; self is the group it is in. */
function ruleOf(props: Props): Rule {
  const { desired } = desiredOf(write(props));
  const rule = (desired.resources[0] as DesiredGroup).rules[0]!;
  return rule.remote.kind === "group" && "address" in rule.remote.group
    ? { ...rule, remote: { kind: "group", group: { id: String(props["securityGroupId"]) } } }
    : rule;
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

function plan(context: HandlerContext, service: HandlerService, desired: DesiredGroup, record: RecordedGroup) {
  const state = stateOf(address, { record });
  return planAsObserved(service, { ...nothingDesired, resources: [desired] }, state, address, context.signal);
}

/** The group with its rules as they are; `undefined` when it is gone. */
async function look(context: HandlerContext, service: HandlerService, groupId: string): Promise<LiveGroup | undefined> {
  const planned = await plan(context, service, groupWith([], "additive"), recordWith(groupId, []));
  const errors = planned.plan.diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new HandlerFailure(errors);
  const sighting = sightGroup(planned.live, groupId);
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

export const ruleHandler: Handler = {
  type: "SecurityGroupRule",
  description:
    "One rule of a security group, for groups whose rulesMode is additive, and for rules between groups that name each other.",
  inputs,
  outputs: { ruleId: { type: "string", description: "The id of the rule in its group." } },
  stables: ["securityGroupId", "ruleId"],

  check: checkRule,

  async diff(_context, _id, before, wanted) {
    const changes: PropertyChange[] = [];
    const unknown = Object.keys(inputs).filter((name) => isUnknown(wanted[name]));
    const sameTraffic =
      unknown.length === 0 &&
      before["securityGroupId"] === wanted["securityGroupId"] &&
      ruleKey(ruleOf(before)) === ruleKey(ruleOf(wanted));
    for (const [property, { replaces, default: usual }] of Object.entries(inputs)) {
      const same = (before[property] ?? usual) === (wanted[property] ?? usual);
      if (same && !unknown.includes(property)) continue;
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

  async create(context, props) {
    const service = await context.service();
    const groupId = String(props["securityGroupId"]);
    const rule = ruleOf(props);
    const planned = await plan(context, service, groupWith([rule], "additive"), recordWith(groupId, []));
    if (sightGroup(planned.live, groupId).seen === "gone") throw notFound(`security group ${groupId}`);
    if (planned.plan.changes.length === 0)
      context.log("warning", `the rule is in group ${groupId} already; it is managed here from now on`);
    const ran = await carryOut(context, service, planned, false);
    if (ran.problems.length > 0) throw new HandlerFailure(ran.problems);
    const group = await look(context, service, groupId);
    const made = group === undefined ? undefined : findRule(group, ruleKey(rule));
    if (made === undefined) throw notFound(`such rule in group ${groupId}, although it was just added`);
    return { id: `${groupId}/${made.id}`, outputs: plain({ ...props, ruleId: made.id }) };
  },

  async read(context, id, before) {
    const { groupId, ruleId } = idsIn(id);
    const group = await look(context, await context.service(), groupId);
    const live = group?.rules?.find((rule) => rule.id === ruleId);
    if (live === undefined) return undefined;
    const rule = canonicalLiveRule(live);
    // Another spelling of the same traffic stays as it was written.
    const same = before !== undefined && ruleKey(ruleOf(before)) === ruleKey(rule);
    const { ruleId: _ruleId, ...kept } = before ?? {};
    const inputs = plain(same ? kept : { securityGroupId: groupId, ...ruleAsProperties(rule, groupId) });
    return { id, inputs, outputs: { ...inputs, ruleId } };
  },

  async update(_context, id, before, props) {
    return { id, outputs: plain({ ...props, ruleId: before["ruleId"] ?? idsIn(id).ruleId }) };
  },

  async delete(context, id, before) {
    const service = await context.service();
    const { groupId, ruleId } = idsIn(id);
    const group = await look(context, service, groupId);
    const live = group?.rules?.find((rule) => rule.id === ruleId);
    if (group === undefined || live === undefined) return;
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
  },
};
