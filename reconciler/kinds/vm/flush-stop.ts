/**
 * One stop of a VM for all volumes that come off it or outlive it. Where the file itself asks for the stop, that step
 * serves. kinds/order.ts starts the VM again when the last volume is done.
 */
import type { Address } from "../../core/model/address";
import { vmFields } from "../../core/model/fields";
import { identity } from "../../core/model/identity";
import { ofKind } from "../../core/model/kinds";
import { findSeen, type LiveVm } from "../../core/model/live";
import { type Draft, type FlushStop, planStep, vmHold, vmLabel } from "../../core/plan/draft";
import { type Need, need, type StepId } from "../../core/plan/step";
import { onceDecided } from "./resize-steps";

interface StopOptions {
  /** Where the VM is known by an address that no record has yet. */
  readonly address?: string;
  readonly after?: readonly Need[];
  /** False: the VM does not come back, so its downtime counts for nobody. */
  readonly serves?: boolean;
}

export const stopForFlush = (vm: { readonly id: string }, draft: Draft, options: StopOptions = {}): FlushStop =>
  draft.stopsFor(vm.id, () => makeStop(vm, draft, options));

/**
 * An interrupted run stopped the VM and did not start it again. `noted`: the volume that remembers it, where the VM's own
 * record does not.
 */
export const noteStopped = (id: string, draft: Draft, noted?: Address): void =>
  draft.setFlushStop(id, { vm: { id }, users: [], noted, ...draft.flushStopOf(id), starts: "yes" });

function makeStop(vm: { readonly id: string }, draft: Draft, options: StopOptions): FlushStop {
  const phase = findSeen(draft.context.live, "vm", vm.id)?.phase;
  const stopped = phase === "stopped";
  const power = draft.powerOf(vm.id);
  const isToRun = stopped && (isStarted(vm, draft) || options.address !== undefined) && isRecordedToRun(vm, draft);
  const isStill = stopped && !isToRun && !draft.isPowerOpen(vm.id);
  const stop =
    power?.operation === "vm.stop"
      ? power.step
      : isStill
        ? undefined
        : addFlushStop(vm, draft, phase, isToRun, options);
  return { vm, starts: stopped ? "no" : isBetweenPhases(phase) ? "if it ran" : "yes", users: [], stop };
}

/** The plan starts it: of a VM's own data volume that step is made after the flush. */
const isStarted = ({ id }: { readonly id: string }, { changeAt, context }: Draft): boolean =>
  changeAt
    .get(context.addressOf(identity("vm", id)) ?? "")
    ?.fields.some(({ field, after }) => field === vmFields.power.field && after === "running") === true;

/**
 * A run left it running. A person may have stopped it since, or the look that shows it stopped is of a time before its
 * start, and so may be each look after that: only a stop, or its refusal, proves anything then.
 */
function isRecordedToRun({ id }: { readonly id: string }, { context, state }: Draft): boolean {
  const record = ofKind(state.resources.get(context.addressOf(identity("vm", id)) ?? ""), "vm");
  return record?.power === "running" && record.stoppedForFlush !== true;
}

/** Whether the VM runs shows when it has arrived. */
const isBetweenPhases = (phase: LiveVm["phase"] | undefined): boolean =>
  phase === "verify_resize" || phase === "changing";

function addFlushStop(
  vm: { readonly id: string },
  draft: Draft,
  phase: LiveVm["phase"] | undefined,
  isToRun: boolean,
  options: StopOptions,
): StepId {
  const stopped = phase === "stopped";
  const managed = options.address ?? draft.context.addressOf(identity("vm", vm.id));
  const address = managed ?? vm.id;
  const reverted = draft.resizeUndoneBy(vm.id);
  return planStep(draft, address, "flush-stop", {
    action: {
      operation: "vm.stop",
      vm,
      looksFirst: (stopped && !isToRun) || isBetweenPhases(phase) ? true : undefined,
    },
    title: stopped
      ? `make sure that VM ${vmLabel(draft, vm)} is still stopped, so that its volumes are flushed`
      : `stop VM ${address} so that its volumes are flushed`,
    needs: [...(reverted === undefined ? onceDecided(vm, draft) : [need(reverted, "end")]), ...(options.after ?? [])],
    holds: [vmHold(draft, managed === undefined ? vm : { address: managed })],
    downtimeOf: stopped || options.serves === false ? undefined : address,
    record: stopped || managed === undefined ? undefined : { stoppedForFlush: true },
  });
}
