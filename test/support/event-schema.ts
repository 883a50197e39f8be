/** schemas/events.schema.json, for whoever has lines of --json to hold against it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { root } from "./cli-process";

const schema = JSON.parse(readFileSync(join(root, "schemas/events.schema.json"), "utf8")) as {
  readonly oneOf: readonly { readonly $ref: string }[];
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, discriminator: false });
ajv.addSchema(schema, "events");
export const eventTypes = schema.oneOf.map(({ $ref }) => $ref.slice("#/$defs/".length));

/** Empty: the line is as its schema says. */
export function problemsOfEvent(line: Record<string, unknown>): string {
  const type = String(line["type"]);
  if (!eventTypes.includes(type)) return `no schema for ${type}`;
  const validate = ajv.getSchema(`events#/$defs/${type}`)!;
  return validate(line) ? "" : `${JSON.stringify(line)}: ${ajv.errorsText(validate.errors)}`;
}
