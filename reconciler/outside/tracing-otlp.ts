/**
 * Spans to a collector, as JSON over HTTP (OTLP 1.x). Spans are kept in memory and sent in batches; a collector that
 * cannot be reached loses spans and never fails the run.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { ifPossible } from "../core/text/errors";
import { withoutUsers } from "../core/text/outside-policy";
import { version } from "../version";
import { type Attributes, type Clean, cleanAttributes, type Span, type Tracing } from "./spans";
import { formatTraceparent, parseTraceparent, type SpanContext } from "./traceparent";

export interface Exporting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Attributes that take precedence over the name and version of this program. */
  readonly resource: Attributes;
}

interface EndedSpan {
  readonly name: string;
  readonly kind: "internal" | "client";
  readonly context: SpanContext;
  readonly parentId: string | undefined;
  readonly startedMs: number;
  readonly endedMs: number;
  readonly attributes: Attributes;
  readonly problem: string | undefined;
}

const spansAtOnce = 512;
/** More spans than this wait only when no collector takes any; the oldest ones are kept. */
const mostWaiting = 20_000;
/** A collector that hangs must not hold up a command that is done. */
const longestFlushMs = 5000;

export function traceToCollector(exporting: Exporting, parent: string | undefined, clean: Clean): Tracing {
  const given = parseTraceparent(parent);
  const current = new AsyncLocalStorage<SpanContext>();
  const contexts = new WeakMap<Span, SpanContext>();
  const waiting: EndedSpan[] = [];
  let lost = 0;
  let problem: string | undefined;
  /** One request at a time: what ends meanwhile waits. */
  let sending: Promise<void> | undefined;
  let stop = new AbortController();

  const send = async (atLeast: number): Promise<void> => {
    while (waiting.length >= atLeast) {
      const batch = waiting.splice(0, spansAtOnce);
      const failed = stop.signal.aborted ? tookTooLong : await postSpans(exporting, batch, stop.signal);
      if (failed === undefined) continue;
      problem = failed;
      lost += batch.length;
    }
  };

  return {
    start(name, kind, attributes = {}) {
      const above = current.getStore() ?? given;
      const context: SpanContext = {
        traceId: above?.traceId ?? randomBytes(16).toString("hex"),
        spanId: randomBytes(8).toString("hex"),
        flags: above?.flags ?? 1,
      };
      const startedMs = nowMs();
      let ended = false;
      const span: Span = {
        traceparent: formatTraceparent(context),
        end(more = {}, why) {
          // The trace's creator may have chosen not to record it.
          if (ended || (context.flags & 1) === 0) return;
          ended = true;
          if (waiting.length >= mostWaiting) {
            lost++;
            return;
          }
          waiting.push({
            name: clean(name),
            kind,
            context,
            parentId: above?.spanId,
            startedMs,
            endedMs: nowMs(),
            attributes: cleanAttributes({ ...attributes, ...more }, clean),
            problem: why === undefined ? undefined : clean(why),
          });
          if (waiting.length >= spansAtOnce)
            sending ??= send(spansAtOnce).finally(() => {
              sending = undefined;
            });
        },
      };
      contexts.set(span, context);
      return span;
    },
    within(span, work) {
      const context = contexts.get(span);
      return context === undefined ? work() : current.run(context, work);
    },
    traceparent() {
      const context = current.getStore();
      return context === undefined ? undefined : formatTraceparent(context);
    },
    async flush() {
      const timer = setTimeout(() => stop.abort(), limitOf(exporting));
      await sending;
      await send(1);
      clearTimeout(timer);
      stop = new AbortController();
      const said =
        problem === undefined
          ? undefined
          : `${lost === 1 ? "1 span was" : `${lost} spans were`} not sent to ${shownUrl(exporting.url)}: ${problem}`;
      lost = 0;
      problem = undefined;
      return said;
    },
  };
}

const tookTooLong = "it took too long";
const limitOf = ({ timeoutMs }: Exporting): number => Math.min(timeoutMs, longestFlushMs);

const nowMs = (): number => performance.timeOrigin + performance.now();

/** A URL without the parts that may hold a credential. What has no scheme is read as one of its own, path and all. */
function shownUrl(url: string): string {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return "OTEL_EXPORTER_OTLP_ENDPOINT, which is no URL of http";
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** `undefined`: one of them cannot be sent, and the error of that repeats the header, which is a credential. */
const sendable = (headers: Readonly<Record<string, string>>): Headers | undefined =>
  ifPossible(() => new Headers(headers));

async function postSpans(
  exporting: Exporting,
  spans: readonly EndedSpan[],
  stop: AbortSignal,
): Promise<string | undefined> {
  const { url, resource } = exporting;
  const headers = sendable({ ...exporting.headers, "content-type": "application/json" });
  if (headers === undefined) return "a header of OTEL_EXPORTER_OTLP_HEADERS is none that can be sent";
  const limit = AbortSignal.any([stop, AbortSignal.timeout(limitOf(exporting))]);
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(otlpOf(spans, resource)),
      redirect: "error",
      signal: limit,
    });
    await answer.body?.cancel();
    return answer.ok ? undefined : `it answered ${answer.status}`;
  } catch (error) {
    if (limit.aborted) return tookTooLong;
    if (!(error instanceof Error)) return "it cannot be reached";
    const { cause } = error;
    // An address with a user is refused with words that repeat it.
    return withoutUsers(cause instanceof Error && cause.message !== "" ? cause.message : error.message);
  }
}

/** The body of an ExportTraceServiceRequest in its JSON form. */
const otlpOf = (spans: readonly EndedSpan[], resource: Attributes): object => ({
  resourceSpans: [
    {
      resource: {
        attributes: keyValues({ "service.name": "reconcile-cloud", "service.version": version, ...resource }),
      },
      scopeSpans: [{ scope: { name: "reconcile-cloud", version }, spans: spans.map(otlpSpan) }],
    },
  ],
});

const otlpSpan = (span: EndedSpan): object => ({
  traceId: span.context.traceId,
  spanId: span.context.spanId,
  parentSpanId: span.parentId,
  name: span.name,
  kind: span.kind === "client" ? 3 : 1,
  startTimeUnixNano: nanoseconds(span.startedMs),
  endTimeUnixNano: nanoseconds(span.endedMs),
  attributes: keyValues(span.attributes),
  status: span.problem === undefined ? {} : { code: 2, message: span.problem },
});

/** A number holds microseconds exactly, but not nanoseconds. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`;

const keyValues = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === "string"
        ? { stringValue: value }
        : typeof value === "boolean"
          ? { boolValue: value }
          : Number.isInteger(value)
            ? { intValue: String(value) }
            : { doubleValue: value },
  }));
