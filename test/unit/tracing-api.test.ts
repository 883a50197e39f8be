/** Spans that go to an SDK which somebody else has registered, through the API package alone. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, context, ROOT_CONTEXT, type SpanOptions, trace } from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { traceWithApi } from "../../reconciler/outside/tracing-api";

interface Kept {
  readonly name: string;
  readonly options: SpanOptions | undefined;
  readonly parent: string | undefined;
  readonly set: object[];
  ended: boolean;
}

const traceId = "0af7651916cd43dd8448eb211c80319c";
const kept: Kept[] = [];
beforeEach(() => {
  kept.length = 0;
  const storage = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (given, work, self, ...args) => storage.run(given, () => work.apply(self, args)),
    bind: (_given, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startSpan(name, options, given = context.active()) {
        const one: Kept = { name, options, parent: trace.getSpanContext(given)?.spanId, set: [], ended: false };
        const spanId = String(kept.push(one)).padStart(16, "0");
        const span = {
          spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
          setAttributes(attributes: object) {
            one.set.push(attributes);
            return span;
          },
          setStatus(status: object) {
            one.set.push(status);
            return span;
          },
          end() {
            one.ended = true;
          },
        };
        // biome-ignore lint/suspicious/noExplicitAny: the calls that are made, and no others
        return span as any;
      },
      startActiveSpan: () => {
        throw new Error("not used");
      },
    }),
  });
});
afterEach(() => {
  trace.disable();
  context.disable();
});

describe("spans through the API package", () => {
  it("hang below what the environment names, and below each other", async () => {
    const tracing = traceWithApi(`00-${traceId}-b7ad6b7169203331-01`, (text) => text.replaceAll("hush", "***"));
    const outer = tracing?.start("hush apply", "internal", { what: "hush" });
    expect(tracing?.traceparent()).toBeUndefined();
    await tracing?.within(outer!, async () => {
      await Promise.resolve();
      expect(tracing.traceparent()).toBe(`00-${traceId}-0000000000000001-01`);
      tracing.start("POST", "client").end({ status: 500 }, "hush failed");
    });
    outer?.end();
    expect(kept).toEqual([
      {
        name: "*** apply",
        options: { kind: 0, attributes: { what: "***" } },
        parent: "b7ad6b7169203331",
        set: [{}],
        ended: true,
      },
      {
        name: "POST",
        options: { kind: 2, attributes: {} },
        parent: "0000000000000001",
        set: [{ status: 500 }, { code: 2, message: "*** failed" }],
        ended: true,
      },
    ]);
  });
});
