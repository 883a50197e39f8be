/** Patterns in which `*` stands for anything. Nothing else in them has a meaning, so that none takes long to match. */

/**
 * Whether the pattern is found in the text, in either case. Pieces are looked for from left to right, each at its first
 * place, so the cost is linear whatever the pattern.
 */
export function patternIsIn(text: string, pattern: string): boolean {
  const lower = text.toLowerCase();
  let from = 0;
  for (const piece of pattern.toLowerCase().split("*")) {
    const at = lower.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return true;
}

/** Whether the pattern fits the whole text, in either case. */
export function patternFits(text: string, pattern: string): boolean {
  const pieces = pattern.toLowerCase().split("*");
  const [first = "", ...rest] = pieces;
  const lower = text.toLowerCase();
  const last = rest.at(-1);
  if (last === undefined) return lower === first;
  if (!lower.startsWith(first) || !lower.endsWith(last) || lower.length < first.length + last.length) return false;
  return patternIsIn(lower.slice(first.length, lower.length - last.length), rest.slice(0, -1).join("*"));
}
