/**
 * Whose turn it is: start-time fair queueing. Each tenant has a clock that advances by cost/weight with every round it
 * asks for; the round with the smallest time is served first. A tenant that was idle starts at the time that is served
 * now, so that it neither owes nor has saved anything.
 */
export interface TenantClock {
  /** Where the tenant's last round ends on its clock. */
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

/** The queue's priorities are whole numbers; this many of them make one unit of the clock. */
export const perUnit = 16;
/** What a person started is served before everything that the clock started. */
const personBand = 1_000_000_000;
const lowest = -1_000_000_000;

/** A higher priority is served first. */
export function priorityOf({ start }: Turn, startedBy: "person" | "clock"): number {
  const behind = Math.max(lowest, -Math.floor(start * perUnit));
  return startedBy === "person" ? personBand + behind : behind;
}

/** A clock beyond this is set back, together with all others, so that their order stays. */
export const clockIsFar = (served: number): boolean => served * perUnit > 500_000_000;
