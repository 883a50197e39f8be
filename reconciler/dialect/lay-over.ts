/**
 * Lays what was learnt of a service over the file that a dialect was given in. What the file says stays, with its
 * comments, unless something else was learnt at the same place; words of states and rules for errors are added to what
 * is there.
 */
import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  YAMLSeq,
} from "yaml";
import type { SomeMap } from "../config/edit-text";
import { parseValue } from "../config/yaml/reader";
import { deepEqual } from "../core/text/deep-equal";
import { isObject } from "../core/text/objects";

/** What the doctor writes behind a value, and what it says at the head of a file: written anew each time. */
const ownRemark =
  /^\s*(shows |found|not found where|not tried|unclear$|tried, and seen|seen in a trial|by the word alone|was taken|followed once|there is none, as)/;
const ownHead = /^#? ?(What reconcile doctor (learnt|found)|Proven by reconcile dialect prove) .*$/;

/** Sections whose keys hold values of their own; below the others a value is replaced whole. */
const depths: Readonly<Record<string, number>> = {
  ...{ operations: 1, answers: 1, authorization: 1, pagination: 1, rules: 1, limits: 1, values: 1, headers: 1 },
  ...{ records: 2, states: 2, envelope: 2, names: 2 },
};

export function layOver(base: string, learnt: string): string {
  const below = withoutAliases(parseDocument(withoutOwnHead(base)));
  const above = parseDocument(learnt);
  if (!isMap(above.contents)) return base;
  if (!isMap(below.contents)) return learnt;
  if (!above.has("todo")) below.delete("todo");
  for (const pair of above.contents.items) layPair(below.contents, pair, depths[pairKey(pair)] ?? 0, [pairKey(pair)]);
  const head = (above.commentBefore ?? above.contents.commentBefore ?? "")
    .split("\n")
    .filter((line) => ownHead.test(line));
  return withHead(narrowLists(below.toString({ lineWidth: 0, flowCollectionPadding: true })), head);
}

/** A value as the text of a dialect, for one that is written within another file. */
export const dialectText = (value: unknown): string =>
  new Document(isObject(value) ? value : {}).toString({ lineWidth: 0 });

/** What an alias stands for is written in its place: the value that it names may be another one afterwards. */
function withoutAliases(document: Document): Document {
  visit(document, {
    Alias: (_, alias) => {
      const node: unknown = alias.resolve(document)?.clone();
      return isNode(node) ? node : undefined;
    },
  });
  visit(document, {
    Node: (_, node) => {
      if (!isAlias(node)) delete node.anchor;
    },
  });
  return document;
}

const pairKey = (pair: Pair<unknown, unknown>): string => String(isScalar(pair.key) ? pair.key.value : pair.key);

function layPair(map: SomeMap, pair: Pair<unknown, unknown>, depth: number, path: readonly string[]): void {
  const key = pairKey(pair);
  if (path[0] === "states" && path.length === 3) giveOneMeaning(map, key, pair.value);
  const present = map.items.find((one) => pairKey(one) === key);
  if (present === undefined) {
    if (key === "todo") map.items.unshift(pair);
    else map.items.push(pair);
    return;
  }
  const { value } = pair;
  if (depth > 0 && isMap(present.value) && isMap(value)) {
    if (value.flow !== true) present.value.flow = false;
    for (const inner of value.items)
      layPair(present.value, inner, depthBelow(depth, path, pairKey(inner)), [...path, pairKey(inner)]);
    return;
  }
  const [section] = path;
  if (isSaidAlready(present.value, value)) return;
  if (section === "states") present.value = withWords(present.value, value);
  else if (section === "errors" && isSeq(present.value) && isSeq(value)) present.value.items.unshift(...value.items);
  else if (section === "todo" && isSeq(present.value) && isSeq(value)) keepQuestions(present.value, value);
  else present.value = withCommentOf(present.value, value);
}

/** The questions that are left: those that were there already stay as they are written. */
function keepQuestions(present: YAMLSeq, learnt: YAMLSeq): void {
  const textOf = (item: unknown): unknown => (isScalar(item) ? item.value : item);
  const before = new Map(present.items.map((item) => [textOf(item), item]));
  present.items = learnt.items.map((item) => before.get(textOf(item)) ?? item);
}

/** The same value, which no look of the doctor has written. */
const isSaidAlready = (present: unknown, value: unknown): boolean =>
  isNode(present) &&
  isNode(value) &&
  !ownRemark.test(remarkOf(present) ?? "") &&
  deepEqual(present.toJSON(), value.toJSON());

/** The places of an entry within a record are values of their own as well. */
const depthBelow = (depth: number, path: readonly string[], key: string): number =>
  path[0] === "records" && key === "volume_entry" ? depth : depth - 1;

function literalsIn(node: unknown): readonly unknown[] {
  const value: unknown = isNode(node) ? node.toJSON() : node;
  return value === null || value === undefined ? [] : Array.isArray(value) ? value : [value];
}

const inLetters = (words: readonly unknown[]): ReadonlySet<string> =>
  new Set(words.map((word) => String(word).toLowerCase()));

/**
 * A word that was seen at another meaning loses the one that the file gives it. That a word means gone is for a person to
 * say, so it takes none away.
 */
function giveOneMeaning(map: SomeMap, phase: string, learnt: unknown): void {
  for (const other of map.items.filter((one) => pairKey(one) !== phase)) {
    const said = phase === "gone" ? literalsIn(other.value) : literalsIn(learnt);
    const from = phase === "gone" ? learnt : other.value;
    const taken = inLetters(said);
    const isLeft = (word: unknown): boolean => !taken.has(String(isScalar(word) ? word.value : word).toLowerCase());
    if (isSeq(from)) from.items = from.items.filter(isLeft);
    else if (literalsIn(from).some((word) => !isLeft(word))) other.value = withCommentOf(from, flowList([]));
  }
}

function flowList(words: readonly unknown[]): YAMLSeq {
  const list = new YAMLSeq();
  list.items = words.map((word) => new Scalar(word));
  list.flow = true;
  return list;
}

function withWords(present: unknown, learnt: unknown): unknown {
  const known = inLetters(literalsIn(present));
  const more = literalsIn(learnt).filter((word) => !known.has(String(word).toLowerCase()));
  if (more.length === 0) return present;
  // A list of one word a line may have a remark on each.
  if (isSeq(present) && present.flow !== true) {
    present.items.push(...more.map((word) => new Scalar(word)));
    return present;
  }
  return withCommentOf(present, flowList([...literalsIn(present), ...more]), isNode(learnt) ? learnt : undefined);
}

/** The new node with what a person had written beside the old one, and within it. */
function withCommentOf(old: unknown, node: unknown, remarked: unknown = node): unknown {
  if (!isNode(node)) return node;
  const remark = isNode(remarked) ? (remarked.comment ?? undefined) : undefined;
  const parts = [...(remark === undefined ? [] : [remark]), ...(isNode(old) ? ownWordsIn(old) : [])];
  if (parts.length > 0) node.comment = parts.join(";").replaceAll("\n", ";");
  if (remarked !== node && isNode(remarked) && remarked.commentBefore != null)
    node.commentBefore = remarked.commentBefore;
  return node;
}

/** A person's remarks at a node and within it; what the doctor writes stands before theirs in the same remark. */
function ownWordsIn(old: Node): readonly string[] {
  const found: string[] = [];
  visit(old, {
    Node: (_, { commentBefore, comment }) => {
      found.push(...[commentBefore, comment].flatMap((one) => (one == null ? [] : [withoutOwnRemark(one)])));
    },
  });
  return found.filter((text) => text.trim() !== "");
}

function withoutOwnRemark(remark: string): string {
  const parts = remark.split(";");
  const first = parts.findIndex((part) => !ownRemark.test(part));
  return first < 0 ? "" : parts.slice(first).join(";");
}

const remarkOf = (node: Node) => node.comment ?? (isFlow(node) ? undefined : node.commentBefore);

const isFlow = (node: Node): boolean => "flow" in node && node.flow === true;

/** `[a, b]` for `[ a, b ]`, as dialects are written; what stands in quotes or behind a # stays. */
const narrowLists = (text: string): string =>
  text.replaceAll(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?<=^|\s)#.*|\[ (?=\S)|(?<=\S) \]/gm, (found) =>
    found === "[ " ? "[" : found === " ]" ? "]" : found,
  );

const withoutOwnHead = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !ownHead.test(line))
    .join("\n");

/** Behind the line for editors, where there is one. */
function withHead(text: string, head: readonly string[]): string {
  const lines = text.split("\n");
  const at = lines[0]?.startsWith("# yaml-language-server") === true ? 1 : 0;
  const own = head.map((line) => (line.startsWith("#") ? line : `#${line}`));
  const isLoose = at < lines.length && own.length > 0 && lines[at] !== "" && !lines[at]?.startsWith("#");
  return [...lines.slice(0, at), ...own, ...(isLoose ? [""] : []), ...lines.slice(at)].join("\n");
}

/** The places that a text says something at and another one does not, as keys with dots. */
export function saysMore(text: string, than: string): readonly string[] {
  const said = parseValue(text);
  const isNothing = said === null || said === undefined || (typeof said === "string" && said.trim() === "");
  if (isNothing) return [];
  return isObject(said) ? leavesBelow(said, parseValue(than), []) : ["what is no dialect"];
}

function leavesBelow(one: unknown, other: unknown, path: readonly string[]): string[] {
  if (one === null || one === undefined || path[0] === "todo") return [];
  const isSection = isObject(one) && path.length < 3 && !("method" in one);
  if (isSection && isObject(other))
    return Object.entries(one).flatMap(([key, inner]) => leavesBelow(inner, other[key], [...path, key]));
  if (isSection && other === undefined && Object.keys(one).length > 0)
    return Object.keys(one).map((key) => [...path, key].join("."));
  return other === undefined || other === null ? [path.join(".")] : [];
}
