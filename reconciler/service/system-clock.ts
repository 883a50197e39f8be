/** The machine's clock. The one file of the rooms that wait and decide in which time is taken from the machine. */
import { elapsedAt, instantAt } from "../core/model/time";
import { sleep } from "./abort-listeners";
import type { Clock } from "./clock";

/** On a clock that nobody sets. `performance` has the same one, and loading it is work that a small command spares. */
const steadyMs = (): number => process.uptime() * 1000;

/** When the process began by the calendar, so that spans of several processes can be drawn together. */
const origin = Date.now() - steadyMs();

export const systemClock: Clock = {
  now: () => elapsedAt(origin + steadyMs()),
  instant: () => instantAt(Date.now()),
  sleep,
};

/**
 * How long ago it was called, by whichever of the machine's two clocks says more: one stands still while the machine
 * sleeps, and the other can be set. A clock that was set back says that it was too long ago. For what is refused when it
 * is old, and for nothing else.
 */
export function startAge(): () => number {
  const [began, date] = [steadyMs(), Date.now()];
  return () => {
    const byDate = Date.now() - date;
    return byDate < 0 ? Number.POSITIVE_INFINITY : Math.max(byDate, steadyMs() - began);
  };
}
