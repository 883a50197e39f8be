/** How the record of a VM reads once a person has said how a request of unknown outcome ended; `undefined`: none was open. */
import type { RecordedVm } from "../../core/model/recorded";
import type { FieldsOf } from "../../core/plan/record-patch";

export function resizeEnded(
  { resizing, flavor }: Partial<RecordedVm>,
  answer: "confirmed" | "reverted",
): FieldsOf<"vm"> | undefined {
  if (resizing === undefined) return undefined;
  const { from, to } = resizing;
  return { resizing: undefined, flavor: answer === "confirmed" ? to : (from ?? flavor) };
}

/** Of the attach or the detach of its data volume. */
export const dataVolumeMoved = (
  { dataVolumeMoving }: Partial<RecordedVm>,
  isOn: boolean,
): FieldsOf<"vm"> | undefined =>
  dataVolumeMoving === undefined
    ? undefined
    : { dataVolumeMoving: undefined, dataVolumeDetached: isOn ? undefined : true };
