/**
 * How the next page of a list is asked for. A link or a path is followed on the same origin alone (the credential goes
 * along); a token, a marker, a page's number and an offset are sent as the dialect's parameter, in the query or the body.
 */

import { ifPossible } from "../core/text/errors";
import { isUrl } from "../core/text/outside-policy";
import type { Paging } from "./dialect";
import type { Sign } from "./page-signs";
import { tokensOf, withValueAt } from "./places";

/** A request for a page: from the root of the host, with its query. */
export interface PageRequest {
  readonly path: string;
  readonly body?: unknown;
}

export interface PageSeen {
  /** What the page says about the next page. */
  readonly next: string | undefined;
  readonly marker: string | undefined;
  /** How many items it showed. */
  readonly shown: number;
  readonly signs: readonly Sign[];
}

export interface PagingContext {
  readonly origin: string;
  /** The path of the base URL, without a slash at its end. */
  readonly basePath: string;
  readonly first: PageRequest;
  /** The page just read. */
  readonly current: PageRequest;
  readonly paging: Paging;
  /** How many pages and items were read, this one included, and how many of those are different things. */
  readonly pages: number;
  readonly items: number;
  readonly distinct: number;
}

export type NextPage = { readonly request: PageRequest } | { readonly end: true } | { readonly problem: string };

export const mostPages = 10_000;

/** How often a list that changed while it was read is read again from the start. */
export const mostPasses = 3;

export function nextPage(page: PageSeen, reading: PagingContext): NextPage {
  const { paging } = reading;
  // Some name a new cursor behind the last page as well, and say beside it that there is no more.
  if (page.shown === 0 && page.signs.some(({ kind, count }) => kind === "end" && count === 1)) return { end: true };
  if (page.next !== undefined) return nextAddress(page.next.trim(), reading);
  const counted =
    paging.number !== undefined
      ? String(paging.number + reading.pages)
      : paging.offset === true
        ? String(reading.items)
        : undefined;
  if (counted === undefined && (paging.marker === undefined || paging.marker.length === 0)) return { end: true };
  if (page.shown === 0 || saysTheEnd(page.signs, reading)) return { end: true };
  if (counted !== undefined) return withParameter(counted, reading);
  return page.marker === undefined
    ? { problem: "its last item does not show what the next page is asked for with (pagination.marker)" }
    : withParameter(page.marker, reading);
}

/** How one list goes on, key by key over the pagination of all. Of the ways to count it has one: its own, if it says one. */
export function pagingOver(all: Paging, own: Partial<Paging> = {}): Paging {
  const { marker: _, number: __, offset: ___, ...others } = all;
  return isCounted(own) ? { ...others, ...own } : { ...all, ...own };
}

/** Whether the next page is asked for whatever the last one says. */
export const isCounted = ({ marker, number, offset }: Partial<Paging>): boolean =>
  marker !== undefined || number !== undefined || offset === true;

/** Whether the total, or the number of pages, that the list names is reached. */
const saysTheEnd = (signs: readonly Sign[], { distinct, pages }: PagingContext): boolean =>
  signs.some(({ kind, count }) => (kind === "total" && distinct >= count) || (kind === "pages" && pages >= count));

/** With the size of the dialect, where the route does not name one itself. */
export function firstPage(request: PageRequest, { size, size_param: param }: Paging, origin: string): PageRequest {
  if (size === undefined || param === undefined) return request;
  if (param.startsWith("/")) return { ...request, body: withValueAt(request.body, tokensOf(param), size) };
  const url = new URL(request.path, origin);
  if (url.searchParams.has(param)) return request;
  url.searchParams.set(param, String(size));
  return { ...request, path: url.pathname + url.search };
}

function nextAddress(target: string, reading: PagingContext): NextPage {
  const { paging } = reading;
  if (paging.as === "token") return withParameter(target, reading);
  const isAbsolute = isUrl(target) || target.startsWith("//");
  if (isAbsolute) return followLink(target, reading);
  if (target.startsWith("/")) return at(onBase(target, reading), reading);
  if (target.startsWith("?")) return at(reading.current.path.split("?")[0] + target, reading);
  if (paging.as !== "link") return withParameter(target, reading);
  // A link is relative to the page that shows it (RFC 3986).
  return at(new URL(target, new URL(reading.current.path, reading.origin)).href, reading);
}

const onBase = (target: string, { basePath }: PagingContext): string =>
  basePath === "" || target === basePath || target.startsWith(`${basePath}/`) || target.startsWith(`${basePath}?`)
    ? target
    : basePath + target;

function followLink(target: string, reading: PagingContext): NextPage {
  const { origin, paging } = reading;
  const url = ifPossible(() => new URL(target, origin));
  if (url === undefined) return { problem: "the next page is at something that is not a URL" };
  if (url.origin === origin) return at(url.href, reading);
  if (paging.links === "rewritten") return at(onBase(url.pathname + url.search, reading), reading);
  const own = new URL(origin);
  if (url.hostname === own.hostname)
    return {
      problem: `the next page is at ${url.origin}, and the base URL is at ${origin}: the credential is sent there alone (pagination.links: rewritten follows it by its path at the base URL)`,
    };
  return {
    problem: `the next page is on ${url.host}, and the credential is not sent to another host (pagination.links: rewritten follows it by its path at the base URL)`,
  };
}

function at(target: string, { origin, first }: PagingContext): NextPage {
  try {
    const { origin: to, pathname, search } = new URL(target, origin);
    if (to !== origin) return { problem: "the next page is at something that is not a URL" };
    return { request: { ...first, path: pathname + search } };
  } catch {
    return { problem: "the next page is at something that is not a URL" };
  }
}

/** The first request with the dialect's parameter, in its query or its body. */
function withParameter(value: string, { origin, first, paging }: PagingContext): NextPage {
  if (paging.param.startsWith("/"))
    return { request: { ...first, body: withValueAt(first.body, tokensOf(paging.param), value) } };
  const url = new URL(first.path, origin);
  url.searchParams.set(paging.param, value);
  return { request: { ...first, path: url.pathname + url.search } };
}
