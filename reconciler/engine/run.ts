/**
 * The run, which every performer of a step is given, and the result with which it answers. This file stands below all
 * performers and knows none of them.
 */

import type { Index } from "../core/canonical/catalogue";
import { showsEffect } from "../core/diff/effect";
import type { Address } from "../core/model/address";
import type { Reference } from "../core/model/desired";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import type { Effect, Written } from "../core/model/effect";
import type { Advice } from "../core/model/fix";
import type { Debt } from "../core/model/guest";
import { type Kind, ofKind } from "../core/model/kinds";
import type { Live, LiveGroup, LiveOf, LiveVm, LiveVolume } from "../core/model/live";
import { type Failure, notSent, type Outcome, type Rejection } from "../core/model/outcome";
import type { Intent, RecordedVm } from "../core/model/recorded";
import type { Instant } from "../core/model/time";
import type { StepChange } from "../core/plan/record-patch";
import type { ActionOf, Due, Step, StepOperation } from "../core/plan/step";
import type { FirstCreates } from "./first-create";
import type { NamesBefore } from "./names-before";
import type { Poller } from "./poller";
import type { Ports } from "./ports";
import type { StepRecorder } from "./recorder";

/** What a step that is done brought about: it was seen, or it is looked for at the end of the run. */
export type StepEffect = Effect<StepChange>;
export type StepWrite = Written<StepChange>;

export interface DoneStep {
  readonly end: "done";
  readonly effect: StepEffect;
  readonly message?: string;
  readonly fix?: undefined;
  readonly code?: undefined;
}

export interface OpenStep {
  readonly end: "failed" | "unknown" | "waiting";
  /** Why the step is not done. */
  readonly message?: string;
  /** What a program printed, where the message is too short for it. */
  readonly output?: readonly string[];
  /** What to do about it. */
  readonly fix?: Advice;
  readonly code?: DiagnosticCode;
}

export type StepResult = DoneStep | OpenStep;

/** A command that a step makes necessary, and whether it was owed before. */
export interface FormerDebt extends Due {
  readonly before: Debt | undefined;
}

export interface Run {
  readonly ports: Ports;
  readonly poller: Poller;
  readonly recorder: StepRecorder;
  /** The observation that the plan was made from. */
  readonly live: Live;
  readonly idsBefore: NamesBefore;
  /** The create that was open when the run began, whatever its address was then. */
  readonly openBefore: (operation: Intent["operation"], name: string) => Intent | undefined;
  readonly flavors: Index | undefined;
  readonly images: Index | undefined;
  /** Aborts waits when the user insists on stopping at once, or the state cannot be written any more. */
  readonly signal: AbortSignal;
  /** False once another run holds the state: it may have other plans. */
  readonly mayWrite: () => Promise<boolean>;
  /** Whether the plan listed this loss, by its id, and it was permitted. */
  readonly mayLose: (disk: "root" | "volume", id: string) => boolean;
  /** Whether the user says that the volumes that come off, or outlive, this address are flushed. */
  readonly isFlushConfirmed: (address: string) => boolean;
  /** Whether a resource with prevent_destroy may be deleted, replaced or wiped in this run. */
  readonly mayEnd: (address: Address) => boolean;
  /** Asked before a create is sent. */
  readonly firstCreate: FirstCreates;
  readonly progress: (step: Step, message: string) => void;
  readonly priority: (step: Step) => number;
  /** The lists. Each is asked for after the call, and once for all callers at the same time. */
  readonly listVms: () => Promise<Outcome<readonly LiveVm[]>>;
  readonly listVolumes: () => Promise<Outcome<readonly LiveVolume[]>>;
  readonly listGroups: () => Promise<Outcome<readonly LiveGroup[]>>;
  /** VMs whose stop this run sent and the service accepted, and to which the run has sent nothing else since. */
  readonly stopped: Set<string>;
  /** What this run deleted and saw gone, as `group:ID`: nobody looks for what was written to it before, and the id is free. */
  readonly deleted: Set<string>;
  /** What its steps were shown of what they had made before, in the same spelling. */
  readonly shown: Map<string, LiveOf[Kind]>;
  /** By step: the debts that were there before the step wrote down what it would make necessary. */
  readonly debtsBefore: Map<string, readonly FormerDebt[]>;
  /** Whose flush command was cut off here: what it began in the guest may go on there. */
  readonly flushing: Set<Address>;
  /** Adds to the time in which only the service works. */
  readonly waited: (step: Step, ms: number) => void;
}

/** A look has shown the effect, or there was nothing to bring about in the service. */
export const doneAndSeen: DoneStep = { end: "done", effect: { seen: true } };

/** The service has accepted it, which is not yet an effect. */
export const doneUnseen = (...writes: readonly StepWrite[]): DoneStep =>
  writes.length === 0 ? doneAndSeen : { end: "done", effect: { seen: false, writes } };

export const withWrites = ({ effect }: DoneStep, more: readonly StepWrite[]): DoneStep =>
  doneUnseen(...(effect.seen ? [] : effect.writes), ...more);

/** The parts of a create that the record of what was made may show otherwise. */
export const partsOfCreate = <K extends Kind>(live: LiveOf[K], parts: readonly StepWrite[]): StepWrite[] =>
  parts.map((part) => ({
    ...part,
    ofCreate: true,
    answered: showsEffect<K>(part, live) === "not-shown" ? undefined : true,
  }));

export type Performer<O extends StepOperation> = (step: Step<O>, action: ActionOf<O>, run: Run) => Promise<StepResult>;

/** One performer for each operation: a new operation does not compile until it has one. */
export type Performers<O extends StepOperation> = { readonly [K in O]: Performer<K> };

/** The id behind a reference; a plan's own creates have theirs by the time this is asked. */
export const idOf = (reference: Reference, run: Run): string | undefined =>
  "id" in reference ? reference.id : run.recorder.state.resources.get(reference.address)?.id;

export const noId = (reference: Reference): StepResult => ({
  end: "failed",
  code: "apply/no-id",
  message: `${"address" in reference ? reference.address : reference.id} has no id yet`,
});

/** How a step acts on what exists already, by its id. */
export type OnExisting<O extends StepOperation> = (
  step: Step<O>,
  action: ActionOf<O>,
  id: string,
  run: Run,
) => Promise<StepResult>;

/** Looks the id up first: a resource that this plan created has its id only by now. */
export const onExisting =
  <O extends StepOperation>(referenceOf: (action: ActionOf<O>) => Reference, perform: OnExisting<O>): Performer<O> =>
  async (step, action, run) => {
    const reference = referenceOf(action);
    const id = idOf(reference, run);
    return id === undefined ? noId(reference) : perform(step, action, id, run);
  };

export const optionsFor = (step: Step, run: Run) => ({
  signal: run.signal,
  priority: run.priority(step),
  mayWrite: run.mayWrite,
});

/** A look that fails is no sign of an end: what was deleted keeps its record until it is gone. */
export const deletedUnseen = (what: string, failure: Failure): OpenStep =>
  outcomeUnseen(`the service accepted the delete of ${what}, and whether it is gone`, failure);

/** The look after a request failed, and tells nothing of what became of that. */
export function outcomeUnseen(what: string, failure: Failure): OpenStep {
  const { code, fix = "run the same command again: it looks first" } = failedBy(failure);
  return { end: "failed", code, message: `${what} cannot be seen: ${whyUnread(failure)}`, fix };
}

/** The look before a request failed. */
export const couldNotLook = (what: string, failure: Failure): OpenStep => ({
  ...failedBy(failure),
  end: "failed",
  message: `nothing was sent: ${what} could not be looked at: ${whyUnread(failure)}`,
});

/** Why a read failed. That nothing was done, as of a request, would stand beside a write that was accepted. */
export const whyUnread = (failure: Failure): string =>
  failure.status === "rejected" ? refusedText(failure) : failure.reason;

const refusedText = ({ httpStatus, message }: Rejection): string =>
  `refused${httpStatus === undefined ? "" : ` (HTTP ${httpStatus})`}: ${message}`;

export function failedBy(failure: Failure): OpenStep {
  if (failure.status === "rejected")
    return {
      end: "failed",
      code: `service/${failure.condition}`,
      message: refusedText(failure),
      fix: failure.hint,
    };
  if (failure.status === "unavailable" && failure.reason === notSent)
    return { end: "failed", code: "apply/interrupted", message: "the run was stopped before this was sent" };
  if (failure.status === "unavailable")
    return {
      end: "failed",
      code: failure.gaveWay === true ? "service/throttled" : "service/unavailable",
      message:
        failure.gaveWay === true
          ? `${failure.reason}; nothing was done`
          : `the service is not available: ${failure.reason}; nothing was done`,
      fix: failure.fix,
    };
  return {
    end: "unknown",
    code: "service/unknown",
    message: `the answer was lost (${failure.reason}), and looking could not tell whether it was done`,
    fix: "run the same command again: it looks first",
  };
}

/** Whoever stopped the run has stopped a wait, which says nothing of what was waited for. */
export const stoppedWhile = (what: string): OpenStep => ({
  end: "unknown",
  code: "apply/interrupted",
  message: `stopped while ${what}`,
  fix: "run the same command again: it goes on from here",
});

/** The same of a wait that comes before the request. */
export const stoppedBefore = (what: string): OpenStep => ({
  ...stoppedWhile(`${what}; nothing was sent`),
  end: "failed",
});

/** What the state holds of the step's VM. */
export function recordedVm({ address }: Pick<Step, "address">, run: Run): RecordedVm | undefined {
  const record = run.recorder.state.resources.get(address);
  return ofKind(record, "vm");
}

export const isoNow = (run: Run): Instant => run.ports.clock.instant();
