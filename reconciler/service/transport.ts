/**
 * Sends one request and gives back what came, or that the connection broke and whether any of the request may have
 * reached the service by then. The one file that speaks HTTP; what an answer means is dialect/conditions.ts.
 */

import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { Dispatcher, Pool } from "undici";
import type { Diagnostic } from "../core/model/diagnostic";
import type { Method } from "../core/model/operation";
import { certificateProblem } from "../core/text/certificate-problems";
import { asError, errorCode } from "../core/text/errors";
import { itemAt } from "../core/text/invariant";
import { type AddressFault, addressFault, waits, withoutPassword } from "../core/text/outside-policy";
import type { Answer } from "../dialect/conditions";
import { isKeptHeader } from "../dialect/page-signs";
import { onAbort } from "./abort-listeners";
import { isOfConnection, whyUnsendable } from "./sendable";

export interface TransportRequest {
  readonly method: Method;
  /** From the root of the host, with its query. */
  readonly path: string;
  readonly body?: string;
  readonly authorization: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the whole exchange, from waiting for a connection to the last byte. */
  readonly timeoutMs: number;
  /** Cuts the request off, wherever it is. */
  readonly signal?: AbortSignal;
  /**
   * How long ago it was allowed, in milliseconds. A process that was stopped since, or waited for a connection, does not
   * write it any more: whoever allowed it may have another answer by now.
   */
  readonly age?: () => number;
}

export type Exchange =
  | { readonly kind: "answer"; readonly answer: Answer }
  /** `fix`: the request fails again until that is done. */
  | { readonly kind: "broken"; readonly sent: boolean; readonly reason: string; readonly fix?: string };

export interface Transport {
  send(request: TransportRequest): Promise<Exchange>;
  close(): Promise<void>;
}

/** Of a pool, what is asked of it here. */
export interface Dispatching {
  dispatch(
    request: {
      readonly path: string;
      readonly method: Method;
      readonly headers: Record<string, string>;
      readonly body: string | null;
    },
    handler: Dispatcher.DispatchHandler,
  ): boolean;
}

/** The connections to one service, which several clients may share. */
export interface Connections {
  open(): Dispatching;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly connections: Connections;
  /** The header that carries the credential; Authorization unless said otherwise. */
  readonly authorizationName?: string;
  /** Another header than Retry-After that says how long to wait. */
  readonly waitName?: string;
}

/** Together with how long a lease is believed in (half of it) less than the shortest lease, which is ten seconds. */
export const allowedForMs = 2000;

const isAllowed = ({ age }: TransportRequest): boolean => age === undefined || age() < allowedForMs;

const largestBody = 32 * 1024 * 1024;

/**
 * What a request that is under way is told of. Node asks each connection's error for its stack, and the engine would count
 * the lines of the whole program for it.
 */
const closedByUs = Object.assign(new Error("the connections were closed"), { stack: "" });

export function createConnections(baseUrl: string, connections: number): Connections {
  let pool: Pool | undefined;
  return {
    // Loaded with the first request: it is the largest thing there is to load, and a plan from memory sends none.
    open() {
      const LoadedPool = loadPool();
      pool ??= new LoadedPool(new URL(baseUrl).origin, {
        connections,
        pipelining: 1,
        connect: { timeout: waits.connect },
        // One deadline for the whole exchange (below) stands for both: a stop may keep quiet for half a minute, and a
        // body that drips must end as well.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return pool;
    },
    close: async () => pool?.destroy(closedByUs),
  };
}

interface SharedConnections {
  readonly connections: Connections;
  users: number;
  /** Closes them, when nobody has come by then. */
  end?: NodeJS.Timeout;
}

/**
 * Connections to any number of services, for clients that come and go: those of one service share theirs until so long
 * after the last of them is closed. A client that was closed twice, or sent nothing, holds none.
 */
export function createSharedConnections(keptMs: number): (baseUrl: string, connections: number) => Connections {
  const shared = new Map<string, SharedConnections>();
  return (baseUrl, most) => {
    const key = `${new URL(baseUrl).origin} ${most}`;
    let held: SharedConnections | undefined;
    return {
      open() {
        if (held === undefined) {
          held = shared.get(key) ?? { connections: createConnections(baseUrl, most), users: 0 };
          clearTimeout(held.end);
          held.users++;
          shared.set(key, held);
        }
        return held.connections.open();
      },
      async close() {
        const left = held;
        held = undefined;
        if (left === undefined) return;
        left.users--;
        if (left.users > 0) return;
        left.end = setTimeout(() => {
          shared.delete(key);
          left.connections.close().catch(() => undefined);
        }, keptMs);
        left.end.unref();
      },
    };
  };
}

export function createTransport({
  connections,
  authorizationName = "authorization",
  waitName,
}: TransportOptions): Transport {
  const spelling: Spelling = { authorization: authorizationName.toLowerCase(), wait: waitName?.toLowerCase() };
  return {
    send: (request) => new Promise((resolve) => dispatch(connections.open(), request, spelling, resolve)),
    close: () => connections.close(),
  };
}

/**
 * The pool alone: all of undici takes three times as long to load, for fetch, sockets and caches that nobody here asks
 * for. Its folders are its own affair, so where this one has moved the whole will do.
 */
function loadPool(): typeof Pool {
  try {
    // The module of undici that exports this class, and no other value, under this path.
    return require("undici/lib/dispatcher/pool");
  } catch {
    return (require("undici") as typeof import("undici")).Pool;
  }
}

interface Spelling {
  readonly authorization: string;
  readonly wait: string | undefined;
}

function dispatch(
  pool: Dispatching,
  request: TransportRequest,
  spelling: Spelling,
  resolve: (exchange: Exchange) => void,
): void {
  let sent = false;
  let over = false;
  let controller: Dispatcher.DispatchController | undefined;
  let status = 0;
  let headers: Record<string, string | string[] | undefined> = {};
  let received = 0;
  const chunks: Buffer[] = [];
  let leave: (() => void) | undefined;

  const end = (exchange: Exchange): void => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    leave?.();
    resolve(exchange);
  };
  const cut = (reason: string): void => {
    end({ kind: "broken", sent, reason });
    controller?.abort(new Error(reason));
  };
  const cancel = (): void => cut("cancelled");
  const timer = setTimeout(() => cut(`no complete answer within ${describeMs(request.timeoutMs)}`), request.timeoutMs);
  if (request.signal?.aborted === true) {
    cancel();
    return;
  }
  if (request.signal !== undefined) leave = onAbort(request.signal, cancel);

  // A cached answer is no evidence of what exists now.
  const requestHeaders: Record<string, string> = { accept: "application/json", "cache-control": "no-cache" };
  for (const [name, value] of Object.entries(request.headers ?? {}))
    if (!isOfConnection(name)) requestHeaders[name.toLowerCase()] = value;
  requestHeaders[spelling.authorization] = request.authorization;
  if (request.body !== undefined) requestHeaders["content-type"] = "application/json";
  const unsendable = whyUnsendable(request.path, requestHeaders);
  if (unsendable !== undefined) {
    end({ kind: "broken", sent, reason: unsendable, fix: howSendable });
    return;
  }
  const handler: Dispatcher.DispatchHandler = {
    // Called when a connection stands and nothing was written yet: a request that fails before this never left.
    onRequestStart(started) {
      controller = started;
      if (over) started.abort(new Error("over"));
      else if (isAllowed(request)) sent = true;
      else cut("it waited too long to be sent");
    },
    onResponseStart(_controller, statusCode, responseHeaders) {
      status = statusCode;
      headers = responseHeaders;
      if (Number(single(headers["content-length"])) > largestBody) cut(tooLarge);
    },
    onResponseData(_controller, chunk) {
      received += chunk.length;
      if (received > largestBody) cut(tooLarge);
      else chunks.push(chunk);
    },
    onResponseEnd() {
      const body = chunks.length === 1 ? itemAt(chunks, 0) : Buffer.concat(chunks);
      const unpacked = decompressed(body, single(headers["content-encoding"]));
      if (typeof unpacked === "string") end({ kind: "broken", sent, reason: unpacked });
      else end({ kind: "answer", answer: answerFrom(status, headers, unpacked, spelling) });
    },
    onResponseError(_controller, error) {
      end({ kind: "broken", sent, ...describeError(error) });
    },
  };
  try {
    pool.dispatch(
      { path: request.path, method: request.method, headers: requestHeaders, body: request.body ?? null },
      handler,
    );
  } catch (error) {
    end({ kind: "broken", sent, ...describeError(asError(error)) });
  }
}

const howSendable = "correct the dialect: it says what is sent, and from which place of a record it is taken";
const tooLarge = `the answer is larger than ${largestBody / 1024 / 1024} MiB`;

const unpackers: Readonly<Record<string, (packed: Buffer, limit: { maxOutputLength: number }) => Buffer>> = {
  gzip: (packed, limit) => gunzipSync(packed, limit),
  "x-gzip": (packed, limit) => gunzipSync(packed, limit),
  deflate: (packed, limit) => inflateSync(packed, limit),
  br: (packed, limit) => brotliDecompressSync(packed, limit),
};

/** Nobody asks for a packed answer, and a proxy may pack it all the same. In words, why it cannot be read. */
function decompressed(body: Buffer, encoding: string | undefined): Buffer | string {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (body.length === 0 || name === "" || name === "identity") return body;
  const unpackWith = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined;
  if (unpackWith === undefined) return `the answer is packed as ${name}, which nobody asked for`;
  try {
    return unpackWith(body, { maxOutputLength: largestBody });
  } catch (error) {
    return errorCode(error) === "ERR_BUFFER_TOO_LARGE"
      ? tooLarge
      : `the answer says that it is packed as ${name}, and is not`;
  }
}

function answerFrom(
  status: number,
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
  spelling: Spelling,
): Answer {
  const text = body.toString("utf8");
  return {
    status,
    text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text,
    contentType: single(headers["content-type"]),
    retryAfter: single(headers["retry-after"]),
    wait: spelling.wait === undefined ? undefined : single(headers[spelling.wait]),
    date: single(headers["date"]),
    location: single(headers["location"] ?? headers["operation-location"] ?? headers["azure-asyncoperation"]),
    paging: pagingHeaders(headers),
  };
}

function pagingHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> | undefined {
  const found = Object.keys(headers).filter(isKeptHeader);
  if (found.length === 0) return undefined;
  return Object.fromEntries(
    found.map((name) => {
      const value = headers[name];
      return [name.toLowerCase(), Array.isArray(value) ? value.join(", ") : (value ?? "")];
    }),
  );
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.at(-1) : value;

/** In words; the code stays, because that is what people search for. Never the request, which carries the credential. */
function describeError(error: Error & { code?: unknown; cause?: unknown }): { reason: string; fix?: string } {
  const code = typeof error.code === "string" ? error.code : "";
  const certificate = certificateProblem(code);
  if (certificate !== undefined)
    return { reason: `the service is not believed: ${certificate.words}`, fix: certificate.fix };
  const words = errorWords[code] ?? (error.message || "the connection failed");
  return { reason: code === "" ? words : `${words} (${code})` };
}

const errorWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at the service's address",
  ECONNRESET: "the connection was closed before the answer",
  EPIPE: "the connection was closed before the answer",
  ENOTFOUND: "the service's host name is not known",
  EAI_AGAIN: "the service's host name could not be looked up",
  EHOSTUNREACH: "the service's host cannot be reached",
  ENETUNREACH: "the service's network cannot be reached",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${describeMs(waits.connect)}`,
  UND_ERR_SOCKET: "the connection was closed before the answer",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the answer is shorter than it says",
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too large",
};

function describeMs(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

const addressProblems: Readonly<
  Record<AddressFault, (address: string) => Pick<Diagnostic, "summary" | "fix" | "detail">>
> = {
  no_url: (address) => ({
    summary: `The base URL ${withoutPassword(address)} is not a URL`,
    fix: "Set service.base_url to `embedded` or to http(s)://host[:port][/path]; RECONCILE_BASE_URL and --base-url go before it.",
  }),
  neither_http_nor_https: (address) => ({
    summary: `The base URL ${withoutPassword(address)} is neither http nor https`,
    fix: "Set service.base_url to http(s)://host[:port][/path]; RECONCILE_BASE_URL and --base-url go before it.",
  }),
  holds_a_credential: () => ({
    summary: "The base URL holds a credential",
    fix: "Take user and password out of it and set RECONCILE_AUTHORIZATION or RECONCILE_TOKEN.",
  }),
  has_a_query: () => ({
    summary: "The base URL has a query or a fragment",
    fix: "End it with the path that all of the service's paths follow.",
  }),
  in_the_clear: (address) => ({
    summary: `The credential would go to ${new URL(address).host} over plain http`,
    detail: "Anyone on the way could read it and use it. Only loopback is taken without TLS.",
    fix: "Use https, or permit it with --insecure-http.",
  }),
};

/** What is wrong with a base URL, if anything. */
export function checkBaseUrl(baseUrl: string, insecureHttp: boolean): Diagnostic | undefined {
  const fault = addressFault(URL.canParse(baseUrl) ? new URL(baseUrl) : null, insecureHttp);
  if (fault === undefined) return undefined;
  const code = fault === "in_the_clear" ? "service/insecure-http" : "service/base-url";
  return { severity: "error", code, ...addressProblems[fault](baseUrl) };
}
