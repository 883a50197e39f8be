/** What the assertions of a file say of a plan, of the file alone or of the live service, as findings with a counterexample. */

import { parseCidr } from "../../../core/canonical/cidr";
import { referenceText, ruleKey } from "../../../core/canonical/rules";
import type { Finding } from "../../../core/findings/finding";
import type { Address } from "../../../core/model/address";
import type { Allowance, Assertion } from "../../../core/model/assertion";
import { type Computed, textKey } from "../../../core/model/computed";
import type { Closed, Desired, DesiredGroup } from "../../../core/model/desired";
import type { SourcePosition } from "../../../core/model/diagnostic";
import { valueSeen } from "../../../core/model/evidence";
import { allOfKind, ofKind } from "../../../core/model/kinds";
import { sight } from "../../../core/model/live";
import { groupNamed, portsWritten, type Rule, remoteIpOf } from "../../../core/model/rule";
import { dayMs } from "../../../core/model/time";
import type { Step } from "../../../core/plan/step";
import { groupedBy } from "../../../core/text/objects";
import { unobservedText } from "../exposure/findings";
import { type ExposureInput, type Fact, type GroupWorld, groupWorld, recordsAsMoved } from "../exposure/group-world";
import { describeSpan } from "../exposure/protocols";
import { knownRule } from "../fill-in";
import { createJudge, type Judge, type JudgedAssertion, judgeQuery, type VerdictWord } from "./judge";
import { overlapOf, type QueryContext, queriesOf, type ReachQuery } from "./query";
import { admitting, flowIn, flowSpan, setText, type WitnessFlow } from "./witness";

type Counterexample = NonNullable<Finding["counterexample"]>;

export interface AssertionVerdict {
  readonly assertion: Assertion;
  readonly verdict: VerdictWord;
}

export interface Reachability {
  readonly findings: readonly Finding[];
  /** One verdict for each assertion, in the file's order. */
  readonly verdicts: readonly AssertionVerdict[];
}

export interface ReachabilityOptions {
  /** Today, in UTC: `2026-01-31`. */
  readonly today: string;
  /** `looked`: nothing is planned, so what is broken is so already. `file`: nothing was looked at. */
  readonly about?: "plan" | "looked" | "file";
}

const noReachability: Reachability = { findings: [], verdicts: [] };

/** Judges a plan; with a plan that changes nothing, the live service. */
export function judgeReachability(input: ExposureInput, options: ReachabilityOptions): Reachability {
  const { desired, plan, live } = input;
  if (desired.reachability === undefined) return noReachability;
  const records = recordsAsMoved(input);
  return judgeWorld(
    {
      desired,
      world: groupWorld(input),
      steps: plan.steps,
      destroys: plan.options.destroy === true,
      addressesOf: (vm) => {
        const record = ofKind(records.get(vm), "vm");
        const sighting = record?.id === undefined ? undefined : sight(live, "vm", record.id);
        // A VM that is made anew in the place of one that is gone gets another address.
        const known = sighting?.seen === "gone" ? undefined : (valueSeen(sighting) ?? record);
        return [known?.privateIp, known?.floatingIp].flatMap((ip) => parseCidr(ip ?? "")?.text ?? []);
      },
      madeAnew: new Set(
        allOfKind(plan.changes, "vm").flatMap(({ address, action }) => (action === "replace" ? [address] : [])),
      ),
    },
    options,
  );
}

/** Judges the rules of the file alone. */
export function judgeFile(desired: Closed, today: string): Reachability {
  if (desired.reachability === undefined) return noReachability;
  const world = declaredWorld(desired);
  const judged = judgeWorld(
    { desired, world, steps: [], destroys: false, addressesOf: () => [] },
    { today, about: "file" },
  );
  // Values that only the service knows are judged with the plan.
  return { ...judged, findings: judged.findings.filter(({ code }) => code !== "reachability/unproven") };
}

/** The rules of the file, as if nothing were there yet; with the values that are known, where any are given. */
export function declaredWorld({ resources }: Desired, value?: (computed: Computed) => string | undefined): GroupWorld {
  const known = (rule: Rule): Rule => (value === undefined ? rule : knownRule(rule, value));
  const groups = allOfKind(resources, "group");
  const addresses = groups.map(({ address }) => address);
  return {
    facts: new Map(
      groups.map(({ address, rules }) => [
        address,
        rules.map((rule): Fact => ({ rule: known(rule), addedBy: "the file", removedBy: [], declared: true })),
      ]),
    ),
    touched: new Set(addresses),
    fresh: new Set(addresses),
    madeAlone: new Set(addresses),
    identify: referenceText,
    known,
    unobserved: new Map(),
    retired: new Map(),
  };
}

interface JudgedWorld {
  readonly desired: Desired;
  readonly world: GroupWorld;
  readonly steps: readonly Step[];
  readonly destroys: boolean;
  readonly addressesOf: QueryContext["addressesOf"];
  readonly madeAnew?: QueryContext["madeAnew"];
}

function judgeWorld(judged: JudgedWorld, options: ReachabilityOptions): Reachability {
  const { desired, world, steps, destroys, addressesOf, madeAnew } = judged;
  const judge = createJudge(world, new Map(steps.map((step) => [step.id, step])));
  const context: QueryContext = {
    groups: [...world.facts.keys()],
    identify: world.identify,
    addressesOf,
    madeAnew,
    today: options.today,
  };
  const teller = createTeller(judged, judge, options);
  const findings: Finding[] = [];
  const verdicts: AssertionVerdict[] = [];
  const asked: ReachQuery[] = [];
  for (const assertion of desired.reachability ?? []) {
    // A plan that deletes everything leaves nothing that must stay admitted.
    if (destroys && assertion.kind === "always") continue;
    const queries = queriesOf(assertion, context);
    asked.push(...queries);
    const its = queries.map((query) => judgeQuery(query, judge));
    for (const verdict of its) findings.push(...teller(verdict));
    findings.push(...allowanceFindings(assertion, its, options.today));
    verdicts.push({ assertion, verdict: worst(its) });
  }
  findings.push(...contradictions(asked));
  return { findings, verdicts };
}

const worst = (verdicts: readonly JudgedAssertion[]): VerdictWord =>
  verdicts.some(({ verdict, change }) => verdict === "violated" && change !== "repairs")
    ? "violated"
    : verdicts.some(({ verdict }) => verdict === "unproven")
      ? "unproven"
      : "holds";

/** The assertion's place in the file. */
const placeOf = ({ file, line }: SourcePosition): string => `${file}:${line}`;

type Tell = (verdict: JudgedAssertion) => Finding[];

/** In words, around the rule by which it is so, and the step of the plan from which on it is so. */
interface When {
  readonly words: string;
  readonly after?: string;
  readonly step?: string;
}

function createTeller({ steps, desired }: JudgedWorld, judge: Judge, { about = "plan" }: ReachabilityOptions): Tell {
  const order = new Map<string, number>(steps.map((step, index) => [step.id, index + 1]));
  const rules = ruleTexts(desired, judge.world);
  const stepWords = (step: string): string => `step ${order.get(step) ?? "?"} of ${steps.length} (${step})`;
  const earliest = (steps: readonly string[]): string | undefined =>
    [...steps].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))[0];
  const refusal = (assertion: Assertion): string => `refused by reachability (${placeOf(assertion.source)})`;

  const when = (facts: readonly Fact[], { change, query, between }: JudgedAssertion): When => {
    const isAlways = query.assertion.kind === "always";
    const is = isAlways ? "is not admitted" : "is admitted";
    if (about === "file") return { words: isAlways ? `${is} by the rules that are declared` : is };
    if (about === "looked") return { words: `${is} now` };
    if (change === "keeps")
      return { words: `${is} now, and ${isAlways ? "not after the plan either" : "after the plan"}` };
    if (change === "repairs")
      return isAlways
        ? { words: `${is} now; the plan admits it` }
        : { words: `${is} now`, after: "; the plan ends it" };
    return isAlways ? whenClosed(facts, between) : whenOpened(facts);
  };
  /** Traffic that must stay admitted and is not any more. */
  const whenClosed = (facts: readonly Fact[], between: boolean): When => {
    const gone = earliest(facts.filter(({ addedBy }) => addedBy === undefined).flatMap(({ removedBy }) => removedBy));
    if (gone === undefined) return { words: "is not admitted after the plan" };
    return between
      ? { words: `may for a while not be admitted from ${stepWords(gone)} on`, step: gone }
      : { words: `is not admitted after ${stepWords(gone)}, and after the plan`, step: gone };
  };
  /** Traffic that must not be admitted and is from some step on. */
  const whenOpened = (facts: readonly Fact[]): When => {
    const lasting = facts.find((fact) => fact.removedBy.length === 0);
    const fact = lasting ?? facts[0];
    const step = fact?.addedBy;
    if (step === undefined) return { words: "is admitted after the plan" };
    const until = lasting === undefined ? earliest(fact?.removedBy ?? []) : undefined;
    return {
      words: `is admitted after ${stepWords(step)}${until === undefined ? ", and after the plan" : `, until ${stepWords(until)}`}`,
      step,
    };
  };

  // One finding with all its fields, of which each is there or not by the verdict.
  const violated = (verdict: JudgedAssertion): Finding[] => {
    const { query, set, change } = verdict;
    const { assertion, group } = query;
    const flow = flowIn(set);
    const facts = flow === undefined ? [] : admitting(flow, verdict, judge);
    const isAlways = assertion.kind === "always";
    const unobserved = judge.world.unobserved.get(group);
    const told = when(isAlways || change !== "breaks" ? facts : onlyNew(facts), verdict);
    const fact = facts.find(({ addedBy }) => addedBy === told.step) ?? facts[0];
    const rule = fact === undefined ? undefined : rules(group, fact.rule);
    const by = isAlways && fact?.addedBy === undefined ? "; it was admitted by" : " by";
    const found = {
      detail: [
        `${flowText(flow, query)}${told.words}${rule === undefined ? "" : `${by} ${rule}`}${told.after ?? ""}${halfOf(query)}`,
        `in all: ${setText(set)}`,
        ...(unobserved === undefined ? [] : [unobservedText(unobserved)]),
        ...(verdict.expired ? ["an exception that covered it has ended"] : []),
      ].join("; "),
      ...placeOfQuery(query),
      counterexample: { set: setText(set), witness: witnessOf(flow), rule: rule ?? null, step: told.step ?? null },
    };
    if (change === "repairs") {
      const summary = `${assertion.label}: the plan repairs it`;
      return [{ severity: "note", code: "reachability/repaired", summary, ...found }];
    }
    const refuses = (change === "breaks" && about !== "looked") || verdict.expired;
    return [
      {
        severity: refuses ? "error" : "warning",
        code: "reachability/violated",
        summary: `${assertion.label}${becauseOf(query)}`,
        fix: isAlways
          ? `add the rule that admits it to ${missingFrom(query)}, or narrow the assertion`
          : "narrow the rule, or add `allow: { from: …, until: …, reason: … }` to the assertion",
        ...found,
        refused: refuses ? refusal(assertion) : undefined,
      },
    ];
  };

  return (verdict) => {
    if (verdict.verdict === "holds")
      return verdict.onlyIn === undefined ? [] : [oneFamily(verdict.query, verdict.onlyIn)];
    return verdict.verdict === "unproven" ? [unproven(verdict, judge)] : violated(verdict);
  };
}

const flowText = (flow: WitnessFlow | undefined, { direction }: ReachQuery): string =>
  flow === undefined ? "" : `${flow.service} ${direction === "ingress" ? "from" : "to"} ${flow.peer} `;
const placeOfQuery = ({ group, assertion }: ReachQuery) => ({ address: group, source: assertion.source });
const becauseOf = ({ assertion: { because } }: ReachQuery): string => (because === undefined ? "" : ` (${because})`);
const halfOf = ({ assertion, direction, group }: ReachQuery): string =>
  assertion.kind === "always" ? `; it is the ${direction} half, the rules of ${group}` : "";

const oneFamily = (query: ReachQuery, family: string): Finding => ({
  severity: "note",
  code: "reachability/one-family",
  summary: `${query.assertion.label}: it holds over ${family} alone`,
  detail: `no rule of ${query.group} admits any of it over the other family`,
  fix: `write ethertype: ${family} in the assertion, or add the rules`,
  ...placeOfQuery(query),
});

function unproven({ query, set, why }: JudgedAssertion, judge: Judge): Finding {
  // Either the assertion names a group and a rule addresses, or the other way round.
  const isAskedByName = [...set.values()].every(({ space: { group } }) => query.named.includes(group ?? ""));
  const unsaid = isAskedByName
    ? "a rule admits addresses, and rules do not say which addresses the members of a group have"
    : "a rule names it, and rules do not say which addresses that is";
  const fix = isAskedByName
    ? "name the group in remote_group instead of its addresses, or narrow the assertion"
    : "say in the assertion whom the rule names instead of addresses, or narrow it";
  return {
    severity: why === undefined || !judge.world.madeAlone.has(query.group) ? "warning" : "note",
    code: "reachability/unproven",
    summary: `${query.assertion.label}: cannot be proved${becauseOf(query)}`,
    detail: `${why ?? `${setText(set)}: ${unsaid}`}${halfOf(query)}`,
    fix: why === undefined ? fix : undefined,
    ...placeOfQuery(query),
    counterexample: { set: setText(set), witness: witnessOf(flowIn(set)), rule: null, step: null },
  };
}

const onlyNew = (facts: readonly Fact[]): readonly Fact[] => facts.filter(({ addedBy }) => addedBy !== undefined);

const missingFrom = ({ group, direction }: ReachQuery): string => `${group} (${direction})`;

const witnessOf = (flow: WitnessFlow | undefined): Counterexample["witness"] =>
  flow === undefined ? null : { direction: flow.direction, service: flow.service, peer: flow.peer };

/** A rule as the file has it, with its place. */
export function ruleTexts(desired: Desired, world: GroupWorld): (group: Address, rule: Rule) => string {
  const groups = new Map<Address, DesiredGroup>();
  for (const resource of allOfKind(desired.resources, "group")) groups.set(resource.address, resource);
  return (address, rule) => {
    const group = groups.get(address);
    const key = ruleKey(rule, world.identify);
    const isRule = (one: Rule): boolean =>
      [one, world.known(one)].some((form) => ruleKey(form, world.identify) === key);
    const at = group?.rules.findIndex(isRule) ?? -1;
    const place = group?.rulePlaces?.[at];
    const words = `{ ${ruleWords(rule, world)} }`;
    // Where each rule stands is known only in a file with assertions.
    if (group !== undefined && at >= 0 && place === undefined)
      return `a rule of ${address} ${words} (${placeOf(group.source)})`;
    return place === undefined
      ? `a rule of ${address} that the file does not declare ${words}`
      : `${address} rules[${place.index}] ${words} (${placeOf(place.source)})`;
  };
}

function ruleWords(rule: Rule, { identify }: GroupWorld): string {
  const { protocol, ports, direction } = rule;
  const [group, ip] = [groupNamed(rule), remoteIpOf(rule)];
  const service = ports === undefined ? protocol : `${protocol} ${portsWritten(ports)}`;
  const peer =
    group === undefined
      ? `remote_ip: ${textKey(ip ?? "")}`
      : `remote_group: ${identify(group).replace(/(^|\/)group\./, "$1")}`;
  return `${direction === "egress" ? "egress, " : ""}${service}, ${peer}`;
}
const warnDays = 14;
const mostDays = 366;

function allowanceFindings(assertion: Assertion, verdicts: readonly JudgedAssertion[], today: string): Finding[] {
  const now = Date.parse(today);
  return assertion.allow.flatMap((allowance): Finding[] => {
    const source = allowance.source;
    const owner = allowance.owner === undefined ? "" : `; its owner is ${allowance.owner}`;
    const days = Math.round((Date.parse(allowance.until) - now) / dayMs);
    const needed = verdicts.some((verdict) => verdict.needed.some((part) => part.allowance === allowance));
    if (!needed)
      return [
        {
          severity: "warning",
          code: "reachability/exception-unneeded",
          summary: `${assertion.label}: nothing needs this exception any more (${allowance.reason})`,
          fix: "remove it from allow",
          source,
        },
      ];
    if (days > mostDays)
      return [
        {
          severity: "error",
          code: "reachability/exception-too-long",
          summary: `${assertion.label}: an exception ends within a year, and this one on ${allowance.until}`,
          fix: `write a day until ${new Date(now + 365 * dayMs).toISOString().slice(0, 10)}`,
          source,
          refused: `refused by reachability (${placeOf(source)})`,
        },
      ];
    return days >= 0 && days <= warnDays ? [endsSoon(assertion, allowance, days, owner)] : [];
  });
}

const endsSoon = (assertion: Assertion, allowance: Allowance, days: number, owner: string): Finding => ({
  severity: "warning",
  code: "reachability/exception-ends",
  summary: `${assertion.label}: an exception ends in ${days} ${days === 1 ? "day" : "days"}, on ${allowance.until} (${allowance.reason})`,
  detail: `what it covers is refused afterwards${owner}`,
  fix: "narrow the rules that need it, or set a new day with its reason",
  source: allowance.source,
});

/** No rules at all could keep both. */
function contradictions(queries: readonly ReachQuery[]): Finding[] {
  const always = queries.filter(({ assertion }) => assertion.kind === "always");
  if (always.length === 0) return [];
  const byGroup = groupedBy(queries, ({ assertion, group }) => (assertion.kind === "always" ? undefined : group));
  const findings: Finding[] = [];
  for (const must of always)
    for (const not of byGroup.get(must.group) ?? []) {
      const overlap = overlapOf(must, not);
      if (overlap === undefined) continue;
      const way = must.direction === "ingress" ? "from" : "to";
      const service = describeSpan(flowSpan(overlap.span)).join("");
      findings.push({
        severity: "error",
        code: "reachability/contradiction",
        summary: `${must.assertion.label} and ${not.assertion.label} contradict each other`,
        detail: `${service} ${way} ${overlap.peer} (${overlap.family}) must be admitted by ${placeOf(must.assertion.source)}, and must not by ${placeOf(not.assertion.source)}`,
        fix: "narrow one of the two; a never takes `except:`",
        address: must.group,
        source: must.assertion.source,
        refused: `refused by reachability (${placeOf(must.assertion.source)})`,
      });
    }
  return findings;
}
