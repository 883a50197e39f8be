/**
 * JSON pointers as the dialect uses them: several tried in order against a value that came from outside. Only own
 * properties are looked at, so a record cannot reach a prototype, and nothing here throws.
 */
import ipaddr from "ipaddr.js";
import { credentialMask } from "../core/text/credential-mask";
import { idProblem } from "../core/text/id-problem";
import type { Pointers } from "./dialect";

export interface Path {
  readonly pointer: string;
  readonly tokens: readonly string[];
}

export const compilePointers = (pointers: Pointers): readonly Path[] =>
  pointers.map((pointer) => ({
    pointer,
    tokens: pointer
      .split("/")
      .slice(1)
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")),
  }));

/**
 * What is at the path; `undefined` when there is nothing. An index past the end of an array finds `null`: the record
 * shows the list, and that nothing is there.
 */
export function findAt(value: unknown, tokens: readonly string[]): unknown {
  let at = value;
  for (const token of tokens) {
    if (typeof at !== "object" || at === null) return undefined;
    if (Array.isArray(at)) {
      if (!/^(0|[1-9]\d{0,8})$/.test(token)) return undefined;
      if (Number(token) >= at.length) return null;
      at = at[Number(token)];
    } else {
      if (!Object.hasOwn(at, token)) return undefined;
      at = (at as Record<string, unknown>)[token];
    }
  }
  return at;
}

/**
 * The first text found (a number counts as its digits; one in which the credential stood counts as not shown). `null`: something is there and it is empty; `undefined`: none
 * of the pointers finds a text.
 */
export const findText = (value: unknown, paths: readonly Path[]): string | null | undefined =>
  firstText(value, paths, (text) => !text.includes(credentialMask));

/** What is where an id is looked for: the id (a number counts as its digits), or why it can be none. */
export type FoundId = { readonly id: string } | { readonly problem: string } | undefined;

/** `undefined`: none of the pointers finds anything that is not empty. */
export function findId(value: unknown, paths: readonly Path[]): FoundId {
  const text = findText(value, paths);
  if (!text) return undefined;
  const number = paths.map(({ tokens }) => findAt(value, tokens)).find((found) => typeof found === "number");
  const isRounded = number !== undefined && String(number) === text && !Number.isSafeInteger(number);
  const problem = isRounded ? "is a number that is not written as a whole one" : idProblem(text);
  return problem === undefined ? { id: text } : { problem };
}

/** The same for what leads on: a link in which the credential stood leads nowhere, and is still no end. */
export const findLink = (value: unknown, paths: readonly Path[]): string | null | undefined =>
  firstText(value, paths, () => true);

function firstText(
  value: unknown,
  paths: readonly Path[],
  isShown: (text: string) => boolean,
): string | null | undefined {
  let empty = false;
  for (const { tokens } of paths) {
    const found = findAt(value, tokens);
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
  paths: readonly Path[],
): { readonly address?: string; readonly other?: string } {
  let other: string | undefined;
  for (const path of paths) {
    const found = findText(value, [path])?.trim();
    if (found === undefined || found === "") continue;
    if (ipaddr.IPv4.isValidFourPartDecimal(found) || (ipaddr.IPv6.isValid(found) && !found.includes("%")))
      return { address: found };
    other ??= found;
  }
  return other === undefined ? {} : { other };
}

/** The first array found; `null` there is the empty array, which is how some languages write it. */
export const findArray = (value: unknown, paths: readonly Path[]): readonly unknown[] | undefined =>
  findArrayAt(value, paths)?.items;

/** The same, and where it was. */
export function findArrayAt(
  value: unknown,
  paths: readonly Path[],
): { readonly items: readonly unknown[]; readonly tokens: readonly string[] } | undefined {
  let empty: readonly string[] | undefined;
  for (const { tokens } of paths) {
    const found = findAt(value, tokens);
    if (Array.isArray(found)) return { items: found, tokens };
    if (found === null) empty ??= tokens;
  }
  return empty === undefined ? undefined : { items: [], tokens: empty };
}

export function findBoolean(value: unknown, paths: readonly Path[]): boolean | undefined {
  for (const { tokens } of paths) {
    const found = findAt(value, tokens);
    if (typeof found === "boolean") return found;
    if (found === "true" || found === "false") return found === "true";
  }
  return undefined;
}

/** A number, also when written as text and with or without a unit of gigabytes. */
export function findSize(value: unknown, paths: readonly Path[]): number | undefined {
  for (const { tokens } of paths) {
    const size = numberOf(findAt(value, tokens));
    if (size !== undefined) return size;
  }
  return undefined;
}

export function numberOf(found: unknown): number | undefined {
  if (typeof found === "number") return Number.isFinite(found) ? found : undefined;
  if (typeof found !== "string") return undefined;
  const [, digits] = /^\s*(-?\d{1,15}(?:\.\d{1,6})?)\s*(?:G|GB|GiB)?\s*$/i.exec(found) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
