/**
 * Every folder beside this file is one story. `UPDATE_GOLDEN=1` writes what a plan is now; read it before it is kept.
 * `steps.txt` tells the plan and how it ended. `records.txt` holds what each step records, and a fingerprint of each
 * part of the plan: where one differs, `GOLDEN_PLANS=FOLDER` writes the plans there as JSON, to be compared with those
 * that the commit before has written to another folder.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asClosed } from "../../reconciler/core/model/desired";
import { makePlan, type Plan } from "../../reconciler/core/plan/plan";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import type { Prepared } from "../../reconciler/engine/plan";
import { sidesOf } from "../../reconciler/report/sides";
import { idsByName, nameIds, planLines, readDesiredOf, readStory, tell } from "../support/golden-story";


const plans = process.env.GOLDEN_PLANS;
const stories = readdirSync(__dirname).filter((name) => /^\d{3}-/.test(name)).sort();

describe("golden stories", () => {
  it.each(stories)("%s plans as written, and ends as it says", async (name) => {
    const folder = join(__dirname, name);
    const story = readStory(folder);
    const stage = await tell(folder, story);
    const desired = readDesiredOf(folder, "reconcile.yaml", stage);
    const { refresh: observe = true, ...options } = story.options ?? {};
    const prepared = await stage.plan(desired, options, observe);
    const { plan } = prepared;
    expect(sidesProblems(prepared)).toEqual([]);
    const { state, live } = prepared;
    const { takesPortRanges } = stage.client;
    const again = makePlan({
      ...{ desired: asClosed(desired), state, live, can: stage.client.can, takesPortRanges, options },
      findings: [],
    });
    expect(canonicalJson(again.steps)).toBe(canonicalJson(plan.steps));

    const before = idsByName(stage);
    stage.takeSent();
    const report = await stage.apply(prepared);
    const sent = stage.takeSent().filter(({ operation }) => !/list|get$/.test(operation));
    const after = [`then: ${story.title}`];
    if (report === undefined) after.push("nothing is applied, because of the errors above");
    else {
      after.push(`requests: ${sent.map(({ operation }) => operation).join(", ") || "none"}`);
      for (const { operation, message } of sent) if (message !== undefined) after.push(`REFUSED ${operation}: ${message}`);
      for (const { step, result } of report.steps)
        if (result.end !== "done") after.push(`${result.end} ${step.id}: ${result.message ?? ""}`);
      const { destroy: _, replace: __, ...lasting } = options;
      const next = await stage.plan(desired, options.destroy ? options : lasting, observe);
      if (hasNothingToDo(next.plan)) after.push("planned again: nothing to do");
      else after.push("planned again:", ...planLines(next.plan).map((line) => `  ${line}`.trimEnd()));
    }
    const ids = new Map([...idsByName(stage), ...before]);
    const header = [`${story.title}: ${story.teaches}`, ""];
    const { lineage: _, serial: __, ...value } = plan;
    const whole = nameIds(`${canonicalJson(value, 1)}\n`, ids);
    if (plans !== undefined) {
      mkdirSync(plans, { recursive: true });
      writeFileSync(join(plans, `${name}.json`), whole);
    }
    compare(join(folder, "records.txt"), `${recordLines(JSON.parse(whole) as Plan).join("\n")}\n`);
    compare(join(folder, "steps.txt"), nameIds([...header, ...planLines(plan), "", ...after, ""].join("\n"), ids));
  });
});

function compare(path: string, text: string): void {
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, text);
  else expect(existsSync(path) ? readFileSync(path, "utf8") : "", path).toBe(text);
}

/** What must be so of desired beside live, whatever the plan is: every sentence that is untrue. */
function sidesProblems({ desired, state, live, plan }: Prepared): string[] {
  const sides = sidesOf({ desired: desired.resources, records: state.resources, live, changes: plan.changes });
  const problems: string[] = [];
  const byAddress = new Map(sides.map((side) => [side.address, side]));
  if (byAddress.size < sides.length) problems.push("an address is shown twice");
  for (const resource of desired.resources)
    if (!byAddress.has(resource.address)) problems.push(`${resource.address} is not shown`);
  for (const change of plan.changes) {
    const side = byAddress.get(change.address);
    if (side?.action !== change.action) problems.push(`${change.address}: ${side?.action} and not ${change.action}`);
    if (change.action !== "update" && change.action !== "replace") continue;
    const shown = new Map(side?.rows.map((row) => [row.field, row]));
    for (const { field, before, after } of change.fields) {
      // An address is in the heading; what follows another resource reads the same on both sides.
      if (field === "address" || before === after) continue;
      if (field === "rules") {
        const text = String(before ?? after);
        const rows = side?.rows.filter(({ field: name }) => name === "rule") ?? [];
        if (!rows.some((row) => row.differs === true && [row.desired, row.live].includes(text)))
          problems.push(`${change.address}: the rule ${text} is not marked`);
      } else if (shown.get(field)?.differs !== true) problems.push(`${change.address}: ${field} is not marked`);
    }
  }
  for (const { address, action, rows } of sides)
    if (action === undefined && rows.some(({ differs }) => differs === true)) problems.push(`${address} is marked`);
  return problems;
}

const fingerprint = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 12);

/** What each step records, and a fingerprint of every part, so that no difference of a plan goes unseen. */
function recordLines({ steps, changes, diagnostics, ...others }: Omit<Plan, "lineage" | "serial">): string[] {
  const lines: string[] = [];
  // The text of a fix is made of its parts.
  const rest = { ...others, diagnostics: diagnostics.map(({ fixParts: _, ...diagnostic }) => diagnostic) };
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
