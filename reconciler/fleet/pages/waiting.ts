/** Every plan that waits for a person or a window, the oldest first: how long it has waited, and whom it asks. */
import { html } from "hono/html";
import { may, type Visitor } from "../access";
import type { WaitingOutline } from "../database/stacks";
import { voicesIn } from "../decide";
import { type FleetSettings, fitsAny } from "../model";
import { ago } from "../views";
import { openingOf } from "../windows";
import type { PagePart } from "./layout";

export interface WaitingView {
  readonly plans: readonly WaitingOutline[];
  /** Whose tokens let them approve. */
  readonly approvers: readonly Visitor[];
  readonly settings: Pick<FleetSettings, "windows" | "signIn">;
  readonly visitor: Visitor;
  readonly now: Date;
}

export function waitingPage(view: WaitingView): PagePart {
  const { plans, visitor, now } = view;
  if (plans.length === 0) return html`<h1>Waiting</h1><p class="quiet">No plan waits for anybody.</p>`;
  const mine = plans.filter(({ stack }) => may(visitor, "approve", stack)).length;
  return html`<h1>Waiting</h1>
<p>${plans.length === 1 ? "One plan waits" : `${plans.length} plans wait`}, the oldest first; ${mine === plans.length ? "you may approve each of them" : `you may approve ${mine} of them`}.</p>
<table id="waiting"><thead><tr><th scope="col">Stack</th><th scope="col">Waits for</th><th scope="col">Plan</th><th scope="col">Whom it asks</th></tr></thead>
<tbody>${plans.map(
    (plan) => html`<tr><th scope="row"><a href="/stacks/${encodeURIComponent(plan.stack)}">${plan.stack}</a></th>
<td class="short" data-label="Waits for">${ago(plan.madeAt, now)}</td><td data-label="Plan">${plan.sum.replace(/^Plan: /, "")} <code>${plan.digest}</code></td><td data-label="Whom it asks">${askedOf(plan, view)}</td></tr>`,
  )}</tbody></table>`;
}

/** A window that is closed, or the people who may approve and have not yet. */
function askedOf({ stack, approvers, approval, digest }: WaitingOutline, view: WaitingView): string {
  const { settings, now } = view;
  const given = voicesIn(approval, digest, now);
  const opening = openingOf(settings.windows, stack, "apply", now);
  const tokens = view.approvers.filter((person) => may(person, "approve", stack)).map(({ name }) => name);
  const roles = (settings.signIn?.roles ?? [])
    .filter(({ role, stacks }) => role !== "viewer" && fitsAny(stacks, stack))
    .map((rule) => (rule.claim === undefined ? "everybody who signs in" : `${rule.claim} ${rule.is}`));
  const people = [...new Set([...tokens, ...roles])].filter((name) => !given.includes(name));
  const missing = approvers - given.length;
  return [
    ...(given.length > 0 ? [`approved by ${given.join(" and ")}`] : []),
    ...(missing > 0 && approvers > 1 ? [missing === 1 ? "one more person" : `${missing} people`] : []),
    ...(missing > 0 ? [people.length === 0 ? "whoever reaches this page" : people.join(", ")] : []),
    ...(opening.open
      ? []
      : [
          `${opening.why}${opening.until === undefined ? "" : ` until ${opening.until.toISOString().slice(0, 16).replace("T", " ")} UTC`}`,
        ]),
  ].join("; ");
}
