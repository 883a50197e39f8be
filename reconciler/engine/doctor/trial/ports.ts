/** What a trial needs of the outside, and how long it waits. */
import type { Dialect, Route } from "../../../dialect/dialect";
import type { ServiceClient } from "../../../service/client";
import type { DoctorPorts } from "../look";
import type { TriedOperation } from "../report";
import type { Notebook } from "./notes";

export interface TrialPorts {
  readonly doctor: DoctorPorts;
  clientIn(dialect: Dialect): ServiceClient;
  readonly notebook: Notebook;
  readonly clock: { now(): number; sleep(ms: number): Promise<void> };
  readonly timing: TrialTiming;
  say(line: string): void;
  /** Asks a person for a request that no guess has found; `null`: there is none. Left out: nobody watches. */
  readonly ask?: (operation: TriedOperation, dialect: Dialect) => Promise<Route | null | undefined>;
  /** Once aborted, the trial tries nothing more and deletes what it made. */
  readonly signal: AbortSignal;
}

export interface TrialTiming {
  readonly pollMs: number;
  /** How long a word has to stay unchanged before it counts as a settled state. */
  readonly quietMs: number;
  /** The same while a VM is being made. */
  readonly quietCreateMs: number;
  readonly mostMs: number;
  /** How long a resource is looked for when no answer said that the create was accepted. */
  readonly discoveryMs: number;
}
