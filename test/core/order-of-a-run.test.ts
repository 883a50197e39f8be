/** Which steps start when, what ends with a step that failed, and which of them a run took its time for. */
import { describe, expect, it } from "vitest";
import { type Need, need, type Step, type StepId } from "../../reconciler/core/plan/step";
import { criticalPath, type Timed } from "../../reconciler/core/schedule/critical-path";
import { createScheduler, type Ended, type StepEnd } from "../../reconciler/core/schedule/scheduler";

const step = (name: string, needs: readonly Need[] = [], more: Partial<Step> = {}): Step => ({
  id: idOf(name),
  address: "vm.a",
  action: { operation: "record", changes: [] },
  title: name,
  needs,
  holds: [],
  estimateMs: 10,
  ...more,
});
const idOf = (name: string): StepId => `x/${name}`;
const on = (name: string, how?: Need["on"]): Need => need(idOf(name), how);
const nameOf = ({ id }: { readonly id: string }): string => id.slice(2);
const ends = (ended: readonly Ended[]): string[] =>
  ended.map(
    ({ step: one, end, because }) => `${nameOf(one)} ${end}${because === undefined ? "" : ` by ${because.slice(2)}`}`,
  );

describe("what becomes of a step when the one that it needs has ended", () => {
  it.each<[how: Need["on"], end: StepEnd, becomes: string]>([
    ["done", "done", "starts"],
    ["done", "failed", "skipped"],
    ["done", "unknown", "skipped"],
    ["done", "skipped", "skipped"],
    ["done", "waiting", "waiting"],
    ["done", "unneeded", "unneeded"],
    ["end", "done", "starts"],
    ["end", "failed", "starts"],
    ["end", "unknown", "starts"],
    ["end", "skipped", "starts"],
    ["end", "unneeded", "starts"],
    ["end", "waiting", "waiting"],
    ["failed", "failed", "starts"],
    ["failed", "done", "unneeded"],
    ["failed", "unknown", "unneeded"],
    ["failed", "waiting", "unneeded"],
  ])("needs its %s, which is %s: %s", (how, end, becomes) => {
    const scheduler = createScheduler([step("a"), step("b", [on("a", how)])]);
    expect(scheduler.next().map(nameOf)).toEqual(["a"]);
    const ended = ends(scheduler.finish(idOf("a"), end));
    const started = scheduler.next().map(nameOf);
    expect([ended, started]).toEqual(becomes === "starts" ? [[], ["b"]] : [[`b ${becomes} by a`], []]);
  });

  it("those behind it end with it, each by one before it, and each once", () => {
    const scheduler = createScheduler([
      step("a"),
      step("b", [on("a")]),
      step("c", [on("b")]),
      step("d", [on("b"), on("c")]),
      step("e", [on("d", "end")]),
    ]);
    scheduler.next();
    expect(ends(scheduler.finish(idOf("a"), "failed")).sort()).toEqual([
      "b skipped by a",
      "c skipped by b",
      "d skipped by b",
    ]);
    expect(scheduler.next().map(nameOf)).toEqual(["e"]);
  });
  it("one that runs already is not taken back, and one that has ended does not end again", () => {
    const scheduler = createScheduler([step("a"), step("b"), step("c", [on("a"), on("b")])]);
    expect(scheduler.next()).toHaveLength(2);
    expect(ends(scheduler.finish(idOf("a"), "failed"))).toEqual(["c skipped by a"]);
    expect(ends(scheduler.finish(idOf("b"), "failed"))).toEqual([]);
    expect(ends(scheduler.finish(idOf("b"), "failed"))).toEqual([]);
  });
  it("one that needs two starts when both are done, and not before", () => {
    const scheduler = createScheduler([step("a"), step("b"), step("c", [on("a"), on("b")])]);
    scheduler.next();
    scheduler.finish(idOf("a"), "done");
    expect(scheduler.next()).toEqual([]);
    scheduler.finish(idOf("b"), "done");
    expect(scheduler.next().map(nameOf)).toEqual(["c"]);
  });
  it("a need of what is not in the plan is met", () =>
    expect(
      createScheduler([step("a", [on("elsewhere")])])
        .next()
        .map(nameOf),
    ).toEqual(["a"]));
});

describe("which start first", () => {
  it("those with the longest way to the end", () => {
    const scheduler = createScheduler([
      step("short", [], { estimateMs: 25 }),
      step("long"),
      step("behind", [on("long")], { estimateMs: 20 }),
      step("beside", [on("long")], { estimateMs: 5 }),
    ]);
    expect(scheduler.next().map(nameOf)).toEqual(["long", "short"]);
    expect(["short", "long", "behind"].map((name) => scheduler.pathMs(idOf(name)))).toEqual([25, 30, 20]);
  });
  it("of two that hold one thing the second waits until it is let go, and others do not", () => {
    const scheduler = createScheduler([
      step("a", [], { holds: ["disk"], estimateMs: 30 }),
      step("b", [], { holds: ["disk"], estimateMs: 20 }),
      step("c", [], { holds: ["other"] }),
      step("d", [], { holds: ["disk", "other"], estimateMs: 5 }),
    ]);
    expect(scheduler.next().map(nameOf)).toEqual(["a", "c"]);
    scheduler.finish(idOf("c"), "done");
    expect(scheduler.next()).toEqual([]);
    scheduler.finish(idOf("a"), "done");
    expect(scheduler.next().map(nameOf)).toEqual(["b"]);
    scheduler.finish(idOf("b"), "failed");
    expect(scheduler.next().map(nameOf)).toEqual(["d"]);
  });
  it("one that waited for a thing and was skipped meanwhile does not start when that is let go", () => {
    const scheduler = createScheduler([
      step("a", [], { holds: ["disk"], estimateMs: 30 }),
      step("b", [], { holds: ["disk"] }),
    ]);
    scheduler.next();
    expect(ends(scheduler.stop())).toEqual(["b skipped"]);
    scheduler.finish(idOf("a"), "done");
    expect(scheduler.next()).toEqual([]);
  });
  it("nothing once it was stopped: what runs ends, and what it would have let start is skipped", () => {
    const scheduler = createScheduler([step("a"), step("b", [on("a")]), step("c", [on("b")])]);
    scheduler.next();
    expect(ends(scheduler.stop())).toEqual(["b skipped", "c skipped"]);
    expect(ends(scheduler.finish(idOf("a"), "failed"))).toEqual([]);
    expect(scheduler.next()).toEqual([]);
  });
});

describe("one at a time", () => {
  it("begins nothing beside a step that runs", () => {
    const scheduler = createScheduler([step("a"), step("b")], true);
    expect(scheduler.next().map(nameOf)).toEqual(["a"]);
    expect(scheduler.next()).toEqual([]);
    scheduler.finish(idOf("a"), "done");
    expect(scheduler.next().map(nameOf)).toEqual(["b"]);
  });
  it("finishes what was begun before anything that takes longer", () => {
    const scheduler = createScheduler(
      [
        step("a", [], { estimateMs: 40 }),
        step("then", [on("a")], { estimateMs: 1 }),
        step("b", [], { estimateMs: 39 }),
      ],
      true,
    );
    const order: string[] = [];
    for (let [one] = scheduler.next(); one !== undefined; [one] = scheduler.next()) {
      order.push(nameOf(one));
      scheduler.finish(one.id, "done");
    }
    expect(order).toEqual(["a", "then", "b"]);
  });
  it("a step that was skipped does not count as one that runs", () => {
    const scheduler = createScheduler([step("a"), step("b", [on("a")]), step("c")], true);
    scheduler.next();
    scheduler.finish(idOf("a"), "failed");
    expect(scheduler.next().map(nameOf)).toEqual(["c"]);
  });
});

describe("the steps that a run took its time for", () => {
  const timed = (
    name: string,
    startedAt: number,
    endedAt: number,
    needs: readonly string[] = [],
    holds: readonly string[] = [],
  ): Timed => ({
    step: step(
      name,
      needs.map((one) => on(one)),
      { holds: [...holds] },
    ),
    startedAt,
    endedAt,
  });
  it.each<[what: string, steps: readonly Timed[], path: readonly string[]]>([
    ["none", [], []],
    ["the one that ended last", [timed("a", 0, 5), timed("b", 0, 9), timed("c", 0, 7)], ["b"]],
    ["the first of two that ended at once", [timed("a", 0, 9), timed("b", 0, 9)], ["a"]],
    [
      "back to what each had waited for, the latest of them",
      [timed("a", 0, 3), timed("b", 0, 5), timed("c", 5, 9, ["a", "b"])],
      ["b", "c"],
    ],
    ["what it needed and did not wait for is left out", [timed("a", 0, 5), timed("b", 4, 9, ["a"])], ["b"]],
    ["what ended just then is what it waited for", [timed("a", 0, 4), timed("b", 4, 9, ["a"])], ["a", "b"]],
    [
      "what held the same thing before it",
      [timed("a", 0, 4, [], ["disk"]), timed("b", 4, 9, [], ["disk"])],
      ["a", "b"],
    ],
    [
      "what held another thing does not count",
      [timed("a", 0, 4, [], ["disk"]), timed("b", 4, 9, [], ["other"])],
      ["b"],
    ],
    ["what it needed and nobody timed is left out", [timed("b", 4, 9, ["a"])], ["b"]],
    [
      "steps of no length that hold one thing, each once",
      [timed("a", 4, 4, [], ["disk"]), timed("b", 4, 4, [], ["disk"])],
      ["b", "a"],
    ],
  ])("%s", (_, steps, path) => expect(criticalPath(steps).map((one) => nameOf(one.step))).toEqual(path));
});
