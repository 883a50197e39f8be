/** Steps with which both the change and the delete of a VM may begin. */

import type { Reference, SnapshotReason } from "../../core/model/desired";
import { type Draft, planStep } from "../../core/plan/draft";
import type { Need, StepId } from "../../core/plan/step";
import type { VmDifference } from "./diff";

export type To<A extends VmDifference["action"]> = Extract<VmDifference, { readonly action: A }>;

/** A VM that is being built, or in transition, refuses other requests. */
export const waitUntilSettled = (
  { address, live }: VmDifference,
  vm: Reference,
  draft: Draft,
  needs: readonly Need[],
): StepId =>
  planStep(draft, address, "settle", {
    action: { operation: "vm.settle", vm },
    title: `wait for VM ${live?.name ?? address} (${live?.status ?? "in transition"})`,
    needs,
    record: { building: undefined },
  });

export function planVmSnapshot(
  difference: To<"update" | "import" | "replace" | "delete">,
  reason: SnapshotReason,
  vm: Reference,
  draft: Draft,
  after: readonly Need[],
): StepId {
  const { address } = difference;
  const label = difference.live?.name ?? difference.change.name;
  const name = `${label.slice(0, 40)}-pre-${reason}`;
  return planStep(draft, address, `snapshot-${reason}`, {
    action: { operation: "vm.snapshot", vm, name, unproven: draft.context.can.listsImages ? undefined : true },
    title: `snapshot VM ${label} as ${name}`,
    needs: after,
  });
}
