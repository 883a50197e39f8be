/**
 * Text of others (files, service answers) before it is shown: a control character or a direction mark could move the
 * cursor, colour the terminal or hide what a line says, so each is shown as its number instead. So is what is no character
 * at all: half of a surrogate pair, and the two codes that XML refuses.
 */
const hidden =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]|\p{Surrogate}/gu;

export const printable = (text: string): string =>
  text.replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The same for several lines, in whose quoted texts that number is the character: JSON, YAML, a program. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

/** The same with one character for one, so that a column still points at the same place. */
export const printableLine = (text: string): string =>
  text.replace(hidden, (character) => (character === "\t" ? " " : "\ufffd"));
