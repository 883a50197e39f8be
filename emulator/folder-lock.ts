/**
 * One process per world folder: two would each answer from their own memory and write into one journal. The lock names
 * its process; one whose process is gone, or whose number now belongs to a later process, is stale and taken over, and so
 * is that of a folder of which this is a copy. The process that serves may write down where it listens; others then use
 * it as guests, and it stays while it has any.
 */
import {
  linkSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { isLoopbackHost } from "../reconciler/core/text/outside-policy";
import { codeOfError } from "./errors";
import { makeFolder, whyNoFolder } from "./make-folder";

/** A single executable has no program beside it: called with this word first, it serves a world (emulator/shared.ts). */
export const serveWorldWord = "--serve-embedded-world";

export class WorldInUse extends Error {
  override readonly name = "WorldInUse";
}

/** By what this process writes into them. */
const foldersHeld = new Set<string>();

export function lockFolder(dir: string): () => void {
  makeWorldFolder(dir);
  const path = lockOf(dir);
  const own = holderHere(dir);
  const holder = foldersHeld.has(own) ? own : takeLock(path, own, dir);
  if (holder !== undefined)
    throw new WorldInUse(`${dir} is in use by another emulator (process ${holder.split(" ")[0]})`);
  foldersHeld.add(own);
  return () => {
    foldersHeld.delete(own);
    // Another folder may have come to this place.
    if (readLockHolder(path) === own) rmSync(path, { force: true });
  };
}

/** The folder and those above it. */
export function makeWorldFolder(dir: string): void {
  try {
    makeFolder(dir);
  } catch (error) {
    const why = whyNoFolder(error);
    if (why === undefined) throw error;
    throw Object.assign(new Error(`${dir} cannot hold a world: ${why}`), { code: codeOfError(error) });
  }
}

const lockOf = (dir: string): string => join(resolve(dir), "lock");

const holderHere = (dir: string): string => [process.pid, processStart(process.pid), ...folderIdentity(dir)].join(" ");

/** Its number stays where a folder is moved, and its path where a file system gives numbers anew. A copy has neither. */
function folderIdentity(dir: string): readonly [number: string, path: string] {
  try {
    const { dev, ino } = statSync(dir);
    return [`${dev}:${ino}`, realpathSync(dir)];
  } catch {
    return ["", resolve(dir)];
  }
}

/**
 * `undefined`: the lock is ours; otherwise who has it. Several processes may find the same stale lock, so it is replaced
 * by the one that holds the claim, which is a lock like any other.
 */
function takeLock(path: string, own: string, dir: string): string | undefined {
  // A lock that names this process without being in `foldersHeld` is of an earlier one with its number.
  const isAlive = (holder: string) => holder !== own && isHolderAlive(holder, dir);
  const claim = `${path}.claim`;
  while (!createLock(path, own)) {
    const holder = readLockHolder(path) ?? "";
    if (!isLockText(holder)) throw new Error(`${path} is no lock of an emulator, and is left as it is`);
    if (isAlive(holder)) return holder;
    const claimant = takeLock(claim, own, dir);
    if (claimant !== undefined) return claimant;
    try {
      const present = readLockHolder(path);
      if (present === undefined || isAlive(present)) continue;
      writeAside(path, own, (aside) => renameSync(aside, path));
      return undefined;
    } finally {
      rmSync(claim, { force: true });
    }
  }
  return undefined;
}

/** False: there is one. It appears with its whole text, where the file system has links. */
function createLock(path: string, own: string): boolean {
  try {
    writeAside(path, own, (aside) => {
      try {
        linkSync(aside, path);
      } catch (error) {
        if (codeOfError(error) === "EEXIST") throw error;
        writeFileSync(path, own, { flag: "wx", mode: 0o600 });
      }
    });
    return true;
  } catch (error) {
    if (codeOfError(error) === "EEXIST") return false;
    throw error;
  }
}

function writeAside(path: string, text: string, place: (aside: string) => void): void {
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, text, { mode: 0o600 });
  try {
    place(aside);
  } finally {
    rmSync(aside, { force: true });
  }
}

export interface Served {
  readonly url: string;
  readonly timeScale: number;
}

/** Writes down where the folder's service listens, for later processes; whole or not at all. */
export function announce(dir: string, served: Served): () => void {
  const file = join(dir, addressFile);
  writeAside(file, JSON.stringify({ ...served, pid: process.pid }), (aside) => renameSync(aside, file));
  return () => rmSync(file, { force: true });
}

/** The folder may be anybody's: what its file says is believed where it is an address that the emulator can have. */
export function announced(dir: string): Served | undefined {
  try {
    const { url, timeScale, pid } = JSON.parse(readFileSync(join(dir, addressFile), "utf8"));
    // One who was killed, and one who serves the folder of which this is a copy, left an address too.
    const holder = readLockHolder(lockOf(dir)) ?? "";
    if (holder.split(" ")[0] !== String(pid) || !isHolderAlive(holder, dir)) return undefined;
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
  makeFolder(folder);
  const path = join(folder, String(process.pid));
  writeFileSync(path, holderHere(dir), { mode: 0o600 });
  return () => rmSync(path, { force: true });
}

/** How many guests are alive. The files of dead guests are removed. */
export function countGuests(dir: string): number {
  const folder = join(resolve(dir), guestFolder);
  let alive = 0;
  for (const name of fileNames(folder))
    if (isHolderAlive(readLockHolder(join(folder, name)) ?? "", dir)) alive++;
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

/** `undefined`: there is none. */
function readLockHolder(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return codeOfError(error) === "ENOENT" ? undefined : "";
  }
}

/** Where a file system has no links, a lock may be empty for a moment, or for good. */
const isLockText = (text: string): boolean => text === "" || /^[0-9]+( |$)/.test(text);

/** And of this folder; one of an older version names none. */
function isHolderAlive(holder: string, dir: string): boolean {
  const [pid, started, ofNumber, ...ofPath] = holder.split(" ");
  const [number, path] = folderIdentity(dir);
  if (ofNumber !== undefined && ofNumber !== number && ofPath.join(" ") !== path) return false;
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
