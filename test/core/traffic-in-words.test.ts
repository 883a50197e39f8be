/** Traffic as its largest rectangles of ports and addresses, in the words of rules (kinds/group/exposure/describe.ts). */
import { expect, it } from "vitest";
import type { Rule } from "../../reconciler/core/model/rule";
import { admissionText, describeTraffic } from "../../reconciler/kinds/group/exposure/describe";
import { trafficOf } from "../../reconciler/kinds/group/exposure/traffic";
import { rule } from "../support/sample-plans";

const from = (port: number, ...cidrs: readonly string[]): Rule[] =>
  cidrs.map((cidr) => rule(port, { remote: { kind: "cidr", cidr } }));
const identify = (group: { readonly address: string } | { readonly id: string }): string =>
  "id" in group ? group.id : group.address;

it.each<[what: string, rules: readonly Rule[], words: readonly string[]]>([
  ["nothing", [], []],
  ["everybody", [rule(22)], ["tcp 22 from anywhere (IPv4)"]],
  ["one network", from(22, "10.0.0.0/8"), ["tcp 22 from 10.0.0.0/8"]],
  [
    "ports that are neighbours are one",
    [...from(22, "10.0.0.0/8"), ...from(23, "10.0.0.0/8")],
    ["tcp 22-23 from 10.0.0.0/8"],
  ],
  [
    "ports with one between them are two",
    [...from(22, "10.0.0.0/8"), ...from(24, "10.0.0.0/8")],
    ["tcp 22 from 10.0.0.0/8", "tcp 24 from 10.0.0.0/8"],
  ],
  [
    "a network that reaches further than the one beside it is told whole",
    [...from(22, "10.0.0.0/8", "172.16.0.0/12"), ...from(23, "10.0.0.0/8")],
    ["tcp 22-23 from 10.0.0.0/8", "tcp 22 from 172.16.0.0/12"],
  ],
  [
    "a network within a larger one is told where the larger one ends",
    [...from(22, "10.0.0.0/8"), ...from(23, "10.1.0.0/16")],
    ["tcp 22 from 10.0.0.0/8", "tcp 22-23 from 10.1.0.0/16"],
  ],
  [
    "nearly everybody, by who is left out",
    from(22, "0.0.0.0/1", "192.0.0.0/2"),
    ["tcp 22 from anywhere except 128.0.0.0/2"],
  ],
  [
    "a network that nearly everybody holds is told at the port beside it",
    [...from(22, "0.0.0.0/1", "192.0.0.0/2"), ...from(23, "0.0.0.0/1")],
    ["tcp 22 from anywhere except 128.0.0.0/2", "tcp 22-23 from 0.0.0.0/1"],
  ],
  [
    "nearly everybody at two ports, where a third has one network of them",
    [...from(22, "0.0.0.0/1", "192.0.0.0/2"), ...from(23, "0.0.0.0/1"), ...from(24, "0.0.0.0/1")],
    ["tcp 22 from anywhere except 128.0.0.0/2", "tcp 22-24 from 0.0.0.0/1"],
  ],
  [
    "a network without a part of it is no exception of everybody",
    from(22, "10.0.0.0/9", "10.192.0.0/10"),
    ["tcp 22 from 10.0.0.0/9", "tcp 22 from 10.192.0.0/10"],
  ],
])("%s", (_, rules, words) => {
  expect(describeTraffic(trafficOf(rules, identify)).map(admissionText)).toEqual(words);
});
