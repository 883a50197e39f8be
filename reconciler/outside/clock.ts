/** The machine's clock, for whoever composes the engine. */
export { systemClock } from "../service/system-clock";

/** Today, in UTC: `2026-01-31`. */
export const todayUtc = (): string => new Date().toISOString().slice(0, 10);
