/**
 * The fleet from outside: commands and workers as processes, a real PostgreSQL, the embedded service. What a stack's
 * world is afterwards, who was told, who took over.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closeFleet, openFleet } from "../../reconciler/cli/fleet/session";
import { waits } from "../../reconciler/core/text/outside-policy";
import { jsonLines, type Ran, runCli, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { listenHere } from "../support/loopback";
import { type PostgresServer, postgresMissing, postgresPassword, startPostgres } from "../support/postgres-server";
import { problemsOfEvent } from "../support/schemas";

const group = (name: string, port: number, from = "198.51.100.0/24"): string => `version: 1
project: fleet
groups:
  web:
    name: ${name}
    rules:
      - { protocol: tcp, dst_port: ${port}, remote_ip: ${from} }
`;

describe.skipIf(postgresMissing !== undefined)("a fleet", () => {
  let server: PostgresServer;
  let cwd: string;
  let env: Record<string, string>;
  const workers: ReturnType<typeof startCli>[] = [];

  beforeAll(async () => {
    server = await startPostgres();
    cwd = makeFolder();
    const { username, host, pathname } = new URL(server.url);
    // The password comes from the environment, as on a worker.
    env = { PGPASSWORD: postgresPassword, RECONCILE_FLEET_DATABASE: `postgres://${username}@${host}${pathname}` };
    write("fleet.yaml", fleetText(`postgres://${username}@${host}${pathname}`));
    write("network/reconcile.yaml", group("network", 443));
    write("shop/reconcile.yaml", group("shop", 8443));
    write("lab/reconcile.yaml", group("lab", 22));
    const git = (...args: string[]): string => execFileSync("git", args, { cwd: join(cwd, "lab"), encoding: "utf8" });
    git("init", "--quiet", "--initial-branch", "main");
    git("add", "--all");
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "x");
    write("judged/reconcile.yaml", `${group("judged", 22)}policy: { command: [sh, ./judge.sh] }\n`);
    write(
      "judged/judge.sh",
      `env | grep -q '^PG' && { echo '[{"summary":"it sees the password"}]'; exit; }
[ -e allow ] && echo '[]' || echo '[{"code":"ssh","summary":"no ssh from outside"}]'
`,
    );
  });
  afterAll(async () => {
    for (const worker of workers) worker.child.kill("SIGTERM");
    await Promise.all(workers.map(({ finished }) => finished));
    await server.stop();
  });

  function fleetText(database: string): string {
    return `version: 1
services:
  here: { base_url: embedded, budget: { requests_per_second: 500 } }
tenants: { payments: { weight: 2, max_running: 2 } }
defaults: { service: here, interval: 1h, state: "${database}?state=\${stack}" }
stacks:
  network: { source: { folder: ./network }, tenant: payments }
  shop: { source: { folder: ./shop }, tenant: payments, depends_on: [network] }
  lab: { source: { git: "${join(cwd, "lab")}" }, approve: plan }
  judged: { source: { folder: ./judged } }
`;
  }

  function write(file: string, text: string): void {
    mkdirSync(join(cwd, file, ".."), { recursive: true });
    writeFileSync(join(cwd, file), text);
  }

  const reconcile = (...args: string[]): Promise<Ran> => runCli(args, { cwd, env });
  const startWorker = (): (typeof workers)[number] => {
    const worker = startCli(["fleet", "work", "--listen", "none", "--cache", "cache"], { cwd, env });
    workers.push(worker);
    return worker;
  };
  async function stacks() {
    const { stdout } = await reconcile("fleet", "list", "--json");
    return new Map(
      jsonLines(stdout)
        .filter(({ type }) => type === "stack")
        .map((line) => [String(line["stack"]), line]),
    );
  }
  const untilStack = (name: string, is: (line: Record<string, unknown>) => boolean) =>
    eventually(`${name} as wanted`, async () => {
      const line = (await stacks()).get(name);
      return line !== undefined && is(line) ? line : undefined;
    });

  test("is written, worked on, approved and followed", async () => {
    const asked = await reconcile("fleet", "sync", "fleet.yaml");
    expect([asked.exitCode, asked.stdout]).toEqual([3, expect.stringContaining("+ network is added")]);
    expect((await stacks()).size).toBe(0);
    const synced = await reconcile("fleet", "sync", "fleet.yaml", "--auto-approve");
    expect([synced.exitCode, synced.stderr]).toEqual([0, ""]);
    expect((await reconcile("fleet", "sync", "fleet.yaml", "--auto-approve")).stdout).toContain("No stack changes.");

    startWorker();
    startWorker();
    await untilStack("network", (line) => line["ready"] === true);
    // It waited for the one it depends on.
    await untilStack("shop", (line) => line["ready"] === true);
    const lab = await untilStack("lab", (line) => line["awaiting_approval"] === true);
    const shown = await reconcile("fleet", "plan", "lab");
    expect([shown.exitCode, shown.stdout]).toEqual([2, expect.stringContaining("group.web")]);

    // What a sync would do, and a token, as lines for programs.
    const { PGPASSWORD: _, RECONCILE_FLEET_DATABASE: database = "" } = env;
    const other = fleetText(database)
      .replace("tenant: payments }", "tenant: payments, interval: 2h }")
      .replace("judged: ", "more: ");
    write("other.yaml", other);
    const lines = [
      ...jsonLines((await reconcile("fleet", "sync", "other.yaml", "--json")).stdout),
      ...jsonLines((await reconcile("fleet", "token", "zoe", "--role", "viewer", "--json")).stdout),
    ];
    expect(lines.map(({ action, type }) => action ?? type)).toEqual(
      expect.arrayContaining(["add", "change", "release", "token", "summary"]),
    );
    expect(lines.map(problemsOfEvent).filter((problem) => problem !== "")).toEqual([]);
    await reconcile("fleet", "token", "zoe", "--revoke");

    const wrong = await reconcile("fleet", "approve", "lab", "0000000000");
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining("fleet/no-plan")]);
    expect((await reconcile("fleet", "approve", "lab", String(lab["plan"]), "--why", "it is fine")).exitCode).toBe(0);
    const ready = await untilStack("lab", (line) => line["ready"] === true);
    expect(ready["last_run"]).toMatchObject({ result: "applied", cause: "approval" });

    // A second look changes nothing.
    await reconcile("fleet", "run", "lab");
    await untilStack("lab", (line) => (line["last_run"] as { result: string }).result === "in_sync");
    const { stdout } = await reconcile("fleet", "history", "lab", "--json");
    const told = jsonLines(stdout);
    expect(told.filter(({ type }) => type === "decision").map(({ what }) => what)).toEqual(["run", "approve", "sync"]);
    expect(told.find(({ what }) => what === "approve")).toMatchObject({
      detail: expect.stringContaining("it is fine"),
    });
  });

  test("does by itself what loses nothing, and waits before it opens to the world", async () => {
    write("shop/reconcile.yaml", group("shop", 9443));
    await reconcile("fleet", "run", "shop");
    await untilStack("shop", (line) => (line["last_run"] as { result: string }).result === "applied");
    write("shop/reconcile.yaml", group("shop", 9443, "0.0.0.0/0"));
    await reconcile("fleet", "run", "shop");
    const waiting = await untilStack("shop", (line) => line["awaiting_approval"] === true);
    expect(waiting["reason"]).toContain("whole world");
    // A new revision voids the approval, and its plan is another one.
    expect((await reconcile("fleet", "approve", "shop", String(waiting["plan"]))).exitCode).toBe(0);
    write("shop/reconcile.yaml", group("shop", 9444, "0.0.0.0/0"));
    await reconcile("fleet", "run", "shop");
    const other = await untilStack(
      "shop",
      (line) => (line["plan"] !== null && line["plan"] !== waiting["plan"]) || line["ready"] === true,
    );
    if (other["ready"] !== true) expect(other["plan"]).not.toBe(waiting["plan"]);
  });

  test("a mistake in a file is that stack's, with its place, and the others go on", async () => {
    write("network/reconcile.yaml", "version: 1\ngroops: {}\n");
    await reconcile("fleet", "run", "network");
    const failing = await untilStack("network", (line) => Number(line["failures"]) > 0);
    expect(failing["reason"]).toContain("reconcile.yaml:2");
    write("network/reconcile.yaml", group("network", 443));
    await reconcile("fleet", "run", "network");
    await untilStack("network", (line) => line["ready"] === true);
  });

  test("the policy program of a file judges its plans on the worker, without a credential", async () => {
    const refused = await untilStack("judged", (line) => Number(line["failures"]) > 0);
    expect(refused["reason"]).toContain("no ssh from outside");
    write("judged/allow", "");
    await reconcile("fleet", "run", "judged");
    await untilStack("judged", (line) => line["ready"] === true);
  });

  test("a paused stack says how it is taken up again", async () => {
    await reconcile("fleet", "pause", "lab");
    const refused = await reconcile("fleet", "run", "lab");
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("fleet/paused")]);
    expect(refused.stderr).toContain("reconcile fleet resume lab");
    await reconcile("fleet", "resume", "lab");
  });

  test("what a dead worker left, another one finishes", async () => {
    const [first] = workers;
    first?.child.kill("SIGKILL");
    await first?.finished;
    write("network/reconcile.yaml", group("network", 444));
    await reconcile("fleet", "run", "network");
    await untilStack("network", (line) => (line["last_run"] as { result: string }).result === "applied");
  });

  test("a command ends when the database breaks off while its queue is opened, and a server opens it again", async () => {
    const { hostname, port } = new URL(server.url);
    let breaksOff = true;
    let isTokenMade = false;
    const relay = createServer((near) => {
      const far = connect(Number(port), hostname);
      for (const socket of [near, far])
        socket.on("error", () => undefined).on("close", () => void [near.destroy(), far.destroy()]);
      // The answer to what made a token is lost.
      far.on("data", (bytes) => (isTokenMade ? near.destroy() : near.write(bytes)));
      // What makes the queue is the only thing with such a limit.
      near.on("data", (bytes) =>
        breaksOff && /SET LOCAL lock_timeout/.test(`${bytes}`) ? near.destroy() : far.write(bytes),
      );
      near.on("data", (bytes) => {
        isTokenMade ||= /INSERT INTO reconcile_fleet.tokens/.test(`${bytes}`);
      });
    });
    const url = new URL(server.url);
    url.port = new URL(await listenHere(relay)).port;
    const cut = await runCli(["fleet", "run", "network"], {
      cwd,
      env: { ...env, RECONCILE_FLEET_DATABASE: String(url) },
    });
    expect([cut.exitCode, cut.stderr]).toEqual([
      1,
      expect.stringMatching(/\[fleet\/database\][\s\S]*; reconcile fleet history network tells whether it was done/),
    ]);
    const token = await runCli(["fleet", "token", "zoe"], {
      cwd,
      env: { ...env, RECONCILE_FLEET_DATABASE: String(url) },
    });
    isTokenMade = false;
    expect([token.exitCode, token.stdout, token.stderr]).toEqual([
      1,
      "",
      expect.stringMatching(/\[fleet\/database\][\s\S]*; reconcile fleet history tells whether it was done/),
    ]);
    const session = await openFleet(String(url), { sendsOnly: true });
    expect(await session.records.decisions(undefined, 1)).toMatchObject([
      { what: "make token", detail: "zoe (viewer)" },
    ]);
    await session.records.dropTokens("zoe");
    const trigger = { stack: "network", tenant: "payments", cause: "person" } as const;
    await expect(session.queue.hasten(trigger)).rejects.toThrow();
    breaksOff = false;
    await session.queue.hasten(trigger);
    await closeFleet(session);
    relay.close();
  });

  test("what the queue sends and nobody answers ends, and holds no round of the stack", async () => {
    const { hostname, port } = new URL(server.url);
    let swallows = false;
    const relay = createServer((near) => {
      const far = connect(Number(port), hostname);
      for (const socket of [near, far])
        socket.on("error", () => undefined).on("close", () => void [near.destroy(), far.destroy()]);
      far.on("data", (bytes) => near.write(bytes));
      // The end of the transaction, and what would take it back.
      near.on("data", (bytes) => (swallows && /COMMIT|ROLLBACK/i.test(`${bytes}`)) || far.write(bytes));
    });
    const url = new URL(server.url);
    url.port = new URL(await listenHere(relay)).port;
    const usual = waits.fleetQuery;
    Object.assign(waits, { fleetQuery: 500 });
    const session = await openFleet(String(url), { sendsOnly: true }).finally(() =>
      Object.assign(waits, { fleetQuery: usual }),
    );
    const trigger = { stack: "unanswered", tenant: "payments", cause: "person" } as const;
    const other = await openFleet(server.url, { sendsOnly: true });
    await other.queue.enqueue({ ...trigger, at: new Date(Date.now() + 3_600_000) });
    await session.queue.load();
    swallows = true;
    await expect(session.queue.hasten(trigger)).rejects.toThrow("timeout");
    await other.queue.hasten(trigger);
    await closeFleet(session);
    await closeFleet(other);
    relay.close();
  });

  test("shows the password nowhere", async () => {
    const dump = await reconcile("fleet", "history", "--json");
    expect(dump.stdout + dump.stderr).not.toContain(postgresPassword);
    for (const { output } of workers) {
      const { stdout, stderr } = output();
      expect(stdout + stderr).not.toContain(postgresPassword);
    }
    expect(readFileSync(join(cwd, "fleet.yaml"), "utf8")).not.toContain(postgresPassword);
  });
});
