/**
 * The key of a record that is most likely meant by a field of the dialect, for suggestions. Shy on purpose: a wrong
 * pointer is worse than none, so a short name like `id` is never matched by closeness (`ip` is one edit away).
 */
import { nearestName } from "../core/text/nearest";

export function likelyKey(field: string, keys: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, "");
  const wanted = plain(field);
  return (
    keys.find((key) => plain(key) === wanted) ??
    keys.find((key) => wordsOf(key).includes(field)) ??
    keys.find((key) => plain(key).endsWith(wanted)) ??
    (field.length >= 4 ? nearestName(field, keys) : undefined)
  );
}

export const pointerTo = (key: string): string => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

const wordsOf = (key: string): string[] =>
  key
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_-]/);
