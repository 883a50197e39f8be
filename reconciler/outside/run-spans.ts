/** The spans of a run: which there are, their names and their attributes. */

import { onlyDefined } from "../core/text/objects";
import type { Ports } from "../engine/ports";
import type { FollowRequest } from "../service/caller";
import type { Tracing } from "./spans";
import { inSpan } from "./tracing";

export const withinStepSpan: NonNullable<Ports["within"]> = (step, work) =>
  inSpan(
    `${step.action.operation} ${step.address}`,
    {
      "reconcile.step": step.id,
      "reconcile.address": step.address,
      "reconcile.operation": step.action.operation,
      "reconcile.title": step.title,
    },
    work,
    ({ end, message }) => ({
      attributes: { "reconcile.end": end },
      problem: end === "failed" || end === "unknown" ? (message ?? end) : undefined,
    }),
  );

/** A service that knows the header continues the trace; any other ignores it. */
export const requestSpans =
  (tracing: Tracing, host: string): FollowRequest =>
  ({ operation, method, path, attempt }) => {
    const span = tracing.start(`${method} ${operation}`, "client", {
      "http.request.method": method,
      "server.address": host,
      "url.path": path.replace(/[?#].*$/, ""),
      "reconcile.operation": operation,
      ...onlyDefined({ "http.request.resend_count": attempt > 1 ? attempt - 1 : undefined }),
    });
    const headers: Readonly<Record<string, string>> =
      span.traceparent === undefined ? {} : { traceparent: span.traceparent };
    return {
      headers,
      end: ({ status, outcome }) =>
        span.end(
          { "reconcile.outcome": outcome, ...onlyDefined({ "http.response.status_code": status }) },
          outcome === "accepted" ? undefined : `${outcome}${status === undefined ? "" : ` (${status})`}`,
        ),
    };
  };
