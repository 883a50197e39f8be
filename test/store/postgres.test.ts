import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { driverAddress } from "../../reconciler/store/driver-address";
import { createPostgresStore, type PostgresLimits, removePostgresState } from "../../reconciler/store/postgres";
import { StoreFailed } from "../../reconciler/store/store";
import { eventually } from "../support/eventually";
import { type MoodyProxy, startMoodyProxy } from "../support/own-place";
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

  const query = async (text: string): Promise<void> => {
    const { Client } = require("pg") as typeof import("pg");
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(text);
    await client.end();
  };

  it("goes on with tables of an older version, with the rights to change them and without", async () => {
    const names = ["old_a", "old_b"] as const;
    for (const schema of names)
      await query(`CREATE SCHEMA ${schema};
        CREATE TABLE ${schema}.states (name text PRIMARY KEY, snapshot text, epoch bigint NOT NULL,
          token uuid, holder jsonb, alive_at timestamptz);
        CREATE TABLE ${schema}.journal (name text NOT NULL, line bigint NOT NULL, body text NOT NULL, PRIMARY KEY (name, line));`);
    await query(`CREATE ROLE guest LOGIN;
      GRANT USAGE ON SCHEMA old_b TO guest; GRANT ALL ON ALL TABLES IN SCHEMA old_b TO guest;`);
    for (const schema of names) {
      const url = new URL(server.url);
      if (schema === "old_b") url.username = "guest";
      const open = () => createPostgresStore(`${url}?schema=${schema}`);
      expect((await open().read()).journal).toEqual([]);
      for (let round = 0; round < 2; round++) {
        const session = await open().lock(holder());
        if (round === 0) await session.replace(snapshot(1, session.epoch, ["a"]));
        else await session.append([line(2, session.epoch)]);
        await session.release();
      }
      expect(await keysIn(open())).toEqual(["a", "v2"]);
    }
  });

  describeStore("postgres", () => {
    const name = randomUUID();
    return {
      open: (times) => createPostgresStore(`${server.url}?state=${name}`, times),
      loseLast: () =>
        query(
          `DELETE FROM reconcile.journal WHERE name = '${name}' AND line = (SELECT max(line) FROM reconcile.journal WHERE name = '${name}')`,
        ),
    };
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

  it("makes its tables in a schema that somebody else made for it, without the right to make schemas", async () => {
    await query('CREATE ROLE tenant LOGIN; CREATE SCHEMA "made for it" AUTHORIZATION tenant;');
    const url = new URL(server.url);
    url.username = "tenant";
    const store = createPostgresStore(`${url}?schema=made%20for%20it`);
    const session = await store.lock(holder());
    await session.append([line(1, session.epoch)]);
    await session.release();
    expect(await keysIn(store)).toEqual(["v1"]);
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

  it("a write that the network delivers once more, after what was written later, changes nothing", async () => {
    const { Client, Pool } = require("pg") as typeof import("pg");
    const sent = vi.spyOn(Pool.prototype, "query");
    const lastSent = () => sent.mock.calls.at(-1) as unknown as [string, unknown[]];
    const store = createPostgresStore(`${server.url}?state=late`);
    const network = new Client({ connectionString: server.url });
    await network.connect();
    for (const first of [1, 11]) {
      const before = sent.mock.calls.length;
      const session = await store.lock(holder());
      const taken = sent.mock.calls.slice(before) as unknown as [string, unknown[]][];
      const { epoch } = session;
      const late: [string, unknown[]][] = [];
      const write = async (writing: Promise<void>): Promise<void> => {
        await writing;
        const own = lastSent();
        for (const [text, values] of late) await network.query(text, values);
        late.push(own);
      };
      await write(session.replace(snapshot(first, epoch, [`s${first}`])));
      await write(session.append([line(first + 1, epoch)]));
      await write(session.append([line(first + 2, epoch), line(first + 3, epoch)]));
      const added = [1, 2, 3].map((n) => `v${first + n}`);
      expect(await keysIn(store)).toEqual([`s${first}`, ...added].sort());
      await write(session.replace(snapshot(first + 3, epoch, ["all"])));
      expect((await store.read()).journal).toEqual([]);
      expect(await keysIn(store)).toEqual(["all"]);
      await write(session.append([line(first + 4, epoch)]));
      expect(await keysIn(store)).toEqual(["all", `v${first + 4}`]);
      await session.release();
      for (const [text, values] of taken) await network.query(text, values);
      expect(await store.holder()).toBeUndefined();
    }
    await network.end();
    sent.mockRestore();
  });

  describe("on a way that fails", () => {
    const limits = { connectMs: 400, statementMs: 800, restartMs: 20_000 };
    let proxy: MoodyProxy;
    beforeEach(async () => {
      proxy = await startMoodyProxy(new URL(server.url));
    });
    afterEach(() => proxy.stop());
    const open = (name: string, over: Partial<PostgresLimits> = {}) => {
      const url = new URL(server.url);
      url.port = String(proxy.port);
      return createPostgresStore(`${url}?state=${name}`, undefined, { limits: { ...limits, ...over } });
    };

    it("a server that swallows everything ends in a failure of the store, and is not waited for without end", async () => {
      const store = open("mute", { restartMs: 1000 });
      const session = await store.lock(holder());
      proxy.set("swallows requests");
      for (const attempt of [() => session.append([line(1, session.epoch)]), () => store.read()]) {
        const failed = await attempt().catch((error: unknown) => error);
        expect(failed).toBeInstanceOf(StoreFailed);
        expect(String(failed)).toContain("did not answer within");
      }
    });

    it("a line behind one whose answer never came, and that is there, is another line", async () => {
      const store = open("unanswered", { restartMs: 1 });
      const session = await store.lock(holder());
      proxy.set("swallows answers");
      await expect(session.append([line(1, session.epoch)])).rejects.toThrow("did not answer within");
      proxy.set("open");
      await session.append([line(2, session.epoch)]);
      await session.release();
      expect(await keysIn(store)).toEqual(["v1", "v2"]);
    });

    it("is waited for as long as the address says", async () => {
      proxy.set("swallows requests");
      const url = new URL(server.url);
      url.port = String(proxy.port);
      const failed = await createPostgresStore(`${url}?connect_timeout=1`)
        .read()
        .catch((error: unknown) => error);
      expect(String(failed)).toContain("did not answer within 1 seconds");
      await query(`CREATE SCHEMA slow; CREATE TABLE slow.journal (name text, line bigint, body text);
        CREATE VIEW slow.states AS
          SELECT 'default' AS name, pg_sleep(60)::text AS snapshot, 1 AS epoch, 1 AS tail_epoch, 1 AS tail_line`);
      const limited = await createPostgresStore(`${server.url}?schema=slow&statement_timeout=100`)
        .read()
        .catch((error: unknown) => error);
      expect(String(limited)).toContain("did not answer within 0.1 seconds");
    });

    it.each([
      ["an hour", "statement_timeout=3600000"],
      ["longer than a timer goes", "statement_timeout=9999999999&connect_timeout=9999999999"],
    ])("waits for %s where the address says so", async (_, limits) => {
      const store = createPostgresStore(`${server.url}?schema=patient&${limits}`);
      expect(await store.read()).toEqual({ journal: [] });
    });

    it("a server that is away for some seconds is waited for, and the append is there once", async () => {
      const store = open("restarted");
      const session = await store.lock(holder());
      await session.append([line(1, session.epoch)]);
      proxy.set("closed");
      const appended = session.append([line(2, session.epoch)]);
      const read = store.read();
      await new Promise((done) => setTimeout(done, 2500));
      proxy.set("open");
      await Promise.all([appended, read]);
      await session.append([line(3, session.epoch)]);
      expect(await keysIn(store)).toEqual(["v1", "v2", "v3"]);
      await session.release();
    });

    it("an append whose answer is swallowed is sent again, and is there once", async () => {
      const store = open("swallowed");
      const session = await store.lock(holder());
      await session.append([line(1, session.epoch)]);
      proxy.set("swallows answers");
      const appended = session.append([line(2, session.epoch), line(3, session.epoch)]);
      await eventually("the lines in the table", async () => {
        const { journal } = await createPostgresStore(`${server.url}?state=swallowed`).read();
        return journal.length === 3 ? true : undefined;
      });
      proxy.set("open");
      await appended;
      expect((await store.read()).journal).toHaveLength(3);
      await session.release();
    });
  });

  it("a standby that is about to take the place of the server is waited for, and one that was always there is not", async () => {
    const readOnly = "options=-c%20default_transaction_read_only%3Don";
    await expect(createPostgresStore(`${server.url}?state=standby&${readOnly}`).lock(holder())).rejects.toThrow(
      "read-only transaction",
    );
    const store = createPostgresStore(`${server.url}?state=promoted`);
    const session = await store.lock(holder());
    await query(`CREATE SEQUENCE looks;
      CREATE FUNCTION refuse_twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('looks') < 3 THEN RAISE 'read-only' USING ERRCODE = '25006'; END IF;
        RETURN NEW; END $$;
      CREATE TRIGGER standby BEFORE INSERT ON reconcile.journal FOR EACH ROW
        WHEN (NEW.name = 'promoted') EXECUTE FUNCTION refuse_twice()`);
    await session.append([line(1, session.epoch)]);
    await session.release();
    expect(await keysIn(store)).toEqual(["v1"]);
  });

  it("nothing is left to take away on a server that takes no writes", async () => {
    const readOnly = "options=-c%20default_transaction_read_only%3Don";
    for (const schema of ["reconcile", "never_made"])
      await removePostgresState(`${server.url}?schema=${schema}&state=never&${readOnly}`);
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
  it.each(["canary-pw", "canary%-pw"])("says that nobody answers, without the password %s", async (password) => {
    const failed = await createPostgresStore(`postgres://ada:${password}@127.0.0.1:1/db`)
      .read()
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StoreFailed);
    expect(String(failed)).toContain("ECONNREFUSED");
    expect(String(failed)).not.toContain("canary");
  });

  // The driver warns once in a process.
  it.each([
    ["prefer", "the state", (address: string) => createPostgresStore(address).read()],
    ["verify-ca", "a fleet's database", (address: string) => openDatabase(address, ".")],
    ["require", "the state", (address: string) => createPostgresStore(address).read()],
  ])("sslmode=%s of %s prints no warning of the driver", async (mode, _, ask) => {
    const warning = vi.spyOn(process, "emitWarning");
    try {
      await expect(ask(`postgres://127.0.0.1:1/db?sslmode=${mode}`)).rejects.toThrow("ECONNREFUSED");
      expect(warning).not.toHaveBeenCalled();
    } finally {
      warning.mockRestore();
    }
  });

  it("the server is verified as before, and as libpq does where the address says so", () => {
    const [of, verified] = ["postgres://db.example/db?sslmode=require", "postgres://db.example/db?sslmode=verify-full"];
    expect(driverAddress(of)).toBe(verified);
    for (const address of [verified, `${of}&uselibpqcompat=true`, of.replace("require", "no-verify"), "postgres://h/d"])
      expect(driverAddress(address)).toBe(address);
  });

  it.each(["connect_timeout=2s", "statement_timeout=-1"])("refuses %s, which it could not keep", (limit) => {
    expect(() => createPostgresStore(`postgres://db.example/db?${limit}`)).toThrow(limit);
  });
});
