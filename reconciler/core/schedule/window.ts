/**
 * A wait whose length proves something: what no look has shown by its end is not there, or did not happen. It is counted
 * from look to look, and no pause between two of them counts for more than a third of it. So there are three pauses with
 * a look after each, whatever the clock does: a machine that slept, a process that was stopped and a clock that jumps can
 * make the wait longer, and never end it.
 */
import type { Elapsed } from "../model/time";

export interface Window {
  readonly lengthMs: number;
  readonly servedMs: number;
  readonly lookedAt: Elapsed;
}

const fewestPauses = 3;

export const openWindow = (lengthMs: number, at: Elapsed): Window => ({ lengthMs, servedMs: 0, lookedAt: at });

/** The window at one more look. */
export function lookedAgain({ lengthMs, servedMs, lookedAt }: Window, at: Elapsed): Window {
  const paused = Math.min(Math.max(at - lookedAt, 0), lengthMs / fewestPauses);
  return { lengthMs, servedMs: servedMs + paused, lookedAt: at };
}

/** A third three times is not quite the whole in every number, so a thousandth of a millisecond is forgiven. */
export const isWindowOver = ({ lengthMs, servedMs }: Window): boolean => servedMs >= lengthMs - 0.001;
