/** Keeps the spans of this process for a profile of its run, which is written when it ends. */
import { AsyncLocalStorage } from "node:async_hooks";
import { errorMessage } from "../core/text/errors";
import type { StepReport } from "../engine/run-plan";
import { type ProfiledSpan, traceOf } from "../report/profile";
import { version } from "../version";
import { writePrivately } from "./private-file";
import { type Clean, cleanAttributes, type Span, type Tracing } from "./spans";

export interface Profile extends Tracing {
  /** Called with the steps of the run that was carried out. */
  ran(steps: readonly StepReport[]): void;
}

interface SpanPlace {
  /** The step around the span. */
  readonly step?: string;
}

export function profileInto(file: string, command: string, clean: Clean): Profile {
  const here = new AsyncLocalStorage<SpanPlace>();
  const places = new WeakMap<Span, SpanPlace>();
  const spans: ProfiledSpan[] = [];
  let steps: readonly StepReport[] = [];
  // The time on the clock of the run's reports.
  const nowMs = (): number => performance.timeOrigin + performance.now();
  return {
    start(name, kind, attributes = {}) {
      const startMs = nowMs();
      const own = attributes["reconcile.step"];
      const step = typeof own === "string" ? own : here.getStore()?.step;
      const place = step === undefined ? {} : { step };
      const span: Span = {
        end(more = {}, problem) {
          spans.push({
            name: clean(name),
            startMs,
            endMs: nowMs(),
            attributes: cleanAttributes({ ...attributes, ...more }, clean),
            isRequest: kind === "client",
            ...place,
            problem: problem === undefined ? undefined : clean(problem),
          });
        },
      };
      places.set(span, place);
      return span;
    },
    within: (span, work) => here.run(places.get(span) ?? {}, work),
    traceparent: () => undefined,
    ran(carriedOut) {
      steps = carriedOut;
    },
    async flush() {
      try {
        const text = JSON.stringify(traceOf({ command, version, spans, steps }), (_, value: unknown) =>
          typeof value === "string" ? clean(value) : value,
        );
        writePrivately(file, `${text}\n`);
        return undefined;
      } catch (error) {
        return `the profile could not be written: ${errorMessage(error)}`;
      }
    },
  };
}
