/**
 * The schema of a file as the fields that it has: what stands at a path, and all of them by name. Editors ask for the
 * field under the cursor, `explain` for one by its name, and a test that the reference leaves none out.
 */
import { type Fields, fieldsIn } from "../core/text/objects";

export interface SchemaField {
  /** As people write it: `checks.at_most.remove`, `vms.KEY.lifecycle`, `groups.KEY.rules[].protocol`. */
  readonly name: string;
  readonly about: string;
  /** The words that it may be, where it is one of some. */
  readonly words: readonly string[];
}

/** A part of a schema with what it refers to. `about` stands where it is named, or else where it is defined. */
interface SchemaPart {
  readonly node: Fields;
  readonly about: string;
}

/** How deep fields are listed: none of the file's is deeper. */
const deepestField = 8;

function schemaPart(schema: Fields, given: unknown): SchemaPart {
  const about: string[] = [];
  let node = fieldsIn(given);
  for (;;) {
    if (typeof node["description"] === "string") about.push(node["description"]);
    const reference = node["$ref"];
    if (typeof reference !== "string") return { node, about: about[0] ?? "" };
    node = fieldsIn(fieldsIn(schema["$defs"])[reference.slice("#/$defs/".length)]);
  }
}

/** A part and its alternatives: `anyOf: [text, { … }]` has the fields of each. */
function* schemaForms(schema: Fields, part: SchemaPart): Generator<SchemaPart> {
  yield part;
  for (const word of ["anyOf", "oneOf", "allOf"]) {
    const others = part.node[word];
    if (Array.isArray(others)) for (const other of others) yield* schemaForms(schema, schemaPart(schema, other));
  }
}

function* below(schema: Fields, part: SchemaPart): Generator<{ readonly step: string; readonly part: SchemaPart }> {
  for (const { node } of schemaForms(schema, part)) {
    for (const [key, given] of Object.entries(fieldsIn(node["properties"])))
      yield { step: `.${key}`, part: schemaPart(schema, given) };
    if (typeof node["additionalProperties"] === "object")
      yield { step: ".KEY", part: schemaPart(schema, node["additionalProperties"]) };
    if (typeof node["items"] === "object") yield { step: "[]", part: schemaPart(schema, node["items"]) };
  }
}

const wordsOf = (schema: Fields, part: SchemaPart): string[] =>
  [...schemaForms(schema, part)].flatMap(({ node }) => {
    const { enum: many, const: one } = node;
    const words = Array.isArray(many) ? many : one === undefined ? [] : [one];
    return node["type"] === "boolean" ? ["true", "false"] : words.map(String);
  });

const schemaField = (schema: Fields, name: string, part: SchemaPart): SchemaField => ({
  name,
  about: part.about,
  words: wordsOf(schema, part),
});

/** Every field that a person may write, in the order of the schema. What is only a shape has no line of its own. */
export function fieldsOfSchema(schema: unknown): SchemaField[] {
  const root = fieldsIn(schema);
  const fields = new Map<string, SchemaField>();
  const visit = (part: SchemaPart, name: string, depth: number): void => {
    if (depth > deepestField) return;
    for (const { step, part: inner } of below(root, part)) {
      const whole = `${name}${step}`;
      const shown = whole.replace(/^\./, "");
      if (step.startsWith(".") && step !== ".KEY" && !fields.has(shown))
        fields.set(shown, schemaField(root, shown, inner));
      visit(inner, whole, depth + 1);
    }
  };
  visit(schemaPart(root, root), "", 0);
  return [...fields.values()];
}

const wordsOfName = (name: string): string[] =>
  name.split(".").flatMap((word) => (word === "KEY" || word === "" ? [] : [word.replaceAll("[]", "")]));

/**
 * The fields that a person may mean: `checks.at_most`, `rules.dst_port`, `rollout.web.canary` with the key of a block in
 * it. Where one of them is a map, the fields below it follow.
 */
export function fieldsCalled(fields: readonly SchemaField[], asked: string): SchemaField[] {
  const words = wordsOfName(asked);
  const ways = [words, ...words.slice(0, -1).map((_, index) => words.filter((__, at) => at !== index))].filter(
    (way) => way.length > 0,
  );
  for (const way of words.length < 3 ? ways.slice(0, 1) : ways) {
    const tail = `.${way.join(".")}`;
    const names = fields.map((field) => ({ field, name: `.${wordsOfName(field.name).join(".")}` }));
    const exact = names.filter(({ name }) => name === tail);
    const ending = names.filter(({ name }) => name.endsWith(tail));
    // What environments and defaults repeat of the file is told of the file.
    const general = ending.filter(({ name }) => !/^\.(?:environments|defaults)\./.test(name));
    const found = exact.length > 0 ? exact : general.length > 0 ? general : ending;
    // A part that several sections share is told once.
    const [first] = found;
    if (first === undefined) continue;
    const once = [...new Map(found.map((one) => [one.field.about, one])).values()];
    if (once.length > 1) return once.map(({ field }) => field);
    return [first.field, ...names.flatMap(({ field, name }) => (isFieldBelow(name, first.name) ? [field] : []))];
  }
  // `outputs.value`, or a misspelt key: what its section takes is told.
  const [section = ""] = words;
  return words.length > 1 && fields.some(({ name }) => name === section) ? fieldsCalled(fields, section) : [];
}

const isFieldBelow = (name: string, above: string): boolean =>
  name.startsWith(`${above}.`) && !name.slice(above.length + 1).includes(".");

/** What may stand below a path of a file: the fields of the map there. A step of a list is any number. */
export function fieldsBelow(schema: unknown, path: readonly (string | number)[]): SchemaField[] {
  const root = fieldsIn(schema);
  return partsAt(root, path).flatMap((part) =>
    [...below(root, part)].flatMap(({ step, part: inner }) =>
      step === ".KEY" || step === "[]" ? [] : [schemaField(root, step.slice(1), inner)],
    ),
  );
}

/** The field at a path, with the words that its value may be. */
export function fieldAt(schema: unknown, path: readonly (string | number)[]): SchemaField | undefined {
  const root = fieldsIn(schema);
  const [part] = partsAt(root, path);
  return part === undefined ? undefined : schemaField(root, String(path.at(-1) ?? ""), part);
}

function partsAt(root: Fields, path: readonly (string | number)[]): SchemaPart[] {
  let parts = [schemaPart(root, root)];
  for (const step of path)
    parts = parts.flatMap((part) => {
      const inner = [...below(root, part)];
      if (typeof step === "number") return inner.filter(({ step: one }) => one === "[]").map(({ part: one }) => one);
      const exact = inner.filter(({ step: one }) => one === `.${step}`);
      return (exact.length > 0 ? exact : inner.filter(({ step: one }) => one === ".KEY")).map(({ part: one }) => one);
    });
  return parts;
}
