/** Whether a value that was read from a state or from a saved plan is what its readers rely on. */
import { type Fields, isObject, isOneOf } from "../text/objects";
import { parseAddress } from "./address";
import type { FieldRow, FieldType, Rows } from "./fields";

export type Check = (value: unknown) => boolean;
/** The same, where the compiler is to know the type of what passes. */
type Guard<T> = (value: unknown) => value is T;

export const text: Check = (value) => typeof value === "string";
export const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
export const flag: Check = (value) => typeof value === "boolean";
export const object: Check = isObject;
export const address: Check = (value) => typeof value === "string" && parseAddress(value) !== undefined;
/** The address of a machine becomes a word of commands and a line of other programs' files. */
export const ipText: Check = (value) => typeof value === "string" && /^[0-9A-Fa-f:.]+$/.test(value);
export const timeText: Check = (value) => typeof value === "string" && !Number.isNaN(Date.parse(value));
export function oneOf(...values: readonly string[]): Check {
  return (value) => isOneOf(value, values);
}
export function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}
function isEither(...checks: readonly Check[]): Check {
  return (value) => checks.some((check) => check(value));
}
export function list(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}
export function mapWith<T>(check: Check): Guard<Readonly<Record<string, T>>> {
  return (value): value is Readonly<Record<string, T>> => isObject(value) && Object.values(value).every(check);
}
/** Whether a value is a map with these fields. Other fields are another version's, and are left alone. */
export const shape = <T extends object = Fields>(fields: { readonly [K in keyof T]-?: Check }): Guard<T> => {
  const entries = Object.entries<Check>(fields);
  return (value): value is T =>
    isObject(value) && entries.every(([field, check]) => check(Object.hasOwn(value, field) ? value[field] : undefined));
};

const place = shape({ file: text, line: number, column: optional(number) });
const reference = isEither(shape({ address }), shape({ id: text }));
/** Text, or text with values in it that only the service knows. */
const template: Check = isEither(
  text,
  shape({
    parts: list(isEither(text, shape({ address, attribute: text, late: optional(flag) }))),
    source: optional(place),
  }),
);
const argv: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(template);
const port: Check = (value) => typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 65_535;
const remote = isEither(
  shape({ kind: oneOf("any") }),
  shape({ kind: oneOf("cidr"), cidr: text }),
  shape({ kind: oneOf("group"), group: reference }),
  shape({ kind: oneOf("computed"), text: template }),
);
export const isRule = shape({
  direction: oneOf("ingress", "egress"),
  ethertype: oneOf("IPv4", "IPv6"),
  protocol: text,
  ports: optional(shape({ min: port, max: port })),
  remote,
  description: optional(template),
});

const checkOfType: Readonly<Record<Extract<FieldType, string>, Check>> = {
  text,
  remark: template,
  name: text,
  size: number,
  flag,
  reference,
  flush: isEither(
    shape({ via: oneOf("ask", "stop") }),
    shape({ via: oneOf("command"), argv, env: optional(list(text)), folder: optional(text) }),
  ),
  command: shape({ argv, env: optional(list(text)), timeoutMs: number, again: optional(oneOf("when_changed")) }),
  rules: list(isRule),
};

const checkOf = ({ type }: FieldRow): Check => (typeof type === "string" ? checkOfType[type] : oneOf(...type));

export const checksOfRecord = (rows: Rows): Readonly<Record<string, Check>> =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([key, row]): [string, Check][] =>
      row.recorded === "never" ? [] : [[key, row.recorded === "always" ? checkOf(row) : optional(checkOf(row))]],
    ),
  );
