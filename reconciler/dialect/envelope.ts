/** How a service wraps its answers, where its dialect says that it is not in the contract's envelope. */
import type { WaitAs } from "../core/text/retry-after";
import type { Dialect, WaitPlace } from "./dialect";
import { asText, compilePointers, findAt, textsOf, tokensOf } from "./places";
import { findText } from "./pointers";

export interface EnvelopeReader {
  message(body: unknown): string | undefined;
  code(body: unknown): string | undefined;
  /** Whether the answer is a refusal in the service's own words. */
  isOwn(body: unknown): boolean;
  /** What the answer says of itself, whatever its HTTP status; `undefined`: nothing. */
  succeeded(body: unknown): boolean | undefined;
  /** How long to wait before the request is sent again, at the dialect's place in the body. */
  retryAfter(body: unknown): string | undefined;
  /** What stands in the dialect's own header. Left out: it is told by its form. */
  readonly waitAs?: WaitAs;
}

const contractCode = compilePointers(["/error/code"]);

export const contractEnvelope: EnvelopeReader = {
  message: () => undefined,
  code: (body) => findText(body, contractCode) ?? undefined,
  isOwn: () => false,
  succeeded: () => undefined,
  retryAfter: () => undefined,
};

export function envelopeReader({ envelope, retry_after }: Pick<Dialect, "envelope" | "retry_after">): EnvelopeReader {
  const message = compilePointers(envelope.error.message);
  const code = envelope.error.code.length === 0 ? contractCode : compilePointers(envelope.error.code);
  const success = envelope.success;
  const at = tokensOf(success?.value ?? "");
  const done = textsOf(success?.is ?? []);
  const wait = typeof retry_after === "string" && retry_after.startsWith("/") ? tokensOf(retry_after) : undefined;
  const messageIn = (body: unknown): string | undefined => findText(body, message) || undefined;
  const codeIn = (body: unknown): string | undefined => findText(body, code) ?? undefined;
  return {
    message: messageIn,
    code: codeIn,
    isOwn: (body) => messageIn(body) !== undefined && (envelope.error.code.length === 0 || codeIn(body) !== undefined),
    succeeded(body) {
      if (success === undefined) return undefined;
      const said = asText(findAt(body, at));
      return said === undefined ? undefined : done.includes(said);
    },
    retryAfter: (body) => (wait === undefined ? undefined : asText(findAt(body, wait))),
    waitAs: typeof retry_after === "object" ? retry_after?.as : undefined,
  };
}

/** The header in which the dialect says that services tell how long to wait. */
export const waitHeader = (place: WaitPlace | null): string | undefined =>
  place === null ? undefined : typeof place === "object" ? place.header : place.startsWith("/") ? undefined : place;
