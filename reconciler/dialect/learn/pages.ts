/** Ways in which a list may go on, told by what its first page says; each is tried once before it is believed. */
import { fieldsIn, isObject } from "../../core/text/objects";
import type { Paging, RecordPlace } from "../dialect";
import { pointerTo } from "../likely-key";
import { type Page, type PageHolder, pageSigns, type Sign, type SignKind } from "../page-signs";
import { findAt, tokensOf } from "../places";
import { lettersAndDigits, withCut } from "./values";
import { capitalized } from "./where";

export interface FirstPage {
  readonly body: unknown;
  readonly headers: Page["headers"];
  readonly items: readonly unknown[];
  /** Where the items are in the whole body, as far as a pointer leads there. */
  readonly at: string;
  /** Where an item shows its id. */
  readonly id: RecordPlace | undefined;
  readonly origin: string;
  /** What the list is asked for with; what leads on then stands in it. */
  readonly asked?: unknown;
}

export type Way = Partial<Paging>;

/** A count of as many as the page shows is taken for the total: the doctor tries no page behind an end that is told so. */
export const signsOf = (page: Pick<FirstPage, "body" | "headers" | "items" | "at">): readonly Sign[] =>
  pageSigns({ holders: holdersOf(page.body, page.at), items: page.items, headers: page.headers }).map((sign) =>
    sign.kind === "count" ? { ...sign, kind: "total" } : sign,
  );

function holdersOf(body: unknown, at: string): readonly PageHolder[] {
  const holders: PageHolder[] = [];
  const tokens = tokensOf(at);
  for (let depth = 0; depth <= tokens.length; depth++) {
    const value = findAt(body, tokens.slice(0, depth));
    if (isObject(value)) holders.push({ value, at: tokens.slice(0, depth).map(pointerTo).join("") });
  }
  return holders;
}

const mostWays = 48;

/** `undefined`: nothing says that there is more. */
export function waysOn(page: FirstPage): readonly Way[] | undefined {
  const signs = signsOf(page);
  const leading = signs.find(({ kind }) => kind === "next") ?? signs.find(({ kind }) => kind === "cursor");
  if (leading !== undefined) return waysAlong(leading, page).flatMap(sentIn(page)).slice(0, mostWays);
  const most = (asked: SignKind) => Math.max(-1, ...signs.map(({ kind, count }) => (kind === asked ? count : -1)));
  const [total, limit, pages] = [most("total"), most("limit"), most("pages")];
  const isMore =
    signs.some(({ kind }) => kind === "more") ||
    total > page.items.length ||
    Math.max(pages, most("page")) > 1 ||
    (limit > 0 && total < 0 && pages !== 1 && page.items.length >= limit);
  return isMore ? counting(page).slice(0, mostWays) : undefined;
}

function waysAlong({ at }: Sign, page: FirstPage): readonly Way[] {
  if (!at.startsWith("/")) {
    if (at === "link") return [{ next_header: "Link" }];
    const isLink = /^[a-z][a-z0-9+.-]*:\/\/|^[/?]/i.test(page.headers[at] ?? "");
    return isLink ? [{ next_header: at }] : parametersFor(`/${at}`).map((param) => ({ next_header: at, param }));
  }
  const next = [placeOf(at, page.body)];
  const found = findAt(page.body, tokensOf(at));
  const value = typeof found === "string" ? found.trim() : String(found);
  const asToken = parametersFor(at).map((param): Way => ({ next, param }));
  const within = tokenIn(value).map(
    ({ param, cut }): Way => ({ next: [withCut(placeOf(at, page.body), cut)], param, as: "token" }),
  );
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) {
    // The usual port may be written in one of them.
    const isOwn = URL.canParse(value) && new URL(value).origin === page.origin;
    return [isOwn ? { next } : { next, links: "rewritten" }, ...within];
  }
  if (value.startsWith("?")) return [{ next }, ...within];
  // servers?page=2 leads on from where the list is.
  if (/^[\w./-]+\?\w+=/.test(value) && !value.startsWith("/")) return [{ next, as: "link" }, ...asToken];
  if (value.startsWith("/")) return [{ next }, ...within, ...asToken.map((way): Way => ({ ...way, as: "token" }))];
  return asToken;
}

/**
 * A link may leave out what every request has to say, such as a version: then what leads on is its last parameter, sent
 * with the rest of the list's own query.
 */
function tokenIn(link: string): readonly { readonly param: string; readonly cut: string }[] {
  const [, mark, param, token = ""] = /([?&])([^?&=]+)=([^?&=#%]+)$/.exec(link) ?? [];
  if (mark === undefined || param === undefined || token === "") return [];
  return [{ param, cut: `*${mark}${param}={value}` }];
}

/** Among several links, the one that is called next. */
function placeOf(at: string, body: unknown): RecordPlace {
  const tokens = tokensOf(at);
  const index = tokens.findLastIndex((token) => /^\d+$/.test(token));
  const entry = index < 0 ? undefined : findAt(body, tokens.slice(0, index + 1));
  if (!isObject(entry) || typeof entry["rel"] !== "string") return at;
  return {
    in: tokens.slice(0, index).map(pointerTo).join(""),
    where: { rel: entry["rel"] },
    value: tokens
      .slice(index + 1)
      .map(pointerTo)
      .join(""),
  };
}

/** The key's own words first: what `nextPageToken` says is mostly sent as `pageToken`. */
function parametersFor(at: string): readonly string[] {
  const key = tokensOf(at).at(-1) ?? "";
  // A header may begin with the house that it is of: x-next-cursor, opc-next-page.
  const bare = key.replace(/^([a-z]{1,4}-)?next[_-]?/i, "");
  const lower = bare.charAt(0).toLowerCase() + bare.slice(1);
  const own = bare === "" ? [] : [lower, bare, capitalized(bare)];
  return [
    ...new Set([
      ...own,
      key,
      capitalized(key),
      "page",
      "pageToken",
      "page_token",
      "cursor",
      "marker",
      "Marker",
      "token",
      "next",
      "continue",
      "start",
      "after",
    ]),
  ];
}

/** By a count or the last id, for lists that name nothing that leads on. */
export function counting(page: FirstPage): readonly Way[] {
  const { id, body, at } = page;
  // A service that begins its keys with a capital mostly wants such parameters; some want small ones all the same.
  const isUpper = Object.keys(fieldsIn(body)).some((key) => /^[A-Z][a-z]/.test(key));
  const writings: readonly ((name: string) => string)[] = [...(isUpper ? [capitalized] : []), (name) => name];
  // What the answer says of the page that it shows is mostly called as the parameter that asks for it.
  const beside = holdersOf(body, at).flatMap(({ value }) => [value, ...Object.values(value).filter(isObject)]);
  const said = (name: RegExp): readonly string[] => [
    ...new Set(beside.flatMap((one) => Object.keys(one).filter((key) => name.test(lettersAndDigits(key))))),
  ];
  const [places, pages] = [said(/^(page)?(offset|skip|startindex)$/), said(/^(current)?page(no|num|number|index)?$/)];
  const asOffset = (param: string): Way => ({ offset: true, param });
  // Where pages count from 0, the page after next is new as well: what asks for page 1 is tried before it.
  const asNumber = (param: string): readonly Way[] => [
    { number: 0, param },
    { number: 1, param },
  ];
  const asMarker = (param: string): readonly Way[] => (id === undefined ? [] : [{ marker: [id], param }]);
  const usual = (written: (name: string) => string): readonly Way[] => {
    const params = (...names: readonly string[]): readonly string[] =>
      names.map(written).filter((name) => !places.includes(name) && !pages.includes(name));
    return [
      ...params("offset", "skip", "start", "from", "page[offset]").map(asOffset),
      ...params("page", "p", "page_number", "pageNumber", "page[number]").flatMap(asNumber),
      ...params("marker", "after", "starting_after", "start_after", "last_id", "cursor").flatMap(asMarker),
    ];
  };
  return [...places.map(asOffset), ...pages.flatMap(asNumber), ...writings.flatMap(usual)].flatMap(sentIn(page));
}

/** In the query; where the list is asked for with a body, at its top or among its variables. */
const sentIn =
  ({ asked }: FirstPage) =>
  (way: Way): readonly Way[] => {
    if (asked === undefined || way.param === undefined) return [way];
    const within = Object.keys(fieldsIn(asked)).filter((key) => isObject(fieldsIn(asked)[key]));
    const usual = "query" in fieldsIn(asked) && within.length === 0 ? ["variables"] : within;
    return ["", ...usual.map(pointerTo)].map((at) => ({ ...way, param: `${at}/${way.param}` }));
  };

/**
 * The same way for a list at another place: where its keys are named for it (`servers_links` and `volumes_links`), and
 * where what leads on stands beside the list (`/data/servers/pageInfo` and `/data/volumes/pageInfo`).
 */
export function translated(way: Way, from: string, to: string): Way {
  const at = [from, to].map((pointer) => {
    const cut = pointer.lastIndexOf("/");
    return { key: pointer.slice(cut + 1).replaceAll(/[^\w-]/g, ""), holder: pointer.slice(0, Math.max(cut, 0)) };
  });
  const [own = { key: "", holder: "" }, other = own] = at;
  const named = own.key === "" ? "" : JSON.stringify(way).replaceAll(`/${own.key}_`, `/${other.key}_`);
  if (named === "") return way;
  // The replacements change letters within texts, so the JSON is that of a `Way` still.
  return JSON.parse(own.holder === "" ? named : named.replaceAll(`"${own.holder}/`, `"${other.holder}/`)) as Way;
}

export const isSameWay = (one: Way | undefined, other: Way | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
