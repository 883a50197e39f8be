/**
 * The commands that are owed to guests: which step makes which command necessary, and when each is run. A command waits
 * for everything that this plan does to its VM; one that an earlier run left owed goes first instead, before anything
 * else touches the VM. One VM's commands run one after the other, `after_ready` before `after_attach`.
 *
 *   step                                      owes                         because
 *   create of a VM                            after_ready                  created; vm_replaced where it takes another's place
 *                                             after_attach                 created: its data volume is new either way
 *   rebuild of a VM                           after_ready, after_attach    vm_rebuilt
 *                                             after_attach of its volumes, also of those that the plan leaves out
 *   create of a volume that is attached       after_attach                 created
 *   detach that another attach follows        after_attach                 moved, vm_replaced, or attached_again
 *   grow of a volume that hangs on a VM       after_attach                 grown
 *   attach                                    after_attach                 attached, moved, vm_replaced, attached_again
 *
 * The flush command takes away what the detach would: it owes the same.
 */

import { type Address, isMeant } from "../../core/model/address";
import { wordsOfCommand } from "../../core/model/computed";
import type { Reference } from "../../core/model/desired";
import type { Diagnostic, SourcePosition } from "../../core/model/diagnostic";
import { valueSeen } from "../../core/model/evidence";
import { told, toRun } from "../../core/model/fix";
import {
  commandKeys,
  commandOf,
  type Debt,
  type Declares,
  type DueReason,
  type Duty,
  debtOf,
  debtsIn,
  duties,
  type GuestCommand,
  isSameCommand,
} from "../../core/model/guest";
import { identity } from "../../core/model/identity";
import { allOfKind } from "../../core/model/kinds";
import { findSeen, sight } from "../../core/model/live";
import type { RecordedResource, RecordedVm, RecordedVolume } from "../../core/model/recorded";
import { addStep, type Draft, owedByIntent, vmHold, vmLabel } from "../../core/plan/draft";
import {
  computedOf,
  type Due,
  type GuestStep,
  isGuestStep,
  type Need,
  need,
  type Step,
  type StepAction,
  type StepId,
  type StepOperation,
} from "../../core/plan/step";
import { deepEqual } from "../../core/text/deep-equal";
import { appendTo, groupedBy, onlyDefined } from "../../core/text/objects";
import { editSteps } from "../order";
import type { VolumeDifference } from "../volume/diff";
import { isCarriedBy } from "../volume/open-moves";
import type { VmDifference } from "./diff";

/** A command that is owed before this plan is carried out. */
export interface Owed extends Due {
  /** Absent: it is owed from this plan on. */
  readonly since?: string;
  /** Why this plan does not run it. Absent: it runs it. */
  readonly waits?: string;
}

/** A resource that declares a command, and the VM that it is for. */
interface DeclaredDuty {
  readonly address: Address;
  readonly duty: Duty;
  readonly command: GuestCommand;
  /** `undefined`: it hangs on no VM, and shall hang on none. */
  readonly host: Reference | undefined;
  readonly volume?: Reference;
  /** Why it can do nothing on its VM: the volume that it is for is not there. */
  readonly away?: string | undefined;
  readonly recorded: RecordedVm | RecordedVolume | undefined;
  readonly source: SourcePosition;
}

/** The commands that were owed before, and why those that are not run have to wait. */
export function payGuests(
  draft: Draft,
  vms: readonly VmDifference[],
  volumes: readonly VolumeDifference[],
): readonly Owed[] {
  const leftOut = leftOutOn(volumes, draft);
  if (leftOut.size === 0 && ![...vms, ...volumes].some(({ desired }) => desired !== undefined && declares(desired)))
    return [];
  const steps = new Map(draft.steps.map((step) => [step.id, step]));
  const ofVms = vms.flatMap((vm) => ofVm(vm, steps, draft));
  const ofVolumes = new Map(volumes.map((volume) => [volume, ofVolume(volume, steps)]));
  const declared = [...ofVms, ...[...ofVolumes.values()].flatMap((one) => one ?? [])];
  noteWhatSteps(draft, vms, ofVolumes, declared, leftOut);
  const plan = othersIn(draft);
  const owed: Owed[] = [];
  for (const one of declared) {
    const before = pay(one, plan);
    owed.push(...before);
    if (before.length === 0) draft.diagnostics.push(...notOwed(one, plan));
  }
  editSteps(draft, ({ id }) => plan.later.get(id) ?? []);
  return owed;
}

/** The other steps of the plan, as the commands meet them. */
interface Others {
  readonly draft: Draft;
  /** Those that make a command necessary. */
  readonly makes: ReadonlyMap<string, readonly Step[]>;
  /** Those during which a VM must not be used, by its hold. */
  readonly touching: ReadonlyMap<string, readonly Step[]>;
  /** The VMs whose own command is run. */
  readonly provisioned: Set<Address>;
  /** What waits for a command that goes first. */
  readonly later: Map<StepId, Need[]>;
}

function othersIn(draft: Draft): Others {
  const makes = new Map<string, Step[]>();
  const touching = new Map<string, Step[]>();
  for (const step of draft.steps) {
    for (const due of step.owes ?? []) appendTo(makes, keyOf(due), step);
    if (!isGuestStep(step)) for (const hold of step.holds) appendTo(touching, hold, step);
  }
  return { draft, makes, touching, provisioned: new Set(), later: new Map() };
}

const keyOf = ({ address, command }: Pick<Due, "address" | "command">): string => `${address} ${command}`;

const declares = (desired: Declares): boolean => duties.some((duty) => commandOf(desired, duty) !== undefined);

type Steps = ReadonlyMap<StepId, Step>;

function ofVm({ address, desired, recorded }: VmDifference, steps: Steps, draft: Draft): DeclaredDuty[] {
  if (desired === undefined) return [];
  const id = steps.has(`${address}/create`) ? undefined : recorded?.id;
  const host: Reference = id === undefined ? { address } : { id };
  const isPutBack = id === undefined || steps.has(`${address}/data-attach`);
  return duties.flatMap((duty) => {
    const command = commandOf(desired, duty);
    if (command === undefined) return [];
    const away = duty === "after_attach" && !isPutBack ? whereElse(id, recorded?.dataVolumeId, draft) : undefined;
    return [{ address, duty, command, host, away, recorded, source: desired.source }];
  });
}

/** Where a VM's own data volume is, if not on this VM. */
function whereElse(vm: string, volume: string | undefined, draft: Draft): string | undefined {
  if (volume === undefined) return undefined;
  const seen = sight(draft.context.live, "volume", volume);
  if (seen.seen === "gone") return "its data volume is gone";
  const shown = valueSeen(seen);
  const isMoving = shown?.changing === true || phaseOf({ id: vm }, draft) === "changing";
  if (isMoving || isCarriedBy(vm, volume, shown, draft.context) !== false) return undefined;
  const host = shown?.attachedTo;
  if (host === undefined) return "its data volume does not show on it";
  return `its data volume hangs on ${host === null ? "no VM" : `VM ${vmLabel(draft, { id: host })}`}`;
}

function ofVolume(difference: VolumeDifference, steps: Steps): DeclaredDuty | undefined {
  const { address, action, desired, recorded } = difference;
  if (desired?.afterAttach === undefined) return undefined;
  const attach = steps.get(`${address}/attach`);
  // A volume that takes another's place hangs where it is attached.
  const comesOff = action === "replace" || steps.has(`${address}/detach`);
  const stays = comesOff || difference.attachedTo === undefined ? undefined : { id: difference.attachedTo };
  const host = attach?.action.operation === "volume.attach" ? attach.action.vm : stays;
  const command = desired.afterAttach;
  return { address, duty: "after_attach", command, host, volume: { address }, recorded, source: desired.source };
}

/** A command that is new on what exists already is run by nothing that this plan does. */
function notOwed({ address, duty, recorded, source }: DeclaredDuty, { draft, makes }: Others): Diagnostic[] {
  const isNew =
    draft.changeAt.get(address)?.action === "import" ||
    (recorded?.id !== undefined && commandOf(recorded, duty) === undefined);
  if (!isNew || makes.has(keyOf({ address, command: duty }))) return [];
  return [
    {
      severity: "note",
      code: "plan/not-owed",
      summary: `${duty} of ${address} is new, and nothing is owed for what exists already`,
      ...told([toRun(["owe", address], "to run it with the next apply")]),
      address,
      source,
    },
  ];
}

/** Volumes that this plan leaves out and whose command a rebuild of their VM owes all the same, by the id of that VM. */
function leftOutOn(volumes: readonly VolumeDifference[], { state }: Draft) {
  const planned = new Set(volumes.map(({ address }) => address));
  const leftOut = allOfKind(state.resources.values(), "volume").filter(
    ({ address, afterAttach }) => afterAttach !== undefined && !planned.has(address),
  );
  return groupedBy(leftOut, ({ attachedTo }) => attachedTo);
}

/** Says of each step which commands it makes necessary. */
function noteWhatSteps(
  draft: Draft,
  vms: readonly VmDifference[],
  volumes: ReadonlyMap<VolumeDifference, DeclaredDuty | undefined>,
  declared: readonly DeclaredDuty[],
  leftOut: ReturnType<typeof leftOutOn>,
): void {
  const commands = new Set(declared.map(({ address, duty }) => keyOf({ address, command: duty })));
  const dues = new Map<string, Due[]>();
  const owe = (step: string, address: Address, command: Duty, reason: DueReason): void => {
    if (!commands.has(keyOf({ address, command }))) return;
    appendTo(dues, step, { address, command, reason });
  };
  for (const { address, action, recorded } of vms) {
    for (const volume of leftOut.get(recorded?.id ?? "") ?? [])
      appendTo(dues, `${address}/rebuild`, { address: volume.address, command: "after_attach", reason: "vm_rebuilt" });
    owe(`${address}/create`, address, "after_ready", action === "replace" ? "vm_replaced" : "created");
    owe(`${address}/create`, address, "after_attach", "created");
    owe(`${address}/rebuild`, address, "after_ready", "vm_rebuilt");
    owe(`${address}/rebuild`, address, "after_attach", "vm_rebuilt");
    owe(`${address}/flush`, address, "after_attach", "attached_again");
    owe(`${address}/data-detach`, address, "after_attach", "attached_again");
    owe(`${address}/data-resize`, address, "after_attach", "grown");
    owe(`${address}/data-attach`, address, "after_attach", "attached_again");
  }
  for (const [difference, one] of volumes) {
    if (one?.host === undefined) continue;
    const { address } = difference;
    const reason = reasonOf(difference, draft);
    owe(`${address}/create`, address, "after_attach", "created");
    owe(`${address}/flush`, address, "after_attach", reason);
    owe(`${address}/detach`, address, "after_attach", reason);
    owe(`${address}/resize`, address, "after_attach", "grown");
    owe(`${address}/attach`, address, "after_attach", reason);
    const vm = addressOfHost(one.host, draft);
    if (vm !== undefined) owe(`${vm}/rebuild`, address, "after_attach", "vm_rebuilt");
  }
  draft.steps.forEach((step, index) => {
    const owes = dues.get(step.id);
    if (owes !== undefined) draft.steps[index] = { ...step, owes };
  });
}

const addressOfHost = (host: Reference, draft: Draft): Address | undefined =>
  "address" in host ? host.address : draft.context.addressOf(identity("vm", host.id));

/** Why a volume's command is owed once the volume hangs where it shall. */
function reasonOf({ action, detachFrom, attachedTo, wantedOn }: VolumeDifference, draft: Draft): DueReason {
  if (action === "create" || action === "replace") return "created";
  if (attachedTo === undefined) return "attached";
  if (detachFrom === undefined) return "attached_again";
  const isRenewed = wantedOn?.address !== undefined && draft.changeAt.get(wantedOn.address)?.action === "replace";
  return isRenewed && draft.context.addressOf(identity("vm", detachFrom)) === wantedOn.address
    ? "vm_replaced"
    : "moved";
}

/** What was owed before: the debt of the record, or of the create that an interrupted run had under way. */
function owedBefore({ address, duty, command, recorded }: DeclaredDuty, draft: Draft): Omit<Owed, "waits"> | undefined {
  const owes = recorded === undefined ? owedByIntent(address, draft) : recorded.owes;
  const debt = debtOf({ owes }, duty);
  if (debt !== undefined) return { address, ...debt };
  if (draft.context.options.owe?.some((named) => isMeant(address, named)) === true)
    return { address, command: duty, reason: "asked" };
  const former = recorded === undefined ? undefined : commandOf(recorded, duty);
  const isChanged = command.again === "when_changed" && former !== undefined && !isSameCommand(former, command);
  return isChanged ? { address, command: duty, reason: "changed" } : undefined;
}

function pay(one: DeclaredDuty, others: Others): Owed[] {
  const { address, duty, host, away } = one;
  const { draft } = others;
  const before = owedBefore(one, draft);
  const makes = others.makes.get(keyOf({ address, command: duty })) ?? [];
  if (before === undefined && makes.length === 0) return [];
  const touching = (host === undefined ? undefined : others.touching.get(vmHold(draft, host))) ?? [];
  const waits = away ?? whyNotRunning(host, touching, draft);
  if (host === undefined || waits !== undefined) return before === undefined ? [] : [{ ...before, waits }];
  const asks = before?.since === undefined && makes.length === 0 ? before?.reason : undefined;
  addPayment(one, host, asks, { makes, touching }, others);
  return before === undefined ? [] : [before];
}

function addPayment(
  one: DeclaredDuty,
  host: Reference,
  asks: DueReason | undefined,
  { makes, touching }: { readonly makes: readonly Step[]; readonly touching: readonly Step[] },
  others: Others,
): void {
  const { draft, provisioned, later } = others;
  const step = payStep(one, host, asks, draft);
  const known = [...readyNeeds(one, host, others), ...valueNeeds(step.action, draft)];
  const isFree = makes.length === 0 && known.length === 0 && phaseOf(host, draft) === "running";
  // A command such as mount -a would undo what a person has flushed by hand.
  const first = isFree && !touching.some(({ action }) => "flush" in action && action.flush === "ask");
  const isDecisive = (step: Step): boolean =>
    step.action.operation === "vm.start" ||
    (makes.includes(step) && decisive.has(step.action.operation) && !makes.some((off) => isUndoneBy(off, step)));
  const after = first ? [] : touching.map((other) => need(other.id, isDecisive(other) ? "done" : "end"));
  addStep(draft, { ...step, needs: [...known, ...after] });
  if (one.duty === "after_ready") provisioned.add(one.address);
  // A command that an earlier run left owed goes before whatever this plan does to the VM.
  if (first) for (const { id } of touching) appendTo(later, id, need(step.id, "end"));
}

/** A command that was made necessary by these makes no sense without them. */
const decisive: ReadonlySet<StepOperation> = new Set(["vm.create", "vm.rebuild", "volume.attach"]);

/**
 * What a flush command took away is missing also where nothing was detached after it: where the volume still hangs on
 * its VM then, its own command brings it back.
 */
const isUndoneBy = ({ action: off }: Step, { action: on }: Step): boolean =>
  off.operation === "volume.detach" &&
  on.operation === "volume.attach" &&
  off.flush === "command" &&
  deepEqual([off.vm, off.volume], [on.vm, on.volume]);

function payStep(
  { address, duty, command: { argv, env, timeoutMs, again }, volume }: DeclaredDuty,
  vm: Reference,
  asks: DueReason | undefined,
  draft: Draft,
) {
  const command = { argv, ...onlyDefined({ env }), timeoutMs };
  return {
    id: `${address}/${duty}` as const,
    address,
    action: {
      operation: duty,
      ...command,
      vm,
      ...onlyDefined({ volume, asks: asks === "asked" || asks === "changed" ? asks : undefined }),
    },
    title: `run ${duty}: ${wordsOfCommand(argv)}`,
    holds: [vmHold(draft, vm), ...(volume === undefined ? [] : [`volume:${address}`])],
    record: { [commandKeys[duty]]: again === undefined ? command : { ...command, again } },
    ...onlyDefined({ owes: asks === undefined ? undefined : [{ address, command: duty, reason: asks }] }),
  };
}

/** What makes the VM and the volume known, and the VM's own command, which goes before those of its volumes. */
function readyNeeds({ address, duty }: DeclaredDuty, host: Reference, { draft, provisioned }: Others): Need[] {
  const vm = addressOfHost(host, draft);
  const provisions = duty === "after_attach" && vm !== undefined && provisioned.has(vm);
  return [...draft.onceMade(address), ...draft.onceMade(vm), ...(provisions ? [need(`${vm}/after_ready`)] : [])];
}

/** The values in the command are those that hold when the plan has made what they belong to. */
const valueNeeds = (action: StepAction, draft: Draft): Need[] =>
  computedOf(action).flatMap(({ address }) => draft.onceMade(address));

const phaseOf = (host: Reference, draft: Draft) =>
  "id" in host ? findSeen(draft.context.live, "vm", host.id)?.phase : undefined;

/** Nothing can be run on a VM that is stopped, and is not started by this plan. */
function whyNotRunning(host: Reference | undefined, touching: readonly Step[], draft: Draft): string | undefined {
  if (host === undefined) return "it hangs on no VM";
  const operations = new Set(touching.map(({ action }) => action.operation));
  // A stop for a flush is followed by a start, or by a new VM.
  if (touching.some(({ id }) => id === `${addressOfHost(host, draft)}/stop`)) return "its VM is to be stopped";
  if (operations.has("vm.start") || operations.has("vm.create")) return undefined;
  return phaseOf(host, draft) === "stopped" ? `VM ${vmLabel(draft, host)} is stopped` : undefined;
}

/** The record without a debt of a command that nobody declares any more. */
export function debtsLeft(
  { owes }: Pick<RecordedVm | RecordedVolume, "owes">,
  desired: Declares,
): readonly Debt[] | undefined {
  const left = owes?.filter(({ command }) => commandOf(desired, command) !== undefined);
  return left === undefined || left.length === 0 ? undefined : left.length === owes?.length ? owes : left;
}

/** The command as the record has it from now on: one that is owed since it was written anew is recorded when it has run. */
export const commandRecorded = (
  old: GuestCommand | undefined,
  desired: GuestCommand | undefined,
): GuestCommand | undefined =>
  old !== undefined && desired?.again === "when_changed" && !isSameCommand(old, desired) ? old : desired;

/** What the records say is owed. */
export const owedIn = (resources: Iterable<RecordedResource>): Owed[] =>
  [...resources].flatMap((record) => {
    return debtsIn(record).map((debt) => ({ address: record.address, ...debt }));
  });

/** What this plan makes owed and cannot run yet: no step of it would write that down. */
export const owedLater = ({ owed = [] }: { readonly owed?: readonly Owed[] }): readonly Owed[] =>
  owed.filter(({ since, waits }) => since === undefined && waits !== undefined);

/** What a plan makes necessary in the guests, and what was owed before. */
export function owedBy({
  steps,
  owed = [],
}: {
  readonly steps: readonly Step[];
  readonly owed?: readonly Owed[];
}): readonly Owed[] {
  const planned = steps.filter(({ needs }) => needs.every(({ on }) => on !== "failed"));
  // The last step says why the command is owed in the end.
  const dues = new Map(planned.flatMap(({ owes = [] }) => owes.map((due) => [keyOf(due), due])));
  return [...new Map([...dues, ...owed.map((one): [string, Owed] => [keyOf(one), one])]).values()];
}

/** The VM that a command is for, where it has an address. */
export const guestOf = ({ action }: GuestStep, { context }: Pick<Draft, "context">): Address | undefined =>
  "address" in action.vm ? action.vm.address : context.addressOf(identity("vm", action.vm.id));
