/** Rules of the trial's groups: made, refused a second time, deleted, with a range of ports, and as a name of a group. */

import { operations } from "../../../core/model/operation";
import { type Outcome, valueIn } from "../../../core/model/outcome";
import type { Route } from "../../../dialect/dialect";
import type { ProbeRequest } from "../../../service/client";
import { pathWithId } from "../enter";
import { isExpectedRefusal, partName, refusedAs, type Stage, type TrialAct, trialAct } from "./act";
import { takeAwayOne } from "./away";
import { idIn } from "./ids";
import { findTrialThings, isListed, listedOf } from "./lists";
import type { TrialThing } from "./notes";
import { until } from "./rest";
import { wordsOf } from "./say";
import { persist, sendWrite, versioned } from "./send";
import type { Trial } from "./watch";
import { inCaseOf, tryWrites } from "./writes";

interface TrialRule {
  readonly direction?: "ingress" | "egress";
  readonly dst_port: string;
  readonly remote_ip?: string;
  readonly remote_group?: string;
}

const ruleIn = (group: string, { direction = "ingress", ...input }: TrialRule): ProbeRequest => ({
  operation: "group.rule.create",
  method: "POST",
  path: pathWithId("group.rule.create", group),
  body: { direction, ethertype: "IPv4", protocol: "tcp", ...input },
});

const makeRule = (trial: Trial, group: string, rule: TrialRule): Promise<Outcome<unknown>> =>
  sendWrite(trial, ruleIn(group, rule), { kind: "group", id: group });

const bothGroups = ["group", "namingGroup"] as const;

export const groupActs: readonly TrialAct[] = [
  trialAct(bothGroups, async ({ trial }, { group, namingGroup }) => {
    const rule = ruleIn(namingGroup, { dst_port: "22", remote_group: group });
    const of = { kind: "group", id: namingGroup } as const;
    const outcome = await sendWrite(trial, rule, of);
    if (outcome.status === "accepted") await refusedAs(trial, "rule_exists", rule, of);
    else trial.open.push(`a rule could not be made: ${wordsOf(outcome)}`);
  }),
  trialAct(["group"], (stage) => nameTwice(stage.trial, partName(stage, "group"))),
  trialAct(bothGroups, async ({ trial }, { group, namingGroup }) => {
    // Where they stand may only be told now that there is one.
    if ((await rulesOf(trial, namingGroup)) === undefined) await trial.lookAgain();
    const own = (await rulesOf(trial, namingGroup))?.find(({ remoteGroupId }) => remoteGroupId === group);
    if (own === undefined) return;
    // A request that empties the group deletes that rule as well: another one has to stay.
    await makeRule(trial, namingGroup, { dst_port: "24", remote_ip: "192.0.2.0/24" });
    const before = (await rulesOf(trial, namingGroup))?.length ?? 0;
    const isGoneAlone = async (): Promise<boolean> => {
      if (!(await isRuleGone(trial, namingGroup, own.id))) return false;
      if (((await rulesOf(trial, namingGroup))?.length ?? 0) >= before - 1) return true;
      trial.open.push(
        "operations.group.rule.delete: a request that was tried deletes other rules of the group as well; show the one that deletes one alone (--curl group.rule.delete='curl …'), or say that there is none (--none group.rule.delete)",
      );
      return false;
    };
    await tryWrites(trial, "group.rule.delete", "group", { id: namingGroup, rule_id: own.id }, isGoneAlone);
  }),
  trialAct(["namingGroup"], ({ trial }, { namingGroup }) => deleteEgress(trial, namingGroup)),
  trialAct(["namingGroup"], ({ trial }, { namingGroup }) => rangeOfPorts(trial, namingGroup)),
  trialAct(bothGroups, (stage, { group, namingGroup }) =>
    deleteNamed(stage, { name: partName(stage, "group"), id: group, namedBy: namingGroup }),
  ),
];

/** `undefined`: they cannot be read. */
const rulesOf = async (trial: Trial, group: string) => valueIn(await trial.client.listRules(group));

const isRuleGone = (trial: Trial, group: string, rule: string): Promise<boolean> =>
  until(trial, async () => (await rulesOf(trial, group))?.every(({ id }) => id !== rule) === true);

/** Whether a rule of the other direction is deleted by the same request. */
async function deleteEgress(trial: Trial, group: string): Promise<void> {
  if (!trial.client.can.deletesRules) return;
  const made = await makeRule(trial, group, { direction: "egress", dst_port: "23", remote_ip: "192.0.2.0/24" });
  const own = (await rulesOf(trial, group))?.find(({ direction, portMin }) => direction === "egress" && portMin === 23);
  if (made.status !== "accepted" || own === undefined) return;
  const outcome = await persist(trial, () => trial.client.deleteRule(group, own.id));
  if (outcome.status === "accepted" && (await isRuleGone(trial, group, own.id))) return;
  const route = trial.report.dialect.operations["group.rule.delete"];
  const mirrored = route === null ? undefined : inMirroredWords(route);
  if (route !== null && mirrored !== undefined) {
    const again = await trial.clientWith("group.rule.delete", mirrored).deleteRule(group, own.id);
    if (again.status === "accepted" && (await isRuleGone(trial, group, own.id))) {
      const both: Route = { ...route, alternatives: [{ ...mirrored, when: { direction: "egress" } }] };
      trial.routes["group.rule.delete"] = both;
      trial.learnRoute("group.rule.delete", both);
      trial.say("An egress rule is deleted in the mirrored words.");
      return;
    }
  }
  trial.open.push(
    `operations.group.rule.delete: the request that deletes ingress rules does not delete an egress rule (${wordsOf(outcome)}); give operations: group.rule.delete: [{ method: …, path: …, when: { direction: egress } }, …]`,
  );
}

const mirrors: readonly (readonly [ingress: string, egress: string])[] = [
  ["ingress", "egress"],
  ["inbound", "outbound"],
  ["incoming", "outgoing"],
  ["source", "destination"],
  ["src", "dst"],
];

/** The request that deletes an ingress rule with the words for an egress one; `undefined`: it has no such words. */
export function inMirroredWords(route: Route): Route | undefined {
  const said = JSON.stringify(route);
  const words = new RegExp(mirrors.map(([word]) => word).join("|"), "gi");
  const mirrored = said.replaceAll(words, (word) => {
    const other = mirrors.find(([one]) => one === word.toLowerCase())?.[1];
    return other === undefined ? word : inCaseOf(word, other);
  });
  // Only words change, so it is a route still.
  return mirrored === said ? undefined : JSON.parse(mirrored);
}

/** Sends a range of ports in the usual forms, until one is shown as it was meant. */
async function rangeOfPorts(trial: Trial, group: string): Promise<void> {
  for (const form of trial.report.dialect.rules.port_range === null ? ["{min}-{max}", "{min}:{max}"] : []) {
    trial.goOn();
    const dst_port = form.replace("{min}", "8000").replace("{max}", "8010");
    const outcome = await makeRule(trial, group, { dst_port, remote_ip: "192.0.2.0/24" });
    if (outcome.status !== "accepted") continue;
    const isShown = async (): Promise<boolean> =>
      (await rulesOf(trial, group))?.some(({ portMin, portMax }) => portMin === 8000 && portMax === 8010) === true;
    if (!(await until(trial, isShown))) continue;
    trial.rules = { port_range: form };
    trial.say(`A range of ports is written ${form}.`);
    return;
  }
}

/** Deletes a group that a rule of the other one names. */
async function deleteNamed(
  stage: Stage,
  { name, id, namedBy }: { readonly name: string; readonly id: string; readonly namedBy: string },
): Promise<void> {
  const { trial } = stage;
  await makeRule(trial, namedBy, { dst_port: "22", remote_group: id });
  // Where no rule can be deleted, the one of before is there still.
  const isNamed = (await rulesOf(trial, namedBy))?.some(({ remoteGroupId }) => remoteGroupId === id) === true;
  if (trial.thing(name) === undefined || !isNamed) return;
  const outcome = await versioned(trial, () => trial.client.deleteGroup(id));
  if (outcome.status === "accepted") trial.markDeleted("group", id);
  const isThere =
    outcome.status === "accepted" && !(await until(trial, async () => (await isListed(trial, "group", id)) !== true));
  // Where one that nothing names stays listed as well, the list shows what was deleted.
  const kept = outcome.status === "rejected" ? "refused" : isThere && (await goesUnnamed(stage)) ? "kept" : undefined;
  if (kept === undefined) return;
  trial.limits = { ...trial.limits, named_groups: kept };
  const how = kept === "refused" ? "the delete is refused" : "it stays";
  trial.say(`A group that a rule of another one names is not deleted: ${how}.`);
}

/** Whether a group that nothing names goes where it is deleted. */
async function goesUnnamed(stage: Stage): Promise<boolean> {
  const { trial } = stage;
  const unnamed = trial.thing(partName(stage, "thirdGroup"));
  if (unnamed === undefined) return false;
  await takeAwayOne(trial, unnamed);
  return !trial.notes.made.some(({ name }) => name === unnamed.name);
}

/** Tries to create a name twice. It is written down first, in case the service makes a second one. */
async function nameTwice(trial: Trial, name: string): Promise<void> {
  const again: TrialThing = { kind: "group", name, askedAt: trial.ports.clock.now() };
  trial.notes.add(again);
  const { path } = operations["group.create"];
  const request = { operation: "group.create", method: "POST", path, body: { name } } as const;
  const outcome = await sendWrite(trial, request);
  if (isExpectedRefusal(trial, "name_taken", request, outcome)) {
    trial.notes.drop(again, "was refused, as it was to be");
    return;
  }
  // An answer that was lost says nothing of names.
  if (outcome.status === "accepted") trial.limits = { ...trial.limits, unique: [] };
  await findTrialThings(trial);
  if (outcome.status !== "accepted" || !trial.notes.made.includes(again)) return;
  // Where no list shows it, the answer alone tells which one it is, and that there is one.
  const id = await idIn(trial, "group", outcome.value, name, again.askedAt);
  const isAnother = id !== undefined && !trial.isNoted("group", id);
  if (isAnother) trial.notes.note(again, { id, isTaken: true });
  else if ((await listedOf(trial, "group")) === undefined) trial.notes.note(again, { isTaken: true });
}
