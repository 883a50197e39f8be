/**
 * Many may wait for one signal; the signal gets one listener for all of them. Adding a listener looks at all that are
 * there already, and Node takes more than ten for a leak and tells the user so.
 */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `abort` when the signal fires, unless what is returned was called before. */
export function onAbort(signal: AbortSignal, abort: () => void): () => void {
  let all = waiting.get(signal);
  if (all === undefined) {
    const calls = new Set<() => void>();
    signal.addEventListener(
      "abort",
      () => {
        for (const call of calls) call();
      },
      { once: true },
    );
    waiting.set(signal, calls);
    all = calls;
  }
  const calls = all;
  calls.add(abort);
  return () => void calls.delete(abort);
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
