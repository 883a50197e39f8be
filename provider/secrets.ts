/**
 * Hides secret values in the messages of a provider: a message names the resource and the property, never the value.
 */

export type Hide = (text: string) => string;

/** Replaces every secret in a text; a short secret only where it is a whole word. */
export function hiding(secrets: readonly unknown[]): Hide {
  const found = new Set<string>();
  for (const secret of secrets) collect(secret, found);
  if (found.size === 0) return (text) => text;
  const patterns = [...found].sort((a, b) => b.length - a.length).map(patternOf);
  const any = new RegExp(patterns.join("|"), "gi");
  return (text) => text.replace(any, "[secret]");
}

function collect(value: unknown, into: Set<string>): void {
  if (typeof value === "string" && value !== "") into.add(value);
  else if (typeof value === "number") into.add(String(value));
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) collect(item, into);
}

const longEnough = 6;

function patternOf(secret: string): string {
  const escaped = secret.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return secret.length >= longEnough ? escaped : `(?<![\\w.-])${escaped}(?![\\w-]|\\.\\w)`;
}
