/** What a fleet keeps and what it forgets, and how it counts the workers that it lost: on the database inside this process. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../reconciler/fleet/database/database";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { createRecords, type Records } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { newStatus } from "../../reconciler/fleet/status";
import { stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";

describe("what a fleet keeps", () => {
  let database: Database;
  let records: Records;
  beforeAll(async () => {
    database = await openDatabase("embedded", makeFolder());
    await prepareTables(database);
    records = createRecords(database);
    for (const name of ["shop", "lost"]) await records.saveStack(stackSpec(name));
  });
  afterAll(() => database.close());

  const start = (stack: string, worker = "w:1") =>
    records.startRun({ stack, cause: "interval", worker, status: newStatus });
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

  test("one worker forgets at a time", async () => {
    expect([await records.claimTask("forget", 300), await records.claimTask("forget", 300)]).toEqual([true, false]);
  });

  test("counts workers that died one after the other, and none that lives or handed over", async () => {
    expect(await start("lost", "a:1")).toMatchObject({ tookOver: false, lost: 0 });
    expect(await start("lost", "b:1")).toMatchObject({ tookOver: true, lost: 1 });
    expect(await start("lost", "c:1")).toMatchObject({ tookOver: true, lost: 2 });
    // One of them was only cut off.
    await records.beat({ name: "a:1", version: "x", concurrency: 1, doing: [], draining: false });
    const handing = await start("lost", "d:1");
    expect(handing).toMatchObject({ tookOver: true, lost: 2 });
    const end = { result: "taken_over" as const, reason: "its worker was stopped", counts: {} };
    expect(await records.finishRun(handing.id, end, newStatus, null)).toBe(true);
    expect(await start("lost", "e:1")).toMatchObject({ tookOver: false, lost: 0 });
    await records.endLostRuns("lost", "f:1");
    const ended = await start("lost", "f:1");
    expect(ended).toMatchObject({ tookOver: false, lost: 1 });
    await records.finishRun(ended.id, { result: "failed", reason: "no", counts: {} }, newStatus, null);
    expect(await start("lost", "g:1")).toMatchObject({ tookOver: false, lost: 0 });
  });
});
