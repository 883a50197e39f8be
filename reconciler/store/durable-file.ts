/** Files that survive a crash whole: written aside, forced to the disk and renamed. For the file store alone. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorCode, errorMessage, ifPossible } from "../core/text/errors";
import { StoreFailed } from "./store";

/** As many links as systems follow, of which some have a limit of their own. */
export const mostLinks = 40;

/** The file a link ends at, also one that is not there yet, so that a rename replaces the target and not the link. */
export function followLinks(path: string, left = mostLinks): string {
  const next = (): string | undefined =>
    left > 0 && lstatSync(path).isSymbolicLink()
      ? followLinks(resolve(dirname(path), readlinkSync(path)), left - 1)
      : undefined;
  return ifPossible(() => realpathSync(path)) ?? ifPossible(next) ?? path;
}

/** A file that is mounted by itself, as one that a container is given, has nothing of that mount beside it. */
export function refuseMountedAlone(path: string): void {
  const mounts = ifPossible(() => readFileSync("/proc/self/mountinfo", "utf8")) ?? "";
  // Blanks and backslashes are written as octal numbers there.
  const written = path.replace(/[\s\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`);
  if (mounts.split("\n").some((line) => line.split(" ")[4] === written))
    throw new StoreFailed(
      `the state ${path} is mounted by itself, and its journal and its lock, which lie beside it, are not: mount its folder`,
    );
}

export function readIfThere(path: string): string | undefined {
  try {
    // A pipe that nobody writes to would never open, and a device would be read for ever.
    if (!statSync(path).isFile()) throw new Error("it is no plain file");
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw new StoreFailed(`${path} cannot be read: ${errorMessage(error)}`);
  }
}

/** Uses an open file, and closes it whatever happens. `wx`: a new one, which is private. */
function withOpen<T>(path: string, flags: "r" | "r+" | "wx", use: (file: number) => T): T {
  const file = openSync(path, flags, 0o600);
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

export function replaceDurably(path: string, temporary: string, text: string): void {
  try {
    writeFileSync(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    renameSync(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
  syncFolder(path);
}

/** Makes a file's name durable as well as its bytes. */
export const syncFolder = (path: string): void => withOpen(dirname(path), "r", fsyncSync);

/**
 * False when the file was there already. It appears with its whole text or not at all, so that nobody reads half a
 * lock; a file system without links gets it created empty and filled.
 */
export function createWhole(path: string, text: string, mark: string): boolean {
  const temporary = `${path}.${mark}.new`;
  const fill = (file: string): void => writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  try {
    fill(temporary);
    try {
      linkSync(temporary, path);
    } catch (error) {
      if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(errorCode(error) ?? "")) throw error;
      fill(path);
    }
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw notWritten(path, error);
  } finally {
    removeIfThere(temporary);
  }
}

export function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? ""))
      throw new StoreFailed(`${path} cannot be removed: ${errorMessage(error)}`);
  }
}

/**
 * Removes what processes that were killed while they wrote this state have left beside it. Only inside the mark: there
 * nobody else is writing the snapshot, the journal or the lock; what the mark itself is made of counts by its age.
 */
export function removeLeftBehind(path: string, markPatienceMs: number): void {
  const folder = dirname(path);
  const prefix = basename(path);
  for (const name of listIfThere(folder)) {
    if (!name.startsWith(prefix)) continue;
    const file = join(folder, name);
    const rest = name.slice(prefix.length);
    const isLeft =
      unfinishedFile.test(rest) || (unfinishedMark.test(rest) && (ageOf(file, `${path}.lock`) ?? 0) > markPatienceMs);
    if (isLeft) removeIfPossible(file);
  }
}

const uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const unfinishedFile = new RegExp(`^((\\.journal(\\.end)?)?\\.${uuid}\\.tmp|\\.lock\\.${uuid}\\.new)$`);
const unfinishedMark = new RegExp(`^\\.lock\\.mark\\.${uuid}\\.(new|stale)$`);

export const listIfThere = (folder: string): string[] => ifPossible(() => readdirSync(folder)) ?? [];

/**
 * How long ago a file was written, by the clock of whoever keeps it: on shared storage this machine's may be an hour
 * ahead, and would take every lock for lapsed. So it is compared with a file that is written now, where one can be.
 */
export function ageOf(path: string, beside = path): number | undefined {
  try {
    const then = statSync(path).mtimeMs;
    return storageTimeBeside(beside) - then;
  } catch {
    return undefined;
  }
}

function storageTimeBeside(path: string): number {
  const probe = `${path}.${randomUUID()}.new`;
  try {
    try {
      return withOpen(probe, "wx", (file) => {
        writeFileSync(file, "now");
        return fstatSync(file).mtimeMs;
      });
    } finally {
      removeIfThere(probe);
    }
  } catch {
    // A reader without the right to write can only use this machine's clock.
    return Date.now();
  }
}

/** Gives a file a new time of change, on the clock of the file's storage, by writing the first byte again. */
export const touch = (path: string): void =>
  withOpen(path, "r+", (file) => {
    const first = Buffer.alloc(1);
    if (readSync(file, first, 0, 1, 0) === 1) writeSync(file, first, 0, 1, 0);
    fsyncSync(file);
  });

/** Nothing fails because a file could not be removed that is not needed any more. */
export function removeIfPossible(path: string): void {
  // It may never have been made; one that cannot be removed stays.
  ifPossible(() => unlinkSync(path));
}

/** Turns a failed file operation into a store's failure. */
export function tell<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw notWritten(path, error);
  }
}

/** The same for asynchronous operations. */
export const tellLater = <T>(path: string, write: () => Promise<T>): Promise<T> =>
  write().catch((error: unknown) => {
    throw notWritten(path, error);
  });

const notWritten = (path: string, error: unknown): StoreFailed =>
  error instanceof StoreFailed ? error : new StoreFailed(`${path} cannot be written: ${errorMessage(error)}`);
