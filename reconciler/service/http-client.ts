/**
 * The service's client over HTTP: routes, and what an answer counts as. lists.ts reads a list to its end, and calls.ts
 * says what each operation sends and reads; how a request gets there is caller.ts and transport.ts, and what records mean
 * is dialect/records.ts.
 */

import { abilitiesOf } from "../core/model/abilities";
import type { LiveGroup, LiveVm, LiveVolume } from "../core/model/live";
import { isAssumed, type Operation, rowOf } from "../core/model/operation";
import { accepted, isRefusedAs, type Outcome, rejected } from "../core/model/outcome";
import { invariant } from "../core/text/invariant";
import { lazily } from "../core/text/lazily";
import { onlyDefined } from "../core/text/objects";
import type { PagedOperation } from "../dialect/answers";
import { conditionOfJob } from "../dialect/conditions";
import type { Dialect, Route } from "../dialect/dialect";
import { waitHeader } from "../dialect/envelope";
import { nameProblemBy } from "../dialect/name-problem";
import type { Reading } from "../dialect/reading";
import { createRecordReaders } from "../dialect/records";
import { fieldsLeft, fillRoute, type Ids, namesVm, needsRecord, routeFor } from "../dialect/requests";
import { readLiveRule } from "../dialect/rule-record";
import { withAttachedApart } from "./attached-apart";
import { awaitJob, isJobAlone, jobLost } from "./await-job";
import { type CallerParts, createCaller, type Probed } from "./caller";
import { callsOver, type OneRequest, type Sender } from "./calls";
import type { ProbeRequest, RequestOptions, ServiceClient } from "./client";
import { type ShownRecord, versionsOf } from "./fingerprint";
import { withHostsByName } from "./hosts-by-name";
import { createLimiter } from "./limiter";
import { isOneRead, measureLists } from "./list-cost";
import { createListReader } from "./lists";
import { originAt } from "./origin-at";
import { retryPolicy } from "./retry";
import { systemClock } from "./system-clock";
import { type Connections, checkBaseUrl, createConnections, createTransport } from "./transport";
import { fieldMissing, invalidId, unsupported } from "./unsent";

export interface ServiceClientOptions
  extends Pick<CallerParts, "dialect" | "credential" | "onRequest" | "follow" | "pace">,
    Partial<Pick<CallerParts, "clock" | "random">> {
  readonly baseUrl: string;
  /**
   * The name by which a state remembers the service, where its URL does not do: the embedded service has another port
   * each time.
   */
  readonly origin?: string;
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
  /** Shared with other clients of the same service; whoever closes one of them closes these. */
  readonly connections?: Connections | undefined;
}

export type HttpServiceClient = ServiceClient & {
  /** How many requests may be under way just now; less than the parallelism while the service is crowded. */
  readonly concurrencyLimit: number;
  /** One request at a path below the base URL, sent once, with the answer itself: for the doctor. */
  probe(request: ProbeRequest): Promise<Probed>;
};

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

  const routeOf = (operation: Operation): Route | null =>
    isAssumed(operation) ? dialect.operations[operation] : rowOf(operation);
  const { list, readList } = createListReader({ dialect, caller, read, costs, clock, origin, basePath, routeOf });

  async function send<T>(
    operation: Operation,
    request: OneRequest,
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
    const left = fieldsLeft(filled);
    if (left.length > 0) return fieldMissing(operation, left);
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
    const kind = (["vm", "volume", "group"] as const).find((one) => operation.startsWith(`${one}.`));
    if (kind === undefined) return unsupported(operation);
    const single = `${kind}.get` as const;
    if (rule_id === undefined && routeOf(single) !== null)
      return send(single, { ids: { id } }, (record, headers) => accepted({ record, headers }), requestOptions);
    const listAll = (o: RequestOptions | undefined) =>
      readList(`${kind}.list`, {}, keeping<LiveVm | LiveVolume | LiveGroup>(read[kind]), o);
    const listed =
      rule_id !== undefined
        ? await readList("group.rule.list", { id }, keeping(readLiveRule), requestOptions)
        : await listAll(requestOptions);
    if (listed.status !== "accepted") return listed;
    const wanted = (rule_id ?? id).toLowerCase();
    const shown = (): unknown =>
      found.get(rule_id ?? id) ?? [...found].find(([one]) => one.toLowerCase() === wanted)?.[1];
    // What a list does not show is missing where that list is proven to be whole.
    if (shown() === undefined && rule_id === undefined) {
      const whole = await listAll({ ...requestOptions, proves: true });
      if (whole.status !== "accepted") return whole;
    }
    const record = shown();
    return record !== undefined
      ? accepted({ record, headers: {} })
      : rejected("not_found", `the service shows none with the id ${rule_id ?? id}`);
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
        return outcome.status === "accepted" ? accepted(outcome.value.body) : outcome;
      },
    });

  /** Reads that were answered, by operation and ids. */
  const answered = new Set<string>();
  async function remembered<T>(
    operation: Operation | PagedOperation,
    ids: Ids,
    reading: Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const outcome = await reading;
    const asked = JSON.stringify([operation, ids]);
    if (outcome.status === "accepted") answered.add(asked);
    return outcome.status === "rejected" && answered.has(asked) ? { ...outcome, answeredBefore: true } : outcome;
  }
  const sender: Sender = {
    send: (operation, request, ...more) => {
      const sent = send(operation, request, ...more);
      return rowOf(operation).kind === "read" ? remembered(operation, request.ids ?? {}, sent) : sent;
    },
    list: (operation, ids, ...more) => remembered(operation, ids, list(operation, ids, ...more)),
  };
  const own = callsOver(sender, read, dialect.rules);
  const calls =
    dialect.attachments === undefined
      ? own
      : withAttachedApart(own, {
          isByVm: namesVm(dialect.attachments),
          read: (vm, requestOptions) =>
            sender.list("attachments", onlyDefined({ id: vm }), (item) => read.attachment(item, vm), requestOptions),
        });
  return {
    can: abilitiesOf((operation) => routeOf(operation) !== null, dialect.limits),
    origin: options.origin ?? originAt(options.baseUrl),
    subject: () => options.credential.subject,
    takesPortRanges: dialect.rules.port_range !== null,
    nameProblem: Object.keys(dialect.names).length > 0 ? nameProblemBy(dialect.names) : undefined,
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

const namesHosts = ({ records, attachments }: Dialect): boolean =>
  [...records.volume.attached_to, ...(attachments?.vm ?? [])].some(
    (place) => typeof place !== "string" && place.by === "name",
  );

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
  isRefusedAs(outcome, "not_found") ? { ...outcome, asked } : outcome;
