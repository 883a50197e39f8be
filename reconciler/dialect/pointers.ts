/**
 * What several places find when they are tried in order: a text, an id, an address, an array, a size. Nothing here
 * throws.
 */
import ipaddr from "ipaddr.js";
import { credentialMask } from "../core/text/credential-mask";
import { idProblem } from "../core/text/id-problem";
import { isObject } from "../core/text/objects";
import type { SizeUnit } from "./dialect";
import { asText, findAt, findAtPath, type PointerPath } from "./places";

export { compilePointers, findAt, type PointerPath } from "./places";

/**
 * The first text found (a number counts as its digits; one in which the credential stood counts as not shown). `null`: something is there and it is empty; `undefined`: none
 * of the pointers finds a text.
 */
export const findText = (value: unknown, paths: readonly PointerPath[]): string | null | undefined =>
  firstText(value, paths, (text) => !text.includes(credentialMask));

/** The value at the places of an id: the id (a number counts as its digits), or why the value can be none. */
export type FoundId = { readonly id: string } | { readonly problem: string } | undefined;

/** `undefined`: none of the pointers finds anything that is not empty. */
export function findId(value: unknown, paths: readonly PointerPath[]): FoundId {
  const text = findText(value, paths);
  if (!text) return undefined;
  const number = Number(text);
  const isRounded =
    Number.isFinite(number) &&
    !Number.isSafeInteger(number) &&
    paths.some((path) => {
      const found = findAtPath(value, path);
      return typeof found === "number" && String(found) === text;
    });
  const problem = isRounded ? "is a number that is not written as a whole one" : idProblem(text);
  return problem === undefined ? { id: text } : { problem };
}

/**
 * The same for a link to the next page. A link in which the credential stood leads nowhere, but it does not mean that
 * the list has ended.
 */
export const findLink = (value: unknown, paths: readonly PointerPath[]): string | null | undefined =>
  firstText(value, paths, () => true);

function firstText(
  value: unknown,
  paths: readonly PointerPath[],
  isShown: (text: string) => boolean,
): string | null | undefined {
  let empty = false;
  for (const path of paths) {
    const found = findAtPath(value, path);
    if (typeof found === "string" && found !== "" && isShown(found)) return found;
    if (typeof found === "number" && Number.isFinite(found)) return String(found);
    if (found === null || found === "") empty = true;
  }
  return empty ? null : undefined;
}

/**
 * The first text that is an IP address, since it may end up as a word of a command. `other`: what the record has there
 * instead, which is no address.
 */
export function findAddress(
  value: unknown,
  paths: readonly PointerPath[],
): { readonly address?: string; readonly other?: string } {
  let other: string | undefined;
  for (const path of paths) {
    const found = findText(value, [path])?.trim();
    if (found === undefined || found === "" || isNoneYet(found)) continue;
    if (ipaddr.IPv4.isValidFourPartDecimal(found) || (ipaddr.IPv6.isValid(found) && !found.includes("%")))
      return { address: found };
    other ??= found;
  }
  return other === undefined ? {} : { other };
}

/** What some services write where a VM has no address: 0.0.0.0 or ::. */
const isNoneYet = (text: string): boolean => ipaddr.isValid(text) && ipaddr.parse(text).range() === "unspecified";

/** The first array found; `null` there is the empty array, which is how some languages write it. */
export const findArray = (value: unknown, paths: readonly PointerPath[]): readonly unknown[] | undefined =>
  findArrayAt(value, paths)?.items;

interface FoundArray {
  readonly items: readonly unknown[];
  readonly tokens: readonly string[];
  /** What each part of it stands in, where it has several; or what stands in the list and is none of its items. */
  readonly parts?: readonly unknown[];
}

/** The same array with its place. */
export function findArrayAt(value: unknown, paths: readonly PointerPath[]): FoundArray | undefined {
  let empty: readonly string[] | undefined;
  for (const { tokens, chooser } of paths) {
    if (chooser !== undefined) {
      const items = chooser.all(value);
      // What may be left out is looked for at the places that follow.
      if (items?.length === 0 && findAt(value, tokens) == null) empty ??= tokens;
      else if (items !== undefined) return { items, tokens, parts: chooser.parts(value) };
      continue;
    }
    const found = findAt(value, tokens);
    if (Array.isArray(found)) return { items: found, tokens };
    if (found === null) empty ??= tokens;
  }
  return empty === undefined ? undefined : { items: [], tokens: empty };
}

/** A list of a record, where one thing alone may stand in place of a list of one. */
export function findSeveral(value: unknown, paths: readonly PointerPath[]): readonly unknown[] | undefined {
  const listed = findArray(value, paths);
  if (listed !== undefined && listed.length > 0) return listed;
  const [alone] = paths.flatMap((path) => {
    const found = path.chooser === undefined ? findAtPath(value, path) : undefined;
    return (typeof found === "string" && found !== "") || (isObject(found) && Object.keys(found).length > 0)
      ? [found]
      : [];
  });
  return alone === undefined ? listed : [alone];
}

export function findBoolean(value: unknown, paths: readonly PointerPath[]): boolean | undefined {
  for (const path of paths) {
    const found = findAtPath(value, path);
    const isTrue = path.chooser?.isTrue;
    if (isTrue !== undefined) {
      if (found !== undefined) return isTrue(found);
      continue;
    }
    if (typeof found === "boolean") return found;
    if (found === "true" || found === "false") return found === "true";
  }
  return undefined;
}

/** A word for a state: a text, or true and false where the record has no more to say. */
export function findWord(value: unknown, paths: readonly PointerPath[]): string | undefined {
  const text = findText(value, paths);
  if (text != null && text !== "") return text;
  for (const path of paths) {
    const found = findAtPath(value, path);
    if (typeof found === "boolean") return asText(found);
  }
  return undefined;
}

/** A number of GB, also when written as text, with or without a unit, or counted in another one. */
export function findSize(value: unknown, paths: readonly PointerPath[]): number | undefined {
  for (const path of paths) {
    const size = numberInUnit(findAtPath(value, path), path.chooser?.unit);
    if (size !== undefined) return size;
  }
  return undefined;
}

const perGb: Readonly<Record<string, number>> = { B: 1024 ** 3, K: 1024 ** 2, M: 1024, G: 1, T: 1 / 1024 };

export function numberInUnit(found: unknown, unit: SizeUnit = "GB"): number | undefined {
  if (typeof found === "number") return Number.isFinite(found) ? found / perOf(unit, found) : undefined;
  if (typeof found !== "string") return undefined;
  const [, digits, said] = /^\s*(-?\d{1,15}(?:\.\d{1,6})?)\s*(B|[KMGT](?:i?B?)?)?\s*$/i.exec(found) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) / perOf(said ?? unit, Number(digits));
}

/** Bytes are counted in thousands where only that makes whole gigabytes. */
function perOf(unit: string, count: number): number {
  const letter = unit[0]?.toUpperCase() ?? "G";
  return letter === "B" && count % 1024 ** 3 !== 0 && count % 1000 ** 3 === 0 ? 1000 ** 3 : (perGb[letter] ?? 1);
}
