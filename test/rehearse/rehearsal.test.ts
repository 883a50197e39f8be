import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { openEmulator } from "../../emulator";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import type { Dialect } from "../../reconciler/dialect/dialect";
import { defaultTiming } from "../../reconciler/engine/ports";
import { runWithBadLuck } from "../../reconciler/rehearse/chaos";
import { type Rehearsal, rehearse } from "../../reconciler/rehearse/rehearsal";
import type { TwinSetting } from "../../reconciler/rehearse/twin-run";
import { describeWorld, twinAmong } from "../../reconciler/rehearse/world-lines";
import { rehearsalText } from "../../reconciler/report/rehearsal-text";
import { type BenchOptions, type BenchWorld, desiredOf, dialectFor, startBenchWorld } from "../support/bench-world";
import { prepareOn } from "../support/engine-on";
import { keepSizes, type RandomWorld, randomWorld, yamlOf } from "../support/random-worlds";

const worlds: BenchWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function freshWorld(options: BenchOptions = {}): Promise<BenchWorld> {
  const world = await startBenchWorld(options);
  worlds.push(world);
  return world;
}

async function settingFor(
  world: BenchWorld,
  text: string,
  dialect: Dialect = builtInDialect,
  speed = 600,
  options: PlanOptions = {},
): Promise<TwinSetting> {
  const on = { ...world, lineage: "11111111-1111-4111-8111-111111111111" };
  const { discoveryWindowMs } = defaultTiming;
  const prepared = await prepareOn(on, desiredOf(text), { options, discoveryWindowMs });
  const [flavors, images, regions] = await Promise.all([
    world.client.listFlavors(),
    world.client.listImages(),
    world.client.listRegions(),
  ]);
  const acceptedValue = <T>(outcome: { status: string; value?: T }): T | undefined => outcome.value;
  return {
    prepared: {
      ...prepared,
      live: {
        ...prepared.live,
        catalogue: { flavors: acceptedValue(flavors), images: acceptedValue(images), regions: acceptedValue(regions) },
      },
    },
    stored: await world.store.read(),
    dialect,
    timing: defaultTiming,
    parallelism: 10,
    speed,
    newId: randomUUID,
  };
}

const quiet = new AbortController().signal;
const rehearseOn = async (world: BenchWorld, text: string, dialect?: Dialect): Promise<Rehearsal> =>
  rehearse(await settingFor(world, text, dialect), quiet);

const head = `version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: 00000000-0000-4000-8003-000000000001, flavor_id: m1.small, size: 10 } }
`;

/**
 * Disks that came with a VM keep its first name in the service, and have its present one in a twin; the platform's own
 * group is in no observation.
 */
const comparable = (lines: readonly string[]): string[] =>
  lines.filter((line) => !/^volume [a-z0-9-]+-(root|data): |^(group|rule of) default: /.test(line));

describe("a rehearsal", () => {
  it("tells timeline, downtime and end in the real service's time, though it takes a moment", async () => {
    const world = await freshWorld();
    const before = `${head}vms: { one: { name: one } }\nvolumes: { logs: { size: 10, attach_to: one, flush: { via: stop } } }\n`;
    await world.apply(desiredOf(before));
    const rehearsal = await rehearseOn(world, before.replace("size: 10, attach_to", "size: 30, attach_to"));
    expect(rehearsal.verdict).toBe("converged");
    expect(rehearsal.steps.map(({ operation, end }) => [operation, end])).toEqual(
      ["vm.stop", "volume.detach", "volume.resize", "volume.attach", "vm.start"].map((operation) => [
        operation,
        "done",
      ]),
    );
    // A stop takes about 20 seconds, by the contract.
    expect(rehearsal.downtimeMs["vm.one"]).toBeGreaterThan(20_000);
    expect(rehearsal.durationMs).toBeGreaterThanOrEqual(rehearsal.downtimeMs["vm.one"]!);
    expect(rehearsal.refusals).toEqual([]);
  });

  it("gives the twin the operations of the dialect and no others", async () => {
    const text = (port: number) =>
      `${head}groups: { front: { name: front, rules: [ { protocol: tcp, dst_port: ${port}, remote_ip: 10.0.0.0/8 } ] } }\n`;
    const operationsOn = async (options: { with?: string[] }): Promise<string[]> => {
      const dialect = dialectFor(options);
      const world = await freshWorld({ ...options, dialect });
      await world.apply(desiredOf(text(443)));
      const rehearsal = await rehearseOn(world, text(8443), dialect);
      expect(rehearsal.verdict).toBe("converged");
      expect(rehearsal.diagnostics).toEqual([]);
      return rehearsal.steps.map(({ operation }) => operation).sort();
    };
    expect(await operationsOn({ with: ["group.rule.delete"] })).toEqual(["group.rule.create", "group.rule.delete"]);
    expect(await operationsOn({})).toEqual(["group.create", "group.delete", "group.update"]);
  });

  it("waits where the real run would wait for a person, and says what for", async () => {
    const dialect = dialectFor({ without: ["vm.resize.confirm"] });
    const world = await freshWorld({ without: ["vm.resize.confirm"], dialect });
    await world.apply(desiredOf(`${head}vms: { one: { name: one } }\n`));
    const rehearsal = await rehearseOn(world, `${head}vms: { one: { name: one, flavor_id: m1.large } }\n`, dialect);
    expect(rehearsal.verdict).toBe("waits");
    expect(rehearsal.steps.filter(({ end }) => end === "waiting").map(({ address }) => address)).toContain("vm.one");
  });

  it("shows what the service would refuse: a retired group is still attached to VMs", async () => {
    const world = await freshWorld();
    const text = (port: number) =>
      `${head}groups: { front: { name: front, rules: [ { protocol: tcp, dst_port: ${port}, remote_ip: 10.0.0.0/8 } ] } }\nvms: { one: { name: one } }\n`;
    await world.apply(desiredOf(text(443)));
    const seen = world.emulator.dump();
    const front = seen.groups.find(({ name }) => name === "front")!.id;
    await world.emulator.load({ ...seen, vms: seen.vms.map((vm) => ({ ...vm, groups: [front] })) });
    await world.apply(desiredOf(text(8443)));
    const rehearsal = await rehearseOn(world, text(8443));
    expect(rehearsal.refusals.map(({ operation, condition }) => [operation, condition])).toEqual([
      ["group.delete", "group_attached"],
    ]);
    expect(rehearsal.verdict).toBe("waits");
  });

  it("has on its twin what the plan counts as there, and nothing that the plan makes anew", async () => {
    const everything = { with: ["volume.list", "group.list", "group.get"] };
    const dialect = dialectFor(everything);
    const world = await freshWorld({ ...everything, dialect });
    const text = (size: number): string =>
      `${head}vms: { one: { name: one } }\nvolumes: { logs: { size: ${size}, attach_to: one, flush: { via: stop } } }\n`;
    await world.apply(desiredOf(text(10)));
    // A VM that is so young that the list does not show it.
    world.emulator.setFaults([{ operation: "vm.list", kind: "stale-list", ms: 86_400_000 }]);
    const young = await rehearseOn(world, text(20), dialect);
    expect([young.verdict, young.refusals, young.diagnostics]).toEqual(["converged", [], []]);
    // An absence that counts once somebody says so: nothing of its kind shows.
    const bare = await freshWorld({ ...everything, dialect });
    await bare.apply(desiredOf(`${head}volumes: { logs: { size: 10 } }\n`));
    await bare.emulator.load({ ...bare.emulator.dump(), volumes: [] });
    const vanished = await rehearseOn(bare, `${head}volumes: { logs: { size: 10 } }\n`, dialect);
    expect(vanished.consents.map(({ kind }) => kind)).toEqual(["recreate"]);
    expect([vanished.verdict, vanished.refusals, vanished.diagnostics]).toEqual(["converged", [], []]);
  });

  it("takes an image that no list shows for granted where its id is written, and says so", async () => {
    const world = await freshWorld();
    const image = "11111111-1111-4111-8111-111111111111";
    const text = `${head}vms: { one: { name: one, image_id: ${image} } }\n`;
    const rehearsal = await rehearseOn(world, text);
    expect([rehearsal.verdict, rehearsal.refusals]).toEqual(["converged", []]);
    expect(rehearsal.assumptions.join("\n")).toContain(
      `what the list of images does not show exists, as a private image may: ${image}`,
    );
  });

  it("runs no command and no check of the user, and says which it took for granted", async () => {
    const world = await freshWorld({
      runCommand: async () => ({ exitCode: 0, output: "" }),
    });
    const text = (size: number) =>
      `${head}vms: { one: { name: one } }\nvolumes: { logs: { size: ${size}, attach_to: one, flush: { via: command, command: ["false", never] } } }\n`;
    await world.apply(desiredOf(text(10)));
    const rehearsal = await rehearseOn(world, text(20));
    expect(rehearsal.verdict).toBe("converged");
    expect(rehearsal.assumptions).toContain('the command "false never" is taken to succeed');
  });

  it("sends the real service reads alone and writes nothing into its state", async () => {
    const world = await freshWorld();
    await world.apply(desiredOf(`${head}vms: { one: { name: one } }\n`));
    const sent = world.emulator.requests().log.length;
    const { writes } = world.store;
    await rehearseOn(world, `${head}vms: { two: { name: two } }\ngroups: { front: { name: front, rules: [] } }\n`);
    const since = world.emulator.requests().log.slice(sent);
    expect(since.length).toBeGreaterThan(0);
    expect(since.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(world.store.writes).toBe(writes);
  });

  const runs = Number(process.env["REHEARSED_WORLDS"] ?? 5);
  it(`ends in the world that the real run ends in (${runs} sequences of edits)`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(randomWorld, { minLength: 2, maxLength: 3 }), async (sequence) => {
        const world = await startBenchWorld();
        try {
          let before: RandomWorld = { vms: {}, volumes: {}, groups: {} };
          for (const raw of sequence) {
            const after = keepSizes(before, raw);
            const rehearsal = await rehearse(await settingFor(world, yamlOf(after), builtInDialect, 1000), quiet);
            expect(rehearsal.diagnostics).toEqual([]);
            expect(rehearsal.verdict).toBe("converged");
            await world.apply(desiredOf(yamlOf(after)));
            expect(comparable(rehearsal.world)).toEqual(comparable(describeWorld(world.emulator.dump())));
            before = after;
          }
        } finally {
          await world.close();
        }
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});

it("tells of more steps than there is room for those that did not come to their end", () => {
  const step = (n: number, more: Partial<Rehearsal["steps"][number]> = {}): Rehearsal["steps"][number] => ({
    ...{ step: `s${n}`, address: `vm.web[${n}]`, operation: "vm.create", title: `create web-${n}`, end: "done" },
    ...{ startMs: n, endMs: n + 1, waitedMs: 0 },
    ...more,
  });
  const { startMs: _, endMs: __, ...never } = step(250, { end: "skipped", message: "web-240 failed" });
  const steps = [...Array.from({ length: 250 }, (_, n) => step(n, n === 240 ? { end: "failed" } : {})), never];
  const empty = { durationMs: 0, downtimeMs: {}, refusals: [], consents: [], assumptions: [], owed: [] };
  const end = { remaining: [], diagnostics: [], verdict: "failed", world: [] } as const;
  const text = rehearsalText({ ...empty, ...end, steps }, { downtimeMs: {} });
  expect(text).toContain("create web-240\n");
  expect(text).toContain("skipped: web-240 failed");
  expect(text).toContain("  and 51 more steps, 51 of them done (--json shows all)");
  expect(text.match(/create web-/g)).toHaveLength(200);
});

describe("chaos", () => {
  const before = `${head}vms: { one: { name: one }, two: { name: two } }
volumes: { logs: { size: 10, attach_to: one } }
groups: { front: { name: front, rules: [ { protocol: tcp, dst_port: 443 } ] } }
`;
  const after = `${head}vms: { one: { name: one, flavor_id: m1.large }, three: { name: three } }
volumes: { logs: { size: 20, attach_to: one }, more: { name: more, size: 5, attach_to: three } }
groups: { front: { name: front, rules: [ { protocol: tcp, dst_port: 8443 } ] } }
`;
  const trials = Number(process.env["CHAOS_TRIALS"] ?? 6);
  it(`ends every time in the world of the calm run, whatever was lost or killed (${trials} seeds)`, async () => {
    const world = await freshWorld();
    await world.apply(desiredOf(before));
    const setting = await settingFor(world, after);
    const calm = await rehearse(setting, quiet);
    expect(calm.verdict).toBe("converged");
    const ended = [];
    for (let seed = 1; seed <= trials; seed++) ended.push(await runWithBadLuck(setting, calm, seed));
    expect(ended.filter(({ ok }) => !ok)).toEqual([]);
    expect(ended.some(({ kills }) => kills > 0)).toBe(true);
    expect(ended.some(({ faults }) => faults.length > 0)).toBe(true);
  });

  it.each([
    ["all", ["volume.logs"]],
    ["some", ["volume.logs", "group.front"]],
  ])("and the calm run know that %s of the targets are gone after them", async (_, targets) => {
    const world = await freshWorld();
    await world.apply(desiredOf(before));
    const text = before.replace(/volumes: .*\n/, "").replace("dst_port: 443", "dst_port: 8443");
    const setting = await settingFor(world, text, builtInDialect, 600, { targets });
    const calm = await rehearse(setting, quiet);
    expect([calm.verdict, calm.diagnostics, calm.remaining]).toEqual(["converged", [], []]);
    for (const seed of [1, 2]) expect(await runWithBadLuck(setting, calm, seed)).toMatchObject({ problems: [] });
  });

  it("sees a world that is not the calm run's", async () => {
    const world = await freshWorld();
    const setting = await settingFor(world, before);
    const calm = await rehearse(setting, quiet);
    const other = { ...calm, world: [...calm.world, "vm ghost: ACTIVE"] };
    const trial = await runWithBadLuck(setting, other, 1);
    expect(trial.ok).toBe(false);
    expect(trial.problems).toEqual(["missing: vm ghost: ACTIVE"]);
  });
});

it("names what a world has twice, and takes the rules of a group for no twins", async () => {
  const { dump, close } = await openEmulator({
    seed: { vms: [{ name: "web" }], groups: [{ name: "web", description: "of all" }] },
  });
  const world = dump();
  await close();
  const lines = describeWorld(world);
  const more = world.groups.filter(({ name }) => name === "web");
  expect(twinAmong(lines, lines)).toBe(undefined);
  expect(twinAmong(describeWorld({ ...world, vms: [...world.vms, ...world.vms] }), lines)).toBe("vm web");
  expect(twinAmong(describeWorld({ ...world, groups: [...world.groups, ...more] }), lines)).toBe("group web");
});
