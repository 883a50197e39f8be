/** What groups admit between the steps of a plan: the proof that nothing is lost or opened, and assertions at each moment. */
import { describe, expect, it } from "vitest";
import type { Assertion } from "../../reconciler/core/model/assertion";
import type { Rule } from "../../reconciler/core/model/rule";
import type { Step } from "../../reconciler/core/plan/step";
import { admissionText, describeTraffic } from "../../reconciler/kinds/group/exposure/describe";
import { type Fact, type GroupWorld, momentsOf } from "../../reconciler/kinds/group/exposure/group-world";
import { stepsBefore, violationsBetween } from "../../reconciler/kinds/group/exposure/proof";
import { createJudge, judgeQuery } from "../../reconciler/kinds/group/reachability/judge";
import { queriesOf } from "../../reconciler/kinds/group/reachability/query";
import { rule } from "../support/sample-plans";
import { stepAt } from "../support/virtual-world";

const address = "group.front";
const identify = (group: { readonly address: string } | { readonly id: string }): string =>
  "id" in group ? group.id : group.address;
const net = (port: number, cidr: string): Rule => rule(port, { remote: { kind: "cidr", cidr } });
const fact = (one: Rule, addedBy?: string, ...removedBy: readonly string[]): Fact => ({
  rule: one,
  removedBy,
  declared: true,
  ...(addedBy === undefined ? {} : { addedBy }),
});
const worldOf = (facts: readonly Fact[], more: Partial<GroupWorld> = {}): GroupWorld => ({
  facts: new Map([[address, facts]]),
  touched: new Set([address]),
  fresh: new Set(),
  madeAlone: more.fresh ?? new Set(),
  identify,
  known: (rule) => rule,
  unobserved: new Map(),
  retired: new Map(),
  ...more,
});
/** `b: a` is a step b that needs a; `b: a?` needs its end alone. */
const stepsOf = (needs: Readonly<Record<string, string>>): ReadonlyMap<string, Step> =>
  new Map(
    Object.entries(needs).map(([id, before]) => [
      id,
      {
        ...stepAt(address, id),
        id,
        needs: before
          .split(" ")
          .filter((one) => one !== "")
          .map((one) => ({ step: one.replace("?", ""), on: one.endsWith("?") ? "end" : "done" })),
      } as Step,
    ]),
  );
const wide = net(22, "10.0.0.0/8");
const low = net(22, "10.0.0.0/9");
const high = net(22, "10.128.0.0/9");
const other = net(80, "10.0.0.0/8");

describe("between the steps of a plan", () => {
  it.each<
    readonly [
      what: string,
      facts: readonly Fact[],
      needs: Readonly<Record<string, string>>,
      violations: readonly string[],
    ]
  >([
    ["nothing happens where nothing changes", [fact(wide)], {}, []],
    ["what is added and stays is there afterwards", [fact(wide), fact(other, "add")], { add: "" }, []],
    ["what is removed for good is not there afterwards", [fact(wide, undefined, "drop")], { drop: "" }, []],
    [
      "what is added for a while and was there before admits no more",
      [fact(wide, undefined, "drop"), fact(low, "add", "drop")],
      { add: "", drop: "add" },
      [],
    ],
    [
      "what is added for a while opens something",
      [fact(wide), fact(other, "add", "drop")],
      { add: "", drop: "add" },
      ["add admits more: tcp 80 from 10.0.0.0/8"],
    ],
    [
      "what is replaced after its successors is there all the time",
      [fact(wide, undefined, "drop"), fact(low, "a"), fact(high, "b")],
      { a: "", b: "", drop: "a b" },
      [],
    ],
    [
      "what is replaced before one of its successors is lost for a while",
      [fact(wide, undefined, "drop"), fact(low, "a"), fact(high, "b")],
      { a: "", b: "", drop: "a" },
      ["drop admits less: tcp 22 from 10.128.0.0/9"],
    ],
    [
      "what is replaced after the end of a step that may have failed is lost for a while",
      [fact(low, undefined, "drop"), fact(wide, "a")],
      { a: "", drop: "a?" },
      ["drop admits less: tcp 22 from 10.0.0.0/9"],
    ],
    [
      "what needs a step that needs the successor has it too",
      [fact(low, undefined, "drop"), fact(wide, "a")],
      { a: "", between: "a", drop: "between" },
      [],
    ],
    ["what another rule admits all the time is not lost", [fact(low, undefined, "drop"), fact(wide)], { drop: "" }, []],
    [
      "each remover is asked for its own rule",
      [fact(low, undefined, "one"), fact(high, undefined, "two"), fact(wide, "a")],
      { a: "", one: "a", two: "" },
      ["two admits less: tcp 22 from 10.128.0.0/9"],
    ],
  ])("%s", (_, facts, needs, violations) => {
    const world = worldOf(facts);
    const found = violationsBetween(momentsOf(facts, world), world, stepsOf(needs));
    expect(
      found.map(
        ({ step, admits, traffic: lost }) =>
          `${step} admits ${admits}: ${describeTraffic(lost).map(admissionText).join(", ")}`,
      ),
    ).toEqual(violations);
  });

  it("a group that nothing is known of has no gap", () => {
    const world = worldOf([]);
    expect(violationsBetween(momentsOf([], world), world, new Map())).toEqual([]);
  });

  it("what is done before a step is found through others, whoever asks and how often", () => {
    const steps = stepsOf({ a: "", b: "a", c: "b x?", x: "", d: "c" });
    const asked = (step: string, ...wanted: readonly string[]) =>
      wanted.filter((one) => stepsBefore(step, new Set(wanted), steps).has(one));
    expect([asked("d", "a"), asked("d", "a", "b", "x", "d"), asked("d", "c"), asked("a", "b")]).toEqual([
      ["a"],
      ["a", "b"],
      ["c"],
      [],
    ]);
  });
});

const assertion = (kind: Assertion["kind"], more: Partial<Assertion> = {}): Assertion => ({
  ...{ kind, label: kind, from: [{ kind: "cidr", cidr: "10.0.0.0/8" }], to: [{ kind: "group", group: { address } }] },
  ...{
    ports: [{ protocol: "tcp", ports: { min: 22, max: 22 } }],
    except: [],
    allow: [],
    source: { file: "f", line: 1 },
  },
  ...more,
});

describe("an assertion about a plan", () => {
  const never = assertion("never");
  const always = assertion("always");
  const egress = assertion("never", {
    from: [{ kind: "group", group: { address } }],
    to: [{ kind: "cidr", cidr: "10.0.0.0/8" }],
    direction: "egress",
  });
  const out: Rule = { ...wide, direction: "egress" };
  interface Row {
    readonly asks: Assertion;
    readonly facts: readonly Fact[];
    readonly needs?: Readonly<Record<string, string>>;
    readonly world?: Partial<GroupWorld>;
    readonly is: string;
    readonly between?: true;
  }
  it.each<readonly [what: string, row: Row]>([
    ["never: it is not admitted", { asks: never, facts: [fact(other)], is: "holds none" }],
    [
      "never: it was admitted and stays so",
      { asks: never, facts: [fact(wide)], is: "violated keeps tcp 22 from 10.0.0.0/8" },
    ],
    [
      "never: the plan opens it",
      { asks: never, facts: [fact(wide, "add")], needs: { add: "" }, is: "violated breaks tcp 22 from 10.0.0.0/8" },
    ],
    [
      "never: the plan opens it for a while",
      {
        asks: never,
        facts: [fact(wide, "add", "drop")],
        needs: { add: "", drop: "add" },
        is: "violated breaks tcp 22 from 10.0.0.0/8",
      },
    ],
    [
      "never: the plan opens more of it",
      {
        asks: never,
        facts: [fact(low), fact(high, "add")],
        needs: { add: "" },
        is: "violated breaks tcp 22 from 10.128.0.0/9",
      },
    ],
    [
      "never: the plan closes it",
      {
        asks: never,
        facts: [fact(wide, undefined, "drop")],
        needs: { drop: "" },
        is: "violated repairs tcp 22 from 10.0.0.0/8",
      },
    ],
    [
      "never: the plan closes a part of it",
      {
        asks: never,
        facts: [fact(low, undefined, "drop"), fact(high)],
        needs: { drop: "" },
        is: "violated keeps tcp 22 from 10.128.0.0/9",
      },
    ],
    [
      "never: VMs may be under a group that was replaced",
      {
        asks: never,
        facts: [fact(other)],
        world: { retired: new Map([[address, ["front-old"]]]) },
        is: "unproven none: VMs may still be under the replaced group front-old, whose rules are not read",
      },
    ],
    [
      "never let out, of a group that is new",
      {
        asks: egress,
        facts: [fact(wide, "add")],
        needs: { add: "" },
        world: { fresh: new Set([address]) },
        is: "unproven none: what the service itself puts on the new group group.front is known once it is made",
      },
    ],
    ["never let out, and it is", { asks: egress, facts: [fact(out)], is: "violated keeps tcp 22 to 10.0.0.0/8" }],
    ["always: it is admitted all the time", { asks: always, facts: [fact(wide)], is: "holds none" }],
    [
      "always: it was not, and is not",
      { asks: always, facts: [fact(low)], is: "violated keeps tcp 22 from 10.128.0.0/9" },
    ],
    [
      "always: the plan admits it",
      {
        asks: always,
        facts: [fact(low), fact(high, "add")],
        needs: { add: "" },
        is: "violated repairs tcp 22 from 10.128.0.0/9",
      },
    ],
    [
      "always: the plan ends it",
      {
        asks: always,
        facts: [fact(wide, undefined, "drop")],
        needs: { drop: "" },
        is: "violated breaks tcp 22 from 10.0.0.0/8",
      },
    ],
    [
      "always: the plan replaces its rule in time",
      {
        asks: always,
        facts: [fact(wide, undefined, "drop"), fact(low, "a"), fact(high, "b")],
        needs: { a: "", b: "", drop: "a b" },
        is: "holds none",
      },
    ],
    [
      "always: the plan replaces its rule too late",
      {
        asks: always,
        facts: [fact(wide, undefined, "drop"), fact(low, "a"), fact(high, "b")],
        needs: { a: "", b: "", drop: "a" },
        is: "violated breaks tcp 22 from 10.128.0.0/9",
        between: true,
      },
    ],
    [
      "always: a group that is new admits it at once",
      {
        asks: always,
        facts: [fact(wide, "add")],
        needs: { add: "" },
        world: { fresh: new Set([address]) },
        is: "holds none",
      },
    ],
    [
      "always: a group that is new admits a part of it",
      {
        asks: always,
        facts: [fact(low, "add")],
        needs: { add: "" },
        world: { fresh: new Set([address]) },
        is: "violated breaks tcp 22 from 10.128.0.0/9",
      },
    ],
    [
      "always a group: everybody of its family is admitted, and so its members",
      {
        asks: assertion("always", {
          from: [{ kind: "group", group: { address: "group.back" } }],
          direction: "ingress",
          ethertype: "IPv4",
        }),
        facts: [fact(rule(22))],
        is: "holds none",
      },
    ],
    [
      "always a group: a network is admitted, in which its members may be",
      {
        asks: assertion("always", {
          from: [{ kind: "group", group: { address: "group.back" } }],
          direction: "ingress",
          ethertype: "IPv4",
        }),
        facts: [fact(wide)],
        is: "unproven keeps tcp 22 from group.back",
      },
    ],
    [
      "always a group: a network is admitted no longer, in which its members may be",
      {
        asks: assertion("always", {
          from: [{ kind: "group", group: { address: "group.back" } }],
          direction: "ingress",
          ethertype: "IPv4",
        }),
        facts: [fact(rule(22), undefined, "drop"), fact(wide)],
        needs: { drop: "" },
        is: "unproven breaks tcp 22 from group.back",
      },
    ],
  ])("%s", (_, { asks, facts, needs = {}, world, is, between = false }) => {
    const group = worldOf(facts, world);
    const [query] = queriesOf(asks, {
      groups: [address, "group.back"],
      identify,
      addressesOf: () => [],
      today: "2026-01-01",
    });
    const judged = judgeQuery(query!, createJudge(group, stepsOf(needs)));
    const set = describeTraffic(judged.set).map(admissionText).join(", ");
    const said = `${judged.verdict} ${judged.change}${judged.why === undefined ? (set === "" ? "" : ` ${set}`) : `: ${judged.why}`}`;
    expect([said, judged.between]).toEqual([is, between]);
  });
});
