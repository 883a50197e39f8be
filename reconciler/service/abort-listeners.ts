/**
 * Many may wait for one signal; the signal gets one listener for all of them. Adding a listener looks at all that are
 * there already, and Node takes more than ten for a leak and tells the user so. The last one to leave takes it away: a
 * signal made of others is kept in memory with all that listens to it for as long as those live.
 */
const waiting = new WeakMap<AbortSignal, Listeners>();

interface Listeners {
  readonly calls: Set<() => void>;
  readonly fire: () => void;
}

/** Calls `abort` when the signal fires, unless what is returned was called before. */
export function onAbort(signal: AbortSignal, abort: () => void): () => void {
  const { calls, fire } = waiting.get(signal) ?? listenTo(signal);
  calls.add(abort);
  return () => {
    if (!calls.delete(abort) || calls.size > 0) return;
    signal.removeEventListener("abort", fire);
    waiting.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Listeners {
  const calls = new Set<() => void>();
  const all: Listeners = {
    calls,
    fire: () => {
      for (const call of calls) call();
    },
  };
  signal.addEventListener("abort", all.fire, { once: true });
  waiting.set(signal, all);
  return all;
}

/** Ends early when the signal fires. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      leave?.();
      resolve();
    };
    const timer = setTimeout(end, ms);
    const leave = signal === undefined ? undefined : onAbort(signal, end);
  });
