/**
 * Judges requests and answers by the OpenAPI document. Held to everything, a service must also be what we assume where
 * the contract is silent (our emulator is); otherwise only what the contract says counts, and assumed schemas, status
 * codes and operations judge nothing.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020";
import { parse } from "yaml";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

export interface OperationSpec {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly availability: "documented" | "assumed" | "optional";
  readonly definition: JsonObject;
}

export interface Contract {
  readonly operations: ReadonlyMap<string, OperationSpec>;
  /** What is wrong with an answer, in words. */
  checkAnswer(operation: string, status: number, contentType: string, body: unknown): readonly string[];
  /** What is wrong with a request that the service took. */
  checkRequest(operation: string, body: unknown): readonly string[];
  /** The named conditions that this status may stand for; undefined where the contract leaves it open. */
  conditionsOf(operation: string, status: number): readonly string[] | undefined;
}

const documentPath = join(__dirname, "../../schemas/service.openapi.yaml");
export const readDocument = (): JsonObject => parse(readFileSync(documentPath, "utf8")) as JsonObject;

const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  email: /^[^\s@]+@[^\s@]+$/,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
};

export function loadContract(withAssumed: boolean): Contract {
  const document = readDocument();
  const components = at(document, "components");
  const judged = (schema: Json): Json => (withAssumed ? schema : forgetAssumed(schema));
  const schemas = judged(at(components, "schemas"));
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
  const operations = new Map(operationsOf(document).map((operation) => [operation.id, operation]));
  const compiled = new Map<string, ValidateFunction>();

  function problemsOf(key: string, schema: Json | undefined, value: unknown): readonly string[] {
    if (schema === undefined) return [];
    let validate = compiled.get(key);
    if (validate === undefined) {
      validate = ajv.compile({ allOf: [judged(schema)], components: { schemas } });
      compiled.set(key, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || "the body"} ${message}`);
  }

  function responseOf(operation: OperationSpec, status: number): JsonObject | undefined {
    const responses = at(operation.definition, "responses");
    const exact = responses[status];
    // Outside of what the contract says, a success is a success whatever its number.
    const similar = withAssumed || status > 299 ? undefined : Object.entries(responses).find(([key]) => key[0] === "2");
    const found = exact ?? similar?.[1] ?? (status > 299 ? responses["default"] : undefined);
    return found === undefined ? undefined : (resolve(document, found) as JsonObject);
  }

  return {
    operations,
    checkAnswer(id, status, contentType, body) {
      const operation = operations.get(id);
      if (operation === undefined || (operation.availability !== "documented" && !withAssumed)) return [];
      const response = responseOf(operation, status);
      if (response === undefined) return [`status ${status} is not one of this operation's`];
      const about = /^application\/json\b/i.test(contentType)
        ? []
        : [`the content type is ${contentType || "missing"}`];
      const schema = at(at(response, "content"), "application/json")["schema"];
      return [...about, ...problemsOf(`${id} ${status}`, schema, body)];
    },
    checkRequest(id, body) {
      const requestBody = operations.get(id)?.definition["requestBody"];
      if (requestBody === undefined) return [];
      const schema = at(at(requestBody as JsonObject, "content"), "application/json")["schema"];
      return problemsOf(`${id} request`, schema, body);
    },
    conditionsOf(id, status) {
      // Which number stands for which condition is assumed but for three cases, and those assert their number themselves.
      const operation = operations.get(id);
      if (operation === undefined || !withAssumed) return undefined;
      return responseOf(operation, status)?.["x-conditions"] as readonly string[] | undefined;
    },
  };
}

const methods = ["get", "post", "patch", "delete"];

function operationsOf(document: JsonObject): OperationSpec[] {
  return Object.entries(at(document, "paths")).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const definition = (item as JsonObject)[method] as JsonObject | undefined;
      if (definition === undefined) return [];
      const assumed = definition["x-optional"] === true ? "optional" : "assumed";
      return [
        {
          id: String(definition["operationId"]),
          method: method.toUpperCase(),
          path,
          availability: definition["x-assumed"] === true ? assumed : "documented",
          definition,
        } as const,
      ];
    }),
  );
}

/** The same schema with every assumed part of it satisfied by anything. */
function forgetAssumed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(forgetAssumed);
  if (typeof schema !== "object" || schema === null) return schema;
  if ((schema as JsonObject)["x-assumed"] === true) return {};
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, forgetAssumed(value)]));
}

function at(value: JsonObject, key: string): JsonObject {
  return (value[key] ?? {}) as JsonObject;
}

function resolve(document: JsonObject, value: Json): Json {
  const reference = typeof value === "object" && value !== null ? (value as JsonObject)["$ref"] : undefined;
  if (typeof reference !== "string") return value;
  const found = reference
    .slice(2)
    .split("/")
    .reduce<Json | undefined>((inner, key) => (inner as JsonObject | undefined)?.[key], document);
  if (found === undefined) throw new Error(`the document has no ${reference}`);
  return found;
}
