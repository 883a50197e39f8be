/** Finds the list of one kind: by rule and not by a list of paths, the dialect's own place first. */
import { kindRows } from "../../core/model/kinds";
import { type ListOperation, rowOf } from "../../core/model/operation";
import { deepEqual } from "../../core/text/deep-equal";
import { fieldsIn, isObject, keysOf, onlyDefined } from "../../core/text/objects";
import { builtInDialect } from "../../dialect/built-in";
import type { Dialect, ListRoute, Pointers, RecordPlace } from "../../dialect/dialect";
import { absentIsNoList, type FoundItems, findListIn, itemsAt, wrapperOf } from "../../dialect/learn/items";
import { leavesOf, lettersAndDigits } from "../../dialect/learn/values";
import {
  type Asking,
  askingFor,
  type Candidate,
  candidates,
  foldersOf,
  type Learnt,
  nouns,
  recordOfOperation,
  type Style,
  stylesOfRead,
} from "../../dialect/learn/where";
import { pointerTo } from "../../dialect/likely-key";
import { speaksOfLimits } from "../../dialect/page-signs";
import { findAt, tokensOf } from "../../dialect/places";
import { type FilledRequest, fillRoute } from "../../dialect/requests";
import { inEachRegion, inRegion, regionsOf } from "./each-region";
import type { Learnings } from "./learnings";
import { isSuccess, look, lookAtNamed, outcomeInWords, type SeenAnswer } from "./look";
import { readWholeList } from "./read-whole";
import { isGivenRoute, operationNotFound, saidAt, withoutRecords } from "./report";

/** So many guesses are asked at once; the first of them that holds counts. */
export const guessesAtOnce = 4;

/** One search for a list, and what it has seen so far. */
interface ListSearch {
  readonly learnings: Learnings;
  readonly operation: ListOperation;
  readonly route: ListRoute | null;
  readonly tried: { path: string; answer: string }[];
  unclear: boolean;
}

export async function findList(learnings: Learnings, operation: ListOperation, isLookedFor: boolean): Promise<void> {
  const { ports, given, styles, lists } = learnings;
  const route = given.operations[operation];
  const search: ListSearch = { learnings, operation, route, tried: [], unclear: false };
  const told = [...(ports.told?.paths?.[operation] ?? []), ...collectionsTold(learnings, recordOfOperation(operation))];
  const guesses: Iterator<Candidate> = isLookedFor
    ? everyGuess(learnings, candidates(operation, route, [...styles], told, foldersTold(learnings)))
    : (route === null ? [] : [{ asking: route }]).values();
  const taken = new Set([...lists.values()].map((list) => wordsOfAsking(list.route)));
  const ask = async ({ asking, style }: Candidate, isMoved = false): Promise<Heard | undefined> => {
    const said = route !== null && asking === route ? route : undefined;
    const filled = fillRoute(
      asking,
      {},
      inRegion(given, said === undefined ? undefined : regionsOf(said, learnings)[0]),
    );
    // What was found to be the list of another kind is not this one's as well.
    if (filled === undefined || (said === undefined && taken.has(wordsOfAsking(asking)))) return undefined;
    const request = { operation, ...filled, method: asking.method };
    const seen = await (said === undefined ? look : lookAtNamed)(ports, request);
    const moved = isMoved ? undefined : movedTo(learnings, asking, filled.path, seen);
    if (moved === undefined) return { asking, style, said, filled, seen };
    search.tried.push({ path: wordsOfAsking(asking), answer: outcomeInWords(seen.outcome) });
    return ask({ asking: moved }, true);
  };
  // What was said is asked by itself, since it mostly holds.
  for (let some = firstOf(guesses, 1); some.length > 0; some = firstOf(guesses, guessesAtOnce)) {
    const answers = await Promise.all(some.map((one) => ask(one)));
    for (const answer of answers) if (answer !== undefined && (await isAnswered(search, answer))) return;
  }
  learnings.findings.set(operation, operationNotFound(operation, route, search.tried, search.unclear));
}

interface Heard extends Candidate {
  /** The route of the dialect, where that was asked. */
  readonly said: ListRoute | undefined;
  readonly filled: FilledRequest;
  readonly seen: SeenAnswer;
}

/** Whether the search ends with this answer: the list, or a place where there is nothing of the kind yet. */
async function isAnswered(search: ListSearch, heard: Heard): Promise<boolean> {
  const { learnings, operation, route, tried } = search;
  const { asking, said, filled, seen } = heard;
  const path = wordsOfAsking(asking);
  search.unclear ||= learnings.isUndecided(filled.path, seen);
  seeLimit(learnings, seen);
  const isToldHere = said !== undefined && isGivenRoute({ given: learnings.given, base: learnings.file }, operation);
  // A service may answer everything with 200, and say below it that nothing is there.
  const isNowhere = !isToldHere && learnings.isSaidOfNobody(filled.path, seen);
  const where = isNowhere ? "what it answers where nothing is" : itemsIn(learnings, seen, operation, route);
  if (typeof where === "string") {
    tried.push({ path, answer: where });
    return !isNowhere && isNothing(seen) && (await isNothingYet(search, heard, isToldHere));
  }
  if (!("several" in where)) return readFound(search, heard, where);
  tried.push({ path, answer: where.answer });
  search.unclear = true;
  learnings.open.push(
    `operations.${operation}.items: which of ${where.several.map((place) => JSON.stringify(place)).join(", ")} is the list at ${path}`,
  );
  return false;
}

/** The key of the list may be left out while there is nothing to show. */
async function isNothingYet(
  { learnings, operation, route, tried }: ListSearch,
  { asking, style }: Heard,
  isToldHere: boolean,
): Promise<boolean> {
  // A service that says the same of a word that nobody uses says nothing of this one.
  const isLikely = style !== undefined && !isNothing(await askForNothing(learnings, operation, style));
  if (!isToldHere && !isLikely) return false;
  learnings.emptied.add(operation);
  const finding = operationNotFound(operation, route, tried, true);
  const likely = foundRoute(asking, rowOf(operation).items ?? []);
  learnings.findings.set(operation, isToldHere ? finding : { ...finding, route: likely, isLikely: true });
  return true;
}

/** The list is read to its end, unless it is the one of another kind. */
async function readFound(
  { learnings, operation, tried }: ListSearch,
  { asking, style, said, filled, seen }: Heard,
  { items, places }: ListThere,
): Promise<boolean> {
  const { styles, lists } = learnings;
  const path = wordsOfAsking(asking);
  // A service that does not know the word may show what it was asked for before.
  const isSame = [...lists.values()].some(
    ({ route: other, items: others }) =>
      other.path === asking.path && others.length > 0 && deepEqual(others.slice(0, items.length), items),
  );
  if (style !== undefined && isSame && items.length > 0) {
    tried.push({ path, answer: "the list of another kind" });
    return false;
  }
  const own = stylesOfRead(inOneRegion(asking, regionsOf(said ?? {}, learnings)[0]), recordOfOperation(operation));
  styles.unshift(...own.filter((style) => !styles.some((one) => deepEqual(one, style))));
  const found = foundRoute(asking, learnings.emptied.has(operation) ? absentIsNoList(places) : places);
  const first = await readWholeList(learnings, operation, found, filled, seen, items);
  const whole = await inEachRegion(learnings, operation, first);
  tried.push({ path, answer: `a list of ${whole.items.length}` });
  learnings.listed(operation, whole);
  learnings.findings.set(operation, {
    operation,
    verdict: "found",
    route: whole.route,
    tried,
    items: whole.items.length,
  });
  return true;
}

/**
 * What a redirect leads to: at this service, to which alone the credential is sent, and not where it leads from a path at
 * which nothing is. A query of its own may hold anything, and is not taken over.
 */
function movedTo(
  { base: { origin, basePath }, nowhere }: Learnings,
  asking: Asking,
  filled: string,
  { status = 0, location }: SeenAnswer,
): Asking | undefined {
  const from = new URL(origin + basePath + filled);
  if (status < 300 || location === undefined || !URL.canParse(location, from.href) || asking.method !== "GET")
    return undefined;
  const to = new URL(location, from);
  const isHere = to.origin === origin && to.pathname.startsWith(`${basePath}/`) && location !== nowhere?.location;
  if (!isHere || (to.search !== "" && to.search !== from.search)) return undefined;
  const { query: _, ...rest } = asking;
  const kept = to.search === "" ? rest : asking;
  // What was put into a path is no part of it: then a slash at the end is all that is taken over.
  if (to.pathname === `${from.pathname}/`) return { ...kept, path: `${asking.path}/` };
  return asking.path.includes("{") ? undefined : { ...kept, path: to.pathname.slice(basePath.length) };
}

function* everyGuess(learnings: Learnings, guesses: Iterable<Candidate>): Generator<Candidate> {
  for (const one of guesses) yield* withoutRegion(learnings, one);
}

function firstOf<T>(iterator: Iterator<T, unknown>, most: number): readonly T[] {
  const some: T[] = [];
  while (some.length < most) {
    const next = iterator.next();
    if (next.done === true) break;
    some.push(next.value);
  }
  return some;
}

/** In which folders requests are that were given: what is built in tells nothing of this service. */
export const foldersTold = ({ given }: { readonly given: Dialect }): readonly string[] =>
  foldersOf(
    keysOf(given.operations).flatMap((operation) => {
      const path = given.operations[operation]?.path;
      return path === undefined || path === builtInDialect.operations[operation]?.path ? [] : [path];
    }),
  );

/** Where things of a kind are, by requests about one of them that were given: /servers of /servers/{id}/resize. */
export const collectionsTold = (
  { given }: { readonly given: Dialect },
  kind: ReturnType<typeof recordOfOperation>,
): readonly string[] => [
  ...new Set(
    keysOf(given.operations).flatMap((operation) => {
      const { path } = given.operations[operation] ?? {};
      const [before = "", after] = path?.split("/{id}") ?? [];
      const isOwn = recordOfOperation(operation) === kind && path !== builtInDialect.operations[operation]?.path;
      return isOwn && after !== undefined && before !== "" && !before.includes("{") ? [before] : [];
    }),
  ),
];

/** What of a request tells it from others, for people; an action may well be named by a header. */
const wordsOfAsking = ({ path, query = {}, headers = {}, body }: Asking): string => {
  const params = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  const named = Object.entries(headers).map(([name, value]) => ` ${name}: ${value}`);
  return `${path}${params.length === 0 ? "" : `?${params.join("&")}`}${named.join("")}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`;
};

/** A list that is asked for as one of a region is may well be whole without: that is tried first. */
function withoutRegion(learnings: Learnings, candidate: Candidate): readonly Candidate[] {
  const { asking, style } = candidate;
  const regions = learnings.texts("region", "id");
  const isRegion = ([name, value]: readonly [string, unknown]): boolean =>
    regions.includes(String(value)) || nouns.region.includes(name.replace(/[_-]?(id|name)$/i, ""));
  const params = Object.entries(asking.query ?? {});
  if (style === undefined || !params.some(isRegion)) return [candidate];
  const others = params.filter((one) => !isRegion(one));
  const { query: _, ...bare } = asking;
  return [
    { asking: { ...bare, ...onlyDefined({ query: others.length > 0 ? Object.fromEntries(others) : undefined }) } },
    candidate,
  ];
}

/** The request with this region, where it names one. */
const inOneRegion = (asking: Asking, region: string | undefined): Asking =>
  region === undefined ? asking : JSON.parse(JSON.stringify(asking).replaceAll("{region}", region));

function askForNothing({ ports, given }: Learnings, operation: ListOperation, style: Style): Promise<SeenAnswer> {
  const asking = askingFor(style, "nonesuch");
  const { method, path } = asking;
  return look(ports, { operation, path, ...fillRoute(asking, {}, given), method });
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
  if (!isSuccess(seen) || !isObject(seen.body) || holdsRows(seen.body)) return false;
  // Of a map of zones, each may warn that it has nothing; the answer itself may have an id.
  const { items } = fieldsIn(seen.body);
  const leaves = leavesOf(seen.body).filter(
    ({ place }) => !JSON.stringify(place).includes("/warning") && !(isObject(items) && place === "/id"),
  );
  return (
    leaves.length <= 6 && !leaves.some(({ names: [name = ""] }) => /^(id|uuid|name|message|error|detail)$/.test(name))
  );
}

const foundRoute = (asking: Asking & Partial<ListRoute>, items: Pointers): ListRoute => ({ ...asking, items });

interface ListThere {
  readonly items: readonly unknown[];
  readonly places: Pointers;
}

type ItemsThere = ListThere | { readonly several: readonly RecordPlace[]; readonly answer: string } | string;

/** The list in an answer and the places to write for it, or what the answer is instead. */
function itemsIn(
  learnings: Learnings,
  seen: SeenAnswer,
  operation: ListOperation,
  route: ListRoute | null,
): ItemsThere {
  if (!isSuccess(seen)) return outcomeInWords(seen.outcome);
  const kind = recordOfOperation(operation);
  const usual = route?.items ?? rowOf(operation).items ?? [];
  const payload = learnings.payload(seen.body);
  if (holdsRows(payload)) return withoutRecords.rows;
  const [there, found] = [placeOfItems(payload, usual), findListIn(payload, nouns[kind])];
  // A place that finds nothing says less than one at which there is something.
  const isOther =
    found !== undefined &&
    "items" in found &&
    found.items.length > 0 &&
    (there?.items.length === 0 || liesWithin(found, there));
  const where = there === undefined || isOther ? found : there;
  if (where === undefined) {
    const empty = emptyMapIn(learnings, payload, kind);
    return empty === undefined ? "an answer without a list" : { items: [], places: [empty] };
  }
  if (kind in kindRows && isOfIdsAlone(learnings, kind, where)) return withoutRecords.ids;
  if ("several" in where)
    return { several: where.several, answer: `${where.several.length} lists, of which none is named for it` };
  const isUsual = usual.some((place) => place === where.place) && !learnings.emptied.has(operation);
  return { items: where.items, places: isUsual ? usual : [where.place] };
}

/** An empty map is an empty list where the service's other lists are maps. */
function emptyMapIn({ lists }: Learnings, payload: unknown, kind: Learnt): RecordPlace | undefined {
  const named = emptyNamed(payload, nouns[kind]);
  const maps = [...lists.values()].flatMap(({ route }) => route.items).filter((place) => mapAt(place) !== undefined);
  const [first] = maps;
  if (named !== undefined && typeof first === "object")
    return first.keys === undefined ? { in: `${named}/*` } : { in: named, keys: "id" };
  return maps.find((place) => isEmptyMapAt(payload, place));
}

/** The items of one place are parts of a list that the other one reads. */
const liesWithin = ({ place }: FoundItems, there: FoundItems | undefined): boolean =>
  typeof place === "object" && typeof there?.place === "string" && place.in?.startsWith(`${there.place}/*/`) === true;

/** `{ columns: [...], rows: [[...], [...]] }`. */
const holdsRows = (value: unknown, depth = 0): boolean =>
  isObject(value) &&
  Object.values(value).some((inner) =>
    Array.isArray(inner) ? inner.length > 0 && inner.every(Array.isArray) : depth < 3 && holdsRows(inner, depth + 1),
  );

/** Texts in the place of records, where the dialect does not say that they are the ids. */
const isOfIdsAlone = (
  { given, file }: Learnings,
  kind: Learnt,
  found: Exclude<ReturnType<typeof findListIn>, undefined>,
): boolean =>
  "items" in found &&
  found.items.length > 0 &&
  found.items.every((item) => typeof item === "string") &&
  saidAt(file, "records", kind, "id") === undefined &&
  !given.records[kind].id.includes("");

/** Where the map is whose members are the items. */
function mapAt(place: RecordPlace): string | undefined {
  if (typeof place === "string") return undefined;
  return place.keys === undefined ? /^(.*)\/\*$/.exec(place.in ?? "")?.[1] : (place.in ?? "");
}

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
  const found = findAt(payload, tokensOf(mapAt(place) ?? ""));
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
    if (isOfTexts || (items.every(isObject) && wrapperOf(items) === undefined)) return { place, items };
  }
  return undefined;
}
