/**
 * A fleet that does nothing but look, each stack once in its interval: how late a round begins, what it costs the database,
 * and what grows. The small size shows that it is measured; `npm run campaign:fleet-steady` runs 5,000 stacks for half an hour.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage, standOnCopies, twentyGroups } from "../support/fleet-processes";
import { postgresMissing } from "../support/postgres-server";

const sizeOf = (name: string, small: number): number => Number(process.env[name] ?? small);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(postgresMissing !== undefined)("a fleet that only looks", () => {
  const count = sizeOf("FLEET_STEADY_STACKS", 24);
  const workers = sizeOf("FLEET_STEADY_WORKERS", 1);
  const intervalS = sizeOf("FLEET_STEADY_INTERVAL_S", 3);
  const seconds = sizeOf("FLEET_STEADY_SECONDS", 6);
  const many = Array.from({ length: count }, (_, index) => `many-${index}`);
  let stage: FleetStage;

  beforeAll(async () => {
    stage = await openFleetStage();
    stage.write("load/reconcile.yaml", twentyGroups);
    const fleet = (names: readonly string[]): string => `version: 1
${stage.services}
defaults: { service: here, interval: ${intervalS}s, state: "${stage.database}?state=\${stack}" }
history: { quiet: ${Math.max(60, 2 * intervalS)}s }
stacks:
  first: { source: { folder: ./load }, interval: 24h }
${names.map((name) => `  ${name}: { source: { folder: ./load } }`).join("\n")}
`;
    await stage.sync(fleet([]));
    for (let index = 0; index < workers; index++) await stage.worker("--concurrency", "8");
    await stage.until("first", ({ status }) => status.ready);
    await standOnCopies(stage, many);
    const asked = Date.now();
    await stage.sync(fleet(many));
    const synced = Date.now();
    await eventually("a first look at each", async () => {
      const rows = await stage.session.database.query(
        "SELECT count(DISTINCT stack)::int AS n FROM reconcile_fleet.runs WHERE ended_at IS NOT NULL",
      );
      if (Number(rows[0]?.["n"]) > count) return true;
      await pause(500);
      return undefined;
    });
    const firstSweepS = Math.round((Date.now() - asked) / 1000);
    // The aim is two minutes for 5,000 stacks with four workers: twice as long is a break.
    if (count >= 1000) expect(firstSweepS).toBeLessThanOrEqual((2 * 120 * count) / 5000);
    console.log(
      `L2: the first look at ${count} stacks took ${firstSweepS} s, the sync of the file within it ${Math.round((synced - asked) / 1000)} s`,
    );
  });
  afterAll(() => stage.close());

  const numberOf = async (sql: string): Promise<number> =>
    Number((await stage.session.database.query(sql))[0]?.["n"] ?? 0);
  const transactions = () =>
    numberOf("SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()");
  const memory = (): number =>
    Math.max(
      ...[...stage.workers].map(({ child }) =>
        Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024),
      ),
    );
  const sizes = async () =>
    new Map(
      (
        await stage.session.database.query(
          `SELECT schemaname || '.' || relname AS t, n_live_tup AS n FROM pg_stat_user_tables
           WHERE schemaname IN ('reconcile', 'reconcile_fleet', 'reconcile_queue') AND n_live_tup > 0`,
        )
      ).map((row) => [String(row["t"]), Number(row["n"])]),
    );

  interface Look {
    readonly mb: number;
    readonly rows: ReadonlyMap<string, number>;
  }
  const mostRows = (looks: readonly Look[], table: string): number =>
    Math.max(0, ...looks.map(({ rows }) => rows.get(table) ?? 0));
  const mostMemory = (looks: readonly Look[]): number => Math.max(...looks.map(({ mb }) => mb));

  test("L2: rounds begin in time, cost few statements, and leave nothing that grows", { timeout: 0 }, async () => {
    // PostgreSQL tells a second late what it counted.
    await pause(1500);
    const before = await transactions();
    const began = Date.now();
    const runsBefore = await numberOf("SELECT max(id) AS n FROM reconcile_fleet.runs");
    const writes = stage.emulator.requests().log.filter(({ method }) => method !== "GET").length;
    const seen: Look[] = [];
    const looks = Math.max(2, Math.min(30, Math.floor(seconds / 60)));
    for (let look = 0; look < looks; look++) {
      await pause((seconds * 1000) / looks);
      seen.push({ mb: memory(), rows: await sizes() });
    }
    // A busy machine gets there later.
    const rounds = await eventually("as many rounds as the intervals ask for", async () => {
      const n = (await numberOf("SELECT max(id) AS n FROM reconcile_fleet.runs")) - runsBefore;
      if (n >= ((seconds / intervalS) * count) / 2) return n;
      await pause(500);
      return undefined;
    });
    const each = ((await transactions()) - before) / rounds;
    // What a worker asks for while nothing is due.
    const idle = (8 * workers * (Date.now() - began)) / 1000 / rounds;
    // The queue keeps what ended for ten minutes.
    const [lag] = await stage.session.database.query(
      `SELECT percentile_cont(ARRAY[0.5, 0.99, 1]) WITHIN GROUP (ORDER BY extract(epoch FROM started_on - start_after)) AS s
       FROM reconcile_queue.job WHERE name = 'rounds' AND started_on > now() - interval '${seconds} seconds' AND data ->> 'cause' = 'interval'`,
    );
    const [median, p99, most] = (Array.isArray(lag?.["s"]) ? lag["s"] : []).map(Number);
    const last = seen.at(-1);
    // What is kept for a while is deleted every few minutes: the most of one third is held against the most of another.
    const third = Math.max(1, Math.floor(seen.length / 3));
    const middle = seen.slice(third, 2 * third);
    const end = seen.slice(-third);
    const grown = [...(last?.rows.keys() ?? [])].filter(
      (table) => mostRows(end, table) > 1.2 * mostRows(middle, table) + 100,
    );
    console.log(
      `L2: ${count} stacks every ${intervalS} s for ${seconds} s, ${workers} workers: ${rounds} rounds, late by ${median?.toFixed(2)} s (median), ${p99?.toFixed(2)} s (p99), ${most?.toFixed(2)} s (most); ${each.toFixed(1)} statements a round; memory ${seen.map(({ mb }) => mb).join(" ")} MB; grown in the last third: ${JSON.stringify(grown)}; rows ${JSON.stringify([...(last?.rows ?? [])].filter(([, n]) => n >= count))}`,
    );
    expect(stage.emulator.requests().log.filter(({ method }) => method !== "GET").length).toBe(writes);
    // What idle workers ask weighs less, the more rounds there are: the full size bears it.
    expect(count >= 1000 ? each : each - idle).toBeLessThanOrEqual(12);
    if (count >= 1000) expect(p99).toBeLessThanOrEqual(5);
    if (seen.length >= 15) {
      expect(grown).toEqual([]);
      expect(mostMemory(end)).toBeLessThanOrEqual(1.1 * mostMemory(middle));
    }
    expect(
      await numberOf(
        `SELECT count(*) AS n FROM reconcile_fleet.runs WHERE result <> 'in_sync' AND id > ${String(runsBefore)}`,
      ),
    ).toBe(0);
  });

  test("K4: all workers replaced one after the other, and no more rounds than without", { timeout: 0 }, async () => {
    const now = async (): Promise<Date> =>
      new Date(String((await stage.session.database.query("SELECT now()::text AS now"))[0]?.["now"]));
    const begunBetween = async (from: Date, to: Date): Promise<readonly number[]> =>
      (
        await stage.session.database.query(
          "SELECT extract(epoch FROM started_at) AS at FROM reconcile_fleet.runs WHERE started_at >= $1 AND started_at < $2 ORDER BY started_at",
          [from, to],
        )
      ).map(({ at }) => Number(at));
    const mean = count / intervalS;
    /** The most that began in any so many seconds, of what begins in so many on the whole. */
    const most = (begun: readonly number[], windowS: number): number => {
      let first = 0;
      let found = 0;
      for (const [index, at] of begun.entries()) {
        while ((begun[first] ?? at) <= at - windowS) first++;
        found = Math.max(found, index - first + 1);
      }
      return found / (mean * windowS);
    };
    const from = await now();
    for (const worker of [...stage.workers]) {
      await Promise.all([stage.stop(worker), stage.worker("--concurrency", "8")]);
      await pause((intervalS * 1000) / 2 / workers);
    }
    await pause(Math.max(0, from.getTime() + 2000 * intervalS - (await now()).getTime()));
    const to = await now();
    const seconds = (to.getTime() - from.getTime()) / 1000;
    const begun = await begunBetween(from, to);
    const before = await begunBetween(new Date(from.getTime() - 2000 * intervalS), from);
    const [half, whole] = [most(begun, intervalS / 2), most(begun, intervalS)];
    console.log(
      `K4: ${workers} workers replaced in ${seconds.toFixed(0)} s: ${begun.length} rounds of ${count} stacks; of the mean, at most ${half.toFixed(2)} in any half of an interval and ${whole.toFixed(2)} in any whole one (before: ${most(before, intervalS / 2).toFixed(2)}, ${most(before, intervalS).toFixed(2)})`,
    );
    expect(begun.length).toBeLessThanOrEqual(1.2 * count * (seconds / intervalS + 1));
    // Few stacks have their moments unevenly, and an interval of seconds is shorter than a restart.
    if (count >= 400) {
      expect(half).toBeLessThanOrEqual(1.2);
      expect(whole).toBeLessThanOrEqual(1.2);
    }
    // A worker that drains while it reads or looks hands that round over, which is no failure.
    expect(
      await stage.session.database.query(
        "SELECT stack, result, reason FROM reconcile_fleet.runs WHERE started_at >= $1 AND result NOT IN ('in_sync', 'taken_over')",
        [from],
      ),
    ).toEqual([]);
  });
});
