/**
 * The requests that make one volume as desired: off its VM for a reason the user gave, grown, and on again. A volume
 * on a VM that is stopped for its flush shares the stop and the start with every other such volume of that VM.
 */

import type { Address } from "../../core/model/address";
import { computedWithin } from "../../core/model/computed";
import type { DesiredVolume, FlushPolicy, Reference } from "../../core/model/desired";
import { identity } from "../../core/model/identity";
import { ofKind } from "../../core/model/kinds";
import { findSeen } from "../../core/model/live";
import { type Orphan, orphanKey, type RecordedVolume, stillToSetAt } from "../../core/model/recorded";
import {
  type Draft,
  holdOf,
  isLeftOnceSet,
  noteFound,
  owedByIntent,
  planRecord,
  planStep,
  settledRecord,
  vmHold,
  vmLabel,
  wasSet,
} from "../../core/plan/draft";
import type { FieldsOf } from "../../core/plan/record-patch";
import { holdBack, keptAsShown, unseenName, volumeRecord } from "../../core/plan/records";
import { type Need, need, type StepId } from "../../core/plan/step";
import { deepEqual } from "../../core/text/deep-equal";
import { onlyDefined } from "../../core/text/objects";
import type { Target } from "../placement";
import { flushWords, planFlush } from "../vm/flush";
import { noteStopped } from "../vm/flush-stop";
import { isFlushHeld, type VolumeDifference } from "./diff";

type To<A extends VolumeDifference["action"]> = Extract<VolumeDifference, { readonly action: A }>;

export function stepsForVolume(difference: VolumeDifference, draft: Draft): void {
  const { address } = difference;
  if (difference.stoppedVm !== undefined) noteStopped(difference.stoppedVm, draft, address);
  deleteReplaced(difference, draft);
  switch (difference.action) {
    case "none":
      return;
    case "create":
      stepsToCreateVolume(difference, draft, []);
      if (difference.attachTo !== undefined) attach({ address }, difference.attachTo, difference.desired, draft, []);
      return;
    case "delete":
    case "forget":
      stepsToRemoveVolume(difference, draft);
      return;
    case "replace":
      replaceVolume(difference, draft);
      return;
    case "import":
    case "update":
      stepsToUpdateVolume(difference, draft);
      return;
    default:
      difference satisfies never;
  }
}

function stepsToCreateVolume(
  { desired, attachTo, stoppedVm }: To<"create" | "replace">,
  draft: Draft,
  needs: readonly Need[],
): StepId {
  const isLeft = attachTo !== undefined && isLeftOnceSet(desired, "attach_to", draft);
  const step = planStep(draft, desired.address, "create", {
    action: { operation: "volume.create", name: desired.name, sizeGb: desired.sizeGb },
    title: `create volume ${desired.name} of ${desired.sizeGb} GB`,
    needs,
    record: {
      ...volumeRecord(desired),
      ...onlyDefined({ stillToSet: isLeft ? "attach_to" : undefined, stoppedVm }),
    },
  });
  draft.makes(desired.address, step);
  // The new volume's record goes on remembering that VM, and the start ends that.
  if (stoppedVm !== undefined) draft.flushStopOf(stoppedVm)?.users.push(step);
  return step;
}

/**
 * An attach needs the volume and the VM. Which step makes the VM is known only when all steps are made, so kinds/order.ts
 * adds that edge.
 */
function attach(
  volume: Reference,
  target: Target,
  desired: DesiredVolume,
  draft: Draft,
  needs: readonly Need[],
  note = "",
  record?: FieldsOf<"volume">,
): StepId {
  const { address, name } = desired;
  const vm: Reference = target.id === undefined ? { address: target.address } : { id: target.id };
  return planStep(draft, address, "attach", {
    action: { operation: "volume.attach", volume, vm },
    title: `attach volume ${name} to ${target.address ?? vmLabel(draft, vm)}${note}`,
    needs: [...draft.onceMade(address), ...needs],
    holds: [holdOf("volume", address), vmHold(draft, vm)],
    record: isLeftOnceSet(desired, "attach_to", draft) ? { ...record, ...wasSet } : record,
  });
}

interface ComingOff {
  /** Of one that is not the recorded one any more. */
  readonly which?: string;
  /** Whatever ends the run, the volume goes onto the same VM again, and the file does not say so. */
  readonly goesBack?: boolean;
  /** The VM that the file names. */
  readonly wantedOn?: Target;
  /** What the record has from then on, where it kept what is said of the VM that the volume leaves. */
  readonly next?: FlushPolicy | undefined;
}

/** Takes a volume off its VM; its flush comes first. */
function detach(
  { address, id, label }: { readonly address: Address; readonly id: string; readonly label: string },
  from: string,
  stated: FlushPolicy,
  draft: Draft,
  needs: readonly Need[],
  { which = "", goesBack = false, wantedOn, next }: ComingOff = {},
): StepId {
  const vm = { id: from };
  const elsewhere = isOnAnother(address, from, wantedOn, draft) ? true : undefined;
  const policy =
    elsewhere && !countsElsewhere(stated, from, draft) ? asks : policyFor(stated, address, from, wantedOn, draft);
  const flushed = planFlush({ address, label, policy, vm, needs, draft, which });
  const step = planStep(draft, address, `detach${which}`, {
    action: { operation: "volume.detach", volume: { id }, vm, flush: flushed.reason, elsewhere },
    title: `detach volume ${label} from ${vmLabel(draft, vm)} (${flushWords[flushed.reason]})`,
    needs: [...needs, ...flushed.before],
    holds: [holdOf("volume", address), vmHold(draft, vm)],
    record:
      which === ""
        ? {
            ...{ attachedTo: undefined, attaching: undefined, detaching: undefined },
            ...(goesBack ? { goesBackTo: from } : {}),
            ...onlyDefined({ flush: next }),
          }
        : undefined,
  });
  flushed.follow(step);
  draft.comesOff(vm.id, step);
  return step;
}

/** Whether it hangs on a VM that neither the file nor the record names. */
function isOnAnother(address: Address, on: string, wantedOn: Target | undefined, { context, state }: Draft): boolean {
  const recorded = ofKind(state.resources.get(address), "volume");
  const named = [recorded?.attachedTo, recorded?.attaching, recorded?.goesBackTo, wantedOn?.id, wantedOn?.address];
  if (context.attachedApart && named.every((one) => one === undefined)) return false;
  return !named.includes(on);
}

/**
 * A flush command is written for the guest that the file or the record names: that it ended with 0 there says nothing of
 * another guest. A VM that is not managed here, and runs, is stopped by nobody who did not name it.
 */
function countsElsewhere({ via }: FlushPolicy, on: string, { context }: Draft): boolean {
  const isStopped = findSeen(context.live, "vm", on)?.phase === "stopped";
  return via === "stop" && (isStopped || context.addressOf(identity("vm", on)) !== undefined);
}

const asks: FlushPolicy = { via: "ask" };

/**
 * Who moves a volume often writes its next VM into the command as well. The guest that it comes off is flushed by the
 * command of the record, or a person says that it is. So it is where the file has other words without any value: which
 * guest they are for shows nowhere.
 */
function policyFor(
  stated: FlushPolicy,
  address: Address,
  from: string,
  wantedOn: Target | undefined,
  { context, state }: Draft,
): FlushPolicy {
  const host = context.addressOf(identity("vm", from));
  const isForAnother = (policy: FlushPolicy): boolean => {
    const named = computedWithin(policy).map((value) => value.address);
    return (
      wantedOn?.address !== undefined &&
      named.includes(wantedOn.address) &&
      !(host !== undefined && named.includes(host))
    );
  };
  const { flush = asks } = ofKind(state.resources.get(address), "volume") ?? {};
  const moves = wantedOn !== undefined && wantedOn.id !== from && wantedOn.address !== host;
  const isWrittenAnew =
    moves &&
    stated.via === "command" &&
    flush.via === "command" &&
    computedWithin(stated).length === 0 &&
    !deepEqual(stated.argv, flush.argv);
  if (!isWrittenAnew && !isForAnother(stated)) return stated;
  return isForAnother(flush) ? asks : flush;
}

function stepsToRemoveVolume(difference: To<"delete" | "forget">, draft: Draft): void {
  const { address, change, recorded, detachFrom, live } = difference;
  const noted = difference.adopts === true ? [need(noteFound(draft, recorded, change.name))] : [];
  const gone = { address, id: recorded.id, label: live?.name ?? change.name };
  const needs = detachFrom === undefined ? noted : [need(detach(gone, detachFrom, recorded.flush, draft, noted))];
  if (difference.attachTo?.id !== undefined) needs.push(need(attachBack(gone, difference.attachTo.id, draft)));
  if (change.action === "delete") {
    planStep(draft, address, "delete", {
      action: { operation: "volume.delete", volume: { id: recorded.id } },
      title: `delete volume ${change.name} with its data`,
      needs,
      forgets: true,
    });
    return;
  }
  const orphan =
    change.reason === "gone" || change.reason === "let_go"
      ? undefined
      : orphanOf(recorded, "this service cannot delete volumes");
  planRecord(
    draft,
    address,
    "forget",
    orphan === undefined ? `forget volume ${change.name}` : `leave volume ${change.name} as an orphan`,
    [
      ...(orphan === undefined ? [] : [{ type: "orphan" as const, key: orphanKey(orphan), orphan }]),
      ...settledRecord(address, null),
    ],
    needs,
  );
}

/** An interrupted run took the volume off to grow it, and nothing but the record knows where it hung. */
function attachBack(
  { address, id, label }: { readonly address: Address; readonly id: string; readonly label: string },
  on: string,
  draft: Draft,
): StepId {
  const vm = { id: on };
  const step = planStep(draft, address, "attach", {
    action: { operation: "volume.attach", volume: { id }, vm },
    title: `attach volume ${label} to ${vmLabel(draft, vm)} again`,
    holds: [holdOf("volume", address), vmHold(draft, vm)],
  });
  draft.flushStopOf(on)?.users.push(step);
  return step;
}

const orphanOf = (recorded: RecordedVolume, reason: string) => ({
  kind: "volume" as const,
  id: recorded.id,
  name: recorded.name ?? recorded.id,
  reason,
  sizeGb: recorded.sizeGb,
});

function replaceVolume(difference: To<"replace">, draft: Draft): void {
  const { address, id, desired, recorded, change, detachFrom, attachTo } = difference;
  const old = recorded ?? { ...volumeRecord(desired), id };
  const oldName = difference.live?.name ?? old.name ?? id;
  const { deletesVolumes } = draft.context.can;
  const orphan: Orphan = {
    ...orphanOf({ ...old, name: oldName }, "replaced by another volume"),
    ...onlyDefined({ replacedBy: deletesVolumes ? address : undefined }),
  };
  // From the create on, the record is the new volume's: the old one is written down before.
  const noted = planRecord(draft, address, "orphan-old", `note the old volume ${oldName} as an orphan`, [
    { type: "orphan", key: orphanKey(orphan), orphan },
  ]);
  const created = stepsToCreateVolume(difference, draft, [need(noted)]);
  const detached =
    detachFrom === undefined
      ? []
      : [
          need(
            detach(
              { address, id, label: difference.live?.name ?? change.name },
              detachFrom,
              desired.flush,
              draft,
              [need(created)],
              { wantedOn: difference.wantedOn },
            ),
          ),
        ];
  const after = [need(created), ...detached];
  if (attachTo !== undefined) {
    const attached = attach({ address }, attachTo, desired, draft, detached);
    startVmAfter(difference.attachedTo, difference.wantedOn, [attached], draft);
  }
  if (deletesVolumes) deleteOld(address, orphan, draft, after);
}

const deleteOld = (address: Address, orphan: Orphan, draft: Draft, needs: readonly Need[], which = "-old"): StepId =>
  deleteNoted(address, orphan, which, "the old volume", " with its data", draft, needs);

/** Deletes a volume that is noted as an orphan, and takes the note back. `which`: the end of the names of both steps. */
export function deleteNoted(
  address: Address,
  orphan: Orphan,
  which: string,
  noun: string,
  how: string,
  draft: Draft,
  needs: readonly Need[],
): StepId {
  const { id, name } = orphan;
  const deleted = planStep(draft, address, `delete${which}`, {
    action: { operation: "volume.delete", volume: { id } },
    title: `delete ${noun} ${name}${how}`,
    needs,
    holds: [`volume:${id}`],
  });
  const noMore = [{ type: "orphan", key: orphanKey(orphan), orphan: null } as const];
  return planRecord(draft, address, `forget${which}`, `forget ${noun} ${name}`, noMore, [need(deleted)]);
}

/** What replacements that were cut off have left. */
function deleteReplaced({ address, desired, recorded, wantedOn, replaced = [] }: VolumeDifference, draft: Draft): void {
  const { flush } = desired ?? recorded ?? { flush: { via: "ask" as const } };
  for (const [index, { orphan, on }] of replaced.entries()) {
    const old = { address, id: orphan.id, label: orphan.name };
    const which = index === 0 ? "-replaced" : `-replaced-${index}`;
    const off =
      on === undefined
        ? undefined
        : on.goes
          ? draft.deleteOfHost(on.id)
          : detach(old, on.id, flush, draft, [], { which, wantedOn });
    deleteOld(address, orphan, draft, off === undefined ? [] : [need(off)], which);
  }
}

/** The VM that was stopped for this volume starts again only after these steps, when they concern that VM. */
function startVmAfter(from: string | undefined, to: Target | undefined, steps: readonly StepId[], draft: Draft): void {
  const stop = to?.id === undefined ? undefined : draft.flushStopOf(to.id);
  if (stop !== undefined && (to?.id === from || stop.noted !== undefined)) stop.users.push(...steps);
}

function stepsToUpdateVolume(difference: To<"update" | "import">, draft: Draft): void {
  const { address, id, desired, recorded, change, attachedTo, detachFrom, live } = difference;
  const volume: Reference = { id };
  const needs: Need[] = [];
  if (difference.adopts === true) needs.push(need(adoptVolume(difference, draft)));
  const grow = change.fields.find((field) => field.field === "size");
  const comesOff = detachFrom ?? (grow === undefined ? undefined : attachedTo);
  // A volume that was taken off only to be grown goes back to its VM, unless that VM is deleted.
  const goesBack =
    comesOff === undefined || detachFrom !== undefined || draft.deleteOfHost(comesOff) !== undefined
      ? undefined
      : { id: comesOff };
  const target = difference.attachTo ?? goesBack;
  const isUnsaid = difference.placeUnsaid === true && detachFrom === undefined && target !== undefined;
  // Where the service shows what somebody attached, this tool has not attached it, and does not take it off later.
  const isByHand = isUnsaid && live?.attachedTo !== undefined && recorded?.attachedTo !== target.id;
  const self = { address, id, label: live?.name ?? change.name };
  const afterDetach =
    comesOff === undefined
      ? needs
      : [
          need(
            detach(self, comesOff, desired.flush, draft, needs, {
              goesBack: isUnsaid,
              wantedOn: difference.wantedOn,
              next: isFlushHeld(difference) ? desired.flush : undefined,
            }),
          ),
        ];
  let resized: StepId | undefined;
  if (grow !== undefined)
    resized = planStep(draft, address, "resize", {
      action: { operation: "volume.resize", volume, sizeGb: desired.sizeGb },
      title: `grow volume ${change.name} from ${grow.before} to ${desired.sizeGb} GB`,
      needs: afterDetach,
      record: { sizeGb: desired.sizeGb },
    });
  // A grow that failed after the detach must not leave the volume off: the attach waits for its end, not its success.
  const beforeAttach = [...afterDetach, ...(resized === undefined ? [] : [need(resized, "end")])];
  if (target === undefined) return;
  const note = grow === undefined ? "" : " (grow the filesystem inside the guest)";
  const record = isByHand ? { attachedTo: undefined } : undefined;
  startVmAfter(attachedTo, target, [attach(volume, target, desired, draft, beforeAttach, note, record)], draft);
}

function adoptVolume(difference: To<"update" | "import">, draft: Draft): StepId {
  const { address, id, desired, live } = difference;
  const owes = owedByIntent(address, draft);
  const next: RecordedVolume = {
    ...volumeRecord(desired),
    id,
    // Where the file does not say where the volume hangs, only an attachment that this tool made is recorded.
    ...onlyDefined({ attachedTo: desired.attachTo === undefined ? undefined : difference.attachedTo, owes }),
    ...onlyDefined({ stoppedVm: difference.stoppedVm }),
    ...onlyDefined({ stillToSet: difference.attachTo === undefined ? undefined : stillToSetAt(address, draft.state) }),
  };
  const before: Partial<RecordedVolume> = { name: live?.name, sizeGb: live?.sizeGb, attachedTo: difference.attachedTo };
  const step = planRecord(
    draft,
    address,
    "import",
    `take over volume ${live?.name ?? id} (${id})`,
    settledRecord(
      address,
      holdBack(next, before, [...keptAsShown(difference, next, before), ...unseenName(difference)]),
    ),
  );
  draft.makes(address, step);
  return step;
}
