/**
 * What a page of a list says about the pages around it, read from everything beside the items: the objects that hold
 * them, the page and link objects in those, and the headers. A list is evidence of what does not exist only when it was
 * read to its end, so whatever looks as if it led on, and was not followed, makes it incomplete. Shy in one direction:
 * a key too many is told with the line of the dialect that ignores it, a key too few would be a lost volume.
 */
import { saysNone } from "../core/text/id-problem";
import { fieldsIn, isObject } from "../core/text/objects";
import { builtInDialect } from "./built-in";
import type { Pointers } from "./dialect";
import { pointerTo } from "./likely-key";
import { own } from "./messages";
import { findAt, tokensOf } from "./places";

export type SignKind =
  /** Leads on. */
  | "next"
  /** A cursor: it may lead on, or name the beginning of this page. */
  | "cursor"
  /** Says that there is more. */
  | "more"
  /** Says that something could not be shown. */
  | "lack"
  /** The page says that it is the last. */
  | "end"
  /** How many items there are altogether. */
  | "total"
  /** As many as this page shows, by a word that may mean the items of one page: it proves no end. */
  | "count"
  | "pages"
  /** A number of pages, or the number of this or the last page: it holds a list up, and does not end it. */
  | "page"
  /** How many items a page holds at most. */
  | "limit"
  /** For how many seconds a cache has kept the answer. */
  | "age";

export interface Sign {
  readonly kind: SignKind;
  /** A pointer into the whole body, or the name of a header. */
  readonly at: string;
  /** The number, for totals, pages and limits; of an end, 1 where a flag says that there is no next page. */
  readonly count: number;
}

/** An object on the way from the body to the items. */
export interface PageHolder {
  readonly value: object;
  readonly at: string;
}

export interface Page {
  readonly holders: readonly PageHolder[];
  /** What stands in a list beside its items, and what holds its parts: each may say that its own could not be shown. */
  readonly parts?: readonly unknown[] | undefined;
  /** The items themselves, which say nothing about pages. */
  readonly items: readonly unknown[];
  readonly headers: Readonly<Record<string, string>>;
}

const nextKey = /^next|next(page|token|cursor|marker|link|url|uri|href|key)$|continuation(token)?$|^lastevaluatedkey$/;
const cursorKey = /^(cursor|endcursor|marker|continue|scrollid|pagetoken|pagestate)$/;
const moreKey =
  /^(has|have|is)?(more|moreresults|moreitems|moredata|morepages|moreavailable|truncated|incomplete|incompleteresults|partial|partialresults)$|^has(next|nextpage|another)$/;
const endKey = /^(is)?(last|lastpage|complete|completed|done|exhausted|endoflist|finished|nomore)$/;
/** Of these, what speaks of the next page and of nothing else. */
const noMoreKey = /more|next|another|^(is)?last/;
const totalKey =
  /^(grand|full|overall)?(total|count)$|^(numfound|totalsize|recordstotal|totalnumber)$|^total(nof|number|num)?(of)?(count|results?|items?|elements?|hits|records?|rows?|entries|entities|instances|servers|vms|volumes|groups|securitygroups|rules|flavors|images|regions|objects|matches)$|^(items?|records?|rows?|results?|entries|total|full|overall)(count|total)$/;
/** Of these, what may as well count the items of one page. */
const countKey = /^(items?|records?|rows?|results?|entries)?count$/;
const pagesKey = /^(total|num|number|count)?(of)?pages(total|count)?$|^total(of)?page$|^page(total|count)$/;
const pageKey = /^(num|number|count|last)(of)?page$/;
const limitKey = /^(limit|perpage|pagesize|pagelimit|maxresults|maxitems|maxkeys|itemsperpage|resultsperpage)$/;
const countedKeys = [
  [totalKey, "total"],
  [pagesKey, "pages"],
  [limitKey, "limit"],
] as const;
/**
 * A list of errors beside the items, with anything in it, says that something is missing. A warning may be about
 * anything.
 */
const warningKey = /^warnings?$/;
const lackWords =
  /partial|incomplete|truncat|degraded|unreachable|unavailable|timed?[ _-]?out|did not (answer|respond)|fail|error|missing/i;
/** A state of the whole answer. One that failed is no list at all (failure-inside.ts). */
const stateKey = /^(status|state)$/;
const lackingState = /^(partial|incomplete|truncated|degraded|stale|timed?[ _-]?out)/i;
const lackKey =
  /^(is)?(timedout|degraded|stale)$|^(errors?|unreachables?|unavailable|missing|failures|failed|partialfailures|partialerrors)$|^(unreachable|unavailable|missing|failed|skipped)(regions?|zones?|shards?|nodes?|hosts?|backends?|cells?|locations?)$/;
const containerKey =
  /^(page|paging|paginat(ion|or)|pageinfo|meta|metadata|listmeta|listmetadata|responsemetadata|resultset|resultinfo|navigation|pager|cursors?|next)$|links?$/;

const deepest = 3;
const mostKeys = 200;

export function pageSigns(page: Page): readonly Sign[] {
  const holders = new Set(page.holders.map(({ value }) => value));
  const signs: Sign[] = [];
  const visit = (value: object, at: string, depth: number): void => {
    for (const [key, found] of Object.entries(value).slice(0, mostKeys)) {
      if (found === page.items || (isObject(found) && holders.has(found))) continue;
      const plain = plainKey(key);
      const here = at + pointerTo(key);
      if (Array.isArray(found)) {
        if (/links?$/.test(plain)) signs.push(...linkSigns(found, here));
        else if (saysLacking(plain, found)) signs.push({ kind: "lack", at: here, count: 0 });
        continue;
      }
      const sign = onPage(page, plain, signOf(plain, found, depth > 0));
      if (sign !== undefined) signs.push({ ...sign, at: here + deeper(found) });
      else if (isObject(found) && depth < deepest && containerKey.test(plain)) visit(found, here, depth + 1);
    }
  };
  for (const { value, at } of page.holders) visit(value, at, 0);
  for (const part of page.parts ?? [])
    for (const [key, found] of Object.entries(fieldsIn(part)))
      if (saysLacking(plainKey(key), found)) signs.push({ kind: "lack", at: pointerTo(key), count: 0 });
  for (const [name, value] of Object.entries(page.headers)) signs.push(...headerSigns(page, name, value));
  return signs;
}

/**
 * A page that shows the map in which the dialect's own place for the next page is, and nothing at that place, is the
 * last one: `_links` without `next`.
 */
export function endsWithout(next: Pointers, body: unknown): Sign | undefined {
  for (const place of next) {
    if (typeof place !== "string" || builtInDialect.pagination.next.includes(place)) continue;
    const tokens = tokensOf(place);
    const holder = findAt(body, tokens.slice(0, -1));
    if (tokens.length < 2 || !isObject(holder) || Object.keys(holder).length === 0) continue;
    if (!leadsOn(findAt(body, tokens))) return { kind: "end", at: place, count: 0 };
  }
  return undefined;
}

/** Where a Link header leads with rel="next" (RFC 8288). */
export function nextLink(header: string): string | undefined {
  for (const [, target, parameters] of header.matchAll(/<([^<>]*)>([^<]*)/g)) {
    const [, quoted, bare] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters ?? "") ?? [];
    if (isNextRelation(quoted ?? bare)) return target;
  }
  return undefined;
}

/** A header that says when a limit ends. */
export const speaksOfLimits = (name: string): boolean => /rate-?limit.*reset$/i.test(name);

/** Whether a header speaks of pages, of limits or of a version; all others stay where they came from. */
export const isKeptHeader = (name: string): boolean =>
  speaksOfLimits(name) ||
  /etag|version|revision/i.test(name) ||
  /^(link|content-range|age)$|next|total|count|more|pag(e|ing|ination)|continu|cursor|marker|truncat/i.test(name);

/** One line for each sort of key, in the order in which one name may fit several of them. */
function signOf(key: string, value: unknown, inside: boolean): Omit<Sign, "at"> | undefined {
  const sign = (kind: SignKind, count = 0) => ({ kind, count });
  const [flag, count] = [asFlag(value), asCount(value)];
  /** `isMore`: there is more. */
  const flagged = (isMore: boolean) => (isMore ? sign("more") : sign("end", Number(noMoreKey.test(key))));
  if (pageKey.test(key) && count !== undefined) return sign("page", count);
  if (moreKey.test(key)) return flag === undefined ? undefined : flagged(flag);
  if (endKey.test(key) && flag !== undefined) return flagged(!flag);
  if (saysLacking(key, value)) return sign("lack");
  if (nextKey.test(key)) return sign(leadsOn(value) ? "next" : "end");
  if (cursorKey.test(key) && !isObject(value)) return sign(leadsOn(value) ? "cursor" : "end");
  const counted =
    countedKeys.find(([names]) => names.test(key))?.[1] ?? (inside && key === "size" ? "limit" : undefined);
  return count === undefined || counted === undefined ? undefined : sign(counted, count);
}

/** A count of none proves the end as an empty page does. */
const onPage = <S extends Omit<Sign, "at">>({ items }: Pick<Page, "items">, key: string, sign: S | undefined) =>
  sign?.kind === "total" && countKey.test(key) && sign.count === items.length && items.length > 0
    ? { ...sign, kind: "count" as const }
    : sign;

function headerSigns(page: Page, name: string, value: string): Sign[] {
  const at = name.toLowerCase();
  if (at === "link") return nextLink(value) === undefined ? [] : [{ kind: "next", at, count: 0 }];
  if (at === "content-range") {
    const total = asCount(/\/(\d+)$/.exec(value.trim())?.[1]);
    return total === undefined ? [] : [{ kind: "total", at, count: total }];
  }
  if (at === "age") return [{ kind: "age", at, count: asCount(value.trim()) ?? 0 }];
  const key = plainKey(at.replace(/^x-/, ""));
  const sign = onPage(page, key, signOf(key, value, false));
  return sign === undefined ? [] : [{ ...sign, at }];
}

/** `vms_links: [{ rel: next, href: … }]`. */
const linkSigns = (links: readonly unknown[], at: string): Sign[] =>
  links.flatMap((link, index): Sign[] =>
    isObject(link) && isNextRelation(own(link, "rel")) && leadsOn(link)
      ? [{ kind: "next", at: `${at}/${index}${deeper(link)}`, count: 0 }]
      : [],
  );

const isNextRelation = (rel: unknown): boolean =>
  typeof rel === "string" && rel.toLowerCase().split(/\s+/).includes("next");

const targets = ["href", "url", "uri", "link", "token", "cursor", "page", "marker", "id"] as const;

function saysLacking(key: string, value: unknown): boolean {
  const isAny = Array.isArray(value) ? value.length > 0 : leadsOn(value);
  if (stateKey.test(key)) return typeof value === "string" && lackingState.test(value.trim());
  return isAny && (lackKey.test(key) || (warningKey.test(key) && lackWords.test(JSON.stringify(value))));
}

/** Text, a page's number, `true`, or an object with one of them at a place where a target is kept. */
export function leadsOn(value: unknown): boolean {
  if (typeof value === "string") return !saysNone.test(value.trim()) && value !== "false";
  if (typeof value === "number") return value > 0;
  if (typeof value === "boolean") return value;
  return isObject(value) && Object.values(value).some((inner) => !isObject(inner) && leadsOn(inner));
}

/** The rest of the pointer when the target is within an object. */
function deeper(value: unknown): string {
  const key = isObject(value) ? targets.find((target) => leadsOn(own(value, target))) : undefined;
  return key === undefined ? "" : pointerTo(key);
}

const asFlag = (value: unknown): boolean | undefined => {
  if (value === true || value === 1 || value === "true" || value === "True" || value === "1") return true;
  return value === false || value === 0 || value === "false" || value === "False" || value === "0" ? false : undefined;
};

function asCount(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

const plainKey = (key: string): string =>
  key
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .replace(/^odata/, "");
