/** `reconcile destroy`: plans and applies the deletion of everything in the state. */
import { command } from "../command";
import { applyFlags, planFlags } from "../flags";
import { planOptions } from "../plan-options";
import { planAndApply, planOfFiles } from "../planning";
import { withSession } from "../with-session";
import { readWorkspace } from "../workspace";

export const destroyCommand = command({
  usage: "destroy [FILE|DIR]… [flags]",
  summary: "deletes everything in the state",
  section: "From a file to the service",
  examples: [["reconcile destroy", "shows what would be deleted and what is lost with it, and asks"]],
  flags: [...planFlags, ...applyFlags],
  run(invocation) {
    const workspace = readWorkspace(invocation, { needed: false });
    return withSession(invocation, workspace, (session) =>
      planAndApply(session, planOfFiles({ ...planOptions(invocation.flags), destroy: true })),
    );
  },
});
