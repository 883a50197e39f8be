/**
 * The world's clock: the real one, moved ahead by as much as the world says. Answers that are held back until a moment
 * of this clock leave as soon as it is there, whether time passed or was skipped.
 */
export interface WorldClock {
  now(): number;
  /** Called after the offset changed. */
  moved(): void;
  until(moment: number): Promise<void>;
  stop(): void;
}

interface ClockWaiter {
  readonly moment: number;
  readonly resolve: () => void;
  timer: NodeJS.Timeout;
}

export function createClock(offset: () => number): WorldClock {
  const waiters = new Set<ClockWaiter>();
  const now = () => Date.now() + offset();

  function look(waiter: ClockWaiter): void {
    clearTimeout(waiter.timer);
    const left = waiter.moment - now();
    if (left <= 0) {
      waiters.delete(waiter);
      waiter.resolve();
    } else waiter.timer = setTimeout(look, Math.min(left, 60_000), waiter);
  }

  return {
    now,
    moved() {
      for (const waiter of [...waiters]) look(waiter);
    },
    until(moment) {
      if (moment <= now()) return Promise.resolve();
      return new Promise((resolve) => {
        const waiter: ClockWaiter = { moment, resolve, timer: setTimeout(() => {}, 0) };
        waiters.add(waiter);
        look(waiter);
      });
    },
    stop() {
      for (const waiter of waiters) {
        clearTimeout(waiter.timer);
        waiter.resolve();
      }
      waiters.clear();
    },
  };
}
