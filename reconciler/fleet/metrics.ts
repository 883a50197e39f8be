/** The fleet for Prometheus: conditions, lag, budgets, workers. */
import type { StackTally } from "./database/pages";
import { type BudgetRecord, isSilent, type WorkerRecord } from "./database/workers";
import { stackConditionOf } from "./views";
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
  readonly now: Date;
}

export const conditions = [
  "Ready",
  "Reconciling",
  "Stalled",
  "Drifted",
  "AwaitingApproval",
  "Blocked",
  "Paused",
  "Failing",
  "New",
] as const;

export function metricsText({ tallies, load, budgets, workers, letters, counts, now }: FleetMetrics): string {
  const lines: string[] = [];
  const metric = (
    name: string,
    kind: "gauge" | "counter",
    help: string,
    samples: readonly (readonly [string, number])[],
  ): void => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
    for (const [labels, value] of samples) lines.push(`${name}${labels === "" ? "" : `{${labels}}`} ${value}`);
  };
  const label = (name: string, value: string): string =>
    `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", " ")}"`;
  metric(
    "reconcile_fleet_stacks",
    "gauge",
    "Stacks by condition.",
    conditions.map((condition) => [
      label("condition", condition),
      tallies.reduce((sum, tally) => sum + (stackConditionOf(tally) === condition ? tally.count : 0), 0),
    ]),
  );
  metric(
    "reconcile_fleet_stack_condition",
    "gauge",
    "1: this stack needs attention, by its condition.",
    tallies.flatMap((tally) =>
      tally.names.map((name) => [`${label("stack", name)},${label("condition", stackConditionOf(tally))}`, 1] as const),
    ),
  );
  metric("reconcile_fleet_lag_seconds", "gauge", "How late the latest round is.", [
    ["", Math.max(0, ...tallies.map(({ lateS }) => lateS))],
  ]);
  metric(
    "reconcile_fleet_waiting",
    "gauge",
    "Rounds that wait, by tenant.",
    load.map((one) => [label("tenant", one.tenant), one.waiting]),
  );
  metric(
    "reconcile_fleet_running",
    "gauge",
    "Rounds that run, by tenant.",
    load.map((one) => [label("tenant", one.tenant), one.running]),
  );
  metric(
    "reconcile_fleet_budget_used_total",
    "counter",
    "Requests reserved from a service's budget.",
    budgets.map((one) => [label("service", one.service), one.used]),
  );
  metric(
    "reconcile_fleet_budget_per_second",
    "gauge",
    "Requests a second that all workers together may send to a service; 0: no limit.",
    budgets.map((one) => [label("service", one.service), one.perSecond]),
  );
  metric(
    "reconcile_fleet_budget_refusals_total",
    "counter",
    "Times a service asked for a pause.",
    budgets.map((one) => [label("service", one.service), one.refusals]),
  );
  metric(
    "reconcile_fleet_budget_paused",
    "gauge",
    "1: the service asked for a pause that is not over.",
    budgets.map((one) => [
      label("service", one.service),
      one.pausedUntil !== undefined && one.pausedUntil > now ? 1 : 0,
    ]),
  );
  metric("reconcile_fleet_workers", "gauge", "Workers that give signs of life.", [
    ["", workers.filter((one) => !isSilent(one, now)).length],
  ]);
  metric(
    "reconcile_fleet_worker_sources_failing",
    "gauge",
    "Repositories and servers of artifacts that a worker gets no files from, though they answer.",
    workers.flatMap((one) => (isSilent(one, now) ? [] : [[label("worker", one.name), one.troubles.length] as const])),
  );
  if (letters !== undefined)
    metric("reconcile_fleet_notifications_waiting", "gauge", "Messages that receivers have not got yet.", [
      [label("delivery", "due"), letters.waiting - letters.failing],
      [label("delivery", "failing"), letters.failing],
    ]);
  if (counts !== undefined)
    metric("reconcile_fleet_worker_rounds_total", "counter", "Rounds of this worker, by how they ended.", [
      [label("result", "all"), counts.rounds],
      [label("result", "applied"), counts.applied],
      [label("result", "failed"), counts.failed],
      [label("result", "taken_over"), counts.takenOver],
    ]);
  return `${lines.join("\n")}\n`;
}
