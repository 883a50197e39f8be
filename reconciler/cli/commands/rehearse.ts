/** `reconcile rehearse`: carries the plan out on a twin of the live world. The real service is sent reads only. */

import { randomInt, randomUUID } from "node:crypto";
import { runWithBadLuck } from "../../rehearse/chaos";
import { type Rehearsal, rehearse, speedOfTwin, speedUnderChaos, withCatalogue } from "../../rehearse/rehearsal";
import type { TwinSetting } from "../../rehearse/twin-run";
import { findingEvent } from "../../report/json-lines";
import { rehearsalEvent, rehearsalText, trialEvent, trialText } from "../../report/rehearsal-text";
import { command } from "../command";
import { fail, readCount, readNumber } from "../compose";
import { commonFlags } from "../flags";
import { planOptions } from "../plan-options";
import { prepareBeside } from "../planning";
import { reviewPlan, withoutPlanText } from "../review";
import type { Session } from "../session";
import { cutShort, listenForStop } from "../stop-signals";
import { withSession } from "../with-session";
import { readWorkspace } from "../workspace";

export const rehearseCommand = command({
  usage: "rehearse [FILE|DIR]… [--chaos [N]]",
  summary: "runs the plan on a twin of the live world first; the service is only read",
  section: "From a file to the service",
  examples: [["reconcile rehearse", "the real plan on a twin of what exists, before the service sees a single write"]],
  flags: [
    "file",
    "target",
    "replace",
    "adopt",
    "accept-service",
    "destroy",
    "chaos",
    "seed",
    "deny",
    "strict",
    ...commonFlags,
  ],
  run(invocation) {
    const { flags } = invocation;
    const trials = readCount(flags.chaos, "--chaos");
    if (trials !== undefined && flags.replace !== undefined)
      throw fail(
        "cli/bad-flag",
        "--chaos runs again and again, and --replace would replace each time",
        "rehearse them apart",
      );
    const workspace = readWorkspace(invocation, { needed: flags.destroy !== true });
    return withSession(invocation, workspace, (session) => rehearseOnTwin(session, trials));
  },
});

async function rehearseOnTwin(session: Session, trials: number | undefined): Promise<number> {
  const { invocation, store, service } = session;
  const { flags, output } = invocation;
  const stored = await store.read();
  const prepared = await withCatalogue(await prepareBeside(session, planOptions(flags)), service.client);
  const { plan } = prepared;
  const review = await reviewPlan(session, prepared);
  const { findings } = review;
  const diagnostics = withoutPlanText(review);
  for (const finding of findings) output.event(findingEvent(finding));
  if (review.exitCode === 1) return output.finish({ exitCode: 1, diagnostics, plan, findings });
  const setting: TwinSetting = {
    prepared,
    stored,
    dialect: service.dialect,
    timing: service.realTiming,
    parallelism: readCount(flags.parallelism, "--parallelism") ?? 10,
    speed: readNumber(flags["time-scale"], "--time-scale") || speedOfTwin,
    newId: randomUUID,
  };
  const stop = listenForStop(output);
  try {
    const rehearsal = await rehearse(setting, stop.soft);
    output.event(rehearsalEvent(rehearsal));
    // What is broken over lines is not found by the mask of the output.
    const shown = { ...rehearsal, assumptions: rehearsal.assumptions.map(output.masked) };
    output.print(rehearsalText(shown, plan.estimate, { colour: output.colour, width: output.width }));
    const held = trials === undefined || (await tryChaos(session, setting, rehearsal, trials, stop.soft));
    const stopped = stop.soft.aborted ? [cutShort("the rehearsal")] : [];
    return output.finish({
      // The rehearsal ran whatever the review says, so the exit code tells what the real run would be refused for.
      exitCode:
        !held || stopped.length > 0 || rehearsal.verdict === "failed"
          ? 1
          : review.exitCode || (rehearsal.verdict === "waits" ? 4 : 0),
      diagnostics: [...diagnostics, ...rehearsal.diagnostics, ...stopped],
      plan,
      findings,
    });
  } finally {
    stop.close();
  }
}

async function tryChaos(
  { invocation }: Session,
  setting: TwinSetting,
  calm: Rehearsal,
  trials: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { flags, output } = invocation;
  const first = readNumber(flags.seed, "--seed") ?? randomInt(1_000_000);
  output.print(`\nUnder bad luck: lost answers and kills (again with --seed ${first})`);
  let held = true;
  for (let seed = first; seed < first + trials && !signal.aborted; seed++) {
    const trial = await runWithBadLuck({ ...setting, speed: speedUnderChaos }, calm, seed);
    held &&= trial.ok;
    output.event(trialEvent(trial));
    output.print(trialText(trial));
  }
  return held;
}
