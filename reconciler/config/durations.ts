/** Durations as people write them: 30ms, 2s, 15m, 1h. */
const unitsMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Timers cannot wait longer than this (2^31 - 1 ms, not quite 25 days). */
export const longestDurationMs = 2_147_483_647;

/** In milliseconds; `undefined` when the text is no duration, or none that can be waited for. */
export function parseDuration(text: string): number | undefined {
  const ms = parseAnyDuration(text);
  return ms !== undefined && ms <= longestDurationMs ? ms : undefined;
}

/** A duration of any length, for values that no timer waits for. */
export function parseAnyDuration(text: string): number | undefined {
  const match = /^\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h)\s*$/.exec(text);
  if (match === null) return undefined;
  const ms = Math.round(Number(match[1]) * (unitsMs[match[2] ?? ""] ?? Number.NaN));
  return ms >= 1 ? ms : undefined;
}
