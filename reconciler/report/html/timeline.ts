/**
 * The timeline of a run: a row for each resource, a bar for each step that shows requests and waits, and the critical
 * path, which is the chain of steps that determined the length of the run. Bars are percentages of the run, so the
 * timeline fits any width. A bar can be reached with the Tab key and then shows its description.
 */

import { criticalPath } from "../../core/schedule/critical-path";
import { itemAt } from "../../core/text/invariant";
import { groupedBy } from "../../core/text/objects";
import type { RunReport, StepReport } from "../../engine/run-plan";
import { durationText } from "../style";
import { escapeHtml } from "./text";

export interface Ran extends StepReport {
  readonly startedAt: number;
  readonly endedAt: number;
}

export const stepsThatRan = (run: RunReport): Ran[] =>
  run.steps
    .filter((report): report is Ran => report.startedAt !== undefined && report.endedAt !== undefined)
    .sort((a, b) => a.startedAt - b.startedAt || a.endedAt - b.endedAt);

/** A run of any size, which is more than a call has room for as arguments. */
export const endOfLast = (ran: readonly Ran[]): number =>
  ran.reduce((latest, { endedAt }) => Math.max(latest, endedAt), 0);

export function timelineHtml(run: RunReport): string {
  const ran = stepsThatRan(run);
  if (ran.length === 0) return "";
  const from = itemAt(ran, 0).startedAt;
  const to = Math.max(from + 1, endOfLast(ran));
  const path = criticalPath(ran);
  const onPath = new Set(path.map(({ step }) => step.id));
  const rows = groupedBy(ran, (report) => report.step.address);
  const scale = { from, length: to - from };
  return [
    '<p class="r-legend">',
    '<span><span class="r-bar"><i class="r-requests r-only" style="width:100%"></i></span>requesting</span>',
    '<span><span class="r-bar"><i class="r-waits r-only" style="width:100%"></i></span>waiting for the service</span>',
    '<span><span class="r-bar r-path"><i class="r-requests r-only" style="width:100%"></i></span>on the critical path</span>',
    '<span><span class="r-bar r-failed"><i class="r-requests r-only" style="width:100%"></i></span>failed</span>',
    "</p>",
    '<div class="r-scroll" tabindex="0" role="region" aria-label="Timeline"><div class="r-gantt">',
    axis(scale.length),
    ...[...rows].map(([address, reports], index) => timelineRow(address, reports, scale, onPath, index >= roomAbove)),
    ...(rows.size > roomAbove ? [] : ['<div class="r-room"></div>']),
    "</div></div>",
    "<h3>Critical path</h3>",
    `<p>${path.length === 1 ? "One step" : `${path.length} steps, one after the other,`} made the run ${durationText(scale.length)} long.</p>`,
    `<ol class="r-list">${path.map(({ step, startedAt, endedAt }) => `<li>${escapeHtml(step.title)} <span class="r-quiet">(${durationText(endedAt - startedAt)})</span></li>`).join("")}</ol>`,
  ].join("\n");
}

const ticks = 5;

function axis(length: number): string {
  const marks = Array.from({ length: ticks + 1 }, (_, n) => {
    const percent = (n * 100) / ticks;
    return `<span style="left:${percent}%">${markTime((length * n) / ticks, length / ticks)}</span>`;
  });
  return `<div class="r-axis" aria-hidden="true"><span></span><span>${marks.join("")}</span></div>`;
}

/** Marks that lie closer together than a tenth of a second are told in milliseconds, so that no two are the same. */
const markTime = (ms: number, apart: number): string =>
  apart < 100 ? `${apart < 1 ? ms.toFixed(1) : Math.round(ms)} ms` : shortTime(ms);

/** A time that is precise enough for a run of a second and for one of an hour. */
export function shortTime(ms: number): string {
  if (ms <= 0 || ms >= 10_000) return durationText(ms);
  return ms < 100 ? `${ms < 1 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

interface Scale {
  readonly from: number;
  readonly length: number;
}

const laneRem = 1.5;
/** Below this many rows, the description of a bar opens upwards: the scrolling frame would cut it off further down. */
const roomAbove = 4;

function timelineRow(
  address: string,
  reports: readonly Ran[],
  scale: Scale,
  onPath: ReadonlySet<string>,
  opensUp: boolean,
): string {
  // Steps of one resource that ran at the same time are drawn below each other.
  const laneEnds: number[] = [];
  const bars = reports.map((report) => {
    let lane = laneEnds.findIndex((end) => end <= report.startedAt);
    if (lane === -1) lane = laneEnds.length;
    laneEnds[lane] = report.endedAt;
    return bar(report, lane, scale, onPath.has(report.step.id));
  });
  return [
    `<div class="r-row${opensUp ? " r-up" : ""}" role="group" aria-label="${escapeHtml(address)}"><code>${escapeHtml(address)}</code>`,
    `<div class="r-track" style="height:${laneEnds.length * laneRem}rem">${bars.join("")}</div></div>`,
  ].join("");
}

function bar(report: Ran, lane: number, { from, length }: Scale, critical: boolean): string {
  const { step, result, startedAt, endedAt, waitedMs } = report;
  const took = endedAt - startedAt;
  const waited = Math.min(waitedMs, took);
  const left = percent(startedAt - from, length);
  const width = percent(took, length);
  const requests = took === 0 ? 100 : percent(took - waited, took);
  const failed = result.end === "failed" || result.end === "unknown";
  const classes = [
    "r-bar",
    ...(critical ? ["r-path"] : []),
    ...(failed ? ["r-failed"] : []),
    ...(left > 60 ? ["r-late"] : []),
  ];
  const facts = [
    step.title,
    `${shortTime(took)}${waited > 0 ? `, of which ${shortTime(waited)} waiting` : ""}, from ${shortTime(startedAt - from)}`,
    ...(critical ? ["on the critical path"] : []),
    ...(result.end === "done" ? [] : [`${result.end}${result.message === undefined ? "" : `: ${result.message}`}`]),
  ];
  const parts =
    waited === 0
      ? '<i class="r-requests r-only" style="width:100%"></i>'
      : `<i class="r-requests" style="width:${requests}%"></i><i class="r-waits" style="width:${roundHundredth(100 - requests)}%"></i>`;
  const style = `left:${left}%;width:${width}%;top:${roundHundredth(lane * laneRem + 0.15)}rem`;
  return `<span class="${classes.join(" ")}" tabindex="0" role="img" aria-label="${escapeHtml(facts.join("; "))}" style="${style}">${parts}<span class="r-tip">${facts.map(escapeHtml).join("<br>")}</span></span>`;
}

const roundHundredth = (value: number): number => Math.round(value * 100) / 100;
const percent = (part: number, whole: number): number => roundHundredth((part * 100) / whole);
