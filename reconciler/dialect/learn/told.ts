/** What a person tells the doctor: a request as a command for curl, and a description of the service in OpenAPI. */

import { type AssumedOperation, idsOf, type Method, rowOf } from "../../core/model/operation";
import { fieldsIn, isObject, keysOf } from "../../core/text/objects";
import type { Dialect, ListRoute, Route, Scalar } from "../dialect";
import { nouns } from "./where";

export interface ToldRequest {
  readonly route: Route;
  /** The header that carries the credential; its value is never taken over. */
  readonly authorization?: { readonly name: string; readonly header: string };
}

const methods: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const isMethod = (word: string): word is Method => methods.includes(word);

/** What follows these is of no interest, and no URL. */
const skipped = ["-u", "--user", "-o", "--output", "-A", "--user-agent", "--connect-timeout", "-m", "--cacert"];
const carriers = /^(authorization|x-auth-token|x-api-key|api-key)$/i;
const ofNoInterest = /^(content-type|accept|user-agent|cookie|host)$/i;

interface CurlWords {
  readonly method?: string;
  readonly url?: string;
  readonly data?: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** `undefined`: it is no command for curl. */
function readWords(command: string): CurlWords | undefined {
  const words = wordsOf(command);
  if (words[0] !== "curl") return undefined;
  const said: { method?: string; url?: string; data?: string } = {};
  const headers: [string, string][] = [];
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? "";
    const next = (): string => words[++index] ?? "";
    if (word === "-X" || word === "--request") said.method = next().toUpperCase();
    else if (word === "-H" || word === "--header") {
      const [name = "", ...rest] = next().split(":");
      headers.push([name.trim(), rest.join(":").trim()]);
    } else if (["-d", "--data", "--data-raw", "--data-binary", "--json"].includes(word)) said.data = next();
    else if (word === "--url") said.url = next();
    else if (skipped.includes(word)) next();
    else if (!word.startsWith("-")) said.url ??= word;
  }
  return { ...said, headers };
}

/** The ids of a request become the placeholders of its operation, in their order; one id is one placeholder. */
function placeholdersFor(operation: AssumedOperation, known: ReadonlySet<string>): (text: string) => string {
  const wanted = [...idsOf(operation)];
  const names = new Map<string, string>();
  return (text) => {
    const told = names.get(text);
    if (told !== undefined) return told;
    const looksLikeId =
      known.has(text) ||
      /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(text) ||
      /^\d+$/.test(text) ||
      /^(?=.*\d)[\w-]{6,}$/.test(text);
    const name = looksLikeId && !/^v\d+$/.test(text) ? wanted.shift() : undefined;
    if (name === undefined) return text;
    names.set(text, `{${name}}`);
    return `{${name}}`;
  };
}

/** `undefined`: it is no command for curl, or it names no URL. Ids in it become placeholders. */
export function readCurl(
  operation: AssumedOperation,
  command: string,
  base: string | undefined,
  known: ReadonlySet<string>,
): ToldRequest | undefined {
  const { url, data, method, headers = [] } = readWords(command) ?? {};
  const within = base ?? "http://service.invalid";
  if (url === undefined || !URL.canParse(url, within)) return undefined;
  const at = new URL(url, within);
  const basePath = base === undefined ? "" : new URL(base).pathname.replace(/\/+$/, "");
  const below = at.pathname.startsWith(`${basePath}/`) ? at.pathname.slice(basePath.length) : at.pathname;
  const asPlaceholder = placeholdersFor(operation, known);
  const path = below
    .split("/")
    .map((segment) => asPlaceholder(decodeURIComponent(segment)))
    .join("/");
  const query: Record<string, Scalar> = Object.fromEntries(
    [...at.searchParams].map(([name, value]) => [name, asPlaceholder(value)]),
  );
  const body = data === undefined ? undefined : placeholders(parsed(data), asPlaceholder);
  const carrier = headers.find(([name]) => carriers.test(name));
  const others = headers.filter(([name]) => name !== carrier?.[0] && !ofNoInterest.test(name));
  const verb = method ?? (data === undefined ? "GET" : "POST");
  if (!isMethod(verb)) return undefined;
  const scheme = /^(\S+)\s+\S/.exec(carrier?.[1] ?? "")?.[1];
  return {
    route: {
      method: verb,
      path,
      ...(Object.keys(query).length > 0 && { query }),
      ...(others.length > 0 && { headers: Object.fromEntries(others) }),
      ...(body !== undefined && { body }),
    },
    ...(carrier !== undefined && {
      authorization: { name: carrier[0], header: scheme === undefined ? "{token}" : `${scheme} {token}` },
    }),
  };
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}

function placeholders(value: unknown, put: (text: string) => string): unknown {
  if (typeof value === "string") return put(value);
  if (Array.isArray(value)) return value.map((item) => placeholders(item, put));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, placeholders(inner, put)]));
}

/** As a shell cuts them; lines that end with a backslash go on. */
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

export interface ToldByDescription {
  /** Paths of reads, which are tried. */
  readonly reads: Readonly<Partial<Record<AssumedOperation, readonly string[]>>>;
  /** Of what would change something: as the description has it. */
  readonly writes: Partial<Record<AssumedOperation, Route>>;
}

/** What an OpenAPI document names, by the words of its paths. */
export function readDescription(document: unknown): ToldByDescription | undefined {
  const { paths } = fieldsIn(document);
  if (!isObject(paths)) return undefined;
  const reads: Partial<Record<AssumedOperation, string[]>> = {};
  const writes: Partial<Record<AssumedOperation, Route>> = {};
  for (const [path, item] of Object.entries(paths)) {
    if (!isObject(item) || !path.startsWith("/")) continue;
    for (const [verb, operation] of Object.entries(item)) {
      const method = verb.toUpperCase();
      if (!isMethod(method)) continue;
      const meant = meaningOf(
        method,
        path,
        `${fieldsIn(operation)["operationId"] ?? ""} ${fieldsIn(operation)["summary"] ?? ""}`,
      );
      if (meant === undefined) continue;
      const ids = [...idsOf(meant)];
      const parameters = [...path.matchAll(/\{\w+\}/g)].length;
      // A rule's own id is the last; its group is not always named.
      const names = meant === "group.rule.delete" && parameters === 1 ? ["rule_id"] : ids;
      let index = 0;
      const route: Route = { method, path: path.replaceAll(/\{\w+\}/g, () => `{${names[index++] ?? "id"}}`) };
      if (method === "GET") reads[meant] = [...(reads[meant] ?? []), route.path];
      else writes[meant] ??= route;
    }
  }
  return { reads, writes };
}

function meaningOf(method: string, path: string, words: string): AssumedOperation | undefined {
  const segments = path.split("/").filter((segment) => segment !== "");
  const fixed = segments.filter((segment) => !segment.startsWith("{"));
  const parameters = segments.length - fixed.length;
  const kind = keysOf(nouns).find((name) => fixed.some((segment) => nouns[name].includes(segment)));
  const said = `${path} ${words}`.toLowerCase();
  if (/rule/.test(said) && (method === "DELETE" || /remove|delete|revoke/.test(said))) return "group.rule.delete";
  if (method !== "GET" && kind === "vm" && /resize/.test(said) && /confirm|accept/.test(said))
    return "vm.resize.confirm";
  if (method !== "GET" && kind === "vm" && /resize/.test(said) && /revert|cancel|reject/.test(said))
    return "vm.resize.revert";
  if (
    kind === "volume" &&
    parameters <= 1 &&
    (method === "DELETE" || (method === "POST" && /delete|remove/.test(said)))
  )
    return "volume.delete";
  if (method !== "GET" || kind === undefined) return undefined;
  if (parameters === 0) return `${kind}.list`;
  return parameters === 1 && segments.at(-1)?.startsWith("{") === true && (kind === "vm" || kind === "group")
    ? `${kind}.get`
    : undefined;
}

/** A list that was told has its items where they were, or where they usually are. */
function toldRoutes(
  { operations }: Dialect,
  routes: Readonly<Partial<Record<AssumedOperation, Route>>>,
): Partial<Dialect["operations"]> {
  const told: Partial<Record<AssumedOperation, Route | ListRoute>> = {};
  for (const operation of keysOf(routes)) {
    const route = routes[operation];
    if (route === undefined) continue;
    const usual = rowOf(operation).items;
    const former = operations[operation];
    const items = former !== null && "items" in former ? former.items : usual;
    told[operation] = usual === undefined || items === undefined ? route : { ...route, items };
  }
  // The row of a list has the place of its items, so that each list has one here.
  return told as Partial<Dialect["operations"]>;
}

/** The dialect with what was told over it. */
export const toldDialect = (dialect: Dialect, routes: Readonly<Partial<Record<AssumedOperation, Route>>>): Dialect => ({
  ...dialect,
  operations: { ...dialect.operations, ...toldRoutes(dialect, routes) },
});
