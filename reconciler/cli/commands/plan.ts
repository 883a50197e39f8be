/** `reconcile plan`: shows what apply would do. Sends only reads and writes nothing but the file of --out. */
import { hasErrors } from "../../core/model/diagnostic";
import type { Invocation } from "../invocation";
import { allDiagnostics, planOptions, prepare, showPlan, withSession } from "../planning";
import { savePlan, writePlan } from "../saved-plan";
import { readWorkspace } from "../workspace";

export function run(invocation: Invocation): Promise<number> {
  const { flags, output } = invocation;
  const workspace = readWorkspace(invocation, { needed: flags.destroy !== true });
  return withSession(invocation, workspace, async (session) => {
    const { plan, desired } = await prepare(session, planOptions(flags));
    const diagnostics = allDiagnostics(session, plan);
    if (flags.markdown === true) {
      const { planMarkdown } = require("../../report/markdown") as typeof import("../../report/markdown");
      output.print(planMarkdown(plan));
    } else showPlan(invocation, plan);
    const failed = hasErrors(diagnostics);
    if (flags.out !== undefined && !failed) {
      writePlan(flags.out, savePlan(plan, desired, workspace.folder));
      output.note(`Saved the plan: reconcile apply ${flags.out}`);
    }
    const pending = plan.changes.length > 0 || plan.steps.length > 0;
    return output.finish({
      exitCode: failed ? 1 : pending && flags["detailed-exitcode"] === true ? 2 : 0,
      diagnostics,
      plan,
    });
  });
}
