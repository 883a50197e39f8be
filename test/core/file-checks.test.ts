/** What the checks of a file say of a plan, as a table: each limit at its edge, and one past it. */
import { describe, expect, it } from "vitest";
import { checkPlan } from "../../reconciler/core/findings/checks";
import type { Desired } from "../../reconciler/core/model/desired";
import type { Checks, Hours } from "../../reconciler/core/model/policy";
import type { Plan } from "../../reconciler/core/plan/plan";
import { group, planFor, vm, volume, type World } from "../support/sample-plans";

const source = { file: "a.yaml", line: 3 };

interface Asked {
  readonly world?: World;
  readonly checks?: Omit<Checks, "source">;
  readonly recorded?: number;
  readonly now?: string;
  readonly cost?: Plan["cost"];
}

function found({ world = {}, checks, recorded = 0, now = "2026-01-01T00:00:00Z", cost }: Asked) {
  const desired = {
    resources: world.desired ?? [],
    checks: checks === undefined ? undefined : { ...checks, source },
  } as unknown as Desired;
  const plan = { ...planFor(world), cost };
  return checkPlan({ desired, plan, recorded, now: new Date(now) });
}

const said = (asked: Asked): string[] =>
  found(asked).map(
    ({ severity, code, summary, refused }) =>
      `${severity} ${code} ${summary}${refused === undefined ? "" : ` (${refused})`}`,
  );

const refused = " (refused by checks (a.yaml:3))";
const kept = {
  ...vm("web"),
  lifecycle: { ...vm("web").lifecycle, preventDestroy: true, snapshotBefore: ["rebuild"] },
} as const;
const money = (before: string, after: string, unknown: readonly string[] = []): Plan["cost"] =>
  ({ currency: "EUR", before, after, unknown, parts: {} }) as unknown as Plan["cost"];
const gone = (count: number) => ({ applied: Array.from({ length: count }, (_, index) => group(`g${index}`)) });

describe("a check of what is declared", () => {
  it.each<[what: string, asked: Asked, says: string[]]>([
    ["none", { world: { desired: [kept] } }, []],
    ["a name that fits", { world: { desired: [kept] }, checks: { names: { vm: "w.b" } } }, []],
    [
      "a name of which a part fits",
      { world: { desired: [kept] }, checks: { names: { vm: "we" } } },
      [`error check/name vm.web: the name web does not fit we${refused}`],
    ],
    ["a name of another kind", { world: { desired: [kept] }, checks: { names: { group: "we" } } }, []],
    ["prevent_destroy that is there", { world: { desired: [kept] }, checks: { preventDestroy: ["vm"] } }, []],
    ["prevent_destroy of another kind", { world: { desired: [volume("a")] }, checks: { preventDestroy: ["vm"] } }, []],
    [
      "prevent_destroy that is not",
      { world: { desired: [volume("a")] }, checks: { preventDestroy: ["volume"] } },
      [`error check/lifecycle volume.a has no prevent_destroy${refused}`],
    ],
    ["a flavor of the list", { world: { desired: [kept] }, checks: { flavors: [kept.flavor] } }, []],
    [
      "a flavor, an image and a region of no list",
      { world: { desired: [kept] }, checks: { flavors: ["x"], images: ["x"], regions: ["x"] } },
      [
        `error check/flavor vm.web: the flavor ${kept.flavor} is not allowed${refused}`,
        `error check/image vm.web: the image ${kept.image} is not allowed${refused}`,
        `error check/region vm.web: the region in-west-1 is not allowed${refused}`,
      ],
    ],
    ["a snapshot that is taken", { world: { desired: [kept] }, checks: { snapshotBefore: ["rebuild"] } }, []],
    [
      "snapshots that are not",
      { world: { desired: [kept] }, checks: { snapshotBefore: ["rebuild", "resize", "delete"] } },
      [`error check/lifecycle vm.web takes no snapshot before resize and delete${refused}`],
    ],
    [
      "what the plan does not touch",
      { world: { applied: [kept], desired: [kept] }, checks: { flavors: ["x"] } },
      [`warning check/flavor vm.web: the flavor ${kept.flavor} is not allowed`],
    ],
    [
      "what goes",
      { world: { applied: [kept], desired: [kept], options: { destroy: true } }, checks: { flavors: ["x"] } },
      [],
    ],
  ])("%s", (_what, asked, says) => expect(said(asked)).toEqual(says));

  it("says what to write with the snapshots that are taken already", () => {
    expect(found({ world: { desired: [kept] }, checks: { snapshotBefore: ["delete"] } })).toMatchObject([
      { fix: "lifecycle: { snapshot_before: [rebuild, delete] }" },
    ]);
  });
});

describe("a limit of what a plan may do", () => {
  const { flavor } = kept;
  const larger = (key: string) => ({ ...vm(key), flavor: `${flavor}-larger` });
  const down = (count: number) => {
    const keys = Array.from({ length: count }, (_, index) => `v${index}`);
    return { applied: keys.map((key) => vm(key)), desired: keys.map(larger) };
  };
  it.each<[what: string, asked: Asked, says: string[]]>([
    ["as many as may go", { world: gone(2), checks: { atMost: { remove: { count: 2 } } } }, []],
    [
      "one more",
      { world: gone(3), checks: { atMost: { remove: { count: 2 } } } },
      [`error check/removals the plan removes 3, and at most 2 may go at once${refused}`],
    ],
    [
      "what is left behind, where the service cannot delete it",
      {
        world: { applied: [volume("a"), volume("b"), volume("c")], missing: ["volume.delete"] },
        checks: { atMost: { remove: { count: 2 } } },
      },
      [`error check/removals the plan removes 3, and at most 2 may go at once${refused}`],
    ],
    [
      "a share of what the state has",
      { world: gone(2), recorded: 10, checks: { atMost: { remove: { percent: 20 } } } },
      [],
    ],
    [
      "more than the share",
      { world: gone(3), recorded: 10, checks: { atMost: { remove: { percent: 20 } } } },
      [`error check/removals the plan removes 3, and at most 20% may go at once${refused}`],
    ],
    ["as many as may be down", { world: down(1), checks: { atMost: { stop: { count: 1 } } } }, []],
    [
      "one more that is down",
      { world: down(2), checks: { atMost: { stop: { count: 1 } } } },
      [`error check/stops the plan takes 2 VMs down, and at most 1 may be down in one plan${refused}`],
    ],
    ["all VMs, where all may be down", { world: down(2), checks: { atMost: { stop: { percent: 100 } } } }, []],
    [
      "more than the share of the VMs",
      { world: down(2), checks: { atMost: { stop: { percent: 50 } } } },
      [`error check/stops the plan takes 2 VMs down, and at most 50% may be down in one plan${refused}`],
    ],
  ])("%s", (_what, asked, says) => expect(said(asked)).toEqual(says));
});

describe("what a plan costs", () => {
  const grows = { desired: [kept] };
  const noPrices = "what the plan costs is not known: there is no price list";
  it.each<[what: string, asked: Asked, says: string[]]>([
    ["no limit, no price list", { world: grows, checks: {} }, []],
    [
      "a limit, and no price list",
      { world: grows, checks: { atMost: { monthlyCost: "10" } } },
      [`error check/cost-unknown ${noPrices}${refused}`],
    ],
    [
      "a limit, no price list, and nothing that grows",
      { world: gone(1), checks: { atMost: { monthlyCost: "10" } } },
      [],
    ],
    ["as much as may be", { world: grows, cost: money("0", "10"), checks: { atMost: { monthlyCost: "10" } } }, []],
    [
      "a cent more",
      { world: grows, cost: money("0", "10.01"), checks: { atMost: { monthlyCost: "10" } } },
      [
        `error check/monthly-cost a month would cost 10.01 EUR after this plan, and at most 10.00 EUR is allowed${refused}`,
      ],
    ],
    [
      "too much, and less than before",
      { world: grows, cost: money("30", "20"), checks: { atMost: { monthlyCost: "10" } } },
      [],
    ],
    ["too much, as before", { world: grows, cost: money("20", "20"), checks: { atMost: { monthlyCost: "10" } } }, []],
    [
      "as much more as may be",
      { world: grows, cost: money("5", "8"), checks: { atMost: { monthlyIncrease: "3" } } },
      [],
    ],
    [
      "more at once than may be",
      { world: grows, cost: money("5", "8.5"), checks: { atMost: { monthlyIncrease: "3" } } },
      [
        `error check/monthly-increase the plan adds 3.50 EUR to a month, and at most 3.00 EUR may be added at once${refused}`,
      ],
    ],
    [
      "a part without a price",
      { world: grows, cost: money("0", "1", ["vm.web", "vm.other"]), checks: { atMost: { monthlyCost: "10" } } },
      [`error check/cost-unknown the cost of vm.web is not known: not everything has a price${refused}`],
    ],
  ])("%s", (_what, asked, says) => expect(said(asked)).toEqual(says));

  it("names five of what has no price", () => {
    const keys = ["a", "b", "c", "d", "e", "f", "g"];
    const world = { desired: keys.map((key) => vm(key)) };
    const cost = money(
      "0",
      "1",
      keys.map((key) => `vm.${key}`),
    );
    expect(said({ world, cost, checks: { atMost: { monthlyCost: "10" } } })).toEqual([
      `error check/cost-unknown the cost of vm.a, vm.b, vm.c, vm.d, vm.e and 2 more is not known: not everything has a price${refused}`,
    ]);
  });
});

describe("the hours of a plan", () => {
  const day: Hours = { days: [1, 2, 3, 4, 5], from: 9 * 60, to: 17 * 60, text: "Mon-Fri 9:00-17:00" };
  const night: Hours = { days: [5], from: 22 * 60, to: 4 * 60, text: "Fri 22:00-4:00" };
  const always: Hours = { days: [], from: 9 * 60, to: 17 * 60, text: "9:00-17:00" };
  it.each<[when: string, hours: Hours, open: boolean]>([
    // 2026-01-02 is a Friday.
    ["2026-01-02T09:00:00Z", day, true],
    ["2026-01-02T08:59:00Z", day, false],
    ["2026-01-02T16:59:00Z", day, true],
    ["2026-01-02T17:00:00Z", day, false],
    ["2026-01-03T12:00:00Z", day, false],
    ["2026-01-03T12:00:00Z", always, true],
    ["2026-01-02T22:00:00Z", night, true],
    ["2026-01-02T21:59:00Z", night, false],
    ["2026-01-03T03:59:00Z", night, true],
    ["2026-01-03T04:00:00Z", night, false],
    ["2026-01-02T03:00:00Z", night, false],
    ["2026-01-03T23:00:00Z", night, false],
  ])("%s is within %o: %s", (now, hours, open) => {
    const says = `error check/hours plans are carried out within ${hours.text} (UTC), and it is ${now.slice(0, 16).replace("T", " ")}${refused}`;
    expect(said({ world: { desired: [kept] }, checks: { hours }, now })).toEqual(open ? [] : [says]);
  });

  it("are not asked of a plan that does nothing", () => {
    const world = { applied: [kept], desired: [kept] };
    expect(said({ world, checks: { hours: night }, now: "2026-01-02T12:00:00Z" })).toEqual([]);
  });
});
