/** One page of a list, with the sign that there is more, as a dialect says. */

import { type Place, pointerOf, pointerTokens, type SpokenPaging } from "./spoken";
import type { Heard } from "./understand";
import { getAt, RecordDraft } from "./write";

export interface SpokenPage {
  readonly records: readonly unknown[];
  /** The fields of the body beside the list. */
  readonly beside: RecordDraft;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a list says of its pages, over what is said of all: it goes on in one way alone. */
export function pagingOf(all: SpokenPaging = {}, own: SpokenPaging = {}): SpokenPaging {
  const { marker: _, number: __, offset: ___, ...others } = all;
  const isOwn = own.marker !== undefined || own.number !== undefined || own.offset !== undefined;
  return { ...(isOwn ? others : all), ...own };
}

/** `most`: how many entries a page has, unless the request asks for a size. */
export function pageIn(
  paging: SpokenPaging,
  all: readonly unknown[],
  most: number,
  heard: Heard,
  base: string,
): SpokenPage {
  const asked = askedFor(paging.param, heard);
  const size = sizeAsked(paging, heard) ?? most;
  const from = pageStart(paging, all, size, asked);
  const records = all.slice(from, from + size);
  const beside = new RecordDraft();
  const leadsOn =
    from + size < all.length && paging.marker === undefined && paging.number === undefined && paging.offset !== true;
  if (!leadsOn) return { records, beside, headers: {} };
  const token = tokenOf(from + size, paging);
  const link = `${base}${heard.path}?${new URLSearchParams([...withoutParam(paging, heard.query), [paging.param ?? "page", token]]).toString()}`;
  const header = paging.next_header;
  if (header !== undefined && header !== null)
    return {
      records,
      beside,
      headers: { [header]: header.toLowerCase() === "link" ? `<${link}>; rel="next"` : token },
    };
  const place = paging.next?.[0];
  if (place !== undefined)
    beside.put(place, isLink(place, paging) ? (paging.links === "rewritten" ? inner(link) : link) : token);
  return { records, beside, headers: {} };
}

const withoutParam = ({ param = "page" }: SpokenPaging, query: URLSearchParams): readonly [string, string][] =>
  [...query].filter(([name]) => name !== param);

/** A link with the address by which a gateway knows the service behind it. */
const inner = (link: string): string => link.replace(/^https?:\/\/[^/]+/, "http://inner.invalid:8774");

const tokenOf = (index: number, { as }: SpokenPaging): string => (as === "token" ? `/p/${index}` : `p${index}`);

function isLink(place: Place, { as, links }: SpokenPaging): boolean {
  if (links === "rewritten" || as === "link") return true;
  if (as === "token") return false;
  return /link|href|url/i.test(pointerOf(place));
}

/** The parameter of a request: from the query, or from the body when the name begins with a slash. */
function askedFor(param = "page", { query, body }: Heard): string | undefined {
  if (!param.startsWith("/")) return query.get(param) ?? undefined;
  const found = getAt(body, pointerTokens(param));
  return found === undefined || found === null ? undefined : String(found);
}

function sizeAsked({ size_param: param }: SpokenPaging, heard: Heard): number | undefined {
  const size = param === undefined ? Number.NaN : Number(askedFor(param, heard));
  return Number.isInteger(size) && size > 0 ? size : undefined;
}

function pageStart(
  { marker, number, offset }: SpokenPaging,
  all: readonly unknown[],
  size: number,
  asked: string | undefined,
): number {
  if (asked === undefined) return 0;
  if (marker !== undefined)
    return all.findIndex((record) => markerOfRecord(record, marker[0]) === asked) + 1 || all.length;
  if (number !== undefined) return Math.max(0, Number(asked) - number) * size;
  if (offset === true) return Math.max(0, Number(asked));
  return Number(/(\d+)$/.exec(asked)?.[1] ?? 0);
}

const markerOfRecord = (record: unknown, place: Place | undefined): string | undefined => {
  const found = getAt(record, pointerTokens(pointerOf(place)));
  return found === undefined ? undefined : String(found);
};
