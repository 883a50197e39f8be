/** The diagnostic for a read that failed, and what may be done about it. */

import type { Diagnostic } from "../core/model/diagnostic";
import { type Advice, told, toSay } from "../core/model/fix";
import { type Failure, failureText, type Rejection } from "../core/model/outcome";

/** A failed read stops the plan: a plan from half a world would be wrong. */
export function readFailed(what: string, failure: Failure): Diagnostic {
  const code =
    failure.status === "rejected"
      ? failure.condition
      : failure.status === "unavailable" && failure.gaveWay === true
        ? "throttled"
        : failure.status;
  return {
    severity: "error",
    code: `service/${code}`,
    summary: `${what} could not be read${failure.httpStatus === undefined ? "" : ` (HTTP ${failure.httpStatus})`}: ${failureText(failure)}`,
    detail: failure.status === "rejected" && failure.hint !== undefined ? failure.hint : undefined,
    ...told(
      failure.status === "rejected"
        ? (ownFix(failure) ?? fixesOfRead[failure.condition])
        : ((failure.status === "unavailable" ? failure.fix : undefined) ?? cannotReach),
    ),
  };
}

/**
 * What this very refusal names, in place of what is usual: of these, only one that may pass by itself has a hint, or one of
 * a program that printed no credential.
 */
const ownFix = ({ condition, hint }: Rejection): string | undefined =>
  ["forbidden", "conflict", "unauthenticated"].includes(condition) ? hint : undefined;

export const forbiddenFix = "use a credential that may read this project";

export const cannotReach: Advice = [
  toSay(["check the base URL and the network with: ", ["doctor"]], "check the base URL and the network"),
];

const byDialect = (what: string): Advice => [toSay([`${what}; `, ["doctor"], " prints one that fits"], what)];

const fixesOfRead: Partial<Record<string, Advice>> = {
  unauthenticated: "set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION to a valid credential",
  forbidden: forbiddenFix,
  invalid_id: "check the id; the service does not take it for one, which does not say that anything is gone",
  not_proven:
    "check the base URL and what stands before the service; or say in the dialect's errors what this answer means",
  unsupported: byDialect("say in the dialect that this service does not have it"),
  unreadable: byDialect("describe this answer in the dialect"),
};
