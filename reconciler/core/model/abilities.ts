/**
 * What can be seen and done on a deployment of the service, computed once from the operations that its dialect names.
 * Decisions are written on these, so that what follows from a missing operation is said in one place.
 */
import { type Kind, perKind } from "./kinds";
import type { Operation } from "./operation";

export interface Abilities {
  /** `list`: all at once; `each`: one by its id; `never`: they are known from the state alone. */
  readonly seesVms: "list" | "each" | "never";
  /** Whether one VM can be read by its id, with or without a list. */
  readonly readsOneVm: boolean;
  readonly seesVolumes: "list" | "each";
  /** `rules`: only the rules of a group with a known id can be read, and neither its name nor its description. */
  readonly seesGroups: "list" | "each" | "rules";
  readonly readsOneGroup: boolean;
  /** Whether a resource can be found by its name, after a create whose answer was lost or names no id. */
  canFindCreated(kind: Kind): boolean;
  /** By its id. */
  readsOne(kind: Kind): boolean;
  readonly confirmsResize: boolean;
  readonly revertsResize: boolean;
  readonly deletesVolumes: boolean;
  readonly deletesRules: boolean;
  readonly listsFlavors: boolean;
  readonly listsImages: boolean;
  readonly listsRegions: boolean;
}

export function abilitiesOf(has: (operation: Operation) => boolean): Abilities {
  const listed = perKind((kind) => has(`${kind}.list`));
  const readsOne = (kind: Kind): boolean => has(`${kind}.get`);
  const [readsOneVm, readsOneGroup] = [readsOne("vm"), readsOne("group")];
  return {
    seesVms: listed.vm ? "list" : readsOneVm ? "each" : "never",
    readsOneVm,
    seesVolumes: listed.volume ? "list" : "each",
    seesGroups: listed.group ? "list" : readsOneGroup ? "each" : "rules",
    readsOneGroup,
    canFindCreated: (kind) => listed[kind],
    readsOne,
    confirmsResize: has("vm.resize.confirm"),
    revertsResize: has("vm.resize.revert"),
    deletesVolumes: has("volume.delete"),
    deletesRules: has("group.rule.delete"),
    listsFlavors: has("flavor.list"),
    listsImages: has("image.list"),
    listsRegions: has("region.list"),
  };
}
