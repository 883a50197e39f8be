/** Structural equality of plain values; an absent key and one that is `undefined` are the same. */
import { fieldsIn, ownValue } from "./objects";

const areEqualLists = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));

export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && areEqualLists(a, b);
  const left = fieldsIn(a);
  const right = fieldsIn(b);
  for (const key in left) if (!deepEqual(left[key], ownValue(right, key))) return false;
  for (const key in right) if (right[key] !== undefined && ownValue(left, key) === undefined) return false;
  return true;
}
