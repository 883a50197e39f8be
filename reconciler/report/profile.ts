/**
 * A run as a profile in the Trace Event Format, which chrome://tracing and ui.perfetto.dev open: the command with its
 * look and its plan, each address with its steps and their requests and waits, and the critical path.
 */
import { criticalPath, type Timed } from "../core/schedule/critical-path";
import { groupedBy, onlyDefined } from "../core/text/objects";
import type { StepReport } from "../engine/run-plan";

export interface ProfiledSpan {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly problem?: string;
  readonly isRequest: boolean;
  /** The step that the span is, or that it is part of. */
  readonly step?: string;
}

export interface Profiled {
  readonly command: string;
  readonly version: string;
  readonly spans: readonly ProfiledSpan[];
  readonly steps: readonly StepReport[];
}

type Arguments = Readonly<Record<string, unknown>>;

interface TraceEvent {
  readonly name: string;
  readonly ph: "X" | "M";
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly cat?: string;
  readonly args?: Arguments;
}

const tracks = { run: 1, critical: 2, steps: 3 } as const;

export function traceOf({ command, version, spans, steps }: Profiled): object {
  const started = spans.reduce((first, { startMs }) => Math.min(first, startMs), Number.POSITIVE_INFINITY);
  const trace = createTrace(started);
  const timed = steps.flatMap((report): TimedStep[] =>
    report.startedAt === undefined || report.endedAt === undefined
      ? []
      : [{ ...report, startedAt: report.startedAt, endedAt: report.endedAt }],
  );
  const path = criticalPath(timed);
  drawCommand(trace, command, spans);
  drawPath(trace, path);
  drawSteps(trace, timed, spans, new Set(path.map(({ step }) => step.id)));
  return {
    displayTimeUnit: "ms",
    otherData: {
      command: `reconcile ${command}`,
      version,
      started: new Date(started).toISOString(),
      requests: requestCounts(spans.filter(({ isRequest }) => isRequest)),
      critical_path: path.map(({ step, startedAt, endedAt }) => ({
        step: step.id,
        ms: Math.round(endedAt - startedAt),
      })),
    },
    traceEvents: trace.events,
  };
}

type TimedStep = Timed & StepReport;

/** The events so far, with functions that add a slice of time, or the name of a track or a row. */
function createTrace(started: number) {
  const events: TraceEvent[] = [];
  const micro = (ms: number): number => Math.round(ms * 1000);
  return {
    events,
    slice(pid: number, tid: number, name: string, cat: string, from: number, to: number, args: Arguments): void {
      const ts = micro(from - started);
      events.push({ name, cat, ph: "X", pid, tid, ts, dur: micro(to - started) - ts, args });
    },
    name(pid: number, tid: number, kind: "process_name" | "thread_name", text: string): void {
      const order = kind === "process_name" ? "process_sort_index" : "thread_sort_index";
      events.push({ name: kind, ph: "M", pid, tid, ts: 0, args: { name: text } });
      events.push({ name: order, ph: "M", pid, tid, ts: 0, args: { sort_index: kind === "process_name" ? pid : tid } });
    },
  };
}

type Trace = ReturnType<typeof createTrace>;

function drawCommand({ name, slice }: Trace, command: string, spans: readonly ProfiledSpan[]): void {
  name(tracks.run, 0, "process_name", `reconcile ${command}`);
  name(tracks.run, 0, "thread_name", "command");
  const lanes = laneGiver((lane) => name(tracks.run, lane, "thread_name", `requests ${lane}`));
  for (const span of spans) {
    if (span.step !== undefined) continue;
    const lane = span.isRequest ? lanes(span.startMs, span.endMs) : 0;
    slice(tracks.run, lane, span.name, span.isRequest ? "request" : "phase", span.startMs, span.endMs, argsOf(span));
  }
}

function drawPath({ name, slice }: Trace, path: readonly Timed[]): void {
  name(tracks.critical, 0, "process_name", "critical path");
  name(tracks.critical, 0, "thread_name", "critical path");
  let before: number | undefined;
  for (const { step, startedAt, endedAt } of path) {
    if (before !== undefined && startedAt > before)
      slice(tracks.critical, 0, "waits to start", "wait", before, startedAt, { step: step.id });
    slice(tracks.critical, 0, step.id, "step", startedAt, endedAt, {});
    before = endedAt;
  }
}

/** Draws a row for each address, with its steps and their requests and waits. */
function drawSteps(
  { name, slice }: Trace,
  timed: readonly TimedStep[],
  spans: readonly ProfiledSpan[],
  onPath: ReadonlySet<string>,
): void {
  name(tracks.steps, 0, "process_name", "steps");
  const requestsOf = groupedBy(spans, ({ isRequest, step }) => (isRequest ? step : undefined));
  const rows = new Map<string, number>();
  const rowOf = (address: string): number => {
    let row = rows.get(address);
    if (row === undefined) {
      row = rows.size + 1;
      rows.set(address, row);
      name(tracks.steps, row, "thread_name", address);
    }
    return row;
  };
  for (const { step, startedAt, endedAt, waitedMs, result } of [...timed].sort((a, b) => a.startedAt - b.startedAt)) {
    const requests = [...(requestsOf.get(step.id) ?? [])].sort((a, b) => a.startMs - b.startMs);
    const row = rowOf(step.address);
    slice(tracks.steps, row, step.title, "step", startedAt, endedAt, {
      step: step.id,
      operation: step.action.operation,
      end: result.end,
      requests: requestCounts(requests),
      waited_ms: Math.round(waitedMs),
      on_critical_path: onPath.has(step.id),
      needs: step.needs.map((need) => need.step),
    });
    // The requests of a step follow each other. A request that overlaps another one is shown in a row of its own.
    let free = startedAt;
    for (const span of requests) {
      const fits = span.startMs >= free && span.endMs <= endedAt;
      if (fits && span.startMs > free) slice(tracks.steps, row, "waits", "wait", free, span.startMs, {});
      const at = fits ? row : rowOf(`${step.address} (beside)`);
      slice(tracks.steps, at, span.name, "request", span.startMs, span.endMs, argsOf(span));
      if (fits) free = span.endMs;
    }
    if (requests.length > 0 && free < endedAt) slice(tracks.steps, row, "waits", "wait", free, endedAt, {});
  }
}

/** Gives each span the first lane that is free at its start. */
function laneGiver(opened: (lane: number) => void) {
  const busyUntil: number[] = [];
  return (from: number, to: number): number => {
    let lane = busyUntil.findIndex((until) => until <= from);
    if (lane === -1) {
      lane = busyUntil.length;
      opened(lane + 1);
    }
    busyUntil[lane] = to;
    return lane + 1;
  };
}

function requestCounts(requests: readonly ProfiledSpan[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { attributes } of requests) {
    const operation = String(attributes["reconcile.operation"]);
    counts[operation] = (counts[operation] ?? 0) + 1;
  }
  return counts;
}

const argsOf = ({ attributes, problem }: ProfiledSpan): Arguments => ({ ...attributes, ...onlyDefined({ problem }) });
