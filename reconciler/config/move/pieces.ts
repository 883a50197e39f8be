/**
 * Entries of a file as pieces of its text: a block with the comments above it, cut out of one file and put into another
 * with its bytes as they are, but for the indentation of the section that it comes into.
 */

import {
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parse,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import {
  dashOf,
  type Edited,
  endOf,
  indentOf,
  inFlow,
  lineEnd,
  lineEndOf,
  lineStart,
  nextLine,
  startOf,
} from "../edit-text";
import { plainOf } from "../yaml/write";

export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

/** An entry of a map, or an item of a list, with nothing before it on its lines. */
export interface Piece {
  readonly text: string;
  readonly isSpaced: boolean;
}

type SectionNode = YAMLMap<unknown, unknown> | YAMLSeq<unknown>;

export const applySplices = (text: string, splices: readonly Splice[]): string => {
  let result = "";
  let at = 0;
  for (const { from, to, by } of [...splices].sort((a, b) => a.from - b.from || a.to - b.to)) {
    // What was cut as a whole needs no change within.
    if (from < at) continue;
    result += text.slice(at, from) + by;
    at = to;
  }
  return result + text.slice(at);
};

/** A part of the text, with the changes that lie within it. */
export const splicedPart = (text: string, splices: readonly Splice[], from: number, to: number): string =>
  applySplices(
    text.slice(from, to),
    splices
      .filter((one) => one.from >= from && one.to <= to)
      .map((one) => ({ ...one, from: one.from - from, to: one.to - from })),
  );

export const keyOfPair = (pair: unknown): string => (isPair(pair) && isScalar(pair.key) ? String(pair.key.value) : "");

interface LineSpan {
  /** With the comments above it. */
  readonly from: number;
  readonly to: number;
  readonly indent: number;
}

const commentLine = /^([ \t]*)#/;
const lineAt = (text: string, at: number): string => text.slice(at, lineEnd(text, at));

/** The end of the lines of an entry, with comments below it that are indented as a part of it. */
function endOfLines(text: string, item: unknown, indent: number): number | undefined {
  const end = endOf(text, item);
  if (end === undefined) return undefined;
  let to = nextLine(text, end);
  for (;;) {
    const comment = to < text.length ? commentLine.exec(lineAt(text, to)) : null;
    if (comment === null || (comment[1] ?? "").length <= indent) return to;
    to = nextLine(text, to);
  }
}

/** `undefined`: the entry shares its lines with others. */
function linesOfItem(text: string, { items }: SectionNode, index: number, above: number): LineSpan | undefined {
  const item: unknown = items[index];
  const found = startOf(item);
  if (found === undefined) return undefined;
  const start = isPair(item) ? found : dashOf(text, found);
  const indent = start === undefined ? undefined : indentOf(text, start);
  if (start === undefined || indent === undefined) return undefined;
  const before = index === 0 ? above : endOfLines(text, items[index - 1], indent.length);
  const to = endOfLines(text, item, indent.length);
  if (before === undefined || to === undefined) return undefined;
  let from = lineStart(text, start);
  while (from > before) {
    const upper = lineStart(text, from - 1);
    if (upper < before || !commentLine.test(lineAt(text, upper))) break;
    from = upper;
  }
  return { from, to, indent: indent.length };
}

const isBlank = (text: string, at: number): boolean => at < text.length && lineAt(text, at).trim() === "";

function blankAbove(text: string, from: number, above: number): number {
  let at = from;
  while (at > above && isBlank(text, lineStart(text, at - 1))) at = lineStart(text, at - 1);
  return at;
}

export interface CutEntries {
  readonly pieces: readonly Piece[];
  readonly splices: readonly Splice[];
}

export interface Uncut {
  readonly problem: string;
  /** Where in the text. */
  readonly at: number;
  readonly fix?: string;
}

/** A top-level pair with a map or list of which entries are cut. All of them: the section goes as well. */
export function cutOut(
  text: string,
  pair: Pair<unknown, unknown>,
  wanted: readonly number[],
  rewritten: (from: number, to: number) => string = (from, to) => text.slice(from, to),
): CutEntries | Uncut {
  const section = pair.value;
  const keyAt = startOf(pair.key);
  if ((!isMap(section) && !isSeq(section)) || keyAt === undefined)
    return { problem: "its section is written in a way that cannot be cut", at: keyAt ?? 0 };
  const pieces: Piece[] = [];
  const lines: LineSpan[] = [];
  const above = nextLine(text, keyAt);
  for (const index of wanted) {
    const item: unknown = section.items[index];
    const at = startOf(item) ?? keyAt;
    if (hasAnchor(item)) return { problem: "it uses an anchor or an alias of YAML", at, fix: "write its value out" };
    if (section.flow === true) {
      const [from, to] = [startOf(item), endOf(text, item)];
      if (from === undefined || to === undefined) return { problem: "it cannot be cut where it stands", at };
      pieces.push({ text: spacedPair(text, item, rewritten) ?? rewritten(from, to), isSpaced: false });
      continue;
    }
    const own = linesOfItem(text, section, index, above);
    if (own === undefined) return { problem: "it shares its line with other text", at };
    lines.push(own);
    const isSpaced = index > 0 && blankAbove(text, own.from, above) < own.from;
    const cut = dedented(rewritten(own.from, own.to), own.indent, lineEndOf(text));
    pieces.push({ text: isSeq(section) ? withoutDash(cut) : cut, isSpaced });
  }
  const isWhole = wanted.length === section.items.length;
  if (isWhole) return { pieces, splices: [wholeSection(text, pair, section, keyAt)] };
  if (section.flow === true) return { pieces, splices: outOfFlow(text, section, new Set(wanted)) };
  const splices = lines.map(({ from, to }, at) => {
    const index = wanted[at] ?? 0;
    // The blank lines that set it apart from the entry before go along; from the first one, those below.
    let end = to;
    if (index === 0) while (isBlank(text, end)) end = nextLine(text, end);
    return { from: index === 0 ? from : blankAbove(text, from, above), to: end, by: "" };
  });
  return { pieces, splices };
}

/** Only within braces may a value stand right behind the colon of a quoted key. */
function spacedPair(text: string, item: unknown, part: (from: number, to: number) => string): string | undefined {
  if (!isPair(item)) return undefined;
  const [from, colon, value, to] = [startOf(item.key), endOf(text, item.key), startOf(item.value), endOf(text, item)];
  if (from === undefined || colon === undefined || value === undefined || to === undefined) return undefined;
  return text.slice(colon, value) === ":" ? `${part(from, colon)}: ${part(value, to)}` : undefined;
}

function wholeSection(text: string, pair: Pair<unknown, unknown>, section: SectionNode, keyAt: number): Splice {
  const [begin, end] = [startOf(section), endOf(text, section)];
  const behind = end === undefined ? "" : text.slice(end, lineEnd(text, end));
  // Within braces other sections may stand on its lines, and the braces themselves.
  if (section.flow === true && begin !== undefined && end !== undefined)
    if (indentOf(text, keyAt) === undefined || !/^\s*,?\s*(?:#.*)?$/.test(behind))
      return { from: begin, to: end, by: isMap(section) ? "{}" : "[]" };
  const from = lineStart(text, keyAt);
  const to = endOfLines(text, pair, 0) ?? nextLine(text, keyAt);
  const blank = blankAbove(text, from, 0);
  return { from: blank, to, by: "" };
}

function outOfFlow(text: string, { items }: SectionNode, gone: ReadonlySet<number>): Splice[] {
  const lastKept = items.reduce<number>((last, _, index) => (gone.has(index) ? last : index), -1);
  const splices: Splice[] = [];
  for (const index of gone) {
    if (index > lastKept) continue;
    const [from, to] = [startOf(items[index]), startOf(items[index + 1])];
    if (from !== undefined && to !== undefined) splices.push({ from, to, by: "" });
  }
  const [from, to] = [endOf(text, items[lastKept]), endOf(text, items.at(-1))];
  if (lastKept < items.length - 1 && from !== undefined && to !== undefined) splices.push({ from, to, by: "" });
  return splices;
}

function hasAnchor(node: unknown): boolean {
  if (isPair(node)) return hasAnchor(node.key) || hasAnchor(node.value);
  if (typeof node !== "object" || node === null) return false;
  if ("source" in node && !isScalar(node) && !isCollection(node)) return true;
  if ("anchor" in node && node.anchor !== undefined) return true;
  return isCollection(node) && node.items.some(hasAnchor);
}

const dedented = (text: string, by: number, end: string): string =>
  text
    .split(end)
    .map((line) => (line.slice(0, by).trim() === "" ? line.slice(by) : line.trimStart()))
    .join(end);

const indented = (text: string, by: number, end: string): string =>
  text
    .split(end)
    .map((line) => (line === "" ? line : " ".repeat(by) + line))
    .join(end);

/** The item of a list without its dash; the comments above it stay. */
const withoutDash = (text: string): string => {
  const at = text.search(/^-[ ]+/m);
  if (at < 0) return text;
  const width = /^-[ ]+/.exec(text.slice(at))?.[0].length ?? 2;
  return text.slice(0, at) + text.slice(at + width);
};

/** The lines below the first are indented as the item's already. */
const withDash = (text: string, end: string): string => {
  const lines = text.split(end);
  const first = lines.findIndex((line) => !commentLine.test(line));
  return lines.map((line, at) => (at === first ? `- ${line}` : line)).join(end);
};

/** As it can stand within braces; `undefined` where it has comments, which cannot. */
function inOneLine({ text }: Piece, kind: "map" | "list"): string | undefined {
  const trimmed = text.trim();
  if (/(^|\s)#/.test(trimmed)) return undefined;
  if (!trimmed.includes("\n")) return trimmed;
  const flow = inFlow(plainOf(parse(trimmed)));
  return kind === "list" ? flow : flow.slice(1, -1).trim();
}

/** Pieces as the lines of a block, as far in as it is. */
type AsBlock = (indent: number, isSpaced: boolean) => string;

/** Puts pieces at the end of a section, which is made where there is none. */
export function pasteInto(text: string, section: string, pieces: readonly Piece[], kind: "map" | "list"): Edited {
  if (pieces.length === 0) return { text };
  const end = lineEndOf(text);
  const root = parseDocument(text).contents;
  const asLines = (piece: Piece): string => {
    // The pieces of another file may end their lines in another way.
    const whole = lineEnded(piece.text.replaceAll(/\r?\n/g, end), end);
    return kind === "list" ? withDash(whole, end) : whole;
  };
  const asBlock: AsBlock = (indent, isSpaced) =>
    pieces
      .map((piece, at) => (at > 0 && (piece.isSpaced || isSpaced) ? end : "") + indented(asLines(piece), indent, end))
      .join("");
  if (root !== null && !isMap(root)) return { problem: "the file is no map" };
  const pair = root?.items.find((one) => keyOfPair(one) === section);
  const isEmpty = !isCollection(pair?.value) || pair.value.items.length === 0;
  if (root?.flow === true && isEmpty) {
    const pasted = pasteSection(text, root, section, pieces, kind);
    return "why" in pasted ? { problem: `the file is written ${pasted.why}` } : pasted;
  }
  if (pair === undefined) {
    const whole = text === "" ? text : lineEnded(text, end);
    const gap = whole === "" || whole.endsWith(end + end) ? "" : end;
    return { text: `${whole}${gap}${section}:${end}${asBlock(2, false)}` };
  }
  const { value } = pair;
  const keyAt = startOf(pair.key) ?? 0;
  if ((isMap(value) || isSeq(value)) && value.items.length > 0) {
    const pasted =
      value.flow === true ? pasteInFlow(text, value, pieces, kind) : pasteBelow(text, keyAt, value, pieces, asBlock);
    return "why" in pasted ? { problem: `${section} is written ${pasted.why}` } : pasted;
  }
  // An empty section: `vms:`, `vms: {}` or `vms: null`.
  const to = nextLine(text, endOf(text, pair) ?? keyAt);
  return { text: `${text.slice(0, lineStart(text, keyAt))}${section}:${end}${asBlock(2, false)}${text.slice(to)}` };
}

type PastedText = { readonly text: string } | { readonly why: string };
const cannotAdd: PastedText = { why: "in a way to which nothing can be added" };
const noPlaceForComments: PastedText = { why: "in braces, in which the comments of what comes have no place" };

const lineEnded = (text: string, end: string): string => (text.endsWith(end) ? text : text + end);

/** Behind the last item of a section in braces or brackets. */
function pasteInFlow(text: string, value: SectionNode, pieces: readonly Piece[], kind: "map" | "list"): PastedText {
  const last = endOf(text, value.items.at(-1));
  if (last === undefined) return cannotAdd;
  const joined = pieces.map((piece) => inOneLine(piece, kind));
  if (joined.includes(undefined)) return noPlaceForComments;
  return { text: text.slice(0, last) + joined.map((piece) => `, ${piece}`).join("") + text.slice(last) };
}

/** A section of a file that is written in braces, in the place of an empty one or behind the last one. */
function pasteSection(
  text: string,
  { items }: YAMLMap<unknown, unknown>,
  section: string,
  pieces: readonly Piece[],
  kind: "map" | "list",
): PastedText {
  const present = items.find((one) => keyOfPair(one) === section);
  const from = startOf(present?.key) ?? endOf(text, items.at(-1));
  const to = endOf(text, present ?? items.at(-1));
  if (from === undefined || to === undefined) return cannotAdd;
  const joined = pieces.map((piece) => inOneLine(piece, kind));
  if (joined.includes(undefined)) return noPlaceForComments;
  const value = kind === "list" ? `[${joined.join(", ")}]` : `{${joined.join(", ")}}`;
  return {
    text: `${text.slice(0, from)}${present === undefined ? ", " : ""}${JSON.stringify(section)}: ${value}${text.slice(to)}`,
  };
}

/** Below the last item of a section, as far in and with a blank line between as its items have them. */
function pasteBelow(
  text: string,
  keyAt: number,
  value: SectionNode,
  pieces: readonly Piece[],
  asBlock: AsBlock,
): PastedText {
  const first = startOf(value.items[0]);
  const start = first !== undefined && isSeq(value) ? dashOf(text, first) : first;
  const indent = start === undefined ? undefined : indentOf(text, start);
  if (indent === undefined || endOf(text, value.items.at(-1)) === undefined) return cannotAdd;
  const at = endOfLines(text, value.items.at(-1), indent.length) ?? text.length;
  const isSpaced =
    value.items.length > 1 &&
    /\n[ \t]*\r?\n/.test(text.slice(nextLine(text, keyAt), lineStart(text, startOf(value.items.at(-1)) ?? 0)));
  const before = text.slice(0, at);
  const end = lineEndOf(text);
  const gap = isSpaced || pieces[0]?.isSpaced === true ? end : "";
  return {
    text: (before.endsWith("\n") ? before : before + end) + gap + asBlock(indent.length, isSpaced) + text.slice(at),
  };
}
