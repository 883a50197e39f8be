/**
 * One exchange, from what is heard to what is answered. Its order: route, faults before, caller, body, decision, changes
 * to memory and journal, durable, held back as long as the call blocks, faults after, answer. No answer, not even a
 * read's, leaves before everything it shows is durable.
 */
import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackHost } from "../reconciler/core/text/outside-policy";
import { authenticate } from "./access";
import { hasBody, parseBody, type ReadBody } from "./body";
import type { WorldClock } from "./clock";
import { type ControlDecision, control, type Instruments } from "./control";
import { type EmulatorSettings, errorBody, type Reply, refuseWith } from "./decision";
import type { WorldChange } from "./entities";
import { breakingFault, decidedFaults, type FaultSpec, failVms, takeFaults } from "./faults";
import type { Journal } from "./journal";
import { decideOperation, isOperation, operations } from "./operations";
import { type LoggedRequest, logRequest } from "./request-log";
import { type Match, matchRoute, type RouteTree } from "./routes";
import type { Heard, Speech } from "./speech";
import { applyChanges, type World } from "./world";

export interface Service {
  world: World;
  readonly settings: EmulatorSettings;
  readonly routes: RouteTree;
  /** Left out: the contract's words, and those of the built-in dialect where the contract has none. */
  readonly speech: Speech | undefined;
  readonly clock: WorldClock;
  readonly journal: Journal | undefined;
  readonly instruments: Instruments;
  readonly hasControl: boolean;
  readonly newId: () => string;
  /** Replaces the world, durably. */
  load(changes: readonly WorldChange[]): Promise<void>;
  readonly log: (line: string) => void;
}

/** A request. Its body is read when it is wanted, for some requests are refused before. */
export interface Request {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** `undefined`: the client went away before it had sent it all. */
  body(limit: number): Promise<ReadBody | undefined>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const mib = 1024 * 1024;
const noQuery = new URLSearchParams();

/**
 * The order that the head of this file names: an exchange may be broken at each of its points. `undefined`: the connection
 * ends without an answer.
 */
export async function exchange(service: Service, request: Request): Promise<Answer | undefined> {
  const { url, method } = request;
  const mark = url.indexOf("?");
  const [path, query] = mark < 0 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
  if (service.hasControl && path.startsWith("/_control/")) return exchangeControl(service, request, path);

  const started = Date.now();
  const spoken = service.speech === undefined ? undefined : await hearSpoken(service.speech, request, { path, query });
  // The client went away, and what it meant is not known.
  if (service.speech !== undefined && spoken === undefined) return undefined;
  const job = spoken?.speech.authorization(spoken.heard) === undefined ? undefined : spoken?.speech.job(spoken.heard);
  if (job !== undefined) return asJson(job.status, job.body);
  const match = (spoken === undefined ? undefined : spoken.match) ?? matchRoute(service.routes, method, path);
  const operation = match.status === "found" ? match.operation : "unknown";
  const at = new Date(started).toISOString();
  const entry = logRequest(service.instruments.log, { operation, method, path, status: 0, at });
  const faults = takeFaults(service.instruments.faults, operation);

  await linger(faults, "before");
  const broken = breakingFault(faults);
  let answer: Answer | undefined;
  if (broken !== undefined && breaksBefore(broken)) answer = brokenOff(broken, undefined, service.speech);
  else {
    const decided = await serveRequest(service, request, { match, query, faults, entry, spoken });
    if (decided === undefined) return undefined;
    const told = spoken === undefined ? { ...decided, headers: {} } : inItsWords(spoken, operation, decided, request);
    await linger(faults, "after");
    answer =
      broken !== undefined
        ? brokenOff(broken, told, service.speech)
        : asJson(told.status, told.body, { ...told.headers, ...refusalHeaders(match, told.status) });
  }
  entry.status = answer?.status ?? 0;
  service.log(`${method} ${operation} ${entry.status || "dropped"} ${Date.now() - started} ms`);
  return answer;
}

const asJson = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { ...headers, "Content-Type": "application/json" },
  text: JSON.stringify(body),
});

/** The rest of an oversized body is not read, so the connection cannot be used again. */
const refusalHeaders = (match: Match, status: number): Record<string, string> => ({
  ...(match.status === "no method" ? { Allow: match.allow } : {}),
  ...(status === 413 ? { Connection: "close" } : {}),
});

interface Spoken {
  readonly speech: Speech;
  readonly heard: Heard;
  readonly body: ReadBody;
  /** The operation, where the dialect has a route of its own for it. */
  readonly match: Match | undefined;
}

/** Reads the body first, because it may decide which operation is meant. `match` is absent where it does not. */
async function hearSpoken(
  speech: Speech,
  request: Request,
  { path, query }: { readonly path: string; readonly query: string },
): Promise<Spoken | undefined> {
  const body = await request.body(10 * mib);
  if (body === undefined) return undefined;
  const parsed = "text" in body && body.text !== "" ? parseBody(body.text) : undefined;
  const heard: Heard = {
    method: request.method,
    path,
    query: new URLSearchParams(query),
    headers: request.headers,
    body: parsed !== undefined && "value" in parsed ? parsed.value : undefined,
  };
  const meant = speech.understand(heard);
  // What hangs on what is told from the volumes.
  const operation = meant?.operation === "attachments" ? "volume.list" : meant?.operation;
  const match: Match | undefined =
    meant === undefined || operation === undefined || !isOperation(operation)
      ? undefined
      : { status: "found", operation, params: { ...meant.params } };
  return { speech, heard, body, match };
}

/** A reply with the headers in which a dialect says a part of it. */
interface Told extends Reply {
  readonly headers: Readonly<Record<string, string>>;
}

const inItsWords = ({ speech, heard }: Spoken, operation: string, decision: Reply, request: Request): Told => ({
  ...decision,
  ...speech.say(operation, decision, heard, `http://${request.headers.host ?? ""}`),
});

/** What is known of a request before its body is read. */
interface ServedRequest {
  readonly match: Match;
  readonly query: string;
  readonly faults: readonly FaultSpec[];
  readonly entry: LoggedRequest;
  readonly spoken: Spoken | undefined;
}

const unauthenticated = (): Reply => refuseWith(401, "the Authorization header is missing or not valid");

const refuseUnrouted = (match: Exclude<Match, { status: "found" }>): Reply =>
  match.status === "no path"
    ? refuseWith(404, "there is nothing at this path")
    : refuseWith(405, `method not allowed; allowed here: ${match.allow}`);

/**
 * The refusals of a request in the order in which a service gives them, and then its decision. `undefined`: the client
 * is gone, so nobody can be answered.
 */
async function serveRequest(
  service: Service,
  request: Request,
  { match, query, faults, entry, spoken }: ServedRequest,
): Promise<Reply | undefined> {
  const authorization =
    spoken === undefined ? request.headers.authorization : spoken.speech.authorization(spoken.heard);
  if (match.status !== "found") return refuseUnrouted(match);
  const { settings } = service;
  const { operation, params } = match;
  if (authenticate(service.world, authorization, settings.strict) === undefined) return unauthenticated();
  if (spoken?.speech.misses(spoken.heard) === true)
    return refuseWith(400, "a header that this deployment wants is missing");

  const body = spoken?.body ?? (await request.body(operation === "group.import" ? 10 * mib : mib));
  if (body === undefined) return undefined;
  const read = readJsonBody(request, body, operations[operation].method);
  if ("refusal" in read) return read.refusal;
  if (read.size > 0 && read.size <= 4_096) entry.body = read.value;
  const badName = spoken?.speech.refuseName(operation, read.value);
  if (badName !== undefined) return badName;

  // The world may have been replaced while the body arrived; from here to the changes nothing waits.
  const { world } = service;
  const caller = authenticate(world, authorization, settings.strict);
  if (caller === undefined) return unauthenticated();
  const { vmFails, ...distortion } = decidedFaults(faults);
  const hasQuery = query !== "" && spoken?.match === undefined;
  const asked = {
    world,
    settings: spoken === undefined ? settings : withoutPages(settings),
    caller,
    params: withGroup(operation, world, params),
    query: hasQuery ? new URLSearchParams(query) : noQuery,
    body: read.value,
    now: service.clock.now(),
    newId: service.newId,
  };
  const outOfDate = spoken?.speech.refuseVersion(
    { ...spoken.heard, body: read.value ?? spoken.heard.body },
    (kind, id) => recordSpoken(kind, id, { ...asked, ...distortion, params: {}, query: noQuery, body: undefined }),
    { operation, params: asked.params },
  );
  if (outOfDate !== undefined) return outOfDate;
  const decided = decideOperation(operation, { ...asked, ...distortion });
  const decision = vmFails ? failVms(decided) : decided;
  await persist(service, decision.changes);
  if (decision.holdUntil !== undefined) await service.clock.until(decision.holdUntil);
  return decision;
}

/** A record as the service itself lists it. */
function recordSpoken(kind: string, id: string, asked: Parameters<typeof decideOperation>[1]): unknown {
  const { body } = decideOperation(kind === "vm" ? "vm.list" : kind === "volume" ? "volume.list" : "group.list", asked);
  const { data } = typeof body === "object" && body !== null && "data" in body ? body : { data: body };
  return Array.isArray(data) ? data.find((one: { readonly id?: unknown }) => one.id === id) : undefined;
}

/** A dialect cuts a list into pages in its own words. */
const withoutPages = (settings: EmulatorSettings): EmulatorSettings => ({
  ...settings,
  pageSize: Number.MAX_SAFE_INTEGER,
});

const withGroup = (operation: string, world: World, params: Record<string, string>): Record<string, string> => {
  if (operation !== "group.rule.delete") return params;
  const named = { ...ruleThatSays(world, params), ...params };
  return { id: groupOfRule(world, named), ...named };
};

/** A dialect may delete a rule by what it says. */
function ruleThatSays(world: World, params: Record<string, string>): Record<string, string> {
  const said = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    name.startsWith("field:/") ? [[name.slice("field:/".length), value]] : [],
  );
  if (said.length === 0 || params["rule_id"] !== undefined) return {};
  for (const [id, rule] of world.tables.rule) {
    const fields = new Map<string, unknown>(Object.entries(rule));
    const isIn = params["id"] === undefined || rule.security_group_id === params["id"];
    if (isIn && said.every(([field, value]) => String(fields.get(field) ?? "") === value)) return { rule_id: id };
  }
  return {};
}

/** A dialect may delete a rule without naming its group. */
const groupOfRule = (world: World, { rule_id = "" }: Record<string, string>): string =>
  world.tables.rule.get(rule_id)?.security_group_id ?? "";

function persist(service: Service, changes: readonly WorldChange[]): Promise<void> | undefined {
  if (changes.length === 0) return service.journal?.settled();
  applyChanges(service.world, changes);
  return service.journal?.append(changes);
}

type ReadJson = { readonly value: unknown; readonly size: number } | { readonly refusal: Reply };

/** Operations without a body ignore one that was sent; the others require JSON. */
function readJsonBody(request: Request, body: ReadBody, method: string): ReadJson {
  if ("refusal" in body) return body;
  if (method === "GET" || method === "DELETE" || body.text === "") return { value: undefined, size: 0 };
  if (
    hasBody(request.headers) &&
    !/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "application/json")
  )
    return { refusal: refuseWith(415, "a body must be sent as Content-Type: application/json") };
  const parsed = parseBody(body.text);
  return "refusal" in parsed ? parsed : { value: parsed.value, size: body.text.length };
}

async function exchangeControl(service: Service, request: Request, path: string): Promise<Answer | undefined> {
  const body = await request.body(256 * mib);
  if (body === undefined) return undefined;
  const decision = decideControl(service, request, body, path);
  if (decision.load !== undefined) await service.load(decision.load);
  else await persist(service, decision.changes);
  service.clock.moved();
  return asJson(decision.status, decision.body);
}

function decideControl(service: Service, request: Request, body: ReadBody, path: string): ControlDecision {
  // The endpoint has no credential, so a web page in a browser on this machine must not reach it, under whatever host
  // name.
  if (request.headers.origin !== undefined || !isLocalHost(request.headers.host))
    return refuseWith(403, "control is for local programs, not for web pages");
  if ("refusal" in body) return body.refusal;
  const parsed = parseBody(body.text);
  if ("refusal" in parsed) return parsed.refusal;
  return control({
    method: request.method,
    segments: path.split("/").slice(2),
    body: parsed.value,
    world: service.world,
    now: service.clock.now(),
    newId: service.newId,
    portRange: service.settings.portRange,
    instruments: service.instruments,
  });
}

/**
 * Whether the Host header, with or without a port, names this machine. A page whose own host name leads here does not.
 */
const isLocalHost = (host = ""): boolean => isLoopbackHost(host.replace(/:\d+$/, "").toLowerCase());

const whenOf = (fault: FaultSpec): "before" | "after" =>
  fault.when ?? (["status", "html", "latency"].includes(fault.kind) ? "before" : "after");

async function linger(faults: readonly FaultSpec[], when: "before" | "after"): Promise<void> {
  let ms = 0;
  for (const fault of faults) if (fault.kind === "latency" && whenOf(fault) === when) ms += fault.ms ?? 0;
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

const breaksBefore = (fault: FaultSpec): boolean => fault.kind === "drop-before" || whenOf(fault) === "before";

/** The answer that the fault asks for; `undefined`: the connection is dropped. */
function brokenOff(fault: FaultSpec, decision: Reply | undefined, speech: Speech | undefined): Answer | undefined {
  const { kind, code } = fault;
  if (kind === "drop-before" || kind === "drop-after") return undefined;
  if (kind === "status") {
    const status = code ?? 500;
    if (speech === undefined) return asJson(status, errorBody(status, "injected fault"), retryAfter(fault));
    const refused = speech.refuse(status, "injected fault", fault.retry_after);
    return asJson(refused.status, refused.body, refused.headers);
  }
  if (kind === "html") {
    const status = code ?? 502;
    const text = `<!doctype html><html><body><h1>${status}</h1><p>upstream</p></body></html>`;
    return { status, headers: { "Content-Type": "text/html" }, text };
  }
  const whole = asJson(decision?.status ?? 200, decision?.body ?? { data: "" });
  const half = (): string => whole.text.slice(0, Math.ceil(whole.text.length / 2));
  return { ...whole, text: kind === "truncate" ? half() : "\u0000\u001b]0;garbage\u0007{]not json" };
}

const retryAfter = ({ retry_after: seconds }: FaultSpec): Record<string, string> =>
  seconds === undefined ? {} : { "Retry-After": String(seconds) };
