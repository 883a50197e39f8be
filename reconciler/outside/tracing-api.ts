/** Spans through the API package of OpenTelemetry, to whatever SDK was registered in this process (`node --require …`). */

import type { Span as ApiSpan } from "@opentelemetry/api";
import { ifPossible } from "../core/text/errors";
import { type Clean, cleanAttributes, type Span, type Tracing } from "./spans";
import { formatTraceparent, parseTraceparent } from "./traceparent";

/** Undefined when the API package is not beside this program, as with an SDK that was bundled without it. */
export function traceWithApi(parent: string | undefined, clean: Clean): Tracing | undefined {
  const loaded = loadApi();
  if (loaded === undefined) return undefined;
  const { context, SpanKind, SpanStatusCode, trace } = loaded;
  const tracer = trace.getTracer("reconcile-cloud");
  const given = parseTraceparent(parent);
  const outermost =
    given === undefined
      ? context.active()
      : trace.setSpanContext(context.active(), {
          traceId: given.traceId,
          spanId: given.spanId,
          traceFlags: given.flags,
          isRemote: true,
        });
  const here = () => (trace.getSpanContext(context.active()) === undefined ? outermost : context.active());
  const traceparentOf = (span: ApiSpan): string => {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return formatTraceparent({ traceId, spanId, flags: traceFlags });
  };
  const spans = new WeakMap<Span, ApiSpan>();
  return {
    start(name, kind, attributes = {}) {
      const started = tracer.startSpan(
        clean(name),
        {
          kind: kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL,
          attributes: cleanAttributes(attributes, clean),
        },
        here(),
      );
      const span: Span = {
        traceparent: traceparentOf(started),
        end(more = {}, problem) {
          started.setAttributes(cleanAttributes(more, clean));
          if (problem !== undefined) started.setStatus({ code: SpanStatusCode.ERROR, message: clean(problem) });
          started.end();
        },
      };
      spans.set(span, started);
      return span;
    },
    within(span, work) {
      const started = spans.get(span);
      return started === undefined ? work() : context.with(trace.setSpan(here(), started), work);
    },
    traceparent() {
      const active = trace.getSpan(context.active());
      return active === undefined ? undefined : traceparentOf(active);
    },
    // The SDK's own registration sends what it holds when the process ends.
    flush: () => Promise.resolve(undefined),
  };
}

const loadApi = (): typeof import("@opentelemetry/api") | undefined =>
  ifPossible(() => require("@opentelemetry/api") as typeof import("@opentelemetry/api"));
