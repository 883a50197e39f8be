/**
 * Blocks of a project go into one of its components, which is made where there is none: what they use of the file comes
 * in as parameters, and what the file uses of them goes out as outputs.
 */

import { isMap, isScalar } from "yaml";
import { mustGet } from "../../core/text/invariant";
import { appendTo, fieldsIn, isObject, ownValue } from "../../core/text/objects";
import { endOf, inFlow, setIn, startOf } from "../edit-text";
import type { ConfigSource } from "../yaml/file";
import type { CutProblem } from "./cut";
import { nameFrom, newPiece, refuseCut, refuseMove, shownAt, unlessRefused } from "./desk";
import type { Mention } from "./mentions";
import { applySplices, cutOut, keyOfPair, type Piece, pasteInto, type Splice, splicedPart } from "./pieces";
import { isBlock, type MoveEntry, openMovedProject, pathsIn, type Rebase } from "./project";
import { grouped } from "./write";

export interface Into {
  /** Its key: `shop` of `shop/`. */
  readonly key: string;
  readonly moved: ReadonlySet<string>;
  readonly target: readonly ConfigSource[];
  /** The file of the component, with its text where it exists, and how the project names it. */
  readonly component: { readonly file: string; readonly from: string; readonly text?: string };
  /** What is a path beside the target's file, as it is from the component's. */
  readonly rebase: Rebase;
}

export type IntoResult =
  | { readonly target: readonly ConfigSource[]; readonly component: ConfigSource }
  | { readonly problems: readonly CutProblem[] };

export const intoComponent = (into: Into): IntoResult => unlessRefused(() => moveInto(into));

function moveInto({ key, moved, target, component, rebase }: Into): IntoResult {
  const project = openMovedProject(target);
  if ("problems" in project) return project;
  const own = openMovedProject([{ file: component.file, text: component.text ?? "" }]);
  if ("problems" in own) return own;
  const inside = project.entries.filter((entry) => isBlock(entry) && moved.has(entry.name));
  const { splices, ...border } = acrossBorder(key, moved, inside, project.entries);
  const use = project.named.get(`${key}/`);
  const given = fieldsIn(fieldsIn(use?.value)["with"]);
  const declared = fieldsIn(own.settings["parameters"]);
  const parameters = newOf(border.parameters, `the component ${key} has a parameter`, (name) =>
    Object.hasOwn(declared, name) ? (ownValue(given, name) ?? "its default") : undefined,
  );
  const outputs = newOf(border.outputs, `the component ${key} has an output`, (name) => {
    const value = own.named.get(`output.${name}`)?.value;
    return isObject(value) ? value["value"] : value;
  });
  for (const { file, node } of inside) for (const one of pathsIn(file, node, rebase)) appendTo(splices, file, one);
  const { added, cuts } = cutEntries(inside, splices);
  let text = component.text ?? "component: 1\n";
  const paste = (section: string, pieces: readonly Piece[]): void => {
    const pasted = pasteInto(text, section, pieces, "map");
    if ("problem" in pasted)
      refuseMove({ summary: `${component.file}: ${pasted.problem}`, fix: `put ${section} on lines of its own` });
    else ({ text } = pasted);
  };
  paste(
    "parameters",
    [...parameters.keys()].map((name) => newPiece(`${name}: {}`)),
  );
  for (const [section, pieces] of added) paste(section, pieces);
  paste(
    "outputs",
    [...outputs].map(([name, expression]) => newPiece(`${name}: ${JSON.stringify(`\${${expression}}`)}`)),
  );
  const texts = project.files.map((file) => ({
    file: file.file,
    text: applySplices(file.text, [...(cuts.get(file) ?? []), ...(splices.get(file) ?? [])]),
  }));
  const [first, ...rest] = texts;
  if (first === undefined) return { problems: [] };
  const used = useOf(first.text, key, component, parameters, use !== undefined);
  return { target: [{ file: first.file, text: used }, ...rest], component: { file: component.file, text } };
}

/** What the component does not have yet. What it has under such a name has to be the same. */
function newOf(
  names: ReadonlyMap<string, string>,
  has: string,
  there: (name: string) => unknown,
): ReadonlyMap<string, string> {
  return new Map(
    [...names].filter(([name, expression]) => {
      const present = there(name);
      if (present === undefined || present === `\${${expression}}`) return present === undefined;
      return refuseMove({
        summary: `${has} ${name} already, which is ${JSON.stringify(present)}, and \${${expression}} would be that too`,
        fix: `give the ${name} that is there another name first`,
      });
    }),
  );
}

type SplicesByFile = Map<MoveEntry["file"], Splice[]>;

/** What crosses the border of the component, either way: each expression by its new name, and the texts that use it. */
function acrossBorder(
  key: string,
  moved: ReadonlySet<string>,
  inside: readonly MoveEntry[],
  entries: readonly MoveEntry[],
): {
  readonly parameters: ReadonlyMap<string, string>;
  readonly outputs: ReadonlyMap<string, string>;
  readonly splices: SplicesByFile;
} {
  const parameters = new Map<string, string>();
  const outputs = new Map<string, string>();
  const splices: SplicesByFile = new Map();
  const splice = ({ file }: MoveEntry, one: Splice): void => appendTo(splices, file, one);
  /** One name for each expression. */
  const named = (names: Map<string, string>, expression: string): string => {
    const name = nameFrom(expression);
    if ((names.get(name) ?? expression) !== expression)
      refuseMove({
        summary: `both \${${expression}} and \${${names.get(name)}} would be ${name} of the component ${key}`,
        fix: "move them one after the other, or give one of them another name",
      });
    names.set(name, expression);
    return name;
  };
  for (const entry of inside) {
    if (entry.section === "components")
      refuseMove({ summary: `${entry.name} is a component, and is not put into another one`, fix: "leave --into out" });
    for (const mention of entry.mentions) {
      if (moved.has(mention.of)) continue;
      refuseKeys(mention, entry);
      splice(entry, mentionAs(mention, `param.${named(parameters, mention.expression)}`));
    }
  }
  const insideSet = new Set(inside);
  for (const entry of entries) {
    if (insideSet.has(entry)) continue;
    for (const mention of entry.mentions) {
      if (!moved.has(mention.of)) continue;
      refuseKeys(mention, entry);
      splice(entry, mentionAs(mention, `component.${key}.${named(outputs, mention.expression)}`));
    }
    const address = addressWithin(key, entry, inside);
    if (address !== undefined) splice(entry, address);
  }
  return { parameters, outputs, splices };
}

function mentionAs({ from, to, byKey, expression: former }: Mention, expression: string): Splice {
  const quoted = JSON.stringify(`\${${expression}}`);
  if (byKey === undefined) return { from, to, by: `\${${expression}}` };
  return { from, to, by: former.startsWith("read.") ? `{ id: ${quoted} }` : quoted };
}

/** The address of an entry that stays outside and names what goes in; other entries that name it cannot follow. */
function addressWithin(key: string, entry: MoveEntry, inside: readonly MoveEntry[]): Splice | undefined {
  const names = JSON.stringify(entry.value ?? null);
  const isAbout = inside.some(({ name }) =>
    new RegExp(`"${name.replaceAll(".", "\\.")}(?:\\[[^\\]]*\\])?"`).test(names),
  );
  if (!isAbout) return undefined;
  const to = entry.section === "moved" || entry.section === "imports" ? toIn(entry) : undefined;
  if (to !== undefined) return { ...to, by: inFlow(`${key}/${to.by}`) };
  if (["moved", "imports", "removed", "rollout", "reachability"].includes(entry.section))
    refuseMove({
      summary: `${entry.name} names what goes into the component ${key}, which gets another address there`,
      fix: `take it out of ${shownAt(entry)} first`,
    });
  return undefined;
}

/** The entries as pieces by section, and what is cut out of each file. */
function cutEntries(
  inside: readonly MoveEntry[],
  splices: SplicesByFile,
): { readonly added: ReadonlyMap<string, readonly Piece[]>; readonly cuts: SplicesByFile } {
  const added = new Map<string, Piece[]>();
  const cuts: SplicesByFile = new Map();
  for (const [file, section, group] of grouped(inside)) {
    const wanted = group.map(({ index }) => index);
    const cut = cutOut(file.text, mustGet(file.pairs, section), wanted, (from, to) =>
      splicedPart(file.text, splices.get(file) ?? [], from, to),
    );
    if ("problem" in cut) return refuseCut(file, cut, [section]);
    for (const piece of cut.pieces) appendTo(added, section, piece);
    for (const splice of cut.splices) appendTo(cuts, file, splice);
  }
  return { added, cuts };
}

/** `components: { KEY: { from, with } }` of the project, with what the parts need. */
function useOf(
  text: string,
  key: string,
  { from }: Into["component"],
  parameters: ReadonlyMap<string, string>,
  isThere: boolean,
): string {
  const given = Object.fromEntries([...parameters].map(([name, expression]) => [name, `\${${expression}}`]));
  if (!isThere) {
    const body = [
      `  from: ${from}`,
      ...(parameters.size === 0 ? [] : ["  with:"]),
      ...Object.entries(given).map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`),
    ];
    const pasted = pasteInto(text, "components", [newPiece(`${key}:\n${body.join("\n")}\n`)], "map");
    return "problem" in pasted
      ? refuseMove({ summary: pasted.problem, fix: "put components on lines of its own" })
      : pasted.text;
  }
  let result = text;
  for (const [name, value] of Object.entries(given)) {
    const edited = setIn(result, ["components", key, "with", name], value);
    if ("problem" in edited)
      return refuseMove({ summary: `components.${key}.with.${name}: ${edited.problem}`, fix: "write it there first" });
    result = edited.text;
  }
  return result;
}

/** The place of `to:` in an entry of a list, and what stands there. */
function toIn({ node, file }: MoveEntry): Splice | undefined {
  const pair = isMap(node) ? node.items.find((one) => keyOfPair(one) === "to") : undefined;
  const value = isScalar(pair?.value) ? pair.value : undefined;
  const [from, to] = [startOf(value), endOf(file.text, value)];
  return value === undefined || from === undefined || to === undefined
    ? undefined
    : { from, to, by: String(value.value) };
}

/** A key of the block's own for_each means nothing on the other side. */
function refuseKeys(mention: Mention, entry: MoveEntry): void {
  if (!/\[each\]|\$\{/.test(mention.expression)) return;
  refuseMove({
    summary: `${entry.name} mentions \${${mention.expression}} by a key of its own for_each, which a component cannot be handed`,
    fix: "write its keys out, one entry each",
  });
}
