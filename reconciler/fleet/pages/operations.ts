/** Services with their budgets, workers with what they do, and the whole history. */
import { html } from "hono/html";
import type { ReceiverBehind } from "../database/letters";
import type { StackOutline } from "../database/pages";
import type { DecisionRecord } from "../database/people";
import type { RunRecord } from "../database/runs";
import type { BudgetRecord, WorkerRecord } from "../database/workers";
import type { FleetSettings } from "../model";
import { receiverName } from "../notify";
import { ago, span } from "../views";
import { type PagePart, time } from "./layout";
import { decisionsList, runsTable } from "./run";

export interface ServicesView {
  readonly settings: FleetSettings;
  readonly budgets: readonly BudgetRecord[];
  /** Requests a second lately, by service; absent: the budget was not looked at twice yet. */
  readonly rates: ReadonlyMap<string, Rate>;
  readonly load: readonly { readonly tenant: string; readonly waiting: number; readonly running: number }[];
  readonly stacks: readonly Pick<StackOutline, "service" | "paused">[];
  /** The tenants of the stacks that the visitor sees; absent: everything. */
  readonly sees?: ReadonlySet<string> | undefined;
  /** Absent: the visitor sees some stacks alone. */
  readonly behind?: readonly ReceiverBehind[] | undefined;
  readonly now: Date;
}

export interface Rate {
  readonly perSecond: number;
  readonly overMs: number;
}

export const servicesPage = ({
  settings: { services: all, tenants },
  sees,
  budgets,
  rates,
  load,
  stacks,
  behind,
  now,
}: ServicesView): PagePart => {
  // Whoever sees some stacks is told of their services alone.
  const services = sees === undefined ? all : all.filter(({ name }) => stacks.some(({ service }) => service === name));
  return html`<h1>Services</h1>
${services.length === 0 ? html`<p class="quiet">The fleet declares none: each file names its own.</p>` : ""}
<div class="cards">${services.map((service) => {
    const budget = budgets.find((one) => one.service === service.name);
    const rate = rates.get(service.name);
    const mine = stacks.filter((stack) => stack.service === service.name);
    const resting = mine.filter((stack) => stack.paused).length;
    const percent = Math.round((budget?.reserved ?? 0) * 100);
    return html`<section class="card" aria-labelledby="service-${service.name}"><h2 id="service-${service.name}">${service.name} ${budget?.pausedUntil !== undefined ? html`<span class="tag bad">paused</span>` : ""}</h2><dl><dt>Address</dt><dd>${service.baseUrl}</dd>
<dt>Stacks</dt><dd><a href="/?service=${encodeURIComponent(service.name)}">${mine.length}</a>${resting === 0 ? "" : html`, <a href="/?service=${encodeURIComponent(service.name)}&condition=Paused">${resting} paused</a>`}</dd>
<dt>Rounds at once</dt><dd>${service.concurrency ?? "any"}</dd>
<dt>Budget</dt><dd>${service.budget === undefined ? "none: nothing holds its workers back" : `${service.budget.perSecond} requests a second, ${service.budget.burst} at once`}</dd>
${
  service.budget === undefined
    ? ""
    : html`<dt>In use now</dt><dd><meter min="0" max="100" high="90" value="${percent}" aria-label="Of what ${service.name} takes at once, reserved now">${percent} %</meter> ${percent} % of its burst</dd>
<dt>Lately</dt><dd>${rate === undefined ? "measured from now on" : `${rate.perSecond.toFixed(1)} requests a second (${Math.round((100 * rate.perSecond) / service.budget.perSecond)} % of the budget, over ${span(rate.overMs)})`}</dd>`
}
<dt>Reserved so far</dt><dd>${budget?.used ?? 0}</dd><dt>Told to wait (429)</dt><dd>${budget?.refusals ?? 0} times</dd>
<dt>Paused</dt><dd>${budget?.pausedUntil !== undefined ? html`until ${time(budget.pausedUntil)}: the service asked for it, and every worker keeps to it` : "no"}</dd></dl></section>`;
  })}</div>
<h2>Tenants</h2>
<table><thead><tr><th scope="col">Tenant</th><th scope="col">Weight</th><th scope="col">At once</th><th scope="col">Running</th><th scope="col">Waiting</th></tr></thead><tbody>${[
    { name: "default", weight: 1, maxRunning: undefined },
    ...tenants,
  ]
    .filter((tenant) => sees === undefined || sees.has(tenant.name))
    .map((tenant) => {
      const share = load.find((one) => one.tenant === tenant.name);
      return html`<tr><td>${tenant.name}</td><td data-label="Weight">${tenant.weight}</td><td data-label="At once">${tenant.maxRunning ?? "any"}</td><td data-label="Running">${share?.running ?? 0}</td><td data-label="Waiting">${share?.waiting ?? 0}</td></tr>`;
    })}</tbody></table>
${behind === undefined ? "" : receiversPart(behind, now)}`;
};

const receiversPart = (behind: readonly ReceiverBehind[], now: Date): PagePart =>
  html`<h2 id="receivers">Receivers</h2>
${
  behind.length === 0
    ? html`<p class="quiet">Every receiver has what it is to be told.</p>`
    : html`<table><thead><tr><th scope="col">Receiver</th><th scope="col">Messages that wait</th><th scope="col">For</th><th scope="col">Why</th></tr></thead><tbody>${behind.map(
        ({ place, waiting, since, why }) =>
          html`<tr><td>${receiverName(place)}</td><td data-label="Messages that wait">${waiting}</td><td data-label="For">${ago(since, now)}</td><td data-label="Why">${why ?? "they are sent now"}</td></tr>`,
      )}</tbody></table>`
}`;

export function workersPage(workers: readonly WorkerRecord[], now: Date): PagePart {
  const dead = workers.filter(({ silent }) => silent);
  const alive = workers.filter((one) => !dead.includes(one));
  return html`<h1>Workers</h1>
${alive.length === 0 ? html`<p>No worker runs: <code>reconcile fleet work</code></p>` : ""}
<div class="cards">${alive.map((one) => workerCard(one, false, now))}</div>
${dead.length === 0 ? "" : html`<details id="silent"><summary>${dead.length} without a sign of life, within the last hour</summary><div class="cards">${dead.map((one) => workerCard(one, true, now))}</div></details>`}`;
}

const workerCard = (
  worker: WorkerRecord,
  silent: boolean,
  now: Date,
): PagePart => html`<section class="card"><h2>${worker.name} <span class="tag ${silent ? "bad" : "good"}">${silent ? `no sign of life for ${ago(worker.aliveAt, now)}` : worker.draining ? "draining" : "alive"}</span></h2>
<dl><dt>Since</dt><dd>${time(worker.startedAt)}</dd><dt>Version</dt><dd>${worker.version}</dd><dt>Rounds at once</dt><dd>${worker.doing.length} of ${worker.concurrency}</dd>${worker.services.length === 0 ? "" : html`<dt>Of services</dt><dd>${worker.services.join(", ")}</dd>`}</dl>
${worker.troubles.map(({ origin, failures, why }) => html`<p class="warn">No files from ${origin}, ${failures} times in a row: ${why}. Where other workers get them, it leaves the rounds to those.</p>`)}${worker.doing.length === 0 ? "" : html`<ul>${worker.doing.map(({ stack, since }) => html`<li><a href="/stacks/${encodeURIComponent(stack)}">${stack}</a> for ${ago(new Date(since), now)}</li>`)}</ul>`}</section>`;

export const historyPage = (
  runs: readonly RunRecord[],
  decisions: readonly DecisionRecord[],
  isAll: boolean,
): PagePart => html`<h1>History</h1>
<h2>Decisions</h2>
${decisionsList(decisions, true)}
<h2 id="runs">Runs</h2>
<p class="pages">${(
  [
    ["/history#runs", "Changes and failures", !isAll],
    ["/history?runs=all#runs", "All runs", isAll],
  ] as const
).map(([path, words, isHere]) => html`<a href="${path}"${isHere ? html` aria-current="true"` : ""}>${words}</a>`)}</p>
${runsTable(runs, true)}`;
