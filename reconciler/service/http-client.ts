/**
 * The service's client over HTTP: routes, lists with all their pages, and what an answer counts as. What each operation
 * sends and reads is calls.ts; how a request gets there is caller.ts and transport.ts; what records mean is
 * dialect/records.ts.
 */

import { abilitiesOf } from "../core/model/abilities";
import { isAssumed, type Method, type Operation, rowOf } from "../core/model/operation";
import type { Failure, Outcome, Rejection } from "../core/model/outcome";
import { accepted } from "../core/model/outcome";
import { deepEqual } from "../core/text/deep-equal";
import { invariant } from "../core/text/invariant";
import { lazily } from "../core/text/lazily";
import { sharedLook } from "../core/text/shared-look";
import type { PagedOperation } from "../dialect/answers";
import { conditionOfJob } from "../dialect/conditions";
import type { Dialect, Route } from "../dialect/dialect";
import { waitHeader } from "../dialect/envelope";
import { firstPage, mostPages, mostPasses, nextPage, type PageRequest } from "../dialect/next-page";
import { type Reading, readAll } from "../dialect/reading";
import { createRecordReaders } from "../dialect/records";
import { fieldsNamed, fillRoute, type Ids, needsRecord, routeFor } from "../dialect/requests";
import { readLiveRule } from "../dialect/rule-record";
import {
  cutSilently,
  gapIn,
  hasNoEndSign,
  incomplete,
  type ListRead,
  type PageRead,
  waysToAskForMore,
} from "../dialect/whole-list";
import { awaitJob, isJobAlone, jobLost } from "./await-job";
import { type Call, createCaller, type FollowRequest, type Pace, type Probed, type RequestEvent } from "./caller";
import { callsOver } from "./calls";
import type { RequestOptions, ServiceClient } from "./client";
import type { Clock } from "./clock";
import type { Credential } from "./credential";
import { type ShownRecord, versionsOf } from "./fingerprint";
import { withHostsByName } from "./hosts-by-name";
import { createLimiter } from "./limiter";
import { isOneRead, measureLists } from "./list-cost";
import { retryPolicy } from "./retry";
import { systemClock } from "./system-clock";
import { type Connections, checkBaseUrl, createConnections, createTransport } from "./transport";

export interface ServiceClientOptions {
  readonly baseUrl: string;
  /**
   * The name by which a state remembers the service, where its URL does not do: the embedded service has another port
   * each time.
   */
  readonly origin?: string;
  readonly dialect: Dialect;
  readonly credential: Credential;
  readonly timing: {
    readonly requestTimeoutMs: number;
    /** How often, and how long, the job of an accepted write is asked for. */
    readonly pollIntervalMs?: number;
    readonly vmCreateTimeoutMs?: number;
  };
  /** Permits plain http to a host other than this machine. */
  readonly insecureHttp?: boolean;
  /** Requests at once, at most. */
  readonly parallelism?: number;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly onRequest?: (event: RequestEvent) => void;
  readonly follow?: FollowRequest;
  /** The request budget that other processes share. */
  readonly pace?: Pace;
  /** Shared with other clients of the same service; whoever closes one of them closes these. */
  readonly connections?: Connections | undefined;
}

export type HttpServiceClient = ServiceClient & {
  /** How many requests may be under way just now; less than the parallelism while the service is crowded. */
  readonly concurrencyLimit: number;
  /** One request at a path below the base URL, sent once, with the answer itself: for the doctor. */
  probe(request: ProbeRequest): Promise<Probed>;
};

export interface ProbeRequest {
  readonly operation: Operation;
  readonly method: Method;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The base URL must have passed `checkBaseUrl`. */
export function createServiceClient(options: ServiceClientOptions): HttpServiceClient {
  const { dialect, clock = systemClock } = options;
  const { connections, requests_per_second } = dialect.limits;
  const parallelism = Math.min(options.parallelism ?? 10, connections ?? Number.POSITIVE_INFINITY);
  const refused = checkBaseUrl(options.baseUrl, options.insecureHttp === true);
  invariant(refused === undefined, `a client was made for a base URL that is refused (${refused?.summary})`);
  const { origin, pathname } = new URL(options.baseUrl);
  const basePath = pathname.replace(/\/+$/, "");
  const waitName = waitHeader(dialect.retry_after);
  const transport = createTransport({
    connections: options.connections ?? createConnections(options.baseUrl, parallelism),
    authorizationName: dialect.authorization.name,
    waitName,
  });
  const limiter = createLimiter(parallelism, clock, requests_per_second);
  const caller = createCaller({
    transport,
    credential: options.credential,
    limiter,
    clock,
    random: options.random ?? Math.random,
    policy: retryPolicy(options.timing.requestTimeoutMs),
    requestTimeoutMs: options.timing.requestTimeoutMs,
    dialect,
    onRequest: options.onRequest,
    follow: options.follow,
    pace: options.pace,
  });
  const read = createRecordReaders(dialect);
  const costs = lazily(() => measureLists((operation) => read.paging(operation).size));

  /** Lists that are read as a proof. */
  const proofs = new Map<
    PagedOperation,
    { readonly signal: AbortSignal | undefined; readonly look: () => Promise<unknown> }
  >();

  const routeOf = (operation: Operation): Route | null =>
    isAssumed(operation) ? dialect.operations[operation] : rowOf(operation);

  async function send<T>(
    operation: Operation,
    request: { readonly ids?: Ids; readonly query?: string; readonly body?: unknown },
    reader: (body: unknown, headers: ShownRecord["headers"]) => Reading<T>,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<T>> {
    const said = routeOf(operation);
    if (said === null) return unsupported(operation);
    const shown = needsRecord(said) ? await recordOf(operation, request.ids ?? {}, requestOptions) : nothingShown;
    if (shown.status !== "accepted") return shown;
    const { record } = shown.value;
    const route = routeFor(said, record);
    const filled = fillRoute(route, request.ids ?? {}, dialect, record);
    if (filled === undefined) return invalidId(operation);
    if (fieldsNamed({ ...route, ...filled }).length > 0) return fieldMissing(operation, route);
    const { path } = filled;
    const askedAt = clock.now();
    const outcome = await versions(requestOptions).send(
      operation,
      { headers: filled.headers, body: filled.body ?? request.body },
      request.ids ?? {},
      ({ headers, body }) =>
        caller.call(
          {
            operation,
            method: route.method,
            path: basePath + path + (request.query ?? ""),
            headers,
            body: body === undefined ? undefined : JSON.stringify(body),
          },
          requestOptions,
        ),
    );
    if (outcome.status === "accepted" && isOneRead(operation)) costs().one(operation, clock.now() - askedAt);
    if (outcome.status === "accepted" && rowOf(operation).kind !== "read") {
      const unfinished = await jobOf(outcome.value.body, requestOptions);
      if (unfinished?.status === "rejected") {
        const condition = conditionOfJob(operation, unfinished.message, dialect.errors);
        return caller.scrub({ ...unfinished, condition });
      }
      if (unfinished !== undefined) return caller.scrub(unfinished);
    }
    const asked = `${route.method} ${basePath}${path.split("?", 1)[0]}`;
    if (outcome.status !== "accepted") return caller.scrub(withRequest(outcome, asked));
    const reading = reader(read.payload(operation, outcome.value.body), outcome.value.paging);
    if (
      /\.create$/.test(operation) &&
      reading.status === "accepted" &&
      isJobAlone(dialect, outcome.value.body, reading.value, request.body)
    )
      return jobLost("its answer shows the job that is to do it, and not what was made");
    return caller.scrub(withRequest(outcomeOfReading(operation, reading), asked));
  }

  /** The record that a request takes values from, as the service shows it. */
  async function recordOf(
    operation: Operation,
    ids: Ids,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<ShownRecord>> {
    const { id = "", rule_id } = ids;
    const found = new Map<string, unknown>();
    const keeping =
      <T extends { readonly id: string }>(readOne: (record: unknown) => Reading<T>) =>
      (record: unknown): Reading<T> => {
        const reading = readOne(record);
        if (reading.status === "accepted") found.set(reading.value.id, record);
        return reading;
      };
    // The rows of the operations that have routes say which kind they are about; catalogues take no ids.
    const readings = {
      vm: { single: "vm.get", list: () => readList("vm.list", {}, keeping(read.vm), requestOptions) },
      volume: { single: "volume.get", list: () => readList("volume.list", {}, keeping(read.volume), requestOptions) },
      group: { single: "group.get", list: () => readList("group.list", {}, keeping(read.group), requestOptions) },
    } as const;
    const reading = Object.entries(readings).find(([kind]) => operation.startsWith(`${kind}.`))?.[1];
    if (reading === undefined) return unsupported(operation);
    if (rule_id === undefined && routeOf(reading.single) !== null)
      return send(reading.single, { ids: { id } }, (record, headers) => accepted({ record, headers }), requestOptions);
    const listed =
      rule_id !== undefined
        ? await readList("group.rule.list", { id }, keeping(readLiveRule), requestOptions)
        : await reading.list();
    if (listed.status !== "accepted") return listed;
    const record = found.get(rule_id ?? id);
    return record !== undefined
      ? accepted({ record, headers: {} })
      : { status: "rejected", condition: "not_found", message: `the service shows none with the id ${rule_id ?? id}` };
  }

  const versions = (requestOptions: RequestOptions | undefined) =>
    versionsOf(dialect, (operation, ids) => recordOf(operation, ids, requestOptions));

  const jobOf = (answer: unknown, requestOptions: RequestOptions | undefined) =>
    awaitJob(answer, {
      dialect,
      clock,
      pollMs: options.timing.pollIntervalMs ?? 2000,
      mostMs: options.timing.vmCreateTimeoutMs ?? 600_000,
      signal: requestOptions?.signal,
      async ask(method, path, headers, body, isFailedJob) {
        // Asked as a read of the contract, so that it is repeated as one.
        const outcome = await caller.call(
          {
            operation: "volume.get",
            method,
            path: basePath + path,
            headers,
            body: body === undefined ? undefined : JSON.stringify(body),
            isUnderstood: isFailedJob,
          },
          requestOptions,
        );
        return outcome.status === "accepted" ? { status: "accepted", value: outcome.value.body } : outcome;
      },
    });

  /** All pages of a list. Who wants it as a proof at the same time as others shares what they read. */
  function list<T extends { readonly id: string }>(
    operation: PagedOperation,
    ids: Ids,
    readRecord: (record: unknown) => Reading<T>,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<readonly T[]>> {
    const { proves, signal, ...others } = requestOptions ?? {};
    const read = () => readList(operation, ids, readRecord, requestOptions);
    if (proves !== true || Object.keys({ ...others, ...ids }).length > 0) return read();
    // What is under way for a signal ends with that signal.
    const shared = proofs.get(operation);
    if (shared !== undefined && shared.signal === signal) return shared.look() as ReturnType<typeof read>; // Its operation says what a list holds.
    const look = sharedLook(read);
    proofs.set(operation, { signal, look });
    return look();
  }

  /** All pages of a list, and once more from the start when it changed while it was read. */
  async function readList<T extends { readonly id: string }>(
    operation: PagedOperation,
    ids: Ids,
    readRecord: (record: unknown) => Reading<T>,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<readonly T[]>> {
    const said = routeOf(operation);
    if (said === null) return unsupported(operation);
    const regions = await regionsFor(operation, requestOptions);
    if (regions.status !== "accepted") return regions;
    const parts = await Promise.all(
      regions.value.map((region) => readPart(operation, ids, readRecord, requestOptions, said, region)),
    );
    const failed = parts.find(({ status }) => status !== "accepted");
    if (failed !== undefined) return failed;
    // What several regions show is one thing.
    const values = parts.flatMap((part) => (part.status === "accepted" ? part.value : []));
    return accepted(parts.length === 1 ? values : [...new Map(values.map((value) => [value.id, value])).values()]);
  }

  /** For which regions a list is read; `undefined` among them: for all at once. */
  async function regionsFor(
    operation: PagedOperation,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<readonly (string | undefined)[]>> {
    const each = operation === "group.rule.list" ? undefined : dialect.operations[operation]?.for_each;
    if (each !== "region") return accepted(each ?? [undefined]);
    const listed = await readList("region.list", {}, read.region, requestOptions);
    return listed.status === "accepted" ? accepted(listed.value.map(({ id }) => id)) : listed;
  }

  async function readPart<T extends { readonly id: string }>(
    operation: PagedOperation,
    ids: Ids,
    readRecord: (record: unknown) => Reading<T>,
    requestOptions: RequestOptions | undefined,
    route: Route,
    region: string | undefined,
  ): Promise<Outcome<readonly T[]>> {
    const values = region === undefined ? dialect.values : { ...dialect.values, region };
    const filled = fillRoute(route, ids, { ...dialect, values });
    if (filled === undefined) return invalidId(operation);
    const { headers, body } = filled;
    const call: ListCall = { operation, method: route.method, headers };
    const asked: PageRequest = { path: basePath + filled.path, body };
    const first = firstPage(asked, read.paging(operation), origin);
    const readOnce = () => readWhole(call, first, readRecord, requestOptions);
    const outcome = await readOnce();
    if (outcome.status !== "accepted") return outcome;
    return requestOptions?.proves === true
      ? lookBeyond(call, first, outcome.value, readRecord, requestOptions, readOnce)
      : accepted(outcome.value.values);
  }

  async function readWhole<T extends { readonly id: string }>(
    call: ListCall,
    first: PageRequest,
    readRecord: (record: unknown) => Reading<T>,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<WholeList<T>>> {
    for (let pass = 1; ; pass++) {
      const outcome = await readPages(call, first, readRecord, requestOptions);
      if (outcome.status !== "accepted") return caller.scrub(outcome);
      const gap = gapIn(outcome.value.list);
      if (gap === undefined) return outcome;
      if (gap.kind === "open" || pass === mostPasses) return caller.scrub(incomplete(call.operation, gap));
    }
  }

  /**
   * Some services cut a list without saying so. A list that shows other items when it is asked for more was cut, unless
   * they came while it was asked: then the plain list, read again, shows them too.
   */
  async function lookBeyond<T extends { readonly id: string }>(
    call: ListCall,
    first: PageRequest,
    { values: before, list: { pages } }: WholeList<T>,
    readRecord: (record: unknown) => Reading<T>,
    requestOptions: RequestOptions,
    readAgain: () => Promise<Outcome<WholeList<T>>>,
  ): Promise<Outcome<readonly T[]>> {
    const { operation } = call;
    let values = before;
    if (call.method !== "GET" || !hasNoEndSign(pages)) return accepted(values);
    const known = new Set(values.map(({ id }) => id));
    const otherShownBy = async (query: string): Promise<T | undefined> => {
      const path = `${first.path}${first.path.includes("?") ? "&" : "?"}${query}`;
      const outcome = await caller.call({ ...call, path }, requestOptions);
      if (outcome.status !== "accepted") return undefined;
      const page = read.page(operation, outcome.value.body, outcome.value.paging);
      const records = page.status === "accepted" ? readAll(page.value.items, readRecord) : page;
      return records.status === "accepted" ? records.value.find(({ id }) => !known.has(id)) : undefined;
    };
    // What came and went again between two requests is told from what was cut by asking once more.
    for (const { query, line } of waysToAskForMore(first.path, values.length))
      for (let pass = 1; ; pass++) {
        const other = await otherShownBy(query);
        if (other === undefined) break;
        const again = await readAgain();
        if (again.status !== "accepted") return again;
        ({ values } = again.value);
        for (const { id } of values) known.add(id);
        if (known.has(other.id)) continue;
        if (pass > 1) return caller.scrub(cutSilently(operation, query, other.id, line));
      }
    return accepted(values);
  }

  /** Reads a list to its end. Each branch is one way in which the end, or a list that never ends, shows. */
  async function readPages<T extends { readonly id: string }>(
    call: ListCall,
    first: PageRequest,
    readRecord: (record: unknown) => Reading<T>,
    requestOptions: RequestOptions | undefined,
  ): Promise<Outcome<WholeList<T>>> {
    const { operation } = call;
    const values = new Map<string, T>();
    const pages: PageRead[] = [];
    const seen = new Set([JSON.stringify(first)]);
    let shown = 0;
    let repeated: string | undefined;
    let contradicted: string | undefined;
    // Pages can only be read one after the other: what could be read at any time does not go before the next one.
    const onward = { ...requestOptions, priority: (requestOptions?.priority ?? 0) + 1 };
    const ask = ({ path, body }: PageRequest, options: RequestOptions | undefined = onward) => {
      const askedAt = clock.now();
      const sent = { ...call, path, body: body !== undefined ? JSON.stringify(body) : undefined };
      return caller.call(sent, options).then((outcome) => {
        if (outcome.status === "accepted") costs().page(operation, clock.now() - askedAt);
        return outcome;
      });
    };
    let current = first;
    let answer = ask(first, requestOptions);
    let led: string | undefined;
    for (;;) {
      const outcome = await answer;
      if (outcome.status !== "accepted") return led === undefined ? outcome : notAPath(operation, led, outcome);
      const page = read.page(operation, outcome.value.body, outcome.value.paging);
      if (page.status !== "accepted") return page;
      const { items, signs } = page.value;
      const next = read.nextPage(operation, outcome.value.body, outcome.value.paging);
      const pageSeen = { next, marker: read.marker(operation, items.at(-1)), shown: items.length, signs };
      shown += items.length;
      pages.push({ signs, items: items.length });
      const leadsTo = () =>
        nextPage(pageSeen, {
          origin,
          basePath,
          first,
          current,
          paging: read.paging(operation),
          pages: pages.length,
          items: shown,
          distinct: values.size,
        });
      // A next page that the page itself names is requested while this page is read. A number or an offset depends on
      // how many items the page shows.
      const named = next === undefined ? undefined : leadsTo();
      const isNew = (request: PageRequest): boolean =>
        seen.size < mostPages && !seen.has(JSON.stringify(request)) && !showsAgain(items, values, readRecord);
      const ahead = named !== undefined && "request" in named && isNew(named.request) ? ask(named.request) : undefined;
      const records = readAll(items, readRecord);
      if (records.status !== "accepted") return records;
      const before = values.size;
      for (const value of records.value) {
        const earlier = values.get(value.id);
        if (earlier !== undefined) repeated ??= value.id;
        if (earlier !== undefined && !deepEqual(earlier, value)) contradicted ??= value.id;
        values.set(value.id, value);
      }
      const to = named ?? leadsTo();
      if ("end" in to) {
        costs().whole(operation, pages);
        // A catalogue may list a flavor once for each region. Of other resources, two items with one id are a mistake.
        const list = isCatalogue(operation)
          ? { pages, distinct: shown, repeated: undefined, contradicted: undefined }
          : { pages, distinct: values.size, repeated, contradicted };
        return accepted({ values: [...values.values()], list });
      }
      if ("problem" in to) return pagingBroken(operation, to.problem);
      const problem = whyNotOn(to.request, seen, items.length > 0 && values.size === before);
      if (problem !== undefined) return pagingBroken(operation, problem);
      seen.add(JSON.stringify(to.request));
      led = next;
      current = to.request;
      answer = ahead ?? ask(current);
    }
  }

  const calls = callsOver({ send, list }, read, dialect.rules);
  return {
    can: abilitiesOf((operation) => routeOf(operation) !== null, dialect.limits),
    origin: options.origin ?? origin + basePath,
    subject: () => options.credential.subject,
    takesPortRanges: dialect.rules.port_range !== null,
    names: Object.keys(dialect.names).length > 0 ? dialect.names : undefined,
    unique: dialect.limits.unique,
    volumesChange: dialect.states.volume.changing.length > 0 || dialect.states.volume.ready.length > 0,

    ...(namesHosts(dialect) ? withHostsByName(calls) : calls),
    listCost: (kind) => costs().of(kind),

    probe: ({ path, body, headers, ...request }) =>
      caller.probe({
        ...request,
        headers: { ...fillRoute({ method: "GET", path: "/" }, {}, dialect)?.headers, ...headers },
        path: basePath + path,
        body: body !== undefined ? JSON.stringify(body) : undefined,
      }),
    get concurrencyLimit() {
      return limiter.limit;
    },
    close: () => transport.close(),
  };
}

const nothingShown: Outcome<ShownRecord> = accepted({ record: undefined, headers: {} });

const namesHosts = ({ records }: Dialect): boolean =>
  records.volume.attached_to.some((place) => typeof place !== "string" && place.by === "name");

/** A page that begins with items that were shown before is not worth asking for the next one in advance. */
/** Why a list that leads on to another page is not read any further. */
function whyNotOn(request: PageRequest, seen: ReadonlySet<string>, showedNothingNew: boolean): string | undefined {
  if (seen.has(JSON.stringify(request))) return "its pages lead in a circle";
  if (showedNothingNew) return "a page shows nothing but what the pages before it have shown, and leads on";
  return seen.size >= mostPages ? `it has more than ${mostPages} pages` : undefined;
}

function showsAgain<T extends { readonly id: string }>(
  [first]: readonly unknown[],
  known: ReadonlyMap<string, T>,
  readRecord: (record: unknown) => Reading<T>,
): boolean {
  const record = first === undefined ? undefined : readRecord(first);
  return record?.status === "accepted" && known.has(record.value.id);
}

const isCatalogue = (operation: PagedOperation): boolean =>
  operation === "flavor.list" || operation === "image.list" || operation === "region.list";

interface WholeList<T> {
  readonly values: readonly T[];
  readonly list: ListRead;
}

type ListCall = Pick<Call, "operation" | "method" | "headers"> & { readonly operation: PagedOperation };

/**
 * The outcome of an unreadable answer. A write took effect all the same, so its effect has to be looked up; `rejected`
 * would say that nothing was done.
 */
function outcomeOfReading<T>(operation: Operation, reading: Reading<T>): Outcome<T> {
  if (reading.status === "accepted" || rowOf(operation).kind === "read") return reading;
  const hint = reading.hint === undefined ? "" : ` (${reading.hint})`;
  return {
    status: "unknown",
    reason: `the service did it, but ${reading.message}${hint}`,
    accepted: true,
    hint: reading.hint,
  };
}

/** Who reads that something is gone reads what was asked. */
const withRequest = <T>(outcome: Outcome<T>, asked: string): Outcome<T> =>
  outcome.status === "rejected" && outcome.condition === "not_found" ? { ...outcome, asked } : outcome;

const unsupported = (operation: Operation): Rejection => ({
  status: "rejected",
  condition: "unsupported",
  message: `this service has no ${operation}: the dialect does not name it`,
  hint: `in the dialect: operations: { ${operation}: { method: …, path: … } }`,
});

const fieldMissing = (operation: Operation, route: Route): Rejection => ({
  status: "rejected",
  condition: "unsupported",
  message: `${operation} was not sent: the record shows nothing at ${fieldsNamed(route).join(" or ")}`,
  hint: `correct {field:…} in the dialect's operations.${operation}`,
});

const invalidId = (operation: Operation): Rejection => ({
  status: "rejected",
  condition: "invalid_id",
  message: `${operation} was not sent: the id is empty, too long, no segment of a path, or holds what no id may hold`,
});

/** A token that begins with a slash was taken for a path, where nothing is. */
function notAPath(operation: Operation, led: string, outcome: Failure): Failure {
  const isNothing = "httpStatus" in outcome && (outcome.httpStatus === 404 || outcome.httpStatus === 405);
  if (!isNothing || !led.startsWith("/") || outcome.status !== "rejected") return outcome;
  return {
    ...pagingBroken(
      operation,
      `what leads to its next page begins with a slash, and nothing is at that path (${outcome.message})`,
    ),
    hint: "in the dialect, if it is a token and no path: pagination: { as: token }",
  };
}

const pagingBroken = (operation: Operation, problem: string): Rejection => ({
  status: "rejected",
  condition: "unreadable",
  message: `the list of ${operation} cannot be read to its end: ${problem}`,
  hint: "in the dialect: pagination.next and pagination.param",
});
