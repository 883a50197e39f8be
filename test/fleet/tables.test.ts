import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withFleet } from "../../reconciler/cli/fleet/session";
import type { Database } from "../../reconciler/fleet/database/database";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { createRecords } from "../../reconciler/fleet/database/records";
import { prepareTables, schema } from "../../reconciler/fleet/database/tables";
import { eventually } from "../support/eventually";
import { stackSpec } from "../support/fleet-stage";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";

describe.skipIf(postgresMissing !== undefined)("tables of an earlier version", () => {
  let server: PostgresServer;
  let database: Database;
  beforeAll(async () => {
    server = await startPostgres();
    database = await openDatabase(server.url, "");
  });
  afterAll(async () => {
    await database?.close();
    await server?.stop();
  });

  const waits = async (): Promise<void> =>
    void (await eventually("the step waits", async () => {
      const [row] = await database.query(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%step%' AND pid <> pg_backend_pid()",
      );
      return Number(row?.["n"]) > 0 ? true : undefined;
    }));

  test("are brought up to date beside a worker that holds one of them and comes for another", async () => {
    // The steps after these change the stacks first and the repositories later.
    await prepareTables(database, 6);
    const older = new Client({ connectionString: server.url });
    await older.connect();
    await older.query(`BEGIN; SELECT * FROM ${schema}.repositories`);
    const prepared = prepareTables(database);
    await waits();
    await older.query(`SELECT * FROM ${schema}.stacks; COMMIT`);
    await prepared;
    await older.end();
    await createRecords(database).saveStacks([stackSpec("shop")]);
    expect((await createRecords(database).stack("shop"))?.spec.name).toBe("shop");
  });

  test("are prepared beside another that makes the schema after this one looked for it", async () => {
    await database.run(`DROP SCHEMA ${schema} CASCADE`);
    const other = new Client({ connectionString: server.url });
    await other.connect();
    await other.query("BEGIN; SELECT pg_advisory_xact_lock(hashtext('reconcile-fleet'))");
    const prepared = prepareTables(database);
    await waits();
    await other.query(`CREATE SCHEMA ${schema}; COMMIT`);
    await prepared;
    await other.end();
    expect(await createRecords(database).stack("shop")).toBeUndefined();
  });

  test("are prepared by several at once", async () => {
    await database.run(`DROP SCHEMA ${schema} CASCADE`);
    await Promise.all([1, 2, 3].map(() => prepareTables(database)));
    const [row] = await database.query(`SELECT count(*) = max(version) AS whole FROM ${schema}.version`);
    expect(row?.["whole"]).toBe(true);
  });

  test.each([
    [
      "the role has no right to it",
      "RESET ROLE; CREATE ROLE guest; SET ROLE guest; CREATE SCHEMA guests",
      /refuses: permission denied/,
    ],
    ["it only reads", "RESET ROLE; BEGIN READ ONLY; CREATE SCHEMA guests", /refuses: cannot execute CREATE SCHEMA/],
    [
      "its server ends the connection",
      "SELECT pg_terminate_backend(pg_backend_pid())",
      /does not answer: terminating connection/,
    ],
  ])("a command says what the database says where %s", async (_, statement, says) => {
    const asked = withFleet({ database: server.url }, (session) => session.database.run(statement));
    await expect(asked).rejects.toMatchObject({
      diagnostics: [{ code: "fleet/database", summary: expect.stringMatching(says) }],
    });
  });

  test("of a database that refuses to listen, as a standby does, are left with no connection", async () => {
    const ear = await database.listen(["no channel"], () => undefined);
    await ear.close();
    await eventually("the end of the connection", async () => {
      const [row] = await database.query("SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN no channel'");
      return row === undefined ? true : undefined;
    });
  });

  test("of a database that has no connection left are waited for, as of one that is away", async () => {
    await database.run("CREATE ROLE crowded LOGIN PASSWORD 'x' CONNECTION LIMIT 0");
    const crowded = Object.assign(new URL(server.url), { username: "crowded", password: "x" }).href;
    await expect(openDatabase(crowded, "")).rejects.toMatchObject({ code: "fleet/database", isAway: true });
  });
});
