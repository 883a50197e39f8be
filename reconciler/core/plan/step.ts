/**
 * A step is one request with its wait, written down as data: what it does, what must have happened before, what it
 * must not run beside, and what becomes true in the record when it succeeds. Nothing here runs it.
 */

import { type Address, type Kind, kindOf } from "../model/address";
import { type Computed, computedWithin, fillText, type Text } from "../model/computed";
import type { FlushCommand, HealthCheck, NewVm, Reference } from "../model/desired";
import type { Debt, DueReason, Duty, GuestCommand } from "../model/guest";
import type { PlannedChange } from "../model/recorded";
import type { Rule } from "../model/rule";
import type { FieldsOf, FieldsOfDataVolume, NewRecordOf } from "./record-patch";

/**
 * Why `flush_confirmed: true` may be sent: the user says so (asked), a command that flushes exited 0, the VM was
 * stopped, or the disk was never written since it was attached by this very plan.
 */
export type FlushReason = "ask" | "command" | "stop";

/** A command that is owed, and what it is about. */
interface GuestRequest extends GuestCommand {
  /** The VM that it is for. */
  readonly vm: Reference;
  /** The volume, of the command of one. */
  readonly volume?: Reference;
  /** The reason, where nothing in the service made it owed: it is written down before the command is run. */
  readonly asks?: Extract<DueReason, "asked" | "changed">;
}

/**
 * What each operation is told. Only what concerns the service; where the request stands in the plan is said by the
 * step.
 */
export interface Requests {
  "vm.create": { readonly vm: NewVm };
  /** Waits for a VM that is already being built. */
  "vm.settle": { readonly vm: Reference };
  "vm.rename": { readonly vm: Reference; readonly name: string };
  "vm.rebuild": { readonly vm: Reference; readonly image: string };
  "vm.resize": { readonly vm: Reference; readonly flavor: string };
  /** `rollout`: the one that asks for it. Absent: the VM itself does. */
  "vm.check": {
    readonly vm: Reference;
    readonly check: HealthCheck;
    readonly timeoutMs: number;
    readonly rollout?: string;
  };
  "vm.resize.confirm": { readonly vm: Reference; readonly manual: boolean };
  "vm.snapshot": { readonly vm: Reference; readonly name: string; readonly unproven?: true };
  /**
   * `looksFirst`: the VM may be in that state already, by itself or by an earlier step, and the service refuses the
   * request then.
   */
  "vm.resize.revert": { readonly vm: Reference; readonly looksFirst?: boolean };
  /** `noted`: the volume whose record remembers that the VM, which no record manages, is to be started again. */
  "vm.stop": { readonly vm: Reference; readonly looksFirst?: boolean; readonly noted?: Address };
  /** `again`: only where this tool has stopped the VM. */
  "vm.start": {
    readonly vm: Reference;
    readonly looksFirst?: boolean;
    readonly again?: true;
    readonly noted?: Address;
  };
  "vm.reboot": { readonly vm: Reference };
  "vm.delete": {
    readonly vm: Reference;
    readonly deleteFloatingIp?: boolean;
    /** Every disk that was seen on the VM. Absent: nobody could look. At the delete no other disk may hang there. */
    readonly hanging?: readonly string[];
    /** The disks among them that this plan or the state takes care of. */
    readonly managedVolumes: readonly string[];
    /** The disks that live on and have no address: they become orphans. */
    readonly leaves: readonly { readonly id: string; readonly name?: string; readonly sizeGb?: number }[];
    /** The VM's own data volume, which goes with it: this one, of this size, and no other. */
    readonly deletesVolume?: { readonly id: string; readonly sizeGb: number };
    /**
     * Why the volumes that outlive the VM are flushed: it is stopped, or the user says so. Absent: none outlives it.
     */
    readonly flush?: "stop" | "ask";
  };
  "volume.create": { readonly name: string; readonly sizeGb: number };
  "volume.attach": { readonly volume: Reference; readonly vm: Reference };
  "volume.detach": {
    readonly volume: Reference;
    readonly vm: Reference;
    readonly flush: FlushReason;
    /** Somebody has attached it to this VM, which neither the file nor the state names for it. */
    readonly elsewhere?: true;
  };
  "volume.resize": { readonly volume: Reference; readonly sizeGb: number };
  "volume.delete": { readonly volume: Reference };
  "group.create": {
    readonly name: string;
    readonly description?: Text;
    readonly rules: readonly Rule[];
    /** Those of them that nobody declares, and that name a group of this plan. */
    readonly undeclared?: readonly Rule[];
  };
  "group.update": { readonly group: Reference; readonly name?: string; readonly description?: Text };
  "group.delete": {
    readonly group: Reference;
    readonly name: string;
    readonly retired: boolean;
    /** Groups that are deleted as well and name this one, and that it names, directly or through others. */
    readonly circle?: readonly { readonly id: string; readonly label: string }[];
  };
  "group.rule.create": { readonly group: Reference; readonly rule: Rule; readonly undeclared?: true };
  "group.rule.delete": {
    readonly group: Reference;
    readonly ruleId: string;
    readonly rule: Rule;
    /**
     * Declared rules of the same group that admit something of what this one admits, or whose address is not known yet:
     * it goes once others are seen to admit that, and stays where it turns out to be one of them.
     */
    readonly unless?: readonly Rule[];
  };
  /** Reads the rules again after a neighbour was deleted, and puts back what should be there. */
  "group.verify": { readonly group: Reference; readonly rules: readonly Rule[] };
  flush: FlushCommand;
  after_ready: GuestRequest;
  after_attach: GuestRequest;
  /** Nothing to send: only the state learns something. */
  record: { readonly changes: readonly PlannedChange[] };
  /** Only somebody outside can do this; the run ends with exit code 4. */
  outside: { readonly waitsFor: string; readonly command?: string };
}

export type StepOperation = keyof Requests;

/** A request of a kind that has no requests of its own: its row says how it is sent. */
export interface UsualAction {
  readonly operation: string;
  /** The resource, for all but a create. */
  readonly of?: Reference;
  /** What it is put on, or taken off. */
  readonly host?: Reference;
  readonly name?: string;
  /** Under the names of the service. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly changes?: readonly PlannedChange[];
}

/** The operations on one kind. */
export type OperationOn<K extends Kind> = Extract<StepOperation, `${K}.${string}`>;

/** Those on a resource that is there. */
export type ActOn<K extends Kind> = Exclude<OperationOn<K>, `${K}.create`>;

/** The action of a step with one of these operations. */
export type ActionOf<O extends StepOperation> = { [P in O]: { readonly operation: P } & Requests[P] }[O];

export type StepAction = ActionOf<StepOperation>;

/** The name that the request gives. */
export function nameGiven(step: Step): { readonly kind: Kind; readonly name: string } | undefined {
  const { action } = step;
  switch (action.operation) {
    case "vm.create":
      return { kind: "vm", name: action.vm.name };
    case "vm.rename":
      return { kind: "vm", name: action.name };
    case "volume.create":
      return { kind: "volume", name: action.name };
    case "group.create":
      return { kind: "group", name: action.name };
    case "group.update":
      return action.name === undefined ? undefined : { kind: "group", name: action.name };
    default:
      action.operation satisfies Exclude<StepOperation, `${Kind}.${"create" | "rename" | "update"}`>;
      return nameGivenByRow(kindOf(step.address), action);
  }
}

const nameGivenByRow = (kind: Kind, { operation, name }: UsualAction) =>
  operation === `${kind}.create` && name !== undefined ? { kind, name } : undefined;

export type ValueOfComputed = (computed: Computed) => string | Computed;

/** The request with what `value` knows in each of its texts. */
export function filled(action: StepAction, value: ValueOfComputed, fillRule: (rule: Rule) => Rule): StepAction {
  switch (action.operation) {
    case "group.create":
      return { ...action, ...describedBy(action.description, value), rules: action.rules.map(fillRule) };
    case "group.update":
      return { ...action, ...describedBy(action.description, value) };
    case "group.rule.create":
      return { ...action, rule: fillRule(action.rule) };
    case "group.verify":
      return { ...action, rules: action.rules.map(fillRule) };
    case "flush":
    case "after_ready":
    case "after_attach":
      return { ...action, argv: action.argv.map((word) => fillText(word, value)) };
    case "vm.check":
      return { ...action, check: filledCheck(action.check, value) };
    case "vm.create":
    case "volume.create":
      return action;
    default:
      action.operation satisfies Exclude<StepOperation, `${Kind}.${"create" | "update"}`>;
      return action;
  }
}

const describedBy = (description: Text | undefined, value: ValueOfComputed) =>
  description === undefined ? {} : { description: fillText(description, value) };

function filledCheck(check: HealthCheck, value: ValueOfComputed): HealthCheck {
  switch (check.kind) {
    case "tcp":
      return check;
    case "http":
      return { ...check, url: fillText(check.url, value) };
    case "command":
      return { ...check, argv: check.argv.map((word) => fillText(word, value)) };
  }
}

export function computedOf(action: StepAction): readonly Computed[] {
  const found: Computed[] = [];
  const leave: ValueOfComputed = (computed) => {
    found.push(computed);
    return computed;
  };
  filled(action, leave, (rule) => {
    found.push(...computedWithin(rule));
    return rule;
  });
  return found;
}

/** Of one resource and what is done to it: `vm.web/create`. Neither an address nor an id of the service is one. */
export type StepId = `${string}/${string}`;

/** `done`: only after success. `end`: however it ended, but not while it waits for somebody. `failed`: only when it failed. */
export interface Need {
  readonly step: StepId;
  readonly on: "done" | "end" | "failed";
}

/** The whole record of a created resource, without the id that the service gives. */
type CreatedRecords = { readonly [K in Kind as `${K}.create`]: NewRecordOf<K> };

/** The fields of a record that each operation may make true: a volume's step cannot write a flavor. */
type Patches = {
  readonly [O in StepOperation]: O extends keyof CreatedRecords
    ? CreatedRecords[O]
    : O extends `volume.${string}`
      ? FieldsOf<"volume"> | FieldsOfDataVolume
      : O extends `${infer K extends Kind}.${string}`
        ? FieldsOf<K>
        : O extends Duty
          ? Pick<FieldsOf<"vm">, "afterReady" | "afterAttach">
          : undefined;
};
export type RecordPatch<O extends StepOperation = StepOperation> = Patches[O];

/** What to record when the step succeeded. A create always says it. */
type Recordings = {
  readonly [O in StepOperation]: O extends keyof CreatedRecords
    ? { readonly record: Patches[O] }
    : { readonly record?: Patches[O] };
};

/** A command of a resource that a step makes necessary. */
export interface Due extends Omit<Debt, "since"> {
  readonly address: Address;
}

/** A step of one resource among its others. */
export type OwnStep<O extends StepOperation = StepOperation> = {
  readonly action: ActionOf<O>;
  /** One line for people. */
  readonly title: string;
  readonly needs?: readonly Need[];
  /** Commands that are owed from before the request is sent. */
  readonly owes?: readonly Due[];
  /** True: when the step succeeded, the record is removed. */
  readonly forgets?: boolean;
  readonly estimateMs?: number;
  /** The VM that does not serve while this runs. */
  readonly downtimeOf?: Address;
  /** What no other step may touch at the same time: `vm:<id>`, `volume:<id>`. */
  readonly holds?: readonly string[];
} & Recordings[O];

/**
 * A step before it is added to the draft: what it needs, holds and takes has a usual value unless it says otherwise.
 */
export type NewStep<O extends StepOperation = StepOperation> = OwnStep<O> & {
  readonly id: StepId;
  readonly address: Address;
};

export type Step<O extends StepOperation = StepOperation> = NewStep<O> & {
  readonly needs: readonly Need[];
  readonly holds: readonly string[];
  readonly estimateMs: number;
};

/** A step that runs a command that is owed. */
export type GuestStep = Step & Step<Duty>;
export const isGuestStep = (step: Step): step is GuestStep =>
  step.action.operation === "after_ready" || step.action.operation === "after_attach";

/** It records nothing and is there for the order of others alone: nobody is told of it, and it counts as nothing. */
export const isGate = ({ action }: Pick<Step, "action">): boolean =>
  action.operation === "record" && action.changes.length === 0;

export const need = (step: StepId, on: Need["on"] = "done"): Need => ({ step, on });
