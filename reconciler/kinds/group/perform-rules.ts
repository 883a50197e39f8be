/** The steps of a group's rules. Adding one is safe to repeat: the service says when it is there already. */

import {
  canonicalLiveRule,
  describeRule,
  type GroupIdentity,
  referenceText,
  ruleKey,
} from "../../core/canonical/rules";
import { showsEffect } from "../../core/diff/effect";
import { toSay } from "../../core/model/fix";
import { ofKind } from "../../core/model/kinds";
import type { LiveGroup, LiveRule } from "../../core/model/live";
import {
  accepted,
  type Failure,
  findListed,
  isGone,
  isRefusedAs,
  type Outcome,
  valueIn,
} from "../../core/model/outcome";
import { groupNamed, type Rule, remoteIpOf } from "../../core/model/rule";
import type { RuleChanges } from "../../core/plan/record-patch";
import type { RecordPatch, Step } from "../../core/plan/step";
import { onlyDefined } from "../../core/text/objects";
import { confirmGone } from "../../engine/confirm-gone";
import { knownRule, plainText } from "../../engine/fill-in";
import {
  couldNotLook,
  doneAndSeen,
  doneUnseen,
  failedBy,
  idOf,
  noId,
  type OnExisting,
  optionsFor,
  type Run,
  type StepResult,
  type StepWrite,
} from "../../engine/run";
import { type SeenAfterwards, sendAndLook } from "../../engine/send-and-look";
import type { RuleInput } from "../../service/client";
import { byAddress } from "./compare-rules";
import { recordRules } from "./diff";
import { shownAmong } from "./same-traffic";
import { whyItStays } from "./watch";
/** Where rules alone can be read, a plan may not notice that somebody has deleted the group. */
export function failedOn({ address }: Step, failure: Failure, run: Run): StepResult {
  const failed = failedBy(failure);
  if (!isGone(failure) || run.ports.client.can.seesGroups !== "rules") return failed;
  const deleted = "if somebody has deleted the group: ";
  return {
    ...failed,
    fix: [toSay([deleted, ["state rm", address]], `${deleted}pulumi state delete with its URN`)],
  };
}

/** After a lost answer: what a look shows is done, and sending the same once more does no harm where it shows nothing. */
export const seenOrHarmless =
  (writes: readonly StepWrite[], look: () => Promise<LiveGroup | undefined>) => async (): Promise<SeenAfterwards> => {
    const live = await look();
    const isShown = live !== undefined && writes.every((write) => showsEffect<"group">(write, live) === "shown");
    return isShown ? "done" : "harmless";
  };

/** A rule that was accepted. Where it does not show, it is not recorded as applied. */
export function ruleWrite({ address }: Step, id: string, rule: Rule, run: Run): StepWrite {
  const value = ruleKey(rule, identifyIn(run));
  return {
    ...{ kind: "group", id, field: "rule", value, said: `rule: ${describeRule(rule, byAddress(run.recorder))}` },
    ifNot: [{ type: "patch", address, of: id, rules: { removed: [value] } }],
  };
}

const identifyIn =
  (run: Run): GroupIdentity =>
  (group) =>
    idOf(group, run) ?? referenceText(group);

export const deleteRule: OnExisting<"group.rule.delete"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const identify = identifyIn(run);
  const key = ruleKey(action.rule, identify);
  // The new address may turn out to be the old one: then the rule is the desired one.
  if (action.unless?.some((rule) => ruleKey(knownRule(rule, run), identify) === key) === true) return doneAndSeen;
  // The delete was planned from the record, because nobody could look: the rule's id is known only now.
  const find = () =>
    findRule(id, run, (rule) =>
      action.ruleId === "" ? ruleKey(canonicalLiveRule(rule)) === key : rule.id === action.ruleId,
    );
  const target = action.ruleId === "" ? await find() : accepted({ id: action.ruleId });
  if (target.status !== "accepted" && !isGone(target)) return couldNotLook(`group ${id}`, target);
  if (target.status === "accepted") {
    const declared = action.unless?.map((rule) => knownRule(rule, run)) ?? [];
    const going = { groupId: id, ruleId: target.value.id, rule: action.rule, declared };
    const stays = declared.length === 0 ? undefined : await whyItStays(going, identify, run);
    if (stays !== undefined) return stays;
    const deleted = await client.deleteRule(id, target.value.id, optionsFor(step, run));
    const outcome = await confirmGone(deleted, find);
    if (outcome.status !== "accepted") return failedBy(outcome);
    // The record keeps the rule until a look shows that it is gone: nothing else remembers that it was to go.
    if (deleted.status === "accepted")
      return doneUnseen({
        ...{ kind: "group", id, field: "removed rule", value: target.value.id },
        said: `the removal of the rule: ${describeRule(action.rule, byAddress(run.recorder))}`,
        ifShown: [{ type: "patch", address: step.address, rules: { removed: [key] } }],
      });
  }
  await changeRules(step, run, { removed: [key] });
  return doneAndSeen;
};

async function findRule(id: string, run: Run, isIt: (rule: LiveRule) => boolean): Promise<Outcome<LiveRule>> {
  const listed = await run.ports.client.listRules(id, { signal: run.signal });
  return findListed(listed, isIt, "the list of rules does not show it");
}

export const resolve = (run: Run) => (group: { readonly address: string } | { readonly id: string }) =>
  idOf(group, run);

export function ruleInput(rule: Rule, run: Run): RuleInput | StepResult {
  const [group, ip] = [groupNamed(rule), remoteIpOf(rule)];
  const remoteGroupId = group === undefined ? undefined : idOf(group, run);
  if (group !== undefined && remoteGroupId === undefined) return noId(group);
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    ...onlyDefined({ protocol: rule.protocol === "any" ? undefined : rule.protocol }),
    ...(rule.ports === undefined ? {} : { portMin: rule.ports.min, portMax: rule.ports.max }),
    ...onlyDefined({ remoteIp: ip === undefined ? undefined : plainText(ip), remoteGroupId }),
    ...onlyDefined({ description: rule.description === undefined ? undefined : plainText(rule.description) }),
  };
}

export const createRule: OnExisting<"group.rule.create"> = async (step, { rule, undeclared }, id, run) => {
  const input = ruleInput(rule, run);
  if ("end" in input) return input;
  const write = ruleWrite(step, id, knownRule(rule, run), run);
  const outcome = await addRule(id, input, write, step, run);
  if (outcome.status !== "accepted") return failedOn(step, outcome, run);
  const made = recordRules([rule], resolve(run));
  const changes = undeclared === true ? { left: made, removed: owedUntilNow(step, rule, run) } : { added: made };
  await changeRules(step, run, changes, step.record);
  return doneUnseen(write);
};

/** The keys under which the record has had the rule until now. */
function owedUntilNow({ address }: Step, rule: Rule, run: Run): string[] {
  const identify = identifyIn(run);
  const { left = [] } = ofKind(run.recorder.state.resources.get(address), "group") ?? {};
  return left.filter((one) => ruleKey(one, identify) === ruleKey(rule, identify)).map((one) => ruleKey(one));
}

async function rulesOf(id: string, { ports: { client }, signal }: Run): Promise<LiveGroup | undefined> {
  const rules = valueIn(await client.listRules(id, { signal }));
  return rules && { kind: "group", id, rules };
}

/**
 * A 409 on an identical rule is success, which is also why one that does not show may be sent again. What the service
 * accepted is not: nobody needs the rule that the answer shows, and whether it is there is looked at in the end.
 */
async function addRule(
  id: string,
  input: RuleInput,
  write: StepWrite,
  step: Step,
  run: Run,
): Promise<Outcome<unknown>> {
  const send = async (): Promise<Outcome<unknown>> => {
    const made = await run.ports.client.createRule(id, input, optionsFor(step, run));
    return made.status === "unknown" && made.accepted === true ? accepted(undefined) : made;
  };
  const outcome = await sendAndLook(
    send,
    seenOrHarmless([write], () => rulesOf(id, run)),
    run,
  );
  return isRefusedAs(outcome, "rule_exists") ? accepted(undefined) : outcome;
}

const changeRules = (
  { address }: Step,
  run: Run,
  rules: RuleChanges,
  fields?: RecordPatch<"group.rule.create">,
): Promise<void> => run.recorder.record([{ type: "patch", address, rules, ...onlyDefined({ fields }) }]);

/** After a neighbour was deleted, rules that are missing are put back. */
export const verify: OnExisting<"group.verify"> = async (step, { rules: wanted }, id, run) => {
  const listed = await run.ports.client.listRules(id, optionsFor(step, run));
  if (listed.status !== "accepted") return couldNotLook(`group ${id}`, listed);
  const live = listed.value.map(canonicalLiveRule);
  const have = new Set(live.map((rule) => ruleKey(rule)));
  const identify = identifyIn(run);
  const keys = wanted.map((rule) => ruleKey(rule, identify));
  const shown = shownAmong(keys, live);
  const writes: StepWrite[] = [];
  for (const rule of wanted) {
    if (shown.has(ruleKey(rule, identify))) continue;
    const input = ruleInput(rule, run);
    if ("end" in input) return input;
    const write = ruleWrite(step, id, knownRule(rule, run), run);
    const outcome = await addRule(id, input, write, step, run);
    if (outcome.status !== "accepted") return failedBy(outcome);
    writes.push(write);
    run.progress(step, "put a rule back that the deletion had taken");
  }
  const recorded = ofKind(run.recorder.state.resources.get(step.address), "group");
  const left = new Set(recorded?.left?.map((rule) => ruleKey(rule)));
  const declared = recordRules(wanted, resolve(run)).filter((rule) => !left.has(ruleKey(rule)));
  const taken = (recorded?.rules ?? [])
    .map((rule) => ruleKey(rule))
    .filter((key) => !have.has(key) && !keys.includes(key));
  await changeRules(step, run, { added: declared, removed: taken });
  return doneUnseen(...writes);
};
