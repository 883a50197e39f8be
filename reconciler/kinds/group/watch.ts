/** Waiting until a group that was deleted is gone: a delete that was accepted may fail later on. */
import type { LiveGroup } from "../../core/model/live";
import { type Failure, isGone, type Outcome } from "../../core/model/outcome";
import { isWindowOver, lookedAgain, openWindow } from "../../core/schedule/window";
import type { Ports } from "../../engine/ports";
import { deletedUnseen, doneAndSeen, doneUnseen, type StepResult } from "../../engine/run";

export interface GroupWatch extends Pick<Ports, "client" | "clock" | "timing"> {
  readonly signal: AbortSignal;
  listGroups(): Promise<Outcome<readonly LiveGroup[]>>;
}

/**
 * Whether the service still has the group. Without a list and a read of one group its rules tell: an empty list of rules
 * may be said of a group that is gone as well as of one that is there.
 */
async function lookForGroup(
  id: string,
  { client, signal, listGroups }: GroupWatch,
): Promise<"there" | "gone" | { readonly blind: string } | { readonly failure: Failure }> {
  if (client.can.seesGroups === "list") {
    const listed = await listGroups();
    if (listed.status !== "accepted") return { failure: listed };
    return listed.value.some((group) => group.id === id) ? "there" : "gone";
  }
  const read = await (client.can.readsOneGroup ? client.getGroup(id, { signal }) : client.listRules(id, { signal }));
  if (isGone(read)) return "gone";
  if (read.status !== "accepted") return { failure: read };
  return Array.isArray(read.value) && read.value.length === 0
    ? { blind: "this service has no list of security groups (operations.group.list), and shows no rules of it" }
    : "there";
}

export async function waitUntilGroupGone(id: string, name: string, watch: GroupWatch): Promise<StepResult> {
  const { clock, timing, signal } = watch;
  let window = openWindow(timing.discoveryWindowMs, clock.now());
  for (;;) {
    window = lookedAgain(window, clock.now());
    const looked = await lookForGroup(id, watch);
    if (looked === "gone") return doneAndSeen;
    if (typeof looked === "object" && "blind" in looked)
      return doneUnseen({ ...{ kind: "group", id, field: "absence", value: id }, said: "that it is gone", ...looked });
    const isOver = isWindowOver(window);
    if (looked !== "there" && (isOver || looked.failure.status === "rejected"))
      return deletedUnseen(`group ${name}`, looked.failure);
    if (isOver)
      return {
        end: "failed",
        code: "apply/timeout",
        message: `the service accepted the delete of group ${name}, and still shows it after ${Math.round(timing.discoveryWindowMs / 1000)} s`,
        fix: "run the same command again: it deletes the group once more",
      };
    await clock.sleep(timing.pollIntervalMs, signal);
    if (signal.aborted) return { end: "unknown", code: "apply/interrupted", message: "stopped while waiting for it" };
  }
}
