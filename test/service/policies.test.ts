/** The pure policies: when a request is repeated, how many may be under way, which goes first, where the next page is. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { accepted, type Failure, type Outcome } from "../../reconciler/core/model/outcome";
import { elapsedAt, instantAt } from "../../reconciler/core/model/time";
import { nextPage } from "../../reconciler/dialect/next-page";
import type { Clock } from "../../reconciler/service/clock";
import { adjustConcurrency, type Concurrency, startConcurrency } from "../../reconciler/service/concurrency";
import { versionsOf } from "../../reconciler/service/fingerprint";
import { createLimiter } from "../../reconciler/service/limiter";
import { type Attempt, decideRetry, earn, fullBudget, retryPolicy, spend } from "../../reconciler/service/retry";

const policy = retryPolicy(120_000);
const unavailable: Failure = { status: "unavailable", reason: "down" };
const throttled: Failure = { status: "unavailable", reason: "slow", httpStatus: 429 };
const unknown: Failure = { status: "unknown", reason: "lost" };
const rejected: Failure = { status: "rejected", condition: "conflict", message: "no" };
const last = (changes: Partial<Attempt>): Attempt => ({
  kind: "read",
  attempt: 1,
  outcome: unavailable,
  elapsedMs: 0,
  askedMs: 0,
  random: 0,
  budget: fullBudget,
  ...changes,
});

describe("retry", () => {
  const giveUp = { action: "give_up" };
  const wait = (ms: number) => ({ action: "wait", ms });
  const asked = (ms: number) => ({ action: "wait", ms, asked: true });
  const cases: Record<string, [Partial<Attempt>, object]> = {
    "unavailable is repeated, whatever the kind": [{ kind: "write" }, wait(100)],
    "an unknown write is never repeated": [{ kind: "write", outcome: unknown }, giveUp],
    "an unknown delete is repeated": [{ kind: "delete", outcome: unknown }, wait(100)],
    "a refusal is never repeated": [{ kind: "delete", outcome: rejected }, giveUp],
    "the wait doubles": [{ attempt: 3 }, wait(400)],
    "chance adds up to as much again": [{ attempt: 3, random: 0.5 }, wait(600)],
    "five requests are enough": [{ attempt: 5 }, giveUp],
    "a throttled one goes on for longer": [{ attempt: 5, outcome: throttled }, wait(1600)],
    "but not for ever": [{ attempt: 30, outcome: throttled }, giveUp],
    "Retry-After is kept": [{ outcome: { ...throttled, retryAfterMs: 3000 } as Failure }, asked(3000)],
    "with some chance on top": [{ random: 0.5, outcome: { ...throttled, retryAfterMs: 4000 } as Failure }, asked(4500)],
    "a Retry-After of nothing is no storm": [{ outcome: { ...throttled, retryAfterMs: 0 } as Failure }, wait(100)],
    "and as it was asked, however often it was asked before, and whatever the request itself took": [
      { attempt: 70, elapsedMs: 500_000, outcome: { ...throttled, retryAfterMs: 1000 } as Failure },
      asked(1000),
    ],
    "until it was asked for five minutes in all": [
      { askedMs: 299_001, outcome: { ...throttled, retryAfterMs: 1000 } as Failure },
      giveUp,
    ],
    "a Retry-After of less than the first own wait gives way to the own one": [
      { attempt: 7, outcome: { ...throttled, retryAfterMs: 150 } as Failure },
      wait(5000),
    ],
    "a wait past the time allowed is not begun": [{ elapsedMs: 239_950 }, giveUp],
    "with the shared budget spent nothing is repeated": [{ budget: 0 }, giveUp],
    "but what the service asked to come later": [{ budget: 0, outcome: throttled }, wait(100)],
  };
  for (const [title, [changes, expected]] of Object.entries(cases))
    test(title, () => expect(decideRetry(policy, last(changes))).toEqual(expected));

  test("the budget is spent by repeats, earned by successes, and bounded", () => {
    expect(spend(0)).toBe(0);
    expect(spend(5)).toBe(4);
    expect(earn(4)).toBe(5);
    expect(earn(fullBudget)).toBe(fullBudget);
  });
});

describe("concurrency", () => {
  const answered = (atMs: number, latencyMs?: number) =>
    ({ kind: "answered", atMs, operation: "vm.list", ...(latencyMs !== undefined && { latencyMs }) }) as const;

  test("429 halves it, once a pause, and never under one", () => {
    let state = startConcurrency(10);
    for (const [atMs, limit] of [
      [0, 5],
      [10, 5],
      [300, 2.5],
      [600, 1.25],
      [900, 1],
      [1200, 1],
    ] as const) {
      state = adjustConcurrency(state, { kind: "throttled", atMs });
      expect(state.limit).toBe(limit);
    }
  });

  test("answers bring it back, about one for each full round, and no further than allowed", () => {
    let state: Concurrency = { ...startConcurrency(10), limit: 5 };
    for (let index = 0; index < 6; index++) state = adjustConcurrency(state, answered(index));
    expect(Math.floor(state.limit)).toBe(6);
    for (let index = 0; index < 1000; index++) state = adjustConcurrency(state, answered(index));
    expect(state.limit).toBe(10);
  });

  test("rising latency lowers it, but not under a quarter", () => {
    let state = startConcurrency(16);
    for (let index = 0; index < 50; index++) state = adjustConcurrency(state, answered(index, 20));
    expect(state.limit).toBe(16);
    for (let index = 0; index < 60; index++) state = adjustConcurrency(state, answered(1000 + index * 500, 2000));
    expect(state.limit).toBeLessThan(8);
    expect(state.limit).toBeGreaterThanOrEqual(4);
  });

  test("a service that is slow all along, and one that wavers a little, are left alone", () => {
    let state = startConcurrency(16);
    for (let index = 0; index < 200; index++)
      state = adjustConcurrency(state, answered(index * 100, 3000 + (index % 7) * 300));
    expect(state.limit).toBe(16);
    state = startConcurrency(16);
    for (let index = 0; index < 200; index++)
      state = adjustConcurrency(state, answered(index * 100, 2 + (index % 9) * 5));
    expect(state.limit).toBe(16);
  });
});

describe("slots", () => {
  const stillClock = (): Clock & { at: number; sleepers: (() => void)[] } => {
    const clock = {
      at: 0,
      sleepers: [] as (() => void)[],
      now: () => elapsedAt(clock.at),
      instant: () => instantAt(clock.at),
      sleep: () => new Promise<void>((resolve) => clock.sleepers.push(resolve)),
    };
    return clock;
  };

  test("any order of asking is served by priority, then by age; no slot is lost or given twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 4 }),
        async (priorities, allowed) => {
          const limiter = createLimiter(allowed, stillClock());
          const granted: number[] = [];
          const asked = priorities.map((priority, index) =>
            Promise.resolve(limiter.acquire(priority)).then(() => granted.push(index)),
          );
          await Promise.resolve().then(() => undefined);
          const first = Math.min(allowed, priorities.length);
          for (let index = 0; index < priorities.length; index++) {
            await new Promise((resolve) => setImmediate(resolve));
            expect(granted.length).toBe(Math.min(priorities.length, first + index));
            limiter.release();
          }
          await Promise.all(asked);
          const rest = priorities.map((priority, index) => ({ priority, index })).slice(first);
          rest.sort((a, b) => b.priority - a.priority || a.index - b.index);
          expect(granted).toEqual([...Array(first).keys(), ...rest.map(({ index }) => index)]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("a pause holds everyone, and ends by itself", async () => {
    const clock = stillClock();
    const limiter = createLimiter(4, clock);
    limiter.pauseFor(1000);
    let given = false;
    const asked = Promise.resolve(limiter.acquire(0)).then(() => {
      given = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(given).toBe(false);
    clock.at = 1000;
    for (const wake of clock.sleepers) wake();
    await asked;
    expect(given).toBe(true);
  });

  test("where a service bears so many a second, requests begin evenly spread", async () => {
    const clock = stillClock();
    const limiter = createLimiter(10, clock, 4);
    const begun: number[] = [];
    const asked = [0, 1, 2].map(() =>
      Promise.resolve(limiter.acquire(0)).then(() => {
        begun.push(clock.at);
      }),
    );
    for (const at of [100, 250, 400, 500]) {
      clock.at = at;
      for (const wake of clock.sleepers.splice(0)) wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(asked);
    expect(begun).toEqual([100, 250, 500]);
  });

  test("one who left the queue takes no slot", async () => {
    const limiter = createLimiter(1, stillClock());
    expect(limiter.acquire(0)).toBe(true);
    const controller = new AbortController();
    const leaver = limiter.acquire(9, controller.signal);
    const stayer = limiter.acquire(0);
    controller.abort();
    expect(await leaver).toBe(false);
    limiter.release();
    expect(await stayer).toBe(true);
    expect(limiter.acquire(0, controller.signal)).toBe(false);
  });
});

describe("the next page", () => {
  const request = {
    origin: "https://c.example",
    basePath: "/base",
    first: { path: "/base/api/v1/vm/list?x=1" },
    current: { path: "/base/api/v1/vm/list?x=1&page=2" },
    paging: { next: [], next_header: null, param: "page", ignore: [] },
    pages: 2,
    items: 20,
    distinct: 20,
  };
  const page = (next: string) => ({ next, marker: undefined, shown: 10, signs: [] });
  test.each([
    ["3", "/base/api/v1/vm/list?x=1&page=3"],
    ["a b&c", "/base/api/v1/vm/list?x=1&page=a+b%26c"],
    ["/api/v1/vm/list?p=3", "/base/api/v1/vm/list?p=3"],
    ["/base/api/v1/vm/list?p=3", "/base/api/v1/vm/list?p=3"],
    ["?p=3", "/base/api/v1/vm/list?p=3"],
    ["https://c.example/anywhere?p=3", "/anywhere?p=3"],
    ["HTTPS://C.EXAMPLE:443/a", "/a"],
  ])("%s leads to %s", (next, path) => expect(nextPage(page(next), request)).toEqual({ request: { path } }));

  test("another scheme or port of the same host is told as that", () => {
    expect(nextPage(page("http://c.example/x"), request)).toEqual({
      problem: expect.stringMatching(/at http:\/\/c\.example, and the base URL is at https:\/\/c\.example/),
    });
  });

  test.each([
    "https://evil.example/",
    "http://c.example/",
    "//evil.example/x",
    "https://c.example@evil.example/",
    "https://c.example:444/",
    "/\\evil.example/x",
  ])("%s is not followed to another origin", (next) => {
    const to = nextPage(page(next), request);
    if ("request" in to) expect(new URL(to.request.path, request.origin).origin).toBe(request.origin);
    else expect(to).toEqual({ problem: expect.stringMatching(/another host|sent there alone|not a URL/) });
  });
});

describe("the version that a write sends", () => {
  const refused = (httpStatus: number): Failure => ({ ...rejected, httpStatus });
  const done = accepted("done");
  const nowhere: Failure = { status: "rejected", condition: "unsupported", message: "no such operation" };
  // Each look shows what the row says, the last one for good; each request is answered alike.
  test.each<[string, looks: readonly (string | undefined | Failure)[], answers: readonly Outcome<string>[], unknown]>([
    ["is the one that shows", ["1"], [done], ["1"]],
    ["is none where the record shows none", [undefined], [done], ["none"]],
    ["is none where no record can be read", [nowhere], [done], ["none"]],
    ["is not guessed where the look fails", [unavailable], [done], []],
    ["is read once more after a 412", ["1", "2"], [refused(412), done], ["1", "2"]],
    ["is read once more after a 409", ["1", "2"], [refused(409), done], ["1", "2"]],
    ["is read once more, and not twice", ["1", "2", "3"], [refused(412)], ["1", "2"]],
    ["is not sent again where it is the same", ["1"], [refused(409), done], ["1"]],
    ["is not sent again where none shows any more", ["1", undefined], [refused(412), done], ["1"]],
    ["is not sent again where the second look fails", ["1", unavailable], [refused(412), done], ["1"]],
    ["has nothing to do with another refusal", ["1", "2"], [refused(400), done], ["1"]],
    ["is not sent again after an answer that was lost", ["1", "2"], [unknown, done], ["1"]],
  ])("%s", async (_, looks, answers, sends) => {
    let looked = 0;
    const sent: string[] = [];
    const fingerprint = { from: ["/version"], send: "If-Match" };
    const versions = versionsOf({ fingerprint }, async () => {
      const look = looks[Math.min(looked++, looks.length - 1)];
      return typeof look === "object" ? look : accepted({ record: { version: look }, headers: {} });
    });
    await versions.send("volume.resize", {}, { id: "9" }, async ({ headers }) => {
      sent.push(new Headers(headers).get("if-match") ?? "none");
      return answers[Math.min(sent.length, answers.length) - 1] ?? done;
    });
    expect(sent).toEqual(sends);
  });
});
