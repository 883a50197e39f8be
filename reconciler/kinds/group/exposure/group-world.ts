/**
 * The groups as the plan moves them: which rule is there from the start, which step adds it, which steps take it away.
 * A group that is replaced is two objects of one address for a while, and both count: VMs stay under the old one until
 * it is deleted. Wherever a rule names a group, all objects of an address are that address, because whoever is
 * a member of one is to be admitted as a member of the other.
 */

import { canonicalLiveRule, ruleKey, ruleOfKey } from "../../../core/canonical/rules";
import type { Address } from "../../../core/model/address";
import type { Computed } from "../../../core/model/computed";
import type { Desired, Reference } from "../../../core/model/desired";
import { notLookedAt, valueSeen } from "../../../core/model/evidence";
import { recordedAttribute } from "../../../core/model/facts";
import { allOfKind } from "../../../core/model/kinds";
import { findSeen, type Live, sight } from "../../../core/model/live";
import type { RecordedResource, State } from "../../../core/model/recorded";
import { groupNamed, type Rule } from "../../../core/model/rule";
import type { Plan } from "../../../core/plan/plan";
import type { Step } from "../../../core/plan/step";
import { appendTo } from "../../../core/text/objects";
import { isPlatformShaped } from "../compare-rules";
import { knownRule } from "../fill-in";
import { noTraffic, type Traffic, trafficOf } from "./traffic";

export interface Fact {
  readonly rule: Rule;
  /** The step that adds the rule; left out: the rule is there from the start. */
  readonly addedBy?: string;
  readonly removedBy: readonly string[];
  /** The file declares the rule. */
  readonly declared: boolean;
}

/** Why the rules of a group were not read: nobody looked, or nothing was shown. */
export type NotRead = "not-looked" | "not-shown";

export interface GroupWorld {
  /** By address, in the plan's order. */
  readonly facts: ReadonlyMap<Address, readonly Fact[]>;
  /** Addresses that the plan's steps touch. */
  readonly touched: ReadonlySet<Address>;
  /** Addresses that had no group before. */
  readonly fresh: ReadonlySet<Address>;
  /** Addresses whose group this plan makes where none is there: what the service adds by itself is not known yet. */
  readonly madeAlone: ReadonlySet<Address>;
  /** The name under which all ids of a group are one. */
  readonly identify: (group: Reference) => string;
  /** A rule of the file as the service has it, as far as that is known. */
  readonly known: (rule: Rule) => Rule;
  /** Addresses whose rules were not read, and whether nobody looked or nothing was shown; what was recorded stands in. */
  readonly unobserved: ReadonlyMap<Address, NotRead>;
  /** Groups that earlier replacements left attached to VMs: what they admit is not read. */
  readonly retired: ReadonlyMap<Address, readonly string[]>;
}

/** What some rules of the world admit. */
export const trafficOfFacts = (facts: readonly Fact[], { identify }: Pick<GroupWorld, "identify">): Traffic =>
  facts.length === 0
    ? noTraffic
    : trafficOf(
        facts.map(({ rule }) => rule),
        identify,
      );

/** What the rules of one group admit at the moments of a plan. Where the plan does not touch them, all moments are one. */
export interface Moments {
  readonly facts: readonly Fact[];
  readonly before: Traffic;
  readonly after: Traffic;
  /** Every rule that is there at some moment. */
  readonly ever: Traffic;
  /** The rules that exist from the start and are never removed. */
  readonly lasting: Traffic;
}

export function momentsOf(facts: readonly Fact[], world: Pick<GroupWorld, "identify">): Moments {
  const traffic = (isThere: (fact: Fact) => boolean): Traffic => trafficOfFacts(facts.filter(isThere), world);
  const isOld = ({ addedBy }: Fact): boolean => addedBy === undefined;
  const stays = ({ removedBy }: Fact): boolean => removedBy.length === 0;
  const before = traffic(isOld);
  if (facts.every((fact) => isOld(fact) && stays(fact)))
    return { facts, before, after: before, ever: before, lasting: before };
  const lasting = traffic((fact) => isOld(fact) && stays(fact));
  return { facts, before, after: traffic(stays), ever: trafficOfFacts(facts, world), lasting };
}

export interface ExposureInput {
  readonly plan: Plan;
  readonly state: State;
  readonly live: Live;
  readonly desired: Desired;
}

type DraftFact = { -readonly [K in keyof Fact]: K extends "removedBy" ? string[] : Fact[K] };
interface GroupObject {
  readonly address: Address;
  readonly facts: DraftFact[];
}

type Records = ReadonlyMap<Address, RecordedResource>;

/** The records by the addresses that the plan gives them: what it moves is at its new address from the start. */
export function recordsAsMoved({ state, plan }: Pick<ExposureInput, "state" | "plan">): Records {
  const moved = plan.changes.flatMap(({ address, movedFrom }) =>
    movedFrom === undefined ? [] : [[address, movedFrom] as const],
  );
  if (moved.length === 0) return state.resources;
  const records = new Map(state.resources);
  for (const [, from] of moved) records.delete(from);
  for (const [address, from] of moved) {
    const record = state.resources.get(from);
    if (record !== undefined) records.set(address, { ...record, address });
  }
  return records;
}

/** What a value is by now: as the resource shows it, or else as it is recorded. */
function valueNow({ address, attribute }: Computed, live: Live, records: Records): string | undefined {
  const record = records.get(address);
  const shown = record === undefined ? undefined : findSeen(live, record.kind, record.id);
  return recordedAttribute(shown ?? record, attribute);
}

export function groupWorld(input: ExposureInput): GroupWorld {
  const { plan, live, desired } = input;
  const records = recordsAsMoved(input);
  const ids = groupIdsIn(plan, records);
  const addressOf = new Map<string, Address>();
  for (const [address, id] of ids) addressOf.set(id, address);
  const retired = new Map<Address, readonly string[]>();
  for (const record of allOfKind(records.values(), "group"))
    if (record.retired !== undefined) {
      retired.set(
        record.address,
        record.retired.map((group) => group.name),
      );
      for (const group of record.retired) addressOf.set(group.id, record.address);
    }
  const created = new Set(
    plan.steps.flatMap((step) => (step.action.operation === "group.create" ? [step.address] : [])),
  );
  const identify = (group: Reference): string =>
    "address" in group ? group.address : (addressOf.get(group.id) ?? group.id);
  const objectOf = (group: Reference): string =>
    "id" in group
      ? group.id
      : created.has(group.address)
        ? newObject(group.address)
        : (ids.get(group.address) ?? group.address);

  const known = (rule: Rule): Rule => knownRule(rule, (computed) => valueNow(computed, live, records));
  const wanted = new Map<Address, ReadonlySet<string>>();
  // A rule that follows an address is there with the address of now, and a step may add it with the next one.
  for (const { address, rules } of allOfKind(desired.resources, "group"))
    wanted.set(address, new Set(rules.flatMap((rule) => [rule, known(rule)]).map((rule) => ruleKey(rule, identify))));

  const objects = new Map<string, GroupObject>();
  const byTarget = new Map<string, DraftFact[]>();
  const facts = new Map<Address, DraftFact[]>();
  const unobserved = new Map<Address, NotRead>();
  const addFact = (object: GroupObject, rule: Rule, addedBy?: string): void => {
    const named = groupNamed(rule);
    const target = named === undefined ? undefined : objectOf(named);
    const fact: DraftFact = {
      rule,
      removedBy: [],
      declared: wanted.get(object.address)?.has(ruleKey(rule, identify)) === true,
      addedBy,
    };
    object.facts.push(fact);
    appendTo(facts, object.address, fact);
    if (target !== undefined) appendTo(byTarget, target, fact);
  };
  const objectFor = (id: string, address: Address): GroupObject => {
    const known = objects.get(id);
    if (known !== undefined) return known;
    const object: GroupObject = { address, facts: [] };
    objects.set(id, object);
    if (!facts.has(address)) facts.set(address, []);
    return object;
  };

  const madeAlone = new Set(created);
  for (const [address, id] of ids) {
    const sighting = sight(live, "group", id);
    if (sighting.seen === "gone") continue;
    madeAlone.delete(address);
    const seen = valueSeen(sighting)?.rules;
    const isLookedAt = sighting.seen === "yes" || sighting.reason !== notLookedAt.reason;
    if (seen === undefined) unobserved.set(address, isLookedAt ? "not-shown" : "not-looked");
    const object = objectFor(id, address);
    const rules = seen?.map(canonicalLiveRule) ?? recordedRules(records, address);
    for (const rule of rules) addFact(object, rule);
  }
  for (const step of plan.steps) applyStep(step);
  return {
    facts,
    touched: new Set(plan.steps.flatMap((step) => touchedBy(step, facts))),
    fresh: new Set([...facts.keys()].filter((address) => !ids.has(address))),
    madeAlone,
    identify,
    known,
    unobserved,
    retired,
  };

  function applyStep(step: Step): void {
    const { action, address } = step;
    switch (action.operation) {
      case "group.create": {
        const object = objectFor(newObject(address), address);
        for (const rule of [...action.rules, ...platformRulesNow(address)]) addFact(object, rule, step.id);
        break;
      }
      case "group.rule.create":
        addFact(objectFor(objectOf(action.group), address), action.rule, step.id);
        break;
      case "group.verify":
        for (const rule of action.rules) addFact(objectFor(objectOf(action.group), address), rule, step.id);
        break;
      case "group.rule.delete":
        for (const fact of factsOf(action.group))
          if (fact.addedBy === undefined && ruleKey(fact.rule, identify) === ruleKey(action.rule, identify))
            fact.removedBy.push(step.id);
        break;
      case "group.delete":
        // The group's rules go with it, and every rule anywhere that names the group.
        for (const fact of new Set([...factsOf(action.group), ...(byTarget.get(objectOf(action.group)) ?? [])]))
          fact.removedBy.push(step.id);
        break;
    }
  }

  function factsOf(group: Reference): readonly DraftFact[] {
    return objects.get(objectOf(group))?.facts ?? [];
  }

  /** The service's own rules of a group: it will put the same on the group that replaces it. */
  function platformRulesNow(address: Address): Rule[] {
    const old = ids.get(address);
    const own = (old === undefined ? undefined : objects.get(old))?.facts ?? [];
    return own.flatMap(({ addedBy, declared, rule }) =>
      addedBy === undefined && !declared && isPlatformShaped(rule) ? [rule] : [],
    );
  }
}

const newObject = (address: Address): string => `new ${address}`;

/** Addresses that have an id now: recorded, or taken over by this plan. */
function groupIdsIn(plan: Plan, records: Records): Map<Address, string> {
  const ids = new Map<Address, string>();
  for (const change of allOfKind(plan.changes, "group"))
    if (change.id !== undefined) ids.set(change.address, change.id);
  for (const record of allOfKind(records.values(), "group"))
    if (!ids.has(record.address)) ids.set(record.address, record.id);
  return new Map([...ids].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Those of the file, those that it leaves where they are, and the service's own. */
function recordedRules(records: Records, address: Address): readonly Rule[] {
  const record = records.get(address);
  if (record?.kind !== "group") return [];
  return [...record.rules, ...(record.left ?? []), ...record.platformRules.map(ruleOfKey)];
}

const touchedBy = (step: Step, facts: ReadonlyMap<Address, readonly Fact[]>): Address[] =>
  step.action.operation.startsWith("group.") && facts.has(step.address) ? [step.address] : [];
