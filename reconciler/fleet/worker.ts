/**
 * A worker: takes rounds from the queue, runs them, writes down how they ended and when the next one is. Any number of
 * them share one database; what one leaves when it dies, another one finishes.
 */
import type { EngineEvent } from "../engine/events";
import { type Budget, createBudget, pauseChannel } from "./database/budget";
import type { Database } from "./database/database";
import type { Records, RunResult, StackRecord } from "./database/records";
import type { Settings } from "./model";
import { afterFailure, afterSuccess } from "./next-round";
import { type Notice, notify } from "./notify";
import { pictureDigest } from "./picture";
import type { OpenProject } from "./project";
import { lookForPushes } from "./pushes";
import type { Cause, Job, Queue } from "./queue";
import { type RoundOutcome, runRound } from "./round";
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

export async function startWorker(setting: WorkerSetting): Promise<Worker> {
  const { records, queue, database } = setting;
  const doing = new Map<string, Date>();
  const counts: WorkerCounts = { rounds: 0, applied: 0, failed: 0, takenOver: 0 };
  const draining = new AbortController();
  const stopping = new AbortController();
  const shared = createShared(setting);
  const beat = async (): Promise<void> => {
    await records.beat({
      name: setting.name,
      version: setting.version,
      concurrency: setting.concurrency,
      doing: [...doing].map(([stack, since]) => ({ stack, since: since.toISOString() })),
      draining: draining.signal.aborted,
    });
    await shared.look();
    if (!draining.signal.aborted) await lookForPushes(setting, setting.say);
  };
  await beat();
  const timer = setInterval(() => void beat().catch(() => undefined), beatMs);
  timer.unref();
  const ear = await database.listen(pauseChannel, (service) => void shared.paused(service));

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
    lost: async (stack, workers) => {
      const record = await records.stack(stack);
      if (record === undefined) return;
      const status = afterLostWorkers(record.status, workers);
      await records.saveStatus(stack, status);
      await records.note({ who: "fleet", what: "gave up", stack, detail: status.reason ?? "" });
      await tell(setting, await shared.settings(), record, status, ["stalled"]);
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

interface Shared {
  settings(): Promise<Settings>;
  budgetOf(settings: Settings, service: string): Budget | undefined;
  paused(service: string): Promise<void>;
  look(): Promise<void>;
}

/** What the rounds of one worker have in common. */
function createShared({ records, database, say }: WorkerSetting): Shared {
  const budgets = new Map<string, { readonly key: string; readonly budget: Budget }>();
  let known: { readonly at: number; readonly settings: Promise<Settings> } | undefined;
  let workers = 1;
  return {
    settings() {
      if (known === undefined || Date.now() - known.at > settingsFreshMs)
        known = { at: Date.now(), settings: records.settings() };
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
  if (stack === undefined || stack.paused) return;
  const settings = await shared.settings();
  if (setting.services.length > 0 && !setting.services.includes(stack.spec.service ?? "")) {
    await queue.enqueue({ ...triggerOf(stack, job.cause), at: new Date(Date.now() + crowdedMs) });
    return;
  }
  const most = settings.services.find(({ name }) => name === stack.spec.service)?.concurrency;
  if (most !== undefined && (await records.runningIn(stack.spec.service ?? "", stack.name)) >= most) {
    await queue.enqueue({ ...triggerOf(stack, job.cause), at: new Date(Date.now() + crowdedMs * (1 + stack.jitter)) });
    return;
  }
  const run = await records.startRun({
    stack: stack.name,
    cause: job.lost > 0 ? "taken over" : job.cause,
    worker: setting.name,
    ...(job.startedBy === undefined ? {} : { startedBy: job.startedBy }),
  });
  await records.saveStatus(stack.name, whileRunning(stack.status));
  const log = createLog(records, run);
  const before = stack.status;
  const round = (): Promise<RoundOutcome> =>
    runRound(
      {
        stack,
        settings,
        resumed: job.lost > 0,
        signal: AbortSignal.any([job.signal, stop.stop]),
        drain: stop.drain,
      },
      {
        openProject: setting.openProject,
        checkOut: ({ spec }, signal) => checkOut(spec.source, setting.cache, signal),
        budgetOf: (service) => shared.budgetOf(settings, service),
        outputsOf: async (name) => outputsOf(await records.stack(name)),
        emit: log.emit,
        now: () => new Date(),
        worker: setting.name,
      },
    );
  const outcome = await setting.within(stack.name, round);
  await log.flush();
  counts.rounds += 1;
  if (job.lost > 0) counts.takenOver += 1;
  if (outcome.result.end === "applied") counts.applied += 1;
  if (outcome.result.end === "failed") counts.failed += 1;
  await settle(setting, settings, stack, run, outcome, before, stop);
}

const outputsOf = (stack: StackRecord | undefined): StackRecord["outputs"] | undefined =>
  stack?.status.appliedRevision == null ? undefined : stack.outputs;

const resultOf = ({ result }: RoundOutcome): RunResult => result.end;

async function settle(
  setting: WorkerSetting,
  settings: Settings,
  stack: StackRecord,
  run: number,
  outcome: RoundOutcome,
  before: Status,
  stop: { readonly drain: AbortSignal; readonly stop: AbortSignal },
): Promise<void> {
  const { records, queue } = setting;
  const { result, revision, plan, approval } = outcome;
  const status = afterRound(before, {
    result,
    drifted: outcome.drifted,
    giveUpAfter: stack.spec.retry.giveUpAfter,
    ...(revision === undefined ? {} : { revision }),
  });
  const isMine = await records.finishRun(
    run,
    {
      result: resultOf(outcome),
      reason: status.reason,
      counts: outcome.counts,
      ...(revision === undefined ? {} : { revision }),
      ...(plan === undefined ? {} : { plan: plan.digest }),
      ...(approval === undefined ? {} : { approval }),
    },
    status,
  );
  // Another worker took it over while this one slept: what is true now is that one's to say.
  if (!isMine) return;
  if (outcome.gone) {
    await records.note({ who: "fleet", what: "destroyed", stack: stack.name });
    await records.releaseStack(stack.name);
    return;
  }
  if (result.end === "awaiting_approval" && plan !== undefined && revision !== undefined)
    await records.savePlan(stack.name, { digest: plan.digest, revision, body: plan.body });
  else if (result.end !== "failed" && result.end !== "blocked") await records.dropPlan(stack.name);
  const changed = await saveWhatChanged(records, stack, outcome);
  await savePicture(records, stack, outcome);
  if (changed.length > 0 || (before.appliedRevision === null && status.appliedRevision !== null))
    await wakeDependents(setting, stack.name, changed, before.appliedRevision === null);
  const next =
    stop.drain.aborted && result.end === "failed"
      ? { at: new Date(), cause: "retry" as const }
      : nextOf(stack, status, result);
  await records.saveNext(stack.name, next.at);
  await queue.enqueue({ ...triggerOf(stack, next.cause), at: next.at });
  await tell(setting, settings, stack, status, occasionsOf(before, status, result));
}

const triggerOf = ({ name, spec }: StackRecord, cause: Cause) => ({ stack: name, tenant: spec.tenant, cause });

/** For people alone: that it cannot be kept is no reason to fail. */
async function savePicture(records: Records, stack: StackRecord, { picture }: RoundOutcome): Promise<void> {
  if (picture === undefined) return;
  const made = picture();
  const digest = pictureDigest(made);
  if (digest !== stack.picture) await records.savePicture(stack.name, digest, made).catch(() => undefined);
}

/** The outputs that are others than before. */
async function saveWhatChanged(records: Records, stack: StackRecord, outcome: RoundOutcome): Promise<string[]> {
  const { outputs, outputsUsed, files } = outcome;
  if (files !== undefined && JSON.stringify(files) !== JSON.stringify(stack.files))
    await records.saveFiles(stack.name, files);
  if (outputs === undefined) return [];
  const changed = [...new Set([...Object.keys(outputs), ...Object.keys(stack.outputs)])].filter(
    (name) => JSON.stringify(outputs[name]) !== JSON.stringify(stack.outputs[name]),
  );
  if (changed.length > 0 || JSON.stringify(outputsUsed) !== JSON.stringify(stack.outputsUsed))
    await records.saveOutputs(stack.name, outputs, outputsUsed);
  return changed;
}

async function wakeDependents(
  { records, queue }: WorkerSetting,
  name: string,
  changed: readonly string[],
  first: boolean,
): Promise<void> {
  for (const other of await records.stacks()) {
    const uses = Object.values(other.spec.inputs).some(
      ({ stack, output }) => stack === name && changed.includes(output),
    );
    if (uses || (first && other.spec.dependsOn.includes(name))) await queue.hasten(triggerOf(other, "dependency"));
  }
}

function nextOf(
  { spec, jitter }: StackRecord,
  status: Status,
  result: RoundOutcome["result"],
): { readonly at: Date; readonly cause: Cause } {
  const after = (ms: number, cause: Cause) => ({ at: new Date(Date.now() + ms), cause });
  if (result.end === "failed") return after(afterFailure(spec.retry, status.failures, jitter), "retry");
  if (result.end === "blocked" && result.waitingFor.what === "lock") return after(lockedMs, "retry");
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
  let lines: object[] = [];
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
      lines.push({ ...event });
      timer ??= setTimeout(() => void flush(), flushMs);
    },
    flush,
  };
}
