/** The scheduler as a reducer: any graph, any way for its steps to end, any moment to stop. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Need, Step, StepId } from "../../reconciler/core/plan/step";
import { createScheduler, type StepEnd } from "../../reconciler/core/schedule/scheduler";
import { runs } from "./random-desired";

const graph: fc.Arbitrary<Step[]> = fc
  .array(
    fc.record({
      needs: fc.array(fc.tuple(fc.nat(), fc.constantFrom("done", "done", "end", "failed")), { maxLength: 3 }),
      holds: fc.subarray(["vm:a", "vm:b", "volume:c"]),
      estimateMs: fc.nat(100),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((nodes) =>
    nodes.map(
      ({ needs, holds, estimateMs }, index): Step => ({
        id: `s/${index}`,
        address: `vm.s${index}`,
        action: { operation: "record", changes: [] },
        title: "",
        needs: index === 0 ? [] : needs.map(([to, on]): Need => ({ step: `s/${to % index}`, on: on as Need["on"] })),
        holds,
        estimateMs,
      }),
    ),
  );
const ends: fc.Arbitrary<StepEnd[]> = fc.array(
  fc.constantFrom("done", "done", "done", "failed", "unknown", "waiting"),
  { minLength: 20, maxLength: 20 },
);

function met(need: Need, end: StepEnd | undefined): boolean {
  if (end === undefined) return false;
  if (need.on === "done") return end === "done";
  if (need.on === "failed") return end === "failed";
  return end !== "waiting";
}

describe("scheduler", () => {
  it("starts a step only when its needs are met and nobody holds what it holds, and always comes to an end", () => {
    fc.assert(
      fc.property(
        graph,
        ends,
        fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
        fc.option(fc.nat(20), { nil: undefined }),
        (steps, outcomes, choices, stopAt) => {
          const scheduler = createScheduler(steps);
          const running: Step[] = [];
          const ended = new Map<string, StepEnd>();
          const note = (id: string, end: StepEnd): void => {
            expect(ended.has(id), `${id} ends twice`).toBe(false);
            ended.set(id, end);
          };
          let started = 0;
          let stopped = false;
          for (let turn = 0; turn < 200; turn++) {
            if (stopAt === turn) {
              stopped = true;
              for (const { step, end } of scheduler.stop()) note(step.id, end);
            }
            const next = scheduler.next();
            if (stopped) expect(next).toEqual([]);
            for (const step of next) {
              for (const need of step.needs)
                expect(met(need, ended.get(need.step)), `${step.id} before ${need.step}`).toBe(true);
              const held = new Set(running.flatMap((other) => other.holds));
              expect(step.holds.filter((resource) => held.has(resource))).toEqual([]);
              running.push(step);
            }
            if (running.length === 0) break;
            const [step] = running.splice(choices[turn % choices.length]! % running.length, 1);
            const end = outcomes[started++ % outcomes.length]!;
            note(step!.id, end);
            for (const result of scheduler.finish(step!.id, end)) note(result.step.id, result.end);
          }
          expect(running).toEqual([]);
          expect([...ended.keys()].sort()).toEqual(steps.map((step) => step.id).sort());
        },
      ),
      runs(1000),
    );
  });

  it("gives the longest way to the end first", () => {
    const step = (id: StepId, estimateMs: number, needs: StepId[] = []): Step => ({
      id,
      address: "vm.a",
      action: { operation: "record", changes: [] },
      title: "",
      needs: needs.map((before) => ({ step: before, on: "done" })),
      holds: [],
      estimateMs,
    });
    const scheduler = createScheduler([step("x/short", 5), step("x/long", 1), step("x/after-long", 50, ["x/long"])]);
    expect(scheduler.next().map(({ id }) => id)).toEqual(["x/long", "x/short"]);
    expect(["x/long", "x/short"].map((id) => scheduler.pathMs(id))).toEqual([51, 5]);
  });
});
