/** The fleet for Prometheus: conditions, lag, budgets, workers. */
import { type Metric, type MetricSample, prometheusText } from "../report/prometheus";
import type { StackTally } from "./database/pages";
import type { BudgetRecord, WorkerRecord } from "./database/workers";
import { conditions, stackConditionOf } from "./views";
import type { WorkerCounts } from "./worker";

export interface FleetMetrics {
  readonly tallies: readonly StackTally[];
  readonly load: readonly { readonly tenant: string; readonly waiting: number; readonly running: number }[];
  readonly budgets: readonly BudgetRecord[];
  readonly workers: readonly WorkerRecord[];
  /** What receivers are still to be told, and how much of it could not be delivered yet. */
  readonly letters?: { readonly waiting: number; readonly failing: number };
  /** The counts of the worker that answers. */
  readonly counts?: Readonly<WorkerCounts>;
}

export function metricsText({ tallies, load, budgets, workers, letters, counts }: FleetMetrics): string {
  const alive = workers.filter(({ silent }) => !silent);
  const byTenant = (count: "waiting" | "running"): MetricSample[] =>
    load.map((one) => [{ tenant: one.tenant }, one[count]]);
  const byService = (value: (budget: BudgetRecord) => number): MetricSample[] =>
    budgets.map((one) => [{ service: one.service }, value(one)]);
  const stacksIn = (condition: string): number =>
    tallies.reduce((sum, tally) => sum + (stackConditionOf(tally) === condition ? tally.count : 0), 0);
  const metrics: Metric[] = [
    ["stacks", "gauge", "Stacks by condition.", conditions.map((condition) => [{ condition }, stacksIn(condition)])],
    [
      "stack_condition",
      "gauge",
      "1: this stack needs attention, by its condition.",
      tallies.flatMap((tally) =>
        tally.names.map((stack): MetricSample => [{ stack, condition: stackConditionOf(tally) }, 1]),
      ),
    ],
    [
      "lag_seconds",
      "gauge",
      "How late the latest round is.",
      [[{}, Math.max(0, ...tallies.map(({ lateS }) => lateS))]],
    ],
    ["waiting", "gauge", "Rounds that wait, by tenant.", byTenant("waiting")],
    ["running", "gauge", "Rounds that run, by tenant.", byTenant("running")],
    ["budget_used_total", "counter", "Requests reserved from a service's budget.", byService(({ used }) => used)],
    [
      "budget_per_second",
      "gauge",
      "Requests a second that all workers together may send to a service; 0: no limit.",
      byService(({ perSecond }) => perSecond),
    ],
    ["budget_refusals_total", "counter", "Times a service asked for a pause.", byService(({ refusals }) => refusals)],
    [
      "budget_paused",
      "gauge",
      "1: the service asked for a pause that is not over.",
      byService(({ pausedUntil }) => (pausedUntil === undefined ? 0 : 1)),
    ],
    ["workers", "gauge", "Workers that give signs of life.", [[{}, alive.length]]],
    [
      "worker_sources_failing",
      "gauge",
      "Repositories and servers of artifacts that a worker gets no files from, though they answer.",
      alive.map((one) => [{ worker: one.name }, one.troubles.length]),
    ],
  ];
  if (letters !== undefined)
    metrics.push([
      "notifications_waiting",
      "gauge",
      "Messages that receivers have not got yet.",
      [
        [{ delivery: "due" }, letters.waiting - letters.failing],
        [{ delivery: "failing" }, letters.failing],
      ],
    ]);
  if (counts !== undefined)
    metrics.push([
      "worker_rounds_total",
      "counter",
      "Rounds of this worker, by how they ended.",
      [
        [{ result: "all" }, counts.rounds],
        [{ result: "applied" }, counts.applied],
        [{ result: "failed" }, counts.failed],
        [{ result: "taken_over" }, counts.takenOver],
      ],
    ]);
  return prometheusText("reconcile_fleet_", metrics);
}
