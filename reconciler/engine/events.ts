/** What happens during a run, as one stream that every report is a view of. */
import type { Address } from "../core/model/address";
import type { Orphan } from "../core/model/recorded";

export type StepStatus = "started" | "progress" | "done" | "failed" | "skipped" | "waiting";

export interface StepEvent {
  readonly type: "step";
  readonly status: StepStatus;
  readonly step: string;
  readonly address: Address;
  readonly operation: string;
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly title: string;
  /** Why it failed or waits, or what is going on. */
  readonly message?: string;
  /** For a failed request: nobody knows whether it took effect. */
  readonly unknown?: true;
  /** Of progress: the service has accepted it, and its effect is looked for at the end of the run. */
  readonly accepted?: true;
  /** Of a step that is done: whether a look has shown what it was to bring about. */
  readonly effect?: "seen" | "unseen";
  /** Time spent waiting for the service, not for an answer. */
  readonly waitingMs?: number;
}

export interface RefreshEvent {
  readonly type: "refresh";
  readonly status: "started" | "done";
  readonly resources: number;
  readonly elapsedMs: number;
}

export interface OrphanEvent {
  readonly type: "orphan";
  readonly orphan: Orphan;
}

export type EngineEvent = StepEvent | RefreshEvent | OrphanEvent;
