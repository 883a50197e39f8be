/**
 * The operations of the service, by the names the dialect, the plan, the events and the emulator use for them.
 * Documented ones are in the contract; assumed ones exist only where the dialect says so.
 */
export const documentedOperations = [
  "vm.create",
  "vm.rename",
  "vm.rebuild",
  "vm.resize",
  "vm.snapshot",
  "vm.stop",
  "vm.start",
  "vm.reboot",
  "vm.delete",
  "volume.create",
  "volume.get",
  "volume.attach",
  "volume.detach",
  "volume.resize",
  "group.create",
  "group.update",
  "group.delete",
  "group.rule.create",
  "group.rule.list",
  "group.import",
] as const;

export const assumedOperations = [
  "vm.list",
  "vm.get",
  "vm.resize.confirm",
  "vm.resize.revert",
  "volume.list",
  "volume.delete",
  "group.list",
  "group.get",
  "group.rule.delete",
  "flavor.list",
  "image.list",
  "region.list",
] as const;

export type DocumentedOperation = (typeof documentedOperations)[number];
export type AssumedOperation = (typeof assumedOperations)[number];
export type Operation = DocumentedOperation | AssumedOperation;
