// Writes provider/generated/resources.ts, the typed Pulumi resources, provider/generated/schema.ts, the schema of their
// package, and reconciler/one/generated/resources.ts, what programs give to handlers and get from them. All are made from
// the one table of handlers, so that properties and their documents are kept in one place. `--check` only says whether the files are up to date. Needs dist/.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageSchema } from "./provider/schema.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { listHandlers, listLookups } = createRequire(import.meta.url)(join(root, "dist/reconciler/index.js"));

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const nested = new Map();

/** The type of a property within an argument (`wrap` makes every value an Input) or an output. */
function typeOf(property, name, input) {
  const wrap = (type) => (input ? `pulumi.Input<${type}>` : type);
  switch (property.type) {
    case "integer":
      return wrap("number");
    case "boolean":
      return wrap("boolean");
    case "array":
      return wrap(
        `${listed(typeOf(property.items, property.items.type === "object" ? `${name}Item` : name, input))}[]`,
      );
    case "object":
      if (property.properties === undefined) return wrap("unknown");
      nested.set(name, property.properties);
      return wrap(`${name}${input ? "Args" : ""}`);
    default:
      return wrap(property.values === undefined ? "string" : property.values.map((value) => `"${value}"`).join(" | "));
  }
}

const listed = (type) => (type.startsWith('"') && type.includes(" | ") ? `(${type})` : type);

const doc = (text, indent) => `${indent}/** ${text} */`;

function fields(properties, prefix, input, optional) {
  return Object.entries(properties).map(([name, property]) => {
    const needed = input && property.required === true && !optional(name);
    const type = typeOf(property, `${prefix}${capital(name)}`, input);
    return `${doc(property.description, "  ")}\n  ${name}${needed ? "" : "?"}: ${type}${needed ? "" : " | undefined"};`;
  });
}

/** The interfaces of what the properties hold, and of what those hold. */
function nestedShapes(properties, prefix, input) {
  nested.clear();
  for (const [name, property] of Object.entries(properties)) typeOf(property, `${prefix}${capital(name)}`, input);
  const made = [];
  const seen = new Set();
  for (let more = true; more; ) {
    more = false;
    for (const [name, inner] of [...nested]) {
      if (seen.has(name)) continue;
      seen.add(name);
      more = true;
      made.push(
        [`export interface ${name}${input ? "Args" : ""} {`, ...fields(inner, name, input, () => false), "}"].join(
          "\n",
        ),
      );
    }
  }
  return made;
}

const shapes = [];
const classes = [];
for (const handler of listHandlers()) {
  const { type, inputs, outputs } = handler;
  nested.clear();
  shapes.push(
    [
      `${doc(`What a ${type} is asked to be.`, "")}`,
      `export interface ${type}Args {`,
      ...fields(inputs, type, true, (name) => name === "name"),
      "}",
    ].join("\n"),
  );
  for (const input of [true, false]) shapes.push(...nestedShapes(inputs, type, input));
  const all = { ...inputs, ...outputs };
  const names = {
    inputs: Object.keys(inputs),
    outputs: Object.keys(outputs).filter((name) => name !== "recorded"),
  };
  classes.push(`const namesOf${type}: PropertyNames = ${JSON.stringify(names)};

${doc(handler.description, "")}
export class ${type} extends CloudResource {
${Object.entries(all)
  .filter(([name]) => name !== "recorded")
  .map(([name, property]) => {
    const sure = property.required === true;
    return `${doc(property.description, "  ")}\n  declare readonly ${name}: pulumi.Output<${typeOf(property, `${type}${capital(name)}`, false)}${sure ? "" : " | undefined"}>;`;
  })
  .join("\n")}

  constructor(name: string, args: ${type}Args, opts?: pulumi.CustomResourceOptions) {
    super("${type}", namesOf${type}, name, args, opts);
  }

  /** An existing resource by its id, to read from; the program does not manage it. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): ${type} {
    return new ${type}(name, {} as ${type}Args, { ...opts, id });
  }
}
unsetUntilGiven(${type}, namesOf${type});`);
}

const calls = listLookups().map(({ name, description, inputs, outputs }) => {
  const type = capital(name);
  const inner = nestedShapes(outputs, type, false);
  return `${inner.map((shape) => `${shape}\n\n`).join("")}export interface ${type}Args {
${fields(inputs, type, false, () => true).join("\n")}
}

export interface ${type}OutputArgs {
${fields(inputs, type, true, () => true).join("\n")}
}

export interface ${type}Result {
${fields(outputs, type, false, () => true).join("\n")}
}

${doc(`${description} Through the plugin.`, "")}
export const ${name} = (args: ${type}Args, opts: pulumi.InvokeOptions = {}): Promise<${type}Result> =>
  pulumi.runtime.invoke("reconcile-cloud:index:${name}", args, opts);

export const ${name}Output = (
  args: ${type}OutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<${type}Result> => pulumi.runtime.invokeOutput("reconcile-cloud:index:${name}", args, opts);`;
});

const text = `// Made by scripts/generate-provider.mjs from the table of handlers; do not edit.
import * as pulumi from "@pulumi/pulumi";
import { CloudResource, type PropertyNames, unsetUntilGiven } from "../cloud-resource";

${[...shapes, ...classes, ...calls].join("\n\n")}
`;

/** Types and no interfaces: a type without an index of its own can be given where any record of values can. */
function plainType(property, indent) {
  const inner = `${indent}  `;
  switch (property.type) {
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return `readonly ${listed(plainType(property.items, indent))}[]`;
    case "object": {
      if (property.properties === undefined) return "unknown";
      return `{\n${plainFields(property.properties, inner)}\n${indent}}`;
    }
    default:
      return property.values === undefined ? "string" : property.values.map((value) => `"${value}"`).join(" | ");
  }
}

const plainFields = (properties, indent, needs = ({ required }) => required === true) =>
  Object.entries(properties)
    .map(([name, property]) => {
      const sign = needs(property) ? ":" : "?:";
      const type = `${plainType(property, indent)}${needs(property) ? "" : " | undefined"}`;
      return `${doc(property.description, indent)}\n${indent}readonly ${name}${sign} ${type};`;
    })
    .join("\n");

const plainTexts = listHandlers().map(({ type, inputs, outputs }) => {
  const own = Object.fromEntries(Object.entries(outputs).filter(([name]) => name !== "recorded"));
  return `${doc(`What a ${type} is asked to be.`, "")}
export type ${type}Inputs = {
${plainFields(inputs, "  ")}
};

${doc(`What is kept of a ${type}: its inputs, what the service added, and the engine's own record of it.`, "")}
export type ${type}Outputs = ${type}Inputs & {
${plainFields(own, "  ", () => false)}${Object.keys(own).length === 0 ? "" : "\n"}  readonly recorded?: unknown;
};`;
});

const names = listHandlers().map(({ type }) => type);
const plain = `// Made by scripts/generate-provider.mjs from the table of handlers; do not edit.
${plainTexts.join("\n\n")}

export interface InputsOf {
${names.map((type) => `  readonly ${type}: ${type}Inputs;`).join("\n")}
}

export interface OutputsOf {
${names.map((type) => `  readonly ${type}: ${type}Outputs;`).join("\n")}
}
`;

const schema = `// Made by scripts/generate-provider.mjs from the table of handlers; do not edit.
export const schema: Readonly<Record<string, unknown>> = ${JSON.stringify(packageSchema(), undefined, 2)};
`;

/** Every file that is made here, as the formatter leaves it. */
const made = {
  "provider/generated/resources.ts": text,
  "provider/generated/schema.ts": schema,
  "reconciler/one/generated/resources.ts": plain,
};

for (const [file, says] of Object.entries(made)) {
  const target = join(root, file);
  if (!process.argv.includes("--check")) {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, says);
    continue;
  }
  const is = readFileSync(target, "utf8").split("\n");
  const lines = says.split("\n");
  const at = lines.findIndex((line, index) => line !== is[index]);
  if (at >= 0 || is.length !== lines.length) {
    const line = at >= 0 ? at : lines.length;
    console.error(
      `${file} is not what the handlers of dist/ say: npm run build && node scripts/generate-provider.mjs
line ${line + 1} is       ${is[line] ?? ""}
and should be ${lines[line] ?? ""}`,
    );
    process.exit(1);
  }
}
