/**
 * A parsed file: plain values, and where each of them stands. Positions are kept as bare offsets beside the values and
 * turned into lines and columns only when somebody asks, which for most of a large file is never.
 */

import type { SourcePosition } from "../../core/model/diagnostic";
import { invariant } from "../../core/text/invariant";
import { printableLine } from "../../core/text/printable";

export interface ConfigSource {
  /** The file as it is shown to people. */
  readonly file: string;
  readonly text: string;
}

export interface YamlFile {
  readonly file: string;
  readonly text: string;
  /** `undefined` for an empty file. */
  readonly root: unknown;
  /** A part of the file could not be read, so that references to it would look undeclared. */
  isIncomplete?: boolean;
  /** A `${` in a value is text, and refers to nothing. */
  readonly isLiteral?: true;
  oddNumbers?: readonly OddNumber[];
  /** Where each line begins; filled on first use. */
  lineStarts?: number[];
}

/** A number in an unusual spelling, such as `007`: its value loses what was written. */
export interface OddNumber {
  readonly offset: number;
  readonly written: string;
  readonly value: number;
}

/** A character of a file. */
export interface Place {
  readonly source: YamlFile;
  readonly offset: number;
}

export type Path = readonly (string | number)[];

const markKey = Symbol("marks");
/** A map of a file, or one made of such; only the reader's own know where they stand. */
export type YamlMap = { [key: string]: unknown; [markKey]?: Marks };
type YamlList = unknown[] & { [markKey]?: ListMarks };

interface Marks {
  /** Where the map or list itself begins. */
  readonly own: number;
  readonly keys: { [step: string | number]: number };
  readonly values: { [step: string | number]: number };
}

interface ListMarks {
  readonly own: number;
  readonly items: readonly number[];
}

/**
 * An object for a file's map. The symbol comes first so that all of them share their shape; JSON, loops and the
 * validators do not see it.
 */
export const newMap = (offset: number): YamlMap => ({ [markKey]: { own: offset, keys: {}, values: {} } });

/** A file's list, of items and where they stand. Large files hold many short ones: copies have no room to grow. */
export function listOf(offset: number, items: readonly unknown[], places: readonly number[]): unknown[] {
  const list: YamlList = items.slice();
  list[markKey] = { own: offset, items: places.slice() };
  return list;
}

/** Sets a key with its place. `__proto__` never gets here (reader.ts refuses it). */
export function setEntry(map: YamlMap, key: string, value: unknown, keyOffset: number, valueOffset: number): void {
  const at = marksOf(map);
  map[key] = value;
  at.keys[key] = keyOffset;
  at.values[key] = valueOffset;
}

/** Adds all entries of one map to another, with their places. False: a key exists already. */
export function moveEntries(from: YamlMap, to: YamlMap): boolean {
  const { keys, values } = marksOf(from);
  for (const key of Object.keys(from)) {
    if (Object.hasOwn(to, key)) return false;
    setEntry(to, key, from[key], keys[key] ?? 0, values[key] ?? 0);
  }
  return true;
}

const marksOf = (value: { readonly [markKey]?: Marks }): Marks => {
  const at = value[markKey];
  invariant(at !== undefined, "a map of a file does not know where it stands");
  return at;
};

/** A map or a list. */
const hasSteps = (
  value: unknown,
): value is { readonly [step: string | number]: unknown; readonly [markKey]?: Marks | ListMarks } =>
  typeof value === "object" && value !== null;

export const isMap = (value: unknown): value is YamlMap =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value under a path, or `undefined`; never what an object has by inheritance, nor how long a list is. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (!hasSteps(value) || !Object.hasOwn(value, step) || (step === "length" && Array.isArray(value)))
      return undefined;
    value = value[step];
  }
  return value;
}

export const keyOffset = (map: YamlMap, key: string): number | undefined => map[markKey]?.keys[key];
export const ownOffset = (value: unknown): number => (hasSteps(value) ? (value[markKey]?.own ?? 0) : 0);

/** Where a value, or its key, was written. */
export const placeOf = (source: YamlFile, path: Path, on: "key" | "value" = "key"): Place => ({
  source,
  offset: offsetOfPath(source.root, path, on).offset,
});

/** The offset of a key or of its value; where the path leads further than the file does, of the deepest part there is. */
export function offsetOfPath(
  root: unknown,
  path: Path,
  on: "key" | "value" = "value",
): { offset: number; found: boolean } {
  let value = root;
  let offset = ownOffset(root);
  for (const [index, step] of path.entries()) {
    if (!hasSteps(value) || !Object.hasOwn(value, step)) return { offset, found: false };
    const at = value[markKey];
    const wantsKey = on === "key" && index === path.length - 1;
    // For a path that does not exist, the last key of it that does: `db:` and not the first line below it.
    const isLast = index === path.length - 1 || !Object.hasOwn(Object(value[step]), path[index + 1] ?? "");
    if (at !== undefined && "items" in at) offset = at.items[Number(step)] ?? offset;
    else {
      const keyed = at?.keys[step];
      offset =
        ((wantsKey || (isLast && index < path.length - 1)) && keyed !== undefined ? keyed : at?.values[step]) ?? offset;
    }
    value = value[step];
  }
  return { offset, found: true };
}

export function positionOf(place: Place): SourcePosition {
  const { line, start } = lineAround(place);
  return { file: place.source.file, line, column: place.offset - start + 1 };
}

const longestExcerpt = 240;

/** The source line, as far as it can be shown; `undefined` when the place lies beyond that. */
export function excerptOf(place: Place): string | undefined {
  const { line, start } = lineAround(place);
  const end = (lineStartsOf(place.source)[line] ?? place.source.text.length + 1) - 1;
  if (place.offset - start > longestExcerpt) return undefined;
  const kept = place.source.text.slice(start, Math.min(end, start + longestExcerpt));
  // Half of a character may be left at the end.
  const text = kept.replace(/[\ud800-\udbff]$/, "").trimEnd();
  return text === "" ? undefined : printableLine(withPasswordsHidden(text));
}

/**
 * A text in which addresses may stand, as long as before. A password may hold what has to be written otherwise in an
 * address, such as a slash or a blank: what stands behind a colon and is no port is one, up to the last `@` before a quote.
 */
export const withPasswordsHidden = (text: string): string =>
  text.replace(/(?<=:\/\/[^\s:/@[]*:)(?!\d+(?:[/\s"',}\])]|$))[^"'\n]+(?=@)/g, (password) =>
    "*".repeat(password.length),
  );

export const lineOfOffset = (text: string, offset: number): string =>
  text.slice(text.lastIndexOf("\n", offset - 1) + 1).split("\n", 1)[0] ?? "";

function lineAround({ source, offset }: Place): { line: number; start: number } {
  const starts = lineStartsOf(source);
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    // `low` and `high` stay within the list, which has a first line at least.
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  // `low` is within the list still.
  return { line: low + 1, start: starts[low]! };
}

function lineStartsOf(source: YamlFile): number[] {
  if (source.lineStarts === undefined) {
    const starts = [0];
    for (let at = source.text.indexOf("\n"); at !== -1; at = source.text.indexOf("\n", at + 1)) starts.push(at + 1);
    source.lineStarts = starts;
  }
  return source.lineStarts;
}
