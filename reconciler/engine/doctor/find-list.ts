/** Finds the list of one kind: by rule and not by a list of paths, the dialect's own place first. */
import { type ListOperation, rowOf } from "../../core/model/operation";
import { deepEqual } from "../../core/text/deep-equal";
import { fieldsIn, isObject, onlyDefined } from "../../core/text/objects";
import type { ListRoute, Pointers, RecordPlace } from "../../dialect/dialect";
import { findListIn, itemsAt } from "../../dialect/learn/items";
import { leavesOf, lettersAndDigits } from "../../dialect/learn/values";
import { candidates, nouns, recordOfOperation, styleOf } from "../../dialect/learn/where";
import { pointerTo } from "../../dialect/likely-key";
import { speaksOfLimits } from "../../dialect/page-signs";
import { findAt, tokensOf } from "../../dialect/places";
import { type FilledRequest, fillRoute } from "../../dialect/requests";
import { inEachRegion, inRegion, regionsOf } from "./each-region";
import type { Learnings } from "./learnings";
import { describe, isSuccess, leavesUndecided, look, type SeenAnswer } from "./look";
import { readWholeList } from "./read-whole";
import { isGivenRoute, type OperationFinding, operationNotFound } from "./report";

/** So many guesses are asked at once; the first of them that holds counts. */
const atOnce = 4;

export async function findList(learnings: Learnings, operation: ListOperation, isLookedFor: boolean): Promise<void> {
  const { ports, given, styles, lists } = learnings;
  const route = given.operations[operation];
  const tried: { path: string; answer: string }[] = [];
  let unclear = false;
  const written = route === null ? [] : [route.path];
  const paths = isLookedFor ? candidates(operation, route, styles, ports.told?.paths?.[operation] ?? []) : written;
  const taken = new Set([...lists.values()].map((list) => list.route.path));
  const ask = async (path: string) => {
    const said = route !== null && route.path === path ? route : undefined;
    const filled: FilledRequest | undefined =
      said === undefined ? { path } : fillRoute(said, {}, inRegion(given, regionsOf(said, learnings)[0]));
    // What was found to be the list of another kind is not this one's as well.
    if (filled === undefined || (said === undefined && taken.has(path))) return undefined;
    const seen = await look(ports, { operation, ...filled, ...onlyDefined({ method: said?.method }) });
    return { path, said, filled, seen };
  };
  for (let from = 0; from < paths.length; ) {
    // What was said is asked by itself, since it mostly holds.
    const size = from === 0 ? 1 : atOnce;
    const answers = await Promise.all(paths.slice(from, from + size).map(ask));
    from += size;
    for (const answer of answers) {
      if (answer === undefined) continue;
      const { path, said, filled, seen } = answer;
      unclear ||= leavesUndecided(seen.outcome);
      seeLimit(learnings, seen);
      const where = itemsIn(learnings, seen, operation, route);
      if (typeof where === "string") {
        tried.push({ path, answer: where });
        if (said === undefined || !isGivenRoute({ given, base: learnings.file }, operation) || !isNothing(seen))
          continue;
        // The key of the list may be left out while there is nothing to show.
        learnings.emptied.add(operation);
        learnings.findings.set(operation, operationNotFound(operation, route, tried, true));
        return;
      }
      if ("several" in where) {
        tried.push({ path, answer: where.answer });
        unclear = true;
        learnings.todo.push(
          `operations.${operation}.items: which of ${where.several.map((place) => JSON.stringify(place)).join(", ")} is the list at ${path}`,
        );
        continue;
      }
      const style = styleOf(filled.path, recordOfOperation(operation));
      if (style !== undefined && !styles.some((one) => deepEqual(one, style))) styles.unshift(style);
      const places = learnings.emptied.has(operation) ? where.places.map(absentIsNoList) : where.places;
      const found = foundRoute(said ?? { method: "GET", path }, places);
      const first = await readWholeList(learnings, operation, found, filled, seen, where.items);
      const whole = await inEachRegion(learnings, operation, first);
      tried.push({ path, answer: `a list of ${whole.items.length}` });
      learnings.listed(operation, whole);
      const finding: OperationFinding = {
        operation,
        verdict: "found",
        route: whole.route,
        tried,
        items: whole.items.length,
      };
      learnings.findings.set(operation, finding);
      return;
    }
  }
  learnings.findings.set(operation, operationNotFound(operation, route, tried, unclear));
}

/** A moment counted from 1970 is a number that no wait is. */
function seeLimit(learnings: Learnings, { headers }: SeenAnswer): void {
  const header = Object.keys(headers).find(speaksOfLimits);
  const value = Number(headers[header ?? ""] ?? Number.NaN);
  if (header !== undefined && Number.isInteger(value) && value >= 0)
    learnings.waitHeader = { header, as: value > 10 ** 9 ? "epoch" : "seconds" };
}

/** Nothing but wrappers and a few words about the answer itself. */
export function isNothing(seen: SeenAnswer): boolean {
  if (!isSuccess(seen) || !isObject(seen.body)) return false;
  const leaves = leavesOf(seen.body);
  return (
    leaves.length <= 6 && !leaves.some(({ names: [name = ""] }) => /^(id|uuid|name|message|error|detail)$/.test(name))
  );
}

/** The whole list is left out when there is nothing. */
export const absentIsNoList = (place: RecordPlace): RecordPlace =>
  typeof place === "string" ? (place === "" ? place : { in: place, absent: "none" }) : { ...place, absent: "none" };

const foundRoute = (
  { method, path, body, query, headers, for_each, pagination }: Omit<ListRoute, "items">,
  items: Pointers,
): ListRoute => onlyDefined({ method, path, body, query, headers, items, for_each, pagination });

type ItemsThere =
  | { readonly items: readonly unknown[]; readonly places: Pointers }
  | { readonly several: readonly RecordPlace[]; readonly answer: string }
  | string;

/** The list in an answer and the places to write for it, or what the answer is instead. */
function itemsIn(
  learnings: Learnings,
  seen: SeenAnswer,
  operation: ListOperation,
  route: ListRoute | null,
): ItemsThere {
  if (!isSuccess(seen)) return describe(seen.outcome);
  const { lists } = learnings;
  const usual = route?.items ?? rowOf(operation).items ?? [];
  const payload = learnings.payload(seen.body);
  const [there, found] = [placeOfItems(payload, usual), findListIn(payload, nouns[recordOfOperation(operation)])];
  // A place that finds nothing says less than one at which there is something.
  const isOther = there?.items.length === 0 && found !== undefined && "items" in found && found.items.length > 0;
  const where = there === undefined || isOther ? found : there;
  if (where === undefined) {
    // An empty map is an empty list where the service's other lists are maps.
    const named = emptyNamed(payload, nouns[recordOfOperation(operation)]);
    if (named !== undefined && [...lists.values()].some(({ route }) => route.items.some(isMapPlace)))
      return { items: [], places: [{ in: named, keys: "id" }] };
    const alike = [...lists.values()].flatMap(({ route }) => route.items).find((place) => isEmptyMapAt(payload, place));
    return alike === undefined ? "an answer without a list" : { items: [], places: [alike] };
  }
  if ("several" in where)
    return { several: where.several, answer: `${where.several.length} lists, of which none is named for it` };
  const isUsual = usual.some((place) => place === where.place) && !learnings.emptied.has(operation);
  return { items: where.items, places: isUsual ? usual : [where.place] };
}

const isMapPlace = (place: RecordPlace): boolean => typeof place === "object" && place.keys !== undefined;

/** Where an empty map is called as the kind is. */
function emptyNamed(payload: unknown, words: readonly string[]): string | undefined {
  for (const [name, value] of Object.entries(fieldsIn(payload))) {
    if (!isObject(value)) continue;
    const isNamed = words.some((word) => lettersAndDigits(name) === lettersAndDigits(word));
    if (isNamed && Object.keys(value).length === 0) return pointerTo(name);
    const deeper = emptyNamed(value, words);
    if (deeper !== undefined) return pointerTo(name) + deeper;
  }
  return undefined;
}

function isEmptyMapAt(payload: unknown, place: RecordPlace): boolean {
  if (typeof place === "string" || place.keys === undefined) return false;
  const found = findAt(payload, tokensOf(place.in ?? ""));
  return isObject(found) && Object.keys(found).length === 0;
}

function placeOfItems(
  payload: unknown,
  usual: readonly RecordPlace[],
): { readonly place: RecordPlace; readonly items: readonly unknown[] } | undefined {
  for (const place of usual) {
    const items = itemsAt(payload, place);
    if (items === undefined) continue;
    const isOfTexts = items.length > 0 && items.every((item) => typeof item === "string");
    if (isOfTexts || (items.every(isObject) && !isWrapped(items))) return { place, items };
  }
  return undefined;
}

/** `[{ item: … }]` is no list of records yet. */
function isWrapped(items: readonly Readonly<Record<string, unknown>>[]): boolean {
  const keys = new Set(items.flatMap((item) => Object.keys(item)));
  const [only] = keys;
  return keys.size === 1 && only !== undefined && items.every((item) => isObject(item[only]));
}
