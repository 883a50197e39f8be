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

type RouteAndDecision = readonly [
  method: EmulatorOperationRow["method"],
  path: string,
  decide: EmulatorOperationRow["decide"],
];

const rowsThatAre = <N extends string>(availability: Availability, rows: Readonly<Record<N, RouteAndDecision>>) =>
  Object.fromEntries(
    Object.entries<RouteAndDecision>(rows).map(([name, [method, path, decide]]): [string, EmulatorOperationRow] => [
      name,
      { method, path, availability, decide },
    ]),
    // One row for each name.
  ) as Readonly<Record<N, EmulatorOperationRow>>;

export const operationRows = {
  ...rowsThatAre("documented", {
    "vm.create": ["POST", "/api/v1/vm/create", vm.createVm],
    "vm.rename": ["POST", "/api/v1/vm/rename/{id}", vm.renameVm],
    "vm.rebuild": ["POST", "/api/v1/vm/rebuild/{id}", vm.rebuildVm],
    "vm.resize": ["POST", "/api/v1/vm/resize/{id}", vm.resizeVm],
    "vm.snapshot": ["POST", "/api/v1/vm/snapshot/{id}", vm.snapshotVm],
    "vm.stop": ["POST", "/api/v1/vm/stop/{id}", vm.stopVm],
    "vm.start": ["POST", "/api/v1/vm/start/{id}", vm.startVm],
    "vm.reboot": ["POST", "/api/v1/vm/reboot/{id}", vm.rebootVm],
    "vm.delete": ["DELETE", "/api/v1/vm/delete/{id}", vm.deleteVm],
    "volume.create": ["POST", "/api/v1/volume/create", volume.createVolume],
    "volume.get": ["GET", "/api/v1/volume/{id}", volume.getVolume],
    "volume.attach": ["POST", "/api/v1/volume/attach", volume.attachVolume],
    "volume.detach": ["POST", "/api/v1/volume/detach", volume.detachVolume],
    "volume.resize": ["POST", "/api/v1/volume/resize/{id}", volume.resizeVolume],
    "group.create": ["POST", "/api/v1/security-group", group.createGroup],
    "group.update": ["PATCH", "/api/v1/security-group/{id}", group.updateGroup],
    "group.delete": ["DELETE", "/api/v1/security-group/{id}", group.deleteGroup],
    "group.rule.create": ["POST", "/api/v1/security-group/{id}/rule", group.createRule],
    "group.rule.list": ["GET", "/api/v1/security-group/{id}/rule", group.listRules],
    "group.import": ["POST", "/api/v1/security-group/import", importGroups],
  }),
  ...rowsThatAre("assumed", {
    "vm.list": ["GET", "/api/v1/vm/list", vm.listVms],
    "vm.resize.confirm": ["POST", "/api/v1/vm/resize/{id}/confirm", vm.confirmResize],
    "vm.resize.revert": ["POST", "/api/v1/vm/resize/{id}/revert", vm.revertResize],
    "volume.delete": ["DELETE", "/api/v1/volume/{id}", volume.deleteVolume],
    "flavor.list": ["GET", "/api/v1/flavor/list", listFlavors],
    "image.list": ["GET", "/api/v1/image/list", listImages],
    "region.list": ["GET", "/api/v1/region/list", listRegions],
  }),
  ...rowsThatAre("optional", {
    "vm.get": ["GET", "/api/v1/vm/{id}", vm.getVm],
    "volume.list": ["GET", "/api/v1/volume/list", volume.listVolumes],
    "group.list": ["GET", "/api/v1/security-group", group.listGroups],
    "group.get": ["GET", "/api/v1/security-group/{id}", group.getGroup],
    "group.rule.delete": ["DELETE", "/api/v1/security-group/{id}/rule/{rule_id}", group.deleteRule],
  }),
};
