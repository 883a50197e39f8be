/**
 * One process per world folder: two would each answer from their own memory and write into one journal. The lock names
 * its process; one whose process is gone, or whose number now belongs to a later process, is stale and taken over. The
 * process that serves may write down where it listens; others then use it as guests, and it stays while it has any.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isLoopbackHost } from "../reconciler/core/text/outside-policy";
import { codeOfError } from "./errors";

const foldersHeld = new Set<string>();

/** A single executable has no program beside it: called with this word first, it serves a world (emulator/shared.ts). */
export const serveWorldWord = "--serve-embedded-world";

export class WorldInUse extends Error {
  override readonly name = "WorldInUse";
}

export function lockFolder(dir: string): () => void {
  mkdirSync(dir, { recursive: true });
  const path = join(resolve(dir), "lock");
  const own = `${process.pid} ${processStart(process.pid)}`;
  for (let attempt = 0; ; attempt += 1) {
    try {
      writeFileSync(path, own, { flag: "wx", mode: 0o600 });
      break;
    } catch (error) {
      if (codeOfError(error) !== "EEXIST" || attempt > 3) throw error;
      const holder = readLockHolder(path);
      if (foldersHeld.has(path) || (holder !== own && isHolderAlive(holder)))
        throw new WorldInUse(`${dir} is in use by another emulator (process ${holder.split(" ")[0]})`);
      rmSync(path, { force: true });
    }
  }
  foldersHeld.add(path);
  return () => {
    foldersHeld.delete(path);
    rmSync(path, { force: true });
  };
}

export interface Served {
  readonly url: string;
  readonly timeScale: number;
}

/** Writes down where the folder's service listens, for later processes; whole or not at all. */
export function announce(dir: string, served: Served): () => void {
  const file = join(dir, addressFile);
  const own = `${file}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ ...served, pid: process.pid }), { mode: 0o600 });
  renameSync(own, file);
  return () => rmSync(file, { force: true });
}

/** The folder may be anybody's: what its file says is believed where it is an address that the emulator can have. */
export function announced(dir: string): Served | undefined {
  try {
    const { url, timeScale } = JSON.parse(readFileSync(join(dir, addressFile), "utf8"));
    const { protocol, hostname, port, origin } = new URL(url);
    const isOwn = protocol === "http:" && isLoopbackHost(hostname) && port !== "" && typeof timeScale === "number";
    return isOwn ? { url: origin, timeScale } : undefined;
  } catch {
    return undefined;
  }
}

const addressFile = "serving.json";
const guestFolder = "guests";

/**
 * A guest says that it is there before it reads the address, and who serves takes the address away before it counts its
 * guests: either the guest finds no address, or it is counted.
 */
export function becomeGuest(dir: string): () => void {
  const folder = join(resolve(dir), guestFolder);
  mkdirSync(folder, { recursive: true });
  const own = `${process.pid} ${processStart(process.pid)}`;
  const path = join(folder, String(process.pid));
  writeFileSync(path, own, { mode: 0o600 });
  return () => rmSync(path, { force: true });
}

/** How many guests are alive. The files of dead guests are removed. */
export function countGuests(dir: string): number {
  const folder = join(resolve(dir), guestFolder);
  let alive = 0;
  for (const name of fileNames(folder))
    if (isHolderAlive(readLockHolder(join(folder, name)))) alive++;
    else rmSync(join(folder, name), { force: true });
  return alive;
}

function fileNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readLockHolder(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isHolderAlive(holder: string): boolean {
  const [pid, started] = holder.split(" ");
  if (!/^[0-9]+$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (codeOfError(error) === "ESRCH") return false;
  }
  return started === processStart(Number(pid));
}

/** When a process started, where the system tells: its number alone may have been given away again. Empty when it only waits to be reaped. */
function processStart(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}
