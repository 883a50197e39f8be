/**
 * The one writer of desired-state files: blocks as plain values in, YAML text out that the reader of this folder takes
 * back as it was meant. Text that holds `${` is escaped, comments are one printable line each, rules are one line each.
 * What a block says is decided by its makers (live-blocks.ts, listing).
 */
import { Document, isMap, isScalar, isSeq, visit, type YAMLMap } from "yaml";
import { formatAddress } from "../../core/model/address";
import { type Kind, kindRows, sectionOf } from "../../core/model/kinds";
import { keysOf } from "../../core/text/objects";
import { printable, printableLines } from "../../core/text/printable";

export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

/** What YAML was read as is plain data. */
export const plainOf = (value: unknown): Plain => value as Plain;

export interface YamlBlock {
  readonly kind: Kind;
  /** The component whose file it is for: `shop/`. */
  readonly within?: string;
  readonly key: string;
  readonly fields: { readonly [key: string]: Plain };
  /** Comments above the block, a line each. */
  readonly notes?: readonly string[];
  /** The id for an `imports` entry. */
  readonly id?: string;
}

export interface WrittenYaml {
  /** The schema's address for editors. Left out: the file has no such header. */
  readonly schema?: string;
  readonly notes?: readonly string[];
  /** Everything before the blocks: version, project, region, service, defaults. */
  readonly head: { readonly [key: string]: Plain };
  readonly blocks: readonly YamlBlock[];
  /** What must hold, one line each. */
  readonly reachability?: readonly { readonly [key: string]: Plain }[];
}

const sectionOrder = keysOf(kindRows);

export function writeYaml(file: WrittenYaml): string {
  const contents: Record<string, Plain> = { ...file.head };
  for (const kind of sectionOrder) {
    const blocks = file.blocks.filter((block) => block.kind === kind);
    if (blocks.length > 0)
      contents[sectionOf[kind]] = Object.fromEntries(blocks.map(({ key, fields }) => [key, fields]));
  }
  const imports = file.blocks.flatMap(({ id, ...parts }) =>
    id === undefined ? [] : [{ to: formatAddress(parts), id }],
  );
  if (imports.length > 0) contents["imports"] = imports;
  if (file.reachability !== undefined && file.reachability.length > 0) contents["reachability"] = file.reachability;

  const document = new Document(escapeAll(contents));
  // The document was just made from a map.
  const root = document.contents as YAMLMap;
  for (const block of file.blocks) describeBlock(root, block);
  writeOnOneLine(root);
  spaceSections(root);
  quoteHidden(document);
  const header = [
    ...(file.schema === undefined ? [] : [` yaml-language-server: $schema=${file.schema}`]),
    ...(file.notes ?? []).map(comment),
  ];
  const text = printableLines(document.toString({ lineWidth: 0, flowCollectionPadding: true }));
  return header.length === 0 ? text : `${header.map((line) => `#${line}`).join("\n")}\n${text}`;
}

/** Only a quoted text can show a direction mark or another hidden character as its number. */
function quoteHidden(document: Document): void {
  visit(document, {
    Scalar(_, node) {
      const { value } = node;
      if (typeof value === "string" && printableLines(value) !== value) node.type = "QUOTE_DOUBLE";
    },
  });
}

function describeBlock(root: YAMLMap, { kind, key, notes = [] }: YamlBlock): void {
  const section = root.get(sectionOf[kind], true);
  if (!isMap(section)) return;
  const pair = section.items.find((item) => isScalar(item.key) && item.key.value === key);
  if (pair === undefined) return;
  if (notes.length > 0 && isScalar(pair.key)) pair.key.commentBefore = notes.map(comment).join("\n");
  if (!isMap(pair.value)) return;
  for (const name of ["rules", "lifecycle", "attach_to"]) {
    const value = pair.value.get(name, true);
    for (const item of name === "rules" ? nodeItems(value) : [value]) if (isMap(item)) item.flow = true;
    if (isSeq(value) && value.items.length === 0) value.flow = true;
  }
}

const nodeItems = (node: unknown): readonly unknown[] => (isSeq(node) ? node.items : []);

/** An import is on one line, and so is each party of an assertion. */
function writeOnOneLine(root: YAMLMap): void {
  for (const entry of nodeItems(root.get("imports", true))) if (isMap(entry)) entry.flow = true;
  for (const entry of nodeItems(root.get("reachability", true)))
    for (const pair of isMap(entry) ? entry.items : []) if (isMap(pair.value)) pair.value.flow = true;
}

function spaceSections(root: YAMLMap): void {
  root.items.forEach((pair, index) => {
    if (index > 0 && isScalar(pair.key) && !isScalar(pair.value)) pair.key.spaceBefore = true;
  });
}

/** A comment ends with its line, so what the service calls a thing cannot become YAML. */
const comment = (line: string): string => ` ${printable(line).replaceAll(/\s+/g, " ").trim()}`;

/** A value that no expression is in, as a file has it: `$${` is how a literal `${` is written. */
export function escapeAll<T extends Plain>(value: T): T;
export function escapeAll(value: Plain): Plain {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map((item) => escapeAll(item));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeAll(item)]));
  return value;
}
