import { describe, expect, it } from "vitest";
import { elapsedAt, instantAt } from "../../reconciler/core/model/time";
import { pauseMs, type Round, watch } from "../../reconciler/engine/watch";
import {
  afterStep,
  healthOf,
  placedTexts,
  roundLine,
  startStatus,
  statusAfterRound,
  watchMetricsText,
} from "../../reconciler/report/watch-status";

const minute = 60_000;

describe("the pause between two rounds", () => {
  it.each([
    ["is the interval when all is well", 10 * minute, 0, "in_sync", 0, 10 * minute],
    ["is up to a tenth longer, so that watchers do not fall into step", 10 * minute, 0, "in_sync", 0.999, 659_940],
    ["doubles after a failure", 10 * minute, 1, "failed", 0, 20 * minute],
    ["doubles again after the next", 10 * minute, 2, "failed", 0, 40 * minute],
    ["is an hour at the most", 10 * minute, 9, "failed", 0, 60 * minute],
    ["is never shorter than the interval", 120 * minute, 3, "failed", 0, 120 * minute],
    ["is short for one who stands by", 10 * minute, 0, "standby", 0, 30_000],
    ["is no longer than the interval for one who stands by", 1000, 0, "standby", 0, 1000],
  ] as const)("%s", (_, interval, failures, result, random, expected) => {
    expect(pauseMs(interval, failures, result, random)).toBe(expected);
  });
});

it("a watch counts failures in a row, starts anew after a good round, and ends when it is told to", async () => {
  const ends = ["failed", "failed", "in_sync", "failed"] as const;
  const stop = new AbortController();
  const pauses: number[] = [];
  let now = 0;
  let n = 0;
  await watch({
    intervalMs: 1000,
    clock: {
      now: () => elapsedAt(now),
      instant: () => instantAt(now),
      sleep: async (ms) => {
        now += ms;
      },
    },
    random: () => 0,
    signal: stop.signal,
    round: async () => {
      const end = ends[n++]!;
      return { result: end === "failed" ? { end, why: "no network" } : { end } };
    },
    ended: (_round, next) => {
      pauses.push(next);
      if (n === ends.length) stop.abort();
    },
  });
  expect(pauses).toEqual([2000, 4000, 1000, 2000]);
});

describe("metrics and health", () => {
  const span = (at: number): Pick<Round, "at" | "ended" | "durationMs"> => ({
    at: instantAt(at),
    ended: { at: instantAt(at + 500), elapsed: elapsedAt(at + 500) },
    durationMs: 500,
  });
  const round = (end: "in_sync" | "pending", at: number): Round => ({
    ...span(at),
    result: { end },
    seen: {
      drifted: end === "pending" ? ["vm.db"] : [],
      pending: { update: 2 },
      differs: ["vm.db (size)"],
      resources: 7,
      worldOpenPorts: 3,
    },
  });
  const failed = (at: number): Round => ({ ...span(at), result: { end: "failed", why: "no network" } });
  const fresh = startStatus(elapsedAt(0), 1000);

  it("shows drift, pending changes, ports open to the world, the last success and step times", () => {
    let status = statusAfterRound(fresh, round("pending", 10_000), 1000);
    for (const state of ["started", "done", "failed"] as const)
      status = afterStep(status, {
        type: "step",
        status: state,
        step: "s",
        address: "vm.db",
        operation: "vm.stop",
        attempt: 1,
        elapsedMs: 20_000,
        title: "stop",
      });
    const text = watchMetricsText(status);
    for (const line of [
      "# HELP reconcile_drifted_resources Resources that the last round found not as the state has them.",
      "reconcile_drifted_resources 1",
      'reconcile_pending_changes{action="update"} 2',
      'reconcile_pending_changes{action="delete"} 0',
      "reconcile_world_open_ports 3",
      "reconcile_last_success_timestamp_seconds 10.5",
      'reconcile_rounds_total{result="pending"} 1',
      'reconcile_step_duration_seconds_sum{operation="vm.stop"} 40',
      'reconcile_step_duration_seconds_count{operation="vm.stop"} 2',
      'reconcile_step_failures_total{operation="vm.stop"} 1',
      "reconcile_active 1",
      "reconcile_blocked 0",
    ])
      expect(text.split("\n")).toContain(line);
    // Every sample stands under its own HELP and TYPE.
    for (const line of text.trimEnd().split("\n"))
      expect(line).toMatch(/^(# (HELP|TYPE) reconcile_|reconcile_[a-z_]+(\{[a-z]+="[a-z._]+"\})? [\d.]+$)/);
  });

  it("a line says what a round carried out, and not that it is pending still", () => {
    const applied: Round = { ...round("pending", 0), result: { end: "applied" } };
    expect(roundLine(applied, 2000)).toMatch(/ {2}corrected: vm\.db \(size\); had drifted: vm\.db; next in 2 s$/);
    const made: Round = { ...round("in_sync", 0), result: { end: "applied" } };
    expect(roundLine(made, 2000)).toMatch(/ {2}corrected: vm\.db \(size\); next in 2 s$/);
    expect(roundLine(round("pending", 0), 2000)).toContain("drifted: vm.db; pending: 2 to update: vm.db (size)");
  });

  it("a round that failed at its files says where, and of many problems the first", () => {
    const problem = (line: number) => ({
      severity: "error" as const,
      code: "config/unknown-key" as const,
      summary: "the key szie is not known here",
      source: { file: "reconcile.yaml", line, column: 5 },
    });
    expect(placedTexts([problem(12)])).toBe("reconcile.yaml:12: the key szie is not known here");
    expect(placedTexts([1, 2, 3, 4, 5].map(problem))).toMatch(
      /^reconcile\.yaml:1: .*reconcile\.yaml:3: [^;]*; and 2 more$/,
    );
  });

  it("keeps what was last seen and the last success through failures, and is ill after the second", () => {
    const good = statusAfterRound(fresh, round("in_sync", 10_000), 1000);
    const once = statusAfterRound(good, failed(12_000), 2000);
    const twice = statusAfterRound(once, failed(15_000), 4000);
    expect(watchMetricsText(twice)).toContain("reconcile_resources 7");
    expect(watchMetricsText(twice)).toContain("reconcile_last_success_timestamp_seconds 10.5");
    expect([good, once, twice].map((status) => healthOf(status, elapsedAt(15_000)).healthy)).toEqual([
      true,
      true,
      false,
    ]);
    expect(healthOf(twice, elapsedAt(15_000)).body).toMatchObject({
      status: "failing",
      round: "failed",
      why: "no network",
      failures: 2,
    });
    expect(healthOf(statusAfterRound(twice, round("in_sync", 20_000), 1000), elapsedAt(20_600)).healthy).toBe(true);
  });

  it("is ill when no round ends any more", () => {
    const good = statusAfterRound(fresh, round("in_sync", 10_000), 1000);
    expect(healthOf(good, elapsedAt(11_500 + 3_600_000)).healthy).toBe(true);
    expect(healthOf(good, elapsedAt(11_501 + 3_600_000)).healthy).toBe(false);
  });
});
