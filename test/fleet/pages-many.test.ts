/** The pages of a fleet of thousands: what one look at them costs, in statements and bytes. On a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readMetrics } from "../../reconciler/cli/fleet/work";
import { hashOf } from "../../reconciler/fleet/access";
import type { Database } from "../../reconciler/fleet/database/database";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { createRecords } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { createProvider } from "../../reconciler/fleet/identity";
import { metricsText } from "../../reconciler/fleet/metrics";
import { createPages } from "../../reconciler/fleet/pages/app";
import { newStatus } from "../../reconciler/fleet/status";
import { conditions, stackConditionOf } from "../../reconciler/fleet/views";
import { idleQueue, stackSpec } from "../support/fleet-stage";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";

const many = 10_000;

describe.skipIf(postgresMissing !== undefined)(`the pages of ${many} stacks`, () => {
  let server: PostgresServer;
  let database: Database;
  let statements = 0;
  let read = 0;

  beforeAll(async () => {
    server = await startPostgres();
    const opened = await openDatabase(server.url, "");
    database = {
      ...opened,
      query: async (text, values) => {
        statements++;
        const rows = await opened.query(text, values);
        read += JSON.stringify(rows).length;
        return rows;
      },
    };
    await prepareTables(database);
    const status = { ...newStatus, ready: true, reason: null, observedRevision: "0123456789abcdef" };
    await database.query(
      `INSERT INTO reconcile_fleet.stacks (name, spec, status, outputs, next_at)
       SELECT 'stack-' || lpad(n::text, 5, '0'), jsonb_set($1::jsonb, '{name}', to_jsonb('stack-' || n)),
         CASE WHEN n % 100 = 0 THEN jsonb_set($2::jsonb, '{ready}', 'false') || '{"drifted": true, "reason": "vm.web differs"}' ELSE $2::jsonb END,
         '{"address": "10.0.0.1", "group": "sg-1"}', now() + interval '5 minutes'
       FROM generate_series(1, ${many}) AS n`,
      [JSON.stringify(stackSpec("x")), JSON.stringify(status)],
    );
    // A day of rounds would be more; what matters is that a page reads no more than the last of each.
    await database.query(
      `INSERT INTO reconcile_fleet.runs (stack, cause, worker, ended_at, result, counts)
       SELECT name, 'interval', 'worker:1', now(), 'in_sync', '{}' FROM reconcile_fleet.stacks, generate_series(1, 10)`,
    );
    await database.run("ANALYZE");
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });

  const pages = () =>
    createPages({
      records: createRecords(database),
      queue: idleQueue,
      local: async () => "ann",
      provider: createProvider(),
      pulled: async () => false,
      pushed: async () => ({ fetched: false, woken: [] }),
      hooks: { github: [], gitlab: [] },
      metrics: async () => metricsText(await readMetrics({ records: createRecords(database), queue: idleQueue })),
      say: () => undefined,
    });

  const looks: readonly [path: string, statements: number, bytes: number][] = [
    ["/", 3, 70_000],
    ["/?search=stack-0012&group=tenant", 3, 20_000],
    ["/?condition=Drifted", 3, 45_000],
    ["/?page=49", 3, 70_000],
    ["/stacks/stack-00042", 9, 20_000],
    // The sixth tells which receivers have not got their messages.
    ["/services", 6, 10_000],
    ["/history", 5, 80_000],
    ["/history?runs=all", 5, 80_000],
    // The fourth counts the messages to receivers that wait.
    ["/metrics", 4, 10_000],
  ];
  test.each(looks)("%s takes at most %i statements and %i bytes, and reads little more", async (path, most, bytes) => {
    const app = pages();
    const look = async () => {
      statements = 0;
      read = 0;
      const began = performance.now();
      const answer = await app.request(path, { headers: { host: "127.0.0.1" } });
      const { length } = await answer.text();
      return { status: answer.status, length, read, statements, ms: Math.round(performance.now() - began) };
    };
    await look();
    const seen = await look();
    if (process.env["FIGURES"] !== undefined) console.log(path, seen);
    expect(seen.status).toBe(200);
    expect(seen.statements).toBeLessThanOrEqual(most);
    expect(seen.length).toBeLessThan(bytes);
    // A hundred stacks with all that a line of them takes, and the names of the others.
    expect(seen.read).toBeLessThan(350_000);
  });

  test("thirty open pages ask the database once a second, and one look reads next to nothing", async () => {
    const app = pages();
    const stop = new AbortController();
    const [all, one] = [createRecords(database), "stack-00042"];
    const mark = (text: string | undefined) => hashOf(text ?? "gone").slice(0, 16);
    const marks = [mark((await all.overview()).moment), mark((await all.moments([one])).get(one))];
    const said = Array.from({ length: 30 }, async (_, index) => {
      const stack = index % 2 === 0 ? "" : `&stack=${one}`;
      const answer = await app.request(`/events?mark=${marks[index % 2]}${stack}`, {
        headers: { host: "127.0.0.1" },
        signal: stop.signal,
      });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
        text += read.value;
        if (text.includes("event: changed")) break;
      }
      await reader?.cancel();
      return text;
    });
    statements = 0;
    const began = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    // A look for what lists show and one for single stacks, however many watch.
    const seconds = Math.ceil((Date.now() - began) / 1000) + 1;
    if (process.env["FIGURES"] !== undefined)
      console.log(`30 open pages: ${statements} statements in ${seconds - 1} s`);
    expect(statements).toBeGreaterThan(0);
    expect(statements).toBeLessThanOrEqual(2 * seconds);
    await all.saveStatus(one, { ...newStatus, reason: "changed" });
    for (const text of await Promise.all(said)) expect(text).toContain("event: changed");
    stop.abort();
  });

  test("metrics count as conditions do", async () => {
    const records = createRecords(database);
    const [stacks, tallies] = [await records.stacks(), await records.tallies()];
    const count = (list: readonly string[]) => conditions.map((one) => list.filter((other) => other === one).length);
    expect(count(tallies.flatMap((tally) => Array<string>(tally.count).fill(stackConditionOf(tally))))).toEqual(
      count(stacks.map(stackConditionOf)),
    );
    expect(tallies.flatMap(({ names }) => names).length).toBe(
      stacks.filter((stack) => !["Ready", "New", "Reconciling"].includes(stackConditionOf(stack))).length,
    );
  });
});
