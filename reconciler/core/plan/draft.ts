/**
 * The plan while it is being made: steps in the order in which they were added, and the few facts that steps of
 * different resources need of each other. It lives inside one call of makePlan.
 */

import type { Change } from "../diff/changes";
import type { DiffContext } from "../diff/context";
import type { Address } from "../model/address";
import type { Reference } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { identity } from "../model/identity";
import type { Kind } from "../model/kinds";
import type { RecordedResource, State, StateChange } from "../model/recorded";
import { estimateMs } from "./estimate";
import type { Need, NewStep, Step, StepOperation } from "./step";

export interface Draft {
  readonly context: DiffContext;
  readonly state: State;
  readonly steps: Step[];
  readonly changes: Change[];
  readonly changeAt: ReadonlyMap<Address, Change>;
  readonly diagnostics: Diagnostic[];
  /** By address: the step after which the resource has its (new) id. */
  readonly ready: Map<Address, string>;
  /** Ids of groups that this plan takes over: known already, although no record has them yet. */
  readonly adopted: Map<Address, string>;
  /** Detaches by the VM id they free, which that VM's delete waits for. */
  readonly detachesOf: Map<string, string[]>;
  /** The step that deletes a VM, by its id. */
  readonly vmDeletes: Map<string, string>;
  /** Steps that free or take a name, by kind: ordered by core/plan/edges.ts. */
  readonly frees: Map<string, string>;
  readonly takes: { readonly key: string; readonly step: string }[];
  /** The step that stops or starts a VM because the file asks for it, by the VM's id. */
  readonly powers: Map<string, { readonly operation: "vm.stop" | "vm.start"; readonly step: string }>;
  /** By VM id: the step after which a VM that goes is no longer half-resized, and can be stopped for a flush. */
  readonly reverts: Map<string, string>;
  /** VMs that were stopped and may run after a rebuild or a resize of this plan: the contract does not say. */
  readonly mayRestart: Set<string>;
  /** By VM id: flush commands and detaches that need the VM running, and so come before its stop. */
  readonly whileRunning: Map<string, string[]>;
  /** VMs that are stopped while volumes come off, by their id. */
  readonly stops: Map<string, FlushStop>;
}

export interface FlushStop {
  readonly vm: Reference;
  /** The step that stops the VM or makes sure that it is stopped. `undefined`: the VM is stopped already. */
  readonly stop?: string;
  /** The VM ran before, and is started again. */
  readonly starts: boolean;
  /** The steps that have to end before the VM is started again. */
  readonly users: string[];
}

/** The operation says what the step may record. */
export function addStep<O extends StepOperation>(draft: Draft, step: NewStep<O>): string;
export function addStep(draft: Draft, step: NewStep): string {
  draft.steps.push({
    ...step,
    needs: onceEach(step.needs ?? []),
    holds: step.holds ?? [],
    estimateMs: step.estimateMs ?? estimateMs(step.action.operation),
  });
  return step.id;
}

/** Keeps one need for each step: `done` and `failed` each demand more than `end`. */
export function onceEach(needs: readonly Need[]): readonly Need[] {
  const strongest = new Map<string, Need>();
  for (const need of needs) {
    const known = strongest.get(need.step);
    if (known === undefined || known.on === "end") strongest.set(need.step, need);
  }
  return strongest.size === needs.length ? needs : [...strongest.values()];
}

/** Records an address, or forgets it, and settles the create that may have been open there. */
export const settledRecord = (address: Address, record: RecordedResource | null): StateChange[] => [
  { type: "resource", address, record },
  { type: "intent", address, intent: null },
];

export const nameKey = (kind: Kind, name: string): string => `${kind}:${name.toLowerCase()}`;

/**
 * The name of a VM in `holds`: its address where it has one, so that the old and the new VM of a replacement exclude
 * each other.
 */
export const vmHold = (draft: Draft, vm: Reference): string =>
  `vm:${"address" in vm ? vm.address : (draft.context.addressOf(identity("vm", vm.id)) ?? vm.id)}`;

/** The name under which people know a VM. */
export const vmLabel = (draft: Draft, vm: Reference): string =>
  "address" in vm ? vm.address : (draft.context.addressOf(identity("vm", vm.id)) ?? vm.id);
