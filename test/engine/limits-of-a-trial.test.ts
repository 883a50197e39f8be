/** How many connections and requests a trial takes a service to bear (engine/doctor/trial/limits.ts). */
import { expect, it } from "vitest";
import type { Stage } from "../../reconciler/engine/doctor/trial/act";
import { limitActs } from "../../reconciler/engine/doctor/trial/limits";

interface Service {
  /** What comes beyond is reset. */
  readonly bears?: number;
  /** So many in each span of time; then it asks for a pause until the span is over. */
  readonly perSpan?: number;
  readonly spanMs?: number;
}

async function learntOf({ bears = 50, perSpan = 1000, spanMs = 1000 }: Service, known: object = {}) {
  let nowMs = 0;
  let atOnce = 0;
  let asked = 0;
  let began = 0;
  let inSpan = 0;
  const probe = async () => {
    asked++;
    const isReset = ++atOnce > bears;
    await Promise.resolve();
    atOnce--;
    if (isReset) return { outcome: { status: "unavailable", message: "reset" }, answer: undefined };
    if (nowMs - began >= spanMs) {
      began = nowMs;
      inSpan = 0;
    }
    if (++inSpan > perSpan)
      return {
        outcome: { status: "unavailable", message: "slow down", retryAfterMs: spanMs, httpStatus: 429 },
        answer: {},
      };
    return { outcome: { status: "rejected", condition: "not_found", message: "none", httpStatus: 404 }, answer: {} };
  };
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms;
  };
  const said: string[] = [];
  const trial = {
    report: { dialect: { limits: known } },
    limits: {},
    ports: { clock: { now: () => nowMs, sleep }, doctor: { probe } },
    say: (line: string) => said.push(line),
  };
  // Of a stage these acts use the trial alone, and of the trial what stands above.
  for (const act of limitActs) await act.does({ trial } as unknown as Stage, {} as Parameters<typeof act.does>[1]);
  return { limits: trial.limits, said, asked };
}

it.each<readonly [what: string, service: Service, known: object, limits: object, asked: number]>([
  // Ten together, then four at a time up to 48.
  ["one that bears all that is asked", {}, {}, {}, 58],
  ["one whose limits are written down", {}, { connections: 3, requests_per_second: 9 }, {}, 0],
  ["one with connections written down", {}, { connections: 3 }, {}, 48],
  // 10, 8, 6, 5 and 4 together, then four at a time.
  ["one that resets more than four", { bears: 4 }, {}, { connections: 4 }, 33 + 48],
  ["one that resets more than one", { bears: 1 }, {}, { connections: 1 }, 39 + 48],
  // Ten and six of the first burst are answered of 16, then two bursts of 16 and what is refused with them.
  ["one that answers 16 in a second", { perSpan: 16 }, {}, { requests_per_second: 16 }, 10 + 8 + 20 + 20],
  ["one whose quota is that of a minute", { perSpan: 20, spanMs: 60_000 }, {}, {}, 22],
  ["one with a pause of two seconds", { perSpan: 16, spanMs: 2000 }, {}, { requests_per_second: 8 }, 58],
])("%s", async (_, service, known, limits, asked) => {
  const learnt = await learntOf(service, known);
  expect([learnt.limits, learnt.asked]).toEqual([limits, asked]);
  expect(learnt.said.length).toBe(Object.keys(limits).length);
});
