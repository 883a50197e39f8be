/**
 * Groups that are deleted while rules of other groups name them. A service may drop such a rule with the group, or
 * refuse to delete what is named; so those that name go before those that are named. Where they name each other there
 * is no such order: they are marked, and a service that refuses leaves them as orphans.
 */
import { canonicalLiveRule, describeRule } from "../canonical/rules";
import type { Address } from "../model/address";
import type { Diagnostic } from "../model/diagnostic";
import type { Live } from "../model/live";
import type { State } from "../model/recorded";
import type { Rule } from "../model/rule";
import { mustGet } from "../text/invariant";
import { type Draft, onceEach } from "./draft";
import { orderNodes } from "./graph";
import { need, type Step, type StepAction } from "./step";

export interface Namer {
  readonly id: string;
  /** The group's address, or its name where no address manages it. */
  readonly label: string;
  readonly address?: Address;
  readonly rules: readonly Rule[];
}

/** Every group with its rules, as they were seen or else are remembered. */
function groupsWithRules(state: State, groups: Live["groups"]): readonly Namer[] {
  const owners = new Map<string, Namer>();
  for (const record of state.resources.values())
    if (record.kind === "group")
      owners.set(record.id, { id: record.id, label: record.address, address: record.address, rules: record.rules });
  for (const [id, sighting] of groups) {
    if (sighting.seen === "gone") owners.delete(id);
    if (sighting.seen !== "yes" || sighting.value.rules === undefined) continue;
    const known = owners.get(id) ?? { id, label: `group ${sighting.value.name ?? id}` };
    owners.set(id, { ...known, rules: sighting.value.rules.map(canonicalLiveRule) });
  }
  return [...owners.values()].sort(byLabel);
}

/** By the id of a group: the others whose rules name it. */
export function namersByGroup(state: State, groups: Live["groups"]): ReadonlyMap<string, readonly Namer[]> {
  const named = new Map<string, Namer[]>();
  for (const owner of groupsWithRules(state, groups)) {
    const targets = new Map<string, Rule[]>();
    for (const rule of owner.rules) {
      const target = targetOf(rule);
      if (target !== undefined && target !== owner.id) targets.set(target, [...(targets.get(target) ?? []), rule]);
    }
    for (const [target, rules] of targets) named.set(target, [...(named.get(target) ?? []), { ...owner, rules }]);
  }
  return named;
}

const byLabel = (one: Namer, other: Namer): number =>
  one.label < other.label || (one.label === other.label && one.id < other.id) ? -1 : 1;

const targetOf = ({ remote }: Rule): string | undefined =>
  remote.kind === "group" && "id" in remote.group ? remote.group.id : undefined;

/** In words: which groups name the group of this name, and by which rules. */
export const describeNamers = (namers: readonly Namer[], name: string): string =>
  namers
    .map(({ label, rules }) => `${label} (${rules.map((rule) => describeRule(rule, () => name)).join("; ")})`)
    .join(", ");

type GroupDelete = Step & { readonly action: Extract<StepAction, { operation: "group.delete" }> };

export function deleteNamedGroupsLast(draft: Draft): void {
  const deletes = new Map<string, GroupDelete>();
  for (const step of draft.steps)
    if (isGroupDelete(step) && "id" in step.action.group) deletes.set(step.action.group.id, step);
  if (deletes.size === 0) return;
  const named = namersByGroup(draft.state, draft.context.live.groups);
  const namersOf = (id: string): readonly Namer[] => named.get(id) ?? [];
  const going = (id: string): Namer[] => namersOf(id).filter((namer) => deletes.has(namer.id));
  const stuck = new Set(orderNodes([...deletes.keys()], (id) => going(id).map((namer) => namer.id)).stuck);
  const needs = new Map(draft.steps.map((step) => [step.id, step.needs.map((one) => one.step)]));
  const changed = new Map<string, Step>();
  for (const [id, step] of deletes) {
    const namers = going(id);
    const circle = stuck.has(id) ? namers.filter((namer) => stuck.has(namer.id)) : [];
    const before: string[] = [];
    const later: Namer[] = [];
    for (const namer of namers) {
      if (circle.includes(namer)) continue;
      const first = mustGet(deletes, namer.id).id;
      // A replaced group goes after its successor, which may wait for the name of this one: the names decide then.
      if (waitsFor(first, step.id, needs)) later.push(namer);
      else {
        before.push(first);
        mustGet(needs, step.id).push(first);
      }
    }
    const staying = [...namersOf(id).filter((namer) => !deletes.has(namer.id)), ...later];
    if (!step.action.retired) draft.diagnostics.push(...warnings(step, circle, staying));
    if (circle.length + before.length === 0) continue;
    changed.set(step.id, {
      ...step,
      action: {
        ...step.action,
        ...(circle.length === 0 ? {} : { circle: circle.map(({ id, label }) => ({ id, label })) }),
      },
      needs: onceEach([...step.needs, ...before.map((one) => need(one, "end"))]),
    });
  }
  draft.steps.forEach((step, index) => {
    draft.steps[index] = changed.get(step.id) ?? step;
  });
}

/** Whether `step` comes after `other`, however many steps lie between. */
function waitsFor(step: string, other: string, needs: ReadonlyMap<string, readonly string[]>): boolean {
  const reached = new Set([step]);
  for (const one of reached) {
    if (one === other) return true;
    for (const before of needs.get(one) ?? []) reached.add(before);
  }
  return false;
}

const isGroupDelete = (step: Step): step is GroupDelete => step.action.operation === "group.delete";

function warnings(step: GroupDelete, circle: readonly Namer[], staying: readonly Namer[]): Diagnostic[] {
  const named = (namers: readonly Namer[], detail: string): Diagnostic => ({
    severity: "warning",
    code: "plan/group-named",
    summary: `${step.address} is to be deleted, and rules of other groups name it: ${describeNamers(namers, step.address)}`,
    detail,
    address: step.address,
  });
  return [
    ...(circle.length === 0
      ? []
      : [
          named(
            circle,
            "They name each other. A service that refuses to delete what is named lets none of them go; they are then left as orphans, and the run ends with exit 4.",
          ),
        ]),
    ...(staying.length === 0
      ? []
      : [
          named(
            staying,
            "The service may drop such a rule with the group, or refuse to delete the group. To be sure, take the rule away first and delete the group with the next apply.",
          ),
        ]),
  ];
}
