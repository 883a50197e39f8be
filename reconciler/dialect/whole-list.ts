/**
 * Whether a list was read whole: nothing that it says about its pages may be left open, and it may not have changed
 * while it was read. Only a whole list is evidence that something does not exist.
 */

import { type Rejection, rejected } from "../core/model/outcome";
import { itemAt } from "../core/text/invariant";
import type { Sign, SignKind } from "./page-signs";

export interface PageRead {
  readonly signs: readonly Sign[];
  /** How many items it showed. */
  readonly items: number;
}

export interface ListRead {
  readonly pages: readonly PageRead[];
  /** How many different things it showed. */
  readonly distinct: number;
  /** An id that two items had. */
  readonly repeated: string | undefined;
  /** An id of which two items said different things. */
  readonly contradicted: string | undefined;
}

/** How old an answer of a cache may be. The discovery window, in which a list may be behind, is longer. */
const oldestSeconds = 30;

export type Gap =
  /** The list says something about its pages that the dialect does not name. */
  | { readonly kind: "open"; readonly sign: Sign; readonly because: string }
  /** Its pages do not fit together: it changed while it was read. */
  | { readonly kind: "torn"; readonly sign?: Sign; readonly because: string };

/** Why the list is not proven to be whole. The signs that the dialect ignores are left out already. */
export function gapIn(list: ListRead): Gap | undefined {
  const last = list.pages.at(-1);
  if (last === undefined) return undefined;
  const of = (kind: SignKind): Sign | undefined => last.signs.find((sign) => sign.kind === kind);
  const total = lastTotal(list.pages);
  return saidToLack(of) ?? miscounted(list, total) ?? gapAfterLastPage(of, list.pages.length, last.items, total);
}

type SignOf = (kind: SignKind) => Sign | undefined;

const open = (sign: Sign, because: string): Gap => ({ kind: "open", sign, because });

/** The last page says that there is more. */
function saidToLack(of: SignOf): Gap | undefined {
  const next = of("next");
  if (next !== undefined) return open(next, `${signName(next)} leads on`);
  const more = of("more");
  if (more !== undefined) return open(more, `${signName(more)} says that there is more`);
  const lack = of("lack");
  return lack === undefined ? undefined : open(lack, `${signName(lack)} says that something could not be shown`);
}

/** The number of items read differs from what the pages say, or changes from page to page. */
function miscounted({ pages, distinct, repeated, contradicted }: ListRead, total: Sign | undefined): Gap | undefined {
  const totals = pages.map(({ signs }) =>
    Math.max(-1, ...signs.map((sign) => (sign.kind === "total" ? sign.count : -1))),
  );
  const shrank = totals.some((count, index) => index > 0 && count >= 0 && count < itemAt(totals, index - 1));
  if (total !== undefined && total.count > distinct) {
    const because = `${signName(total)} says ${total.count}, and ${distinct} were read`;
    // Between two pages, or where an item came twice, something may have been missed: reading again will tell.
    return pages.length > 1 || repeated !== undefined ? { kind: "torn", sign: total, because } : open(total, because);
  }
  if (contradicted !== undefined)
    return { kind: "torn", because: `two of its items have the id ${contradicted} and say different things` };
  if (shrank) return { kind: "torn", because: "something went away while its pages were read" };
  if (repeated !== undefined && total === undefined)
    return { kind: "torn", because: `two of its items have the id ${repeated}` };
  return undefined;
}

/** The last page may be an old one, or not the last. */
function gapAfterLastPage(of: SignOf, pages: number, shown: number, total: Sign | undefined): Gap | undefined {
  const stale = of("age");
  if (stale !== undefined && stale.count > oldestSeconds)
    return open(stale, `a cache has answered, with what was so ${stale.count} seconds ago`);

  const said = of("pages");
  const unread = [said, of("page")].find((sign) => sign !== undefined && sign.count > pages);
  if (unread !== undefined) return open(unread, `${signName(unread)} says ${unread.count}, and ${pages} were read`);
  if (of("end") !== undefined || said?.count === pages) return undefined;
  const cursor = of("cursor");
  if (cursor !== undefined) return open(cursor, `${signName(cursor)} may lead on`);
  const limit = of("limit");
  if (limit !== undefined && limit.count > 0 && shown >= limit.count && total === undefined)
    return open(
      limit,
      `its last page is full (${signName(limit)} is ${limit.count}), and nothing says that it is the last`,
    );
  return undefined;
}

/** Whether nothing in the answer tells where the list ends. */
export const hasNoEndSign = (pages: readonly PageRead[]): boolean =>
  pages.length === 1 &&
  pages.every(
    ({ items, signs }) =>
      items > 0 && signs.every(({ kind }) => kind !== "total" && kind !== "pages" && kind !== "end"),
  );

export interface More {
  readonly query: string;
  /** The line of the dialect for a list that goes on like this. */
  readonly line: string;
}

const numberedPages = (number: 0 | 1) => `pagination: { number: ${number}, param: page }`;

/**
 * Requests with which most services are asked for more items. A service without pages ignores the parameter, or refuses
 * it.
 */
export function waysToAskForMore(path: string, shown: number): readonly More[] {
  const asked = new URLSearchParams(path.split("?")[1] ?? "");
  const many = "limit=1000&per_page=1000&page_size=1000";
  const ways: readonly More[] = [
    { query: "page=2", line: numberedPages(1) },
    { query: "page=1", line: numberedPages(0) },
    { query: `offset=${shown}`, line: "pagination: { offset: true, param: offset }" },
    { query: many, line: "a path of the list that shows all on one page, such as …?limit=1000" },
  ];
  return ways.filter(({ query }) => ![...new URLSearchParams(query).keys()].some((name) => asked.has(name)));
}

export const cutSilently = (operation: string, query: string, id: string, line: string): Rejection =>
  rejected(
    "unreadable",
    `the list of ${operation} is not whole: asked with ?${query} it shows ${id}, which it had not shown, and it does not say that it has pages`,
    `in the dialect: ${line}`,
  );

function lastTotal(pages: readonly PageRead[]): Sign | undefined {
  for (const { signs } of pages.toReversed()) {
    const totals = signs.filter(({ kind }) => kind === "total");
    if (totals.length > 0) return totals.reduce((most, sign) => (sign.count > most.count ? sign : most));
  }
  return undefined;
}

const isHeader = ({ at }: Sign): boolean => !at.startsWith("/");

const signName = (sign: Sign): string => (isHeader(sign) ? `the header ${sign.at}` : sign.at);

export const incomplete = (operation: string, gap: Gap): Rejection =>
  rejected(
    "unreadable",
    `the list of ${operation} is not whole: ${gap.because}`,
    gap.kind === "open"
      ? overrideLines(operation, gap.sign)
      : `run the same command again when less is being changed${gap.sign === undefined ? "" : `, or in the dialect: ${ignoring(gap.sign)}`}`,
  );

const ignoring = (sign: Sign): string => `pagination: { ignore: [${sign.at}] } (this says nothing about pages)`;

function overrideLines(operation: string, sign: Sign): string {
  const ignore = ignoring(sign);
  if (sign.kind === "lack")
    return `run the same command again when the service can show everything; in the dialect: ${ignore}`;
  if (sign.kind === "age")
    return `let the cache pass on what it is asked for with Cache-Control: no-cache; in the dialect: ${ignore}`;
  if (sign.kind === "next" || sign.kind === "cursor") {
    const follow = isHeader(sign)
      ? `pagination: { next_header: ${sign.at} }`
      : `pagination: { next: [${sign.at}], param: … }`;
    return `in the dialect: ${follow} (this leads to the next page), or ${ignore}`;
  }
  const route = operation === "group.rule.list" ? "" : `, a path of operations.${operation} that shows all on one page`;
  return `in the dialect: pagination: { next: [/…], param: … } (where the next page is)${route}, or ${ignore}`;
}

/** Whether the dialect says that this place means nothing, or one that it is within. */
export const isIgnored = (sign: Sign, ignored: readonly string[]): boolean =>
  ignored.some((place) => {
    const at = place.startsWith("/") ? place : place.toLowerCase();
    return sign.at === at || (at.startsWith("/") && sign.at.startsWith(`${at}/`));
  });
