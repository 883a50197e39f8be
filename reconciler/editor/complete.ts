/** What may stand where the cursor is: names of the files for a reference, fields and words of the schema elsewhere. */
import { fieldAt, fieldsBelow } from "../config/schema-fields";
import { roots } from "../config/template";
import { isMap, valueAt } from "../config/yaml/file";
import { lookupAttributes } from "../core/model/external";
import { isKind, type Kind, kindRows, kinds, sectionOf } from "../core/model/kinds";
import { isOneOf } from "../core/text/objects";
import type { Cursor } from "./cursor";
import { type SortOfName, sortsOfNames } from "./names";
import { componentFileOf, declaredIn, type EditedProject, filesFrom } from "./project";

export interface Offer {
  readonly word: string;
  readonly says: string;
  readonly is: "field" | "name" | "word";
  /** What is written in place of the typed word, where that is more. */
  readonly writes?: string;
}
export interface Offers {
  readonly from: number;
  readonly offers: readonly Offer[];
}

export function complete(project: EditedProject, file: string, cursor: Cursor, schema: unknown): Offers {
  if (cursor.reference !== undefined) return inReference(project, file, cursor.reference);
  const { path, is, from } = cursor;
  if (is === "key") return { from, offers: fieldsHere(project, file, path, schema) };
  const named = namesFor(project, file, path);
  if (named !== undefined) return { from, offers: named };
  return { from, offers: wordsOffered(fieldAt(schema, path)?.words ?? []) };
}

const wordsOffered = (words: readonly string[], saysOf: (word: string) => string = () => ""): Offer[] =>
  words.map((word) => ({ word, says: saysOf(word), is: "word" }));

function fieldsHere(project: EditedProject, file: string, path: Cursor["path"], schema: unknown): Offer[] {
  const [section, , part] = path;
  if (section === "environments" && part === "vars" && path.length === 3) return keysOffered(project, file, "var");
  if (section === "components" && part === "with" && path.length === 3)
    return keysOffered(project, componentFileOf(project, file, String(path[1])), "param");
  return fieldsBelow(schema, path).map(({ name, about }) => ({
    word: name,
    says: about,
    is: "field",
    writes: `${name}: `,
  }));
}

const keysOffered = (project: EditedProject, home: string | undefined, sort: SortOfName): Offer[] =>
  (home === undefined ? [] : declaredIn(project, home, sort)).map(({ key }) => ({ word: key, says: sort, is: "name" }));

/** The keys of blocks, `KEY[EACH]` for each of a for_each. */
const resourcesOf = (project: EditedProject, file: string, kind: Kind): Offer[] =>
  declaredIn(project, file, kind).flatMap(({ key, file: where }) => {
    const block = valueAt(project.files.get(where)?.source.root, [sectionOf[kind], key]);
    const each = eachOf(isMap(block) ? block["for_each"] : undefined);
    const says = `${kindRows[kind].fullNoun} ${isMap(block) && typeof block["name"] === "string" ? block["name"] : key}`;
    const all = each === undefined ? [key] : each.map((one) => `${key}[${one}]`);
    return all.map((word): Offer => ({ word, says, is: "name" }));
  });

const mostInstancesOffered = 50;

function eachOf(given: unknown): string[] | undefined {
  if (given === undefined) return undefined;
  if (Array.isArray(given)) return given.slice(0, mostInstancesOffered).map(String);
  if (isMap(given)) return Object.keys(given).slice(0, mostInstancesOffered);
  const count = Number(given);
  return Number.isInteger(count)
    ? Array.from({ length: Math.min(count, mostInstancesOffered) }, (_, index) => String(index))
    : [];
}

/** Who may stand beside groups and VMs in an assertion. */
const parties = ["internet", "anywhere", "group.*"];

/** The names that a field refers to; `undefined`: it refers to none. */
function namesFor(project: EditedProject, file: string, path: Cursor["path"]): Offer[] | undefined {
  const field = path.findLast((step) => typeof step === "string");
  const [section] = path;
  if (field === "attach_to") return resourcesOf(project, file, "vm");
  if (field === "remote_group")
    return [
      ...resourcesOf(project, file, "group"),
      { word: "self", says: "the group that the rule is in", is: "name" },
    ];
  const addresses = (of: readonly Kind[]): Offer[] =>
    of.flatMap((kind) => resourcesOf(project, file, kind).map((one) => ({ ...one, word: `${kind}.${one.word}` })));
  if (section === "reachability" && (field === "from" || field === "to"))
    return [...addresses(["group", "vm"]), ...wordsOffered(parties)];
  if (field === "jump" || (section === "rollout" && field === "of")) return addresses(["vm"]);
  if (isOneOf(section, ["imports", "moved"]) && field === "to") return addresses(kinds);
  return undefined;
}

/** Within `${…}`: the roots, then what each of them has. */
function inReference(project: EditedProject, file: string, { typed, from }: NonNullable<Cursor["reference"]>): Offers {
  const begins = typed.lastIndexOf(".") + 1;
  return { from: from + begins, offers: offersBehind(project, file, typed.split(".").slice(0, -1)) };
}

function offersBehind(project: EditedProject, file: string, [root, key]: readonly string[]): Offer[] {
  if (root === undefined) {
    const isComponent = valueAt(project.files.get(file)?.source.root, ["component"]) !== undefined;
    const foreign: readonly string[] = isComponent ? ["var", "read", "lookup", "stack"] : ["param", "stack"];
    return wordsOffered(
      roots.filter((word) => !foreign.includes(word)),
      (word) => (isKind(word) ? `a value of a ${kindRows[word].noun}` : (wordMeanings[word] ?? "")),
    );
  }
  if (key === undefined) {
    if (root === "each") return wordsOffered(["key", "value"]);
    if (isKind(root)) return resourcesOf(project, file, root);
    return isOneOf(root, sortsOfNames) ? keysOffered(project, file, root) : [];
  }
  const name = key.replace(/\[.*$/, "");
  if (isKind(root)) return wordsOffered(Object.keys(kindRows[root].attributes), () => `of ${root}.${key}`);
  if (root === "component") return keysOffered(project, componentFileOf(project, file, name), "output");
  return root === "lookup" ? wordsOffered(lookedUp(project, file, name), () => `of ${name}`) : [];
}

function lookedUp(project: EditedProject, file: string, name: string): readonly string[] {
  for (const one of filesFrom(project, file)) {
    const block = valueAt(project.files.get(one)?.source.root, ["lookups", name]);
    for (const [kind, attributes] of Object.entries(lookupAttributes))
      if (isMap(block) && Object.hasOwn(block, kind)) return attributes;
  }
  return ["id", "name"];
}

const wordMeanings: Readonly<Record<string, string>> = {
  var: "a variable of the file",
  each: "the key of the for_each, and its value",
  env: "the name of the environment",
  param: "a parameter of the component",
  component: "an output of a component",
  read: "an output of another project",
  lookup: "something of the service that is not managed here",
};
