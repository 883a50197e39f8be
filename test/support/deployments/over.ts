/** One dialect over another, as a person fills lines in: routes are replaced whole, everything else key by key. */
export function over(below: unknown, above: unknown): unknown {
  if (!isMap(below) || !isMap(above) || "method" in above) return above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) merged[key] = key in below ? over(below[key], value) : value;
  return merged;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
