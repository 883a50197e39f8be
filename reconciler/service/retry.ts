/**
 * Whether a request is sent again, and when: a pure policy over how it ended. Time, chance and the shared budget are
 * handed in. What may be repeated at all is decided by the outcome alone: `unavailable` proves that nothing was done,
 * and of the unknown only a delete, which ends the same however often it is sent.
 */
import type { RequestKind } from "../core/model/operation";
import type { Failure } from "../core/model/outcome";
import { isThrottled } from "../dialect/conditions";

export interface RetryPolicy {
  /** How often a request is sent at most, unless the service asks to slow down. */
  readonly attempts: number;
  /** The same when the service asks to slow down, which it may do for as long as other callers keep it busy. */
  readonly throttledAttempts: number;
  /** From the first request to the start of the last. */
  readonly elapsedMs: number;
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

export const retryPolicy = (requestTimeoutMs: number): RetryPolicy => ({
  attempts: 5,
  throttledAttempts: 30,
  elapsedMs: 2 * requestTimeoutMs,
  firstWaitMs: 200,
  longestWaitMs: 10_000,
});

export interface Attempt {
  readonly kind: RequestKind;
  /** 1 for the first. */
  readonly attempt: number;
  readonly outcome: Failure;
  readonly elapsedMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** What is left of the budget that all requests share. */
  readonly budget: number;
}

export type RetryDecision = { readonly action: "give_up" } | { readonly action: "wait"; readonly ms: number };

const giveUp: RetryDecision = { action: "give_up" };

export function decideRetry(policy: RetryPolicy, last: Attempt): RetryDecision {
  const { outcome } = last;
  if (outcome.status === "rejected") return giveUp;
  if (outcome.status === "unknown" && last.kind !== "delete") return giveUp;
  if (outcome.status === "unavailable" && outcome.fix !== undefined) return giveUp;
  const retryAfterMs = outcome.status === "unavailable" ? outcome.retryAfterMs : undefined;
  const throttled = isThrottled(outcome);
  if (last.attempt >= (throttled ? policy.throttledAttempts : policy.attempts)) return giveUp;
  if (!throttled && last.budget < 1) return giveUp;
  const doubled = Math.min(policy.firstWaitMs * 2 ** (last.attempt - 1), policy.longestWaitMs);
  // At least half, so that it does slow down; the rest by chance, so that those who failed together do not come back
  // together. A wait the service asks for is kept, with some chance on top for the same reason; but "come back at once",
  // said again and again, would make a storm.
  const own = doubled * (0.5 + last.random / 2);
  const asked = retryAfterMs === undefined ? 0 : retryAfterMs + Math.min(retryAfterMs / 4, 1000) * last.random;
  const ms = Math.round(Math.max(own, asked));
  return last.elapsedMs + ms > policy.elapsedMs ? giveUp : { action: "wait", ms };
}

/** The longest wait that a service may ask for: nobody sits through a longer one without having been asked. */
export function tooLong(policy: RetryPolicy, outcome: Failure): string | undefined {
  const retryAfterMs = outcome.status === "unavailable" ? outcome.retryAfterMs : undefined;
  if (retryAfterMs === undefined || retryAfterMs <= policy.elapsedMs) return undefined;
  const asked = retryAfterMs >= dayMs ? "a day or more" : `${Math.round(retryAfterMs / 1000)} s`;
  return `the service asks to come back in ${asked}, and a request is not waited for longer than ${Math.round(policy.elapsedMs / 1000)} s`;
}
const dayMs = 86_400_000;

/**
 * The shared budget: a repeat costs one, a success earns one back, up to the full amount. With the whole service down
 * it is soon spent, and a thousand requests do not each wait through their own five attempts.
 */
export const fullBudget = 100;
export const spend = (budget: number): number => Math.max(0, budget - 1);
export const earn = (budget: number): number => Math.min(fullBudget, budget + 1);
