/** What every store's lock has in common: who holds it, read from untrusted text, and the epoch that the next holder gets. */
import { fieldsIn } from "../core/text/objects";
import { type Holder, type LeaseTimes, type StoredState, unknownWord } from "./store";

export const unknownHolder: Holder = {
  who: unknownWord,
  host: unknownWord,
  pid: 0,
  since: unknownWord,
  command: unknownWord,
};

/** Cuts longer texts, because the text comes from outside. */
export const shortText = (value: unknown): string => (typeof value === "string" ? value.slice(0, 200) : unknownWord);

/** A holder as read from the store: any field may be missing or of another type. */
export function readHolder(value: unknown): Holder {
  const fields = fieldsIn(value);
  const text = (name: keyof Holder): string => shortText(fields[name]);
  return {
    who: text("who"),
    host: text("host"),
    pid: typeof fields["pid"] === "number" ? fields["pid"] : 0,
    since: text("since"),
    command: text("command"),
  };
}

// Finds the epoch however the JSON is formatted, since people edit and format it. Inside a JSON string its quotes would
// be escaped.
const inSnapshot = /"epoch"\s*:\s*(\d+)/;
const inLine = /^(?:[0-9a-f]{16} \{"n":\d+,"e":|sealed1 [0-9a-f]+ )(\d+)[, ]/;

export const snapshotEpoch = (snapshot: string | undefined): number =>
  Number(inSnapshot.exec(snapshot ?? "")?.[1] ?? 0);

/** The highest epoch written so far, plain or encrypted: a new holder's entries must count for more than all of them. */
export function lastEpoch({ snapshot, journal }: StoredState): number {
  let highest = snapshotEpoch(snapshot);
  for (const line of journal) {
    const epoch = Number(inLine.exec(line)?.[1] ?? 0);
    if (epoch > highest) highest = epoch;
  }
  return highest;
}

export interface Heartbeat {
  stop(): void;
}

/**
 * Gives a sign of life at intervals. A sign that fails is no error: the next write finds out whether the lease still
 * stands. There are never two at once, and the timer does not keep the process running.
 */
export function startHeartbeat({ heartbeatMs }: LeaseTimes, beat: () => Promise<void> | void): Heartbeat {
  let beating = false;
  const timer = setInterval(async () => {
    if (beating) return;
    beating = true;
    try {
      await beat();
    } catch {
      // The next write finds out whether the lease still stands.
    } finally {
      beating = false;
    }
  }, heartbeatMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

export type Clocks = ReturnType<typeof bothClocks>;

/** A clock that nobody sets. `performance` has the same one, and eight modules of Node to load. */
export const monotonicMs = (): number => process.uptime() * 1000;

export const bothClocks = () => ({ steady: monotonicMs(), wall: Date.now() });

/** Two clocks that nobody set and that ran all the time differ by less. */
const mostApartMs = 500;

export interface Vouching {
  /**
   * Runs what makes the store confirm the lock. The lock is known from when the store was asked: a process may be stopped
   * between an answer and the reading of it, and another holder has the lock when it goes on.
   */
  confirm<T>(ask: () => Promise<T> | T): Promise<T>;
  assertHeld(): Promise<void>;
}

interface VouchingParts {
  /** How long an earlier answer is believed. Nobody takes the lock over before a whole lease is over, except by force. */
  readonly trustMs: number;
  /** When the lock was asked for. */
  readonly since: Clocks;
  /** Rejects when the lock is lost. */
  ask(): Promise<void> | void;
  readonly clocks?: () => Clocks;
}

export function vouch({ trustMs, since, ask, clocks = bothClocks }: VouchingParts): Vouching {
  let known = since;
  const confirm = async <T>(askIt: () => Promise<T> | T): Promise<T> => {
    const askedAt = clocks();
    const answer = await askIt();
    known = askedAt;
    return answer;
  };
  return {
    confirm,
    async assertHeld() {
      const now = clocks();
      const [passedMs, wallMs] = [now.steady - known.steady, now.wall - known.wall];
      // The steady clock stands still while the machine sleeps, and the wall clock may be set: where they differ, the
      // store is asked.
      if (passedMs < trustMs && Math.abs(wallMs - passedMs) < mostApartMs) return;
      await confirm(ask);
    },
  };
}
