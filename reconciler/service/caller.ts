import { type Operation, rowOf } from "../core/model/operation";
import type { Failure, Outcome } from "../core/model/outcome";
import { accepted, notSent, rejected } from "../core/model/outcome";
import { calendarMs } from "../core/model/time";
import { onlyDefined } from "../core/text/objects";
import { type Answer, isThrottled, judgeAnswer, judgeBreak } from "../dialect/conditions";
import type { Dialect } from "../dialect/dialect";
import { envelopeReader } from "../dialect/envelope";
import { withLocation } from "../dialect/located";
import type { RequestOptions } from "./client";
import type { Clock } from "./clock";
import { type Credential, CredentialFailure } from "./credential";
import type { Limiter } from "./limiter";
import { decideRetry, earn, fullBudget, type RetryPolicy, spend, throttledFix, throttledFor, tooLong } from "./retry";
import { startAge } from "./system-clock";
import { allowedForMs, type Exchange, type Transport, type TransportRequest } from "./transport";

type CallLimits = Pick<TransportRequest, "signal" | "age">;

/** One request sent, for logs and metrics: no body and no credential. */
export interface RequestEvent {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  /** The HTTP status; `undefined`: no answer came. */
  readonly status: number | undefined;
  /** 1 for the first. */
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly outcome: Outcome<unknown>["status"];
  /** The service asks to come back after that. */
  readonly retryAfterMs?: number;
}

/** Begins when the request is about to be sent, with headers that go with it. For traces. */
export type FollowRequest = (request: Pick<RequestEvent, "operation" | "method" | "path" | "attempt">) => {
  readonly headers: Readonly<Record<string, string>>;
  end(event: RequestEvent): void;
};

export interface CallerParts {
  readonly transport: Transport;
  readonly credential: Credential;
  readonly limiter: Limiter;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly policy: RetryPolicy;
  readonly requestTimeoutMs: number;
  readonly dialect: Dialect;
  readonly onRequest?: (event: RequestEvent) => void;
  readonly follow?: FollowRequest;
  readonly pace?: Pace;
}

/** A budget of requests that is shared with others, in other processes as well. */
export interface Pace {
  /** Resolves when one more request may be sent; false: the signal fired first. */
  take(signal?: AbortSignal): Promise<boolean>;
  /** The service asked for a pause, which holds for all who share the budget. */
  refused(retryAfterMs: number): Promise<void>;
}

/** Its headers go beside the credential. */
export interface Call extends Pick<TransportRequest, "method" | "path" | "body" | "headers"> {
  readonly operation: Operation;
  /** A success that is what was asked for, whatever it says of an error. */
  readonly isUnderstood?: ((body: unknown) => boolean) | undefined;
}

/** The parsed body, and the headers that may speak of a list's pages. */
export interface ReadAnswer {
  readonly body: unknown;
  readonly paging: Readonly<Record<string, string>>;
}

export interface Probed {
  readonly outcome: Outcome<ReadAnswer>;
  /** The answer without the credential. `undefined`: none came. */
  readonly answer: Answer | undefined;
}

export interface Caller {
  call(call: Call, options?: RequestOptions): Promise<Outcome<ReadAnswer>>;
  /**
   * Sends the request once, and returns both the answer and its meaning: for the doctor, which learns what a service
   * says.
   */
  probe(call: Call): Promise<Probed>;
  /** The outcome without the credential, which a service may repeat anywhere in its answers. */
  scrub<T>(outcome: Outcome<T>): Outcome<T>;
}

interface SentCall extends Probed {
  readonly authorization: string;
  /** From its sending to the end of its answer, without what it waited for before. */
  readonly tookMs: number;
}

/** What a call has taken so far, and for how long the service has asked it to come later. */
interface Spent {
  ownMs: number;
  askedMs: number;
  throttledSince: number | undefined;
}

export function createCaller(parts: CallerParts): Caller {
  const { transport, credential, limiter, clock, policy } = parts;
  const scrub = (text: string) => credential.scrub(text);
  const envelope = envelopeReader(parts.dialect);
  let budget = fullBudget;

  /** One branch for each outcome of a try; a lost answer is remembered, because a later refusal may be due to it. */
  async function call(request: Call, options: RequestOptions = {}): Promise<Outcome<ReadAnswer>> {
    const spent: Spent = { ownMs: 0, askedMs: 0, throttledSince: undefined };
    let refreshed = false;
    let lost: Failure | undefined;
    for (let attempt = 1; ; attempt++) {
      const sent = await sendInTurn(request, attempt, options);
      if (sent === undefined) return lost ?? cancelled;
      const { outcome } = sent;
      spent.ownMs += sent.tookMs;
      if (outcome.status === "accepted") {
        budget = earn(budget);
        return outcome;
      }
      if (outcome.status === "rejected") {
        const mayRefresh: boolean = outcome.condition === "unauthenticated" && !refreshed;
        refreshed ||= mayRefresh;
        const renewed = mayRefresh ? await refresh(sent.authorization) : "same";
        if (renewed === undefined) continue;
        if (renewed !== "same") return lost ?? renewed;
        return lost === undefined ? outcome : afterLost(request.operation, outcome);
      }
      if (outcome.status === "unknown") lost = outcome;
      if (options.signal?.aborted === true) return lost ?? outcome;
      spent.throttledSince = isThrottled(outcome) ? (spent.throttledSince ?? clock.now()) : undefined;
      const waitMs = untilNext(request.operation, attempt, outcome, spent);
      if (waitMs === undefined) return lost ?? withWhyTooLong(outcome, spent);
      await clock.sleep(waitMs, options.signal);
    }
  }

  /**
   * Waits for a slot and sends. `undefined`: the request was given up before it was sent. The order counts: each wait may
   * end in giving up, and the permission to write is asked for last.
   */
  async function sendInTurn(request: Call, attempt: number, options: RequestOptions): Promise<SentCall | undefined> {
    const isRead = rowOf(request.operation).kind === "read";
    const slot = limiter.acquire(options.priority ?? 0, options.signal);
    if (!(slot === true || (slot !== false && (await slot)))) return undefined;
    try {
      if (parts.pace !== undefined && !(await parts.pace.take(options.signal))) return undefined;
      // The credential comes first: a program may have to be asked for it, and a permitted write is sent at once.
      const asked = authorize();
      const authorization = asked instanceof Promise ? await asked : asked;
      if (typeof authorization !== "string") return authorization;
      const permission = isRead || options.mayWrite === undefined ? undefined : await permit(options.mayWrite);
      if (permission === "refused") return undefined;
      const limits: CallLimits = {
        age: permission,
        // A write in flight is never cut off: its effect would be unknown for nothing.
        signal: isRead && options.signal !== undefined ? options.signal : undefined,
      };
      return await send(request, attempt, authorization, limits);
    } finally {
      limiter.release();
    }
  }

  /** How long to wait before the request is sent again; `undefined`: it is not. */
  function untilNext(operation: Operation, attempt: number, outcome: Failure, spent: Spent): number | undefined {
    const { kind } = rowOf(operation);
    const { ownMs: elapsedMs, askedMs } = spent;
    const so = { elapsedMs, askedMs, random: parts.random(), budget };
    const decision = decideRetry(policy, { kind, attempt, outcome, ...so });
    if (decision.action === "give_up") return undefined;
    if (!isThrottled(outcome)) budget = spend(budget);
    if (decision.asked === true) spent.askedMs += decision.ms;
    else spent.ownMs += decision.ms;
    return decision.ms;
  }

  function withWhyTooLong(outcome: Failure, { throttledSince }: Spent): Failure {
    if (outcome.status !== "unavailable" || !isThrottled(outcome)) return outcome;
    const why = tooLong(policy, outcome);
    const gaveWay = { ...outcome, gaveWay: true } as const;
    if (why !== undefined)
      return { ...gaveWay, reason: `${outcome.reason}; ${why}`, fix: "run the same command again after that" };
    if (throttledSince === undefined) return outcome;
    const sentence = throttledFor(clock.now() - throttledSince);
    return { ...gaveWay, reason: `${sentence} (${outcome.reason})`, fix: throttledFix };
  }

  function authorize(): string | SentCall | Promise<string | SentCall> {
    const refused = (error: unknown): SentCall => {
      const outcome = credentialRejection(error);
      return { outcome, answer: undefined, authorization: "", tookMs: 0 };
    };
    try {
      const revealed = credential.reveal();
      return typeof revealed === "string" ? revealed : revealed.catch(refused);
    } catch (error) {
      return refused(error);
    }
  }

  async function send(request: Call, attempt: number, authorization: string, limits: CallLimits): Promise<SentCall> {
    const { operation, method, path, body, headers } = request;
    const shownPath = scrub(path);
    const followed = parts.follow?.({ operation, method, path: shownPath, attempt });
    const allHeaders = followed === undefined ? headers : { ...followed.headers, ...headers };
    const sentAtMs = clock.now();
    const timeoutMs = parts.requestTimeoutMs;
    const whole = { method, path, authorization, timeoutMs, body, headers: allHeaders, ...limits };
    const received = await transport.send(whole);
    // The credential is taken out before anything is read: what a record holds goes into the state and every plan.
    const exchange =
      received.kind === "answer" ? { ...received, answer: withoutCredential(received.answer) } : received;
    const nowMs = clock.now();
    const answer = exchange.kind === "answer" ? exchange.answer : undefined;
    const tookMs = nowMs - sentAtMs;
    const outcome = judge(request, exchange);
    observe(operation, exchange, outcome, sentAtMs, nowMs);
    const event: RequestEvent = {
      operation,
      method,
      path: shownPath,
      status: answer?.status,
      attempt,
      elapsedMs: tookMs,
      outcome: outcome.status,
      ...onlyDefined({ retryAfterMs: "retryAfterMs" in outcome ? outcome.retryAfterMs : undefined }),
    };
    followed?.end(event);
    parts.onRequest?.(event);
    return { outcome, answer, authorization, tookMs };
  }

  function withoutCredential(answer: Answer): Answer {
    const clean = (text: string) => credential.scrubBody(text);
    const cleanIfThere = (text: string | undefined) => (text === undefined ? undefined : clean(text));
    return {
      ...answer,
      text: clean(answer.text),
      contentType: cleanIfThere(answer.contentType),
      retryAfter: cleanIfThere(answer.retryAfter),
      wait: cleanIfThere(answer.wait),
      location: cleanIfThere(answer.location),
      paging:
        answer.paging && Object.fromEntries(Object.entries(answer.paging).map(([name, value]) => [name, clean(value)])),
    };
  }

  function judge({ operation, isUnderstood }: Call, exchange: Exchange): Outcome<ReadAnswer> {
    if (exchange.kind === "broken")
      return scrubOutcome(judgeBreak(operation, exchange.sent, scrub(exchange.reason), exchange.fix), scrub);
    const { answer } = exchange;
    const judged = judgeAnswer(operation, answer, {
      errors: parts.dialect.errors,
      envelope,
      isUnderstood,
      // The service counts from its own clock; this machine's may be an hour apart.
      nowMs: calendarMs(answer.date, clock.instant()),
      scrub,
    });
    return judged.status === "accepted"
      ? accepted({ body: withLocation(operation, judged.value, answer.location), paging: answer.paging ?? {} })
      : scrubOutcome(judged, scrub);
  }

  function observe(
    operation: Operation,
    exchange: Exchange,
    outcome: Outcome<unknown>,
    sentAtMs: number,
    atMs: number,
  ): void {
    const retryAfterMs =
      outcome.status === "unavailable" || outcome.status === "unknown" ? outcome.retryAfterMs : undefined;
    // A pause longer than anybody waits is not kept for the others: the service tells each request so, and each gives
    // up.
    if (retryAfterMs !== undefined && retryAfterMs <= policy.askedMs) limiter.pauseFor(retryAfterMs);
    if (retryAfterMs !== undefined) void parts.pace?.refused(Math.min(retryAfterMs, policy.askedMs));
    if (outcome.status === "unavailable" && isThrottled(outcome)) {
      limiter.observe({ kind: "throttled", atMs });
    } else if (exchange.kind === "answer") {
      const isRead = rowOf(operation).kind === "read";
      limiter.observe({ kind: "answered", atMs, operation, latencyMs: isRead ? atMs - sentAtMs : undefined });
    }
  }

  /** `undefined`: there is a new credential. `same`: there is none, so the service's refusal stands. */
  async function refresh(used: string): Promise<Failure | "same" | undefined> {
    try {
      return (await credential.refresh(used)) ? undefined : "same";
    } catch (error) {
      // `scrubOutcome` changes texts and no status.
      return scrubOutcome(credentialRejection(error), scrub) as Failure;
    }
  }

  async function probe(request: Call): Promise<Probed> {
    const sent = await sendInTurn(request, 1, {});
    return sent ?? { outcome: cancelled, answer: undefined };
  }

  return { call, probe, scrub: (outcome) => scrubOutcome(outcome, scrub) };
}

/** How old the permission is, counted from when it was asked for: a process may be stopped before it reads the answer. */
async function permit(mayWrite: () => Promise<boolean>): Promise<(() => number) | "refused"> {
  for (let times = 1; ; times++) {
    const age = startAge();
    if (!(await mayWrite())) return "refused";
    // Whoever is asked again so soon answers from memory. One that never does is too slow to be believed.
    if (age() < allowedForMs || times === 3) return age;
  }
}

const cancelled: Failure = { status: "unavailable", reason: notSent };

function credentialRejection(error: unknown): Failure {
  if (!(error instanceof CredentialFailure)) throw error;
  const hint = "correct that program (authorization.command in the dialect), or set RECONCILE_TOKEN";
  return rejected("unauthenticated", error.message, hint);
}

/**
 * A delete that was repeated because its first answer was lost. Not found means that the first one did it. Any other
 * refusal says nothing about the first: a VM that is being deleted refuses a second delete.
 */
function afterLost(operation: Operation, outcome: Failure & { status: "rejected" }): Outcome<ReadAnswer> {
  if (outcome.condition === "not_found") return accepted({ body: undefined, paging: {} });
  return {
    status: "unknown",
    reason: `the answer to ${operation} was lost, and the next was: ${outcome.message}`,
    httpStatus: outcome.httpStatus,
  };
}

function scrubOutcome<T>(outcome: Outcome<T>, scrub: (text: string) => string): Outcome<T> {
  if (outcome.status === "accepted") return outcome;
  if (outcome.status === "unavailable") return { ...outcome, reason: scrub(outcome.reason) };
  const hint = outcome.hint === undefined ? undefined : scrub(outcome.hint);
  if (outcome.status === "rejected") return { ...outcome, message: scrub(outcome.message), hint };
  const { refusal } = outcome;
  return {
    ...outcome,
    reason: scrub(outcome.reason),
    hint,
    refusal: refusal === undefined ? undefined : { ...refusal, message: scrub(refusal.message) },
  };
}
