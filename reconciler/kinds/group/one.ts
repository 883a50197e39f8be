/** Security groups with their rules. */

import { canonicalLiveRule, type GroupIdentity, referenceText, ruleKey, sortRules } from "../../core/canonical/rules";
import { type Closed, closedWith, type DesiredGroup } from "../../core/model/desired";
import { allOfKind } from "../../core/model/kinds";
import type { LiveGroup } from "../../core/model/live";
import type { RecordedGroup } from "../../core/model/recorded";
import type { Rule } from "../../core/model/rule";
import { isObject } from "../../core/text/objects";
import { fieldThing } from "../../one/field-of";
import { type Handler, holdsUnknown, type Props, unknownValue } from "../../one/handler";
import { groupsIn } from "../../one/named-ids";
import { desiredOf, type Written } from "../../one/one-desired";
import { createHandler } from "../../one/resource";
import { adopt, linesFor } from "../../one/shared-properties";
import { isPlatformShaped } from "./compare-rules";
import { recordRules } from "./diff";
import { isTrafficUnknown, ruleAsProperties, ruleForFile, ruleProperties, tellingOpen } from "./one-rule-properties";
import { noteGoing } from "./one-rules-going";

const write = (inputs: Props): Written => ({
  kind: "group",
  lines: [
    ...linesFor(inputs, ["name", "description"]),
    // A shared group is authoritative over the rules that this resource declared; rules made elsewhere are wanted as
    // well (wantedAmong).
    {
      property: "rulesMode",
      field: "rules_mode",
      value: inputs["rulesMode"] === "shared" ? "authoritative" : inputs["rulesMode"],
    },
    { property: "rules", field: "rules", value: rulesForFile(inputs["rules"]) },
    ...linesFor(inputs, ["onRuleRemoval"], "lifecycle"),
  ],
});

const keepingRules = (desired: Closed): Closed =>
  closedWith(desired, {
    resources: allOfKind(desired.resources, "group").map((group) => ({ ...group, rulesMode: "additive" })),
  });

const quietHandler = createHandler<"group">({
  type: "SecurityGroup",
  kind: "group",
  description:
    "A security group with its rules. Its rules are all there are, unless rulesMode is shared; then SecurityGroupRule resources may stand beside them.",
  inputs: {
    name: {
      type: "string",
      required: true,
      description:
        "3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name.",
    },
    description: { type: "string", description: "Free text." },
    rules: {
      type: "array",
      items: { type: "object", properties: ruleProperties, description: "A rule." },
      description: "What is admitted. Created with the group in one request, but for rules that name the group itself.",
    },
    rulesMode: {
      type: "string",
      behaviour: true,
      values: ["authoritative", "additive", "shared"],
      default: "authoritative",
      description:
        "authoritative: rules that are not declared here are removed. shared: rules made elsewhere stay, which is what SecurityGroupRule needs; those declared here before are removed. additive: no rule is ever removed.",
    },
    onRuleRemoval: {
      type: "string",
      behaviour: true,
      values: ["replace", "keep"],
      default: "replace",
      description: "Where the service cannot delete one rule: replace the group, or keep the rule and warn about it.",
    },
    adopt,
  },
  outputs: {},
  optional: [],
  emptied: ["description"],
  replacedAsAWhole: true,
  // The group that a rule names is about to be replaced, and is not deleted while a rule names it.
  whileUnknown: ({ keepsNamedGroups }) => (keepsNamedGroups ? { rules: [] } : {}),
  // Rules that nobody knew of can only go with the group; a refresh shows them, and then a preview does.
  asManaged: (recorded, before) => (isOpen(before) ? keepingRules(recorded) : recorded),
  sparing: (desired, { name }) => ({
    wish: keepingRules(desired),
    says: `${String(name)} has rules that were added elsewhere; they stay until a refresh`,
  }),
  deleteBeforeReplace: true,
  write,
  names: groupsIn,
  recordOfLive(address, live): RecordedGroup {
    const rules = (live.rules ?? []).map((rule) => ({
      rule: canonicalLiveRule(rule),
      platform: rule.platform === true,
    }));
    const isPlatform = (one: (typeof rules)[number]): boolean => one.platform || isPlatformShaped(one.rule);
    return {
      kind: "group",
      address,
      id: live.id,
      name: live.name,
      description: live.description,
      rules: sortRules(rules.filter((one) => !isPlatform(one)).map(({ rule }) => rule)),
      platformRules: rules.filter(isPlatform).map(({ rule }) => ruleKey(rule)),
      preventDestroy: false,
    };
  },
  drifted(record, live, change, before) {
    let next: RecordedGroup = record;
    for (const { field } of change.fields) {
      if (field === "name" && live.name !== undefined) next = { ...next, name: live.name };
      if (field === "description" && live.description !== undefined) next = { ...next, description: live.description };
      if (field === "rules" && live.rules !== undefined) {
        const own = new Set(record.rules.map((rule) => ruleKey(rule)));
        const platform = new Set(record.platformRules);
        const shown = live.rules
          .filter((rule) => rule.platform !== true)
          .map(canonicalLiveRule)
          .filter((rule) => !platform.has(ruleKey(rule)))
          .filter((rule) => !isOpen(before) || own.has(ruleKey(rule)));
        next = { ...next, rules: sortRules(shown) };
      }
    }
    return next;
  },
  inputsOf: (record) => ({
    name: record.name,
    description: record.description,
    rules: record.rules.map((rule) => ruleAsProperties(rule, record.id)),
  }),
  outputsOf: () => ({}),
  managed(record, before, inputs) {
    if (!isOpen(inputs)) return record;
    const declared = desiredOf(write(isOpen(before) ? before : inputs)).desired.resources[0];
    return declared?.kind === "group" ? { ...record, rules: rulesAmong(record, declared) } : record;
  },
  isUnsettled: () => false,
  wantedAmong(desired, inputs, record, live) {
    if (inputs["rulesMode"] !== "shared" || desired.kind !== "group") return desired;
    const own = new Set((record?.rules ?? []).map((rule) => ruleKey(rule)));
    const foreign = (live.rules ?? []).map(canonicalLiveRule).filter((rule) => !own.has(ruleKey(rule)));
    return { ...desired, rules: sortRules([...desired.rules, ...foreign], selfAs(desired.address, live.id)) };
  },
  fields: {
    noteGoing(service, id, desired, record) {
      if (desired.kind !== "group" || desired.rulesMode === "additive" || !service.client.can.deletesRules) return;
      const wished = new Set(desired.rules.map((rule) => ruleKey(rule, selfAs(desired.address, id))));
      const had = record.rules.map((rule) => ruleKey(rule));
      const going = had.filter((key) => !wished.has(key));
      noteGoing(service, id, going);
    },
    taken(live, desired, record) {
      if (desired.kind !== "group") return [];
      const wished = new Set(desired.rules.map((rule) => ruleKey(rule, selfAs(desired.address, live.id))));
      const had = new Set((record?.rules ?? []).map((rule) => ruleKey(rule)));
      return shownRules(live).flatMap(({ key, thing }) => (wished.has(key) && !had.has(key) ? [thing] : []));
    },
    without(record, live, isOthers) {
      const others = new Set(shownRules(live).flatMap(({ key, thing }) => (isOthers(thing) ? [key] : [])));
      return { ...record, rules: record.rules.filter((rule) => !others.has(ruleKey(rule))) };
    },
  },
  keep(record, declared) {
    if (declared.kind !== "group") return record;
    // Rules made elsewhere were only wanted so that they stay; the record of this resource leaves them out. That of a
    // group that was just taken over may still refer to the group itself by its address.
    return { ...record, rules: recordRules(rulesAmong(record, declared), selfAs(declared.address, record.id)) };
  },
});

export const groupHandler: Handler = {
  ...quietHandler,
  check: (inputs, exists) => tellingOpen(quietHandler.check(inputs, exists), inputs["rules"], "rules"),
};

const selfAs =
  (address: string, id: string): GroupIdentity =>
  (group) =>
    "address" in group && group.address === address ? id : referenceText(group);

/** Of the recorded rules, those that are declared. */
function rulesAmong({ id, rules }: RecordedGroup, declared: DesiredGroup): readonly Rule[] {
  const identify = selfAs(declared.address, id);
  const own = new Set(declared.rules.map((rule) => ruleKey(rule, identify)));
  return rules.filter((rule) => own.has(ruleKey(rule, identify)));
}

/** The group's rules by what they admit, and as a SecurityGroupRule names each. */
const shownRules = ({ id, rules = [] }: LiveGroup) =>
  rules.map((rule) => ({
    key: ruleKey(canonicalLiveRule(rule)),
    thing: fieldThing({ noun: "rule" }, `${id}/${rule.id}`),
  }));

/** Whether rules that are not declared may exist in the group. */
export const isOpen = (inputs: Props): boolean =>
  inputs["rulesMode"] === "additive" || inputs["rulesMode"] === "shared";

function rulesForFile(rules: unknown): unknown {
  if (!Array.isArray(rules)) return holdsUnknown(rules) ? undefined : rules;
  return rules.map((rule: unknown, index) => (isObject(rule) ? ruleForFile(apart(rule), `unknown-${index}`) : rule));
}

/** What is not known yet may tell the rule from the others. */
const apart = (rule: Props): Props => (isTrafficUnknown(rule) ? { ...rule, remoteIp: unknownValue } : rule);
