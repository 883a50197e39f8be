/**
 * The rejection for an answer that does not fit: which pointers were tried, which keys are there, and the line of the
 * dialect that would make it fit.
 */

import { type Rejection, rejected } from "../core/model/outcome";
import { itemAt } from "../core/text/invariant";
import { fieldsIn } from "../core/text/objects";
import type { Pointers } from "./dialect";
import { likelyKey, pointerTo } from "./likely-key";
import { cleanMessage, own } from "./messages";
import { showPlace } from "./places";

const keysShown = 20;
const longestKey = 100;

/** `setting`: the dialect's key for these pointers, e.g. `records.vm.id`; `undefined` where the contract fixes them. */
export function unreadable(
  what: string,
  wanted: string,
  setting: string | undefined,
  tried: Pointers,
  found: unknown,
): Rejection {
  const keys = keysFound(found);
  const lines = [
    `tried ${tried.map((place) => (typeof place === "string" ? JSON.stringify(place) : showPlace(place))).join(", ") || "no pointer"}`,
    `found ${describe(found, keys)}`,
  ];
  if (setting !== undefined) lines.push(`in the dialect: ${setting}: [${suggest(setting, keys, found)}]`);
  return rejected("unreadable", `${what} shows no ${wanted} where it is looked for`, lines.join("; "));
}

/** The rejection for a value that stands at the place of an id and cannot be one. */
export const unusableId = (what: string, problem: string, setting: string | undefined): Rejection =>
  rejected(
    "unreadable",
    `the id of ${what} ${problem}`,
    setting === undefined
      ? "the service has to show another id"
      : `where the record shows a usable one, in the dialect: ${setting}: [/…]`,
  );

const keysFound = (found: unknown): string[] => Object.keys(fieldsIn(found));

function describe(found: unknown, keys: readonly string[]): string {
  if (found === null || found === undefined) return "nothing";
  if (Array.isArray(found)) return `an array of ${found.length}`;
  if (typeof found !== "object") return `a ${typeof found}`;
  // Never a piece of a key: were it a credential that the service repeats, nothing would recognise the piece.
  const shown = keys
    .slice(0, keysShown)
    .map((key) => (key.length > longestKey ? `one of ${key.length} characters` : cleanMessage(key)));
  const more = keys.length > keysShown ? `, and ${keys.length - keysShown} more` : "";
  const [outer] = keys;
  const inner = outer === undefined || keys.length > 1 ? [] : keysFound(own(found, outer));
  const within = inner.length === 0 ? "" : `, and within it ${describe(own(found, outer ?? ""), inner)}`;
  return shown.length === 0 ? "an empty object" : `the keys ${shown.join(", ")}${more}${within}`;
}

/** The most likely key, or a placeholder: a wrong line would be worse than one that has to be filled in. */
function suggest(setting: string, keys: readonly string[], found: unknown): string {
  // `split` gives one piece at least.
  if (setting.endsWith(".items") && Array.isArray(found)) return '""';
  const field = setting.endsWith(".items") ? itemAt(setting.split("."), 1) : setting.split(".").at(-1)!;
  const shown = (path: readonly string[]): string => {
    if (path.join("").length > longestKey) return "/…";
    const pointer = path.map(pointerTo).join("");
    return cleanMessage(setting.endsWith(".items") ? placeOfList(pointer, path.reduce<unknown>(own, found)) : pointer);
  };
  const key = likelyKey(field, keys);
  if (key !== undefined) return shown([key]);
  const [outer] = keys;
  // Where one key is all there is, it wraps the record.
  const inner = outer === undefined || keys.length > 1 ? undefined : likelyKey(field, keysFound(own(found, outer)));
  return outer === undefined || inner === undefined ? "/…" : shown([outer, inner]);
}

/** A list that was XML is an empty text, or one key around its items or its only one. */
function placeOfList(pointer: string, value: unknown): string {
  if (Array.isArray(value) || value === null) return pointer;
  if (value === "") return `{ in: ${pointer} }`;
  const [key, ...more] = keysFound(value);
  return key === undefined || more.length > 0 || key.length > longestKey ? "/…" : `{ in: ${pointer}${pointerTo(key)} }`;
}
