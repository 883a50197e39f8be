/** How the doctor looks: one request, its outcome, and the word for it in the report. */

import type { AssumedOperation, Method } from "../../core/model/operation";
import type { Outcome } from "../../core/model/outcome";
import { ifPossible } from "../../core/text/errors";
import { onlyDefined } from "../../core/text/objects";
import { type Answer, isThrottled } from "../../dialect/conditions";
import type { Route } from "../../dialect/dialect";
import { parseJsonText } from "../../dialect/json-text";
import { learnRefusal } from "../../dialect/learn/envelope";
import { withLocation } from "../../dialect/located";
import type { ProbeRequest } from "../../service/client";

export interface DoctorPorts {
  /** Sends one request and ends with the answer, and with what it means by the dialect so far. */
  probe(request: ProbeRequest): Promise<{ readonly outcome: Outcome<unknown>; readonly answer: Answer | undefined }>;
  /** Sends the request with the credential in another header, where there is a credential. */
  readonly withAuthorization?: (name: string, header: string) => DoctorPorts;
  /** Waits before a request is sent again that the service had no time for. Left out: it is not sent again. */
  readonly pause?: (ms: number) => Promise<void>;
  /** Left out: links to another host are not told from others. */
  readonly baseUrl?: string;
  readonly told?: {
    /** Paths that a description of the service names, by operation. */
    readonly paths?: Readonly<Partial<Record<AssumedOperation, readonly string[]>>>;
    /** How a job is asked for, as a person showed it. */
    readonly job?: Route;
    /** How what hangs on what is listed, as a person showed it. */
    readonly attachments?: Route;
  };
}

export interface SeenAnswer {
  readonly outcome: Outcome<unknown>;
  readonly status: number | undefined;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** Where a redirect leads. */
  readonly location?: string;
}

export async function look(
  ports: DoctorPorts,
  request: Omit<ProbeRequest, "method"> & { method?: Method },
  more = 2,
): Promise<SeenAnswer> {
  const asked = { method: "GET" as const, ...request };
  let { outcome, answer } = await ports.probe(asked);
  // A read whose answer was lost on its way says nothing.
  const isLost = (): boolean =>
    answer === undefined && (outcome.status === "unknown" || outcome.status === "unavailable");
  for (let left = more; left > 0 && asked.method === "GET" && isLost(); left--)
    ({ outcome, answer } = await ports.probe(asked));
  // A service that asks for a pause has done nothing, and is asked again after it. Others ask it at the same time.
  for (let left = mostPauses; left > 0 && ports.pause !== undefined; left--) {
    if (outcome.status !== "unavailable" || !isThrottled(outcome)) break;
    await ports.pause(Math.min(outcome.retryAfterMs ?? 1000, longestLookPauseMs));
    ({ outcome, answer } = await ports.probe(asked));
  }
  const { text = "" } = answer ?? {};
  let body = text === "" ? undefined : ifPossible(() => parseJsonText(text));
  if (outcome.status === "accepted") body = withLocation(request.operation, body, answer?.location);
  return {
    outcome,
    status: answer?.status,
    body,
    headers: answer?.paging ?? {},
    ...onlyDefined({ location: answer?.location }),
  };
}

/** One false answer must not make absent what the dialect names. */
export async function lookAtNamed(ports: DoctorPorts, request: Parameters<typeof look>[1]): Promise<SeenAnswer> {
  const seen = await look(ports, request);
  return seen.outcome.status === "rejected" && !leavesUndecided(seen) ? look(ports, request) : seen;
}

const longestLookPauseMs = 10_000;
const mostPauses = 8;

export const isOk = (status = 200): boolean => status >= 200 && status < 300;

export const isSuccess = ({ outcome, status, body }: SeenAnswer): boolean =>
  outcome.status === "accepted" && isOk(status) && body !== undefined;

/** Some services answer 500 where nothing is: its words tell it from a failure. */
export const saysNothingThere = ({ status, body }: Pick<SeenAnswer, "status" | "body">): boolean =>
  status === 500 && learnRefusal({ status, body }, []) !== undefined;

/** No answer, or one that does not tell whether the operation exists. */
export const leavesUndecided = ({ outcome, ...seen }: SeenAnswer): boolean =>
  (outcome.status === "unavailable" && !saysNothingThere(seen)) ||
  outcome.status === "unknown" ||
  (outcome.status === "rejected" && (outcome.condition === "forbidden" || outcome.condition === "unauthenticated"));

export function outcomeInWords(outcome: Outcome<unknown>): string {
  if (outcome.status === "accepted") return "an empty answer";
  return outcome.status === "rejected" ? `${outcome.condition}: ${outcome.message}` : outcome.reason;
}
