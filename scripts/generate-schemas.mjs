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
import { fillsOver } from "./kind-rows.mjs";
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
const { fillDesired, fillRecords, fillWishes, fillCreate, ref } = fillsOver({ fieldsOf, ignorable, kindRows });
const { assumedOperations, rowOf } = load(join(root, "reconciler/core/model/operation.ts"));
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
  properties.operations.properties.attachments = {
    description:
      "Where this service lists what hangs on what, if the records of volumes do not show it. It is read beside the list of volumes; where it cannot be read, nobody knows what hangs on what. Left out: the records alone say it.",
    ...ref("attachmentRoute"),
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
    also: ["Route", "ListRoute", "WaitRoute", "AttachmentRoute"],
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
  process.exitCode = 1;
}
if (!check && stale.length > 0)
  execFileSync(process.execPath, [join(root, "node_modules/@biomejs/biome/bin/biome"), "format", "--write", ...stale], {
    stdio: "inherit",
  });
