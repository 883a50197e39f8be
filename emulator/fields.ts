/**
 * Reads the fields of a request body and collects every problem, as a statically typed server would: a field of the
 * wrong JSON type is a bad request, null where a text is said among them, and an unknown field is passed over.
 */
export interface FieldReader {
  readonly problems: string[];
  text(name: string): string | undefined;
  requiredText(name: string): string;
  flag(name: string): boolean | undefined;
  list(name: string): readonly unknown[] | undefined;
}

export const isBodyObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function readFields(body: unknown, prefix = ""): FieldReader {
  const problems: string[] = [];
  if (!isBodyObject(body))
    problems.push(prefix === "" ? "the body must be a JSON object" : `${prefix.slice(0, -1)} must be an object`);
  const object = isBodyObject(body) ? body : {};

  function read<T>(name: string, expected: string, fits: (value: unknown) => value is T): T | undefined {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined) return undefined;
    if (fits(value)) return value;
    problems.push(`${prefix}${name} must be ${expected}`);
    return undefined;
  }

  const fields: FieldReader = {
    problems,
    text: (name) => read(name, "a string", (value) => typeof value === "string"),
    requiredText(name) {
      const before = problems.length;
      const value = fields.text(name);
      if ((value === undefined || value === "") && problems.length === before && isBodyObject(body))
        problems.push(`${prefix}${name} cannot be empty`);
      return value ?? "";
    },
    flag: (name) => read(name, "a boolean", (value) => typeof value === "boolean"),
    list: (name) => read(name, "an array", (value): value is readonly unknown[] => Array.isArray(value)),
  };
  return fields;
}

/** The name rule of the contract; upper case is lower-cased. Only ASCII is, or the Kelvin sign would become a `k`. */
export function readEntityName(fields: FieldReader): string {
  const before = fields.problems.length;
  const name = fields.requiredText("name");
  if (fields.problems.length === before) checkName(name, fields.problems);
  return name.toLowerCase();
}

export function checkName(name: string, problems: string[]): void {
  if (!/^[A-Za-z0-9-]{3,50}$/.test(name))
    problems.push(`name must be one word of 3 to 50 characters: a-z, 0-9 and hyphens`);
}

/** A size in GB, sent as text. `undefined` when it was left out or empty, or when it is a problem. */
export function readSizeGb(fields: FieldReader, field: string): number | undefined {
  const text = fields.text(field);
  if (text === undefined || text === "") return undefined;
  if (/^[1-9][0-9]{0,6}$/.test(text)) return Number(text);
  fields.problems.push(
    /^[1-9][0-9]+$/.test(text)
      ? `${field} must be at most 9999999 GB`
      : `${field} must be a whole number of GB, at least 1, as a string`,
  );
  return undefined;
}

export function readRequiredSizeGb(fields: FieldReader): number {
  const before = fields.problems.length;
  const size = readSizeGb(fields, "size");
  if (size === undefined && fields.problems.length === before)
    fields.problems.push(`size cannot be empty: it is a whole number of GB, at least 1, as a string`);
  return size ?? 0;
}

const entityIdPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isEntityId = (text: string): boolean => entityIdPattern.test(text);
