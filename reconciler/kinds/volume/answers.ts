/** How the record of a volume reads once a person has said how its attach or detach ended; `undefined`: none was open. */
import type { RecordedVolume } from "../../core/model/recorded";
import type { FieldsOf } from "../../core/plan/record-patch";

export function volumeMoved(
  { attaching, detaching, attachedTo }: Partial<RecordedVolume>,
  isOn: boolean,
): FieldsOf<"volume"> | undefined {
  const vm = attaching ?? detaching;
  if (vm === undefined) return undefined;
  const otherwise = attachedTo === vm ? undefined : attachedTo;
  return { attaching: undefined, detaching: undefined, attachedTo: isOn ? vm : otherwise };
}
