/**
 * Changes single values of a YAML text and no other byte of it: what is written is cut in at the places of the text, and
 * the text is never printed anew. Each change is read back. Where the result does not say exactly what was meant, or the
 * text is written in a way that cannot be cut, it stays as it is, with the reason.
 */

import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parse,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { deepEqual } from "../core/text/deep-equal";
import { ifPossible } from "../core/text/errors";
import { printable } from "../core/text/printable";
import type { Plain } from "./yaml/write";

export type Edited = { readonly text: string } | { readonly problem: string };

/** A key that YAML takes for a number is a text, as the reader of files has it. What is wrong with a file is told by that reader, and not by the library. */
export const documentOf = (text: string) => parseDocument(text, { stringKeys: true, logLevel: "error" });

type Data = Record<string, unknown>;
export type SomeMap = YAMLMap<unknown, unknown>;

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null && !Array.isArray(value);

const cannotCut: Edited = { problem: "it is written in a way that cannot be changed in its place" };

/** Sets a value; maps of the path that do not exist are made. `order`: the keys in the order in which they are written. */
export function setIn(text: string, path: readonly string[], value: Plain, order: readonly string[] = []): Edited {
  const document = documentOf(text);
  let map: unknown = document.contents;
  let depth = 0;
  for (;;) {
    const next = isMap(map) ? map.get(path[depth], true) : undefined;
    if (depth === path.length - 1 || !isMap(next)) break;
    map = next;
    depth++;
  }
  const key = path[depth];
  if (!isMap(map) || key === undefined) return cannotCut;
  const rest = path.slice(depth + 1);
  const whole = rest.reduceRight<Plain>((inner, name) => ({ [name]: inner }), value);
  const present = pairOf(map, key)?.value;
  const isEmpty = present === undefined || present === null || (isScalar(present) && present.value === null);
  // A value that is no map stands where a map is to be made.
  if (rest.length > 0 && !isEmpty) return cannotCut;
  return provenEdit(text, cutIn(text, map, key, whole, order), (data) => {
    let at = data;
    for (const name of path.slice(0, -1)) {
      const below = at[name];
      const next = isData(below) ? below : {};
      at[name] = next;
      at = next;
    }
    at[path.at(-1) ?? ""] = value;
  });
}

export function removeIn(text: string, path: readonly string[]): Edited {
  const above = path.slice(0, -1);
  const map = documentOf(text).getIn(above, true);
  const key = path.at(-1) ?? "";
  if (!isMap(map)) return cannotCut;
  return provenEdit(text, cutKey(text, map, key), (data) => {
    const at = dataAt(data, above);
    if (isData(at)) delete at[key];
  });
}

/** Adds an item to the end of a list. */
export function addItem(text: string, path: readonly string[], item: Readonly<Record<string, Plain>>): Edited {
  const list = documentOf(text).getIn(path, true);
  if (!isSeq(list)) return cannotCut;
  return provenEdit(text, appended(text, list, inFlow(item)), (data) => {
    const at = dataAt(data, path);
    if (Array.isArray(at)) at.push(item);
  });
}

export function removeItem(text: string, path: readonly string[], index: number): Edited {
  const list = documentOf(text).getIn(path, true);
  if (!isSeq(list)) return cannotCut;
  return provenEdit(text, withoutItem(text, list, index), (data) => {
    const at = dataAt(data, path);
    if (Array.isArray(at)) at.splice(index, 1);
  });
}

const dataAt = (data: Data, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (isData(at) ? at[name] : undefined), data);

/** The text, if it says what the change makes of the data, and nothing else. */
function provenEdit(before: string, after: string | undefined, change: (data: Data) => void): Edited {
  const meant: unknown = documentOf(before).toJS();
  if (after === undefined || !isData(meant)) return cannotCut;
  change(meant);
  const document = documentOf(after);
  return document.errors.length === 0 && deepEqual(document.toJS(), meant) ? { text: after } : cannotCut;
}

const pairOf = (map: SomeMap, key: string) =>
  map.items.find((pair) => (isScalar(pair.key) ? String(pair.key.value) : pair.key) === key);

const splice = (text: string, from: number, to: number, by: string): string =>
  text.slice(0, from) + by + text.slice(to);

/** Of a pair, where its key begins. */
export const startOf = (node: unknown): number | undefined =>
  isPair(node) ? startOf(node.key) : isNode(node) ? node.range?.[0] : undefined;

/** The end of what a node or a pair says, without what follows on its line. */
export function endOf(text: string, node: unknown): number | undefined {
  if (isPair(node)) return endOf(text, node.value) ?? endOf(text, node.key);
  if (isCollection(node) && node.flow !== true) return endOf(text, node.items.at(-1));
  const end = isNode(node) ? node.range?.[1] : undefined;
  // The range of a block of text includes the end of its last line.
  return end !== undefined && text[end - 1] === "\n" ? end - (text[end - 2] === "\r" ? 2 : 1) : end;
}

export const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;
/** The place before the end of the line. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : text[end - 1] === "\r" ? end - 1 : end;
}
/** The place after the end of the line. */
export const nextLine = (text: string, at: number): number => {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
};
export const lineEndOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
/** The blanks before a place, if nothing else stands before it on its line. */
export const indentOf = (text: string, at: number): string | undefined => {
  const before = text.slice(lineStart(text, at), at);
  return /^ *$/.test(before) ? before : undefined;
};

const isPlainText = (value: string): boolean => {
  if (/[\n\r\t"'#,[\]{}]|^\s|\s$|: |:$/.test(value)) return false;
  return ifPossible(() => parse(value) === value && parse(`[${value}]`)[0] === value) ?? false;
};

/** Only a quoted text can show a direction mark or another hidden character as its number. */
const quoted = (value: string): string => printable(JSON.stringify(value));

/** A value in one line, as it can stand within braces and outside of them. */
export function inFlow(value: Plain): string {
  if (typeof value === "string") return isPlainText(value) && printable(value) === value ? value : quoted(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `[${value.map(inFlow).join(", ")}]`;
  const fields = Object.entries(value).map(([key, inner]) => `${inFlow(key)}: ${inFlow(inner)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

function cutIn(text: string, map: YAMLMap, key: string, value: Plain, order: readonly string[]): string | undefined {
  const present = pairOf(map, key);
  if (present !== undefined) return replaced(text, present, value);
  const pair = `${inFlow(key)}: ${inFlow(value)}`;
  const [first] = map.items;
  if (first === undefined) {
    const [from, to] = map.range ?? [];
    return map.flow === true && from !== undefined && to !== undefined
      ? splice(text, from, to, `{ ${pair} }`)
      : undefined;
  }
  const place = order.indexOf(key);
  const behind = map.items.findLast((item) => {
    const at = isScalar(item.key) ? order.indexOf(String(item.key.value)) : -1;
    return place === -1 || at < place;
  });
  const start = startOf(first.key);
  const last = behind === undefined ? undefined : endOf(text, behind);
  return map.flow === true ? cutIntoFlow(text, pair, start, last) : cutIntoBlock(text, pair, start, last);
}

/** In braces: behind the pair that ends at `last`, or before the first one, which begins at `start`. */
function cutIntoFlow(text: string, pair: string, start: number | undefined, last: number | undefined) {
  if (last !== undefined) return splice(text, last, last, `, ${pair}`);
  return start === undefined ? undefined : splice(text, start, start, `${pair}, `);
}

function cutIntoBlock(text: string, pair: string, start: number | undefined, last: number | undefined) {
  const indent = start === undefined ? undefined : indentOf(text, start);
  if (start === undefined || indent === undefined) return undefined;
  if (last === undefined) return splice(text, start, start, `${pair}${lineEndOf(text)}${indent}`);
  const end = lineEnd(text, last);
  return splice(text, end, end, `${lineEndOf(text)}${indent}${pair}`);
}

function replaced(
  text: string,
  { key, value: node }: { key: unknown; value: unknown },
  value: Plain,
): string | undefined {
  if (isAlias(node)) return undefined;
  if (node === null || (isScalar(node) && node.value === null && node.source === "")) {
    const end = endOf(text, key);
    const colon = end === undefined ? -1 : text.indexOf(":", end);
    return colon === -1 ? undefined : splice(text, colon + 1, colon + 1, ` ${inFlow(value)}`);
  }
  const [from, to] = [startOf(node), endOf(text, node)];
  if (from === undefined || to === undefined || !isNode(node) || ("anchor" in node && node.anchor !== undefined))
    return undefined;
  if (isCollection(node) && node.flow !== true) return undefined;
  return splice(text, from, to, quotedLike(node, value) ?? inFlow(value));
}

/** In the quotes in which the former value stood. */
function quotedLike(node: unknown, value: Plain): string | undefined {
  if (!isScalar(node) || typeof value !== "string") return undefined;
  if (node.type === "QUOTE_DOUBLE") return quoted(value);
  return node.type === "QUOTE_SINGLE" && printable(value) === value ? `'${value.replaceAll("'", "''")}'` : undefined;
}

function cutKey(text: string, map: SomeMap, key: string): string | undefined {
  const pair = pairOf(map, key);
  if (pair === undefined) return text;
  const index = map.items.indexOf(pair);
  const [from, to] = [startOf(pair), endOf(text, pair)];
  if (from === undefined || to === undefined) return undefined;
  if (map.flow === true) return fromFlow(text, map, index, from, to, "{}");
  return map.items.length === 1 || indentOf(text, from) === undefined
    ? undefined
    : splice(text, lineStart(text, from), nextLine(text, to), "");
}

/** Takes one item out of braces or brackets, with the comma that it no longer needs. */
function fromFlow(
  text: string,
  { items, range }: SomeMap | YAMLSeq<unknown>,
  index: number,
  from: number,
  to: number,
  empty: string,
): string | undefined {
  if (items.length === 1) return range == null ? undefined : splice(text, range[0], range[1], empty);
  const next = startOf(items[index + 1]);
  if (next !== undefined) return splice(text, from, next, "");
  const end = endOf(text, items[index - 1]);
  return end === undefined ? undefined : splice(text, end, to, "");
}

function appended(text: string, list: YAMLSeq<unknown>, item: string): string | undefined {
  const last: unknown = list.items.at(-1);
  if (last === undefined)
    return list.flow === true && list.range != null
      ? splice(text, list.range[0], list.range[1], `[${item}]`)
      : undefined;
  const [start, end] = [startOf(last), endOf(text, last)];
  if (start === undefined || end === undefined) return undefined;
  if (list.flow === true) {
    const indent = indentOf(text, start);
    return splice(text, end, end, indent === undefined ? `, ${item}` : `,${lineEndOf(text)}${indent}${item}`);
  }
  const dash = dashOf(text, start);
  if (dash === undefined) return undefined;
  const at = lineEnd(text, end);
  return splice(text, at, at, `${lineEndOf(text)}${" ".repeat(dash - lineStart(text, dash))}- ${item}`);
}

/** The place of the dash before an item, where both are on one line. */
export function dashOf(text: string, start: number): number | undefined {
  const begin = lineStart(text, start);
  const match = /^( *)- +$/.exec(text.slice(begin, start));
  return match === null ? undefined : begin + (match[1] ?? "").length;
}

function withoutItem(text: string, list: YAMLSeq<unknown>, index: number): string | undefined {
  const item: unknown = list.items[index];
  const [start, end] = [startOf(item), endOf(text, item)];
  if (start === undefined || end === undefined) return undefined;
  if (list.flow === true) return fromFlow(text, list, index, start, end, "[]");
  const dash = dashOf(text, start);
  if (dash === undefined) return undefined;
  // The key of the list may stand in the column of the dash, where an empty list may not.
  if (list.items.length === 1) return splice(text, dash, end, "  []");
  return splice(text, lineStart(text, dash), nextLine(text, end), "");
}
