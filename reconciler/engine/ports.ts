/** Everything the engine touches of the outside world, handed in by whoever composes it. */

import type { Address } from "../core/model/address";
import type { FlushCommand, HealthCheck, Timing } from "../core/model/desired";
import type { Duty } from "../core/model/guest";
import type { Kind } from "../core/model/kinds";
import type { LiveVm } from "../core/model/live";
import type { Step } from "../core/plan/step";
import { waits } from "../core/text/outside-policy";
import type { ServiceClient } from "../service/client";
import type { Clock } from "../service/clock";
import type { EngineEvent } from "./events";

export interface CommandResult {
  readonly exitCode: number;
  /** The end of what it printed, for the message when it fails. */
  readonly output: string;
}

export interface DutyOptions {
  readonly signal?: AbortSignal;
  /** The resource whose command this is. */
  readonly address?: Address;
  /** Which of its commands. Absent: its flush command. */
  readonly duty?: Duty;
  /** What the command is told for its purpose. */
  readonly values?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
}

interface StepEndTold {
  readonly end: string;
  readonly message?: string;
}

/** What was read of those whose answers showed them, by kind, and whether one of them was not there. */
export interface Samples {
  readonly shown: Map<Kind, Set<string>>;
  isDoubtful: boolean;
}

export const noSamples = (): Samples => ({ shown: new Map(), isDoubtful: false });

export interface Ports {
  readonly client: ServiceClient;
  readonly clock: Clock;
  readonly timing: Timing;
  readonly runCommand: (command: FlushCommand<string>, options?: DutyOptions) => Promise<CommandResult>;
  /** What keeps programs that a file names from being started, for messages. Absent: they are started. */
  readonly noPrograms?: string;
  /** Tries the check once, for no longer than `limitMs`: true when the VM answers as it should. `rollout`: whose check it is. */
  readonly checkHealth: (
    check: HealthCheck<string>,
    vm: LiveVm,
    options?: Pick<DutyOptions, "signal" | "address" | "limitMs"> & { readonly rollout?: string | undefined },
  ) => Promise<boolean>;
  readonly emit: (event: EngineEvent) => void;
  /** Runs work that belongs to no single step, such as a shared look. For traces. */
  readonly apart?: <T>(work: () => T) => T;
  /** Does the work of a step where what it sends and runs can be told to be its own. For traces. */
  readonly within?: <T extends StepEndTold>(step: Step, work: () => Promise<T>) => Promise<T>;
  /** Where many runs of one resource follow each other: they sample together what one run of all would. */
  readonly samples?: Samples;
  /**
   * The VM as a list of the last second shows it, if that list was asked for after everything that this process has sent
   * about the VM. Absent: one run looks for all, and by itself.
   */
  readonly vmShownLately?: (id: string) => LiveVm | undefined;
  /** No step starts before the one before it has ended, its wait included. */
  readonly oneAtATime?: boolean;
}

export const defaultTiming: Timing = {
  pollIntervalMs: 2000,
  vmCreateTimeoutMs: 15 * 60_000,
  requestTimeoutMs: waits.request,
  discoveryWindowMs: 90_000,
};

/** How many times faster than a real service the embedded one is, unless it is told otherwise. */
export const embeddedTimeScale = 20;

/** The embedded service's minutes are shorter, and so is what is waited between two looks at it. */
export function embeddedTiming(timeScale: number): Timing {
  const here = (ms: number): number => (timeScale === 0 ? 0 : ms / Math.max(1, timeScale));
  return {
    ...defaultTiming,
    pollIntervalMs: Math.max(20, here(defaultTiming.pollIntervalMs)),
    discoveryWindowMs: Math.max(500, here(defaultTiming.discoveryWindowMs)),
  };
}
