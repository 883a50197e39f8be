/**
 * Carries out one step: sends its request, judges how it ended, looks before repeating, waits where the service works
 * on, and writes down what became true. Which step comes when is the scheduler's business.
 */
import type { Index } from "../core/canonical/catalogue";
import { kindOf } from "../core/model/address";
import type { Reference } from "../core/model/desired";
import { type Live, type LiveVm, type LiveVolume, sightGroup, sightVm, sightVolume } from "../core/model/live";
import { type Failure, isGone, notSent, type Outcome } from "../core/model/outcome";
import { type Intent, orphanKey, type RecordedResource, recordedAt, type StateChange } from "../core/model/recorded";
import { missingOrphan } from "../core/plan/missing";
import type { Step, StepAction } from "../core/plan/step";
import type { NamesBefore } from "./names-before";
import { performGroupStep } from "./perform-group";
import { performVmStep } from "./perform-vm";
import { performVolumeStep } from "./perform-volume";
import type { Poller } from "./poller";
import type { Ports } from "./ports";
import { patchRecord, type Recorder } from "./recorder";

export interface StepResult {
  readonly end: "done" | "failed" | "unknown" | "waiting";
  /** Why, when it is not simply done. */
  readonly message?: string;
  /** What to do about it. */
  readonly fix?: string;
  readonly code?: string;
}

export interface Run {
  readonly ports: Ports;
  readonly poller: Poller;
  readonly recorder: Recorder;
  /** The observation that the plan was made from. */
  readonly live: Live;
  readonly idsBefore: NamesBefore;
  /** A create that was open when the run began, whatever its address was then. */
  readonly openBefore: (operation: Intent["operation"], name: string) => Intent | undefined;
  readonly flavors: Index | undefined;
  readonly images: Index | undefined;
  /** Aborts waits when the user insists on stopping at once, or the state cannot be written any more. */
  readonly signal: AbortSignal;
  /** False once the state is somebody else's, who may have other plans. */
  readonly mayWrite: () => Promise<boolean>;
  /** Whether the plan listed this loss, by its id, and it was permitted. */
  readonly mayLose: (disk: "root" | "volume", id: string) => boolean;
  /** Whether the user says that what comes off, or outlives, this address is flushed. */
  readonly isFlushConfirmed: (address: string) => boolean;
  /** On a twin alone. */
  readonly endsProtected: boolean;
  /** Whether another step waits for this one's effect to be visible. */
  readonly hasFollowers: (step: Step) => boolean;
  readonly progress: (step: Step, message: string) => void;
  readonly priority: (step: Step) => number;
  /** The lists, asked for after the call and once for all who call at the same time. */
  readonly listVms: () => Promise<Outcome<readonly LiveVm[]>>;
  readonly listVolumes: () => Promise<Outcome<readonly LiveVolume[]>>;
  /** VMs whose stop this run has sent, and the service accepted, and that it has not sent anywhere else since. */
  readonly stopped: Set<string>;
  /** Adds up time in which only the service works. */
  readonly waited: (step: Step, ms: number) => void;
}

export const done: StepResult = { end: "done" };

export async function performStep(step: Step, run: Run): Promise<StepResult> {
  const { action } = step;
  const refused = refuseLoss(step, run);
  if (refused !== undefined) return refused;
  switch (action.operation) {
    case "record": {
      const changes = recordedAt(action.changes, isoNow(run));
      await run.recorder.record(changes);
      for (const change of changes)
        if (change.type === "orphan" && change.orphan !== null)
          run.ports.emit({ type: "orphan", orphan: change.orphan });
      return done;
    }
    case "outside":
      return {
        end: "waiting",
        message: `waits for ${action.waitsFor}`,
        ...(action.command === undefined ? {} : { fix: action.command }),
      };
    case "flush": {
      const result = await run.ports.runCommand(action.argv, run.signal, step.address);
      return result.exitCode === 0
        ? done
        : {
            end: "failed",
            code: "apply/flush-failed",
            message: `the flush command ended with ${result.exitCode}: ${result.output}`,
            fix: "nothing was detached; repair the command or flush by hand and use --confirm-flush",
          };
    }
    case "volume.create":
    case "volume.attach":
    case "volume.detach":
    case "volume.resize":
    case "volume.delete":
      return performVolumeStep(step, action, run);
    case "group.create":
    case "group.update":
    case "group.delete":
    case "group.rule.create":
    case "group.rule.delete":
    case "group.verify":
      return performGroupStep(step, action, run);
    default:
      return performVmStep(step, action, run);
  }
}

/** What a step that cannot be undone would end: asked once more where it is sent, whatever the plan said. */
function refuseLoss({ action, address }: Step, run: Run): StepResult | undefined {
  const lost = lossOf(action, run);
  if (lost === undefined) return undefined;
  if (!run.endsProtected && run.recorder.state.resources.get(address)?.preventDestroy === true)
    return {
      end: "failed",
      code: "consent/prevent-destroy",
      message: `nothing was sent: the state says that ${address} has prevent_destroy`,
      fix: `set lifecycle.prevent_destroy: false on ${address} and apply that first`,
    };
  if (lost.disk === undefined || lost.id === undefined || run.mayLose(lost.disk, lost.id)) return undefined;
  return {
    end: "failed",
    code: "consent/unlisted",
    message: `nothing was sent: the plan did not list the loss of ${lost.disk === "root" ? "the root disk of VM" : "volume"} ${lost.id}`,
    fix: "plan again, and look at what it would lose",
  };
}

function lossOf(
  action: StepAction,
  run: Run,
): { readonly disk?: "root" | "volume"; readonly id?: string | undefined } | undefined {
  switch (action.operation) {
    case "vm.delete":
    case "vm.rebuild":
      return { disk: "root", id: idOf(action.vm, run) };
    case "volume.delete":
      return { disk: "volume", id: idOf(action.volume, run) };
    case "group.delete":
      return action.retired ? undefined : {};
    default:
      return undefined;
  }
}

/** The id behind a reference; a plan's own creates have theirs by the time this is asked. */
export function idOf(reference: Reference, run: Run): string | undefined {
  return "id" in reference ? reference.id : run.recorder.state.resources.get(reference.address)?.id;
}

export const noId = (reference: Reference): StepResult => ({
  end: "failed",
  code: "apply/no-id",
  message: `${"address" in reference ? reference.address : reference.id} has no id yet`,
});

export const optionsFor = (step: Step, run: Run) => ({
  signal: run.signal,
  priority: run.priority(step),
  mayWrite: run.mayWrite,
});

/** What a successful step makes true in the record, and whatever else it found out. */
export function recordOf(step: Step, run: Run, extra: object = {}): StateChange[] {
  const { address } = step;
  // A snapshot was taken for what has now been done.
  const taken =
    run.recorder.state.intents.get(address)?.operation === "vm.snapshot" && followsSnapshot.has(step.action.operation);
  const settled: StateChange[] = taken ? [{ type: "intent", address, intent: null }] : [];
  if (step.forgets === true) return [{ type: "resource", address, record: null }, ...settled];
  const before: RecordedResource | undefined = run.recorder.state.resources.get(address);
  if (step.record === undefined && Object.keys(extra).length === 0) return [];
  if (before === undefined) return [];
  return [{ type: "resource", address, record: patchRecord(before, { ...step.record, ...extra }) }, ...settled];
}

const followsSnapshot: ReadonlySet<string> = new Set([
  "vm.rebuild",
  "vm.resize.confirm",
  "vm.resize.revert",
  "vm.delete",
]);

/**
 * Written down before a delete is sent: should the run be cut off after it, what is gone then was meant to go. A refusal
 * takes it back. Returns whether an earlier run had sent one.
 */
export async function noteDeleting(step: Step, id: string, run: Run, deleting: true | undefined): Promise<boolean> {
  const { resources, orphans } = run.recorder.state;
  const record = resources.get(step.address);
  const changes: StateChange[] = [];
  let sentBefore = false;
  if (record?.id === id) {
    sentBefore = record.deleting === true;
    changes.push({ type: "resource", address: step.address, record: patchRecord(record, { deleting }) });
  }
  const key = orphanKey({ kind: kindOf(step.address), id });
  const orphan = orphans.get(key);
  if (orphan !== undefined) {
    const { deleting: before, ...kept } = orphan;
    sentBefore ||= before === true;
    changes.push({ type: "orphan", key, orphan: deleting === true ? { ...kept, deleting } : kept });
  }
  await run.recorder.record(changes);
  return sentBefore;
}

/**
 * A delete of what nobody saw before, answered with not-found: somebody else deleted it, or it is not shown. Either way
 * this run did not, so its record is kept as missing and not forgotten.
 */
export function missingInstead(
  step: Step,
  id: string,
  run: Run,
  deleted: Outcome<unknown>,
  sentBefore: boolean,
): StateChange[] {
  const kind = kindOf(step.address);
  const record = run.recorder.state.resources.get(step.address);
  if (!isGone(deleted) || sentBefore || record?.id !== id) return [];
  const sighting = { vm: sightVm, volume: sightVolume, group: sightGroup }[kind](run.live, id);
  if (sighting.seen === "yes") return [];
  const orphan = missingOrphan(record, id, "its delete was answered with not-found, and nobody had seen it before");
  return recordedAt([{ type: "missing", orphan }], isoNow(run));
}

export async function recordDone(step: Step, run: Run, extra: object = {}): Promise<StepResult> {
  await run.recorder.record(recordOf(step, run, extra));
  return done;
}

export function failedBy(failure: Failure): StepResult {
  if (failure.status === "rejected")
    return {
      end: "failed",
      code: `service/${failure.condition}`,
      message: `refused${failure.httpStatus === undefined ? "" : ` (HTTP ${failure.httpStatus})`}: ${failure.message}`,
      ...(failure.hint === undefined ? {} : { fix: failure.hint }),
    };
  if (failure.status === "unavailable" && failure.reason === notSent)
    return { end: "failed", code: "apply/interrupted", message: "it was not sent any more" };
  if (failure.status === "unavailable")
    return {
      end: "failed",
      code: "service/unavailable",
      message: `the service is not available: ${failure.reason}; nothing was done`,
      ...(failure.fix === undefined ? {} : { fix: failure.fix }),
    };
  return {
    end: "unknown",
    code: "service/unknown",
    message: `the answer was lost (${failure.reason}), and looking could not tell whether it was done`,
    fix: "run the same command again: it looks first",
  };
}

export type Seen = "done" | "not-done" | "cannot-tell";

/** Tries at a request whose answer keeps getting lost. */
const attempts = 3;

/**
 * Sends; and when the answer is lost, looks before it sends again. `look` says whether the effect is there.
 * A refusal that means "already so" counts as done when the look agrees.
 */
export async function sendAndLook<T>(
  send: () => Promise<Outcome<T>>,
  look: () => Promise<Seen>,
  run: Run,
  isAlready: (failure: Failure) => boolean = () => false,
): Promise<Outcome<T | undefined>> {
  let outcome = await send();
  for (let attempt = 1; attempt < attempts && outcome.status === "unknown"; attempt++) {
    await run.ports.clock.sleep(run.ports.timing.pollIntervalMs, run.signal);
    const seen = await look();
    if (seen === "done") return { status: "accepted", value: undefined };
    if (seen === "cannot-tell") return outcome;
    outcome = await send();
  }
  if (outcome.status === "accepted") return outcome;
  if ((outcome.status === "unknown" || isAlready(outcome)) && (await look()) === "done")
    return { status: "accepted", value: undefined };
  return outcome;
}

export const isoNow = (run: Run): string => new Date(run.ports.clock.now()).toISOString();
