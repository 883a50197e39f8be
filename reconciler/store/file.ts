/**
 * The state as files beside the YAML: `F` (snapshot), `F.journal` (what became true since), `F.lock` (who writes).
 * All with mode 0600. A snapshot is replaced by rename, and a journal line is durable before it counts.
 *
 * Every holder writes to a journal file of its own making: it takes over what the last one wrote and is renamed into its
 * place. A holder that was paused and lost its lease still has the old file open, and what it writes there nobody reads.
 *
 * `F.journal.end` says how many of the journal's lines were acknowledged, and to which snapshot they belong, so that a
 * journal that was cut is noticed. It is written after them and is not waited for: it may lag behind, and never runs
 * ahead. It is made and renamed as the journal is.
 */

import {
  closeSync,
  existsSync,
  fdatasync,
  fsyncSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { ifPossible } from "../core/text/errors";
import {
  followLinks,
  readIfThere,
  refuseMountedAlone,
  removeIfThere,
  removeLeftBehind,
  replaceDurably,
  syncFolder,
  tell,
  tellLater,
} from "./durable-file";
import { createFileLock, markPatienceMs } from "./file-lock";
import { bothClocks, type Clocks, lastEpoch, snapshotEpoch, startHeartbeat, vouch } from "./lease";
import {
  defaultLease,
  LeaseLost,
  type LeaseTimes,
  StateLocked,
  type StateSession,
  type StateStore,
  type StoredState,
  StoreFailed,
} from "./store";

type Paths = ReturnType<typeof pathsOfState>;

/** The files of a state, where a link in the place of the first leads. */
export function pathsOfState(location: string) {
  const snapshot = followLinks(location);
  const journal = `${snapshot}.journal`;
  return { snapshot, journal, end: `${journal}.end`, lock: `${snapshot}.lock` } as const;
}

export function createFileStore(location: string, times: LeaseTimes = defaultLease): StateStore {
  const paths = pathsOfState(location);
  const { snapshot: path } = paths;
  const lock = createFileLock(paths.lock, times);

  return {
    location,
    leases: true,
    read: async () => readStored(paths),
    async holder() {
      const present = lock.present();
      return present === undefined || !lock.isAlive(present) ? undefined : present;
    },
    breakLock: async (onlyLapsed) =>
      lock.exclusively(() => {
        const present = lock.present();
        if (onlyLapsed === true && present !== undefined && lock.isAlive(present)) throw new StateLocked(present);
        if (present !== undefined) lock.remove();
        return present;
      }),
    async lock(holder) {
      const since = bothClocks();
      if (!existsSync(dirname(path)))
        throw new StoreFailed(`the state ${location}: there is no folder ${dirname(path)}`);
      refuseMountedAlone(path);
      return lock.take(holder, (mine) => {
        removeLeftBehind(path, markPatienceMs);
        const stored = readStored(paths);
        return openSession(mine.token, stored, since);
      });
    },
  };

  function openSession(token: string, found: StoredState, since: Clocks): StateSession {
    let own: OwnJournal | undefined = tell(paths.journal, () => ownJournal(paths, token, found));
    // The journal's name is durable once its folder is; a run that writes nothing need not wait for that.
    let isNamed = false;
    const heartbeat = startHeartbeat(times, () => lock.beat(token));
    const assertHeld = (): OwnJournal => {
      if (own !== undefined && lock.isHeldBy(token)) return own;
      if (!existsSync(dirname(paths.snapshot))) throw new StoreFailed(`the folder of the state ${location} is gone`);
      throw new LeaseLost(location);
    };

    // Checking the lock costs one read of a small file.
    const vouching = vouch({ trustMs: Math.min(1000, times.leaseMs / 2), since, ask: () => void assertHeld() });

    return {
      epoch: lastEpoch(found) + 1,
      found,
      read: async () => readStored(paths),
      assertHeld: vouching.assertHeld,
      append: (lines) =>
        vouching.confirm(async () => {
          const { file, lines: before } = assertHeld();
          // Waits for the disk without holding the program: what becomes true meanwhile shares the next sync.
          await tellLater(paths.journal, async () => {
            writeFileSync(file, linesText(lines));
            await syncData(file);
            if (!isNamed) syncFolder(paths.journal);
            isNamed = true;
          });
          // A process that took the lock over meanwhile made a journal of its own, perhaps without these lines.
          own = { ...assertHeld(), lines: before + lines.length };
          noteEnd(own);
        }),
      async replace(snapshot) {
        lock.exclusively(() => {
          const former = assertHeld();
          tell(paths.snapshot, () => {
            // The end is removed first, so that it never belongs to a journal that does not exist any more.
            writeSync(former.end, journalEndText({ ...former, lines: 0 }), 0);
            fsyncSync(former.end);
            replaceDurably(paths.snapshot, `${paths.snapshot}.${token}.tmp`, snapshot);
            own = undefined;
            close(former);
            own = ownJournal(paths, token, { snapshot, journal: [] });
            isNamed = false;
          });
        });
      },
      async release() {
        heartbeat.stop();
        if (own !== undefined) close(own);
        own = undefined;
        lock.exclusively(() => {
          if (!lock.isHeldBy(token)) return;
          if (fileSize(paths.journal) === 0 && (readStored(paths).acknowledged ?? 0) === 0)
            for (const path of [paths.journal, paths.end]) tell(path, () => removeIfThere(path));
          lock.remove();
        });
      },
    };
  }
}

/** The files that a holder has open. */
interface OwnJournal {
  readonly file: number;
  readonly end: number;
  readonly snapshotEpoch: number;
  /** Lines that were acknowledged since the snapshot. */
  readonly lines: number;
}

/**
 * Makes a new file under the journal's name with the lines so far. Unfinished bytes of a process that died are left
 * out.
 */
function ownJournal(paths: Paths, token: string, { snapshot, journal, acknowledged = 0 }: StoredState): OwnJournal {
  // A journal that lost lines keeps the end it had, so that the loss is told for as long as nobody replaced it.
  const end = { snapshotEpoch: snapshotEpoch(snapshot), lines: Math.max(acknowledged, journal.length) };
  const file = ownFile(paths.journal, token, "ax");
  try {
    if (journal.length > 0) {
      writeFileSync(file.open, linesText(journal));
      fsyncSync(file.open);
    }
    file.name();
    const endFile = ownFile(paths.end, token, "wx");
    writeFileSync(endFile.open, journalEndText(end));
    endFile.name();
    return { ...end, file: file.open, end: endFile.open };
  } catch (error) {
    closeSync(file.open);
    for (const path of [paths.journal, paths.end]) removeIfThere(temporaryPath(path, token));
    throw error;
  }
}

const temporaryPath = (path: string, token: string): string => `${path}.${token}.tmp`;

/** The file is made beside the journal, and renamed once it is filled. */
function ownFile(path: string, token: string, flag: "ax" | "wx") {
  const open = openSync(temporaryPath(path, token), flag, 0o600);
  return { open, name: (): void => renameSync(temporaryPath(path, token), path) };
}

/** Acknowledged lines are durable already: a file that cannot be closed, as on a network, loses none of them. */
function close({ file, end }: OwnJournal): void {
  // No line is written to this journal any more.
  for (const open of [file, end]) ifPossible(() => closeSync(open));
}

/** The text always has the same length, so that it is overwritten in one write. */
const journalEndText = ({ snapshotEpoch: epoch, lines }: Pick<OwnJournal, "snapshotEpoch" | "lines">): string =>
  `${String(epoch).padStart(12, "0")} ${String(lines).padStart(12, "0")}\n`;

/** The end only helps to notice a loss: where it cannot be written, the lines are durable all the same. */
function noteEnd(own: OwnJournal): void {
  // Where it cannot be written the end lags behind, which is allowed.
  ifPossible(() => writeSync(own.end, journalEndText(own), 0));
}

/**
 * Whether the end belongs to the journal that continues this snapshot: another version of this tool may have replaced
 * both.
 */
function linesIn(end: string | undefined, snapshot: string | undefined): number | undefined {
  const found = /^(\d+) (\d+)\n$/.exec(end ?? "");
  return found !== null && Number(found[1]) === snapshotEpoch(snapshot) ? Number(found[2]) : undefined;
}

/**
 * Snapshot and journal of one moment: a snapshot that was replaced in between took the journal's lines with it. The end
 * is read before the journal, which may only grow meanwhile.
 */
function readStored(paths: Paths): StoredState {
  for (;;) {
    const before = fileIdentity(paths.snapshot);
    const end = readIfThere(paths.end);
    const snapshot = readIfThere(paths.snapshot);
    const acknowledged = linesIn(end, snapshot);
    const journal = readIfThere(paths.journal);
    if (fileIdentity(paths.snapshot) === before) return { snapshot, journal: splitLines(journal), acknowledged };
  }
}

function fileIdentity(path: string): string {
  try {
    const { ino, mtimeNs, size } = statSync(path, { bigint: true });
    return `${ino}:${mtimeNs}:${size}`;
  } catch {
    return "";
  }
}

const syncData = promisify(fdatasync);

const fileSize = (path: string): number => ifPossible(() => statSync(path).size) ?? -1;

const linesText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** A line counts with its line feed: without it, it was never acknowledged, and the next holder does not keep it. */
function splitLines(text: string | undefined): string[] {
  const end = text?.lastIndexOf("\n") ?? -1;
  return text === undefined || end < 0 ? [] : text.slice(0, end).split("\n");
}
