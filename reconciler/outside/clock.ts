/** The machine's clock, for whoever composes the engine. */
import type { Clock } from "../engine/ports";
import { sleep } from "../service/abort-listeners";

export const systemClock: Clock = { now: () => Date.now(), sleep };

/** Today, in UTC: `2026-01-31`. */
export const todayUtc = (): string => new Date().toISOString().slice(0, 10);
