/** What plan, apply and destroy have in common: make the plan, show it, carry it out, say how it ended. */
import type { PlanOptions } from "../core/diff/context";
import { type Finding, findingAsDiagnostic } from "../core/findings/finding";
import type { Closed } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import type { Grants } from "../core/plan/consent";
import type { Plan } from "../core/plan/plan";
import { unseenDiagnostic } from "../core/plan/unseen";
import { readState } from "../core/state/text";
import { errorMessage } from "../core/text/errors";
import { hasNothingToDo, rememberSeen, StateMovedOn } from "../engine/apply";
import type { EngineEvent } from "../engine/events";
import type { Prepared } from "../engine/plan";
import { type RunReport, unseenIn } from "../engine/run-plan";
import { checkedOutCommit } from "../outside/commit";
import { freeMemory } from "../outside/memory";
import { writePrivately } from "../outside/private-file";
import { inSpan, tellProfile } from "../outside/tracing";
import { exposureText } from "../report/exposure-text";
import { htmlReport } from "../report/html/html";
import { changeEvents, findingEvent, memoryEvents, plannedStepEvents } from "../report/json-lines";
import { outputEvents } from "../report/output-lines";
import { whatMatches, withMaskedTitles } from "../report/plan-outline";
import { planLines } from "../report/plan-text";
import { runText } from "../report/run-text";
import { whereLines, whereText } from "../report/where-text";
import { idOfUnsaved } from "../saved-plan";
import { version } from "../version";
import { refuseBegunAnew } from "./begun-anew";
import type { Invocation } from "./command";
import { commandHolder } from "./compose";
import { getConsent, grantsBeforehand, grantsInFlags, type PlanApproval } from "./consent";
import { projectOfSession } from "./externals";
import type { Finish, Output } from "./output";
import { isLooking } from "./plan-options";
import { startProgress } from "./progress";
import { consentMissing, refusalBriefly } from "./refusal";
import { type Review, reviewPlan } from "./review";
import { exitCodeOf, notSettledIn, runDiagnostics, stateUnclosed, toldAtTheEnd } from "./run-end";
import { type Session, stoppedBefore, unlessStopped } from "./session";
import { environmentsOf, refuseSiblings } from "./siblings";
import type { Stop } from "./stop-signals";
import { lockedSession } from "./with-session";

export async function prepare(session: Session, options: PlanOptions, given?: Closed): Promise<Prepared> {
  const { invocation } = session;
  const project = projectOfSession(session);
  const desired = given ?? (await unlessStopped(session.signal, project.close(options)));
  const observe = isLooking(invocation.flags);
  const letGoOf = (resources: number): void => {
    if (resources >= hugeProject) freeMemory();
  };
  letGoOf(desired.resources.length);
  const prepared = await inSpan("refresh and plan", {}, () =>
    project.plan(options, {
      desired,
      observe,
      letGo: ({ resources }) => letGoOf(resources.size),
      memory: session.memory,
      swept: session.swept,
      signal: session.signal,
      emit: (event) => {
        if (event.type === "refresh" && event.status === "started" && observe && event.resources >= manyResources)
          invocation.output.note(`Looking at ${event.resources} resources in the service.`);
      },
    }),
  );
  return refuseBegunAnew(session, await refuseSiblings(environmentsOf(session), prepared));
}

/**
 * Plans without a lock, perhaps beside a run that is changing things: what looks wrong may be what that run has made or
 * deleted since the state was read. Then state and service are read again; after `mostPlans` times it is reported that
 * the state moved on.
 */
export async function prepareBeside(session: Session, options: PlanOptions): Promise<Prepared> {
  for (let tried = 1; ; tried++) {
    const prepared = await prepare(session, options);
    const looksWrong = prepared.plan.diagnostics.some(
      ({ severity, code }) => severity === "error" || code === "plan/gone",
    );
    if (!looksWrong) return prepared;
    const moved = await findMove(session, prepared);
    if (moved === undefined) return prepared;
    if (tried === mostPlans) throw moved;
  }
}

const mostPlans = 3;

/** From this many resources on, memory that the reading took is freed before planning. */
const hugeProject = 30_000;

/** Looking at this many resources takes so long that a person is told. */
const manyResources = 200;

/**
 * Shows the plan, as text or as JSON lines; its diagnostics go with the summary. `approval`: of a plan that is about to
 * be carried out.
 */
export function showPlan(
  invocation: Invocation,
  { plan }: Prepared,
  { exposure, findings }: Review,
  approval?: PlanApproval,
): void {
  const { output } = invocation;
  if (output.where !== undefined)
    output.print(`${process.stdout.isTTY ? whereLines(output.where, output.width) : whereText(output.where)}\n`);
  // The exposure of groups comes before the plan's last line, which sums the plan up and is read first.
  if (exposure !== undefined && !output.json) {
    const text = exposureText(exposure, { colour: output.colour, width: output.width, changesOnly: true });
    if (text !== "") output.print(`${text}\n`);
  }
  showPlanText(invocation, plan, approval && grantsBeforehand(invocation, plan, approval));
  tellPlan(output, plan, findings);
}

/** The plan for programs, whatever people are shown of it. */
export function tellPlan(output: Output, plan: Plan, findings: readonly Finding[]): void {
  if (!output.events) return;
  for (const event of changeEvents(plan)) output.event(event);
  for (const event of plannedStepEvents(plan.steps)) output.event(event);
  for (const event of outputEvents(plan)) output.event(event);
  for (const event of memoryEvents(plan)) output.event(event);
  for (const finding of findings) output.event(findingEvent(finding));
}

export function showPlanText(
  { flags, output }: Pick<Invocation, "flags" | "output">,
  plan: Plan,
  grants = grantsInFlags(flags),
): void {
  if (output.json) return;
  output.printLines(
    planLines(plan, {
      colour: output.colour,
      width: output.width,
      steps: flags.steps === true,
      summary: flags.summary === true,
      grants,
    }),
  );
}

/** The error to report if the state was written since the plan was made on it. */
async function findMove(session: Session, { state }: Prepared): Promise<Error | undefined> {
  const now = readState(await session.store.read(), state.lineage);
  if (!now.ok || now.state.serial === state.serial) return undefined;
  return new StateMovedOn(
    `the state ${session.store.location} was changed by somebody else while this was planned (serial ${state.serial} then, ${now.state.serial} now); plan again`,
  );
}

/** A plan, and the session with the notes that are shown with it. */
export interface Planned {
  readonly session: Session;
  readonly prepared: Prepared;
}

/** Locks, plans, asks, applies. */
export const planAndApply = (
  opened: Session,
  planOn: (held: Session, signal: AbortSignal) => Promise<Planned>,
): Promise<number> =>
  lockedSession(opened, "run", async (held, stop) => {
    await projectOfSession(held).settle(stop.soft);
    const { session, prepared } = await planOn(held, stop.soft);
    if (stop.soft.aborted) throw stoppedBefore();
    const review = await reviewPlan(session, prepared);
    showPlan(session.invocation, prepared, review, {});
    return approveAndApply(session, prepared, review, {}, stop);
  });

/** The plan of what the files declare. */
export const planOfFiles =
  (options: PlanOptions) =>
  async (session: Session, signal: AbortSignal): Promise<Planned> => ({
    session,
    prepared: await prepare({ ...session, signal }, options),
  });

export async function approveAndApply(
  session: Session,
  prepared: Prepared,
  review: Review,
  approval: PlanApproval,
  stop: Stop,
): Promise<Finish> {
  const { invocation } = session;
  const { plan } = prepared;
  const { diagnostics, findings } = review;
  const finish = (exitCode: number, more: readonly Diagnostic[] = [], briefly = more): Finish => {
    const forPrograms = [...diagnostics, ...more];
    writeReport(session, { exitCode, diagnostics: [...inReport(review), ...more], plan, ...exposureOfReview(review) });
    return { exitCode, diagnostics: [...forReaders(diagnostics), ...briefly], forPrograms, plan, findings };
  };
  if (review.exitCode !== 0) return finish(review.exitCode);
  if (hasNothingToDo(plan, prepared)) {
    await rememberSeen(prepared, session.store, commandHolder(invocation.command), stop.soft);
    return finish(0);
  }
  const answer = await getConsent(session, plan, approval, stop.soft);
  const { grants, refused, cancelled } = answer;
  if (refused.length > 0) {
    const full = refused.map(consentMissing);
    if (cancelled === undefined) return finish(3, full, refusalBriefly(refused));
    // A refusal at the prompt is no problem to be explained.
    invocation.output.note(`Cancelled: ${cancelled}. Nothing was sent.`);
    return finish(3, full, []);
  }
  const report = await carryOutPlan(session, prepared, grants, stop);
  return finishRun(session, prepared, report, review);
}

/**
 * The findings for the HTML report, which has no other place for what the plan opens. Consents are left out: they were
 * given, or are among the refusals.
 */
const inReport = ({ findings }: Review): Diagnostic[] =>
  findings
    .filter(
      ({ code, severity, refused }) => severity !== "note" && (refused !== undefined || !code.startsWith("consent/")),
    )
    .map(findingAsDiagnostic);

const exposureOfReview = ({ exposure }: Review) => (exposure === undefined ? {} : { exposure });

/** Writes `--report FILE`, however the run ended. */
function writeReport(
  { service, invocation: { command, flags, output } }: Session,
  finished: Omit<Parameters<typeof htmlReport>[0], "command" | "version" | "at" | "embedded" | "where" | "who">,
): void {
  if (flags.report === undefined) return;
  const { embedded } = service;
  const { where } = output;
  const { who, host } = commandHolder(command);
  const page = htmlReport({
    ...finished,
    plan: withMaskedTitles(finished.plan, output.masked),
    who: `${who} on ${host}`,
    where: where === undefined ? undefined : whereText(where),
    command,
    version,
    at: new Date().toISOString(),
    embedded,
  });
  try {
    writePrivately(flags.report, output.masked(page));
  } catch (error) {
    // A report that cannot be written changes nothing about the run, so it is a note.
    output.note(`The report could not be written: ${errorMessage(error)}`);
  }
}

/** As the plan showed it; a saved plan brings no files along, and only the checkout beside it is known. */
function commitIn({ workspace, invocation }: Session): { readonly commit?: string } {
  const commit = invocation.output.where?.commit ?? checkedOutCommit(workspace.folder);
  return commit === undefined ? {} : { commit };
}

export async function carryOutPlan(
  session: Session,
  prepared: Prepared,
  grants: Grants,
  stop: Stop,
  listen?: (event: EngineEvent) => void,
): Promise<RunReport> {
  const { service, invocation } = session;
  const progress = startProgress(invocation.output, prepared.plan, service.timeScale);
  const emit = (event: EngineEvent): void => {
    progress.event(event);
    listen?.(event);
  };
  try {
    const report = await projectOfSession(session).apply(prepared, {
      emit,
      holder: commandHolder(invocation.command),
      ...commitIn(session),
      stop,
      planId: session.savedPlanId ?? idOfUnsaved(prepared.plan),
      grants,
    });
    tellProfile(report.steps);
    return report;
  } finally {
    progress.close();
  }
}

function finishRun(session: Session, prepared: Prepared, report: RunReport, review: Review): Finish {
  const { output, command } = session.invocation;
  const exitCode = exitCodeOf(report);
  if (report.bug !== undefined && process.env["RECONCILE_DEBUG"] === "1") output.note(report.bug.stack ?? "");
  const { colour, width } = output;
  const isSaved = session.savedPlanId !== undefined;
  const outcome = isSaved
    ? `${whatMatches(prepared.plan)} matches the plan`
    : command === "undo"
      ? "what was planned is undone"
      : undefined;
  output.print(runText(report, prepared.plan, { colour, width, outcome, here: output.here }));
  const unclosed = report.unclosed === undefined ? [] : [stateUnclosed(report.unclosed)];
  const { findings } = review;
  const diagnostics = notSettledIn(report, review.diagnostics);
  const told = toldAtTheEnd(report);
  writeReport(session, {
    exitCode,
    diagnostics: [
      ...notSettledIn(report, inReport(review)),
      ...unseenIn(report).map(unseenDiagnostic),
      ...told,
      ...unclosed,
    ],
    plan: prepared.plan,
    run: report,
    ...exposureOfReview(review),
  });
  return {
    exitCode,
    diagnostics: [...forReaders(diagnostics), ...told, ...unclosed],
    forPrograms: [...diagnostics, ...runDiagnostics(report)],
    plan: prepared.plan,
    run: report,
    findings,
  };
}

/** Notes are shown by `plan` and `drift`; `apply` would repeat the same ones every time. */
const forReaders = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity !== "note");
