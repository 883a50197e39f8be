/** One budget for many workers, on a real PostgreSQL: how much of it is used, how evenly, and who falls silent at a 429. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBudget } from "../../reconciler/fleet/database/budget";
import type { Database } from "../../reconciler/fleet/database/database";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { createRecords } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { noSettings } from "../../reconciler/fleet/model";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";

describe.skipIf(postgresMissing !== undefined)("a budget", () => {
  let server: PostgresServer;
  let database: Database;
  const perSecond = 50;
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
    await createRecords(database).saveSettings({ ...noSettings, services: [service("shared"), service("paused")] });
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });

  const worker = (name: string) => createBudget({ database, service: name, perSecond, burst: 10, workers: () => 4 });

  test("is shared by four workers and never exceeded", async () => {
    const sent: { at: number; worker: number }[] = [];
    const stop = new AbortController();
    const began = performance.now();
    const seconds = 6;
    setTimeout(() => stop.abort(), seconds * 1000);
    await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const budget = worker("shared");
        const one = async (): Promise<void> => {
          while (await budget.take(stop.signal)) sent.push({ at: performance.now() - began, worker: index });
        };
        await Promise.all([one(), one(), one()]);
      }),
    );
    const times = sent.map(({ at }) => at).sort((a, b) => a - b);
    expect(times.length).toBeLessThanOrEqual(perSecond * seconds + 10 + 1);
    expect(times.length).toBeGreaterThan(perSecond);
    // A sliding second may hold the rate, the burst, and what late timers moved into it.
    for (const from of times)
      expect(times.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(
        perSecond + 10 + perSecond,
      );
    for (const index of [0, 1, 2, 3]) expect(sent.filter((one) => one.worker === index).length).toBeGreaterThan(0);
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
    expect(row?.refusals).toBe(1);
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
});
