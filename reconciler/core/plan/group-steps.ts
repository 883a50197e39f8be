/**
 * The requests that make the groups as desired. Groups are created in one request with every rule that can be in it;
 * rules that close a cycle, or name their own group, follow. Where a rule cannot be deleted, a group is replaced
 * without a gap: old one renamed aside, new one under the name, neighbours pointed at it, old one deleted.
 */
import { describeRule } from "../canonical/rules";
import { type GroupDifference, recordRules } from "../diff/group";
import { isPlatformShaped } from "../diff/group-rules";
import type { Address } from "../model/address";
import type { DesiredGroup, Reference } from "../model/desired";
import type { RecordedGroup } from "../model/recorded";
import type { Rule } from "../model/rule";
import { addStep, type Draft, nameKey } from "./draft";
import { orderBreakingCycles } from "./graph";
import { asideName, getsNewId, hold, ruleTarget } from "./group-parts";
import { groupRecord, holdBack, patchFor, type Unidentified } from "./records";
import { indexNeighbours, retireGroups, retireSteps } from "./retire-groups";
import { type Need, need } from "./step";

export function stepsForGroups(differences: readonly GroupDifference[], draft: Draft): void {
  const fresh = new Map<Address, GroupDifference>();
  for (const difference of differences)
    if (getsNewId(difference)) fresh.set(difference.address, difference);
    else if (difference.adopts === true) draft.adopted.set(difference.address, difference.id!);

  // Taken over first: a group that is created may name one of them.
  for (const difference of differences)
    if (difference.adopts === true && difference.desired !== undefined && !fresh.has(difference.address))
      adoptGroup(difference, difference.desired, draft);
  const { order, open } = orderBreakingCycles([...fresh.keys()], (address) => freshTargets(fresh.get(address)!, fresh));
  for (const address of order) {
    const difference = fresh.get(address)!;
    createGroup(difference, new Set(open.get(address) ?? []), draft);
  }
  for (const difference of differences) if (!fresh.has(difference.address)) changeGroup(difference, draft);
  // Rules that wait for another group's id can only be made once all of those are planned.
  for (const address of order) addLateRules(fresh.get(address)!, new Set(open.get(address) ?? []), fresh, draft);
  const neighbours = indexNeighbours(differences, draft);
  for (const difference of differences) retireGroups(difference, neighbours, draft);
}

function freshTargets(difference: GroupDifference, fresh: ReadonlyMap<Address, unknown>): Address[] {
  const targets: Address[] = [];
  for (const rule of difference.desired!.rules) {
    const target = ruleTarget(rule);
    if (target !== undefined && target !== difference.address && fresh.has(target)) targets.push(target);
  }
  return targets;
}

/** Not in the create: it names its own group, or closes a cycle. */
const comesLate = (rule: Rule, own: Address, open: ReadonlySet<Address>): boolean => {
  const target = ruleTarget(rule);
  return target !== undefined && (target === own || open.has(target));
};

const resolver =
  (draft: Draft) =>
  (group: Reference): string | undefined =>
    "id" in group
      ? group.id
      : (draft.adopted.get(group.address) ??
        (draft.ready.has(group.address) ? undefined : draft.state.resources.get(group.address)?.id));

/** A rule that is sent names a group by id where the id stays what it is, and by address where this plan makes it. */
function sendable(rule: Rule, draft: Draft): Rule {
  if (rule.remote.kind !== "group") return rule;
  const id = resolver(draft)(rule.remote.group);
  return id === undefined ? rule : { ...rule, remote: { kind: "group", group: { id } } };
}

function createGroup(difference: GroupDifference, open: ReadonlySet<Address>, draft: Draft): void {
  const { address, change } = difference;
  const desired = difference.desired!;
  const needs: Need[] = [];
  const replaces = change!.action === "replace";
  const oldId = replaces ? difference.id! : undefined;
  const oldName = change!.name;
  let aside: string | undefined;
  // An interrupted replacement may have renamed it already.
  if (replaces && oldName !== asideName(oldName, oldId!)) {
    aside = asideName(oldName, oldId!);
    const renamed = addStep(draft, {
      id: `${address}/aside`,
      address,
      action: { operation: "group.update", group: { id: oldId! }, name: aside },
      title: `rename group ${oldName} aside to ${aside}`,
      holds: [hold(address)],
      record: { name: aside },
    });
    needs.push(need(renamed));
    draft.frees.set(nameKey("group", oldName), renamed);
  }
  const atomic = desired.rules.filter((rule) => !comesLate(rule, address, open) && !isPlatformShaped(rule));
  for (const target of new Set(atomic.map(ruleTarget)))
    if (target !== undefined && draft.ready.has(target)) needs.push(need(draft.ready.get(target)!));
  const retired = [...difference.retired, ...(replaces ? [{ id: oldId!, name: aside ?? oldName }] : [])];
  const created = addStep(draft, {
    id: `${address}/create`,
    address,
    action: {
      operation: "group.create",
      name: desired.name,
      ...(desired.description === undefined ? {} : { description: desired.description }),
      rules: atomic.map((rule) => sendable(rule, draft)),
    },
    title: `create group ${desired.name} with ${atomic.length} ${atomic.length === 1 ? "rule" : "rules"}`,
    needs,
    holds: [hold(address)],
    record: {
      ...groupRecord(desired, resolver(draft), []),
      rules: recordRules(atomic, resolver(draft)),
      ...(retired.length === 0 ? {} : { retired }),
    },
  });
  draft.ready.set(address, created);
  draft.takes.push({ key: nameKey("group", desired.name), step: created });
  if (aside !== undefined)
    addStep(draft, {
      id: `${address}/back`,
      address,
      action: { operation: "group.update", group: { id: oldId! }, name: oldName },
      title: `if the create fails: give group ${aside} its name ${oldName} back`,
      needs: [need(created, "failed")],
      holds: [hold(address)],
      record: { name: oldName },
    });
}

function addLateRules(
  difference: GroupDifference,
  open: ReadonlySet<Address>,
  fresh: ReadonlyMap<Address, GroupDifference>,
  draft: Draft,
): void {
  const { address } = difference;
  const rules = difference.desired!.rules;
  const created = need(draft.ready.get(address)!);
  const late: Need[] = [];
  rules.forEach((rule, index) => {
    if (comesLate(rule, address, open))
      late.push(
        need(addRule(address, { address }, rule, index, [created, ...targetNeed(rule, fresh, draft)], draft), "end"),
      );
  });
  // A service that makes such a rule by itself would call ours a repeat, and in a create refuse the whole group.
  if (rules.some(isPlatformShaped))
    addStep(draft, {
      id: `${address}/verify-egress`,
      address,
      action: { operation: "group.verify", group: { address }, rules },
      title: `add the egress rules of ${address} that the service has not made by itself`,
      needs: [created, ...late],
      holds: [hold(address)],
    });
}

function targetNeed(rule: Rule, fresh: ReadonlyMap<Address, unknown>, draft: Draft): Need[] {
  const target = ruleTarget(rule);
  const step = target !== undefined && fresh.has(target) ? draft.ready.get(target) : undefined;
  return step === undefined ? [] : [need(step)];
}

function addRule(
  address: Address,
  group: Reference,
  rule: Rule,
  index: number,
  needs: readonly Need[],
  draft: Draft,
): string {
  return addStep(draft, {
    id: `${address}/rule-${index}`,
    address,
    action: { operation: "group.rule.create", group, rule: sendable(rule, draft) },
    title: `add rule to ${address}: ${describeRule(rule)}`,
    needs,
    holds: [`rule:${address}#${index}`],
  });
}

function changeGroup(difference: GroupDifference, draft: Draft): void {
  const { address, change, desired } = difference;
  if (change === undefined) return;
  if (change.action === "delete" || change.action === "forget") {
    removeGroup(difference, draft);
    return;
  }
  const id = difference.id!;
  const group: Reference = { id };
  const needs: Need[] = difference.adopts === true ? [need(draft.ready.get(address)!)] : [];
  const fields = new Map(change.fields.map((field) => [field.field, field]));
  const name = fields.get("name");
  const description = fields.get("description");
  if (name !== undefined || description !== undefined) {
    const next = groupRecord(desired!, resolver(draft), difference.platformRules);
    const step = addStep(draft, {
      id: `${address}/update`,
      address,
      action: {
        operation: "group.update",
        group,
        ...(name === undefined ? {} : { name: desired!.name }),
        ...(description === undefined ? {} : { description: desired!.description ?? "" }),
      },
      title:
        name === undefined ? `describe group ${change.name} anew` : `rename group ${name.before} to ${desired!.name}`,
      needs,
      holds: [hold(address)],
      record: patchFor<RecordedGroup>(next as Unidentified<RecordedGroup>, [
        ...(name === undefined ? [] : ["name"]),
        ...(description === undefined ? [] : ["description"]),
      ]),
    });
    if (name !== undefined) {
      freeNames(difference, String(name.before), step, draft);
      draft.takes.push({ key: nameKey("group", desired!.name), step });
    }
  }
  const additions = difference.added.map((rule, index) => {
    const target = ruleTarget(rule);
    const ready = target === undefined ? undefined : draft.ready.get(target);
    return addRule(address, group, rule, index, [...needs, ...(ready === undefined ? [] : [need(ready)])], draft);
  });
  // Additions first: what stays admitted is never interrupted.
  difference.removed.forEach(({ live, rule }, index) => {
    addStep(draft, {
      id: `${address}/remove-rule-${index}`,
      address,
      action: { operation: "group.rule.delete", group, ruleId: live.id, rule },
      title: `remove rule from ${address}: ${describeRule(rule)}`,
      needs: [...needs, ...additions.map((step) => need(step))],
      holds: [`rule:${address}-${index}`],
    });
  });
}

function adoptGroup(difference: GroupDifference, desired: DesiredGroup, draft: Draft): void {
  const { address, live, added, removed } = difference;
  const id = difference.id!;
  const next = {
    ...groupRecord(desired, resolver(draft), difference.platformRules),
    id,
    ...(difference.retired.length === 0 ? {} : { retired: difference.retired }),
  } as RecordedGroup;
  const before: Partial<RecordedGroup> = {
    name: live?.name,
    description: live?.description,
    // What is there of it already, and what is there still.
    rules: recordRules(
      [...desired.rules.filter((rule) => !added.includes(rule)), ...removed.map(({ rule }) => rule)],
      resolver(draft),
    ),
  };
  const step = addStep(draft, {
    id: `${address}/import`,
    address,
    action: {
      operation: "record",
      changes: [
        {
          type: "resource",
          address,
          record: holdBack(
            next,
            before,
            difference.change!.fields.map((field) => field.field),
          ),
        },
        { type: "intent", address, intent: null },
      ],
    },
    title: `take over group ${live?.name ?? difference.change!.name} (${id})`,
  });
  draft.ready.set(address, step);
}

function removeGroup(difference: GroupDifference, draft: Draft): void {
  const { address, change } = difference;
  // Found by the intent of a lost create: recorded first, so that a run cut off here does not forget it.
  const noted = difference.adopts === true && change!.action === "delete" ? [need(recordFound(difference, draft))] : [];
  const needs =
    change!.action === "delete"
      ? [...noted, ...retireSteps(difference, difference.retired, noted, draft).map(({ step }) => need(step))]
      : [];
  if (change!.action === "forget" || change!.reason === "gone") {
    addStep(draft, {
      id: `${address}/forget`,
      address,
      action: {
        operation: "record",
        changes: [
          { type: "resource", address, record: null },
          { type: "intent", address, intent: null },
        ],
      },
      title: `forget group ${change!.name}`,
      needs,
    });
    return;
  }
  const step = addStep(draft, {
    id: `${address}/delete`,
    address,
    action: { operation: "group.delete", group: { id: difference.id! }, name: change!.name, retired: false },
    title: `delete group ${change!.name}`,
    needs,
    holds: [hold(address)],
    forgets: true,
  });
  freeNames(difference, change!.name, step, draft);
}

/** Also the one it was told to take and may bear by now, unless that is the one it is to have. */
function freeNames({ recorded, desired }: GroupDifference, name: string, step: string, draft: Draft): void {
  draft.frees.set(nameKey("group", name), step);
  const told = recorded?.updating?.name;
  if (told === undefined || told === desired?.name) return;
  const key = nameKey("group", told);
  if (!draft.frees.has(key)) draft.frees.set(key, step);
}

function recordFound(difference: GroupDifference, draft: Draft): string {
  const { address, recorded } = difference;
  return addStep(draft, {
    id: `${address}/import`,
    address,
    action: {
      operation: "record",
      changes: [
        { type: "resource", address, record: recorded! },
        { type: "intent", address, intent: null },
      ],
    },
    title: `note group ${difference.change!.name} (${difference.id}), which an interrupted run created`,
  });
}
