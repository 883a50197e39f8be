/** What is to know of one group alone. */
import { nameBeforeAside } from "../../core/model/aside-name";
import { flag, isRule, list, mapWith, optional, shape, text } from "../../core/model/checks";
import type { Reference } from "../../core/model/desired";
import { groupFields } from "../../core/model/fields";
import { behavingAs, fieldsOfRecord, isUnseenList, type KindFacts, source } from "../../core/model/kind-facts";
import { groupNamed, namingGroup, type Rule } from "../../core/model/rule";

const groupsOfRules = (rules: readonly Rule[]): Reference[] => rules.flatMap((rule) => groupNamed(rule) ?? []);

export const groupFacts: KindFacts<"group"> = {
  references: ({ rules }) => groupsOfRules(rules),
  renamed: (desired, named) => ({
    ...desired,
    rules: desired.rules.map((rule) => namingGroup(rule, (group) => named(group, "group"))),
  }),
  names: ({ rules, left = [] }) =>
    groupsOfRules([...rules, ...left]).flatMap((named) => ("id" in named ? [named.id] : [])),
  keeps: ({ retired = [] }) => retired.map(({ id }) => `group:${id}`),
  leaves: ({ retired = [], name, id }) =>
    retired.map((old) => ({ kind: "group", ...old, reason: `was replaced by group ${name ?? id}` })),
  memory: () => ({
    id: text,
    platformRules: list(text),
    left: optional(list(isRule)),
    preventDestroy: flag,
    deleting: optional(flag),
    stillToSet: optional(text),
    updating: optional(mapWith(text)),
    retired: optional(list(shape({ id: text, name: optional(text) }))),
    buried: optional(list(text)),
    unseen: isUnseenList,
  }),
  wish(record) {
    const { fields, unknown } = fieldsOfRecord(groupFields, record);
    return {
      kind: "group",
      address: record.address,
      ...fields,
      rulesMode: "authoritative",
      lifecycle: { preventDestroy: record.preventDestroy, ignoreChanges: unknown, onRuleRemoval: "replace" },
      source,
    };
  },
  // The name that a replacement gives a group until it is deleted.
  declared: (record) =>
    record.id === undefined || record.name === undefined
      ? record
      : { ...record, name: nameBeforeAside(record.name, record.id) },
  behaving: (wish, now) =>
    now === undefined
      ? wish
      : { ...wish, rulesMode: now.rulesMode, lifecycle: behavingAs(now.lifecycle, wish), source: now.source },
};
