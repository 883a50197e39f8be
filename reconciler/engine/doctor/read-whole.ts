/** Learns how a list goes on, by going on once, and reads it to its end. */

import type { ListOperation } from "../../core/model/operation";
import { deepEqual } from "../../core/text/deep-equal";
import { fieldsIn, isObject, onlyDefined } from "../../core/text/objects";
import { builtInDialect } from "../../dialect/built-in";
import type { ListRoute, RecordPlace } from "../../dialect/dialect";
import { absentIsNoList, itemsAt } from "../../dialect/learn/items";
import { counting, signsOf, translated, type Way, waysOn } from "../../dialect/learn/pages";
import { learnRecord } from "../../dialect/learn/records";
import { lettersAndDigits } from "../../dialect/learn/values";
import { capitalized, recordOfOperation } from "../../dialect/learn/where";
import { isCounted, mostPages, nextPage, type PageRequest, pagingOver } from "../../dialect/next-page";
import { endsWithout, leadsOn, nextLink } from "../../dialect/page-signs";
import { findAtPath, type PointerPath } from "../../dialect/places";
import { compilePointers, findText } from "../../dialect/pointers";
import { type FilledRequest, fillRoute } from "../../dialect/requests";
import type { ProbeRequest } from "../../service/client";
import type { FoundList, Learnings } from "./learnings";
import { isSuccess, look, type SeenAnswer } from "./look";

const nothingKnown = { volumes: new Set<string>(), flavors: new Set<string>(), images: new Set<string>() };

export async function readWholeList(
  learnings: Learnings,
  operation: ListOperation,
  route: ListRoute,
  request: FilledRequest,
  first: SeenAnswer,
  items: readonly unknown[],
): Promise<FoundList> {
  const { given, base, lists } = learnings;
  const { body, headers } = first;
  const place = placeThatHolds(learnings, route, body) ?? "";
  const at = learnings.payload(body) === body ? pointerInItem(place) : `/data${pointerInItem(place)}`;
  const single: FoundList = { route, items, bodies: [body], at };
  const id = learnRecord(recordOfOperation(operation), given, items, nothingKnown).fields.find(
    ({ field }) => field === "id",
  )?.place;
  const start: Start = { request: { operation, method: route.method, ...request }, first, items, place, id };
  const page = { body, headers, items, at, id, origin: base.origin, asked: request.body };
  // Nothing says that there is more, and one of its own that has to be shown is not.
  const signed = waysOn(page);
  const ways = signed ?? (isCut(learnings, operation, items) ? counting(page) : undefined);
  if (ways === undefined) return { ...single, ...(await byOnes(learnings, start, single)) };
  const proven = [...lists.values()].flatMap((list) =>
    list.way === undefined ? [] : [translated(list.way, list.at, at)],
  );
  // It goes on as the others do, and says by that that it is whole.
  if (proven.some(({ next = [] }) => endsWithout(next, body) !== undefined)) return single;
  const every: readonly Way[] = [{}, ...proven, ...ways];
  for (const way of every) {
    const isSaidAlready = Object.keys(way).length === 0;
    const said = isSaidAlready ? route.pagination : way;
    const read = await follow(learnings, said, start);
    if (read === undefined) continue;
    return { ...single, ...read, ...(!isSaidAlready && { way, route: { ...route, pagination: way } }) };
  }
  if (signed === undefined) return single;
  learnings.open.push(
    `operations.${operation}.pagination: the list at ${route.path} goes on (${describeSigns(signsOf({ body, headers, items, at }))}), and none of the ways that were tried leads to its next page`,
  );
  return single;
}

const placeThatHolds = ({ payload }: Learnings, { items }: ListRoute, body: unknown): RecordPlace | undefined =>
  items.find((place) => itemsAt(payload(body), place) !== undefined);

/** `undefined`: there is no such list in the answer. */
export const itemsShown = ({ payload }: Learnings, seen: SeenAnswer, place: RecordPlace) =>
  isSuccess(seen) ? itemsAt(payload(seen.body), place) : undefined;

/**
 * A list of one page may show its first item alone, where it is asked for one; then the others are on its next pages,
 * and show how they are asked for. One list is tried for all.
 */
async function byOnes(
  learnings: Learnings,
  start: Start,
  { route, at }: FoundList,
): Promise<Partial<FoundList> | undefined> {
  const { request, first: whole, items, place, id } = start;
  const { given, lists, ports, base } = learnings;
  const isSaid = route.pagination !== undefined || !deepEqual(given.pagination, builtInDialect.pagination);
  const isTold = learnings.isAskedByOnes || isSaid || [...lists.values()].some(({ way }) => way !== undefined);
  if (isTold || items.length < 2 || items.length > 9) return undefined;
  learnings.isAskedByOnes = true;
  for (const asked of askedForOne(request, base.origin)) {
    const first = await look(ports, asked);
    const shown = itemsShown(learnings, first, place);
    if (shown?.length !== 1) continue;
    const { body, headers } = first;
    const page = { body, headers, items: shown, at, id, origin: base.origin, asked: asked.body };
    for (const way of waysOn(page) ?? counting(page)) {
      const read = await follow(learnings, way, { ...start, request: asked, first, items: shown });
      if (read?.items.length !== items.length) continue;
      return { way, route: { ...route, pagination: way } };
    }
  }
  if (request.body !== undefined) return undefined;
  const totalIn = ({ body, headers }: PageAnswer): number | undefined =>
    signsOf({ body, headers, items: [], at }).find(({ kind }) => kind === "total")?.count;
  if (totalIn(whole) !== items.length) return undefined;
  // What is behind the end is empty, and says the same total: the parameter is one of pages, and no filter.
  const [there = place] = absentIsNoList([place]);
  for (const way of counting({ ...whole, items, at, id: undefined, origin: base.origin })) {
    const read = await follow(learnings, way, { ...start, place: there, mayEnd: true });
    if (read === undefined || totalIn({ body: read.bodies.at(-1), headers: {} }) !== items.length) continue;
    return { way, route: { ...route, pagination: way } };
  }
  return undefined;
}

/** The request for one item alone: with the size that it names as 1, or with each of the usual names for one. */
export function askedForOne<R extends FilledRequest>(request: R, origin: string): readonly (R & FilledRequest)[] {
  if (request.body !== undefined && (!isObject(request.body) || typeof request.body["query"] === "string")) return [];
  const url = new URL(request.path, origin);
  const names = request.body === undefined ? [...url.searchParams.keys()] : Object.keys(fieldsIn(request.body));
  // A service whose parameters begin with a capital wants this one so as well.
  const isUpper = names.some((key) => /^[A-Z]/.test(key));
  const usual = sizeParameters.map((name) => (isUpper ? capitalized(name) : name));
  const own = names.filter((name) => usual.some((one) => lettersAndDigits(one) === lettersAndDigits(name)));
  return (own.length > 0 ? own : usual).map((param) => {
    if (request.body !== undefined) return { ...request, body: { ...fieldsIn(request.body), [param]: 1 } };
    const sized = new URL(url);
    sized.searchParams.set(param, "1");
    return { ...request, path: sized.pathname + sized.search };
  });
}

const sizeParameters = [
  "limit",
  "per_page",
  "page_size",
  "pageSize",
  "size",
  "pagesize",
  "maxResults",
  "take",
  "count",
  "page[size]",
];

/** How many items services mostly show on a page. */
const usualPages: ReadonlySet<number> = new Set([10, 15, 20, 25, 30, 50, 100, 200, 250, 500, 1000]);

const pointerInItem = (place: RecordPlace): string =>
  typeof place === "string" ? place : (place.in ?? "").replace(/\/\*$/, "");

/** Whether it shows as many as a page may hold, or leaves out an own resource of the trial that is known to be there. */
function isCut({ known }: Learnings, operation: ListOperation, items: readonly unknown[]): boolean {
  const own = operation === "volume.list" ? known.volumes : operation === "group.list" ? known.groups : undefined;
  const shown = JSON.stringify(items);
  if (usualPages.has(items.length)) return true;
  return items.length > 0 && (own ?? []).some((id) => !shown.includes(id));
}

const describeSigns = (signs: ReturnType<typeof signsOf>): string =>
  signs.map(({ kind, at, count }) => (count > 0 ? `${at} says ${count}` : `${at}: ${kind}`)).join(", ") ||
  "nothing more is known";

type PageAnswer = Pick<SeenAnswer, "body" | "headers">;

interface Start {
  readonly request: ProbeRequest;
  readonly first: PageAnswer;
  readonly items: readonly unknown[];
  readonly place: RecordPlace;
  readonly id: RecordPlace | undefined;
  /** Whether an empty second page is one. */
  readonly mayEnd?: true;
}

/**
 * Where one list is read on by a count, the others may as well. One that says itself where it ends is read no further
 * than that; any other is asked once for what would come next, and goes on so where that is not the same page again.
 */
export async function goOnCounted(learnings: Learnings): Promise<void> {
  const { lists, findings, given } = learnings;
  const way = [...lists.values()].map((list) => list.way ?? list.route.pagination ?? {}).find(isCounted);
  if (way === undefined) return;
  for (const [operation, list] of lists) {
    const finding = findings.get(operation);
    const id = learnings.placeOf(recordOfOperation(operation), "id");
    const { route, items, at } = list;
    const isKnown = list.way !== undefined || route.pagination !== undefined;
    if (isKnown || finding === undefined || (way.marker !== undefined && id === undefined)) continue;
    const own: Way = way.marker === undefined || id === undefined ? way : { ...way, marker: [id] };
    const first = { body: list.bodies[0], headers: {} };
    const isEndSaid = signsOf({ ...first, items, at }).some(({ kind }) => kind === "total" || kind === "pages");
    const isMore = async (): Promise<boolean> => {
      const filled = fillRoute(route, {}, given);
      const place = placeThatHolds(learnings, route, first.body);
      if (items.length === 0 || filled === undefined || place === undefined) return false;
      const start: Start = { request: { operation, method: route.method, ...filled }, first, items, place, id };
      return (await follow(learnings, own, { ...start, mayEnd: true })) !== undefined;
    };
    if (!isEndSaid && !(await isMore())) continue;
    findings.set(operation, { ...finding, route: { ...route, pagination: own } });
  }
}

/** The bodies of the pages behind the first one; none where this way does not lead on. */
export async function pagesBehind(
  learnings: Learnings,
  way: Way,
  request: ProbeRequest,
  first: SeenAnswer,
  place: RecordPlace,
): Promise<readonly unknown[]> {
  const items = itemsShown(learnings, first, place) ?? [];
  const read = await follow(learnings, way, { request, first, items, place, id: way.marker?.[0] });
  return read?.bodies.slice(1) ?? [];
}

/** `undefined`: this way does not lead on. */
async function follow(
  learnings: Learnings,
  way: Way | undefined,
  { request, first, items, place, id, mayEnd }: Start,
): Promise<Pick<FoundList, "items" | "bodies"> | undefined> {
  const { ports, base, given } = learnings;
  const { origin, basePath } = base;
  const paging = pagingOver(given.pagination, way);
  const [next, marker, idPath] = [
    compilePointers(paging.next),
    compilePointers(paging.marker ?? []),
    compilePointers(id === undefined ? [] : [id]),
  ];
  const idsOf = (list: readonly unknown[]): string[] =>
    list.map((item) => findText(item, idPath) ?? JSON.stringify(item));
  const all = [...items];
  const bodies = [first.body];
  let seen: PageAnswer = first;
  let shown: readonly unknown[] = items;
  const start: PageRequest = { path: basePath + request.path, body: request.body };
  let current = start;
  for (let pages = 1; pages < Math.min(mostPages, 50); pages++) {
    const to = nextPage(
      {
        next: toldNext(seen, next, paging.next_header),
        marker: findText(shown.at(-1), marker) ?? undefined,
        shown: shown.length,
        signs: signsOf({ body: seen.body, headers: seen.headers, items: shown, at: "" }),
      },
      { origin, basePath, first: start, current, paging, pages, items: all.length, distinct: new Set(idsOf(all)).size },
    );
    if ("end" in to) return pages === 1 ? undefined : { items: all, bodies };
    if ("problem" in to) return undefined;
    const below = to.request.path.startsWith(basePath) ? to.request.path.slice(basePath.length) : to.request.path;
    const again = await look(ports, { ...request, path: below, ...onlyDefined({ body: to.request.body }) });
    const found = itemsShown(learnings, again, place);
    if (found === undefined || !isNew(found, idsOf, all, mayEnd === true ? 2 : pages)) return undefined;
    all.push(...found);
    bodies.push(again.body);
    [seen, shown, current] = [again, found, to.request];
    if (found.length === 0) return { items: all, bodies };
  }
  return { items: all, bodies };
}

/** A parameter that means nothing to the service shows the first page again. */
function isNew(
  found: readonly unknown[],
  idsOf: (list: readonly unknown[]) => readonly string[],
  all: readonly unknown[],
  pages: number,
): boolean {
  const before = new Set(idsOf(all));
  return found.length === 0 ? pages > 1 : idsOf(found).every((one) => !before.has(one));
}

function toldNext(seen: PageAnswer, next: readonly PointerPath[], header: string | null): string | undefined {
  const told = next.map((one) => findAtPath(seen.body, one)).find(leadsOn);
  if (told !== undefined) return String(told);
  const value = header === null ? undefined : seen.headers[header.toLowerCase()];
  if (value === undefined || !leadsOn(value)) return undefined;
  return header?.toLowerCase() === "link" ? nextLink(value) : value;
}
