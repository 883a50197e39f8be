/** Reads a request from a curl command line. */

import {
  type AssumedOperation,
  idsInPath,
  type ListOperation,
  listOperations,
  type Method,
  rowOf,
} from "../../core/model/operation";
import { ifPossible } from "../../core/text/errors";
import { fieldsIn, isObject, onlyDefined, parsedJson } from "../../core/text/objects";
import { percentDecoded } from "../../core/text/parts";
import type { Route, Scalar } from "../dialect";
import { type Header, optionsOf, scheme, wordsOfShell } from "./curl-options";
import { idWord, noun } from "./place";
import { lettersAndDigits } from "./values";
import { anyNoun, nouns, recordOfOperation, saysKind } from "./where";

export interface ToldRequest {
  readonly route: Route;
  /** The header that carries the credential; its value is never taken over. */
  readonly authorization?: { readonly name: string; readonly header: string };
  /** Where a credential stands that is no header: it is left out, and no request can send it there. */
  readonly credentialIn?: string;
  /** What stands in the place of a body that can be sent: the name of a file, or of a part of a form. */
  readonly bodyIn?: string;
}

/** What a person can tell: `wait` is how a job is asked for, `attachments` how what hangs on what is listed. */
export type ToldOperation = AssumedOperation | "wait" | "attachments";

export const isListTold = (operation: ToldOperation): operation is ListOperation =>
  listOperations.some((one) => one === operation);

/** A list of what hangs on what may be that of one VM. */
const idsTold = (operation: ToldOperation): readonly string[] =>
  operation === "wait" || operation === "attachments" ? ["id"] : idsInPath(operation);

const methods: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
export const isMethod = (word: string): word is Method => methods.includes(word);

/**
 * `undefined`: the text is no curl command, or it names no URL. Ids in the URL become placeholders; what is a constant
 * is none, such as a project's number that stands in the path of a list as well.
 */
export function readCurl(
  operation: ToldOperation,
  command: string,
  base: string | undefined,
  known: ReadonlySet<string>,
  constants: ReadonlySet<string> = new Set(),
): ToldRequest | undefined {
  const [program, ...words] = wordsOfShell(command);
  const told = optionsOf(words);
  const at = program === "curl" ? urlOf(told.url, base) : undefined;
  const isOfList = operation.endsWith(".list") || operation === "attachments";
  const secrets: string[] = [];
  const written = withoutSecrets(bodyFromData(told.data), secrets);
  const sent = isOfList ? fromTheStart(written) : written;
  const verb = told.method ?? (told.data.length === 0 || told.isQuery ? "GET" : "POST");
  if (at === undefined || !isMethod(verb)) return undefined;
  const encoded = belowBase(at, base).split("/");
  const segments = encoded.map(percentDecoded);
  // A body that is a form says what a query says: every request of this program has JSON in its body, or none.
  const form = sent === undefined && told.data.length > 0 ? new URLSearchParams(told.data.join("&")) : [];
  const asks = fieldsIn(withoutSecrets(Object.fromEntries([...at.searchParams, ...form]), secrets));
  const params = paramsOf(operation, isOfList, asks);
  // What names no rule's id says which rule is meant.
  const isSaid = operation === "group.rule.delete" && saysARule({ params, sent });
  const data = isSaid ? withRuleFields(sent) : sent;
  const asked = Object.entries(isSaid ? fieldsIn(withRuleFields(params)) : params).map(
    ([name, value]): [string, string] => [name, String(value)],
  );
  const inPath = segments.flatMap((segment, nth) =>
    constants.has(segment) ? [] : [{ text: idOfSegment(segment, known), folder: segments[nth - 1] ?? "" }],
  );
  const texts = [...inPath, ...asked.map(([key, text]) => ({ text, key })), ...textsIn(data)];
  const ids = new Placeholders(operation, isSaid ? ["id"] : idsTold(operation), known, texts);
  const isRuleAlone = operation === "group.rule.delete" && !isSaid && ids.count === 1;
  const path = segments
    .map((segment, nth) => {
      const id = idOfSegment(segment, known);
      const put = ids.put({ text: id, folder: segments[nth - 1] ?? "" });
      // A slash or a room within a segment stays as it was written, but where it is of an id.
      return put === id && !isPlainSegment(segment) ? encoded[nth] : put + segment.slice(id.length);
    })
    .join("/");
  const filled = Object.fromEntries(asked.map(([key, text]): [string, Scalar] => [key, ids.inText({ text, key })]));
  const body = ids.within(data);
  const { carrier, others } = headersByUse(told.headers);
  const route: Route = onlyDefined({
    method: verb,
    path,
    query: asked.length > 0 ? filled : undefined,
    headers: others.length > 0 ? Object.fromEntries(others) : undefined,
    body: sent === undefined ? undefined : body,
  });
  return {
    // A rule's delete that names one id names the rule. JSON keeps the form of a value, and only its texts change.
    route: isRuleAlone ? JSON.parse(JSON.stringify(route).replaceAll(/\{id(?=[:}])/g, "{rule_id")) : route,
    authorization: carrier === undefined ? undefined : { name: carrier[0], header: withoutToken(carrier[1]) },
    ...onlyDefined({ credentialIn: secrets[0], bodyIn: told.bodyIn }),
  };
}

/** What is asked for beside the path, without what asks for one of a list, or for a later page. */
const paramsOf = (
  operation: ToldOperation,
  isOfList: boolean,
  asks: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(asks)
      .map(([name, value]): [string, string] => [name, String(value)])
      .filter(([name, value]) => !asksForOne(operation, name, value) && !(isOfList && leadsOn(name, value))),
  );

/** `carrier`: the one with the credential. `others`: those that every request has. */
function headersByUse(headers: readonly Header[]): { readonly carrier?: Header; readonly others: readonly Header[] } {
  const carrier =
    [/^authorization$/i, secretName, keyHeader, /^cookie$/i]
      .map((carries) => headers.find(([name]) => carries.test(name)))
      .find((header) => header !== undefined) ?? headers.find(([, value]) => signedToken.test(value));
  const others = headers.filter(
    ([name, value]) =>
      !isSecretName(name) && !signedToken.test(value) && !keyHeader.test(name) && !ofOneRequest.test(name),
  );
  return { others, ...onlyDefined({ carrier }) };
}

/** A manual may well show how a later page is asked for: a list that is read from there would be no whole one. */
const leadsOn = (name: string, value: unknown): boolean =>
  laterPage.test(lettersAndDigits(name)) && !/^[01]?$/.test(String(value));

const laterPage =
  /^(page(no|num|number|index|token|offset|after|cursor)?|offset|skip|startindex|cursor|marker|(start(ing)?)?after|continue|continuation(token)?|next(page)?(token|cursor|marker)?)$/;

function fromTheStart(body: unknown): unknown {
  if (!isObject(body)) return body;
  const kept = Object.entries(body).filter(([name, value]) => isObject(value) || !leadsOn(name, value));
  return Object.fromEntries(kept.map(([name, value]) => [name, fromTheStart(value)]));
}

/** What stands in the paths of lists, in which no id is. */
export const constantsIn = (lists: readonly Route[]): ReadonlySet<string> =>
  new Set(lists.flatMap(({ path }) => path.split("/").filter((part) => part !== "")));

/** Why this cannot be sent as it was told, and what to do about it. `said`: what a person is told of as the command. */
export function problemOfTold(
  operation: ToldOperation,
  request: ToldRequest | undefined,
  said: string,
): { readonly problem: string; readonly fix: string } | undefined {
  if (request === undefined)
    return { problem: `${said} is no command for curl with a URL`, fix: "copy it whole, as it runs in a shell" };
  const { route, bodyIn, credentialIn, authorization } = request;
  const isRead = operation === "wait" || operation === "attachments" || rowOf(operation).kind === "read";
  if (isRead && route.method !== "GET" && route.method !== "POST")
    return {
      problem: `${said} sends ${route.method}, and ${operation} only reads`,
      fix: "show the request that reads: GET, or POST where this service reads so",
    };
  if (bodyIn !== undefined)
    return {
      problem: `${said} sends a file or a form (${bodyIn}), and a body is sent as JSON alone`,
      fix: `write it into the command as JSON: -d '{"id": "ID"}'`,
    };
  if (!namesAnId(operation, route))
    return {
      problem: `in ${said}, nothing looks like an id, and it is sent as it is to nothing`,
      fix: "write {id} where the id stands",
    };
  if (credentialIn !== undefined && authorization === undefined)
    return {
      problem: `${said} has a credential in its query or its body (${credentialIn}), and one is sent in a header alone`,
      fix: "take it out of the command, or show the header in which the service takes it as well",
    };
  return undefined;
}

/** Whether it names what it is about: without that it would be sent about what a person copied it of. */
export const namesAnId = (operation: ToldOperation, route: Route): boolean =>
  operation === "attachments" ||
  idsTold(operation).length === 0 ||
  /\{(id|rule_id|field:[^{}]*)(:number)?\}/.test(JSON.stringify(route));

const isPlainSegment = (segment: string): boolean => /^[!-~]*$/.test(segment) && !/[/?#%]/.test(segment);

/** A part of a path without what may stand behind an id: the form of the answer (ID.json), or a verb (ID:start). */
function idOfSegment(segment: string, known: ReadonlySet<string>): string {
  const [, before = ""] = /^([^:]+):[a-z][a-z_-]*$/i.exec(segment) ?? [];
  if (before !== "" && !known.has(segment) && rankOf({ text: before }, known) > 0) return before;
  return segment.replace(/\.(json|xml)$/, "");
}

/** What a rule says, by the words for it: the key of a request, and the field of the contract. */
const ruleWords: readonly (readonly [key: RegExp, field: string])[] = [
  [/^(ip)?proto(col)?$/, "protocol"],
  [/^((dst|destination|from|start|min|low)?ports?|port(from|start|min|low|rangemin|s?range))$/, "port_range_min"],
  [/^((to|end|max|high)port|port(to|end|max|high|rangemax))$/, "port_range_max"],
  [/^(cidrs?(ip)?|(remote|source)(ips?|cidrs?|ipprefix)|ipranges?|prefix|addresses)$/, "remote_ip_prefix"],
  [/^((remote|source)?(security)?groups?(ids?|uids?)?)$/, "remote_group_id"],
  [/^direction$/, "direction"],
  [/^ethertype$/, "ether_type"],
];

const ruleFieldOf = (key: string): string | undefined =>
  ruleWords.find(([word]) => word.test(lettersAndDigits(key)))?.[1];

/** Whether it names the protocol and the port of a rule, wherever they stand: one that is meant by what it says. */
function saysARule(request: unknown): boolean {
  const fields = keysWithin(request).map((key) => ruleFieldOf(key));
  return fields.includes("protocol") && fields.includes("port_range_min");
}

const keysWithin = (value: unknown): readonly string[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [key, ...keysWithin(inner)]);

/**
 * Each of these is taken from the rule that is to be deleted, where the request says the rule itself; what is no plain
 * value stays, as the group's own id does.
 */
function withRuleFields(request: unknown, isWithin = false): unknown {
  if (Array.isArray(request)) return request.map((item) => withRuleFields(item, true));
  if (!isObject(request)) return request;
  return Object.fromEntries(
    Object.entries(request).map(([key, said]) => {
      const field = ruleFieldOf(key);
      if (isObject(said) || (Array.isArray(said) && said.some(isObject))) return [key, withRuleFields(said, true)];
      const isOwnGroup = field === "remote_group_id" && !isWithin && said !== null && /^groups?(id)?$/i.test(key);
      if (field === undefined || isOwnGroup) return [key, said];
      // A list that is empty would hold what another rule says.
      if (Array.isArray(said)) return [key, [toldRuleField(field, said[0])]];
      return [key, toldRuleField(field, said)];
    }),
  );
}

/** A range is written as the one of the example is. */
function toldRuleField(field: string, said: unknown): string {
  const [, between] = field === "port_range_min" ? (/^\d+([-:])\d+$/.exec(String(said)) ?? []) : [];
  if (between !== undefined) return `{field:/port_range_min}${between}{field:/port_range_max}`;
  return `{field:/${field}${typeof said === "number" ? ":number" : ""}}`;
}

/** The name of a header, or of a part of the query or the body, that carries a credential: it is written nowhere. */
const secretName =
  /auth(?!or(?!iz))|token|secret|session|credential|passw(or)?d|passphrase|^(pass|pwd)$|signature|(^|[^a-z])(api|access|subscription)[-_]?key/i;
/** A name that says something of another kind as well. */
const shortSecretName = /^(key|sig)$/i;
/** A key in a header is one of somebody's, whatever it is called; but for the one that tells a repeated request. */
const keyHeader = /(?<!idempotency)[-_]key$/i;
/** By a name or an id in the query, a list shows the one that a person copied, and not all. */
const asksForOne = (operation: ToldOperation, name: string, value: string): boolean =>
  isListTold(operation) &&
  /^(filters?|where|search)?[^a-z]*(name|title|label|hostname|id|uuid)[^a-z]*$/i.test(name) &&
  !saysKind(recordOfOperation(operation), value);

/** What a browser or curl adds to a request, and a version that one record had as it was copied. */
const ofOneRequest =
  /^(content-.+|accept(-.+)?|user-agent|cookie|host|origin|referer|connection|cache-control|pragma|priority|dnt|te|if-.+|sec-.+|upgrade-insecure-requests)$/i;
const isSecretName = (name: string): boolean => secretName.test(name);

function isSecret(name: string, value: unknown): boolean {
  if (typeof value !== "string") return isSecretName(name) && isObject(value);
  // A job may well be named by a token: where a person wrote that an id is to be put, no secret stands.
  const rank = rankOf({ text: value }, new Set());
  if (value === "" || rank === 5) return false;
  return (
    isSecretName(name) ||
    signedToken.test(value) ||
    (shortSecretName.test(name) && value.length >= shortestKey && rank < 4)
  );
}

const shortestKey = 20;
/** A signed token is a credential under any name. */
const signedToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

/** What is sent without the credentials in it, whose names are added to those that were found. */
function withoutSecrets(sent: unknown, found: string[]): unknown {
  if (Array.isArray(sent)) return sent.map((one) => withoutSecrets(one, found));
  if (!isObject(sent)) return sent;
  const kept = Object.entries(sent).filter(([name, value]) => !isSecret(name, value) || found.push(name) === 0);
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutSecrets(value, found)]));
}

/** Without a scheme it begins with the host, as curl reads it. */
const urlOf = (url: string | undefined, base = "http://service.invalid"): URL | undefined =>
  url === undefined
    ? undefined
    : ifPossible(() => new URL(scheme.test(url) || url.startsWith("/") ? url : `http://${url}`, base));

function belowBase({ pathname }: URL, base: string | undefined): string {
  const basePath = base === undefined ? "" : new URL(base).pathname.replace(/\/+$/, "");
  return pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname;
}

/**
 * `Bearer …`, or `session=…`. What a secret in base 64 is filled up with at its end is no such name, and of several
 * cookies nobody says which one is the credential: together they are.
 */
function withoutToken(value: string): string {
  const [, scheme] = /^([A-Za-z][\w.-]*\s+|[\w.-]+=(?!=*$)(?=[^;,\s]+$))\S/.exec(value) ?? [];
  return `${scheme?.replace(/\s+$/, " ") ?? ""}{token}`;
}

/**
 * Puts `{id}` in the place of what looks like one. What stands below the word for what the request is about, or under
 * it, comes first, and what is another thing by its word is none. Of all else, what is known to be an id comes before
 * what only looks like one, a UUID before a number, and that before a word with a digit, which may be a region; of
 * several the last of the path, since the resource that a request is about comes after what it is in.
 */
class Placeholders {
  readonly #names = new Map<string, readonly string[]>();
  /** What is another thing by its word has an id of its own, though it may be the same number. */
  readonly #isOther: (one: ToldText) => boolean;

  constructor(
    operation: ToldOperation,
    wanted: readonly string[],
    known: ReadonlySet<string>,
    texts: readonly ToldText[],
  ) {
    const own = wordsFor(operation);
    this.#isOther = (one) => rankAmong(one, known, own) === 0;
    const ids = texts.filter((one) => !this.#isOther(one));
    const ranked = [...new Map(ids.map((one) => [one.text, one])).values()]
      .map((one, index) => ({ text: one.text, index, rank: rankAmong(one, known, own) }))
      .sort((one, other) => other.rank - one.rank || other.index - one.index)
      .slice(0, wanted.length)
      .sort((one, other) => one.index - other.index);
    const [only, ...others] = ranked;
    // A manual may have one and the same id in every place.
    const isRepeated = others.length === 0 && ids.filter(({ text }) => text === only?.text).length >= wanted.length;
    ranked.forEach(({ text }, index) => {
      this.#names.set(text, isRepeated ? wanted : wanted.slice(index, index + 1));
    });
  }

  get count(): number {
    return [...this.#names.values()].flat().length;
  }

  put(one: ToldText): string {
    const { text } = one;
    const [name, ...later] = this.#isOther(one) ? [] : (this.#names.get(text) ?? []);
    if (later.length > 0) this.#names.set(text, later);
    return name === undefined ? text : `{${name}}`;
  }

  /** A selection of GraphQL, such as {id}, is no placeholder; it says the same with room around the word. */
  inText({ text, key }: ToldText): string {
    const isSelection = !this.#names.has(text) && /^\s*(query|mutation|\{)/.test(text);
    return this.put({ text: isSelection ? text.replaceAll(/\{(\w+)\}/g, "{ $1 }") : text, ...onlyDefined({ key }) });
  }

  /** The same within a body. */
  within(value: unknown, under?: string): unknown {
    if (typeof value === "number") {
      const put = this.put({ text: String(value), ...onlyDefined({ key: under }) });
      return put === String(value) ? value : put.replace("}", ":number}");
    }
    if (typeof value === "string") return this.inText({ text: value, ...onlyDefined({ key: under }) });
    if (Array.isArray(value)) return value.map((item) => this.within(item, under));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, this.within(inner, keyBelow(key, under))]),
    );
  }
}

interface ToldText {
  readonly text: string;
  /** Under which it stands in a query or a body. */
  readonly key?: string;
  /** What it stands below in a path. */
  readonly folder?: string;
}

/** The words for what a request is about, with an id or without. */
function wordsFor(operation: ToldOperation): RegExp {
  const words =
    operation === "wait"
      ? ["job", "task", "action", "operation", "activity", "workflow", "request"]
      : nouns[operation === "attachments" ? "vm" : recordOfOperation(operation)].map(lettersAndDigits);
  const rules = operation === "group.rule.delete" ? [`(${words.join("|")})?rule`] : [];
  return new RegExp(`^(${[...words, ...rules].join("|")})${idWord}?s?$`);
}

const otherWord = new RegExp(
  `^(${anyNoun}|project|tenant|account|org|organi[sz]ation|user|owner|team|customer|subscription|workspace|company|folder|request|trace|correlation)${idWord}?s?$`,
);

/** By its word it is what the request is about, or another thing, which is no id here. */
function rankAmong(one: ToldText, known: ReadonlySet<string>, own: RegExp): number {
  const rank = rankOf(one, known);
  const word = lettersAndDigits(one.key ?? one.folder ?? "");
  if (rank === 0 || (!own.test(word) && otherWord.test(word))) return 0;
  return (own.test(word) ? 10 : rank) + (one.folder !== undefined ? 0.2 : /^(id|uuid)$/.test(word) ? 0.1 : 0);
}

const idKey = new RegExp(`^((${noun}|rule|job|task)${idWord}?|.*(id|ref|urn)|${idWord})s?$`);

/** 0: it is no id. A person may well write what is to be put there: ID, VM_ID, $ID, :id, <id>, {instance-id}. */
function rankOf({ text, key = "id" }: ToldText, known: ReadonlySet<string>): number {
  if (known.has(text) || /^[$:<{]*([\w-]+[-_])?(id|uuid)[}>]*$/i.test(text)) return 5;
  if (/^\{?[0-9a-f]{8}-?[0-9a-f-]{23,27}\}?$/i.test(text)) return 4;
  // A day is a version of the service in most paths.
  if (/^(19|20)\d\d-?(0[1-9]|1[0-2])-?[0-3]\d$/.test(text))
    return idKey.test(lettersAndDigits(key)) && key !== "id" ? 3 : 1;
  // A number under a key that speaks of no id is any value: `{ keep: 1 }`.
  if (/^\d+$/.test(text)) return idKey.test(lettersAndDigits(key)) ? 3 : 0;
  if (/^(?=.*\d)[\w-]+(:[\w.@-]*)+$/.test(text)) return 3;
  // ocid1.instance.oc1..aaaa, and no v3.1.
  if (/^(?=.*\d)[\w-]+(\.[\w-]*){2,}$/.test(text) && text.length >= 16) return 3;
  if (/^v\d{1,2}$/.test(text)) return 0;
  return /^[a-z]{1,8}[-_]\d+$|^(?=.*\d)[\w-]{6,}$/.test(text) ? 2 : /^[a-z]{1,8}\d+$/.test(text) ? 1 : 0;
}

function textsIn(value: unknown, under?: string): readonly ToldText[] {
  if (typeof value === "string" || typeof value === "number")
    return [{ text: String(value), ...onlyDefined({ key: under }) }];
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, under));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, keyBelow(key, under)));
}

/** { project: { id: … } } says of what it is the id. */
const keyBelow = (key: string, under: string | undefined): string =>
  under !== undefined && /^(id|uuid|ref)$/i.test(key) ? `${under}_${key}` : key;

/** `undefined`: nothing is sent, or a form. */
function bodyFromData(data: readonly string[]): unknown {
  const [text = ""] = data;
  if (text === "" || /^[^\s{["]*=/.test(text)) return undefined;
  const parsed = parsedJson(data.join("&"));
  return parsed === undefined ? data.join("&") : parsed;
}
