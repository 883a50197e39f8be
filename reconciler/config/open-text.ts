/**
 * Values that only the service knows, while a file is read: text between two marks that no file can hold, so that they
 * travel through variables, lists and components like any other text. The readers of fields that take them make an open
 * text of it; every other reader refuses them.
 */
import type { Address } from "../core/model/address";
import type { Attribute, Computed, Text } from "../core/model/computed";

const opens = "\ufdd0";
const closes = "\ufdd1";
const markedText = /\ufdd0([^\ufdd1]*)\ufdd1/g;

export const mark = ({ address, attribute }: Computed): string => `${opens}${address}.${attribute}${closes}`;

/** Whether a text from outside has a mark of its own, and would pass for what only this program says. */
export const holdsMark = (text: string): boolean => /[\ufdd0-\ufdd3]/.test(text);

/** No resource has this address. */
export const nobody = "?";
/** A value that only a later run of a program knows, as its preview gives it to the files. */
export const unknownYet = mark({ address: nobody, attribute: "private_ip" });

export const holdsForeignMark = (text: string): boolean => holdsMark(text.replaceAll(unknownYet, ""));

export const holdsOpen = (text: string): boolean => text.includes(opens);

/**
 * A whole resource, as `${group.web}` hands it out of the room that it is in and into another one: its address between
 * two marks, since the same text would be another resource's name there.
 */
const begins = "\ufdd2";
const ends = "\ufdd3";

export const markReference = (address: Address): string => `${begins}${address}${ends}`;

/** The address, where the text is such a reference. */
export const referenceIn = (text: string): Address | undefined =>
  text.startsWith(begins) && text.endsWith(ends) ? text.slice(1, -1) : undefined;

/** The text form is the address. */
export const withoutReference = (text: string): string => referenceIn(text) ?? text;

/** The reference as it is written in a file, for messages; `within`: the components of that file. */
export const withoutMarks = (text: string, within = ""): string =>
  text.replace(markedText, (_, name: string) => `\${${name.startsWith(within) ? name.slice(within.length) : name}}`);

/** A hint of where such values may stand, for a value at another place. */
export const placesOfOpen =
  "only the service knows it; it may stand in a rule's remote_ip, in descriptions, in check and flush commands and URLs, and in outputs";

/** The one value that the text is, where it is no more than that. */
export const onlyComputed = (text: string): Computed | undefined => {
  const [name, ...more] = [...text.matchAll(markedText)];
  return name?.[0] === text && more.length === 0 ? computedNamed(name[1] ?? "") : undefined;
};

export function openText(text: string): Text {
  if (!holdsOpen(text)) return withoutReference(text);
  const parts: (string | Computed)[] = [];
  let at = 0;
  for (const match of text.matchAll(markedText)) {
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(computedNamed(match[1] ?? ""));
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return { parts };
}

function computedNamed(name: string): Computed {
  const dot = name.lastIndexOf(".");
  // Only `mark` makes such a text, because no file can hold the marks.
  return { address: name.slice(0, dot), attribute: name.slice(dot + 1) as Attribute };
}
