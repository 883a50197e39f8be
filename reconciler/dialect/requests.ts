/** A route of the dialect with its ids and values filled in, wherever they stand: path, query, headers and body. */
import { idProblem } from "../core/text/id-problem";
import { percentDecoded } from "../core/text/parts";
import type { Dialect, Route, Scalar } from "./dialect";
import { asText, findAt, findAtPath, tokensOf, withValueAt } from "./places";
import { compilePointers, findText } from "./pointers";

export type Ids = { readonly id?: string; readonly rule_id?: string };

export interface FilledRequest {
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * `undefined` for a text that cannot be an id, or that would change the path. A field that the record does not show, or
 * whose value would make another path of this one, is left as it is written: `fieldsLeft` names it.
 */
export function fillRoute(
  route: Route,
  ids: Ids,
  dialect: Pick<Dialect, "values" | "headers">,
  record?: unknown,
): FilledRequest | undefined {
  for (const id of Object.values(ids)) if (id !== undefined && idProblem(id) !== undefined) return undefined;
  const inPath = fieldsNamed({ path: route.path.replace(/\?.*$/, "") });
  const fields = Object.fromEntries(
    fieldsNamed(route).map((pointer) => {
      const shown = asText(findAt(record, tokensOf(pointer)));
      const isOfAnotherPath = inPath.includes(pointer) && idProblem(shown ?? "") !== undefined;
      return [`field:${pointer}`, isOfAnotherPath ? undefined : shown];
    }),
  );
  const values: Readonly<Record<string, Scalar | undefined>> = { ...dialect.values, ...ids, ...fields };
  const text = (template: string): string => fillTemplate(template, values, (value) => value);
  // A rule that is named by what it says may well say that there is nothing: no address, where it names a group.
  const isNothing = (template: string): boolean => {
    const [, pointer] = /^\{field:(\/[^{}]*?)(?::number)?\}$/.exec(template) ?? [];
    return ids.rule_id !== undefined && pointer !== undefined && findAt(record, tokensOf(pointer)) === null;
  };
  const path = fillTemplate(route.path, values, encodeURIComponent);
  const query = Object.entries(route.query ?? {}).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(text(String(value)))}`,
  );
  const headers = { ...dialect.headers, ...route.headers };
  const names = Object.keys(headers);
  return {
    path: query.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${query.join("&")}`,
    headers: names.length > 0 ? Object.fromEntries(names.map((name) => [name, text(headers[name] ?? "")])) : undefined,
    body: route.body === undefined ? undefined : fillBody(route.body, text, isNothing),
  };
}

/** The places of the record from which a request takes values: `{field:/zone}`. */
export const fieldsNamed = ({
  path,
  query,
  headers,
  body,
}: Pick<Route, "path" | "query" | "headers" | "body">): readonly string[] => [
  ...new Set(
    [...JSON.stringify([path, query, headers, body]).matchAll(/\{field:(\/[^{}"]*?)(?::number)?\}/g)].map(
      ([, pointer = ""]) => pointer,
    ),
  ),
];

/** Those for which the record had no value, in the filled request: its query is encoded. */
export const fieldsLeft = ({ path, ...filled }: FilledRequest): readonly string[] =>
  fieldsNamed({ ...filled, path: percentDecoded(path) });

/** Whether a list is asked for each VM by itself. */
export const namesVm = ({ path, query, headers, body }: Route): boolean =>
  /\{id(:number)?\}/.test(JSON.stringify([path, query, headers, body]));

/** Whether a request is made from more than ids: the record that it is about has to be read first. */
export const needsRecord = (route: Route): boolean => route.alternatives !== undefined || fieldsNamed(route).length > 0;

/** The route for the record, of several: the first whose `when` fits it. */
export const routeFor = (route: Route, record: unknown): Route =>
  route.alternatives?.find(
    ({ when }) => when !== undefined && asText(findAt(record, ["direction"]))?.toLowerCase() === when.direction,
  ) ?? route;

/** A `{name}` that stands for nothing stays as it is: a body may well hold braces of its own. */
const fillTemplate = (
  template: string,
  values: Readonly<Record<string, Scalar | undefined>>,
  encode: (value: string) => string,
): string =>
  template.includes("{")
    ? template.replaceAll(/\{(\w+|field:\/[^{}]*?)(?::number)?\}/g, (whole, name: string) => {
        const value = Object.hasOwn(values, name) ? values[name] : undefined;
        return value === undefined ? whole : encode(String(value));
      })
    : template;

/** `{id:number}`: an id that is sent as the number that it is. */
const numberPlaceholder = /^\{(\w+|field:[^{}]*):number\}$/;

function fillBody(
  body: unknown,
  text: (template: string) => string,
  isNothing: (template: string) => boolean,
): unknown {
  if (typeof body === "string") {
    if (isNothing(body)) return null;
    const [, name] = numberPlaceholder.exec(body) ?? [];
    if (name === undefined) return text(body);
    const value = text(`{${name}}`);
    // A number that a double cannot hold would become another one.
    return /^\d+$/.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  // A list of what a rule does not say is empty.
  if (Array.isArray(body))
    return body.flatMap((item) =>
      typeof item === "string" && isNothing(item) ? [] : [fillBody(item, text, isNothing)],
    );
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [text(key), fillBody(value, text, isNothing)]));
}

export interface VersionedRequest {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
}

/** A number stays one in a body. */
export type ShownVersion = string | number;

/** The version of a record: where it shows it, or in a header of the answer with it. */
export function versionShown(
  { from, header }: NonNullable<Dialect["fingerprint"]>,
  record: unknown,
  headers: Readonly<Record<string, string>>,
): ShownVersion | undefined {
  if (header !== undefined) return headers[header.toLowerCase()];
  const paths = compilePointers(from);
  const text = findText(record, paths) ?? undefined;
  const number = paths.map((path) => findAtPath(record, path)).find((found) => typeof found === "number");
  return typeof number === "number" && String(number) === text ? number : text;
}

/** The request with the version of what it changes, in a header or at a place of the body. */
export function withVersion(request: VersionedRequest, place: string, version: ShownVersion): VersionedRequest {
  if (!place.startsWith("/")) return { ...request, headers: { ...request.headers, [place]: String(version) } };
  return { ...request, body: withValueAt(request.body, tokensOf(place), version) };
}
