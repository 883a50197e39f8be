import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { root } from "./cli-process";

/* What a reader of JSON asks of it, held against the schema: which fields it looks at, and which the schema names. */

export interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly pattern?: string;
  readonly format?: string;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

export const schemaOf = (name: string): Schema =>
  JSON.parse(readFileSync(join(__dirname, `../../schemas/${name}.schema.json`), "utf8"));

/** What was asked of the objects that stand for a schema, by its place in the document. */
export class Asked {
  readonly names = new Map<string, Set<string>>();
  readonly named = new Map<string, readonly string[]>();

  constructor(readonly root: Schema) {}

  /** A value with all that the schema names. `turn`: which of several alternatives stands where only one can. */
  valueOf(schema: Schema, place: string, turn: number, kind?: string): unknown {
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split("/").at(-1)!;
      return this.valueOf(this.root.$defs![name]!, name, turn, kind);
    }
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (alternatives !== undefined) {
      const fitting = alternatives.findIndex(
        ({ properties }) => kind !== undefined && properties?.["kind"]?.const === kind,
      );
      const chosen = fitting < 0 ? turn % alternatives.length : fitting;
      return this.valueOf(alternatives[chosen]!, `${place}|${chosen}`, turn, kind);
    }
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return schema.enum[turn % schema.enum.length];
    const type = typeof schema.type === "object" ? schema.type[0] : schema.type;
    if (type === "array") return this.itemsOf(schema.items ?? {}, place, turn, kind);
    if (type === "object") return this.objectOf(schema, place, turn, kind);
    if (type === "string") return textOf(schema, kind);
    if (type === "integer" || type === "number") return 1;
    return type === "null" ? null : true;
  }

  /** One item for each alternative. */
  private itemsOf(items: Schema, place: string, turn: number, kind?: string): unknown[] {
    const target = items.$ref === undefined ? items : this.root.$defs![items.$ref.split("/").at(-1)!]!;
    const count = (target.oneOf ?? target.anyOf)?.length ?? 1;
    return Array.from({ length: count }, (_, index) => this.valueOf(items, `${place}[]`, turn + index, kind));
  }

  private objectOf(schema: Schema, place: string, turn: number, outer?: string): object {
    const { properties = {}, additionalProperties } = schema;
    const given = properties["kind"]?.const;
    const sent = properties["operation"]?.enum;
    const kind = isKind(given) ? given : sent === undefined ? outer : String(sent[turn % sent.length]).split(".")[0];
    const value: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(properties))
      value[name] = this.valueOf(field, `${place}.${name}`, turn, kind);
    if (typeof additionalProperties === "object")
      value[`${kind ?? "vm"}.web`] = this.valueOf(additionalProperties, `${place}.*`, turn, kind ?? "vm");
    return Object.keys(properties).length === 0 ? value : this.watched(value, place, Object.keys(properties));
  }

  /** The same for a value that is there already. Only what a closed object names is held against what is asked. */
  watch(value: unknown, schema: Schema | undefined, place: string): unknown {
    if (typeof value !== "object" || value === null || schema === undefined) return value;
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split("/").at(-1)!;
      return this.watch(value, this.root.$defs![name], name);
    }
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (alternatives !== undefined) {
      const fitting = alternatives.findIndex((one) => fits(value, one, this.root));
      return this.watch(value, alternatives[fitting], `${place}|${fitting}`);
    }
    if (Array.isArray(value)) return value.map((item) => this.watch(item, schema.items, `${place}[]`));
    const inner = Object.entries(value).map(([name, field]) => {
      const other = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
      return [name, this.watch(field, schema.properties?.[name] ?? other, `${place}.${name}`)] as const;
    });
    const copy: Record<string, unknown> = Object.fromEntries(inner);
    const isClosed = schema.properties !== undefined && schema.additionalProperties === false;
    return isClosed ? this.watched(copy, place, Object.keys(schema.properties)) : copy;
  }

  /** Which alternative it is is found out by asking for what another one has. */
  private isOfAnother(place: string, name: string): boolean {
    const [alternatives] = /^.*\|/.exec(place) ?? [];
    if (alternatives === undefined) return false;
    return [...this.named].some(([other, named]) => other.startsWith(alternatives) && named.includes(name));
  }

  private watched(value: Record<string, unknown>, place: string, named: readonly string[]): object {
    this.named.set(place, named);
    const note = (name: string | symbol): void => {
      if (typeof name !== "string" || name === "toJSON") return;
      const names = this.names.get(place) ?? new Set<string>();
      this.names.set(place, names.add(name));
    };
    return new Proxy(value, {
      getOwnPropertyDescriptor(target, name) {
        note(name);
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
      get(target, name) {
        note(name);
        return Reflect.get(target, name);
      },
    });
  }

  /** What is only asked for, and what is only named, at the places that were looked into at all. */
  differences(): string[] {
    return [...this.names].flatMap(([place, asked]) => {
      const named = new Set(this.named.get(place));
      return [
        ...[...asked]
          .filter((name) => !named.has(name) && !this.isOfAnother(place, name))
          .map((name) => `${place}.${name}: checked, and in no schema`),
        ...[...named]
          .filter((name) => !asked.has(name))
          .map((name) => `${place}.${name}: in the schema, and never checked`),
      ];
    });
  }
}

/** By the constants that tell alternatives apart. */
function fits(value: object, schema: Schema, root: Schema): boolean {
  if (schema.$ref !== undefined) return fits(value, root.$defs![schema.$ref.split("/").at(-1)!]!, root);
  if (schema.type !== undefined && schema.type !== (Array.isArray(value) ? "array" : "object")) return false;
  return Object.entries(schema.properties ?? {}).every(([name, field]) => {
    const found = Reflect.get(value, name) as unknown;
    if (field.const === undefined) return true;
    return typeof field.const !== "string" || found === field.const;
  });
}

const isKind = (value: unknown): value is string => value === "vm" || value === "volume" || value === "group";

function textOf({ format, pattern }: Schema, kind = "vm"): string {
  if (format === "date-time") return "2026-01-01T00:00:00Z";
  if (pattern?.includes("A-Fa-f:.") === true) return "10.0.0.3";
  return pattern?.includes("vm|volume|group") === true ? `${kind}.web` : "2026-01-01T00:00:00Z";
}

/* schemas/events.schema.json, for whoever has lines of --json to hold against it. */

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
