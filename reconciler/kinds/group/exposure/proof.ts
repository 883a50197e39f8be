/**
 * The proof that nothing between the steps admits more than before and after together, or less than both have in
 * common, in whatever order the steps run and wherever the run stops.
 *
 * Premise: what has happened at any moment is a set of steps that holds, with each step, everything it needs to be
 * *done* first. Needs on `end` or `failed` promise no effect and are not relied upon. There are exponentially many such
 * sets, and they need not be walked through:
 *
 *   more: the traffic at a moment is the union of the rules that are there. Each rule that some step adds lies within
 *         before ∪ after; hence every union of them does. (Exact: right after that step the rule is there.)
 *   less: a point of before ∩ after is admitted at the start by some rule f. While f is there, it is admitted. Once f is
 *         gone, some step r removed it, and everything r needs is done: so it is admitted if it is covered by rules that
 *         nothing removes and that are there from the start or come with what r needs.
 */

import type { Step } from "../../../core/plan/step";
import { mustGet } from "../../../core/text/invariant";
import { appendTo } from "../../../core/text/objects";
import { type Fact, type GroupWorld, type Moments, trafficOfFacts } from "./group-world";
import { admitsNothing, covers, intersectTraffic, subtractTraffic, type Traffic, uniteTraffic } from "./traffic";

export interface Violation {
  readonly step: string;
  readonly admits: "more" | "less";
  readonly traffic: Traffic;
}

/** Where nothing lies between that must not, there is none. */
export const violationsBetween = (
  moments: Moments,
  world: GroupWorld,
  steps: ReadonlyMap<string, Step>,
): readonly Violation[] => [...admitsMore(moments, world), ...admitsLess(moments, world, steps)];

function admitsMore({ facts, before, after }: Moments, world: GroupWorld): Violation[] {
  // What is added and stays is part of what is there afterwards.
  const added = facts.filter((fact) => fact.addedBy !== undefined && fact.removedBy.length > 0);
  if (added.length === 0) return [];
  const allowed = uniteTraffic(before, after);
  if (covers(allowed, trafficOfFacts(added, world))) return [];
  return [...byStep(added, ({ addedBy }) => (addedBy === undefined ? [] : [addedBy]))].flatMap(([step, its]) => {
    const surplus = subtractTraffic(trafficOfFacts(its, world), allowed);
    return admitsNothing(surplus) ? [] : [{ step, admits: "more" as const, traffic: surplus }];
  });
}

function admitsLess(
  { facts, before, after }: Moments,
  world: GroupWorld,
  steps: ReadonlyMap<string, Step>,
): Violation[] {
  const removed = facts.filter((fact) => fact.addedBy === undefined && fact.removedBy.length > 0);
  if (removed.length === 0) return [];
  const core = intersectTraffic(before, after);
  const atStake = intersectTraffic(trafficOfFacts(removed, world), core);
  if (admitsNothing(atStake)) return [];
  const lasting = facts.filter((fact) => fact.removedBy.length === 0);
  const removers = byStep(removed, (fact) => fact.removedBy);
  const adders = new Set(lasting.flatMap((fact) => fact.addedBy ?? []));
  const beforehand = new Map([...removers.keys()].map((step) => [step, stepsBefore(step, adders, steps)]));
  const standing = (done: (step: string) => boolean): Traffic =>
    trafficOfFacts(
      lasting.filter((fact) => fact.addedBy === undefined || done(fact.addedBy)),
      world,
    );
  // Usually every removal comes after every addition, and then one comparison is enough.
  const always = (step: string): boolean => [...beforehand.values()].every((done) => done.has(step));
  if (covers(standing(always), atStake)) return [];
  return [...removers].flatMap(([step, its]) => {
    const lost = subtractTraffic(
      intersectTraffic(trafficOfFacts(its, world), core),
      standing((added) => mustGet(beforehand, step).has(added)),
    );
    return admitsNothing(lost) ? [] : [{ step, admits: "less" as const, traffic: lost }];
  });
}

function byStep(facts: readonly Fact[], stepsOf: (fact: Fact) => readonly string[]): Map<string, Fact[]> {
  const groups = new Map<string, Fact[]>();
  for (const fact of facts) for (const step of stepsOf(fact)) appendTo(groups, step, fact);
  return groups;
}

/** What is done before a step, by the steps of a plan; `undefined`: it was asked about once. */
const asked = new WeakMap<ReadonlyMap<string, Step>, Map<string, ReadonlySet<string> | undefined>>();

/**
 * Which of the wanted steps, and maybe others, are done whenever this step has begun. A step that many groups ask about
 * is walked from twice: once until what is wanted is found, and once for all of them.
 */
export function stepsBefore(
  step: string,
  wanted: ReadonlySet<string>,
  steps: ReadonlyMap<string, Step>,
): ReadonlySet<string> {
  const known = asked.get(steps) ?? new Map<string, ReadonlySet<string> | undefined>();
  asked.set(steps, known);
  const all = known.get(step) ?? walkBack(step, steps, known.has(step) ? undefined : wanted);
  known.set(step, known.has(step) ? all : undefined);
  return all;
}

/** Everything that is done before the step, or what of it is wanted. */
function walkBack(
  step: string,
  steps: ReadonlyMap<string, Step>,
  wanted: ReadonlySet<string> | undefined,
): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set([step]);
  const open = [step];
  for (let next = open.pop(); next !== undefined && found.size !== wanted?.size; next = open.pop())
    for (const { step: needed, on } of steps.get(next)?.needs ?? []) {
      if (on !== "done" || seen.has(needed)) continue;
      seen.add(needed);
      if (wanted?.has(needed) !== false) found.add(needed);
      open.push(needed);
    }
  return found;
}
