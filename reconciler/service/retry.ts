/**
 * Whether a request is sent again, and when: a pure policy over how it ended. Time, chance and the shared budget are
 * handed in. What may be repeated at all is decided by the outcome alone: `unavailable` proves that nothing was done,
 * and of the unknown only a delete, which ends the same however often it is sent.
 */
import type { RequestKind } from "../core/model/operation";
import type { Failure } from "../core/model/outcome";
import { dayMs } from "../core/model/time";
import { isThrottled } from "../dialect/conditions";

export interface RetryPolicy {
  /** How often a request is sent at most, unless the service asks to slow down. */
  readonly attempts: number;
  /** The same when the service asks to slow down, which it may do for as long as other callers keep it busy. */
  readonly throttledAttempts: number;
  /** What the request and its own waits may take, up to the start of the last. What the service asks for is beside it. */
  readonly elapsedMs: number;
  /** For how long in all a service may ask one request to come later. */
  readonly askedMs: number;
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

const longestRetryAfterMs = 5 * 60_000;

export const retryPolicy = (requestTimeoutMs: number): RetryPolicy => ({
  attempts: 5,
  throttledAttempts: 30,
  elapsedMs: 2 * requestTimeoutMs,
  askedMs: Math.max(2 * requestTimeoutMs, longestRetryAfterMs),
  firstWaitMs: 200,
  longestWaitMs: 10_000,
});

export interface Attempt {
  readonly kind: RequestKind;
  /** 1 for the first. */
  readonly attempt: number;
  readonly outcome: Failure;
  readonly elapsedMs: number;
  /** How much has been waited because the service asked for it. */
  readonly askedMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** What is left of the budget that all requests share. */
  readonly budget: number;
}

export type RetryDecision =
  | { readonly action: "give_up" }
  /** `asked`: for as long as the service said. */
  | { readonly action: "wait"; readonly ms: number; readonly asked?: true };

const noRetry: RetryDecision = { action: "give_up" };

export function decideRetry(policy: RetryPolicy, last: Attempt): RetryDecision {
  const { outcome } = last;
  if (outcome.status === "rejected") return noRetry;
  if (outcome.status === "unknown" && last.kind !== "delete") return noRetry;
  if (outcome.status === "unavailable" && outcome.fix !== undefined) return noRetry;
  const { retryAfterMs } = outcome;
  const throttled = isThrottled(outcome);
  if (retryAfterMs !== undefined && retryAfterMs >= policy.firstWaitMs) return asAsked(policy, last, retryAfterMs);
  if (last.attempt >= (throttled ? policy.throttledAttempts : policy.attempts)) return noRetry;
  if (!throttled && last.budget < 1) return noRetry;
  const doubled = Math.min(policy.firstWaitMs * 2 ** (last.attempt - 1), policy.longestWaitMs);
  // At least half, so that it does slow down; the rest by chance, so that those who failed together do not come back
  // together. "Come back at once", said again and again, would make a storm, so it counts as nothing said.
  const ms = Math.round(Math.max(doubled * (0.5 + last.random / 2), retryAfterMs ?? 0));
  return last.elapsedMs + ms > policy.elapsedMs ? noRetry : { action: "wait", ms };
}

/**
 * A wait that the service asks for is kept as it was asked, however often: its own tries tell it more than a guess here
 * would. Some chance is on top, so that those who were refused together do not come back together.
 */
function asAsked(policy: RetryPolicy, { askedMs, random }: Attempt, retryAfterMs: number): RetryDecision {
  const ms = Math.round(retryAfterMs + Math.min(retryAfterMs / 4, 1000) * random);
  return askedMs + ms > policy.askedMs ? noRetry : { action: "wait", ms, asked: true };
}

/** The longest wait that a service may ask for: nobody sits through a longer one without having been asked. */
export function tooLong(policy: RetryPolicy, outcome: Failure): string | undefined {
  const retryAfterMs = outcome.status === "unavailable" ? outcome.retryAfterMs : undefined;
  if (retryAfterMs === undefined || retryAfterMs <= policy.askedMs) return undefined;
  const asked = retryAfterMs >= dayMs ? "a day or more" : `${Math.round(retryAfterMs / 1000)} s`;
  return `the service asks to come back in ${asked}, and a request is not waited for longer than ${Math.round(policy.askedMs / 1000)} s`;
}

/** What is said of a request that gave way to the service for so long. */
export const throttledFor = (ms: number): string => `the service has throttled for ${Math.round(ms / 1000)} s`;

export const throttledFix =
  "run the same command again later; limits: { requests_per_second: … } in the dialect keeps below what the service bears";

/**
 * The shared budget: a repeat costs one, a success earns one back, up to the full amount. With the whole service down
 * it is soon spent, and a thousand requests do not each wait through their own five attempts.
 */
export const fullBudget = 100;
export const spend = (budget: number): number => Math.max(0, budget - 1);
export const earn = (budget: number): number => Math.min(fullBudget, budget + 1);
