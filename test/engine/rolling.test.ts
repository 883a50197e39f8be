/**
 * A rolling rebuild of 12 VMs behind a check: never more of them down than the file allows, a wave that fails is the
 * last, and a run killed at any request or write is finished by the next ones in the same order of care.
 */
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import { wavesOf } from "../../reconciler/core/plan/roll-out";
import { awaitOpenOn, carryOutOn, prepareOn } from "../support/engine-on";
import { createMortal, type Moment, type Mortal } from "../support/mortal";
import { type VirtualWorld, virtualWorld } from "../support/virtual-world";

const most = 3;
/** check:fast kills at every fifth moment alone. */
const stride = Number(process.env["ROLLING_KILL_STRIDE"] ?? 1);
const killedAt = (moments: readonly Moment[]): readonly Moment[] => moments.filter((_, index) => index % stride === 0);
const file = (image: string, more: object = {}, flavor = "m1.small") => {
  const read = readDesired([
    {
      file: "reconcile.yaml",
      text: JSON.stringify({
        version: 1,
        project: "acme",
        region: "in-west-1",
        defaults: {
          vm: { owner: "ops@acme.example", user_id: "1042", image_id: image, flavor_id: flavor, size: 10 },
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
async function stage(isWell: (asked: number, vm: string | undefined) => boolean = () => true) {
  const seen = { down: 0, checks: 0, rebuilds: [] as { id: string; down: number; checks: number }[] };
  const world: VirtualWorld = virtualWorld({}, (_, { id }) => {
    seen.checks++;
    return isWell(seen.checks, world.emulated.dump().vms.find((vm) => vm.id === id)?.name);
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

  it.each([
    ["all at once, with nothing to check, has no order", { check: undefined, max_unavailable: 12 }, undefined],
    [
      "all at once has its check",
      { max_unavailable: 12 },
      "12 of 12 VMs in 1 wave of 12, each checked before the next",
    ],
    ["two waves have no check", { check: undefined, max_unavailable: 6 }, "12 of 12 VMs in 2 waves of 6, 6"],
  ])("%s", async (_, more, says) => {
    const { world } = await stage();
    const { plan } = await world.plan(file("debian-12", { canary: undefined, ...more }));
    expect(plan.diagnostics.map(({ summary }) => summary)).toEqual(says === undefined ? [] : [`rollout web: ${says}`]);
    expect(plan.steps.some(({ needs }) => needs.length > 0)).toBe(says !== undefined);
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
    for (const moment of killedAt(moments)) {
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
    console.log(`rolling rebuild of 12 VMs: ${killedAt(moments).length} kills`);
  });
});

describe("a rollout that reverts", () => {
  const reverting = { on_failure: "revert" };
  const flavorsOf = (world: World) => {
    const names = new Map([...world.emulated.world.tables.flavor.values()].map(({ id, name }) => [id, name]));
    return world.emulated
      .dump()
      .vms.map(({ flavor_id, status }) => `${names.get(flavor_id)} ${status}`)
      .sort();
  };
  const large = (more: object = reverting) => file("ubuntu-24.04", more, "m1.large");

  it("takes back the resize that fails, touches no further wave, and keeps what passed", async () => {
    let well = false;
    const { world } = await stage((_, vm) => well || vm !== "web-2");
    const prepared = await world.plan(large());
    expect(prepared.plan.diagnostics[0]?.detail).toContain("a resize that fails its check goes back");
    const report = await world.apply(prepared);
    expect(report?.counts.failed).toBeGreaterThan(0);
    // The canary and two of the first wave passed; the third went back; eight were never touched.
    expect(flavorsOf(world)).toEqual([
      ...Array.from({ length: 3 }, () => "m1.large ACTIVE"),
      ...Array.from({ length: 9 }, () => "m1.small ACTIVE"),
    ]);
    well = true;
    const next = await world.plan(large());
    expect(next.plan.changes).toHaveLength(9);
    expect((await world.apply(next))?.counts).toMatchObject({ failed: 0, skipped: expect.any(Number) });
    expect((await world.plan(large())).plan.steps).toEqual([]);
    expect(new Set(flavorsOf(world))).toEqual(new Set(["m1.large ACTIVE"]));
  });

  it("says of a rebuild that nothing takes it back, and of a service that reverts no resize", async () => {
    const { world } = await stage();
    const rebuilt = await world.plan(file("debian-12", reverting));
    expect(rebuilt.plan.diagnostics[0]?.detail).toContain("what is rebuilt or made anew has no way back");
    const both = await world.plan(file("debian-12", reverting, "m1.large"));
    expect(new Set(both.plan.steps.map(({ action }) => action.operation))).toContain("vm.resize.revert");
    expect(both.plan.diagnostics[0]?.detail).toContain("what is rebuilt or made anew has no way back");
    expect(both.plan.diagnostics[0]?.detail).not.toContain("goes back");
    world.setCapabilities({ without: ["vm.resize.revert"] });
    expect((await world.plan(large())).plan.diagnostics).toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining("no way to take a resize back") }),
    );
  });

  it.each<readonly [what: string, web: object, more: object]>([
    ["a VM with a check of its own", { lifecycle: { verify_resize: { check: { tcp: 22 } } } }, {}],
    ["a VM on which a command is run afterwards", { after_ready: { command: ["true"], again: "when_changed" } }, {}],
    [
      "a VM that is stopped for a flush afterwards",
      {},
      { volumes: { data: { for_each: 2, size: "GB", attach_to: "web[${each}]", flush: { via: "stop" } } } },
    ],
  ])("is checked once more where more is done than the resize: %s", async (_, web, more) => {
    const { world } = await stage();
    const of = (flavor: string, command: string, size: number) => {
      const text = JSON.stringify({
        ...{ version: 1, project: "acme", region: "in-west-1" },
        defaults: { vm: { owner: "o@acme.example", user_id: "1042", image_id: "ubuntu-24.04", size: 10 } },
        vms: { web: { for_each: 2, name: "two-${each}", flavor_id: flavor, ...web } },
        ...more,
        rollout: { web: { of: "vm.web", check: { tcp: 443 }, on_failure: "revert" } },
      });
      const given = text.replaceAll('"true"', `"${command}"`).replaceAll('"GB"', String(size));
      return readDesired([{ file: "reconcile.yaml", text: given }]).desired!;
    };
    await world.apply(await world.plan(of("m1.small", "true", 5)));
    const { plan } = await world.plan(of("m1.large", "false", 9));
    const [first] = plan.steps.filter(({ id }) => id.endsWith("/rollout-check"));
    expect(first?.action).toMatchObject({ check: { kind: "tcp", port: 443 } });
    const gate = plan.steps.find(({ id }) => id.endsWith("/wave-1"));
    expect(gate?.needs.map(({ step }) => step)).toContain(first?.id);
  });

  it("a volume that grows is flushed, comes off and goes back with the wave of its VM", async () => {
    const { world } = await stage();
    const of = (flavor: string, size: number) => {
      const flush = { via: "command", command: ["true"] };
      const text = JSON.stringify({
        ...{ version: 1, project: "acme", region: "in-west-1" },
        defaults: { vm: { owner: "o@acme.example", user_id: "1042", image_id: "ubuntu-24.04", size: 10 } },
        vms: { web: { for_each: 2, name: "two-${each}", flavor_id: flavor } },
        volumes: { data: { for_each: 2, size, attach_to: "web[${each}]", flush } },
        rollout: { web: { of: "vm.web", check: { tcp: 443 } } },
      });
      return readDesired([{ file: "reconcile.yaml", text }]).desired!;
    };
    await world.apply(await world.plan(of("m1.small", 5)));
    const { plan } = await world.plan(of("m1.large", 9));
    const needsOf = (id: string) => plan.steps.find((step) => step.id === id)?.needs.map(({ step }) => step) ?? [];
    const gate = "rollout web/wave-1";
    const acts = ["flush", "detach", "attach"];
    expect(acts.map((act) => needsOf(`volume.data[1]/${act}`).includes(gate))).toEqual([true, true, true]);
    expect(acts.map((act) => needsOf(`volume.data[0]/${act}`).includes(gate))).toEqual([false, false, false]);
    const check = needsOf("vm.web[0]/rollout-check");
    expect(acts.map((act) => check.includes(`volume.data[0]/${act}`))).toEqual([true, true, true]);
    expect(needsOf(gate)).toEqual(["vm.web[0]/rollout-check"]);
  });

  it("needs a check, and knows no third way", () => {
    expect(() => file("debian-12", { check: undefined, on_failure: "revert" })).toThrow("check is missing");
    expect(() => file("debian-12", { on_failure: "roll back" })).toThrow("on_failure cannot be");
  });

  it("killed at any request and write, ends with every VM confirmed or gone back, and converges", async () => {
    let well = false;
    const ailing = () => stage((_, vm) => well || vm !== "web-2");
    const undisturbed = await ailing();
    const counted = createMortal(undisturbed.world);
    await runOnce(undisturbed.world, counted, large());
    const moments = (["request", "write"] as const).flatMap((of) =>
      Array.from({ length: counted.counts[of] }, (_, index): Moment => ({ of, nth: index + 1, when: "after" })),
    );
    const problems: string[] = [];
    for (const moment of killedAt(moments)) {
      well = false;
      const { world, seen } = await ailing();
      const mortal = createMortal(world, moment);
      await Promise.race([runOnce(world, mortal, large()), mortal.death]);
      await runOnce(world, world, large());
      const said = `${moment.of} ${moment.nth}`;
      const stopped = flavorsOf(world).join(", ");
      if (/VERIFY|SHUTOFF/.test(stopped) || !stopped.includes("m1.small")) problems.push(`${said}: ${stopped}`);
      well = true;
      for (let runs = 0; runs < 3; runs++) await runOnce(world, world, large());
      const left = (await world.plan(large())).plan.steps.length;
      if (left > 0) problems.push(`${said}: ${left} steps are left`);
      if (seen.down > most) problems.push(`${said}: ${seen.down} were down together`);
      if (new Set(flavorsOf(world)).size !== 1) problems.push(`${said}: ${flavorsOf(world).join(", ")}`);
    }
    expect(problems).toEqual([]);
    console.log(`rolling resize of 12 VMs with a way back: ${killedAt(moments).length} kills`);
  });
});

it("reaches into components: their own max_unavailable, and a rollout over their blocks", () => {
  const component = `component: 1
parameters: { most: { type: number } }
vms: { web: { for_each: 4, name: "\${component}-\${each}", max_unavailable: "\${param.most}" }, api: { for_each: 2, name: "\${component}-api-\${each}" } }`;
  const text = `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
components: { shop: { from: ./tier.yaml, with: { most: 2 } } }
rollout: { apis: { of: [shop/vm.api], canary: 1 } }`;
  const open = () => ({ source: { file: "tier.yaml", text: component } });
  const { desired, diagnostics } = readDesired([{ file: "reconcile.yaml", text }], { open });
  expect(diagnostics).toEqual([]);
  expect(desired?.rollouts).toMatchObject([
    { name: "shop/vm.web", members: [0, 1, 2, 3].map((each) => `shop/vm.web[${each}]`), maxUnavailable: { count: 2 } },
    { name: "apis", members: ["shop/vm.api[0]", "shop/vm.api[1]"], canary: 1 },
  ]);
});

type World = Awaited<ReturnType<typeof stage>>["world"];

/** As apply does it: waits for what an interrupted run left in flight, plans on what it then sees, carries it out. */
async function runOnce(
  world: World,
  through: Pick<World, "client" | "store" | "clock"> | Mortal = world,
  desired = file("debian-12"),
): Promise<void> {
  const { client, store, clock } = through;
  await world.store.breakLock();
  const ports = { ...world.ports, client, clock };
  const on = { store, ports };
  await awaitOpenOn(on);
  await carryOutOn(on, await prepareOn(on, desired));
}
