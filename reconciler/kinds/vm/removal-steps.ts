/** The steps of a VM that goes: it arrives, its resize is undone, its snapshot is taken, it is stopped, it is deleted. */

import type { Reference } from "../../core/model/desired";
import { identity } from "../../core/model/identity";
import type { RecordedVm } from "../../core/model/recorded";
import { type Draft, nameKey, planStep } from "../../core/plan/draft";
import type { Unidentified } from "../../core/plan/records";
import { type Need, need, type StepId } from "../../core/plan/step";
import { keptByAnother } from "./departure";
import type { VmDifference } from "./diff";
import { stopForFlush } from "./flush-stop";
import { revertPending, type Then } from "./resize-steps";
import { planVmSnapshot, type To, waitUntilSettled } from "./step-parts";

export function planVmDelete(
  difference: To<"delete" | "replace">,
  recorded: Unidentified<RecordedVm>,
  draft: Draft,
  after: readonly Need[],
): StepId {
  const { address, id, action, desired } = difference;
  const name = difference.live?.name ?? recorded.name;
  // Volumes that other addresses manage are taken care of by their own steps.
  const { hanging, leaves, deletes } = difference.departure ?? { leaves: [] };
  const { context } = draft;
  const managedVolumes = (hanging ?? []).filter(
    (disk) => (context.addressOf(identity("volume", disk)) ?? keptByAnother(disk, address, context)) !== undefined,
  );
  const wanted =
    desired === undefined ? recorded.onDelete.snapshot : desired.lifecycle.snapshotBefore.includes("delete");
  const snapshots = wanted && difference.live?.phase !== "failed";
  // Neither a snapshot nor a detach is possible while a resize waits, so it is undone whether anything is flushed or not.
  const undoes = snapshots || managedVolumes.length > 0;
  const flush = flushOnDelete(difference, recorded, draft, undoes);
  const deleteFloatingIp = (desired?.lifecycle ?? recorded.onDelete).deleteFloatingIp;
  const step = planStep(draft, address, "delete", {
    action: {
      operation: "vm.delete",
      vm: { id },
      deleteFloatingIp,
      hanging,
      managedVolumes,
      leaves,
      deletesVolume: deletes,
      flush,
    },
    title: `delete VM ${name}`,
    needs: stepsBeforeDelete({ difference, recorded, name, draft, snapshots, undoes }, flush, after),
    forgets: true,
    downtimeOf: action === "replace" ? address : undefined,
  });
  draft.freesName(nameKey("vm", name), step);
  draft.deletesHost(id, step);
  return step;
}

/** A VM that is deleted. */
interface Going {
  readonly difference: To<"delete" | "replace">;
  readonly recorded: Unidentified<RecordedVm>;
  readonly name: string;
  readonly draft: Draft;
  readonly snapshots: boolean;
  /** Its resize has to be undone for something else than its stop. */
  readonly undoes: boolean;
}

/** What is done before the delete, in this order: it arrives, its resize is undone, its snapshot is taken, it is stopped. */
function stepsBeforeDelete(
  { difference, recorded, name, draft, snapshots, undoes }: Going,
  flush: "stop" | "ask" | undefined,
  after: readonly Need[],
): readonly Need[] {
  const { address, id, live } = difference;
  const vm: Reference = { id };
  // An earlier run has sent its delete, and it is on its way: it is waited for, and nothing else is asked of it.
  if (recorded.deleting === true && live?.phase === "changing") return after;
  /** What the delete waits for, and what the steps before the delete wait for: those have to succeed. */
  const needs: Need[] = [...after];
  const settled: Need[] = [...after];
  if (live?.phase === "changing" && arrivesFirst(difference, recorded, snapshots)) {
    const settle = waitUntilSettled(difference, vm, draft, after);
    settled.push(need(settle));
    needs.push(need(settle, "end"));
  }
  if (isVerifying(difference, recorded) && (undoes || flush === "stop")) {
    const then: Then = (name, step) =>
      planStep(draft, address, name, { ...step, needs: [...settled, ...(step.needs ?? [])] });
    const revert = revertPending(difference, { vm, label: name, then, draft });
    settled.push(need(revert));
    needs.push(need(revert, "end"));
    draft.undoesResize(id, revert);
  }
  if (snapshots) needs.push(need(planVmSnapshot(difference, "delete", vm, draft, settled)));
  if (flush !== "stop") return needs;
  const { stop } = stopForFlush({ id }, draft, { address, after: needs, serves: difference.action === "replace" });
  return stop === undefined ? needs : [...needs, need(stop)];
}

/**
 * A VM that is half-built or half-resized refuses a snapshot. A half-built VM does not show yet which volume will
 * outlive it.
 */
function arrivesFirst(
  { adopts, live }: VmDifference,
  { building, dataVolumeId, resizing }: Unidentified<RecordedVm>,
  snapshots: boolean,
): boolean {
  const isYoung = adopts === true || building === true;
  const isUnseen = dataVolumeId === undefined && live?.volumes?.length === 0;
  return snapshots || (isYoung && isUnseen) || resizing !== undefined;
}

const isVerifying = ({ live }: VmDifference, { resizing }: Unidentified<RecordedVm>): boolean =>
  live?.phase === "verify_resize" || (live?.phase === "changing" && resizing !== undefined);

/**
 * A volume that outlives its VM is flushed before the delete: the VM is stopped, or where nobody can stop it, a person
 * says that the volume is flushed. Nothing is flushed where no volume was ever in use, or where no volume on the VM
 * lives on.
 */
function flushOnDelete(
  difference: VmDifference,
  recorded: Unidentified<RecordedVm>,
  draft: Draft,
  undoesResize: boolean,
): "stop" | "ask" | undefined {
  const phase = difference.live?.phase;
  const isNew =
    recorded.building === true ||
    difference.made !== undefined ||
    (difference.adopts === true && difference.desired === undefined);
  if (isNew && (phase === "changing" || phase === "failed")) return undefined;
  const { hanging, leaves } = difference.departure ?? { leaves: [] };
  const livesOn = (disk: string): boolean => {
    const address = draft.context.addressOf(identity("volume", disk));
    const change = address === undefined ? undefined : draft.changeAt.get(address);
    if (address === undefined) return leaves.some((one) => one.id === disk);
    return change?.action !== "delete" && !(change?.action === "replace" && draft.context.can.deletesVolumes);
  };
  if (hanging !== undefined && !hanging.some(livesOn)) return undefined;
  const isUndone = undoesResize || draft.context.can.revertsResize;
  const cannotStop = phase === "failed" || (isVerifying(difference, recorded) && !isUndone);
  return cannotStop ? "ask" : "stop";
}
