/** One look at the groups of a project; the rules of each are a read of their own. */
import { isUuid } from "../../core/canonical/catalogue";
import { canonicalLiveRule, referenceText, ruleKey, ruleOfKey } from "../../core/canonical/rules";
import type { Diagnostic } from "../../core/model/diagnostic";
import { type Look, notInList, notLookedAt, valueSeen } from "../../core/model/evidence";
import { allOfKind } from "../../core/model/kinds";
import type { LiveGroup, LiveRule } from "../../core/model/live";
import type { Failure, Outcome, Rejection } from "../../core/model/outcome";
import type { RecordedGroup, State } from "../../core/model/recorded";
import {
  type LookOptions,
  type LooksWanted,
  listName,
  type Observed,
  observeEach,
  openLook,
  unobservedBy,
  wantsNothing,
} from "../../engine/observe";
import { readFailed } from "../../engine/read-failed";
import type { ServiceReader } from "../../service/client";
import { otherForms } from "./same-traffic";

export async function observeGroups(
  client: ServiceReader,
  asked: LooksWanted,
  state: State,
  findings: Diagnostic[],
  options: LookOptions,
): Promise<Observed<LiveGroup>> {
  const looks = new Map<string, Look<LiveGroup>>();
  if (wantsNothing(asked)) return { looks, unlisted: notLookedAt, forbidden: [], listed: false };
  const ids = new Set(asked.wanted);
  const opening = await openLook("group", client, asked, findings, options);
  const listed = opening.listed && new Map(opening.listed.map((group) => [group.id, group]));
  if (ids.size > 0 && client.can.seesGroups === "rules")
    findings.push({
      severity: "note",
      code: "plan/group-names-unobserved",
      summary: "this service shows the rules of security groups, and not their names and descriptions",
    });
  // A list may be behind: a resource that it does not show counts as gone only when a read of its id says so too.
  if (listed !== undefined) for (const id of asked.known) if (!listed.has(id)) ids.add(id);
  for (const group of listed?.values() ?? []) {
    looks.set(group.id, { seen: "yes", value: group });
    // The group of an open create is recognised by its rules.
    if (isNamedInIntent(group, state)) ids.add(group.id);
  }
  const forbidden = await observeEach(
    "group",
    ids,
    (id) => readWholeGroup(client, id, listed, options),
    looks,
    findings,
  );
  if (listed !== undefined) await lookForEmpty(client, listed, looks, findings, options);
  await readRulesAgain(client, ids, state, looks, findings, options);
  refuseShared(looks, findings);
  return { looks, unlisted: opening.unlisted, forbidden, listed: listed !== undefined };
}

/** Groups by their ids, as a list shows them; `undefined`: none was read. */
type Heads = ReadonlyMap<string, LiveGroup> | undefined;

/** With its rules. What no list shows of it is read as well, where the service has that. */
export async function readWholeGroup(
  client: ServiceReader,
  id: string,
  heads: Heads,
  options?: LookOptions,
): Promise<Outcome<LiveGroup>> {
  const listed = heads?.get(id);
  const [head, rules] = await Promise.all([
    listed === undefined && client.can.readsOneGroup ? client.getGroup(id, options) : undefined,
    client.listRules(id, options),
  ]);
  if (head !== undefined && head.status !== "accepted") return head;
  if (rules.status !== "accepted") return rules;
  return { status: "accepted", value: { kind: "group", id, ...(head?.value ?? listed), rules: rules.value } };
}

/** Nothing but an empty list of rules speaks for it, which a service may show of a group that it does not have. */
export const isEmptyBesideList = (client: ServiceReader, { id, rules }: LiveGroup, heads: Heads): boolean =>
  heads !== undefined && !heads.has(id) && !client.can.readsOneGroup && (rules ?? []).length === 0;

/** The list may have been behind, so it is read once more. */
async function lookForEmpty(
  client: ServiceReader,
  heads: NonNullable<Heads>,
  looks: Map<string, Look<LiveGroup>>,
  findings: Diagnostic[],
  options: LookOptions,
): Promise<void> {
  const empty = [...looks].filter(([, look]) => look.seen === "yes" && isEmptyBesideList(client, look.value, heads));
  if (empty.length === 0) return;
  const again = await client.listGroups({ ...options, proves: true });
  if (again.status !== "accepted") findings.push(readFailed(listName("group"), again));
  const absent = again.status === "accepted" ? notInList(listName("group")) : unobservedBy(again);
  const shown = new Map(again.status === "accepted" ? again.value.map((group) => [group.id, group]) : []);
  for (const [id] of empty) {
    const group = shown.get(id);
    looks.set(id, group === undefined ? absent : { seen: "yes", value: { ...group, rules: [] } });
  }
}

/**
 * What a list of rules does not show of those that are remembered, the ones that no file declares among them. A service may
 * keep some in another form.
 */
function lacksSome({ rules, left = [], platformRules }: RecordedGroup, shown: readonly LiveRule[]): boolean {
  const live = shown.map(canonicalLiveRule);
  const have = new Set(live.map((rule) => ruleKey(rule)));
  const remembered = [...rules, ...left, ...platformRules.map(ruleOfKey)];
  const known = new Set(remembered.map((rule) => ruleKey(rule)));
  const missing = remembered.filter((rule) => !have.has(ruleKey(rule)));
  const others = live.filter((rule) => !known.has(ruleKey(rule)));
  return missing.length > otherForms(remembered, missing, others, referenceText).held.size;
}

/**
 * A list that lacks what is remembered may be a false one: that is gone where a second one lacks it too. Of a group that
 * no record knows, such as one to be imported, the rules count when two lists in a row show the same ones.
 */
async function readRulesAgain(
  client: ServiceReader,
  ids: ReadonlySet<string>,
  { resources }: State,
  looks: Map<string, Look<LiveGroup>>,
  findings: Diagnostic[],
  options: LookOptions,
): Promise<void> {
  const records = new Map(allOfKind([...resources.values()], "group").map((record) => [record.id ?? "", record]));
  const readAgain = async (id: string): Promise<void> => {
    const first = valueSeen(looks.get(id));
    if (first?.rules === undefined) return;
    const record = records.get(id);
    if (record !== undefined && !lacksSome(record, first.rules)) return;
    const read = await client.listRules(id, record === undefined ? options : { ...options, proves: true });
    const again = record === undefined && !areSameRules(first.rules, read) ? shownTwoWays : read;
    if (again.status === "accepted") looks.set(id, { seen: "yes", value: { ...first, rules: again.value } });
    else {
      looks.set(id, unobservedBy(again));
      findings.push(readFailed(`the rules of security group ${id}`, again));
    }
  };
  await Promise.all([...new Set([...ids, ...records.keys()])].map(readAgain));
}

const areSameRules = (rules: readonly LiveRule[], read: Outcome<readonly LiveRule[]>): boolean =>
  read.status !== "accepted" || idsOf(rules) === idsOf(read.value);

const idsOf = (rules: readonly LiveRule[]): string =>
  rules
    .map(({ id }) => id)
    .sort()
    .join();

const shownTwoWays: Failure = {
  status: "unavailable",
  reason: "two answers in a row showed different rules",
  fix: "run the same command again: it reads them anew",
};

/**
 * A service that answers for one group with the rules of all, which do not say whose they are: were they taken for each
 * group's own, those of the others would be deleted. Numbers may be ids of one group alone.
 */
function refuseShared(looks: Map<string, Look<LiveGroup>>, findings: Diagnostic[]): void {
  const shownBy = new Map<string, string>();
  const shared = new Map<string, Rejection>();
  for (const [group, look] of looks) {
    if (look.seen !== "yes") continue;
    for (const { id } of look.value.rules ?? []) {
      const other = isUuid(id) ? shownBy.get(id) : undefined;
      shownBy.set(id, group);
      if (other !== undefined && other !== group)
        for (const one of [other, group])
          shared.set(one, {
            status: "rejected",
            condition: "unreadable",
            message: `rule ${id} is shown as a rule of ${other} and of ${group}, so that these may be the rules of all groups`,
            hint: "in the dialect: a path or a query of operations.group.rule.list with which the service answers for one group alone",
          });
    }
  }
  for (const [group, refusal] of shared) {
    looks.set(group, unobservedBy(refusal));
    findings.push(readFailed(`the rules of security group ${group}`, refusal));
  }
}

const isNamedInIntent = ({ name }: LiveGroup, { intents }: State): boolean =>
  intents.size > 0 &&
  [...intents.values()].some(
    (intent) => intent.operation === "group.create" && intent.name.toLowerCase() === name?.toLowerCase(),
  );
