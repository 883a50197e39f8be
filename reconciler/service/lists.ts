/**
 * Lists as they are read: all their regions and pages, once more from the start where one changed meanwhile, and beyond
 * their end where they are to prove something. What a page says is dialect/.
 */
import type { Operation } from "../core/model/operation";
import { accepted, type Failure, type Outcome, type Rejection, rejected } from "../core/model/outcome";
import { deepEqual } from "../core/text/deep-equal";
import { fieldsIn, onlyDefined } from "../core/text/objects";
import { sharedLook } from "../core/text/shared-look";
import { operationOfList, type PagedOperation, routeOfList } from "../dialect/answers";
import type { Dialect, Route } from "../dialect/dialect";
import { firstPage, mostPages, mostPasses, nextPage, type PageRequest } from "../dialect/next-page";
import { type Reading, readAll } from "../dialect/reading";
import type { createRecordReaders } from "../dialect/records";
import { fillRoute } from "../dialect/requests";
import {
  cutSilently,
  gapIn,
  hasNoEndSign,
  incomplete,
  type ListRead,
  type PageRead,
  waysToAskForMore,
} from "../dialect/whole-list";
import type { Call, createCaller, ReadAnswer } from "./caller";
import type { Sender } from "./calls";
import type { RequestOptions } from "./client";
import type { Clock } from "./clock";
import type { measureLists } from "./list-cost";
import { invalidId, unsupported } from "./unsent";

export interface ListReaderOptions {
  readonly dialect: Dialect;
  readonly caller: ReturnType<typeof createCaller>;
  readonly read: ReturnType<typeof createRecordReaders>;
  readonly costs: () => ReturnType<typeof measureLists>;
  readonly clock: Clock;
  readonly origin: string;
  readonly basePath: string;
  routeOf(operation: Operation): Route | null;
}

export function createListReader({
  dialect,
  caller,
  read,
  costs,
  clock,
  origin,
  basePath,
  routeOf,
}: ListReaderOptions) {
  /** Lists that are read as a proof. */
  const proofs = new Map<
    PagedOperation,
    { readonly signal: AbortSignal | undefined; readonly look: () => Promise<unknown> }
  >();

  /** All pages of a list. Who wants it as a proof at the same time as others shares what they read. */
  const list: Sender["list"] = (operation, ids, readRecord, requestOptions) => {
    const { proves, signal, ...others } = requestOptions ?? {};
    const read = () => readList(operation, ids, readRecord, requestOptions);
    if (proves !== true || Object.keys({ ...others, ...ids }).length > 0) return read();
    // What is under way for a signal ends with that signal.
    const shared = proofs.get(operation);
    if (shared !== undefined && shared.signal === signal) return shared.look() as ReturnType<typeof read>; // Its operation says what a list holds.
    const look = sharedLook(read);
    proofs.set(operation, { signal, look });
    return look();
  };

  /** All pages of a list, and once more from the start when it changed while it was read. */
  const readList: Sender["list"] = async (operation, ids, readRecord, requestOptions) => {
    const said = operation === "attachments" ? routeOfList(dialect, operation) : routeOf(operation);
    if (said === null) return unsupported(operation);
    const each = await regionsFor(operation, requestOptions);
    if (each.status !== "accepted") return each;
    const parts = await Promise.all(
      each.value.map(async (region) => {
        const values = region === undefined ? dialect.values : { ...dialect.values, region };
        const filled = fillRoute(said, ids, { ...dialect, values });
        if (filled === undefined) return invalidId(operation);
        const { headers, body } = filled;
        const first = firstPage({ path: basePath + filled.path, body }, read.paging(operation), origin);
        const call: ListCall = { operation, method: said.method, headers };
        return readPart({ call, first, readRecord, requestOptions });
      }),
    );
    const failed = parts.find(({ status }) => status !== "accepted");
    if (failed !== undefined) return failed;
    // What several regions show is one thing, where its name does not say otherwise.
    const values = parts.flatMap((part) => (part.status === "accepted" ? part.value : []));
    const twice = isCatalogue(operation) ? undefined : idOfTwo(values);
    if (twice !== undefined) return caller.scrub(idsOfRegions(operation, twice));
    const once = parts.length === 1 ? values : [...new Map(values.map((value) => [value.id, value])).values()];
    return { ...accepted(once), ...onlyDefined({ regions: each.regions }) };
  };

  /** For which regions a list is read; `undefined` among them: for all at once. */
  async function regionsFor(
    operation: PagedOperation,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<readonly (string | undefined)[]>> {
    const each = operation === "group.rule.list" ? undefined : routeOfList(dialect, operation)?.for_each;
    if (each !== "region") return accepted(each ?? [undefined]);
    const listed = await readList("region.list", {}, read.region, requestOptions);
    if (listed.status !== "accepted") return listed;
    if (listed.value.length === 0) return noRegions(operation);
    const spelt = listed.value.flatMap(({ id, name = id }) => [id.toLowerCase(), name.toLowerCase()]);
    return { ...accepted(listed.value.map(({ id }) => id)), regions: new Set(spelt) };
  }

  async function readPart<T extends { readonly id: string }>(request: ListRequest<T>): Promise<Outcome<readonly T[]>> {
    const outcome = await readWhole(request);
    if (outcome.status !== "accepted") return outcome;
    return request.requestOptions?.proves === true
      ? lookBeyond(request, outcome.value)
      : accepted(outcome.value.values);
  }

  async function readWhole<T extends { readonly id: string }>(request: ListRequest<T>): Promise<Outcome<WholeList<T>>> {
    for (let pass = 1; ; pass++) {
      const outcome = await readPages(request);
      if (outcome.status !== "accepted") return caller.scrub(outcome);
      const gap = gapIn(outcome.value.list);
      if (gap === undefined) return outcome;
      if (gap.kind === "open" || pass === mostPasses) return caller.scrub(incomplete(request.call.operation, gap));
    }
  }

  /**
   * Some services cut a list without saying so. A list that shows other items when it is asked for more was cut, unless
   * they came while it was asked: then the plain list, read again, shows them too.
   */
  async function lookBeyond<T extends { readonly id: string }>(
    request: ListRequest<T>,
    { values: before, list: { pages } }: WholeList<T>,
  ): Promise<Outcome<readonly T[]>> {
    const { call, first, readRecord, requestOptions } = request;
    const { operation } = call;
    let values = before;
    if (call.method !== "GET" || !hasNoEndSign(pages)) return accepted(values);
    const known = new Set(values.map(({ id }) => id));
    const otherShownBy = async (query: string): Promise<T | undefined> => {
      const path = `${first.path}${first.path.includes("?") ? "&" : "?"}${query}`;
      const outcome = await caller.call({ ...call, operation: operationOfList(operation), path }, requestOptions);
      if (outcome.status !== "accepted") return undefined;
      const page = read.page(operation, outcome.value.body, outcome.value.paging);
      const records = page.status === "accepted" ? readAll(page.value.items, readRecord) : page;
      return records.status === "accepted" ? records.value.find(({ id }) => !known.has(id)) : undefined;
    };
    // What came and went again between two requests is told from what was cut by asking once more.
    for (const { query, line } of waysToAskForMore(first.path, values.length))
      for (let pass = 1; ; pass++) {
        const other = await otherShownBy(query);
        if (other === undefined) break;
        const again = await readWhole(request);
        if (again.status !== "accepted") return again;
        ({ values } = again.value);
        for (const { id } of values) known.add(id);
        if (known.has(other.id)) continue;
        if (pass > 1) return caller.scrub(cutSilently(operation, query, other.id, line));
      }
    return accepted(values);
  }

  /** Reads a list to its end. Each branch is one way in which the end, or a list that never ends, shows. */
  async function readPages<T extends { readonly id: string }>({
    call,
    first,
    readRecord,
    requestOptions,
  }: ListRequest<T>): Promise<Outcome<WholeList<T>>> {
    const { operation } = call;
    const collected = collectedOf<T>(isCatalogue(operation));
    const { values, pages } = collected;
    const seen = new Set([JSON.stringify(first)]);
    // Pages can only be read one after the other: what could be read at any time does not go before the next one.
    const onward = { ...requestOptions, priority: (requestOptions?.priority ?? 0) + 1 };
    const ask = ({ path, body }: PageRequest, options: RequestOptions | undefined = onward) => {
      const askedAt = clock.now();
      const text = body !== undefined ? JSON.stringify(body) : undefined;
      const sent = { ...call, operation: operationOfList(operation), path, body: text };
      return caller.call(sent, options).then((outcome) => {
        if (outcome.status === "accepted") costs().page(operation, clock.now() - askedAt);
        return outcome;
      });
    };
    const whole = (): Outcome<WholeList<T>> => {
      costs().whole(operation, pages);
      return accepted(collected.whole());
    };
    let current = first;
    let answer = ask(first, requestOptions);
    let led: string | undefined;
    /** The page that was asked for, or how the list ends with this answer. */
    const pageIn = (outcome: Outcome<ReadAnswer>, isBehindAll: boolean) => {
      if (outcome.status !== "accepted") {
        if (led !== undefined) return { ended: notAPath(operation, led, outcome) };
        return { ended: isBehindAll && isRefusedPage(outcome) ? whole() : outcome };
      }
      const { body, paging } = outcome.value;
      const page = read.page(operation, body, paging);
      // A list that is left out where there is nothing more.
      if (page.status !== "accepted") return { ended: isBehindAll ? whole() : page };
      return { ...page.value, next: read.nextPage(operation, body, paging), ended: undefined };
    };
    for (;;) {
      const isBehindAll = isLast(pages.at(-1), values.size);
      const page = pageIn(await answer, isBehindAll);
      if (page.ended !== undefined) return page.ended;
      const { items, signs, next } = page;
      const pageSeen = { next, marker: read.marker(operation, items.at(-1)), shown: items.length, signs };
      pages.push({ signs, items: items.length });
      const leadsTo = () => {
        const counts = { pages: pages.length, items: collected.shown(), distinct: values.size };
        return nextPage(pageSeen, { origin, basePath, first, current, paging: read.paging(operation), ...counts });
      };
      // A next page that the page itself names is requested while this page is read. A number or an offset depends on
      // how many items the page shows.
      const named = next === undefined ? undefined : leadsTo();
      const isNew = (request: PageRequest): boolean =>
        seen.size < mostPages && !seen.has(JSON.stringify(request)) && !showsAgain(items, values, readRecord);
      const ahead = named !== undefined && "request" in named && isNew(named.request) ? ask(named.request) : undefined;
      const records = readAll(items, readRecord);
      if (records.status !== "accepted") return records;
      // The page before was the last one, and this one shows it again: the list has no pages, or none behind that one.
      const isShownAgain = records.value.length > 0 && records.value.every(({ id }) => values.has(id));
      if (isShownAgain && isBehindAll) {
        pages.pop();
        return whole();
      }
      const before = values.size;
      for (const value of records.value) collected.keep(value);
      const to = named ?? leadsTo();
      if ("end" in to) return whole();
      if ("problem" in to) return pagingBroken(operation, to.problem);
      const problem = whyNotOn(to.request, seen, items.length > 0 && values.size === before);
      if (problem !== undefined) return pagingBroken(operation, problem);
      seen.add(JSON.stringify(to.request));
      led = next;
      current = to.request;
      answer = ahead ?? ask(current);
    }
  }

  return { list, readList };
}

/** What was read of a list so far. A catalogue may list a flavor once for each region. */
function collectedOf<T extends { readonly id: string }>(mayRepeat: boolean) {
  const values = new Map<string, T>();
  const pages: PageRead[] = [];
  let repeated: string | undefined;
  let contradicted: string | undefined;
  const shown = (): number => pages.reduce((sum, { items }) => sum + items, 0);
  return {
    values,
    pages,
    shown,
    keep(value: T): void {
      const earlier = values.get(value.id);
      // Of other resources, two items with one id are a mistake.
      if (earlier !== undefined && !mayRepeat) repeated ??= value.id;
      if (earlier !== undefined && !mayRepeat && !deepEqual(earlier, value)) contradicted ??= value.id;
      values.set(value.id, value);
    },
    whole: (): WholeList<T> => ({
      values: [...values.values()],
      list: { pages, distinct: mayRepeat ? shown() : values.size, repeated, contradicted },
    }),
  };
}

/** Why a list that leads on to another page is not read any further. */
function whyNotOn(request: PageRequest, seen: ReadonlySet<string>, showedNothingNew: boolean): string | undefined {
  if (seen.has(JSON.stringify(request))) return "its pages lead in a circle";
  if (showedNothingNew) return "a page shows nothing but what the pages before it have shown, and leads on";
  return seen.size >= mostPages ? `it has more than ${mostPages} pages` : undefined;
}

/**
 * By its own count, which may be that of the page alone, the page shows the last of as many as were read; or it says that
 * there is no more.
 */
const isLast = (page: PageRead | undefined, read: number): boolean =>
  page?.signs.some(({ kind, count }) => count === (kind === "count" ? read : kind === "end" ? 1 : undefined)) === true;

/** What services answer where a page is asked for that is behind the end. */
const isRefusedPage = (outcome: Failure): boolean =>
  outcome.status === "rejected" && [400, 404, 416, 422].includes(outcome.httpStatus ?? 0);

/** A page that begins with items that were shown before is not worth asking for the next one in advance. */
function showsAgain<T extends { readonly id: string }>(
  [first]: readonly unknown[],
  known: ReadonlyMap<string, T>,
  readRecord: (record: unknown) => Reading<T>,
): boolean {
  const record = first === undefined ? undefined : readRecord(first);
  return record?.status === "accepted" && known.has(record.value.id);
}

const isCatalogue = (operation: PagedOperation): boolean =>
  operation === "flavor.list" || operation === "image.list" || operation === "region.list";

interface WholeList<T> {
  readonly values: readonly T[];
  readonly list: ListRead;
}

type ListCall = Pick<Call, "method" | "headers"> & { readonly operation: PagedOperation };

/** A list that is to be read, from its first page on. */
interface ListRequest<T> {
  readonly call: ListCall;
  readonly first: PageRequest;
  readonly readRecord: (record: unknown) => Reading<T>;
  readonly requestOptions: RequestOptions | undefined;
}

/** A token that begins with a slash was taken for a path, where nothing is. */
function notAPath(operation: PagedOperation, led: string, outcome: Failure): Failure {
  const isNothing = "httpStatus" in outcome && (outcome.httpStatus === 404 || outcome.httpStatus === 405);
  if (!isNothing || !led.startsWith("/") || outcome.status !== "rejected") return outcome;
  return pagingBroken(
    operation,
    `what leads to its next page begins with a slash, and nothing is at that path (${outcome.message})`,
    "in the dialect, if it is a token and no path: pagination: { as: token }",
  );
}

/** An id under which there are things of different names. */
function idOfTwo(values: readonly { readonly id: string }[]): string | undefined {
  const names = new Map<string, unknown>();
  for (const value of values) {
    const { name } = fieldsIn(value);
    if (name !== undefined && (names.get(value.id) ?? name) !== name) return value.id;
    if (name !== undefined) names.set(value.id, name);
  }
  return undefined;
}

const idsOfRegions = (operation: PagedOperation, id: string): Rejection =>
  rejected(
    "unreadable",
    `the list of ${operation} shows two things of different names with the id ${id}, each in a region of its own`,
    "in the dialect, to read one region alone: for_each: [REGION]; run the same command again if one of them was being renamed",
  );

/** No list of no region is a list of nothing. */
const noRegions = (operation: PagedOperation): Rejection =>
  rejected(
    "unreadable",
    `the list of ${operation} is read region by region, and region.list shows no region`,
    "check that the credential may see regions, or name them in the dialect: for_each: [REGION, …]",
  );

const pagingBroken = (
  operation: PagedOperation,
  problem: string,
  hint = "in the dialect: pagination.next and pagination.param",
): Rejection => rejected("unreadable", `the list of ${operation} cannot be read to its end: ${problem}`, hint);
