/**
 * Order between steps of different resources, as a list of passes, each with the reason for its place. The steps of
 * one resource order themselves; only here do resources meet.
 */

import { type Address, kindOf } from "../core/model/address";
import type { Reference } from "../core/model/desired";
import { identity } from "../core/model/identity";
import { findSeen } from "../core/model/live";
import { hostAttachedTo, hostOf, isDetach } from "../core/model/relations";
import { addStep, type Draft, onceEach, planStep, vmHold, vmLabel } from "../core/plan/draft";
import { withAllBefore } from "../core/plan/graph";
import { computedOf, type Need, need, type Step, type StepId } from "../core/plan/step";
import { appendTo, fieldsIn, groupedBy } from "../core/text/objects";
import { deleteNamedGroupsLast } from "./group/named-groups";

export function orderAcrossResources(draft: Draft): void {
  attachAfterVmExists(draft);
  fillInAfterItIsKnown(draft);
  deleteVmAfterItsVolumesCameOff(draft);
  deleteVolumeAfterItsVm(draft);
  takeNameAfterItIsFree(draft);
  stopAfterVmChanges(draft);
  startAfterFlushes(draft);
  restartAfterFlushed(draft);
  deleteGroupsAfterVms(draft);
  deleteNamedGroupsLast(draft);
  setAsideOnceReplaceable(draft);
}

/** An attach names its VM by address when this plan builds it; it can only be sent once that VM runs. */
function attachAfterVmExists(draft: Draft): void {
  editSteps(draft, (step) => {
    const host = hostAttachedTo(step.action);
    if (host === undefined) return [];
    return draft.onceMade("address" in host ? host.address : draft.context.addressOf(identity("vm", host.id)));
  });
}

/**
 * A value that only the service knows (an address, an id): the step that sends it waits for the step that makes the
 * resource it belongs to. A command about a resource that exists already takes the value that holds when it runs, and
 * waits for nothing.
 */
function fillInAfterItIsKnown(draft: Draft): void {
  editSteps(draft, (step) => {
    const isCommand = step.action.operation === "flush" || step.action.operation === "vm.check";
    return computedOf(step.action).flatMap(({ address }) => {
      const isThere = draft.state.resources.get(address)?.id !== undefined;
      return isCommand && isThere ? [] : draft.onceMade(address);
    });
  });
}

/**
 * A group that is replaced keeps its name until its successor can be made: where what the create needs fails, there is no
 * create, and nothing gives the name back. What waits for that very name goes on before it.
 */
function setAsideOnceReplaceable(draft: Draft): void {
  const creates = new Map<StepId, readonly Need[]>(
    draft.steps.flatMap(({ action, address, needs }) =>
      action.operation === "group.create" ? [[`${address}/aside`, needs]] : [],
    ),
  );
  if (!draft.steps.some(({ id }) => creates.has(id))) return;
  const freeing = new Set(draft.namesFreed().map(([, step]) => step));
  const follows = followsIn(draft);
  editSteps(draft, ({ id }) =>
    (creates.get(id) ?? []).filter(({ step }) => !freeing.has(id) || (step !== id && !follows(step, id))),
  );
}

/** Whether a step comes after another one, as the draft is now. */
function followsIn(draft: Draft) {
  const placeOf = new Map(draft.steps.map(({ id }, place) => [id, place]));
  const needsOf = (id: StepId) => (draft.steps[placeOf.get(id) ?? -1]?.needs ?? []).map(({ step }) => step);
  return (step: StepId, before: StepId): boolean => step !== before && withAllBefore(step, needsOf).has(before);
}

/** A volume that goes on living is flushed and detached before its VM is deleted under it. */
function deleteVmAfterItsVolumesCameOff(draft: Draft): void {
  editSteps(draft, (step) => {
    if (step.action.operation !== "vm.delete" || !("id" in step.action.vm)) return [];
    return draft.cameOff(step.action.vm.id).map((detach) => need(detach));
  });
}

/** A volume that is deleted together with its VM needs no flush: the VM goes first and lets the volume off. */
function deleteVolumeAfterItsVm(draft: Draft): void {
  if (draft.hostDeletes().length === 0) return;
  const comesOff = new Set(draft.steps.filter((step) => isDetach(step.action.operation)).map((s) => s.address));
  editSteps(draft, (step) => {
    const { operation } = step.action;
    if (hostOf[kindOf(step.address)] === undefined || comesOff.has(step.address)) return [];
    if (operation !== "volume.delete" && operation !== "record" && operation !== "volume.resize") return [];
    const gone = draft.deleteOfHost(hostAt(draft, step.address));
    return gone === undefined ? [] : [need(gone)];
  });
}

function hostAt({ state, context }: Draft, address: string): string | undefined {
  const record = state.resources.get(address);
  const host = record === undefined ? undefined : hostOf[record.kind];
  if (record?.id === undefined || host === undefined) return undefined;
  const live = fieldsIn(findSeen(context.live, record.kind, record.id))[host.recorded];
  const id = live === undefined ? fieldsIn(record)[host.recorded] : live;
  return typeof id === "string" ? id : undefined;
}

/** Names are unique: the step that takes a name waits for the step that frees it. */
function takeNameAfterItIsFree(draft: Draft): void {
  const added = new Map<string, Need[]>();
  for (const { key, step } of draft.namesTaken()) {
    const freed = draft.freedBy(key);
    if (freed === undefined || freed === step) continue;
    appendTo(added, step, need(freed));
  }
  editSteps(draft, (step) => added.get(step.id) ?? []);
}

/** Changes of a running VM come before its stop for a flush. A VM that goes is stopped without them. */
function stopAfterVmChanges(draft: Draft): void {
  if (draft.flushStops().size === 0) return;
  const stopOf = new Map<string, string>();
  // What is done while the VM is stopped follows the stop.
  const users = new Set([...draft.flushStops().values()].flatMap((stop) => stop.users));
  // A VM that is deleted is not changed before: the changes belong to the new VM.
  for (const [id, { stop }] of draft.flushStops())
    if (stop !== undefined && stop !== draft.powerOf(id)?.step && draft.deleteOfHost(id) === undefined)
      stopOf.set(draft.context.addressOf(identity("vm", id)) ?? id, stop);
  const before = new Map<string, Need[]>();
  for (const step of draft.steps) {
    const stop = stopOf.get(step.address);
    if (stop === undefined || stop === step.id || draft.isPowerStep(step.id) || users.has(step.id)) continue;
    // The record of a VM that is let go has the note of the stop, and goes last.
    if (step.id === `${step.address}/forget`) continue;
    appendTo(before, stop, need(step.id, "end"));
  }
  editSteps(draft, (step) => before.get(step.id) ?? []);
}

/** The VM whose guest the step starts anew. */
function restartedBy({ action, needs }: Step): Reference | undefined {
  switch (action.operation) {
    case "vm.stop":
    case "vm.start":
    case "vm.resize":
    case "vm.rebuild":
      return action.vm;
    // What reverts a resize of this plan follows it, and the check that failed.
    case "vm.resize.revert":
      return needs.some(({ on }) => on === "failed") ? undefined : action.vm;
    default:
      return undefined;
  }
}

/**
 * A flush counts until the guest starts anew, which mounts the volume again. So a volume that is flushed while its VM
 * runs comes off, and goes back, before anything restarts that VM. A command that flushes after the restart, as that of a
 * VM's own data volume, stays where it is.
 */
function restartAfterFlushed(draft: Draft): void {
  const flushed = new Map<string, Step[]>();
  const attaches = groupedBy(draft.steps, ({ action, address }) =>
    hostAttachedTo(action) === undefined ? undefined : address,
  );
  for (const step of draft.steps) {
    const { action, address } = step;
    if (action.operation !== "volume.detach" || action.flush === "stop") continue;
    const hold = vmHold(draft, action.vm);
    const back = attaches.get(address)?.filter(({ holds }) => holds.includes(hold)) ?? [];
    for (const one of [step, ...back]) appendTo(flushed, hold, one);
  }
  if (flushed.size === 0) return;
  const follows = followsIn(draft);
  editSteps(draft, (step) => {
    const vm = restartedBy(step);
    const before = vm === undefined ? [] : (flushed.get(vmHold(draft, vm)) ?? []);
    return before.filter((one) => !follows(one.id, step.id)).map(({ id }) => need(id, "end"));
  });
}

/**
 * A VM that was stopped for flushes starts again when the last volume is done, however that ended. A VM that was
 * stopped before stays stopped, or starts because the file says so, but not before the volumes that rely on the stop.
 */
function startAfterFlushes(draft: Draft): void {
  if (draft.flushStops().size === 0) return;
  const delayed = new Map<string, Need[]>();
  for (const [id, flushStop] of draft.flushStops()) {
    const { stop, starts, vm, users } = flushStop;
    if (draft.deleteOfHost(id) !== undefined) continue;
    const power = draft.powerOf(id);
    if (power?.operation === "vm.start") for (const user of users) appendTo(delayed, power.step, need(user, "end"));
    if (starts === "no" || power !== undefined) continue;
    const managed = draft.context.addressOf(identity("vm", id));
    const noted = flushStop.noted ?? (managed === undefined ? noteStop(stop, users, draft) : undefined);
    const address = managed ?? id;
    const start = planStep(draft, address, "flush-start", {
      action: { operation: "vm.start", vm, again: true, noted },
      title: `start VM ${vmLabel(draft, vm)} again${starts === "yes" ? "" : `, ${starts}`}`,
      needs: [...(stop === undefined ? [] : [need(stop)]), ...users.map((user) => need(user, "end"))],
      holds: [vmHold(draft, vm)],
      downtimeOf: address,
    });
    const keeper = noted ?? address;
    // The note goes with its record, so that the record stays until the VM was started.
    for (const last of [`${keeper}/delete`, `${keeper}/forget`]) appendTo(delayed, last, need(start));
  }
  editSteps(draft, (step) => delayed.get(step.id) ?? []);
}

/**
 * A VM that no record manages has no place of its own for the note that it is to be started again: the record of the
 * first volume that comes off has it, from when that record is the one that stays. Returns the volume's address.
 */
function noteStop(stop: StepId | undefined, users: readonly StepId[], draft: Draft): Address | undefined {
  const first = draft.steps.find(({ id, address }) => users.includes(id) && id === `${address}/detach`);
  if (stop === undefined || first === undefined) return undefined;
  const noted = first.address;
  const before = first.needs.filter(({ step }) => step !== stop).map(({ step }) => need(step, "end"));
  draft.steps.forEach((step, index) => {
    if (step.id === stop && step.action.operation === "vm.stop")
      draft.steps[index] = { ...step, action: { ...step.action, noted }, needs: onceEach([...step.needs, ...before]) };
  });
  return noted;
}

/** A group attached to VMs cannot be deleted. One gate, so that many VMs and many groups do not make edges by their product. */
function deleteGroupsAfterVms(draft: Draft): void {
  if (draft.hostDeletes().length === 0) return;
  const isGroupDelete = (step: Step): boolean => step.action.operation === "group.delete";
  const first = draft.steps.find(isGroupDelete);
  if (first === undefined) return;
  const gate = addStep(draft, {
    id: "gate/vms-deleted",
    address: first.address,
    action: { operation: "record", changes: [] },
    title: "all VMs that are to go are gone",
    needs: draft.hostDeletes().map((step) => need(step, "end")),
  });
  editSteps(draft, (step) => (isGroupDelete(step) ? [need(gate)] : []));
}

export function editSteps(draft: Draft, more: (step: Step) => readonly Need[]): void {
  draft.steps.forEach((step, index) => {
    const needs = more(step).filter((added) => added.step !== step.id);
    if (needs.length > 0) draft.steps[index] = { ...step, needs: onceEach([...step.needs, ...needs]) };
  });
}
