/** For bugs only: what a user can cause is a diagnostic. */
class InvariantViolation extends Error {
  override readonly name = "InvariantViolation";
  readonly code = "internal/invariant";
}

export function invariant(condition: unknown, statement: string): asserts condition {
  if (!condition)
    throw new InvariantViolation(
      `This is a bug in reconcile: ${statement}. Please report it with the command you ran.`,
    );
}

/** What a map has to have: that it is not there is a bug. */
export function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  // What is wrong is put into words only when something is.
  if (value === undefined) invariant(false, `nothing is known of ${String(key)}`);
  return value;
}

/** What a list has to have at this place: that it is shorter is a bug. */
export function itemAt<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) invariant(false, `a list of ${list.length} has nothing at ${index}`);
  return item;
}
