/** For bugs only. A mistake of a user is a diagnostic. */
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

/** The value of a key that a map must have: a missing key is a bug. */
export function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  // The message is made only when the condition is false.
  if (value === undefined) invariant(false, `nothing is known of ${String(key)}`);
  return value;
}

/** The item at an index that a list must have: a shorter list is a bug. */
export function itemAt<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) invariant(false, `a list of ${list.length} has nothing at ${index}`);
  return item;
}
