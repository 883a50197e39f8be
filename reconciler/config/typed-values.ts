/**
 * What a variable or a parameter may be: its type, the type of its items, and the limits that its declaration names.
 * A value that stands in a file has a type of its own; one from a command line or the environment is text, and is read
 * as what its type asks for. Without a stated type the default says which one is meant, and then nothing is refused: a
 * text that does not fit stays text.
 */

import { parseCidr } from "../core/canonical/cidr";
import { errorMessage } from "../core/text/errors";
import { listed } from "../core/text/list-text";
import { nearestText } from "../core/text/nearest";
import { endlessDetail, endlessFix, fitOf } from "./patterns";
import { type ConfigCode, type Problems, shown } from "./problems";
import { isMap, type Path, type Place } from "./yaml/file";
import { parseValue } from "./yaml/reader";

const valueTypes = ["text", "number", "boolean", "list", "map", "cidr", "port"] as const;
export type ValueType = (typeof valueTypes)[number];
type ItemType = Exclude<ValueType, "list" | "map">;

export interface Declaration {
  readonly type?: ValueType;
  /** The type of a list's items, or of a map's values. */
  readonly of?: ItemType;
  readonly oneOf?: readonly unknown[];
  readonly min?: number;
  readonly max?: number;
  readonly matches?: RegExp;
  readonly sensitive: boolean;
}

/** Why a value does not fit the declaration. */
export interface ValueMisfit {
  readonly code: ConfigCode;
  readonly path: Path;
  readonly value: unknown;
  readonly expected: string;
  readonly fix?: string | undefined;
}

export type Fitted = { readonly value: unknown } | { readonly misfit: ValueMisfit };

/**
 * Reads a declaration, one row for each key, and reports its contradictions. The schema reports a declaration that is no
 * map, or of a wrong shape.
 */
export function readDeclaration(declared: unknown, place: (path: Path) => Place, problems: Problems): Declaration {
  if (!isMap(declared)) return { sensitive: false };
  const report = (key: string, summary: string, fix?: string): undefined =>
    void problems.add({ code: "config/invalid-value", summary, fix, at: place([key]) });
  const type = valueTypes.find((each) => each === declared["type"]);
  const of = valueTypes.find((each) => each === declared["of"]);
  const { min, max, matches, one_of: oneOf } = declared;
  const holdsItems =
    type === "list" || type === "map" || (type === undefined && typeof declared["default"] === "object");
  if (declared["of"] !== undefined && type !== undefined && !holdsItems)
    report("of", `of is for the items of a list or a map, and this is ${articles[type]}`, "write type: list");
  if (typeof min === "number" && typeof max === "number" && min > max)
    report("min", `min ${min} is more than max ${max}`, `write min: ${max} and max: ${min}`);
  return {
    type,
    of: of === undefined || of === "list" || of === "map" ? undefined : of,
    // The schema says that an empty one allows nothing.
    oneOf: Array.isArray(oneOf) && oneOf.length > 0 ? oneOf : undefined,
    min: typeof min === "number" ? min : undefined,
    max: typeof max === "number" ? max : undefined,
    ...(typeof matches === "string" ? readPattern(matches, declared, report) : {}),
    sensitive: declared["sensitive"] === true,
  };
}

/** Of a parameter, for all uses of its component: one of them waits for a pattern that does not end. */
const patternsKnown = new WeakMap<object, RegExp>();

function readPattern(
  pattern: string,
  declared: object,
  report: (key: string, summary: string) => void,
): { matches?: RegExp } {
  try {
    const matches = patternsKnown.get(declared) ?? new RegExp(`^(?:${pattern})$`, "u");
    patternsKnown.set(declared, matches);
    return { matches };
  } catch (error) {
    report("matches", `matches is no regular expression: ${errorMessage(error)}`);
    return {};
  }
}

const articles: Record<ValueType, string> = {
  text: "a text",
  number: "a number",
  boolean: "true or false",
  list: "a list",
  map: "a map",
  cidr: "an address or a CIDR",
  port: "a port",
};
const expectations: Record<ValueType, string> = {
  ...articles,
  text: "text",
  cidr: "an address or a CIDR such as 10.0.0.0/24 or 2001:db8::/32",
  port: "a port from 1 to 65535, or a range such as 8000-8010",
};

function typeOf(value: unknown): ValueType {
  if (Array.isArray(value)) return "list";
  if (typeof value === "object" && value !== null) return "map";
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "boolean";
  return "text";
}

/** `isText`: it comes from where everything is text, so that `[a, b]` is meant as the list that it would be in a file. */
export function fitToType(value: unknown, declaration: Declaration, isText: boolean, fallback?: unknown): Fitted {
  const { type } = declaration;
  if (type === undefined) {
    const meant = fallback === undefined || fallback === null ? undefined : typeOf(fallback);
    const read = isText && meant !== undefined ? converters[meant](value, true) : undefined;
    return limit(read === undefined ? value : read, declaration, isText);
  }
  const read = converters[type](value, isText);
  if (read !== undefined) return limit(read, declaration, isText);
  const fix = typeof value === "object" ? undefined : fixOfStructure(String(value), type);
  return { misfit: { code: "config/wrong-type", path: [], value, expected: expectations[type], fix } };
}

/** A text that begins as a list or a map does is one that could not be read as it is. */
function fixOfStructure(text: string, type: ValueType): string | undefined {
  if (type !== "list" && type !== "map") return undefined;
  if (/^\s*[[{]/.test(text))
    return "write it as YAML has it: numbers such as 007 in quotes, each key once, brackets closed";
  return type === "list" ? `write [${text}]` : undefined;
}

const plainNumber = /^\s*-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\s*$/;

/** `undefined`: the value is not of the type. */
type Convert = (value: unknown, isText: boolean) => unknown;

const structured =
  (type: "list" | "map"): Convert =>
  (value, isText) => {
    const read = isText && typeof value === "string" ? parseValue(value) : value;
    return typeof read === "object" && read !== null && typeOf(read) === type ? read : undefined;
  };

const converters: Readonly<Record<ValueType, Convert>> = {
  text: (value) => (typeof value === "object" ? undefined : String(value)),
  number(value) {
    if (typeof value === "number") return value;
    return typeof value === "string" && plainNumber.test(value) ? Number(value) : undefined;
  },
  boolean(value) {
    if (typeof value === "boolean") return value;
    return value === "true" || value === "false" ? value === "true" : undefined;
  },
  cidr: (value) => (typeof value === "string" && parseCidr(value) !== undefined ? value.trim() : undefined),
  port: (value) => (isPortValue(value) ? value : undefined),
  list: structured("list"),
  map: structured("map"),
};

function isPortValue(value: unknown): boolean {
  const match = /^\s*([0-9]{1,5})\s*(?:-\s*([0-9]{1,5})\s*)?$/.exec(String(value));
  const [low, high] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
  return match !== null && typeof value !== "boolean" && low >= 1 && low <= high && high <= 65535;
}

function limit(value: unknown, declaration: Declaration, isText: boolean): Fitted {
  const items = typeof value === "object" && value !== null ? Object.entries(value) : undefined;
  const counted = countMisfit(value, items?.length, declaration);
  if (counted !== undefined) return { misfit: counted };
  if (items === undefined) {
    const misfit = wordMisfit(value, declaration);
    return misfit === undefined ? { value } : { misfit };
  }
  return limitItems(value, items, declaration, isText);
}

function limitItems(
  value: unknown,
  items: readonly (readonly [string, unknown])[],
  declaration: Declaration,
  isText: boolean,
): Fitted {
  const { of, type } = declaration;
  const changed = new Map<string, unknown>();
  for (const [key, item] of items) {
    const path = [Array.isArray(value) ? Number(key) : key];
    const read = of === undefined || item === null ? item : converters[of](item, isText);
    if (read === undefined && of !== undefined)
      return { misfit: { code: "config/wrong-type", path, value: item, expected: expectations[of] } };
    // In a map without a type for its values each value may be anything: limits are for single words.
    const misfit = type === "map" && of === undefined ? undefined : wordMisfit(read, declaration);
    if (misfit !== undefined) return { misfit: { ...misfit, path } };
    if (read !== item) changed.set(key, read);
  }
  if (changed.size === 0) return { value };
  const entries = items.map(([key, item]) => [key, changed.get(key) ?? item] as const);
  return { value: Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries) };
}

/** The size of a number, the length of a text, how many items there are. */
function countMisfit(value: unknown, items: number | undefined, { min, max }: Declaration): ValueMisfit | undefined {
  if (min === undefined && max === undefined) return undefined;
  const count = items ?? (typeof value === "number" ? value : typeof value === "string" ? value.length : undefined);
  if (count === undefined || ((min === undefined || count >= min) && (max === undefined || count <= max)))
    return undefined;
  const unit = items !== undefined ? " items" : typeof value === "number" ? "" : " characters";
  const bounds = [...(min === undefined ? [] : [`at least ${min}`]), ...(max === undefined ? [] : [`at most ${max}`])];
  return { code: "config/invalid-value", path: [], value, expected: `${bounds.join(" and ")}${unit}` };
}

function wordMisfit(value: unknown, { oneOf, matches }: Declaration): ValueMisfit | undefined {
  if (typeof value === "object") return undefined;
  if (oneOf !== undefined && !oneOf.some((each) => each === value || String(each) === String(value))) {
    const words = oneOf.map(String);
    const fix = nearestText(String(value), words, (near) => `write ${near}`);
    const expected = `one of ${listed(words, 16)}`;
    return { code: "config/not-allowed", path: [], value, expected, fix };
  }
  const fit = matches === undefined ? "fits" : fitOf(matches, String(value));
  if (matches === undefined || fit === "fits") return undefined;
  const expected = `text that fits ${matches.source.slice(4, -2)}`;
  const misfit = { code: "config/invalid-value", path: [], value } as const;
  if (fit === "differs") return { ...misfit, expected };
  return { ...misfit, expected: `${expected}; ${endlessDetail}`, fix: endlessFix };
}

/** `what` is `the variable tier`. For a value that comes from no file, `from` says how it was given. */
export function reportMisfit(
  misfit: ValueMisfit,
  what: string,
  { sensitive }: Declaration,
  given: { readonly at?: Place | undefined; readonly from?: string | undefined },
  problems: Problems,
): void {
  const step = misfit.path.map((each) => `[${each}]`).join("");
  problems.add({
    code: misfit.code,
    summary: `${what}${step} cannot be ${sensitive ? "what it is (a sensitive value, not shown)" : shown(misfit.value)}`,
    detail: `expected ${misfit.expected}${given.from === undefined ? "" : `; it is given with ${given.from}`}`,
    fix: sensitive ? undefined : misfit.fix,
    at: given.at,
    withoutExcerpt: sensitive ? true : undefined,
  });
}
