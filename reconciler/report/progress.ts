/**
 * A run while it goes on. On a terminal a view that is drawn again and again: how much is done, what runs and for how
 * long, what went wrong, and the time left by the critical path; never higher than the terminal. Elsewhere one plain
 * line for each thing worth a line.
 */

import { estimateMs, isFallback } from "../core/plan/estimate";
import type { Plan } from "../core/plan/plan";
import { isGate, type StepOperation } from "../core/plan/step";
import { createScheduler } from "../core/schedule/scheduler";
import { itemAt, mustGet } from "../core/text/invariant";
import { printable } from "../core/text/printable";
import type { EngineEvent, StepEvent } from "../engine/events";
import {
  countOf,
  cutToColumns,
  displayColumns,
  durationText,
  numberText,
  padTo,
  painter,
  type TextOptions,
} from "./style";

interface RunningStep {
  readonly title: string;
  readonly startedAt: number;
  message?: string;
}

/** The state of one run's view. It is changed in place: a copy for every event would cost the square of the plan. */
export interface LiveState {
  startedAt?: number;
  total: number;
  readonly counts: { done: number; failed: number; unknown: number; skipped: number; waiting: number };
  readonly running: Map<string, RunningStep>;
  /** Steps that have started or ended, which the estimate of the rest leaves out. */
  readonly seen: Set<string>;
  /** The last few problems. */
  readonly problems: string[];
  /** The longest way from a step to the end, by step. A step that runs only after a failure is on no way. */
  readonly pathMs: ReadonlyMap<string, number>;
  readonly estimateOf: ReadonlyMap<string, number>;
  /** The steps, the longest way first; those before `next` have started. */
  readonly byPath: readonly string[];
  next: number;
}

const problemsKept = 3;

/** `timeScale`: how many times faster than a real service this one is. */
export function startLive(plan: Plan, timeScale = 1): LiveState {
  const here = (ms: number): number => (timeScale === 0 ? 0 : ms / timeScale);
  // Steps that run only after a failure are neither counted nor waited for until they start.
  const expected = plan.steps.filter((step) => !isFallback(step));
  const scheduler = createScheduler(expected);
  const pathMs = new Map(expected.map((step) => [step.id, here(scheduler.pathMs(step.id))]));
  const requests = expected.filter((step) => !isGate(step));
  return {
    total: requests.length,
    counts: { done: 0, failed: 0, unknown: 0, skipped: 0, waiting: 0 },
    running: new Map(),
    seen: new Set(),
    problems: [],
    pathMs,
    estimateOf: new Map(plan.steps.map((step) => [step.id, here(step.estimateMs)])),
    byPath: requests.map((step) => step.id).sort((a, b) => mustGet(pathMs, b) - mustGet(pathMs, a)),
    next: 0,
  };
}

export function updateLive(state: LiveState, event: EngineEvent, now: number): LiveState {
  if (event.type !== "step") return state;
  state.startedAt ??= now;
  state.seen.add(event.step);
  const known = state.running.get(event.step);
  const message = event.message === undefined ? undefined : printable(event.message);
  if (event.status === "started" || event.status === "progress") {
    if (event.accepted === true) state.running.delete(event.step);
    else if (known === undefined)
      state.running.set(event.step, { title: printable(event.title), startedAt: now - event.elapsedMs, message });
    else known.message = message ?? known.message;
    return state;
  }
  state.running.delete(event.step);
  state.counts[event.unknown === true ? "unknown" : event.status]++;
  if (event.status === "failed" || event.status === "waiting") {
    state.problems.push(`${eventEnd(event)} ${printable(event.title)}${eventMessage(event)}`);
    if (state.problems.length > problemsKept) state.problems.shift();
  }
  return state;
}

/** An unknown outcome is shown as such: the request may have taken effect. */
const eventEnd = (event: StepEvent): string => (event.unknown === true ? "unknown" : event.status);

/** Estimates the time left: the longest way from a running step, less the time it has run, or from a step to come. */
export function leftMs(state: LiveState, now: number): number {
  while (state.next < state.byPath.length && state.seen.has(itemAt(state.byPath, state.next))) state.next++;
  const coming = state.byPath[state.next];
  let left = coming === undefined ? 0 : mustGet(state.pathMs, coming);
  for (const [id, { startedAt }] of state.running) {
    const estimate = state.estimateOf.get(id) ?? 0;
    left = Math.max(left, (state.pathMs.get(id) ?? estimate) - Math.min(now - startedAt, estimate));
  }
  return left;
}

export interface LiveOptions extends TextOptions {
  /** The rows of the terminal. */
  readonly height?: number;
  readonly now: number;
}

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const spinMs = 100;
const highest = 14;

export function liveView(state: LiveState, { width = 80, height = 24, now, colour = false }: LiveOptions): string[] {
  const paint = painter(colour);
  const { counts, running, problems } = state;
  const ended = counts.done + counts.failed + counts.unknown + counts.skipped + counts.waiting;
  const total = Math.max(state.total, ended + running.size);
  const rows = Math.max(2, Math.min(height - 1, highest));
  // Skipped and failed steps are not counted as done, although nothing of them is left to do.
  const parts = [`${numberText(counts.done)} of ${countOf(total, "step")}`];
  for (const status of ["failed", "unknown", "skipped", "waiting"] as const)
    if (counts[status] > 0) parts.push(`${counts[status]} ${status}`);
  if (state.startedAt !== undefined) parts.push(durationText(now - state.startedAt));
  const left = leftMs(state, now);
  if (ended < total) parts.push(left >= 1000 ? `about ${durationText(left)} left` : "nearly done");
  const barWidth = Math.min(24, Math.max(0, width - 60));
  const filled = total === 0 ? barWidth : Math.floor((barWidth * counts.done) / total);
  const bar = barWidth === 0 ? "" : `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}  `;
  const lines = [`${paint("good", bar)}${cutToColumns(parts.join(" · "), width - displayColumns(bar))}`];

  const room = rows - 1 - problems.length;
  const shown = running.size <= room ? running.size : Math.max(0, room - 1);
  const frame = paint("note", itemAt(spinner, Math.floor(now / spinMs) % spinner.length));
  for (const [id, step] of [...running].slice(0, shown)) {
    const time = elapsedText(step, state.estimateOf.get(id) ?? 0, now);
    const text = `${step.title}${step.message === undefined ? "" : `: ${step.message}`}`;
    const room = Math.max(10, width - 4 - displayColumns(time) - 2);
    lines.push(`  ${frame} ${padTo(cutToColumns(text, room), room)}  ${paint("quiet", time)}`);
  }
  if (running.size > shown && shown < rows - 1)
    lines.push(paint("quiet", `  … and ${numberText(running.size - shown)} more running`));
  for (const problem of problems) lines.push(paint("danger", cutToColumns(`  ! ${problem}`, width)));
  return lines.slice(0, rows);
}

function elapsedText({ startedAt }: { readonly startedAt: number }, estimateMs: number, now: number): string {
  const had = durationText(now - startedAt);
  return estimateMs >= 2000 ? `${had} of about ${durationText(estimateMs)}` : had;
}

/** A line for logs; `undefined` when the event is not worth one. */
export function progressLine(event: EngineEvent): string | undefined {
  switch (event.type) {
    case "refresh":
      return event.status === "started"
        ? undefined
        : `looked at ${countOf(event.resources, "resource")} in ${durationText(event.elapsedMs)}`;
    case "orphan":
      return `orphan    ${event.orphan.kind} ${printable(event.orphan.name)} (${printable(event.orphan.id)}): ${printable(event.orphan.reason)}`;
    case "step": {
      if (event.accepted === true) return `accepted  ${printable(event.address)}: ${printable(event.title)}`;
      if (event.status === "started" && !takesLong(event.operation)) return undefined;
      const took = event.status === "started" || event.elapsedMs < 1000 ? "" : ` (${durationText(event.elapsedMs)})`;
      return `${eventEnd(event).padEnd(8)}  ${printable(event.address)}: ${printable(event.title)}${eventMessage(event)}${took}`;
    }
  }
}

const eventMessage = (event: StepEvent): string => (event.message === undefined ? "" : `: ${printable(event.message)}`);

const long = 5000;
// An event of the run names the operation of a step.
const takesLong = (operation: string): boolean => (estimateMs(operation as StepOperation) ?? 0) >= long;
