/** How far apart the rounds of a watch are, and when they end (engine/watch.ts). */
import { describe, expect, it } from "vitest";
import { pauseMs, type Round, type RoundResult, watch } from "../../reconciler/engine/watch";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";

const minute = 60_000;
const hour = 60 * minute;

it.each<
  readonly [what: string, interval: number, failures: number, end: RoundResult["end"], random: number, pause: number]
>([
  ["a round that found nothing", minute, 0, "in_sync", 0, minute],
  ["a tenth longer at most", minute, 0, "in_sync", 1, 66_000],
  ["half of that tenth", minute, 0, "applied", 0.5, 63_000],
  ["one failure", minute, 1, "failed", 0, 2 * minute],
  ["three failures", minute, 3, "failed", 0, 8 * minute],
  ["many failures: an hour", minute, 30, "failed", 0, hour],
  ["many failures of rounds that are rarer than an hour", 2 * hour, 30, "failed", 0, 2 * hour],
  ["another one has the state: soon, for it may end", 10 * minute, 0, "standby", 0, 30_000],
  ["another one has the state of a watch that looks more often", 10_000, 0, "standby", 0, 10_000],
])("after %s", (_, interval, failures, end, random, pause) => {
  expect(pauseMs(interval, failures, end, random)).toBe(pause);
});

async function rounds(results: readonly RoundResult[], { tookMs = 0, between = false } = {}) {
  const clock = virtualClock(() => undefined);
  const stop = new AbortController();
  const told: { readonly round: Round; readonly next: number }[] = [];
  const begun: number[] = [];
  const worked: number[] = [];
  const from = clock.now();
  await watch({
    intervalMs: minute,
    clock,
    random: () => 0,
    signal: stop.signal,
    round: async () => {
      begun.push(clock.now() - from);
      await clock.sleep(tookMs);
      return {
        result: results[begun.length - 1]!,
        seen: { drifted: [], pending: {}, differs: [], resources: begun.length },
      };
    },
    ended: (round, next) => {
      told.push({ round, next });
      if (told.length === results.length) stop.abort();
    },
    ...(between
      ? {
          between: async (pause: number) => {
            worked.push(pause);
            await clock.sleep(pause);
          },
        }
      : {}),
  });
  return { told, begun, worked };
}

const failed: RoundResult = { end: "failed", why: "away" };
const inSync: RoundResult = { end: "in_sync" };

describe("a watch", () => {
  it("goes further apart while rounds fail one after the other, and back once one does not", async () => {
    const { told, begun } = await rounds([failed, failed, inSync, failed]);
    expect(told.map(({ next }) => next)).toEqual([2 * minute, 4 * minute, minute, 2 * minute]);
    expect(begun).toEqual([0, 2 * minute, 6 * minute, 7 * minute]);
  });
  it("tells of each round when it began and ended, how long it took and what it saw", async () => {
    const { told } = await rounds([inSync], { tookMs: 5000 });
    expect(told[0]?.round).toMatchObject({
      at: "2026-01-01T00:00:00.000Z",
      ended: { at: "2026-01-01T00:00:05.000Z" },
      durationMs: 5000,
      result: inSync,
      seen: { resources: 1 },
    });
  });
  it("works in its pauses, where there is something to do", async () => {
    const { begun, worked } = await rounds([inSync, inSync], { between: true });
    expect([begun, worked]).toEqual([
      [0, minute],
      [minute, minute],
    ]);
  });
  it("that is to stop already begins no round", async () => {
    const stopped = AbortSignal.abort();
    const never = () => {
      throw new Error("a round");
    };
    await expect(
      watch({
        intervalMs: 1,
        clock: virtualClock(() => undefined),
        random: () => 0,
        signal: stopped,
        round: never,
        ended: never,
      }),
    ).resolves.toBeUndefined();
  });
});
