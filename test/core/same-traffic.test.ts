/** Rules as one of many ways to write some traffic. */
import { describe, expect, it } from "vitest";
import { ruleKey, ruleOfKey } from "../../reconciler/core/canonical/rules";
import type { Rule } from "../../reconciler/core/model/rule";
import { declaredBeside, otherForms, shownAmong } from "../../reconciler/kinds/group/same-traffic";
import { rule } from "../support/sample-plans";

const ports = (min: number, max: number, more: Partial<Rule> = {}): Rule => rule(min, { ports: { min, max }, ...more });
const from = (cidr: string): Partial<Rule> => ({ remote: { kind: "cidr", cidr } });
const named = (address: string): Partial<Rule> => ({ remote: { kind: "group", group: { address } } });
const identify = (group: { readonly address: string } | { readonly id: string }): string =>
  "id" in group ? group.id : group.address;
const computed = rule(22, {
  remote: { kind: "computed", text: { parts: [{ address: "vm.web", attribute: "private_ip" }] } as never },
});

describe("in which undeclared rules what is missing is kept", () => {
  const a = named("group.a");
  it.each<
    [
      string,
      declared: readonly Rule[],
      missing: readonly number[],
      undeclared: readonly Rule[],
      forms: readonly number[],
    ]
  >([
    ["nothing is missing", [rule(80)], [], [rule(81)], []],
    ["nothing else is there", [rule(80)], [0], [], []],
    ["another port", [rule(80)], [0], [rule(81)], []],
    ["two that were joined", [rule(80), rule(81)], [0, 1], [ports(80, 81)], [0]],
    ["two that were joined, of which one shows as well", [rule(80), rule(81)], [1], [ports(80, 81)], [0]],
    ["joined with more than is declared", [rule(80), rule(81)], [0, 1], [ports(80, 82)], []],
    ["one that was divided", [ports(80, 81)], [0], [rule(80), rule(81)], [0, 1]],
    ["one that was divided, without a part", [ports(80, 82)], [0], [rule(80), rule(82)], []],
    ["one that was divided, and something else", [ports(80, 81)], [0], [rule(80), rule(81), rule(90)], [0, 1]],
    [
      "a network in halves",
      [rule(80, from("10.0.0.0/8"))],
      [0],
      [rule(80, from("10.0.0.0/9")), rule(80, from("10.128.0.0/9"))],
      [0, 1],
    ],
    ["a larger network", [rule(80, from("10.1.0.0/16"))], [0], [rule(80, from("10.0.0.0/8"))], []],
    ["a smaller network", [rule(80, from("10.0.0.0/8"))], [0], [rule(80, from("10.1.0.0/16"))], []],
    ["another direction", [rule(80)], [0], [rule(80, { direction: "egress" })], []],
    ["another family", [rule(80)], [0], [rule(80, { ethertype: "IPv6" })], []],
    ["another protocol", [rule(80)], [0], [rule(80, { protocol: "udp" })], []],
    ["all instead of a group", [rule(80, a)], [0], [rule(80)], []],
    ["another group", [rule(80, a)], [0], [rule(80, named("group.b"))], []],
    ["ranges of a group", [ports(80, 81, a)], [0], [rule(80, a), rule(81, a)], [0, 1]],
  ])("%s", (_, declared, missing, undeclared, forms) => {
    const absent = missing.map((index) => declared[index]!);
    const found = otherForms(declared, absent, undeclared, identify);
    expect([...found.forms]).toEqual(forms.map((index) => undeclared[index]));
    expect([...found.held]).toEqual(forms.length === 0 ? [] : absent);
  });

  it.each<
    [string, declared: readonly Rule[], undeclared: readonly Rule[], held: readonly number[], forms: readonly number[]]
  >([
    ["two were joined, and one is new", [rule(80), rule(81), rule(90)], [ports(80, 81)], [0, 1], [0]],
    ["one was divided, and one is new", [ports(80, 81), rule(90)], [rule(80), rule(81)], [0], [0, 1]],
    ["of one a part is there", [rule(70), ports(80, 81)], [ports(70, 70), rule(80)], [0], [0]],
    ["a part of one is there, and it is new", [ports(80, 89), rule(90)], [ports(80, 84)], [], []],
    ["one for a group is new", [rule(80), rule(81), rule(80, a)], [ports(80, 81)], [0, 1], [0]],
  ])("%s", (_, declared, undeclared, held, forms) => {
    const found = otherForms(declared, declared, undeclared, identify);
    expect([...found.held]).toEqual(held.map((index) => declared[index]));
    expect([...found.forms]).toEqual(forms.map((index) => undeclared[index]));
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

describe("whether live rules show a rule in another form", () => {
  const key = ruleKey;
  it.each<[string, Rule, readonly Rule[], readonly Rule[], boolean]>([
    ["none is there", rule(80), [], [], false],
    ["joined with another declared one", rule(80), [rule(81)], [ports(80, 81)], true],
    ["joined with one that nobody declared", rule(80), [], [ports(80, 81)], false],
    ["divided", ports(80, 81), [], [rule(80), rule(81)], true],
    ["divided, and a part of it is missing", ports(80, 82), [], [rule(80), rule(82)], false],
    ["for everybody instead", rule(80, from("10.0.0.0/8")), [], [rule(80)], false],
    [
      "for halves of the network",
      rule(80, from("10.0.0.0/8")),
      [],
      [rule(80, from("10.0.0.0/9")), rule(80, from("10.128.0.0/9"))],
      true,
    ],
    ["for a smaller network", rule(80, from("10.0.0.0/8")), [], [rule(80, from("10.0.0.0/9"))], false],
    [
      "within a declared one, which is not it",
      rule(80, from("10.1.0.0/16")),
      [rule(80, from("10.0.0.0/8"))],
      [rule(80, from("10.0.0.0/8"))],
      false,
    ],
    [
      "of a group",
      ports(80, 81, { remote: { kind: "group", group: { id: "g" } } }),
      [],
      [
        rule(80, { remote: { kind: "group", group: { id: "g" } } }),
        rule(81, { remote: { kind: "group", group: { id: "g" } } }),
      ],
      true,
    ],
    [
      "of another group",
      rule(80, { remote: { kind: "group", group: { id: "g" } } }),
      [],
      [rule(80, { remote: { kind: "group", group: { id: "h" } } })],
      false,
    ],
    ["the other direction", rule(80), [], [rule(80, { direction: "egress" })], false],
    ["all protocols and ports", rule(80, { protocol: "any", ports: undefined }), [], [rule(80)], false],
  ])("%s", (_, asked, others, live, shown) => {
    const declared = [asked, ...others].map((one) => key(one));
    expect(shownAmong(declared, live).has(key(asked))).toBe(shown);
  });

  it.each([
    rule(80),
    ports(80, 90, from("10.0.0.0/8")),
    rule(1, { protocol: "any", ports: undefined, direction: "egress", ethertype: "IPv6" }),
    rule(22, { remote: { kind: "group", group: { id: "a b" } } }),
    rule(22, { ethertype: "IPv6", ...from("fd00::/8") }),
  ])("a rule is read back from its key", (one) => {
    expect(ruleKey(ruleOfKey(ruleKey(one)))).toBe(ruleKey(one));
  });
});
