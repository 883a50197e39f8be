/** The plan that waits, as whoever is to approve it reads it: what it does, what it permits, who changed what, and then all of it. */
import { html } from "hono/html";
import { may, type Visitor } from "../access";
import type { StackRecord, WaitingPlan } from "../database/stacks";
import { asksWhy, voicesIn } from "../decide";
import type { Commit, FileChange } from "../sources/change";
import { noCommitText } from "../views";
import type { Opening } from "../windows";
import { type PagePart, pictured, printed, reachTitle, time } from "./layout";

export interface CardView {
  readonly stack: StackRecord;
  readonly visitor: Visitor;
  /** Whether an apply may begin now. */
  readonly opening: Opening;
  readonly now: Date;
}

export function planCard({ stack, visitor, opening, now }: CardView, plan: WaitingPlan): PagePart {
  const { digest, madeAt, body } = plan;
  const path = `/stacks/${encodeURIComponent(stack.name)}`;
  const voices = voicesIn(stack.approval, digest, now);
  return html`<section class="card wait" aria-labelledby="plan-title"><h2 id="plan-title">A plan waits: <code>${digest}</code></h2>
${body.sum === undefined ? "" : html`<p id="plan-sum"><strong>${body.sum}</strong></p>`}
${permits(body)}
${whyItWaits(body) === "" ? "" : html`<p>It waits because ${whyItWaits(body)}.</p>`}
${body.change === undefined ? "" : changeOf(body.change)}
${voicesOf(stack, voices)}
${opening.open ? "" : html`<p class="said bad" id="window">A window is closed: ${opening.why}${opening.until === undefined ? "" : html`, until ${time(opening.until)}`}. Nothing is carried out before, unless it is approved through the window.</p>`}
${decisionForms(stack, plan, visitor, opening, voices)}
<p class="quiet">Made ${time(madeAt)}.</p>
${printed("plan", "The plan", body.text)}
${body.exposure === undefined ? "" : printed("exposure", reachTitle, body.exposure)}
${body.graph === undefined ? "" : html`<details id="plan-graph"><summary>Its steps and their order, as a picture</summary>${pictured(`${path}/plan.svg?v=${digest}`, body.graph.description)}</details>`}
</section>`;
}

/** What approving it gives away, each thing once. */
function permits({ consents, opens }: WaitingPlan["body"]): PagePart {
  const all = [...consents.map(({ detail }) => detail), ...opens.map((address) => `${address} is opened to the world`)];
  if (all.length === 0) return html``;
  return html`<h3>Approving it permits</h3><ul id="permits">${all.map((one) => html`<li class="${opens.length > 0 && one.endsWith("to the world") ? "bad" : ""}">${one}</li>`)}</ul>`;
}

/** Without what the list of what it permits says already. */
const whyItWaits = ({ why, consents, opens }: WaitingPlan["body"]): string =>
  why
    .split("; ")
    .filter((part) => !consents.some(({ detail }) => detail.includes(part)))
    .filter((part) => !opens.some((address) => part.startsWith(`${address} is opened to`)))
    .join("; ");

function changeOf({ commits, more, difference }: FileChange): PagePart {
  if (commits.length === 0) return html`<p id="change">${noCommitText}</p>`;
  const id = ({ id: commit, link }: Commit): PagePart => {
    const short = html`<code>${commit.slice(0, 12)}</code>`;
    return link === undefined ? short : html`<a href="${link}" rel="noreferrer">${short}</a>`;
  };
  return html`<h3 id="change">What was changed, and by whom</h3>
<ul class="plain">${commits.map((one) => html`<li>${id(one)} <strong>${one.subject}</strong> <span class="quiet">${one.author}, ${time(new Date(one.at))}</span></li>`)}${more === 0 ? "" : html`<li class="quiet">and ${more} older ones</li>`}</ul>
${difference === undefined ? "" : html`<details id="difference"><summary>The difference of the files</summary><pre tabindex="0" id="difference-lines" role="region" aria-label="The difference of the files">${difference.split("\n").map((line) => html`<span class="${/^\+(?!\+\+)/.test(line) ? "good" : /^-(?!--)/.test(line) ? "bad" : ""}">${line}</span>\n`)}</pre></details>`}`;
}

/** Who has approved it, and how many others have to. */
function voicesOf({ approval, paused, spec: { approvers = 1 } }: StackRecord, names: readonly string[]): PagePart {
  if (approval === undefined || names.length === 0)
    return approvers === 1 ? html`` : html`<p id="voices">${approvers} people have to approve it.</p>`;
  const until = time(new Date(approval.until));
  if (names.length >= approvers)
    return html`<p class="said" id="voices">Approved by ${names.join(" and ")} until ${until}. ${paused ? "It is carried out once the stack is resumed" : "The next free worker carries it out"}, if it is still the plan then.</p>`;
  const missing = approvers - names.length;
  return html`<p class="said" id="voices">Approved by ${names.join(" and ")} until ${until}; ${missing === 1 ? "one more person has" : `${missing} more people have`} to approve it.</p>`;
}

function decisionForms(
  stack: StackRecord,
  { digest, body }: WaitingPlan,
  visitor: Visitor,
  opening: Opening,
  voices: readonly string[],
): PagePart {
  const { spec, name } = stack;
  const path = `/stacks/${encodeURIComponent(name)}`;
  const isMine = voices.includes(visitor.name);
  const isDone = voices.length >= (spec.approvers ?? 1);
  const mayApprove = may(visitor, "approve", name);
  // Where something is lost for good, or a window is closed, the reason is part of the decision.
  const needsWord = !opening.open || asksWhy(body.consents);
  const through = opening.open
    ? html``
    : html`<div><label for="through"><input type="checkbox" id="through" name="through_window" value="yes" required> through the closed window; everybody is told why</label></div>`;
  const approves = mayApprove && !isMine && !isDone;
  const rejects = may(visitor, "reject", name);
  // Enter in the reason presses the first button of the form, and nobody shall decide by accident.
  const form = html`<form method="post" action="${path}/approve">
<input type="hidden" name="plan" value="${digest}"><button disabled hidden></button>
<div><label for="why">${approves && needsWord ? "Why (needed to approve)" : "Why"}</label><input id="why" name="why" maxlength="300"${approves && needsWord ? html` required` : ""}></div>
${approves ? html`${through}<button class="primary" id="approve" data-ask="Carry out exactly this plan?">Approve</button>` : ""}
${rejects ? html`<button class="danger" id="reject" formaction="${path}/reject" formnovalidate>Reject</button>` : ""}</form>`;
  return html`<div class="acts">${approves || rejects ? form : ""}${
    mayApprove ? "" : html`<p class="quiet">Approving this stack's plans needs the role approver.</p>`
  }</div>`;
}
