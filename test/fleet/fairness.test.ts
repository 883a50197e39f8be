/** Whose round is served, by the database's own statements: each tenant is charged for what is served and for nothing else. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Database } from "../../reconciler/fleet/database/database";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { createRecords, type Records } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { noSettings } from "../../reconciler/fleet/model";
import { openQueue, type Queue } from "../../reconciler/fleet/queue";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";

describe.skipIf(postgresMissing !== undefined)("rounds of several tenants", () => {
  let server: PostgresServer;
  let database: Database;
  let records: Records;
  let queue: Queue;
  beforeAll(async () => {
    server = await startPostgres();
    database = await openDatabase(server.url, makeFolder());
    await prepareTables(database);
    records = createRecords(database);
  });
  beforeEach(async () => {
    queue = await openQueue({ database, onError: () => undefined });
    await database.run(
      "DELETE FROM reconcile_queue.job; DELETE FROM reconcile_fleet.tenants; UPDATE reconcile_fleet.served SET start = 0",
    );
  });
  afterEach(() => queue.close());
  afterAll(async () => {
    await database.close();
    await server.stop();
  });
  const weights = (of: Readonly<Record<string, number>>) =>
    records.saveSettings({ ...noSettings, tenants: Object.entries(of).map(([name, weight]) => ({ name, weight })) });
  const names = (tenant: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${tenant}${index}`);

  /** Serves this many rounds, one after the other, as a worker begins them; each is scheduled again for later. */
  async function serve(most: number): Promise<string[]> {
    const served: string[] = [];
    await queue.work({
      concurrency: 1,
      tenants: [],
      round: async ({ stack, turn }) => {
        const tenant = stack.replace(/\d+$/, "");
        if (served.length >= most) return;
        served.push(stack);
        await records.takeStack(stack, turn);
        if (turn === undefined) await records.chargeTenant(tenant);
        await queue.enqueue({ stack, tenant, cause: "interval", at: new Date(Date.now() + 3_600_000) });
      },
    });
    await eventually(`${most} rounds`, () => (served.length >= most ? true : undefined));
    return served;
  }
  test.each([1, 2])(
    "%i at a time: rounds that wait for what does not answer leave their places to others",
    async (concurrency) => {
      const [silent, healthy] = [names("silent", 6), names("healthy", 3)];
      await queue.hastenAll([...silent, ...healthy].map((stack) => ({ stack, tenant: "a", cause: "push" })));
      const served: string[] = [];
      let answer = (): void => undefined;
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await queue.work({
        concurrency,
        tenants: [],
        round: async ({ stack, lend }) => {
          if (!stack.startsWith("silent")) return void served.push(stack);
          const takeBack = lend();
          await answered;
          takeBack?.();
        },
      });
      try {
        await eventually("all healthy rounds", () => (served.length === healthy.length ? true : undefined));
      } finally {
        answer();
        await queue.drain();
      }
    },
  );

  test("a limit that the fleet's file gives a tenant holds in places that had none when they were opened", async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    await queue.work({
      concurrency: 3,
      tenants: [],
      round: async ({ stack }) => {
        begun.push(stack);
        await new Promise<void>((resolve) => ends.push(resolve));
      },
    });
    const first = names("labs", 3);
    await queue.hastenAll(first.map((stack) => ({ stack, tenant: "labs", cause: "push" })));
    await eventually("all places busy", () => (begun.length === 3 ? true : undefined));
    await queue.hasten({ stack: "labs3", tenant: "labs", cause: "person" });
    await queue.hasten({ stack: "other", tenant: "other", cause: "push" });
    queue.take({ tenants: [{ name: "labs", weight: 1, maxRunning: 1 }] });
    ends.shift()?.();
    await eventually("another round", () => (begun.length === 4 ? true : undefined));
    const next = begun[3];
    for (let open = true; open; open = begun.length < 5) {
      for (const end of ends.splice(0)) end();
      await eventually("a round to end", () => (ends.length > 0 || begun.length === 5 ? true : undefined));
    }
    for (const end of ends) end();
    await queue.drain();
    expect(next).toBe("other");
  });

  test("a round that a person asked for stays theirs, whatever asks for it besides", async () => {
    const ann = { stack: "a1", tenant: "a", cause: "person", startedBy: "ann" } as const;
    const kept = async () => {
      const [row] = await database.query("DELETE FROM reconcile_queue.job WHERE singleton_key = 'a1' RETURNING data");
      return row?.["data"];
    };
    const { startedBy: _, ...asked } = ann;
    const others: readonly (() => Promise<void>)[] = [
      () => queue.hastenAll([{ ...asked, cause: "push" }]),
      () => queue.hasten({ ...asked, cause: "dependency" }),
      () => queue.enqueue({ ...asked, cause: "retry" }),
    ];
    for (const other of others)
      for (const at of [undefined, new Date(Date.now() + 60_000)]) {
        await (at === undefined ? queue.hasten(ann) : queue.enqueue({ ...ann, turn: 1, at }));
        await other();
        expect(await kept()).toMatchObject({ cause: "person", startedBy: "ann" });
      }
    await queue.enqueue({ ...asked, cause: "interval", at: new Date(Date.now() + 60_000) });
    await queue.hasten({ ...asked, cause: "dependency" });
    expect(await kept()).toMatchObject({ cause: "dependency" });
  });

  test("a round for later is due by the database's clock, whatever the worker's shows", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3_600_000 });
    try {
      const later = { tenant: "a", cause: "interval" } as const;
      await queue.enqueue({ ...later, stack: "a1", at: new Date(Date.now() + 600_000) });
      await queue.enqueue({ ...later, stack: "a1", at: new Date(Date.now() + 300_000) });
      const [row] = await database.query(
        "SELECT extract(epoch FROM start_after - now())::int AS s FROM reconcile_queue.job WHERE singleton_key = 'a1'",
      );
      expect(row?.["s"]).toBeGreaterThan(240);
      expect(row?.["s"]).toBeLessThanOrEqual(300);
    } finally {
      vi.useRealTimers();
    }
  });
  const clocks = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      (await database.query("SELECT name, finish FROM reconcile_fleet.tenants")).map((row) => [
        String(row["name"]),
        Number(row["finish"]),
      ]),
    );

  test("a tenant with many stacks in sync is served at once behind another one's backlog", async () => {
    await weights({ idle: 1, busy: 1 });
    const later = new Date(Date.now() + 3_600_000);
    // A connection is waited for only so long: what asks all at once gives up on a busy machine.
    for (const stack of names("idle", 1000))
      await queue.enqueue({ stack, tenant: "idle", cause: "interval", at: later });
    for (const stack of names("busy", 400)) await queue.hasten({ stack, tenant: "busy", cause: "push" });
    await queue.hasten({ stack: "idle7", tenant: "idle", cause: "push" });
    expect((await serve(5)).indexOf("idle7")).toBeLessThanOrEqual(1);
  });

  test("what is scheduled, what collapses and what is put back cost nothing", async () => {
    await weights({ one: 1 });
    const later = new Date(Date.now() + 3_600_000);
    for (const stack of names("one", 5)) await queue.enqueue({ stack, tenant: "one", cause: "interval", at: later });
    expect((await clocks())["one"]).toBe(0);
    for (let times = 0; times < 60; times++) await queue.hasten({ stack: "one0", tenant: "one", cause: "push" });
    expect((await clocks())["one"]).toBe(1);
    await queue.enqueue({ stack: "one1", tenant: "one", cause: "push", turn: 0, at: new Date(Date.now() + 1000) });
    expect((await clocks())["one"]).toBe(1);
    // A person who asks for what waits already has it served before everything.
    await queue.hasten({ stack: "one0", tenant: "one", cause: "person", startedBy: "ann" });
    const [row] = await database.query("SELECT priority, data FROM reconcile_queue.job WHERE singleton_key = 'one0'");
    expect(row).toMatchObject({ priority: 1_000_000_000, data: { cause: "person", startedBy: "ann" } });
    expect((await clocks())["one"]).toBe(1);
  });

  test("ten tenants whose scheduled rounds are all due share by their weights", async () => {
    const shares = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`t${"abcdefghij"[index]}`, 1 + (index % 3)]),
    );
    await weights(shares);
    // The smaller its weight, the more stacks a tenant has.
    const now = new Date(Date.now() + 200);
    for (const [tenant, weight] of Object.entries(shares))
      for (const stack of names(tenant, 36 / weight))
        await queue.enqueue({ stack, tenant, cause: "interval", at: now });
    await eventually("that they are due", async () => {
      const [row] = await database.query(
        "SELECT count(*)::int AS n FROM reconcile_queue.job WHERE state = 'created' AND start_after > now()",
      );
      return row?.["n"] === 0 ? true : undefined;
    });
    await queue.tend();
    const order = await database.query(
      "SELECT singleton_key FROM reconcile_queue.job WHERE state = 'created' ORDER BY priority DESC, created_on, id",
    );
    const served = order.slice(0, 57).map((row) => String(row["singleton_key"]));
    // The queue gives them in this order.
    expect(await serve(4)).toEqual(served.slice(0, 4));
    const parts = Object.entries(shares).map(
      ([tenant, weight]) => served.filter((stack) => stack.startsWith(tenant)).length / weight,
    );
    const [sum, squares] = [parts.reduce((a, b) => a + b, 0), parts.reduce((a, b) => a + b * b, 0)];
    expect((sum * sum) / (parts.length * squares)).toBeGreaterThanOrEqual(0.97);
  });

  test("whoever used what nobody else wanted owes nothing for it", async () => {
    await weights({ alone: 1, other: 1 });
    for (const stack of names("alone", 8))
      await queue.enqueue({ stack, tenant: "alone", cause: "interval", at: new Date(Date.now() + 20) });
    await serve(8);
    await queue.drain();
    const [row] = await database.query(
      `SELECT t.finish - s.start AS ahead FROM reconcile_fleet.tenants t, reconcile_fleet.served s WHERE t.name = 'alone'`,
    );
    expect(Number(row?.["ahead"])).toBeLessThanOrEqual(1);
  });
});
