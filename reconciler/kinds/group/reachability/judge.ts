/**
 * Whether an assertion holds at every moment of a plan, whatever the order of its steps and wherever it stops.
 *
 *   never, only: each rule that is ever there is there at some moment (right at the start, or right after its step), so
 *                what any of them admits is admitted then. Exact.
 *   always:      what is admitted at the start is lost only once every rule that admits it is gone. A rule goes with one
 *                of its removers; by then all that this remover needs is done. So what a remover cannot take away, because
 *                rules that nothing removes admit it by then, stays admitted. The same premise as exposure/proof.ts.
 */

import type { Address } from "../../../core/model/address";
import type { Ethertype } from "../../../core/model/rule";
import type { Step } from "../../../core/plan/step";
import { type Fact, type GroupWorld, type Moments, momentsOf, trafficOfFacts } from "../exposure/group-world";
import { stepsBefore } from "../exposure/proof";
import {
  admitsNothing,
  intersectTraffic,
  noTraffic,
  subtractTraffic,
  type Traffic,
  uniteTraffic,
} from "../exposure/traffic";
import { admitted, everythingAsked, perhapsAdmitted, withoutParts } from "./admitted";
import type { LeftOut, ReachQuery } from "./query";

export type VerdictWord = "holds" | "unproven" | "violated";

export interface JudgedAssertion {
  readonly query: ReachQuery;
  readonly verdict: VerdictWord;
  /** What the plan does to the assertion. `breaks`: it held before, or was broken less. */
  readonly change: "none" | "breaks" | "keeps" | "repairs";
  /** The traffic that is admitted and must not be, or is not admitted and must be; or that cannot be decided. */
  readonly set: Traffic;
  /** An exception whose last day is over would cover this traffic. */
  readonly expired: boolean;
  /** For `always`: the traffic is lost only between two steps. */
  readonly between: boolean;
  /** For `always` where no family is said: nothing of it is admitted in the other one. */
  readonly onlyIn?: Ethertype;
  /** Why it cannot be proved, where no rule is the reason. */
  readonly why?: string;
  /** Exceptions that are still needed. */
  readonly needed: readonly LeftOut[];
}

export interface Judge {
  readonly world: GroupWorld;
  readonly steps: ReadonlyMap<string, Step>;
  group(address: Address): Moments | undefined;
  traffic(facts: readonly Fact[]): Traffic;
}

export function createJudge(world: GroupWorld, steps: ReadonlyMap<string, Step>): Judge {
  const groups = new Map<Address, Moments>();
  const traffic = (facts: readonly Fact[]): Traffic => trafficOfFacts(facts, world);
  return {
    world,
    steps,
    traffic,
    group(address) {
      const facts = world.facts.get(address);
      if (facts === undefined) return undefined;
      const group = groups.get(address) ?? momentsOf(facts, world);
      groups.set(address, group);
      return group;
    },
  };
}

/** Of a group that the plan does not touch all moments are one. */
const isUntouched = ({ before, ever }: Moments): boolean => before === ever;

export function judgeQuery(query: ReachQuery, judge: Judge): JudgedAssertion {
  const group = judge.group(query.group) ?? momentsOf([], judge.world);
  if (query.assertion.kind !== "always") return judgeNever(query, group, judge);
  // Both families are meant where none is said. One in which nothing of it was ever admitted is told, and not demanded.
  const used = query.families.filter(
    (family) => !admitsNothing(admitted(group.ever, { ...query, families: [family] })),
  );
  const [only] = used;
  return used.length === 1 && query.families.length > 1 && query.assertion.ethertype === undefined && only !== undefined
    ? { ...judgeAlways({ ...query, families: [only] }, group, judge), onlyIn: only }
    : judgeAlways(query, group, judge);
}

const judgedAs =
  (query: ReachQuery, needed: readonly LeftOut[] = []) =>
  (
    word: VerdictWord,
    change: JudgedAssertion["change"],
    set: Traffic,
    more: Partial<JudgedAssertion> = {},
  ): JudgedAssertion => ({ ...{ query, verdict: word, change, set, expired: false, between: false, needed }, ...more });

function judgeNever(query: ReachQuery, group: Moments, judge: Judge): JudgedAssertion {
  const standing = query.leftOut.filter(({ expired }) => !expired);
  const asked = (traffic: Traffic): Traffic => admitted(traffic, query);
  const left = (traffic: Traffic): Traffic => withoutParts(traffic, query, standing);
  const all = asked(group.ever);
  const still = isUntouched(group);
  const askedAfter = still ? all : asked(group.after);
  const verdict = judgedAs(query, neededParts(query, askedAfter));
  const leftOfAll = left(all);
  if (!admitsNothing(leftOfAll)) {
    const before = still ? leftOfAll : left(asked(group.before));
    const after = still ? leftOfAll : left(askedAfter);
    const added = group.facts.filter((fact) => fact.addedBy !== undefined);
    const during = added.length === 0 ? noTraffic : left(asked(judge.traffic(added)));
    const fresh = still ? noTraffic : subtractTraffic(uniteTraffic(after, during), before);
    if (!admitsNothing(fresh)) return verdict("violated", "breaks", fresh);
    if (!admitsNothing(after)) {
      const ended = query.leftOut.filter(({ expired }) => expired);
      const expired = ended.length > 0 && !admitsNothing(subtractTraffic(after, withoutParts(after, query, ended)));
      return verdict("violated", "keeps", after, { expired });
    }
    if (!admitsNothing(before)) return verdict("violated", "repairs", before);
  }
  // Two halves of all addresses that are never there together admit some of the members, whoever they are.
  const perhaps = uniteTraffic(leftOfAll, withoutParts(perhapsAdmitted(group.ever, query), query, standing));
  if (!admitsNothing(perhaps)) {
    const change = admitsNothing(withoutParts(perhapsAdmitted(group.before, query), query, standing))
      ? "breaks"
      : "keeps";
    return verdict("unproven", change, perhaps);
  }
  const why = whyUnknown(query, judge) ?? whyUnseen(query, judge);
  return why === undefined ? verdict("holds", "none", noTraffic) : verdict("unproven", "none", noTraffic, { why });
}

const neededParts = ({ leftOut, ...query }: ReachQuery, after: Traffic): LeftOut[] =>
  leftOut.filter(({ peers, spans }) => !admitsNothing(admitted(after, { ...query, peers, spans, named: [] })));

function whyUnknown({ group, direction, unknown, assertion }: ReachQuery, { world }: Judge): string | undefined {
  const [vm] = unknown;
  if (vm !== undefined) return `the address of ${vm} is not known`;
  const retired = world.retired.get(group)?.[0];
  if (retired !== undefined && assertion.kind !== "always")
    return `VMs may still be under the replaced group ${retired}, whose rules are not read`;
  if (world.madeAlone.has(group) && direction === "egress")
    return `what the service itself puts on the new group ${group} is known once it is made`;
  return undefined;
}

/** What is recorded may be old. Who planned without a look has said that it will do. */
const whyUnseen = ({ group }: ReachQuery, { world }: Judge): string | undefined =>
  world.unobserved.get(group) === "not-shown" ? `the rules of ${group} could not be read` : undefined;

function judgeAlways(query: ReachQuery, group: Moments, judge: Judge): JudgedAssertion {
  const wanted = everythingAsked(query);
  const given = (traffic: Traffic): Traffic => admitted(traffic, query);
  const [before, after] = [given(group.before), given(group.after)];
  const missingBefore = subtractTraffic(wanted, before);
  const missingAfter = subtractTraffic(wanted, after);
  const perhaps = (traffic: Traffic): Traffic => uniteTraffic(given(traffic), perhapsAdmitted(traffic, query));
  const lost = isUntouched(group) ? noTraffic : losable(given, group, judge, before);
  const fresh = judge.world.fresh.has(query.group);
  const broken = fresh ? missingAfter : uniteTraffic(subtractTraffic(missingAfter, missingBefore), lost);
  const verdict = judgedAs(query);
  if (admitsNothing(broken) && admitsNothing(missingAfter))
    return admitsNothing(missingBefore) || fresh
      ? holdsOrUnknown(query, judge, verdict)
      : verdict("violated", "repairs", missingBefore);
  const why = whyUnknown(query, judge) ?? (admitsNothing(broken) ? whyUnseen(query, judge) : undefined);
  if (why !== undefined) return verdict("unproven", "none", missingAfter, { why });
  const undecidedAfter = intersectTraffic(missingAfter, perhapsAdmitted(group.after, query));
  // Where at some moment not even a rule is there that may hold the members of a group, it is lost for certain.
  const lostForCertain = admitsNothing(lost) ? lost : losable(perhaps, group, judge, before);
  const undecided = uniteTraffic(undecidedAfter, subtractTraffic(lost, lostForCertain));
  const missing = admitsNothing(broken) ? missingAfter : broken;
  const certain = uniteTraffic(subtractTraffic(missing, undecided), lostForCertain);
  if (admitsNothing(certain)) return verdict("unproven", admitsNothing(broken) ? "keeps" : "breaks", undecided);
  return verdict("violated", admitsNothing(broken) ? "keeps" : "breaks", certain, {
    between: admitsNothing(intersectTraffic(certain, missingAfter)),
  });
}

function holdsOrUnknown(query: ReachQuery, judge: Judge, verdict: ReturnType<typeof judgedAs>): JudgedAssertion {
  const [vm] = query.unknown;
  const why = vm === undefined ? whyUnseen(query, judge) : `the address of ${vm} is not known`;
  return why === undefined ? verdict("holds", "none", noTraffic) : verdict("unproven", "none", noTraffic, { why });
}

/** What is admitted at the start and may be admitted no longer at some moment. `given`: what counts as admitted. */
function losable(
  given: (traffic: Traffic) => Traffic,
  { facts, lasting }: Moments,
  judge: Judge,
  before: Traffic,
): Traffic {
  let open = subtractTraffic(before, given(lasting));
  if (admitsNothing(open)) return open;
  const going = facts.filter((fact) => fact.addedBy === undefined && fact.removedBy.length > 0);
  const staying = facts.filter((fact) => fact.removedBy.length === 0);
  const adders = new Set(staying.flatMap((fact) => fact.addedBy ?? []));
  const covers = new Map<string, Traffic>();
  const coveredBefore = (step: string): Traffic => {
    let covered = covers.get(step);
    if (covered === undefined) {
      const done = stepsBefore(step, adders, judge.steps);
      covered = given(judge.traffic(staying.filter((fact) => fact.addedBy === undefined || done.has(fact.addedBy))));
      covers.set(step, covered);
    }
    return covered;
  };
  const removers = [...new Set(going.flatMap((fact) => fact.removedBy))];
  // Whichever rule goes first, traffic that stays covered after each removal is not lost.
  const always = removers.map(coveredBefore).reduce((all, one) => intersectTraffic(all, one));
  open = subtractTraffic(open, always);
  for (const fact of going) {
    if (admitsNothing(open)) break;
    const guarded = fact.removedBy.map(coveredBefore).reduce((all, one) => intersectTraffic(all, one));
    open = subtractTraffic(open, intersectTraffic(given(judge.traffic([fact])), guarded));
  }
  return open;
}
