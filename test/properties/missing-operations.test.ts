import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assumedOperations, rowOf } from "../../reconciler/core/model/operation";
import { type BenchOptions, type BenchWorld, desiredOf, dialectFor, startBenchWorld } from "../support/bench-world";
import { inVirtualTime } from "../support/in-memory";
import { keepSizes, type RandomWorld, randomWorld, yamlOf } from "../support/random-worlds";

/** Sequences for each operation that a service may lack; RANDOM_WORLDS says how many. */
const runs = Math.ceil(Number(process.env["RANDOM_WORLDS"] ?? 50) / 5);

const nothing: RandomWorld = { vms: {}, volumes: {}, groups: {} };

/** Ids in place of names, because without a list of images no name can be resolved. */
const byImageId = (yaml: string): string =>
  yaml
    .replaceAll("ubuntu-24.04", "00000000-0000-4000-8003-000000000001")
    .replaceAll("debian-12", "00000000-0000-4000-8003-000000000003");

async function usedBy(options: BenchOptions, use: (world: BenchWorld) => Promise<void>): Promise<void> {
  const world = await startBenchWorld({ ...options, dialect: dialectFor(options) });
  try {
    await use(world);
  } finally {
    await world.close();
  }
}

const withWorld = (without: readonly string[], use: (world: BenchWorld) => Promise<void>): Promise<void> =>
  inVirtualTime(() => usedBy({ without, reach: "here" }, use));

const sequences = fc.array(randomWorld, { minLength: 2, maxLength: 3 });

const rule = { direction: "ingress", protocol: "tcp", dst_port: 22 } as const;

/** A rule that nobody declares any more names a group that is replaced. */
const followed: RandomWorld[] = [
  {
    ...nothing,
    groups: {
      back: { name: "group-back", rules: [{ ...rule, remote_group: "admin" }] },
      admin: { name: "group-admin", rules: [{ ...rule, remote_ip: "0.0.0.0/0" }] },
    },
  },
  {
    ...nothing,
    groups: {
      back: { name: "group-back", rules_mode: "additive", rules: [] },
      admin: { name: "group-admin", rules: [] },
    },
  },
];

describe("a service that lacks one operation", () => {
  it.each(["volume.delete", "flavor.list", "image.list", "region.list"])(
    "%s: every edit still converges in one apply",
    async (operation) => {
      await fc.assert(
        fc.asyncProperty(sequences, (sequence) =>
          withWorld([operation], async (world) => {
            let before = nothing;
            for (const raw of sequence) {
              const wanted = keepSizes(before, raw);
              const desired = desiredOf(byImageId(yamlOf(wanted)));
              const { plan, report } = await world.apply(desired);
              expect(plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
              expect(
                report?.steps
                  .filter(({ result }) => result.end !== "done")
                  .map(({ step, result }) => [step.id, result]) ?? [],
              ).toEqual([]);
              expect(world.refusals()).toEqual([]);
              const again = await world.apply(desired);
              expect([again.plan.changes, again.plan.bookkeeping]).toEqual([[], []]);
              before = wanted;
            }
          }),
        ),
        { numRuns: runs, examples: [[followed]] },
      );
    },
  );

  it("volume.delete: what cannot be deleted is an orphan, and none is forgotten", async () => {
    await fc.assert(
      fc.asyncProperty(randomWorld, (first) =>
        withWorld(["volume.delete"], async (world) => {
          await world.apply(desiredOf(yamlOf(first)));
          await world.apply(desiredOf(yamlOf(nothing)));
          const left = world.emulator.dump().volumes.filter(({ root }) => root !== true);
          const known = (await world.plan(desiredOf(yamlOf(nothing)))).orphans;
          expect(new Set(known.map(({ id }) => id))).toEqual(new Set(left.map(({ id }) => id)));
        }),
      ),
      { numRuns: runs },
    );
  });

  it("vm.resize.confirm: a resize waits, and after somebody confirmed it everything converges", async () => {
    await fc.assert(
      fc.asyncProperty(sequences, (sequence) =>
        usedBy({ without: ["vm.resize.confirm", "vm.resize.revert"] }, async (world) => {
          let before = nothing;
          for (const raw of sequence) {
            const wanted = keepSizes(before, raw);
            const desired = desiredOf(yamlOf(wanted));
            let end = await world.apply(desired);
            for (let round = 0; round < 3 && end.report !== undefined && end.report.counts.waiting > 0; round++) {
              expect(end.report.counts.failed).toBe(0);
              for (const vm of world.emulator.dump().vms.filter(({ status }) => status === "VERIFY_RESIZE"))
                await world.control("PATCH", `/vm/${vm.id}`, { status: "ACTIVE" });
              end = await world.apply(desired);
            }
            expect(end.report?.counts ?? { waiting: 0, failed: 0, skipped: 0 }).toMatchObject({
              waiting: 0,
              failed: 0,
              skipped: 0,
            });
            expect((await world.plan(desired)).changes).toEqual([]);
            before = wanted;
          }
        }),
      ),
      { numRuns: runs },
    );
  });

  it("everything undocumented: VMs are created once and wait for their id; with it, the rest follows", async () => {
    const without = assumedOperations.filter((operation) => rowOf(operation).assumed?.builtIn === true);
    await fc.assert(
      fc.asyncProperty(randomWorld, (wanted) =>
        withWorld(without, async (world) => {
          const desired = desiredOf(byImageId(yamlOf(wanted)));
          const first = await world.apply(desired);
          expect(first.report?.counts.failed ?? 0).toBe(0);
          const count = Object.keys(wanted.vms).length;
          const waiting =
            first.report?.steps.filter(
              ({ step, result }) => step.action.operation === "vm.create" && result.end === "waiting",
            ) ?? [];
          expect(waiting).toHaveLength(count);
          await world.apply(desired);
          expect(world.emulator.dump().vms).toHaveLength(count);
          expect(world.refusals()).toEqual([]);
        }),
      ),
      { numRuns: runs },
    );
  });
});
