/**
 * The names of a file: where each is declared, and where it is used. A name belongs to its files (those of the desired
 * state together, or one component), as in the reading of them.
 */
import { spanOfMention } from "../config/move/mentions";
import { type Expression, parseTemplate } from "../config/template";
import { isMap, keyOffset, offsetOfPath, type Path, valueAt, type YamlFile, type YamlMap } from "../config/yaml/file";
import { type Kind, kinds, sectionOf } from "../core/model/kinds";
import { isOneOf } from "../core/text/objects";

export const sortsOfNames = ["vm", "volume", "group", "var", "param", "component", "output", "read", "lookup"] as const;
export type SortOfName = (typeof sortsOfNames)[number];

/** One name where it stands. `through`: the components, from this file, in whose file it is declared. */
export interface NamePlace {
  readonly sort: SortOfName;
  readonly key: string;
  readonly through: readonly string[];
  readonly offset: number;
  readonly length: number;
  readonly is: "declared" | "used";
  readonly path: Path;
}

/** A path to another file, where it stands. */
export interface FileLink {
  readonly target: string;
  readonly offset: number;
  readonly length: number;
}

export interface FileNames {
  readonly places: readonly NamePlace[];
  readonly links: readonly FileLink[];
  /** The file of each component that is used, as it is written. */
  readonly components: ReadonlyMap<string, string>;
  /** The files with the values of variables that its environments name. */
  readonly varFiles: readonly string[];
}

const sections: Readonly<Record<string, SortOfName>> = {
  ...Object.fromEntries(kinds.map((kind): [string, Kind] => [sectionOf[kind], kind])),
  vars: "var",
  parameters: "param",
  components: "component",
  outputs: "output",
  reads: "read",
  lookups: "lookup",
};

const componentSteps = /[A-Za-z0-9_-]+(?:\[[^[\]]*\])?\//g;
const addressMentioned = new RegExp(
  `^((?:[A-Za-z0-9_-]+(?:\\[[^[\\]]*\\])?/)*)(?:(${kinds.join("|")})\\.([A-Za-z0-9_-]+)(?:\\[[^[\\]]*\\])?)?$`,
);
/** `component.KEY[EACH].`, up to the output. */
const componentWithKey = /^component\.[A-Za-z0-9_-]+(?:\[(?:[^[\]{}]*|\$\{[^{}]*\})\])*\./;
const keyedName = /^([A-Za-z0-9_-]+)(?:\[[^[\]]*\])?$/;
/** Fields that name a resource by its key, and its kind. */
const fieldsWithKeys: Readonly<Record<string, Kind>> = { attach_to: "vm", remote_group: "group" };

/** Where a text is an address. Elsewhere the same words are a part of a command, or what people write for each other. */
const namesAddress = ([section]: Path, field: string): boolean =>
  field === "jump" ||
  Object.hasOwn(fieldsWithKeys, field) ||
  section === "reachability" ||
  (section === "rollout" && field === "of") ||
  (isOneOf(section, ["moved", "removed", "imports"]) && isOneOf(field, ["from", "to"]));

export function namesInFile(file: YamlFile): FileNames {
  const places: NamePlace[] = [];
  const links: FileLink[] = [];
  const components = new Map<string, string>();
  const varFiles: string[] = [];
  const { root, text } = file;
  if (!isMap(root)) return { places, links, components, varFiles };
  const add = (
    sort: SortOfName,
    key: string,
    offset: number,
    is: NamePlace["is"],
    path: Path,
    through: readonly string[] = [],
  ) => void places.push({ sort, key, through, offset: quoteAt(text, offset), length: key.length, is, path });

  const addExpression = ({ root: word, steps: given, text: written }: Expression, from: number, path: Path): number => {
    // The words of a reference may stand in the text before it as well.
    const span = spanOfMention(text, written, from);
    if (span === undefined) return from;
    const start = text.indexOf(written, span.from);
    const [first, ...others] = given;
    if (first?.kind === "field" && isOneOf(word, sortsOfNames)) {
      const at = start + word.length + 1;
      add(word, first.name, at, "used", path);
      const output = others.find(({ kind }) => kind === "field");
      const dot = componentWithKey.exec(written)?.[0].length;
      if (word === "component" && output?.kind === "field" && dot !== undefined)
        add("output", output.name, start + dot, "used", path, [first.name]);
    }
    for (const step of given)
      if (step.kind === "key" && typeof step.key === "object") addExpression(step.key, start, path);
    return start + written.length;
  };
  const addAddress = (value: string, offset: number, path: Path): void => {
    const match = addressMentioned.exec(value);
    if (match === null || value === "") return;
    const [, within = "", kind, key] = match;
    const through: string[] = [];
    for (const step of within.matchAll(componentSteps)) {
      const name = step[0].replace(/(?:\[[^[\]]*\])?\/$/, "");
      add("component", name, offset + step.index, "used", path, [...through]);
      through.push(name);
    }
    if (isOneOf(kind, kinds) && key !== undefined)
      add(kind, key, offset + within.length + kind.length + 1, "used", path, through);
  };
  const addText = (value: string, path: Path): void => {
    const { offset } = offsetOfPath(root, path, "value");
    const at = quoteAt(text, offset);
    const field = path.findLast((step) => typeof step === "string") ?? "";
    const kind = Object.hasOwn(fieldsWithKeys, field) ? fieldsWithKeys[field] : undefined;
    const own = keyedName.exec(value)?.[1];
    const isKey = kind !== undefined && own !== undefined && value !== "self";
    if (isKey) add(kind, own, at, "used", path);
    if (path[0] === "environments" && field === "vars_file")
      varFiles.push(value.replaceAll("${env}", () => String(path[1])));
    if (value.includes("${")) {
      let from = offset;
      for (const part of parseTemplate(value).parts)
        if (typeof part === "object") from = addExpression(part, from, path);
      return;
    }
    if (isKey) return;
    if (path[0] === "components" && field === "from" && path.length === 3) {
      components.set(String(path[1]), value);
      links.push({ target: value, offset: at, length: value.length });
    }
    if (path[0] === "reachability" && own !== undefined && isMap(valueAt(root, [sectionOf.group, own])))
      add("group", own, at, "used", path);
    else if (namesAddress(path, field)) addAddress(value, at, path);
  };
  const visit = (value: unknown, path: Path): void => {
    if (typeof value === "string") addText(value, path);
    else if (Array.isArray(value)) value.forEach((item, index) => void visit(item, [...path, index]));
    else if (isMap(value)) for (const key of Object.keys(value)) visitKey(value, key, path);
  };
  const visitKey = (map: YamlMap, key: string, path: Path): void => {
    const at = keyOffset(map, key);
    const [section, owner, part] = path;
    if (at !== undefined) {
      const declares = path.length === 1 ? sections[String(section)] : undefined;
      if (declares !== undefined) add(declares, key, at, "declared", [...path, key]);
      else if (section === "environments" && part === "vars" && path.length === 3)
        add("var", key, at, "used", [...path, key]);
      else if (section === "components" && part === "with" && path.length === 3)
        add("param", key, at, "used", [...path, key], [String(owner)]);
    }
    visit(map[key], [...path, key]);
  };
  visit(root, []);
  return { places, links, components, varFiles };
}

/** The place behind a quote. */
export const quoteAt = (text: string, offset: number): number =>
  text[offset] === '"' || text[offset] === "'" ? offset + 1 : offset;

export const placeAt = ({ places }: FileNames, offset: number): NamePlace | undefined =>
  places.find((place) => offset >= place.offset && offset <= place.offset + place.length);
