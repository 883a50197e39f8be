/** Time as it is handed in, so that tests need not wait for it. */
import { sleep } from "./abort-listeners";

export interface MonotonicClock {
  /** Milliseconds, never going back. */
  now(): number;
  /** The time of day in milliseconds, for dates that the service sends. */
  wallNow(): number;
  /** Ends early when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const monotonicClock: MonotonicClock = { now: () => performance.now(), wallNow: () => Date.now(), sleep };
