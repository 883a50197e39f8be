// Writes the schemas. Those of the files that people write are made from the types of their fields (schema-rows.mjs);
// the fields of VMs, volumes and groups, in states and plans too, come from the one table in
// reconciler/core/model/fields.ts, and the operations that a dialect may name from operation.ts. What the schemas of
// states, plans and events say beside them is written by hand and left as it is; a field that leaves the table leaves a
// record's schema by hand. `--check` fails when a schema does not match, and is part of `npm run lint`.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { schemaOfRows } from "./schema-rows.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const typescript = createRequire(import.meta.url)("typescript");

/** Loads the table and the few modules that it uses, compiled in memory, so that no build is needed. */
function load(path) {
  const { outputText } = typescript.transpileModule(readFileSync(path, "utf8"), {
    compilerOptions: { module: typescript.ModuleKind.CommonJS },
  });
  const exports = {};
  new Function("exports", "require", outputText)(exports, (name) => load(join(dirname(path), `${name}.ts`)));
  return exports;
}

const { fieldsOf, ignorable } = load(join(root, "reconciler/core/model/fields.ts"));
const { kindRows } = load(join(root, "reconciler/core/model/kinds.ts"));
const { assumedOperations, rowOf } = load(join(root, "reconciler/core/model/operation.ts"));
const ref = (name) => ({ $ref: `#/$defs/${name}` });
const refs = { text: "text", remark: "text", name: "name", size: "size", flag: "boolean", reference: "reference" };

/** The sentence after the description of a field that may be left out. */
function leftOut({ field, type, absent }) {
  if (absent === "key") return " Left out: the key (key-each with for_each).";
  if (absent === "inherited") return ` Default: the file's ${field}.`;
  return typeof absent === "object" && typeof type === "string" ? ` Default: ${absent.value}.` : "";
}

/** The field as a file has it, where a value may be interpolated. */
function fieldWritten(row) {
  const { type, absent } = row;
  const description = `${row.about}${leftOut(row)} A change: ${row.costs}.`;
  if (type === "flush") return ref("flush");
  if (type === "command") return { ...ref("guest_command"), description: row.about };
  if (type === "rules")
    return { description, anyOf: [{ type: ["array", "null"], items: ref("rule") }, ref("interpolated")] };
  if (typeof type === "string") return { ...ref(refs[type]), description };
  const preset = typeof absent === "object" ? { default: absent.value } : {};
  return { description, anyOf: [{ enum: [...type] }, ref("interpolated")], ...preset };
}

const values = {
  text: { type: "string" },
  remark: { type: "string" },
  name: { type: "string" },
  size: { type: "number" },
  flag: { type: "boolean" },
  flush: ref("flush"),
  command: ref("guest_command"),
  reference: ref("reference"),
  rules: { type: "array", items: ref("rule") },
};

/** The field as it is kept and sent: read, with its default filled in. */
const kept = ({ type, about }) => {
  const value = typeof type === "string" ? values[type] : { enum: [...type] };
  return value.$ref === undefined ? { description: about, ...value } : value;
};

const mapped = (rows, shown) => Object.fromEntries(rows.map(([key, row]) => [key, shown(row)]));
const byField = (rows) => rows.map(([, row]) => [row.field, row]);

function fillDesired({ $defs, properties }) {
  for (const [kind, table] of Object.entries(fieldsOf)) {
    const { section } = kindRows[kind];
    for (const name of [kind, `${kind}_defaults`, `${kind}_lifecycle`])
      if ($defs[name] === undefined)
        throw new Error(`desired-state.schema.json: $defs.${name} is missing, of kind ${kind}`);
    if (properties[section] === undefined) throw new Error(`desired-state.schema.json: there is no section ${section}`);
    const rows = byField(Object.entries(table));
    const { for_each, enabled, lifecycle, ...others } = $defs[kind].properties;
    $defs[kind].properties = { for_each, enabled, ...mapped(rows, fieldWritten), ...others, lifecycle };
    const shared = rows.filter(([, { absent }]) => absent !== "key");
    $defs[`${kind}_defaults`].properties = { ...mapped(shared, fieldWritten), lifecycle };
    $defs[`${kind}_lifecycle`].properties.ignore_changes.items.anyOf[0].enum = ignorable[kind];
  }
}

function fillRecords({ $defs }) {
  for (const [kind, table] of Object.entries(fieldsOf)) {
    const record = $defs.record.oneOf.find(({ properties }) => properties.kind.const === kind);
    const rows = Object.entries(table).filter(([, { recorded }]) => recorded !== "never");
    const { kind: _, address, id, ...others } = record.properties;
    for (const [key] of rows) delete others[key];
    record.properties = { kind: record.properties.kind, address, id, ...mapped(rows, kept), ...others };
    const always = rows.filter(([, { recorded }]) => recorded === "always").map(([key]) => key);
    const first = ["kind", "address", ...always];
    record.required = [...first, ...record.required.filter((key) => !first.includes(key) && !(key in table))];
  }
}

/** A kind without fields of its own beside the table's. */
const plainLifecycle = {
  description: "How the tool treats it.",
  type: "object",
  additionalProperties: false,
  properties: {
    preventDestroy: { description: "It is never deleted.", type: "boolean" },
    ignoreChanges: {
      description: "Fields that are left as they are.",
      type: "array",
      items: { type: "string" },
    },
  },
  required: ["preventDestroy", "ignoreChanges"],
};

/** The desired resources of a plan: read, with their defaults filled in. */
function fillWishes({ $defs }) {
  const named = (kind) => `desired_${kind}`;
  $defs.desired.properties.resources.items = { oneOf: Object.keys(fieldsOf).map((kind) => ref(named(kind))) };
  for (const [kind, table] of Object.entries(fieldsOf)) {
    const { lifecycle = plainLifecycle, ...others } = $defs[named(kind)]?.properties ?? {};
    const rows = Object.entries(table);
    for (const key of ["kind", "address", "source", "inherited", ...Object.keys(table)]) delete others[key];
    const wished = (row) => (row.type === "remark" ? { description: row.about, ...ref("text") } : kept(row));
    const always = rows.filter(([, { absent }]) => absent !== "unset").map(([key]) => key);
    $defs[named(kind)] = {
      description: `A ${kindRows[kind].fullNoun} as it is wanted.`,
      type: "object",
      additionalProperties: false,
      properties: {
        kind: { const: kind, description: "The kind." },
        address: ref("address"),
        ...mapped(rows, wished),
        lifecycle,
        ...others,
        source: ref("source"),
        inherited: {
          description: "The fields that the block leaves to the defaults, each with its place there.",
          type: "object",
          additionalProperties: ref("source"),
        },
      },
      required: ["kind", "address", ...always, "lifecycle", "source"],
    };
  }
}

function fillCreate({ $defs }) {
  const create = $defs.action.oneOf.find(({ properties }) => properties.operation.const === "vm.create");
  const rows = Object.entries(fieldsOf.vm).filter(([, { sentAs }]) => sentAs !== undefined);
  create.properties.vm.properties = mapped(rows, kept);
  create.properties.vm.required = rows.filter(([, { absent }]) => absent !== "unset").map(([key]) => key);
}

/** The operations that a dialect may describe: every one beyond the documented ones. */
function fillOperations({ properties }) {
  properties.operations.properties = Object.fromEntries(
    assumedOperations.map((operation) => {
      const { assumed, items } = rowOf(operation);
      return [operation, { description: assumed.about, ...ref(items === undefined ? "route" : "listRoute") }];
    }),
  );
  const { description } = properties.operations.properties["group.rule.delete"];
  properties.operations.properties["group.rule.delete"] = {
    description: `${description} Several routes are tried in order: the first whose \`when\` fits the rule.`,
    anyOf: [ref("route"), { type: "array", minItems: 1, maxItems: 2, items: ref("route") }],
  };
  properties.operations.properties.wait = {
    description:
      "How the job is asked for with which this service answers an accepted write. The write is done when its job is, and a job that failed is a refusal in its own words. Left out: what was accepted is looked for in the records alone.",
    ...ref("waitRoute"),
  };
}

const fills = {
  state: [fillRecords],
  plan: [fillRecords, fillWishes, fillCreate],
};

/** The files that people write: the types of their fields, and what a table of ours fills in. */
const written = {
  "desired-state": {
    path: "reconciler/config/rows/desired.ts",
    root: "DesiredFile",
    title: "Desired state (reconcile.yaml)",
    patternProperties: {
      "^x-": {
        description: "Yours: for YAML anchors, and whatever else reads this file. It is never looked at.",
      },
    },
    also: ["Flush", "GuestCommand", "Name", "Reference", "Rule", "Size"].concat(
      Object.keys(fieldsOf).map((kind) => `${kind[0].toUpperCase()}${kind.slice(1)}Block`),
    ),
    fill: fillDesired,
  },
  tests: { path: "reconciler/config/rows/tests.ts", root: "TestsFile", title: "Tests of a desired state" },
  fleet: {
    path: "reconciler/fleet/read/rows.ts",
    root: "FleetFile",
    title: "A fleet: many projects, kept right by many workers",
  },
  dialect: {
    path: "reconciler/dialect/rows.ts",
    root: "DialectFile",
    title: "Dialect",
    nameOf: (type) => `${type[0].toLowerCase()}${type.slice(1)}`,
    also: ["Route", "ListRoute", "WaitRoute"],
    fill: fillOperations,
  },
};
const $schema = "https://json-schema.org/draft/2020-12/schema";
const idOf = (name) =>
  `https://raw.githubusercontent.com/reconcile-cloud/reconcile-cloud/main/schemas/${name}.schema.json`;
const words = { Kind: Object.keys(fieldsOf) };

function writtenSchema(name) {
  const { path, root: type, title, fill, patternProperties, ...settings } = written[name];
  const head = { $schema, $id: idOf(name), title, ...(patternProperties === undefined ? {} : { patternProperties }) };
  const schema = schemaOfRows({ path: join(root, path), root: type, head, words, ...settings });
  fill?.(schema);
  return schema;
}

/**
 * The file of a component has the blocks of a desired state, and parameters in the place of what a project says once.
 */
function componentSchema(desired) {
  const { defaults, components, vms, volumes, groups, outputs } = desired.properties;
  const schema = {
    $schema: desired.$schema,
    $id: desired.$id.replace("desired-state", "component"),
    title: "Component",
    description:
      "A part that desired states use more than once. Names within it are its own; in go its parameters, ${param.name}, and out come its outputs. ${component} is the key of its use.",
    type: "object",
    required: ["component"],
    additionalProperties: false,
    patternProperties: desired.patternProperties,
    properties: {
      component: { description: "The version of this format: 1.", const: 1 },
      description: { description: "What it is for.", type: "string" },
      parameters: {
        type: ["object", "null"],
        description: "What it is given where it is used, used within as ${param.name}.",
        propertyNames: { pattern: "^[A-Za-z0-9_-]+$" },
        additionalProperties: { $ref: "#/$defs/value_type", description: "One parameter." },
      },
      ...{ defaults, components, vms, volumes, groups, outputs },
    },
  };
  const used = new Set();
  const visit = (node) => {
    if (typeof node !== "object" || node === null) return;
    const name = /^#\/\$defs\/(.+)$/.exec(node.$ref ?? "")?.[1];
    if (name !== undefined && !used.has(name)) {
      used.add(name);
      visit(desired.$defs[name]);
    }
    Object.values(node).forEach(visit);
  };
  visit(schema);
  return { ...schema, $defs: Object.fromEntries(Object.entries(desired.$defs).filter(([name]) => used.has(name))) };
}

const check = process.argv.includes("--check");
const stale = [];

function put(name, schema) {
  const path = join(root, "schemas", `${name}.schema.json`);
  const text = JSON.stringify(schema);
  if (existsSync(path) && JSON.stringify(JSON.parse(readFileSync(path, "utf8"))) === text) return;
  stale.push(path);
  if (!check) writeFileSync(path, text);
}

for (const name of Object.keys(written)) put(name, writtenSchema(name));
for (const [name, parts] of Object.entries(fills)) {
  const schema = JSON.parse(readFileSync(join(root, "schemas", `${name}.schema.json`), "utf8"));
  for (const fill of parts) fill(schema);
  put(name, schema);
}
put("component", componentSchema(writtenSchema("desired-state")));
if (check && stale.length > 0) {
  for (const path of stale) console.error(`${path} does not match the tables of its fields; run: npm run generate`);
  process.exit(1);
}
if (!check && stale.length > 0)
  execFileSync(process.execPath, [join(root, "node_modules/@biomejs/biome/bin/biome"), "format", "--write", ...stale], {
    stdio: "inherit",
  });
