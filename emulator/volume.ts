/** The volume operations and the eight rules the contract gives for them; it numbers them, and so do the comments. */
import {
  acknowledge,
  answer,
  pathPart,
  projectOfCaller,
  type Reply,
  type Request,
  refusals,
  refuseWith,
} from "./decision";
import type { Vm, Volume, WorldChange } from "./entities";
import { isBodyObject, isEntityId, readFields, readRequiredSizeGb } from "./fields";
import { pageOfKind } from "./paging";
import { attachableStates, detachableStates } from "./vm-states";
import { vmInWorld } from "./world";

export function createVolume(request: Request): Reply {
  const fields = readFields(request.body);
  const name = fields.requiredText("name");
  const size = readRequiredSizeGb(fields);
  // The contract gives no rule for a volume's name; a bound keeps lists readable.
  if (name.length > 255) fields.problems.push("name must be at most 255 characters");
  if (fields.problems.length > 0) return refusals.badRequest(fields.problems);
  const volume: Volume = {
    id: request.newId(),
    seq: request.world.nextSeq,
    project_id: projectOfCaller(request), // rule 1
    name,
    size,
    status: "available",
    attached_to: null,
    root: false,
    created_at: new Date(request.now).toISOString(),
  };
  return answer(201, volumeRecord(volume), [{ put: "volume", value: volume }]);
}

export const getVolume = (request: Request): Reply =>
  onOwnVolume(request, pathPart(request), (volume) => answer(200, volumeRecord(volume)));

export const listVolumes = (request: Request): Reply => pageOfKind(request, "volume", volumeRecord);

export function attachVolume(request: Request): Reply {
  return onBoth(request, (vm, volume) => {
    if (volume.attached_to !== null)
      return refuseWith(400, `Volume is already attached to VM ${volume.attached_to}; detach it first`);
    if (!attachableStates.includes(vm.status)) return refuseWith(400, `a VM in state ${vm.status} takes no volume`);
    return answer(200, "Volume attached", putVolume({ ...volume, attached_to: vm.id, status: "in-use" }));
  });
}

export function detachVolume(request: Request): Reply {
  const flushed = readFields(request.body);
  // Any value but `true`, null included, confirms no flush (rule 3).
  const isNull = isBodyObject(request.body) && request.body["flush_confirmed"] === null;
  const flushConfirmed = isNull ? undefined : flushed.flag("flush_confirmed");
  if (flushed.problems.length > 0) return refusals.badRequest(flushed.problems);
  return onBoth(request, (vm, volume) => {
    if (volume.attached_to !== vm.id) return refuseWith(400, "Volume is not attached to this VM");
    if (volume.root) return refuseWith(400, "Root disk cannot be detached");
    // Rule 3.
    if (flushConfirmed !== true)
      return refuseWith(
        400,
        "flush not confirmed: unmount or sync the volume inside the guest, then set flush_confirmed",
      );
    if (!detachableStates.includes(vm.status)) return refuseWith(400, `a VM in state ${vm.status} gives up no volume`);
    return answer(200, "Volume detached", putVolume({ ...volume, attached_to: null, status: "available" }));
  });
}

export function resizeVolume(request: Request): Reply {
  const fields = readFields(request.body);
  const size = readRequiredSizeGb(fields);
  return onOwnVolume(request, pathPart(request), (volume) => {
    if (fields.problems.length > 0) return refusals.badRequest(fields.problems);
    if (volume.root) return refuseWith(400, "Root disk cannot be resized; only data volumes can"); // rule 5
    if (volume.attached_to !== null) return refuseWith(409, "Volume is attached and cannot be extended"); // rule 6
    // Rule 4: extends only.
    if (size <= volume.size) return refuseWith(400, `size must be greater than the current size of ${volume.size} GB`);
    return answer(200, "Volume resized; extend the filesystem inside the guest", putVolume({ ...volume, size }));
  });
}

export const deleteVolume = (request: Request): Reply =>
  onOwnVolume(request, pathPart(request), (volume) => {
    if (volume.root) return refuseWith(400, "Root disk cannot be deleted; it goes with its VM");
    if (volume.attached_to !== null) return refuseWith(409, "Volume is attached and cannot be deleted");
    return acknowledge("Volume deleted", [{ drop: "volume", id: volume.id }]);
  });

export function volumeRecord(volume: Volume) {
  const { id, name, size, status, attached_to, root, created_at } = volume;
  return { id, name, size, status, attached_to, root, created_at };
}

const putVolume = (value: Volume): readonly WorldChange[] => [{ put: "volume", value }];

/** Rules 2 and 7: a volume outside the project is not found. */
function onOwnVolume(request: Request, id: string, then: (volume: Volume) => Reply): Reply {
  const volume = request.world.tables.volume.get(id);
  if (volume !== undefined && volume.project_id === request.caller.projectId) return then(volume);
  return volume === undefined && !isEntityId(id) ? refusals.invalidId("volume") : refusals.volumeNotFound();
}

function onBoth(request: Request, then: (vm: Vm, volume: Volume) => Reply): Reply {
  const fields = readFields(request.body);
  const vmId = fields.requiredText("vm_id");
  const volumeId = fields.requiredText("volume_id");
  if (fields.problems.length > 0) return refusals.badRequest(fields.problems);
  return onOwnVolume(request, volumeId, (volume) => {
    const vm = vmInWorld(request.world, projectOfCaller(request), vmId, request.now);
    return vm === undefined ? refusals.vmNotFound() : then(vm, volume);
  });
}
