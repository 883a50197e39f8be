/**
 * `reconcile history` and `reconcile undo`: the runs that the state remembers, and a plan back to what was before one.
 */
import { pairResources } from "../../core/diff/pair";
import type { Closed } from "../../core/model/desired";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import type { RecordedRun } from "../../core/model/recorded";
import { selectTargets } from "../../core/plan/select";
import { desiredBefore, type WayBack, wayBackPlan } from "../../core/plan/undo";
import type { FoldedState } from "../../core/state/fold";
import { findRun, stateBefore } from "../../core/state/history";
import { historyText, runAsEvent, shortId } from "../../report/history-text";
import { command, type Invocation, noArguments, oneArgument } from "../command";
import { fail, stateIn } from "../compose";
import { CommandFailed } from "../crash";
import { projectOfSession } from "../externals";
import { applyFlags, commonFlags, type FlagName, planFlags } from "../flags";
import { keepPlan } from "../plan-file";
import { planOptions } from "../plan-options";
import { type Planned, planAndApply, prepare, showPlan } from "../planning";
import { reviewPlan } from "../review";
import { type Session, withNotes } from "../session";
import { openLocatedStore, withSession } from "../with-session";
import { readWorkspace, workspaceOfState } from "../workspace";

export const historyCommand = command({
  usage: "history",
  summary: "who applied what, when, from which commit, and how it ended",
  section: "The state",
  examples: [["reconcile history", "the last runs that wrote this state, the newest first"]],
  flags: ["file", ...commonFlags],
  positionals: noArguments,
  async run(invocation) {
    const { output } = invocation;
    const { runs = [] } = await stateIn(openLocatedStore(invocation, workspaceOfState(invocation)));
    for (const run of runs) output.event(runAsEvent(run));
    output.print(historyText(runs, { colour: output.colour, width: output.width }));
    return output.finish({ exitCode: 0 });
  },
});

export const undoCommand = command({
  usage: "undo RUN [flags]",
  summary: "plans back to what was declared before a run, and asks",
  section: "From a file to the service",
  examples: [
    ["reconcile undo last", "plans back to before the last run, asks, and applies it"],
    ["reconcile undo 3f9a12c4 --out back.plan.json", "saves that plan, for a review: reconcile apply back.plan.json"],
  ],
  flags: [...planFlags, ...applyFlags, "allow-empty", "out"],
  positionals: oneArgument("a run of reconcile history, or last"),
  complete: async (_, known) =>
    [...((await known.state())?.runs ?? [])].reverse().map(({ id, at }) => ({ word: shortId(id), says: at })),
  run: undoRun,
});

/** The run that is named, or an error that lists the runs there are. */
export function runNamed(state: FoldedState, named: string): RecordedRun {
  const found = findRun(state.runs ?? [], named);
  if ("run" in found) return found.run;
  const known = (found.candidates.length > 0 ? found.candidates : (state.runs ?? [])).map(({ id }) => shortId(id));
  throw fail(
    "state/no-run",
    found.candidates.length > 1 ? `several runs begin with ${named}` : `the state remembers no run ${named}`,
    known.length === 0 ? "reconcile history" : `one of ${known.slice(-8).reverse().join(", ")} (reconcile history)`,
  );
}

export const tooLongAgo = (run: RecordedRun) =>
  fail(
    "state/no-run",
    `what the state held before run ${shortId(run.id)} is not remembered any more`,
    "use an older copy of the state, or the file at the commit of that time",
  );

function undoRun(invocation: Invocation<FlagName, readonly [string]>): Promise<number> {
  const { args, flags, output } = invocation;
  const planBack = async (session: Session, signal?: AbortSignal): Promise<Planned> => {
    const back = await wayBackOf(session, args[0]);
    const planned = await prepare({ ...session, signal }, planOptions(flags), back.desired);
    const plan = wayBackPlan(planned.plan, back);
    // A plan that changes nothing undoes nothing that a later apply would do again.
    const notes = plan.changes.length === 0 ? [] : back.notes;
    return { session: withNotes(session, notes), prepared: { ...planned, plan } };
  };
  if (flags.out !== undefined && flags.report !== undefined)
    throw fail("cli/bad-flag", "--report is about a run, and --out carries nothing out", "leave one of them out");
  return withSession(invocation, readWorkspace(invocation, { args: [], needed: false }), async (opened) => {
    if (flags.out === undefined) return planAndApply(opened, planBack);
    const { session, prepared } = await planBack(opened);
    const review = await reviewPlan(session, prepared);
    showPlan(invocation, prepared, review);
    const { diagnostics, findings, exitCode } = review;
    // The plan is made from the records of a run, so the files are expected to differ from it.
    if (exitCode === 0) keepPlan(session, prepared, review, flags.out, []);
    return output.finish({ exitCode, diagnostics, plan: prepared.plan, findings });
  });
}

interface WayBackNow extends WayBack {
  readonly desired: Closed;
  readonly notes: readonly Diagnostic[];
}

async function wayBackOf(session: Session, named: string): Promise<WayBackNow> {
  const { store, workspace, invocation } = session;
  const state = await stateIn(store);
  const run = runNamed(state, named);
  const before = stateBefore(state, run.id);
  if (before === undefined) throw tooLongAgo(run);
  const { desired, diagnostics } = desiredBefore(before, state.resources, await projectOfSession(session).close());
  // What is left out of the plan stands in nobody's way.
  const { pairs } = pairResources(desired, state);
  const meant = new Set(selectTargets(pairs, planOptions(invocation.flags), []).map(({ address }) => address));
  const said = diagnostics.filter(({ address }) => address === undefined || meant.has(address));
  if (hasErrors(said)) throw new CommandFailed(said);
  const later = (state.runs ?? []).filter(({ number }) => number > run.number).length;
  const notes: Diagnostic[] = [];
  if (later > 0)
    notes.push({
      severity: "warning",
      code: "undo/later-runs",
      summary: `this undoes ${later === 1 ? "the run" : `the ${later} runs`} after ${shortId(run.id)} as well`,
    });
  if (workspace.desired.resources.length > 0)
    notes.push({
      severity: "warning",
      code: "undo/files-ahead",
      summary: "this changes no file, and the next apply would do again what the files still declare of it",
      fix: "revert the change in the files as well (git revert), unless that is done",
    });
  return { desired, before, run: shortId(run.id), stays: said, notes };
}
