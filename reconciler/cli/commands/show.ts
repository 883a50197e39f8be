/** `reconcile show`: a saved plan as it was reviewed, from its file alone. Asks no service and reads no state. */

import { findingsOfPlan } from "../../core/findings/plan-findings";
import { onlyDefined } from "../../core/text/objects";
import { printable } from "../../core/text/printable";
import { commentLimit, planMarkdown } from "../../report/markdown";
import { planOfSaved, type SavedPlan } from "../../saved-plan";
import { command, oneArgument } from "../command";
import { fail } from "../compose";
import { grantsInFlags } from "../consent";
import { readPlan } from "../plan-file";
import { showPlanText, tellPlan } from "../planning";
import { withoutPlanText } from "../review";
import { readGiven } from "../workspace";

export const showCommand = command({
  usage: "show F.plan.json [--steps|--summary|--markdown|--json]",
  summary: "a saved plan, as plan showed it",
  section: "From a file to the service",
  examples: [
    ["reconcile show change.plan.json", "what was saved with plan --out, read again"],
    ["reconcile show change.plan.json --steps", "every request in its order"],
  ],
  flags: ["steps", "summary", "markdown", "json", "json-into", "no-color", "log-level"],
  positionals: oneArgument("a plan that was saved with plan --out"),
  async run(invocation) {
    const { args, flags, output } = invocation;
    const [file] = args;
    const saved = readPlan(file);
    if (saved === undefined) {
      const fix = "reconcile plan --out change.plan.json writes one";
      readGiven(file, fix);
      throw fail("plan/unreadable", `${file} is no saved plan`, fix);
    }
    output.hide(saved.sensitive ?? []);
    const plan = planOfSaved(saved);
    const { project, environment } = saved.desired;
    output.locate({ service: saved.base_url, ...onlyDefined({ project, environment }), state: saved.state });
    // The marker is that of `plan --markdown`: one comment for each environment.
    const comment = { where: output.where, limit: commentLimit, ...onlyDefined({ key: environment }) };
    const { findings = findingsOfPlan({ plan, diagnostics: plan.diagnostics }, { deny: [], strict: false }) } = saved;
    if (flags.markdown === true) output.print(planMarkdown(plan, { ...comment, findings }));
    else {
      if (!output.json) output.print(`${headOfPlan(saved)}\n`);
      // Whoever applies this file approves what it lists.
      showPlanText(invocation, plan, { ...grantsInFlags(flags), approved: saved.consents });
    }
    tellPlan(output, plan, findings);
    return output.finish({ exitCode: 0, diagnostics: withoutPlanText({ findings }), findings, plan });
  },
});

const headOfPlan = ({ id, created_by, base_url, state, serial, desired }: SavedPlan): string =>
  [
    `Plan ${id.slice(0, 12)}, made by ${created_by}`,
    `  service      ${base_url}`,
    ...(desired.project === undefined ? [] : [`  project      ${desired.project}`]),
    ...(desired.environment === undefined ? [] : [`  environment  ${desired.environment}`]),
    `  state        ${state}, serial ${serial}`,
    `  files        ${desired.files.length === 0 ? "none" : desired.files.join(", ")}`,
    "",
  ]
    .map(printable)
    .join("\n");
