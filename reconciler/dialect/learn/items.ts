/** The list within an answer: the only array of objects, or map of objects, that there is. */
import { deepEqual } from "../../core/text/deep-equal";
import { fieldsIn, isObject } from "../../core/text/objects";
import type { Pointers, RecordPlace } from "../dialect";
import { pointerTo } from "../likely-key";
import { compilePointers, findArray } from "../pointers";
import { lettersAndDigits } from "./values";

export interface FoundItems {
  readonly place: RecordPlace;
  readonly items: readonly unknown[];
}

export const itemsAt = (payload: unknown, place: RecordPlace): readonly unknown[] | undefined =>
  findArray(payload, compilePointers([place]));

const deepestItem = 3;

/** `several`: more than one could be meant, and none is named for its kind. */
export type ItemsFinding = FoundItems | { readonly several: readonly RecordPlace[] } | undefined;

export function findListIn(payload: unknown, nouns: readonly string[]): ItemsFinding {
  const arrays: FoundItems[] = [];
  const maps: FoundItems[] = [];
  const isNamed = (key: string): boolean => nouns.some((noun) => lettersAndDigits(noun) === lettersAndDigits(key));
  const visit = (value: unknown, at: string, key: string, depth: number): void => {
    if (besideRecords.test(lettersAndDigits(key))) return;
    const list = listInParts(value, at, nouns) ?? listItself(value, at);
    if (list !== undefined) arrays.push(list);
    if (
      list !== undefined ||
      !isObject(value) ||
      depth > deepestItem ||
      (isRecord(value) && !isListAsRecord(value, at))
    )
      return;
    const alone = oneInPlaceOfList(value, at, key, isNamed);
    if (alone !== undefined) arrays.push(alone);
    else if (isMapOfRecords(value) || (isNamed(key) && holdsRecords(value))) maps.push(mapOfRecords(value, at));
    else for (const [inner, member] of Object.entries(value)) visit(member, at + pointerTo(inner), inner, depth + 1);
  };
  visit(payload, "", "", 0);
  const found = arrays.length > 0 ? arrays : maps;
  if (found.length <= 1) return found[0];
  const named = found.filter(({ place }) =>
    nouns.some((noun) => lettersAndDigits(lastKey(place)).startsWith(lettersAndDigits(noun))),
  );
  if (named.length === 1) return named[0];
  const filled = found.filter(({ items }) => items.some(isObject));
  return filled.length === 1 ? filled[0] : { several: found.map(({ place }) => place) };
}

/** What stands in an answer beside its records. */
const besideRecords = /links?$|^(error|warning)s?$|^(meta|page|paging|pagination|included)$/;

function listItself(value: unknown, at: string): FoundItems | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.filter(isObject);
  if (items.length === value.length) return unwrappedItems(items, { in: at });
  // An entry that is null is none: a star passes it over.
  if (items.length > 0 && value.every((item) => item === null || isObject(item)))
    return unwrappedItems(items, { in: `${at}/*` });
  return value.every((item) => typeof item === "string") ? { place: at, items: value } : undefined;
}

/** An answer may have an id of its own: that of a request, beside its result. */
const isListAsRecord = ({ items, result }: Readonly<Record<string, unknown>>, at: string): boolean =>
  at === "" && (isObject(items) || (typeof result === "object" && result !== null));

/** One thing alone may stand in place of a list of one, where XML was turned into JSON. */
function oneInPlaceOfList(
  value: Readonly<Record<string, unknown>>,
  at: string,
  key: string,
  isNamed: (key: string) => boolean,
): FoundItems | undefined {
  const found = Object.entries(value).find(([one, member], _, all) => {
    const isOnly = at === "" && all.length === 1 && isNamed(one) && isObject(member) && isRecord(member);
    return isOnly || (isObject(member) && isSingularOf(one, key));
  });
  return found && { place: { in: at + pointerTo(found[0]), absent: "none" }, items: [found[1]] };
}

const mapOfRecords = (value: Readonly<Record<string, unknown>>, at: string): FoundItems =>
  showsOwnIds(value)
    ? { place: { in: `${at}/*` }, items: Object.values(value) }
    : {
        place: { in: at, keys: "id" },
        items: Object.entries(value).map(([id, member]) => ({ ...fieldsIn(member), id })),
      };

/**
 * One list in several parts: below each scope (`{ "zones/a": { "instances": [] }, "zones/b": { "warning": {} } }`), or
 * within what they were asked for together (`[{ "reservationId": "r-1", "instancesSet": [] }]`).
 */
function listInParts(value: unknown, at: string, nouns: readonly string[]): FoundItems | undefined {
  const isList = Array.isArray(value);
  const isOfScopes = isObject(value) && Object.keys(value).every((key) => /[/\d]/.test(key));
  const members: readonly unknown[] = isList ? value : isOfScopes ? Object.values(value) : [];
  if (at === "" || members.length === 0 || !members.every(isObject)) return undefined;
  const keys = [...new Set(members.flatMap((member) => Object.keys(member)))];
  const partsAt = (key: string): readonly unknown[] => members.map((member) => fieldsIn(member)[key]);
  const isPart = (part: unknown): boolean =>
    part === undefined ? !isList : Array.isArray(part) && part.every(isObject);
  const [key, ...others] = keys.filter(
    (one) =>
      nouns.some((noun) => lettersAndDigits(one).startsWith(lettersAndDigits(noun))) && partsAt(one).every(isPart),
  );
  // What has a name is a record itself, and what it holds is its own.
  if (key === undefined || others.length > 0 || keys.some((one) => /name$|label|title/i.test(one))) return undefined;
  const items = partsAt(key).flatMap((part) => part ?? []);
  const place = { in: `${at}/*${pointerTo(key)}` };
  return items.length === 0 ? undefined : { place: isList ? place : { ...place, absent: "none" }, items };
}

/** `volume` in `volumes`, `item` in `volumeSet`. */
const isSingularOf = (key: string, several: string): boolean => {
  const [one, all] = [lettersAndDigits(key), lettersAndDigits(several)];
  return (
    all !== "" && (/^(item|entry|element|member)$/.test(one) || [`${one}s`, `${one}es`, `${one}list`].includes(all))
  );
};

/** The same place, where one thing alone may stand there, and the list is left out when there is none. */
export function oneOrMany(place: RecordPlace): RecordPlace {
  const [several = "", one = ""] = typeof place === "string" ? place.split("/").slice(-2) : [];
  return typeof place === "string" && isSingularOf(one, several) ? { in: place, absent: "none" } : place;
}

/** The whole list is left out when there is nothing. One that is the payload itself stands under `data` where it is shown. */
export function absentIsNoList(places: Pointers): Pointers {
  const all = places.flatMap((place): Pointers => {
    if (place === "") return [place, { in: "/data", absent: "none" }];
    return [typeof place === "string" ? { in: place, absent: "none" } : { ...place, absent: "none" }];
  });
  return all.filter((place, nth) => all.findIndex((one) => deepEqual(one, place)) === nth);
}

/** Where one thing alone was seen to stand in place of a list. */
export const isOfOne = (place: RecordPlace): boolean =>
  typeof place === "object" &&
  place.in?.endsWith("/*") === false &&
  place.keys === undefined &&
  place.value === undefined;

/** A single record: a list inside it is not the list that is looked for. */
const isRecord = (value: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(value).some(
    (key) =>
      /^(.*id|name|displayname)$/.test(lettersAndDigits(key)) && !/requestid|traceid/.test(lettersAndDigits(key)),
  ) && Object.keys(value).length > 2;

const lastKey = (place: RecordPlace): string =>
  (typeof place === "string" ? place : (place.in ?? "")).split("/").at(-1) ?? "";

function unwrappedItems(items: readonly unknown[], at: { readonly in: string }): FoundItems {
  const key = wrapperOf(items);
  return key === undefined
    ? { place: at.in.endsWith("/*") ? at : at.in, items }
    : { place: { ...at, value: pointerTo(key) }, items: items.map((item) => fieldsIn(item)[key]) };
}

/** `[{ "server": { … } }]`, `[{ "kind": "server", "object": { … } }]`: each record within an object of its own. */
export function wrapperOf(items: readonly unknown[]): string | undefined {
  const keys = new Set(items.flatMap((item) => Object.keys(fieldsIn(item))));
  const [key, ...others] = [...keys].filter((one) => !besideWrapped.test(lettersAndDigits(one)));
  if (key === undefined || others.length > 0 || !items.every((item) => isObject(fieldsIn(item)[key]))) return undefined;
  return keys.size === 1 || /^(object|node|resource|record|entity|item)$/.test(lettersAndDigits(key)) ? key : undefined;
}

/** What says of a record only what it is of, or where it stands in the list. */
const besideWrapped = /^(kind|type|resourcetype|objecttype|apiversion|cursor|score|index)$/;

/** Objects under keys that are ids: a key with a digit in it, and members that look alike. */
function isMapOfRecords(value: Readonly<Record<string, unknown>>): boolean {
  const members = Object.entries(value);
  if (members.length === 0 || !members.every(([key, member]) => isObject(member) && /\d/.test(key))) return false;
  const [first = [], ...rest] = members.map(([, member]) => Object.keys(fieldsIn(member)));
  // Scopes in which there is nothing say so.
  if ([first, ...rest].every((keys) => keys.every((key) => /^warnings?$/i.test(key)))) return false;
  return first.length > 0 && rest.every((keys) => keys.some((key) => first.includes(key)));
}

/** Members with ids of their own under keys that are none: their names, or their places in a list. */
function showsOwnIds(value: Readonly<Record<string, unknown>>): boolean {
  const members = Object.entries(value);
  const isRunning =
    members.every(([key], nth) => key === String(nth)) || members.every(([key], nth) => key === String(nth + 1));
  const own = isRunning ? /^(id|uuid|uid|guid)$/ : /^id$/;
  const idsOf = (member: unknown): readonly unknown[] =>
    Object.entries(fieldsIn(member)).flatMap(([key, id]) =>
      own.test(lettersAndDigits(key)) && (typeof id === "string" || typeof id === "number") ? [id] : [],
    );
  return (
    members.every(([, member]) => idsOf(member).length > 0) &&
    members.some(([key, member]) => idsOf(member).every((id) => String(id) !== key))
  );
}

/** Members that are all maps with fields of their own, below a key that says of what. */
const holdsRecords = (value: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(value).length > 0 &&
  Object.values(value).every(
    (member) => isObject(member) && Object.values(member).some((field) => field === null || typeof field !== "object"),
  );

/** A record, and where it stands within an answer. */
export interface FoundRecord {
  readonly item: string;
  readonly record: unknown;
}

/** The record of an id within an answer that may wrap it. */
export function findRecordIn(body: unknown, id: string): FoundRecord | undefined {
  const shownUnder = (keys: RegExp) => (record: Readonly<Record<string, unknown>>) =>
    Object.entries(record).some(
      ([key, member]) =>
        (typeof member === "string" || typeof member === "number") &&
        String(member) === id &&
        keys.test(lettersAndDigits(key)),
    );
  return recordWithin(body, shownUnder(/id$|^ref$|^uid$|^uuid$/)) ?? recordWithin(body, shownUnder(/^/));
}

/** The first of the maps in an answer that is the record, from the outside in. */
export function recordWithin(
  value: unknown,
  isRecord: (value: Readonly<Record<string, unknown>>) => boolean,
  item = "",
  depth = 0,
): FoundRecord | undefined {
  // One alone may be answered as a list of one.
  if (Array.isArray(value) && value.length === 1 && depth < 2)
    return recordWithin(value[0], isRecord, `${item}/0`, depth + 1);
  if (!isObject(value) || depth > deepestItem) return undefined;
  if (isRecord(value)) return { item, record: value };
  for (const [key, member] of Object.entries(value)) {
    const found = recordWithin(member, isRecord, item + pointerTo(key), depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
