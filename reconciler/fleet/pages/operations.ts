/** Services with their budgets, workers with what they do, and the history of everything. */
import { html } from "hono/html";
import type { BudgetRecord, DecisionRecord, RunRecord, StackRecord, WorkerRecord } from "../database/records";
import type { Settings } from "../model";
import { ago } from "../views";
import { type Part, time } from "./layout";
import { runsTable } from "./stack";

const silentMs = 15_000;

export const servicesPage = (
  { services, tenants }: Settings,
  budgets: readonly BudgetRecord[],
  load: readonly { readonly tenant: string; readonly waiting: number; readonly running: number }[],
  stacks: readonly StackRecord[],
  now: Date,
): Part => html`<h1>Services</h1>
${services.length === 0 ? html`<p class="quiet">The fleet declares none: each file names its own.</p>` : ""}
${services.map((service) => {
  const budget = budgets.find((one) => one.service === service.name);
  const isPaused = budget?.pausedUntil !== undefined && budget.pausedUntil > now;
  const mine = stacks.filter(({ spec }) => spec.service === service.name);
  return html`<section class="card"><h2>${service.name}</h2><dl><dt>Address</dt><dd>${service.baseUrl}</dd>
<dt>Stacks</dt><dd><a href="/?service=${encodeURIComponent(service.name)}">${mine.length}</a></dd>
<dt>Budget</dt><dd>${service.budget === undefined ? "none" : `${service.budget.perSecond} requests a second, ${service.budget.burst} at once`}</dd>
<dt>Reserved so far</dt><dd>${budget?.used ?? 0}</dd><dt>Told to wait</dt><dd>${budget?.refusals ?? 0} times</dd>
<dt>Paused</dt><dd>${isPaused ? html`until ${time(budget?.pausedUntil)}: the service asked for it` : "no"}</dd></dl></section>`;
})}
<h2>Tenants</h2>
<table><thead><tr><th scope="col">Tenant</th><th scope="col">Weight</th><th scope="col">At once</th><th scope="col">Running</th><th scope="col">Waiting</th></tr></thead><tbody>${[
  { name: "default", weight: 1, maxRunning: undefined },
  ...tenants,
].map((tenant) => {
  const now = load.find((one) => one.tenant === tenant.name);
  return html`<tr><td>${tenant.name}</td><td data-label="Weight">${tenant.weight}</td><td data-label="At once">${tenant.maxRunning ?? "any"}</td><td data-label="Running">${now?.running ?? 0}</td><td data-label="Waiting">${now?.waiting ?? 0}</td></tr>`;
})}</tbody></table>`;

export const workersPage = (workers: readonly WorkerRecord[], now: Date): Part => html`<h1>Workers</h1>
${workers.length === 0 ? html`<p>No worker runs: <code>reconcile fleet work</code></p>` : ""}
${workers.map((worker) => {
  const silent = now.getTime() - worker.aliveAt.getTime() > silentMs;
  return html`<section class="card"><h2>${worker.name} <span class="tag ${silent ? "bad" : "good"}">${silent ? `no sign of life for ${ago(worker.aliveAt, now)}` : worker.draining ? "draining" : "alive"}</span></h2>
<dl><dt>Since</dt><dd>${time(worker.startedAt)}</dd><dt>Version</dt><dd>${worker.version}</dd><dt>Rounds at once</dt><dd>${worker.doing.length} of ${worker.concurrency}</dd></dl>
${worker.doing.length === 0 ? "" : html`<ul>${worker.doing.map(({ stack, since }) => html`<li><a href="/stacks/${encodeURIComponent(stack)}">${stack}</a> for ${ago(new Date(since), now)}</li>`)}</ul>`}</section>`;
})}`;

export const historyPage = (
  runs: readonly RunRecord[],
  decisions: readonly DecisionRecord[],
): Part => html`<h1>History</h1>
<h2>Decisions</h2>
${decisions.length === 0 ? html`<p class="quiet">None yet.</p>` : html`<ul>${decisions.map((one) => html`<li>${time(one.at)} <strong>${one.who}</strong> ${one.what} ${one.stack === undefined ? "" : html`<a href="/stacks/${encodeURIComponent(one.stack)}">${one.stack}</a>`} ${one.detail ?? ""}</li>`)}</ul>`}
<h2>Runs</h2>
${runsTable(runs, true)}`;
