import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BenchWorld, desiredOf, dialectFor, startBenchWorld } from "../support/bench-world";
import { keepSizes, type RandomWorld, randomWorld, yamlOf } from "../support/random-worlds";

/**
 * Every pair runs through the real engine and the emulator, over HTTP and from text. `check` takes few: many worlds go
 * through the same engine in converge-in-process. RANDOM_WORLDS says how many.
 */
const runs = Number(process.env["RANDOM_WORLDS"] ?? 20);

const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];

describe.each([
  ["the built-in dialect", {}],
  ["a service that has every operation", { with: everything }],
])("any edit converges in one apply, with %s", (_, capabilities: { with?: string[] }) => {
  it(`plan, apply, plan again is empty; no call is refused and a second run writes nothing (${runs} sequences)`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(randomWorld, { minLength: 2, maxLength: 4 }), async (sequence) => {
        const world = await startBenchWorld({ ...capabilities, reach: "http", dialect: dialectFor(capabilities) });
        try {
          let before: RandomWorld = { vms: {}, volumes: {}, groups: {} };
          for (const raw of sequence) {
            const after = keepSizes(before, raw);
            await convergeTo(world, after);
            before = after;
          }
        } finally {
          await world.close();
        }
      }),
      { numRuns: runs, endOnFailure: false },
    );
  });
});

async function convergeTo(world: BenchWorld, wanted: RandomWorld): Promise<void> {
  const desired = desiredOf(yamlOf(wanted));
  const { plan, report } = await world.apply(desired);
  expect(plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(
    report?.steps.filter(({ result }) => result.end !== "done").map(({ step, result }) => [step.id, result]) ?? [],
  ).toEqual([]);
  expect(world.refusals()).toEqual([]);
  const writes = world.store.writes;
  const again = await world.apply(desired);
  expect(again.plan.changes).toEqual([]);
  expect(again.plan.bookkeeping).toEqual([]);
  expect(again.plan.steps).toEqual([]);
  expect(world.store.writes).toBe(writes);
}
