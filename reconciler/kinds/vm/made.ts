/** The record of a VM that a create has made. */
import type { RecordedVm, RecordToMake } from "../../core/model/recorded";
import type { SeenMade } from "../../core/plan/records";

/** It may still be building: the next run waits for it, where it can be seen. */
export function vmMade(
  { building: _, ...record }: RecordToMake<"vm">,
  id: string,
  { can, sentAt }: SeenMade,
): RecordedVm {
  const made: RecordedVm = sentAt === undefined ? { ...record, id } : { ...record, id, createdAt: sentAt };
  return can.sees("vm") ? { ...made, building: true } : made;
}
