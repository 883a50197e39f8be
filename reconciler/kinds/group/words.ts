/** What is said of a group. The compiler refuses a new field of its record until it is shown here. */
import { canonicalLiveRule, describeRule, ruleKey } from "../../core/canonical/rules";
import { textKey } from "../../core/model/computed";
import { groupFields } from "../../core/model/fields";
import type { AddressOf } from "../../core/model/identity";
import type { LiveOf } from "../../core/model/live";
import type { RecordedGroup } from "../../core/model/recorded";
import type { Rule } from "../../core/model/rule";
import { countOf } from "../../report/style";
import {
  deletingRow,
  remarkIf,
  rowOfSides,
  type SideRow,
  short,
  stillToSetRow,
  unseenRow,
  type WordRows,
  type WordsOfKind,
} from "../../report/told-rows";
import { byAddress } from "./compare-rules";

const mostRules = 200;

const rulesSaid = (rules: readonly Rule[], addressOf: AddressOf): string[] =>
  rules.map((rule) => {
    const said = describeRule(rule, byAddress({ addressOf }));
    return rule.description === undefined ? said : `${said} (${textKey(rule.description)})`;
  });

const groupRows = (addressOf: AddressOf): WordRows<RecordedGroup> => ({
  id: ["id", ({ id }) => id],
  name: [groupFields.name.field, ({ name }) => name],
  description: [groupFields.description.field, ({ description }) => description],
  rules: [groupFields.rules.field, ({ rules }) => rulesSaid(rules, addressOf)],
  platformRules: ["by itself", ({ platformRules }) => platformRules.map((key) => `${key} (the service's own)`)],
  left: ["left alone", ({ left }) => left && rulesSaid(left, addressOf)],
  preventDestroy: ["prevent_destroy", ({ preventDestroy }) => preventDestroy],
  updating: [
    "told to be",
    ({ updating }) => updating && `${Object.values(updating).join(", ")} (no answer came, and nobody can look)`,
  ],
  deleting: deletingRow,
  stillToSet: stillToSetRow,
  retired: ["replaced", ({ retired }) => retired?.map(({ name, id }) => `${name} (${id}), still to delete`)],
  buried: ["former ids", ({ buried }) => buried],
  unseen: unseenRow,
});

export const groupWords: WordsOfKind<"group"> = {
  rows: groupRows,
  remarks: ({ retired = [] }) => [
    remarkIf(retired.length > 0, `${countOf(retired.length, "replaced group")} to delete`),
  ],
  described: ({ name, rules }) => `group ${name}, ${countOf(rules.length, "rule")}`,
  sides: ({ want, record, shown, addressOf }) => [
    ...rowOfSides(groupFields.name.field, want?.name, shown?.name, record?.name),
    ...rowOfSides(groupFields.description.field, want?.description, shown?.description, record?.description),
    ...ruleSides(want?.rules ?? [], record, shown, addressOf),
  ],
};

function ruleSides(
  wanted: readonly Rule[],
  record: RecordedGroup | undefined,
  shown: LiveOf["group"] | undefined,
  addressOf: AddressOf,
): SideRow[] {
  const identify = byAddress({ addressOf });
  const say = (rule: Rule): string => short(describeRule(rule, identify));
  const byKey = (rules: readonly Rule[]): Map<string, string> =>
    new Map(rules.slice(0, mostRules).map((rule) => [ruleKey(rule, identify), say(rule)]));
  const wants = byKey(wanted);
  const has = byKey(shown?.rules?.map(canonicalLiveRule) ?? (shown === undefined ? (record?.rules ?? []) : []));
  const own = new Set([
    ...(record?.platformRules ?? []),
    ...(shown?.rules ?? []).flatMap((rule) =>
      rule.platform === true ? [ruleKey(canonicalLiveRule(rule), identify)] : [],
    ),
  ]);
  const isRecorded = shown?.rules === undefined && has.size > 0;
  return [...new Set([...wants.keys(), ...has.keys()])].map((key): SideRow => {
    const [left, right] = [wants.get(key), has.get(key)];
    return {
      field: "rule",
      ...(left === undefined ? (own.has(key) ? { own: true } : {}) : { desired: left }),
      ...(right === undefined ? {} : { live: right, recorded: isRecorded ? true : undefined }),
    };
  });
}
