/**
 * The plan while it is being made: steps in the order they were thought of, and the few facts that steps of different
 * resources need of each other. It lives inside one call of makePlan.
 */

import type { Change } from "../diff/changes";
import type { DiffContext } from "../diff/context";
import type { Address } from "../model/address";
import type { Reference } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import type { State } from "../model/recorded";
import { estimateMs } from "./estimate";
import type { Step } from "./step";

export interface Draft {
  readonly context: DiffContext;
  readonly state: State;
  readonly steps: Step[];
  readonly changes: Change[];
  readonly diagnostics: Diagnostic[];
  /** The step after which an address has its (new) id. */
  readonly ready: Map<Address, string>;
  /** Detaches by the VM id they free, which that VM's delete waits for. */
  readonly detachesOf: Map<string, string[]>;
  /** The step that deletes a VM, by its id. */
  readonly vmDeletes: Map<string, string>;
  /** Steps that free or take a name, by kind: ordered by core/plan/edges.ts. */
  readonly frees: Map<string, string>;
  readonly takes: { readonly key: string; readonly step: string }[];
  /** VMs that this plan stops because they shall be stopped, by id. */
  readonly powerStops: Map<string, string>;
  /** VMs stopped for a flush: what has to end before they start again. */
  readonly stops: Map<string, { readonly stop?: string; readonly vm: Reference; readonly users: string[] }>;
}

export type NewStep = Omit<Step, "estimateMs" | "needs" | "holds"> &
  Partial<Pick<Step, "estimateMs" | "needs" | "holds">>;

export function addStep(draft: Draft, step: NewStep): string {
  draft.steps.push({
    ...step,
    needs: step.needs ?? [],
    holds: step.holds ?? [],
    estimateMs: step.estimateMs ?? estimateMs[step.action.operation],
  });
  return step.id;
}

export const nameKey = (kind: "vm" | "group", name: string): string => `${kind}:${name.toLowerCase()}`;

/** What a VM is called in `holds`: its address where it has one, so that old and new id of a replaced VM exclude each other. */
export const vmHold = (draft: Draft, vm: Reference): string =>
  `vm:${"address" in vm ? vm.address : (draft.context.addressOfId.get(vm.id) ?? vm.id)}`;

/** A VM as people know it. */
export const vmLabel = (draft: Draft, vm: Reference): string =>
  "address" in vm ? vm.address : (draft.context.addressOfId.get(vm.id) ?? vm.id);
