/** `reconcile destroy`: plans and applies the deletion of everything in the state. */
import type { Invocation } from "../invocation";
import { planAndApply, planOptions, withSession } from "../planning";
import { readWorkspace } from "../workspace";

export function run(invocation: Invocation): Promise<number> {
  const workspace = readWorkspace(invocation, { needed: false });
  return withSession(invocation, workspace, (session) =>
    planAndApply(session, { ...planOptions(invocation.flags), destroy: true }),
  );
}
