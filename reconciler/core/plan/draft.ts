/**
 * The plan while it is being made: steps in the order in which they were added, and the few facts that steps of
 * different resources need of each other. It lives inside one call of makePlan.
 */

import type { Change } from "../diff/changes";
import type { DiffContext } from "../diff/context";
import { type Address, kindOf } from "../model/address";
import type { DesiredResource, Reference } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { type Debt, debtsIn } from "../model/guest";
import { identity } from "../model/identity";
import { type Kind, kindRows } from "../model/kinds";
import {
  type PlannedChange,
  type RecordedResource,
  type State,
  type StateChange,
  stillToSetAt,
} from "../model/recorded";
import { appendTo, ifAny } from "../text/objects";
import { estimateMs } from "./estimate";
import { type Need, type NewStep, need, type OwnStep, type Step, type StepId, type StepOperation } from "./step";

type Power = { readonly operation: "vm.stop" | "vm.start"; readonly step: StepId };

export class Draft {
  readonly steps: Step[] = [];
  readonly changeAt: ReadonlyMap<Address, Change>;
  readonly #made = new Map<Address, StepId>();
  readonly #adopted = new Map<Address, string>();
  readonly #comesOff = new Map<string, StepId[]>();
  readonly #hostDeletes = new Map<string, StepId>();
  readonly #freed = new Map<NameKey, StepId>();
  readonly #taken: { readonly key: NameKey; readonly step: StepId }[] = [];
  readonly #powers = new Map<string, Power>();
  readonly #powerSteps = new Set<StepId>();
  readonly #reverts = new Map<string, StepId>();
  readonly #powerOpen = new Set<string>();
  readonly #flushStops = new Map<string, FlushStop>();

  constructor(
    readonly context: DiffContext,
    readonly state: State,
    readonly changes: Change[],
    readonly diagnostics: Diagnostic[],
  ) {
    this.changeAt = new Map(changes.map((change) => [change.address, change]));
  }

  /** After this step the resource has its (new) id. */
  makes(address: Address, step: StepId): void {
    this.#made.set(address, step);
  }

  madeBy(address: Address | undefined): StepId | undefined {
    return address === undefined ? undefined : this.#made.get(address);
  }

  /** What waits for the id of a resource, where this plan makes it. */
  onceMade(address: Address | undefined): readonly Need[] {
    const step = this.madeBy(address);
    return step === undefined ? [] : [need(step)];
  }

  /** This plan takes the resource with the id over: it is known already, although no record has it yet. */
  adopts(address: Address, id: string): void {
    this.#adopted.set(address, id);
  }

  adoptedId(address: Address): string | undefined {
    return this.#adopted.get(address);
  }

  /** The step takes something off this host, whose delete waits for it. */
  comesOff(host: string, step: StepId): void {
    appendTo(this.#comesOff, host, step);
  }

  cameOff(host: string): readonly StepId[] {
    return this.#comesOff.get(host) ?? [];
  }

  deletesHost(host: string, step: StepId): void {
    this.#hostDeletes.set(host, step);
  }

  deleteOfHost(host: string | undefined): StepId | undefined {
    return host === undefined ? undefined : this.#hostDeletes.get(host);
  }

  /** The steps that delete hosts. */
  hostDeletes(): readonly StepId[] {
    return [...this.#hostDeletes.values()];
  }

  freesName(key: NameKey, step: StepId): void {
    this.#freed.set(key, step);
  }

  freedBy(key: NameKey): StepId | undefined {
    return this.#freed.get(key);
  }

  /** Names with the steps that free them. */
  namesFreed(): readonly (readonly [key: NameKey, step: StepId])[] {
    return [...this.#freed];
  }

  takesName(key: NameKey, step: StepId): void {
    this.#taken.push({ key, step });
  }

  namesTaken(): readonly { readonly key: NameKey; readonly step: StepId }[] {
    return this.#taken;
  }

  /** The step stops or starts the VM because the file asks for it. */
  setsPower(host: string, power: Power): void {
    this.#powers.set(host, power);
    this.#powerSteps.add(power.step);
  }

  powerOf(host: string): Power | undefined {
    return this.#powers.get(host);
  }

  isPowerStep(step: StepId): boolean {
    return this.#powerSteps.has(step);
  }

  /** After this step a VM that goes is no longer half-resized, and can be stopped for a flush. */
  undoesResize(host: string, step: StepId): void {
    this.#reverts.set(host, step);
  }

  resizeUndoneBy(host: string): StepId | undefined {
    return this.#reverts.get(host);
  }

  /** The VM was stopped and may run after a rebuild or a resize of this plan: the contract does not say. */
  leavesPowerOpen(host: string): void {
    this.#powerOpen.add(host);
  }

  isPowerOpen(host: string): boolean {
    return this.#powerOpen.has(host);
  }

  /** One stop of a VM for everything that comes off it or outlives it: made when it is first asked for. */
  stopsFor(host: string, make: () => FlushStop): FlushStop {
    const known = this.#flushStops.get(host);
    if (known !== undefined) return known;
    const made = make();
    this.setFlushStop(host, made);
    return made;
  }

  setFlushStop(host: string, stop: FlushStop): void {
    this.#flushStops.set(host, stop);
  }

  flushStopOf(host: string): FlushStop | undefined {
    return this.#flushStops.get(host);
  }

  /** The stops for flushes, by the VM's id. */
  flushStops(): ReadonlyMap<string, FlushStop> {
    return this.#flushStops;
  }
}

export interface FlushStop {
  readonly vm: Reference;
  /** The step that stops the VM or makes sure that it is stopped. `undefined`: the VM is stopped already. */
  readonly stop?: StepId;
  /** The volume for which an interrupted run stopped the VM, which no record managed then. */
  readonly noted?: Address;
  /** Whether the VM ran before, and is started again. */
  readonly starts: "yes" | "no" | "if it ran";
  /** The steps that have to end before the VM is started again. */
  readonly users: StepId[];
}

/** The operation says what the step may record. */
export function addStep<O extends StepOperation>(draft: Draft, step: NewStep<O>): StepId;
export function addStep(draft: Draft, step: NewStep): StepId {
  draft.steps.push({
    ...step,
    needs: onceEach(step.needs ?? []),
    holds: step.holds ?? [],
    estimateMs: step.estimateMs ?? estimateMs(step.action.operation),
  });
  return step.id;
}

/** A step of one resource, by its name among the others. It holds the resource alone, unless it says otherwise. */
export const planStep = <O extends StepOperation>(
  draft: Draft,
  address: Address,
  name: string,
  step: OwnStep<O>,
): StepId =>
  addStep<O>(draft, {
    id: `${address}/${name}`,
    address,
    ...step,
    holds: step.holds ?? [holdOf(kindOf(address), address)],
  });

/** A step that sends nothing and changes the state. */
export const planRecord = (
  draft: Draft,
  address: Address,
  name: string,
  title: string,
  changes: readonly PlannedChange[],
  needs: readonly Need[] = [],
): StepId => planStep(draft, address, name, { action: { operation: "record", changes }, title, needs, holds: [] });

/** Keeps one need for each step: `done` and `failed` each demand more than `end`. */
export function onceEach(needs: readonly Need[]): readonly Need[] {
  const strongest = new Map<StepId, Need>();
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

/**
 * A resource that was found by the intent of a lost create is recorded before it is deleted, so that a run that is cut
 * off between the two does not forget it.
 */
export const noteFound = (
  draft: Draft,
  record: RecordedResource,
  name = record.name,
  noun: string = kindRows[record.kind].noun,
): StepId =>
  planRecord(
    draft,
    record.address,
    "import",
    `note ${noun} ${name} (${record.id}), which an interrupted run created`,
    settledRecord(record.address, record),
  );

/** What a create that was cut off has made necessary. */
export const owedByIntent = (address: Address, { state }: Pick<Draft, "state">): readonly Debt[] | undefined =>
  ifAny(debtsIn(state.intents.get(address)?.record));

/** Whether `ignore_changes` leaves the field to others once it was set. */
export const isLeftOnceSet = ({ address, lifecycle }: DesiredResource, field: string, { state }: Draft): boolean =>
  lifecycle.ignoreChanges.includes(field) || stillToSetAt(address, state) === field;

/** What the step records that sets such a field. */
export const wasSet = { stillToSet: undefined } as const;

/** A name as it is unique: within its kind, in whatever case it is written. */
export type NameKey = `${Kind}:${string}`;

export const nameKey = (kind: Kind, name: string): NameKey => `${kind}:${name.toLowerCase()}`;

/** The name of a resource in `holds`. */
export const holdOf = (kind: Kind, address: Address): string => `${kind}:${address}`;

/**
 * The name of a VM in `holds`: its address where it has one, so that the old and the new VM of a replacement exclude
 * each other.
 */
export const vmHold = (draft: Draft, vm: Reference): string => `vm:${vmLabel(draft, vm)}`;

/** The name under which people know a VM. */
export const vmLabel = (draft: Draft, vm: Reference): string =>
  "address" in vm ? vm.address : (draft.context.addressOf(identity("vm", vm.id)) ?? vm.id);
