/** Traffic as its largest rectangles of ports and addresses, in the words of rules (kinds/group/exposure/describe.ts). */
import { expect, it } from "vitest";
import type { Desired } from "../../reconciler/core/model/desired";
import { type LiveGroup, notSeen, type Sighting } from "../../reconciler/core/model/live";
import type { RecordedGroup } from "../../reconciler/core/model/recorded";
import type { Rule } from "../../reconciler/core/model/rule";
import type { Plan } from "../../reconciler/core/plan/plan";
import { emptyState } from "../../reconciler/core/state/fold";
import { admissionText, describeTraffic } from "../../reconciler/kinds/group/exposure/describe";
import { exposureOf } from "../../reconciler/kinds/group/exposure/exposure";
import type { NotRead } from "../../reconciler/kinds/group/exposure/group-world";
import { trafficOf } from "../../reconciler/kinds/group/exposure/traffic";
import { rule } from "../support/sample-plans";
import { seenOfKind } from "../support/virtual-world";

const from = (port: number, ...cidrs: readonly string[]): Rule[] =>
  cidrs.map((cidr) => rule(port, { remote: { kind: "cidr", cidr } }));
const identify = (group: { readonly address: string } | { readonly id: string }): string =>
  "id" in group ? group.id : group.address;

it.each<[what: string, rules: readonly Rule[], words: readonly string[]]>([
  ["nothing", [], []],
  ["everybody", [rule(22)], ["tcp 22 from anywhere (IPv4)"]],
  ["one network", from(22, "10.0.0.0/8"), ["tcp 22 from 10.0.0.0/8"]],
  ["a network that was recorded under the other family", from(22, "2001:db8::/32"), ["tcp 22 from 2001:db8::/32"]],
  [
    "ports that are neighbours are one",
    [...from(22, "10.0.0.0/8"), ...from(23, "10.0.0.0/8")],
    ["tcp 22-23 from 10.0.0.0/8"],
  ],
  ["the first port", from(1, "10.0.0.0/8"), ["tcp 1 from 10.0.0.0/8"]],
  [
    "all ports in two parts are all",
    [1, 1025].map((min) => rule(min, { ports: { min, max: min === 1 ? 1024 : 65535 } })),
    ["tcp from anywhere (IPv4)"],
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
  ["the upper half of all addresses is not everybody", from(22, "128.0.0.0/1"), ["tcp 22 from 128.0.0.0/1"]],
  ["the lower half is not either", from(22, "0.0.0.0/1"), ["tcp 22 from 0.0.0.0/1"]],
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

const shown: LiveGroup = { kind: "group", id: "g-1", name: "web" };
const shownRule = {
  ...{ id: "r-1", direction: "ingress", ethertype: "IPv4", protocol: "tcp", portMin: 80, portMax: 80 },
} as const;

it.each<[what: string, sighting: Sighting<LiveGroup>, rules: readonly Rule[], unobserved?: NotRead]>([
  ["the rules that are shown", { seen: "yes", value: { ...shown, rules: [shownRule] } }, [rule(80)]],
  ["those of the record, where no rules are shown", { seen: "yes", value: shown }, [rule(22)], "not-shown"],
  ["those of the record, where nobody could look", { seen: "unobserved", reason: "" }, [rule(22)], "not-shown"],
])("what a group admits is %s", (_, sighting, rules, unobserved) => {
  const record: RecordedGroup = {
    ...{ kind: "group", address: "group.web", id: "g-1", name: "web" },
    ...{ rules: [rule(22)], platformRules: [], preventDestroy: false },
  };
  const { groups } = exposureOf({
    plan: { steps: [], changes: [] } as unknown as Plan,
    state: { ...emptyState("here"), resources: new Map([["group.web", record]]) },
    live: { ...notSeen, of: { ...notSeen.of, group: seenOfKind(true, new Map([["g-1", sighting]])) } },
    desired: { resources: [] } as unknown as Desired,
  });
  expect(groups.map((group) => [describeTraffic(group.ingress.after), group.unobserved])).toEqual([
    [describeTraffic(trafficOf(rules, identify)), unobserved],
  ]);
});
