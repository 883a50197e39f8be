/** Runs: a table of them, and one run with its timeline and its log. */
import { html } from "hono/html";
import { may, type Visitor } from "../access";
import type { DecisionRecord } from "../database/people";
import type { RunRecord } from "../database/runs";
import type { Voice } from "../decide";
import { alikeRuns, logText, span } from "../views";
import { type PagePart, printed, reachTitle, time } from "./layout";

export interface LogLine {
  readonly at: Date;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface RunView {
  readonly run: RunRecord;
  readonly lines: readonly LogLine[];
  readonly visitor: Visitor;
  readonly now: Date;
}

const resultWords: Readonly<Record<NonNullable<RunRecord["result"]> | "running", readonly [string, string]>> = {
  in_sync: ["in sync", "good"],
  applied: ["applied", "good"],
  failed: ["failed", "bad"],
  taken_over: ["taken over", "wait"],
  observed: ["observed", ""],
  awaiting_approval: ["awaiting approval", "wait"],
  blocked: ["blocked", "wait"],
  running: ["running", ""],
};

export const resultWord = ({ result }: Pick<RunRecord, "result">): string => resultWords[result ?? "running"][0];

const resultTag = ({ result }: RunRecord): PagePart => {
  const [words, hue] = resultWords[result ?? "running"];
  return html`<span class="tag ${hue}">${words}</span>`;
};

export function runsTable(runs: readonly RunRecord[], withStack = false): PagePart {
  if (runs.length === 0) return html`<p class="quiet">None yet.</p>`;
  return html`<table><thead><tr><th scope="col">Run</th>${withStack ? html`<th scope="col">Stack</th>` : ""}<th scope="col">Result</th><th scope="col">Started</th><th scope="col">Took</th><th scope="col">Cause</th><th scope="col">Worker</th><th scope="col">Why</th></tr></thead><tbody>${alikeRuns(
    runs,
  ).map(
    ({
      run,
      times,
      since,
    }) => html`<tr><td><a href="/runs/${run.id}">${run.id}</a></td>${withStack ? html`<td><a href="/stacks/${encodeURIComponent(run.stack)}">${run.stack}</a></td>` : ""}
<td>${resultTag(run)}</td>
<td data-label="Started">${time(run.startedAt)}</td><td class="short" data-label="Took">${run.endedAt === undefined ? "–" : span(run.endedAt.getTime() - run.startedAt.getTime())}</td>
<td data-label="Cause">${startedText(run)}</td><td data-label="Worker">${run.worker}</td><td class="reason">${run.reason ?? ""}${times === 1 ? "" : html` <span class="quiet">${times} times since ${time(since)}</span>`}</td></tr>`,
  )}</tbody></table>`;
}

export const decisionsList = (decisions: readonly DecisionRecord[], withStack = false): PagePart =>
  decisions.length === 0
    ? html`<p class="quiet">None yet.</p>`
    : html`<ul class="plain">${decisions.map(({ at, who, what, stack, detail }) => html`<li>${time(at)} <strong>${who}</strong> ${what} ${withStack && stack !== undefined ? html`<a href="/stacks/${encodeURIComponent(stack)}">${stack}</a> ` : ""}${detail ?? ""}</li>`)}</ul>`;

const startedText = ({ cause, startedBy }: RunRecord): string =>
  startedBy === undefined ? cause : `${cause} (${startedBy})`;

export const runPage = ({
  run,
  lines,
  visitor,
  now,
}: RunView): PagePart => html`<h1>Run ${run.id} of <a href="/stacks/${encodeURIComponent(run.stack)}">${run.stack}</a> ${resultTag(run)}</h1>
${run.reason === undefined ? "" : html`<p class="said ${run.result === "failed" ? "bad" : ""}">${run.reason}</p>`}
<dl class="facts"><dt>Started</dt><dd>${time(run.startedAt)}</dd><dt>Ended</dt><dd>${time(run.endedAt)}</dd>
<dt>Took</dt><dd>${span((run.endedAt ?? now).getTime() - run.startedAt.getTime())}${run.endedAt === undefined ? " so far" : ""}</dd>
<dt>Cause</dt><dd>${startedText(run)}</dd><dt>Worker</dt><dd>${run.worker}</dd><dt>Revision</dt><dd class="revision">${run.revision ?? "–"}</dd>
<dt>Plan</dt><dd>${run.plan ?? "–"}</dd><dt>Changes</dt><dd>${countsOf(run)}</dd></dl>
${run.result === "awaiting_approval" ? html`<p>Whether it is carried out is decided on <a href="/stacks/${encodeURIComponent(run.stack)}">the page of its stack</a>.</p>` : ""}
${undoPart(run, visitor)}
${carriedOut(run)}
${timeline(lines, run.endedAt ?? now)}
<h2>Log</h2>
${logPart(lines, "log-lines")}`;

/** Offers what a run that changed something leaves to be done: the plan of its undo. */
function undoPart({ id, stack, report, endedAt }: RunRecord, visitor: Visitor): PagePart {
  if (report === undefined || endedAt === undefined || !may(visitor, "undo", stack)) return html``;
  return html`<div class="acts"><form method="post" action="/stacks/${encodeURIComponent(stack)}/undo"><input type="hidden" name="run" value="${id}">
<div><label for="why-undo">Why</label><input id="why-undo" name="why" maxlength="300"></div><button id="undo">Plan the undo</button></form></div>
<p class="quiet">Nothing is sent before the plan of it is approved. Later runs of the stack are undone with it.</p>`;
}

/** What the run was permitted to do, by whom, and the plan as it was then. */
function carriedOut({ report, approval }: RunRecord): PagePart {
  if (report === undefined && approval === undefined) return html``;
  const { consents = [], opens = [] } = report ?? {};
  const permitted = [...consents, ...opens.map((opening) => `it opens to the whole world: ${opening}`)];
  return html`<h2>What was permitted</h2>
<p>${
    approval === undefined
      ? permitted.length === 0
        ? "It loses nothing and opens nothing to the world: nobody had to permit it."
        : "By the fleet's file, which lists these consents for the stack:"
      : html`Approved by ${[approval, ...(approval.also ?? [])].map(voiceOf)}. The approval stood until ${time(new Date(approval.until))}.`
  }</p>
${permitted.length === 0 ? "" : html`<ul>${permitted.map((one) => html`<li>${one}</li>`)}</ul>`}
${
  report === undefined
    ? ""
    : html`<h2>What it carried out</h2>${printed("plan", "The plan", report.plan)}
${report.exposure === undefined ? html`<p class="quiet">Who can reach what stayed as it was.</p>` : printed("exposure", reachTitle, report.exposure)}`
}`;
}

const voiceOf = ({ by, at, why }: Voice, index: number): PagePart =>
  html`${index === 0 ? "" : ", and by "}<strong>${by}</strong> at ${time(new Date(at))}${why === undefined ? "" : html`: “${why}”`}`;

function countsOf({ counts }: RunRecord): string {
  const parts = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []));
  return parts.length === 0 ? "none" : parts.join(", ");
}

export const logPart = (lines: readonly LogLine[], id: string, nothing = "Nothing was done."): PagePart =>
  html`<pre tabindex="0" id="${id}" role="region" aria-label="Log">${lines.length === 0 ? nothing : lines.map(({ at, body }) => `${at.toISOString().slice(11, 19)}  ${logText(body)}`).join("\n")}</pre>`;

interface Bar {
  readonly title: string;
  readonly from: number;
  readonly to: number;
  readonly status: string;
}

const openEvents = ["started", "progress"];
const barHues: Readonly<Record<string, string>> = { done: "good", failed: "bad", waiting: "wait", skipped: "quiet" };
const mostBars = 200;

/** A bar for each step, from its first line to its last; the bar of a step under way ends now. */
export function timeline(lines: readonly LogLine[], now: Date): PagePart {
  const steps = new Map<string, Bar>();
  for (const { at, body } of lines) {
    if (body["type"] !== "step") continue;
    const id = String(body["step"]);
    const status = String(body["status"]);
    const from = steps.get(id)?.from ?? at.getTime();
    steps.set(id, {
      title: String(body["title"]),
      from,
      to: openEvents.includes(status) ? Math.max(at.getTime(), now.getTime()) : at.getTime(),
      status,
    });
  }
  if (steps.size === 0) return html``;
  const all = [...steps.values()];
  const begin = Math.min(...all.map(({ from }) => from));
  const whole = Math.max(1, Math.max(...all.map(({ to }) => to)) - begin);
  const place = (ms: number): number => Math.round(((ms - begin) / whole) * 1000);
  return html`<h2>Timeline</h2>
<ol class="bars" aria-label="When each step began and ended">${all
    .slice(0, mostBars)
    .map(
      ({ title, from, to, status }) =>
        html`<li><span class="what">${title} <span class="quiet">${status === "done" ? "" : `${status}, `}${span(to - from)}</span></span><svg viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true"><rect class="${barHues[status] ?? "going"}" x="${place(from)}" y="0" width="${Math.max(6, place(to) - place(from))}" height="12"/></svg></li>`,
    )}</ol>
${all.length > mostBars ? html`<p class="quiet">${all.length - mostBars} more steps are in the log.</p>` : ""}`;
}
