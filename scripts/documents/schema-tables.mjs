// The field tables of docs/reference.md and docs/dialect.md, from the JSON Schemas that editors and the program use, and
// from the engine's own tables of what a change of a field does and what a missing operation costs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);
const load = (root, module) => require(join(root, "dist/reconciler", module));
const readSchema = (root, name) => JSON.parse(readFileSync(join(root, "schemas", `${name}.schema.json`), "utf8"));

export function desiredTables(root) {
  const schema = readSchema(root, "desired-state");
  const { fieldsOf } = load(root, "core/model/fields.js");
  const lines = [];
  lines.push("### The file", "", ...table(schema, schema.properties), "");
  section(lines, schema, "service", schema.$defs.service);
  section(lines, schema, "service.timing", schema.$defs.service.properties.timing);
  section(lines, schema, "ssh", schema.$defs.ssh);
  const { description } = schema.$defs.prices;
  section(lines, schema, "prices", { description, ...schema.$defs.prices.anyOf[1] });
  section(lines, schema, "environments.NAME", schema.$defs.environment);
  section(lines, schema, "vars.NAME", schema.$defs.value_type);
  for (const [kind, plural] of [
    ["vm", "vms"],
    ["volume", "volumes"],
    ["group", "groups"],
  ]) {
    const changes = {
      for_each: "a new key is created, one that is gone is deleted; the others stay",
      ...Object.fromEntries(Object.values(fieldsOf[kind]).map((row) => [row.field, row.costs])),
    };
    section(lines, schema, `${plural}.KEY`, schema.$defs[kind], changes);
    if (kind === "vm") section(lines, schema, "vms.KEY.lifecycle", schema.$defs.vm_lifecycle);
    if (kind === "vm")
      section(lines, schema, "vms.KEY.lifecycle.verify_resize", schema.$defs.vm_lifecycle.properties.verify_resize);
    if (kind === "vm")
      section(
        lines,
        schema,
        "vms.KEY.lifecycle.verify_resize.check",
        schema.$defs.vm_lifecycle.properties.verify_resize.properties.check,
      );
    if (kind === "volume") section(lines, schema, "volumes.KEY.flush", schema.$defs.flush);
    if (kind !== "vm") section(lines, schema, `${plural}.KEY.lifecycle`, schema.$defs[`${kind}_lifecycle`]);
    if (kind === "group") section(lines, schema, "groups.KEY.rules[]", schema.$defs.rule);
  }
  for (const list of ["imports", "moved", "removed"])
    section(lines, schema, `${list}[]`, {
      description: schema.properties[list].description,
      ...schema.properties[list].items,
    });
  for (const [title, part] of mapsOf(schema)) if (!shown(schema, lines, part)) section(lines, schema, title, part);
  return saidOnce(lines);
}

/** The tables of a file whose sections need no order of their own. */
export function fileTables(name) {
  return (root) => {
    const schema = readSchema(root, name);
    const lines = ["### The file", "", ...table(schema, schema.properties, undefined, schema.required), ""];
    for (const [title, part] of mapsOf(schema)) if (!shown(schema, lines, part)) section(lines, schema, title, part);
    return saidOnce(lines);
  };
}

/**
 * A field that stands in several tables is explained in the first of them: where its value is the same as well, the
 * others name it in one sentence. What a row says of a map is not said again under the map's own head, and what a
 * change costs is said once a table.
 */
function saidOnce(lines) {
  const said = new Map();
  const meanings = new Set();
  return lines
    .join("\n")
    .split(/^(?=### )/m)
    .map((section) => {
      const title = section.slice(4, section.indexOf("\n"));
      const sameAs = new Map();
      const costs = new Map();
      const kept = section.split("\n").flatMap((line) => {
        if (meanings.has(line)) return [];
        const cells = line.startsWith("| `") ? line.slice(2, -2).split(/(?<!\\) \| ?/) : [];
        if (cells.length < 3) return [line];
        const [name, value, meaning, cost = ""] = cells;
        if (meaning !== "") meanings.add(meaning);
        const first = said.get(`${name} ${meaning}`);
        if (first === undefined) said.set(`${name} ${meaning}`, { title, value, cost });
        else if (first.value === value && first.cost === cost && meaning.split(" ").length > 4) {
          sameAs.set(first.title, [...(sameAs.get(first.title) ?? []), name]);
          return [];
        }
        const told = first === undefined || meaning.split(" ").length < 9 ? meaning : `as in \`${first.title}\``;
        const like = cost.split(" ").length < 4 ? undefined : costs.get(cost);
        if (like === undefined) costs.set(cost, name);
        const last = cells.length < 4 ? [] : [like === undefined ? cost : `as ${like}`];
        return [`| ${[name, value, told, ...last].join(" | ")} |`.replace(/\| +\|$/, "| |")];
      });
      const text = kept.join("\n").replace(/^\| field .*\n\| --- .*\n(?!\|)/m, "");
      const same = [...sameAs].map(([first, names]) => `As in \`${first}\`: ${names.join(", ")}.\n\n`);
      return `${text.trimEnd()}\n\n${same.join("")}`;
    })
    .join("")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trimEnd();
}

/** Whether some table has a row with each of the map's keys and their meanings. */
const shown = (schema, lines, part) =>
  Object.entries(part.properties).every(([name, value]) => {
    const about = cell(meaningOf(schema, value).text);
    return lines.some((line) => line.split(" | ")[0].includes(`\`${name}\``) && line.includes(about));
  });

/** Every map with keys of its own, by the place at which it stands first. */
function mapsOf(schema) {
  const found = new Map();
  const visit = (given, title) => {
    const part = resolve(schema, given);
    const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = part;
    const shape = JSON.stringify(properties);
    if (Object.keys(properties).length > 0) {
      if (found.has(shape)) return;
      found.set(shape, [title, part]);
    }
    for (const [key, value] of Object.entries(properties)) visit(value, title === "" ? key : `${title}.${key}`);
    if (typeof additionalProperties === "object")
      visit(additionalProperties, `${title}.${title === "environments" ? "NAME" : "KEY"}`);
    if (typeof items === "object") visit(items, `${title}[]`);
    for (const other of [...anyOf, ...oneOf]) visit(other, title);
  };
  // What an environment repeats of the file has its place in the file.
  const { environments, ...rest } = schema.properties;
  visit({ properties: rest }, "");
  if (environments !== undefined) visit(environments, "environments");
  return [...found.values()].filter(([title]) => title !== "");
}

export function dialectTables(root) {
  const schema = readSchema(root, "dialect");
  const { builtInDialect } = load(root, "dialect/built-in.js");
  const lines = [
    "### operations",
    "",
    schema.properties.operations.description,
    "",
    "| operation | built in | what it is for |",
    "| --- | --- | --- |",
  ];
  for (const [name, { description }] of Object.entries(schema.properties.operations.properties)) {
    const route = builtInDialect.operations[name] ?? null;
    lines.push(
      `| \`${name}\` | ${route == null ? "`null`" : `\`${route.method} ${route.path}\``} | ${cell(description)} |`,
    );
  }
  lines.push("");
  for (const [title, name] of [
    ["A route", "route"],
    ["A route of a list", "listRoute"],
    ["operations.wait, the job of an accepted write", "waitRoute"],
    ["operations.attachments, a list of what hangs on what", "attachmentRoute"],
    ["pagination, of all lists or of one", "pagination"],
    ["A selector", "selector"],
  ])
    section(lines, schema, title, schema.$defs[name]);
  section(lines, schema, "when, of a route", schema.$defs.route.properties.when);
  const alone = {};
  for (const [name, given] of Object.entries(schema.properties)) {
    if (name === "operations" || name === "pagination") continue;
    const part = resolve(schema, given);
    if (kindOf(part) === "array") {
      alone[name] = given;
      section(lines, schema, `${name}[]`, { description: part.description, ...part.items });
      continue;
    }
    const properties = part.properties ?? {};
    if (Object.keys(properties).length === 0) {
      alone[name] = given;
      continue;
    }
    const nested = Object.entries(properties).filter(([, value]) => resolve(schema, value).properties !== undefined);
    if (name === "records" || name === "states") {
      lines.push(`### ${name}`, "", part.description, "", wordsFor[name], "");
      lines.push("| field | meaning |", "| --- | --- |", ...leavesOf(schema, part, ""), "");
      continue;
    }
    if (nested.length === 0) section(lines, schema, name, part);
    else lines.push(`### ${name}`, "", part.description, "");
    if (name === "answers") {
      lines.push(...table(schema, { item: nested[0][1].properties.item }), "");
      lines.push(`For ${nested.map(([key]) => `\`${key}\``).join(", ")}.`, "");
      continue;
    }
    const own = Object.fromEntries(
      Object.entries(properties).filter(([key]) => !nested.some(([other]) => other === key)),
    );
    if (nested.length > 0 && Object.keys(own).length > 0) lines.push(...table(schema, own), "");
    if (name === "names") lines.push(...table(schema, properties), "");
    if (name === "names") section(lines, schema, "names.vm, names.volume, names.group", schema.$defs.nameRule);
    else for (const [key, value] of nested) section(lines, schema, `${name}.${key}`, resolve(schema, value));
  }
  lines.push("### The rest", "", ...table(schema, alone), "");
  section(lines, schema, "retry_after, as a map", schema.properties.retry_after.anyOf[1]);
  return saidOnce(lines);
}

const wordsFor = {
  records: "Each field is a place, or a list of them.",
  states: "Each field is a word, or a list of them.",
};

/** A row for each field of a map of maps, by its whole name. */
const leavesOf = (schema, part, prefix) =>
  Object.entries(part.properties).flatMap(([key, given]) => {
    const value = resolve(schema, given);
    const row = `| \`${prefix}${key}\` | ${cell(value.description)} |`;
    return [row, ...(value.properties === undefined ? [] : leavesOf(schema, value, `${prefix}${key}.`))];
  });

export function fallbackTable(root) {
  const { assumedOperations, operations } = load(root, "core/model/operation.js");
  const lines = ["| missing | what it costs | what is done instead |", "| --- | --- | --- |"];
  for (const operation of assumedOperations) {
    const { cost, instead } = operations[operation].assumed;
    lines.push(`| \`${operation}\` | ${cell(cost)} | ${cell(instead)} |`);
  }
  return lines.join("\n");
}

function section(lines, schema, title, part, changes = undefined) {
  lines.push(`### ${title}`, "");
  if (part.description !== undefined) lines.push(cell(part.description), "");
  lines.push(...table(schema, part.properties ?? {}, changes, part.required), "");
}

function table(schema, properties, changes = undefined, required = []) {
  const last = changes === undefined ? "" : " a change of it |";
  const lines = [`| field | value | meaning |${last}`, `| --- | --- | --- |${changes === undefined ? "" : " --- |"}`];
  // Fields of one value and one meaning are one row.
  const namesOf = new Map();
  for (const [name, value] of Object.entries(properties)) {
    const { text, preset } = meaningOf(schema, value);
    const given = required.includes(name) ? ", required" : preset === "" ? "" : `; default ${preset}`;
    const cost = changes === undefined ? "" : ` ${changes[name] ?? ""} |`.replace(" nothing in the service ", " ");
    const rest = `${typeOf(schema, value)}${given} | ${cell(text)} |${cost}`;
    namesOf.set(rest, [...(namesOf.get(rest) ?? []), `\`${name}\``]);
  }
  for (const [rest, names] of namesOf) lines.push(`| ${names.join(", ")} | ${rest}`);
  return lines;
}

const cell = (text) => text.replaceAll("|", "\\|");

/** The default is a key of the schema, or the last sentence of the description. */
function meaningOf(schema, value) {
  const text = (value.description ?? resolve(schema, value).description ?? "").replace(/ A change: .*$/, "");
  if (value.default !== undefined) return { text, preset: `\`${value.default}\`` };
  const [sentence, stated] = / ?Default: ([^.]*(?:\.[^. ][^.]*)*)\.$/.exec(text) ?? [];
  if (stated === undefined) return { text, preset: "" };
  return {
    text: text.slice(0, -sentence.length).trim(),
    preset: /^[a-z0-9]+$/.test(stated) ? `\`${stated}\`` : stated,
  };
}

const resolve = (schema, value) =>
  value.$ref === undefined ? value : { ...schema.$defs[value.$ref.replace("#/$defs/", "")], ...value };

const kindOf = (value) => (Array.isArray(value.type) ? value.type.find((type) => type !== "null") : value.type);

const named = {
  text: "text",
  name: "name",
  boolean: "true or false",
  size: "GB",
  port: "port",
  duration: "duration",
  argv: "list of words",
  address: "address",
  reference: "key or `{ id }`",
  pointers: "places",
  place: "place",
  selector: "selector",
  words: "words",
  scalar: "value",
  scalars: "value or values",
  pagination: "map",
  headers: "map",
  query: "map",
  body: "anything",
  nameRule: "map",
  pointer: "pointer",
  route: "route, or `null`",
  listRoute: "route of a list, or `null`",
  method: "method",
  path: "path",
};

/** `text or list of text` in fewer words. */
function oneOrList(choices) {
  const all = choices.join(" or ");
  const single = choices.slice(0, -1).join(" or ");
  return choices.length > 1 && choices.at(-1) === `list of ${single}`
    ? `${single}${single.includes(" or ") || single.includes(", ") ? "," : ""} or a list`
    : all;
}

function typeOf(schema, value) {
  const name = value.$ref?.replace("#/$defs/", "");
  if (name !== undefined && named[name] !== undefined) return named[name];
  const whole = resolve(schema, value);
  if (whole.const !== undefined) return `\`${whole.const}\``;
  if (whole.enum !== undefined) return whole.enum.map((word) => `\`${word}\``).join(", ");
  const choices = (whole.anyOf ?? [])
    .filter((choice) => choice.$ref !== "#/$defs/interpolated" && !/\(\?:\[Tt\]/.test(choice.pattern ?? ""))
    .map((choice) => typeOf(schema, choice));
  if (choices.length > 0) return oneOrList([...new Set(choices)]);
  const kind = kindOf(whole);
  if (kind === "array") {
    const items = typeOf(schema, whole.items ?? {});
    return items === "" || items === "map" ? "list" : `list of ${items}`;
  }
  return (
    { object: "map", string: "text", integer: "number", number: "number", boolean: "true or false" }[kind] ??
    (kind === undefined ? "any value" : kind)
  );
}
