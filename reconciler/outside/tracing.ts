/**
 * Traces of a run: a span for each command, step and request. Off unless OpenTelemetry's variables ask for them; then
 * they go to the SDK that is registered in this process, or over HTTP to a collector.
 */

import { errorMessage } from "../core/text/errors";
import { onlyDefined } from "../core/text/objects";
import { percentDecoded } from "../core/text/parts";
import type { StepReport } from "../engine/run-plan";
import { createMasking } from "../service/masking";
import { secretVariables } from "./environment";
import { type Profile, profileInto } from "./profile";
import type { Attributes, Span, Tracing } from "./spans";
import { traceWithApi } from "./tracing-api";
import { type Exporting, traceToCollector } from "./tracing-otlp";

type TraceEnvironment = Readonly<Record<string, string | undefined>>;

let tracingKnown: { readonly tracing: Tracing | undefined } | undefined;

/** The tracing of this process; undefined when nothing asks for traces. */
export function tracing(): Tracing | undefined {
  tracingKnown ??= { tracing: openTracing(process.env) };
  return tracingKnown.tracing;
}

let profile: Profile | undefined;

/** From here on the spans of this process also go into a profile, which is written when they are flushed. */
export function profileTo(file: string, command: string): void {
  const others = tracing();
  keepOutOfTraces(secretVariables.map((name) => process.env[name] ?? ""));
  const masking = createMasking(secretsOfTrace);
  profile = profileInto(file, command, (text) => masking.text(text));
  tracingKnown = { tracing: others === undefined ? profile : both(others, profile) };
}

export const tellProfile = (steps: readonly StepReport[]): void => profile?.ran(steps);

/** Sends spans to two traces at the same time; each keeps spans of its own. */
function both(first: Tracing, second: Tracing): Tracing {
  const pairs = new WeakMap<Span, readonly [Span, Span]>();
  return {
    start(name, kind, attributes) {
      const pair = [first.start(name, kind, attributes), second.start(name, kind, attributes)] as const;
      const span: Span = {
        traceparent: pair[0].traceparent,
        end(more, problem) {
          for (const one of pair) one.end(more, problem);
        },
      };
      pairs.set(span, pair);
      return span;
    },
    within(span, work) {
      const pair = pairs.get(span);
      return pair === undefined ? work() : first.within(pair[0], () => second.within(pair[1], work));
    },
    traceparent: () => first.traceparent(),
    async flush() {
      const problems = [await first.flush(), await second.flush()].filter((problem) => problem !== undefined);
      return problems.length === 0 ? undefined : problems.join("; ");
    },
  };
}

/** Does `work` within a span; a thrown error ends the span as failed. */
export async function inSpan<T>(
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
  /** Attributes that the result adds; a problem means that the work failed. */
  ended: (result: T) => { readonly attributes?: Attributes; readonly problem?: string } = () => ({}),
): Promise<T> {
  const traced = tracing();
  if (traced === undefined) return work();
  const span = traced.start(name, "internal", attributes);
  try {
    const result = await traced.within(span, work);
    const { attributes: more, problem } = ended(result);
    span.end(more, problem);
    return result;
  } catch (error) {
    span.end({}, errorMessage(error));
    throw error;
  }
}

function openTracing(environment: TraceEnvironment): Tracing | undefined {
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || environment["OTEL_TRACES_EXPORTER"] === "none")
    return undefined;
  const registered = isSdkRegistered();
  const exporting = registered ? undefined : exportingOf(environment);
  if (!registered && exporting === undefined) return undefined;
  keepOutOfTraces(secretVariables.map((name) => environment[name] ?? ""));
  const masking = createMasking(secretsOfTrace);
  const clean = (text: string): string => masking.text(text);
  const parent = environment["TRACEPARENT"];
  return exporting === undefined ? traceWithApi(parent, clean) : traceToCollector(exporting, parent, clean);
}

/** An SDK registers itself under this symbol, whichever version of the API package it uses. */
const isSdkRegistered = (): boolean => {
  const registered: unknown = Reflect.get(globalThis, Symbol.for("opentelemetry.js.api.1"));
  return typeof registered === "object" && registered !== null && "trace" in registered;
};

function exportingOf(environment: TraceEnvironment): Exporting | undefined {
  const of = (name: string): string | undefined =>
    environment[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || environment[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const whole = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || undefined;
  const base = environment["OTEL_EXPORTER_OTLP_ENDPOINT"] || undefined;
  const url = whole ?? (base === undefined ? undefined : `${base.replace(/\/+$/, "")}/v1/traces`);
  if (url === undefined) return undefined;
  const timeoutMs = Number(of("TIMEOUT"));
  return {
    url,
    headers: pairsOf(of("HEADERS")),
    timeoutMs: timeoutMs > 0 ? timeoutMs : 10_000,
    resource: {
      ...pairsOf(environment["OTEL_RESOURCE_ATTRIBUTES"]),
      ...onlyDefined({
        "service.name": environment["OTEL_SERVICE_NAME"] ? environment["OTEL_SERVICE_NAME"] : undefined,
      }),
    },
  };
}

/** Reads `a=1,b=2`, with values encoded as in a URL. */
function pairsOf(text = ""): Readonly<Record<string, string>> {
  const pairs = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) return [];
    return [[pair.slice(0, at).trim(), percentDecoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

const secretsOfTrace = new Set<string>();

/** Masks these texts in every later span. */
export function keepOutOfTraces(texts: readonly string[]): void {
  for (const text of texts) if (text.trim().length > 2) secretsOfTrace.add(text.trim());
}
