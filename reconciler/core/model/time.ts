/**
 * Two kinds of time that do not mix. What is decided by time that has passed is measured on a clock that nobody sets; a
 * date is written down and shown. The difference of two dates says nothing: each may come from a clock that is wrong, or
 * was set in between. scripts/check-imports.mjs keeps dates out of the rooms that decide.
 */

declare const runningTime: unique symbol;
declare const calendar: unique symbol;

/** A moment of this process, in milliseconds on a clock that never goes back. It means nothing to another process. */
export type Elapsed = number & { readonly [runningTime]: true };

/** A moment of the calendar, as ISO 8601 in UTC: for people, for files, and to tell two things apart. */
export type Instant = string & { readonly [calendar]: true };

/** What a clock that never goes back shows. */
export const elapsedAt = (ms: number): Elapsed => ms as Elapsed; // milliseconds are what it is

/** A moment as the calendar shows it. */
export const instantAt = (ms: number): Instant => new Date(ms).toISOString() as Instant; // the ISO text of a moment

/**
 * How long ago a date was that another process may have written, by clocks that may be wrong; `undefined` for a date in
 * the future. It may shorten a wait that is only a kindness, and lets a person's own limit count ("not older than a
 * day"). It is no evidence.
 */
export function calendarAge(date: string, now: Instant): number | undefined {
  const age = Date.parse(now) - Date.parse(date);
  return age >= 0 ? age : undefined;
}

/** How much of a span is left that began at such a date: between nothing and all of it. */
export const calendarLeft = (since: string, spanMs: number, now: Instant): number =>
  Math.max(spanMs - (calendarAge(since, now) ?? 0), 0);

/** A date that somebody sent, in milliseconds; for what is no date, the one that is known. */
export function calendarMs(date: string | undefined, otherwise: Instant): number {
  const told = Date.parse(date ?? "");
  return Number.isNaN(told) ? Date.parse(otherwise) : told;
}

export const dayMs = 86_400_000;
