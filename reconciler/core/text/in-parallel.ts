/** What becomes of each item, in their order, where no more than `atOnce` of them are under way at a time. */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  use: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Map<number, R>();
  const open = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of open) results.set(index, await use(item));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}
