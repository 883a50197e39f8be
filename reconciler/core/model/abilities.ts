/**
 * What can be seen and done on a deployment of the service, computed once from the operations that its dialect names.
 * Decisions are written on these, so that what follows from a missing operation is said in one place.
 */
import { definitionOf, type Kind, perKind } from "./kinds";
import { type Ability, abilityOperations, type Operation } from "./operation";

/** Whether a deployment has the operation whose row has the name. */
type HasOperation = Readonly<Record<Ability, boolean>>;

export interface Abilities extends HasOperation {
  /** `list`: all at once; `each`: one by its id; `never`: they are known from the state alone. */
  readonly seesVms: "list" | "each" | "never";
  readonly seesVolumes: "list" | "each";
  /** `rules`: only the rules of a group with a known id can be read, and neither its name nor its description. */
  readonly seesGroups: "list" | "each" | "rules";
  /** Whether a resource can be found by its name, after a create whose answer was lost or names no id. */
  canFindCreated(kind: Kind): boolean;
  /** By its id. */
  readsOne(kind: Kind): boolean;
  /** Whether a look can show one at all. */
  sees(kind: Kind): boolean;
  deletes(kind: Kind): boolean;
  /** A group that rules of other groups name is not deleted, so those rules go first. */
  readonly keepsNamedGroups: boolean;
}

export function abilitiesOf(
  has: (operation: Operation) => boolean,
  limits: { readonly named_groups?: string } = {},
): Abilities {
  const listed = perKind((kind) => has(`${kind}.list`));
  const readsOne = (kind: Kind): boolean => has(`${kind}.get`);
  // Every name is in the map, because both are made from the rows.
  const named = Object.fromEntries(
    [...abilityOperations].map(([ability, operation]) => [ability, has(operation)]),
  ) as HasOperation;
  return {
    ...named,
    seesVms: listed.vm ? "list" : named.readsOneVm ? "each" : "never",
    seesVolumes: listed.volume ? "list" : "each",
    seesGroups: listed.group ? "list" : named.readsOneGroup ? "each" : "rules",
    canFindCreated: (kind) => listed[kind],
    readsOne,
    sees: (kind) => listed[kind] || readsOne(kind) || definitionOf(kind).readBeside !== undefined,
    deletes: (kind) => has(`${kind}.delete`),
    keepsNamedGroups: limits.named_groups !== undefined,
  };
}
