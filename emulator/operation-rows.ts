/**
 * Every operation that the service can have: its address, and the transition that answers it. The first twenty are the
 * contract's; the assumed ones are those that it mentions or lacks, in the form that the built-in dialect expects, and
 * some of them are off until asked for.
 */
import { listFlavors, listImages, listRegions } from "./catalogue";
import type { Reply, Request } from "./decision";
import * as group from "./group";
import { importGroups } from "./import";
import * as vm from "./vm";
import * as volume from "./volume";

type Availability = "documented" | "assumed" | "optional";

interface EmulatorOperationRow {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly availability: Availability;
  readonly decide: (request: Request) => Reply;
}

export const operationRows = {
  "vm.create": { method: "POST", path: "/api/v1/vm/create", availability: "documented", decide: vm.createVm },
  "vm.rename": { method: "POST", path: "/api/v1/vm/rename/{id}", availability: "documented", decide: vm.renameVm },
  "vm.rebuild": { method: "POST", path: "/api/v1/vm/rebuild/{id}", availability: "documented", decide: vm.rebuildVm },
  "vm.resize": { method: "POST", path: "/api/v1/vm/resize/{id}", availability: "documented", decide: vm.resizeVm },
  "vm.snapshot": {
    method: "POST",
    path: "/api/v1/vm/snapshot/{id}",
    availability: "documented",
    decide: vm.snapshotVm,
  },
  "vm.stop": { method: "POST", path: "/api/v1/vm/stop/{id}", availability: "documented", decide: vm.stopVm },
  "vm.start": { method: "POST", path: "/api/v1/vm/start/{id}", availability: "documented", decide: vm.startVm },
  "vm.reboot": { method: "POST", path: "/api/v1/vm/reboot/{id}", availability: "documented", decide: vm.rebootVm },
  "vm.delete": { method: "DELETE", path: "/api/v1/vm/delete/{id}", availability: "documented", decide: vm.deleteVm },
  "volume.create": {
    method: "POST",
    path: "/api/v1/volume/create",
    availability: "documented",
    decide: volume.createVolume,
  },
  "volume.get": { method: "GET", path: "/api/v1/volume/{id}", availability: "documented", decide: volume.getVolume },
  "volume.attach": {
    method: "POST",
    path: "/api/v1/volume/attach",
    availability: "documented",
    decide: volume.attachVolume,
  },
  "volume.detach": {
    method: "POST",
    path: "/api/v1/volume/detach",
    availability: "documented",
    decide: volume.detachVolume,
  },
  "volume.resize": {
    method: "POST",
    path: "/api/v1/volume/resize/{id}",
    availability: "documented",
    decide: volume.resizeVolume,
  },
  "group.create": {
    method: "POST",
    path: "/api/v1/security-group",
    availability: "documented",
    decide: group.createGroup,
  },
  "group.update": {
    method: "PATCH",
    path: "/api/v1/security-group/{id}",
    availability: "documented",
    decide: group.updateGroup,
  },
  "group.delete": {
    method: "DELETE",
    path: "/api/v1/security-group/{id}",
    availability: "documented",
    decide: group.deleteGroup,
  },
  "group.rule.create": {
    method: "POST",
    path: "/api/v1/security-group/{id}/rule",
    availability: "documented",
    decide: group.createRule,
  },
  "group.rule.list": {
    method: "GET",
    path: "/api/v1/security-group/{id}/rule",
    availability: "documented",
    decide: group.listRules,
  },
  "group.import": {
    method: "POST",
    path: "/api/v1/security-group/import",
    availability: "documented",
    decide: importGroups,
  },
  "vm.list": { method: "GET", path: "/api/v1/vm/list", availability: "assumed", decide: vm.listVms },
  "vm.resize.confirm": {
    method: "POST",
    path: "/api/v1/vm/resize/{id}/confirm",
    availability: "assumed",
    decide: vm.confirmResize,
  },
  "vm.resize.revert": {
    method: "POST",
    path: "/api/v1/vm/resize/{id}/revert",
    availability: "assumed",
    decide: vm.revertResize,
  },
  "volume.delete": {
    method: "DELETE",
    path: "/api/v1/volume/{id}",
    availability: "assumed",
    decide: volume.deleteVolume,
  },
  "flavor.list": { method: "GET", path: "/api/v1/flavor/list", availability: "assumed", decide: listFlavors },
  "image.list": { method: "GET", path: "/api/v1/image/list", availability: "assumed", decide: listImages },
  "region.list": { method: "GET", path: "/api/v1/region/list", availability: "assumed", decide: listRegions },
  "vm.get": { method: "GET", path: "/api/v1/vm/{id}", availability: "optional", decide: vm.getVm },
  "volume.list": { method: "GET", path: "/api/v1/volume/list", availability: "optional", decide: volume.listVolumes },
  "group.list": { method: "GET", path: "/api/v1/security-group", availability: "optional", decide: group.listGroups },
  "group.get": { method: "GET", path: "/api/v1/security-group/{id}", availability: "optional", decide: group.getGroup },
  "group.rule.delete": {
    method: "DELETE",
    path: "/api/v1/security-group/{id}/rule/{rule_id}",
    availability: "optional",
    decide: group.deleteRule,
  },
} as const satisfies Record<string, EmulatorOperationRow>;
