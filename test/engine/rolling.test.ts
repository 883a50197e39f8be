/**
 * A rolling rebuild of 12 VMs behind a check: never more of them down than the file allows, a wave that fails is the
 * last, and a run killed at any request or write is finished by the next ones in the same order of care.
 */
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read-desired";
import { PermittedPlan } from "../../reconciler/core/plan/permitted";
import { wavesOf } from "../../reconciler/core/plan/roll-out";
import { carryOutPermitted } from "../../reconciler/engine/apply";
import { awaitInterrupted } from "../../reconciler/engine/await-interrupted";
import { preparePlan } from "../../reconciler/engine/plan";
import { createMortal, type Moment, type Mortal } from "../support/mortal";
import { virtualWorld } from "../support/virtual-world";

const most = 3;
const file = (image: string, more: object = {}) => {
  const read = readDesired([
    {
      file: "reconcile.yaml",
      text: JSON.stringify({
        version: 1,
        project: "acme",
        region: "in-west-1",
        defaults: {
          vm: { owner: "ops@acme.example", user_id: "1042", image_id: image, flavor_id: "m1.small", size: 10 },
        },
        vms: { web: { for_each: 12, name: "web-${each}" } },
        rollout: { web: { of: "vm.web", max_unavailable: "25%", canary: 1, check: { tcp: 443 }, ...more } },
      }),
    },
  ]);
  if (read.desired === undefined) throw new Error(JSON.stringify(read.diagnostics));
  return read.desired;
};

/** A world with 12 VMs up, that watches how many of them are down, and which were checked before which were touched. */
async function stage(isWell: (asked: number) => boolean = () => true) {
  const seen = { down: 0, checks: 0, rebuilds: [] as { id: string; down: number; checks: number }[] };
  const world = virtualWorld({}, () => {
    seen.checks++;
    return isWell(seen.checks);
  });
  await world.apply(await world.plan(file("ubuntu-24.04")));
  const down = (): number => world.emulated.dump().vms.filter(({ status }) => status !== "ACTIVE").length;
  const call = world.emulated.call;
  seen.checks = 0;
  world.emulated.call = (...args) => {
    const decision = call(...args);
    const now = down();
    seen.down = Math.max(seen.down, now);
    if (args[0] === "vm.rebuild" && decision.status < 300)
      seen.rebuilds.push({ id: args[2]?.id ?? "", down: now, checks: seen.checks });
    return decision;
  };
  return { world, seen };
}

describe("waves", () => {
  const members = Array.from({ length: 12 }, (_, index) => `vm.web[${index}]`);
  it.each([
    ["25%, one first", { maxUnavailable: { percent: 25 }, canary: 1 }, [1, 3, 3, 3, 2]],
    ["a number", { maxUnavailable: { count: 5 } }, [5, 5, 2]],
    ["a share of less than one is one", { maxUnavailable: { percent: 1 } }, Array.from({ length: 12 }, () => 1)],
    ["more canaries than may be down", { maxUnavailable: { count: 2 }, canary: 3 }, [2, 1, 2, 2, 2, 2, 1]],
  ])("%s", (_, how, sizes) => {
    expect(wavesOf(members, { members, ...how }).map(({ length }) => length)).toEqual(sizes);
  });
});

describe("a rolling rebuild of 12 VMs behind a check", () => {
  it("goes in waves of 1, 3, 3, 3 and 2, and the plan says so", async () => {
    const { world, seen } = await stage();
    const prepared = await world.plan(file("debian-12"));
    expect(prepared.plan.diagnostics).toMatchObject([
      {
        code: "plan/rollout",
        summary: "rollout web: 12 of 12 VMs in 5 waves of 1, 3, 3, 3, 2, each checked before the next",
      },
    ]);
    // Five rebuilds and five checks after each other.
    expect(prepared.plan.estimate.durationMs).toBe(5 * 70_000);
    const report = await world.apply(prepared);
    expect(report?.counts).toMatchObject({ failed: 0, skipped: 0 });
    expect([seen.down, seen.checks, seen.rebuilds.length]).toEqual([most, 12, 12]);
    // Whoever is rebuilt in a later wave is so after all of the earlier waves passed.
    expect(seen.rebuilds.map(({ checks }) => checks)).toEqual([0, 1, 1, 1, 4, 4, 4, 7, 7, 7, 10, 10]);
    expect((await world.plan(file("debian-12"))).plan.steps).toEqual([]);
  });

  it("stops with the wave whose check fails; the next run checks those that are there before it goes on", async () => {
    let well = false;
    const { world, seen } = await stage((asked) => well || asked < 2);
    const report = await world.apply(await world.plan(file("debian-12")));
    expect(report?.counts.failed).toBeGreaterThan(0);
    expect(seen.rebuilds.length).toBe(4);
    const before = seen.rebuilds.length;
    const again = await world.apply(await world.plan(file("debian-12")));
    expect([again?.counts.failed, seen.rebuilds.length]).toEqual([4, before]);
    well = true;
    expect((await world.apply(await world.plan(file("debian-12"))))?.counts).toMatchObject({ failed: 0 });
    expect([seen.down, seen.rebuilds.length]).toEqual([most, 12]);
  });

  it("without a rollout all are down together, which is what it is for", async () => {
    const { world, seen } = await stage();
    const { rollouts: _, ...all } = file("debian-12");
    await world.apply(await world.plan(all));
    expect(seen.down).toBeGreaterThan(most);
  });

  it("killed at every request and every write, is finished with no more down than allowed and nothing done twice", async () => {
    const undisturbed = await stage();
    const counting = createMortal(undisturbed.world);
    await runOnce(undisturbed.world, counting);
    const moments = (["request", "write"] as const).flatMap((of) =>
      Array.from({ length: counting.counts[of] }, (_, index) => index + 1).flatMap((nth) =>
        (["before", "after"] as const).map((when): Moment => ({ of, nth, when })),
      ),
    );
    const problems: string[] = [];
    for (const moment of moments) {
      const { world, seen } = await stage();
      const mortal = createMortal(world, moment);
      await Promise.race([runOnce(world, mortal), mortal.death]);
      for (let runs = 0; runs < 4; runs++) await runOnce(world);
      const left = (await world.plan(file("debian-12"))).plan.steps.length;
      const names = world.emulated.dump().vms.map(({ name }) => name);
      const said = `${moment.when} ${moment.of} ${moment.nth}`;
      if (left > 0) problems.push(`${said}: ${left} steps are left`);
      if (seen.down > most) problems.push(`${said}: ${seen.down} were down together`);
      if (new Set(names).size !== 12 || names.length !== 12) problems.push(`${said}: ${names.length} VMs`);
    }
    expect(problems).toEqual([]);
    expect(moments.length).toBeGreaterThan(24);
    console.log(`rolling rebuild of 12 VMs: ${moments.length} kills`);
  });
});

type World = Awaited<ReturnType<typeof stage>>["world"];

const holder = { who: "test", host: "test", pid: 1, since: "2026-01-01T00:00:00Z", command: "test" };

/** As apply does it: waits for what an interrupted run left in flight, plans on what it then sees, carries it out. */
async function runOnce(
  world: World,
  through: Pick<World, "client" | "store" | "clock"> | Mortal = world,
): Promise<void> {
  const { client, store, clock } = through;
  await world.store.breakLock();
  const ports = { ...world.ports, client, clock };
  const signal = new AbortController().signal;
  await awaitInterrupted(store, client, ports, "story", signal);
  const desired = file("debian-12");
  const prepared = await preparePlan({ desired, store, client, options: {}, clock, lineage: "story", observe: true });
  const stop = { soft: signal, hard: signal };
  await carryOutPermitted(PermittedPlan.onTwin(prepared.plan), {
    prepared,
    store,
    ports,
    holder,
    stop,
    planId: "plan",
  });
}
