/** What every store's lock has in common: who holds it, read from untrusted text, and the epoch that the next holder gets. */
import { fieldsIn } from "../core/text/objects";
import type { Holder, LeaseTimes, StoredState } from "./store";

export const unknownHolder: Holder = {
  who: "unknown",
  host: "unknown",
  pid: 0,
  since: "unknown",
  command: "unknown",
};

/** Untrusted text, cut short. */
export const toldOf = (value: unknown): string => (typeof value === "string" ? value.slice(0, 200) : "unknown");

/** A holder as somebody else wrote it: any field may be missing or of another kind. */
export function readHolder(value: unknown): Holder {
  const fields = fieldsIn(value);
  const text = (name: keyof Holder): string => toldOf(fields[name]);
  return {
    who: text("who"),
    host: text("host"),
    pid: typeof fields["pid"] === "number" ? fields["pid"] : 0,
    since: text("since"),
    command: text("command"),
  };
}

// However it is formatted, for whoever edits it or lets a formatter do so. Inside a string its quotes would be escaped.
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
 * Gives a sign of life now and then. A failed one is no error: the next write finds out whether the lease still stands.
 * Never two at once, and none keeps the process running.
 */
export function startHeartbeat({ heartbeatMs }: LeaseTimes, beat: () => Promise<void> | void): Heartbeat {
  let beating = false;
  const timer = setInterval(async () => {
    if (beating) return;
    beating = true;
    try {
      await beat();
    } catch {
      // Found out by the next write.
    } finally {
      beating = false;
    }
  }, heartbeatMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

export interface Vouching {
  /** The lock is known to be ours at this moment. */
  renew(): void;
  assertHeld(): Promise<void>;
}

/**
 * `trustMs`: how long what was known is believed. Nobody takes over before a whole lease is over; who takes the lock
 * away by force does not wait for that. `ask` rejects when the lock is lost.
 */
export function vouch(trustMs: number, ask: () => Promise<void> | void): Vouching {
  let knownAt = Date.now();
  const renew = (): void => {
    knownAt = Date.now();
  };
  return {
    renew,
    async assertHeld() {
      const age = Date.now() - knownAt;
      if (age >= 0 && age < trustMs) return;
      await ask();
      renew();
    },
  };
}
