/**
 * A worker: takes rounds from the queue, runs them, and records how they ended and when the next one is. Any number of
 * workers share one database; another worker finishes what a dead one leaves.
 */
import { setTimeout as pause } from "node:timers/promises";
import { deepEqual } from "../core/text/deep-equal";
import { nearestText } from "../core/text/nearest";
import { onlyDefined } from "../core/text/objects";
import { onceReached } from "./database/open";
import type { Records } from "./database/records";
import { type Held, mostLost, type ServiceLimit, type StartedRun } from "./database/runs";
import type { StackRecord } from "./database/stacks";
import { rejectedWhy } from "./decide";
import { takeDuties } from "./duties";
import type { FleetSettings, Source } from "./model";
import type { OpeningPorts } from "./open-stack";
import { openPost } from "./post";
import type { OpenProject } from "./project";
import { planPull } from "./pulls/plan";
import { type Job, type TakenRounds, triggerOf } from "./queue";
import { type RoundOutcome, runRound } from "./round";
import { createRunLog } from "./run-log";
import { giveUp, settle, storedReport } from "./settle";
import { createShared, listenForNews, type Shared, type WorkerSetting } from "./shared";
import { createSilences, type Ear, serviceOf } from "./silence";
import { type Checkout, SourceFailed } from "./sources/checkout";
import { tidyTrees } from "./sources/git";
import { originOf, takeFiles, tellEar } from "./sources/take-files";
import { type StopRequest, stoppedReason, waitsForPlace, whileRunning } from "./status";
import { steadyNow } from "./steady";
import { watchBudgets } from "./waiting";
import { openingOf } from "./windows";

export interface Worker {
  /** Takes no new round; resolves when the running ones have ended. */
  drain(): Promise<void>;
  /** Ends at once what can be ended; another worker finishes the rest. */
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

const beatMs = 5000;
/** Workers that have nothing to do tell so less often the more there are, so that they ask no more together. */
const longestQuietMs = 60_000;
/** A round that this worker cannot run now is offered again after this time. */
const crowdedMs = 1000;
/** The plan of a pull request, where a window lets nobody look at the service. */
const windowMs = 60_000;
/** One that must not run beside another suspect is behind already: its workers died. */
const suspectMs = 250;
/** How long the next try waits for a round that could not be recorded, not for the first time. */
const failedAgainMs = 10_000;
/** How often a worker deletes the files on its machine that nobody used for a day. */
const tidyEveryMs = 3_600_000;

export async function startWorker(setting: WorkerSetting): Promise<Worker> {
  const { records, queue } = setting;
  const doing = new Map<string, Date>();
  const counts: WorkerCounts = { rounds: 0, applied: 0, failed: 0, takenOver: 0 };
  const draining = new AbortController();
  const stopping = new AbortController();
  const shared = createShared(setting);
  const budgets = watchBudgets(setting, shared.waitsOf);
  const services = new Map<string, string | undefined>();
  const post = openPost(setting);
  const duties = takeDuties(setting, shared, post, draining.signal);
  let tidiedAt = 0;
  const stops = new Map<string, Stops>();
  async function lookForStops(): Promise<void> {
    if (stops.size === 0) return;
    for (const [stack, request] of await records.stopsOf([...stops.keys()])) {
      const mine = stops.get(stack);
      if (mine === undefined) continue;
      mine.request = request;
      mine.soft.abort();
      if (request !== "left" && request.now) mine.hard.abort();
    }
  }
  let workers = 1;
  let settledAt: number | undefined;
  /** Until then nothing new is to be told. */
  let quietUntil = 0;
  const beat = async (): Promise<void> => {
    const isIdle = doing.size === 0 && !draining.signal.aborted;
    const nextMs = isIdle ? Math.min(longestQuietMs, Math.max(beatMs, workers * 1000)) : beatMs;
    const standing = await records.beat(
      {
        name: setting.name,
        version: setting.version,
        concurrency: setting.concurrency,
        doing: [...doing].map(([stack, since]) => ({ stack, since: since.toISOString() })),
        draining: draining.signal.aborted,
        services: setting.services,
        troubles: shared.troubles.told,
      },
      nextMs / 1000,
    );
    quietUntil = isIdle ? steadyNow() + nextMs - beatMs / 2 : 0;
    workers = standing.workers;
    if (settledAt !== standing.settledAt) queue.take(takenBy(setting, await records.settings()));
    settledAt = standing.settledAt;
    shared.others = { count: Math.max(0, workers - 1), troubled: standing.troubled };
    await lookForStops();
    await budgets.look(services);
    if (draining.signal.aborted) return;
    duties.stand(standing);
    if (steadyNow() - tidiedAt > tidyEveryMs) {
      tidiedAt = steadyNow();
      // Not waited for: another worker of this machine may be fetching from a repository that is silent.
      void tidyTrees(setting.cache, draining.signal);
    }
  };
  await beat();
  const timer = setInterval(() => {
    if (doing.size > 0 || steadyNow() >= quietUntil) void beat().catch(() => undefined);
  }, beatMs);
  timer.unref();
  const ear = await listenForNews(setting, shared, lookForStops);

  const settings = await shared.settings();
  const known = settings.services.map(({ name }) => name);
  for (const name of setting.services.filter((one) => !known.includes(one))) {
    const near = nearestText(name, known, (one) => ` (did you mean ${one}?)`) ?? "";
    setting.say(
      `The fleet has no service ${name}${near}, so that this worker takes no rounds of it before there is one.`,
    );
  }
  await queue.work({
    concurrency: setting.concurrency,
    ...takenBy(setting, settings),
    hears: await ear.hears(),
    round: async (job) => {
      if (job.pull !== undefined) return onePull(setting, shared, job, job.pull, draining.signal);
      doing.set(job.stack, new Date());
      const mine: Stops = { soft: new AbortController(), hard: new AbortController() };
      stops.set(job.stack, mine);
      const signals = {
        drain: AbortSignal.any([draining.signal, mine.soft.signal]),
        stop: AbortSignal.any([stopping.signal, mine.hard.signal]),
      };
      try {
        await oneRound(setting, shared, job, { ...signals, asked: mine }, counts, services);
        post.send();
      } catch (error) {
        // The queue gives it again at once, as one whose worker died, and no death is counted of a worker that lives.
        const ends = AbortSignal.any([job.signal, signals.stop, draining.signal]);
        if (job.again === true) await pause(failedAgainMs, undefined, { signal: ends }).catch(() => undefined);
        throw error;
      } finally {
        doing.delete(job.stack);
        stops.delete(job.stack);
        services.delete(job.stack);
      }
    },
  });

  const close = async (): Promise<void> => {
    clearInterval(timer);
    duties.close();
    await post.close();
    await ear.close();
    // What is under way may stay open: whoever goes on with it has to see that this worker was told to end.
    if (doing.size === 0) await records.leave(setting.name).catch(() => undefined);
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

const takenBy = ({ services: only }: WorkerSetting, { tenants, services }: FleetSettings): TakenRounds => ({
  tenants,
  services: services.map(({ name }) => name),
  only,
});

/** How the round of one stack is stopped, once somebody asks for it. */
interface Stops {
  readonly soft: AbortController;
  readonly hard: AbortController;
  request?: StopRequest | "left";
}

/** Plans a stack as a pull request leaves it, in a place of its own among the rounds. */
async function onePull(
  setting: WorkerSetting,
  shared: Shared,
  job: Job,
  number: number,
  draining: AbortSignal,
): Promise<void> {
  const { records } = setting;
  const stack = await records.takeStack(job.stack, job.turn);
  if (stack === undefined) return;
  const busy = whyNotHere(setting, shared, stack);
  if (busy !== undefined) return later(setting, job, stack, busy);
  const settings = await shared.settings();
  const looking = openingOf(settings.windows, stack.name, "look", clockOf(stack)());
  if (!looking.open) return later(setting, job, stack, windowMs);
  const signal = AbortSignal.any([job.signal, draining]);
  const ear = shared.silences.begin(serviceOf(stack.spec));
  const reading = createSilences().begin(undefined);
  const lender = lendWhile(() => ear.waits || reading.waits, job);
  try {
    await planPull(
      {
        ...openingPorts(setting, shared, settings, ear),
        records,
        cache: setting.cache,
        openProject: openedWith(setting, reading),
      },
      { stack, settings, number, signal },
    );
  } catch (error) {
    // Another worker plans it.
    if (draining.aborted) await later(setting, job, stack, 0);
    else throw error;
  } finally {
    lender.end();
    ear.end(true);
  }
}

const openingPorts = (
  { records, name }: WorkerSetting,
  shared: Shared,
  settings: FleetSettings,
  ear: Ear,
): OpeningPorts => ({
  budgetOf: (service) => shared.budgetOf(settings, service),
  outputsOf: async (stack) => outputsOf(await records.stack(stack)),
  dependentsOf: (stack) => records.dependents(stack),
  statesWith: (text) => records.statesWith(text),
  siblingsOf: (stack) => records.siblings(stack),
  ear,
  worker: name,
});

async function oneRound(
  setting: WorkerSetting,
  shared: Shared,
  job: Job,
  stop: { readonly drain: AbortSignal; readonly stop: AbortSignal; readonly asked: Stops },
  counts: WorkerCounts,
  services: Map<string, string | undefined>,
): Promise<void> {
  const { records } = setting;
  const [stack, settings] = await Promise.all([records.takeStack(job.stack, job.turn), shared.settings()]);
  // The stack has left the file or was paused meanwhile: whoever resumes it sends the round again.
  if (stack === undefined || stack.paused) return records.endLostRuns(job.stack, setting.name);
  const busy = whyNotHere(setting, shared, stack);
  if (busy !== undefined) return later(setting, job, stack, busy);
  const run = await records.startRun({
    stack: stack.name,
    cause: job.cause,
    worker: setting.name,
    status: whileRunning(stack.status),
    limit: limitOf(settings, stack),
    startedBy: job.startedBy,
  });
  if ("held" in run) return hold(setting, settings, job, stack, run);
  if (run.blamed >= mostLost) return giveUp(setting, settings, stack, run);
  // Nothing of the round waits for it.
  const charged = job.turn === undefined ? records.chargeTenant(stack.spec.tenant).catch(() => undefined) : undefined;
  services.set(stack.name, stack.spec.service);
  const clock = clockOf(stack);
  const log = createRunLog(records, run.id);
  const ear = shared.silences.begin(serviceOf(stack.spec));
  let origin: Ear | undefined;
  let hasBegun = false;
  // How long its files take to be read concerns no other round.
  const reading = createSilences().begin(undefined);
  const round = (): Promise<RoundOutcome> =>
    runRound(
      {
        stack,
        settings,
        resumed: run.tookOver || run.lost > 0,
        signal: AbortSignal.any([job.signal, stop.stop]),
        drain: stop.drain,
      },
      {
        openProject: openedWith(setting, reading),
        checkOut: (taken, signal) => {
          const ear = shared.sources.begin(originOf(taken.spec.source));
          origin = ear;
          return filesOf(taken, (source) =>
            takeFiles(setting, shared.troubles, ear, { cause: job.cause, source, signal }),
          );
        },
        ...openingPorts(setting, shared, settings, ear),
        approvedBefore: (digest) => onceReached(() => records.approvalBeforeMerge(stack.name, digest), job.signal),
        emit: log.emit,
        async begins({ digest, revision, body }) {
          const carried = { plan: digest, revision, report: storedReport(body) };
          hasBegun = await onceReached(() => records.carryRun(run.id, carried, stack), job.signal);
          return hasBegun;
        },
        windows: () => onceReached(async () => (await records.settings()).windows, job.signal),
        now: clock,
      },
    );
  const lender = lendWhile(() => ear.waits || reading.waits || origin?.waits === true, job);
  let isReached = true;
  const outcome = await setting
    .within(stack.name, round)
    .then((ended) => {
      isReached = ended.unreachable !== true;
      return hasBegun ? { ...ended, begun: true as const } : ended;
    })
    .finally(() => {
      lender.end();
      ear.end(isReached);
    });
  await log.flush();
  await charged;
  const isCut = outcome.result.end === "failed" && (job.signal.aborted || stop.stop.aborted);
  countRound(counts, run, outcome, isCut);
  // Another worker has the round now: that worker ends this run, and its name is in the reason.
  if (isCut && job.signal.aborted) return;
  const { request } = stop.asked;
  const wasStopped = request !== undefined && (isCut || outcome.result.end === "handed_over");
  const ended = wasStopped
    ? { ...outcome, result: { end: "handed_over", why: whyStopped(stack.name, request, outcome) } as const }
    : isCut
      ? { ...outcome, result: stoppedAtOnce }
      : await orRejected(records, stack.name, outcome);
  // Somebody may have died when the round was recorded and its consequences were not.
  const mine = job.again === true ? { ...run, tookOver: true } : run;
  await settle(setting, settings, stack, mine, ended, clock());
}

/**
 * Whoever takes a stack out of the fleet's file takes its folder, its branch or its repository away as well: what goes is
 * as it was applied last.
 */
async function filesOf(
  { spec: { source }, leaving, status }: StackRecord,
  take: (source: Source) => Promise<Checkout>,
): Promise<Checkout> {
  try {
    return await take(source);
  } catch (error) {
    if (!leaving || !(error instanceof SourceFailed)) throw error;
    const last = status.appliedRevision ?? status.observedRevision;
    const former = last === null || source.kind !== "git" ? undefined : take({ ...source, ref: last });
    const found = await former?.catch(() => undefined);
    if (found !== undefined) return found;
    throw new SourceFailed(`${error.message}; ${needsFiles}`, error.isSilent);
  }
}

const needsFiles =
  "what the stack made is deleted by its files: write it into the fleet's file again with a source that has them, sync, and take it out again";

/** The database's clock, from when the stack was read on: windows and approvals do not go by the clock of a worker. */
function clockOf({ readAt = new Date() }: StackRecord): () => Date {
  const began = steadyNow();
  return () => new Date(readAt.getTime() + steadyNow() - began);
}

/** The plan may have been rejected while the round ran that would offer it again. */
async function orRejected(records: Records, stack: string, outcome: RoundOutcome): Promise<RoundOutcome> {
  const { result } = outcome;
  const plan = result.end === "awaiting_approval" || result.end === "blocked" ? result.plan : undefined;
  const rejection = plan === undefined ? undefined : await records.rejectionOf(stack);
  if (rejection === undefined || rejection.digest !== plan) return outcome;
  return { ...outcome, result: { end: "observed", why: rejectedWhy(rejection) } };
}

/** A round that was cut short has not failed. */
function countRound(counts: WorkerCounts, { tookOver }: StartedRun, { result }: RoundOutcome, isCut: boolean): void {
  counts.rounds += 1;
  if (tookOver) counts.takenOver += 1;
  if (result.end === "applied") counts.applied += 1;
  if (result.end === "failed" && !isCut) counts.failed += 1;
}

/** Who stopped the run, and where its resources stand. */
function whyStopped(name: string, request: StopRequest | "left", { result }: RoundOutcome): string {
  const stood = result.end === "handed_over" ? result.stood : undefined;
  return [stoppedReason(name, request), ...(stood === undefined ? [] : [stood])].join("; ");
}

/** The result of a round that was cut short by the end of its worker. */
const stoppedAtOnce: RoundOutcome["result"] = {
  end: "handed_over",
  why: "its worker was stopped at once; another one goes on",
};

const lendCheckMs = 500;

/** Lends the round's place for as long as the round waits. */
function lendWhile(waits: () => boolean, job: Pick<Job, "lend">): { end(): void } {
  let takeBack: (() => void) | undefined;
  const timer = setInterval(() => {
    if (waits()) takeBack ??= job.lend();
    else back();
  }, lendCheckMs);
  timer.unref();
  const back = (): void => {
    takeBack?.();
    takeBack = undefined;
  };
  return {
    end() {
      clearInterval(timer);
      back();
    },
  };
}

/** A stack whose files are read or planned in a process of its own is waited for, as a service is that does not answer. */
const openedWith =
  ({ openProject }: WorkerSetting, reading: Ear): OpenProject =>
  async (input) => {
    const project = await tellEar(reading, () => openProject(input));
    if (project.apart !== true) return project;
    return {
      ...project,
      plan: (signal) => tellEar(reading, () => project.plan(signal)),
      async underLock(signal, use) {
        reading.asked();
        try {
          return await project.underLock(signal, (planned) => {
            reading.heard();
            return use(planned);
          });
        } finally {
          reading.heard();
        }
      },
    };
  };

/** How long the round should wait before this worker runs it; absent: it runs now. */
function whyNotHere({ services }: WorkerSetting, shared: Shared, { spec }: StackRecord): number | undefined {
  if (services.length > 0 && !services.includes(spec.service ?? "")) return crowdedMs;
  // Rounds whose service or source does not answer last long: others go first.
  const origin = originOf(spec.source);
  const pauseMs = shared.silences.pauseMs(serviceOf(spec));
  if (pauseMs !== undefined || origin === undefined) return pauseMs;
  return shared.troubles.rests(origin, shared.others) ? crowdedMs : shared.sources.pauseMs(origin);
}

function limitOf({ services }: FleetSettings, { spec }: StackRecord): ServiceLimit | undefined {
  const most = services.find(({ name }) => name === spec.service)?.concurrency;
  return most === undefined || spec.service === undefined ? undefined : { service: spec.service, most };
}

/** Puts the round back and writes what it waits for. */
async function hold(
  setting: WorkerSetting,
  settings: FleetSettings,
  job: Job,
  stack: StackRecord,
  { held }: Held,
): Promise<void> {
  const waitingFor = waitsForPlace(held, limitOf(settings, stack));
  if (!deepEqual(stack.status.waitingFor, waitingFor)) await setting.records.saveStatus(stack.name, { waitingFor });
  await later(setting, job, stack, held === "suspect" ? suspectMs : crowdedMs);
}

/** Queues the same round for later, at a moment that the stack's jitter spreads. */
async function later({ queue }: WorkerSetting, job: Job, stack: StackRecord, ms: number): Promise<void> {
  const at = new Date(Date.now() + ms * (1 + stack.jitter));
  const { startedBy, pull, again, turn } = job;
  await queue.enqueue({ ...triggerOf(stack, job.cause), ...onlyDefined({ startedBy, pull, again }), turn, at });
}

const outputsOf = (stack: StackRecord | undefined): StackRecord["outputs"] | undefined | null =>
  stack === undefined ? null : stack.status.appliedRevision === null ? undefined : stack.outputs;
