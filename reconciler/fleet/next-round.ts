/**
 * When a stack is looked at again. Each has its own moment of the interval, so that a sweep of all is spread over it and
 * everything is looked at once in it, however many stacks were declared, pushed or taken up again at the same time. The
 * jitter that says which moment is stored with the stack, so that a restart makes no storm.
 */
import type { Retry } from "./model";

/** By so much of its interval at most a stack is looked at later than it asks for. */
export const jitterShare = 0.1;

/** `jitter`, in [0, 1), is where in each interval its moment is. */
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

export const hasGivenUp = ({ giveUpAfter }: Pick<Retry, "giveUpAfter">, failures: number): boolean =>
  failures >= giveUpAfter;
