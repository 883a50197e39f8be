/** The files of one project, taken apart into their entries, each with its place and what it mentions. */
import { isMap, isPair, isScalar, isSeq, type Pair, parseDocument } from "yaml";
import { kinds, sectionOf } from "../../core/model/kinds";
import { fieldsIn, isObject, ownValue } from "../../core/text/objects";
import { endOf, startOf } from "../edit-text";
import type { ConfigSource } from "../yaml/file";
import type { CutProblem } from "./cut";
import { type Mention, mentionsIn } from "./mentions";
import { keyOfPair, type Splice } from "./pieces";

export type TopPair = Pair<unknown, unknown>;

export interface OpenFile {
  readonly file: string;
  readonly text: string;
  readonly pairs: ReadonlyMap<string, TopPair>;
}

export interface MoveEntry {
  /** `vm.db`, `shop/`, `var.x`, `read.x`, `lookup.x`, `output.x`, `rollout.x`, `defaults.vm`; `moved[2]` of a list. */
  readonly name: string;
  readonly section: string;
  readonly key: string;
  readonly file: OpenFile;
  readonly index: number;
  readonly node: unknown;
  readonly value: unknown;
  readonly mentions: readonly Mention[];
}

const prefixes: Readonly<Record<string, (key: string) => string>> = {
  ...Object.fromEntries(kinds.map((kind) => [sectionOf[kind], (key: string) => `${kind}.${key}`])),
  components: (key) => `${key}/`,
  vars: (key) => `var.${key}`,
  reads: (key) => `read.${key}`,
  lookups: (key) => `lookup.${key}`,
  outputs: (key) => `output.${key}`,
  rollout: (key) => `rollout.${key}`,
  defaults: (key) => `defaults.${key}`,
  environments: (key) => `environment.${key}`,
};
const listSections = ["moved", "imports", "removed", "reachability"];
const blockSections = new Set([...kinds.map((kind) => sectionOf[kind]), "components"]);

export interface MovedProject {
  readonly files: readonly OpenFile[];
  readonly entries: readonly MoveEntry[];
  readonly named: ReadonlyMap<string, MoveEntry>;
  /** Settings at the top that are no entries: version, project, service, … */
  readonly settings: Readonly<Record<string, unknown>>;
}

export const isBlock = ({ section }: MoveEntry): boolean => blockSections.has(section);

export function openMovedProject(
  sources: readonly ConfigSource[],
): MovedProject | { readonly problems: readonly CutProblem[] } {
  const files: OpenFile[] = [];
  const entries: MoveEntry[] = [];
  const settings: Record<string, unknown> = {};
  for (const { file, text } of sources) {
    const document = parseDocument(text);
    const root = document.contents;
    if (document.errors.length > 0 || (root !== null && !isMap(root)))
      return { problems: [{ summary: `${file} cannot be read`, fix: "reconcile validate says why" }] };
    const data = fieldsIn(document.toJS());
    const pairs = new Map((root?.items ?? []).map((pair): [string, TopPair] => [keyOfPair(pair), pair]));
    const open: OpenFile = { file, text, pairs };
    files.push(open);
    for (const [section, { value }] of pairs) {
      const plain = data[section];
      const prefix = ownValue(prefixes, section);
      const isList = listSections.includes(section);
      if (prefix === undefined && !isList) settings[section] ??= plain;
      else if (isMap(value) || isSeq(value))
        value.items.forEach((node: unknown, index) => {
          const key = isList ? String(index) : keyOfPair(node);
          const own: unknown = Array.isArray(plain) ? plain[index] : isObject(plain) ? plain[key] : undefined;
          const name = prefix === undefined ? `${section}[${index}]` : prefix(key);
          entries.push({ name, section, key, file: open, index, node, value: own, mentions: mentionsIn(text, node) });
        });
    }
  }
  return { files, entries, named: new Map(entries.map((entry) => [entry.name, entry])), settings };
}

/** The names of everything that can move. */
export function blocksIn(sources: readonly ConfigSource[]): readonly string[] {
  const project = openMovedProject(sources);
  return "problems" in project ? [] : project.entries.filter(isBlock).map(({ name }) => name);
}

/** The file of a component that the files use, or why nothing can be put into it. */
export function componentIn(
  sources: readonly ConfigSource[],
  key: string,
): { readonly from?: string; readonly problem?: string } {
  const project = openMovedProject(sources);
  const entry = "problems" in project ? undefined : project.named.get(`${key}/`);
  if (entry === undefined || "problems" in project) return {};
  const { from, for_each: each } = fieldsIn(entry.value);
  if (typeof from !== "string" || !/^\.\.?\//.test(from))
    return { problem: `the component ${key} is not a file beside the project` };
  if (each !== undefined)
    return { problem: `the component ${key} has a for_each: what goes into it would be made once for each key` };
  const others = project.entries.filter((one) => one.section === "components" && fieldsIn(one.value)["from"] === from);
  return others.length > 1
    ? { problem: `${from} is used ${others.length} times: what goes into it would be made for each use` }
    : { from };
}

/** A text that is a path beside the file that has it, as it is from another folder; any other text as it is. */
export type Rebase = (text: string, of: { readonly field: string; readonly file?: string }) => string;

/** The paths in a part of a file, which are relative to that file. */
export function pathsIn(at: OpenFile, node: unknown, rebase: Rebase, field = ""): Splice[] {
  if (isPair(node)) return pathsIn(at, node.value, rebase, keyOfPair(node));
  if (isMap(node) || isSeq(node)) return node.items.flatMap((item) => pathsIn(at, item, rebase, field));
  if (!isScalar(node) || typeof node.value !== "string") return [];
  const [from, to] = [startOf(node), endOf(at.text, node)];
  const path = rebase(node.value, { field, file: at.file });
  return from === undefined || to === undefined || path === node.value
    ? []
    : [
        {
          from,
          to,
          by: node.type === "PLAIN" && /^[\w./${}-]+$/.test(path) && !path.includes("{") ? path : JSON.stringify(path),
        },
      ];
}
