/**
 * Local times of a time zone, for every day of every zone: also for the days on which an hour is left out or comes
 * twice. A wall time is written as the milliseconds that it would be in UTC.
 */
import { dayMs } from "../core/model/time";

export type WallTime = number;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws for a zone that nobody knows. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, made);
  return made;
}

export function wallTimeAt(zone: string, instant: number): WallTime {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const secondMs = 1000;

/** How far the zone's clocks are ahead of UTC. */
export function offsetAt(zone: string, instant: number): number {
  const whole = Math.floor(instant / secondMs) * secondMs;
  return wallTimeAt(zone, whole) - whole;
}

/**
 * The instant at which the zone's clocks show this time: the first of two, and the end of the gap where they never show
 * it.
 */
export function instantOf(zone: string, wall: WallTime): number {
  const offsets = [offsetAt(zone, wall - dayMs), offsetAt(zone, wall + dayMs)];
  const shown = offsets.map((offset) => wall - offset).filter((instant) => wallTimeAt(zone, instant) === wall);
  if (shown.length > 0) return Math.min(...shown);
  // The clocks go from before to after this time at once, somewhere between the two guesses.
  let [before, after] = [wall - Math.max(...offsets), wall - Math.min(...offsets)];
  while (after - before > secondMs) {
    const middle = Math.floor((before + after) / 2 / secondMs) * secondMs;
    if (wallTimeAt(zone, middle) < wall) before = middle;
    else after = middle;
  }
  return after;
}
