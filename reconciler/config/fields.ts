/**
 * Reads single fields of a map whose values are final (merged, interpolated). Each function answers with the value, or
 * `undefined` when there is none or when it was reported; what only the shape of the file is about is left to the schema.
 */

import { componentOf } from "../core/model/address";
import type { Text } from "../core/model/computed";
import type { PortRange } from "../core/model/rule";
import { canonicalText, isSayable } from "../core/text/canonical-text";
import { idProblem } from "../core/text/id-problem";
import { nearestName } from "../core/text/nearest";
import { longestDurationMs, parseDuration } from "./durations";
import { holdsOpen, openText, placesOfOpen, withoutMarks } from "./open-text";
import { type ConfigCode, type ConfigProblem, fixOfLone, type Problems, shown } from "./problems";
import { isMap, type Path, type Place, type YamlMap } from "./yaml/file";

/** The block that is read, for messages. */
export interface Subject {
  readonly problems: Problems;
  readonly address?: string;
  readonly place: (path: Path, on?: "key" | "value") => Place;
}

/** A part of the block: what is read of it stands at its places. */
export const subjectWithin = (subject: Subject, ...path: Path): Subject => ({
  ...subject,
  place: (inner, on) => subject.place([...path, ...inner], on),
});

export type Values = Readonly<YamlMap>;

/**
 * A block as its rows name its keys: one that they do not name cannot be read. What stands behind a key is not known.
 * The symbol says that any map may be one, although all its keys are optional.
 */
export type ValuesOfRow<Row> = { readonly [K in keyof NonNullable<Row>]?: unknown } & {
  readonly [key: symbol]: unknown;
};
type KeyOf<V> = keyof V & string;

/** Own properties alone, and `null` (a key with nothing behind it) as absent: the schema says where that is wrong. */
export const fieldOf = <V extends object>(values: V, key: KeyOf<V>): unknown =>
  Object.hasOwn(values, key) && values[key] !== null ? values[key] : undefined;

/** Whether a key is written, even with a value that could not be interpolated and is reported already. */
export const isGiven = <V extends object>(values: V, key: KeyOf<V>): boolean =>
  Object.hasOwn(values, key) && values[key] !== null;

/** Reports a problem at a place of the block. */
export const reportAt = (subject: Subject, path: Path, problem: Omit<ConfigProblem, "at">): undefined =>
  subject.problems.add({ address: subject.address, ...problem, at: subject.place(path) });

/** Nothing is reported of what could not be interpolated, which is reported already. */
export function reportValue(
  subject: Subject,
  path: Path,
  value: unknown,
  expected: string,
  { code = "config/invalid-value", fix }: { code?: ConfigCode; fix?: string | undefined } = {},
): undefined {
  if (value === undefined) return undefined;
  const field = path.findLast((step) => typeof step === "string") ?? "value";
  if (typeof value === "string" && holdsOpen(value)) return reportOpen(subject, path, field, value);
  return reportAt(subject, path, {
    code,
    summary: `${field} cannot be ${shown(value)}`,
    detail: `expected ${expected}`,
    fix,
  });
}

/** The components of the file that the block stands in. */
const roomOf = ({ address }: Subject): string => componentOf(address ?? "");

/** Reports a value that only the service knows, at a place that needs the value before anything is planned. */
function reportOpen(subject: Subject, path: Path, field: string, value: string): undefined {
  return reportAt(subject, path, {
    code: "config/not-known-yet",
    summary: `${field} cannot be ${withoutMarks(value, roomOf(subject))}`,
    detail: placesOfOpen,
  });
}

export function reportMissing(subject: Subject, key: string, fix: string): void {
  subject.problems.add({
    code: "config/missing",
    summary: `${key} is missing`,
    fix,
    address: subject.address,
    at: subject.place([], "key"),
  });
}

export function requireKey<V extends object>(subject: Subject, values: V, key: KeyOf<V>, fix: string): void {
  if (!isGiven(values, key)) reportMissing(subject, key, fix);
}

export function readText<V extends object>(
  subject: Subject,
  values: V,
  key: KeyOf<V>,
  lines = false,
): string | undefined {
  const value = fieldOf(values, key);
  if (value === undefined) return undefined;
  if (typeof value === "object") return reportValue(subject, [key], value, "text", { code: "config/wrong-type" });
  const text = String(value);
  if (holdsOpen(text)) return reportValue(subject, [key], text, "text");
  if (!isSayable(text, lines))
    return reportValue(
      subject,
      [key],
      value,
      lines ? "text without control characters" : "one line of text without control characters",
      { code: "config/control-character" },
    );
  return text.trim() === "" && !lines ? reportValue(subject, [key], value, "text that is not empty") : text;
}

/** The same for a text that may hold values that only the service knows. */
export function readOpenText<V extends object>(
  subject: Subject,
  values: V,
  key: KeyOf<V>,
  lines = false,
): Text | undefined {
  const value = fieldOf(values, key);
  if (typeof value !== "string" || !holdsOpen(value)) return readText(subject, values, key, lines);
  const read = readText<Values>(subject, { ...values, [key]: withoutMarks(value) }, key, lines);
  return read === undefined ? undefined : openText(value);
}

/** What people write for each other, over several lines if they like. */
export function readRemark(subject: Subject, values: Values, key: string): Text | undefined {
  const value = values[key];
  const written = typeof value === "string" ? canonicalText(value) : value;
  return readOpenText<Values>(subject, { ...values, [key]: written }, key, true);
}

/** The id of something that exists: text that a request can carry and a terminal can show. */
export function readUnmanagedId(subject: Subject, values: Values | { readonly id?: unknown }): string | undefined {
  const id = readText(subject, values, "id");
  const problem = id === undefined ? undefined : idProblem(id);
  return problem === undefined ? id : reportValue(subject, ["id"], id, `the id of what exists; this one ${problem}`);
}

export function readBoolean<V extends object>(subject: Subject, values: V, key: KeyOf<V>): boolean | undefined {
  const value = fieldOf(values, key);
  if (value === undefined || typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  const meant = typeof value === "string" ? meantBoolean(value) : undefined;
  return reportValue(subject, [key], value, "true or false", {
    code: "config/wrong-type",
    fix: meant === undefined ? undefined : `write ${meant}`,
  });
}

/** What older YAML took for a truth value. */
const meantBoolean = (text: string): boolean | undefined =>
  /^(?:y|yes|on|true|1)$/i.test(text) ? true : /^(?:n|no|off|false|0)$/i.test(text) ? false : undefined;

export function readEnum<T extends string, V extends object>(
  subject: Subject,
  values: V,
  key: KeyOf<V>,
  allowed: readonly T[],
  foreign: Readonly<Record<string, T>> = {},
): T | undefined {
  const value = fieldOf(values, key);
  return value === undefined ? undefined : checkEnum(subject, value, allowed, [key], foreign);
}

function checkEnum<T extends string>(
  subject: Subject,
  value: unknown,
  allowed: readonly T[],
  path: Path,
  foreign: Readonly<Record<string, T>> = {},
): T | undefined {
  const found = allowed.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  const word = String(value).toLowerCase();
  const nearest = Object.hasOwn(foreign, word) ? foreign[word] : nearestName(word, allowed);
  return reportValue(subject, path, value, `one of ${allowed.join(", ")}`, {
    code: "config/not-allowed",
    fix: nearest === undefined ? undefined : `write ${nearest}`,
  });
}

/** A whole number, as number or as text. */
function readInteger<V extends object>(
  subject: Subject,
  values: V,
  key: KeyOf<V>,
  { min, max, what }: { min: number; max: number; what: string },
): number | undefined {
  const value = fieldOf(values, key);
  if (value === undefined) return undefined;
  const number = typeof value === "string" && /^\s*[0-9]+\s*$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
  // A number of MB or TB is another one here.
  const [, digits] = /^\s*([0-9]+)\s*(?![kmtp]i?b?\s*$)[A-Za-z]+\s*$/i.exec(String(value)) ?? [];
  const fits = digits !== undefined && Number(digits) >= min && Number(digits) <= max;
  return reportValue(subject, [key], value, what, { fix: fits ? `write ${digits}` : undefined });
}

/**
 * A port, or a range of ports, as text. A zero before it (`080`) or a space is a slip, and reads as another number
 * elsewhere.
 */
export const portsPattern = /^([1-9][0-9]*|0)(?: ?- ?([1-9][0-9]*|0))?$/;

/** A port, or a range of ports, as it is written: whether there are such ports is for `arePorts` to say. */
export function portsOfText(value: unknown): PortRange | undefined {
  const match = typeof value === "number" || typeof value === "string" ? portsPattern.exec(String(value)) : null;
  return match === null ? undefined : { min: Number(match[1]), max: Number(match[2] ?? match[1]) };
}

export const arePorts = ({ min, max }: PortRange): boolean => min >= 1 && min <= max && max <= 65535;

export const isPort = (text: string): boolean => Number(text) >= 1 && Number(text) <= 65535;

export function readPort<V extends object>(subject: Subject, values: V, key: KeyOf<V>): number | undefined {
  const value = fieldOf(values, key);
  if (typeof value === "string" && /^\s*[0-9]+\s*$/.test(value) && !portsPattern.test(value))
    return reportValue(subject, [key], value, "a port from 1 to 65535", {
      fix: isPort(value) ? `write ${Number(value)}` : undefined,
    });
  return readInteger(subject, values, key, { min: 1, max: 65535, what: "a port from 1 to 65535" });
}

export const readSize = <V extends object>(subject: Subject, values: V, key: KeyOf<V>): number | undefined =>
  readInteger(subject, values, key, { min: 1, max: Number.MAX_SAFE_INTEGER, what: "a whole number of GB, at least 1" });

export function readDuration<V extends object>(subject: Subject, values: V, key: KeyOf<V>): number | undefined {
  const value = fieldOf(values, key);
  if (value === undefined) return undefined;
  const ms = typeof value === "string" ? parseDuration(value) : undefined;
  if (ms !== undefined) return ms;
  return reportValue(
    subject,
    [key],
    value,
    `a duration such as 30ms, 2s, 15m or 1h, at most ${Math.floor(longestDurationMs / 3_600_000)}h`,
    { fix: durationMeant(value) },
  );
}

/** `5` and `2 seconds` as durations are written here. */
function durationMeant(value: unknown): string | undefined {
  const [, digits, unit = ""] = /^\s*([0-9]+)\s*(ms|s|m|h)[a-z]*\s*$/i.exec(String(value)) ?? [];
  const meant = typeof value === "number" ? `${value}s` : `${digits}${unit.toLowerCase()}`;
  return parseDuration(meant) === undefined ? undefined : `write ${meant}`;
}

export function readMap<V extends object>(subject: Subject, values: V, key: KeyOf<V>): Values {
  const value = fieldOf(values, key);
  if (value === undefined || isMap(value)) return value ?? {};
  reportValue(subject, [key], value, "a map", { code: "config/wrong-type" });
  return {};
}

export function readList<V extends object>(subject: Subject, values: V, key: KeyOf<V>): readonly unknown[] {
  const value = fieldOf(values, key);
  if (value === undefined || Array.isArray(value)) return value ?? [];
  reportValue(subject, [key], value, "a list", { code: "config/wrong-type", fix: fixOfLone(key, value) });
  return [];
}

/** A list of words, each once; sorted in the order of `allowed`, since the order means nothing. */
export function readEnumList<T extends string, V extends object>(
  subject: Subject,
  values: V,
  key: KeyOf<V>,
  allowed: readonly T[],
): T[] {
  const given = new Set<T>();
  for (const [index, item] of readList(subject, values, key).entries()) {
    const word = item === undefined ? undefined : checkEnum(subject, item, allowed, [key, index]);
    if (word !== undefined) given.add(word);
  }
  return allowed.filter((word) => given.has(word));
}

/** `env:` beside a command: the names of the variables that the program may see, beside those that every one sees. */
export function readVariables(
  subject: Subject,
  values: Values | { readonly env?: unknown },
): { readonly env?: readonly string[] } {
  const value = fieldOf(values, "env");
  if (value === undefined) return {};
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const names = list.flatMap((name, index) => {
    if (typeof name === "string" && isVariableName(name)) return [name];
    reportValue(
      subject,
      ["env", index],
      name,
      "the name of an environment variable; RECONCILE_… holds secrets of this program and is handed to none",
    );
    return [];
  });
  return names.length === 0 ? {} : { env: [...new Set(names)] };
}

/** The values of RECONCILE_… that a program gets are those of its purpose. */
const isVariableName = (name: string): boolean => /^(?!RECONCILE_)[A-Za-z_][A-Za-z0-9_]*$/i.test(name);

/** The words of a command line, each as a list in brackets takes it; what only a shell understands is left to one. */
function argvMeant(text: string): string[] {
  const needsShell = /[&|;<>$`"'\\*?()#!~{}[\]]/.test(text.replaceAll(/\$\{[^}]*\}/g, ""));
  const words = needsShell ? ["sh", "-c", text] : text.trim().split(/\s+/);
  return words.map((word) =>
    /^-{0,2}[A-Za-z/._][\w./=@%+-]*$/.test(word) && !/^(?:null|true|false)$/i.test(word) ? word : JSON.stringify(word),
  );
}

/** A program and its arguments; `undefined` when there is none. */
export function readArgv<V extends object>(subject: Subject, values: V, key: KeyOf<V>): Text[] | undefined {
  const value = fieldOf(values, key);
  if (value === undefined) return undefined;
  const expected = "a list: the program and its arguments";
  if (!Array.isArray(value) || value.length === 0) {
    const text = typeof value === "string" ? withoutMarks(value, roomOf(subject)) : undefined;
    const fix = text === undefined || text.trim() === "" ? undefined : `write [${argvMeant(text).join(", ")}]`;
    return reportValue(subject, [key], text ?? value, expected, { code: "config/wrong-type", fix });
  }
  for (const [index, item] of value.entries())
    if (typeof item === "object" || (typeof item === "string" && item.includes("\u0000")))
      return reportValue(subject, [key, index], item, "text", { code: "config/wrong-type" });
  if (String(value[0]).trim() === "") return reportValue(subject, [key, 0], value[0], "the name of a program");
  return value.includes(undefined) ? undefined : value.map((word) => openText(String(word)));
}
