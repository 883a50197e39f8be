/**
 * Plans with assertions, carried out on the emulated service: after each request its rules are probed flow by flow, by a
 * reader of its own. What is said to hold is broken at no such moment; of what is said to be broken, the flow that the
 * message names is admitted at one.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import { judgeReachability } from "../../reconciler/kinds/group/reachability/findings";
import { randomWorld, yamlOf } from "../support/random-worlds";
import { virtualWorld } from "../support/virtual-world";

const runs = Number(process.env["REACHABILITY_PLANS"] ?? 50);
const keys = ["front", "back", "admin"] as const;
const sources = ["8.8.8.8", "10.1.2.3", "2001:db8::1", "2001:4860::1"] as const;
const ports = [22, 80, 443] as const;

interface LiveRule {
  readonly direction: string;
  readonly ether_type: string;
  readonly protocol: string | null;
  readonly port_range_min: number | null;
  readonly port_range_max: number | null;
  readonly remote_ip_prefix: string | null;
  readonly remote_group_id: string | null;
}
interface LiveGroup {
  readonly id: string;
  readonly name: string;
  readonly rules: readonly LiveRule[];
}

/** Ranges of this test alone, so that nothing of what is tested helps. */
const holds: Record<string, (peer: string) => boolean> = {
  "10.0.0.0/8": (peer) => peer.startsWith("10."),
  "2001:db8::/32": (peer) => peer.startsWith("2001:db8:"),
};
const inRange = (rule: LiveRule, peer: string): boolean =>
  rule.remote_group_id === null &&
  (rule.ether_type === "IPv6") === peer.includes(":") &&
  (rule.remote_ip_prefix === null ||
    /\/0$/.test(rule.remote_ip_prefix) ||
    holds[rule.remote_ip_prefix]?.(peer) === true);

function admits(groups: readonly LiveGroup[], key: string, peer: string, port: number, protocol = "tcp"): boolean {
  const objects = groups.filter(({ name }) => name === `group-${key}` || name.startsWith(`group-${key}-old-`));
  const idsOf = (other: string) =>
    groups
      .filter(({ name }) => name === `group-${other}` || name.startsWith(`group-${other}-old-`))
      .map(({ id }) => id);
  return objects.some(({ rules }) =>
    rules.some(
      (rule) =>
        rule.direction === "ingress" &&
        (rule.protocol === null || rule.protocol === protocol) &&
        (rule.port_range_min === null || (rule.port_range_min <= port && port <= (rule.port_range_max ?? port))) &&
        (peer.startsWith("group.")
          ? rule.remote_group_id !== null && idsOf(peer.slice("group.".length)).includes(rule.remote_group_id)
          : inRange(rule, peer)),
    ),
  );
}

interface Asserted {
  readonly kind: "never" | "always" | "only";
  readonly from: string;
  readonly to: (typeof keys)[number];
  readonly port: (typeof ports)[number];
}
const asserted: fc.Arbitrary<Asserted> = fc.record({
  kind: fc.constantFrom("never", "never", "always", "only"),
  from: fc.constantFrom("internet", "10.0.0.0/8", "group.front", "group.admin"),
  to: fc.constantFrom(...keys),
  port: fc.constantFrom(...ports),
});

/** Whether a moment breaks it, as far as these few flows tell. */
function broken({ kind, from, to, port }: Asserted, groups: readonly LiveGroup[]): boolean {
  const isFrom = (peer: string): boolean =>
    from === "internet"
      ? peer === "8.8.8.8" || peer === "2001:4860::1"
      : from === "10.0.0.0/8"
        ? peer.startsWith("10.")
        : peer === from;
  const peers = [...sources, ...keys.map((key) => `group.${key}`)];
  const open = peers.filter((peer) => admits(groups, to, peer, port));
  if (kind === "never") return open.some(isFrom);
  if (kind === "only") return open.some((peer) => !isFrom(peer));
  const wanted = peers.filter((peer) => isFrom(peer) && !peer.includes(":"));
  const everybody = admits(groups, to, "8.8.8.8", port) && admits(groups, to, "10.1.2.3", port);
  return wanted.some((peer) => !admits(groups, to, peer, port) && !(peer.startsWith("group.") && everybody));
}

const withNames = (groups: Readonly<Record<string, object>>) =>
  Object.fromEntries(Object.entries(groups).map(([key, group]) => [key, { ...group, name: `group-${key}` }]));

it(`each moment of ${runs} plans is as the assertions say`, async () => {
  const told = { plans: 0, moments: 0, holds: 0, breaks: 0 };
  await fc.assert(
    fc.asyncProperty(
      randomWorld,
      randomWorld,
      fc.array(asserted, { minLength: 3, maxLength: 6 }),
      fc.boolean(),
      async (before, after, assertions, deletesRules) => {
        const world = virtualWorld(deletesRules ? { with: ["group.rule.delete"] } : {});
        const its = assertions.filter(({ to, from }) => {
          const named = from.startsWith("group.") ? [to, from.slice("group.".length)] : [to];
          return named.every((key) => before.groups[key] !== undefined && after.groups[key] !== undefined);
        });
        const desiredOf = (groups: Readonly<Record<string, object>>, reachability: readonly object[]) => {
          const file = JSON.parse(yamlOf({ vms: {}, volumes: {}, groups: withNames(groups) as never }));
          const read = readDesired([{ file: "reconcile.yaml", text: JSON.stringify({ ...file, reachability }) }]);
          if (read.desired === undefined) throw new Error(JSON.stringify(read.diagnostics));
          return read.desired;
        };
        await world.apply(await world.plan(desiredOf(before.groups, [])));
        const desired = desiredOf(
          after.groups,
          its.map(({ kind, from, to, port }) => ({
            [kind]: {
              from,
              to: `group.${to}`,
              tcp: port,
              direction: "ingress",
              ...(kind === "always" ? { ethertype: "IPv4" } : {}),
            },
          })),
        );
        const prepared = await world.plan(desired);
        const { verdicts, findings } = judgeReachability(prepared, { today: "2026-01-01" });
        const groups = (): LiveGroup[] => {
          const { groups: all, rules } = world.emulated.dump();
          return all.map(({ id, name }) => ({
            id,
            name,
            rules: rules.filter((rule) => rule.security_group_id === id),
          }));
        };
        const moments = [groups()];
        const call = world.emulated.call;
        world.emulated.call = (...args) => {
          const decision = call(...args);
          moments.push(groups());
          return decision;
        };
        await world.apply(prepared);
        told.plans++;
        told.moments += moments.length;
        for (const [index, { verdict, assertion }] of verdicts.entries()) {
          const one = its[index]!;
          const finding = findings.find(
            ({ code, source }) => code === "reachability/violated" && source === assertion.source,
          );
          if (verdict === "holds" && finding === undefined) {
            told.holds++;
            const at = moments.findIndex((moment) => broken(one, moment));
            // What a plan repairs holds at its end.
            const repaired = findings.some(
              ({ code, source }) => code === "reachability/repaired" && source === assertion.source,
            );
            if (repaired) expect(broken(one, moments.at(-1)!)).toBe(false);
            else expect([one, at]).toEqual([one, -1]);
          }
          const witness = finding?.refused === undefined ? null : finding.counterexample!.witness;
          if (witness !== null && one.kind !== "always") {
            told.breaks++;
            const [protocol, port] = witness.service.split(" ");
            const near = witness.peer.startsWith("10.") ? "10.1.2.3" : witness.peer;
            // Whoever admits every address admits the members of a group.
            const peers = near.startsWith("group.") ? [near, "203.0.113.9", "2001:4860::1"] : [near];
            const seen = moments.some((moment) =>
              peers.some((peer) => admits(moment, one.to, peer, Number(port), protocol)),
            );
            expect([witness, seen]).toEqual([witness, true]);
          }
        }
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
  console.log(JSON.stringify(told));
  expect(told.moments).toBeGreaterThan(told.plans);
  expect(told.holds).toBeGreaterThan(0);
  expect(told.breaks).toBeGreaterThan(0);
});
