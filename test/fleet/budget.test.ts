/** One budget for many workers, on a real PostgreSQL: how much of it is used, how evenly, and who falls silent at a 429. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createBudget, pauseChannel } from "../../reconciler/fleet/database/budget";
import type { Database } from "../../reconciler/fleet/database/database";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { createRecords } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { noSettings } from "../../reconciler/fleet/model";
import { newStatus } from "../../reconciler/fleet/status";
import { stackSpec } from "../support/fleet-stage";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";

describe.skipIf(postgresMissing !== undefined)("a budget", () => {
  let server: PostgresServer;
  let database: Database;
  const perSecond = 50;
  const sizeOf = (name: string, small: number): number => Number(process.env[name] ?? small);
  const workers = sizeOf("FLEET_BUDGET_WORKERS", 4);
  const service = (name: string) => ({
    name,
    baseUrl: "embedded",
    insecureHttp: false,
    budget: { perSecond, burst: 10 },
  });

  beforeAll(async () => {
    server = await startPostgres();
    database = await openDatabase(server.url, "");
    await prepareTables(database);
    await createRecords(database).saveSettings({
      ...noSettings,
      services: ["shared", "paused", "set-back"].map(service),
    });
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });

  const worker = (name: string) =>
    createBudget({ database, service: name, perSecond, burst: 10, workers: () => workers });

  test("R1: is shared by workers and never exceeded", { timeout: 0 }, async () => {
    // Where all workers wait for a processor, a part of the budget is left over: that is no fault, and passes.
    for (let left = 4; (await usedOfBudget()) < 0.94; left--) expect(left).toBeGreaterThan(1);
  });

  /** How much of the budget its workers use; it is never exceeded, and each has its share. */
  async function usedOfBudget(): Promise<number> {
    const sent: { at: number; worker: number }[] = [];
    const stop = new AbortController();
    const began = performance.now();
    const seconds = sizeOf("FLEET_BUDGET_SECONDS", 6);
    setTimeout(() => stop.abort(), seconds * 1000);
    await Promise.all(
      Array.from({ length: workers }, async (_, index) => {
        const budget = worker("shared");
        const one = async (): Promise<void> => {
          while (await budget.take(stop.signal)) sent.push({ at: performance.now() - began, worker: index });
        };
        await Promise.all([one(), one(), one()]);
      }),
    );
    const times = sent.map(({ at }) => at).sort((a, b) => a - b);
    expect(times.length).toBeLessThanOrEqual(perSecond * seconds + 10 + 1);
    const shares = Array.from(
      { length: workers },
      (_, index) => sent.filter((one) => one.worker === index).length / (times.length / workers),
    );
    const within = (ms: number): number =>
      Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));
    const used = times.length / (perSecond * seconds);
    const [inOne, inTen] = [within(1000) / perSecond, within(10_000) / perSecond / 10];
    console.log(
      `R1: ${workers} workers, ${seconds} s: ${(100 * used).toFixed(1)} % used; at most ${inOne.toFixed(2)} of it in a second, ${inTen.toFixed(3)} in ten; shares ${Math.min(...shares).toFixed(2)} to ${Math.max(...shares).toFixed(2)}`,
    );
    // The aims are 97 %, 1.2, 1.02 and 10 %: twice as far from the ideal is a break, on any machine. A burst comes on
    // top of the rate in a window that begins with it.
    expect(inOne).toBeLessThanOrEqual(1.4);
    expect(inTen).toBeLessThanOrEqual(1.04);
    for (const share of shares) expect(Math.abs(share - 1)).toBeLessThanOrEqual(0.2);
    return used;
  }

  test("R2: at a 429 to one worker all are silent, and do not come back all at once", async () => {
    const seconds = 5;
    const all = Array.from({ length: workers }, () => worker("paused"));
    const ears = await Promise.all(all.map((budget) => database.listen([pauseChannel], () => void budget.look())));
    const stop = new AbortController();
    const sent: number[] = [];
    const sending = all.flatMap((budget) =>
      Array.from({ length: 5 }, async () => {
        while (await budget.take(stop.signal)) sent.push(Date.now());
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const at = Date.now();
    await all[0]?.refused(seconds * 1000);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000 + 1500));
    stop.abort();
    await Promise.all(sending);
    await Promise.all(ears.map((ear) => ear.close()));
    const silentAfter = Math.max(0, ...sent.filter((one) => one < at + seconds * 500).map((one) => one - at));
    const back = sent.filter((one) => one >= at + seconds * 500).map((one) => one - at);
    console.log(`R2: silent after ${silentAfter} ms, for ${Math.min(...back)} ms`);
    expect(Math.min(...back)).toBeGreaterThanOrEqual(seconds * 1000 - 100);
    // The aim is 250 ms.
    expect(silentAfter).toBeLessThanOrEqual(500);
    const first = Math.min(...back);
    expect(back.filter((one) => one < first + 1000).length).toBeLessThanOrEqual(perSecond + 10 + 15);
  });

  test("a service has as many rounds at once as it may, however many begin in the same moment", async () => {
    const records = createRecords(database);
    const names = Array.from({ length: 24 }, (_, index) => `crowd-${index}`);
    for (const name of names) await records.saveStacks([stackSpec(name, { service: "shared" })]);
    const begin = (stack: string, index: number) =>
      records.startRun({
        stack,
        cause: "interval",
        worker: `w:${index}`,
        status: newStatus,
        limit: { service: "shared", most: 3 },
      });
    const begun = await Promise.all(names.map(begin));
    expect(begun.filter((run) => "id" in run)).toHaveLength(3);
    // One that goes on with what its dead worker left has its place already.
    const taken = names.findIndex((_, index) => "id" in (begun[index] ?? {}));
    expect(await begin(names[taken] ?? "", 99)).toMatchObject({ tookOver: true });
  });

  test("a clock that is set back holds no request up for as long", async () => {
    const budget = worker("set-back");
    await budget.take();
    await budget.refused(200);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
    try {
      const stop = new AbortController();
      const giveUp = setTimeout(() => stop.abort(), 20_000);
      expect([await budget.take(stop.signal), await budget.take(stop.signal)]).toEqual([true, true]);
      clearTimeout(giveUp);
    } finally {
      vi.useRealTimers();
    }
  });

  test("falls silent everywhere when the service tells one worker to wait", async () => {
    const [told, other] = [worker("paused"), worker("paused")];
    await Promise.all([told.take(), other.take()]);
    await told.refused(2000);
    const at = performance.now();
    await other.look();
    await Promise.all([told.take(), other.take()]);
    expect(performance.now() - at).toBeGreaterThan(1500);
    const [row] = await createRecords(database)
      .budgets()
      .then((all) => all.filter((one) => one.service === "paused"));
    expect(row?.refusals).toBe(2);
  });

  test("is a share of the rate where nobody can be asked", async () => {
    const away: Database = { ...database, query: () => Promise.reject(new Error("away")) };
    const said: string[] = [];
    const budget = createBudget({
      database: away,
      service: "shared",
      perSecond,
      burst: 10,
      workers: () => 5,
      say: (text) => said.push(text),
    });
    const began = performance.now();
    for (let times = 0; times < 6; times++) await budget.take();
    // A fifth of fifty a second: six take half a second at the least.
    expect(performance.now() - began).toBeGreaterThan(480);
    expect(said).toHaveLength(1);
  });

  test("a slow answer of the database moves no moment that a quick one placed", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      // The database is a minute ahead, and reads its clock at once; its answers to all but the first take 400 ms.
      let asked = 0;
      const read = async () => {
        const at = performance.now() / 1000 + 60;
        if (asked++ > 0) await new Promise((resolve) => setTimeout(resolve, 400));
        return [{ tat: at + 0.6, per_second: 1, at, paused_until: null }];
      };
      const slow = { ...database, query: read } as unknown as Database;
      const budget = createBudget({
        database: slow,
        service: "shared",
        perSecond: 1,
        burst: 1,
        workers: () => 1,
        now: () => performance.now(),
      });
      const began = performance.now();
      const sent: number[] = [];
      const sending = (async () => {
        for (let times = 0; times < 2; times++) {
          await budget.take();
          sent.push(Math.round(performance.now() - began));
        }
      })();
      await vi.advanceTimersByTimeAsync(3000);
      await sending;
      expect(sent).toEqual([600, 1200]);
    } finally {
      vi.useRealTimers();
    }
  });
});
