import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgresStore } from "../../reconciler/store/postgres";
import { StoreFailed } from "../../reconciler/store/store";
import { type PostgresServer, postgresMissing, postgresPassword, startPostgres } from "../support/postgres-server";
import { describeStore, holder, keysIn, line, snapshot } from "./conformance";

if (postgresMissing !== undefined)
  process.stderr.write(`\n*** PostgreSQL store NOT tested: ${postgresMissing} ***\n\n`);

describe.runIf(postgresMissing === undefined)("PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  describeStore("postgres", () => {
    const name = randomUUID();
    return { open: (times) => createPostgresStore(`${server.url}?state=${name}`, times) };
  });

  it("makes its tables in the schema that is named, for many first writers at once, and keeps states apart", async () => {
    const place = (state: string) => createPostgresStore(`${server.url}?schema=team%20"a"&state=${state}`);
    const sessions = await Promise.all(["one", "two", "three"].map((state) => place(state).lock(holder())));
    for (const [index, session] of sessions.entries()) {
      await session.replace(snapshot(1, session.epoch, [`k${index}`]));
      await session.append([line(2, session.epoch)]);
      await session.release();
    }
    expect(await keysIn(place("one"))).toEqual(["k0", "v2"]);
    expect(await keysIn(place("three"))).toEqual(["k2", "v2"]);
  });

  it("an append repeated because its answer was lost is there once", async () => {
    const { Client } = require("pg") as typeof import("pg");
    const store = createPostgresStore(`${server.url}?state=cut`);
    const session = await store.lock(holder());
    await session.append([line(1, session.epoch)]);
    const killer = new Client({ connectionString: server.url });
    await killer.connect();
    const cutAll = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reconcile'";
    for (let serial = 2; serial <= 30; serial++) {
      const appended = session.append([line(serial, session.epoch)]);
      if (serial % 4 === 0) await killer.query(cutAll);
      await appended;
    }
    await killer.end();
    expect((await store.read()).journal).toHaveLength(30);
    await session.release();
  });

  it("no message and no location shows the password", async () => {
    const store = createPostgresStore(server.url.replace("/postgres", "/nowhere").replace("127.0.0.1", "localhost"));
    expect(store.location).not.toContain(postgresPassword);
    const failed = await store.read().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StoreFailed);
    expect((failed as Error).message).toMatch(/nowhere/);
    expect((failed as Error).message).not.toContain(postgresPassword);
  });
});

describe("the PostgreSQL store without a server", () => {
  it("says that nobody answers, without the password", async () => {
    const failed = await createPostgresStore("postgres://ada:canary-pw@127.0.0.1:1/db")
      .read()
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StoreFailed);
    expect(String(failed)).toContain("ECONNREFUSED");
    expect(String(failed)).not.toContain("canary-pw");
  });
});
