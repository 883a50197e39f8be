/**
 * Decides how a request ended: the one place that sees status codes. Everything else is written on the four outcomes of
 * core/model/outcome.ts.
 *
 *   answer                                   read              delete, write
 *   2xx with JSON (or with no body at all)   accepted          accepted
 *   2xx that is not JSON, or carries a failure inside
 *                                            unavailable       unknown
 *   2xx with a message where the dialect's envelope.error is
 *                                            rejected          rejected (unknown where it shows no code)
 *   2xx with a page in HTML                  unavailable       unknown
 *   2xx with a page that asks to sign in     rejected          unknown
 *   401 403 404 409 other 4xx                rejected          rejected
 *   404 405 410 without the contract's envelope, at a documented operation
 *                                            rejected          delete: rejected, write: unknown
 *   408                                      unavailable       unknown
 *   425 429                                  unavailable       unavailable (nothing was done)
 *   3xx                                      rejected          rejected (303: unknown, it follows an effect)
 *   501                                      rejected          unknown (rejected at an operation beyond the contract)
 *   5xx                                      unavailable       unknown
 *   broken before the request was written    unavailable       unavailable
 *   broken after                             unavailable       unknown
 *
 * That something is not there is believed in the service's own words alone: the contract's envelope, or what the
 * dialect's `errors` name. A 404 without it may be a proxy's, and then says nothing about the resource.
 *
 * A 5xx is never a refusal by its message alone: a service may fail half-way and still name a condition. A dialect that
 * knows better says so with the status in its `errors`.
 */

import {
  type AssumedOperation,
  isAssumed,
  isList,
  type Operation,
  type RequestKind,
  rowOf,
} from "../core/model/operation";
import type { Accepted, Condition, Failure, Rejection } from "../core/model/outcome";
import { accepted, rejected } from "../core/model/outcome";
import { ifPossible } from "../core/text/errors";
import { itemAt } from "../core/text/invariant";
import { isObject, onlyDefined } from "../core/text/objects";
import { patternFits, patternIsIn } from "../core/text/pattern";
import { isEpoch, readRetryAfter } from "../core/text/retry-after";
import { builtInErrors } from "./built-in";
import type { ErrorRule } from "./dialect";
import { contractEnvelope, type EnvelopeReader } from "./envelope";
import { failureInside, holdsMore, meansSuccess } from "./failure-inside";
import { parseJsonText } from "./json-text";
import { cleanMessage, messageInBody, own } from "./messages";
import { credentialMayBeOver, isHtml, leadsToSignIn, looksLikeSignIn } from "./sign-in";

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly contentType?: string;
  /** The Retry-After header as it came. */
  readonly retryAfter?: string;
  /** The header of the dialect's retry_after as it came. */
  readonly wait?: string;
  /** The Date header as it came. */
  readonly date?: string;
  /** Where a redirect leads. */
  readonly location?: string;
  /** Headers that may say something about a list's pages. */
  readonly paging?: Readonly<Record<string, string>>;
}

export interface Judging {
  /** The error rules of the dialect. */
  readonly errors: readonly ErrorRule[];
  /** The dialect's envelope, read once (envelope.ts). Left out: the contract's envelope. */
  readonly envelope?: EnvelopeReader;
  /** What is the answer that was asked for, whatever it says of an error. */
  readonly isUnderstood?: ((body: unknown) => boolean) | undefined;
  /** When the answer came, on the clock that a date in it is compared with. */
  readonly nowMs: number;
  /** Takes the credential out of a text. */
  readonly scrub: (text: string) => string;
}

export function judgeAnswer(operation: Operation, answer: Answer, judging: Judging): Accepted<unknown> | Failure {
  const { status } = answer;
  if (status >= 200 && status < 300) return judgeSuccess(operation, answer, judging);
  return status < 400 ? judgeRedirect(operation, answer, judging) : judgeRefusal(operation, answer, judging);
}

function judgeRefusal(operation: Operation, answer: Answer, judging: Judging): Failure {
  const { status } = answer;
  const { errors, nowMs, scrub, envelope = contractEnvelope } = judging;
  const parsed = parseJson(answer.text);
  const said = parsed === undefined ? "" : messageInBody(parsed, scrub, envelope.message(parsed));
  const message = said !== "" ? said : `the service answered ${status}${describeBody(answer)}`;
  const retryAfterMs = askedWait(answer, parsed, envelope, nowMs);
  const known = errors.find((rule) => ruleFits(rule, answer, said, envelope.code(parsed)));
  if (known !== undefined) return meant(operation, known, message, status, retryAfterMs);
  // A moment is when a limit ends, and stands in every answer: of a service that is broken it says nothing.
  const isLimit = answer.retryAfter === undefined && (envelope.waitAs === "epoch" || isEpoch(answer.wait));
  const waitMs = isLimit && !asksForFewer(status) ? undefined : retryAfterMs;
  const { kind } = rowOf(operation);
  if (status === 501 && (kind === "read" || isAssumed(operation)))
    return withStatus(status, "unsupported", message, isAssumed(operation) ? lineWithout(operation) : undefined);
  const outOfOrder = judgeOutOfOrder(kind, status, message, waitMs);
  if (outOfOrder !== undefined) return outOfOrder;
  const inEnvelope = isEnvelope(parsed) || envelope.isOwn(parsed);
  // A list of the project has no id that could be missing: a not-found there means that the operation does not exist.
  if (isAbsence(status) && (!inEnvelope || status === 405 || isList(operation)))
    return judgeNothingThere(operation, status, inEnvelope, message, said);
  const condition = conditionOf(operation, status, said, inEnvelope);
  return withStatus(status, condition, message, hintAt(operation, condition, answer, said));
}

/** The line of the dialect that may be missing where a service refuses so. */
function hintAt(
  operation: Operation,
  condition: Condition,
  { status, text }: Pick<Answer, "status" | "text">,
  said: string,
): string | undefined {
  // The same words may speak of the id. A read is asked about what may be gone; a change about what was just seen.
  if (condition === "not_found" && rowOf(operation).kind !== "read" && isAssumed(operation))
    return `${lineWithout(operation)}, if this service does not have it`;
  if (wantsVersion(status, text))
    return "in the dialect, if every change has to send the version that was read: fingerprint: { from: /fingerprint, send: If-Match }, with the place where the record shows it";
  return passesByItself(condition, text)
    ? `in the dialect, if this passes by itself: errors: [${errorLine("throttled", status, said)}]`
    : undefined;
}

/** A write without the version of what it changes. */
const wantsVersion = (status: number, text: string): boolean =>
  status === 428 ||
  ((status === 412 || status === 400) && /fingerprint|if-match|etag|precondition required/i.test(text));

/** Words by which a refusal may mean "not now". Only a dialect can say that it does. */
const waitingWords: Partial<Record<Condition, RegExp>> = {
  forbidden: /rate.?limit|too many requests|throttl|slow ?down/i,
  conflict: /rate.?limit|throttl|being (?:changed|modified|updated)|another operation|in progress|try again|busy/i,
};

const passesByItself = (condition: Condition, text: string): boolean => waitingWords[condition]?.test(text) === true;

/** How long the service asks to wait: in Retry-After, or where the dialect says. */
const askedWait = (
  { retryAfter, wait }: Pick<Answer, "retryAfter" | "wait">,
  body: unknown,
  envelope: EnvelopeReader,
  nowMs: number,
): number | undefined =>
  readRetryAfter(retryAfter, nowMs) ??
  readRetryAfter(wait, nowMs, envelope.waitAs) ??
  readRetryAfter(envelope.retryAfter(body), nowMs);

/** Too many requests, and too early. */
const asksForFewer = (status: number | undefined): boolean => status === 429 || status === 425;

/** The service has too much to do, has had no time, or is broken; `undefined`: it has refused. */
function judgeOutOfOrder(
  kind: RequestKind,
  status: number,
  message: string,
  retryAfterMs: number | undefined,
): Failure | undefined {
  if (asksForFewer(status)) return { status: "unavailable", reason: message, httpStatus: status, retryAfterMs };
  if (status >= 500 || status === 408) return lost(kind, message, status, retryAfterMs);
  return undefined;
}

const isAbsence = (status: number): boolean => status === 404 || status === 405 || status === 410;

/** The meaning that a rule of the dialect gives to the answer. */
function meant(
  operation: Operation,
  { is }: ErrorRule,
  message: string,
  httpStatus: number,
  retryAfterMs: number | undefined,
): Failure {
  if (is === "throttled") return { status: "unavailable", reason: message, httpStatus, throttled: true, retryAfterMs };
  const condition: Condition = is === "not_found" && isList(operation) ? "unsupported" : is;
  return withStatus(httpStatus, condition, message);
}

/** "Errors 1": `error.code` an integer, `error.message` a string. */
export function isEnvelope(body: unknown): boolean {
  const error = own(body, "error");
  return Number.isInteger(own(error, "code")) && typeof own(error, "message") === "string";
}

const withStatus = (httpStatus: number, ...refusal: Parameters<typeof rejected>): Rejection => ({
  ...onlyDefined(rejected(...refusal)),
  httpStatus,
});

const lineWithout = (operation: AssumedOperation): string => `in the dialect: operations: { ${operation}: null }`;

/** Nothing is at this address, or not with this method: the operation is missing, or nobody knows what is. */
function judgeNothingThere(
  operation: Operation,
  httpStatus: number,
  inEnvelope: boolean,
  message: string,
  said: string,
): Failure {
  const meansGone = `errors: [${errorLine("not_found", httpStatus, said)}]`;
  if (isAssumed(operation)) {
    const without = lineWithout(operation);
    const hint =
      isList(operation) || httpStatus === 405 || inEnvelope
        ? without
        : `${without} (this service does not have it), or ${meansGone} (this is how it says that something is gone)`;
    return withStatus(httpStatus, "unsupported", message, hint);
  }
  if (inEnvelope) return withStatus(httpStatus, "unsupported", message);
  const doubt = `${message}, and not in the service's own envelope: something else may have answered for it`;
  return rowOf(operation).kind === "write"
    ? { status: "unknown", reason: `${doubt} (in the dialect, if it was the service: ${meansGone})`, httpStatus }
    : withStatus(
        httpStatus,
        "not_proven",
        doubt,
        `in the dialect, if this is how the service says that something is gone: ${meansGone}`,
      );
}

const longestPattern = 80;

/**
 * The line of the dialect that would give this answer a meaning. Words of the message that look like an id become `*`.
 */
function errorLine(is: ErrorRule["is"], status: number, said: string): string {
  const pattern = said
    .replaceAll("*", " ")
    .replaceAll(/[\w-]*\d[\w-]*/g, "*")
    .replaceAll(/(?:\*\s*)+/g, "* ")
    .trim();
  const words = said !== "" && pattern.length <= longestPattern && /[a-z]{3}/i.test(pattern);
  return `{ is: ${is}, status: ${status}${words ? `, message: ${JSON.stringify(pattern)}` : ""} }`;
}

/** A request that ended without an answer. `sent`: whether any of it may have reached the service. */
export const judgeBreak = (operation: Operation, sent: boolean, reason: string, fix?: string): Failure =>
  sent
    ? lost(rowOf(operation).kind, cleanMessage(reason))
    : { status: "unavailable", reason: cleanMessage(reason), fix };

/** Whether the service asks for fewer requests, rather than being out of order. */
export const isThrottled = (outcome: Failure): boolean =>
  outcome.status === "unavailable" &&
  (outcome.throttled === true || outcome.retryAfterMs !== undefined || asksForFewer(outcome.httpStatus));

/** What an answer that may be a failure says of itself. `inside`: the failure; absent where the answer shows none. */
function failureTold(body: unknown, succeeded: boolean | undefined, envelope: EnvelopeReader, scrub: Judging["scrub"]) {
  const message = envelope.message(body);
  const told = message ? messageInBody(body, scrub, message) : undefined;
  const silent = succeeded === false ? (told ?? "an error that is not told") : undefined;
  return { told, inside: failureInside(body, scrub, told) ?? silent };
}

/** A part, and answers of several of which some may have failed. */
const partial: ReadonlySet<number> = new Set([206, 207]);

/** A page that tells how many there are altogether: the list is read on, and checked against that. */
const saysOfHowMany = ({ status, paging }: Answer): boolean =>
  status === 206 && /^\s*[a-z]+\s+\d+-\d+\/\d+\s*$/i.test(paging?.["content-range"] ?? "");

/** Whether the answer says of itself that all went well, whatever else it holds. */
function wentWell(
  operation: Operation,
  body: unknown,
  { isUnderstood, envelope = contractEnvelope }: Judging,
): boolean {
  if (isUnderstood?.(body) === true) return true;
  const succeeded = envelope.succeeded(body);
  const isOwnAnswer = operation === "vm.delete" && envelope.code(body) === undefined && isDeletedVm(body);
  return succeeded === true || (succeeded === undefined && isOwnAnswer);
}

/** A read whose status says that this is not what there is: a part of it, or a list that is still to be made. */
function unfinishedRead(operation: Operation, answer: Answer, nowMs: number): Failure | undefined {
  const { kind } = rowOf(operation);
  if (kind === "read" && partial.has(answer.status) && !saysOfHowMany(answer))
    return lost(kind, `the service answered ${answer.status}: this is a part of what there is`, answer.status);
  const waitMs = readRetryAfter(answer.retryAfter, nowMs);
  return answer.status === 202 && waitMs !== undefined && (isList(operation) || operation === "group.rule.list")
    ? lost(kind, "the service answered 202 and asks to come back: this list is not made yet", 202, waitMs)
    : undefined;
}

function judgeSuccess(operation: Operation, answer: Answer, judging: Judging): Accepted<unknown> | Failure {
  const { errors, scrub, nowMs, envelope = contractEnvelope } = judging;
  const unfinished = unfinishedRead(operation, answer, nowMs);
  if (unfinished !== undefined) return unfinished;
  if (answer.text === "") return accepted(undefined);
  const body = parseJson(answer.text);
  if (body === undefined) return judgeNotJson(operation, answer, judging);
  if (wentWell(operation, body, judging)) return accepted(body);
  const [succeeded, code] = [envelope.succeeded(body), envelope.code(body)];
  const { told, inside } = failureTold(body, succeeded, envelope, scrub);
  const refusal = inside ?? (told !== undefined && !meansSuccess(code) ? told : undefined);
  const said = refusal ?? told ?? "";
  // A rule of the dialect counts whatever the status: some services answer refusals with 200.
  const known = errors.find((rule) => saysWhichRefusal(rule, refusal, told) && ruleFits(rule, answer, said, code));
  if (known !== undefined) {
    const words = said === "" ? `the service answered ${answer.status} with a refusal inside` : said;
    return meant(operation, known, words, answer.status, askedWait(answer, body, envelope, nowMs));
  }
  if (told !== undefined && refusal !== undefined && succeeded === undefined) {
    const isMessageAlone = !holdsMore(body, envelope.message(body) ?? "");
    const refused = refusedInside(operation, answer.status, told, code, isMessageAlone);
    if (refused !== undefined) return refused;
  }
  if (inside === undefined) return accepted(body);
  const line = code === undefined ? "" : ` (in the dialect, if nothing was done: errors: [{ is: …, code: ${code} }])`;
  const reason = `the service answered ${answer.status} with an error inside: ${inside}${line}`;
  return lost(rowOf(operation).kind, reason, answer.status);
}

/**
 * A message stands where the dialect says that refusals have theirs, and no rule names it. It is a refusal in the
 * service's words. With no code beside it the message may be an acknowledgement: a write is then looked for before it
 * counts as not done, and a read that holds anything else is read.
 */
function refusedInside(
  operation: Operation,
  httpStatus: number,
  message: string,
  code: string | undefined,
  isMessageAlone: boolean,
): Failure | undefined {
  const isRead = rowOf(operation).kind === "read";
  if (isRead && code === undefined && !isMessageAlone) return undefined;
  const condition = conditionOf(operation, httpStatus, message, false);
  const refusal = withStatus(httpStatus, condition, message);
  if (isRead || code !== undefined) return refusal;
  const reason = `the service answered ${httpStatus} and said: ${message}`;
  return { status: "unknown", reason, httpStatus, refusal };
}

/** "Delete VM response", bare or within an envelope: its message is no refusal, wherever refusals have theirs. */
const isDeletedVm = (body: unknown): boolean =>
  isObject(body) &&
  failureInside(body, (text) => text) === undefined &&
  [body, ...Object.values(body)].some((payload) => own(payload, "preserved_volumes") !== undefined);

/** A text is an acknowledgement of a kind. A page for people is none: whoever answered may not be the service. */
function judgeNotJson(operation: Operation, answer: Answer, judging: Judging): Failure {
  const { status } = answer;
  const { kind } = rowOf(operation);
  const { errors, nowMs, envelope = contractEnvelope } = judging;
  const known = errors.find((rule) => rule.type !== undefined && ruleFits(rule, answer, "", undefined));
  const what = isHtml(answer)
    ? "a page in HTML, which is not JSON"
    : `something that is not JSON${describeBody(answer)}`;
  const isSignIn = isHtml(answer) && looksLikeSignIn(answer);
  const reason = `the service answered ${status} with ${what}${isSignIn ? ` and asks to sign in: ${credentialMayBeOver}` : ""}`;
  if (known !== undefined)
    return meant(operation, known, reason, status, askedWait(answer, undefined, envelope, nowMs));
  if (isSignIn && kind === "read") return withStatus(status, "unauthenticated", reason);
  const failure = lost(kind, reason, status);
  return failure.status === "unknown" && !isHtml(answer) ? { ...failure, accepted: true } : failure;
}

/**
 * In an answer with a 2xx status, a rule with nothing but a status means a refusal only when its status is a 2xx too.
 */
const saysWhichRefusal = (rule: ErrorRule, refusal: string | undefined, told: string | undefined): boolean =>
  rule.type !== undefined ||
  (refusal !== undefined
    ? rule.message !== undefined || rule.code !== undefined || (rule.status ?? 0) >= 200
    : (rule.status ?? 999) < 300 && (rule.code !== undefined || (rule.message !== undefined && told !== undefined)));

function judgeRedirect(operation: Operation, answer: Answer, judging: Judging): Failure {
  const { errors, scrub, nowMs, envelope = contractEnvelope } = judging;
  const { kind } = rowOf(operation);
  const { status, location } = answer;
  const isSignIn = leadsToSignIn(location);
  const words =
    status === 304
      ? "a cache has answered that nothing changed (304), and no request here asks for that"
      : `the service redirects to ${hostOf(location)}, and a credential is not sent on to where a redirect leads`;
  const message = isSignIn ? `${words}; it looks like a sign-in: ${credentialMayBeOver}` : words;
  const said = parseJson(answer.text);
  const known = errors.find(
    (rule) =>
      (rule.location !== undefined || rule.status === status) &&
      ruleFits(rule, answer, said === undefined ? "" : messageInBody(said, scrub), undefined),
  );
  if (known !== undefined)
    return meant(operation, known, message, status, askedWait(answer, undefined, envelope, nowMs));
  if (status === 303 && kind !== "read") return { status: "unknown", reason: message, httpStatus: status };
  const absence = kind === "write" || isList(operation) ? undefined : placeOfAbsence(location);
  const hint =
    absence === undefined
      ? undefined
      : `in the dialect, if this is how the service says that something is gone: errors: [{ is: not_found, location: ${absence} }]`;
  return withStatus(status, isSignIn ? "unauthenticated" : "refused", message, hint);
}

/** The path to which a redirect leads, where its words say that something is not there. */
export function placeOfAbsence(location = ""): string | undefined {
  const [path = ""] = location.replace(/^([a-z]+:)?\/\/[^/?#]*/i, "").split(/[?#]/);
  return /not[-_]?found|no[-_]?such|missing|deleted|gone|(^|[^0-9])404([^0-9]|$)/i.test(path) ? path : undefined;
}

function lost(kind: RequestKind, reason: string, httpStatus?: number, retryAfterMs?: number): Failure {
  const seen = { reason, httpStatus, ...onlyDefined({ retryAfterMs }) };
  return { status: kind === "read" ? "unavailable" : "unknown", ...seen };
}

function ruleFits(
  rule: ErrorRule,
  { status, contentType, location }: Pick<Answer, "status" | "contentType" | "location">,
  message: string,
  code: string | undefined,
): boolean {
  if (rule.status === undefined ? status >= 500 : rule.status !== status) return false;
  if (rule.type !== undefined && !typeFits(contentType, rule.type)) return false;
  if (rule.location !== undefined && (location === undefined || !patternIsIn(location, rule.location))) return false;
  if (rule.code !== undefined && (code === undefined || !patternFits(code, String(rule.code)))) return false;
  return rule.message === undefined || patternIsIn(message, rule.message);
}

/** Without what follows the type, such as a charset. */
const typeFits = (contentType: string | undefined, type: string): boolean =>
  contentType !== undefined && patternFits((contentType.split(";")[0] ?? "").trim(), type);

function conditionOf(operation: Operation, status: number, message: string, inEnvelope: boolean): Condition {
  if (status === 401) return "unauthenticated";
  if (status === 403) return "forbidden";
  if (status === 404 || status === 410) return "not_found";
  const known = builtInErrors.find(
    (rule) => operation.startsWith(rule.of) && ruleFits(rule, { status }, message, undefined),
  );
  // The contract ("Security groups" 5 and 7) has no other answer for a group that does not exist.
  if (known?.is === "invalid_id" && inEnvelope && operation.startsWith("group.")) return "not_found";
  if (known !== undefined && known.is !== "throttled") return known.is;
  if (status === 400 || status === 422) return "bad_request";
  if (status === 409 || status === 412) return "conflict";
  return "refused";
}

/** What the failure of a job means, which has a message and no status. */
export function conditionOfJob(operation: Operation, message: string, errors: readonly ErrorRule[]): Condition {
  const isSaid = ({ message: said }: ErrorRule): boolean => said !== undefined && patternIsIn(message, said);
  const known =
    errors.find((rule) => rule.status === undefined && rule.code === undefined && isSaid(rule)) ??
    builtInErrors.find((rule) => operation.startsWith(rule.of) && isSaid(rule));
  return known === undefined || known.is === "throttled" ? "refused" : known.is;
}

/** `undefined`: it is no JSON. */
const parseJson = (text: string): unknown => ifPossible(() => parseJsonText(text));

function describeBody(answer: Answer): string {
  if (answer.text === "") return "";
  const type = answer.contentType?.split(";")[0]?.trim();
  return type === undefined || type === "" ? "" : ` (${cleanMessage(type)})`;
}

function hostOf(location: string | undefined): string {
  if (location === undefined) return "an unnamed place";
  if (location.startsWith("/") && !location.startsWith("//"))
    return `another path, ${cleanMessage(itemAt(location.split("?"), 0))}`;
  const url = ifPossible(() => new URL(location.startsWith("//") ? `http:${location}` : location));
  return url?.host ?? "a place that is not a URL";
}
