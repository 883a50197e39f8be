/** What is waited for about a group: that it is gone after its delete, and that rules are there before others go. */
import { canonicalLiveRule, type GroupIdentity } from "../../core/canonical/rules";
import type { LiveGroup } from "../../core/model/live";
import { type Failure, isGone, isShut, type Outcome } from "../../core/model/outcome";
import type { Rule } from "../../core/model/rule";
import { lookWithin } from "../../engine/look-again";
import type { Ports } from "../../engine/ports";
import {
  couldNotLook,
  deletedUnseen,
  doneAndSeen,
  doneUnseen,
  type Run,
  type StepResult,
  stoppedBefore,
  stoppedWhile,
} from "../../engine/run";
import { admissionText, describeTraffic } from "./exposure/describe";
import { admitsNothing, intersectTraffic, subtractTraffic, type Traffic, trafficOf } from "./exposure/traffic";

export interface GroupWatch extends Pick<Ports, "client" | "clock" | "timing"> {
  readonly signal: AbortSignal;
  listGroups(): Promise<Outcome<readonly LiveGroup[]>>;
}

/**
 * A read of a group of which a delete says that there is none; `undefined`: its rules alone can be read, and an empty list
 * of them tells nothing.
 */
export async function readDoubted(
  id: string,
  { client, signal, listGroups }: Omit<GroupWatch, "clock" | "timing">,
): Promise<Outcome<unknown> | undefined> {
  const rules = await client.listRules(id, { signal });
  if (rules.status !== "accepted" || rules.value.length > 0) return rules;
  if (client.can.readsOneGroup) return client.getGroup(id, { signal });
  if (client.can.seesGroups !== "list") return undefined;
  const listed = await listGroups();
  return listed.status === "accepted" && !listed.value.some((group) => group.id === id) ? notListed : listed;
}

const notListed: Failure = {
  ...{ status: "rejected", condition: "not_found" },
  message: "the list of security groups does not show it",
};

/**
 * Whether the service still has the group. Without a list and a read of one group its rules tell: an empty list of rules
 * may be said of a group that is gone as well as of one that is there.
 */
async function lookForGroup(
  id: string,
  { client, signal, listGroups }: GroupWatch,
): Promise<"there" | "gone" | { readonly blind: string } | { readonly failure: Failure }> {
  if (client.can.seesGroups === "list") {
    const listed = await listGroups();
    if (listed.status !== "accepted") return { failure: listed };
    return listed.value.some((group) => group.id === id) ? "there" : "gone";
  }
  const read = await (client.can.readsOneGroup ? client.getGroup(id, { signal }) : client.listRules(id, { signal }));
  if (isGone(read)) return "gone";
  if (read.status !== "accepted") return { failure: read };
  return Array.isArray(read.value) && read.value.length === 0
    ? { blind: "this service has no list of security groups (operations.group.list), and shows no rules of it" }
    : "there";
}

export async function waitUntilGroupGone(id: string, name: string, watch: GroupWatch): Promise<StepResult> {
  const { timing, signal } = watch;
  const ended = await lookWithin({ ports: watch, signal }, timing.discoveryWindowMs, async (isOver) => {
    const looked = await lookForGroup(id, watch);
    if (looked === "gone") return doneAndSeen;
    if (typeof looked === "object" && "blind" in looked)
      return doneUnseen({ ...{ kind: "group", id, field: "absence", value: id }, said: "that it is gone", ...looked });
    if (looked !== "there" && (isOver || looked.failure.status === "rejected"))
      return deletedUnseen(`group ${name}`, looked.failure);
    return isOver ? groupStillThere(name, timing.discoveryWindowMs) : undefined;
  });
  return ended ?? stoppedWhile("waiting for it");
}

const groupStillThere = (name: string, waitedMs: number): StepResult => ({
  end: "failed",
  code: "apply/timeout",
  message: `the service accepted the delete of group ${name}, and still shows it after ${Math.round(waitedMs / 1000)} s`,
  fix: "run the same command again: it deletes the group once more",
});

/** A rule that is to go, and what shares traffic with it and is declared. */
export interface GoingRule {
  readonly groupId: string;
  readonly ruleId: string;
  readonly rule: Rule;
  readonly declared: readonly Rule[];
}

/**
 * A service may have accepted the rules that take its place and not have them, so this one goes once others are seen to
 * admit what is declared. Why it does not go; `undefined`: it may, or nobody can look.
 */
export async function whyItStays(
  { groupId, ruleId, rule, declared }: GoingRule,
  identify: GroupIdentity,
  run: Run,
): Promise<StepResult | undefined> {
  const shared = intersectTraffic(trafficOf([rule], identify), trafficOf(declared, identify));
  if (admitsNothing(shared)) return undefined;
  const { client, timing } = run.ports;
  const ended = await lookWithin<{ readonly why?: StepResult }>(run, timing.discoveryWindowMs, async (isOver) => {
    const listed = await client.listRules(groupId, { signal: run.signal });
    if (listed.status !== "accepted") return isShut(listed) ? {} : { why: couldNotLook(`group ${groupId}`, listed) };
    const others = listed.value.filter(({ id }) => id !== ruleId).map(canonicalLiveRule);
    const alone = subtractTraffic(shared, trafficOf(others, identify));
    if (admitsNothing(alone)) return {};
    return isOver ? { why: ruleNeeded(alone) } : undefined;
  });
  return ended === undefined ? stoppedBefore("waiting for the rules that take its place") : ended.why;
}

const ruleNeeded = (alone: Traffic): StepResult => ({
  end: "failed",
  code: "apply/rule-needed",
  message: `nothing was sent: no other rule shows that it admits ${describeTraffic(alone).map(admissionText).join(", ")}, which is declared`,
  fix: "run the same command again: it looks first; if it does not help, write the rules as the service shows them",
});
