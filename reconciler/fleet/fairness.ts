/**
 * Whose turn it is: start-time fair queueing. Each tenant has a clock that advances by cost/weight with every round it
 * asks for; the round with the smallest time is served first. A tenant that was idle starts at the time that is served
 * now, so that it neither owes nor has saved anything.
 */
export interface TenantClock {
  /** Where the tenant's last round ends. */
  readonly finish: number;
}

export interface Turn {
  readonly start: number;
  readonly finish: number;
}

/** `served`: the start of the round that was served last. */
export function takeTurn({ finish }: TenantClock, served: number, weight: number, cost = 1): Turn {
  const start = Math.max(finish, served);
  return { start, finish: start + cost / weight };
}

/** Small steps of the clock still make a difference in a queue whose priorities are whole numbers. */
export const perUnit = 16;
/** What a person started goes before everything that the clock started. */
const personBand = 1_000_000_000;
const lowest = -1_000_000_000;

/** Higher is served first. */
export function priorityOf({ start }: Turn, startedBy: "person" | "clock"): number {
  const behind = Math.max(lowest, -Math.floor(start * perUnit));
  return startedBy === "person" ? personBand + behind : behind;
}

/** A clock that ran so far is set back, together with all others, while their order stays. */
export const clockIsFar = (served: number): boolean => served * perUnit > 500_000_000;
