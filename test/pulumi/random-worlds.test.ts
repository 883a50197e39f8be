import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partsOf } from "../../reconciler/one/parts";
import { type BenchWorld, desiredOf, dialectFor, startBenchWorld } from "../support/bench-world";
import { createHandlerProgram, type HandlerProgram } from "../support/handler-program";
import { comparableWorld, keepSizes, type RandomWorld, randomWorld, yamlOf } from "../support/random-worlds";

/** Every sequence runs through the real engine and the emulator twice; RANDOM_WORLDS says how many. */
const runs = Number(process.env["RANDOM_WORLDS"] ?? 6);
const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];

describe.each([
  ["a service that has every operation", { with: everything }, true],
  ["the built-in dialect", {}, false],
] as const)("the same worlds through single resources, with %s", (_, capabilities, crossing) => {
  it(`end as they do through reconcile apply, and a second run does nothing (${runs} sequences)`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(randomWorld, { minLength: 2, maxLength: 3 }), async (sequence) => {
        const options = { ...capabilities, dialect: dialectFor(capabilities) };
        const [whole, single] = [await startBenchWorld(options), await startBenchWorld(options)];
        try {
          const program = createHandlerProgram(single);
          let before: RandomWorld = { vms: {}, volumes: {}, groups: {} };
          for (const raw of sequence) {
            const after = keepOthers(
              before,
              keepSizes(before, withSteadyNames(crossing ? withoutAdditive(raw) : withoutCrossings(raw))),
            );
            await reconcileBoth(whole, single, program, after);
            before = after;
          }
        } finally {
          await whole.close();
          await single.close();
        }
      }),
      { numRuns: runs, endOnFailure: false },
    );
  });
});

async function reconcileBoth(whole: BenchWorld, single: BenchWorld, program: HandlerProgram, world: RandomWorld) {
  const desired = desiredOf(yamlOf(world));
  const { plan } = await whole.apply(desired);
  expect(plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const parts = partsOf(desired).map((part) =>
    part.type === "SecurityGroup" || part.type === "SecurityGroupRule"
      ? part
      : { ...part, inputs: { ...part.inputs, flushConfirmed: true } },
  );
  await program.up(parts);
  // A rule that moved into its group is deleted with its old resource; a refresh sees it, as it would anybody's change.
  await program.refresh();
  await program.up(parts);
  expect(await program.up(parts)).toEqual([]);
  const powered = new Set(Object.values(world.vms).flatMap(({ name, power }) => (power === undefined ? [] : [name])));
  expect(comparableWorld(single.emulator.dump(), powered)).toEqual(comparableWorld(whole.emulator.dump(), powered));
}

/** Two resources that swap their names are one plan for the engine, and no program can say it. */
const withSteadyNames = (world: RandomWorld): RandomWorld => ({
  ...world,
  vms: mapEntries(world.vms, (vm, key) => ({ ...vm, name: `vm-${key}` })),
  groups: mapEntries(world.groups, (group, key) => ({ ...group, name: `group-${key}` })),
});

/**
 * What is done when a VM is deleted is decided by its last update: a program that changes the policy and replaces the
 * VM at once gets the old policy, a plan over a file the new one.
 */
const keepOthers = (before: RandomWorld, after: RandomWorld): RandomWorld => ({
  ...after,
  // A description that a program leaves out is emptied, and one that a file leaves out is not managed any more.
  groups: mapEntries(after.groups, (group, key) => {
    const description = group.description ?? before.groups[key]?.description;
    return description === undefined ? group : { ...group, description };
  }),
  vms: mapEntries(after.vms, ({ lifecycle, ...vm }, key) => {
    const old = before.vms[key];
    const kept = old === undefined ? lifecycle : old.lifecycle;
    return kept === undefined ? vm : { ...vm, lifecycle: kept };
  }),
});

/** A rule that is a resource of its own goes with it; one that an additive group no longer declares stays. */
const withoutAdditive = (world: RandomWorld): RandomWorld => ({
  ...world,
  groups: mapEntries(world.groups, ({ rules_mode: _mode, ...group }) => group),
});

const withoutCrossings = (world: RandomWorld): RandomWorld => ({
  ...world,
  groups: mapEntries(world.groups, (group) => ({
    ...group,
    rules: group.rules.filter((rule) => !("remote_group" in rule)),
  })),
});

const mapEntries = <T>(items: Readonly<Record<string, T>>, map: (item: T, key: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(items).map(([key, item]) => [key, map(item, key)]));
