/**
 * Places as a dialect names them, against a value that came from outside: JSON pointers, and selectors for what a bare
 * pointer cannot say (an entry chosen by its neighbour, a map keyed by id, text with something around the value). Only
 * own properties are looked at, so a record cannot reach a prototype, and nothing here throws.
 */
import { fieldsIn, isObject, ownValue } from "../core/text/objects";
import type { Pointer, Pointers, RecordPlace, Scalar, Selector, SizeUnit } from "./dialect";

/** A place, ready to be looked at. */
export interface PointerPath {
  /** The tokens of the pointer; for a selector, of the list or map that it chooses from. */
  readonly tokens: readonly string[];
  readonly chooser?: Chooser;
}

interface Chooser {
  /** The values of all items that fit. `undefined`: the place is not shown. */
  all(value: unknown): readonly unknown[] | undefined;
  /**
   * Where it chooses from several lists, each within a member of what is there, such as the VMs of each zone: these
   * members. Else what fits in the one list and shows no value.
   */
  parts(value: unknown): readonly unknown[];
  /** The first of these values. `null`: the record shows that there is none. */
  one(value: unknown): unknown;
  /** Whether what is found counts as true; `undefined` for a selector that does not say. */
  isTrue?(found: unknown): boolean;
  readonly unit?: SizeUnit;
}

export const compilePointers = (places: Pointers): readonly PointerPath[] => places.map(compilePlace);

const compilePlace = (place: RecordPlace): PointerPath =>
  typeof place === "string"
    ? { tokens: tokensOf(place) }
    : {
        tokens: tokensUntilChoice(tokensOf(place.in ?? place.value ?? "")),
        chooser: chooserOf(place),
      };

export const tokensOf = (pointer: Pointer): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

function tokensUntilChoice(tokens: readonly string[]): readonly string[] {
  const choice = tokens.indexOf("*");
  return choice < 0 ? tokens : tokens.slice(0, choice);
}

/** As it is written in a file of one line. */
export function showPlace(place: RecordPlace): string {
  if (typeof place === "string") return place;
  return `{ ${Object.entries(place)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(", ")} }`;
}

/** The value at the place. `undefined`: it is not shown. `null`: the record shows that there is none. */
export const findAtPath = (value: unknown, path: PointerPath): unknown =>
  path.chooser === undefined ? findAt(value, path.tokens) : path.chooser.one(value);

/** What the first of the places shows, be it that there is none. */
export const firstFound = (value: unknown, paths: readonly PointerPath[]): unknown =>
  paths.map((path) => findAtPath(value, path)).find((found) => found !== undefined);

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
    } else at = ownValue(fieldsIn(at), token);
  }
  return at;
}

/** The value with another one at this place of it; what is no map on the way there becomes one. */
export const withValueAt = (value: unknown, [key, ...rest]: readonly string[], put: string | number): unknown =>
  key === undefined ? put : { ...fieldsIn(value), [key]: withValueAt(fieldsIn(value)[key], rest, put) };

function chooserOf(selector: Selector): Chooser {
  const { keys, where = {}, join, cut, case: letters, absent, unit, none, is } = selector;
  const into = selector.in === undefined ? undefined : tokensOf(selector.in);
  const wanted = Object.entries(where).map(([key, scalars]) => [keyTokens(key), textsOf(scalars)] as const);
  const at = tokensOf(selector.value ?? "");
  const joined = join?.map(tokensOf);
  const nothings = textsOf(none ?? []);
  const cutter = cut === undefined ? undefined : cutterOf(cut);

  function items(value: unknown): readonly unknown[] | undefined {
    const nodes = into === undefined ? [value] : nodesAt(value, into);
    if (nodes.length === 0) return into !== undefined && leadsToNone(value, into) ? [] : undefined;
    if (into === undefined && keys === undefined) return nodes;
    return nodes.flatMap((node) => opened(node, keys));
  }
  /** A list that may be left out is left out of what holds it, which has to be there: in XML, an element without any. */
  const holdsIt = (value: unknown): boolean => {
    if (into === undefined) return true;
    // In HAL the map around the lists of an answer is left out with them.
    const holder = into.slice(0, into.at(-2) === "_embedded" ? -2 : -1);
    return findAt(value, holder) === null || nodesAt(value, holder).some((node) => isObject(node) || node === "");
  };
  const fits = (item: unknown): boolean => wanted.every(([tokens, texts]) => isAmong(texts, findAt(item, tokens)));
  function valueIn(item: unknown): unknown {
    const found = joined === undefined ? findAt(item, at) : joinedText(item, joined);
    if (isAmong(nothings, found)) return null;
    if ((cutter === undefined && letters === undefined) || found === null || found === undefined) return found;
    const text = typeof found !== "string" ? undefined : cutter === undefined ? found : cutter(found);
    return letters === "lower" ? text?.toLowerCase() : letters === "upper" ? text?.toUpperCase() : text;
  }
  const isChoice = wanted.length > 0;
  const isInParts = /\/\*\/[^*]/.test(selector.in ?? "");
  const nothing = absent === "none" ? null : undefined;
  return {
    all(value) {
      const found = items(value);
      if (found === undefined) return absent === "none" && holdsIt(value) ? [] : undefined;
      return found.filter(fits).flatMap((item) => {
        const one = valueIn(item);
        if (one === undefined) return [];
        // Where nothing is chosen from a list, the value is what the list is looked for in.
        return into === undefined && keys === undefined && Array.isArray(one) ? one : [one];
      });
    },
    parts: (value) =>
      isInParts
        ? membersAt(findAt(value, tokensUntilChoice(into ?? [])))
        : (items(value) ?? []).filter((item) => fits(item) && valueIn(item) === undefined),
    one(value) {
      const found = items(value);
      if (found === undefined) return nothing;
      // The list is shown and empty.
      if (found.length === 0 && !isChoice) return null;
      let empty = false;
      for (const item of found) {
        if (!fits(item)) continue;
        const one = valueIn(item);
        if (one !== undefined && one !== null && one !== "") return one;
        empty ||= one !== undefined;
      }
      return empty ? null : nothing;
    },
    isTrue: is === undefined ? undefined : (found) => isAmong(textsOf(is), found),
    unit,
  };
}

/** Of those that are there; `undefined`: none is. */
function joinedText(item: unknown, places: readonly (readonly string[])[]): string | undefined {
  const texts = places.flatMap((tokens) => asText(findAt(item, tokens)) ?? []);
  return texts.length === 0 ? undefined : texts.join("/");
}

/** A star finds the members of an empty list or map: there are none, nor anything within them. */
const leadsToNone = (value: unknown, tokens: readonly string[]): boolean =>
  tokens.some(
    (token, at) =>
      token === "*" &&
      // The answer itself is empty: whatever holds the list was not shown.
      (at > 0 || tokens.length === 1) &&
      nodesAt(value, tokens.slice(0, at)).some((node) => typeof node === "object") &&
      nodesAt(value, tokens.slice(0, at + 1)).length === 0,
  );

/** Everything that the tokens lead to; `*` stands for each member. */
function nodesAt(value: unknown, tokens: readonly string[]): unknown[] {
  let nodes = [value];
  for (const token of tokens)
    nodes = nodes.flatMap((node) => {
      if (token === "*") return membersAt(node);
      const found = findAt(node, [token]);
      return found === undefined || found === null ? [] : [found];
    });
  return nodes;
}

const membersAt = (node: unknown): readonly unknown[] =>
  typeof node === "object" && node !== null ? Object.values(node) : [];

function opened(node: unknown, keys: string | undefined): readonly unknown[] {
  if (Array.isArray(node)) return node;
  if (node === null || node === undefined || node === "") return [];
  if (keys === undefined || typeof node !== "object") return [node];
  return Object.entries(node).map(([key, member]: [string, unknown]) =>
    isObject(member) ? { ...member, [keys]: key } : { [keys]: key, value: member },
  );
}

/** The name of a field, or a pointer. */
const keyTokens = (key: string): readonly string[] => (key.startsWith("/") ? tokensOf(key) : [key]);

export const asText = (found: unknown): string | undefined =>
  typeof found === "string" || typeof found === "boolean" || (typeof found === "number" && Number.isFinite(found))
    ? String(found)
    : undefined;

export const textsOf = (scalars: Scalar | readonly Scalar[]): readonly string[] =>
  (typeof scalars === "object" ? scalars : [scalars]).map(String);

function isAmong(texts: readonly string[], found: unknown): boolean {
  const text = asText(found);
  return text !== undefined && texts.includes(text);
}

/** Takes the value out of the text around it; `undefined`: it is written differently. */
function cutterOf(cut: string): (text: string) => string | undefined {
  const [before = "", after = ""] = cut.split("{value}");
  const anywhere = before.startsWith("*");
  const prefix = anywhere ? before.slice(1) : before;
  return (text) => {
    if (!text.endsWith(after)) return undefined;
    const whole = text.slice(0, text.length - after.length);
    const from = anywhere ? whole.lastIndexOf(prefix) : whole.startsWith(prefix) ? 0 : -1;
    if (from < 0) return undefined;
    const value = whole.slice(from + prefix.length);
    return value === "" ? undefined : value;
  };
}

/** The place of the value itself. */
export const itself = compilePointers([""]);
