/**
 * After a round: the stack's status, what is kept of the round, which stacks it wakes, when the next round is, and
 * which receivers are told.
 */
import { deepEqual } from "../core/text/deep-equal";
import type { Records } from "./database/records";
import type { RunResult, StartedRun, StoredReport } from "./database/runs";
import type { PlanBody, StackRecord } from "./database/stacks";
import type { FleetSettings } from "./model";
import { afterFailure, afterSuccess } from "./next-round";
import { addressList, type Letter, lettersOf, type Notice } from "./notify";
import { pictureDigest } from "./picture";
import { type Cause, triggerOf } from "./queue";
import type { RoundOutcome } from "./round";
import type { WorkerSetting } from "./shared";
import { afterLostWorkers, afterResume, afterRound, occasionsOf, type Status } from "./status";

/** When somebody else holds the state, the stack is looked at again after this time. */
const lockedMs = 5000;
/** The lease of a dead worker ends this long after its heartbeat. */
const leaseLeftMs = 1500;

export async function settle(
  setting: WorkerSetting,
  settings: FleetSettings,
  stack: StackRecord,
  run: StartedRun,
  outcome: RoundOutcome,
  now: Date,
): Promise<void> {
  const { records, queue } = setting;
  const { result } = outcome;
  const before = stack.status;
  const status = afterRound(before, { ...outcome, giveUpAfter: stack.spec.retry.giveUpAfter });
  const next = nextOf(stack, status, result, run, now);
  const { corrected = [] } = outcome;
  const occasions = occasionsOf(before, status, result, corrected.length > 0);
  const letters = outcome.gone ? [] : lettersFor(settings, stack, status, occasions, now, corrected);
  const nextAt = new Date(now.getTime() + next.inMs);
  const isMine = await records.finishRun(
    run.id,
    finishedRun(outcome, status),
    status,
    nextAt,
    letters,
    saidTo(stack, status),
  );
  // Another worker took the stack over while this one slept: that worker records the result.
  if (!isMine) return;
  if (outcome.gone) {
    await records.note({ who: "fleet", what: "destroyed", stack: stack.name });
    // Somebody may have written it into the file again meanwhile: then it is made anew.
    if (!(await records.releaseStack(stack.name, { left: true }))) await queue.hasten(triggerOf(stack, "new"));
    // Stacks that this one depended on may be deleted now.
    for (const name of stack.spec.dependsOn) {
      const other = await records.stack(name);
      if (other?.leaving === true) await queue.hasten(triggerOf(other, "dependency"));
    }
    return;
  }
  if (corrected.length > 0)
    await records.note({ who: "fleet", what: "corrected drift", stack: stack.name, detail: addressList(corrected) });
  await saveOrDropPlan(records, stack, run, outcome);
  await saveUndo(records, stack, outcome);
  const changed = await saveWhatChanged(records, stack, outcome);
  await savePicture(records, stack, outcome);
  // A worker that died after one of these writes saved the change and woke no stack.
  const isFirst = before.appliedRevision === null && status.appliedRevision !== null;
  if (changed || isFirst || run.tookOver) await wakeDependents(setting, stack.name, outcome.outputs ?? stack.outputs);
  // The queue takes the time that is left of it, by the clock of this machine.
  await queue.enqueue({ ...triggerOf(stack, next.cause), at: new Date(Date.now() + next.inMs) });
}

/**
 * The workers of this stack died one after the other: the rest of the fleet goes on without it until a person has
 * looked.
 */
export async function giveUp(
  setting: WorkerSetting,
  settings: FleetSettings,
  stack: StackRecord,
  { id, lost }: StartedRun,
): Promise<void> {
  const { records } = setting;
  const status = afterLostWorkers(stack.status, lost);
  const end = { result: "failed", reason: status.reason, counts: {} } as const;
  const letters = lettersFor(settings, stack, status, ["stalled"], stack.readAt);
  if (!(await records.finishRun(id, end, status, null, letters, saidTo(stack, status)))) return;
  await records.note({ who: "fleet", what: "gave up", stack: stack.name, detail: status.reason ?? "" });
}

/** The status where a person has resumed the stack since its round began. */
const saidTo = ({ status: seen, readAt }: StackRecord, status: Status) => ({
  since: readAt,
  resumed: afterResume(status, seen),
});

const resultOf = ({ result }: RoundOutcome): RunResult => (result.end === "handed_over" ? "taken_over" : result.end);

/** Whether a plan of the stack, or an approval of one, may be waiting. */
const mayWait = ({ status, approval }: StackRecord): boolean => status.plan !== null || approval !== undefined;

/** The row of a run that has ended. */
function finishedRun(outcome: RoundOutcome, { reason }: Status): Parameters<Records["finishRun"]>[1] {
  const { revision, plan, approval, counts } = outcome;
  return {
    result: resultOf(outcome),
    reason,
    counts,
    revision,
    plan: plan?.digest,
    approval,
    report: outcome.begun === true && plan !== undefined ? storedReport(plan.body) : undefined,
  };
}

/** Keeps the plan that waits for a person. A former plan stays only while the round says nothing about the stack. */
async function saveOrDropPlan(
  records: Records,
  stack: StackRecord,
  run: StartedRun,
  { result, plan, revision, voids }: RoundOutcome,
): Promise<void> {
  const waits = result.end === "awaiting_approval" || (result.end === "blocked" && result.plan !== undefined);
  if (waits && plan !== undefined && revision !== undefined)
    await records.savePlan(
      stack.name,
      { digest: plan.digest, revision, body: plan.body },
      { voids: voids === true, seen: stack.approval },
    );
  else if (!["failed", "blocked", "handed_over"].includes(result.end) && (mayWait(stack) || run.tookOver))
    await records.dropPlan(stack.name);
}

/** A run that was undone is not done again until the files ask for something else. */
async function saveUndo(
  records: Records,
  { name, undoing }: StackRecord,
  { undo, wish, result }: RoundOutcome,
): Promise<void> {
  if (undoing === undefined) return;
  const isOther = undoing.held !== undefined && wish !== undefined && wish !== undoing.held;
  if (undo === undefined && !isOther) return;
  await records.endUndo(name, undoing, undo === "done" ? wish : undefined);
  if (undo === undefined) return;
  const detail = `run ${undoing.run}${undo === "impossible" && "why" in result ? `: ${result.why}` : ""}`;
  await records.note({ who: "fleet", what: undo === "done" ? "undone" : "cannot undo", stack: name, detail });
}

export const storedReport = ({ text, consents, opens, exposure }: PlanBody): StoredReport => ({
  plan: text,
  consents: consents.map(({ detail }) => detail),
  opens,
  exposure,
});

/** The picture is for people alone: an error in writing it fails nothing. */
async function savePicture(records: Records, stack: StackRecord, { picture }: RoundOutcome): Promise<void> {
  if (picture === undefined) return;
  const made = picture();
  const digest = pictureDigest(made);
  if (digest !== stack.picture) await records.savePicture(stack.name, digest, made).catch(() => undefined);
}

/** Saves the outputs; answers whether they changed. */
async function saveWhatChanged(records: Records, stack: StackRecord, outcome: RoundOutcome): Promise<boolean> {
  const { outputs, outputsUsed, files } = outcome;
  if (files !== undefined && JSON.stringify(files) !== JSON.stringify(stack.files))
    await records.saveFiles(stack.name, files);
  if (outputs === undefined) return false;
  const hasChanged = !deepEqual(outputs, stack.outputs);
  if (hasChanged || !deepEqual(outputsUsed, stack.outputsUsed))
    await records.saveOutputs(stack.name, outputs, outputsUsed);
  return hasChanged;
}

/** Wakes the stacks whose last round used another value, and those that wait for the first apply of this one. */
async function wakeDependents(
  { records, queue }: WorkerSetting,
  name: string,
  outputs: StackRecord["outputs"],
): Promise<void> {
  for (const other of await records.dependents(name)) {
    const { spec, status, outputsUsed, paused } = other;
    // One that failed may have missed an output that is there again, with the value that its last apply used.
    const isStale = Object.values(spec.inputs).some(
      ({ stack, output }) =>
        stack === name && (status.failures > 0 || !deepEqual(outputsUsed[`${stack}.${output}`], outputs[output])),
    );
    if ((isStale || status.waitingFor?.what === "dependency") && !paused)
      await queue.hasten(triggerOf(other, "dependency"));
  }
}

function nextOf(
  { spec, jitter }: StackRecord,
  status: Status,
  result: RoundOutcome["result"],
  { tookOver }: StartedRun,
  now: Date,
): { readonly inMs: number; readonly cause: Cause } {
  const after = (inMs: number, cause: Cause) => ({ inMs, cause });
  if (result.end === "handed_over") return after(0, "retry");
  if (result.end === "failed") return after(afterFailure(spec.retry, status.failures, jitter), "retry");
  if (result.end === "blocked" && result.waitingFor.what === "lock")
    return after(tookOver ? leaseLeftMs : lockedMs, "retry");
  const usual = afterSuccess(spec.intervalMs, jitter, now.getTime());
  const until = status.waitingFor?.until;
  if (until === undefined) return after(usual, "interval");
  return after(Math.min(usual, Math.max(0, Date.parse(until) - now.getTime())), "window");
}

const lettersFor = (
  settings: FleetSettings,
  { name, spec }: StackRecord,
  status: Status,
  occasions: readonly Notice["occasion"][],
  now = new Date(),
  corrected: readonly string[] = [],
): Letter[] =>
  lettersOf(
    settings,
    occasions.map((occasion) => ({
      ...{ occasion, stack: name, tenant: spec.tenant, source: spec.source, status },
      corrected: occasion === "drift_corrected" ? corrected : undefined,
    })),
    now,
  );
