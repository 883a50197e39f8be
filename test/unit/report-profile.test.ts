/** A profile follows the rules of the Trace Event Format, and its critical path is what the run waited for. */
import { describe, expect, it } from "vitest";
import type { Step } from "../../reconciler/core/plan/step";
import { criticalPath } from "../../reconciler/core/schedule/critical-path";
import { type ProfiledSpan, traceOf } from "../../reconciler/report/profile";

const step = (id: string, needs: readonly string[] = [], holds: readonly string[] = []): Step =>
  ({
    id,
    address: id.slice(0, id.indexOf("/")),
    title: `do ${id}`,
    action: { operation: "record", changes: [] },
    needs: needs.map((need) => ({ step: need, on: "done" })),
    holds,
    estimateMs: 0,
  }) as unknown as Step;
const timed = (one: Step, startedAt: number, endedAt: number) => ({ step: one, startedAt, endedAt });
const ran = (one: Step, startedAt: number, endedAt: number) => ({
  ...timed(one, startedAt, endedAt),
  result: { end: "done" as const },
  waitedMs: 0,
});
const request = (operation: string, startMs: number, endMs: number, of?: string): ProfiledSpan => ({
  name: `GET ${operation}`,
  startMs,
  endMs,
  attributes: { "reconcile.operation": operation },
  isRequest: true,
  ...(of === undefined ? {} : { step: of }),
});

describe("the critical path", () => {
  it("goes back through what each step needed, or waited for to be let go", () => {
    const create = timed(step("vm.a/create"), 0, 60);
    const other = timed(step("vm.b/create"), 0, 50);
    const volume = timed(step("volume.d/create"), 0, 5);
    const first = timed(step("volume.d/attach", ["vm.a/create", "volume.d/create"], ["vm:a"]), 61, 70);
    const second = timed(step("volume.e/attach", ["vm.a/create"], ["vm:a"]), 71, 80);
    const path = criticalPath([create, other, volume, first, second]);
    expect(path.map(({ step: { id } }) => id)).toEqual(["vm.a/create", "volume.d/attach", "volume.e/attach"]);
  });
});

describe("a profile", () => {
  const create = step("vm.a/create");
  const attach = step("volume.d/attach", ["vm.a/create"]);
  const { traceEvents, otherData } = traceOf({
    command: "apply",
    version: "1",
    spans: [
      { name: "reconcile apply", startMs: 1000, endMs: 1100, attributes: {}, isRequest: false },
      request("vm.list", 1001.2, 1003),
      request("image.list", 1002, 1004.7),
      request("vm.create", 1010.4, 1020, "vm.a/create"),
      request("vm.get", 1050, 1060, "vm.a/create"),
      // Two at a time, in one step.
      request("volume.attach", 1072, 1080.1, "volume.d/attach"),
      request("volume.get", 1075, 1085, "volume.d/attach"),
    ],
    steps: [ran(create, 1010, 1070), ran(attach, 1070.3, 1090)],
  }) as {
    traceEvents: {
      readonly ph: string;
      readonly pid: number;
      readonly tid: number;
      readonly ts: number;
      readonly dur: number;
      readonly name: string;
      readonly args?: Readonly<Record<string, unknown>>;
    }[];
    otherData: Readonly<Record<string, unknown>>;
  };

  it("has whole microseconds from the start, and what lies in one row nests", () => {
    const slices = traceEvents.filter(({ ph }) => ph === "X");
    expect(slices.every(({ ts, dur }) => Number.isInteger(ts) && ts >= 0 && Number.isInteger(dur) && dur >= 0)).toBe(
      true,
    );
    for (const one of slices)
      for (const other of slices) {
        if (one === other || one.pid !== other.pid || one.tid !== other.tid || one.ts > other.ts) continue;
        const isApart = other.ts >= one.ts + one.dur;
        const isInside = other.ts + other.dur <= one.ts + one.dur;
        expect(isApart || isInside || one.ts === other.ts, `${one.name} and ${other.name}`).toBe(true);
      }
  });

  it("has room for the requests of a run of any size", () => {
    const spans = Array.from({ length: 150_000 }, (_, at) => request("vm.list", at, at + 1));
    expect(traceOf({ command: "apply", version: "1.2.3", spans, steps: [] })).toHaveProperty("otherData.requests", {
      "vm.list": 150_000,
    });
  });

  it("names its rows, counts the requests of each step, and says what was critical", () => {
    const named = (kind: string) => traceEvents.filter(({ name }) => name === kind).map(({ args }) => args?.["name"]);
    expect(named("process_name")).toEqual(["reconcile apply", "critical path", "steps"]);
    expect(named("thread_name")).toEqual(
      expect.arrayContaining(["requests 2", "vm.a", "volume.d", "volume.d (beside)"]),
    );
    expect(traceEvents.find(({ name }) => name === "do vm.a/create")?.args).toMatchObject({
      requests: { "vm.create": 1, "vm.get": 1 },
      on_critical_path: true,
    });
    expect(otherData).toMatchObject({
      critical_path: [
        { step: "vm.a/create", ms: 60 },
        { step: "volume.d/attach", ms: 20 },
      ],
      requests: { "vm.list": 1, "volume.attach": 1 },
    });
  });
});
