/**
 * The suite's own small HTTP client: sends exactly what a case says, in the name of one of the callers, and judges every
 * answer by the OpenAPI document before the case sees it. Shares nothing with the product's client.
 */
import assert from "node:assert/strict";
import type { Contract } from "./contract";
import { type Dialect, isObject } from "./dialect";

/** Who asks. `caller` is an owner or admin of the project; the others are needed for the clauses on permissions. */
export const roles = ["caller", "member", "otherMember", "admin", "inactive", "outsider", "homeless"] as const;
export type Role = (typeof roles)[number];
/** `nobody` sends no credential, `stranger` one that nobody has. */
export type Asker = Role | "nobody" | "stranger";

export interface Answer {
  readonly operation: string;
  readonly status: number;
  readonly body: unknown;
  readonly elapsedMs: number;
}

export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** In place of `body`: sent as it is. */
  readonly text?: string;
  readonly as?: Asker;
}

export interface Client {
  call(operation: string, call?: Call): Promise<Answer>;
  /** The emulator's local control endpoint. */
  control(method: string, path: string, body?: unknown): Promise<unknown>;
  has(operation: string): boolean;
}

export interface Endpoint {
  readonly baseUrl: string;
  readonly dialect: Dialect;
  /** Whole Authorization values. */
  readonly credentials: Readonly<Partial<Record<Role, string>>>;
  readonly strict: boolean;
}

export function createClient({ baseUrl, dialect, credentials, strict }: Endpoint, contract: Contract): Client {
  const base = baseUrl.replace(/\/+$/, "");

  function locate(operation: string): { readonly method: string; readonly path: string } | undefined {
    const described = dialect.operations[operation];
    if (described !== undefined) return described ?? undefined;
    const spec = contract.operations.get(operation);
    return spec === undefined || spec.availability === "optional" ? undefined : spec;
  }

  async function send(method: string, url: string, headers: Record<string, string>, text: string | undefined) {
    const start = performance.now();
    // A redirect would carry the credential elsewhere; it is an answer like any other.
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    const contentType = response.headers.get("content-type") ?? "";
    return { status: response.status, text: answer, contentType, elapsedMs: performance.now() - start };
  }

  return {
    has: (operation) => locate(operation) !== undefined,

    async call(operation, { params = {}, query = {}, body, text, as = "caller" } = {}) {
      const place = locate(operation);
      assert.ok(place, `${operation} is not an operation of this service`);
      const path = place.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
      const search = new URLSearchParams(query).toString();
      const headers: Record<string, string> = {};
      const credential =
        as === "stranger" ? dialect.authorization.replace("{token}", "nobody-has-this") : credentials[as as Role];
      if (as !== "nobody") {
        assert.ok(credential, `there is no credential for ${as}`);
        headers["authorization"] = credential;
      }
      const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
      if (sent !== undefined) headers["content-type"] = "application/json";

      const answer = await send(place.method, `${base}${path}${search === "" ? "" : `?${search}`}`, headers, sent);
      const what = `${operation} answered ${answer.status} ${answer.text.slice(0, 300)}`;
      const parsed = parseJson(answer.text);
      assert.ok(parsed !== undefined, `${what}: not JSON`);
      const problems = contract.checkAnswer(operation, answer.status, answer.contentType, parsed.value);
      assert.deepEqual(problems, [], `${what}: ${problems.join("; ")}`);
      if (strict && answer.status < 300 && body !== undefined) {
        const unfit = contract.checkRequest(operation, body);
        assert.deepEqual(unfit, [], `${operation} took a request that it should have refused: ${unfit.join("; ")}`);
      }
      return { operation, status: answer.status, body: parsed.value, elapsedMs: answer.elapsedMs };
    },

    async control(method, path, body) {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers: Record<string, string> = text === undefined ? {} : { "content-type": "application/json" };
      const answer = await send(method, `${base}/_control/${path}`, headers, text);
      assert.ok(answer.status < 300, `control ${method} ${path} answered ${answer.status} ${answer.text}`);
      return parseJson(answer.text)?.value;
    },
  };
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The body, or its `data` where the body is the envelope. */
export const payload = (answer: Answer): unknown =>
  isObject(answer.body) && answer.body["data"] !== undefined ? answer.body["data"] : answer.body;

export const messageOf = (answer: Answer): string => {
  const error = isObject(answer.body) ? answer.body["error"] : undefined;
  return isObject(error) ? String(error["message"]) : "";
};
