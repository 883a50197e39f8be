/** When a stack is looked at again. The jitter is stored with the stack, so that a restart makes no storm. */
import type { Retry } from "./model";

/** In [0, 1): how far behind its interval a stack is looked at, by at most a tenth. */
export const jitterShare = 0.1;

export const afterSuccess = (intervalMs: number, jitter: number): number =>
  Math.round(intervalMs * (1 + jitterShare * jitter));

export function afterFailure({ firstMs, maxMs, giveUpAfter }: Retry, failures: number, jitter: number): number {
  const pause = hasGivenUp({ giveUpAfter }, failures)
    ? maxMs
    : Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(pause * (1 + jitterShare * jitter));
}

export const hasGivenUp = ({ giveUpAfter }: Pick<Retry, "giveUpAfter">, failures: number): boolean =>
  failures >= giveUpAfter;
