/**
 * What it means to send an operation's request twice: a read changes nothing, a delete ends the same, anything else may
 * do its work twice. It hangs on the operation and not on the method, which a dialect may choose freely.
 */
import type { Operation } from "../core/model/operation";

export type RequestKind = "read" | "delete" | "write";

export const requestKinds: Readonly<Record<Operation, RequestKind>> = {
  "vm.create": "write",
  "vm.rename": "write",
  "vm.rebuild": "write",
  "vm.resize": "write",
  "vm.snapshot": "write",
  "vm.stop": "write",
  "vm.start": "write",
  "vm.reboot": "write",
  "vm.delete": "delete",
  "volume.create": "write",
  "volume.get": "read",
  "volume.attach": "write",
  "volume.detach": "write",
  "volume.resize": "write",
  "group.create": "write",
  "group.update": "write",
  "group.delete": "delete",
  "group.rule.create": "write",
  "group.rule.list": "read",
  "group.import": "write",
  "vm.list": "read",
  "vm.get": "read",
  "vm.resize.confirm": "write",
  "vm.resize.revert": "write",
  "volume.list": "read",
  "volume.delete": "delete",
  "group.list": "read",
  "group.get": "read",
  "group.rule.delete": "delete",
  "flavor.list": "read",
  "image.list": "read",
  "region.list": "read",
};
