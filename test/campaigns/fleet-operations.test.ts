/**
 * What docs/fleet-operations.md tells those to do who keep a fleet's database and secrets, done: a pooler in between, a
 * back-up restored, a password and a key changed while workers work. Real processes and a real PostgreSQL.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openFleet } from "../../reconciler/cli/fleet/session";
import type { RunResult } from "../../reconciler/fleet/database/runs";
import { runCli, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage, stageToken, type WorkerProcess } from "../support/fleet-processes";
import { json, startMeddlingProxy } from "../support/own-place";
import { type Pooler, poolerMissing, postgresMissing, startPooler } from "../support/postgres-server";

const dumpMissing = ["pg_dump", "pg_restore"].some((name) => spawnSync(name, ["--version"]).error !== undefined);
if (poolerMissing !== undefined) console.warn(`NOT SHOWN: a fleet behind a pooler: ${poolerMissing}`);
if (dumpMissing) console.warn("NOT SHOWN: a back-up of a fleet: pg_dump and pg_restore are not on PATH");

const group = (name: string, port: number): string => `version: 1
project: acme
groups:
  web: { name: ${name}, rules: [ { protocol: tcp, dst_port: ${port}, remote_ip: 198.51.100.0/24 } ] }
`;

describe.skipIf(postgresMissing !== undefined)("who operates a fleet", () => {
  let stage: FleetStage;

  const fleetOf = (state: string, ...names: readonly string[]): string => `version: 1
${stage.services}
defaults: { service: here, interval: 1h, state: "${state}?state=\${stack}", retry: { first: 1s, max: 1s } }
stacks:
${names.map((name) => `  ${name}: { source: { folder: ./${name} } }`).join("\n")}
`;
  const writes = (): number => stage.emulator.requests().log.filter(({ method }) => method !== "GET").length;

  beforeAll(async () => {
    stage = await openFleetStage();
  });
  afterAll(() => stage?.close());

  test.skipIf(poolerMissing !== undefined)("puts a pooler in transaction mode before the database", async () => {
    const pooler: Pooler = await startPooler(stage.server.url);
    try {
      const { username, host, pathname } = new URL(pooler.url);
      const through = `postgres://${username}@${host}${pathname}`;
      const pooled = (...args: string[]) => stage.run("fleet", ...args, "--database", through);
      stage.write("pooled/reconcile.yaml", group("pooled", 1000));
      stage.write("fleet.yaml", fleetOf(through, "pooled"));
      expect((await pooled("sync", "fleet.yaml", "--auto-approve")).exitCode).toBe(0);
      const worker = await stage.worker("--database", through);
      await stage.untilSettled("pooled");
      stage.write("pooled/reconcile.yaml", group("pooled", 1001));
      expect((await pooled("run", "pooled")).exitCode).toBe(0);
      await stage.untilSettled("pooled");
      const said = await worker.says("what does not get through", ({ stdout, stderr }) =>
        (stdout + stderr).match(/Notifications of the database do not come through/g),
      );
      expect(said).toHaveLength(1);
      await stage.stop(worker);
      expect((await stage.session.records.runs("pooled", 50)).map(({ result }) => result)).not.toContain("failed");
    } finally {
      await pooler.stop();
    }
  });

  test.skipIf(dumpMissing)("restores a back-up, and nothing of what the stacks manage changes", async () => {
    stage.write("kept/reconcile.yaml", group("kept", 1000));
    await stage.sync(fleetOf(stage.database, "kept"));
    const first = await stage.worker();
    const applied = (await stage.untilSettled("kept")).lastRun;
    await stage.stop(first);
    const env = { PATH: process.env["PATH"], PGPASSWORD: stage.env["PGPASSWORD"] };
    const schemas = ["reconcile", "reconcile_fleet", "reconcile_queue"];
    const file = join(stage.cwd, "fleet.dump");
    execFileSync(
      "pg_dump",
      ["--format", "custom", "--file", file, ...schemas.flatMap((name) => ["--schema", name]), stage.database],
      { env },
    );
    await stage.session.database.run(schemas.map((name) => `DROP SCHEMA ${name} CASCADE`).join("; "));
    execFileSync("pg_restore", ["--dbname", stage.database, file], { env });
    const before = writes();
    const second = await stage.worker();
    await stage.hasten("kept");
    const found = await stage.until(
      "kept",
      ({ lastRun }) => lastRun?.endedAt !== undefined && lastRun.id > (applied?.id ?? 0),
    );
    expect(found.lastRun?.result).toBe("in_sync");
    expect((await stage.session.records.runs("kept", 50)).map(({ id }) => id)).toContain(applied?.id);
    expect(writes()).toBe(before);
    await stage.stop(second);
  });

  test("changes the database's password and the key of the states while a worker works", async () => {
    const { query } = stage.session.database;
    const [row] = await query("SHOW hba_file");
    // Whoever these roles are has to prove it; the tests' own role goes on without.
    await query(
      `COPY (SELECT unnest(ARRAY['host all reconcile 127.0.0.1/32 trust', 'host all all 127.0.0.1/32 scram-sha-256'])) TO '${String(row?.["hba_file"])}'`,
    );
    await query("SELECT pg_reload_conf()");
    await query("CREATE ROLE fleet_1 LOGIN PASSWORD 'canary-first-pw'");
    await query("CREATE DATABASE rotated OWNER fleet_1");
    // No user in the addresses: the role may become another.
    const { host } = new URL(stage.database);
    const database = `postgres://${host}/rotated`;
    const [firstKey, secondKey] = ["canary-state-key-of-before", "canary-state-key-of-after"];
    const first = { PGUSER: "fleet_1", PGPASSWORD: "canary-first-pw", RECONCILE_STATE_KEY: firstKey };
    const second = { PGUSER: "fleet_2", PGPASSWORD: "canary-second-pw", RECONCILE_STATE_KEY: secondKey };
    const environment = (as: Readonly<Record<string, string>>) => ({ RECONCILE_TOKEN: stageToken, ...as });
    const fleet = (as: Readonly<Record<string, string>>, ...args: string[]) =>
      runCli(["fleet", ...args, "--database", database], { cwd: stage.cwd, env: environment(as) });
    const worker = async (as: Readonly<Record<string, string>>): Promise<WorkerProcess> => {
      const started = startCli(["fleet", "work", "--listen", "none", "--cache", "cache", "--database", database], {
        cwd: stage.cwd,
        env: environment(as),
      });
      await started.says("a worker", ({ stderr }) => /^Working on/m.exec(stderr));
      return stage.adopt(started, session.database);
    };
    const ended = (stack: string, result: RunResult) =>
      eventually(`a run of ${stack} that ended ${result}`, async () => {
        const [run] = await session.records.runs(stack, 1);
        return run?.result === result ? run : undefined;
      });
    const change = async (stack: string, port: number): Promise<void> => {
      stage.write(`${stack}/reconcile.yaml`, group(stack, port));
      await look(stack);
    };
    const look = (stack: string) => session.queue.hasten({ stack, tenant: "default", cause: "person" });

    for (const name of ["early", "late"]) stage.write(`${name}/reconcile.yaml`, group(name, 1000));
    stage.write("rotated.yaml", fleetOf(database, "early", "late"));
    expect((await fleet(first, "sync", "rotated.yaml", "--auto-approve")).exitCode).toBe(0);
    const session = await openFleet(stage.server.url.replace(/[^/]*$/, "rotated"), { sendsOnly: true });
    const before = await worker(first);
    for (const name of ["early", "late"]) await ended(name, "applied");

    await query("CREATE ROLE fleet_2 LOGIN PASSWORD 'canary-second-pw' IN ROLE fleet_1");
    const after = await worker({ ...second, RECONCILE_STATE_KEY_PREVIOUS: firstKey });
    await stage.stop(before);
    await query("ALTER ROLE fleet_1 NOLOGIN");
    await change("early", 1001);
    await eventually("early applied anew", async () =>
      (await session.records.runs("early", 9)).filter(({ result }) => result === "applied").length === 2
        ? true
        : undefined,
    );
    const refused = await fleet(first, "list");
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("PGPASSWORD");
    expect(refused.stdout + refused.stderr).not.toContain("canary");
    await stage.stop(after);

    // A state that was not written since needs the key of before, and says so.
    const alone = await worker(second);
    await look("late");
    expect((await ended("late", "failed")).reason).toContain("RECONCILE_STATE_KEY_PREVIOUS");
    await stage.stop(alone);
    const both = await worker({ ...second, RECONCILE_STATE_KEY_PREVIOUS: firstKey });
    await change("late", 1001);
    await ended("late", "applied");
    await stage.stop(both);
    await session.queue.close();
    await session.database.close();
    for (const { output } of [before, after, alone, both]) expect(JSON.stringify(output())).not.toContain("canary");
  });

  test("changes a service's credential and the secrets of receivers while workers work", async () => {
    const proxy = await startMeddlingProxy(stage.emulator.url);
    const refused: string[] = [];
    const used = new Set<string>();
    let valid = "canary-token-of-before";
    proxy.meddle(async ({ headers, path }, forward) => {
      const given = String(headers.authorization);
      if (given !== `Bearer ${valid}`) {
        refused.push(path);
        return json({ error: "the Authorization header is missing or not valid" }, 401);
      }
      used.add(given);
      return forward();
    });
    /** A receiver that says which of the secrets a message was signed with. */
    const accepted = { env: ["canary-note-1"], command: ["canary-note-1"] };
    const heard: string[] = [];
    const receiver = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const which = request.url === "/env" ? "env" : "command";
        const signer = accepted[which].find(
          (secret) =>
            request.headers["x-reconcile-signature"] ===
            `sha256=${createHmac("sha256", secret).update(Buffer.concat(pieces)).digest("hex")}`,
        );
        heard.push(`${which} ${signer ?? "nobody"}`);
        response.statusCode = signer === undefined ? 401 : 200;
        response.end();
      });
    });
    await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
    const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const worker = async (secret: string): Promise<WorkerProcess> => {
      const env = { ...stage.env, RECONCILE_TOKEN: "", NOTE_SECRET: secret };
      const flags = ["fleet", "work", "--listen", "none", "--cache", "cache"];
      const started = startCli(flags, { cwd: stage.cwd, env });
      await started.says("a worker", ({ stderr }) => /^Working on/m.exec(stderr));
      return stage.adopt(started);
    };
    const applied = async (port: number): Promise<void> => {
      stage.write("guarded/reconcile.yaml", group("guarded", port));
      if (port > 1000) await stage.hasten("guarded");
      await stage.untilSettled("guarded");
    };
    const told = (...who: readonly string[]) =>
      eventually(`messages of ${who}`, () => (who.every((one) => heard.includes(one)) ? true : undefined));

    stage.write("token", `${valid}\n`);
    stage.write("note", "canary-note-1\n");
    stage.write("guarded/reconcile.yaml", group("guarded", 1000));
    const program = (file: string): string => `{ command: [cat, ${join(stage.cwd, file)}] }`;
    await stage.sync(`version: 1
services: { here: { base_url: "${proxy.url}", dialect: ./here.dialect.yaml, credential: ${program("token")} } }
defaults: { service: here, interval: 1h, state: "${stage.database}?state=\${stack}", retry: { first: 1h, max: 1h } }
notify:
  - { on: [applied, failed], to: { webhook: "${hook}/env", secret: { env: NOTE_SECRET } } }
  - { on: [applied, failed], to: { webhook: "${hook}/program", secret: ${program("note")} } }
stacks:
  guarded: { source: { folder: ./guarded } }
`);
    const first = await worker("canary-note-1");
    await applied(1000);
    await told("env canary-note-1", "command canary-note-1");
    expect(refused).toEqual([]);

    // The old credential ends at once, within the minute for which the worker keeps what the program printed.
    stage.write("token", "canary-token-of-after\n");
    valid = "canary-token-of-after";
    await applied(1001);
    expect(refused.length).toBeGreaterThan(0);
    expect([...used]).toEqual(["Bearer canary-token-of-before", "Bearer canary-token-of-after"]);

    // A receiver takes both secrets for a while: a program's is changed where it is, a variable's with the workers.
    accepted.command = ["canary-note-1", "canary-note-2"];
    accepted.env = ["canary-note-1", "canary-note-2"];
    stage.write("note", "canary-note-2\n");
    await applied(1002);
    await told("command canary-note-2");
    accepted.command = ["canary-note-2"];
    const second = await worker("canary-note-2");
    await stage.stop(first);
    accepted.env = ["canary-note-2"];
    await applied(1003);
    // Both receivers hear of each of the four applies.
    await eventually("a message of each apply", () => (heard.length >= 8 ? true : undefined));
    await stage.stop(second);

    expect(heard.filter((one) => one.endsWith("nobody"))).toEqual([]);
    expect(heard).toHaveLength(8);
    const runs = await stage.session.records.runs("guarded", 50);
    expect(runs.map(({ result }) => result)).toEqual(["applied", "applied", "applied", "applied"]);
    for (const { output } of [first, second]) expect(JSON.stringify(output())).not.toContain("canary");
    await new Promise((done) => receiver.close(done));
    await proxy.close();
  });
});
