/** One look at the groups of a project; the rules of each are a read of their own. */
import type { Diagnostic } from "../../core/model/diagnostic";
import { type Look, notLookedAt } from "../../core/model/evidence";
import type { LiveGroup } from "../../core/model/live";
import type { Outcome } from "../../core/model/outcome";
import type { State } from "../../core/model/recorded";
import {
  type LookOptions,
  type LooksWanted,
  type Observed,
  observeEach,
  openLook,
  wantsNothing,
} from "../../engine/observe";
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
    async (id): Promise<Outcome<LiveGroup>> => {
      const [head, rules] = await Promise.all([
        listed === undefined && client.can.readsOneGroup ? client.getGroup(id, options) : undefined,
        client.listRules(id, options),
      ]);
      if (head !== undefined && head.status !== "accepted") return head;
      if (rules.status !== "accepted") return rules;
      return {
        status: "accepted",
        value: { kind: "group", id, ...(head?.value ?? listed?.get(id)), rules: rules.value },
      };
    },
    looks,
    findings,
  );
  return { looks, unlisted: opening.unlisted, forbidden, listed: listed !== undefined };
}

const isNamedInIntent = ({ name }: LiveGroup, { intents }: State): boolean =>
  intents.size > 0 &&
  [...intents.values()].some(
    (intent) => intent.operation === "group.create" && intent.name.toLowerCase() === name?.toLowerCase(),
  );
