/**
 * Reads what nearly every file is written in, straight to values with their places: block maps and lists, flow
 * collections within one line, and plain or quoted words on one line. The YAML library makes a tree of tokens and one of
 * nodes first, which costs ten times as much.
 *
 * Never a guess: whatever could mean something else (text over several lines, escapes, anchors, tags, tabs, signs and
 * fractions, a key given twice, a line that fits no pattern) gives `undefined` for the whole text, and the library
 * reads it instead. Where there is an answer, it is the library's to the letter (test/properties/yaml-plain.test.ts).
 */
import { listOf, newMap, setEntry, type YamlMap } from "./file";

/**
 * The position of the reader. Between values it is at the first character of the next line that is neither empty nor a
 * comment.
 */
interface PlainReader {
  readonly text: string;
  /** The offset of the text's first character in the file. */
  readonly base: number;
  at: number;
  /** The indent of that line; -1 behind the last one. */
  column: number;
}

/** Not a value: the library has to read this. */
const unusual = Symbol("unusual");

const strange = /[\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u2028\u2029\ufeff]/;
const blockKey = /([A-Za-z0-9_][A-Za-z0-9_.-]{0,199}):(?=[ \n]|$)/y;
const flowKey = /([A-Za-z0-9_][A-Za-z0-9_.-]{0,199}): +/y;
// A colon before a space and a number sign behind one mean something else.
const blockWord = /[A-Za-z0-9_/$][^\n:#]*(?:(?::(?=[^\s])|(?<=[^\s])#)[^\n:#]*)*/y;
const flowWord = /[A-Za-z0-9_/$][^\n:#,[\]{}]*(?::(?=[^\s,[\]{}])[^\n:#,[\]{}]*)*/y;
const quotedWord = /"([^"\\\n]*)"|'([^'\n]*)'/y;
const yamlNumber = /^(?:[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+)$/;
const wholeNumberPattern = /^(?:0|[1-9][0-9]{0,14})$/;
const deepestPlain = 32;

/**
 * Stands for the end of the text. Asking for a character code behind the end would make V8 drop the code that it
 * compiled.
 */
const over = -1;
const newline = 0x0a;
const space = 0x20;
const numberSign = 0x23;
const dash = 0x2d;

/** The map of a text; `undefined`: the library has to read it. */
export function readPlain(text: string, base = 0): YamlMap | undefined {
  if (strange.test(text)) return undefined;
  const reader: PlainReader = { text, base, at: 0, column: -1 };
  toNextLine(reader, 0);
  const map = readPlainMap(reader, 0);
  return map === unusual || reader.column !== -1 ? undefined : map;
}

function toNextLine(reader: PlainReader, from: number): void {
  const { text } = reader;
  let start = from;
  for (;;) {
    let at = start;
    while (at < text.length && text.charCodeAt(at) === space) at++;
    const code = at < text.length ? text.charCodeAt(at) : over;
    if (code === newline) {
      start = at + 1;
      continue;
    }
    const end = code === numberSign ? text.indexOf("\n", at) : -1;
    if (end !== -1) {
      start = end + 1;
      continue;
    }
    const isOver = code === over || code === numberSign;
    reader.at = isOver ? text.length : at;
    reader.column = isOver ? -1 : at - start;
    return;
  }
}

function skipSpaces(reader: PlainReader): void {
  const { text } = reader;
  while (reader.at < text.length && text.charCodeAt(reader.at) === space) reader.at++;
}

function readPlainMap(reader: PlainReader, depth: number): YamlMap | typeof unusual {
  const { text, base, column } = reader;
  if (depth > deepestPlain) return unusual;
  const map = newMap(base + reader.at);
  do {
    const keyAt = reader.at;
    blockKey.lastIndex = keyAt;
    const key = blockKey.exec(text)?.[1];
    if (key === undefined || key === "__proto__" || Object.hasOwn(map, key)) return unusual;
    reader.at = blockKey.lastIndex;
    skipSpaces(reader);
    let valueAt = reader.at;
    let value: unknown = null;
    if (isLineOver(reader)) {
      toNextLine(reader, endOfLine(reader));
      const isList = startsItem(reader);
      if (reader.column > column || (reader.column === column && isList)) {
        valueAt = reader.at;
        value = isList ? readPlainList(reader, depth + 1) : readPlainMap(reader, depth + 1);
      }
    } else value = readRestOfLine(reader, depth);
    if (value === unusual) return unusual;
    setEntry(map, key, value, base + keyAt, base + valueAt);
  } while (reader.column === column);
  return map;
}

function readPlainList(reader: PlainReader, depth: number): unknown[] | typeof unusual {
  const { base, column } = reader;
  if (depth > deepestPlain) return unusual;
  const offset = base + reader.at;
  const items: unknown[] = [];
  const places: number[] = [];
  do {
    const dashAt = reader.at;
    reader.at++;
    skipSpaces(reader);
    const itemAt = reader.at;
    blockKey.lastIndex = itemAt;
    let value: unknown;
    if (blockKey.test(reader.text)) {
      reader.column = column + itemAt - dashAt;
      value = readPlainMap(reader, depth + 1);
    } else value = readRestOfLine(reader, depth);
    if (value === unusual) return unusual;
    items.push(value);
    places.push(base + itemAt);
  } while (reader.column === column && startsItem(reader));
  return listOf(offset, items, places);
}

const startsItem = ({ text, at }: PlainReader): boolean =>
  at + 1 < text.length &&
  text.charCodeAt(at) === dash &&
  (text.charCodeAt(at + 1) === space || text.charCodeAt(at + 1) === newline);

/** Nothing but a comment follows on this line. */
function isLineOver({ text, at }: PlainReader): boolean {
  if (at >= text.length) return true;
  const code = text.charCodeAt(at);
  return code === newline || (code === numberSign && text.charCodeAt(at - 1) === space);
}

function endOfLine({ text, at }: PlainReader): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

/**
 * A value that ends with its line. A deeper line below would continue it; no map or list takes such a line, so that
 * reading ends there, short of the end of the text.
 */
function readRestOfLine(reader: PlainReader, depth: number): unknown {
  const value = readPlainValue(reader, depth, blockWord);
  skipSpaces(reader);
  if (value === unusual || !isLineOver(reader)) return unusual;
  toNextLine(reader, endOfLine(reader));
  return value;
}

function readPlainValue(reader: PlainReader, depth: number, word: RegExp): unknown {
  const { text, at } = reader;
  const first = text[at];
  if (first === "{") return readFlowMap(reader, depth + 1);
  if (first === "[") return readFlowList(reader, depth + 1);
  const pattern = first === '"' || first === "'" ? quotedWord : word;
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  if (match === null) return unusual;
  reader.at = pattern.lastIndex;
  return pattern === quotedWord ? (match[1] ?? match[2]) : valueOfWord(trimSpaces(match[0]));
}

function readFlowMap(reader: PlainReader, depth: number): unknown {
  const { text, base } = reader;
  if (depth > deepestPlain) return unusual;
  const map = newMap(base + reader.at);
  for (;;) {
    reader.at++;
    skipSpaces(reader);
    if (text[reader.at] === "}") break;
    const keyAt = reader.at;
    flowKey.lastIndex = keyAt;
    const key = flowKey.exec(text)?.[1];
    if (key === undefined || key === "__proto__" || Object.hasOwn(map, key)) return unusual;
    reader.at = flowKey.lastIndex;
    const valueAt = reader.at;
    const value = readPlainValue(reader, depth, flowWord);
    if (value === unusual) return unusual;
    setEntry(map, key, value, base + keyAt, base + valueAt);
    skipSpaces(reader);
    if (text[reader.at] === "}") break;
    if (text[reader.at] !== ",") return unusual;
  }
  reader.at++;
  return map;
}

function readFlowList(reader: PlainReader, depth: number): unknown {
  const { text, base } = reader;
  if (depth > deepestPlain) return unusual;
  const offset = base + reader.at;
  const items: unknown[] = [];
  const places: number[] = [];
  for (;;) {
    reader.at++;
    skipSpaces(reader);
    if (text[reader.at] === "]") break;
    const itemAt = reader.at;
    const value = readPlainValue(reader, depth, flowWord);
    if (value === unusual) return unusual;
    items.push(value);
    places.push(base + itemAt);
    skipSpaces(reader);
    if (text[reader.at] === "]") break;
    if (text[reader.at] !== ",") return unusual;
  }
  reader.at++;
  return listOf(offset, items, places);
}

function trimSpaces(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === space) end--;
  return end === text.length ? text : text.slice(0, end);
}

const constants = new Map<string, boolean | null>([
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
  ...["null", "Null", "NULL"].map((word) => [word, null] as const),
]);

/** What an unquoted word stands for in YAML 1.2. */
function valueOfWord(word: string): unknown {
  if (word.charCodeAt(0) <= 0x39) {
    if (wholeNumberPattern.test(word)) return Number(word);
    return yamlNumber.test(word) ? unusual : word;
  }
  const meaning = word.length <= 5 ? constants.get(word) : undefined;
  return meaning === undefined ? word : meaning;
}
