export type WorldClock = ReturnType<typeof createClock>;

interface ClockWaiter {
  readonly moment: number;
  readonly resolve: () => void;
  timer: NodeJS.Timeout;
}

/**
 * The world's clock: the real one, moved ahead by as much as the world says. Answers that are held back until a moment
 * of this clock leave as soon as it is there, whether time passed or was skipped.
 */
export function createClock(offset: () => number) {
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
    /** Called after the offset changed. */
    moved(): void {
      for (const waiter of [...waiters]) look(waiter);
    },
    until(moment: number): Promise<void> {
      if (moment <= now()) return Promise.resolve();
      return new Promise((resolve) => {
        const waiter: ClockWaiter = { moment, resolve, timer: setTimeout(() => {}, 0) };
        waiters.add(waiter);
        look(waiter);
      });
    },
    stop(): void {
      for (const waiter of waiters) {
        clearTimeout(waiter.timer);
        waiter.resolve();
      }
      waiters.clear();
    },
  };
}
