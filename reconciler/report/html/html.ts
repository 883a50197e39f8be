/**
 * One run as one page that needs nothing else: the outcome first, then the timeline, the changes, the plan's graph and
 * every step. The page has no script and makes no request; its content policy forbids both.
 */

import { type Diagnostic, errorsAmong } from "../../core/model/diagnostic";
import type { Plan } from "../../core/plan/plan";
import { itemAt } from "../../core/text/invariant";
import { addAll } from "../../core/text/objects";
import { notSeenIn, type RunReport, type StepReport, unseenIn } from "../../engine/run-plan";
import type { Exposure } from "../../kinds/group/exposure/exposure";
import { costText } from "../cost-text";
import { exposureRows, hueOfSign } from "../exposure-text";
import { planGraph } from "../graph/graph";
import { graphSvg } from "../graph/svg";
import { owedText } from "../owed-text";
import { outlinePlan, type PlanBlock, summaryText } from "../plan-outline";
import { signOfAction } from "../plan-text";
import { resourceStandings } from "../run-standing";
import { orphanText } from "../run-text";
import { countOf, durationText, type Hue, valueText } from "../style";
import { pageStyle } from "./style";
import { code, escapeHtml } from "./text";
import { endOfLast, shortTime, stepsThatRan, timelineHtml } from "./timeline";

export interface HtmlReport {
  readonly command: string;
  readonly version: string;
  /** ISO time of the report. */
  readonly at: string;
  readonly exitCode: number;
  readonly plan: Plan;
  /** Absent when nothing was carried out. */
  readonly run?: RunReport;
  readonly diagnostics: readonly Diagnostic[];
  /** Absent when the plan changes no group. */
  readonly exposure?: Exposure;
  /** The run was carried out on the embedded service, which is faster than the plan's estimate. */
  readonly embedded?: boolean;
  /** The service, project, environment and state of the run. */
  readonly where?: string;
  /** The user who ran the command. */
  readonly who?: string;
}

/** A graph of more steps than this shows nothing; the table of steps lists them all. */
const mostDrawnInHtml = 300;

export function htmlReport(report: HtmlReport): string {
  const { plan, run } = report;
  const sections = [
    { id: "outcome", title: "Outcome", body: outcome(report) },
    { id: "timeline", title: "Timeline", body: run === undefined ? "" : timelineHtml(run) },
    { id: "changes", title: "Changes", body: changesPart(plan, run) },
    { id: "exposure", title: "Who can reach what", body: exposed(report) },
    { id: "graph", title: "Plan", body: graph(plan) },
    { id: "steps", title: "Steps", body: run === undefined ? "" : stepsTable(run) },
  ].filter(({ body }) => body !== "");
  return `${[
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">`,
    '<meta name="referrer" content="no-referrer">',
    `<title>reconcile ${escapeHtml(report.command)}: ${escapeHtml(verdict(report).word)}</title>`,
    `<style>${pageStyle}</style>`,
    "</head>",
    "<body>",
    '<a class="r-skip" href="#outcome">To the outcome</a>',
    headerPart(report),
    `<nav aria-label="Sections"><p>${sections.map(({ id, title }) => `<a href="#${id}">${title}</a>`).join(" · ")}</p></nav>`,
    "<main>",
    ...sections.map(
      ({ id, title, body }) =>
        `<section id="${id}" aria-labelledby="h-${id}">\n<h2 id="h-${id}">${title}</h2>\n${body}\n</section>`,
    ),
    "</main>",
    "</body>",
    "</html>",
  ].join("\n")}\n`;
}

function verdict({ exitCode, run, diagnostics }: HtmlReport): { readonly word: string; readonly hue: Hue } {
  if (run?.interrupted === true) return { word: "interrupted", hue: "danger" };
  switch (exitCode) {
    case 0:
      if (run === undefined) return { word: "nothing to do", hue: "good" };
      return { word: unseenIn(run).length > 0 ? "done, as far as this service can be looked at" : "done", hue: "good" };
    case 3:
      // A consent that is missing is told as an error as well.
      return errorsAmong(diagnostics).some(({ code }) => !code.startsWith("consent/"))
        ? { word: "blocked by a finding, nothing was sent", hue: "change" }
        : { word: "blocked: a consent is missing, nothing was sent", hue: "change" };
    case 4:
      return run?.counts.waiting === 0 && notSeenIn(run).length > 0
        ? { word: "accepted, but not all of it is seen", hue: "change" }
        : { word: "applied, something waits for an outside act", hue: "change" };
    default:
      return { word: "failed", hue: "danger" };
  }
}

function headerPart(report: HtmlReport): string {
  const { plan, run } = report;
  const { word, hue } = verdict(report);
  const ran = run === undefined ? [] : stepsThatRan(run);
  const took = ran.length === 0 ? undefined : endOfLast(ran) - itemAt(ran, 0).startedAt;
  const facts = [
    ...(run === undefined
      ? []
      : Object.entries(run.counts).flatMap(([name, count]) =>
          count > 0 || name === "done" ? [`<b>${count}</b> ${name}`] : [],
        )),
    ...(took === undefined
      ? []
      : [
          `<b>${durationText(took)}</b> (estimated ${durationText(plan.estimate.durationMs)}${report.embedded ? " for a real service" : ""})`,
        ]),
    ...downtimes(plan),
  ];
  return [
    "<header>",
    `<h1>reconcile ${escapeHtml(report.command)}</h1>`,
    ...(report.where === undefined ? [] : [`<p>${escapeHtml(report.where)}</p>`]),
    `<p class="r-quiet">${escapeHtml(report.at)}${report.who === undefined ? "" : ` · by ${escapeHtml(report.who)}`} · reconcile ${escapeHtml(report.version)} · state ${code(plan.lineage)}, serial ${plan.serial}</p>`,
    `<p class="r-verdict r-${hue}" role="status">${escapeHtml(word)}</p>`,
    `<p>${escapeHtml(summaryText(plan))}</p>`,
    ...(plan.cost === undefined ? [] : [`<p>${escapeHtml(costText(plan.cost))}</p>`]),
    facts.length === 0 ? "" : `<ul class="r-facts">${facts.map((fact) => `<li>${fact}</li>`).join("")}</ul>`,
    "</header>",
  ].join("\n");
}

const mostDowntimes = 5;

/** The downtime that the plan estimates; it was not measured. */
function downtimes({ estimate: { downtimeMs } }: Plan): string[] {
  const all = Object.entries(downtimeMs);
  const shown = all.slice(0, mostDowntimes).map(([vm, ms]) => `${code(vm)} down about ${durationText(ms)} (estimated)`);
  return all.length <= mostDowntimes
    ? shown
    : [...shown, `${all.length - mostDowntimes} more with a downtime, in the changes below`];
}

/** The exposure as planned; steps that were not done are shown among the outcomes. */
function exposed({ exposure }: HtmlReport): string {
  if (exposure === undefined) return "";
  const { groups, more } = exposureRows(exposure);
  if (groups.length === 0) return "";
  const andMore = (count: number, what: string): string =>
    count === 0 ? "" : `<p class="r-quiet">And ${countOf(count, what)} more: reconcile exposure.</p>`;
  return [
    ...groups.map(
      ({ address, lines, more: left }) =>
        `<h3>${code(address)}</h3>\n<ul class="r-exposed">${lines
          .map(({ sign, text }) => `<li class="r-${hueOfSign[sign]}"><b>${sign.trim()}</b> ${escapeHtml(text)}</li>`)
          .join("")}</ul>${andMore(left, "line")}`,
    ),
    andMore(more, "group"),
  ].join("\n");
}

function outcome({ plan, run, diagnostics }: HtmlReport): string {
  const cards: string[] = [];
  for (const { step, result } of run?.steps ?? [])
    if (result.end === "failed" || result.end === "unknown" || result.end === "waiting")
      cards.push(
        card(result.end === "waiting" ? "change" : "danger", `${result.end}: ${step.address}`, step.title, {
          message: result.message,
          fix: result.fix,
        }),
      );
  if (run?.broken !== undefined) cards.push(card("danger", "the state could not be written", run.broken.message, {}));
  for (const one of run === undefined ? (plan.owed ?? []) : (run.owed ?? []))
    cards.push(card("change", `owed: ${one.address}`, owedText(one), {}));
  addAll(cards, diagnostics.map(diagnosticCard));
  const orphans = (run?.orphans ?? []).map((orphan) => `<li>${escapeHtml(orphanText(orphan))}</li>`);
  if (orphans.length > 0)
    cards.push(
      `<div class="r-card r-change"><strong>${countOf(orphans.length, "orphan")}: left alive, managed by nothing</strong><ul class="r-list">${orphans.join("")}</ul></div>`,
    );
  return cards.length === 0 ? "<p>Nothing failed, nothing waits, nothing was left behind.</p>" : cards.join("\n");
}

const hueOf = { error: "danger", warning: "change", note: "note" } as const;

function diagnosticCard({ severity, code: name, summary, detail, fix, address, source }: Diagnostic): string {
  const place = source === undefined ? "" : ` (${source.file}:${source.line})`;
  const about = address === undefined || summary.includes(address) ? "" : `${address}: `;
  return card(hueOf[severity], `${severity} ${name}${place}`, `${about}${summary}`, { message: detail, fix });
}

function card(
  hue: Hue,
  head: string,
  text: string,
  more: { readonly message?: string | undefined; readonly fix?: string | undefined },
): string {
  const lines = [text, more.message].flatMap((line) => (line === undefined ? [] : [`<p>${escapeHtml(line)}</p>`]));
  if (more.fix !== undefined) lines.push(`<p>→ ${escapeHtml(more.fix)}</p>`);
  return `<div class="r-card r-${hue}"><strong>${escapeHtml(head)}</strong>${lines.join("")}</div>`;
}

function changesPart(plan: Plan, run: RunReport | undefined): string {
  const { blocks } = outlinePlan(plan);
  if (blocks.length === 0) return "<p>No resource changes.</p>";
  const ends = run === undefined ? undefined : run.interrupted ? standingWords(run, plan) : endsOf(run);
  return [
    '<div class="r-scroll" tabindex="0" role="region" aria-label="Changes"><table>',
    "<thead><tr><th>Resource</th><th>What happens</th><th>Field by field</th><th>Why</th><th>How it ended</th></tr></thead><tbody>",
    ...blocks.map((block) =>
      changeRow(block, ends === undefined ? undefined : (ends.get(block.change.address) ?? "recorded")),
    ),
    "</tbody></table></div>",
  ].join("\n");
}

/** After an interruption it matters what was begun: `in progress: in VERIFY_RESIZE, …`. */
const standingWords = (run: RunReport, plan: Plan): ReadonlyMap<string, string> =>
  new Map(
    resourceStandings(run, plan).map(({ address, standing, waitsFor }) => [
      address,
      `${standing.replace("_", " ")}${waitsFor === undefined ? "" : `: ${waitsFor}`}`,
    ]),
  );

/** The ends of a step from the mildest to the gravest; a resource is shown with the gravest of its steps. */
const gravityOfEnd = ["done", "not seen", "skipped", "waiting", "unknown", "failed"] as const;

/** What the service accepted and no look has shown is not done. */
const endOf = ({ result }: StepReport): (typeof gravityOfEnd)[number] =>
  result.end === "done" && result.unseen !== undefined ? "not seen" : result.end;

function endsOf(run: RunReport): ReadonlyMap<string, string> {
  const ends = new Map<string, (typeof gravityOfEnd)[number]>();
  for (const report of run.steps) {
    const { address } = report.step;
    const [before, end] = [ends.get(address) ?? "done", endOf(report)];
    ends.set(address, gravityOfEnd.indexOf(end) > gravityOfEnd.indexOf(before) ? end : before);
  }
  return ends;
}

function endCell(end: string | undefined): string {
  if (end === undefined) return '<td class="r-quiet">not carried out</td>';
  const hue =
    end === "done" || end === "recorded" ? "good" : end === "failed" || end === "unknown" ? "danger" : "change";
  return `<td class="r-${hue}">${escapeHtml(end)}</td>`;
}

function changeRow({ change, verb, loses, downtimeMs }: PlanBlock, end: string | undefined): string {
  const { sign } = signOfAction[change.action];
  const fields = change.fields.map(({ field, before, after }) => {
    const gone = before === null ? "" : escapeHtml(valueText(field, before));
    const come = after === null ? "" : `<strong>${escapeHtml(valueText(field, after))}</strong>`;
    const words =
      before === null
        ? come
        : after === null
          ? `<del>${gone}</del>`
          : before === after
            ? `${come} (its new one)`
            : `${gone} → ${come}`;
    return `<li>${code(field)} ${words}</li>`;
  });
  const losses = change.losses.map(
    (loss) => `<li class="r-danger"><strong>loses data:</strong> ${escapeHtml(loss.detail)}</li>`,
  );
  const down =
    downtimeMs === undefined
      ? ""
      : `<br><span class="r-quiet">down about ${durationText(downtimeMs)} (estimated)</span>`;
  const place =
    change.source === undefined
      ? ""
      : `<br><span class="r-quiet">${escapeHtml(`${change.source.file}:${change.source.line}`)}</span>`;
  return `<tr><td>${escapeHtml(sign)} ${code(change.address)}${change.name === "" ? "" : `<br><span class="r-quiet">${escapeHtml(change.name)}</span>`}</td><td>${loses ? `<strong class="r-danger">${escapeHtml(verb)}</strong>` : escapeHtml(verb)}${down}</td><td>${fields.length + losses.length === 0 ? "" : `<ul class="r-list">${[...fields, ...losses].join("")}</ul>`}</td><td>${escapeHtml(change.because)}${place}</td>${endCell(end)}</tr>`;
}

function graph(plan: Plan): string {
  if (plan.steps.length === 0) return "";
  if (plan.steps.length > mostDrawnInHtml)
    return `<p>${countOf(plan.steps.length, "step")}: too many for a picture that anybody reads. <code>reconcile graph --plan --target ADDR</code> draws a part.</p>`;
  return `<div class="r-scroll r-graph" tabindex="0" role="region" aria-label="The plan as a graph">\n${graphSvg(planGraph(plan))}</div>`;
}

function stepsTable(run: RunReport): string {
  const rank = ({ startedAt }: StepReport): number => startedAt ?? Number.MAX_SAFE_INTEGER;
  const ordered = [...run.steps].sort((a, b) => rank(a) - rank(b));
  const began = ordered[0]?.startedAt ?? 0;
  const rows = ordered.map((report) => {
    const { step, result, startedAt, endedAt, waitedMs } = report;
    const at = startedAt === undefined ? "" : shortTime(startedAt - began);
    const took = startedAt === undefined || endedAt === undefined ? "" : shortTime(endedAt - startedAt);
    const said = result.message === undefined ? "" : `<br><span class="r-quiet">${escapeHtml(result.message)}</span>`;
    return `<tr><td>${code(step.address)}</td><td>${escapeHtml(step.title)}${said}</td><td class="r-number">${at}</td><td class="r-number">${took}</td><td class="r-number">${waitedMs > 0 ? shortTime(waitedMs) : ""}</td>${endCell(endOf(report))}</tr>`;
  });
  return [
    `<details open><summary>${countOf(rows.length, "step")}</summary>`,
    '<div class="r-scroll" tabindex="0" role="region" aria-label="Steps"><table>',
    "<thead><tr><th>Resource</th><th>Step</th><th>Started at</th><th>Took</th><th>Waited</th><th>End</th></tr></thead><tbody>",
    ...rows,
    "</tbody></table></div></details>",
  ].join("\n");
}
