const longestMs = 86_400_000;

/** Seconds or a date (RFC 9110, 10.2.3) as milliseconds from now; a day at most, and nothing for what is neither. */
export function readRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  let ms = Number.NaN;
  if (/^\d+$/.test(text)) ms = Math.min(Number(text) * 1000, longestMs);
  // Dates begin with the day's name; what else Date.parse makes of a text is nobody's meaning.
  else if (/^[A-Za-z]{3}/.test(text)) ms = Date.parse(text) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestMs) : undefined;
}
