/** Time as it is handed in, so that tests need not wait for it. */
import type { Elapsed, Instant } from "../core/model/time";

export interface Clock {
  now(): Elapsed;
  instant(): Instant;
  /** Ends early when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
