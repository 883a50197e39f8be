/**
 * Where in a file the cursor stands, from the lines above it and the text before it alone: while somebody types, the
 * file is often no YAML.
 */

export interface Cursor {
  /** The keys around it; a step of a list is 0. For a value its own key is the last one. */
  readonly path: readonly (string | number)[];
  readonly is: "key" | "value";
  /** What is typed of the word, and where the word begins. */
  readonly typed: string;
  readonly from: number;
  /** Within `${…}`: what stands behind the brace, and where. */
  readonly reference?: { readonly typed: string; readonly from: number };
}

type Mark = { readonly column: number; readonly step: string | 0 };

const keyPattern = /^(?:"([^"]*)"|'([^']*)'|([^\s#'"[\]{},&*!|>%@`-][^:#]*?|-[^\s:#][^:#]*?))\s*:(?=\s|$)/;

/** The dashes and the key with which a line begins. */
function marksOfLine(line: string): readonly Mark[] {
  const marks: Mark[] = [];
  let column = line.length - line.trimStart().length;
  for (;;) {
    const rest = line.slice(column);
    const dash = /^-(\s+|$)/.exec(rest);
    if (dash === null) {
      const key = keyPattern.exec(rest);
      if (key !== null) marks.push({ column, step: key[1] ?? key[2] ?? key[3] ?? "" });
      return marks;
    }
    marks.push({ column, step: 0 });
    column += dash[0].length;
  }
}

const isBlankLine = (line: string): boolean => /^\s*(?:#|$)/.test(line);

/** The keys around the marks of a line, from the lines above. */
function around(text: string, lineStart: number, marks: readonly Mark[], column: number): (string | number)[] {
  const steps: (string | number)[] = [];
  let limit = column;
  let isItem = false;
  const take = ({ column: at, step }: Mark): void => {
    // A list may stand in the column of its key.
    if (at < limit || (isItem && step !== 0 && at === limit)) {
      steps.unshift(step);
      limit = at;
      isItem = step === 0;
    }
  };
  for (const mark of [...marks].reverse()) take(mark);
  for (let end = lineStart - 1; end >= 0 && (limit > 0 || isItem); ) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = text.slice(start, end);
    if (!isBlankLine(line)) for (const mark of [...marksOfLine(line)].reverse()) take(mark);
    end = start - 1;
  }
  return steps;
}

/** Braces and brackets that are open at the end of a text, each with the key that stands before the next value. */
function openBraces(text: string): {
  readonly steps: (string | number)[];
  readonly is: "key" | "value";
  readonly from: number;
} {
  const open: { readonly brace: string; key: string | undefined }[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const character = text[at] ?? "";
    const closing = character === '"' || character === "'" ? character : text.startsWith("${", at) ? "}" : undefined;
    if (closing !== undefined) {
      const end = text.indexOf(closing, at + 1);
      if (end === -1) break;
      at = end + 1;
      continue;
    }
    const last = open.at(-1);
    if ("{[".includes(character)) {
      open.push({ brace: character, key: undefined });
      from = at + 1;
    } else if ("}]".includes(character)) {
      open.pop();
      from = at + 1;
    } else if (character === "," && last !== undefined) {
      last.key = undefined;
      from = at + 1;
    } else if (character === ":" && /\s|^$/.test(text[at + 1] ?? "") && last?.brace === "{") {
      last.key = text
        .slice(from, at)
        .trim()
        .replace(/^["']|["']$/g, "");
      from = at + 1;
    }
    at++;
  }
  const steps = open.flatMap(({ brace, key }): (string | number)[] =>
    brace === "[" ? [0] : key === undefined ? [] : [key],
  );
  const last = open.at(-1);
  return { steps, is: last?.brace === "{" && last.key === undefined ? "key" : "value", from };
}

export function cursorAt(text: string, offset: number): Cursor {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  const marks = marksOfLine(before);
  const last = marks.at(-1);
  const key = typeof last?.step === "string" ? last : undefined;
  const opened = before.lastIndexOf("${");
  const reference =
    opened === -1 || before.includes("}", opened)
      ? undefined
      : { typed: before.slice(opened + 2), from: lineStart + opened + 2 };
  const dashes = key === undefined ? marks : marks.slice(0, -1);
  const content =
    key?.column ?? (last === undefined ? before.length - before.trimStart().length : contentBehind(before, last));
  const outer = around(text, lineStart, dashes, content);
  const begins = key === undefined ? content : before.indexOf(":", key.column + String(key.step).length) + 1;
  const rest = before.slice(begins);
  const isBareKey = key === undefined && !/[[{]/.test(rest);
  const { steps, is, from } = isBareKey ? { steps: [], is: "key" as const, from: 0 } : openBraces(rest);
  return {
    path: [...outer, ...(key === undefined ? [] : [key.step]), ...steps],
    is,
    ...wordIn(rest.slice(from), lineStart + begins + from),
    ...(reference === undefined ? {} : { reference }),
  };
}

const contentBehind = (line: string, { column }: Mark): number =>
  column + (/^-\s*/.exec(line.slice(column))?.[0].length ?? 1);

function wordIn(text: string, offset: number): { readonly typed: string; readonly from: number } {
  const blank = /^\s*["']?/.exec(text)?.[0].length ?? 0;
  return { typed: text.slice(blank), from: offset + blank };
}
