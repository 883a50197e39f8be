/**
 * The VM operations: what the contract says of each, on a world that they only read. vm-states.ts says which states
 * allow what, and how long it takes.
 */
import { mayRenameVm } from "./access";
import {
  acknowledge,
  answer,
  pathPart,
  projectOfCaller,
  type Reply,
  type Request,
  refusals,
  refuseWith,
  there,
} from "./decision";
import type { Entities, Image, Pending, Vm, Volume, WorldChange } from "./entities";
import { type FieldReader, isEntityId, readEntityName, readFields, readRequiredSizeGb, readSizeGb } from "./fields";
import { pageOfKind } from "./paging";
import { allowedFrom, seconds, type VmVerb } from "./vm-states";
import { firstUnder, idsUnder, settleVmEntity, vmInWorld, type World } from "./world";

const defaultRootSizeGb = 50;

export function createVm(request: Request): Reply {
  const { world, settings, body, newId, now } = request;
  const projectId = projectOfCaller(request);
  const fields = readFields(body);
  const flavor = readListed(request, fields, "flavor", "flavor_id");
  const userId = fields.requiredText("id");
  const imageId = readImageId(request, fields);
  const name = readEntityName(fields);
  const owner = readOwner(request, fields);
  const project = readProject(request, fields);
  const region = readListed(request, fields, "region", "region");
  const rootSize = readSizeGb(fields, "root_size") ?? defaultRootSizeGb;
  const size = readRequiredSizeGb(fields);
  const skipFloatingIp = fields.flag("skip_floating_ip") ?? false;
  if (fields.problems.length > 0 || flavor === undefined || region === undefined)
    return refusals.badRequest(fields.problems);
  if (firstUnder(world, `vm/name/${projectId}/${name}`) !== undefined)
    return refuseWith(409, `A VM named ${name} already exists in the project.`);

  const seq = world.nextSeq;
  const id = newId();
  const created_at = new Date(now).toISOString();
  const floatingIp = skipFloatingIp ? null : addressFor(198 * 256 + 18, seq);
  const vm: Vm = {
    id,
    seq,
    project_id: projectId,
    project,
    name,
    status: "BUILD",
    pending: {
      until: now + seconds.build * settings.secondMs,
      becomes: flavor.provisionable
        ? { status: "ACTIVE", private_ip: addressFor(10 * 256, seq), floating_ip: floatingIp }
        : { status: "ERROR" },
    },
    flavor_id: flavor.id,
    image_id: imageId,
    owner,
    user_id: userId,
    region: region.name,
    root_size: rootSize,
    floating_ip: null,
    private_ip: null,
    resize_from: null,
    root_wipes: 0,
    groups: [],
    created_at,
  };
  const disk = { project_id: projectId, status: "in-use", attached_to: id, created_at };
  const root: Volume = { ...disk, id: newId(), seq: seq + 1, name: `${name}-root`, size: rootSize, root: true };
  const data: Volume = { ...disk, id: newId(), seq: seq + 2, name: `${name}-data`, size, root: false };
  const changes: WorldChange[] = [
    { put: "vm", value: vm },
    { put: "volume", value: root },
    { put: "volume", value: data },
  ];
  if (floatingIp !== null && flavor.provisionable)
    changes.push({ put: "floating_ip", value: { id: floatingIp, project_id: projectId, vm_id: id } });
  return acknowledge("VM creation request accepted", changes, 202);
}

/** The n-th address below a /16; they come round again after 65,536 VMs. */
const addressFor = (prefix: number, n: number): string => `${prefix >> 8}.${prefix & 255}.${(n >> 8) & 255}.${n & 255}`;

export function renameVm(request: Request): Reply {
  const fields = readFields(request.body);
  const name = readEntityName(fields);
  return onOwnVm(request, (vm) => {
    if (!mayRenameVm(request.caller, vm)) return refusals.forbidden("only its owner or a project owner renames a VM");
    if (fields.problems.length > 0) return refusals.badRequest(fields.problems);
    const holders = idsUnder(request.world, `vm/name/${vm.project_id}/${name}`);
    // The contract names no conflict for a rename, so a name that is taken is a bad request.
    if (holders.size > 0 && !holders.has(vm.id)) return refuseWith(400, `name is already used by another VM: ${name}`);
    return acknowledge("VM renamed", [{ put: "vm", value: { ...vm, name } }]);
  });
}

export function rebuildVm(request: Request): Reply {
  const { world } = request;
  const fields = readFields(request.body);
  const image = fields.requiredText("image");
  const imageId = findImage(request, image);
  if (image !== "" && imageId === undefined) fields.problems.push(`image is not in the image list: ${image}`);
  return inState(request, "rebuild", fields.problems, (vm) => {
    const built = world.tables.flavor.get(vm.flavor_id)?.provisionable ?? true;
    const wiped: Vm = { ...vm, image_id: there(imageId, "image"), root_wipes: vm.root_wipes + 1 };
    const next = onItsWay(request, wiped, "REBUILD", seconds.rebuild, { status: built ? "ACTIVE" : "ERROR" });
    return answer(200, "VM is rebuilding", [{ put: "vm", value: next }]);
  });
}

export function resizeVm(request: Request): Reply {
  const { settings, now } = request;
  const fields = readFields(request.body);
  const flavor = readListed(request, fields, "flavor", "flavor");
  return inState(request, "resize", fields.problems, (vm) => {
    const target = there(flavor, "flavor");
    if (target.id === vm.flavor_id) return refuseWith(400, `flavor is the one the VM has already: ${target.name}`);
    const until = now + seconds.resize * settings.secondMs;
    const verify = { status: "VERIFY_RESIZE", flavor_id: target.id };
    const confirmed = { status: vm.status, resize_from: null };
    const byItself = { pending: { until: until + seconds.confirm * settings.secondMs, becomes: confirmed } };
    // No capacity for the new size: the VM comes back as it was, and only its flavor tells.
    const becomes = !target.provisionable
      ? confirmed
      : settings.autoConfirmResize
        ? { ...verify, ...byItself }
        : verify;
    const begun: Vm = { ...vm, resize_from: { flavor_id: vm.flavor_id, status: vm.status } };
    const next = onItsWay(request, begun, "RESIZE", seconds.resize, becomes);
    return answer(200, "VM is resizing", [{ put: "vm", value: next }]);
  });
}

export const confirmResize = (request: Request): Reply =>
  inState(request, "confirm the resize of", [], (vm) =>
    acknowledge("Resize confirmed", [
      { put: "vm", value: { ...vm, status: vm.resize_from?.status ?? "ACTIVE", resize_from: null, pending: null } },
    ]),
  );

export const revertResize = (request: Request): Reply =>
  inState(request, "revert the resize of", [], (vm) => {
    const becomes = { status: "ACTIVE", ...vm.resize_from, resize_from: null };
    const next = onItsWay(request, vm, "REVERT_RESIZE", seconds.revert, becomes);
    return acknowledge("VM is reverting", [{ put: "vm", value: next }]);
  });

export function snapshotVm(request: Request): Reply {
  const fields = readFields(request.body);
  const name = fields.requiredText("name");
  return inState(request, "snapshot", fields.problems, (vm) => {
    const created_at = new Date(request.now).toISOString();
    const image: Image = { id: request.newId(), name, project_id: vm.project_id, created_at };
    return answer(200, { image_id: image.id }, [{ put: "image", value: image }]);
  });
}

/** The call blocks: the VM has stopped by the time the answer leaves. */
export const stopVm = (request: Request): Reply =>
  inState(request, "stop", [], (vm) => {
    const next = onItsWay(request, vm, "STOPPING", seconds.stop, { status: "SHUTOFF" });
    return { ...acknowledge("VM stopped", [{ put: "vm", value: next }]), holdUntil: next.pending.until };
  });

export const startVm = (request: Request): Reply => startLike(request, "start", "STARTING", "VM is starting");
export const rebootVm = (request: Request): Reply => startLike(request, "reboot", "REBOOT", "VM is rebooting");

const startLike = (request: Request, verb: "start" | "reboot", status: string, text: string): Reply =>
  inState(request, verb, [], (vm) => {
    const next = onItsWay(request, vm, status, seconds[verb], { status: "ACTIVE" });
    return acknowledge(text, [{ put: "vm", value: next }]);
  });

const onItsWay = ({ now, settings }: Request, vm: Vm, status: string, takes: number, becomes: Pending["becomes"]) => ({
  ...vm,
  status,
  pending: { until: now + takes * settings.secondMs, becomes },
});

export function deleteVm(request: Request): Reply {
  const wish = request.query.get("delete_floating_ip");
  if (wish !== null && wish !== "true" && wish !== "false")
    return refuseWith(400, "delete_floating_ip must be true or false");
  return inState(request, "delete", [], (vm) => {
    const { changes, preserved } = removeVm(request.world, vm, wish === "true");
    return answer(200, { data: { message: "VM deleted", preserved_volumes: preserved } }, changes);
  });
}

/**
 * The VM and its root disk go; every data volume stays, detached. The floating IP stays unless the request deletes it
 * too.
 */
export function removeVm(
  world: World,
  vm: Vm,
  deleteFloatingIp: boolean,
): { readonly changes: readonly WorldChange[]; readonly preserved: readonly string[] } {
  const changes: WorldChange[] = [{ drop: "vm", id: vm.id }];
  const preserved: string[] = [];
  for (const volumeId of idsUnder(world, `volume/vm/${vm.id}`)) {
    const volume = there(world.tables.volume.get(volumeId), volumeId);
    if (volume.root) changes.push({ drop: "volume", id: volumeId });
    else {
      preserved.push(volumeId);
      changes.push({ put: "volume", value: { ...volume, attached_to: null, status: "available" } });
    }
  }
  // Its own from the create on, although it shows none before it is built.
  for (const id of idsUnder(world, `floating_ip/vm/${vm.id}`)) {
    const address = there(world.tables.floating_ip.get(id), id);
    changes.push(
      deleteFloatingIp ? { drop: "floating_ip", id } : { put: "floating_ip", value: { ...address, vm_id: null } },
    );
  }
  return { changes, preserved };
}

export const getVm = (request: Request): Reply => onOwnVm(request, (vm) => answer(200, vmRecord(request.world, vm)));

export const listVms = (request: Request): Reply =>
  pageOfKind(request, "vm", (vm) => vmRecord(request.world, settleVmEntity(vm, request.now)));

/** The record as this service shows it; the contract shows none. Disks and addresses appear once the VM is built. */
export function vmRecord(world: World, vm: Vm) {
  const volumes =
    vm.status === "BUILD"
      ? []
      : [...idsUnder(world, `volume/vm/${vm.id}`)].map((id) => ({ id, root: world.tables.volume.get(id)?.root }));
  const { id, name, status, flavor_id, image_id, owner, project, region, root_size, floating_ip, private_ip } = vm;
  return {
    ...{ id, name, status, flavor_id, image_id, owner, project, region, root_size, floating_ip, private_ip },
    volumes,
    created_at: vm.created_at,
  };
}

function onOwnVm(request: Request, then: (vm: Vm) => Reply): Reply {
  const vm = vmInWorld(request.world, projectOfCaller(request), pathPart(request), request.now);
  return vm === undefined ? refusals.vmNotFound() : then(vm);
}

const inState = (request: Request, verb: VmVerb, problems: readonly string[], then: (vm: Vm) => Reply): Reply =>
  onOwnVm(request, (vm) => {
    if (problems.length > 0) return refusals.badRequest(problems);
    if (!allowedFrom[verb].some((status) => status === vm.status)) return refusals.invalidState(verb, vm.status);
    return then(vm);
  });

/** What a list of the service has under the id or the name that a field gives. */
function readListed<K extends "flavor" | "region">(
  { world }: Request,
  fields: FieldReader,
  kind: K,
  field: string,
): Entities[K] | undefined {
  const given = fields.requiredText(field);
  if (given === "") return undefined;
  const found =
    world.tables[kind].get(given) ?? world.tables[kind].get(firstUnder(world, `${kind}/name/${given}`) ?? "");
  if (found === undefined) fields.problems.push(`${field} is not in the ${kind} list: ${given}`);
  return found;
}

/** Create takes an image's id alone. An open world takes any UUID, so that nobody must look one up to try something. */
function readImageId(request: Request, fields: FieldReader): string {
  const given = fields.requiredText("image_id");
  if (given !== "" && !isVisibleImage(request, given)) {
    if (!isEntityId(given)) fields.problems.push("image_id must be the UUID of an image");
    else if (request.settings.strict) fields.problems.push(`image_id is not in the image list: ${given}`);
  }
  return given;
}

/** Rebuild leaves the format of `image` open: an id or a name that is one image's alone. */
function findImage(request: Request, given: string): string | undefined {
  if (isVisibleImage(request, given)) return given;
  const named = [...idsUnder(request.world, `image/name/${given}`)].filter((id) => isVisibleImage(request, id));
  if (named.length === 1) return named[0];
  return !request.settings.strict && isEntityId(given) ? given : undefined;
}

function isVisibleImage(request: Request, id: string): boolean {
  const image = request.world.tables.image.get(id);
  return image !== undefined && (image.project_id === null || image.project_id === request.caller.projectId);
}

/** Username or e-mail; the e-mail is what is stored. */
function readOwner(request: Request, fields: FieldReader): string {
  const given = fields.requiredText("owner");
  if (given === "") return "";
  const known = request.world.tables.user.get(firstUnder(request.world, `user/called/${given.toLowerCase()}`) ?? "");
  if (known !== undefined) return known.email;
  if (request.settings.strict) fields.problems.push(`owner is not a user: ${given}`);
  else if (/^[^\s@]+@[^\s@]+$/.test(given)) return given;
  else if (/^[^\s@]+$/.test(given)) return `${given}@users.example`;
  else fields.problems.push("owner must be a username or an e-mail address");
  return "";
}

function readProject(request: Request, fields: FieldReader): string {
  const given = fields.requiredText("project");
  const own = request.world.tables.project.get(projectOfCaller(request));
  if (given !== "" && request.settings.strict && given !== own?.name && given !== own?.id)
    fields.problems.push(`project is not one you may build in: ${given}`);
  return given;
}
