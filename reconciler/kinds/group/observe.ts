/** One look at the groups of a project; the rules of each are a read of their own. */
import { isUuid } from "../../core/canonical/catalogue";
import type { Diagnostic } from "../../core/model/diagnostic";
import { type Look, notLookedAt } from "../../core/model/evidence";
import type { LiveGroup } from "../../core/model/live";
import type { Outcome, Rejection } from "../../core/model/outcome";
import type { State } from "../../core/model/recorded";
import {
  type LookOptions,
  type LooksWanted,
  type Observed,
  observeEach,
  openLook,
  unobservedBy,
  wantsNothing,
} from "../../engine/observe";
import { readFailed } from "../../engine/read-failed";
import type { ServiceReader } from "../../service/client";

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
    (id) => readWholeGroup(client, id, { listed: listed?.get(id), alone: listed === undefined }, options),
    looks,
    findings,
  );
  refuseShared(looks, findings);
  return { looks, unlisted: opening.unlisted, forbidden, listed: listed !== undefined };
}

/** With its rules. `alone`: what a list would show of it is read as well, where the service has that. */
export async function readWholeGroup(
  client: ServiceReader,
  id: string,
  { listed, alone }: { readonly listed: LiveGroup | undefined; readonly alone: boolean },
  options?: LookOptions,
): Promise<Outcome<LiveGroup>> {
  const [head, rules] = await Promise.all([
    alone && client.can.readsOneGroup ? client.getGroup(id, options) : undefined,
    client.listRules(id, options),
  ]);
  if (head !== undefined && head.status !== "accepted") return head;
  if (rules.status !== "accepted") return rules;
  return { status: "accepted", value: { kind: "group", id, ...(head?.value ?? listed), rules: rules.value } };
}

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
