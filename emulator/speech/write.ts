/** Writes a value where a reader that follows a place would find it. */
import { isBodyObject } from "../fields";
import { firstOf, type Place, pointerTokens, type SpokenScalar, type SpokenSelector } from "./spoken";

/** A JSON value in the making. */
export class RecordDraft {
  constructor(public value?: unknown) {}

  /** Writes a value at a pointer; `undefined` makes only the maps that lead there. */
  set(pointer: string, value: unknown): void {
    const tokens = pointerTokens(pointer);
    this.value = setAt(this.value, tokens, value);
  }

  /** Changes an item of the list at a pointer: the item that has these fields, or a new one. */
  private item(pointer: string, fields: Readonly<Record<string, unknown>>, change: (item: unknown) => unknown): void {
    // A `*` stands for every member: one member is enough.
    const tokens = pointerTokens(pointer).map((token) => (token === "*" ? "main" : token));
    const list = getAt(this.value, tokens);
    const items: unknown[] = Array.isArray(list) ? [...list] : [];
    const at = items.findIndex(
      (item) =>
        isBodyObject(item) && Object.entries(fields).every(([key, value]) => getAt(item, tokensOfKey(key)) === value),
    );
    let item: unknown = at < 0 ? undefined : items[at];
    for (const [key, value] of Object.entries(fields)) item = setAt(item, tokensOfKey(key), value);
    item = change(item);
    if (at < 0 || Object.keys(fields).length === 0) items.push(item);
    else items[at] = item;
    this.value = setAt(this.value, tokens, items);
  }

  /** Writes a value at a place; `null` writes that there is none. */
  put(place: Place | undefined, value: SpokenScalar | null): void {
    if (place === undefined) return;
    if (typeof place === "string") {
      this.#putAtPointer(place, value);
      return;
    }
    const sign = place.none === undefined ? undefined : firstOf(place.none);
    if (value === null && sign === undefined) {
      this.#putNothing(place);
      return;
    }
    const written = value === null ? (sign ?? "") : asWritten(place, value);
    const into = place.in;
    if (into === undefined) {
      this.#putJoined(place, written);
      return;
    }
    this.item(into, wantedFields(place), (item) => {
      const inner = new RecordDraft(item);
      inner.#putJoined(place, written);
      return inner.value;
    });
  }

  #putAtPointer(pointer: string, value: SpokenScalar | null): void {
    const tokens = pointerTokens(pointer);
    const index = tokens.findIndex((token) => /^\d+$/.test(token));
    // An empty list says that there is nothing.
    if (value === null && index > 0) {
      const above = tokens.slice(0, index);
      if (getAt(this.value, above) === undefined) this.value = setAt(this.value, above, []);
    } else this.value = setAt(this.value, tokens, value);
  }

  #putNothing({ in: into, where, absent, value = "", join }: SpokenSelector): void {
    if (absent === "none" || join !== undefined) return;
    if (into === undefined) this.set(value, null);
    else if (where === undefined && getAt(this.value, pointerTokens(into)) === undefined)
      this.value = setAt(this.value, pointerTokens(into), []);
  }

  #putJoined({ join, value = "" }: SpokenSelector, written: SpokenScalar): void {
    if (join === undefined) {
      this.set(value, written);
      return;
    }
    const parts = String(written).split("/");
    const fits = parts.length === join.length;
    join.forEach((pointer, index) => {
      if (fits) this.set(pointer, parts[index]);
      else if (index === 0) this.set(pointer, written);
    });
  }
}

const tokensOfKey = (key: string): readonly string[] => (key.startsWith("/") ? pointerTokens(key) : [key]);

const wantedFields = ({ where = {} }: SpokenSelector): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(where).map(([key, scalars]) => [key, firstOf(scalars)]));

function asWritten({ cut, case: letters, is, unit }: SpokenSelector, said: SpokenScalar): SpokenScalar {
  const other = { lower: "toUpperCase", upper: "toLowerCase" } as const;
  const value = letters === undefined ? said : String(said)[other[letters]]();
  if (is !== undefined) return value === true ? (firstOf(is) ?? true) : otherThan(firstOf(is));
  if (unit !== undefined && typeof value === "number") return value * (unitsInGb[unit[0]?.toUpperCase() ?? "G"] ?? 1);
  if (cut === undefined) return value;
  const around = cut.startsWith("*")
    ? `http://elsewhere.invalid/api${cut.slice(1).startsWith("/") ? "" : "/"}${cut.slice(1)}`
    : cut;
  return around.replace("{value}", () => String(value));
}

/** A size of 1 GB in each unit. */
const unitsInGb: Readonly<Record<string, number>> = { B: 1024 ** 3, K: 1024 ** 2, M: 1024, G: 1, T: 1 / 1024 };

function otherThan(word: SpokenScalar | undefined): SpokenScalar {
  if (typeof word === "number") return word + 1;
  if (typeof word === "boolean") return !word;
  return word === undefined ? false : /a$/.test(word) ? word.replace(/a$/, "b") : `not-${word}`;
}

export function getAt(value: unknown, tokens: readonly string[]): unknown {
  let at = value;
  for (const token of tokens) {
    if (Array.isArray(at)) at = at[Number(token)];
    else if (isBodyObject(at) && Object.hasOwn(at, token)) at = at[token];
    else return undefined;
  }
  return at;
}

export function setAt(into: unknown, [token, ...rest]: readonly string[], value: unknown): unknown {
  if (token === undefined) return value;
  if (/^\d+$/.test(token) && !isBodyObject(into)) {
    const list: unknown[] = Array.isArray(into) ? [...into] : [];
    while (list.length < Number(token)) list.push(null);
    list[Number(token)] = setAt(list[Number(token)] ?? undefined, rest, value);
    return list;
  }
  const map = isBodyObject(into) ? into : {};
  return { ...map, [token]: setAt(map[token], rest, value) };
}

/** A list of records, written where a place would find it. */
export function bodyWithList(place: Place, records: readonly unknown[]): unknown {
  if (typeof place === "string") return setAt(undefined, pointerTokens(place), records);
  const wrapped = records.map((record) => {
    let item = setAt(undefined, pointerTokens(place.value ?? ""), record);
    for (const [key, value] of Object.entries(wantedFields(place))) item = setAt(item, tokensOfKey(key), value);
    return item;
  });
  const tokens = pointerTokens(place.in ?? "").map((token) => (token === "*" ? "main" : token));
  return setAt(undefined, tokens, place.keys === undefined ? wrapped : recordsByKey(wrapped, place.keys));
}

const recordsByKey = (records: readonly unknown[], name: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    records.map((record) => {
      if (!isBodyObject(record)) return [String(record), {}];
      const { [name]: key, ...rest } = record;
      return [String(key), rest];
    }),
  );
