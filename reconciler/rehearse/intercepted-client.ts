/** The service's client with somebody looking over its shoulder: for what was refused, and for killing a run anywhere. */
import type { Operation } from "../core/model/operation";
import type { Failure, Outcome } from "../core/model/outcome";
import type { ServiceClient } from "../service/client";

const operationOf = {
  listVms: "vm.list",
  getVm: "vm.get",
  createVm: "vm.create",
  renameVm: "vm.rename",
  rebuildVm: "vm.rebuild",
  resizeVm: "vm.resize",
  confirmResize: "vm.resize.confirm",
  revertResize: "vm.resize.revert",
  snapshotVm: "vm.snapshot",
  stopVm: "vm.stop",
  startVm: "vm.start",
  rebootVm: "vm.reboot",
  deleteVm: "vm.delete",
  listVolumes: "volume.list",
  getVolume: "volume.get",
  createVolume: "volume.create",
  attachVolume: "volume.attach",
  detachVolume: "volume.detach",
  resizeVolume: "volume.resize",
  deleteVolume: "volume.delete",
  listGroups: "group.list",
  getGroup: "group.get",
  createGroup: "group.create",
  updateGroup: "group.update",
  deleteGroup: "group.delete",
  listRules: "group.rule.list",
  createRule: "group.rule.create",
  deleteRule: "group.rule.delete",
  importGroups: "group.import",
  listFlavors: "flavor.list",
  listImages: "image.list",
  listRegions: "region.list",
} as const satisfies Record<
  Exclude<keyof ServiceClient, "has" | "origin" | "takesPortRanges" | "volumesChange" | "close">,
  Operation
>;

export interface Interception {
  /** Answers in the service's place; `undefined` lets the request through. */
  before?(operation: Operation): Failure | undefined;
  /** Sees every outcome, and may put another in its place. */
  after?(operation: Operation, outcome: Outcome<unknown>): Outcome<unknown>;
}

type AnyCall = (...args: unknown[]) => Promise<Outcome<unknown>>;

export function interceptClient(client: ServiceClient, { before, after }: Interception): ServiceClient {
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function" || !Object.hasOwn(operationOf, key)) return value;
      const operation: Operation = operationOf[key as keyof typeof operationOf];
      return async (...args: unknown[]) => {
        const refused = before?.(operation);
        if (refused !== undefined) return refused;
        const outcome = await (value as AnyCall).apply(target, args);
        return after === undefined ? outcome : after(operation, outcome);
      };
    },
  });
}
