import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeTraffic } from "../../reconciler/kinds/group/exposure/describe";
import { exposureOf } from "../../reconciler/kinds/group/exposure/exposure";
import { desiredOf, dialectFor, startBenchWorld } from "../support/bench-world";
import { prepareOn } from "../support/engine-on";
import { inVirtualTime } from "../support/in-memory";
import { randomWorld, yamlOf } from "../support/random-worlds";

const runs = Number(process.env["RANDOM_WORLDS"] ?? 15);
const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];

describe.each([
  ["rules that can only be removed by replacing the group", {}],
  ["rules that can be removed one by one", { with: everything }],
])("the exposure of a plan, with %s", (_, capabilities: { with?: string[] }) => {
  it(`what a plan says will be admitted is what is admitted afterwards, and no moment between needs a word (${runs} sequences)`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(randomWorld, { minLength: 2, maxLength: 3 }), (sequence) =>
        inVirtualTime(async () => {
          const world = await startBenchWorld({ ...capabilities, reach: "here", dialect: dialectFor(capabilities) });
          const lineage = randomUUID();
          try {
            for (const wanted of sequence) {
              const desired = desiredOf(yamlOf({ vms: {}, volumes: {}, groups: wanted.groups }));
              const prepare = () => prepareOn({ ...world, lineage }, desired);
              const planned = exposureOf(await prepare());
              const violations = planned.groups.flatMap(({ address, violations = [] }) =>
                violations.map(({ step, admits }) => [address, step, admits]),
              );
              expect(violations).toEqual([]);
              await world.apply(desired);
              const seen = new Map(exposureOf(await prepare()).groups.map((group) => [group.address, group]));
              for (const { address, ingress, egress } of planned.groups) {
                if (!desired.resources.some((resource) => resource.address === address)) continue;
                expect(describeTraffic(seen.get(address)!.ingress.before)).toEqual(describeTraffic(ingress.after));
                // A service opens the way out of a new group by itself, which no plan can know.
                if (egress.before.size > 0)
                  expect(describeTraffic(seen.get(address)!.egress.before)).toEqual(describeTraffic(egress.after));
              }
            }
          } finally {
            await world.close();
          }
        }),
      ),
      { numRuns: runs, endOnFailure: true },
    );
  });
});
