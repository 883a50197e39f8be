/**
 * A key gets another name: everywhere it is used, and with what keeps the resource: `moved:` for its record, and the
 * name that it took from its key, which would change with it.
 */
import { parse } from "yaml";
import { addItem, documentOf, type Edited, removeItem, setIn } from "../config/edit-text";
import { blockOrder } from "../config/format";
import { collectProblems } from "../config/problems";
import { isMap, offsetOfPath, type Path, valueAt, type YamlFile } from "../config/yaml/file";
import { readYaml } from "../config/yaml/reader";
import { componentOf, quoted } from "../core/model/address";
import { fieldsOf } from "../core/model/fields";
import { isKind, kinds, sectionOf } from "../core/model/kinds";
import { ifPossible } from "../core/text/errors";
import {
  componentFileOf,
  declaredIn,
  type EditedProject,
  type FoundName,
  filesFrom,
  type ProjectName,
  placesOfProject,
} from "./project";
import { changesBetween, linesOf, type TextEdit, textSpanOf } from "./text";

export type Renamed = { readonly changes: ReadonlyMap<string, readonly TextEdit[]> } | { readonly problem: string };

export function renameName(project: EditedProject, name: ProjectName, to: string): Renamed {
  const { sort, key } = name;
  const problem = problemOfKey(to) ?? (to === key ? undefined : whyNotCalled(project, name, to));
  if (problem !== undefined) return { problem };
  if (to === key) return { changes: new Map() };
  for (const { source } of project.files.values())
    if (source.root === undefined && source.isIncomplete === true)
      return { problem: `${source.file} is not valid YAML now, and may use ${key}: correct it first` };
  const places = placesOfProject(project, name);
  if (!places.some(({ is }) => is === "declared")) return { problem: `${key} is not declared in these files` };
  const changes = new Map<string, TextEdit[]>();
  const add = (file: string, more: readonly TextEdit[]): void =>
    void changes.set(file, [...(changes.get(file) ?? []), ...more]);
  for (const place of places) {
    const written = writeName(project, name, place, to);
    if ("problem" in written) return written;
    add(place.file, written.edits);
  }
  if (!isKind(sort) && sort !== "component") return { changes };
  if (isKind(sort))
    for (const place of places) {
      if (place.is !== "declared") continue;
      const kept = keptName(project, place, sort);
      if ("problem" in kept) return kept;
      add(place.file, kept.edits);
    }
  const moved = moveOfRecord(project, name, to);
  if ("problem" in moved) return moved;
  add(moved.file, moved.edits);
  return { changes };
}

/** The name where one place says it. */
function writeName(project: EditedProject, { sort, key }: ProjectName, place: FoundName, to: string): Written {
  // What was moved before keeps its chain: the new move goes on from there.
  const keepsChain =
    place.path[0] === "moved" && (isKind(sort) || (sort === "component" && place.through.length === 0));
  const source = project.files.get(place.file)?.source;
  if (keepsChain || source === undefined) return { edits: [] };
  const range = textSpanOf(linesOf(source.text), place.offset, place.offset + place.length);
  // An alias, escapes, or a text in lines of its own.
  return source.text.startsWith(key, place.offset)
    ? { edits: [{ range, newText: to }] }
    : { problem: `${source.file}:${range.start.line + 1} says ${key} in other letters: write ${key} there first` };
}

/** The `moved:` that keeps the record of the resource, or of what the component has made. */
function moveOfRecord(
  project: EditedProject,
  { sort, key, home }: ProjectName,
  to: string,
): { readonly file: string; readonly edits: readonly TextEdit[] } | { readonly problem: string } {
  const [first] = project.main;
  const source = first === undefined ? undefined : project.files.get(first)?.source;
  if (first === undefined || source === undefined) return { problem: "the files cannot be read as they are" };
  const address = (within: string, name: string): string =>
    sort === "component" ? `${within}${name}/` : `${within}${sort}.${name}`;
  const around = componentsWith(project, home);
  // What a component has made is kept by the project that uses it alone.
  const kept = "first: its moved: keeps what the component has made";
  if (valueAt(source.root, ["component"]) !== undefined)
    return { problem: `open the file that uses this component ${kept}` };
  if (around.length === 0 && project.desired.size === 0)
    return { problem: `correct the errors of the project that uses this component ${kept}` };
  const moves = around.map((within) => [address(within, key), address(within, to)] as const);
  const written = writeMoves(source, moves);
  if ("problem" in written) return written;
  return { file: first, edits: written.edits };
}

function problemOfKey(key: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(key)) return `${key} is no key: letters, digits, hyphens and underscores`;
  // Where it is used without quotes it would be a number, or nothing.
  const value: unknown = parse(key);
  return value === null || String(value) !== key ? `${key} is no key: YAML reads ${String(value)} in it` : undefined;
}

/** Another thing has the name, or something would be lost with the one of before. */
function whyNotCalled(project: EditedProject, { sort, key, home }: ProjectName, to: string): string | undefined {
  if (declaredIn(project, home, sort).some((place) => place.key === to)) return `there is a ${sort} ${to} already`;
  const after = sort === "component" ? emptiedByRename(project, home, key) : undefined;
  return after === undefined
    ? undefined
    : `${after} is called after its component, and under another name it would be made anew, and empty: write lifecycle: { ignore_changes: [name] } into it first`;
}

type Written = { readonly edits: readonly TextEdit[] } | { readonly problem: string };

/** The moves below `moved:` of a file, which is made where there is none. */
function writeMoves(source: YamlFile, moves: readonly (readonly [from: string, to: string])[]): Written {
  const moved = pieceAt(source, ["moved"]);
  let text = moved?.text ?? "";
  for (const [from, to] of moves) {
    const edited = withMove(text, from, to);
    if ("problem" in edited) return { problem: `moved: cannot be written, since ${edited.problem}` };
    text = edited.text;
  }
  if (moved !== undefined) return { edits: changeOfPiece(source.text, moved, text) };
  // Braces around the whole file, and a line that ends its document, leave no place behind them.
  const [first] = isMap(source.root) ? Object.keys(source.root) : [];
  if ((first !== undefined && pieceAt(source, [first]) === undefined) || /^\.\.\.(?!\S)/m.test(source.text))
    return { problem: "moved: cannot be written, since nothing can stand behind what the file says" };
  const whole = /(?:^|\n)$/.test(source.text) ? text : `\n${text}`;
  return { edits: changeOfPiece(source.text, { text: "", offset: source.text.length }, whole) };
}

/** The paths of components at which the names of a home stand in the world; "" for the files themselves. */
function componentsWith(project: EditedProject, home: string): string[] {
  if (filesFrom(project, home).some((file) => project.main.includes(file))) return [""];
  const found = new Set<string>();
  for (const { resources } of project.desired.values())
    for (const { address } of resources) {
      const within = componentOf(address);
      let at: string | undefined = project.main[0];
      let path = "";
      for (const step of within.match(/[A-Za-z0-9_-]+(?:\[[^[\]]+\])?\//g) ?? []) {
        path += step;
        at = at === undefined ? undefined : componentFileOf(project, at, step.replace(/(?:\[.*\])?\/$/, ""));
        if (at === home) found.add(path);
      }
    }
  return [...found];
}

/** What of a component, or of one within it, has the component's key in a name that only another one of it can have. */
function emptiedByRename(
  project: EditedProject,
  home: string,
  component: string,
  seen: ReadonlySet<string> = new Set(),
): string | undefined {
  const file = componentFileOf(project, home, component);
  const inside = file === undefined || seen.has(file) ? undefined : project.files.get(file);
  if (file === undefined || inside === undefined) return undefined;
  for (const kind of kinds.filter((one) => fieldsOf[one].name.effect === "replace")) {
    const blocks = valueAt(inside.source.root, [sectionOf[kind]]);
    for (const [key, block] of Object.entries(isMap(blocks) ? blocks : {})) {
      const kept = valueAt(block, ["lifecycle", "ignore_changes"]);
      const isCalledAfter = isMap(block) && /\$\{\s*component\s*\}/.test(String(block["name"]));
      if (isCalledAfter && !(Array.isArray(kept) && kept.includes("name"))) return `${kind}.${key}`;
    }
  }
  for (const within of inside.names.components.keys()) {
    const found = emptiedByRename(project, file, within, new Set([...seen, file]));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A name that was taken from the key is written down, so that the service keeps it. */
function keptName(project: EditedProject, place: FoundName, kind: keyof typeof sectionOf): Written {
  const file = project.files.get(place.file)?.source;
  const block = file === undefined ? undefined : valueAt(file.root, place.path);
  const isNamed = (isMap(block) && Object.hasOwn(block, "name")) || hasDefaultName(project, place.file, kind);
  if (file === undefined || isNamed) return { edits: [] };
  const each = isMap(block) && Object.hasOwn(block, "for_each") ? "-${each}" : "";
  const name = `${place.key}${each}`;
  const nameIn = (text: string, path: readonly string[]): Edited =>
    setIn(text, path, name, blockOrder(sectionOf[kind]));
  const piece = pieceAt(file, place.path);
  // An alias of a piece may stand for what is elsewhere in the file.
  const alone = piece && ifPossible(() => nameIn(piece.text, [place.key, "name"]));
  const [cut, edited] =
    piece !== undefined && alone !== undefined && "text" in alone
      ? [piece, alone]
      : [{ text: file.text, offset: 0 }, nameIn(file.text, [...place.path.map(String), "name"])];
  if ("problem" in edited)
    return {
      problem: `the service would see another name for ${kind}.${place.key}: write name: ${name} into it first`,
    };
  const taker = cut.text.includes("&") ? takerOfName(file, cut, edited.text, place) : undefined;
  if (taker !== undefined)
    return {
      problem: `${kind}.${taker} takes its fields from ${kind}.${place.key}, and would take its name: write a name into each first`,
    };
  return { edits: changeOfPiece(file.text, cut, edited.text) };
}

/** The block beside this one whose name changes with it, as that of an alias of its fields does. */
function takerOfName({ file, text, root }: YamlFile, cut: RenamedPiece, by: string, { path, key }: FoundName) {
  const after = text.slice(0, cut.offset) + by + text.slice(cut.offset + cut.text.length);
  const [section = ""] = path;
  const named = readYaml({ file, text: after }, collectProblems()).root;
  const nameOf = (of: unknown, block: string): unknown => valueAt(of, [section, block, "name"]);
  const blocks = valueAt(root, [section]);
  return Object.keys(isMap(blocks) ? blocks : {}).find(
    (block) => block !== key && nameOf(root, block) !== nameOf(named, block),
  );
}

const hasDefaultName = (project: EditedProject, home: string, kind: string): boolean =>
  filesFrom(project, home).some((file) => {
    const fields = valueAt(project.files.get(file)?.source.root, ["defaults", kind]);
    return isMap(fields) && Object.hasOwn(fields, "name");
  });

interface RenamedPiece {
  readonly text: string;
  readonly offset: number;
}

/** A key with its value as a text of its own, up to the next key beside or above it: a large file is not read anew for one line. */
function pieceAt({ root, text }: YamlFile, path: Path): RenamedPiece | undefined {
  const at = offsetOfPath(root, path, "key");
  if (!at.found) return undefined;
  const start = text.lastIndexOf("\n", at.offset - 1) + 1;
  const indent = at.offset - start;
  // Within braces the key does not begin its line.
  if (text.slice(start, at.offset).trim() !== "") return undefined;
  const next = new RegExp(`^ {0,${indent}}[^\\s#-]`, "gm");
  next.lastIndex = text.indexOf("\n", at.offset) + 1 || text.length;
  const end = next.lastIndex >= text.length ? text.length : (next.exec(text)?.index ?? text.length);
  return { text: text.slice(start, end), offset: start };
}

function changeOfPiece(whole: string, { text, offset }: RenamedPiece, after: string): TextEdit[] {
  const lines = linesOf(whole);
  return changesBetween(text, after).map(({ from, to, by }) => ({
    range: textSpanOf(lines, offset + from, offset + to),
    newText: by,
  }));
}

/**
 * A move away from the new name is over: beside a block of that name it would be refused. The new move stands even where
 * it leads back, for the record may have come as far as the old name.
 */
function withMove(text: string, from: string, to: string): Edited {
  const moved = movedEntries(text);
  const over = moved?.findIndex((one) => isMap(one) && one["from"] === to) ?? -1;
  if (over >= 0) {
    const without = removeItem(text, ["moved"], over);
    return "problem" in without ? without : withMove(without.text, from, to);
  }
  return moved === undefined || moved.length === 0
    ? { text: `${moved === undefined ? text : ""}moved:\n  - { from: ${quoted(from)}, to: ${quoted(to)} }\n` }
    : addItem(text, ["moved"], { from, to });
}

function movedEntries(text: string): unknown[] | undefined {
  const root: unknown = documentOf(text).toJS();
  const moved = isMap(root) ? root["moved"] : undefined;
  return Array.isArray(moved) ? moved : undefined;
}
