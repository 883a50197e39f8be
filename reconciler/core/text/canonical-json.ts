/** JSON with sorted keys: equal values are equal bytes, which is what hashes, comparisons and saved plans rest on. */
import { isObject } from "./objects";

export const canonicalJson = (value: unknown, indent?: number): string =>
  JSON.stringify(sortKeys(value), undefined, indent);

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const sorted: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value).sort()) {
    const item = value[key];
    if (item !== undefined) sorted[key] = sortKeys(item);
  }
  return sorted;
}
