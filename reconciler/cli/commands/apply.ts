/**
 * `reconcile apply`: plans, asks and carries the plan out; or carries out exactly the plan that was saved and reviewed.
 */

import { canonicalJson } from "../../core/text/canonical-json";
import { mergeDialect } from "../../dialect/merge-dialect";
import { desiredHere, type SavedPlan, stale, whatChanged } from "../../saved-plan";
import { originAt } from "../../service/origin-at";
import { command, type Invocation } from "../command";
import { fail } from "../compose";
import { applyFlags, decidingFlags, type Flags, planFlags } from "../flags";
import type { Finish } from "../output";
import { checkoutDiffers, findFolder, nameState, readPlan } from "../plan-file";
import { planOptions } from "../plan-options";
import { approveAndApply, planAndApply, planOfFiles, prepare, showPlan } from "../planning";
import { reviewPlan } from "../review";
import { type Session, stoppedBefore } from "../session";
import type { Stop } from "../stop-signals";
import { lockedSession, withSession } from "../with-session";
import { chosenEnvironment, readWorkspace, type Workspace } from "../workspace";

export const applyCommand = command({
  usage: "apply [FILE|DIR|PLAN]… [flags]",
  summary: "plans, asks and carries the plan out; or applies a saved plan",
  section: "From a file to the service",
  examples: [
    ["reconcile apply", "shows the plan, asks, and does it"],
    ["reconcile apply change.plan.json", "exactly what was reviewed; refused when anything moved on since"],
    ["reconcile apply -y --confirm-flush volume.data", "does not ask, and gives your word that this volume is flushed"],
    ["reconcile apply -y --allow-loss vm.db", "does not ask, and permits what the plan says vm.db loses, no more"],
    ["reconcile apply -y --allow-data-loss", "does not ask, even for what loses data"],
  ],
  flags: [...planFlags, ...applyFlags, "allow-empty"],
  run(invocation) {
    const [file] = invocation.args;
    const saved = file !== undefined && invocation.args.length === 1 ? readPlan(file) : undefined;
    if (file !== undefined && saved !== undefined) return applySaved(invocation, saved, file);
    return withSession(invocation, readWorkspace(invocation), (session) =>
      planAndApply(session, planOfFiles(planOptions(invocation.flags))),
    );
  },
});

function applySaved(invocation: Invocation, read: SavedPlan, file: string): Promise<number> {
  const { flags, output } = invocation;
  output.hide(read.sensitive ?? []);
  // A plan of an older version lacks the settings that dialects have gained since: they get their defaults.
  const saved = { ...read, dialect: mergeDialect(read.dialect) };
  const given = (["file", ...decidingFlags] as const).filter((name) => flags[name] !== undefined);
  if (given.length > 0)
    throw fail(
      "cli/bad-flag",
      `a saved plan is applied as it is: ${given.map((name) => `--${name}`).join(", ")} can change nothing of it`,
      "plan again with them, or leave them out",
    );
  const folder = findFolder(saved, file);
  const desired = { ...desiredHere(saved, folder), service: { ...saved.desired.service, baseUrl: saved.base_url } };
  const differs = checkoutDiffers(saved, folder);
  const workspace: Workspace = {
    desired,
    diagnostics: differs === undefined ? [] : [differs],
    sources: [],
    given: [],
    folder,
    dialect: saved.dialect,
    sensitive: new Set(saved.sensitive),
  };
  return withSession(invocation, workspace, (session) => {
    refuseElsewhere(session, saved);
    return lockedSession({ ...session, savedPlanId: saved.id }, "run", (held, stop) => applyHeld(held, saved, stop));
  });
}

async function applyHeld(session: Session, saved: SavedPlan, stop: Stop): Promise<Finish> {
  const { invocation } = session;
  const prepared = await prepare({ ...session, signal: stop.soft }, saved.options);
  if (stop.soft.aborted) throw stoppedBefore();
  const differences = whatChanged(saved, prepared.plan);
  if (differences.length > 0) throw stale(differences);
  const review = await reviewPlan(session, prepared);
  const approval = { reviewed: saved.consents };
  showPlan(invocation, prepared, review, approval);
  return approveAndApply(session, prepared, review, approval, stop);
}

/** The reviewed plan is for one service and one state, whatever a flag or a variable of this machine says. */
function refuseElsewhere({ service, store, workspace, invocation }: Session, saved: SavedPlan): void {
  const state = nameState(store.location, workspace, invocation.flags);
  const differences = [
    ...(originAt(service.baseUrl) === originAt(saved.base_url)
      ? []
      : [`it is for the service ${saved.base_url}, not ${service.baseUrl}`]),
    ...flagsOfOtherPlace(saved.desired.environment, invocation.flags),
    ...(state === saved.state ? [] : [`it is for the state ${saved.state}, not ${state}`]),
    ...(canonicalJson(service.dialect) === canonicalJson(saved.dialect) ? [] : ["the dialect is another one now"]),
  ];
  if (differences.length > 0) throw stale(differences);
}

/** Refuses `--env` or RECONCILE_ENV with another environment than the saved plan's. */
function flagsOfOtherPlace(planned: string | undefined, flags: Flags): string[] {
  const named = chosenEnvironment(flags);
  if (named === undefined || named === planned) return [];
  return [
    planned === undefined
      ? `it is for no environment, not ${named}`
      : `it is for the environment ${planned}, not ${named}`,
  ];
}
