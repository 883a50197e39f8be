/**
 * A plan for people on a terminal: one block for each resource with before and after, the order of requests where it
 * matters, then the consents that are needed, what is lost, and one line that sums the plan up, last because the last
 * line is read first. A generator, so that a plan of any size can be streamed. Diagnostics are printed by their own
 * report.
 */

import type { FieldChange } from "../core/diff/changes";
import { componentOf } from "../core/model/address";
import type { SourcePosition } from "../core/model/diagnostic";
import { type Grants, missingConsents, noGrants } from "../core/plan/consent";
import { isFallback } from "../core/plan/estimate";
import type { Plan } from "../core/plan/plan";
import { isGate, type Step } from "../core/plan/step";
import { mustGet } from "../core/text/invariant";
import { fewOf } from "../core/text/list-text";
import { printable } from "../core/text/printable";
import { costText, partText } from "./cost-text";
import { plannedOutputLines } from "./output-lines";
import { owedText } from "./owed-text";
import {
  type Alike,
  consentBlocks,
  countsByComponent,
  fieldsOfAlike,
  foldAlike,
  outlinePlan,
  type PlanBlock,
  stepNames,
  stepTitles,
  summaryText,
  type Touched,
} from "./plan-outline";
import {
  changeText,
  countOf,
  displayColumns,
  durationText,
  type Hue,
  hang,
  layoutOf,
  numberText,
  type Paint,
  padTo,
  type TextOptions,
  valueText,
  wrapItems,
} from "./style";

export interface PlanTextOptions extends TextOptions {
  /** Shows every step with what it waits for, instead of only those whose order matters. */
  readonly steps?: boolean;
  /** One line for each change, without its fields and steps. */
  readonly summary?: boolean;
  /** The consents that were given already. Left out: every consent is shown as needed. */
  readonly grants?: Grants;
}

export interface PlanLayout {
  readonly paint: Paint;
  readonly width: number;
  /** The titles of the steps, by id, to name what a step waits for. */
  readonly titles: ReadonlyMap<string, string>;
}

/** From how many alike instances on they are shown as one. */
function alikeShownAsOne({ summary, steps }: PlanTextOptions): number {
  if (summary === true) return 2;
  return steps === true ? Number.POSITIVE_INFINITY : manyAlike;
}

export function* planLines(plan: Plan, options: PlanTextOptions = {}): Generator<string> {
  const { blocks, touched } = outlinePlan(plan);
  const look: PlanLayout = { ...layoutOf(options), titles: stepTitles(plan.steps) };
  const atLeast = alikeShownAsOne(options);
  const counts = countsByComponent(blocks);
  let within = "";
  for (const alike of foldAlike(blocks, atLeast)) {
    const component = componentOf(alike[0].change.address);
    if (component !== within) yield look.paint("strong", `${printable(component)}  ${counts.get(component) ?? ""}`);
    within = component;
    yield* headLines(alike, look, costPart(plan, alike));
    if (options.summary === true) continue;
    yield* alike.length === 1 ? bodyLines(alike[0], options.steps !== true, look) : alikeLines(alike, look);
    yield "";
  }
  if (options.summary === true && blocks.length > 0) yield "";
  if (touched.length > 0) yield* touchedLines(touched, look);
  if (options.steps === true && plan.steps.length > 0) yield* stepLines(plan, look);
  if (plan.orphans.length > 0) {
    yield look.paint("note", `${countOf(plan.orphans.length, "orphan")} of earlier runs: reconcile orphans list`);
    yield "";
  }
  yield* owedLines(plan, look);
  yield* plannedOutputLines(plan, look.width);
  yield* options.summary === true
    ? consentsInBrief(plan, options.grants, look)
    : consentLines(plan, options.grants, look);
  for (const line of hang("", summaryText(plan), look.width)) yield look.paint("strong", line);
  if (plan.cost !== undefined)
    for (const line of hang("", costText(plan.cost), look.width)) yield look.paint("strong", line);
}

/** Commands that an earlier run, or a person, left owed. */
function* owedLines({ owed = [] }: Plan, { paint, width }: PlanLayout) {
  for (const one of owed) for (const line of hang("", owedText(one), width)) yield paint("change", line);
  if (owed.length > 0) yield "";
}

const costPart = ({ cost }: Plan, alike: Alike): string | undefined =>
  partText(
    cost,
    alike.map(({ change }) => change.address),
  );

export const signOfAction: Record<PlanBlock["change"]["action"], { readonly sign: string; readonly hue: Hue }> = {
  create: { sign: "+", hue: "good" },
  update: { sign: "~", hue: "change" },
  replace: { sign: "±", hue: "danger" },
  delete: { sign: "-", hue: "danger" },
  import: { sign: "<", hue: "note" },
  forget: { sign: "x", hue: "note" },
};

/** From this many on, instances that change alike are shown as one. */
const manyAlike = 100;

function* headLines(alike: Alike, look: PlanLayout, cost: string | undefined) {
  const [{ change, verb: does, loses }] = alike;
  const verb = cost === undefined ? does : `${does}, ${cost}`;
  const { paint, width } = look;
  const { sign, hue } = signOfAction[change.action];
  const address = printable(
    alike.length === 1
      ? change.address
      : `${change.address} … ${alike.at(-1)?.change.address} (${numberText(alike.length)})`,
  );
  const lead = `${loses ? paint("danger", "!") : " "} ${paint(hue, sign)} ${paint("strong", address)}  `;
  const verbs = hang(" ".repeat(displayColumns(address) + 6), verb, width);
  // A long address leaves no room beside it, so its verb gets the next line.
  if (displayColumns(address) + 6 > width / 2) {
    yield lead.trimEnd();
    for (const line of hang("      ", verb, width)) yield paint(loses ? "danger" : hue, line);
  } else
    for (const [index, line] of verbs.entries())
      yield index === 0
        ? `${lead}${paint(loses ? "danger" : hue, line.trimStart())}`
        : paint(loses ? "danger" : hue, line);
}

/** The lines under the head of many instances that change alike. */
function* alikeLines(alike: Alike, look: PlanLayout): Generator<string> {
  const [{ change, downtimeMs }] = alike;
  const { leaves: _, ...shared } = change;
  yield* bodyLines(
    { change: { ...shared, fields: fieldsOfAlike(alike) }, steps: [], orderMatters: false },
    false,
    look,
  );
  if (downtimeMs !== undefined && downtimeMs > 0)
    yield `      ${padTo("downtime", 12)}  about ${durationText(downtimeMs)} each`;
  const left = alike.reduce((sum, { change: { leaves = [] } }) => sum + leaves.length, 0);
  if (left > 0) yield* hang(`      ${padTo("left behind", 12)}  `, countOf(left, "thing"), look.width);
  yield look.paint("quiet", "      each by itself: --steps");
}

/** The lines under the head of a block, indented by six. */
export function* bodyLines(
  { change, steps, orderMatters, downtimeMs }: Omit<PlanBlock, "verb" | "loses">,
  showOrder: boolean,
  look: PlanLayout,
): Generator<string> {
  const { paint, width } = look;
  const reason = `${printable(change.because)}${placeText(change.source)}`;
  for (const line of hang("      ", reason, width)) yield paint("quiet", line);
  yield* change.action === "create" ? createdLines(change.fields, look) : changedLines(change.fields, look);
  if (showOrder && orderMatters) yield* orderLines(steps, look);
  if (downtimeMs !== undefined && downtimeMs > 0)
    yield `      ${padTo("downtime", 12)}  about ${durationText(downtimeMs)}`;
  for (const left of change.leaves ?? []) yield* hang(`      ${padTo("left behind", 12)}  `, printable(left), width);
}

const placeText = (source: SourcePosition | undefined): string =>
  source === undefined ? "" : ` (${printable(source.file)}:${source.line})`;

/** A new resource has no former values: its values run on in lines, and only rules get a line each. */
function* createdLines(fields: readonly FieldChange[], look: PlanLayout) {
  const values = fields.filter((field) => field.field !== "rules" && field.after !== null);
  const items = values.map(
    ({ field, after }, index) =>
      `${printable(field)} ${besideOthers(valueText(field, after))}${index < values.length - 1 ? "," : ""}`,
  );
  if (items.length > 0) for (const line of wrapItems(items, look.width - 6)) yield `      ${line}`;
  for (const field of fields) if (field.field === "rules") yield* ruleLines(field, look);
}

/** In a row of values a text with a comma is quoted, so that the comma does not look like the end of the text. */
const besideOthers = (text: string): string => (text.includes(",") && !text.startsWith('"') ? `"${text}"` : text);

function* changedLines(fields: readonly FieldChange[], look: PlanLayout) {
  let labelWidth = 12;
  for (const { field } of fields) labelWidth = Math.max(labelWidth, displayColumns(printable(field)));
  for (const change of fields) {
    const { field, before, after, forces } = change;
    if (field === "rules") {
      yield* ruleLines(change, look);
      continue;
    }
    const label = `      ${padTo(printable(field), labelWidth)}  `;
    const values = changeText(field, before, after);
    yield* hang(label, `${values}${forces === undefined ? "" : " (forces the replacement)"}`, look.width);
  }
}

function* ruleLines({ field, before, after }: FieldChange, { paint, width }: PlanLayout) {
  const [sign, hue, rule] = ruleSign(before, after);
  const text = before === after ? changeText(field, before, after) : valueText(field, rule);
  for (const [index, line] of hang("        ", `rule ${text}`, width).entries())
    yield index === 0 ? `      ${paint(hue, sign)} ${line.slice(8)}` : line;
}

/** The sign of a rule. A rule towards a group that is replaced is on both sides. */
export const ruleSign = (
  before: FieldChange["before"],
  after: FieldChange["after"],
): readonly [sign: string, hue: Hue, rule: FieldChange["after"]] =>
  before === null ? ["+", "good", after] : after === null ? ["-", "danger", before] : ["~", "change", after];

/** The steps of one resource. A need that is not in this list is named. */
function* orderLines(steps: readonly Step[], { paint, width, titles }: PlanLayout) {
  const own = new Set(steps.map((step) => step.id));
  let number = 0;
  for (const [index, step] of steps.entries()) {
    const mark = isFallback(step) ? "?" : `${++number}.`;
    const foreign = step.needs.filter((need) => !own.has(need.step));
    const elsewhere = [...new Set(foreign.map((need) => titles.get(need.step) ?? printable(need.step)))];
    const after = elsewhere.length === 0 ? "" : ` (after ${fewOf(elsewhere, 4)})`;
    const label = `      ${padTo(index === 0 ? "steps" : "", 12)}  ${padTo(mark, 3)} `;
    for (const line of hang(label, `${printable(step.title)}${after}`, width))
      yield isFallback(step) ? paint("quiet", line) : line;
  }
}

function* touchedLines(touched: readonly Touched[], look: PlanLayout) {
  yield look.paint("strong", "Also touched, and unchanged in the end");
  for (const { address, steps, downtimeMs } of touched) {
    const titles = steps.map((step) => printable(step.title)).join("; ");
    const down = downtimeMs === undefined ? "" : ` (down for about ${durationText(downtimeMs)})`;
    yield* hang(`    ${padTo(printable(address), 16)}  `, `${titles}${down}`, look.width);
  }
  yield "";
}

export function* stepLines(plan: Plan, { paint, width }: PlanLayout) {
  const names = stepNames(plan.steps);
  const digits = Math.max(2, String(plan.steps.length).length);
  let conditional = false;
  yield paint("strong", "Steps (at the same time wherever the order allows it)");
  for (const step of plan.steps) {
    if (isGate(step)) continue;
    const fallback = isFallback(step);
    conditional ||= fallback;
    const after = [...new Set(step.needs.flatMap((need) => names.get(need.step) ?? []))];
    const remarks = [
      ...(after.length === 0 ? [] : [`after ${fewOf(after, 4)}`]),
      ...(step.estimateMs >= 1000 ? [`about ${durationText(step.estimateMs)}`] : []),
    ];
    const label = `  ${(fallback ? "?" : mustGet(names, step.id)).padStart(digits)}  `;
    const text = `${printable(step.title)}${remarks.length === 0 ? "" : ` (${remarks.join("; ")})`}`;
    for (const line of hang(label, text, width)) yield fallback ? paint("quiet", line) : line;
  }
  if (conditional) yield paint("quiet", `  ${"?".padStart(digits)}  only if the step before it fails`);
  yield "";
}

/** How wide a column of addresses is: for the widest of them, as long as there is room beside it. */
function columnOf(widths: readonly number[]): number {
  let widest = 16;
  for (const width of widths) widest = Math.max(widest, width);
  return Math.min(40, widest);
}

/** One line for each kind of consent, and one for what gives it: the addresses stand above. */
function* consentsInBrief(plan: Plan, grants: Grants | undefined, { paint, width }: PlanLayout) {
  const blocks = consentBlocks(plan.consents);
  const missing = new Set(missingConsents(plan.consents, grants ?? noGrants));
  for (const { title, consents, grant, kind } of blocks) {
    const open = consents.filter((consent) => missing.has(consent));
    const each = open.length > 1 && kind === "prevent_destroy" ? "--unprotect with the address of each" : undefined;
    const gives = open.length === 0 ? " (permitted)" : `: ${each ?? grant ?? open[0]?.grant ?? ""}`;
    for (const line of hang("! ", printable(`${title}${gives}`), width)) yield paint("danger", line);
  }
  if (blocks.length > 0) yield "";
}

function* consentLines(plan: Plan, grants: Grants | undefined, look: PlanLayout) {
  const { paint, width } = look;
  const missing = grants === undefined ? undefined : new Set(missingConsents(plan.consents, grants));
  for (const { title, consents, grant, kind } of consentBlocks(plan.consents)) {
    yield paint("danger", `! ${title}`);
    let open = false;
    const column = columnOf(consents.map(({ address = "" }) => displayColumns(printable(address))));
    for (const consent of consents) {
      const given = missing !== undefined && !missing.has(consent);
      if (!given) open = true;
      const label = consent.address === undefined ? "    " : `    ${padTo(printable(consent.address), column)}  `;
      yield* hang(label, `${printable(consent.detail)}${given ? " (permitted)" : ""}`, width);
      if (!given && grant !== consent.grant && kind !== "data_loss")
        yield* hang("      → ", printable(consent.grant), width);
    }
    if (grant !== undefined && open)
      yield* hang(kind === "flush" ? "  → all: " : "  → permit it with ", printable(grant), width);
    yield "";
  }
}
