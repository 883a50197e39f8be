/**
 * Groups that are deleted while rules of other groups name them. A service may drop such a rule with the group, or
 * refuse to delete what is named; so those that name go before those that are named, and so do single rules that are
 * taken away. Where groups name each other there is no such order: they are marked, and a service that refuses leaves
 * them as orphans. Of a group that is replaced the plan says so as well: its old self may stay.
 */
import { canonicalLiveRule, describeRule, ruleKey } from "../../core/canonical/rules";
import type { Address } from "../../core/model/address";
import type { Diagnostic } from "../../core/model/diagnostic";
import { allOfKind } from "../../core/model/kinds";
import type { SightingsOf } from "../../core/model/live";
import type { State } from "../../core/model/recorded";
import { groupIdNamed, type Rule } from "../../core/model/rule";
import { type Draft, onceEach } from "../../core/plan/draft";
import { orderNodes, withAllBefore } from "../../core/plan/graph";
import { need, type Step, type StepAction, type StepId } from "../../core/plan/step";
import { mustGet } from "../../core/text/invariant";
import { appendTo, onlyDefined } from "../../core/text/objects";

export interface Namer {
  readonly id: string;
  /** The group's address, or its name where no address manages it. */
  readonly label: string;
  readonly address?: Address;
  readonly rules: readonly Rule[];
}

/** Every group with its rules, as they were seen or else are remembered. */
function groupsWithRules(state: State, groups: SightingsOf["group"]): readonly Namer[] {
  const owners = new Map<string, Namer>();
  for (const { id, address, rules, left = [] } of allOfKind(state.resources.values(), "group"))
    owners.set(id, { id, label: address, address, rules: [...rules, ...left] });
  for (const [id, sighting] of groups) {
    if (sighting.seen === "gone") owners.delete(id);
    if (sighting.seen !== "yes" || sighting.value.rules === undefined) continue;
    const known = owners.get(id) ?? { id, label: `group ${sighting.value.name ?? id}` };
    owners.set(id, { ...known, rules: sighting.value.rules.map(canonicalLiveRule) });
  }
  return [...owners.values()].sort(byLabel);
}

/** By the id of a group: the others whose rules name it. */
export function namersByGroup(state: State, groups: SightingsOf["group"]): ReadonlyMap<string, readonly Namer[]> {
  const named = new Map<string, Namer[]>();
  for (const owner of groupsWithRules(state, groups)) {
    const targets = new Map<string, Rule[]>();
    for (const rule of owner.rules) {
      const target = groupIdNamed(rule);
      if (target !== undefined && target !== owner.id) appendTo(targets, target, rule);
    }
    for (const [target, rules] of targets) appendTo(named, target, { ...owner, rules });
  }
  return named;
}

const byLabel = (one: Namer, other: Namer): number =>
  one.label < other.label || (one.label === other.label && one.id < other.id) ? -1 : 1;

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
  const named = namersByGroup(draft.state, draft.context.live.of.group.byId);
  const namersOf = (id: string): readonly Namer[] => named.get(id) ?? [];
  const going = (id: string): Namer[] => namersOf(id).filter((namer) => deletes.has(namer.id));
  const stuck = new Set(orderNodes([...deletes.keys()], (id) => going(id).map((namer) => namer.id)).stuck);
  const needs = new Map(draft.steps.map((step) => [step.id, step.needs.map((one) => one.step)]));
  const waitsFor = (step: StepId, other: StepId): boolean =>
    withAllBefore(step, (id) => needs.get(id) ?? []).has(other);
  const takenAway = rulesTakenAway(draft.steps);
  const { keepsNamedGroups } = draft.context.can;
  const changed = new Map<string, Step>();
  for (const [id, step] of deletes) {
    const namers = going(id);
    const circle = stuck.has(id) ? namers.filter((namer) => stuck.has(namer.id)) : [];
    const before: StepId[] = [];
    const later: Namer[] = [];
    const cleared = new Set<string>();
    for (const taken of takenAway.get(id) ?? []) {
      if (waitsFor(taken.step, step.id)) continue;
      before.push(taken.step);
      cleared.add(taken.rule);
      mustGet(needs, step.id).push(taken.step);
    }
    for (const namer of namers) {
      if (circle.includes(namer)) continue;
      const first = mustGet(deletes, namer.id).id;
      // A replaced group goes after its successor, which may wait for the name of this one: the names decide then.
      if (waitsFor(first, step.id)) later.push(namer);
      else {
        before.push(first);
        mustGet(needs, step.id).push(first);
      }
    }
    const isCleared = (namer: Namer): boolean =>
      namer.rules.every((rule) => cleared.has(`${namer.address} ${ruleKey(rule)}`));
    const staying = [...namersOf(id).filter((namer) => !deletes.has(namer.id) && !isCleared(namer)), ...later];
    draft.diagnostics.push(...warnings(step, circle, staying, keepsNamedGroups));
    if (circle.length + before.length === 0) continue;
    changed.set(step.id, {
      ...step,
      action: {
        ...step.action,
        ...onlyDefined({ circle: circle.length === 0 ? undefined : circle.map(({ id, label }) => ({ id, label })) }),
      },
      needs: onceEach([...step.needs, ...before.map((one) => need(one, "end"))]),
    });
  }
  draft.steps.forEach((step, index) => {
    draft.steps[index] = changed.get(step.id) ?? step;
  });
}

/** By the id of a group: the steps that take away single rules which name it. */
function rulesTakenAway(steps: readonly Step[]): ReadonlyMap<string, readonly TakenAway[]> {
  const taken = new Map<string, TakenAway[]>();
  for (const { id, address, action } of steps) {
    if (action.operation !== "group.rule.delete") continue;
    const target = groupIdNamed(action.rule);
    if (target !== undefined) appendTo(taken, target, { step: id, rule: `${address} ${ruleKey(action.rule)}` });
  }
  return taken;
}

interface TakenAway {
  readonly step: StepId;
  /** The rule, with the address of its group. */
  readonly rule: string;
}

const isGroupDelete = (step: Step): step is GroupDelete => step.action.operation === "group.delete";

function warnings(
  step: GroupDelete,
  circle: readonly Namer[],
  staying: readonly Namer[],
  keepsNamedGroups: boolean,
): Diagnostic[] {
  if (step.action.retired) return replacedAndNamed(step, [...circle, ...staying], keepsNamedGroups);
  const named = (namers: readonly Namer[], detail: string): Diagnostic[] =>
    namers.length === 0
      ? []
      : [
          {
            severity: "warning",
            code: "plan/group-named",
            summary: `${step.address} is to be deleted, and rules of other groups name it: ${describeNamers(namers, step.address)}`,
            detail,
            address: step.address,
          },
        ];
  return [
    ...named(
      circle,
      keepsNamedGroups
        ? "They name each other, and this service does not delete what is named: they are left as orphans, and the run ends with exit 4."
        : "They name each other. A service that refuses to delete what is named lets none of them go; they are then left as orphans, and the run ends with exit 4.",
    ),
    ...named(
      staying,
      keepsNamedGroups
        ? "This service does not delete a group that is named. Take the rule away first and delete the group with the next apply."
        : "The service may drop such a rule with the group, or refuse to delete the group. To be sure, take the rule away first and delete the group with the next apply.",
    ),
  ];
}

/** The old self of a replaced group, which goes last: what it admitted is admitted by its successor, until it is gone. */
function replacedAndNamed(step: GroupDelete, namers: readonly Namer[], keepsNamedGroups: boolean): Diagnostic[] {
  if (namers.length === 0) return [];
  const stays = `it then stays as ${step.action.name} with its rules, and the run ends with exit 4`;
  return [
    {
      severity: "note",
      code: "plan/group-named",
      summary: `${step.address} is replaced, and rules of other groups name the group that goes: ${describeNamers(namers, step.address)}`,
      detail: keepsNamedGroups
        ? `This service does not delete a group that is named: ${stays}.`
        : `The service may drop such a rule with the group, or keep the group: ${stays}.`,
      fix: keepsNamedGroups
        ? "take those rules out by hand, then run the same command again"
        : "if this service keeps what is named, in the dialect: limits: { named_groups: kept }; such rules are then taken away first",
      address: step.address,
    },
  ];
}
