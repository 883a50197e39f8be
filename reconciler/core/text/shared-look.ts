/**
 * One look for all callers at once: a caller that asks while a look is under way gets the next one, so that its answer
 * was looked up after it asked. A thousand deletes then do not read a thousand lists.
 */
export function sharedLook<T>(look: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    const mine = look().finally(() => {
      if (running === mine) running = undefined;
    });
    running = mine;
    return mine;
  };
  return () => {
    if (running === undefined) return start();
    next ??= running
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        next = undefined;
        return start();
      });
    return next;
  };
}
