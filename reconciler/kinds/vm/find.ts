/** Which live VM an address means: found by its record, an open create, an import or its name, or none. */

import { type DiffContext, isUnclaimed } from "../../core/diff/context";
import { cutByService, judgeMade } from "../../core/diff/evidence";
import { type FoundLive, orphanAt, otherThanMade, unclearCreate, unseenCreate, vanishedAs } from "../../core/diff/find";
import { importManaged, nameTaken, severalNamed, unsettledIntent } from "../../core/diff/findings";
import type { PairOf } from "../../core/diff/pair";
import { valueSeen } from "../../core/model/evidence";
import { identity } from "../../core/model/identity";
import { type LiveVm, type Sighting, sight } from "../../core/model/live";
import type { Intent, RecordedVm } from "../../core/model/recorded";
import { importUnseen, vmImportGone } from "./findings";

export type VmPair = PairOf<"vm">;

/** `id-unknown`: the VM was created, and the service gives no way to look its id up. */
export type FoundVm = FoundLive<LiveVm> | { readonly how: "id-unknown" };

export function findVm(pair: VmPair, context: DiffContext): FoundVm {
  const { recorded, desired } = pair;
  const interrupted = openCreate(pair);
  if (recorded?.id !== undefined && interrupted === undefined) return findKnownVm(pair, recorded.id, context);
  if (recorded?.id === undefined && pair.import?.id !== undefined) return findImported(pair, pair.import.id, context);
  const name = interrupted?.name ?? recorded?.name ?? pair.import?.name ?? desired?.name;
  if (name === undefined) return { how: "absent" };
  if (!context.live.of.vm.listed) return findUnlisted(pair, interrupted, context);
  const before = new Set([...(interrupted?.idsBefore ?? []), recorded?.id]);
  const candidates = otherVmsNamed(name, pair, context).filter((vm) => !before.has(vm.id));
  if (interrupted !== undefined) return findInterrupted(pair, interrupted, candidates, context);
  // The create was accepted while the service had no list of VMs: which VMs bore the name before is not known.
  if (recorded !== undefined) return findInterrupted(pair, acceptedUnlisted(recorded), candidates, context);
  return findByName(pair, name, candidates, context);
}

/** Without a list of VMs. */
function findUnlisted(pair: VmPair, interrupted: Intent | undefined, context: DiffContext): FoundVm {
  if (interrupted !== undefined) return { how: "error", diagnostic: unseenCreate(pair, interrupted, "VM", context) };
  // A record without an id: the service accepted the create in its own words.
  if (pair.recorded !== undefined) return { how: "id-unknown" };
  // An import by name is not "absent": the VM that it means would get a twin.
  return pair.import?.name === undefined
    ? { how: "absent" }
    : { how: "error", diagnostic: importUnseen(pair, pair.import.name, context.can.seesVms === "list") };
}

function findImported(pair: VmPair, id: string, context: DiffContext): FoundVm {
  const manager = context.addressOf(identity("vm", id));
  if (manager !== undefined && manager !== pair.address)
    return { how: "error", diagnostic: importManaged(pair, "VM", id, manager) };
  const sighting = sight(context.live, "vm", id);
  if (sighting.seen === "gone")
    return pair.import?.again === true
      ? findKnownVm(pair, id, context)
      : { how: "error", diagnostic: vmImportGone(pair, id) };
  return { how: "known", id, adopted: "imported", live: valueSeen(sighting) };
}

/**
 * For an address without a record and without an open create. A VM of the name is taken over only where the user says
 * so.
 */
function findByName(pair: VmPair, name: string, candidates: readonly LiveVm[], context: DiffContext): FoundVm {
  if (candidates.length > 1) return { how: "error", diagnostic: severalNamed(pair, "VM", name, candidates) };
  const only = candidates[0];
  if (only === undefined) {
    if (pair.import?.name === undefined) return { how: "absent" };
    const managed = context.byName.vm.get(name.toLowerCase())?.[0];
    const manager = managed === undefined ? undefined : context.addressOf(identity("vm", managed.id));
    return {
      how: "error",
      diagnostic:
        managed === undefined || manager === undefined
          ? vmImportGone(pair, pair.import.name)
          : importManaged(pair, "VM", managed.id, manager),
    };
  }
  if (pair.import?.name !== undefined) return { how: "known", id: only.id, live: only, adopted: "imported" };
  if (context.options.adopt === true) return { how: "known", id: only.id, live: only, adopted: "adopted" };
  return { how: "error", diagnostic: nameTaken(pair, "VM", only, [], orphanAt(pair, only, context)) };
}

const acceptedUnlisted = ({ address, name, createdAt, ...record }: RecordedVm): Intent => ({
  step: `${address}/create`,
  address,
  operation: "vm.create",
  name,
  sentAt: createdAt ?? "a time that was not written down",
  idsBefore: [],
  record: { ...record, address, name },
  accepted: true,
});

/** What an open create made: a VM that bears its name, was not there before, and is what was sent. */
function findInterrupted(pair: VmPair, intent: Intent, candidates: readonly LiveVm[], context: DiffContext): FoundVm {
  // Beside a record without an id nobody knows which VMs bore the name before the create, so the name alone proves
  // nothing.
  const isNameEnough = pair.intent !== undefined && intent.accepted === true;
  const judged = judgeMade({ ...intent, accepted: isNameEnough || undefined }, candidates, context, pair.desired);
  const unclear = unclearCreate(pair, intent, "VM", judged);
  if (unclear !== undefined) return { how: "error", diagnostic: unclear };
  const only = judged.ours[0];
  if (only !== undefined) return { how: "known", id: only.id, live: only, adopted: "interrupted" };
  const cut =
    pair.intent === undefined
      ? undefined
      : cutByService(intent, (name) => otherVmsNamed(name, pair, context), context, pair.desired);
  if (cut !== undefined) return { how: "error", diagnostic: unsettledIntent(pair, intent, "VM", cut) };
  const inItsPlace = otherThanMade(pair, intent, "VM", judged.strangers, context);
  if (inItsPlace !== undefined) return { how: "error", diagnostic: inItsPlace };
  const former = pair.recorded?.id;
  return former === undefined ? { how: "absent" } : findKnownVm(pair, former, context);
}

/** By the id of the record, or of a former one. A VM that bears the name when that one is gone is somebody else's. */
function findKnownVm(pair: VmPair, id: string, context: DiffContext): FoundVm {
  const found = fromSighting(id, sight(context.live, "vm", id));
  if (found.how !== "absent" || pair.desired === undefined) return found;
  const { name } = pair.desired;
  const inItsPlace = otherVmsNamed(name, pair, context);
  if (inItsPlace.length > 1) return { how: "error", diagnostic: severalNamed(pair, "VM", name, inItsPlace) };
  return inItsPlace[0] === undefined
    ? found
    : { how: "error", diagnostic: nameTaken(pair, "VM", inItsPlace[0], [], orphanAt(pair, inItsPlace[0], context)) };
}

export const openCreate = ({ intent }: VmPair): Intent | undefined =>
  intent?.operation === "vm.create" ? intent : undefined;

const otherVmsNamed = (name: string, pair: VmPair, context: DiffContext): readonly LiveVm[] =>
  (context.byName.vm.get(name.toLowerCase()) ?? []).filter((vm) => isUnclaimed(pair.address, vm.id, context));

const fromSighting = (id: string, sighting: Sighting<LiveVm>): FoundVm =>
  sighting.seen === "gone"
    ? { how: "absent", gone: vanishedAs(id, sighting) }
    : { how: "known", id, live: valueSeen(sighting) };
