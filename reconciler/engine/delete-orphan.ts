/** Deletes an orphan that a person names by its id: looks at it before, and waits for it after. */
import { isOtherName } from "../core/canonical/names";
import type { Abilities } from "../core/model/abilities";
import { shownNameOf } from "../core/model/disks";
import { definitionOf, isKind } from "../core/model/kinds";
import { isGone } from "../core/model/outcome";
import type { Orphan } from "../core/model/recorded";
import { readDoubted, waitUntilGroupGone } from "../kinds/group/watch";
import { onceVolumeSteady, type Watch, waitForVolume } from "../kinds/volume/watch";
import { confirmGone } from "./confirm-gone";
import { couldNotLook, failedBy, type StepResult } from "./run";

/**
 * `learnt`: what the orphan's entry in the state has wrong. `isSent`: the service has accepted the delete, so that what
 * is gone later was meant to go, however the wait for it ended.
 */
export type OrphanResult =
  | (StepResult & { readonly learnt?: Partial<Pick<Orphan, "name" | "sizeGb">>; readonly isSent?: true })
  | "not-found";

const volumeChanged = (how: string, fix: string): StepResult => ({
  end: "failed",
  code: "apply/volume-changed",
  message: `nothing was sent: ${how}`,
  fix,
});

/**
 * `not-found`: the service has no such id, which alone does not say that it is gone. `isShown`: a look has shown it, so
 * that it is gone where none shows it after a delete whose answers were lost.
 */
export async function deleteOrphan(orphan: Orphan, watch: Watch, isShown: boolean): Promise<OrphanResult> {
  const remove = deletes[orphan.kind];
  return remove === undefined
    ? { end: "failed", message: `${orphan.kind} ${orphan.id} cannot be deleted as an orphan` }
    : remove(orphan, watch, isShown);
}

/** Whether an orphan of this kind can be deleted here, and not in the service's console alone. */
export const canDeleteOrphan = ({ kind }: Orphan, can: Abilities): boolean =>
  isKind(kind) && definitionOf(kind).orphansDeletable === true && can.deletes(kind);

const deletes: Readonly<Record<Orphan["kind"], typeof deleteOrphan | undefined>> = {
  vm: undefined,
  volume: deleteOrphanVolume,
  group: deleteOrphanGroup,
  image: undefined,
};

async function deleteOrphanGroup({ id, name }: Orphan, watch: Watch, isShown: boolean): Promise<OrphanResult> {
  const { client, signal } = watch;
  const deleted = await client.deleteGroup(id, { signal });
  if (isGone(deleted)) return "not-found";
  const looking = { ...watch, listGroups: () => client.listGroups({ signal }) };
  const outcome = isShown ? await confirmGone(deleted, () => readDoubted(id, looking)) : deleted;
  if (outcome.status !== "accepted") return failedBy(outcome);
  return { ...(await waitUntilGroupGone(id, name, looking)), isSent: true };
}

async function deleteOrphanVolume(orphan: Orphan, watch: Watch, isShown: boolean): Promise<OrphanResult> {
  const { id, sizeGb } = orphan;
  const { client, signal } = watch;
  const look = await client.getVolume(id, { signal });
  if (look.status === "accepted") {
    const { attachedTo, name, sizeGb: now } = look.value;
    const nameThen = shownNameOf(orphan);
    // An earlier command has sent it: while it is on its way, it is waited for, and not sent again.
    if (orphan.deleting === true && look.value.changing === true)
      return { ...(await waitForVolume(watch, id, { for: "gone" })), isSent: true };
    if (typeof attachedTo === "string")
      return volumeChanged(`it hangs on VM ${attachedTo}`, "take it off that VM first, or declare and import it");
    if (isOtherName(name, nameThen))
      return {
        ...volumeChanged(
          `it is called ${name}, and was called ${nameThen} when it was left: it may be another volume that has the id by now`,
          "its name is recorded; run the same command again to delete it all the same",
        ),
        learnt: { name },
      };
    if (now !== undefined && sizeGb !== undefined && now !== sizeGb)
      return {
        ...volumeChanged(
          `it has ${now} GB, and had ${sizeGb} when it was left`,
          "its new size is recorded; run the same command again to delete it all the same",
        ),
        learnt: { sizeGb: now },
      };
  } else if (!isGone(look)) return couldNotLook("it", look);
  const deleted = await onceVolumeSteady(watch, id, () => client.deleteVolume(id, { signal }));
  if (isGone(deleted)) return "not-found";
  const outcome = isShown ? await confirmGone(deleted, () => client.getVolume(id)) : deleted;
  if (outcome.status !== "accepted") return failedBy(outcome);
  return { ...(await waitForVolume(watch, id, { for: "gone" })), isSent: true };
}
