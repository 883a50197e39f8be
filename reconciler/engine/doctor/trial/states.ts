/** Which place of a VM's record tells its states apart, when the usual one shows one word for several. */
import type { Pointers, RecordPlace } from "../../../dialect/dialect";
import { type Leaf, leavesOf } from "../../../dialect/learn/values";
import { compilePointers, findWord } from "../../../dialect/pointers";

export interface StateWords {
  /** The word of each record, all of them different. */
  readonly words: readonly string[];
  /** Left out: the places that were given tell the states apart already. */
  readonly place?: RecordPlace;
}

/** `busy`: how it shows itself on its way, for which no word of the others may stand. `undefined`: nothing tells them apart. */
export function placeThatDiffers(
  records: readonly unknown[],
  given: Pointers,
  busy: readonly unknown[] = [],
  /** What changes with a resize and is no state. */
  isOther: (leaf: Leaf) => boolean = () => false,
): StateWords | undefined {
  const wordsAt = (places: Pointers): readonly string[] | undefined => {
    const paths = compilePointers(places);
    const words = records.flatMap((record) => findWord(record, paths) ?? []);
    const isTold = words.length === records.length && new Set(words).size === words.length;
    return isTold && !busy.some((one) => words.includes(findWord(one, paths) ?? "")) ? words : undefined;
  };
  const already = wordsAt(given);
  if (already !== undefined) return { words: already };
  const all = [...records, ...busy].flatMap((record) => leavesOf(record));
  const others = new Set(all.flatMap((leaf) => (isOther(leaf) ? [leaf.place] : [])));
  const leaves = all.filter(({ place }) => !others.has(place));
  const pointersOf = (telling: readonly Leaf[]): readonly string[] =>
    [...new Set(telling.map(({ place }) => place))].filter((place) => typeof place === "string");
  const pointers = pointersOf(leaves.filter(isOfStates));
  const pairs = pointers.flatMap((one, index) =>
    pointers.slice(index + 1).map((other): RecordPlace => ({ join: [one, other] })),
  );
  const triples = pairs.flatMap((pair): readonly RecordPlace[] =>
    typeof pair === "string" || records.length + busy.length < 4
      ? []
      : pointers
          .slice(pointers.indexOf(pair.join?.at(-1) ?? "") + 1)
          .map((third) => ({ join: [...(pair.join ?? []), third] })),
  );
  // Where no key speaks of states, words that come and go with them do. One record alone tells nothing of that.
  const words = records.length < 2 ? [] : pointersOf(leaves.filter(({ value }) => isWord(value)));
  // PowerState/running among other states.
  const prefixed = leaves.flatMap(({ place, value }): readonly RecordPlace[] => {
    const [, before] = /^([A-Za-z]+[/:])[A-Za-z]/.exec(String(value)) ?? [];
    const isListed = typeof place === "object" && place.where === undefined;
    return records.length > 1 && isListed && before !== undefined ? [{ ...place, cut: `${before}{value}` }] : [];
  });
  for (const place of [...pointers, ...pairs, ...triples, ...words, ...prefixed]) {
    const words = wordsAt([place]);
    if (words !== undefined) return { words, place };
  }
  return undefined;
}

/** The words that the records show at a place. */
export const wordsShownAt = (place: RecordPlace, records: readonly unknown[]): readonly string[] =>
  records.flatMap((record) => findWord(record, compilePointers([place])) ?? []);

/**
 * The given place together with one beside it, which says that something is under way where the given one shows a word
 * of rest already. `undefined`: no other place says so, or none has to.
 */
export function placeBeside(
  rest: readonly unknown[],
  busy: readonly unknown[],
  given: Pointers,
): RecordPlace | undefined {
  const [shown] = rest;
  const place = given.find((one) => wordsShownAt(one, [shown]).length > 0);
  const at = typeof place === "string" ? [place] : place?.join;
  if (place === undefined || at === undefined || at.length > 4) return undefined;
  const isHiddenAt = (one: RecordPlace): boolean => {
    const words = wordsShownAt(one, rest);
    return words.length < rest.length || wordsShownAt(one, busy).some((word) => words.includes(word));
  };
  const others = leavesOf(shown).flatMap((leaf) =>
    typeof leaf.place === "string" && isOfStates(leaf) && !at.includes(leaf.place) ? [leaf.place] : [],
  );
  return isHiddenAt(place)
    ? others.map((other): RecordPlace => ({ join: [...at, other] })).find((join) => !isHiddenAt(join))
    : undefined;
}

/** What a record shows of states, to tell one moment from another. */
export const statesIn = (record: unknown): string =>
  JSON.stringify(leavesOf(record).flatMap((leaf) => (isOfStates(leaf) ? [[leaf.place, leaf.value]] : [])));

/** The only text that two records of one thing show differently, beside states and moments. */
export function placeThatChanged(before: unknown, after: unknown): RecordPlace | undefined {
  const later = new Map(leavesOf(after).map((leaf) => [JSON.stringify(leaf.place), leaf.value]));
  const changed = leavesOf(before).filter((leaf) => {
    const { place, value, names } = leaf;
    const other = later.get(JSON.stringify(place));
    const isText = typeof value === "string" && typeof other === "string" && value !== other;
    return typeof place === "string" && isText && !isOfStates(leaf) && !names.some((name) => ofMoments.test(name));
  });
  return changed.length === 1 ? changed[0]?.place : undefined;
}

export interface DeletedFlag {
  readonly place: string;
  /** What stands there of one that is there, if anything does, and of one that was deleted. */
  readonly kept: string | undefined;
  readonly deleted: string;
}

/** A field of its own that says of a deleted one that it was, whatever its state. */
export function flagOfDeleted(before: unknown, after: unknown): DeletedFlag | undefined {
  const earlier = new Map(leavesOf(before).map((leaf) => [leaf.place, leaf.value]));
  for (const { place, names, value } of leavesOf(after)) {
    const [was, deleted] = [earlier.get(place), String(value)];
    const kept = was === null || was === undefined ? undefined : String(was);
    const isRaised = /^(false|0|no|undefined)$/i.test(String(kept)) && /^(true|1|yes)$/i.test(deleted);
    if (typeof place === "string" && isRaised && names.some((name) => ofDeleted.test(name)))
      return { place, kept, deleted };
  }
  return undefined;
}

const ofDeleted = /^(is)?(soft)?(deleted|removed|destroyed|terminated|trashed|intrash|archived|gone)$/;

const ofMoments = /(time|date|at|since|updated|modified|changed|version|etag|revision|fingerprint|digest|hash)$/;

const isWord = (value: Leaf["value"]): boolean =>
  typeof value === "boolean" ||
  /^[01]$/.test(String(value)) ||
  (typeof value === "string" && /^\p{L}[\p{L} _-]{0,39}$/u.test(value));

const isOfStates = ({ names }: Leaf): boolean =>
  names.some((name) =>
    /(status|state|phase|power|powered|poweredon|running|condition|lifecycle|task)(key|current)?(name|code|value|label|text)?$|^(is)?(on|up|active|pending|lock(ed)?)$/.test(
      name,
    ),
  );
