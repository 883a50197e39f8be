/** The machine's clock, for whoever composes the engine. */
import type { Clock } from "../engine/ports";
import { onAbort } from "../service/abort-listeners";

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((done) => {
      if (signal?.aborted === true) return done();
      const end = (): void => {
        clearTimeout(timer);
        leave?.();
        done();
      };
      const timer = setTimeout(end, ms);
      const leave = signal === undefined ? undefined : onAbort(signal, end);
    }),
};
