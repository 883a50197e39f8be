/**
 * A worker: takes rounds from the queue, runs them, writes down how they ended and when the next one is. Any number of
 * them share one database; what one leaves when it dies, another one finishes.
 */
import { deepEqual } from "../core/text/deep-equal";
import type { EngineEvent } from "../engine/events";
import { type Budget, createBudget, pauseChannel } from "./database/budget";
import type { Database } from "./database/database";
import type { Records } from "./database/records";
import type { RunReport, RunResult, StartedRun } from "./database/runs";
import type { PlanBody, StackRecord } from "./database/stacks";
import { type Settings, type Source, usualHistory } from "./model";
import { afterFailure, afterSuccess } from "./next-round";
import { type Notice, notify } from "./notify";
import { pictureDigest } from "./picture";
import type { OpenProject } from "./project";
import { lookForPushes } from "./pushes";
import type { Cause, Job, Queue } from "./queue";
import { type RoundOutcome, runRound } from "./round";
import { type Freshness, tidyTrees } from "./sources/git";
import { checkOut } from "./sources/source";
import { afterLostWorkers, afterRound, occasionsOf, type Status, whileRunning } from "./status";

export interface WorkerSetting {
  readonly name: string;
  readonly version: string;
  readonly database: Database;
  readonly records: Records;
  readonly queue: Queue;
  readonly concurrency: number;
  /** Only stacks of these; empty: all. */
  readonly services: readonly string[];
  readonly cache: string;
  readonly openProject: OpenProject;
  /** Does a round where all of it can be told to be its own. For traces. */
  readonly within: (stack: string, round: () => Promise<RoundOutcome>) => Promise<RoundOutcome>;
  readonly say: (text: string) => void;
  /** Told whenever they were read anew, before a round uses them. */
  readonly onSettings: (settings: Settings) => void;
  readonly fetch?: typeof fetch;
}

export interface Worker {
  /** Takes no new round; resolves when those that run have ended. */
  drain(): Promise<void>;
  /** Ends at once what it can; the rest another worker finishes. */
  stop(): Promise<void>;
  readonly doing: ReadonlyMap<string, Date>;
  readonly counts: Readonly<WorkerCounts>;
}

export interface WorkerCounts {
  rounds: number;
  applied: number;
  failed: number;
  takenOver: number;
}

const settingsFreshMs = 2000;
const beatMs = 5000;
/** A round that this worker cannot run now is offered again after that. */
const crowdedMs = 1000;
/** A state that somebody else holds is looked at again so soon. */
const lockedMs = 5000;
/** A dead worker's lease is over within moments of its heartbeat. */
const leaseLeftMs = 1500;
/** So many rounds in a row could not reach their service: one at a time tries it, the others so much later. */
const silentAfter = 2;
const silentMs = 10_000;
/** After so many dead workers a stack is not tried any more. */
const mostLost = 3;
/** How often one of the workers deletes the history that is older than the fleet's file keeps. */
const forgetEveryS = 300;
/** How often a worker deletes the files on its machine that nobody used for a day. */
const tidyEveryMs = 3_600_000;

export async function startWorker(setting: WorkerSetting): Promise<Worker> {
  const { records, queue } = setting;
  const doing = new Map<string, Date>();
  const counts: WorkerCounts = { rounds: 0, applied: 0, failed: 0, takenOver: 0 };
  const draining = new AbortController();
  const stopping = new AbortController();
  const shared = createShared(setting);
  let tidiedAt = 0;
  const beat = async (): Promise<void> => {
    await records.beat({
      name: setting.name,
      version: setting.version,
      concurrency: setting.concurrency,
      doing: [...doing].map(([stack, since]) => ({ stack, since: since.toISOString() })),
      draining: draining.signal.aborted,
    });
    await shared.look();
    if (draining.signal.aborted) return;
    await lookForPushes(setting, setting.say);
    if (await records.claimTask("forget", forgetEveryS)) await forgetOld(records, await shared.settings());
    if (Date.now() - tidiedAt > tidyEveryMs) {
      tidiedAt = Date.now();
      await tidyTrees(setting.cache);
    }
  };
  await beat();
  const timer = setInterval(() => void beat().catch(() => undefined), beatMs);
  timer.unref();
  const ear = await listenForPauses(setting, shared);

  await queue.work({
    concurrency: setting.concurrency,
    tenants: (await records.settings()).tenants,
    round: async (job) => {
      doing.set(job.stack, new Date());
      try {
        await oneRound(setting, shared, job, { drain: draining.signal, stop: stopping.signal }, counts);
      } finally {
        doing.delete(job.stack);
      }
    },
  });

  const close = async (): Promise<void> => {
    clearInterval(timer);
    await ear.close();
    await records.leave(setting.name).catch(() => undefined);
  };
  return {
    doing,
    counts,
    async drain() {
      draining.abort();
      await beat().catch(() => undefined);
      await queue.drain();
      await close();
    },
    async stop() {
      stopping.abort();
      await close();
    },
  };
}

/** How long a notification may take before nobody counts on them any more. */
const heardWithinMs = 5000;

async function listenForPauses({ database, name, say }: WorkerSetting, shared: Shared) {
  const probe = `probe ${name}`;
  let hears = false;
  const ear = await database.listen(pauseChannel, (service) => {
    if (service === probe) hears = true;
    else void shared.paused(service);
  });
  await database.query("SELECT pg_notify($1, $2)", [pauseChannel, probe]).catch(() => undefined);
  const timer = setTimeout(() => {
    if (!hears)
      say(
        "Notifications of the database do not come through (a pooler in transaction mode?): rounds are looked for twice a second, and may begin that much later.",
      );
  }, heardWithinMs);
  timer.unref();
  return {
    close: () => {
      clearTimeout(timer);
      return ear.close();
    },
  };
}

interface Shared {
  settings(): Promise<Settings>;
  /** A round of the service begins here; the result ends it. */
  enter(service: string | undefined): () => void;
  /** Whether the service could be reached. */
  answered(service: string | undefined, isReached: boolean): void;
  /** It was not reached again and again, and a round of this worker is trying already. */
  isSilent(service: string | undefined): boolean;
  budgetOf(settings: Settings, service: string): Budget | undefined;
  paused(service: string): Promise<void>;
  look(): Promise<void>;
}

/** What the rounds of one worker have in common. */
function createShared({ records, database, say, onSettings }: WorkerSetting): Shared {
  const budgets = new Map<string, { readonly key: string; readonly budget: Budget }>();
  let known: { readonly at: number; readonly settings: Promise<Settings> } | undefined;
  let workers = 1;
  const running = new Map<string, number>();
  const silences = new Map<string, number>();
  return {
    enter(service = "") {
      running.set(service, (running.get(service) ?? 0) + 1);
      return () => void running.set(service, (running.get(service) ?? 1) - 1);
    },
    answered(service = "", isReached) {
      silences.set(service, isReached ? 0 : (silences.get(service) ?? 0) + 1);
    },
    isSilent: (service = "") => (silences.get(service) ?? 0) >= silentAfter && (running.get(service) ?? 0) > 0,
    settings() {
      if (known === undefined || Date.now() - known.at > settingsFreshMs)
        known = {
          at: Date.now(),
          settings: records.settings().then((settings) => {
            onSettings(settings);
            return settings;
          }),
        };
      return known.settings;
    },
    budgetOf({ services }, name) {
      const budget = services.find((service) => service.name === name)?.budget;
      if (budget === undefined) return undefined;
      const key = JSON.stringify(budget);
      const before = budgets.get(name);
      if (before?.key === key) return before.budget;
      const made = createBudget({ database, service: name, ...budget, workers: () => workers, say });
      budgets.set(name, { key, budget: made });
      return made;
    },
    async paused(service) {
      for (const [name, { budget }] of budgets) if (service === "" || service === name) await budget.look();
    },
    async look() {
      workers = Math.max(1, await records.liveWorkers());
    },
  };
}

async function oneRound(
  setting: WorkerSetting,
  shared: Shared,
  job: Job,
  stop: { readonly drain: AbortSignal; readonly stop: AbortSignal },
  counts: WorkerCounts,
): Promise<void> {
  const { records, queue } = setting;
  const stack = await records.stack(job.stack);
  // It left the file meanwhile, or somebody paused it: whoever resumes it sends it again.
  if (stack === undefined || stack.paused) return records.endLostRuns(job.stack, setting.name);
  const settings = await shared.settings();
  const crowded = await whyCrowded(setting, shared, settings, stack);
  if (crowded !== undefined) {
    const at = new Date(Date.now() + crowded * (1 + stack.jitter));
    const startedBy = job.startedBy === undefined ? {} : { startedBy: job.startedBy };
    await queue.enqueue({ ...triggerOf(stack, job.cause), ...startedBy, at });
    return;
  }
  const run = await records.startRun({
    stack: stack.name,
    cause: job.cause,
    worker: setting.name,
    status: whileRunning(stack.status),
    ...(job.startedBy === undefined ? {} : { startedBy: job.startedBy }),
  });
  if (run.lost >= mostLost) return giveUp(setting, settings, stack, run);
  const log = createLog(records, run.id);
  const round = (): Promise<RoundOutcome> =>
    runRound(
      {
        stack,
        settings,
        resumed: run.lost > 0,
        signal: AbortSignal.any([job.signal, stop.stop]),
        drain: stop.drain,
      },
      {
        openProject: setting.openProject,
        checkOut: async ({ spec }, signal) =>
          checkOut(spec.source, setting.cache, { signal, ...(await freshnessOf(records, job.cause, spec.source)) }),
        budgetOf: (service) => shared.budgetOf(settings, service),
        outputsOf: async (name) => outputsOf(await records.stack(name)),
        dependentsOf: async (name) => (await records.stacks()).filter(({ spec }) => spec.dependsOn.includes(name)),
        emit: log.emit,
        now: () => new Date(),
        worker: setting.name,
      },
    );
  const leave = shared.enter(stack.spec.service);
  const outcome = await setting.within(stack.name, round).finally(leave);
  shared.answered(stack.spec.service, !outcome.unreachable);
  await log.flush();
  counts.rounds += 1;
  if (run.tookOver) counts.takenOver += 1;
  if (outcome.result.end === "applied") counts.applied += 1;
  if (outcome.result.end === "failed") counts.failed += 1;
  await settle(setting, settings, stack, run, outcome);
}

/**
 * What was approved or asked for is held against the newest files, not against those of a moment ago. After a push the
 * files are those of the commit that was seen, however many stacks it touches.
 */
async function freshnessOf(records: Records, cause: Cause, source: Source): Promise<Omit<Freshness, "signal">> {
  if (cause === "approval" || cause === "person") return { now: true };
  if (cause !== "push" || source.kind !== "git") return {};
  return { seen: await records.commitSeen(source.url, source.ref) };
}

/** Why this worker does not run it now, as how long it is to wait; absent: it does. */
async function whyCrowded(
  { records, services }: WorkerSetting,
  shared: Shared,
  settings: Settings,
  { name, spec }: StackRecord,
): Promise<number | undefined> {
  const { service } = spec;
  if (services.length > 0 && !services.includes(service ?? "")) return crowdedMs;
  // Rounds of a service that does not answer last long: they leave room for the others.
  if (shared.isSilent(service)) return silentMs;
  const most = settings.services.find((one) => one.name === service)?.concurrency;
  return most !== undefined && (await records.runningIn(service ?? "", name)) >= most ? crowdedMs : undefined;
}

/** Its workers died one after the other: the rest of the fleet goes on without it, until a person has looked. */
async function giveUp(
  setting: WorkerSetting,
  settings: Settings,
  stack: StackRecord,
  { id, lost }: StartedRun,
): Promise<void> {
  const { records } = setting;
  const status = afterLostWorkers(stack.status, lost);
  const isMine = await records.finishRun(id, { result: "failed", reason: status.reason, counts: {} }, status, null);
  if (!isMine) return;
  await records.note({ who: "fleet", what: "gave up", stack: stack.name, detail: status.reason ?? "" });
  await tell(setting, settings, stack, status, ["stalled"]);
}

async function forgetOld(records: Records, { history = usualHistory }: Settings): Promise<void> {
  while (await records.forget(history));
}

const outputsOf = (stack: StackRecord | undefined): StackRecord["outputs"] | undefined =>
  stack?.status.appliedRevision == null ? undefined : stack.outputs;

const resultOf = ({ result }: RoundOutcome): RunResult => (result.end === "handed_over" ? "taken_over" : result.end);

async function settle(
  setting: WorkerSetting,
  settings: Settings,
  stack: StackRecord,
  run: StartedRun,
  outcome: RoundOutcome,
): Promise<void> {
  const { records, queue } = setting;
  const { result, revision, plan, approval } = outcome;
  const before = stack.status;
  const status = afterRound(before, {
    result,
    drifted: outcome.drifted,
    giveUpAfter: stack.spec.retry.giveUpAfter,
    ...(revision === undefined ? {} : { revision }),
  });
  const next = nextOf(stack, status, result, run);
  const isMine = await records.finishRun(
    run.id,
    {
      result: resultOf(outcome),
      reason: status.reason,
      counts: outcome.counts,
      ...(revision === undefined ? {} : { revision }),
      ...(plan === undefined ? {} : { plan: plan.digest }),
      ...(approval === undefined ? {} : { approval }),
      ...(result.end === "applied" && plan !== undefined ? { report: reportOf(plan.body) } : {}),
    },
    status,
    next.at,
  );
  // Another worker took it over while this one slept: what is true now is that one's to say.
  if (!isMine) return;
  if (outcome.gone) {
    await records.note({ who: "fleet", what: "destroyed", stack: stack.name });
    await records.releaseStack(stack.name);
    // What it depended on may go now.
    for (const name of stack.spec.dependsOn) {
      const other = await records.stack(name);
      if (other?.leaving === true) await queue.hasten(triggerOf(other, "dependency"));
    }
    return;
  }
  if (result.end === "awaiting_approval" && plan !== undefined && revision !== undefined)
    await records.savePlan(
      stack.name,
      { digest: plan.digest, revision, body: plan.body },
      { voids: outcome.voids === true },
    );
  else if (!["failed", "blocked", "handed_over"].includes(result.end) && (mayWait(stack) || run.tookOver))
    await records.dropPlan(stack.name);
  const changed = await saveWhatChanged(records, stack, outcome);
  await savePicture(records, stack, outcome);
  // A worker that died between the two saved what changed, and woke nobody.
  const isFirst = before.appliedRevision === null && status.appliedRevision !== null;
  if (changed || isFirst || run.tookOver) await wakeDependents(setting, stack.name);
  await queue.enqueue({ ...triggerOf(stack, next.cause), at: next.at });
  await tell(setting, settings, stack, status, occasionsOf(before, status, result));
}

/** A plan of it may be waiting, or an approval of one. */
const mayWait = ({ status, approval }: StackRecord): boolean => status.plan !== null || approval !== undefined;

const reportOf = ({ text, consents, opens }: PlanBody): RunReport => ({
  plan: text,
  consents: consents.map(({ detail }) => detail),
  opens,
});

const triggerOf = ({ name, spec }: StackRecord, cause: Cause) => ({ stack: name, tenant: spec.tenant, cause });

/** For people alone: that it cannot be kept is no reason to fail. */
async function savePicture(records: Records, stack: StackRecord, { picture }: RoundOutcome): Promise<void> {
  if (picture === undefined) return;
  const made = picture();
  const digest = pictureDigest(made);
  if (digest !== stack.picture) await records.savePicture(stack.name, digest, made).catch(() => undefined);
}

/** Whether its outputs are others than before. */
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

/** Those whose last round used another value than there is now, and those that wait for its first apply. */
async function wakeDependents({ records, queue }: WorkerSetting, name: string): Promise<void> {
  const stacks = await records.stacks();
  const outputs = stacks.find((one) => one.name === name)?.outputs ?? {};
  for (const other of stacks) {
    const { spec, status, outputsUsed, paused } = other;
    const isStale = Object.values(spec.inputs).some(
      ({ stack, output }) => stack === name && !deepEqual(outputsUsed[`${stack}.${output}`], outputs[output]),
    );
    const waits = spec.dependsOn.includes(name) && status.waitingFor?.what === "dependency";
    if ((isStale || waits) && !paused) await queue.hasten(triggerOf(other, "dependency"));
  }
}

function nextOf(
  { spec, jitter }: StackRecord,
  status: Status,
  result: RoundOutcome["result"],
  { tookOver }: StartedRun,
): { readonly at: Date; readonly cause: Cause } {
  const after = (ms: number, cause: Cause) => ({ at: new Date(Date.now() + ms), cause });
  if (result.end === "handed_over") return after(0, "retry");
  if (result.end === "failed") return after(afterFailure(spec.retry, status.failures, jitter), "retry");
  if (result.end === "blocked" && result.waitingFor.what === "lock")
    return after(tookOver ? leaseLeftMs : lockedMs, "retry");
  const usual = afterSuccess(spec.intervalMs, jitter, Date.now());
  const until = status.waitingFor?.until;
  if (until === undefined) return after(usual, "interval");
  return after(Math.min(usual, Math.max(0, Date.parse(until) - Date.now())), "window");
}

async function tell(
  setting: WorkerSetting,
  { receivers }: Settings,
  { name, spec }: StackRecord,
  status: Status,
  occasions: readonly Notice["occasion"][],
): Promise<void> {
  for (const occasion of occasions)
    await notify(receivers, { occasion, stack: name, tenant: spec.tenant, status }, setting).catch((error: Error) =>
      setting.say(`${name}: nobody could be told of ${occasion}: ${error.message}`),
    );
}

const flushMs = 300;

/** The lines of a run, written in batches; nothing waits for them. */
function createLog(records: Records, run: number) {
  let lines: { readonly at: Date; readonly body: object }[] = [];
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const batch = lines;
    lines = [];
    if (batch.length > 0) writing = writing.then(() => records.addLines(run, batch)).catch(() => undefined);
    return writing;
  };
  return {
    emit(event: EngineEvent): void {
      lines.push({ at: new Date(), body: { ...event } });
      timer ??= setTimeout(() => void flush(), flushMs);
    },
    flush,
  };
}
