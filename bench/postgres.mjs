// The PostgreSQL on PATH, on loopback in a folder of its own, for as long as a section runs. It does not run as root.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const folderOf = (names) =>
  (process.env.PATH ?? "").split(delimiter).find((folder) => names.every((name) => existsSync(join(folder, name))));

/** `undefined`: there is no PostgreSQL on PATH. */
export async function startPostgres() {
  const bin = folderOf(["initdb", "postgres"]);
  if (bin === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "reconcile-bench-pg-"));
  const id = (flag) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  const user = process.getuid?.() === 0 ? { uid: id("-u"), gid: id("-g") } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  /** @type {import("node:child_process").SpawnOptions} */
  const options = { ...user, cwd: folder, stdio: "ignore", env: { PATH: process.env.PATH, LC_ALL: "C" } };
  const cluster = join(folder, "cluster");
  execFileSync(join(bin, "initdb"), ["-D", cluster, "-U", "bench", "--auth=trust", "-E", "UTF8"], options);
  const port = String(await freePort());
  const settings = ["-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${folder}`];
  const server = spawn(join(bin, "postgres"), ["-D", cluster, "-p", port, ...settings], options);
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  for (let left = 100; !(await listens(Number(port))); left--) {
    if (left === 0 || server.exitCode !== null) throw new Error("PostgreSQL did not start");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    async close() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port that was free a moment ago. */
export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });

const listens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
