/**
 * Whose turn it is: start-time fair queueing. Each tenant has a clock that advances by 1/weight with every round that is
 * served for it; the round with the smallest time is served first. A tenant that was idle starts at the time that is
 * served now, so that it neither owes nor has saved anything. A round takes its turn when somebody asks for it now, or
 * when it is due and has to wait (`queue.ts`): one whose time has not come costs its tenant nothing, and neither does a
 * trigger for a round that waits already.
 */

/** The queue's priorities are whole numbers; this many of them make one unit of the clock. */
export const perUnit = 16;
/** What a person started is served before everything that the clock started. */
export const personBand = 1_000_000_000;
const lowest = -1_000_000_000;
/** A round without a turn runs when no round with a turn waits. */
export const withoutTurn = lowest - 1;

/** A higher priority is served first. `start`: the time of the round's turn. */
export function priorityOf(start: number, startedBy: "person" | "clock"): number {
  const behind = Math.max(lowest, -Math.floor(start * perUnit));
  return startedBy === "person" ? personBand + behind : behind;
}

/** A clock beyond this is set back, together with all others, so that their order stays. */
export const clockIsFar = (served: number): boolean => served * perUnit > 500_000_000;
