/**
 * The lock of a file state: `F.lock` names the writer, and the file's time of change is the writer's last sign of life.
 * Everything that changes the holder, or replaces the snapshot, happens inside `F.lock.mark`, which is held for moments
 * only.
 */

import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync, renameSync } from "node:fs";
import { hostname } from "node:os";
import { ifPossible } from "../core/text/errors";
import { fieldsIn, parsedJson } from "../core/text/objects";
import { ageOf, createWhole, readIfThere, removeIfThere, tell, touch } from "./durable-file";
import { monotonicMs, readHolder } from "./lease";
import { isProcessGone } from "./process-gone";
import { type Holder, type LeaseTimes, StateLocked, StoreFailed } from "./store";

export interface Lock extends Holder {
  readonly token: string;
  /**
   * The machine or container in which the process id counts: two of them may share a host name and not their
   * processes.
   */
  readonly processes: string;
}

export interface FileLock {
  present(): Lock | undefined;
  isAlive(lock: Lock): boolean;
  /** Its holder has shown no sign of life for longer than its lease. */
  isSilent(): boolean;
  isHeldBy(token: string): boolean;
  /** Takes a free or lapsed lock, and runs `then` before anybody else can take it. */
  take<T>(holder: Holder, then: (lock: Lock) => T): T;
  /** Runs work that must not happen while the holder changes. */
  exclusively<T>(use: () => T): T;
  beat(token: string): void;
  remove(): void;
}

export const markPatienceMs = 10_000;

/**
 * `lapses`: "with its process" where the holder could not find out in time that another one has taken its lock. A process
 * that can be seen keeps such a lock, even one that has shown no sign of life for long: it may be stopped.
 */
export function createFileLock(
  path: string,
  { leaseMs }: LeaseTimes,
  lapses: "by time" | "with its process" = "by time",
): FileLock {
  const lock: FileLock = {
    present: () => readLock(path),
    isAlive(present) {
      const isSeen = isSameSpace(present);
      if (isSeen && isProcessGone(present.pid)) return false;
      return (isSeen && lapses === "with its process") || !lock.isSilent();
    },
    isSilent: () => (ageOf(path) ?? 0) > leaseMs,
    // Asked before each request: no other lock has this token, wherever it stands in the text.
    isHeldBy: (token) => readIfThere(path)?.includes(token) === true,
    take(holder, then) {
      const mine: Lock = { ...holder, token: randomUUID(), processes: processSpace() };
      return lock.exclusively(() => {
        const present = readLock(path);
        if (present !== undefined && lock.isAlive(present)) throw new StateLocked(present);
        if (present !== undefined) tell(path, () => removeIfThere(path));
        if (!createWhole(path, JSON.stringify(mine), mine.token)) {
          const other = readLock(path);
          throw other === undefined ? new StoreFailed(`the lock ${path} could not be taken`) : new StateLocked(other);
        }
        try {
          return then(mine);
        } catch (error) {
          removeIfThere(path);
          throw error;
        }
      });
    },
    exclusively: (use) => withMark(`${path}.mark`, use),
    beat(token) {
      if (readLock(path)?.token !== token) return;
      touch(path);
    },
    remove: () => tell(path, () => removeIfThere(path)),
  };
  return lock;
}

function withMark<T>(mark: string, use: () => T): T {
  const mine: Lock = {
    ...readHolder({}),
    pid: process.pid,
    host: hostname(),
    ...{ token: randomUUID() },
    processes: processSpace(),
  };
  const deadline = monotonicMs() + markPatienceMs;
  while (!createWhole(mark, JSON.stringify(mine), mine.token)) {
    const other = readLock(mark);
    if (other !== undefined && isStale(mark, other)) removeStale(mark, other, mine.token);
    else if (monotonicMs() > deadline)
      throw new StoreFailed(
        other === undefined
          ? `${mark} is there and cannot be read, as a link that leads to nothing: remove it`
          : `${mark} is held by process ${other.pid} on ${other.host}, which does not let it go`,
      );
    // What was there to the one and not to the other was let go in between.
    else sleepSync(other === undefined ? 1 : 5);
  }
  try {
    return use();
  } finally {
    if (readLock(mark)?.token === mine.token) removeIfThere(mark);
  }
}

/** On the same machine a dead process can be seen; on another machine only time tells. */
const isStale = (mark: string, other: Lock): boolean =>
  isSameSpace(other) ? isProcessGone(other.pid) : (ageOf(mark) ?? 0) > markPatienceMs;

/** Two processes may find the same stale mark: the second must not remove the new mark of the first. */
function removeStale(mark: string, stale: Lock, token: string): void {
  const aside = `${mark}.${token}.stale`;
  try {
    renameSync(mark, aside);
  } catch {
    return;
  }
  const moved = readIfThere(aside);
  removeIfThere(aside);
  if (moved !== undefined && parseLock(moved).token !== stale.token) createWhole(mark, moved, token);
}

function readLock(path: string): Lock | undefined {
  const text = readIfThere(path);
  return text === undefined ? undefined : parseLock(text);
}

function parseLock(text: string): Lock {
  // None: a lock file that is not whole, whose writer died or is about to finish it. Only its age tells.
  const value = parsedJson(text);
  const { token, processes } = fieldsIn(value);
  return {
    ...readHolder(value),
    token: typeof token === "string" ? token : "",
    processes: typeof processes === "string" ? processes : "",
  };
}

const isSameSpace = (lock: Lock): boolean =>
  lock.host === hostname() && lock.pid > 0 && lock.processes === processSpace();

/** The first namespace of processes has the same number on every machine, so the start of the machine is named as well. */
const processSpace = (): string =>
  [() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), () => readlinkSync("/proc/self/ns/pid")]
    .map((read) => ifPossible(read) ?? "")
    .join(" ");

const sleepSync = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
