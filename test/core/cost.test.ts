import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import type { Change } from "../../reconciler/core/diff/changes";
import type { DesiredResource } from "../../reconciler/core/model/desired";
import { type Live, notSeen } from "../../reconciler/core/model/live";
import type { Prices } from "../../reconciler/core/model/prices";
import type { Orphan, RecordedResource } from "../../reconciler/core/model/recorded";
import { costOfOrphans, costOfPlan } from "../../reconciler/core/plan/cost";
import { compareDecimals, decimalOf, decimalText, minus, plus, timesDecimal } from "../../reconciler/core/text/decimal";
import { costText, orphanCostText, partText } from "../../reconciler/report/cost-text";

const source = { file: "reconcile.yaml", line: 1 };
const prices: Prices = {
  currency: "EUR",
  per: "month",
  vm: { "m1.small": "9.90", "id-large": "39.60" },
  volumeGb: "0.1",
  floatingIp: "3.00",
  source,
};
const vm = (more: object = {}) =>
  ({
    kind: "vm",
    address: "vm.a",
    id: "id-a",
    name: "a",
    flavor: "m1.small",
    rootSizeGb: 50,
    sizeGb: 10,
    skipFloatingIp: false,
    lifecycle: { ignoreChanges: [] },
    ...more,
    // A price looks at no other fact of a VM.
  }) as unknown as RecordedResource & DesiredResource;
const change = (action: Change["action"], address = "vm.a"): Change => ({
  address,
  kind: "vm",
  id: action === "create" ? undefined : "id-a",
  action,
  name: "a",
  fields: [],
  reason: "declared",
  because: "",
  losses: [],
});
const flavors = [{ id: "id-large", name: "m1.large" }];
/** What the service shows of the VM that is taken over: its flavor, and no floating address. */
const seenVms: Live["of"]["vm"] = {
  ...notSeen.of.vm,
  byId: new Map([
    ["id-a", { seen: "yes", value: { kind: "vm", id: "id-a", name: "a", phase: "running", flavor: "m1.large" } }],
  ]),
};
const cost = (
  record: RecordedResource | undefined,
  desired: DesiredResource | undefined,
  action: Change["action"],
  list = prices,
) =>
  costOfPlan({
    prices: list,
    changes: [change(action)],
    records: new Map(record === undefined ? [] : [[record.address, record]]),
    desiredOf: () => desired,
    live: { ...notSeen, of: { ...notSeen.of, vm: seenVms }, catalogue: { flavors } },
  });

describe("what a plan costs", () => {
  const ignoreChanges = ["flavor_id", "size", "root_size", "skip_floating_ip"];
  const left = vm({ flavor: "m1.large", sizeGb: 60, skipFloatingIp: true, lifecycle: { ignoreChanges } });
  it.each([
    ["a create", undefined, vm(), "create", "+18.90 EUR a month (18.90 after)"],
    ["a delete", vm(), undefined, "delete", "-18.90 EUR a month (0.00 after)"],
    [
      "a resize, by the other name of the flavor",
      vm(),
      vm({ flavor: "m1.large" }),
      "update",
      "+29.70 EUR a month (48.60 after)",
    ],
    ["a volume that grows by 1 GB", vm(), vm({ sizeGb: 11 }), "update", "+0.10 EUR a month (19.00 after)"],
    ["without a floating address", vm(), vm({ skipFloatingIp: true }), "replace", "-3.00 EUR a month (15.90 after)"],
    ["what the file leaves alone", vm(), left, "update", "+0.00 EUR a month (18.90 after)"],
    ["what is made anew, as the file says", vm(), left, "replace", "+31.70 EUR a month (50.60 after)"],
    ["what is taken over, as the file says", undefined, vm(), "import", "+18.90 EUR a month (18.90 after)"],
    [
      "what is taken over, as it shows where the file leaves that alone",
      undefined,
      vm({ lifecycle: { ignoreChanges: ["flavor_id", "skip_floating_ip"] } }),
      "import",
      "+45.60 EUR a month (45.60 after)",
    ],
    ["what is let go", vm(), undefined, "forget", "-18.90 EUR a month (0.00 after)"],
  ] as const)("%s", (_, record, desired, action, expected) => {
    expect(costText(cost(record, desired, action))).toBe(`Cost: ${expected}`);
  });

  it("of what is left behind says how much has no price", () => {
    const left = (...unknown: string[]) => orphanCostText({ currency: "EUR", amount: "0", unknown });
    expect(left("a")).toMatch(/without 1 thing that has no price/);
    expect(left("a", "b")).toMatch(/without 2 things that have no price/);
  });

  it("names what has no price, and counts the rest", () => {
    const unknown = cost(undefined, vm({ flavor: "m9.huge" }), "create");
    expect([unknown.after, unknown.unknown]).toEqual(["9.00", ["vm.a"]]);
    expect(costText(unknown)).toContain("without what has no price: vm.a");
    expect(partText(unknown, ["vm.a"])).toBe("+9.00 EUR a month, and something of it has no price");
    const { floatingIp: _, ...noAddresses } = prices;
    expect(cost(undefined, vm(), "create", noAddresses).unknown).toEqual(["vm.a"]);
    expect(cost(undefined, vm({ skipFloatingIp: true }), "create", noAddresses).unknown).toEqual([]);
    expect(cost(vm({ flavor: undefined }), vm(), "update").unknown).toEqual(["vm.a"]);
    expect(cost(undefined, vm(), "create", { ...prices, floatingIp: "0.00" })).toMatchObject({
      after: "15.90",
      unknown: [],
    });
  });

  it("names what is taken over unseen, where the file leaves its size alone", () => {
    const lifecycle = { ignoreChanges: ["size"] };
    const volume = { kind: "volume", address: "volume.a", name: "a", sizeGb: 10, lifecycle };
    const planned = costOfPlan({
      prices,
      changes: [{ ...change("import", "volume.a"), kind: "volume" }],
      records: new Map(),
      desiredOf: () => volume as unknown as DesiredResource,
      live: notSeen,
    });
    expect(planned).toMatchObject({ after: "0.00", unknown: ["volume.a"] });
  });

  it("by a flavor that the list has under both of its names, where these say the same", () => {
    const large = (other: string) =>
      cost(undefined, vm({ flavor: "m1.large" }), "create", { ...prices, vm: { ...prices.vm, "m1.large": other } });
    expect(large("39.6")).toMatchObject({ after: "48.60", unknown: [] });
    expect(large("40.00")).toMatchObject({ after: "9.00", unknown: ["vm.a"] });
  });

  it("of sums with more digits than any price", () => {
    const dear = cost(undefined, vm({ skipFloatingIp: true }), "create", { ...prices, volumeGb: "9".repeat(18) });
    expect(costText(dear)).toBe("Cost: +59999999999999999949.90 EUR a month (59999999999999999949.90 after)");
    expect(partText(dear, ["vm.a"])).toBe("+59999999999999999949.90 EUR a month");
    expect(orphanCostText({ currency: "EUR", amount: dear.after, unknown: [] })).toContain(dear.after);
  });

  it("by the hour is by the month of 730 hours, to the last digit", () => {
    const hourly: Prices = {
      ...prices,
      per: "hour",
      vm: { "m1.small": "0.013561643" },
      volumeGb: "0",
      floatingIp: "0",
    };
    expect(cost(undefined, vm(), "create", hourly).after).toBe("9.89999939");
  });

  it("of what is left behind, without what is gone", () => {
    const orphan = (more: Partial<Orphan>): Orphan => ({ kind: "volume", id: "v", name: "v", reason: "", ...more });
    const found = costOfOrphans(prices, [
      orphan({ sizeGb: 20 }),
      orphan({ id: "gone", sizeGb: 20, missingSince: "2026-01-01T00:00:00Z" }),
      orphan({ id: "unsized" }),
      orphan({ kind: "image", id: "image", sizeGb: 5 }),
      orphan({ kind: "group", id: "group" }),
    ]);
    expect(found).toEqual({ currency: "EUR", amount: "2.00", unknown: ["unsized", "image"] });
  });
});

describe("decimal numbers", () => {
  const amount = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.integer({ min: 0, max: 9 }));
  it("add, subtract and multiply without a rest", () => {
    fc.assert(
      fc.property(amount, amount, amount, ([a, i], [b, j], [c, k]) => {
        const [x, y, z] = [
          { units: a, scale: i },
          { units: b, scale: j },
          { units: c, scale: k },
        ];
        expect(compareDecimals(minus(plus(x, y), y), x)).toBe(0);
        expect(compareDecimals(timesDecimal(plus(x, y), z), plus(timesDecimal(x, z), timesDecimal(y, z)))).toBe(0);
        const text = decimalText(x);
        expect(compareDecimals(decimalOf(text) ?? y, x)).toBe(0);
        expect(text).toMatch(/^\d+\.\d{2,}$/);
      }),
    );
  });
  it.each<readonly [what: string, text: string, isOne: boolean]>([
    ["eighteen digits", "1".repeat(18), true],
    ["nineteen digits", "1".repeat(19), false],
    ["eighteen digits behind the point", `0.${"1".repeat(18)}`, true],
    ["nineteen digits behind the point", `0.${"1".repeat(19)}`, false],
  ])("of %s: %s is one, %s", (_, text, isOne) => expect(decimalOf(text) !== undefined).toBe(isOne));
  it.each(["", "-", "1.", ".5", "1e3", "0x1", "1,5", "NaN", "Infinity", "1".repeat(40)])("are not %j", (text) =>
    expect(decimalOf(text)).toBeUndefined(),
  );
});

describe("a price list", () => {
  const text = (list: string, more = "") => `version: 1
project: acme
region: r1
prices: ${list}
${more}environments: { prod: { prices: { currency: USD, volume_gb: "0.20" } }, dev: {} }
`;
  const open = (path: string) =>
    path === "./prices.yaml"
      ? { source: { file: path, text: "currency: EUR\nvm: { m1.small: 24.90 }\nvolume_gb: 0.1\n" } }
      : { problem: `there is no ${path}` };
  const read = (list: string, env = "dev", more = "") =>
    readDesired([{ file: "reconcile.yaml", text: text(list, more) }], { env, open });

  it("is read from a file or in place, each amount as it was written", () => {
    expect(read("./prices.yaml").desired?.prices).toMatchObject({
      currency: "EUR",
      per: "month",
      vm: { "m1.small": "24.90" },
      volumeGb: "0.10",
    });
    expect(
      read("{ currency: EUR, per: hour, volume_gb: 0.000136986, vm: { a: 24.90, b: '9.9' } }").desired?.prices,
    ).toMatchObject({
      per: "hour",
      volumeGb: "0.000136986",
      vm: { a: "24.90", b: "9.90" },
    });
  });

  it("of an environment stands in place of the file's, and --prices in place of both", () => {
    expect(read("./prices.yaml", "prod").desired?.prices).toMatchObject({ currency: "USD", vm: {}, volumeGb: "0.20" });
    const given = readDesired([{ file: "reconcile.yaml", text: text("./none.yaml") }], {
      env: "prod",
      open,
      prices: { file: "mine.yaml", text: "currency: CHF\nfloating_ip: 1\n" },
    });
    expect(given.desired?.prices).toMatchObject({ currency: "CHF", floatingIp: "1.00" });
  });

  it.each([
    ["{ currency: EUR, volume_gb: -1 }", "volume_gb"],
    ["{ currency: EUR, volume_gb: cheap }", "volume_gb"],
    ["{ currency: EUR, vm: { a: 1e-7 } }", "1e-7"],
    ["{ volume_gb: 1 }", "currency"],
    ["{ currency: EUR, volumes: 1 }", "volumes"],
    ["./none.yaml", "there is no ./none.yaml"],
  ])("is refused: %s", (list, said) => {
    const { diagnostics, desired } = read(list);
    expect(desired).toBeUndefined();
    expect(JSON.stringify(diagnostics)).toContain(said);
  });

  it("limits are amounts, too", () => {
    const limits = read(
      "./prices.yaml",
      "dev",
      "checks: { at_most: { monthly_cost: 500, monthly_increase: 49.95 } }\n",
    );
    expect(limits.desired?.checks?.atMost).toEqual({ monthlyCost: "500.00", monthlyIncrease: "49.95" });
  });
});
