/**
 * Which line is indented wrongly, when YAML says that the keys of a map are in different columns: the parser blames the
 * first that differs from those before it, which is often the first that is right.
 */

export interface Misplaced {
  /** Where the text of the wrong line begins. */
  readonly offset: number;
  readonly detail: string;
  readonly fix: string;
}

interface IndentedLine {
  readonly start: number;
  readonly indent: number;
  readonly text: string;
}

/** `blamed`: the offset that the parser names. `undefined`: nothing says more than the parser does. */
export function misplacedLine(text: string, blamed: number): Misplaced | undefined {
  const lines = indentedLines(text);
  const at = lines.findLastIndex(({ start }) => start <= blamed);
  const second = lines[at];
  if (second === undefined) return undefined;
  const step = usualStep(lines);
  // The key beside it is the last line before it that is in nearly the same column; best one of the same form.
  const near = lines.slice(0, Math.max(0, at)).filter(({ indent }) => {
    const apart = Math.abs(indent - second.indent);
    return apart > 0 && apart < step;
  });
  const opens = ({ text: line }: IndentedLine): boolean => /:\s*(?:#.*)?$/.test(line);
  const first = near.findLast((line) => opens(line) === opens(second)) ?? near.at(-1);
  if (first === undefined) return undefined;
  const isOff = ({ indent }: IndentedLine): boolean => indent % step !== 0;
  // One of the two is in no column of this file: that one is wrong, and the other says where it belongs.
  if (isOff(first) === isOff(second)) return undefined;
  const [wrong, right] = isOff(first) ? [first, second] : [second, first];
  const [word, other] = [firstWord(wrong), firstWord(right)];
  const missing = right.indent - wrong.indent;
  return {
    offset: wrong.start + wrong.indent,
    detail: `${word} begins in column ${wrong.indent + 1}, and ${other} in column ${right.indent + 1}`,
    fix: `${missing > 0 ? `put ${spaces(missing)} before` : `take ${spaces(-missing)} away before`} ${word}`,
  };
}

const spaces = (count: number): string => (count === 1 ? "one space" : `${count} spaces`);

/** The first word of a line: its key. */
const firstWord = ({ text }: IndentedLine): string =>
  /^[^\s:]+/.exec(text.trimStart())?.[0]?.slice(0, 40) ?? "the line";

function indentedLines(text: string): IndentedLine[] {
  const lines: IndentedLine[] = [];
  let start = 0;
  for (const line of text.split("\n")) {
    const body = line.trimStart();
    if (body.trim() !== "" && !body.startsWith("#"))
      lines.push({ start, indent: line.length - body.length, text: line });
    start += line.length + 1;
  }
  return lines;
}

/** By how many columns lines go in from one to the next, most often; of two that are as frequent, the smaller. */
function usualStep(lines: readonly IndentedLine[]): number {
  const counts = new Map<number, number>();
  for (const [index, { indent }] of lines.entries()) {
    const deeper = indent - (lines[index - 1]?.indent ?? 0);
    if (deeper > 1) counts.set(deeper, (counts.get(deeper) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([a, m], [b, n]) => n - m || a - b);
  return most?.[0] ?? 2;
}
