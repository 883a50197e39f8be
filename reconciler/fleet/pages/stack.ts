/** One stack: how it stands, the plan that waits with its consents, what can be done, its runs and decisions. */
import { html } from "hono/html";
import { may, type Visitor } from "../access";
import type { DecisionRecord, RunRecord, StackRecord, WaitingPlan } from "../database/records";
import type { Source } from "../model";
import { conditionOf, logText, reasonOf, span } from "../views";
import { type Part, tag, time } from "./layout";
import { pending } from "./stacks";

export interface StackView {
  readonly stack: StackRecord;
  readonly plan: WaitingPlan | undefined;
  readonly runs: readonly RunRecord[];
  readonly decisions: readonly DecisionRecord[];
  readonly visitor: Visitor;
}

export function stackPage({ stack, plan, runs, decisions, visitor }: StackView): Part {
  const { name, spec, status } = stack;
  return html`<h1>${name} ${tag(conditionOf(stack))}</h1>
${reasonOf(stack) === null ? "" : html`<p class="said ${status.stalled ? "bad" : ""}">${reasonOf(stack)}</p>`}
${acts(stack, visitor)}
${plan === undefined ? "" : planCard(stack, plan, visitor)}
<h2>How it stands</h2>
<dl>
<dt>Source</dt><dd>${sourceText(spec.source)}</dd>
<dt>Seen</dt><dd>${status.observedRevision ?? "–"}</dd><dt>Applied</dt><dd>${status.appliedRevision ?? "–"}</dd>
<dt>Pending</dt><dd>${pending(stack)}</dd>
<dt>Drift</dt><dd>${status.drifted ? "the service differs from what was applied" : "none seen"}</dd>
<dt>Next look</dt><dd>${stack.paused ? "paused" : time(stack.nextAt)}${status.waitingFor === null ? "" : ` (waits for ${status.waitingFor.what}: ${status.waitingFor.detail})`}</dd>
<dt>By itself</dt><dd>${spec.approve}${spec.consents.length === 0 ? "" : ` (${spec.consents.join(", ")})`}</dd>
<dt>Service, tenant</dt><dd>${spec.service ?? "named by the file"}, ${spec.tenant}</dd>
<dt>State</dt><dd>${spec.state}</dd>
${spec.dependsOn.length === 0 ? "" : html`<dt>Needs</dt><dd>${spec.dependsOn.map((other) => html`<a href="/stacks/${encodeURIComponent(other)}">${other}</a> `)}</dd>`}
</dl>
${outputsOf(stack)}
<h2 id="runs">Runs</h2>
${runsTable(runs)}
<h2>Decisions</h2>
${decisions.length === 0 ? html`<p class="quiet">None yet.</p>` : html`<ul>${decisions.map((one) => html`<li>${time(one.at)} <strong>${one.who}</strong> ${one.what} ${one.detail ?? ""}</li>`)}</ul>`}`;
}

const sourceText = (source: Source): string => {
  switch (source.kind) {
    case "git":
      return `${source.url} ${source.ref}${source.path === "" ? "" : ` ${source.path}/`}`;
    case "folder":
      return source.folder;
    case "artifact":
      return `${source.url} ${source.digest}`;
    default:
      return source satisfies never;
  }
};

function outputsOf({ outputs }: StackRecord): Part {
  const entries = Object.entries(outputs);
  if (entries.length === 0) return html``;
  return html`<h2>Outputs</h2><dl>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${typeof value === "string" ? value : JSON.stringify(value)}</dd>`)}</dl>`;
}

function acts(stack: StackRecord, visitor: Visitor): Part {
  const path = `/stacks/${encodeURIComponent(stack.name)}`;
  const button = (act: "run" | "pause" | "resume", text: string): Part =>
    may(visitor, act, stack.name)
      ? html`<form method="post" action="${path}/${act}"><button id="act-${act}">${text}</button></form>`
      : html``;
  return html`<div class="acts">${stack.paused ? "" : button("run", "Look now")}${
    stack.paused || stack.status.stalled ? button("resume", "Resume") : button("pause", "Pause")
  }</div>`;
}

function planCard(stack: StackRecord, { digest, madeAt, body }: WaitingPlan, visitor: Visitor): Part {
  const path = `/stacks/${encodeURIComponent(stack.name)}`;
  const decide = (
    act: "approve" | "reject",
    text: string,
    kind: string,
  ): Part => html`<form method="post" action="${path}/${act}"${act === "approve" ? html` data-ask="Carry out exactly this plan?"` : ""}>
<input type="hidden" name="plan" value="${digest}">
<div><label for="why-${act}">Why</label><input id="why-${act}" name="why" maxlength="300"></div>
<button class="${kind}" id="${act}">${text}</button></form>`;
  return html`<section class="card wait" aria-labelledby="plan-title"><h2 id="plan-title">A plan waits: ${digest}</h2>
<p>Made ${time(madeAt)}. It waits because ${body.why}.</p>
${body.consents.length === 0 ? "" : html`<h3>What it needs</h3><ul>${body.consents.map(({ detail }) => html`<li>${detail}</li>`)}</ul>`}
${body.opens.length === 0 ? "" : html`<p class="said bad">It opens to the whole world: ${body.opens.join(", ")}</p>`}
<details open id="plan-text"><summary>The plan</summary><pre tabindex="0">${body.text}</pre></details>
${body.exposure === undefined ? "" : html`<details open id="plan-exposure"><summary>Who can reach what, before and after</summary><pre tabindex="0">${body.exposure}</pre></details>`}
${stack.approval === undefined ? "" : html`<p class="said">Approved by ${stack.approval.by} until ${stack.approval.until}.</p>`}
<div class="acts">${may(visitor, "approve", stack.name) ? decide("approve", "Approve", "primary") : ""}${may(visitor, "reject", stack.name) ? decide("reject", "Reject", "danger") : ""}</div></section>`;
}

export function runsTable(runs: readonly RunRecord[], withStack = false): Part {
  if (runs.length === 0) return html`<p class="quiet">None yet.</p>`;
  return html`<table><thead><tr><th scope="col">Run</th>${withStack ? html`<th scope="col">Stack</th>` : ""}<th scope="col">Result</th><th scope="col">Started</th><th scope="col">Took</th><th scope="col">Cause</th><th scope="col">Worker</th><th scope="col">Why</th></tr></thead><tbody>${runs.map(
    (
      run,
    ) => html`<tr><td><a href="/runs/${run.id}">${run.id}</a></td>${withStack ? html`<td><a href="/stacks/${encodeURIComponent(run.stack)}">${run.stack}</a></td>` : ""}
<td><span class="tag ${run.result === "failed" ? "bad" : run.result === "applied" || run.result === "in_sync" ? "good" : ""}">${run.result ?? "running"}</span></td>
<td data-label="Started">${time(run.startedAt)}</td><td data-label="Took">${run.endedAt === undefined ? "–" : span(run.endedAt.getTime() - run.startedAt.getTime())}</td>
<td data-label="Cause">${run.cause}${run.startedBy === undefined ? "" : ` (${run.startedBy})`}</td><td data-label="Worker">${run.worker}</td><td class="reason">${run.reason ?? ""}</td></tr>`,
  )}</tbody></table>`;
}

export interface RunView {
  readonly run: RunRecord;
  readonly lines: readonly { readonly at: Date; readonly body: Readonly<Record<string, unknown>> }[];
}

export const runPage = ({
  run,
  lines,
}: RunView): Part => html`<h1>Run ${run.id} of <a href="/stacks/${encodeURIComponent(run.stack)}">${run.stack}</a></h1>
<dl><dt>Result</dt><dd>${run.result ?? "running"}</dd><dt>Started</dt><dd>${time(run.startedAt)}</dd><dt>Ended</dt><dd>${time(run.endedAt)}</dd>
<dt>Cause</dt><dd>${run.cause}${run.startedBy === undefined ? "" : ` (${run.startedBy})`}</dd><dt>Worker</dt><dd>${run.worker}</dd><dt>Revision</dt><dd>${run.revision ?? "–"}</dd>
<dt>Plan</dt><dd>${run.plan ?? "–"}</dd>${run.approval === undefined ? "" : html`<dt>Approved by</dt><dd>${run.approval.by}</dd>`}<dt>Why</dt><dd>${run.reason ?? "–"}</dd></dl>
${timeline(lines)}
<h2>Log</h2>
<pre tabindex="0">${lines.length === 0 ? "Nothing was done." : lines.map(({ at, body }) => `${at.toISOString().slice(11, 19)}  ${logText(body)}`).join("\n")}</pre>`;

/** A bar for each step, from its first line to its last. */
function timeline(lines: RunView["lines"]): Part {
  const steps = new Map<string, { title: string; from: number; to: number; status: string }>();
  for (const { at, body } of lines) {
    if (body["type"] !== "step") continue;
    const id = String(body["step"]);
    const known = steps.get(id);
    const entry = {
      title: String(body["title"]),
      from: known?.from ?? at.getTime(),
      to: at.getTime(),
      status: String(body["status"]),
    };
    steps.set(id, entry);
  }
  if (steps.size === 0) return html``;
  const all = [...steps.values()];
  const begin = Math.min(...all.map(({ from }) => from));
  const whole = Math.max(1, Math.max(...all.map(({ to }) => to)) - begin);
  return html`<h2>Timeline</h2><svg viewBox="0 0 1000 ${all.length * 26}" role="img" aria-label="When each step began and ended" width="100%">${all.map(
    ({ title, from, to, status }, index) =>
      html`<rect x="${Math.round(((from - begin) / whole) * 600)}" y="${index * 26 + 4}" width="${Math.max(3, Math.round(((to - from) / whole) * 600))}" height="16" rx="3" fill="${status === "failed" ? "#b3261e" : status === "done" ? "#2c8f55" : "#8a6d3b"}"/><text x="612" y="${index * 26 + 17}" font-size="13" fill="currentColor">${title.slice(0, 54)} (${span(to - from)})</text>`,
  )}</svg>`;
}
