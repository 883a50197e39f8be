/**
 * A failure inside an answer that says it succeeded: `{"success": false}`, `{"status": "error"}`, an error beside or in
 * place of the payload. Only the shape of an envelope counts, and only at the top of the body: that a record is in the
 * state `error`, or keeps the error of a build, is data about it.
 */
import { isObject } from "../core/text/objects";
import { holdsSomething } from "./jobs";
import { messageInBody, own } from "./messages";
import { asText } from "./places";

/** The message of the failure, or a text that says that there is one. */
export function failureInside(body: unknown, scrub: (text: string) => string, told?: string): string | undefined {
  if (!isObject(body)) return undefined;
  if (!saysFailed(body)) return undefined;
  const said = messageInBody(body, scrub, told);
  return said === "" ? "an error that is not told" : said;
}

function saysFailed(body: object): boolean {
  if (isNo(own(body, "success")) || isNo(own(body, "ok"))) return true;
  if (looksLikeRecord(body)) return hasContractError(body);
  if (isError(own(body, "error")) || isSomething(own(body, "errors"))) return true;
  if (codes.some((key) => isErrorStatus(own(body, key))) && Object.keys(body).every(isOfAnEnvelope)) return true;
  const status = own(body, "status");
  return typeof status === "string" && failedWords.has(status.toLowerCase()) && Object.keys(body).every(isOfAnEnvelope);
}

/** The contract's own form of an error ("Errors 1"), whatever else the body holds. */
const hasContractError = (body: object): boolean => {
  const code = own(own(body, "error"), "code");
  return typeof code === "number" && code !== 0;
};

/** Every answer is tested, so this uses no regular expression. */
const looksLikeRecord = (body: object): boolean => {
  for (const key in body)
    if (key === "id" || key === "uuid" || key === "name" || (key.endsWith("_id") && !isOfAnEnvelope(key))) return true;
  return false;
};

const isNo = (value: unknown): boolean => value === false || value === "false";

function isError(error: unknown): boolean {
  if (typeof error === "string") return error.trim() !== "" && error !== "null" && error !== "false";
  if (error === true) return true;
  if (typeof error !== "object" || error === null) return false;
  const code = own(error, "code");
  if (typeof code === "number") return code !== 0;
  return isSomething(own(error, "message")) || isSomething(code) || isSomething(own(error, "detail"));
}

const isSomething = (value: unknown): boolean =>
  typeof value === "string"
    ? value.trim() !== ""
    : Array.isArray(value)
      ? value.length > 0
      : typeof value === "object" && value !== null && Object.keys(value).length > 0;

/** A field with an HTTP status of 400 or more, in an answer with a 2xx status. */
const codes = ["code", "status", "statusCode", "status_code"] as const;
const isErrorStatus = (value: unknown): boolean =>
  (typeof value === "number" || (typeof value === "string" && /^\d{3}$/.test(value))) &&
  Number(value) >= 400 &&
  Number(value) <= 599;

/** A code that every answer has, and that speaks of no failure. */
export const meansSuccess = (code: string | undefined): boolean =>
  code !== undefined && /^(0+|2\d\d|ok|success|succeeded|)$/i.test(code);

/**
 * The key under which an object that shows nothing else says why: a code that is none of success, a no, or where neither
 * is told an error. Beside a record it may be anything.
 */
export function keyOfFailure(holder: object): string | undefined {
  const told = Object.entries(holder);
  const coded = told.filter(([key, value]) => codeKey.test(key) && asText(value) !== undefined);
  const failed = [...coded.filter(([, code]) => !meansSuccess(asText(code))), ...told.filter(isNegative)][0];
  if (failed !== undefined || coded.length > 0) return failed?.[0];
  return told.find(([key, value]) => errorKey.test(key) && holdsSomething(value))?.[0];
}

/** `no` by itself is the number of a page. */
export const codeKey = /^(ret|err|errors?|result|status)?_?code$|^(ret|err|errors?|result|status)_?no$/i;
const errorKey = /^(err|errors?|faults?|exceptions?)_?(text|messages?|msg|info|details?|strings?|descriptions?)?$/i;

/** `success: 0` and `status: ERROR`. */
function isNegative([key, value]: [string, unknown]): boolean {
  const text = asText(value)?.toLowerCase() ?? "";
  if (/^(is_?)?(ok|success(ful)?|succeeded)$/i.test(key)) return /^(false|0|no)$/.test(text);
  return /^(status|state|result)$/i.test(key) && failedWords.has(text);
}

const failedWords: ReadonlySet<string> = new Set(["error", "fail", "failed", "failure"]);

/** Whether an answer holds anything beside a message and the other keys of an envelope: a payload, or a record. */
export function holdsMore(body: unknown, message: string): boolean {
  if (!isObject(body)) return true;
  const carriesMessage = (value: unknown): boolean =>
    value === message ||
    (typeof value === "object" && value !== null && Object.values(value).some((inner) => inner === message));
  return Object.entries(body).some(
    ([key, value]) => !carriesMessage(value) && (!isOfAnEnvelope(key) || (typeof value === "object" && value !== null)),
  );
}

const isOfAnEnvelope = (key: string): boolean =>
  /^(status|status_?code|success|ok|message|msg|errors?|error_?(code|message)|code|data|details?|reason|description|result|timestamp|time|path|title|type|trace_?id|request_?id|correlation_?id)$/i.test(
    key,
  );
