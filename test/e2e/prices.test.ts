import { describe, expect, it } from "vitest";
import { jsonLines } from "../support/cli-process";
import { done, ownPlace, said } from "../support/own-place";

const place = ownPlace();
const { reconcile } = place;

const list = { currency: "EUR", vm: { "m1.small": 9.9, "m1.large": "39.60" }, volume_gb: "0.10", floating_ip: 3 };
const world = (flavor: string, more: object = {}) => ({
  vms: { db: { name: "db-1", flavor_id: flavor, skip_floating_ip: true } },
  volumes: { data: { name: "data-1", size: 20, attach_to: "db" } },
  ...more,
});
const summary = async (...args: string[]) =>
  jsonLines((await reconcile(...args, "--json")).stdout).at(-1) as Record<string, unknown>;

describe("prices", () => {
  it("are in the text, the comment, the page and the JSON of a plan, each change with its part", async () => {
    place.declare(world("m1.small", { prices: list }));
    const first = await done(reconcile("plan"));
    expect(first.stdout).toContain("Plan: 2 to create");
    expect(first.stdout.trimEnd().endsWith("\nCost: +17.90 EUR a month (17.90 after)")).toBe(true);
    expect(first.stdout).toMatch(/\+ vm\.db {2}create.*, \+15\.90 EUR a month/);
    expect((await reconcile("plan", "--summary")).stdout).toContain("+2.00 EUR a month");
    const markdown = (await reconcile("plan", "--markdown")).stdout.replaceAll("&#43;", "+");
    expect(markdown).toContain("Cost: +17.90 EUR a month");
    expect(markdown).toContain("+15.90 EUR a month");
    expect((await summary("plan"))["cost"]).toEqual({ currency: "EUR", before: "0.00", after: "17.90", unknown: [] });
    await done(reconcile("apply", "-y", "--report", "run.html"));
    expect(place.read("run.html")).toContain("Cost: +17.90 EUR a month");
    const same = await done(reconcile("plan"));
    expect(same.stdout).toContain("Cost: +0.00 EUR a month (17.90 after)");
    place.declare(world("m1.large", { prices: list }));
    expect((await done(reconcile("plan", "--out", "change.plan.json"))).stdout).toContain(
      "Cost: +29.70 EUR a month (47.60 after)",
    );
    expect((await done(reconcile("show", "change.plan.json"))).stdout).toContain("Cost: +29.70 EUR a month");
    await done(reconcile("apply", "change.plan.json"));
    place.declare(world("m1.large"));
    expect((await reconcile("plan")).stdout).not.toContain("Cost:");
  });

  it("come from a file, the environment or a flag, and what has none is named", async () => {
    place.write(JSON.stringify({ ...list, vm: {} }), "cheap.prices.yaml");
    place.declare(world("m1.small", { prices: "./cheap.prices.yaml" }));
    expect(said(await done(reconcile("plan")))).toContain("without what has no price: vm.db");
    expect((await summary("plan"))["cost"]).toMatchObject({ after: "8.00", unknown: ["vm.db"] });
    place.write(JSON.stringify({ currency: "CHF", volume_gb: "1", vm: { "m1.small": 1 } }), "other.yaml");
    expect((await done(reconcile("plan", "--prices", "other.yaml"))).stdout).toContain("+81.00 CHF a month");
    expect((await reconcile("plan", "--prices", "none.yaml")).exitCode).toBe(1);
    // A price list beside the file is no part of the desired state of the folder.
    expect((await reconcile("validate", ".")).exitCode).toBe(1);
    place.write("", "other.yaml");
    await done(reconcile("validate", "."));
  });

  it("hold limits, for what makes a month dearer, and never by what is not known", async () => {
    const limited = (monthly_cost: unknown, more: object = {}) => ({
      prices: list,
      checks: { at_most: { monthly_cost, ...more } },
    });
    place.declare(world("m1.large", limited(50)));
    await done(reconcile("apply", "-y"));
    place.declare(world("m1.large", limited("40.00")));
    const held = await reconcile("plan", "--replace", "vm.db");
    // A replacement costs the same, and what is over the limit already does not hold it up.
    expect(said(held)).not.toContain("check/monthly-cost");
    expect(held.exitCode).toBe(0);
    place.declare({ ...world("m1.large", limited(50)), groups: { web: { name: "web-1" } } });
    await done(reconcile("apply", "-y"));
    const grown = world("m1.large", limited(50));
    place.declare({ ...grown, volumes: { ...grown.volumes, more: { name: "more-1", size: 100 } } });
    const sent = place.writes();
    const refused = await reconcile("apply", "-y", "--allow-data-loss");
    expect([refused.exitCode, said(refused)]).toEqual([
      3,
      expect.stringContaining("a month would cost 57.60 EUR after this plan, and at most 50.00 EUR is allowed"),
    ]);
    place.declare({
      ...grown,
      ...limited(500, { monthly_increase: 9.99 }),
      volumes: { ...grown.volumes, more: { name: "more-1", size: 100 } },
    });
    expect(said(await reconcile("apply", "-y", "--allow-data-loss"))).toContain("the plan adds 10.00 EUR to a month");
    place.declare({ ...world("m2.odd", limited(500)), lookups: {} });
    expect(said(await reconcile("plan"))).toContain("check/cost-unknown");
    expect(place.writes()).toBe(sent);
  });

  it("say what is left behind", async () => {
    place.declare({ ...world("m1.small", { prices: list }), removed: [] });
    await done(reconcile("apply", "-y"));
    place.declare({ volumes: { data: { name: "data-1", size: 20 } }, prices: list });
    await done(reconcile("apply", "-y", "--allow-data-loss", "--confirm-flush", "all"));
    const left = await done(reconcile("orphans", "list"));
    expect(left.stdout).toContain("Cost of what is left behind: 1.00 EUR a month");
    expect((await summary("orphans", "list"))["cost"]).toEqual({ currency: "EUR", amount: "1.00", unknown: [] });
  });
});
