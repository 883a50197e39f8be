/** Which operation a request means in a dialect: by its method, path, query, headers and body. */

import type { IncomingHttpHeaders } from "node:http";
import { isBodyObject } from "../fields";
import { decodeSegment } from "../routes";
import type { SpokenDialect, SpokenRoute, SpokenScalar } from "./spoken";

export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface Meaning {
  readonly operation: string;
  readonly params: Readonly<Record<string, string>>;
}

/** Where several operations fit, the one whose route fixes most of the request. */
export function meaningOf(dialect: SpokenDialect, heard: Heard): Meaning | undefined {
  let best: (Meaning & { readonly score: number }) | undefined;
  const listed = { ...dialect.operations, attachments: dialect.attachments ?? null };
  const routes = Object.entries(listed).flatMap(([operation, route]) =>
    route === null ? [] : [route, ...(route.alternatives ?? [])].map((one) => [operation, one] as const),
  );
  for (const [operation, route] of routes) {
    if (route.method !== heard.method) continue;
    const params: Record<string, string> = {};
    const fits = new Fitting(dialect.values, params);
    if (!fits.path(route.path, heard.path)) continue;
    if (!fits.query(withoutPage(dialect, route), heard.query)) continue;
    if (!fits.headers({ ...dialect.headers, ...route.headers }, heard.headers)) continue;
    if (route.body !== undefined && !fits.body(route.body, heard.body)) continue;
    if (best === undefined || fits.score > best.score) best = { operation, params, score: fits.score };
  }
  return best;
}

/** A route may name its first page, and means the others as well. */
function withoutPage({ pagination }: SpokenDialect, route: SpokenRoute): NonNullable<SpokenRoute["query"]> {
  const { param = "page" } = { ...pagination, ...route.pagination };
  return Object.fromEntries(Object.entries(route.query ?? {}).filter(([name]) => name !== param));
}

/** The id of the job that a request asks for. */
export function jobMeant({ wait, values, headers }: SpokenDialect, heard: Heard): string | undefined {
  if (wait === undefined || wait.method !== heard.method) return undefined;
  const params: Record<string, string> = {};
  const fits = new Fitting(values, params);
  const isAsked =
    fits.path(wait.path, heard.path) &&
    fits.query(wait.query ?? {}, heard.query) &&
    fits.headers({ ...headers, ...wait.headers }, heard.headers) &&
    (wait.body === undefined || fits.body(wait.body, heard.body));
  return isAsked ? params["id"] : undefined;
}

/** Whether the headers are there that every request must carry. */
export const hasHeaders = (dialect: SpokenDialect, heard: Heard): boolean =>
  new Fitting(dialect.values, {}).headers(dialect.headers, heard.headers);

class Fitting {
  /** How many parts of the request the route fixes. */
  score = 0;

  constructor(
    private readonly values: Readonly<Record<string, SpokenScalar>>,
    private readonly params: Record<string, string>,
  ) {}

  path(template: string, path: string): boolean {
    // A slash within braces belongs to a place of the record.
    const [wanted, given] = [template.split(/\/(?![^{]*\})/), path.split("/")];
    return (
      wanted.length === given.length &&
      wanted.every((part, index) => this.#text(part, decodeSegment(given[index] ?? "")))
    );
  }

  query(wanted: NonNullable<SpokenRoute["query"]>, query: URLSearchParams): boolean {
    return Object.entries(wanted).every(([name, template]) => {
      const given = query.get(name);
      return given !== null && this.#text(String(template), given);
    });
  }

  headers(wanted: Readonly<Record<string, string>>, headers: IncomingHttpHeaders): boolean {
    return Object.entries(wanted).every(([name, template]) => {
      const given = headers[name.toLowerCase()];
      return typeof given === "string" && this.#text(template, given);
    });
  }

  /** A request may hold more than the template, such as the number of a page. */
  body(template: unknown, given: unknown): boolean {
    if (typeof template === "string") {
      const [, field] = /^\{(field:[^{}]*?)(?::number)?\}$/.exec(template) ?? [];
      // What is deleted by what it says may say that there is nothing, and a list of it is empty.
      if (field !== undefined && (given === null || given === undefined)) {
        this.params[field] = "";
        return true;
      }
      const [, number] = /^\{(\w+|field:[^{}]*):number\}$/.exec(template) ?? [];
      // An id that is no number is sent as the text that it is.
      const isSo = typeof given === "number" || (typeof given === "string" && !/^\d+$/.test(given));
      if (number !== undefined) return isSo && this.#text(`{${number}}`, String(given));
      return (typeof given === "string" || typeof given === "number") && this.#text(template, String(given));
    }
    if (Array.isArray(template))
      return (
        Array.isArray(given) &&
        given.length <= template.length &&
        template.every((one, index) => this.body(one, given[index]))
      );
    if (isBodyObject(template)) {
      const map = given === undefined ? {} : given;
      return (
        isBodyObject(map) && Object.entries(template).every(([key, one]) => key in map && this.body(one, map[key]))
      );
    }
    this.score++;
    return template === given;
  }

  /** `{id}` stands for any text, `{project}` for the project's value. */
  #text(template: string, given: string): boolean {
    const names: string[] = [];
    const pattern = template
      .split(/(\{(?:\w+|field:[^{}]*)\})/)
      .map((piece) => {
        const name = /^\{(\w+|field:[^{}]*)\}$/.exec(piece)?.[1];
        if (name === undefined) return escapedText(piece);
        if (Object.hasOwn(this.values, name)) return escapedText(String(this.values[name]));
        names.push(name);
        return "(.+)";
      })
      .join("");
    const found = new RegExp(`^${pattern}$`, "s").exec(given);
    if (found === null) return false;
    if (names.length === 0) this.score++;
    names.forEach((name, index) => {
      this.params[name] = found[index + 1] ?? "";
    });
    return true;
  }
}

const escapedText = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
