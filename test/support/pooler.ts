/** PgBouncer in transaction mode before a PostgreSQL, where it is on PATH. It does not run as root. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { eventually } from "./eventually";
import { freePort, nobody } from "./postgres-server";

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
