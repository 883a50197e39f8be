/**
 * A plan as the comment on a merge request: the summary first, then what the plan loses and what needs a consent, then
 * the details, folded, with the gravest first. The comment never exceeds the limit of code hosts; what was cut is
 * counted. The same plan gives the same bytes, and a hidden marker lets a pipeline find its comment again and write
 * over it.
 */
import type { Finding } from "../core/findings/finding";
import { errorsAmong } from "../core/model/diagnostic";
import type { Consent } from "../core/plan/consent";
import type { Plan } from "../core/plan/plan";
import { asOneSentence } from "../core/text/list-text";
import { groupedBy } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { costText, partText } from "./cost-text";
import type { Where } from "./json-lines";
import { owedText } from "./owed-text";
import { consentBlocks, outlinePlan, type PlanBlock, stepTitles, summaryText } from "./plan-outline";
import { bodyLines, type PlanLayout, signOfAction, stepLines } from "./plan-text";
import { countOf, cutToColumns, durationText, numberText, painter, wrapWords } from "./style";
import { whereText } from "./where-text";

export interface MarkdownOptions {
  /** In characters; the default is the limit of the usual hosts. */
  readonly limit?: number;
  /** The service, project, environment and state of the plan. */
  readonly where?: Where;
  /** Stands before the summary: the project, in a comment on several; the environment, where nothing else names it. */
  readonly title?: string;
  /** Tells the comments of several projects on one merge request apart. */
  readonly key?: string;
  /** All findings for the reviewer. Left out: those that the plan itself has. */
  readonly findings?: readonly Finding[];
}

export const commentLimit = 65_536;
const longestLine = 300;
/** The share of the comment's length that each part may take. */
const share = { consents: 0.4, findings: 0.1, downtime: 0.05, block: 0.15, steps: 0.2, briefly: 0.45 };

export const markerOf = (key = "default"): string =>
  `<!-- reconcile-plan ${key.replaceAll(/[^\w.-]/g, "-").slice(0, 60)} -->`;

const whereLine = (where: Where | undefined): string =>
  where === undefined ? "" : `${escapeText(whereText(where))}\n\n`;

const titleText = (title: string | undefined): string => (title === undefined ? "" : `${escapeText(title)}: `);

export function planMarkdown(plan: Plan, options: MarkdownOptions = {}): string {
  const limit = options.limit ?? commentLimit;
  const { blocks, touched } = outlinePlan(plan);
  const look: PlanLayout = { paint: painter(false), width: 100, titles: stepTitles(plan.steps) };
  const opening = `${markerOf(options.key)}\n${whereLine(options.where)}### ${titleText(options.title)}${escapeText(summaryText(plan))}\n`;
  const consents = consentBlocks(plan.consents).reverse();
  const head = [
    opening,
    ...(plan.cost === undefined ? [] : [`**${escapeText(costText(plan.cost))}**\n`]),
    ...findingParts(options.findings ?? plan.diagnostics, limit * share.findings),
    ...consents.flatMap((block) => consentPart(block, (limit * share.consents) / consents.length)),
    ...downtimePart(plan, limit * share.downtime),
    ...withinRoom(
      (plan.owed ?? []).map((one) => `- ${escapeText(owedText(one))}`),
      limit * share.downtime,
      "owed command",
    ),
  ].join("\n");

  const steps = plan.steps.length > 1 ? stepsPart(plan, look, limit * share.steps) : "";
  const longestFoot = footPart(plan, blocks.length, blocks.length, touched.length).length;
  const room = limit - head.length - steps.length - longestFoot - 4;
  const gravestFirst = [...blocks.filter((one) => one.loses), ...blocks.filter((one) => !one.loses)];
  const part = (block: PlanBlock): string =>
    blockPart(block, look, limit * share.block, partText(plan.cost, [block.change.address]));
  let details = thatFit(gravestFirst, room, part);
  let rest: readonly PlanBlock[] = [];
  let briefly = "";
  if (details.length < blocks.length) {
    // Resources whose details were cut are still listed by address.
    briefly = brieflyPart(gravestFirst, limit * share.briefly);
    details = thatFit(gravestFirst, room - briefly.length - 1, part);
    rest = gravestFirst.slice(details.length);
    briefly = brieflyPart(rest, limit * share.briefly);
  }
  const foot = footPart(plan, blocks.length, rest.length, touched.length);
  const whole = `${[head, ...details, briefly, steps, foot].filter((one) => one !== "").join("\n")}\n`;
  if (whole.length <= limit) return whole;
  const { length } = findingsBeside(options.findings ?? plan.diagnostics);
  const left = length === 0 ? "the details" : `the details and ${countOf(length, "finding")}`;
  return `${opening}\n**There is no room here for ${left}.**\n`;
}

/** The comment when a plan could not be made. */
export function failureMarkdown(
  findings: readonly Finding[],
  { where, key, title, limit = commentLimit }: Omit<MarkdownOptions, "findings">,
): string {
  const errors = errorsAmong(findings).length;
  const why = errors > 0 ? countOf(errors, "error") : countOf(findings.length, "warning");
  const opening = `${markerOf(key)}\n${whereLine(where)}### ${titleText(title)}No plan: ${why}\n`;
  const parts = findingParts(findings, limit - opening.length - 200).join("\n");
  return `${opening}\n${parts}\nThe plan that stood here before is not the one of the last push.\n`;
}

/** The addresses alone, by what happens to them. */
function brieflyPart(blocks: readonly PlanBlock[], room: number): string {
  const byVerb = groupedBy(blocks, ({ change, verb }) => `${signOfAction[change.action].sign} ${verb}`);
  const lines = [...byVerb].flatMap(([verb, alike]) => [
    `${verb} (${numberText(alike.length)})`,
    ...wrapWords(
      alike.map(({ change }) => cutToColumns(printable(change.address), longestLine)),
      100,
    ).map((line) => `    ${line}`),
  ]);
  return foldedBlock(`The other ${countOf(blocks.length, "change")}, by address`, "text", lines, room);
}

/** With more findings than this, equal ones are counted; each of them is listed in the folded part. */
const mostFindings = 100;

/** Findings about consents have a part of their own. */
const findingsBeside = (all: readonly Finding[]): readonly Finding[] =>
  all.filter(({ code, refused }) => refused !== undefined || !code.startsWith("consent/"));

function findingParts(all: readonly Finding[], room: number): string[] {
  const findings = findingsBeside(all);
  if (findings.length === 0) return [];
  const lines = findingLines(findings);
  if (findings.length <= mostFindings) return [...withinRoom(lines, room, "finding"), ""];
  const counted = new Map<string, { severity: string; count: number }>();
  for (const { code, severity } of findings) {
    const known = counted.get(`${severity} ${code}`);
    counted.set(`${severity} ${code}`, { severity, count: (known?.count ?? 0) + 1 });
  }
  const counts = [...counted].map(
    ([key, { severity, count }]) =>
      `- **${severity}** ${codeText(key.slice(severity.length + 1))}: ${numberText(count)}`,
  );
  return [
    ...withinRoom(counts, room / 2, "code"),
    "",
    "<details>",
    `<summary>All ${numberText(findings.length)} findings</summary>`,
    "",
    ...withinRoom(lines, room / 2, "finding"),
    "",
    "</details>",
    "",
  ];
}

const findingLines = (findings: readonly Finding[]): string[] =>
  findings.map(({ severity, summary, detail, address, source, fix, refused }) => {
    const place = source === undefined ? "" : ` ${codeText(`${source.file}:${source.line}`)}`;
    const about = address === undefined || summary.includes(address) ? "" : ` ${codeText(address)}`;
    const text = asOneSentence(summary, ...(refused === undefined ? [] : [detail, refused]), fix);
    return `- **${severity}**${place}${about} ${escapeText(text)}`;
  });

function consentPart(block: ReturnType<typeof consentBlocks>[number], room: number): string[] {
  const line = ({ address, detail, grant }: Consent): string =>
    `> - ${address === undefined ? "" : `${codeText(address)} `}${escapeText(detail)}${grant === block.grant ? "" : `: ${codeText(grant)}`}`;
  return [
    block.kind === "data_loss" || block.kind === "empty" ? "> [!CAUTION]" : "> [!WARNING]",
    `> **${block.title}**${block.grant === undefined ? "" : ` (${codeText(block.grant)})`}`,
    ...withinRoom(block.consents.map(line), room, "entry", "entries", "> "),
    "",
  ];
}

function withinRoom(lines: readonly string[], room: number, one: string, many?: string, prefix = ""): string[] {
  const kept = thatFit(lines, room, asItIs);
  const left = lines.length - kept.length;
  return left === 0 ? kept : [...kept, `${prefix}- … and ${countOf(left, `more ${one}`, `more ${many ?? `${one}s`}`)}`];
}

/** The texts of the first, as many as there is room for. `between`: what stands between two of them. */
function thatFit<T>(all: readonly T[], room: number, textOf: (one: T) => string, between = 1): string[] {
  const texts: string[] = [];
  let left = room;
  for (const one of all) {
    const text = textOf(one);
    left -= text.length + between;
    if (left < 0) break;
    texts.push(text);
  }
  return texts;
}

const asItIs = (line: string): string => line;

function downtimePart(plan: Plan, room: number): string[] {
  const down = Object.entries(plan.estimate.downtimeMs).filter(([, ms]) => ms > 0);
  if (down.length === 0) return [];
  down.sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const words = thatFit(down, room, ([address, ms]) => `${codeText(address)} about ${durationText(ms)}`, 2);
  const more = down.length - words.length;
  return [`Downtime: ${[...words, ...(more === 0 ? [] : [countOf(more, "more VM")])].join(", ")}`, ""];
}

function blockPart(block: PlanBlock, look: PlanLayout, room: number, cost: string | undefined): string {
  const { change, verb: does, loses } = block;
  const verb = cost === undefined ? does : `${does}, ${cost}`;
  const verbs = loses ? `<strong>${escapeText(verb)}</strong>` : escapeText(verb);
  const body = Array.from(bodyLines(block, true, look), (line) => cutToColumns(line.slice(6), longestLine));
  return foldedBlock(
    `${loses ? "⚠️ " : ""}${signOfAction[change.action].sign} ${codeText(change.address)} ${verbs}`,
    "diff",
    body,
    room,
  );
}

function stepsPart(plan: Plan, look: PlanLayout, room: number): string {
  const body = Array.from(stepLines(plan, look), (line) => cutToColumns(line, longestLine));
  return foldedBlock("All steps, in order", "text", body.slice(1, -1), room);
}

function foldedBlock(summary: string, language: string, body: readonly string[], room: number): string {
  const kept = thatFit(body, room - summary.length - 100, asItIs);
  if (kept.length < body.length) kept.push(`… ${countOf(body.length - kept.length, "more line")}`);
  const fence = fenceFor(kept);
  return [
    "<details>",
    `<summary>${summary}</summary>`,
    "",
    `${fence}${language}`,
    ...kept,
    fence,
    "</details>",
    "",
  ].join("\n");
}

/** A fence that is longer than any row of backticks inside, so that no text inside can end it. */
function fenceFor(lines: readonly string[]): string {
  let longest = 2;
  for (const line of lines) for (const run of line.match(/`+/g) ?? []) if (run.length > longest) longest = run.length;
  return "`".repeat(longest + 1);
}

function footPart(plan: Plan, all: number, cut: number, touched: number): string {
  const parts: string[] = [];
  if (cut > 0)
    parts.push(
      `**${numberText(cut)} of ${countOf(all, "changed resource")} are without details here**, for want of room.`,
    );
  if (touched > 0) parts.push(`${countOf(touched, "resource")} only touched on the way.`);
  if (plan.orphans.length > 0) parts.push(`${countOf(plan.orphans.length, "orphan")} of earlier runs.`);
  return parts.join(" ");
}

/**
 * Text of others in Markdown. Every character with a meaning in Markdown or HTML becomes an entity; what hosts look for
 * after rendering (mentions, references, links) is also cut in two by an empty comment.
 */
const escapeText = (text: string): string =>
  cutToColumns(printable(text), longestLine).replace(/:(?=\/)|[^A-Za-z0-9 ,.:;()/\-\u0080-\uffff]/gu, (character) => {
    const entity = `&#${character.codePointAt(0)};`;
    return "@#!~%$&^:".includes(character) ? `${entity}<!-- -->` : entity;
  });

/**
 * Text of others as code, in which hosts look for no mentions. HTML's own tag is used because no text can end it as it
 * could end a fence.
 */
const codeText = (text: string): string =>
  `<code>${cutToColumns(printable(text), longestLine)
    .replace(/[^A-Za-z0-9 ,.;()/\-\u0080-\uffff]/gu, (character) => `&#${character.codePointAt(0)};`)
    .replaceAll(/www\./gi, (match) => `${match.slice(0, -1)}&#46;`)}</code>`;
