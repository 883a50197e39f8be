/** The machine's clock, for whoever composes the engine. */
import type { Clock } from "../engine/ports";
import { sleep } from "../service/abort-listeners";

export const systemClock: Clock = { now: () => Date.now(), sleep };
