/** A route of the dialect with its ids and values filled in, wherever they stand: path, query, headers and body. */
import { idProblem } from "../core/text/id-problem";
import type { Dialect, Route, Scalar } from "./dialect";

export type Ids = { readonly id?: string; readonly rule_id?: string };

export interface FilledRequest {
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** `undefined` for a text that cannot be an id, or that would change the path. */
export function fillRoute(
  route: Route,
  ids: Ids,
  dialect: Pick<Dialect, "values" | "headers">,
): FilledRequest | undefined {
  for (const id of Object.values(ids)) if (id !== undefined && idProblem(id) !== undefined) return undefined;
  const values: Readonly<Record<string, Scalar | undefined>> = { ...dialect.values, ...ids };
  const text = (template: string): string => fillText(template, values, (value) => value);
  const path = fillText(route.path, values, encodeURIComponent);
  const query = Object.entries(route.query ?? {}).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(text(String(value)))}`,
  );
  const headers = { ...dialect.headers, ...route.headers };
  const names = Object.keys(headers);
  return {
    path: query.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${query.join("&")}`,
    ...(names.length > 0 && {
      headers: Object.fromEntries(names.map((name) => [name, text(headers[name] ?? "")])),
    }),
    ...(route.body !== undefined && { body: fillBody(route.body, text) }),
  };
}

/** A `{name}` that stands for nothing stays as it is: a body may well hold braces of its own. */
const fillText = (
  template: string,
  values: Readonly<Record<string, Scalar | undefined>>,
  encode: (value: string) => string,
): string =>
  template.includes("{")
    ? template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
        const value = Object.hasOwn(values, name) ? values[name] : undefined;
        return value === undefined ? whole : encode(String(value));
      })
    : template;

function fillBody(body: unknown, text: (template: string) => string): unknown {
  if (typeof body === "string") return text(body);
  if (Array.isArray(body)) return body.map((item) => fillBody(item, text));
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [text(key), fillBody(value, text)]));
}
