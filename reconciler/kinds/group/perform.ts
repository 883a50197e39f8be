/** The steps of a group and its rules. Adding a rule is safe to repeat: the service says when it is there already. */

import {
  canonicalLiveRule,
  describeRule,
  type GroupIdentity,
  referenceText,
  ruleKey,
  sortRules,
} from "../../core/canonical/rules";
import { showsEffect } from "../../core/diff/effect";
import type { Abilities } from "../../core/model/abilities";
import { toAsk, toSay } from "../../core/model/fix";
import { identity } from "../../core/model/identity";
import type { LiveGroup, LiveRule } from "../../core/model/live";
import { accepted, isGone, type Outcome } from "../../core/model/outcome";
import { type Orphan, orphanKey, type RecordedGroup } from "../../core/model/recorded";
import type { Rule } from "../../core/model/rule";
import type { RuleChanges } from "../../core/plan/record-patch";
import type { ActionOf, ActOn, OperationOn, Step } from "../../core/plan/step";
import { deepEqual } from "../../core/text/deep-equal";
import { onlyDefined } from "../../core/text/objects";
import { confirmGone, doubtOf } from "../../engine/confirm-gone";
import { createOnce } from "../../engine/create-once";
import { knownRule, plainText } from "../../engine/fill-in";
import { missingInstead, noteDeleting, recordAccepted, recordOf } from "../../engine/record-step";
import {
  doneAndSeen,
  doneUnseen,
  failedBy,
  idOf,
  noId,
  type OnExisting,
  onExisting,
  optionsFor,
  type Performer,
  type Performers,
  partsOfCreate,
  type Run,
  type StepResult,
  type StepWrite,
} from "../../engine/run";
import { type SeenAfterwards, sendAndLook } from "../../engine/send-and-look";
import type { RuleInput } from "../../service/client";
import { platformRulesBeyond } from "./compare-rules";
import { recordRules } from "./diff";
import { describeNamers, type Namer, namersByGroup } from "./named-groups";
import { waitUntilGroupGone, whyItStays } from "./watch";

/** Performs a step on an existing group. */
type OnGroup<O extends ActOn<"group">> = OnExisting<O>;

const onGroup = <O extends ActOn<"group">>(perform: OnExisting<O>) => onExisting<O>((action) => action.group, perform);

const update: OnGroup<"group.update"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const changes = {
    ...onlyDefined({
      name: action.name,
      description: action.description === undefined ? undefined : plainText(action.description),
    }),
  };
  const { address } = step;
  const recorded = run.recorder.state.resources.get(address);
  const openBefore = recorded?.kind === "group" && recorded.id === id ? recorded.updating : undefined;
  const note = async (updating: RecordedGroup["updating"]): Promise<void> => {
    if (client.can.seesGroups !== "rules") return;
    await run.recorder.record([{ type: "patch", address, of: id, fields: { updating } }]);
  };
  await note({ ...openBefore, ...changes });
  const writes = updatesOf(id, changes, run);
  const outcome = await sendAndLook(
    () => client.updateGroup(id, changes, optionsFor(step, run)),
    seenOrHarmless(writes, () => readNameAndDescription(id, run)),
    run,
  );
  if (outcome.status === "accepted") {
    const left = Object.entries(openBefore ?? {}).filter(([field]) => !(field in changes));
    const described = changes.description === undefined ? {} : { description: changes.description };
    const extra = { ...described, updating: left.length === 0 ? undefined : Object.fromEntries(left) };
    return recordAccepted(step, run, writes, extra);
  }
  if (outcome.status !== "unknown") await note(openBefore);
  return failedBy(outcome);
};

/** After a lost answer: what a look shows is done, and sending the same once more does no harm where it shows nothing. */
const seenOrHarmless =
  (writes: readonly StepWrite[], look: () => Promise<LiveGroup | undefined>) => async (): Promise<SeenAfterwards> => {
    const live = await look();
    const isShown = live !== undefined && writes.every((write) => showsEffect<"group">(write, live) === "shown");
    return isShown ? "done" : "harmless";
  };

/** The group's name and description, where the service shows them. */
async function readNameAndDescription(
  id: string,
  { ports: { client }, signal, listGroups }: Run,
): Promise<LiveGroup | undefined> {
  if (client.can.readsOneGroup) {
    const read = await client.getGroup(id, { signal });
    return read.status === "accepted" ? read.value : undefined;
  }
  const listed = client.can.seesGroups === "list" ? await listGroups() : undefined;
  return listed?.status === "accepted" ? listed.value.find((group) => group.id === id) : undefined;
}

async function rulesOf(id: string, { ports: { client }, signal }: Run): Promise<LiveGroup | undefined> {
  const listed = await client.listRules(id, { signal });
  return listed.status === "accepted" ? { kind: "group", id, rules: listed.value } : undefined;
}

const namesUnseen =
  "this service shows the rules of security groups, and not their names and descriptions (operations.group.list, operations.group.get)";

function updatesOf(
  id: string,
  { name, description }: { readonly name?: string; readonly description?: string },
  run: Run,
): StepWrite[] {
  const group = {
    ...({ kind: "group", id } as const),
    ...onlyDefined({ blind: run.ports.client.can.seesGroups === "rules" ? namesUnseen : undefined }),
  };
  return [
    ...(name === undefined
      ? []
      : [{ ...group, field: "name", value: name.toLowerCase(), said: `name: ${name}` } as const]),
    ...(description === undefined
      ? []
      : [{ ...group, field: "description", value: description, said: `description: ${description}` } as const]),
  ];
}

/** A rule that was accepted. Where it does not show, it is not recorded as applied. */
function ruleWrite({ address }: Step, id: string, rule: Rule, run: Run): StepWrite {
  const value = ruleKey(rule, identifyIn(run));
  return {
    ...{ kind: "group", id, field: "rule", value, said: `rule: ${describeRule(rule, labelIn(run))}` },
    ifNot: [{ type: "patch", address, of: id, rules: { removed: [value] } }],
  };
}

const identifyIn =
  (run: Run): GroupIdentity =>
  (group) =>
    idOf(group, run) ?? referenceText(group);

/** Groups by their addresses, where they have one. */
const labelIn =
  (run: Run): GroupIdentity =>
  (group) =>
    "address" in group ? group.address : (run.recorder.addressOf(identity("group", group.id)) ?? group.id);

const deleteRule: OnGroup<"group.rule.delete"> = async (step, action, id, run) => {
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
  if (target.status !== "accepted" && !isGone(target)) return failedBy(target);
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
        said: `the removal of the rule: ${describeRule(action.rule, labelIn(run))}`,
        ifShown: [{ type: "patch", address: step.address, rules: { removed: [key] } }],
      });
  }
  await changeRules(step, run, { removed: [key] });
  return doneAndSeen;
};

async function findRule(id: string, run: Run, isIt: (rule: LiveRule) => boolean): Promise<Outcome<LiveRule>> {
  const listed = await run.ports.client.listRules(id, { signal: run.signal });
  if (listed.status !== "accepted") return listed;
  const found = listed.value.find(isIt);
  return found === undefined
    ? { status: "rejected", condition: "not_found", message: "the list of rules does not show it" }
    : accepted(found);
}

const resolve = (run: Run) => (group: { readonly address: string } | { readonly id: string }) => idOf(group, run);

function ruleInput(rule: Rule, run: Run): RuleInput | StepResult {
  let remote: Pick<RuleInput, "remoteIp" | "remoteGroupId"> = {};
  switch (rule.remote.kind) {
    case "any":
      remote = { remoteIp: rule.ethertype === "IPv6" ? "::/0" : "0.0.0.0/0" };
      break;
    case "cidr":
      remote = { remoteIp: rule.remote.cidr };
      break;
    case "group": {
      const id = idOf(rule.remote.group, run);
      if (id === undefined) return noId(rule.remote.group);
      remote = { remoteGroupId: id };
      break;
    }
    case "computed":
      remote = { remoteIp: plainText(rule.remote.text) };
      break;
    default:
      rule.remote satisfies never;
  }
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    ...onlyDefined({ protocol: rule.protocol === "any" ? undefined : rule.protocol }),
    ...(rule.ports === undefined ? {} : { portMin: rule.ports.min, portMax: rule.ports.max }),
    ...remote,
    ...onlyDefined({ description: rule.description === undefined ? undefined : plainText(rule.description) }),
  };
}

const createRule: OnGroup<"group.rule.create"> = async (step, { rule }, id, run) => {
  const input = ruleInput(rule, run);
  if ("end" in input) return input;
  const write = ruleWrite(step, id, knownRule(rule, run), run);
  const outcome = await addRule(id, input, write, step, run);
  if (outcome.status !== "accepted") return failedBy(outcome);
  await changeRules(step, run, { added: recordRules([rule], resolve(run)) });
  return doneUnseen(write);
};

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
    return made.status === "unknown" && made.accepted === true ? { status: "accepted", value: undefined } : made;
  };
  const outcome = await sendAndLook(
    send,
    seenOrHarmless([write], () => rulesOf(id, run)),
    run,
  );
  return outcome.status === "rejected" && outcome.condition === "rule_exists"
    ? { status: "accepted", value: undefined }
    : outcome;
}

const changeRules = ({ address }: Step, run: Run, rules: RuleChanges): Promise<void> =>
  run.recorder.record([{ type: "patch", address, rules }]);

const create: Performer<"group.create"> = async (step, action, run) => {
  const { client } = run.ports;
  const description = action.description === undefined ? undefined : plainText(action.description);
  // A text that is known when the plan is made is recorded as the plan says.
  const record =
    typeof step.action.description === "string" ? step.record : { ...step.record, ...onlyDefined({ description }) };
  // Two values may have turned out to be one address, and the service would refuse the whole group.
  const wanted = sortRules(action.rules);
  const rules: RuleInput[] = [];
  for (const rule of wanted) {
    const input = ruleInput(rule, run);
    if ("end" in input) return input;
    rules.push(input);
  }
  return createOnce(
    step,
    {
      kind: "group",
      what: "security group",
      name: action.name,
      record: { ...record, rules: recordRules(wanted, resolve(run)) },
      send: () =>
        client.createGroup({ name: action.name, ...onlyDefined({ description }), rules }, optionsFor(step, run)),
      keep: (group) => keepGroup(step, record, { name: action.name, description, rules: wanted }, group, run),
      acceptedWindowMs: run.ports.timing.discoveryWindowMs,
    },
    run,
  );
};

interface Sent {
  readonly name: string;
  readonly description: string | undefined;
  readonly rules: readonly Rule[];
}

/**
 * Rules of the new group that were not sent are the service's own. Until the group was looked at, the usual ones are
 * taken for granted, so that after an interruption the next run does not remove the service's own rules.
 */
async function keepGroup(
  step: Step,
  record: Step<"group.create">["record"],
  sent: Sent,
  group: LiveGroup,
  run: Run,
): Promise<StepResult> {
  const { address } = step;
  const rulesSent = recordRules(sent.rules, resolve(run));
  const own = new Set(rulesSent.map((rule) => ruleKey(rule)));
  const left = new Set(record.left?.map((rule) => ruleKey(rule)));
  const rulesApplied = rulesSent.filter((rule) => !left.has(ruleKey(rule)));
  const presumed = platformRulesBeyond(undefined, own);
  await run.recorder.record([
    { type: "made", address, id: group.id, record: { ...record, rules: rulesApplied, platformRules: presumed } },
    { type: "intent", address, intent: null },
  ]);
  let { rules } = group;
  let looked = false;
  // An answer that repeats only what was sent does not show what the service added.
  if (rules === undefined || rules.length <= sent.rules.length) {
    const listed = await run.ports.client.listRules(group.id, optionsFor(step, run));
    looked = listed.status === "accepted";
    if (listed.status === "accepted") rules = listed.value;
  }
  const platformRules = rules === undefined ? presumed : platformRulesBeyond(rules, own);
  if (!deepEqual(platformRules, presumed))
    await run.recorder.record([{ type: "patch", address, of: group.id, fields: { platformRules } }]);
  const shown = new Set(rules?.map((live) => ruleKey(canonicalLiveRule(live))));
  const writes = rulesSent.map((rule) => ruleWrite(step, group.id, rule, run));
  const open = writes.filter(({ value }) => !shown.has(value));
  const parts = partsOfCreate<"group">(group, createdAs(step, group.id, sent));
  if (looked) return doneUnseen(...open, ...parts);
  const exists = { kind: "group", id: group.id, field: "existence", value: group.id, said: "that it exists" } as const;
  const answered = writes.filter(({ value }) => shown.has(value));
  return doneUnseen(
    ...[exists, ...answered].map((write) => ({ ...write, answered: true as const })),
    ...open,
    ...parts,
  );
}

/** The name and the description with which a group was made. */
const createdAs = ({ address }: Step, id: string, { name, description = "" }: Sent): StepWrite[] => [
  { kind: "group", id, field: "name", value: name.toLowerCase(), said: `name: ${name}` },
  {
    ...({ kind: "group", id, field: "description" } as const),
    value: description,
    said: `description: ${description || "none"}`,
    ifNot: [{ type: "patch", address, of: id, fields: { description: undefined } }],
  },
];

/** The contract's words for a group under which VMs are. Others, such as "in use", may also mean rules that name it. */
const speaksOfVms = /attached to/i;

/** What a conflict is about that says nothing of it, where no group that is known names the one that is to go. */
const ofUse = ({ keepsNamedGroups }: Abilities): string =>
  `take the group off the VMs that it is on, and its name out of the rules of other groups${keepsNamedGroups ? "" : "; if the service keeps a group that rules name, in the dialect: limits: { named_groups: kept }"}`;

const remove: OnGroup<"group.delete"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const sentBefore = await noteDeleting(step, id, run, true);
  const deleted = await client.deleteGroup(id, optionsFor(step, run));
  const look = () => client.listRules(id, { signal: run.signal });
  const outcome = await confirmGone(deleted, look, doubtOf(run, "group", id, sentBefore));
  if (outcome.status !== "accepted") {
    if (outcome.status !== "unknown") await noteDeleting(step, id, run, undefined);
    if (outcome.status !== "rejected" || outcome.condition !== "group_attached") return failedBy(outcome);
    const namers = speaksOfVms.test(outcome.message) ? [] : await stillNaming(id, run);
    if (namers.length > 0) return refusedAsNamed(step, action, id, namers, run);
    if (action.retired)
      return {
        end: "waiting",
        code: "apply/group-attached",
        message: `the replaced group ${action.name} is still attached to VMs, and the service has no call that moves them`,
        fix: `move the VMs from group ${action.name} to the new one in the service's console, then run the same command again`,
      };
    return speaksOfVms.test(outcome.message)
      ? failedBy(outcome)
      : { ...failedBy(outcome), fix: outcome.hint ?? ofUse(client.can) };
  }
  const settled = await waitUntilGroupGone(id, action.name, { ...run.ports, ...run });
  if (settled.end !== "done") return settled;
  run.deleted.add(`group:${id}`);
  await run.recorder.record(
    action.retired
      ? [{ type: "patch", address: step.address, buries: id }]
      : [...missingInstead(step, id, run, deleted, sentBefore), ...recordOf(step, run)],
  );
  return settled;
};

/** The groups that have a rule naming it now. */
async function stillNaming(id: string, run: Run): Promise<Namer[]> {
  const candidates = namersByGroup(run.recorder.state, run.live.of.group.byId).get(id) ?? [];
  const looked = await Promise.all(
    candidates.map(async (namer): Promise<Namer[]> => {
      const listed = await run.ports.client.listRules(namer.id, { signal: run.signal });
      if (listed.status !== "accepted") return isGone(listed) ? [] : [namer];
      const rules = listed.value.filter((rule) => rule.remoteGroupId === id).map(canonicalLiveRule);
      return rules.length === 0 ? [] : [{ ...namer, rules }];
    }),
  );
  return looked.flat();
}

/**
 * The service does not delete a group that rules name. Groups that name each other can never be deleted: they are left
 * as orphans, and the message says so.
 */
async function refusedAsNamed(
  step: Step,
  action: ActionOf<"group.delete">,
  id: string,
  namers: readonly Namer[],
  run: Run,
): Promise<StepResult> {
  const circle = new Map(action.circle?.map(({ id: other, label }) => [other, label]));
  // A group that was let go before this one has no record any more, so it bears the name that the plan gave it.
  const known = namers.map((namer) => ({ ...namer, label: circle.get(namer.id) ?? namer.label }));
  const message = `the service does not delete group ${action.name} while rules of other groups name it: ${describeNamers(known, action.name)}`;
  const isLeft = (namer: Namer): boolean => run.recorder.state.orphans.has(orphanKey({ kind: "group", id: namer.id }));
  if (namers.every((namer) => circle.has(namer.id) || isLeft(namer))) {
    const reason = `it and ${known.map(({ label }) => label).join(", ")} name each other, and the service deletes none that is named`;
    const orphan: Orphan = { kind: "group", id, name: action.name, reason };
    await run.recorder.record([
      { type: "orphan", key: orphanKey(orphan), orphan },
      action.retired
        ? { type: "patch", address: step.address, releases: id }
        : { type: "forgotten", address: step.address },
    ]);
    run.ports.emit({ type: "orphan", orphan });
    return {
      end: "waiting",
      code: "apply/group-named",
      message: `${message}; it is left as an orphan`,
      fix: [
        toSay(
          ["delete those rules in the service's console, then: ", ["orphans delete", id]],
          "delete those rules in the service's console, then run the same update again",
        ),
      ],
    };
  }
  const managed = namers.filter(({ address }) => address !== undefined).map(({ label }) => label);
  return {
    end: action.retired ? "waiting" : "failed",
    code: "apply/group-named",
    message,
    fix:
      managed.length === namers.length
        ? [
            toSay(
              [
                `take the rule out of ${managed.join(", ")} first, while ${step.address} is still in the file: `,
                ["apply"],
                "; then delete the group",
              ],
              `take the rule out of ${managed.join(", ")} first, then delete the group`,
            ),
            ...(run.ports.client.can.keepsNamedGroups
              ? []
              : [
                  toAsk(
                    "in the dialect: limits: { named_groups: kept }; rules that are to go are then taken away first",
                  ),
                ]),
          ]
        : "delete those rules in the service's console, then run the same command again",
  };
}

/** After a neighbour was deleted, rules that are missing are put back. */
const verify: OnGroup<"group.verify"> = async (step, { rules: wanted }, id, run) => {
  const listed = await run.ports.client.listRules(id, optionsFor(step, run));
  if (listed.status !== "accepted") return failedBy(listed);
  const have = new Set(listed.value.map((live) => ruleKey(canonicalLiveRule(live))));
  const identify = identifyIn(run);
  const writes: StepWrite[] = [];
  for (const rule of wanted) {
    if (have.has(ruleKey(rule, identify))) continue;
    const input = ruleInput(rule, run);
    if ("end" in input) return input;
    const write = ruleWrite(step, id, knownRule(rule, run), run);
    const outcome = await addRule(id, input, write, step, run);
    if (outcome.status !== "accepted") return failedBy(outcome);
    writes.push(write);
    run.progress(step, "put a rule back that the deletion had taken");
  }
  await changeRules(step, run, { added: recordRules(wanted, resolve(run)) });
  return doneUnseen(...writes);
};

export const groupPerformers: Performers<OperationOn<"group">> = {
  "group.create": create,
  "group.update": onGroup(update),
  "group.delete": onGroup(remove),
  "group.rule.create": onGroup(createRule),
  "group.rule.delete": onGroup(deleteRule),
  "group.verify": onGroup(verify),
};
