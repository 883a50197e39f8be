/** What becomes of a VM in VERIFY_RESIZE: checked, confirmed, reverted, or left to a person. */

import { textKey } from "../../core/model/computed";
import type { DesiredVm, Reference } from "../../core/model/desired";
import { findSeen } from "../../core/model/live";
import { type Draft, planStep, vmHold, vmLabel } from "../../core/plan/draft";
import { type Need, need, type OwnStep, type StepId, type StepOperation } from "../../core/plan/step";
import { onlyDefined } from "../../core/text/objects";
import type { VmDifference } from "./diff";

/** Adds a step after the steps that the VM has already. */
export type Then = <O extends StepOperation>(name: string, step: OwnStep<O>) => StepId;

/**
 * A VM in VERIFY_RESIZE refuses a stop and a rebuild. Where neither the file nor an earlier run has to do with its resize,
 * whoever began it decides it. Empty: it does not wait, or this plan decides it.
 */
export function onceDecided(vm: { readonly id: string }, draft: Draft, after: readonly Need[] = []): Need[] {
  const live = findSeen(draft.context.live, "vm", vm.id);
  if (live?.phase !== "verify_resize") return [];
  const isDecided = draft.steps.some(
    ({ action }) =>
      (action.operation === "vm.resize.confirm" || action.operation === "vm.resize.revert") &&
      "id" in action.vm &&
      action.vm.id === vm.id,
  );
  if (isDecided) return [];
  const address = vmLabel(draft, vm);
  const decided = planStep(draft, address, "decided", {
    action: { operation: "vm.resize.confirm", vm, manual: true },
    title: `wait for the resize of VM ${live.name} to be decided`,
    needs: after,
    holds: [vmHold(draft, vm)],
  });
  return [need(decided, "end")];
}

/** A VM of which a resize is decided. What the service cannot do of that is done outside, and the run waits for it. */
export interface Resizing {
  readonly vm: Reference;
  readonly label: string;
  readonly draft: Draft;
  readonly then: Then;
}

const waitsFor = (resize: string, decided: "confirmed" | "reverted"): string =>
  `wait for ${resize} to be ${decided} (this service has no call for it)`;

/** The file no longer wants the flavor that waits in VERIFY_RESIZE. */
export function revertPending({ address, recorded }: VmDifference, { vm, label, then, draft }: Resizing): StepId {
  const unwanted = `the resize of VM ${label} that is not wanted any more`;
  return then("revert-pending", {
    action: { operation: "vm.resize.revert", vm, looksFirst: true },
    title: draft.context.can.revertsResize ? `revert ${unwanted}` : waitsFor(unwanted, "reverted"),
    record: { resizing: undefined, ...onlyDefined({ flavor: recorded?.resizing?.from }) },
    downtimeOf: address,
  });
}

/**
 * VERIFY_RESIZE is decided by the check: confirm after it passed, revert (a failed step) after it did not. Returns what
 * the next step of the VM waits for: a VM that is still in VERIFY_RESIZE would refuse it.
 */
export function decideResize(desired: DesiredVm, { vm, label, then, draft }: Resizing, resized?: StepId): Need[] {
  const { can } = draft.context;
  const { verifyResize } = desired.lifecycle;
  const settled = { resizing: undefined, flavor: desired.flavor };
  const after = resized === undefined ? [] : [need(resized)];
  const resize = `the resize of VM ${label}`;
  if (verifyResize.confirm === "manual")
    return [
      need(
        then("confirm", {
          action: { operation: "vm.resize.confirm", vm, manual: true },
          title: `wait for ${resize} to be confirmed`,
          needs: after,
          record: settled,
        }),
        "end",
      ),
    ];
  const check = verifyResize.check;
  let checked: StepId | undefined;
  let reverted: StepId | undefined;
  if (check !== undefined) {
    checked = then("check", {
      action: { operation: "vm.check", vm, check, timeoutMs: verifyResize.timeoutMs },
      title: `check VM ${label} (${check.kind === "tcp" ? `tcp ${check.port}` : textKey(check.kind === "http" ? check.url : (check.argv[0] ?? ""))})`,
      needs: after,
    });
    if (verifyResize.onFailure === "revert")
      reverted = then("revert", {
        action: { operation: "vm.resize.revert", vm },
        title: `if the check fails: ${can.revertsResize ? `revert ${resize}` : waitsFor(resize, "reverted")}`,
        needs: [need(checked, "failed")],
        record: { resizing: undefined },
      });
  }
  const confirmed = then("confirm", {
    action: { operation: "vm.resize.confirm", vm, manual: !can.confirmsResize },
    title: can.confirmsResize ? `confirm ${resize}` : waitsFor(resize, "confirmed"),
    needs: checked === undefined ? after : [need(checked)],
    record: settled,
  });
  if (checked === undefined) return [need(confirmed, "end")];
  return reverted === undefined ? [need(confirmed)] : [need(confirmed, "end"), need(reverted, "end")];
}
