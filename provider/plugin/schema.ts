/** The package schema, made from the table of handlers: what YAML, Python, Go and `pulumi package` know of us. */
import { type Handler, listHandlers, type Property, version } from "../../reconciler/index";
import { packageName } from "../captured";
import { type SettingName, settingNames } from "../settings";

type Json = Record<string, unknown>;

export function packageSchema(): Json {
  const types: Json = {};
  const resources: Json = {};
  for (const handler of listHandlers())
    resources[`${packageName}:index:${handler.type}`] = resourceSchema(handler, types);
  const variables = Object.fromEntries(settingNames.map((name) => [name, settings[name]]));
  return {
    name: packageName,
    displayName: "reconcile-cloud",
    version,
    description: "Virtual machines, block volumes and security groups, reconciled",
    keywords: ["pulumi", "category/cloud", "kind/native"],
    license: "Apache-2.0",
    config: { variables },
    provider: { description: "Which service, and how to speak to it.", inputProperties: variables },
    types,
    resources,
    language: { nodejs: { respectSchemaVersion: true }, python: { respectSchemaVersion: true } },
  };
}

const text = (description: string, environment?: string): Json => ({
  type: "string",
  description,
  ...(environment === undefined ? {} : { defaultInfo: { environment: [environment] } }),
});

/** A credential has no default: what is taken from the environment then is never written anywhere. */
const settings: Readonly<Record<SettingName, Json>> = {
  baseUrl: text("embedded, or the URL of the service; else RECONCILE_BASE_URL."),
  dialect: text("The path of a dialect, or the dialect as JSON; else RECONCILE_DIALECT."),
  timing: text("How long to wait, as JSON, with the names that a file has."),
  token: { ...text("The token; better left to RECONCILE_TOKEN, which is in no state."), secret: true },
  authorization: { ...text("The whole Authorization value; better left to RECONCILE_AUTHORIZATION."), secret: true },
  insecureHttp: { type: "boolean", description: "Permits plain http to another host than this one." },
  parallelism: { type: "integer", description: "Requests at once, at most." },
  timeScale: { type: "number", description: "How much faster than the real one the embedded service is." },
  acceptService: {
    type: "boolean",
    description: "The service has moved to this address: what the state knows of the former one holds here.",
  },
};

function resourceSchema({ type, description, inputs, outputs }: Handler, types: Json): Json {
  const describe = (properties: Readonly<Record<string, Property>>, isInput: boolean): Json =>
    Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        {
          ...typeSchema(property, `${type}${capital(name)}`, types),
          description: property.description,
          ...(isInput && property.replaces === true ? { willReplaceOnChanges: true } : {}),
        },
      ]),
    );
  const required = Object.entries(inputs).filter(([, property]) => property.required === true);
  return {
    description,
    inputProperties: describe(inputs, true),
    // A name that is left out is the resource's own.
    requiredInputs: required.map(([name]) => name).filter((name) => name !== "name"),
    properties: describe({ ...inputs, ...outputs }, false),
    required: required.map(([name]) => name),
  };
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

function typeSchema(property: Property, name: string, types: Json): Json {
  if (property.type === "array")
    return {
      type: "array",
      items: typeSchema(property.items!, property.items?.type === "object" ? `${name}Item` : name, types),
    };
  if (property.type !== "object") return { type: property.type };
  if (property.properties === undefined) return { $ref: "pulumi.json#/Any" };
  const token = `${packageName}:index:${name}`;
  types[token] = {
    type: "object",
    description: property.description,
    properties: Object.fromEntries(
      Object.entries(property.properties).map(([key, inner]) => [
        key,
        { ...typeSchema(inner, `${name}${capital(key)}`, types), description: inner.description },
      ]),
    ),
  };
  return { $ref: `#/types/${token}` };
}
