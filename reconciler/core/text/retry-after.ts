const longestRetryMs = 86_400_000;

/** What the number or the text of a header means. */
export type WaitAs = "seconds" | "date" | "epoch";

/** A number of seconds above this one is a moment, counted from 1970: as a wait it would be thirty years. */
const epochFrom = 1_000_000_000;
/** And above this one the moment is in milliseconds. */
const epochMsFrom = 100_000_000_000;

/**
 * Seconds, a date (RFC 9110, 10.2.3) or a moment counted from 1970 as milliseconds from now; a day at most, and nothing
 * for what is none of them. `as`: what the dialect says that it is; left out, it is told by its form.
 */
export function readRetryAfter(value: string | undefined, nowMs: number, as?: WaitAs): number | undefined {
  if (value === undefined) return undefined;
  const [text = "", ...more] = value.split(/(?<=\d)\s*,/).map((one) => one.trim());
  // Two headers, as a proxy in front of the service adds one: the longer wait is what both ask for.
  if (more.length > 0) return readRetryAfters([text, ...more], nowMs, as);
  const ms = /^\d+(\.\d+)?$/.test(text) ? waitOfNumber(Number(text), nowMs, as) : dateMs(text, as) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestRetryMs) : undefined;
}

const readRetryAfters = (texts: readonly string[], nowMs: number, as: WaitAs | undefined): number | undefined => {
  const waits = texts.flatMap((text) => readRetryAfter(text, nowMs, as) ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
};

/** A number that can only be a moment. */
export const isEpoch = (value: string | undefined): boolean => value !== undefined && Number(value) > epochFrom;

function waitOfNumber(count: number, nowMs: number, as: WaitAs | undefined): number {
  if (as === "date") return Number.NaN;
  const isMoment = as === "epoch" || (as === undefined && count > epochFrom);
  if (!isMoment) return Math.min(count * 1000, longestRetryMs);
  return (count > epochMsFrom ? count : count * 1000) - nowMs;
}

/** Dates begin with the day's name, or are ISO dates; what else Date.parse makes of a text is nobody's meaning. */
const dateMs = (text: string, as: WaitAs | undefined): number =>
  (as === undefined || as === "date") && /^([A-Za-z]{3}|\d{4}-\d\d-\d\dT)/.test(text) ? Date.parse(text) : Number.NaN;
