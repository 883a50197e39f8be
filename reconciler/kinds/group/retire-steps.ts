/**
 * The end of a group: what is deleted and after what, and which groups are read again because they may have lost a
 * rule.
 */

import { referenceText } from "../../core/canonical/rules";
import type { Address } from "../../core/model/address";
import { asideName } from "../../core/model/aside-name";
import { groupIdNamed, groupNamed } from "../../core/model/rule";
import { type Draft, planStep } from "../../core/plan/draft";
import { type Need, need, type StepId } from "../../core/plan/step";
import { appendTo } from "../../core/text/objects";
import type { GroupDifference } from "./diff";
import { getsNewId } from "./step-parts";

/** Which groups have rules that name which, so that retiring a group looks only at those. */
interface Neighbours {
  /** Steps after which a rule names a group, by its address or its id. */
  readonly pointing: ReadonlyMap<string, readonly StepId[]>;
  /** Steps that add a rule to an address after its create. */
  readonly own: ReadonlyMap<Address, readonly StepId[]>;
  /** Groups that lose a rule when the group with this id is deleted. */
  readonly losing: ReadonlyMap<string, readonly GroupDifference[]>;
}

export function indexNeighbours(differences: readonly GroupDifference[], draft: Draft): Neighbours {
  const pointing = new Map<string, StepId[]>();
  const own = new Map<Address, StepId[]>();
  const losing = new Map<string, GroupDifference[]>();
  for (const step of draft.steps) {
    if (step.action.operation === "group.verify") appendTo(own, step.address, step.id);
    // A replaced neighbour names the new group in its create, and its old self loses its rule with the deletion.
    if (step.action.operation === "group.create")
      for (const target of new Set(step.action.rules.map(groupNamed).map((named) => named && referenceText(named))))
        if (target !== undefined) appendTo(pointing, target, step.id);
    if (step.action.operation !== "group.rule.create") continue;
    appendTo(own, step.address, step.id);
    const target = groupNamed(step.action.rule);
    if (target !== undefined) appendTo(pointing, referenceText(target), step.id);
  }
  for (const difference of differences) {
    // A group that this plan creates has never named the group that goes.
    if (difference.desired === undefined || getsNewId(difference)) continue;
    const ids = new Set<string>();
    for (const { rule } of difference.cascaded) {
      const id = groupIdNamed(rule);
      if (id !== undefined) ids.add(id);
    }
    for (const id of ids) appendTo(losing, id, difference);
  }
  return { pointing, own, losing };
}

/**
 * Deletes the old groups of replacements, once every neighbour points at the new one; then the neighbours are read
 * again, because the service may drop every rule that named the deleted group.
 */
export function retireGroups(difference: GroupDifference, neighbours: Neighbours, draft: Draft): void {
  const { address } = difference;
  if (difference.action === "none" || difference.action === "forget") return;
  const deletes: { readonly id: string; readonly step: StepId }[] = [];
  if (difference.action === "delete") {
    if (difference.change.reason !== "gone") deletes.push({ id: difference.id, step: `${address}/delete` });
  } else {
    // The name of the replaced group when it is deleted.
    const replaced =
      difference.action === "replace"
        ? [{ id: difference.id, name: asideName(difference.change.name, difference.id) }]
        : [];
    const created = draft.madeBy(address);
    const before = new Set([
      ...(created === undefined ? [] : [created]),
      ...(neighbours.own.get(address) ?? []),
      ...(neighbours.pointing.get(address) ?? []),
      ...(("id" in difference && neighbours.pointing.get(difference.id)) || []),
    ]);
    deletes.push(
      ...retireSteps(
        difference,
        [...difference.retired, ...replaced],
        [...before].map((step) => need(step)),
        draft,
      ),
    );
  }
  for (const { id, step } of deletes) {
    for (const neighbour of neighbours.losing.get(id) ?? []) {
      if (neighbour.address === address || neighbour.desired === undefined) continue;
      planStep(draft, neighbour.address, `verify-${step}`, {
        action: {
          operation: "group.verify",
          group: { address: neighbour.address },
          rules: neighbour.declared ?? neighbour.desired.rules,
        },
        title: `read the rules of ${neighbour.address} again and put back what the deletion took`,
        // The check comes after the group's own additions, so that it finds their rules and the groups that these name.
        needs: [need(step), ...(neighbours.own.get(neighbour.address) ?? []).map((own) => need(own, "end"))],
      });
    }
  }
}

export function retireSteps(
  difference: GroupDifference,
  groups: readonly { readonly id: string; readonly name: string }[],
  needs: readonly Need[],
  draft: Draft,
) {
  const { address } = difference;
  return groups.map((group, index) => ({
    id: group.id,
    step: planStep(draft, address, `retire${index === 0 ? "" : `-${index}`}`, {
      action: { operation: "group.delete", group: { id: group.id }, name: group.name, retired: true },
      title: `delete the replaced group ${group.name}`,
      needs,
    }),
  }));
}
