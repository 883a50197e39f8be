// The schema of the Pulumi package, made from the table of handlers of dist/.
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../executables.mjs";
import { capital, exampleOf, lookupExampleOf } from "./examples.mjs";

const fromRoot = createRequire(join(root, "package.json"));
const { handlers, lookups } = fromRoot("./dist/reconciler/for-provider.js");
const { dynamicToken, packageName, pluginDownloadUrl, pluginToken } = fromRoot("./dist/provider/captured.js");
const { components } = fromRoot("./dist/provider/components/table.js");
const { settingNames } = fromRoot("./dist/provider/settings.js");

const repositoryUrl = "https://github.com/reconcile-cloud/reconcile-cloud";

export function packageSchema() {
  const types = {};
  const resources = {};
  // A property that a component shares with a resource has the type that the resource's schema names.
  const shared = new Map();
  for (const { type, inputs } of Object.values(handlers))
    for (const [name, property] of Object.entries(inputs))
      if (!shared.has(property)) shared.set(property, `${type}${capital(name)}`);
  const inputsOf = (type) => [...Object.values(handlers), ...components].find((one) => one.type === type)?.inputs ?? {};
  const example = (type) => exampleOf(type, inputsOf, (property, ofPlace) => shared.get(property) ?? ofPlace);
  for (const handler of Object.values(handlers))
    resources[pluginToken(handler.type)] = resourceSchema(handler, types, example(handler.type));
  for (const component of components)
    resources[pluginToken(component.type)] = componentSchema(component, types, shared, example(component.type));
  const variables = Object.fromEntries(settingNames.map((name) => [name, settings[name]]));
  return {
    name: packageName,
    displayName: "reconcile-cloud",
    // Of the package that tells it.
    version: "",
    description: "Virtual machines, block volumes and security groups, reconciled",
    keywords: ["pulumi", "category/cloud", "kind/native", "virtual-machines"],
    license: "Apache-2.0",
    publisher: "reconcile-cloud",
    homepage: repositoryUrl,
    repository: repositoryUrl,
    logoUrl: "https://raw.githubusercontent.com/reconcile-cloud/reconcile-cloud/main/docs/pictures/logo.png",
    pluginDownloadURL: pluginDownloadUrl,
    meta: { supportPack: true },
    config: { variables },
    provider: { description: "Which service, and how to speak to it.", inputProperties: variables },
    types,
    resources,
    functions: Object.fromEntries(lookups.map((lookup) => [pluginToken(lookup.name), functionSchema(lookup, types)])),
    language,
  };
}

/** How each language names the generated package. */
const language = {
  nodejs: { packageName: "@reconcile-cloud/pulumi", respectSchemaVersion: true },
  python: { packageName: "pulumi_reconcile_cloud", respectSchemaVersion: true, pyproject: { enabled: true } },
  go: {
    importBasePath: "github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud",
    rootPackageName: "reconcilecloud",
    generateResourceContainerTypes: true,
    respectSchemaVersion: true,
  },
  csharp: {
    rootNamespace: "ReconcileCloud",
    namespaces: { [packageName]: "ReconcileCloud" },
    respectSchemaVersion: true,
  },
  java: { basePackage: "cloud.reconcile", buildFiles: "gradle" },
};

const text = (description, environment) => ({
  type: "string",
  description,
  ...(environment === undefined ? {} : { defaultInfo: { environment: [environment] } }),
});

/** A credential has no default: a credential from the environment is then written nowhere. */
const settings = {
  baseUrl: text("embedded, or the URL of the service; else RECONCILE_BASE_URL.", "RECONCILE_BASE_URL"),
  dialect: text("The path of a dialect, or the dialect as JSON; else RECONCILE_DIALECT.", "RECONCILE_DIALECT"),
  timing: text("How long to wait, as JSON, with the names that a file has."),
  token: { ...text("The token; better left to RECONCILE_TOKEN, which is in no state."), secret: true },
  authorization: { ...text("The whole Authorization value; better left to RECONCILE_AUTHORIZATION."), secret: true },
  insecureHttp: { type: "boolean", description: "Permits plain http to another host than this one." },
  parallelism: { type: "integer", description: "Requests at once, at most; 10 when left out." },
  timeScale: { type: "number", description: "How much faster than the real one the embedded service is." },
  acceptService: {
    type: "boolean",
    description: "The service has moved to this address: what the state knows of the former one holds here.",
  },
};

const describeAll = (properties, prefix, types, isInput, shared = new Map()) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      {
        ...typeSchema(property, `${prefix}${capital(name)}`, types, shared),
        description: `${property.description}${isInput && property.onlyToCreate === true ? " Needed to create one." : ""}`,
        ...(isInput && property.default !== undefined ? { default: property.default } : {}),
        ...(isInput && property.replaces === true ? { willReplaceOnChanges: true } : {}),
      },
    ]),
  );

const requiredIn = (properties) =>
  Object.entries(properties).flatMap(([name, { required }]) => (required === true ? [name] : []));

/**
 * Only a create needs these, so an existing resource may leave them out: a program that an import wrote does not have
 * them.
 */
const requiredOfExisting = (properties) =>
  requiredIn(properties).filter((name) => properties[name]?.onlyToCreate !== true);

function resourceSchema({ type, description, inputs, outputs }, types, example) {
  return {
    description: `${description}\n\n${example}\n\n${importOf(type)}`,
    inputProperties: describeAll(inputs, type, types, true),
    // The name may be left out; then it is the resource's name in the program.
    requiredInputs: requiredOfExisting(inputs).filter((name) => name !== "name"),
    properties: describeAll({ ...inputs, ...outputs }, type, types, false),
    required: requiredOfExisting(inputs),
    // A program that had these as dynamic resources keeps what it has.
    aliases: [{ type: dynamicToken(type) }],
  };
}

/** The id by which an existing one is imported, in words and as a command. */
const idForms = {
  Vm: ["the id of the VM", "0b5c3a1e-5b7e-4d0c-9a53-8f0a3a5f9d11"],
  Volume: ["the id of the volume", "7d1f6c52-8f4e-4c0e-8d4b-2b6a1c9e5f22"],
  VolumeAttachment: [
    "the ids of the VM and of the volume, with a slash between them",
    "0b5c3a1e-5b7e-4d0c-9a53-8f0a3a5f9d11/7d1f6c52-8f4e-4c0e-8d4b-2b6a1c9e5f22",
  ],
  SecurityGroup: ["the id of the group", "3e9a4b70-1c2d-4f5a-b6c7-d8e9f0a1b233"],
  SecurityGroupRule: [
    "the ids of the group and of the rule, with a slash between them",
    "3e9a4b70-1c2d-4f5a-b6c7-d8e9f0a1b233/5c8d7e6f-9a0b-4c1d-8e2f-3a4b5c6d7e44",
  ],
};

function importOf(type) {
  const form = idForms[type];
  if (form === undefined) return "";
  const [words, id] = form;
  return `## Import\n\nAn existing one is imported by ${words}:\n\n\`\`\`sh\n$ pulumi import ${pluginToken(type)} example ${id}\n\`\`\``;
}

const componentSchema = ({ type, description, inputs, outputs }, types, shared, example) => ({
  isComponent: true,
  description: `${description}\n\n${example}`,
  inputProperties: describeAll(inputs, type, types, true, shared),
  requiredInputs: requiredIn(inputs).filter((name) => name !== "name"),
  properties: describeAll(outputs, type, types, false),
  required: requiredIn(outputs),
});

const functionSchema = ({ name, description, inputs, outputs }, types) => ({
  description: `${description}\n\n${lookupExampleOf(name)}`,
  inputs: { properties: describeAll(inputs, capital(name), types, true), required: requiredIn(inputs) },
  outputs: { properties: describeAll(outputs, `${capital(name)}Result`, types, false), required: requiredIn(outputs) },
});

function typeSchema(property, ownName, types, shared = new Map()) {
  const name = shared.get(property) ?? ownName;
  if (property.items !== undefined)
    return {
      type: "array",
      items: typeSchema(property.items, property.items.type === "object" ? `${name}Item` : name, types, shared),
    };
  if (property.values !== undefined) {
    types[pluginToken(name)] = { type: "string", enum: property.values.map((value) => ({ value })) };
    return { $ref: `#/types/${pluginToken(name)}` };
  }
  if (property.mapOf !== undefined)
    return { type: "object", additionalProperties: typeSchema(property.mapOf, `${name}Item`, types, shared) };
  if (property.type !== "object") return { type: property.type };
  if (property.properties === undefined) return { $ref: "pulumi.json#/Any" };
  types[pluginToken(name)] = {
    type: "object",
    description: property.description,
    properties: describeAll(property.properties, name, types, false, shared),
    required: requiredIn(property.properties),
  };
  return { $ref: `#/types/${pluginToken(name)}` };
}
