/** Time that passes only when everything waits: the earliest sleeper is woken once nothing else has anything to do. */
import { elapsedAt, instantAt } from "../core/model/time";
import type { Clock } from "../service/clock";

export function virtualClock(onTime: (nowMs: number) => void, startMs = Date.UTC(2026, 0, 1)): Clock {
  let now = startMs;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  let scheduled = false;
  const tick = (): void => {
    scheduled = false;
    let [earliest] = sleepers;
    if (earliest === undefined) return;
    for (const sleeper of sleepers) if (sleeper.at < earliest.at) earliest = sleeper;
    sleepers.splice(sleepers.indexOf(earliest), 1);
    now = Math.max(now, earliest.at);
    onTime(now);
    earliest.wake();
    schedule();
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(tick);
  };
  onTime(now);
  return {
    // Virtual time never goes back.
    now: () => elapsedAt(now),
    instant: () => instantAt(now),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        sleepers.push({ at: now + ms, wake: resolve });
        schedule();
      }),
  };
}
