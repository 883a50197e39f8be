/**
 * The state as files beside the YAML: `F` (snapshot), `F.journal` (what became true since), `F.lock` (who writes).
 * All with mode 0600. A snapshot is replaced by rename, a journal line is durable before it counts, and a lock whose
 * process is gone, or whose heartbeat stopped, lapses by itself.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { promisify } from "node:util";
import {
  type Holder,
  LeaseLost,
  StateLocked,
  type StateSession,
  type StateStore,
  type StoredState,
  StoreFailed,
} from "./store";

const leaseMs = 60_000;
const heartbeatMs = 10_000;
const takeoverMs = 10_000;

interface Lock extends Holder {
  readonly token: string;
  readonly epoch: number;
}

export function createFileStore(path: string): StateStore {
  const journalPath = `${path}.journal`;
  const lockPath = `${path}.lock`;

  const read = async (): Promise<StoredState> => ({
    snapshot: readIfThere(path),
    journal: splitLines(readIfThere(journalPath)),
  });

  function readLock(): Lock | undefined {
    const text = readIfThere(lockPath);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as Lock;
    } catch {
      // Cut off while it was written: its writer is gone or about to write it whole.
      return { who: "unknown", host: "unknown", pid: 0, since: "unknown", command: "unknown", token: "", epoch: 0 };
    }
  }

  return {
    location: path,
    read,
    async holder() {
      const lock = readLock();
      return lock === undefined || hasLapsed(lock, lockPath) ? undefined : lock;
    },
    async breakLock() {
      const lock = readLock();
      if (lock !== undefined) removeIfThere(lockPath);
      return lock;
    },
    async lock(holder) {
      const lock: Lock = { ...holder, token: randomUUID(), epoch: lastEpoch(path, journalPath) + 1 };
      takeLock(lockPath, lock, readLock);
      return openSession({ path, journalPath, lockPath, lock, read, readLock });
    },
  };
}

function takeLock(lockPath: string, lock: Lock, readLock: () => Lock | undefined): void {
  const text = JSON.stringify(lock);
  for (let attempt = 0; attempt < 5; attempt++) {
    if (writeNew(lockPath, text)) return;
    const present = readLock();
    if (present === undefined) continue;
    if (!hasLapsed(present, lockPath)) throw new StateLocked(present);
    // Two runs may find the same dead lock: only the one that holds the take-over mark removes it.
    const mark = `${lockPath}.takeover`;
    if (!writeNew(mark, lock.token)) {
      if (ageMs(mark) > takeoverMs) removeIfThere(mark);
      continue;
    }
    try {
      if (readLock()?.token === present.token) removeIfThere(lockPath);
    } finally {
      removeIfThere(mark);
    }
  }
  const present = readLock();
  throw present === undefined ? new StoreFailed(`the lock ${lockPath} could not be taken`) : new StateLocked(present);
}

/** The process that wrote it is gone, or nobody has kept it alive for a lease's time. */
function hasLapsed(lock: Lock, lockPath: string): boolean {
  if (ageMs(lockPath) > leaseMs) return true;
  if (lock.host !== hostname() || lock.pid <= 0) return false;
  try {
    process.kill(lock.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

interface SessionParts {
  readonly path: string;
  readonly journalPath: string;
  readonly lockPath: string;
  readonly lock: Lock;
  readonly read: () => Promise<StoredState>;
  readonly readLock: () => Lock | undefined;
}

function openSession({ path, journalPath, lockPath, lock, read, readLock }: SessionParts): StateSession {
  let journal: number | undefined;
  const heartbeat = setInterval(() => {
    if (readLock()?.token !== lock.token) return;
    const now = new Date();
    try {
      utimesSync(lockPath, now, now);
    } catch {
      // Found out by the next write, which checks the lock itself.
    }
  }, heartbeatMs);
  heartbeat.unref();

  const assertHeld = (): void => {
    if (readLock()?.token !== lock.token) throw new LeaseLost(path);
  };

  return {
    epoch: lock.epoch,
    read,
    // Waits for the disk without holding the program: what becomes true meanwhile shares the next sync.
    async append(lines) {
      assertHeld();
      await tell(journalPath, async () => {
        journal ??= openJournal(journalPath);
        writeSync(journal, lines.map((line) => `${line}\n`).join(""));
        await syncData(journal);
      });
    },
    async replace(snapshot) {
      assertHeld();
      await tell(path, () => {
        const temporary = `${path}.${lock.token}.tmp`;
        try {
          writeDurably(temporary, snapshot);
          renameSync(temporary, path);
        } catch (error) {
          removeIfThere(temporary);
          throw error;
        }
        syncFolder(path);
        if (journal !== undefined) closeSync(journal);
        journal = undefined;
        removeIfThere(journalPath);
      });
    },
    async release() {
      clearInterval(heartbeat);
      if (journal !== undefined) closeSync(journal);
      journal = undefined;
      if (readLock()?.token === lock.token) removeIfThere(lockPath);
    },
  };
}

/** Opens for appending, and cuts a line off that a dying process left unfinished. */
function openJournal(path: string): number {
  const isNew = !existsSync(path);
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600);
  if (isNew) syncFolder(path);
  else {
    const text = readFileSync(path);
    const end = text.lastIndexOf(0x0a) + 1;
    if (end < text.length) ftruncateSync(file, end);
  }
  return file;
}

/** The highest epoch written so far, read off the head of the snapshot and the end of the journal. */
function lastEpoch(path: string, journalPath: string): number {
  const inSnapshot = /^"epoch":(\d+),$/m.exec(readIfThere(path)?.slice(0, 400) ?? "")?.[1];
  let highest = Number(inSnapshot ?? 0);
  for (const match of (readIfThere(journalPath) ?? "").matchAll(/^[0-9a-f]{16} \{"n":\d+,"e":(\d+),/gm))
    highest = Math.max(highest, Number(match[1]));
  return highest;
}

const splitLines = (text: string | undefined): string[] => {
  if (text === undefined || text === "") return [];
  return text.endsWith("\n") ? text.slice(0, -1).split("\n") : text.split("\n");
};

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new StoreFailed(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** False when the file was there already. */
function writeNew(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new StoreFailed(`${path} cannot be written: ${(error as Error).message}`);
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes the file's name durable as well as its bytes. */
function syncFolder(path: string): void {
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const ageMs = (path: string): number => {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
};

const syncData = promisify(fdatasync);

async function tell(path: string, write: () => void | Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw new StoreFailed(`${path} cannot be written: ${(error as Error).message}`);
  }
}
