/** `a, b and c`. */
export const listText = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;

/** `a, b and 7 more`. */
export const listed = (names: readonly string[], most = 8): string =>
  names.slice(0, most).join(", ") + (names.length > most ? ` and ${names.length - most} more` : "");

/** The same for so many at the most, the words `and 2 more` among them. */
export const fewOf = (names: readonly string[], most: number): string =>
  listed(names, names.length > most ? most - 1 : most);

/** `a; b; and 7 more`. */
export const fewParts = (parts: readonly string[], most: number): string =>
  parts.slice(0, most).join("; ") + (parts.length > most ? `; and ${parts.length - most} more` : "");

/** `a; b`: parts that are whole sentences, some of them with a period, as one. */
export const asOneSentence = (...parts: readonly (string | undefined)[]): string =>
  parts
    .filter((part) => part !== undefined && part !== "")
    .map((part, at, all) => (at === all.length - 1 ? part : part?.replace(/\.$/, "")))
    .join("; ");
