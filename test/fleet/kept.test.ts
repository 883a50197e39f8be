/** What a fleet keeps and what it forgets, and how it counts the workers that it lost: on the database inside this process. */
import { utimesSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workerName } from "../../reconciler/cli/fleet/work";
import { onlyDefined } from "../../reconciler/core/text/objects";
import { carryOutChanges, pause, stop } from "../../reconciler/fleet/actions";
import type { Database } from "../../reconciler/fleet/database/database";
import { openDatabase } from "../../reconciler/fleet/database/open";
import type { Records } from "../../reconciler/fleet/database/records";
import type { StartedRun } from "../../reconciler/fleet/database/runs";
import { openQueue } from "../../reconciler/fleet/queue";
import { newStatus, whileRunning } from "../../reconciler/fleet/status";
import { fullTenants } from "../../reconciler/fleet/waiting";
import { beginRun, idleQueue, recordsOn, stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";
// What the first version with a fleet asks of its tables, taken from its own build.
import firstVersion from "./first-version.json";

const idleWorker = { version: "x", concurrency: 1, doing: [], draining: false, services: [], troubles: [] };

describe("what a fleet keeps", () => {
  const folder = makeFolder();
  let database: Database;
  let records: Records;
  beforeAll(async () => {
    ({ database, records } = await recordsOn(await openDatabase("embedded", folder)));
    for (const name of ["shop", "lost", "deadly", "a", "b", "fresh", "preempted", "killing"])
      await records.saveStacks([stackSpec(name)]);
  });
  afterAll(() => database.close());

  test("an embedded database is open once: what is written to a second copy would be lost", async () => {
    await expect(openDatabase("embedded", folder)).rejects.toThrow(`is in use by process ${process.pid} on`);
    // A process that was stopped for longer than its lease goes on as if nothing were.
    const lock = join(folder, ".reconcile/fleet.lock");
    utimesSync(lock, 0, 0);
    await expect(openDatabase("embedded", folder)).rejects.toMatchObject({
      message: expect.stringContaining(`is in use by process ${process.pid} on`),
      fix: `that process has shown no sign of life for longer than 60 seconds: end it first; if ${process.pid} is another program by now, delete ${lock}`,
    });
    const other = makeFolder();
    for (let time = 0; time < 2; time++) await (await openDatabase("embedded", other)).close();
  });

  const inMs = (ms: number) => new Date(Date.now() + ms);
  const start = (stack: string, worker = "w:1") => beginRun(records, { stack, worker });
  const isHeld = async (stack: string, worker: string) =>
    "held" in (await records.startRun({ stack, cause: "interval", worker, status: newStatus }));
  const end = (run: StartedRun, result: "in_sync" | "failed" = "in_sync") =>
    records.finishRun(run.id, { result, reason: null, counts: {} }, newStatus, null);
  /** This database counts in milliseconds, and a fast machine does two things in one. */
  async function tick(): Promise<void> {
    const read = async () => (await database.query("SELECT now()::text AS now"))[0]?.["now"];
    const before = await read();
    while ((await read()) === before);
  }
  /** It gave no sign of life for so long that the queue gives its rounds to others. */
  const died = (name: string) =>
    database.query("UPDATE reconcile_fleet.workers SET alive_at = now() - interval '8 seconds' WHERE name = $1", [
      name,
    ]);
  async function run(stack: string, result: "in_sync" | "applied" | "failed", daysAgo: number): Promise<number> {
    const { id } = await start(stack);
    await records.finishRun(id, { result, reason: null, counts: {} }, newStatus, null);
    await records.addLines(id, [{ at: new Date(), body: { type: "x" } }]);
    await database.query(
      "UPDATE reconcile_fleet.runs SET ended_at = now() - $2 * interval '1 day', started_at = now() - $2 * interval '1 day' WHERE id = $1",
      [id, daysAgo],
    );
    return id;
  }

  test("is kept by age: what changed nothing goes first, and the last run of a stack stays", async () => {
    const [old, quiet, changed, fresh] = [
      await run("shop", "applied", 500),
      await run("shop", "in_sync", 10),
      await run("shop", "applied", 10),
      await run("shop", "in_sync", 1),
    ];
    const last = await run("shop", "in_sync", 600);
    await run("released", "in_sync", 10);
    await records.note({ who: "ann", what: "run", stack: "shop" });
    await records.note({ who: "ann", what: "pause", stack: "shop" });
    await database.query("UPDATE reconcile_fleet.decisions SET at = now() - interval '500 days' WHERE what = 'run'");
    const dayMs = 86_400_000;
    expect(await records.forget({ quietMs: 3 * dayMs, changesMs: 400 * dayMs })).toBe(false);
    const kept = (await records.runs(undefined, 50)).map(({ id }) => id);
    expect(kept).toEqual([last, fresh, changed]);
    expect(kept).not.toContain(old);
    expect(kept).not.toContain(quiet);
    const lines = await database.query("SELECT DISTINCT run FROM reconcile_fleet.run_lines ORDER BY run");
    expect(lines.map(({ run: id }) => Number(id))).toEqual([changed, fresh, last]);
    expect((await records.decisions("shop", 5)).map(({ what }) => what)).toEqual(["pause"]);
  });

  test("a worker of the first version finds in today's tables what it asks for, and fills all that has to be filled", async () => {
    const { query } = database;
    const refused: string[] = [];
    for (const statement of firstVersion.statements)
      await database
        .run(`PREPARE of_before AS ${statement}; DEALLOCATE of_before`)
        .catch((error: Error) => refused.push(`${error.message}: ${statement}`));
    expect(refused).toEqual([]);
    const tables = [...new Set(firstVersion.required.map((column) => column.split(".")[0]))];
    const required = await query(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'reconcile_fleet'
         AND is_nullable = 'NO' AND column_default IS NULL AND table_name = ANY($1) ORDER BY 1`,
      [tables],
    );
    expect(required.map(({ name }) => String(name)).filter((name) => !firstVersion.required.includes(name))).toEqual(
      [],
    );
  });

  test("one worker forgets at a time", async () => {
    expect([await records.claimTask("forget", 300), await records.claimTask("forget", 300)]).toEqual([true, false]);
  });

  test("counts workers that died one after the other, and none that lives or handed over", async () => {
    expect(await start("lost", "a:1")).toMatchObject({ tookOver: false, lost: 0 });
    expect(await start("lost", "b:1")).toMatchObject({ tookOver: true, lost: 1 });
    expect(await start("lost", "c:1")).toMatchObject({ tookOver: true, lost: 2 });
    // One of them was only cut off.
    await tick();
    await records.beat({ ...idleWorker, name: "a:1" });
    const handing = await start("lost", "d:1");
    expect(handing).toMatchObject({ tookOver: true, lost: 2 });
    const end = { result: "taken_over" as const, reason: "its worker was stopped", counts: {} };
    expect(await records.finishRun(handing.id, end, newStatus, null)).toBe(true);
    // It was stopped, and then its worker died: nothing of it runs any more.
    const begun = { stack: "lost", worker: "e:1", status: whileRunning(newStatus) };
    expect(await beginRun(records, begun)).toMatchObject({ tookOver: false, lost: 0 });
    expect((await records.stack("lost"))?.status.reconciling).toBe(true);
    await records.endLostRuns("lost", "f:1");
    expect((await records.stack("lost"))?.status.reconciling).toBe(false);
    const ended = await start("lost", "f:1");
    expect(ended).toMatchObject({ tookOver: false, lost: 1 });
    await records.finishRun(ended.id, { result: "failed", reason: "no", counts: {} }, newStatus, null);
    expect(await start("lost", "g:1")).toMatchObject({ tookOver: false, lost: 0 });
  });

  test("a worker that did not hear that its round had begun has not died", async () => {
    await records.beat({ ...idleWorker, name: "deaf:1" });
    await start("unheard", "dead:1");
    for (let nth = 1; nth <= 4; nth++)
      expect(await start("unheard", "deaf:1")).toMatchObject({ tookOver: true, lost: 1, blamed: 0 });
    const cutOff = "its worker lives, and was cut off from the database; deaf:1 went on";
    const [open, ...ended] = (await records.runs("unheard", 5)).map(({ reason }) => reason);
    expect(open).toBeUndefined();
    expect(ended).toEqual([cutOff, cutOff, cutOff, "its worker gave no sign of life any more; deaf:1 went on"]);
    await records.endLostRuns("unheard", "deaf:1");
    expect((await records.runs("unheard", 1))[0]?.reason).toBe(cutOff);
    // Nor has one beside which another takes what it did not hear of.
    for (const name of ["left:1", "right:1"]) await records.beat({ ...idleWorker, name }, 60);
    // In a large fleet one that had nothing to do gives a sign of life once a minute.
    await database.query(
      "UPDATE reconcile_fleet.workers SET alive_at = now() - interval '50 seconds' WHERE name ~ '^(left|right):'",
    );
    for (const name of ["left:1", "right:1", "left:1", "right:1", "left:1"])
      expect(await start("by turns", name)).toMatchObject({ lost: 0 });
    await database.query(
      "UPDATE reconcile_fleet.runs SET ended_at = now() - interval '9 seconds' WHERE stack = 'by turns' AND ended_at IS NOT NULL",
    );
    await died("left:1");
    expect(await start("by turns", "right:1")).toMatchObject({ tookOver: true, lost: 1 });
  });

  test("a worker whose machine was taken away after it was told to end counts against no stack", async () => {
    const name = "preempted:1";
    const beat = (draining: boolean) => records.beat({ ...idleWorker, name, draining });
    await beat(false);
    await start("moved", name);
    await beat(true);
    // It is gone in the middle of its round: another one goes on, and nothing is counted, now or later.
    const next = await start("moved", "next:1");
    expect(next).toMatchObject({ tookOver: true, lost: 0 });
    expect(await start("moved", "other:1")).toMatchObject({ tookOver: true, lost: 1 });
  });

  test("a worker that was started anew is another one, whatever machine and process it runs as", async () => {
    const [first, second] = [workerName(), workerName()];
    expect(first).not.toBe(second);
    expect(first.startsWith(`${hostname()}:${process.pid}:`)).toBe(true);
    await start("restarted", first);
    await start("restarted", second);
    // The new one lives, which says nothing of the dead one.
    await records.beat({ ...idleWorker, name: second });
    await died(second);
    expect(await start("restarted", workerName())).toMatchObject({ lost: 2 });
  });

  test("three machines that are taken away without a word are not blamed on a stack, and six are", async () => {
    const beat = (name: string) => records.beat({ ...idleWorker, name });
    const blamed: number[] = [];
    for (let nth = 1; nth <= 7; nth++) {
      await beat(`node${nth}:1`);
      blamed.push((await start("preempted", `node${nth}:1`)).blamed);
      await died(`node${nth}:1`);
    }
    expect(blamed).toEqual([0, 0, 1, 1, 2, 2, 3]);
    // The process on a machine is started anew, as a container is in its pod: the machine was there all the time.
    for (const host of ["node8", "node9"]) {
      await start("killing", `${host}:1`);
      await tick();
      await beat(`${host}:2`);
    }
    expect(await start("killing", "node10:1")).toMatchObject({ lost: 2, blamed: 2 });
  });

  test("gives up the stack that kills its workers, and none that ran beside it at every death", async () => {
    // They run together, and their worker dies; so does the next one. One death may have any cause: they begin at once.
    for (const worker of ["here:one", "here:two"])
      for (const [stack, lost] of [["deadly"], ["a"], ["b"]].map(
        ([name = ""]) => [name, worker === "here:one" ? 0 : 1] as const,
      ))
        expect(await start(stack, worker)).toMatchObject({ lost });
    // From now on one suspect at a time on a worker; whatever lost nothing runs beside it.
    const a = await start("a", "here:three");
    expect(a.lost).toBe(2);
    expect([await isHeld("deadly", "here:three"), await isHeld("b", "here:three")]).toEqual([true, true]);
    await start("fresh", "here:three");
    // Another worker has a place for one of them.
    const b = await start("b", "here:four");
    expect(await isHeld("deadly", "here:four")).toBe(true);
    // It ended once, and is cleared; the deadly one has its turn, and takes with it only what lost nothing yet.
    await end(a);
    const deadly = await start("deadly", "here:three");
    expect(deadly.lost).toBe(2);
    const again = await start("a", "here:three");
    expect(again.lost).toBe(0);
    // The third worker dies.
    const last = await start("deadly", "here:four").catch((error: Error) => error.message);
    // Three are enough: it begins only to be given up, whoever runs beside it.
    expect(last).toMatchObject({ lost: 3, blamed: 3 });
    await end(last as StartedRun, "failed");
    for (const stack of ["a", "fresh"]) {
      const run = await start(stack, "here:five");
      expect(run.lost).toBe(1);
      await end(run);
    }
    await end(b);
  });

  test("a stack whose worker was lost once waits beside one that lost two, and not for ever", async () => {
    for (const worker of ["six:1", "seven:1"]) await start("a", worker);
    await start("b", "six:1");
    const twice = await start("a", "eight:1");
    expect(twice.lost).toBe(2);
    expect(await isHeld("b", "eight:1")).toBe(true);
    // What held it is the open run, and nothing else: no run of its own was begun or ended.
    expect((await records.runs("b", 1))[0]).toMatchObject({ worker: "six:1" });
    await end(twice);
    const once = await start("b", "eight:1");
    expect(once).toMatchObject({ lost: 1, tookOver: true });
    await end(once);
  });

  test("a running stack says that it waits for a budget, one that is due that it waits for a share, and no other does", async () => {
    const budget = { what: "budget", detail: "the budget of in-west is used up" } as const;
    const share = { what: "share", detail: "the tenant labs has its 2 rounds" } as const;
    const waits = async (name: string) => (await records.stack(name))?.status.waitingFor;
    const begun = await start("shop", "waits:1");
    await records.sayWaiting("waits:1", ["shop", "fresh"], budget);
    expect([await waits("shop"), await waits("fresh")]).toEqual([budget, null]);
    await records.sayWaiting("another:1", ["shop"], null);
    expect(await waits("shop")).toEqual(budget);
    await records.sayWaitingForPlace(["shop", "fresh"], share);
    expect([await waits("shop"), await waits("fresh")]).toEqual([budget, share]);
    await end(begun);
    // It came too late: the round has ended.
    await records.sayWaiting("waits:1", ["shop"], budget);
    expect(await waits("shop")).toBeNull();
    expect(whileRunning({ ...newStatus, waitingFor: share }).waitingFor).toBeNull();
    const tenants = [
      { name: "labs", weight: 1, maxRunning: 2 },
      { name: "a", weight: 1, maxRunning: 3 },
      { name: "b", weight: 1 },
    ];
    const load = [
      { tenant: "labs", running: 2 },
      { tenant: "a", running: 2 },
      { tenant: "b", running: 99 },
    ];
    expect([...fullTenants(tenants, load)]).toEqual([["labs", share]]);
  });

  test("a round that is wanted sooner comes forward, and none is put off", async () => {
    const queue = await openQueue({ database, sendsOnly: true, onError: () => undefined });
    const waiting = async () =>
      database.query(
        "SELECT extract(epoch FROM start_after - now()) AS s, data ->> 'cause' AS cause FROM reconcile_queue.job WHERE singleton_key = 'shop' AND state = 'created'",
      );
    await queue.enqueue({ stack: "shop", tenant: "a", cause: "interval", at: inMs(3_600_000) });
    await queue.enqueue({ stack: "shop", tenant: "a", cause: "retry", at: inMs(60_000) });
    await queue.enqueue({ stack: "shop", tenant: "a", cause: "interval", at: inMs(1_800_000) });
    const [only, ...others] = await waiting();
    expect([only?.["cause"], others]).toEqual(["retry", []]);
    expect(Number(only?.["s"])).toBeLessThanOrEqual(60);
    await queue.close();
  });

  test("a round that was taken and did not come to its end says so to whoever takes it next", async () => {
    const queue = await openQueue({ database, onError: () => undefined });
    const taken: (true | undefined)[] = [];
    let isOver = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    await queue.work({
      concurrency: 1,
      tenants: [],
      async round({ stack, again }) {
        if (stack !== "twice") return;
        taken.push(again);
        if (taken.length === 1) throw new Error("Connection terminated unexpectedly");
        // It is put back once, because there is no place for it.
        if (taken.length === 2) await queue.enqueue({ stack, tenant: "a", cause: "person", ...onlyDefined({ again }) });
        else isOver();
      },
    });
    await queue.enqueue({ stack: "twice", tenant: "a", cause: "person" });
    await over;
    expect(taken).toEqual([undefined, true, true]);
    await queue.drain();
    await queue.close();
  });

  test("whoever watches the plans that wait is told of one, which is written after its round has ended", async () => {
    const { moment } = await records.overview();
    await records.savePlan("shop", {
      digest: "d",
      revision: "r",
      body: { text: "", consents: [], opens: [], why: "" },
    });
    expect((await records.overview()).moment).not.toBe(moment);
    await records.dropPlan("shop");
  });

  test("a stack that leaves while its round ends leaves nothing that one of its name would find", async () => {
    await records.saveStacks([stackSpec("brief")]);
    await records.releaseStack("brief");
    const body = { text: "", consents: [], opens: [], why: "" };
    await records.savePlan("brief", { digest: "0123456789abcdef", revision: "r", body });
    await records.savePicture("brief", "d", { sides: [], left: 0, asOf: "looked" });
    await records.saveStacks([stackSpec("brief")]);
    expect([await records.waitingPlan("brief"), await records.picture("brief")]).toEqual([undefined, undefined]);
    await records.releaseStack("brief");
  });

  test("what a sync has done is in the history, also where it was cut off behind that", async () => {
    const cutOff = async (): Promise<void> => {
      throw new Error("cut off");
    };
    const desk = { records, queue: { ...idleQueue, hasten: cutOff, hastenAll: cutOff }, who: "ann" };
    const spec = stackSpec("synced");
    for (const action of ["add", "destroy", "release"] as const) {
      const changes = [spec, stackSpec("behind it")].map((one) => ({ action, name: one.name, spec: one, fields: [] }));
      // The queue is asked between the two, or behind both that are written at once.
      if (action === "release") desk.queue.forget = async (name) => (name === spec.name ? undefined : cutOff());
      await expect(carryOutChanges(desk, changes)).rejects.toThrow("cut off");
      expect((await records.decisions("synced", 9)).at(0)).toMatchObject({ who: "ann", what: "sync", detail: action });
    }
    expect((await records.decisions("behind it", 9)).map(({ detail }) => detail)).toEqual(["add"]);
  });

  test("a round that is put back beside another one that waits, or that is asked for meanwhile, is the one that was taken", async () => {
    const queue = await openQueue({ database, onError: () => undefined, sendsOnly: true });
    const trigger = (stack: string) => ({ stack, tenant: "a", cause: "interval" }) as const;
    const putBack = (stack: string) => queue.enqueue({ ...trigger(stack), again: true, turn: 1, at: inMs(1000) });
    const acts: Readonly<Record<string, (stack: string) => Promise<unknown>>> = {
      "before, for later": async (stack) => {
        await queue.enqueue({ ...trigger(stack), at: inMs(60_000) });
        await putBack(stack);
      },
      "before, for now": async (stack) => {
        await queue.hasten(trigger(stack));
        await putBack(stack);
      },
      "after it, by its time": async (stack) => {
        await putBack(stack);
        await queue.enqueue({ ...trigger(stack), at: inMs(1) });
      },
      "after it, by a person": async (stack) => {
        await putBack(stack);
        await queue.hasten({ ...trigger(stack), cause: "person" });
      },
      "after it, for many": async (stack) => {
        await putBack(stack);
        await queue.hastenAll([trigger(stack)]);
      },
      "in its turn, for now": async (stack) => {
        await queue.hasten(trigger(stack));
        await queue.enqueue({ ...trigger(stack), again: true });
      },
    };
    for (const [name, act] of Object.entries(acts)) {
      await act(name);
      const rows = await database.query(
        "SELECT data -> 'again' AS again FROM reconcile_queue.job WHERE singleton_key = $1 AND state = 'created'",
        [name],
      );
      expect(rows, name).toEqual([{ again: true }]);
    }
    await queue.close();
  });

  test("a stack that is paused, stopped or let go after its worker died holds no place of its service", async () => {
    const queue = await openQueue({ database, onError: () => undefined });
    const desk = { records, queue, who: "ann" };
    const waits = async (name: string) =>
      (await database.query("SELECT FROM reconcile_queue.job WHERE singleton_key = $1 AND state = 'created'", [name]))
        .length;
    const acts: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
      rests: (name) => pause(desk, name),
      halts: (name) => stop(desk, name, { now: false }),
      goes: (name) => carryOutChanges(desk, [{ action: "release", name, spec: stackSpec(name), fields: [] }]),
    };
    for (const [name, act] of Object.entries(acts)) {
      await records.saveStacks([stackSpec(name)]);
      // Another worker had its round, and put it back because there was no place for it.
      const dead = await start(name, "dead:1");
      await queue.enqueue({ stack: name, tenant: "a", cause: "interval" });
      await act(name);
      // Whoever takes it ends what the dead one left.
      expect([name, await waits(name)]).toEqual([name, 1]);
      await end(dead);
      await act(name);
      expect([name, await waits(name)]).toEqual([name, 0]);
    }
    await queue.close();
  });

  test("a stack whose round the queue lost is queued again, and no other one", async () => {
    const queue = await openQueue({ database, onError: () => undefined });
    await database.run("DELETE FROM reconcile_queue.job; DELETE FROM reconcile_fleet.stacks");
    const next = { now: "now()", late: "now() - interval '40 days'", never: "NULL" };
    const cases: readonly (readonly [string, keyof typeof next, string])[] = [
      ["added", "never", ""],
      ["lost", "late", ""],
      ["given-up", "never", `, status = status || '{"stalled": true}'`],
      ["paused", "late", ", paused = true"],
      ["between-rounds", "now", ""],
      ["waiting", "late", ""],
    ];
    await records.saveStacks(cases.map(([name]) => stackSpec(name, { tenant: "labs", service: "here" })));
    for (const [name, at, more] of cases)
      await database.run(`UPDATE reconcile_fleet.stacks SET next_at = ${next[at]}${more} WHERE name = '${name}'`);
    await queue.enqueue({ stack: "waiting", tenant: "labs", cause: "person" });
    await queue.maintain();
    await queue.maintain();
    const rows = await database.query(
      "SELECT singleton_key AS stack, data ->> 'cause' AS cause, group_tier AS tier FROM reconcile_queue.job ORDER BY 1",
    );
    expect(rows.map(({ stack, cause, tier }) => `${stack} ${cause} (${tier})`)).toEqual([
      "added interval (labs here)",
      "lost interval (labs here)",
      "waiting person (labs )",
    ]);
    await queue.close();
  });
});
