/** Values of unknown shape, as they come out of JSON and YAML, and the keys of our own tables. */
import { ifPossible } from "./errors";

export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is a map of fields; a list is not. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of a value; none where it is no object. */
export const fieldsIn = (value: unknown): Fields => (isObject(value) ? value : {});

/** Every object inherits `constructor`, which a person may have given as the name of something. */
export const ownValue = <T>(fields: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : undefined;

/** The fields of a JSON object; none where the text is no such thing. */
export const fieldsOfJson = (text: string): Fields => fieldsIn(parsedJson(text));

export const isOneOf = <T extends string>(value: unknown, words: readonly T[]): value is T =>
  words.some((word) => word === value);

/** The keys of one of our own tables, whose type names every key that it has. */
export const keysOf = <T extends object>(table: T): readonly (keyof T & string)[] =>
  Object.keys(table) as (keyof T & string)[];

/** The key, where the table has it. */
export function keyIn<T extends object>(table: T, key: string | undefined): (keyof T & string) | undefined {
  const keys = keysOf(table);
  return isOneOf(key, keys) ? key : undefined;
}

/** A table with the same keys, each made from its key. */
export const tableOf = <K extends string, V>(keys: readonly K[], make: (key: K) => V): Readonly<Record<K, V>> =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;

type OptionalKey<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];
type OnlyDefined<T> = Omit<T, OptionalKey<T>> & { [K in OptionalKey<T>]?: Exclude<T[K], undefined> };

/**
 * The fields that have a value. An optional key is plain elsewhere; this is for what is laid over something else, is
 * listed key by key, or goes to code of others, where a key that is there and empty is another thing than none.
 */
export function onlyDefined<T extends object>(fields: T): OnlyDefined<T> {
  const kept = { ...fields };
  for (const key in kept) if (kept[key] === undefined) Reflect.deleteProperty(kept, key);
  // What is left out is optional in the type.
  return kept as unknown as OnlyDefined<T>;
}

/** The items of a list; none where the value is no list. */
export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** An empty list or map as none, for a key that is there only where it says something. */
export const ifAny = <T extends object>(all: T): T | undefined => (Object.keys(all).length === 0 ? undefined : all);

/** Adds all items: a call with as many arguments as there may be resources takes more than the stack holds. */
export function addAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

export const leastOf = (numbers: readonly number[]): number =>
  numbers.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);

export const mostOf = (numbers: readonly number[]): number => -leastOf(numbers.map((one) => -one));

/** Adds to the list under a key. */
export function appendTo<K, T>(lists: Map<K, T[]>, key: K, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** The items under the key of each, in their order. One without a key is left out. */
export function groupedBy<K extends {}, T>(items: Iterable<T>, keyOf: (item: T) => K | undefined): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) appendTo<K, T>(groups, key, item);
  }
  return groups;
}

/** The value of a JSON text; `undefined` where it is none. */
export const parsedJson = (text: string): unknown => ifPossible(() => JSON.parse(text));

/**
 * The value with others in the place of its parts, however deep they stand: `by` is asked for each part, the outermost
 * first. What it answers with itself is looked into.
 */
export function replacedIn(value: unknown, by: (part: unknown) => unknown): unknown {
  const other = by(value);
  if (other !== value || typeof value !== "object" || value === null) return other;
  if (Array.isArray(value)) return value.map((item) => replacedIn(item, by));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replacedIn(item, by)]));
}

/** What is in it that is no list and no map, however deep it stands. */
export const plainValuesIn = (value: unknown): readonly unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(plainValuesIn) : [value];
