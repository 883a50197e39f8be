/** Learns how a list goes on, by going on once, and reads it to its end. */
import type { ListOperation } from "../../core/model/operation";
import { onlyDefined } from "../../core/text/objects";
import type { Dialect, ListRoute, RecordPlace } from "../../dialect/dialect";
import { itemsAt } from "../../dialect/learn/items";
import { signsOf, translated, type Way, waysOn } from "../../dialect/learn/pages";
import { learnRecord } from "../../dialect/learn/records";
import { recordOfOperation } from "../../dialect/learn/where";
import { mostPages, nextPage, type PageRequest } from "../../dialect/next-page";
import { nextLink } from "../../dialect/page-signs";
import { findAtPath, type PointerPath } from "../../dialect/places";
import { compilePointers, findText } from "../../dialect/pointers";
import type { FilledRequest } from "../../dialect/requests";
import type { FoundList, Learnings } from "./learnings";
import { type DoctorRequest, isSuccess, look, type SeenAnswer } from "./look";

const nothingKnown = {
  volumes: new Set<string>(),
  flavors: new Set<string>(),
  images: new Set<string>(),
};

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
  const place = route.items.find((one) => itemsAt(learnings.payload(body), one) !== undefined) ?? "";
  const inBody = (typeof place === "string" ? place : (place.in ?? "")) || "";
  const at = learnings.payload(body) === body ? inBody : `/data${inBody}`;
  const key = at.split("/").at(-1) ?? "";
  const single: FoundList = { route, items, bodies: [body], key };
  const id = learnRecord(recordOfOperation(operation), given, items, nothingKnown).fields.find(
    ({ field }) => field === "id",
  )?.place;
  const ways = waysOn({ body, headers, items, at, id, origin: base.origin });
  if (ways === undefined) return single;
  const proven = [...lists.values()].flatMap((list) =>
    list.way === undefined ? [] : [translated(list.way, list.key, key)],
  );
  const start: Start = { request: { operation, method: route.method, ...request }, first, items, place, id };
  const every: readonly Way[] = [{}, ...proven, ...ways];
  for (const way of every) {
    const read = await follow(learnings, { ...given.pagination, ...route.pagination, ...way }, start);
    if (read === undefined) continue;
    const isSaidAlready = Object.keys(way).length === 0;
    return { ...single, ...read, ...(!isSaidAlready && { way, route: { ...route, pagination: way } }) };
  }
  learnings.todo.push(
    `operations.${operation}.pagination: the list at ${route.path} goes on (${describeSigns(signsOf({ body, headers, items, at }))}), and none of the ways that were tried leads to its next page`,
  );
  return single;
}

const describeSigns = (signs: ReturnType<typeof signsOf>): string =>
  signs.map(({ kind, at, count }) => (count > 0 ? `${at} says ${count}` : `${at}: ${kind}`)).join(", ") ||
  "nothing more is known";

interface Start {
  readonly request: DoctorRequest;
  readonly first: SeenAnswer;
  readonly items: readonly unknown[];
  readonly place: RecordPlace;
  readonly id: RecordPlace | undefined;
}

/** `undefined`: this way does not lead on. */
async function follow(
  learnings: Learnings,
  paging: Dialect["pagination"],
  { request, first, items, place, id }: Start,
): Promise<Pick<FoundList, "items" | "bodies"> | undefined> {
  const { ports, base } = learnings;
  const { origin, basePath } = base;
  const [next, marker, idPath] = [
    compilePointers(paging.next),
    compilePointers(paging.marker ?? []),
    compilePointers(id === undefined ? [] : [id]),
  ];
  const idsOf = (list: readonly unknown[]): string[] =>
    list.map((item) => findText(item, idPath) ?? JSON.stringify(item));
  const all = [...items];
  const bodies = [first.body];
  let seen = first;
  let shown: readonly unknown[] = items;
  const start: PageRequest = {
    path: basePath + request.path,
    body: request.body,
  };
  let current = start;
  for (let pages = 1; pages < Math.min(mostPages, 50); pages++) {
    const to = nextPage(
      {
        next: toldNext(seen, next, paging.next_header),
        marker: findText(shown.at(-1), marker) ?? undefined,
        shown: shown.length,
        signs: signsOf({ body: seen.body, headers: seen.headers, items: shown, at: "" }),
      },
      {
        origin,
        basePath,
        first: start,
        current,
        paging,
        pages,
        items: all.length,
        distinct: new Set(idsOf(all)).size,
      },
    );
    if ("end" in to) return pages === 1 ? undefined : { items: all, bodies };
    if ("problem" in to) return undefined;
    const below = to.request.path.startsWith(basePath) ? to.request.path.slice(basePath.length) : to.request.path;
    const again = await look(ports, {
      ...request,
      path: below,
      ...onlyDefined({ body: to.request.body }),
    });
    const found = isSuccess(again) ? itemsAt(learnings.payload(again.body), place) : undefined;
    if (found === undefined || !isNew(found, idsOf, all, pages)) return undefined;
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

function toldNext(seen: SeenAnswer, next: readonly PointerPath[], header: string | null): string | undefined {
  const told = next
    .map((one) => findAtPath(seen.body, one))
    .find((one) => one !== undefined && one !== null && one !== "" && one !== false);
  if (told !== undefined) return String(told);
  const value = header === null ? undefined : seen.headers[header.toLowerCase()];
  if (value === undefined || value === "") return undefined;
  return header?.toLowerCase() === "link" ? nextLink(value) : value;
}
