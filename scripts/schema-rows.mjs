// Makes the JSON Schema of a file from the types that its reader works with: a field is said once, with its type, its
// words for people and its limits, and the schema, the validator, the reference and `explain` follow.
//
// A type with a sentence above it is a definition of the schema, named by its own name in small letters (`SignInBlock`
// is `sign_in`); one without is put in where it is used. Below a sentence, or behind it, may stand
//   @pattern @min @max @more @minLength @maxLength @minItems @maxItems @minProperties @maxProperties @default VALUE
//   @unique            no item twice                     @inline     the sentence is used where the type is used
//   @one KEY …         exactly one of these keys (a+b: both); of a union of other types: exactly one of them
//   @some KEY …        at least one of these keys        @needs KEY OTHER …   KEY only together with the others
//   @merge             a union of maps is one map with the keys of all, each of which may be left out
//   @open              other keys are permitted          @def NAME   a definition, of this name where there is one
//   @each SENTENCE     of each key of a mapped type, with {key} in it
//   @table             its keys are made from a table of ours
//   @json TEXT         said in the schema's own words
// `Whole` is a whole number, a pattern of the first type of a Record limits its keys, `unknown` and
// `Json` are any value.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const ts = createRequire(import.meta.url)("typescript");

const limits = {
  pattern: "pattern",
  min: "minimum",
  max: "maximum",
  more: "exclusiveMinimum",
  minLength: "minLength",
  maxLength: "maxLength",
  minItems: "minItems",
  maxItems: "maxItems",
  minProperties: "minProperties",
  maxProperties: "maxProperties",
};
const tagNames = [
  ...Object.keys(limits),
  "default",
  "unique",
  "inline",
  "one",
  "some",
  "needs",
  "merge",
  "open",
  "json",
  "def",
  "each",
  "table",
];
const tagStart = new RegExp(`\\s@(?=(?:${tagNames.join("|")})\\b)`);

/** The sentence above a node, and its tags. */
function remarkOf(node) {
  const comments = ts.getJSDocCommentsAndTags(node);
  const last = comments.filter(ts.isJSDoc).at(-1);
  if (last === undefined) return { says: "", tags: [] };
  const text = last
    .getText()
    .replace(/^\/\*\*|\*\/$/g, "")
    .replaceAll(/\n\s*\* ?/g, " ");
  const [says, ...tags] = ` ${text.trim()}`.split(tagStart);
  return {
    says: says.trim(),
    tags: tags.map((tag) => {
      const [, name, value] = /^(\S+)\s*(.*)$/s.exec(tag.trim());
      return { name, value };
    }),
  };
}

const scalar = (text) => (/^-?[0-9.]+$|^(?:true|false)$/.test(text) ? JSON.parse(text) : text);

function limitsOf(tags) {
  const said = {};
  const needs = {};
  for (const { name, value } of tags) {
    const keys = value.split(" ");
    if (name === "pattern") said.pattern = value;
    else if (name in limits) said[limits[name]] = Number(value);
    else if (name === "default") said.default = scalar(value);
    else if (name === "unique") said.uniqueItems = true;
    else if (name === "some" || (name === "one" && value !== ""))
      said[name === "one" ? "oneOf" : "anyOf"] = keys.map((key) => ({ required: key.split("+") }));
    else if (name === "needs") needs[keys[0]] = keys.slice(1);
    else if (name === "json") Object.assign(said, JSON.parse(value));
  }
  return Object.keys(needs).length === 0 ? said : { ...said, dependentRequired: needs };
}

/**
 * `words`: the words of types that a table makes, such as the kinds. `also`: definitions for keys that a table fills in.
 *
 * @param {{ path: string, root: string, head: object, nameOf?: (type: string) => string, words?: Record<string, readonly string[]>, also?: string[] }} file
 */
export function schemaOfRows({ path, root, head, nameOf = snake, words = {}, also = [] }) {
  const declared = new Map();
  const files = new Set([path]);
  // A set that grows while it is walked: the files beside this one whose types it uses.
  for (const file of files)
    for (const node of ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2022, true).statements)
      if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) declared.set(node.name.text, node);
      else if (ts.isImportDeclaration(node) && node.moduleSpecifier.text.startsWith("./"))
        files.add(join(dirname(file), `${node.moduleSpecifier.text}.ts`));
  const defs = {};

  const isDefinition = (node) => {
    const { says, tags } = remarkOf(node);
    return tags.some(({ name }) => name === "def") || (says !== "" && !tags.some(({ name }) => name === "inline"));
  };
  const bodyOf = (node) =>
    ts.isInterfaceDeclaration(node) ? mapOf(membersOf(node)) : typeOf(node.type, remarkOf(node).tags);

  /** A declared type with its sentence and its limits. */
  function whole(node) {
    const { says, tags } = remarkOf(node);
    return { ...(says === "" ? {} : { description: says }), ...bodyOf(node), ...limitsOf(tags) };
  }

  function membersOf(node) {
    if (ts.isTypeReferenceNode(node)) return membersOf(must(node.typeName.getText()));
    if (ts.isTypeAliasDeclaration(node)) return membersOf(node.type);
    if (ts.isIntersectionTypeNode(node)) return node.types.flatMap(membersOf);
    if (ts.isExpressionWithTypeArguments(node)) return membersOf(must(node.expression.getText()));
    const inherited = (node.heritageClauses ?? []).flatMap(({ types }) => types.flatMap(membersOf));
    return [...inherited, ...node.members];
  }

  function mapOf(members, isOpen = false) {
    const required = members.filter(({ questionToken }) => questionToken === undefined).map(nameOfMember);
    return {
      type: "object",
      ...(isOpen ? {} : { additionalProperties: false }),
      ...(required.length === 0 ? {} : { required }),
      properties: Object.fromEntries(members.map((member) => [nameOfMember(member), propertyOf(member)])),
    };
  }

  function propertyOf(member) {
    const { says, tags } = remarkOf(member);
    const isFilled = tags.some(({ name }) => name === "table");
    const type = isFilled ? { type: "object", additionalProperties: false } : typeOf(member.type, tags);
    return { ...type, ...(says === "" ? {} : { description: says }), ...limitsOf(tags) };
  }

  const must = (name) => {
    const node = declared.get(name);
    if (node === undefined) throw new Error(`${path}: ${name} is not declared`);
    return node;
  };

  function typeOf(node, tags = []) {
    const has = (name) => tags.some((tag) => tag.name === name);
    if (ts.isParenthesizedTypeNode(node)) return typeOf(node.type, tags);
    if (ts.isTypeOperatorNode(node)) return typeOf(node.type, tags);
    switch (node.kind) {
      case ts.SyntaxKind.StringKeyword:
        return { type: "string" };
      case ts.SyntaxKind.NumberKeyword:
        return { type: "number" };
      case ts.SyntaxKind.BooleanKeyword:
        return { type: "boolean" };
      case ts.SyntaxKind.ObjectKeyword:
        return { type: "object" };
      case ts.SyntaxKind.UnknownKeyword:
        return {};
    }
    if (ts.isArrayTypeNode(node)) return { type: "array", items: typeOf(node.elementType) };
    if (ts.isTypeLiteralNode(node)) return mapOf(membersOf(node), has("open"));
    if (ts.isIntersectionTypeNode(node)) return mapOf(membersOf(node), has("open"));
    if (ts.isLiteralTypeNode(node)) return literalOf([node]);
    if (ts.isUnionTypeNode(node)) return unionOf(node, tags);
    if (ts.isMappedTypeNode(node)) return eachOf(node, tags);
    if (ts.isTypeReferenceNode(node)) return referenceOf(node);
    throw new Error(`${path}: no schema is made of ${node.getText()}`);
  }

  /** `{ [K in "a" | "b"]?: … }`; `@each` is the sentence of each key. */
  function eachOf({ typeParameter, questionToken, type }, tags) {
    const keys = wordsOf(typeParameter.constraint);
    const says = tags.find(({ name }) => name === "each")?.value;
    const row = (key) => ({
      ...typeOf(type),
      ...(says === undefined ? {} : { description: says.replace("{key}", key) }),
    });
    return {
      type: "object",
      additionalProperties: false,
      ...(questionToken === undefined ? { required: keys } : {}),
      properties: Object.fromEntries(keys.map((key) => [key, row(key)])),
    };
  }

  const wordsOf = (node) =>
    ts.isTypeReferenceNode(node) && !(node.typeName.getText() in words)
      ? wordsOf(must(node.typeName.getText()).type)
      : typeOf(node).enum;

  const isNull = (node) => ts.isLiteralTypeNode(node) && node.literal.kind === ts.SyntaxKind.NullKeyword;
  const literalOf = (nodes) => {
    const values = nodes.map(({ literal }) => JSON.parse(literal.getText()));
    return values.length === 1 && typeof values[0] !== "string" ? { const: values[0] } : { enum: values };
  };

  function unionOf(node, tags) {
    const has = (name) => tags.some((tag) => tag.name === name);
    const parts = node.types.filter((part) => !isNull(part));
    const isNullable = parts.length < node.types.length;
    if (parts.every(ts.isLiteralTypeNode)) return literalOf(parts);
    const alone = parts.length === 1 ? typeOf(parts[0], tags) : {};
    if (alone.type !== undefined) return { ...alone, type: [alone.type, "null"] };
    if (has("merge")) {
      const members = parts.flatMap(membersOf);
      const { required: _, ...map } = mapOf(members);
      return map;
    }
    const literals = parts.filter(ts.isLiteralTypeNode);
    const others = parts.filter((part) => !ts.isLiteralTypeNode(part)).map((part) => typeOf(part));
    const first = ts.isLiteralTypeNode(parts[0]);
    const ours = literals.length === 0 ? [] : [literalOf(literals)];
    const schemas = first ? [...ours, ...others] : [...others, ...ours];
    const primitives = ["string", "number", "boolean", "object"];
    if (
      schemas.length > 1 &&
      schemas.every((one) => Object.keys(one).join() === "type" && primitives.includes(one.type))
    )
      return { type: [...schemas.map(({ type }) => type), ...(isNullable ? ["null"] : [])] };
    return { [has("one") ? "oneOf" : "anyOf"]: [...(isNullable ? [{ type: "null" }] : []), ...schemas] };
  }

  const referenceOf = (node) => named(node.typeName.getText(), node);

  function named(name, node) {
    if (name === "Whole") return { type: "integer" };
    if (name === "Json") return {};
    if (name in words) return { enum: [...words[name]] };
    if (name === "Readonly") return typeOf(node.typeArguments[0]);
    if (name === "Record") {
      const [keys, values] = node.typeArguments;
      const { pattern } = typeOf(keys);
      return {
        type: "object",
        ...(pattern === undefined ? {} : { propertyNames: { pattern } }),
        ...(Object.keys(typeOf(values)).length === 0 ? {} : { additionalProperties: typeOf(values) }),
      };
    }
    const found = must(name);
    if (!isDefinition(found)) return whole(found);
    const known = remarkOf(found).tags.find((tag) => tag.name === "def" && tag.value !== "")?.value ?? nameOf(name);
    if (!(known in defs)) {
      defs[known] = undefined;
      defs[known] = whole(found);
    }
    return { $ref: `#/$defs/${known}` };
  }

  const { description, ...top } = whole(must(root));
  for (const name of also) named(name);
  return { ...head, ...(description === undefined ? {} : { description }), ...top, $defs: defs };
}

const nameOfMember = ({ name }) => (ts.isStringLiteral(name) ? name.text : name.getText());

const snake = (type) =>
  type
    .replace(/(?<=.)(?:Block|Source)$/, "")
    .replaceAll(/(?<=.)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase();
