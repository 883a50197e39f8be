/**
 * Carries a plan out: starts what may start, writes down what became true, skips what cannot go on, and says how it
 * ended. Stops starting on the first wish to stop, and waiting on the second.
 */

import { indexCatalogue } from "../core/canonical/catalogue";
import type { Diagnostic } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import type { WhyUnseen } from "../core/model/effect";
import { type ToldFix, told } from "../core/model/fix";
import type { Live } from "../core/model/live";
import type { Outputs } from "../core/model/output";
import {
  type Orphan,
  orphanKey,
  type RecordedVm,
  type RunEnd,
  type RunStart,
  recordedAt,
  type Scope,
} from "../core/model/recorded";
import {
  besides,
  closingChanges,
  type EndedStep,
  isOffByDelete,
  type OpenWrite,
  toLookFor,
} from "../core/plan/closing";
import type { PermittedPlan } from "../core/plan/permitted";
import type { StepChange } from "../core/plan/record-patch";
import { isGate, type Step } from "../core/plan/step";
import type { UnseenEffect } from "../core/plan/unseen";
import { createScheduler, type Ended } from "../core/schedule/scheduler";
import { asError, errorMessage } from "../core/text/errors";
import { mustGet } from "../core/text/invariant";
import { appendTo, ifAny, onlyDefined } from "../core/text/objects";
import { sharedLook } from "../core/text/shared-look";
import { type Owed, owedIn, owedLater } from "../kinds/vm/guest-steps";
import type { Remount } from "../kinds/volume/mount-again";
import { onAbort } from "../service/abort-listeners";
import { closingLook } from "./closing-look";
import { NotRecorded } from "./create-once";
import type { StepEvent, StepStatus } from "./events";
import { createFirstCreates } from "./first-create";
import { indexNamesBefore } from "./names-before";
import { performStep } from "./perform";
import { createPoller, type Poller } from "./poller";
import type { Ports } from "./ports";
import { isStateError, type Recorder } from "./recorder";
import type { DoneStep, OpenStep, Run, StepResult } from "./run";

/** A step that is done. `unseen`: absent where all of it was seen. */
export type DoneResult = Omit<DoneStep, "effect"> & { readonly unseen?: readonly UnseenEffect[] };

/** A step that is not done, with what to do about it as its reader is told, and in parts. */
export type OpenResult = Omit<OpenStep, "fix"> & Partial<ToldFix>;

export interface StepReport {
  readonly step: Step;
  readonly result: DoneResult | OpenResult | { readonly end: "skipped"; readonly message?: string };
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly waitedMs: number;
}

/** The accepted writes of a run that no look has shown. */
export const unseenIn = ({ steps }: Pick<RunReport, "steps">): readonly UnseenEffect[] =>
  steps
    .flatMap(({ result }) => (result.end === "done" ? (result.unseen ?? []) : []))
    .sort((one, other) => Number(canNobodyLook(one)) - Number(canNobodyLook(other)));

const canNobodyLook = ({ why }: UnseenEffect): boolean => why.unseen === "nobody-can-look";

/** Those that the service could have shown: a run with one of them is not done. */
export const notSeenIn = (report: Pick<RunReport, "steps">): readonly UnseenEffect[] =>
  unseenIn(report).filter((one) => !canNobodyLook(one));

export interface RunReport {
  readonly steps: readonly StepReport[];
  readonly counts: RunEnd["steps"];
  readonly orphans: readonly Orphan[];
  /** The VMs that the run made or took over, with what is known of them by then. */
  readonly hosts?: readonly RecordedVm[];
  /** The outputs after the run. Absent: the file declares none. */
  readonly outputs?: Outputs;
  /** Commands that are owed to guests after the run. Absent: none. */
  readonly owed?: readonly Owed[];
  /** Volumes that have to be mounted in their guests, because nobody declared a command that does it. Absent: none. */
  readonly remounts?: readonly Remount[];
  /** What is only known once the run has made something, and whoever reads its end has to know. Absent: nothing. */
  readonly warnings?: readonly Diagnostic[];
  /** The state could not be written any more; nothing was sent after that. */
  readonly broken?: Error;
  /** A step stopped on a bug of this program: the state is fine, and nothing more was started. */
  readonly bug?: Error;
  /** Everything is recorded, and yet the state could not be folded or its lock let go. */
  readonly unclosed?: Error;
  readonly interrupted: boolean;
}

export interface StopSignals {
  /** First signal: finish what is in flight, start nothing more. */
  readonly soft: AbortSignal;
  /** Second signal: stop waiting as well. */
  readonly hard: AbortSignal;
}

export async function runPlan(
  permitted: PermittedPlan,
  live: Live,
  recorder: Recorder,
  ports: Ports,
  stop: StopSignals,
  /** What the state remembers of the run. A plan that is no run of a state has no id. */
  remembered: { readonly id: string; readonly run?: Omit<RunStart, "number" | "at" | "id"> },
  scope?: Scope,
  /** The looks at VMs that several runs share. Left out: the run has its own. */
  poller?: Poller,
): Promise<RunReport> {
  const { plan } = permitted;
  const scheduler = createScheduler(plan.steps, ports.oneAtATime === true);
  const reports = new Map<string, StepReport>();
  const waited = new Map<string, number>();
  const orphans: Orphan[] = [];
  let broken: Error | undefined;
  let bug: Error | undefined;
  // A step that waited for a slot or for the service must not act on a state that is another run's by now.
  const halt = new AbortController();
  const unlisten = onAbort(stop.hard, () => halt.abort());
  if (stop.hard.aborted) halt.abort();
  const breakOff = (error: Error): void => {
    broken ??= error;
    halt.abort();
  };

  const emitStep = (
    step: Step,
    status: StepStatus | "unknown",
    startedAt: number | undefined,
    message?: string,
    more: Pick<StepEvent, "accepted" | "effect"> = {},
    endedAt: number = ports.clock.now(),
  ): void => {
    if (isGate(step)) return;
    ports.emit({
      type: "step",
      status: status === "unknown" ? "failed" : status,
      unknown: status === "unknown" ? (true as const) : undefined,
      step: step.id,
      address: step.address,
      operation: step.action.operation,
      attempt: 1,
      elapsedMs: startedAt === undefined ? 0 : endedAt - startedAt,
      title: step.title,
      message,
      waitingMs: waited.has(step.id) ? mustGet(waited, step.id) : undefined,
      ...more,
    });
  };

  const startedAt = new Map<string, number>();
  const openBefore = [...recorder.state.intents.values()];
  const apart = ports.apart ?? ((work) => work());
  const run: Run = {
    ports: {
      ...ports,
      emit: (event) => {
        if (event.type === "orphan") orphans.push(event.orphan);
        ports.emit(event);
      },
    },
    poller: poller ?? createPoller(ports.client, ports.clock, ports.timing.pollIntervalMs, apart),
    recorder,
    live,
    idsBefore: indexNamesBefore(live),
    openBefore: (operation, name) =>
      openBefore.find((intent) => intent.operation === operation && intent.name.toLowerCase() === name.toLowerCase()),
    flavors: indexCatalogue(live.catalogue.flavors),
    images: indexCatalogue(live.catalogue.images),
    signal: halt.signal,
    mayWrite: () =>
      recorder.assertHeld().then(
        () => true,
        (error: Error) => {
          breakOff(error);
          return false;
        },
      ),
    mayLose: (disk, id) => permitted.mayLose(disk, id),
    isFlushConfirmed: (address) => permitted.isFlushConfirmed(address),
    mayEnd: (address) => permitted.mayEnd(address),
    progress: (step, message) => emitStep(step, "progress", startedAt.get(step.id), message),
    priority: (step) => scheduler.pathMs(step.id),
    listVms: sharedLook(() => apart(() => ports.client.listVms({ signal: halt.signal }))),
    listVolumes: sharedLook(() => apart(() => ports.client.listVolumes({ signal: halt.signal, makesSure: true }))),
    listGroups: sharedLook(() => apart(() => ports.client.listGroups({ signal: halt.signal }))),
    stopped: new Set(),
    firstCreate: createFirstCreates(),
    deleted: new Set(),
    shown: new Map(),
    debtsBefore: new Map(),
    flushing: new Set(),
    waited: (step, ms) => waited.set(step.id, (waited.get(step.id) ?? 0) + ms),
  };

  const endWithoutRunning = (ended: readonly Ended[]): void => {
    for (const { step, end, because } of ended) {
      if (end === "unneeded") continue;
      const message =
        because === undefined ? "not started" : `because ${because} ${end === "waiting" ? "waits" : "did not succeed"}`;
      const status = end === "waiting" ? "waiting" : "skipped";
      reports.set(step.id, { step, result: { end: status, message }, waitedMs: 0 });
      emitStep(step, status, undefined, message);
    }
  };

  const at = ports.clock.instant();
  await recorder.record([
    {
      type: "run",
      plan: remembered.id,
      at,
      ...onlyDefined({
        run:
          remembered.run === undefined
            ? undefined
            : { id: remembered.id, number: recorder.state.serial + 1, at, ...remembered.run },
      }),
    },
    ...(scope === undefined ? [] : [{ type: "scope" as const, scope }]),
    ...recordedAt(plan.bookkeeping, at),
    ...owedLater(plan).map(({ address, command, reason }): StepChange => {
      return { type: "patch", address, owes: { added: [{ command, reason, since: at }] } };
    }),
  ]);

  const ended: EndedStep[] = [];
  await new Promise<void>((resolve) => {
    let running = 0;
    const onSoftStop = (): void => {
      endWithoutRunning(scheduler.stop());
      settleIfIdle();
    };
    const settleIfIdle = (): void => {
      if (running > 0) return;
      stop.soft.removeEventListener("abort", onSoftStop);
      resolve();
    };
    const start = (): void => {
      for (const step of scheduler.next()) {
        running++;
        void perform(step);
      }
      settleIfIdle();
    };
    const perform = async (step: Step): Promise<void> => {
      const began = ports.clock.now();
      startedAt.set(step.id, began);
      emitStep(step, "started", began);
      let result: StepResult;
      try {
        const work = (): Promise<StepResult> => performStep(step, run);
        result = await (ports.within === undefined ? work() : ports.within(step, work));
      } catch (error) {
        const ofState = error instanceof NotRecorded ? error.cause : error;
        if (isStateError(ofState)) {
          result = failedToRecord(error, ofState.code);
          breakOff(ofState);
        } else {
          bug ??= asError(error);
          result = failedByBug(bug);
        }
      }
      const endedAt = ports.clock.now();
      const open = result.end === "done" && !result.effect.seen ? result.effect.writes : [];
      if (result.end === "done") ended.push({ step, writes: open });
      reports.set(step.id, {
        step,
        result: result.end === "done" ? withoutEffect(result) : { ...result, ...told(result.fix) },
        startedAt: began,
        endedAt,
        waitedMs: waited.get(step.id) ?? 0,
      });
      if (open.length > 0) emitStep(step, "progress", began, lookedForLater, { accepted: true }, endedAt);
      else emitStep(step, result.end, began, result.message, result.end === "done" ? { effect: "seen" } : {}, endedAt);
      endWithoutRunning(scheduler.finish(step.id, result.end));
      if (broken !== undefined || bug !== undefined) endWithoutRunning(scheduler.stop());
      running--;
      start();
    };
    if (stop.soft.aborted) endWithoutRunning(scheduler.stop());
    else stop.soft.addEventListener("abort", onSoftStop, { once: true });
    start();
  });

  const written = toLookFor(ended, run.deleted, run.shown);
  const lookedFor = [...written, ...besides(written, recorder.state, live)];
  const isStopping = (): boolean => stop.soft.aborted;
  let looked: ReadonlyMap<OpenWrite, WhyUnseen> = new Map(
    lookedFor.map((write) => [write, { unseen: "not-looked", because: "the run broke off before" }] as const),
  );
  if (broken === undefined && bug === undefined)
    try {
      const stillOpen = lookedFor.filter((write) => !isOffByDelete(write, run.deleted));
      looked = await apart(() => closingLook(stillOpen, { ...run.ports, signal: halt.signal, isStopping }));
      await recorder.record(closingChanges(lookedFor, looked, recorder.state, at));
    } catch (error) {
      if (isStateError(error)) breakOff(error);
      else bug = asError(error);
    }
  const unseen = unseenBySteps(looked);
  for (const { step, writes } of ended) {
    if (writes.length === 0) continue;
    const report = mustGet(reports, step.id);
    const found = unseen.get(step.id);
    if (found !== undefined && report.result.end === "done")
      reports.set(step.id, { ...report, result: { ...report.result, unseen: found } });
    const effect = found === undefined ? "seen" : "unseen";
    emitStep(step, "done", report.startedAt, report.result.message, { effect }, report.endedAt);
  }
  unlisten();
  const steps = plan.steps.flatMap((step) => reports.get(step.id) ?? []);
  const owed = owedIn(recorder.state.resources.values());
  return {
    ...onlyDefined({ owed: ifAny(owed) }),
    steps,
    counts: countSteps(steps),
    // An orphan that the same run deleted, such as a replaced volume, is not left behind.
    orphans: orphans.filter((orphan) => recorder.state.orphans.has(orphanKey(orphan))),
    interrupted: stop.soft.aborted,
    broken,
    bug,
  };
}

const lookedForLater = "accepted; it is looked for at the end of the run";

const withoutEffect = ({ effect: _, ...result }: DoneStep): DoneResult => result;

function unseenBySteps(looked: ReadonlyMap<OpenWrite, WhyUnseen>): Map<string, UnseenEffect[]> {
  const bySteps = new Map<string, UnseenEffect[]>();
  for (const [{ step, field, said }, why] of looked) {
    const found = { address: step.address, title: step.title, field, said, why };
    appendTo(bySteps, step.id, found);
  }
  return bySteps;
}

/** The state lacks ids of what this run made. No other step that fails at the state has advice. */
export const lacksIds = ({ steps }: Pick<RunReport, "steps">): boolean =>
  steps.some(
    ({ result }) => result.end === "failed" && result.fix !== undefined && result.code?.startsWith("state/") === true,
  );

const failedToRecord = (error: unknown, code: DiagnosticCode): StepResult => ({
  end: "failed",
  code,
  message: errorMessage(error),
  fix: error instanceof NotRecorded ? error.fix : undefined,
});

/** A request that was sent may have taken effect: its intent is still in the state, and the next run looks. */
const failedByBug = ({ message }: Error): StepResult => ({
  end: "failed",
  code: "apply/bug",
  message: `reconcile stopped on a bug of its own: ${message}`,
  fix: "nothing that was recorded is lost, and the next run looks first; please report this with RECONCILE_DEBUG=1 set",
});

export function countSteps(steps: readonly Pick<StepReport, "step" | "result">[]) {
  const counts = { done: 0, failed: 0, skipped: 0, waiting: 0 };
  for (const { step, result } of steps) {
    if (isGate(step)) continue;
    counts[result.end === "unknown" ? "failed" : result.end]++;
  }
  return counts;
}
