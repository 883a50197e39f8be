/**
 * A step is one request with its wait, written down as data: what it does, what must have happened before, what it
 * must not run beside, and what becomes true in the record when it succeeds. Nothing here runs it.
 */
import type { Address } from "../model/address";
import type { HealthCheck, NewVm, Reference } from "../model/desired";
import type { PlannedChange, RecordedGroup, RecordedVm, RecordedVolume } from "../model/recorded";
import type { Rule } from "../model/rule";

/**
 * Why `flush_confirmed: true` may be sent: the user says so (asked), a command that flushes exited 0, the VM was
 * stopped, or the disk was never written since it was attached by this very plan.
 */
export type FlushReason = "ask" | "command" | "stop";

export type StepAction =
  | { readonly operation: "vm.create"; readonly vm: NewVm }
  /** Waits for a VM that is already being built. */
  | { readonly operation: "vm.settle"; readonly vm: Reference }
  | { readonly operation: "vm.rename"; readonly vm: Reference; readonly name: string }
  | { readonly operation: "vm.rebuild"; readonly vm: Reference; readonly image: string }
  | { readonly operation: "vm.resize"; readonly vm: Reference; readonly flavor: string }
  | { readonly operation: "vm.check"; readonly vm: Reference; readonly check: HealthCheck; readonly timeoutMs: number }
  | { readonly operation: "vm.resize.confirm"; readonly vm: Reference; readonly manual: boolean }
  | { readonly operation: "vm.snapshot"; readonly vm: Reference; readonly name: string; readonly unproven?: true }
  /** `looksFirst`: it may be so already, by itself or by an earlier step, and the service refuses to do it twice. */
  | { readonly operation: "vm.resize.revert"; readonly vm: Reference; readonly looksFirst?: boolean }
  | { readonly operation: "vm.stop"; readonly vm: Reference; readonly looksFirst?: boolean }
  | { readonly operation: "vm.start"; readonly vm: Reference; readonly looksFirst?: boolean }
  | { readonly operation: "vm.reboot"; readonly vm: Reference }
  | {
      readonly operation: "vm.delete";
      readonly vm: Reference;
      readonly deleteFloatingIp?: boolean;
      /** Every disk that was seen to hang on it; absent: nobody could look. Nothing else may hang there at the delete. */
      readonly hanging?: readonly string[];
      /** Those that this plan or the state takes care of. */
      readonly managedVolumes: readonly string[];
      /** What hangs there and lives on without an address: it becomes an orphan. */
      readonly leaves: readonly { readonly id: string; readonly name?: string; readonly sizeGb?: number }[];
      /** The VM's own data volume, which goes with it: this one, of this size, and no other. */
      readonly deletesVolume?: { readonly id: string; readonly sizeGb: number };
      /** Why the volumes that outlive it are flushed: it is stopped, or the user says so. Absent: there are none. */
      readonly flush?: "stop" | "ask";
    }
  | { readonly operation: "volume.create"; readonly name: string; readonly sizeGb: number }
  | { readonly operation: "volume.attach"; readonly volume: Reference; readonly vm: Reference }
  | {
      readonly operation: "volume.detach";
      readonly volume: Reference;
      readonly vm: Reference;
      readonly flush: FlushReason;
    }
  | { readonly operation: "volume.resize"; readonly volume: Reference; readonly sizeGb: number }
  | { readonly operation: "volume.delete"; readonly volume: Reference }
  | {
      readonly operation: "group.create";
      readonly name: string;
      readonly description?: string;
      readonly rules: readonly Rule[];
    }
  | {
      readonly operation: "group.update";
      readonly group: Reference;
      readonly name?: string;
      readonly description?: string;
    }
  | {
      readonly operation: "group.delete";
      readonly group: Reference;
      readonly name: string;
      readonly retired: boolean;
      /** Those that are deleted as well and name it, and that it names, directly or through others. */
      readonly circle?: readonly { readonly id: string; readonly label: string }[];
    }
  | { readonly operation: "group.rule.create"; readonly group: Reference; readonly rule: Rule }
  | {
      readonly operation: "group.rule.delete";
      readonly group: Reference;
      readonly ruleId: string;
      readonly rule: Rule;
    }
  /** Reads the rules again after a neighbour was deleted, and puts back what should be there. */
  | { readonly operation: "group.verify"; readonly group: Reference; readonly rules: readonly Rule[] }
  | { readonly operation: "flush"; readonly argv: readonly string[] }
  /** Nothing to send: only the state learns something. */
  | { readonly operation: "record"; readonly changes: readonly PlannedChange[] }
  /** Only somebody outside can do this; the run ends with exit code 4. */
  | { readonly operation: "outside"; readonly waitsFor: string; readonly command?: string };

export type StepOperation = StepAction["operation"];

/** `done`: only after success. `end`: however it ended, but not while it waits for somebody. `failed`: only when it failed. */
export interface Need {
  readonly step: string;
  readonly on: "done" | "end" | "failed";
}

export type RecordPatch = Partial<RecordedVm> | Partial<RecordedVolume> | Partial<RecordedGroup>;

export interface Step {
  readonly id: string;
  readonly address: Address;
  readonly action: StepAction;
  /** One line for people. */
  readonly title: string;
  readonly needs: readonly Need[];
  /** What no other step may touch at the same time: `vm:<id>`, `volume:<id>`. */
  readonly holds: readonly string[];
  /** Fields of the record that are true once it succeeded. For a create: the whole record but its id. */
  readonly record?: RecordPatch;
  /** True when success removes the record. */
  readonly forgets?: boolean;
  readonly estimateMs: number;
  /** The VM that does not serve while this runs. */
  readonly downtimeOf?: Address;
}

export const need = (step: string, on: Need["on"] = "done"): Need => ({ step, on });
