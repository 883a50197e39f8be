/** All stacks, one line each: filtered, searched and grouped on the server, so that thousands stay fast. */

import { html } from "hono/html";
import { groupedBy } from "../../core/text/objects";
import type { StackOutline } from "../database/pages";
import type { StackRecord } from "../database/stacks";
import { ago, briefReason, reasonOf, type StackCondition, span, stackConditionOf } from "../views";
import { conditionWord, type PagePart, tag } from "./layout";
import { resultWord } from "./run";

export interface StackFilter {
  readonly search: string;
  readonly condition: string;
  readonly tenant: string;
  readonly service: string;
  readonly groupBy: string;
  readonly page: number;
}

const perPage = 100;
const order: readonly StackCondition[] = [
  "Stalled",
  "AwaitingApproval",
  "Failing",
  "Blocked",
  "Drifted",
  "Reconciling",
  "New",
  "Paused",
  "Ready",
];

export interface FoundStacks {
  readonly all: readonly StackOutline[];
  readonly found: readonly StackOutline[];
  /** The names of the stacks on the page that is asked for. */
  readonly names: readonly string[];
}

/** The stacks that fit a filter, the most urgent first. */
export function findStacks(all: readonly StackOutline[], filter: StackFilter): FoundStacks {
  const found = all.filter((stack) => isFound(stack, filter)).sort(byUrgency);
  const last = Math.max(0, Math.ceil(found.length / perPage) - 1);
  const at = Math.min(filter.page, last) * perPage;
  return { all, found, names: found.slice(at, at + perPage).map(({ name }) => name) };
}

export function stacksPage(
  { all, found, names }: FoundStacks,
  records: ReadonlyMap<string, StackRecord>,
  filter: StackFilter,
  now: Date,
): PagePart {
  const shown = names.flatMap((name) => records.get(name) ?? []);
  return html`<h1>Stacks</h1>
${counts(all, filter)}
${filterForm(all, filter)}
<p class="quiet">${found.length === all.length ? `${all.length} stacks` : `${found.length} of ${all.length} stacks`}</p>
${all.length === 0 ? html`<p>No stack yet. Write a fleet's file and run <code>reconcile fleet sync fleet.yaml</code>.</p>` : table(shown, filter, now)}
${pages(found.length, filter)}`;
}

function isFound(stack: StackOutline, filter: StackFilter): boolean {
  const { condition, tenant, service } = filter;
  return (
    stack.isFound &&
    (condition === "" || stackConditionOf(stack) === condition) &&
    (tenant === "" || stack.tenant === tenant) &&
    (service === "" || stack.service === service)
  );
}

const byUrgency = (a: StackOutline, b: StackOutline): number =>
  order.indexOf(stackConditionOf(a)) - order.indexOf(stackConditionOf(b)) || (a.name < b.name ? -1 : 1);

function filterHref(filter: StackFilter, change: Partial<StackFilter>): string {
  const { search, condition, tenant, service, groupBy, page } = { ...filter, page: 0, ...change };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ search, condition, tenant, service, group: groupBy }))
    if (value !== "") query.set(name, value);
  if (page > 0) query.set("page", String(page));
  const text = query.toString();
  return text === "" ? "/" : `/?${text}`;
}

function counts(all: readonly StackOutline[], filter: StackFilter): PagePart {
  const numbers = new Map<StackCondition, number>();
  for (const stack of all) {
    const condition = stackConditionOf(stack);
    numbers.set(condition, (numbers.get(condition) ?? 0) + 1);
  }
  return html`<ul class="counts">${order.map((condition) => {
    const count = numbers.get(condition) ?? 0;
    return count === 0
      ? ""
      : html`<li><a href="${filterHref(filter, { condition: filter.condition === condition ? "" : condition })}"${filter.condition === condition ? html` aria-current="true"` : ""}>${tag(condition)} ${count}</a></li>`;
  })}</ul>`;
}

const choice = (name: string, label: string, values: readonly string[], chosen: string, otherwise = "any"): PagePart =>
  html`<div><label for="f-${name}">${label}</label><select id="f-${name}" name="${name}"><option value="">${otherwise}</option>${values.map(
    (value) => html`<option value="${value}"${value === chosen ? html` selected` : ""}>${value}</option>`,
  )}</select></div>`;

const distinct = (values: readonly (string | undefined)[]): string[] =>
  [...new Set(values.filter((value) => value !== undefined))].sort();

const filterForm = (
  all: readonly StackOutline[],
  filter: StackFilter,
): PagePart => html`<form class="filter" method="get" action="/" role="search">
<div><label for="f-search">Name or reason</label><input id="f-search" name="search" type="search" value="${filter.search}"></div>
${choice("condition", "Condition", order, filter.condition)}
${choice("tenant", "Tenant", distinct(all.map(({ tenant }) => tenant)), filter.tenant)}
${choice("service", "Service", distinct(all.map(({ service }) => service)), filter.service)}
${choice("group", "Group by", ["tenant", "service", "condition"], filter.groupBy, "nothing")}
<button>Show</button></form>`;

function table(stacks: readonly StackRecord[], { groupBy }: StackFilter, now: Date): PagePart {
  const groups = groupedBy(stacks, (stack) => groupOf(stack, groupBy));
  return html`<table><thead><tr><th scope="col">Stack</th><th scope="col">Condition</th><th scope="col">What to do</th><th scope="col">Pending</th><th scope="col">Last run</th><th scope="col">Next</th><th scope="col">Tenant</th><th scope="col">Service</th></tr></thead>
${[...groups].map(
  ([group, members]) =>
    html`<tbody>${group === "" ? "" : html`<tr class="group"><th colspan="8" scope="colgroup">${group}</th></tr>`}${members.map((stack) => line(stack, now))}</tbody>`,
)}</table>`;
}

function groupOf(stack: StackRecord, by: string): string {
  if (by === "tenant") return stack.spec.tenant;
  if (by === "service") return stack.spec.service ?? "(named by the file)";
  return by === "condition" ? conditionWord(stackConditionOf(stack)) : "";
}

const line = (stack: StackRecord, now: Date): PagePart => html`<tr>
<td><a href="/stacks/${encodeURIComponent(stack.name)}">${stack.name}</a></td>
<td>${tag(stackConditionOf(stack))}${stack.status.drifted && stackConditionOf(stack) !== "Drifted" ? html` <span class="tag wait">drift</span>` : ""}</td>
<td class="reason">${briefReason(reasonOf(stack) ?? "")}</td>
<td class="short" data-label="Pending">${pending(stack)}</td>
<td class="short" data-label="Last run">${stack.lastRun === undefined ? "–" : `${resultWord(stack.lastRun)}, ${ago(stack.lastRun.startedAt, now)} ago`}</td>
<td class="short" data-label="Next">${stack.paused || stack.nextAt === undefined ? "–" : stack.nextAt <= now ? "now" : `in ${span(stack.nextAt.getTime() - now.getTime())}`}</td>
<td data-label="Tenant">${stack.spec.tenant}</td><td data-label="Service">${stack.spec.service ?? "–"}</td></tr>`;

/** What the last look at the stack would change. */
export function pending({ lastRun, status }: Pick<StackRecord, "lastRun" | "status">): string {
  if (lastRun === undefined || status.ready) return "–";
  const parts = Object.entries(lastRun.counts).filter(
    ([what, count]) => count > 0 && ["create", "update", "replace", "delete", "import", "forget"].includes(what),
  );
  return parts.length === 0 ? "–" : parts.map(([what, count]) => `${count} to ${what}`).join(", ");
}

function pages(found: number, filter: StackFilter): PagePart {
  const last = Math.ceil(found / perPage) - 1;
  if (last <= 0) return html``;
  const at = Math.min(filter.page, last);
  return html`<nav class="pages" aria-label="Pages of stacks">${at > 0 ? html`<a rel="prev" href="${filterHref(filter, { page: at - 1 })}">Before</a> ` : ""}<span>Page ${at + 1} of ${last + 1}</span>${at < last ? html` <a rel="next" href="${filterHref(filter, { page: at + 1 })}">Next</a>` : ""}</nav>`;
}
