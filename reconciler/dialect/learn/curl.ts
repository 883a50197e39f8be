/** Reads a request from a curl command line. */
import { type AssumedOperation, idsInPath, type Method } from "../../core/model/operation";
import { fieldsIn, isObject, onlyDefined } from "../../core/text/objects";
import type { Route, Scalar } from "../dialect";
import { idWord, noun } from "./place";
import { lettersAndDigits } from "./values";

export interface ToldRequest {
  readonly route: Route;
  /** The header that carries the credential; its value is never taken over. */
  readonly authorization?: { readonly name: string; readonly header: string };
}

const methods: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
export const isMethod = (word: string): word is Method => methods.includes(word);

/** `undefined`: the text is no curl command, or it names no URL. Ids in the URL become placeholders. */
export function readCurl(
  operation: AssumedOperation | "wait",
  command: string,
  base: string | undefined,
  known: ReadonlySet<string>,
): ToldRequest | undefined {
  const [program, ...words] = wordsOf(command);
  const told = optionsOf(words);
  const at = program === "curl" ? urlOf(told.url, base) : undefined;
  const verb = told.method ?? (told.data === undefined ? "GET" : "POST");
  if (at === undefined || !isMethod(verb)) return undefined;
  const segments = belowBase(at, base)
    .split("/")
    .map((segment) => decodeURIComponent(segment));
  const params = [...at.searchParams].filter(([name]) => !isSecret(name));
  const sent = told.data === undefined ? undefined : parsed(told.data);
  // What names no rule's id says which rule is meant.
  const isSaid = operation === "group.rule.delete" && saysARule({ ...fieldsIn(sent), ...Object.fromEntries(params) });
  const data = isSaid && isObject(sent) ? withRuleFields(sent) : sent;
  const query = isSaid ? withRuleFields(Object.fromEntries(params)) : Object.fromEntries(params);
  const asked = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  const ids = new Placeholders(operation === "wait" || isSaid ? ["id"] : idsInPath(operation), known, [
    ...[...segments, ...asked.map(([, value]) => value)].map((text) => ({ text })),
    ...textsIn(data),
  ]);
  const path = segments.map((segment) => ids.put(segment)).join("/");
  const filled = Object.fromEntries(asked.map(([name, value]): [string, Scalar] => [name, ids.put(value)]));
  const body = ids.within(data);
  const carrier =
    told.headers.find(([name]) => /^authorization$/i.test(name)) ?? told.headers.find(([name]) => isSecret(name));
  const others = told.headers.filter(
    ([name]) => !isSecret(name) && !/^(content-type|accept|user-agent|cookie|host)$/i.test(name),
  );
  // JSON keeps the form of a value, and only its texts change.
  const isRuleAlone = operation === "group.rule.delete" && !isSaid && ids.count === 1;
  /** A rule's delete that names one id names the rule. */
  const named = <T>(value: T): T =>
    isRuleAlone ? JSON.parse(JSON.stringify(value).replaceAll(/\{id(?=[:}])/g, "{rule_id")) : value;
  return {
    route: onlyDefined({
      method: verb,
      path: named(path),
      query: asked.length > 0 ? named(filled) : undefined,
      headers: others.length > 0 ? Object.fromEntries(others) : undefined,
      body: told.data === undefined ? undefined : named(body),
    }),
    authorization: carrier === undefined ? undefined : { name: carrier[0], header: withoutToken(carrier[1]) },
  };
}

/** What a rule says, by the words for it: the key of a request, and the field of the contract. */
const ruleWords: readonly (readonly [key: RegExp, field: string])[] = [
  [/^(ip)?proto(col)?$/, "protocol"],
  [/^((dst|destination|from|start|min|low)?port|port(from|start|min|low|rangemin))$/, "port_range_min"],
  [/^((to|end|max|high)port|port(to|end|max|high|rangemax))$/, "port_range_max"],
  [/^(cidr(ip)?|(remote|source)(ip|cidr|ipprefix)|iprange|prefix)$/, "remote_ip_prefix"],
  [/^((remote|source)(security)?group(id)?|group)$/, "remote_group_id"],
  [/^direction$/, "direction"],
  [/^ethertype$/, "ether_type"],
];

const ruleFieldOf = (key: string): string | undefined =>
  ruleWords.find(([word]) => word.test(lettersAndDigits(key)))?.[1];

/** Whether it names the protocol and the port of a rule: one that is meant by what it says. */
function saysARule(request: Readonly<Record<string, unknown>>): boolean {
  const fields = Object.keys(request).map((key) => ruleFieldOf(key));
  return fields.includes("protocol") && fields.includes("port_range_min");
}

/** Each of these is taken from the rule that is to be deleted. What is no plain value stays, as the group's own id does. */
function withRuleFields(request: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(request).map(([key, said]) => {
      const field = ruleFieldOf(key);
      const isOwnGroup = field === "remote_group_id" && said !== null && /^group$/i.test(key);
      if (field === undefined || isOwnGroup || isObject(said) || Array.isArray(said)) return [key, said];
      return [key, `{field:/${field}${typeof said === "number" ? ":number" : ""}}`];
    }),
  );
}

/** The name of a header, or of a part of the query, that carries a credential: what it says is written nowhere. */
const isSecret = (name: string): boolean =>
  /auth(?!or(?!iz))|token|secret|session|credential|password|signature|(^|[^a-z])(api|access|subscription)[-_]?key/i.test(
    name,
  );

type Header = readonly [name: string, value: string];

interface Options {
  readonly method?: string;
  readonly url?: string;
  readonly data?: string;
  readonly headers: readonly Header[];
}

/** The meaning of the word after each option. */
const meanings: Readonly<Record<string, "method" | "header" | "data" | "url" | "nothing">> = {
  ...{ "-X": "method", "--request": "method", "-H": "header", "--header": "header", "--url": "url" },
  ...{ "-d": "data", "--data": "data", "--data-raw": "data", "--data-binary": "data", "--json": "data" },
  ...{ "-u": "nothing", "--user": "nothing", "-o": "nothing", "--output": "nothing", "-A": "nothing" },
  ...{ "--user-agent": "nothing", "--connect-timeout": "nothing", "-m": "nothing", "--cacert": "nothing" },
};

function optionsOf(words: readonly string[]): Options {
  const found: Record<"method" | "url" | "data", string | undefined> = {
    method: undefined,
    url: undefined,
    data: undefined,
  };
  const headers: Header[] = [];
  let before: (typeof meanings)[string] | undefined;
  for (const word of words) {
    const meaning = before;
    before = undefined;
    if (meaning === "header") headers.push(headerIn(word));
    else if (meaning === "method") found.method = word.toUpperCase();
    else if (meaning === "data" || meaning === "url") found[meaning] = word;
    else if (meaning === undefined) {
      before = meanings[word];
      if (before === undefined && !word.startsWith("-")) found.url ??= word;
    }
  }
  const { method, url, data } = found;
  return { headers, method, url, data };
}

function headerIn(word: string): Header {
  const [name = "", ...rest] = word.split(":");
  return [name.trim(), rest.join(":").trim()];
}

function urlOf(url: string | undefined, base: string | undefined): URL | undefined {
  if (url === undefined) return undefined;
  try {
    return new URL(url, base ?? "http://service.invalid");
  } catch {
    return undefined;
  }
}

function belowBase({ pathname }: URL, base: string | undefined): string {
  const basePath = base === undefined ? "" : new URL(base).pathname.replace(/\/+$/, "");
  return pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : pathname;
}

function withoutToken(value: string): string {
  const scheme = /^(\S+)\s+\S/.exec(value)?.[1];
  return scheme === undefined ? "{token}" : `${scheme} {token}`;
}

/**
 * Puts `{id}` in the place of what looks like one. What is known to be an id comes before what only looks like one, a
 * UUID before a number, and that before a word with a digit, which may be a region; of several the last, since the
 * resource that a request is about comes after what it is in.
 */
class Placeholders {
  readonly #names = new Map<string, string>();

  constructor(wanted: readonly string[], known: ReadonlySet<string>, texts: readonly ToldText[]) {
    const ranked = [...new Map(texts.map((one) => [one.text, one])).values()]
      .map((one, index) => ({ text: one.text, index, rank: rankOf(one, known) }))
      .filter(({ rank }) => rank > 0)
      .sort((one, other) => other.rank - one.rank || other.index - one.index)
      .slice(0, wanted.length)
      .sort((one, other) => one.index - other.index);
    ranked.forEach(({ text }, index) => {
      this.#names.set(text, `{${wanted[index]}}`);
    });
  }

  get count(): number {
    return this.#names.size;
  }

  put(text: string): string {
    return this.#names.get(text) ?? text;
  }

  /** The same within a body. */
  within(value: unknown): unknown {
    if (typeof value === "number") return this.#names.get(String(value))?.replace("}", ":number}") ?? value;
    // A selection of GraphQL, such as {id}, is no placeholder; it says the same with room around the word.
    if (typeof value === "string")
      return this.put(/^\s*(query|mutation|\{)/.test(value) ? value.replaceAll(/\{(\w+)\}/g, "{ $1 }") : value);
    if (Array.isArray(value)) return value.map((item) => this.within(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.within(inner)]));
  }
}

interface ToldText {
  readonly text: string;
  /** Under which it stands in a body. */
  readonly key?: string;
}

const idKey = new RegExp(`^(${noun}|${noun}?${idWord})s?$`);

/** 0: it is no id. A person may well write what is to be put there: ID, VM_ID, $ID, :id, <id>. */
function rankOf({ text, key = "id" }: ToldText, known: ReadonlySet<string>): number {
  if (known.has(text) || /^[$:<{]*(\w+[-_])?(id|uuid)[}>]*$/i.test(text)) return 4;
  if (/^[0-9a-f]{8}-?[0-9a-f-]{23,27}$/i.test(text)) return 3;
  // A number in a body whose key speaks of no thing may be any value: `{ keep: 1 }`.
  if (/^\d+$/.test(text)) return idKey.test(lettersAndDigits(key)) ? 2 : 1;
  if (/^(?=.*\d)[\w-]+(:[\w.-]+)+$/.test(text)) return 2;
  return /^[a-z]{1,8}[-_]\d+$|^(?=.*\d)[\w-]{6,}$/.test(text) && !/^v\d+$/.test(text) ? 1 : 0;
}

function textsIn(value: unknown, under?: string): readonly ToldText[] {
  if (typeof value === "string" || typeof value === "number")
    return [{ text: String(value), ...onlyDefined({ key: under }) }];
  if (Array.isArray(value)) return value.flatMap((item) => textsIn(item, under));
  return isObject(value) ? Object.entries(value).flatMap(([key, inner]) => textsIn(inner, key)) : [];
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

/** Cuts the text into words as a shell does. A line that ends with a backslash goes on. */
function wordsOf(command: string): string[] {
  const words: string[] = [];
  const pattern =
    /(?:'([^']*)'|"((?:\\.|[^"\\])*)"|((?:\\[^\n]|[^\s'"\\])+))(?=\s|$)|\$?'([^']*)'|"((?:\\.|[^"\\])*)"|((?:\\[^\n]|[^\s'"\\])+)/g;
  for (const found of command.replaceAll(/\\\r?\n/g, " ").matchAll(pattern)) {
    const [, single, double, bare, otherSingle, otherDouble, otherBare] = found;
    const text = single ?? otherSingle ?? (double ?? otherDouble ?? bare ?? otherBare ?? "").replaceAll(/\\(.)/g, "$1");
    words.push(text);
  }
  return words;
}
