/** How a service wraps its answers, where its dialect says that it is not in the contract's envelope. */
import type { Dialect } from "./dialect";
import { asText, compilePointers, findAt, textsOf, tokensOf } from "./places";
import { findText } from "./pointers";

export interface EnvelopeReader {
  message(body: unknown): string | undefined;
  code(body: unknown): string | undefined;
  /** Whether the answer is a refusal in the service's own words. */
  isOwn(body: unknown): boolean;
  /** What the answer says of itself, whatever its HTTP status; `undefined`: nothing. */
  succeeded(body: unknown): boolean | undefined;
  /** In the form of the Retry-After header. */
  retryAfter(body: unknown): string | undefined;
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
  const wait = retry_after?.startsWith("/") === true ? tokensOf(retry_after) : undefined;
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
  };
}
