/**
 * The state as files beside the YAML: `F` (snapshot), `F.journal` (what became true since), `F.lock` (who writes).
 * All with mode 0600. A snapshot is replaced by rename, and a journal line is durable before it counts.
 *
 * Every holder writes to a journal file of its own making: it takes over what the last one wrote and is renamed into its
 * place. A holder that was paused and lost its lease still has the old file open, and what it writes there nobody reads.
 */
import { closeSync, existsSync, fdatasync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import {
  followLinks,
  readIfThere,
  removeIfThere,
  removeLeftBehind,
  replaceDurably,
  syncFolder,
  tell,
  tellLater,
  writeAll,
} from "./durable-file";
import { createFileLock, type FileLock, type Lock, markPatienceMs } from "./file-lock";
import { lastEpoch, startHeartbeat, vouch } from "./lease";
import {
  defaultLease,
  LeaseLost,
  type LeaseTimes,
  type StateSession,
  type StateStore,
  type StoredState,
  StoreFailed,
} from "./store";

interface Paths {
  readonly snapshot: string;
  readonly journal: string;
}

export function createFileStore(location: string, times: LeaseTimes = defaultLease): StateStore {
  const path = followLinks(location);
  const paths: Paths = { snapshot: path, journal: `${path}.journal` };
  const lock = createFileLock(`${path}.lock`, times);

  return {
    location,
    leases: true,
    read: async () => readStored(paths),
    async holder() {
      const present = lock.present();
      return present === undefined || !lock.isAlive(present) ? undefined : present;
    },
    async breakLock() {
      return lock.exclusively(() => {
        const present = lock.present();
        if (present !== undefined) lock.remove();
        return present;
      });
    },
    async lock(holder) {
      return lock.take(holder, (mine) => {
        removeLeftBehind(path, markPatienceMs);
        const stored = readStored(paths);
        const journal = tell(paths.journal, () => ownJournal(paths, mine.token, stored.journal));
        return openSession({ location, paths, lock, mine, times, epoch: lastEpoch(stored) + 1, journal });
      });
    },
  };
}

interface SessionParts {
  readonly location: string;
  readonly paths: Paths;
  readonly lock: FileLock;
  readonly mine: Lock;
  readonly times: LeaseTimes;
  readonly epoch: number;
  readonly journal: number;
}

function openSession({ location, paths, lock, mine, times, epoch, journal: opened }: SessionParts): StateSession {
  let journal: number | undefined = opened;
  // The journal's name is durable once its folder is; a run that writes nothing need not wait for that.
  let isNamed = false;
  const heartbeat = startHeartbeat(times, () => lock.beat(mine.token));
  const assertHeld = (): void => {
    if (journal !== undefined && lock.isHeldBy(mine.token)) return;
    if (!existsSync(dirname(paths.snapshot))) throw new StoreFailed(`the folder of the state ${location} is gone`);
    throw new LeaseLost(location);
  };

  // Looking costs one small file.
  const vouching = vouch(Math.min(1000, times.leaseMs / 2), assertHeld);

  return {
    epoch,
    read: async () => readStored(paths),
    assertHeld: vouching.assertHeld,
    async append(lines) {
      assertHeld();
      // Waits for the disk without holding the program: what becomes true meanwhile shares the next sync.
      await tellLater(paths.journal, async () => {
        writeAll(journal!, lines.map((line) => `${line}\n`).join(""));
        await syncData(journal!);
        if (!isNamed) syncFolder(paths.journal);
        isNamed = true;
      });
      // Whoever took the lock over meanwhile made a journal of its own, perhaps without these lines.
      assertHeld();
      vouching.renew();
    },
    async replace(snapshot) {
      lock.exclusively(() => {
        assertHeld();
        tell(paths.snapshot, () => {
          replaceDurably(paths.snapshot, `${paths.snapshot}.${mine.token}.tmp`, snapshot);
          closeSync(journal!);
          journal = undefined;
          journal = ownJournal(paths, mine.token, []);
          isNamed = false;
        });
      });
    },
    async release() {
      heartbeat.stop();
      if (journal !== undefined) closeSync(journal);
      journal = undefined;
      lock.exclusively(() => {
        if (!lock.isHeldBy(mine.token)) return;
        if (sizeOf(paths.journal) === 0) tell(paths.journal, () => removeIfThere(paths.journal));
        lock.remove();
      });
    },
  };
}

/** A fresh file under the journal's name, with the lines so far; what a dying process left unfinished stays behind. */
function ownJournal({ journal }: Paths, token: string, lines: readonly string[]): number {
  const temporary = `${journal}.${token}.tmp`;
  const file = openSync(temporary, "ax", 0o600);
  try {
    if (lines.length > 0) {
      writeAll(file, lines.map((line) => `${line}\n`).join(""));
      fsyncSync(file);
    }
    renameSync(temporary, journal);
    return file;
  } catch (error) {
    closeSync(file);
    removeIfThere(temporary);
    throw error;
  }
}

/** Snapshot and journal of one moment: a snapshot that was replaced in between took the journal's lines with it. */
function readStored(paths: Paths): StoredState {
  for (;;) {
    const before = identityOf(paths.snapshot);
    const snapshot = readIfThere(paths.snapshot);
    const journal = readIfThere(paths.journal);
    if (identityOf(paths.snapshot) === before) return { snapshot, journal: splitLines(journal) };
  }
}

function identityOf(path: string): string {
  try {
    const { ino, mtimeNs, size } = statSync(path, { bigint: true });
    return `${ino}:${mtimeNs}:${size}`;
  } catch {
    return "";
  }
}

const syncData = promisify(fdatasync);

const sizeOf = (path: string): number => {
  try {
    return statSync(path).size;
  } catch {
    return -1;
  }
};

/** A line counts with its line feed: without it, it was never acknowledged, and the next holder does not keep it. */
function splitLines(text: string | undefined): string[] {
  const end = text?.lastIndexOf("\n") ?? -1;
  return text === undefined || end < 0 ? [] : text.slice(0, end).split("\n");
}
