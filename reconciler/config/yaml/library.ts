/**
 * What the YAML library says of a text, as plain values with their places: one document, unique keys, no tags, aliases
 * within reason, and a problem for every violation. reader.ts asks it where plain.ts has no answer, which in
 * most runs is never.
 */

import type { Alias, Pair, YAMLMap } from "yaml";
import { fieldsIn, listIn } from "../../core/text/objects";
import { misplacedLine } from "../indentation";
import { holdsMark } from "../open-text";
import { heldProblems, type Problems, shown } from "../problems";
import { findTooDeep } from "./depth";
import {
  isMap,
  keyOffset,
  lineOfOffset,
  listOf,
  newMap,
  type OddNumber,
  offsetOfPath,
  ownOffset,
  positionOf,
  setEntry,
  type YamlFile,
  type YamlMap,
} from "./file";

/** How many values all aliases of a file together may stand for. */
const mostAliasedValues = 200_000;

/** The library is loaded when it is first needed: loading takes longer than reading a small file. */
const yaml = () => require("yaml") as typeof import("yaml");

type Node = unknown;

interface DocumentReading {
  readonly source: YamlFile;
  readonly problems: Problems;
  readonly anchors: Map<string, { value: unknown; size: number }>;
  /** Values made so far, those behind aliases included. */
  size: number;
  aliased: number;
  isIncomplete: boolean;
  readonly oddNumbers: OddNumber[];
  root?: YamlMap;
}

function checkDepth(source: YamlFile, problems: Problems): boolean {
  const offset = findTooDeep(source.text);
  if (offset !== undefined)
    problems.add({
      code: "config/yaml-syntax",
      summary: "the file is nested too deeply to be read",
      at: { source, offset },
    });
  return offset === undefined;
}

/** The map that one piece of a file holds; `undefined` when the file has to be looked at as a whole. */
export function readPiece(source: YamlFile, start: number, end: number): YamlMap | undefined {
  const text = source.text.slice(start, end);
  if (findTooDeep(text) !== undefined) return undefined;
  const document = parseDocumentText(text);
  if (document.errors.length + document.warnings.length > 0) return undefined;
  if (document.contents !== null && !yaml().isMap(document.contents)) return undefined;
  const problems = heldProblems();
  const map = newMap(start);
  const reading = newReading(source, problems);
  if (document.contents !== null) fillMap(map, document.contents, start, reading);
  return problems.reported + reading.oddNumbers.length > 0 ? undefined : map;
}

/** The root of a file. Problems are reported, and `isIncomplete` is set where a part was left out. */
export function readWhole(source: YamlFile, problems: Problems): unknown {
  source.isIncomplete = true;
  if (!checkDepth(source, problems)) return undefined;
  const document = parseDocumentText(source.text);
  const unquoted = bareReferences(source.text, document.errors);
  for (const offset of unquoted)
    problems.add({
      code: "config/yaml-syntax",
      summary: "the file is not valid YAML",
      detail: "between { } or [ ] a brace ends text that stands without quotes",
      fix: 'put text with ${…} in quotes, such as "web-${each}"',
      at: { source, offset },
    });
  const errors = unquoted.length > 0 ? [] : withoutEchoes(document.errors, source.text);
  for (const { pos, code, message } of [...errors, ...document.warnings]) {
    const misplaced = sameColumn.test(message) ? misplacedLine(source.text, pos[0]) : undefined;
    if (misplaced !== undefined) {
      const { offset, detail, fix } = misplaced;
      problems.add({
        code: "config/yaml-syntax",
        summary: "the indentation is wrong",
        detail,
        fix,
        at: { source, offset },
      });
      continue;
    }
    const open = unclosed.test(message) ? openedAt(document, pos[0]) : undefined;
    const offset = open ?? Math.min(pos[0], Math.max(0, source.text.length - 1));
    problems.add({
      code: "config/yaml-syntax",
      summary: code === "MULTIPLE_DOCS" ? "the file holds several YAML documents" : "the file is not valid YAML",
      detail: code === "MULTIPLE_DOCS" ? "expected one document" : message.replace(/\s+/g, " "),
      fix:
        open === undefined
          ? (fixOf(message, lineOfOffset(source.text, offset)) ?? syntaxFixes[code])
          : `close the ${source.text[open]} that stands here`,
      at: { source, offset },
    });
  }
  if (document.errors.length > 0) return undefined;
  const reading = newReading(source, problems);
  const value = valueOfNode(document.contents, 0, reading);
  source.isIncomplete = reading.isIncomplete;
  source.oddNumbers = reading.oddNumbers;
  return value === null ? undefined : value;
}

const sameColumn = /^All mapping items must start at the same column/;
const listAmongKeys = /^A block sequence may not be used as an implicit map key/;

const unclosed =
  /^(?:Missing closing ["']quote|Flow (?:map|sequence) in block collection must be sufficiently indented)/;

/** Where the text or the collection begins that is not closed: the outermost one that reaches as far as the error. */
function openedAt(document: ReturnType<typeof parseDocumentText>, blamed: number): number | undefined {
  const { isCollection, isScalar, visit } = yaml();
  const rangeOf = (node: unknown) => {
    if (isScalar(node)) return /^QUOTE/.test(node.type ?? "") ? node.range : undefined;
    return isCollection(node) && node.flow === true ? node.range : undefined;
  };
  let found: number | undefined;
  visit(document, (_key, node) => {
    const [from = 0, to = 0] = rangeOf(node) ?? [];
    if (from < blamed && to >= blamed) found ??= from;
    return undefined;
  });
  return found;
}

function fixOf(message: string, line: string): string | undefined {
  if (/^(?:<{7}|={7}|>{7})(?:\s|$)/.test(line)) return "keep one side of the merge that git could not do by itself";
  if (/^Unexpected .* at node end/.test(message) && line.includes("{{"))
    return 'write "${…}", with quotes, for what {{ … }} is elsewhere';
  if (/^Plain value cannot start with/.test(message)) return "put the text in quotes";
  if (/^Sequence item without - indicator/.test(message)) return "begin the keys of one item in one column";
  if (bracketInText.test(message) || (betweenItems.test(message) && /[\w}]\[/.test(line)))
    return 'put text with brackets in quotes, such as "web[a]"';
  if (nestedOrLong.test(message)) {
    if (/^\s*-[^\s-]/.test(line)) return "put a space behind the dash";
    if (/^\s*(?:- )?[\w-]+:[^\s]/.test(line)) return "put a space behind the colon";
    if (/:\s.*:(?:\s|$)/.test(line)) return "put text that holds a colon and a space in quotes";
  }
  if (sameColumn.test(message)) return "begin the keys of one map in one column";
  if (listAmongKeys.test(message))
    return "a list item stands behind a key of its own: take the dash away, or add KEY: above it";
  return undefined;
}

const nestedOrLong =
  /^(?:Nested mappings are not allowed in compact mappings|Implicit keys need to be on a single line)/;
const betweenItems = /^Missing , or : between flow (?:sequence|map) items/;
const bracketInText = /^Unexpected flow-(?:seq|map)-start at node end/;

interface SyntaxError {
  readonly pos: readonly [number, number];
  readonly message: string;
}

/**
 * Where `${…}` stands without quotes inside a flow collection, when that is all that is wrong: the same text with the
 * braces covered is read, and each plain text in it that was covered is such a place.
 */
function bareReferences(text: string, errors: readonly SyntaxError[]): number[] {
  const [first] = errors;
  if (first === undefined || !bracketInText.test(first.message) || text[first.pos[0] - 1] !== "$") return [];
  const { isCollection, visit } = yaml();
  const covered = parseDocumentText(
    text.replace(/\$\{[^{}\n]*\}/g, (reference) => `$${"_".repeat(reference.length - 1)}`),
  );
  if (covered.errors.length > 0) return [];
  const found: number[] = [];
  visit(covered, {
    Scalar(_key, node, path) {
      const inFlow = path.some((above) => isCollection(above) && above.flow === true);
      const at = node.source?.indexOf("$_") ?? -1;
      if (inFlow && node.type === "PLAIN" && at >= 0) found.push(offsetOfNode(node) + at);
    },
  });
  return found;
}

/**
 * After one mistake the parser is out of step and reports most of what follows as unexpected. Of each line the first error
 * is told, and after the first error of the file only those that name a mistake of their own.
 */
function withoutEchoes<E extends SyntaxError>(errors: readonly E[], text: string): E[] {
  const lines = new Set<number>();
  return errors.filter(({ pos, message }, index) => {
    const line = text.lastIndexOf("\n", pos[0] - 1);
    if (lines.has(line) || (index > 0 && /^Unexpected .* token in YAML stream/.test(message))) return false;
    lines.add(line);
    return true;
  });
}

const syntaxFixes: Record<string, string> = {
  MULTIPLE_DOCS: "put each document into a file of its own and name both with -f",
  TAB_AS_INDENT: "indent with spaces",
  TAG_RESOLVE_FAILED: "leave the tag out",
  BAD_ALIAS: "put the text in quotes",
};

const newReading = (source: YamlFile, problems: Problems): DocumentReading => ({
  source,
  problems,
  anchors: new Map(),
  size: 0,
  aliased: 0,
  isIncomplete: false,
  oddNumbers: [],
});

/** Repeated keys are found here and not by the parser, which compares each key with all before it. */
const parseDocumentText = (text: string) =>
  yaml().parseDocument(text, { uniqueKeys: false, prettyErrors: false, strict: true, stringKeys: false });

function valueOfNode(node: Node, base: number, reading: DocumentReading): unknown {
  const { isAlias, isMap: isMapNode, isScalar, isSeq } = yaml();
  reading.size++;
  if (isScalar(node)) {
    const value = node.type === "PLAIN" ? plainValue(node.value, node.source) : node.value;
    // `!!binary` and `!!timestamp`: bytes and dates would pass for maps.
    if (typeof value === "object" && value !== null) return reportTag(node.tag, base + offsetOfNode(node), reading);
    if (typeof value === "number" && node.source !== undefined && !isFaithful(value, node.source))
      reading.oddNumbers.push({ offset: base + offsetOfNode(node), written: node.source, value });
    if (typeof value === "string" && holdsMark(value))
      reading.problems.add({
        code: "config/encoding",
        summary: "an escape stands for a character that no text has",
        fix: "take it out: U+FDD0 to U+FDD3 are not characters",
        at: { source: reading.source, offset: base + offsetOfNode(node) },
      });
    if (node.anchor !== undefined) reading.anchors.set(node.anchor, { value, size: 1 });
    return value;
  }
  if (isAlias(node)) return resolveAlias(node, base, reading);
  const before = reading.size;
  let value: unknown = null;
  if (isMapNode(node)) {
    const map = newMap(base + offsetOfNode(node));
    reading.root ??= map;
    fillMap(map, node, base, reading);
    value = map;
  } else if (isSeq(node)) {
    const items = node.items.map((item) => valueOfNode(item, base, reading));
    value = listOf(
      base + offsetOfNode(node),
      items,
      node.items.map((item) => base + offsetOfNode(item)),
    );
  }
  const { anchor } = fieldsIn(node);
  if (typeof anchor === "string") reading.anchors.set(anchor, { value, size: reading.size - before + 1 });
  return value;
}

function reportTag(tag: string | undefined, offset: number, { problems, source }: DocumentReading): undefined {
  return problems.add({
    code: "config/yaml-syntax",
    summary: `no value here is of the type ${(tag ?? "").replace(/^tag:yaml\.org,2002:/, "!!")}`,
    fix: syntaxFixes["TAG_RESOLVE_FAILED"],
    at: { source, offset },
  });
}

/** Numbers that JavaScript would round stay text, so that a long id is never another id. */
const plainValue = (value: unknown, source: string | undefined): unknown =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && source !== undefined
    ? source
    : value;

/** `007` and `1.10` are more than their numbers; and what starts with a zero is octal to other readers. */
const isFaithful = (value: number, written: string): boolean =>
  /^(?:[-+]?(?:0|[1-9][0-9]*)|0[ox].*)$/.test(written) || String(value) === written;

function fillMap(map: YamlMap, node: YAMLMap, base: number, reading: DocumentReading): void {
  const merged: unknown[] = [];
  for (const pair of node.items) {
    const at = { source: reading.source, offset: base + offsetOfNode(pair.key) };
    const key = keyText(pair);
    if (key === undefined) {
      reading.problems.add({
        code: "config/forbidden-key",
        summary: "a key must be a word",
        detail: "found a list, a map or an alias as key",
        at,
      });
      reading.isIncomplete = true;
      continue;
    }
    const value = valueOfNode(pair.value, base, reading);
    const valueStart = pair.value === null ? at.offset : base + offsetOfNode(pair.value);
    if (key === "__proto__") {
      reading.problems.add({ code: "config/forbidden-key", summary: "the key __proto__ is not allowed", at });
      reading.isIncomplete = true;
    } else if (key === "<<" && yaml().isScalar(pair.key) && pair.key.type === "PLAIN") {
      const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
      merged.push(...parts);
      for (const part of parts)
        if (part !== null && !isMap(part)) reportMerge(part, base + offsetOfNode(pair.value), reading);
    } else if (Object.hasOwn(map, key)) {
      const first = { source: reading.source, offset: keyOffset(map, key) ?? 0 };
      reading.problems.add({
        code: "config/duplicate-key",
        summary: `the key ${key} is given twice`,
        detail: `first given on line ${positionOf(first).line}`,
        fix: "keep one of the two",
        at,
      });
      // Inside a block the first value is enough. A second `vms:` holds names that would look undeclared.
      if (map === reading.root) reading.isIncomplete = true;
    } else {
      setEntry(map, key, value, at.offset, valueStart);
    }
  }
  for (const part of merged) mergeInto(map, part);
}

/** `<<: base` for `<<: *base`: everything the base holds would be missing without a word. */
function reportMerge(part: unknown, offset: number, reading: DocumentReading): void {
  const isAnchor = typeof part === "string" && isMap(reading.anchors.get(part)?.value);
  reading.problems.add({
    code: "config/wrong-type",
    summary: `<< cannot be ${shown(part)}`,
    detail: "expected an alias of a map, such as *base, or a list of them",
    fix: isAnchor ? `write <<: *${part}` : undefined,
    at: { source: reading.source, offset },
  });
  reading.isIncomplete = true;
}

/** `<<: *base`: the keys of the base that the map does not have itself. */
function mergeInto(map: YamlMap, part: unknown): void {
  if (!isMap(part)) return;
  for (const key of Object.keys(part))
    if (!Object.hasOwn(map, key))
      setEntry(map, key, part[key], keyOffset(part, key) ?? ownOffset(part), offsetOfPath(part, [key]).offset);
}

function keyText({ key }: Pair): string | undefined {
  if (!yaml().isScalar(key)) return undefined;
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function resolveAlias(node: Alias, base: number, reading: DocumentReading): unknown {
  const target = reading.anchors.get(node.source);
  const at = { source: reading.source, offset: base + offsetOfNode(node) };
  if (target === undefined) {
    reading.isIncomplete = true;
    reading.problems.add({
      code: "config/yaml-syntax",
      summary: `no anchor &${node.source} comes before this alias`,
      fix: "define the anchor first, or put the text in quotes",
      at,
    });
    return null;
  }
  reading.size += target.size;
  reading.aliased += target.size;
  if (reading.aliased <= mostAliasedValues) return target.value;
  reading.isIncomplete = true;
  reading.problems.add({
    code: "config/alias-limit",
    summary: "the aliases of this file stand for too many values",
    detail: `more than ${mostAliasedValues} in all`,
    fix: "use defaults and for_each instead of aliases",
    at: { source: reading.source, offset: 0 },
  });
  return null;
}

/** The type of `Node` leaves out the range, which every parsed node has. */
const offsetOfNode = (node: Node): number => Number(listIn(fieldsIn(node)["range"])[0] ?? 0);
