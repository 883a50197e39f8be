/**
 * Waits for a lock that somebody else holds, for as long as was asked for, and names the holder when it takes longer.
 * Stops waiting for a store that does not answer once the command was told to stop.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { monotonicMs } from "./lease";
import { describeHolder, type Holder, StateLocked, type StateSession, type StateStore, StoreFailed } from "./store";

const firstLockPauseMs = 100;
const longestLockPauseMs = 2000;

export interface Patience {
  readonly waitMs: number;
  /** Called once, when another holder has the lock. */
  readonly onWait: (holder: Holder) => void;
}

/** The store, with a lock that waits. */
export const withPatience = (store: StateStore, patience: Patience): StateStore => ({
  ...store,
  lock: (holder, signal): Promise<StateSession> => tryUntilFree(() => store.lock(holder), patience, signal),
});

/** A store that works answers within this time. */
const leaseGraceMs = 1000;

/**
 * A store that is not waited for any more soon after the signal. A write that has no answer by then may have arrived or
 * not, as where the process is killed: the next run reads what is there. `onSilent`: told once, also where nothing is to
 * be written at the moment.
 */
export function withStop(store: StateStore, signal: AbortSignal, onSilent?: () => void): StateStore {
  // Once it was given up, nothing else is asked of it: each would be waited for as long.
  let isSilent = false;
  const orStop = <T>(
    ask: () => Promise<T>,
    {
      undo,
      failure = () => new WaitStopped(`${store.location} did not answer`),
    }: { undo?: (late: T) => void; failure?: () => Error } = {},
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;
      const giveUp = (): void => {
        isOver = true;
        if (!isSilent) onSilent?.();
        isSilent = true;
        signal.removeEventListener("abort", onStop);
        reject(failure());
      };
      const onStop = (): void => {
        timer = setTimeout(giveUp, leaseGraceMs);
      };
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onStop);
      };
      if (isSilent) return giveUp();
      if (signal.aborted) onStop();
      else signal.addEventListener("abort", onStop, { once: true });
      ask().then(
        (answer) => {
          end();
          if (isOver) undo?.(answer);
          else resolve(answer);
        },
        (error: Error) => {
          end();
          reject(error);
        },
      );
    });
  const written = <T>(ask: () => Promise<T>): Promise<T> =>
    orStop(ask, {
      failure: () =>
        new StoreFailed(
          `the state ${store.location} did not answer, and the run was told to stop: what was written last may not be there`,
        ),
    });
  const stopping = (session: StateSession): StateSession => ({
    ...session,
    read: () => orStop(() => session.read()),
    assertHeld: () => written(() => session.assertHeld()),
    append: (lines) => written(() => session.append(lines)),
    replace: (snapshot) => written(() => session.replace(snapshot)),
    release() {
      // Asked all the same: a store that is only slow lets go of the lock by itself.
      const released = session.release();
      released.catch(() => undefined);
      return written(() => released);
    },
  });
  /** What is in flight may take long, and need not be waited for when its end cannot be written down. */
  const askAfterStop = (): void => void orStop(() => store.holder()).catch(() => undefined);
  return {
    ...store,
    read: () => orStop(() => store.read()),
    holder: () => orStop(() => store.holder()),
    async lock(holder, stop) {
      const session = await orStop(() => store.lock(holder, stop), {
        undo: (late) => void late.release().catch(() => undefined),
      });
      if (onSilent !== undefined) signal.addEventListener("abort", askAfterStop, { once: true });
      const held = stopping(session);
      return {
        ...held,
        release() {
          signal.removeEventListener("abort", askAfterStop);
          return held.release();
        },
      };
    },
  };
}

/** The wait was given up; nothing was sent or written. */
class WaitStopped extends Error {
  override readonly name = "WaitStopped";
  readonly code = "state/wait-stopped" satisfies DiagnosticCode;
  constructor(whatWas: string) {
    super(`stopped while the state ${whatWas}; nothing was sent`);
  }
}

async function tryUntilFree<T>(
  attempt: () => Promise<T>,
  { waitMs, onWait }: Patience,
  signal?: AbortSignal,
): Promise<T> {
  const deadline = monotonicMs() + waitMs;
  let pauseMs = firstLockPauseMs;
  for (let tried = 0; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const leftMs = deadline - monotonicMs();
      if (!(error instanceof StateLocked) || leftMs <= 0) throw error;
      const throwIfStopped = (): void => {
        if (signal?.aborted === true) throw new WaitStopped(`was locked by ${describeHolder(error.holder)}`);
      };
      throwIfStopped();
      if (tried === 0) onWait(error.holder);
      // It ends at once when the signal fires.
      await pause(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => undefined);
      throwIfStopped();
      pauseMs = Math.min(pauseMs * 1.5, longestLockPauseMs);
    }
  }
}
