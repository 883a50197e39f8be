/** Rules as one of many ways to write some traffic. */
import { describe, expect, it } from "vitest";
import type { Rule } from "../../reconciler/core/model/rule";
import { admitTheSame, declaredBeside } from "../../reconciler/kinds/group/same-traffic";
import { rule } from "../support/sample-plans";

const ports = (min: number, max: number, more: Partial<Rule> = {}): Rule => rule(min, { ports: { min, max }, ...more });
const from = (cidr: string): Partial<Rule> => ({ remote: { kind: "cidr", cidr } });
const named = (address: string): Partial<Rule> => ({ remote: { kind: "group", group: { address } } });
const identify = (group: { readonly address: string } | { readonly id: string }): string =>
  "id" in group ? group.id : group.address;
const computed = rule(22, {
  remote: { kind: "computed", text: { parts: [{ address: "vm.web", attribute: "private_ip" }] } as never },
});

describe("whether two sets of rules admit the same", () => {
  it.each<[string, readonly Rule[], readonly Rule[], boolean]>([
    ["no rules", [], [], true],
    ["one rule", [rule(80)], [rule(80)], true],
    ["another port", [rule(80)], [rule(81)], false],
    ["ranges that touch, and the whole", [ports(80, 84), ports(85, 89)], [ports(80, 89)], true],
    ["a range less", [ports(80, 84)], [ports(80, 89)], false],
    ["a range more", [ports(80, 89)], [ports(80, 84)], false],
    ["one within the other, and the other", [ports(80, 89), rule(85)], [ports(80, 89)], true],
    [
      "halves of a network, and the whole",
      [rule(80, from("10.0.0.0/9")), rule(80, from("10.128.0.0/9"))],
      [rule(80, from("10.0.0.0/8"))],
      true,
    ],
    ["another direction", [rule(80, { direction: "egress" })], [rule(80)], false],
    ["another family", [rule(80, { ethertype: "IPv6" })], [rule(80)], false],
    ["another protocol", [rule(80, { protocol: "udp" })], [rule(80)], false],
    ["a group, and all", [rule(80, named("group.a"))], [rule(80)], false],
    ["another group", [rule(80, named("group.a"))], [rule(80, named("group.b"))], false],
    [
      "ranges of a group",
      [ports(80, 81, named("group.a"))],
      [rule(80, named("group.a")), rule(81, named("group.a"))],
      true,
    ],
  ])("%s", (_, one, other, same) => {
    expect(admitTheSame(one, other, identify)).toBe(same);
  });
});

describe("which declared rules share traffic with one that goes", () => {
  it.each<[string, Rule, readonly Rule[], readonly number[]]>([
    ["none are declared", rule(80), [], []],
    ["another port", rule(80), [rule(81)], []],
    ["a part of its ports", ports(80, 89), [rule(79), rule(85), rule(90)], [1]],
    [
      "a part of its addresses",
      rule(80, from("10.0.0.0/8")),
      [rule(80, from("10.1.0.0/16")), rule(80, from("192.168.0.0/16"))],
      [0],
    ],
    ["all that it admits and more", rule(80, from("10.1.0.0/16")), [rule(80)], [0]],
    ["an address that is not known yet", rule(80), [computed, rule(81)], [0]],
    ["the same group", rule(80, named("group.a")), [rule(80, named("group.a")), rule(80, named("group.b"))], [0]],
  ])("%s", (_, going, declared, beside) => {
    expect(declaredBeside([going], declared, identify)).toEqual([beside.map((index) => declared[index])]);
  });

  it("each of several has its own", () => {
    const declared = [rule(80), rule(90)];
    expect(declaredBeside([ports(85, 95), rule(70), ports(1, 100)], declared, identify)).toEqual([
      [declared[1]],
      [],
      declared,
    ]);
  });
});
