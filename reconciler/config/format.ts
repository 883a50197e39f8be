/**
 * A file of the desired state in its usual form: sections and fields in one order, text quoted where it has to be, two
 * columns of indentation. Comments, blank lines and the style of each map and list stay as they are, and so does every
 * value: what would read as something else afterwards is refused.
 */

import {
  isCollection,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Scalar,
  type Tags,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { fieldsOf } from "../core/model/fields";
import { type Kind, kindRows, kinds, sectionOf } from "../core/model/kinds";
import { canonicalJson } from "../core/text/canonical-json";
import { ifPossible } from "../core/text/errors";
import { fieldsIn } from "../core/text/objects";
import { firstLine } from "../core/text/parts";
import { lineEndOf } from "./edit-text";

export type Formatted =
  | { readonly text: string }
  /** Where the file cannot be read, its reader says more. */
  | { readonly problem: string; readonly fix?: string };

/** The keys at the top of a file, and of a component, in their usual order. */
export const topOrder: readonly string[] = [
  "version",
  "component",
  "description",
  "project",
  "region",
  "state",
  "service",
  "ssh",
  "prices",
  "environments",
  "vars",
  "parameters",
  "components",
  "reads",
  "lookups",
  "defaults",
  ...Object.values(kindRows).map(({ section }) => section),
  "outputs",
  "rollout",
  "checks",
  "policy",
  "reachability",
  "deny",
  "imports",
  "moved",
  "removed",
];

const blockFields = (kind: Kind): readonly string[] => [
  "for_each",
  "enabled",
  ...Object.values(fieldsOf[kind]).map(({ field }) => field),
  "lifecycle",
];

const blocks: ReadonlyMap<string, readonly string[]> = new Map(
  kinds.map((kind) => [sectionOf[kind], blockFields(kind)]),
);
const ruleOrder = [
  "enabled",
  "direction",
  "ethertype",
  "protocol",
  "dst_port",
  "remote_ip",
  "remote_group",
  "description",
];

/** The fields of a block in the order in which they are written. */
export const blockOrder = (section: string): readonly string[] => blocks.get(section) ?? [];

export function formatYaml(text: string): Formatted {
  // What could not be read as text would be written back as something else.
  if (/[\ufffd\u0000]/.test(text)) return { problem: "the file is not text in UTF-8" };
  // The library leaves the carriage return of a Windows line end in comments.
  const documents = parseAllDocuments(text.replaceAll("\r\n", "\n"), {
    keepSourceTokens: false,
    customTags: asWritten,
    logLevel: "error",
  });
  const [document, ...others] = Array.isArray(documents) ? documents : [];
  if (document === undefined) return { text };
  if (others.length > 0) return { problem: "it has several documents, and a file of the desired state has one" };
  const [error] = document.errors;
  if (error !== undefined) return { problem: firstLine(error.message).replace(/ at line.*$/, "") };
  const before: unknown = ifPossible(() => document.toJS());
  // Of an alias that repeats nothing, or itself, no value is made.
  const meant = ifPossible(() => canonicalJson(before));
  if (meant === undefined) return { problem: "it has an alias that repeats nothing, or itself" };
  const { format } = fieldsIn(before);
  // A text that is one word for YAML may be anything, the journal of a state among it.
  if (typeof before === "string" || String(format).startsWith("reconcile-cloud/"))
    return {
      problem: "it is no file that people write",
      fix: "leave it out: this program writes it, and it has no usual form",
    };
  // An alias has to stay behind what it repeats.
  let hasAnchors = false;
  visit(document, {
    Alias: () => {
      hasAnchors = true;
      return visit.BREAK;
    },
  });
  const { contents } = document;
  if (!hasAnchors && isMap(contents)) {
    // A comment above the first entry belongs to the file, such as the line for editors.
    const first = contents.items[0]?.key;
    if (isScalar(first) && first.commentBefore != null) {
      contents.commentBefore = [contents.commentBefore, first.commentBefore].filter((one) => one != null).join("\n");
      first.commentBefore = undefined;
    }
    inFileOrder(contents);
  }
  visit(document, { Scalar: (_, node) => plainScalar(node), Collection: (_, node) => pad(node) });
  const formatted = document.toString({ lineWidth: 0, indent: 2, indentSeq: true, flowCollectionPadding: true });
  const [after] = parseAllDocuments(formatted, { logLevel: "error" });
  if (after === undefined || !("toJS" in after) || canonicalJson(after.toJS()) !== meant)
    return { problem: "its usual form would read as something else; it is left as it is" };
  return { text: formatted.replaceAll("\n", lineEndOf(text)) };
}

/** A number stays as it is written: of `0123`, or of an id of twenty digits, the number that it is read as says less. */
const asWritten = (tags: Tags): Tags =>
  tags.map((tag) =>
    typeof tag === "object" && tag.collection === undefined && /:(?:int|float)$/.test(tag.tag)
      ? { ...tag, stringify: (node, ...rest) => node.source ?? tag.stringify?.(node, ...rest) ?? "" }
      : tag,
  );

function inFileOrder(root: YAMLMap): void {
  sortBy(root, topOrder);
  for (const { key, value } of root.items) {
    const section = scalarText(key);
    if (section === "defaults" && isMap(value)) {
      for (const { key: kind, value: fields } of value.items) orderBlock(fields, blocks.get(`${scalarText(kind)}s`));
      continue;
    }
    if (!isMap(value)) continue;
    for (const { value: block } of value.items) orderBlock(block, blocks.get(section));
  }
}

function orderBlock(block: unknown, fields: readonly string[] | undefined): void {
  if (fields === undefined || !isMap(block)) return;
  sortBy(block, fields);
  for (const { key, value } of block.items)
    if (scalarText(key) === "rules" && isSeq(value))
      for (const one of value.items) if (isMap(one)) sortBy(one, ruleOrder);
}

/** An unknown key keeps its place behind the key that it followed. */
function sortBy(map: YAMLMap, names: readonly string[]): void {
  let last = -1;
  const ranked = map.items.map((pair, index) => {
    const rank = names.indexOf(scalarText(pair.key));
    if (rank >= 0) last = rank;
    return { pair, index, rank: rank >= 0 ? rank : last + 0.5 };
  });
  const former = map.items[0];
  ranked.sort((a, b) => a.rank - b.rank || a.index - b.index);
  map.items = ranked.map(({ pair }) => pair);
  const head = map.items[0];
  if (head !== former && isScalar(head?.key) && isScalar(former?.key)) {
    // Whichever entry becomes the first of a map has no blank line before it.
    const { spaceBefore } = head.key;
    head.key.spaceBefore = former.key.spaceBefore ?? false;
    former.key.spaceBefore = spaceBefore ?? false;
  }
}

/** `[a, b]` and `{ a: 1 }`, and a list of maps as `[ { a: 1 } ]`. */
function pad(node: YAMLMap | YAMLSeq): void {
  if (node.flow !== true) return;
  const padding = isMap(node) || isCollection(node.items[0]) ? " " : "";
  const usual = node.toString.bind(node);
  node.toString = (context, ...rest) =>
    usual(context === undefined ? undefined : Object.assign({}, context, { flowCollectionPadding: padding }), ...rest);
}

const scalarText = (key: unknown): string => (isScalar(key) ? String(key.value) : "");

/** A text that other readers of YAML take for true, false or a number keeps its quotes. */
const ambiguous = /^(?:y|n|yes|no|on|off|true|false|null|~|[-+.\d].*|.*[:#{}[\],&*!|>'"%@`].*|\s.*|.*\s)?$/i;

function plainScalar(node: Scalar): void {
  if (typeof node.value !== "string") return;
  if (node.type === "QUOTE_SINGLE" || node.type === "QUOTE_DOUBLE")
    node.type = ambiguous.test(node.value) ? "QUOTE_DOUBLE" : "PLAIN";
}
