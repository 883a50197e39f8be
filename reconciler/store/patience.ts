/** Waiting for a lock that somebody else holds: as long as was asked for, and by name when it takes longer. */
import { describeHolder, type Holder, StateLocked, type StateSession, type StateStore } from "./store";

const firstPauseMs = 100;
const longestPauseMs = 2000;

export interface Patience {
  readonly waitMs: number;
  /** Once, when there is somebody to wait for. */
  readonly onWait: (holder: Holder) => void;
}

/** A store whose lock waits. */
export function withPatience(store: StateStore, patience: Patience): StateStore {
  return {
    ...store,
    lock: (holder, signal): Promise<StateSession> => insist(() => store.lock(holder), patience, signal),
  };
}

/**
 * Before a plan is made: what a running holder is about to change is not worth planning on. A store without leases does
 * not show its holder, and says no when it is locked.
 */
export function awaitFree(store: StateStore, patience: Patience, signal?: AbortSignal): Promise<void> {
  return insist(
    async () => {
      const holder = await store.holder();
      if (holder !== undefined) throw new StateLocked(holder);
    },
    patience,
    signal,
  );
}

/** Somebody would not wait any longer; nothing was sent or written. */
class WaitStopped extends Error {
  override readonly name = "WaitStopped";
  readonly code = "state/wait-stopped";
  constructor(holder: Holder) {
    super(`stopped while the state was locked by ${describeHolder(holder)}; nothing was sent`);
  }
}

const isStopped = (signal?: AbortSignal): boolean => signal?.aborted === true;

/** Ends at once when it is told to stop. */
const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });

async function insist<T>(attempt: () => Promise<T>, { waitMs, onWait }: Patience, signal?: AbortSignal): Promise<T> {
  const deadline = performance.now() + waitMs;
  let pauseMs = firstPauseMs;
  for (let tried = 0; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const leftMs = deadline - performance.now();
      if (!(error instanceof StateLocked) || leftMs <= 0) throw error;
      if (isStopped(signal)) throw new WaitStopped(error.holder);
      if (tried === 0) onWait(error.holder);
      await pause(Math.min(pauseMs, leftMs), signal);
      if (isStopped(signal)) throw new WaitStopped(error.holder);
      pauseMs = Math.min(pauseMs * 1.5, longestPauseMs);
    }
  }
}
