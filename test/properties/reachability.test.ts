/**
 * Assertions against brute force: a universe of 16 addresses (the first 4 bits of an IPv4 address, so that a whole /0 is
 * 16 of them), 4 ports and 2 groups, every moment that the order of steps permits walked through one by one.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Assertion, Party } from "../../reconciler/core/model/assertion";
import type { Reference } from "../../reconciler/core/model/reference";
import type { Rule, RuleRemote } from "../../reconciler/core/model/rule";
import type { Step, StepId } from "../../reconciler/core/plan/step";
import type { Fact, GroupWorld } from "../../reconciler/kinds/group/exposure/group-world";
import { createJudge, judgeQuery } from "../../reconciler/kinds/group/reachability/judge";
import { queriesOf } from "../../reconciler/kinds/group/reachability/query";

const group = "group.it";
const peerGroups = ["group.one", "group.two"];
const ports = [1, 2, 3, 4];
const addresses = Array.from({ length: 16 }, (_, index) => index);
const identify = (reference: Reference): string => ("address" in reference ? reference.address : reference.id);

interface Cidr {
  readonly base: number;
  readonly bits: number;
}
const cidrs: readonly Cidr[] = [0, 1, 2, 3, 4].flatMap((bits) =>
  Array.from({ length: 2 ** bits }, (_, index) => ({ base: index * 2 ** (4 - bits), bits })),
);
const textOf = ({ base, bits }: Cidr): string => `${base * 16}.0.0.0/${bits}`;
const within = ({ base, bits }: Cidr, address: number): boolean => address >> (4 - bits) === base >> (4 - bits);
const ranges = ports.flatMap((min) => ports.filter((max) => max >= min).map((max) => ({ min, max })));

interface SmallRule {
  readonly peer: Cidr | string;
  readonly ports: { readonly min: number; readonly max: number };
}
const ruleOf = ({ peer, ports: range }: SmallRule): Rule => ({
  direction: "ingress",
  ethertype: "IPv4",
  protocol: "tcp",
  ports: range,
  remote:
    typeof peer === "string"
      ? { kind: "group", group: { address: peer } }
      : ((peer.bits === 0 ? { kind: "any" } : { kind: "cidr", cidr: textOf(peer) }) satisfies RuleRemote),
});

interface SmallAssertion {
  readonly kind: "never" | "always" | "only";
  readonly from: readonly (Cidr | string)[];
  readonly ports: { readonly min: number; readonly max: number };
}
const partyOf = (peer: Cidr | string): Party =>
  typeof peer === "string" ? { kind: "group", group: { address: peer } } : { kind: "cidr", cidr: textOf(peer) };
const assertionOf = ({ kind, from, ports: range }: SmallAssertion): Assertion => ({
  kind,
  label: "it",
  from: from.map(partyOf),
  to: [{ kind: "group", group: { address: group } }],
  ports: [{ protocol: "tcp", ports: range }],
  ethertype: "IPv4",
  except: [],
  allow: [],
  source: { file: "reconcile.yaml", line: 1 },
});

interface SmallFact {
  readonly rule: SmallRule;
  readonly addedBy?: string;
  readonly removedBy: readonly string[];
}
interface SmallPlan {
  readonly facts: readonly SmallFact[];
  /** By step, what has to be done before it. */
  readonly needs: Readonly<Record<string, readonly string[]>>;
}

function verdictOf(assertion: SmallAssertion, { facts, needs }: SmallPlan) {
  const world: GroupWorld = {
    facts: new Map([
      [group, facts.map(({ rule, ...rest }): Fact => ({ ...rest, rule: ruleOf(rule), declared: true }))],
    ]),
    touched: new Set(),
    fresh: new Set(),
    madeAlone: new Set(),
    identify,
    known: (rule) => rule,
    unobserved: new Map(),
    retired: new Map(),
  };
  const steps = new Map(
    Object.entries(needs).map(([id, before]): [string, Step] => [
      id,
      {
        id: id as StepId,
        address: group,
        action: { operation: "record", changes: [] },
        title: id,
        needs: before.map((step) => ({ step: step as StepId, on: "done" })),
        holds: [],
        estimateMs: 0,
      },
    ]),
  );
  const context = { groups: [group], identify, addressesOf: () => [], today: "2026-01-01" };
  const [query] = queriesOf(assertionOf(assertion), context);
  if (query === undefined) throw new Error("no question");
  return judgeQuery(query, createJudge(world, steps));
}

/** Every set of steps that holds with each step all it needs. */
function moments({ needs }: SmallPlan): ReadonlySet<string>[] {
  const ids = Object.keys(needs);
  const sets: ReadonlySet<string>[] = [];
  for (let mask = 0; mask < 2 ** ids.length; mask++) {
    const done = new Set(ids.filter((_, index) => (mask >> index) & 1));
    if ([...done].every((id) => needs[id]!.every((before) => done.has(before)))) sets.push(done);
  }
  return sets;
}

type Answer = "no" | "perhaps" | "yes";
const worse = (answers: readonly Answer[]): Answer =>
  answers.includes("yes") ? "yes" : answers.includes("perhaps") ? "perhaps" : "no";

/** Whether a moment breaks the assertion, for sure or perhaps: point by point, from the words of the design. */
function brokenAt(assertion: SmallAssertion, rules: readonly SmallRule[]): Answer {
  const open = (port: number) => rules.filter(({ ports: { min, max } }) => min <= port && port <= max);
  const admits = (port: number, address: number): boolean =>
    open(port).some(({ peer }) => typeof peer !== "string" && within(peer, address));
  const named = (port: number, name: string): boolean => open(port).some(({ peer }) => peer === name);
  const anyAddress = (port: number): Answer =>
    addresses.every((address) => admits(port, address))
      ? "yes"
      : addresses.some((address) => admits(port, address))
        ? "perhaps"
        : "no";
  const asked = ports.filter((port) => assertion.ports.min <= port && port <= assertion.ports.max);
  const isFrom = (address: number): boolean =>
    assertion.from.some((peer) => typeof peer !== "string" && within(peer, address));
  const names = assertion.from.filter((peer): peer is string => typeof peer === "string");
  const mayBeMembers = addresses.some((address) => isFrom(address) && partlyPrivate.has(address));
  return worse(
    asked.flatMap((port): Answer[] => {
      switch (assertion.kind) {
        case "never":
          return [
            ...addresses.map((address): Answer => (isFrom(address) && admits(port, address) ? "yes" : "no")),
            ...names.map((name): Answer => (named(port, name) ? "yes" : anyAddress(port))),
            // Whether a member of a group has one of these addresses is not for rules to say.
            ...peerGroups.map(
              (name): Answer => (mayBeMembers && !names.includes(name) && named(port, name) ? "perhaps" : "no"),
            ),
          ];
        case "only":
          return [
            ...addresses.map((address): Answer => (!isFrom(address) && admits(port, address) ? "yes" : "no")),
            ...peerGroups.map((name): Answer => (!names.includes(name) && named(port, name) ? "yes" : "no")),
          ];
        case "always":
          return [
            ...addresses.map((address): Answer => (isFrom(address) && !admits(port, address) ? "yes" : "no")),
            ...names.map((name): Answer => {
              if (named(port, name)) return "no";
              const whole = anyAddress(port);
              return whole === "yes" ? "no" : whole === "perhaps" ? "perhaps" : "yes";
            }),
          ];
        default:
          return assertion.kind satisfies never;
      }
    }),
  );
}

/** Those of the 16 that hold ranges which no packet from the internet comes from: 10.0.0.0/8 is in the first. */
const partlyPrivate = new Set([0, 6, 7, 10, 12, 14, 15]);

const rulesAt = ({ facts }: SmallPlan, done: ReadonlySet<string>): SmallRule[] =>
  facts.flatMap(({ rule, addedBy, removedBy }) =>
    (addedBy === undefined || done.has(addedBy)) && !removedBy.some((step) => done.has(step)) ? [rule] : [],
  );

const still: SmallPlan = { facts: [], needs: {} };

describe("one rule, one assertion, exhaustively", () => {
  const peers: (Cidr | string)[] = [...cidrs, ...peerGroups];
  it.each(["never", "always", "only"] as const)("%s", (kind) => {
    let cases = 0;
    const wrong: unknown[] = [];
    for (const from of peers)
      for (const asked of [
        { min: 1, max: 4 },
        { min: 2, max: 3 },
        { min: 1, max: 1 },
      ])
        for (const peer of peers)
          for (const range of ranges) {
            cases++;
            const assertion = { kind, from: [from], ports: asked };
            const rule = { peer, ports: range };
            const { verdict } = verdictOf(assertion, { ...still, facts: [{ rule, removedBy: [] }] });
            const expected = { no: "holds", perhaps: "unproven", yes: "violated" }[brokenAt(assertion, [rule])];
            if (verdict !== expected) wrong.push({ assertion, rule, verdict, expected });
          }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(cases).toBeGreaterThan(30_000);
  });
});

const somePeer = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...cidrs) },
  { weight: 1, arbitrary: fc.constantFrom(...peerGroups) },
);
const someRule: fc.Arbitrary<SmallRule> = fc.record({ peer: somePeer, ports: fc.constantFrom(...ranges) });
const someAssertion: fc.Arbitrary<SmallAssertion> = fc.record({
  kind: fc.constantFrom("never", "always", "only"),
  from: fc.array(somePeer, { minLength: 1, maxLength: 2 }),
  ports: fc.constantFrom(...ranges),
});
const stepNames = ["a", "b", "c", "d"];
const somePlan: fc.Arbitrary<SmallPlan> = fc
  .record({
    facts: fc.array(
      fc.record({
        rule: someRule,
        addedBy: fc.constantFrom(undefined, undefined, ...stepNames),
        removedBy: fc.subarray(stepNames, { maxLength: 1 }),
      }),
      { maxLength: 5 },
    ),
    needs: fc
      .tuple(...stepNames.map((_, index) => fc.subarray(stepNames.slice(0, index))))
      .map((before) => Object.fromEntries(stepNames.map((step, index) => [step, before[index]!]))),
  })
  .map(({ facts, needs }) => {
    const adders = new Set(facts.map(({ addedBy }) => addedBy));
    return {
      needs,
      // What one plan adds it does not take away again, and no request both adds and takes away.
      facts: facts.map(({ addedBy, removedBy, rule }) =>
        addedBy === undefined
          ? { rule, removedBy: removedBy.filter((step) => !adders.has(step)) }
          : { rule, addedBy, removedBy: [] },
      ),
    };
  });

const runs = Number(process.env["REACHABILITY_RUNS"] ?? 500);

describe("every moment of a plan", () => {
  it(`what is said to hold is broken at no moment, and what is said to be broken is at one (${runs} plans)`, () => {
    fc.assert(
      fc.property(someAssertion, somePlan, (assertion, plan) => {
        const { verdict, change } = verdictOf(assertion, plan);
        const all = moments(plan).map((done) => brokenAt(assertion, rulesAt(plan, done)));
        const before = brokenAt(assertion, rulesAt(plan, new Set()));
        if (verdict === "holds") expect(all.filter((answer) => answer !== "no")).toEqual([]);
        // Two halves of all addresses that are never there together prove nothing, and may be called undecided.
        if (verdict === "violated" && change === "breaks") expect(all).toContain("yes");
        if (verdict === "unproven") expect(worse(all)).not.toBe("no");
        if (before === "no" && all.includes("yes")) expect([verdict, change]).toEqual(["violated", "breaks"]);
      }),
      { numRuns: runs },
    );
  });
});

describe("metamorphic", () => {
  const halves = (rule: SmallRule): SmallRule[] =>
    typeof rule.peer === "string" || rule.peer.bits === 4
      ? [rule]
      : [0, 1].map((half) => ({
          ...rule,
          peer: {
            base: (rule.peer as Cidr).base + half * 2 ** (3 - (rule.peer as Cidr).bits),
            bits: (rule.peer as Cidr).bits + 1,
          },
        }));
  const standing = (rules: readonly SmallRule[]): SmallPlan => ({
    ...still,
    facts: rules.map((rule) => ({ rule, removedBy: [] })),
  });

  it("splitting a range of addresses in two changes no verdict", () => {
    fc.assert(
      fc.property(someAssertion, fc.array(someRule, { maxLength: 4 }), (assertion, rules) => {
        expect(verdictOf(assertion, standing(rules.flatMap(halves))).verdict).toBe(
          verdictOf(assertion, standing(rules)).verdict,
        );
      }),
      { numRuns: 400 },
    );
  });

  it("a rule more never heals a never or an only, and never breaks an always", () => {
    const rank = { holds: 0, unproven: 1, violated: 2 };
    fc.assert(
      fc.property(someAssertion, fc.array(someRule, { maxLength: 4 }), someRule, (assertion, rules, more) => {
        const [less, all] = [rules, [...rules, more]].map((some) => rank[verdictOf(assertion, standing(some)).verdict]);
        if (assertion.kind === "always") expect(all).toBeLessThanOrEqual(less!);
        else expect(all).toBeGreaterThanOrEqual(less!);
      }),
      { numRuns: 400 },
    );
  });
});

describe("size", () => {
  it("10,000 rules and 200 assertions are a matter of a second", () => {
    const rules = Array.from(
      { length: 10_000 },
      (_, index): Rule => ({
        direction: "ingress",
        ethertype: "IPv4",
        protocol: index % 2 === 0 ? "tcp" : "udp",
        ports: { min: 1000 + (index % 5000), max: 1000 + (index % 5000) },
        remote: { kind: "cidr", cidr: `10.${index % 200}.${(index >> 3) % 250}.0/24` },
      }),
    );
    const addressesOfGroups = Array.from({ length: 20 }, (_, index) => `group.g${index}`);
    const world: GroupWorld = {
      facts: new Map(
        addressesOfGroups.map((address, at) => [
          address,
          rules.slice(at * 500, at * 500 + 500).map((rule): Fact => ({ rule, removedBy: [], declared: true })),
        ]),
      ),
      touched: new Set(),
      fresh: new Set(),
      madeAlone: new Set(),
      identify,
      known: (rule) => rule,
      unobserved: new Map(),
      retired: new Map(),
    };
    const assertions = Array.from(
      { length: 200 },
      (_, index): Assertion => ({
        ...assertionOf({ kind: "never", from: [], ports: { min: 1, max: 1 } }),
        kind: index % 5 === 4 ? "only" : "never",
        from: [index % 2 === 0 ? { kind: "internet" } : { kind: "cidr", cidr: `192.168.${index}.0/24` }],
        to: [{ kind: "groups" }],
        ports: index % 3 === 0 ? [] : [{ protocol: "tcp", ports: { min: 1000 + index, max: 1000 + index } }],
      }),
    );
    const context = { groups: addressesOfGroups, identify, addressesOf: () => [], today: "2026-01-01" };
    const started = process.cpuUsage();
    const judge = createJudge(world, new Map());
    let asked = 0;
    for (const assertion of assertions)
      for (const query of queriesOf(assertion, context)) {
        judgeQuery(query, judge);
        asked++;
      }
    // What it costs, and not how busy the machine is.
    const { user, system } = process.cpuUsage(started);
    const ms = (user + system) / 1000;
    console.log(`10,000 rules, 200 assertions over 20 groups: ${Math.round(ms)} ms of CPU, ${asked} questions`);
    expect(asked).toBe(4000);
    // No time of its own decides a test; a program that is a hundred times slower is another one.
    expect(ms).toBeLessThan(60_000);
  });
});
