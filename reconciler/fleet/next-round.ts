/**
 * When a stack is looked at again. Each stack has its own moment within the interval, so that the looks at all stacks
 * are spread over the interval, however many stacks were declared, pushed or resumed at the same time. The jitter that
 * gives the moment is stored with the stack, so that a restart causes no burst.
 */
import type { Retry } from "./model";

/** A stack is looked at later than its interval by at most this share of the interval. */
const jitterShare = 0.1;

/** `jitter`, in [0, 1), is where in each interval the stack's moment is. */
export function afterSuccess(intervalMs: number, jitter: number, now: number): number {
  const earliest = now + intervalMs * jitterShare;
  const phase = intervalMs * jitter;
  const next = phase + intervalMs * Math.ceil((earliest - phase) / intervalMs);
  return Math.round(next - now);
}

export function afterFailure({ firstMs, maxMs, giveUpAfter }: Retry, failures: number, jitter: number): number {
  const pause = hasGivenUp({ giveUpAfter }, failures)
    ? maxMs
    : Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(pause * (1 + jitterShare * jitter));
}

const hasGivenUp = ({ giveUpAfter }: Pick<Retry, "giveUpAfter">, failures: number): boolean => failures >= giveUpAfter;
