/**
 * A stack's files and state, opened for one round. What opens it knows files, dialects, credentials and stores; a round
 * knows only this interface.
 */
import type { Grants } from "../core/plan/consent";
import type { SeenState } from "../core/state/identity";
import type { EngineEvent } from "../engine/events";
import type { RunReport, StopSignals } from "../engine/run-plan";
import type { Budget } from "./database/budget";
import type { PlanBody } from "./database/stacks";
import type { PlanFacts } from "./decide";
import type { MayRead, StackState } from "./may-read";
import type { FleetService, StackSpec } from "./model";
import type { Picture } from "./picture";
import type { Ear } from "./silence";
import type { Checkout } from "./sources/checkout";

export interface ProjectInput {
  readonly stack: StackSpec;
  readonly checkout: Checkout;
  /** Absent: the file says which service. */
  readonly service?: FleetService;
  readonly budget?: Budget;
  /** Told of each request to the service. */
  readonly ear?: Pick<Ear, "asked" | "heard">;
  /** Variables with values from other stacks. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Plans the deletion of everything. */
  readonly destroy: boolean;
  /** Plans the undo of the run of this id in the state. */
  readonly undo?: string;
  readonly worker: string;
  /** Why files of this stack may name no programs and no addresses; absent: they may. */
  readonly closedBy?: string;
  /**
   * For a change that is not merged: the files without it. Their dialect, their address of the service and what judges
   * their plans count.
   */
  readonly base?: Checkout;
  /** Whether the stack's files may read this state, and where it is as the fleet's file says. */
  readonly mayRead: (location: string) => Promise<MayRead>;
  /** The other stacks whose files are these: what one of them has, no other takes over. */
  readonly siblings: () => Promise<readonly StackState[]>;
  /** What the last round saw of the state: a store that answers with less is not believed. */
  readonly stateSeen?: SeenState;
  /** Told what this round sees of it. */
  readonly sawState?: (seen: SeenState) => void;
  /** Fires when nothing needs to be opened any more. */
  readonly signal?: AbortSignal;
}

export interface Project {
  /** Whether the state's store tells if the holder of its lock is alive. */
  readonly leases: boolean;
  /** It is planned in a process of its own, so that its worker has nothing to do meanwhile. */
  readonly apart?: true;
  /** Files outside of its folder that the stack read, from the root of the checkout. */
  readonly files: readonly string[];
  /** Looks and plans without the lock; nothing may be carried out on such a plan. */
  plan(signal: AbortSignal): Promise<Planned>;
  /**
   * Takes the lock, finishes what an interrupted run left, plans on what it then reads, and calls `use` with that plan.
   */
  underLock<T>(signal: AbortSignal, use: (planned: Planned) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface Planned {
  readonly facts: PlanFacts;
  /** The change has another dialect or another judge than what it is to be merged into: these did not count. */
  readonly changesJudges?: true;
  /** So many runs came after the one that is undone, and are undone with it. */
  readonly laterRuns?: number;
  readonly body: Omit<PlanBody, "why">;
  /** Why the plan cannot be carried out; empty: it can. */
  readonly errors: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** Commands that are owed to guests, and that this plan does not run; absent: none. */
  readonly leftInGuests?: string | undefined;
  /** What of the state could not be looked at, a line for each: it is neither as wished nor gone. */
  readonly notSeen?: readonly string[];
  readonly picture: () => Picture;
  apply(grants: Grants, stop: StopSignals, emit: (event: EngineEvent) => void): Promise<Applied>;
}

export interface Applied {
  readonly report: RunReport;
  readonly outputs: Readonly<Record<string, unknown>>;
  /** The picture after a run, made from the records. */
  readonly picture: () => Picture;
}

/** The files were not read within the limits of time and memory. */
export class ReadingEnded extends Error {
  override readonly name = "ReadingEnded";
}

/** What was before the run that is to be undone is not known any more. */
export class CannotUndo extends Error {
  override readonly name = "CannotUndo";
}

/** Rejects with diagnostics when the files are wrong. */
export type OpenProject = (input: ProjectInput) => Promise<Project>;
