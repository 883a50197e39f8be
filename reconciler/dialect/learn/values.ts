/** Everything that a record shows, each with a place that names it and the words that its place is made of. */
import ipaddr from "ipaddr.js";
import { isObject, onlyDefined } from "../../core/text/objects";
import type { RecordPlace, Scalar, Selector } from "../dialect";
import { pointerTo } from "../likely-key";

export interface Leaf {
  readonly place: RecordPlace;
  /** Plain names of the place (`flavorid`), the most telling first. */
  readonly names: readonly string[];
  readonly value: Scalar | null;
}

const deepestValue = 4;
const mostLeaves = 600;
const mostItems = 20;

export const lettersAndDigits = (key: string): string => key.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const isScalar = (value: unknown): value is Scalar | null =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";

export function leavesOf(record: unknown): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (value: unknown, at: string, keys: readonly string[]): void => {
    if (leaves.length >= mostLeaves || keys.length > deepestValue) return;
    if (isScalar(value)) {
      const last = lettersAndDigits(keys.at(-1) ?? "");
      const longer = [2, 3]
        .filter((count) => keys.length >= count)
        .map((count) => lettersAndDigits(keys.slice(-count).join("")));
      leaves.push({ place: at, names: [last, ...longer], value });
      return;
    }
    if (Array.isArray(value)) {
      value.slice(0, 3).forEach((item, index) => {
        if (isScalar(item)) visit(item, `${at}/${index}`, [...keys, String(index)]);
      });
      chosen(value, at, keys);
      return;
    }
    if (!isObject(value)) return;
    const members = Object.entries(value);
    const isOfLists =
      members.length > 0 && members.every(([, member]) => Array.isArray(member) && member.some(isObject));
    if (isOfLists && keys.length > 0) {
      chosen(Object.values(value).flat(), `${at}/*`, keys);
      return;
    }
    for (const [key, member] of members) visit(member, at + pointerTo(key), [...keys, key]);
  };
  /** Entries of a list, each chosen by a neighbour's value. */
  const chosen = (list: readonly unknown[], at: string, keys: readonly string[]): void => {
    for (const item of list.filter(isObject).slice(0, mostItems)) {
      const fields = scalarsOf(item);
      for (const [key, said] of Object.entries(item)) {
        if (!isScalar(said) || said === null || !isWordOfChoice(String(said))) continue;
        for (const field of fields)
          if (field.at !== pointerTo(key) && leaves.length < mostLeaves)
            leaves.push({
              place: { in: at, where: { [key]: said }, value: field.at },
              names: [lettersAndDigits(String(said)), field.name, lettersAndDigits((keys.at(-1) ?? "") + field.name)],
              value: field.value,
            });
      }
      for (const field of fields)
        if (leaves.length < mostLeaves)
          leaves.push({
            place: { in: at, value: field.at },
            names: [field.name, lettersAndDigits((keys.at(-1) ?? "") + field.name)],
            value: field.value,
          });
    }
  };
  visit(record, "", []);
  return leaves;
}

/** A look at the letters first: what is no address costs the parser an exception. A number alone would be one for it. */
const isAddress = (text: string): boolean => /[.:]/.test(text) && ipaddr.isValid(text);

/** A word that says what an entry is, and no value that another entry has differently: an address, an id, a number. */
const isWordOfChoice = (text: string): boolean =>
  text.length <= 40 && !isAddress(text) && !/^\d+$|^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(text);

interface Field {
  readonly at: string;
  readonly name: string;
  readonly value: Scalar | null;
}

const scalarsOf = (item: Readonly<Record<string, unknown>>): readonly Field[] =>
  Object.entries(item).flatMap(([key, value]): Field[] => {
    if (isScalar(value)) return [{ at: pointerTo(key), name: lettersAndDigits(key), value }];
    if (!isObject(value)) return [];
    return Object.entries(value).flatMap(([inner, deeper]) =>
      isScalar(deeper)
        ? [{ at: pointerTo(key) + pointerTo(inner), name: lettersAndDigits(key + inner), value: deeper }]
        : [],
    );
  });

/** How a text is read as an id: without what stands around it, in small letters or in capitals. */
export type IdForm = Pick<Selector, "cut" | "case">;

/** How a text names one of the wanted ids: as it is, with text around it, or in other letters. */
export function knownReferenceIn(text: string, known: ReadonlySet<string>): IdForm | undefined {
  const exact = exactReferenceIn(text, known);
  // A short text may be a word.
  if (exact !== undefined || !/(?=\w*\d)[\w-]{8,}$/.test(text)) return exact;
  for (const [letters, folded] of [
    ["lower", text.toLowerCase()],
    ["upper", text.toUpperCase()],
  ] as const) {
    const found = exactReferenceIn(folded, known);
    const [before] = found?.cut?.split("{value}") ?? [];
    if (found !== undefined && (before === undefined || text.includes(before.replace("*", ""))))
      return { ...found, case: letters };
  }
  return undefined;
}

function exactReferenceIn(text: string, known: ReadonlySet<string>): IdForm | undefined {
  if (known.has(text)) return {};
  for (const separator of ["/", ":"]) {
    const at = text.lastIndexOf(separator);
    if (at < 0) continue;
    const id = text.slice(at + 1);
    if (!known.has(id)) continue;
    const before = text.slice(0, at + 1);
    const isLink = before.includes("://");
    const shown = isLink ? `*${before.slice(before.lastIndexOf("/", before.length - 2))}` : before;
    return { cut: `${shown}{value}` };
  }
  return undefined;
}

/** Where a record shows this very text, at its top. */
export const placeOfText = (record: unknown, text: string): RecordPlace | undefined =>
  leavesOf(record).find(({ place, value }) => typeof place === "string" && String(value) === text)?.place;

/** The place with more said of it. */
export const saidMore = (place: RecordPlace, more: Partial<Selector>): Selector => ({
  ...(typeof place === "string" ? { value: place } : place),
  ...more,
});

export const withReading = (place: RecordPlace, reading: IdForm): RecordPlace =>
  Object.keys(reading).length === 0 ? place : saidMore(place, reading);

export const withCut = (place: RecordPlace, cut: string | undefined): RecordPlace =>
  withReading(place, onlyDefined({ cut }));

export const withNone = (place: RecordPlace, none: string): RecordPlace =>
  saidMore(place, { none: /^\d+$/.test(none) ? Number(none) : none });

export const samePlace = (one: RecordPlace, other: RecordPlace): boolean =>
  one === other || (typeof one === "object" && typeof other === "object" && textOfPlace(one) === textOfPlace(other));

export const textOfPlace = (place: RecordPlace): string => JSON.stringify(place);

export function addressKind(text: string): "private" | "public" | undefined {
  if (!isAddress(text)) return undefined;
  // A mask, or no address at all.
  if (/^255\.|^0\.0\.0\.0$/.test(text)) return undefined;
  const range = ipaddr.parse(text).range();
  return range === "private" || range === "uniqueLocal" || range === "linkLocal" || range === "carrierGradeNat"
    ? "private"
    : "public";
}
