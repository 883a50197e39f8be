/**
 * Where a state lives. One writer at a time, which holds a lease; everybody may read. A state is a snapshot and a
 * journal of what became true since: recording a step appends one line, whatever the size of the state.
 */
import type { DiagnosticCode } from "../core/model/diagnostic-code";
export interface StoredState {
  /** The last snapshot; `undefined` when there is none yet. */
  readonly snapshot?: string;
  /** Lines written since, oldest first. */
  readonly journal: readonly string[];
  /**
   * How many lines were acknowledged as durable, kept apart from the lines. The number may lag behind the journal and
   * never runs ahead, so that fewer lines than this are a loss. Absent: it was not kept.
   */
  readonly acknowledged?: number;
}

/** The holder of the lock, as it is shown to a caller that has to wait. */
export interface Holder {
  readonly who: string;
  readonly host: string;
  readonly pid: number;
  /** ISO time. */
  readonly since: string;
  readonly command: string;
}

/** Of another program's lock not all of it is known. */
export function describeHolder({ who, host, pid, since, command }: Holder): string {
  const known = (text: string): boolean => text !== unknownWord;
  const details = [...(pid === 0 ? [] : [`pid ${pid}`]), ...(known(command) ? [command] : [])].join(", ");
  return [
    known(who) ? who : "another program",
    ...(known(host) ? [`on ${host}`] : []),
    ...(details === "" ? [] : [`(${details})`]),
    ...(known(since) ? [`since ${since}`] : []),
  ].join(" ");
}

/** What stands where a holder does not say something of itself. */
export const unknownWord = "unknown";

export interface StateSession {
  /** Grows with every holder: a writer with a lower epoch has lost its lease. */
  readonly epoch: number;
  /** What was read under the lock when it was taken, where that was. */
  readonly found?: StoredState;
  read(): Promise<StoredState>;
  /**
   * Called before anything is sent to the service. Rejects with LeaseLost when another holder has the lock by now. The
   * store is asked only when its last answer is too old, as after a pause of the process or the machine.
   */
  assertHeld(): Promise<void>;
  /** Resolves when the lines are durable. Rejects with LeaseLost when another holder has the lock by now. */
  append(lines: readonly string[]): Promise<void>;
  /** Puts one snapshot in place of snapshot and journal, whole or not at all. */
  replace(snapshot: string): Promise<void>;
  release(): Promise<void>;
}

export interface StateStore {
  /** For people and messages; never with a credential. */
  readonly location: string;
  /** False: nothing shows whether a holder is alive, so a lock stands until somebody removes it. */
  readonly leases: boolean;
  read(): Promise<StoredState>;
  /** Rejects with StateLocked while another holder's lease is alive. The signal ends a wait for it, where there is one. */
  lock(holder: Holder, signal?: AbortSignal): Promise<StateSession>;
  /** The holder whose lease is alive. `undefined` too where a store without leases cannot tell without locking. */
  holder(): Promise<Holder | undefined>;
  /**
   * Takes the lock away from whoever holds it; its holder cannot write any more. `onlyLapsed`: rejects with StateLocked
   * where its lease is alive, as of one who took it since somebody looked.
   */
  breakLock(onlyLapsed?: boolean): Promise<Holder | undefined>;
}

/** How long a lease lives without a sign of life, and how often its holder gives one. */
export interface LeaseTimes {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
}

export const defaultLease: LeaseTimes = { leaseMs: 60_000, heartbeatMs: 10_000 };

export class StateLocked extends Error {
  override readonly name = "StateLocked";
  readonly code = "state/locked" satisfies DiagnosticCode;
  /** `leases`: a lock here ends when its holder gives no sign of life. */
  constructor(
    readonly holder: Holder,
    readonly leases = true,
  ) {
    super(`the state is locked by ${describeHolder(holder)}`);
  }
}

export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly code = "state/lease-lost" satisfies DiagnosticCode;
  constructor(location: string) {
    super(`the lock on ${location} was taken over by somebody else; nothing more is written`);
  }
}

/** The store itself failed: full disk, no rights, no network. */
export class StoreFailed extends Error {
  override readonly name = "StoreFailed";
  readonly code = "state/store-failed" satisfies DiagnosticCode;
  /** Its server was there before and is away, or is just starting. */
  isAway = false;
  /** It answered that it has written, and does not show what was written. */
  hasLost = false;
}

/**
 * The state cannot be read or written because of its encryption: no key, a wrong one, or no encryption where it is
 * required.
 */
export class StateSealed extends Error {
  override readonly name = "StateSealed";
  constructor(
    readonly code: "state/key-missing" | "state/key-wrong" | "state/key-bad" | "state/not-encrypted" | "state/damaged",
    message: string,
    /** Where it is another one than that of the code. */
    readonly fix?: string,
  ) {
    super(message);
  }
}
