import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { referenceText } from "../../reconciler/core/canonical/rules";
import type { Rule } from "../../reconciler/core/model/rule";
import type { Step } from "../../reconciler/core/plan/step";
import { describeTraffic } from "../../reconciler/kinds/group/exposure/describe";
import { type Fact, type GroupWorld, momentsOf } from "../../reconciler/kinds/group/exposure/group-world";
import {
  bitsOf,
  cidrsOf,
  intervalOf,
  lastAddress,
  normalize,
  subtract,
} from "../../reconciler/kinds/group/exposure/intervals";
import { violationsBetween } from "../../reconciler/kinds/group/exposure/proof";
import { spanOf } from "../../reconciler/kinds/group/exposure/protocols";
import {
  covers,
  intersectTraffic,
  subtractTraffic,
  type Traffic,
  trafficOf,
  uniteTraffic,
} from "../../reconciler/kinds/group/exposure/traffic";

/** A universe small enough to look at every point of it: a few peers, a few protocols and ports. */
const peers = {
  IPv4: ["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.7", "9.255.255.255", "255.255.255.255"],
  IPv6: ["2001:db8::", "2001:db8::1", "2001:db8::3", "2001:db8::4", "ffff::1"],
};
const ports = [1, 2, 3, 4, 5, 65535];

const remoteV4 = fc.constantFrom(
  "10.0.0.0/32",
  "10.0.0.1/32",
  "10.0.0.0/31",
  "10.0.0.2/31",
  "10.0.0.0/30",
  "10.0.0.4/30",
  "10.0.0.0/8",
);
const remoteV6 = fc.constantFrom("2001:db8::/128", "2001:db8::/127", "2001:db8::/126", "2001:db8::/32");
const range = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 4 }))
  .map(([min, more]) => ({ min, max: Math.min(5, min + more) }));
const protocol = fc.oneof(
  fc.record({ protocol: fc.constantFrom("tcp", "udp"), ports: fc.option(range, { nil: undefined }) }),
  fc.constantFrom({ protocol: "icmp" }, { protocol: "any" }, { protocol: "47" }, { protocol: "gre" }),
);
const remote = fc.constantFrom("IPv4" as const, "IPv6" as const).chain((ethertype) =>
  fc
    .oneof(
      fc.constant({ kind: "any" as const }),
      (ethertype === "IPv4" ? remoteV4 : remoteV6).map((cidr) => ({ kind: "cidr" as const, cidr })),
      fc.constantFrom("group.a", "group.b").map((address) => ({ kind: "group" as const, group: { address } })),
    )
    .map((value) => ({ ethertype, remote: value })),
);
const rule: fc.Arbitrary<Rule> = fc
  .tuple(fc.constantFrom("ingress" as const, "egress" as const), protocol, remote)
  .map(([direction, how, who]) => ({ direction, ...how, ...who }) as Rule);
const rules = fc.array(rule, { maxLength: 7 });

interface Point {
  readonly direction: "ingress" | "egress";
  readonly ethertype: "IPv4" | "IPv6";
  readonly protocol: string;
  readonly port?: number;
  readonly peer: string;
}

const points: Point[] = (["ingress", "egress"] as const).flatMap((direction) =>
  (["IPv4", "IPv6"] as const).flatMap((ethertype) =>
    [...peers[ethertype], "group.a", "group.b"].flatMap((peer) => [
      ...["tcp", "udp"].flatMap((name) => ports.map((port) => ({ direction, ethertype, protocol: name, port, peer }))),
      ...["icmp", "47", "99"].map((name) => ({ direction, ethertype, protocol: name, peer })),
    ]),
  ),
);

/** The oracle: one rule against one point, in the plainest way. */
function admits(given: Rule, point: Point): boolean {
  if (given.direction !== point.direction || given.ethertype !== point.ethertype) return false;
  const word = given.protocol === "gre" ? "47" : given.protocol;
  if (word !== "any" && word !== point.protocol) return false;
  if (given.ports !== undefined && !(point.port! >= given.ports.min && point.port! <= given.ports.max)) return false;
  const isGroup = point.peer.startsWith("group.");
  switch (given.remote.kind) {
    case "any":
      return !isGroup;
    case "cidr": {
      if (isGroup) return false;
      const net = intervalOf(given.remote.cidr)!;
      const at = intervalOf(`${point.peer}/${point.ethertype === "IPv4" ? 32 : 128}`)!.from;
      return net.from <= at && at <= net.to;
    }
    case "group":
      return referenceText(given.remote.group) === point.peer;
    case "computed":
      return false;
    default:
      return given.remote satisfies never;
  }
}

const admitted = (some: readonly Rule[], point: Point): boolean => some.some((one) => admits(one, point));

function holds(traffic: Traffic, point: Point): boolean {
  const isGroup = point.peer.startsWith("group.");
  const at = isGroup ? 0n : intervalOf(`${point.peer}/${point.ethertype === "IPv4" ? 32 : 128}`)!.from;
  const line = spanOf({
    protocol: point.protocol,
    ethertype: point.ethertype,
    ...(point.port === undefined ? {} : { ports: { min: point.port, max: point.port } }),
  })!.from;
  return [...traffic.values()].some(
    ({ space, slabs }) =>
      space.direction === point.direction &&
      space.family === point.ethertype &&
      space.group === (isGroup ? point.peer : undefined) &&
      slabs.some(
        (slab) => slab.from <= line && line <= slab.to && slab.peers.some(({ from, to }) => from <= at && at <= to),
      ),
  );
}

const of = (some: readonly Rule[]): Traffic => trafficOf(some, referenceText);
const runs = { numRuns: 120 };

describe("ports as a record may show them", () => {
  it.each([
    [{ min: 443, max: Number.POSITIVE_INFINITY }, 443, 65_535],
    [{ min: -1, max: 1e300 }, 0, 65_535],
    [{ min: 9, max: 3 }, 3, 9],
    [{ min: Number.NaN, max: 80 }, 0, 80],
  ])("%j lie within 0 and 65,535", (range, from, to) => {
    const tcp = 6 * 65_536;
    expect(spanOf({ protocol: "tcp", ethertype: "IPv4", ports: range })).toEqual({ from: tcp + from, to: tcp + to });
  });
});

describe("traffic is an exact set", () => {
  it("holds exactly what some rule admits, at every point of a small universe", () => {
    fc.assert(
      fc.property(rules, (some) => {
        const traffic = of(some);
        for (const point of points) expect([point, holds(traffic, point)]).toEqual([point, admitted(some, point)]);
      }),
      { numRuns: 100 },
    );
  });

  it("unites, subtracts and intersects point by point, and covers exactly when nothing is left over", () => {
    fc.assert(
      fc.property(rules, rules, (a, b) => {
        const [x, y] = [of(a), of(b)];
        const [both, less, common] = [uniteTraffic(x, y), subtractTraffic(x, y), intersectTraffic(x, y)];
        let left = false;
        for (const point of points) {
          const [inA, inB] = [admitted(a, point), admitted(b, point)];
          left ||= inA && !inB;
          expect([holds(both, point), holds(less, point), holds(common, point)]).toEqual([
            inA || inB,
            inA && !inB,
            inA && inB,
          ]);
        }
        if (left) expect(covers(y, x)).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it("is one value for equal traffic: the order of rules, repeats, and halves that make a whole are no difference", () => {
    fc.assert(
      fc.property(rules, fc.integer(), (some, seed) => {
        const turned = [...some.slice(seed % 3), ...some, ...some.slice(0, seed % 3)].reverse();
        const halves = turned.flatMap((one): Rule[] =>
          one.remote.kind === "any"
            ? (one.ethertype === "IPv4" ? ["0.0.0.0/1", "128.0.0.0/1"] : ["::/1", "8000::/1"]).map((cidr) => ({
                ...one,
                remote: { kind: "cidr", cidr },
              }))
            : [one],
        );
        const sorted = (traffic: Traffic) => [...traffic].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(sorted(of(halves))).toEqual(sorted(of(some)));
      }),
      runs,
    );
  });

  it("is told completely: the words, read as rules again, are the same traffic", () => {
    fc.assert(
      fc.property(rules, rules, (some, others) => {
        const traffic = subtractTraffic(of(some), of(others));
        const told = describeTraffic(traffic).flatMap(readAdmission);
        const again = of(told);
        expect(covers(again, traffic) && covers(traffic, again)).toBe(true);
      }),
      runs,
    );
  });
});

function readAdmission({ direction, ethertype, service, peer }: ReturnType<typeof describeTraffic>[number]): Rule[] {
  const [name = "", range = ""] = service.split(" ");
  const [min, max] = range.split("-").map(Number);
  if (peer.startsWith("anywhere except ")) {
    const out = normalize(
      peer
        .slice("anywhere except ".length)
        .split(", ")
        .map((cidr) => intervalOf(cidr)!),
    );
    return subtract([{ from: 0n, to: lastAddress(bitsOf[ethertype]) }], out)
      .flatMap((interval) => cidrsOf(interval, ethertype))
      .flatMap((cidr) => readAdmission({ direction, ethertype, service, peer: cidr }));
  }
  const remote: Rule["remote"] = peer.startsWith("group.")
    ? { kind: "group", group: { address: peer } }
    : peer === "anywhere"
      ? { kind: "any" }
      : { kind: "cidr", cidr: peer };
  const base = { direction, ethertype, remote };
  if (service === "any protocol") return [{ ...base, protocol: "any" }];
  if (name === "protocol") return [{ ...base, protocol: range }];
  if (name === "protocols")
    return Array.from({ length: max! - min! + 1 }, (_, index) => ({ ...base, protocol: String(min! + index) }));
  return [{ ...base, protocol: name, ...(range === "" ? {} : { ports: { min: min!, max: max ?? min! } }) }];
}

/** Facts and steps without a planner behind them, so that wrong orders come up too. */
const draft = fc
  .tuple(
    fc.array(fc.record({ rule, gone: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 2 }) }), { maxLength: 4 }),
    fc.array(fc.record({ rule, by: fc.integer({ min: 0, max: 4 }) }), { maxLength: 4 }),
    fc.array(
      fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }), fc.constantFrom("done", "done", "end")),
      {
        maxLength: 6,
      },
    ),
  )
  .map(([initial, added, edges]) => {
    const steps = new Map<string, Step>(
      [0, 1, 2, 3, 4].map((index) => [
        `s/${index}`,
        {
          id: `s/${index}`,
          address: "group.x",
          action: { operation: "record", changes: [] },
          title: "",
          holds: [],
          estimateMs: 0,
          // Only later ones need earlier ones, so there is no circle.
          needs: edges.flatMap(([later, earlier, on]) =>
            later === index && earlier < index ? [{ step: `s/${earlier}`, on: on as "done" | "end" }] : [],
          ),
        },
      ]),
    );
    const facts: Fact[] = [
      ...initial.map((one) => ({
        address: "group.x",
        rule: one.rule,
        declared: true,
        removedBy: one.gone.map((n) => `s/${n}`),
      })),
      ...added.map((one) => ({
        address: "group.x",
        rule: one.rule,
        declared: true,
        removedBy: [],
        addedBy: `s/${one.by}`,
      })),
    ];
    return { steps, facts };
  });

/** Every set of steps that holds, with each step, what it needs to be done. */
function moments(steps: ReadonlyMap<string, Step>): ReadonlySet<string>[] {
  const ids = [...steps.keys()];
  return Array.from(
    { length: 2 ** ids.length },
    (_, mask) => new Set(ids.filter((_id, index) => (mask >> index) & 1)),
  ).filter((set) =>
    [...set].every((id) => steps.get(id)!.needs.every((need) => need.on !== "done" || set.has(need.step))),
  );
}

describe("the proof for what lies between", () => {
  it("holds only when every moment that the order allows lies between before ∩ after and before ∪ after", () => {
    let held = 0;
    let failed = 0;
    fc.assert(
      fc.property(draft, ({ steps, facts }) => {
        const world = { facts: new Map([["group.x", facts]]), identify: referenceText } as unknown as GroupWorld;
        const traffic = (some: readonly Fact[]) => of(some.map((fact) => fact.rule));
        const before = traffic(facts.filter((fact) => fact.addedBy === undefined));
        const after = traffic(facts.filter((fact) => fact.removedBy.length === 0));
        const violations = violationsBetween(momentsOf(facts, world), world, steps);
        const [most, least] = [uniteTraffic(before, after), intersectTraffic(before, after)];
        const wrong = { more: false, less: false };
        for (const moment of moments(steps)) {
          const now = traffic(
            facts.filter(
              (fact) =>
                (fact.addedBy === undefined || moment.has(fact.addedBy)) &&
                !fact.removedBy.some((step) => moment.has(step)),
            ),
          );
          wrong.more ||= !covers(most, now);
          wrong.less ||= !covers(now, least);
        }
        const says = (admits: "more" | "less") => violations.some((violation) => violation.admits === admits);
        expect(says("more")).toBe(wrong.more);
        if (wrong.less) expect(says("less")).toBe(true);
        if (violations.length === 0) held++;
        else failed++;
      }),
      { numRuns: 500 },
    );
    expect(held).toBeGreaterThan(50);
    expect(failed).toBeGreaterThan(20);
  });
});
