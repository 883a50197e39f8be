/**
 * The look of text for people: colours that are readable on light and dark, widths, wrapping, durations, values. A
 * colour is always added to a word or a sign, so that text without colours says the same.
 */
import type { FieldValue } from "../core/diff/changes";
import { printable } from "../core/text/printable";

export interface TextOptions {
  readonly colour?: boolean;
  readonly width?: number;
}

export type Hue = "good" | "change" | "danger" | "quiet" | "strong" | "note";
export type Paint = (hue: Hue, text: string) => string;

/** Of the 16 colours that a terminal's user can choose; no background, no white, no black. */
const hueCodes: Record<Hue, string> = { good: "32", change: "33", danger: "1;31", quiet: "2", strong: "1", note: "36" };

export const painter = (colour: boolean): Paint =>
  colour ? (hue, text) => (text === "" ? text : `\u001b[${hueCodes[hue]}m${text}\u001b[0m`) : (_, text) => text;

/** For what is written on a terminal: as wide as it is, or as usual. */
export const layoutOf = ({ colour = false, width = 80 }: TextOptions) => ({
  paint: painter(colour),
  width: Math.max(40, width),
});

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** How many columns of a terminal a printable text takes. */
export function displayColumns(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += /\p{M}|\u200d/u.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return columns;
}

export const padTo = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - displayColumns(text)));

/**
 * Breaks lines at spaces only: ids, paths and flags stay whole, so that they can be copied, even where they are too
 * long.
 */
export const wrapText = (text: string, columns: number): string[] => wrapWords(text.split(" "), columns);

/** Breaks lines between items; an item is broken only when it is longer than a line. */
export const wrapItems = (items: readonly string[], columns: number): string[] =>
  wrapWords(
    items.flatMap((item) => (displayColumns(item) > columns ? item.split(" ") : [item])),
    columns,
  );

export function wrapWords(words: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  let used = 0;
  for (const word of words) {
    const width = displayColumns(word);
    if (line.length > 0 && used + 1 + width > columns) {
      lines.push(line.join(" "));
      line = [word];
      used = width;
    } else {
      used += (line.length === 0 ? 0 : 1) + width;
      line.push(word);
    }
  }
  lines.push(line.join(" "));
  return lines;
}

/** A text beside a label, with further lines below its first one; under the label when there is no room beside it. */
export function hang(lead: string, text: string, width: number): string[] {
  const indent = displayColumns(lead);
  if (indent > width / 2) {
    const below = " ".repeat(8);
    return [lead.trimEnd(), ...wrapText(text, Math.max(20, width - 8)).map((line) => `${below}${line}`)];
  }
  return wrapText(text, Math.max(20, width - indent)).map((line, index) =>
    index === 0 ? `${lead}${line}` : `${" ".repeat(indent)}${line}`,
  );
}

/** The text cut to one line, with a sign where it was cut. */
export function cutToColumns(text: string, columns: number): string {
  if (displayColumns(text) <= columns) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    const width = displayColumns(character);
    if (used + width > columns - 1) break;
    kept += character;
    used += width;
  }
  return columns <= 0 ? "" : `${kept}…`;
}

export function durationText(ms: number): string {
  if (ms < 1000) return ms <= 0 ? "0 s" : "under 1 s";
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return minutes % 60 === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `12,345`. Written here because the runtime's own formatting of numbers takes 11 ms to load. */
export const numberText = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");

export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${numberText(count)} ${count === 1 ? one : many}`;

const sizes = new Set(["size", "root_size"]);

/** A value is quoted only where the plain text would not show where it ends. */
export function valueText(field: string, value: FieldValue): string {
  if (value === null) return "(none)";
  if (typeof value === "string")
    return value === "" || value !== value.trim() ? `"${printable(value)}"` : printable(value);
  return sizes.has(field) ? `${value} GB` : String(value);
}

/** A field before and after. A reference to a resource that is replaced has the same text on both sides. */
export const changeText = (field: string, before: FieldValue, after: FieldValue): string =>
  before === after
    ? `${valueText(field, after)} (its new one)`
    : `${valueText(field, before)} → ${valueText(field, after)}`;

export { listText } from "../core/text/list-text";
