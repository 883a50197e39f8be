/** One security group with its rules, in canonical form and sorted. */

import { type Instance, placeOfBlock } from "../../config/blocks";
import {
  isGiven,
  readBoolean,
  readList,
  reportAt,
  reportValue,
  type Subject,
  subjectWithin,
} from "../../config/fields";
import { readGroupLifecycle } from "../../config/read/lifecycle";
import { readRows } from "../../config/read/rows";
import type { Declared } from "../../config/references";
import { lineOf } from "../../config/sources";
import { isMap, type Path, positionOf } from "../../config/yaml/file";
import { describeRule, ruleKey } from "../../core/canonical/rules";
import type { RulePlace } from "../../core/model/assertion";
import type { DesiredGroup } from "../../core/model/desired";
import type { Rule } from "../../core/model/rule";
import { readRuleProduct } from "./read-rule";

/** `placed`: findings will name the rules, so each rule keeps its place. */
export function readGroup(subject: Subject, instance: Instance, declared: Declared, placed: boolean): DesiredGroup {
  const { values } = instance;
  const rules = readGroupRules(subject, instance, declared);
  const lifecycle = readGroupLifecycle(subject, values);
  const isSaid = isGiven(values, "name") && !lifecycle.ignoreChanges.includes("name");
  return {
    kind: "group",
    address: instance.address,
    ...readRows("group", subject, instance),
    rules: rules.map(({ rule }) => rule),
    lifecycle,
    nameUnsaid: isSaid ? undefined : (true as const),
    rulePlaces: placed ? rules.map(({ path }) => placeOfRule(subject, path)) : undefined,
    source: positionOf(placeOfBlock(instance.block)),
  };
}

const placeOfRule = (subject: Subject, path: Path): RulePlace => ({
  index: Number(path[1]),
  source: positionOf(subject.place(path)),
});

interface WrittenRule {
  readonly rule: Rule;
  readonly path: Path;
}

function readGroupRules(subject: Subject, { values }: Instance, declared: Declared): WrittenRule[] {
  const byKey = new Map<string, WrittenRule>();
  for (const [index, item] of readList(subject, values, "rules").entries()) {
    const path = ["rules", index];
    if (!isMap(item)) {
      if (item !== undefined) reportValue(subject, path, item, "a map", { code: "config/wrong-type" });
      continue;
    }
    const own = subjectWithin(subject, ...path);
    if (readBoolean(own, item, "enabled") === false) continue;
    for (const { rule, at: inner } of readRuleProduct(own, item, declared)) {
      const at = [...path, ...inner];
      const key = ruleKey(rule);
      const first = byKey.get(key);
      if (first === undefined) {
        byKey.set(key, { rule, path: at });
        continue;
      }
      const lines = [first.path, at].map((each) => lineOf(subject.place(each)));
      reportAt(subject, at, {
        code: "config/duplicate-rule",
        summary: "two rules of the group are identical",
        detail: `${describeRule(rule)} in ${lines.join(" and ")}; the service would refuse the whole group`,
        fix: "keep one of the two",
      });
    }
  }
  return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, written]) => written);
}
