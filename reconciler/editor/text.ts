/** Places of a text as editors count them, lines and characters from 0, and as the readers of files do, one offset. */

export interface Spot {
  readonly line: number;
  readonly character: number;
}
export interface TextSpan {
  readonly start: Spot;
  readonly end: Spot;
}
export interface TextEdit {
  readonly range: TextSpan;
  readonly newText: string;
}

/** A text with the beginnings of its lines. */
export interface TextLines {
  readonly text: string;
  readonly starts: readonly number[];
}

export function linesOf(text: string): TextLines {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return { text, starts };
}

/** An offset beyond the line or the text is its end. */
export function offsetOf({ text, starts }: TextLines, { line, character }: Spot): number {
  const start = starts[line];
  if (start === undefined) return text.length;
  return Math.min(start + character, (starts[line + 1] ?? text.length + 1) - 1);
}

function spotOf({ starts }: TextLines, offset: number): Spot {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low, character: offset - (starts[low] ?? 0) };
}

export const textSpanOf = (lines: TextLines, from: number, to: number): TextSpan => ({
  start: spotOf(lines, from),
  end: spotOf(lines, to),
});

/** What makes a text of another, with what both begin and end with left alone. None: they are the same. */
export function changesBetween(
  before: string,
  after: string,
): { readonly from: number; readonly to: number; readonly by: string }[] {
  if (before === after) return [];
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return [{ from: head, to: before.length - tail, by: after.slice(head, after.length - tail) }];
}

/** What a problem at a place is about: the word, the quoted text, or what is left of the line. */
export function endOfWord(text: string, offset: number): number {
  const quoted = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'/y;
  quoted.lastIndex = offset;
  if (quoted.test(text)) return quoted.lastIndex;
  const word = /[^\s,[\]{}:#]+(?::[^\s,[\]{}:#]+)*/y;
  word.lastIndex = offset;
  if (word.test(text)) return word.lastIndex;
  const end = text.indexOf("\n", offset);
  return Math.max(offset, end === -1 ? text.length : end);
}
