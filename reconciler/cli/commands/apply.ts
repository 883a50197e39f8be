/** `reconcile apply`: plans, asks, and makes it so; or applies exactly the plan that was saved and reviewed. */

import { fail } from "../compose";
import type { Invocation } from "../invocation";
import { approveAndApply, awaitOthers, planAndApply, planOptions, prepare, showPlan, withSession } from "../planning";
import { readPlan, type SavedPlan, whatChanged } from "../saved-plan";
import { listenForStop } from "../stop-signals";
import { readWorkspace } from "../workspace";

export function run(invocation: Invocation): Promise<number> {
  const saved = invocation.args.length === 1 ? readPlan(invocation.args[0]!) : undefined;
  if (saved !== undefined) return applySaved(invocation, saved);
  return withSession(invocation, readWorkspace(invocation), (session) =>
    planAndApply(session, planOptions(invocation.flags)),
  );
}

function applySaved(invocation: Invocation, saved: SavedPlan): Promise<number> {
  const workspace = { desired: saved.desired, diagnostics: [], sources: [], folder: saved.folder };
  return withSession(invocation, workspace, async (session) => {
    const stop = listenForStop(invocation.output);
    try {
      await awaitOthers(session, stop.soft);
      const prepared = await prepare(session, saved.options);
      // A new state has a lineage only once it is written.
      const plan =
        saved.serial === 0 && prepared.plan.serial === 0 ? { ...prepared.plan, lineage: saved.lineage } : prepared.plan;
      const differences = whatChanged(saved, plan);
      if (differences.length > 0)
        throw fail(
          "plan/stale",
          `this plan is stale: ${differences.slice(0, 10).join("; ")}${differences.length > 10 ? `; and ${differences.length - 10} more` : ""}`,
          "plan again, review it, and apply the new one",
        );
      showPlan(invocation, { ...prepared, plan });
      return await approveAndApply(session, { ...prepared, plan }, { reviewed: true }, stop);
    } finally {
      stop.close();
    }
  });
}
