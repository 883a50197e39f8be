/** Which live VM an address means: found by its record, an open create, an import or its name, or none. */

import { type DiffContext, type KindSeen, seenOf } from "../../core/diff/context";
import { type FoundLive, findKnown, findMade, foundError, orphanAt, strangersNamed } from "../../core/diff/find";
import { importGone, importManaged, nameTaken, severalNamed } from "../../core/diff/findings";
import type { PairOf } from "../../core/diff/pair";
import { identity } from "../../core/model/identity";
import type { LiveVm } from "../../core/model/live";
import type { Intent, RecordedVm } from "../../core/model/recorded";
import { importUnseen } from "./findings";

export type VmPair = PairOf<"vm">;

/** `id-unknown`: the VM was created, and the service gives no way to look its id up. */
export type FoundVm = FoundLive<LiveVm> | { readonly how: "id-unknown" };

export function findVm(pair: VmPair, context: DiffContext): FoundVm {
  const { recorded, desired } = pair;
  const seen = seenOf(context, "vm");
  const known = recorded?.id ?? pair.import?.id;
  const interrupted = openCreate(pair);
  if (interrupted !== undefined && (known === undefined || recorded?.id !== undefined)) {
    const made = findMade(pair, interrupted, recorded?.id, seen, context);
    if (made !== undefined) return made;
  }
  if (known !== undefined) return findKnownVm(pair, known, seen, context);
  if (recorded !== undefined) return findAccepted(pair, recorded, seen, context);
  const name = pair.import?.name ?? desired?.name;
  if (name === undefined) return { how: "absent" };
  if (seen.listed) return findByName(pair, name, seen, context);
  // An import by name is not "absent": the VM that it means would get a twin.
  return pair.import?.name === undefined
    ? { how: "absent" }
    : foundError(importUnseen(pair, pair.import.name, context.can.seesVms === "list"));
}

/**
 * Of a record without an id: the service accepted the create in its own words, and had no list of VMs. Nobody knows which
 * VMs bore the name before, so the name alone proves nothing.
 */
function findAccepted(pair: VmPair, recorded: RecordedVm, seen: KindSeen<LiveVm>, context: DiffContext): FoundVm {
  if (!seen.listed) return { how: "id-unknown" };
  const intent = acceptedUnlisted(recorded);
  const asSent = { ...intent, accepted: undefined };
  return findMade(pair, intent, undefined, seen, context, asSent) ?? { how: "absent" };
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

/**
 * For an address without a record and without an open create. A VM of the name is taken over only where the user says
 * so.
 */
function findByName(pair: VmPair, name: string, seen: KindSeen<LiveVm>, context: DiffContext): FoundVm {
  const candidates = strangersNamed(name, pair, seen, context);
  const [only] = candidates;
  if (candidates.length > 1) return foundError(severalNamed(pair, name, candidates));
  if (only === undefined) {
    if (pair.import?.name === undefined) return { how: "absent" };
    const managed = seen.byName.get(name.toLowerCase())?.[0];
    const manager = managed === undefined ? undefined : context.addressOf(identity("vm", managed.id));
    return foundError(
      managed === undefined || manager === undefined
        ? importGone(pair, pair.import.name)
        : importManaged(pair, managed.id, manager),
    );
  }
  if (pair.import?.name !== undefined) return { how: "known", id: only.id, live: only, adopted: "imported" };
  if (context.options.adopt === true) return { how: "known", id: only.id, live: only, adopted: "adopted" };
  return foundError(nameTaken(pair, only, [], orphanAt(pair, only, context)));
}

/** By the id of the record or of the import. A VM that bears the name when that one is gone is somebody else's. */
function findKnownVm(pair: VmPair, id: string, seen: KindSeen<LiveVm>, context: DiffContext): FoundVm {
  const isToBeSeen = pair.recorded?.id === undefined && pair.import?.again !== true;
  if (pair.desired !== undefined && !isToBeSeen && seen.sight(id).seen === "gone") {
    const { name } = pair.desired;
    const inItsPlace = strangersNamed(name, pair, seen, context);
    if (inItsPlace.length > 1) return foundError(severalNamed(pair, name, inItsPlace));
  }
  return findKnown(pair, id, seen, context);
}

export const openCreate = ({ intent }: VmPair): Intent | undefined =>
  intent?.operation === "vm.create" ? intent : undefined;
