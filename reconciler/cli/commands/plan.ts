/** `reconcile plan`: shows what apply would do. Sends only reads and writes nothing but the file of --out. */

import type { Diagnostic } from "../../core/model/diagnostic";
import { changesOutputs } from "../../core/plan/outputs";
import type { Plan } from "../../core/plan/plan";
import { exposureMarkdown } from "../../report/exposure-text";
import { commentLimit, planMarkdown } from "../../report/markdown";
import { annotated, printAnnotations, readAnnotations } from "../annotations";
import { command, type Invocation } from "../command";
import { fail } from "../compose";
import { forEachEnvironment, isForAll } from "../each-environment";
import { planFlags } from "../flags";
import type { Output } from "../output";
import { planOptions, prepareBeside, showPlan, withSession } from "../planning";
import { reviewPlan } from "../review";
import { nameState, savePlan, writePlan } from "../saved-plan";
import { readWorkspace } from "../workspace";

export const planCommand = command({
  usage: "plan [FILE|DIR]… [flags]",
  summary: "shows what apply would do, in which order, and what it would cost you",
  section: "From a file to the service",
  examples: [
    ["reconcile plan", "looks and shows; sends only reads"],
    ["reconcile plan --steps", "every request in its order"],
    ["reconcile plan --out change.plan.json", "saves what you reviewed, for: reconcile apply change.plan.json"],
    ["reconcile plan --detailed-exitcode", "exit 2 when changes are pending, for scripts"],
    ["reconcile plan --target vm.db", "only this VM and what it stands on"],
    ["reconcile plan --env all", "each environment that the file declares, in turn"],
  ],
  flags: [...planFlags, "out", "markdown", "annotations", "detailed-exitcode", "destroy"],
  run: (invocation) => annotated(invocation, () => planHere(invocation)),
});

function planHere(invocation: Invocation): Promise<number> {
  if (!isForAll(invocation)) return plan(invocation);
  if (invocation.flags.out !== undefined)
    throw fail("cli/bad-flag", "--out saves the plan of one environment, not of all", "--env NAME --out FILE for each");
  return forEachEnvironment(invocation, plan);
}

/** Comments of several environments on one merge request are told apart by it. */
const placeOf = ({ where }: Output) => ({
  ...(where === undefined ? {} : { where }),
  ...(where?.environment === undefined ? {} : { key: where.environment }),
});

/** What this service never shows is for the doctor to say; a plan says it where it changes such a thing. */
function withoutStanding(diagnostics: readonly Diagnostic[], { changes }: Plan): readonly Diagnostic[] {
  if (changes.some(({ kind }) => kind === "group")) return diagnostics;
  return diagnostics.filter(({ code }) => code !== "plan/group-names-unobserved");
}

async function plan(invocation: Invocation): Promise<number> {
  const { flags, output } = invocation;
  const format = readAnnotations(invocation);
  const workspace = readWorkspace(invocation, { needed: flags.destroy !== true });
  return withSession(invocation, workspace, async (session) => {
    const prepared = await prepareBeside(session, planOptions(flags));
    const { plan, desired } = prepared;
    const review = await reviewPlan(session, prepared);
    const { findings, diagnostics } = review;
    if (format !== undefined) printAnnotations(invocation, format, findings);
    else if (flags.markdown === true) {
      const exposure = review.exposure === undefined ? "" : exposureMarkdown(review.exposure, commentLimit / 8);
      output.print(
        planMarkdown(plan, { limit: commentLimit - exposure.length, findings, ...placeOf(output) }) + exposure,
      );
    } else showPlan(invocation, prepared, review);
    const failed = review.exitCode !== 0;
    if (flags.out !== undefined && !failed) {
      const { baseUrl, dialect } = session.service;
      const { folder } = workspace;
      const state = nameState(session.store.location, workspace, flags);
      const saved = savePlan(plan, desired, { folder, planFile: flags.out, baseUrl, dialect, state });
      writePlan(flags.out, saved, (text) => output.masked(text));
      output.note(`Saved the plan: reconcile apply ${flags.out}`);
    }
    const pending = plan.changes.length > 0 || plan.steps.length > 0 || changesOutputs(plan.outputs);
    return output.finish({
      exitCode: failed ? review.exitCode : pending && flags["detailed-exitcode"] === true ? 2 : 0,
      diagnostics: withoutStanding(diagnostics, plan),
      forPrograms: diagnostics,
      plan,
      findings,
    });
  });
}
