/**
 * Where a state lives. One writer at a time, which holds a lease; everybody may read. A snapshot and a journal of what
 * became true since: recording a step appends, whatever the size of the state.
 */
export interface StoredState {
  /** The last snapshot; `undefined` when there is none yet. */
  readonly snapshot?: string;
  /** Lines written since, oldest first. */
  readonly journal: readonly string[];
}

/** Who holds the lock, as it is shown to whoever has to wait. */
export interface Holder {
  readonly who: string;
  readonly host: string;
  readonly pid: number;
  /** ISO time. */
  readonly since: string;
  readonly command: string;
}

export interface StateSession {
  /** Grows with every holder: a writer with a lower one has lost its lease. */
  readonly epoch: number;
  read(): Promise<StoredState>;
  /** Durable when it resolves. Rejects with LeaseLost when somebody else holds the lock by now. */
  append(lines: readonly string[]): Promise<void>;
  /** Puts one snapshot in place of snapshot and journal, whole or not at all. */
  replace(snapshot: string): Promise<void>;
  release(): Promise<void>;
}

export interface StateStore {
  /** For people and messages; never with a credential. */
  readonly location: string;
  read(): Promise<StoredState>;
  /** Rejects with StateLocked while another holder's lease is alive. */
  lock(holder: Holder): Promise<StateSession>;
  holder(): Promise<Holder | undefined>;
  /** Takes the lock away from whoever holds it; its holder cannot write any more. */
  breakLock(): Promise<Holder | undefined>;
}

export class StateLocked extends Error {
  override readonly name = "StateLocked";
  readonly code = "state/locked";
  constructor(readonly holder: Holder) {
    super(
      `the state is locked by ${holder.who} on ${holder.host} (pid ${holder.pid}, ${holder.command}) since ${holder.since}`,
    );
  }
}

export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly code = "state/lease-lost";
  constructor(location: string) {
    super(`the lock on ${location} was taken over by somebody else; nothing more is written`);
  }
}

/** The store itself failed: full disk, no rights, no network. */
export class StoreFailed extends Error {
  override readonly name = "StoreFailed";
  readonly code = "state/store-failed";
}
