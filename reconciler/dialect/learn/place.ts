/** Finds the place of one field in records, by what its values have to be and by the words of its key. */
import { saysNone } from "../../core/text/id-problem";
import type { RecordPlace } from "../dialect";
import { asText } from "../places";
import {
  knownReferenceIn,
  type Leaf,
  lettersAndDigits,
  saidMore,
  samePlace,
  withCut,
  withNone,
  withReading,
} from "./values";
import { anyNoun } from "./where";

/** The ids that are known of other kinds, by which references are recognised. */
export interface KnownThings {
  /** Left out: the service has no such list. */
  readonly vms?: ReadonlySet<string>;
  /** Names of VMs that one of them bears alone. */
  readonly vmNames?: ReadonlySet<string>;
  readonly volumes: ReadonlySet<string>;
  readonly volumeNames?: ReadonlySet<string>;
  readonly flavors: ReadonlySet<string>;
  readonly images: ReadonlySet<string>;
  readonly made?: Made | undefined;
  /** Ids and names that records of this kind are known to have. */
  readonly own?: { readonly id: ReadonlySet<string>; readonly name: ReadonlySet<string> };
  /** What records of other kinds show: an id to which they refer is the one that counts. */
  readonly referred?: ReadonlySet<string>;
  /** Where records of another kind show the id by which they are read: those of this kind mostly do as well. */
  readonly alike?: RecordPlace | undefined;
  /** An id that is written as a path is the whole of it. */
  readonly hasPaths?: boolean | undefined;
}

/** What a trial knows of the things that it has made itself. */
export interface Made {
  /** GB, by the ids of volumes. */
  readonly sizes: ReadonlyMap<string, number>;
  /** The disks of its VM that were asked for as data, and the others. */
  readonly data: ReadonlySet<string>;
  readonly root: ReadonlySet<string>;
  /** Its VM on which something hangs just now, and the volume where it is known. */
  readonly hangs?: { readonly vm: string; readonly volume?: string } | undefined;
  /** Its volumes that hang on nothing just now. */
  readonly free?: ReadonlySet<string>;
  /** What it sent for fields that records show under any key. */
  readonly sent?: Readonly<Partial<Record<string, string>>>;
}

export interface FieldFinding {
  readonly field: string;
  readonly place?: RecordPlace;
  /** An example of a value seen at the place. */
  readonly shows?: string;
  /** The place in a record that is read by itself, if it differs from the place in the list. */
  readonly also?: RecordPlace;
  /** What stands where the dialect looks is something else. */
  readonly nowhere?: true;
  /** The place was learnt, and the dialect looks at another one. */
  readonly learnt?: true;
}

export interface PlaceRule {
  /** Plain names of a place, the best first. */
  readonly names: readonly RegExp[];
  /** What is called so, together with what it stands in, is something else. */
  readonly besides?: RegExp;
  /** Whether a value fits the field. */
  fits?(text: string, evidence: KnownThings): boolean;
  /** The ids of which a reference has to name one. A reference is recognised at any place. */
  refersTo?(evidence: KnownThings): ReadonlySet<string> | undefined;
  /** Some may name what is there no more: an image that was deleted since, or one of somebody else. */
  readonly outlives?: true;
  /** The key of a reference has to speak of it: a word may well be the name of something by chance. */
  readonly isSpoken?: true;
  /** Where no place refers by ids: the names by which it may refer. */
  named?(evidence: KnownThings): ReadonlySet<string> | undefined;
  /** Every record shows a value, and each a different one. */
  readonly unique?: true;
  readonly everywhere?: true;
  /** The value is enough to recognise the field, where each record shows another one. */
  readonly byValue?: true;
  /**
   * The field belongs to the record itself, and not to something within it: `/state/name` is no name of a VM. What only
   * holds the fields of one may have one of these names, and those that hold any.
   */
  readonly own?: RegExp | undefined;
  /** A field of the record comes before one of an entry in a list. */
  readonly plain?: true;
  /** A link stands for what it ends with. */
  readonly links?: true;
  /** A record that does not show the field has no value, once another record has shown one. */
  readonly absentIsNone?: true;
}

export const noun = `(${anyNoun}|sec(urity)?group|secgroup|sg)`;
export const idWord = "(id|uuid|uid|guid|no|number|code|slug|ref|reference|ident|identifier|key|urn)";
export const idNames = [
  /^id$/,
  new RegExp(`^${noun}id$`),
  new RegExp(`^${noun}?(uuid|uid|guid)$`),
  /^(ref|key|urn|slug|ident|identifier|resourceid)$/,
  new RegExp(`^${noun}${idWord}$`),
  /^(code|no|number|self|selflink|href|arn|serial)$/,
];
export const isId = (text: string): boolean => text !== "" && text.length <= 255 && !/\s/.test(text);

interface Candidate {
  readonly place: RecordPlace;
  readonly score: number;
  readonly values: readonly (string | undefined)[];
}

export interface LearntPlace {
  readonly place: RecordPlace;
  /** An example of a value seen there. */
  readonly shows?: string;
}

export function learnPlace(
  rule: PlaceRule,
  leaves: readonly (readonly Leaf[])[],
  evidence: KnownThings,
): LearntPlace | undefined {
  const wanted = rule.refersTo?.(evidence);
  const byPlace = new Map<string, { place: RecordPlace; names: readonly string[] }>();
  for (const leaf of leaves.flat()) {
    const key = JSON.stringify(leaf.place);
    if (!byPlace.has(key)) byPlace.set(key, leaf);
  }
  // One line for each clause of the rule that a place has to keep.
  const candidates = [...byPlace.values()].flatMap(({ place, names }): Candidate[] => {
    if (rule.own !== undefined && !isOwn(place, rule.own) && !isChosenFor(rule, place, names)) return [];
    const found = leaves.map((all) => all.find((leaf) => samePlace(leaf.place, place)));
    const values = found.map((leaf) =>
      leaf?.value === null ? "" : leaf === undefined ? undefined : asText(leaf.value),
    );
    const shown = values.filter((value): value is string => value !== undefined && value !== "");
    if (shown.length === 0) return [];
    if (!keepsCounts(rule, shown, leaves.length)) return [];
    const byName = scoreOfNames(rule, names);
    const simple = (typeof place === "string" ? 5 - place.split("/").length : 0) + (shown.length / leaves.length) * 10;
    const seen: SeenPlace = { rule, place, names, values, shown, byName, simple };
    return wanted === undefined ? valueOfItsOwn(seen, evidence) : asReference(seen, wanted, found);
  });
  const best = candidates.sort((one, other) => other.score - one.score)[0];
  if (best === undefined) return undefined;
  const shows = best.values.find((value) => value !== undefined && value !== "");
  const isAbsent = best.values.some((value) => value === undefined);
  const none = rule.refersTo !== undefined && shows !== undefined && saysNone.test(shows) ? shows : undefined;
  const told = none === undefined ? best.place : withNone(best.place, none);
  const place = rule.absentIsNone === true && isAbsent ? saidMore(told, { absent: "none" }) : told;
  return { place: withUnit(withCut(place, cutOfLinks(rule, best.values, evidence)), shows), shows };
}

/** One place, what the records show there, and how well its names suit. */
interface SeenPlace extends Omit<Candidate, "score"> {
  readonly rule: PlaceRule;
  readonly names: readonly string[];
  readonly shown: readonly string[];
  readonly byName: number;
  readonly simple: number;
}

function asReference(
  { rule, place, names, values, shown, byName, simple }: SeenPlace,
  wanted: ReadonlySet<string>,
  found: readonly (Leaf | undefined)[],
): Candidate[] {
  const isUnspoken = byName === 0 && (rule.isSpoken === true || found.every((leaf) => mayCount(leaf)));
  if (isUnspoken || isBeside(rule, names)) return [];
  const there = rule.outlives === true && byName > 0 ? shown.filter((text) => knownReferenceIn(text, wanted)) : shown;
  return referring(place, wanted, values, there, 200 + byName + simple);
}

function valueOfItsOwn(
  { rule, place, names, values, shown, byName, simple }: SeenPlace,
  evidence: KnownThings,
): Candidate[] {
  if (!fitsAll(rule, shown, evidence)) return [];
  // The key of a tag stands in records of every kind.
  const isOfRecord = rule.unique === true && typeof place === "string";
  const isReferred = isOfRecord && shown.some((text) => /\d/.test(text) && evidence.referred?.has(text) === true);
  const isAlike = rule.unique === true && evidence.alike !== undefined && samePlace(place, evidence.alike);
  const isPlain = rule.plain === true && typeof place === "string";
  const score = byName + simple + (isReferred ? 100 : 0) + (isAlike ? 150 : 0) + (isPlain ? 25 : 0);
  const isTold = rule.byValue === true && new Set(shown).size === shown.length && !isBeside(rule, names);
  return byName === 0 && !isTold && !isAlike ? [] : [{ place, score, values }];
}

const isBeside = ({ besides }: PlaceRule, names: readonly string[]): boolean =>
  names.some((one) => besides?.test(one) === true);

/** A small number may count anything, unless its key says that it is an id. */
const mayCount = (leaf: Leaf | undefined): boolean =>
  leaf === undefined || (/^\d{1,5}$/.test(String(leaf.value)) && !/(id|no|number|ref|key)$/.test(leaf.names[0] ?? ""));

/** How well the plain names of a place suit: 0 where none does. */
function scoreOfNames(rule: PlaceRule, names: readonly string[]): number {
  if (isBeside(rule, names)) return 0;
  const named = rule.names.findIndex((name) => names.some((one) => name.test(one)));
  return named < 0 ? 0 : 100 - 10 * named - 5 * names.findIndex((one) => rule.names[named]?.test(one));
}

/** Whether as many of the records show a value, or another one, as the rule wants. */
export const keepsCounts = (rule: PlaceRule, shown: readonly string[], records: number): boolean =>
  (rule.unique !== true || new Set(shown).size === records) && (rule.everywhere !== true || shown.length === records);

export const fitsAll = (rule: PlaceRule, shown: readonly string[], evidence: KnownThings): boolean =>
  shown.every((text) => rule.fits?.(text, evidence) !== false);

const linkParts = /^(?:[a-z][a-z0-9+.-]*:\/\/\S+|\/\S*)?\/([^/\s]+)\/[^/\s]+$/i;

/** What stands before the ids, where all the values are links alike and stand for what they end with. */
export function cutOfLinks(
  rule: PlaceRule,
  values: readonly (string | undefined)[],
  evidence: KnownThings,
): string | undefined {
  if (rule.links !== true || evidence.hasPaths === true) return undefined;
  const folders = new Set(values.flatMap((value) => (value ? [linkParts.exec(value)?.[1]] : [])));
  const [folder] = folders;
  return folders.size === 1 && folder !== undefined ? `*/${folder}/{value}` : undefined;
}

/** A place whose values are ids of the wanted things, all written alike. */
function referring(
  place: RecordPlace,
  wanted: ReadonlySet<string>,
  values: Candidate["values"],
  shown: readonly string[],
  score: number,
): Candidate[] {
  const references = shown.filter((text) => !saysNone.test(text)).map((text) => knownReferenceIn(text, wanted));
  if (references.length === 0 || references.some((one) => one === undefined)) return [];
  const readings = new Map(references.map((one) => [JSON.stringify(one), one]));
  const [reading = {}] = readings.values();
  if (readings.size !== 1) return [];
  const told = values.map((value) => (value !== undefined && saysNone.test(value) ? undefined : value));
  const sign = shown.find((text) => saysNone.test(text));
  const signed = reading.cut === undefined && sign !== undefined ? withNone(place, sign) : place;
  return [{ place: withReading(signed, reading), score, values: told }];
}

/** At the top of the record, or within what only holds its fields. */
const isOwn = (place: RecordPlace, called: RegExp): boolean =>
  typeof place !== "string"
    ? place.in === undefined
    : place
        .split("/")
        .slice(1, -1)
        .map(lettersAndDigits)
        .every((key) => holders.test(key) || called.test(key));

/** A tag is chosen by the word for the field; any other entry of a list is a thing of its own, such as a disk. */
const isChosenFor = (rule: PlaceRule, place: RecordPlace, [word = ""]: readonly string[]): boolean =>
  typeof place !== "string" && place.where !== undefined && scoreOfNames(rule, [word]) > 0;

const holders =
  /^(attributes|metadata|meta|properties|props|spec|info|details|data|summary|object|node|resource|record|entity|item|fields)$/;

/** The unit of a size, by the words of its place. */
function withUnit(place: RecordPlace, shows: string | undefined): RecordPlace {
  const at = typeof place === "string" ? place : (place.value ?? "");
  if (shows === undefined || !/^\d+(\.\d+)?$/.test(shows)) return place;
  const key = lettersAndDigits(at.split("/").at(-1) ?? "");
  const unit =
    /bytes$/.test(key) && !/(giga|mega)bytes$/.test(key)
      ? "B"
      : /(mb|mib|megabytes)$/.test(key)
        ? "MB"
        : /(kb|kib)$/.test(key)
          ? "KB"
          : undefined;
  return unit === undefined ? place : saidMore(place, { unit });
}
