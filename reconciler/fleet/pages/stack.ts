/**
 * One stack: its status, the plan that waits, the run under way, what is wanted beside what exists, and its history.
 */
import { html } from "hono/html";
import { withoutUsers } from "../../core/text/outside-policy";
import type { Side } from "../../report/sides";
import type { SideRow } from "../../report/told-rows";
import { may, type Visitor } from "../access";
import type { DecisionRecord } from "../database/people";
import type { RunRecord } from "../database/runs";
import type { StackRecord, WaitingPlan } from "../database/stacks";
import type { Source } from "../model";
import type { Picture } from "../picture";
import { partsOfReason, reasonOf, span, stackConditionOf } from "../views";
import type { Opening } from "../windows";
import { type PagePart, pictured, tag, time } from "./layout";
import { planCard } from "./plan-card";
import { decisionsList, type LogLine, logPart, runsTable, timeline } from "./run";
import { pending } from "./stacks";

export interface StackView {
  readonly stack: StackRecord;
  readonly plan: WaitingPlan | undefined;
  readonly runs: readonly RunRecord[];
  /** The runs that carried something out, or failed. */
  readonly changes: readonly RunRecord[];
  /** The lines of the run under way. */
  readonly lines: readonly LogLine[];
  readonly decisions: readonly DecisionRecord[];
  readonly picture: { readonly seenAt: Date; readonly picture: Picture } | undefined;
  /** The stacks that use its outputs, or wait for it. */
  readonly dependents: readonly string[];
  readonly visitor: Visitor;
  /** Whether an apply may begin now. */
  readonly opening: Opening;
  readonly now: Date;
}

export function stackPage(view: StackView): PagePart {
  const { stack, plan, runs, changes, decisions, visitor } = view;
  const { name, status } = stack;
  return html`<h1>${name} ${tag(stackConditionOf(stack))}${stack.leaving ? html` <span class="tag bad">leaves the fleet</span>` : ""}</h1>
${plan !== undefined && status.awaitingApproval ? "" : reasonCard(reasonOf(stack), status.stalled || status.failures > 0)}
${acts(stack, visitor)}
${plan === undefined ? "" : planCard(view, plan)}
${runningCard(view)}
${sidesPart(view)}
${orphansOf(view)}
${graphOf(view)}
${standingPart(view)}
${outputsPart(stack)}
${changes.some(({ id }) => !runs.some((run) => run.id === id)) ? html`<h2>Changes</h2>${runsTable(changes)}` : ""}
<h2 id="runs">Runs</h2>
${runsTable(runs)}
<h2>Decisions</h2>
${decisionsList(decisions)}`;
}

/** The errors of a file are a line each. */
function reasonCard(reason: string | null, isBad: boolean): PagePart {
  if (reason === null) return html``;
  const parts = partsOfReason(reason);
  const hue = isBad ? "bad" : "";
  return parts.length === 1
    ? html`<p class="said ${hue}">${reason}</p>`
    : html`<ul class="said ${hue}" id="reasons">${parts.map((part) => html`<li>${part}</li>`)}</ul>`;
}

const stackLink = (name: string): PagePart => html`<a href="/stacks/${encodeURIComponent(name)}">${name}</a>`;

const linkedNames = (names: readonly string[]): PagePart[] =>
  names.map((name, index) => html`${index === 0 ? "" : ", "}${stackLink(name)}`);

function standingPart({ stack, dependents }: StackView): PagePart {
  const { spec, status } = stack;
  return html`<h2>How it stands</h2>
<dl class="facts">
<dt>Source</dt><dd>${sourceText(spec.source)}</dd>
<dt>Seen</dt><dd class="revision">${status.observedRevision ?? "–"}</dd>
<dt>Applied</dt><dd class="revision">${status.appliedRevision ?? "–"}</dd>
<dt>Pending</dt><dd>${pending(stack)}</dd>
<dt>Drift</dt><dd>${status.drifted ? "the service differs from what was applied" : "none seen"}</dd>
<dt>Next look</dt><dd>${stack.paused ? "paused" : time(stack.nextAt)}${status.waitingFor === null ? "" : ` (waits for ${status.waitingFor.what}: ${status.waitingFor.detail})`}</dd>
<dt>By itself</dt><dd>${spec.approve}${spec.consents.length === 0 ? "" : ` (${spec.consents.join(", ")})`}</dd>
<dt>Service</dt><dd>${spec.service ?? "named by the file"}</dd>
<dt>Tenant</dt><dd>${spec.tenant}</dd>
<dt>State</dt><dd>${spec.state}</dd>
<dt>Needs</dt><dd>${spec.dependsOn.length === 0 ? "no other stack" : linkedNames(spec.dependsOn)}</dd>
<dt>Needed by</dt><dd>${dependents.length === 0 ? "no other stack" : linkedNames(dependents)}</dd>
</dl>`;
}

const sourceText = (source: Source): string => {
  switch (source.kind) {
    case "git":
      return `${withoutUsers(source.url)} ${source.ref}${source.path === "" ? "" : ` ${source.path}/`}`;
    case "folder":
      return source.folder;
    case "artifact":
      return `${withoutUsers(source.url)} ${source.digest}`;
  }
};

function outputsPart({ outputs }: StackRecord): PagePart {
  const entries = Object.entries(outputs);
  if (entries.length === 0) return html``;
  return html`<h2>Outputs</h2><dl class="facts">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${typeof value === "string" ? value : JSON.stringify(value)}</dd>`)}</dl>`;
}

function acts(stack: StackRecord, visitor: Visitor): PagePart {
  const path = `/stacks/${encodeURIComponent(stack.name)}`;
  const button = (act: "run" | "pause" | "resume" | "stop", text: string): PagePart =>
    may(visitor, act, stack.name)
      ? html`<form method="post" action="${path}/${act}"><button id="act-${act}">${text}</button></form>`
      : html``;
  const isRunning = stack.lastRun !== undefined && stack.lastRun.endedAt === undefined;
  return html`<div class="acts">${isRunning && stack.stopping === undefined ? button("stop", "Stop this run") : ""}${stack.paused ? "" : button("run", "Look now")}${
    stack.paused || stack.status.stalled ? button("resume", "Resume") : button("pause", "Pause")
  }</div>`;
}

function runningCard({ runs, lines, now }: StackView): PagePart {
  const [run] = runs;
  if (run === undefined || run.endedAt !== undefined) return html``;
  return html`<section class="card" aria-labelledby="running-title"><h2 id="running-title">Runs now: <a href="/runs/${run.id}">run ${run.id}</a></h2>
<p>${run.cause}${run.startedBy === undefined ? "" : ` (${run.startedBy})`}, on ${run.worker}, for ${span(now.getTime() - run.startedAt.getTime())}</p>
${timeline(lines, now)}
<details open id="running-log"><summary>Log</summary>${logPart(lines.slice(-60), "running-lines", "Nothing was sent yet.")}</details></section>`;
}

function orphansOf({ picture }: StackView): PagePart {
  const { lines = [], cost } = picture?.picture.orphans ?? {};
  if (lines.length === 0) return html``;
  return html`<h2 id="orphans">Left alive</h2>
<p class="quiet">Deletes left ${lines.length === 1 ? "this" : "these"} in the service; <code>reconcile orphans delete</code> ends what is not wanted.${cost === undefined ? "" : ` ${cost}.`}</p>
<ul class="plain">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function graphOf({ stack, picture }: StackView): PagePart {
  const graph = picture?.picture.graph;
  if (graph === undefined || graph.nodes.length === 0) return html``;
  const path = `/stacks/${encodeURIComponent(stack.name)}/graph.svg?v=${stack.picture ?? ""}`;
  return html`<h2>Graph</h2>${pictured(path, graph.description)}`;
}

const actionWords: Readonly<Record<NonNullable<Side["action"]>, readonly [words: string, hue: string]>> = {
  create: ["to create", "good"],
  update: ["to update", "wait"],
  replace: ["to replace", "bad"],
  delete: ["to delete", "bad"],
  import: ["to import", ""],
  forget: ["to let go", ""],
};

const liveWords: Readonly<Record<Side["live"], string>> = {
  seen: "",
  not_there: "not made yet",
  gone: "gone",
  unseen: "not looked at",
};

/** At most this many resources without a difference are shown field by field. */
const mostShown = 100;

function sidesPart({ picture }: StackView): PagePart {
  if (picture === undefined) return html``;
  const { sides, left, asOf } = picture.picture;
  const differing = sides.filter(({ action }) => action !== undefined).length;
  const all = sides.length + left;
  return html`<h2 id="sides">Desired and live</h2>
<p class="quiet">${differing === 0 ? `${all === 1 ? "One resource, as" : `${all} resources, all as`} the files want it${asOf === "applied" ? ", by what the last apply wrote down" : ""}.` : `${differing} of ${all} ${differing === 1 ? "differs" : "differ"}.`} So since ${time(picture.seenAt)}.</p>
${sides.slice(0, mostShown).map((side) => sideOf(side, sides.length === 1))}
${sides.length + left > mostShown ? html`<p class="quiet">${all - Math.min(mostShown, sides.length)} more are as the files want them, or stand in the plan.</p>` : ""}`;
}

function sideOf({ address, action, because, live, rows }: Side, only: boolean): PagePart {
  const isOpen = action !== undefined || only;
  return html`<details class="side" id="side-${address}"${isOpen ? html` open` : ""}><summary><code>${address}</code> ${
    action === undefined
      ? html`<span class="tag good">${live === "unseen" ? "as applied" : "in sync"}</span>`
      : html`<span class="tag ${actionWords[action][1]}">${actionWords[action][0]}</span>`
  }${live === "seen" || action === "create" || (live === "unseen" && action === undefined) ? "" : html` <span class="quiet">${liveWords[live]}</span>`}</summary>
${because === undefined ? "" : html`<p class="quiet">${because}</p>`}
<table class="sides"><thead><tr><th scope="col">Field</th><th scope="col">Desired</th><th scope="col">Live</th></tr></thead><tbody>${rows.map((row) => sideRow(row, live))}</tbody></table></details>`;
}

const sideRow = (
  { field, desired, live, recorded, differs, own }: SideRow,
  seen: Side["live"],
): PagePart => html`<tr${differs === true ? html` class="differs"` : ""}><th scope="row">${field}${differs === true ? html` <span class="tag wait">${desired !== undefined && desired === live ? "made anew" : "differs"}</span>` : ""}</th>
<td data-label="Desired">${desired ?? html`<span class="quiet">${own === true ? "the service's own" : "not asked for"}</span>`}</td>
<td data-label="Live">${live ?? html`<span class="quiet">${seen !== "seen" ? liveWords[seen] : field === "rule" ? "not there" : "not shown"}</span>`}${recorded === true ? html` <span class="quiet">(as recorded)</span>` : ""}</td></tr>`;
