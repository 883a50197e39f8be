/** A plan as the golden stories show it: one line a step, with what it needs and why, and ids by what they identify. */
import { createHash } from "node:crypto";
import type { Plan } from "../../reconciler/core/plan/plan";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";

export function planLines(plan: Plan): string[] {
  const lines: string[] = [];
  for (const change of plan.changes) {
    lines.push(`${change.address}: ${change.action} (${change.because})`);
    for (const field of change.fields)
      lines.push(`    ${field.verb} ${field.field}: ${JSON.stringify(field.before)} -> ${JSON.stringify(field.after)}`);
    for (const loss of change.losses) lines.push(`    LOST: ${loss.detail}`);
    for (const rest of change.leaves ?? []) lines.push(`    left behind: ${rest}`);
  }
  if (plan.changes.length === 0) lines.push("no changes");
  lines.push(`unchanged: ${plan.unchanged}`, "");
  for (const [index, step] of plan.steps.entries()) {
    const needs = step.needs.map((need) => `${need.on === "done" ? "" : `${need.on} of `}${need.step}`).join(", ");
    lines.push(`${index + 1}. ${step.id} [${step.action.operation}] ${step.title}`);
    if (needs !== "") lines.push(`    after ${needs}`);
  }
  if (plan.steps.length === 0) lines.push("no steps");
  if (plan.consents.length > 0) lines.push("");
  for (const consent of plan.consents) lines.push(`consent ${consent.kind}: ${consent.detail} -> ${consent.grant}`);
  if (plan.diagnostics.length > 0) lines.push("");
  for (const { severity, code, summary, fix } of plan.diagnostics)
    lines.push(`${severity} ${code}: ${summary}${fix === undefined ? "" : ` -> ${fix}`}`);
  if (plan.bookkeeping.length > 0) lines.push("");
  for (const change of plan.bookkeeping) lines.push(`the state learns: ${canonicalJson(change)}`);
  const down = Object.entries(plan.estimate.downtimeMs).map(([address, ms]) => `${address} down ${ms / 1000} s`);
  lines.push("", `estimate: ${[`${plan.estimate.durationMs / 1000} s`, ...down].join(", ")}`);
  return lines;
}

const fingerprint = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 12);

/** What each step records, and a fingerprint of every part, so that no difference of a plan goes unseen. */
export function recordLines({ steps, changes, ...rest }: Omit<Plan, "lineage" | "serial">): string[] {
  const lines: string[] = [];
  for (const change of changes) lines.push(`change ${change.address} ${fingerprint(change)}`);
  for (const step of steps) {
    lines.push(`step ${step.id} ${fingerprint(step)}`);
    if (step.forgets === true) lines.push("  forgets");
    for (const [field, value] of Object.entries(step.record ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)))
      lines.push(`  ${field}: ${canonicalJson(value)}`);
  }
  for (const [part, value] of Object.entries(rest).sort(([one], [other]) => (one < other ? -1 : 1)))
    lines.push(`${part} ${fingerprint(value)}`);
  return lines;
}

/** Ids by what they identify, so that the files can be read and do not change with the order in which ids were given. */
export function nameIds(text: string, ids: ReadonlyMap<string, string>): string {
  const labels = new Map([...ids].map(([label, id]) => [id, label]));
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}/g, (id) => labels.get(id) ?? "@other")
    .replace(/-old-[0-9a-f]{6}\b/g, "-old-@id");
}
