/** What an update of one rule changes, and what of it makes the rule anew (kinds/group/one-rule.ts). */
import { expect, it } from "vitest";
import type { LiveGroup } from "../../reconciler/core/model/live";
import { removalOf, ruleChanges } from "../../reconciler/kinds/group/one-rule";
import { holdsUnknown, isPending, type Props, pendingId, unknownValue } from "../../reconciler/one/handler";

const rule = (over: Props = {}): Props => ({ securityGroupId: "g-1", protocol: "tcp", dstPort: 22, ...over });

it.each<readonly [what: string, before: Props, wanted: Props, imported: boolean, changes: readonly string[]]>([
  ["nothing", rule(), rule(), false, []],
  ["a port", rule(), rule({ dstPort: 23 }), false, ["dstPort anew"]],
  ["the group", rule(), rule({ securityGroupId: "g-2" }), false, ["securityGroupId anew"]],
  ["the description alone", rule(), rule({ description: "why" }), false, ["description"]],
  ["no rule by another spelling of it", rule({ remoteIp: "10.0.0.0/8" }), rule({ remoteIp: "10.0.0.7/8" }), false, []],
  [
    "another spelling in another group",
    rule({ remoteIp: "10.0.0.0/8" }),
    rule({ securityGroupId: "g-2", remoteIp: "10.0.0.7/8" }),
    false,
    ["securityGroupId anew", "remoteIp anew"],
  ],
  ["what is not known yet", rule(), rule({ remoteGroup: unknownValue }), false, ["remoteGroup anew"]],
  [
    "what was not known and is not known",
    rule({ remoteGroup: unknownValue }),
    rule({ remoteGroup: unknownValue }),
    false,
    ["remoteGroup anew"],
  ],
  ["nothing by what is usual", rule(), rule({ onRuleRemoval: "fail" }), false, []],
  ["what becomes of it", rule(), rule({ onRuleRemoval: "keep" }), false, ["onRuleRemoval"]],
  ["nothing of what becomes of it, just imported", rule(), rule({ onRuleRemoval: "keep" }), true, []],
  [
    "what becomes of it, imported and said before",
    rule({ onRuleRemoval: "keep" }),
    rule({ onRuleRemoval: "fail" }),
    true,
    ["onRuleRemoval"],
  ],
])("an update of a rule changes %s", (_, before, wanted, imported, changes) => {
  const found = ruleChanges(before, wanted, imported);
  expect(found.map(({ property, replaces }) => (replaces ? `${property} anew` : property))).toEqual(changes);
});

const live = { direction: "ingress", ethertype: "IPv4", protocol: "tcp" } as const;
const group: Pick<LiveGroup, "rules"> = { rules: [{ ...live, id: "r-1" }] };

it.each<
  readonly [what: string, group: Pick<LiveGroup, "rules"> | undefined, canDelete: boolean, wish: unknown, end: string]
>([
  ["whose group is gone", undefined, true, undefined, "is gone"],
  ["that its group lacks", { rules: [{ ...live, id: "r-2" }] }, true, undefined, "is gone"],
  ["of a group that shows no rules", {}, false, undefined, "is gone"],
  ["that its group has", group, true, undefined, "goes"],
  ["that its group has, whatever was wished", group, true, "keep", "goes"],
  ["that cannot be deleted", group, false, undefined, "is refused"],
  ["that cannot be deleted and must not stay", group, false, "fail", "is refused"],
  ["that cannot be deleted and may stay", group, false, "keep", "stays"],
])("a rule %s, when it is deleted", (_, shown, canDelete, wish, end) => {
  expect(removalOf(shown, "r-1", canDelete, wish)).toBe(end);
});

it.each<readonly [value: unknown, holds: boolean]>([
  [unknownValue, true],
  [[1, [unknownValue]], true],
  [{ rules: [{ remoteGroup: unknownValue }] }, true],
  [{ rules: [{ remoteGroup: "g-1" }] }, false],
  [null, false],
  ["", false],
  [`x${unknownValue}`, false],
])("%j holds what is not known yet: %s", (value, holds) => {
  expect(holdsUnknown(value)).toBe(holds);
});

it("an id of an open create is told from others", () => {
  expect([isPending(pendingId("a")), isPending("a"), isPending("a-pending:")]).toEqual([true, false, false]);
});
