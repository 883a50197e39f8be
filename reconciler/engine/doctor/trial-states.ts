/** Which place of a VM's record tells its states apart, when the usual one shows one word for several. */
import type { Pointers, RecordPlace } from "../../dialect/dialect";
import { type Leaf, leavesOf } from "../../dialect/learn/values";
import { compilePointers, findWord } from "../../dialect/pointers";

export interface StateWords {
  /** The word of each record, all of them different. */
  readonly words: readonly string[];
  /** Left out: the places that were given tell the states apart already. */
  readonly place?: RecordPlace;
}

/** `undefined`: nothing in the records tells them apart. */
export function placeThatDiffers(records: readonly unknown[], given: Pointers): StateWords | undefined {
  const wordsAt = (places: Pointers): readonly string[] | undefined => {
    const paths = compilePointers(places);
    const words = records.flatMap((record) => findWord(record, paths) ?? []);
    return words.length === records.length && new Set(words).size === words.length ? words : undefined;
  };
  const already = wordsAt(given);
  if (already !== undefined) return { words: already };
  const telling = records.flatMap((record) =>
    leavesOf(record)
      .filter(isOfStates)
      .map(({ place }) => place),
  );
  const pointers = [...new Set(telling)].filter((place): place is string => typeof place === "string");
  const pairs = pointers.flatMap((one, index) =>
    pointers.slice(index + 1).map((other): RecordPlace => ({ join: [one, other] })),
  );
  for (const place of [...pointers, ...pairs]) {
    const words = wordsAt([place]);
    if (words !== undefined) return { words, place };
  }
  return undefined;
}

const isOfStates = ({ names }: Leaf): boolean =>
  names.some((name) =>
    /(status|state|phase|power|powered|poweredon|running|condition|lifecycle|task)(name|code|value)?$/.test(name),
  );
