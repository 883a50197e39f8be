/** The steps of a group. */

import { canonicalLiveRule, ruleKey, sortRules } from "../../core/canonical/rules";
import type { Abilities } from "../../core/model/abilities";
import { toAsk, toSay } from "../../core/model/fix";
import type { LiveGroup } from "../../core/model/live";
import { type Failure, isGone, valueIn } from "../../core/model/outcome";
import { type Orphan, orphanKey, type RecordedGroup } from "../../core/model/recorded";
import type { Rule } from "../../core/model/rule";
import type { ActionOf, ActOn, OperationOn, Step } from "../../core/plan/step";
import { deepEqual } from "../../core/text/deep-equal";
import { ifAny, onlyDefined } from "../../core/text/objects";
import { createOnce } from "../../engine/create-once";
import { plainText } from "../../engine/fill-in";
import { recordCreated, recordEnd } from "../../engine/record-step";
import {
  doneAndSeen,
  doneUnseen,
  failedBy,
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
import { sendAndLook } from "../../engine/send-and-look";
import { sendDelete } from "../../engine/send-delete";
import type { RuleInput } from "../../service/client";
import { platformRulesBeyond } from "./compare-rules";
import { recordRules } from "./diff";
import { describeNamers, type Namer, namersByGroup } from "./named-groups";
import {
  createRule,
  deleteRule,
  failedOn,
  resolve,
  ruleInput,
  ruleWrite,
  seenOrHarmless,
  verify,
} from "./perform-rules";
import { readDoubted, waitUntilGroupGone } from "./watch";

const onGroup = <O extends ActOn<"group">>(perform: OnExisting<O>) => onExisting<O>((action) => action.group, perform);

const update: OnExisting<"group.update"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const changes = {
    ...onlyDefined({
      name: action.name,
      description: action.description === undefined ? undefined : plainText(action.description),
    }),
  };
  const { address } = step;
  const recorded = run.recorder.state.resources.get(address);
  const before = recorded?.kind === "group" && recorded.id === id ? recorded : undefined;
  const openBefore = before?.updating;
  const note = async (fields: Partial<Pick<RecordedGroup, "name" | "description" | "updating">>): Promise<void> => {
    if (client.can.seesGroups !== "rules") return;
    await run.recorder.record([{ type: "patch", address, of: id, fields }]);
  };
  // Until this one is answered, the group may have what another one that was lost would have set.
  const other = (["name", "description"] as const).filter(
    (field) => openBefore?.[field] !== undefined && (changes[field] ?? openBefore[field]) !== openBefore[field],
  );
  const fieldsOf = (from: typeof openBefore) => Object.fromEntries(other.map((field) => [field, from?.[field]]));
  await note({ ...fieldsOf(openBefore), updating: { ...openBefore, ...changes } });
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
    return recordEnd(step, run, doneUnseen(...writes), extra);
  }
  if (outcome.status !== "unknown") await note({ ...fieldsOf(before), updating: openBefore });
  return failedBy(outcome);
};

/** The group's name and description, where the service shows them. */
async function readNameAndDescription(
  id: string,
  { ports: { client }, signal, listGroups }: Run,
): Promise<LiveGroup | undefined> {
  if (client.can.readsOneGroup) return valueIn(await client.getGroup(id, { signal }));
  const listed = client.can.seesGroups === "list" ? await listGroups() : undefined;
  return valueIn(listed)?.find((group) => group.id === id);
}

const namesUnseen =
  "this service shows the rules of security groups, and not their names and descriptions (operations.group.list, operations.group.get)";

const nameWrite = (id: string, name: string): StepWrite => ({
  ...({ kind: "group", id, field: "name" } as const),
  ...{ value: name.toLowerCase(), said: `name: ${name}` },
});

const descriptionWrite = (id: string, description: string): StepWrite => ({
  ...({ kind: "group", id, field: "description" } as const),
  ...{ value: description, said: `description: ${description || "none"}` },
});

function updatesOf(
  id: string,
  { name, description }: { readonly name?: string; readonly description?: string },
  run: Run,
): StepWrite[] {
  const writes = [
    ...(name === undefined ? [] : [nameWrite(id, name)]),
    ...(description === undefined ? [] : [descriptionWrite(id, description)]),
  ];
  return run.ports.client.can.seesGroups === "rules"
    ? writes.map((write) => ({ ...write, blind: namesUnseen }))
    : writes;
}

const create: Performer<"group.create"> = async (step, action, run) => {
  const { client } = run.ports;
  const description = action.description === undefined ? undefined : plainText(action.description);
  const left = ifAny([...(step.record.left ?? []), ...recordRules(action.undeclared ?? [], resolve(run))]);
  // A text that is known when the plan is made is recorded as the plan says.
  const told = typeof step.action.description === "string" ? {} : { description };
  const record = { ...step.record, ...onlyDefined({ ...told, left }) };
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
      name: action.name,
      record: { ...record, rules: recordRules(wanted, resolve(run)) },
      send: () =>
        client.createGroup({ name: action.name, ...onlyDefined({ description }), rules }, optionsFor(step, run)),
      keep: (group) => keepGroup(step, record, { name: action.name, description, rules: wanted }, group, run),
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
  await recordCreated(step, group.id, { ...record, rules: rulesApplied, platformRules: presumed }, run);
  let { rules } = group;
  let looked = false;
  // An answer that repeats only what was sent does not show what the service added.
  if (rules === undefined || rules.length <= sent.rules.length) {
    const listed = await run.ports.client.listRules(group.id, optionsFor(step, run));
    looked = listed.status === "accepted";
    if (listed.status === "accepted") rules = listed.value;
  }
  const platformRules = platformRulesBeyond(rules, own);
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
  nameWrite(id, name),
  {
    ...descriptionWrite(id, description),
    ifNot: [{ type: "patch", address, of: id, fields: { description: undefined } }],
  },
];

/** The contract's words for a group under which VMs are. Others, such as "in use", may also mean rules that name it. */
const speaksOfVms = /attached to/i;

/** What a conflict is about that says nothing of it, where no group that is known names the one that is to go. */
const ofUse = ({ keepsNamedGroups }: Abilities): string =>
  `take the group off the VMs that it is on, and its name out of the rules of other groups${keepsNamedGroups ? "" : "; if the service keeps a group that rules name, in the dialect: limits: { named_groups: kept }"}`;

const remove: OnExisting<"group.delete"> = async (step, action, id, run) => {
  const { client } = run.ports;
  const sent = await sendDelete(step, id, run, {
    send: () => client.deleteGroup(id, optionsFor(step, run)),
    // Of what an earlier run has sent the delete, the service's own word is enough.
    look: async (sentBefore) => (await readDoubted(id, { ...run, client })) ?? (sentBefore ? undefined : tellsNothing),
  });
  if (sent.end !== undefined) {
    const { end, refusal: outcome } = sent;
    if (outcome === undefined) return end;
    if (outcome.status !== "rejected" || outcome.condition !== "group_attached") return failedOn(step, outcome, run);
    const namers = speaksOfVms.test(outcome.message) ? [] : await stillNaming(id, run);
    const said = `the service does not delete group ${action.name} while rules of other groups name it`;
    if (namers.length > 0) return keptAsNamed(step, action, id, said, namers, run);
    if (action.retired && !speaksOfVms.test(outcome.message))
      return {
        end: "waiting",
        code: "apply/group-attached",
        message: `the service does not delete the replaced group ${action.name}: ${outcome.message}`,
        fix: `${outcome.hint ?? ofUse(client.can)}; then run the same command again`,
      };
    if (action.retired)
      return {
        end: "waiting",
        code: "apply/group-attached",
        message: `the replaced group ${action.name} is still attached to VMs, and the service has no call that moves them`,
        fix: `move the VMs from group ${action.name} to the new one in the service's console, then run the same command again`,
      };
    return speaksOfVms.test(outcome.message) ? end : { ...failedBy(outcome), fix: outcome.hint ?? ofUse(client.can) };
  }
  // What the service does not find is not waited for.
  const settled = isGone(sent.answer)
    ? doneAndSeen
    : await waitUntilGroupGone(id, action.name, { ...run.ports, ...run });
  if (settled.end !== "done") {
    // Some accept the delete of what rules name, and keep it: sent once more it would be kept again.
    const namers = settled.code === "apply/timeout" ? await stillNaming(id, run) : [];
    const said = `the service accepted the delete of group ${action.name} and still shows it, and rules of other groups name it`;
    return namers.length > 0 ? keptAsNamed(step, action, id, said, namers, run) : settled;
  }
  await sent.record(action.retired ? [{ type: "patch", address: step.address, buries: id }] : undefined);
  return settled;
};

const tellsNothing: Failure = { status: "unknown", reason: "an empty list of rules" };

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
async function keptAsNamed(
  step: Step,
  action: ActionOf<"group.delete">,
  id: string,
  said: string,
  namers: readonly Namer[],
  run: Run,
): Promise<StepResult> {
  const circle = new Map(action.circle?.map(({ id: other, label }) => [other, label]));
  // A group that was let go before this one has no record any more, so it bears the name that the plan gave it.
  const known = namers.map((namer) => ({ ...namer, label: circle.get(namer.id) ?? namer.label }));
  const message = `${said}: ${describeNamers(known, action.name)}`;
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

export const groupPerformers: Performers<OperationOn<"group">> = {
  "group.create": create,
  "group.update": onGroup(update),
  "group.delete": onGroup(remove),
  "group.rule.create": onGroup(createRule),
  "group.rule.delete": onGroup(deleteRule),
  "group.verify": onGroup(verify),
};
