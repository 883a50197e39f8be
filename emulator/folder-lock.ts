/**
 * One process per world folder: two would each answer from their own memory and write into one journal. The lock names
 * its process; one whose process is gone, or whose number now belongs to a later process, is stale and taken over.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const held = new Set<string>();

export function lockFolder(dir: string): () => void {
  mkdirSync(dir, { recursive: true });
  const path = join(resolve(dir), "lock");
  const own = `${process.pid} ${startOf(process.pid)}`;
  for (let attempt = 0; ; attempt += 1) {
    try {
      writeFileSync(path, own, { flag: "wx", mode: 0o600 });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || attempt > 3) throw error;
      const holder = readHolder(path);
      if (held.has(path) || (holder !== own && isAlive(holder)))
        throw new Error(`${dir} is in use by another emulator (process ${holder.split(" ")[0]})`);
      rmSync(path, { force: true });
    }
  }
  held.add(path);
  return () => {
    held.delete(path);
    rmSync(path, { force: true });
  };
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isAlive(holder: string): boolean {
  const [pid, started] = holder.split(" ");
  if (!/^[0-9]+$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return started === startOf(Number(pid));
}

/** When a process started, where the system tells: its number alone may have been given away again. Empty when it only waits to be reaped. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}
