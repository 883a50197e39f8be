/** What an answer holds: the payload in its envelope, the items of a list and the signs that it goes on. */
import { isAssumed, type ListOperation, listOperations, type Operation, operationNames } from "../core/model/operation";
import { accepted, type Rejection, rejected } from "../core/model/outcome";
import { isObject } from "../core/text/objects";
import type { Dialect, ListRoute, Paging } from "./dialect";
import { envelopeReader } from "./envelope";
import { codeKey, keyOfFailure } from "./failure-inside";
import { pointerTo } from "./likely-key";
import { cleanMessage, own } from "./messages";
import { pagingOver } from "./next-page";
import { endsWithout, leadsOn, nextLink, type Page, type PageHolder, pageSigns, type Sign } from "./page-signs";
import { asText, findAtPath, itself } from "./places";
import { compilePointers, findArrayAt, findAt, findLink, findText, type PointerPath } from "./pointers";
import { compileAll, type Reading } from "./reading";
import { directionsOf } from "./rule-record";
import { unreadable } from "./unreadable";
import { isIgnored } from "./whole-list";

export type PagedOperation = ListOperation | "group.rule.list" | "attachments";

/** As what a list is asked for and judged: that of attachments completes the one of volumes. */
export const operationOfList = (list: PagedOperation): Operation => (list === "attachments" ? "volume.list" : list);

/** The route of a list that a dialect can describe. */
export const routeOfList = (dialect: Dialect, list: Exclude<PagedOperation, "group.rule.list">): ListRoute | null =>
  list === "attachments" ? (dialect.attachments ?? null) : dialect.operations[list];

export interface SignedPage {
  readonly items: readonly unknown[];
  readonly signs: readonly Sign[];
}

/** The body, or its `data` when the body is the envelope. */
export function payloadOf(body: unknown): unknown {
  const payload = own(body, "data");
  return payload !== undefined && own(body, "id") === undefined ? payload : body;
}

export interface AnswerReaders {
  /** The payload of a body: what the envelope holds, and in it the record of this operation. */
  payload(operation: Operation, body: unknown): unknown;
  /** The array of a list, from the whole body, with what that says about the pages of the list. */
  page(operation: PagedOperation, body: unknown, headers: Page["headers"]): Reading<SignedPage>;
  /** The link or token to the next page, from the whole body or a header. */
  nextPage(operation: PagedOperation, body: unknown, headers?: Page["headers"]): string | undefined;
  /** The value of a page's last item with which the next page is asked for. */
  marker(operation: PagedOperation, item: unknown): string | undefined;
  /** How this list goes on. */
  paging(operation: PagedOperation): Paging;
}

export function createAnswerReaders(dialect: Dialect): AnswerReaders {
  const pagings = new Map<PagedOperation, CompiledPaging>();
  function pagingOf(operation: PagedOperation): CompiledPaging {
    const known = pagings.get(operation);
    if (known !== undefined) return known;
    const { marker: _, number: __, offset: ___, size: ____, ...linked } = dialect.pagination;
    // The contract gives the list of rules no parameter that could ask for a page; a link is followed all the same.
    const paging: Paging =
      operation === "group.rule.list"
        ? linked
        : pagingOver(dialect.pagination, routeOfList(dialect, operation)?.pagination);
    const compiled = { paging, next: compilePointers(paging.next), marker: compilePointers(paging.marker ?? []) };
    pagings.set(operation, compiled);
    return compiled;
  }
  const data = compilePointers(dialect.envelope.data);
  const itemPlaces = new Map<Operation, readonly PointerPath[]>();
  for (const operation of operationNames) {
    const item = isAssumed(operation) ? dialect.operations[operation]?.item : dialect.answers[operation]?.item;
    if (item !== undefined) itemPlaces.set(operation, compilePointers(item));
  }
  const enveloped = (body: unknown): unknown =>
    data.length === 0 ? payloadOf(body) : (firstShown(body, data) ?? body);
  function payload(operation: Operation, body: unknown): unknown {
    const held = enveloped(body);
    const places = itemPlaces.get(operation)?.filter((place) => !isOneOfSeveral(held, place));
    return places === undefined ? held : (firstShown(held, places) ?? held);
  }

  const itemPaths = compileAll(
    Object.fromEntries(
      [...listOperations, "attachments" as const].map((list) => [list, routeOfList(dialect, list)?.items ?? []]),
    ),
  );
  const { succeeded } = envelopeReader(dialect);
  function findItems(operation: Exclude<PagedOperation, "group.rule.list">, body: unknown, payload: unknown) {
    const found = findArrayAt(payload, itemPaths[operation] ?? []);
    const tried = routeOfList(dialect, operation)?.items ?? [];
    // Where a list may be left out, an answer that has nothing but something to say is none, unless it says that it went
    // well.
    const isLeftOut = found !== undefined && found.items.length === 0 && findAt(payload, found.tokens) === undefined;
    if (found !== undefined && !(isLeftOut && succeeded(body) !== true && onlySpeaks(payload))) return accepted(found);
    const wrong = unreadable(`the answer to ${operation}`, "list", `operations.${operation}.items`, tried, payload);
    const place = tried.find((one) => typeof one === "string" && one !== "");
    return place === undefined || holdsList(payload)
      ? wrong
      : {
          ...wrong,
          hint: `${wrong.hint}; where the list is left out when there is nothing: operations.${operation}.items: { in: ${place}, absent: none }`,
        };
  }

  // A selector chooses the rules themselves, also where one alone stands in place of a list.
  const chosenRules = (itemPlaces.get("group.rule.list") ?? []).filter(({ chooser }) => chooser !== undefined);
  function rulesIn(body: unknown, held: unknown) {
    const found = findArrayAt(enveloped(body), chosenRules) ?? findArrayAt(held, itself);
    return found === undefined
      ? unreadable("the answer to group.rule.list", "list", undefined, [""], held)
      : accepted(found);
  }

  const { hasDirections, rulesByDirection } = directionsOf(dialect);
  const inOne = (held: unknown): unknown =>
    hasDirections && !Array.isArray(held) ? (rulesByDirection(held) ?? held) : held;

  function page(operation: PagedOperation, body: unknown, headers: Page["headers"]): Reading<SignedPage> {
    const held = operation === "group.rule.list" ? payload(operation, body) : enveloped(body);
    const found = operation === "group.rule.list" ? rulesIn(body, inOne(held)) : findItems(operation, body, held);
    if (found.status !== "accepted") return found;
    const { items, tokens, parts } = { parts: undefined, ...found.value };
    const holders = holdersOf(body, held, tokens);
    const failure = items.length > 0 || succeeded(body) === true ? undefined : emptyForFailure(operation, holders);
    if (failure !== undefined) return failure;
    const { ignore, next } = pagingOf(operation).paging;
    const end = endsWithout(next, body);
    const shown = pageSigns({ holders, parts, items, headers });
    const signs = end === undefined ? shown : [...shown, end];
    return accepted({ items, signs: signs.filter((sign) => !isIgnored(sign, ignore)) });
  }

  return {
    payload,
    page,
    paging: (operation) => pagingOf(operation).paging,
    marker: (operation, item) => findText(item, pagingOf(operation).marker) ?? undefined,
    nextPage: (operation, body, headers = {}) => {
      const { next, paging } = pagingOf(operation);
      const told = findLink(body, next) || nextInHeader(paging.next_header, headers);
      return leadsOn(told) ? (told ?? undefined) : undefined;
    },
  };
}

function nextInHeader(name: string | null, headers: Page["headers"]): string | undefined {
  const value = name === null ? undefined : headers[name.toLowerCase()];
  if (value === undefined || value.trim() === "") return undefined;
  return name?.toLowerCase() === "link" ? nextLink(value) : value.trim();
}

/** The objects from the body down to the array. */
function holdersOf(body: unknown, payload: unknown, tokens: readonly string[]): PageHolder[] {
  const holders: PageHolder[] = [];
  const hold = (value: unknown, at: string): void => {
    if (isObject(value)) holders.push({ value, at });
  };
  hold(body, "");
  let at = "";
  if (payload !== body) {
    at = placeIn(body, payload);
    hold(payload, at);
  }
  for (let depth = 1; depth < tokens.length; depth++)
    hold(findAt(payload, tokens.slice(0, depth)), at + tokens.slice(0, depth).map(pointerTo).join(""));
  return holders;
}

/** Where the payload is held: `/data`, unless the dialect's envelope has another place for it. */
function placeIn(body: unknown, payload: unknown): string {
  if (typeof body !== "object" || body === null) return "";
  const key = Object.keys(body).find((name) => own(body, name) === payload);
  if (key !== undefined) return pointerTo(key);
  for (const [outer, inner] of Object.entries(body).slice(0, 50)) {
    if (!isObject(inner)) continue;
    const deeper = Object.keys(inner).find((name) => own(inner, name) === payload);
    if (deeper !== undefined) return pointerTo(outer) + pointerTo(deeper);
  }
  return "";
}

interface CompiledPaging {
  readonly paging: Paging;
  readonly next: readonly PointerPath[];
  readonly marker: readonly PointerPath[];
}

/**
 * A record in a list of one is the one that was asked for. The first of several may be anybody's: a service may answer a
 * create with all that it has, or a read with a filter that it does not know with everything.
 */
const isOneOfSeveral = (held: unknown, { tokens, chooser }: PointerPath): boolean =>
  chooser === undefined &&
  tokens.some((token, depth) => {
    const list = /^\d+$/.test(token) ? findAt(held, tokens.slice(0, depth)) : undefined;
    return Array.isArray(list) && list.length > 1;
  });

/** The first place that shows anything. */
function firstShown(value: unknown, places: readonly PointerPath[]): unknown {
  for (const place of places) {
    const found = findAtPath(value, place);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

const onlySpeaks = (payload: unknown): boolean =>
  ["message", "msg", "error", "errors", "detail"].some((key) => own(payload, key) !== undefined);

/** What says of an empty list that it is empty because something failed. */
function emptyForFailure(operation: PagedOperation, holders: readonly PageHolder[]): Rejection | undefined {
  for (const { value, at: place } of holders) {
    const key = keyOfFailure(value);
    if (key === undefined) continue;
    const at = place + pointerTo(key);
    const said = asText(own(value, key));
    const shown =
      said === undefined ? undefined : typeof own(value, key) === "number" ? said : JSON.stringify(cleanMessage(said));
    const line = `; in the dialect, if that is said of what went well: envelope: { success: { value: ${at}, is: ${shown} } }`;
    return rejected(
      "unreadable",
      `the answer to ${operation} shows nothing, and ${at}${shown === undefined ? "" : `, which is ${shown},`} says that something failed`,
      `run the same command again when the service can show the list${codeKey.test(key) ? line : ""}`,
    );
  }
  return undefined;
}

/** Anywhere in it. */
const holdsList = (payload: unknown): boolean =>
  typeof payload === "object" &&
  payload !== null &&
  (Array.isArray(payload) || Object.values(payload).some((value) => holdsList(value)));
