/** The machine's clock, for whoever composes the engine. */
import type { Clock } from "../engine/ports";

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((done) => {
      if (signal?.aborted === true) return done();
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        done();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener("abort", end, { once: true });
    }),
};
