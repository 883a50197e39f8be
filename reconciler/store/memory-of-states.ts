/**
 * What was seen of a state last, so that a store that answers with less is not believed: a proxy, a replica that lags, a
 * cache or a path that was rewritten may answer with nothing, with an older state or with another one, and a run on that
 * would make everything a second time and write it over what is there.
 *
 * The memory of a process is kept here. The memory of a machine is a note beside the project (state-note.ts).
 */
import type { Diagnostic } from "../core/model/diagnostic";
import { type Identified, identify, type SeenState, type StateIdentity } from "../core/state/identity";
import { WrittenByNewer } from "../core/state/newer";
import { type ReadState, readState } from "../core/state/text";
import type { StateSession, StateStore, StoredState } from "./store";

/** The memory of a machine. Nothing depends on it being there, or on being able to write it. */
export interface StateNote {
  read(): SeenState | undefined;
  write(seen: StateIdentity): void;
  forget(): void;
}

export interface Memory {
  readonly note?: StateNote;
  /** The user says that what is there now is the state, whatever was seen before. */
  readonly acceptsNew?: boolean;
  /** The flag with which the user says so. */
  readonly acceptedBy?: string;
}

/** The store answers with less than was seen of this state before. */
export class LessThanSeen extends Error {
  override readonly name = "LessThanSeen";
  readonly diagnostics: readonly Diagnostic[];
  constructor(
    readonly code: "state/gone" | "state/went-back" | "state/other-state",
    readonly seen: StateIdentity,
    summary: string,
    acceptedBy: string,
  ) {
    super(summary);
    this.diagnostics = [
      {
        severity: "error",
        code,
        summary,
        detail: "Nothing was sent and nothing was written.",
        fix: `look again in a minute, for a proxy, a replica or a cache may answer so for a while; if the state was replaced or removed on purpose: ${acceptedBy}, which takes what is there now`,
      },
    ];
  }
}

function lessThan(
  seen: SeenState,
  now: Exclude<Identified, "newer">,
  location: string,
  acceptedBy: string,
): LessThanSeen | undefined {
  const before = `serial ${seen.serial} of lineage ${seen.lineage}${seen.at === undefined ? "" : `, seen here at ${seen.at}`}`;
  const less = (code: LessThanSeen["code"], answer: string): LessThanSeen =>
    new LessThanSeen(code, seen, `the state ${location} answers ${answer}`, acceptedBy);
  if (now === "unreadable") return undefined;
  if (now === "empty") return less("state/gone", `that there is none, and there was one (${before})`);
  if (now.lineage !== seen.lineage)
    return less(
      "state/other-state",
      `with another state (lineage ${now.lineage}) than the one that was there (${before})`,
    );
  return now.serial < seen.serial
    ? less("state/went-back", `with an older state (serial ${now.serial}) than was there (${before})`)
    : undefined;
}

const newerThan = (location: string, read: ReadState): WrittenByNewer =>
  read.ok
    ? new WrittenByNewer(`the state ${location}`, "its version is higher")
    : new WrittenByNewer(`the state ${location}`, read.problem, read.newer?.needs);

/** The store, with every answer held against what was seen of the state before. */
export function withMemory(
  store: StateStore,
  { note, acceptsNew = false, acceptedBy = "--new-state" }: Memory,
): StateStore {
  const { location } = store;
  let seen: SeenState | undefined;
  let isAccepted = !acceptsNew;

  function check(stored: StoredState): StoredState {
    const now = identify(stored);
    if (now === "newer") throw newerThan(location, readState({ snapshot: stored.snapshot, journal: [] }, ""));
    if (isAccepted) {
      seen ??= note?.read();
      const less = seen === undefined ? undefined : lessThan(seen, now, location, acceptedBy);
      if (less !== undefined) throw less;
    } else if (now === "empty") note?.forget();
    if (now === "unreadable") return stored;
    isAccepted = true;
    if (now === "empty") return stored;
    remember(now);
    return stored;
  }

  function remember(now: StateIdentity): void {
    const isNews = seen === undefined || seen.lineage !== now.lineage || seen.serial !== now.serial;
    seen = { lineage: now.lineage, serial: now.serial };
    if (isNews) note?.write(seen);
  }

  function remembering(session: StateSession): StateSession {
    let written: number | undefined;
    return {
      ...session,
      read: async () => check(await session.read()),
      async append(lines) {
        await session.append(lines);
        const last = Number(/^[0-9a-f]{16} \{"n":(\d+),/.exec(lines.at(-1) ?? "")?.[1]);
        if (Number.isSafeInteger(last)) written = last;
      },
      async replace(snapshot) {
        await session.replace(snapshot);
        written = undefined;
        isAccepted = true;
        const now = identify({ snapshot, journal: [] });
        if (typeof now === "object") remember(now);
      },
      async release() {
        if (seen !== undefined && written !== undefined && written > seen.serial)
          remember({ lineage: seen.lineage, serial: written });
        await session.release();
      },
    };
  }

  return {
    ...store,
    read: async () => check(await store.read()),
    lock: async (holder, signal) => remembering(await store.lock(holder, signal)),
    async breakLock(onlyLapsed) {
      // Some stores write when a lock is taken away: not over what this version cannot read, nor over less than there was.
      const stored = await store.read().then(check, (error: unknown) => {
        if (error instanceof WrittenByNewer || error instanceof LessThanSeen) throw error;
        // A lock is taken away from a state that cannot be read too, as where its key is missing.
        return undefined;
      });
      const read = stored === undefined ? undefined : readState(stored, "");
      if (read?.ok === false && read.newer !== undefined) throw newerThan(location, read);
      return store.breakLock(onlyLapsed);
    },
  };
}
