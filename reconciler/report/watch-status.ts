/** The rounds of a watcher so far, as /metrics for Prometheus and as /healthz. */

import type { Diagnostic } from "../core/model/diagnostic";
import type { Elapsed, Instant } from "../core/model/time";
import { fewOf, fewParts } from "../core/text/list-text";
import { onlyDefined } from "../core/text/objects";
import { printable } from "../core/text/printable";
import type { StepEvent } from "../engine/events";
import type { Round, RoundResult } from "../engine/watch";
import { type Metric, type MetricSample, prometheusText } from "./prometheus";

export interface StepTimes {
  readonly count: number;
  readonly failed: number;
  readonly seconds: number;
}

export interface WatchStatus {
  readonly startedAt: Elapsed;
  readonly intervalMs: number;
  readonly rounds: Readonly<Record<RoundResult["end"], number>>;
  /** How many rounds have failed in a row, up to now. */
  readonly failures: number;
  readonly last?: Round;
  /** The `seen` of the last round that saw the service. */
  readonly seen?: Round["seen"];
  readonly lastSuccessAt?: Instant;
  readonly nextAt?: number;
  readonly steps: Readonly<Record<string, StepTimes>>;
}

export const startStatus = (startedAt: Elapsed, intervalMs: number): WatchStatus => ({
  startedAt,
  intervalMs,
  rounds: { in_sync: 0, pending: 0, applied: 0, blocked: 0, standby: 0, failed: 0 },
  failures: 0,
  steps: {},
});

export function statusAfterRound(status: WatchStatus, round: Round, nextInMs: number): WatchStatus {
  const { end } = round.result;
  const seen = round.seen ?? status.seen;
  const lastSuccessAt = end === "failed" || end === "standby" ? status.lastSuccessAt : round.ended.at;
  return {
    ...status,
    rounds: { ...status.rounds, [end]: status.rounds[end] + 1 },
    failures: end === "failed" ? status.failures + 1 : 0,
    last: round,
    ...onlyDefined({ seen, lastSuccessAt }),
    nextAt: round.ended.elapsed + nextInMs,
  };
}

export function afterStep(status: WatchStatus, event: StepEvent): WatchStatus {
  if (event.status !== "done" && event.status !== "failed") return status;
  const before = status.steps[event.operation] ?? { count: 0, failed: 0, seconds: 0 };
  const after = {
    count: before.count + 1,
    failed: before.failed + (event.status === "failed" ? 1 : 0),
    seconds: before.seconds + event.elapsedMs / 1000,
  };
  return { ...status, steps: { ...status.steps, [event.operation]: after } };
}

type JudgedVerdict = NonNullable<NonNullable<WatchStatus["seen"]>["assertions"]>[number]["verdict"];

/** Samples of assertions. Two assertions with the same text are told apart by their place. */
function assertionSamples(seen: WatchStatus["seen"], wanted: JudgedVerdict): MetricSample[] {
  const told = new Set<string>();
  return (seen?.assertions ?? []).map(({ label, verdict }, index) => {
    const name = told.has(label) ? `${label} (${index + 1})` : label;
    told.add(label);
    return [{ assertion: name }, verdict === wanted ? 1 : 0];
  });
}

const actions = ["create", "update", "replace", "delete", "import", "forget"] as const;

export function watchMetricsText(status: WatchStatus): string {
  const { seen, rounds, last } = status;
  const steps = Object.entries(status.steps).sort(([a], [b]) => (a < b ? -1 : 1));
  const gauge = (name: string, help: string, value: number | undefined): Metric => [
    name,
    "gauge",
    help,
    value === undefined ? [] : [[{}, value]],
  ];
  const byOperation = (name: string, help: string, value: (times: StepTimes) => number): Metric => [
    name,
    "counter",
    help,
    steps.map(([operation, times]) => [{ operation }, value(times)]),
  ];
  const metrics: Metric[] = [
    gauge("active", "1: this watcher works; 0: another one holds the state.", last?.result.end === "standby" ? 0 : 1),
    gauge("resources", "Resources in the state when the last round looked.", seen?.resources),
    gauge("drifted_resources", "Resources that the last round found not as the state has them.", seen?.drifted.length),
    [
      "pending_changes",
      "gauge",
      "Resources that the last round found to differ from the file, by what would be done or was.",
      seen === undefined ? [] : actions.map((action) => [{ action }, seen.pending[action] ?? 0]),
    ],
    gauge(
      "world_open_ports",
      "Administration ports (as `exposure` flags them) that managed groups leave open to the world.",
      seen?.worldOpenPorts,
    ),
    [
      "assertion_holds",
      "gauge",
      "1: the rules that are there keep this assertion of the file. 0: they break it, or it cannot be proved.",
      assertionSamples(seen, "holds"),
    ],
    [
      "assertion_violated",
      "gauge",
      "1: the rules that are there break this assertion of the file.",
      assertionSamples(seen, "violated"),
    ],
    gauge(
      "blocked",
      "1: the last round waits for a consent or an outside act.",
      last?.result.end === "blocked" ? 1 : 0,
    ),
    gauge("failures", "Failed rounds in a row.", status.failures),
    [
      "rounds_total",
      "counter",
      "Rounds, by how they ended.",
      Object.entries(rounds).map(([result, count]) => [{ result }, count]),
    ],
    gauge(
      "last_success_timestamp_seconds",
      "When a round last saw the service and did its work.",
      status.lastSuccessAt === undefined ? undefined : Date.parse(status.lastSuccessAt) / 1000,
    ),
    gauge("last_round_duration_seconds", "How long the last round took.", wholeSeconds(last?.durationMs)),
    byOperation("step_duration_seconds_sum", "Time of finished steps, by operation.", ({ seconds }) => seconds),
    byOperation("step_duration_seconds_count", "Finished steps, by operation.", ({ count }) => count),
    byOperation("step_failures_total", "Failed steps, by operation.", ({ failed }) => failed),
  ];
  return prometheusText(
    "reconcile_",
    metrics.filter(([, , , samples]) => samples.length > 0),
  );
}

const wholeSeconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

/** Unhealthy: more than one round in a row has failed, or a round is long overdue. */
export function healthOf(status: WatchStatus, now: Elapsed): { readonly healthy: boolean; readonly body: object } {
  const overdueMs = now - (status.nextAt ?? status.startedAt);
  const stuck = overdueMs > Math.max(3 * status.intervalMs, 3_600_000);
  const healthy = status.failures < 2 && !stuck;
  const { last } = status;
  return {
    healthy,
    body: {
      status: healthy ? "ok" : "failing",
      round: last?.result.end ?? "none yet",
      why: last !== undefined && "why" in last.result ? last.result.why : undefined,
      last_success: status.lastSuccessAt ?? null,
      failures: status.failures,
    },
  };
}

/** One line for each round, for people. */
export function roundLine(round: Round, nextInMs: number): string {
  const { result, seen } = round;
  const next = nextInMs < 1000 ? `${nextInMs} ms` : `${Math.round(nextInMs / 1000)} s`;
  return printable(`${round.at}  ${roundText(result, seen)}; next in ${next}`);
}

function roundText(result: RoundResult, seen: Round["seen"]): string {
  switch (result.end) {
    case "in_sync":
      return `in sync (${seen?.resources ?? 0} in the state)${result.why === undefined ? "" : `; ${result.why}`}`;
    case "pending":
      return seenText(seen);
    case "applied":
      return `corrected${correctedText(seen)}`;
    case "blocked":
      return `blocked: ${result.why}; ${seenText(seen)}`;
    case "standby":
      return `standing by: ${result.why}`;
    case "failed":
      return `failed: ${result.why}`;
  }
}

/** Why a round failed, in one line: the first problems with their places. */
export function placedTexts(problems: readonly Diagnostic[]): string {
  const texts = problems.map(({ source, summary }) =>
    source === undefined ? summary : `${source.file}:${source.line}: ${summary}`,
  );
  return fewParts(texts, mostProblemsInStatus);
}

const mostProblemsInStatus = 3;

/** What the round carried out: it is pending no more. */
function correctedText(seen: Round["seen"]): string {
  const { differs = [], drifted = [] } = seen ?? {};
  const done = differs.length === 0 ? "" : `: ${fewOf(differs, mostNamesInStatus)}`;
  return drifted.length === 0 ? done : `${done}; had drifted: ${fewOf(drifted, mostNamesInStatus)}`;
}

function seenText(seen: Round["seen"]): string {
  if (seen === undefined) return "nothing seen";
  const drifted = seen.drifted.length === 0 ? "no drift" : `drifted: ${seen.drifted.join(", ")}`;
  const pending = actions.flatMap((action) => (seen.pending[action] ? `${seen.pending[action]} to ${action}` : []));
  if (pending.length === 0) return `${drifted}; nothing pending`;
  return `${drifted}; pending: ${pending.join(", ")}${seen.differs.length === 0 ? "" : `: ${fewOf(seen.differs, mostNamesInStatus)}`}`;
}

const mostNamesInStatus = 8;

export const roundEvent = (round: Round, nextInMs: number): object => ({
  type: "round",
  at: round.at,
  result: round.result.end,
  why: ("why" in round.result ? round.result.why : undefined) ?? null,
  drifted: round.seen?.drifted ?? [],
  pending: round.seen?.pending ?? {},
  differs: round.seen?.differs ?? [],
  duration_ms: Math.round(round.durationMs),
  next_in_ms: nextInMs,
});
