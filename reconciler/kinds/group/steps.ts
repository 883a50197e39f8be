/**
 * The requests that make the groups as desired. Groups are created in one request with every rule that can be in it;
 * rules that close a cycle, or name their own group, follow. Where a rule cannot be deleted, a group is replaced
 * without a gap: old one renamed aside, new one under the name, neighbours pointed at it, old one deleted.
 */
import { canonicalName } from "../../core/canonical/names";
import { describeRule, referenceText } from "../../core/canonical/rules";
import type { Address } from "../../core/model/address";
import { asideName } from "../../core/model/aside-name";
import type { Reference } from "../../core/model/desired";
import { orphansAdded } from "../../core/model/disks";
import { leftWhenForgotten } from "../../core/model/facts";
import { type RecordedGroup, type StateChange, stillToSetAt } from "../../core/model/recorded";
import { groupAddressNamed, namingGroup, type Rule } from "../../core/model/rule";
import {
  type Draft,
  isLeftOnceSet,
  nameKey,
  noteFound,
  planRecord,
  planStep,
  settledRecord,
  wasSet,
} from "../../core/plan/draft";
import { orderBreakingCycles } from "../../core/plan/graph";
import { rulesLeftAlone } from "../../core/plan/next-record";
import { groupRecord, holdBack, keptAsShown, patchFor, unseenName } from "../../core/plan/records";
import { type Need, need, type StepId } from "../../core/plan/step";
import { ifAny, onlyDefined } from "../../core/text/objects";
import { isPlatformShaped } from "./compare-rules";
import { type GroupDifference, recordRules } from "./diff";
import { indexNeighbours, retireGroups, retireSteps } from "./retire-steps";
import { declaredBeside } from "./same-traffic";
import { type FreshGroup, getsNewId } from "./step-parts";

type To<A extends GroupDifference["action"]> = Extract<GroupDifference, { readonly action: A }>;

export function stepsForGroups(differences: readonly GroupDifference[], draft: Draft): void {
  const fresh = new Map<Address, FreshGroup>();
  for (const difference of differences)
    if (getsNewId(difference)) fresh.set(difference.address, difference);
    else if (difference.adopts === true && difference.change?.id !== undefined)
      draft.adopts(difference.address, difference.change.id);

  // Groups are taken over first: a group that is created may name one of them, and what nothing has recorded yet would be
  // forgotten where a run ends between its rename and the create of its successor.
  for (const difference of differences) if (difference.action === "import") adoptGroup(difference, draft);
  for (const difference of differences)
    if (difference.action === "replace" && difference.adopts === true) adoptGroup(difference, draft);
  const { order, open } = orderBreakingCycles([...fresh.keys()], (address) => freshTargets(address, fresh));
  const ordered = order.flatMap((address) => fresh.get(address) ?? []);
  const openTo = ({ address }: FreshGroup): ReadonlySet<Address> => new Set(open.get(address) ?? []);
  const created = ordered.map((group) => ({ group, step: stepsToCreateGroup(group, openTo(group), draft) }));
  for (const difference of differences) changeGroup(difference, draft);
  // Rules that wait for another group's id can only be made once all of those are planned.
  for (const { group, step } of created) addLateRules(group, step, openTo(group), fresh, draft);
  const neighbours = indexNeighbours(differences, draft);
  for (const difference of differences) retireGroups(difference, neighbours, draft);
}

function freshTargets(address: Address, fresh: ReadonlyMap<Address, FreshGroup>): Address[] {
  const targets: Address[] = [];
  const group = fresh.get(address);
  for (const rule of group === undefined ? [] : rulesOfNew(group)) {
    const target = groupAddressNamed(rule);
    if (target !== undefined && target !== address && fresh.has(target)) targets.push(target);
  }
  return targets;
}

/** It follows a group that is replaced, and the file leaves it alone. */
const isUndeclared =
  ({ following }: GroupDifference) =>
  (rule: Rule): boolean =>
    following.includes(rule);

const rulesOfNew = ({ desired, successor = desired.rules }: FreshGroup): readonly Rule[] => successor;

/** Rules that cannot be in the create: they name their own group, or close a cycle. */
const comesLate = (rule: Rule, own: Address, open: ReadonlySet<Address>): boolean => {
  const target = groupAddressNamed(rule);
  return target !== undefined && (target === own || open.has(target));
};

const resolver =
  (draft: Draft) =>
  (group: Reference): string | undefined =>
    "id" in group
      ? group.id
      : (draft.adoptedId(group.address) ??
        (draft.madeBy(group.address) !== undefined ? undefined : draft.state.resources.get(group.address)?.id));

/** A rule that is sent names a group by id where the id stays what it is, and by address where this plan makes it. */
const sendable = (rule: Rule, draft: Draft): Rule =>
  namingGroup(rule, (named) => {
    const id = resolver(draft)(named);
    return id === undefined ? named : { id };
  });

function stepsToCreateGroup(difference: FreshGroup, open: ReadonlySet<Address>, draft: Draft): StepId {
  const { address, desired } = difference;
  const { name, description, record } = nameAndDescription(difference);
  const old = difference.action === "replace" ? renameAside(difference, name, draft) : undefined;
  const needs: Need[] = old?.renamed === undefined ? [...draft.onceMade(address)] : [need(old.renamed)];
  const atomic = rulesOfNew(difference).filter((rule) => !comesLate(rule, address, open) && !isPlatformShaped(rule));
  for (const target of new Set(atomic.map(groupAddressNamed))) needs.push(...draft.onceMade(target));
  // Nothing else remembers these, where a run ends before it has added them.
  const late = difference.following.filter((rule) => comesLate(rule, address, open));
  const retired = [...difference.retired, ...(old === undefined ? [] : [{ id: old.id, name: old.aside }])];
  const created = planStep(draft, address, "create", {
    action: {
      operation: "group.create",
      name,
      description,
      rules: atomic.map((rule) => sendable(rule, draft)),
      undeclared: ifAny(atomic.filter(isUndeclared(difference)).map((rule) => sendable(rule, draft))),
    },
    title: `create group ${name} with ${atomic.length} ${atomic.length === 1 ? "rule" : "rules"}`,
    needs,
    record: {
      ...groupRecord(desired, resolver(draft), []),
      ...record,
      rules: recordRules(atomic, resolver(draft)),
      ...onlyDefined({
        left: ifAny([...recordRules(difference.left, resolver(draft)), ...late]),
        retired: ifAny(retired),
        stillToSet:
          isLeftOnceSet(desired, "rules", draft) &&
          rulesOfNew(difference).some((rule) => comesLate(rule, address, open))
            ? "rules"
            : undefined,
      }),
      ...buriedIn(difference),
    },
  });
  draft.makes(address, created);
  draft.takesName(nameKey("group", name), created);
  if (old?.renamed !== undefined && old.name !== old.aside)
    planStep(draft, address, "back", {
      action: { operation: "group.update", group: { id: old.id }, name: old.name },
      title: `if the create fails: give group ${old.aside} its name ${old.name} back`,
      needs: [need(created, "failed")],
      record: { name: old.name },
    });
  return created;
}

/** What the file leaves alone of a group that is replaced, the new group has as the old one has it. */
function nameAndDescription(difference: FreshGroup) {
  const { desired } = difference;
  if (difference.action !== "replace") return { name: desired.name, description: desired.description, record: {} };
  const { id, live, recorded } = difference;
  const isLeft = (field: string): boolean => desired.lifecycle.ignoreChanges.includes(field);
  const names = isLeft("name") ? [live?.name, recorded?.name] : [];
  const name = names.find((one) => one !== undefined && one !== asideName(one, id)) ?? desired.name;
  const shown = live?.description ?? recorded?.description;
  const isRecorded = isLeft("description") || recorded?.description !== undefined;
  const isKept = shown !== undefined && (desired.description === undefined || isLeft("description"));
  return {
    name,
    description: isKept ? shown || undefined : desired.description,
    // What the file does not say is recorded where it was before: where nobody can see it, the record alone has it.
    record: { name, ...(isKept && isRecorded ? { description: shown || undefined } : {}) },
  };
}

interface OldSelf {
  readonly id: string;
  /** The group's name when this plan was made. */
  readonly name: string;
  /** The name that the replaced group has until it is deleted. */
  readonly aside: string;
  /** Absent: an interrupted replacement has renamed it already. */
  readonly renamed?: StepId;
}

/**
 * The record alone does not say that it has that name: its old one may have been given back, and the answer lost. `next`:
 * the name of the group that takes its place, which is free for nobody else.
 */
function renameAside({ address, id, live, change: { name } }: To<"replace">, next: string, draft: Draft): OldSelf {
  const aside = asideName(name, id);
  if (live?.name === aside) return { id, name, aside };
  const isRecorded = name === aside;
  const renamed = planStep(draft, address, "aside", {
    action: { operation: "group.update", group: { id }, name: aside },
    title: isRecorded ? `rename the group aside to ${aside} once more` : `rename group ${name} aside to ${aside}`,
    needs: draft.onceMade(address),
    record: { name: aside },
  });
  if (!isRecorded && name !== next) draft.freesName(nameKey("group", name), renamed);
  return { id, name, aside, renamed };
}

function addLateRules(
  group: FreshGroup,
  create: StepId,
  open: ReadonlySet<Address>,
  fresh: ReadonlyMap<Address, FreshGroup>,
  draft: Draft,
): void {
  const { address } = group;
  const rules = rulesOfNew(group);
  const created = need(create);
  const late: StepId[] = [];
  rules.forEach((rule, index) => {
    if (comesLate(rule, address, open))
      late.push(stepToAddRule(group, { address }, rule, index, [created, ...targetNeed(rule, fresh, draft)], draft));
  });
  if (isLeftOnceSet(group.desired, "rules", draft)) lastSets(late, draft);
  // A service that makes such a rule by itself would call ours a repeat, and in a create refuse the whole group.
  if (rules.some(isPlatformShaped))
    planStep(draft, address, "verify-egress", {
      action: { operation: "group.verify", group: { address }, rules },
      title: `add the egress rules of ${address} that the service has not made by itself`,
      needs: [created, ...late.map((step) => need(step, "end"))],
    });
}

/** Once the last of them is there, the rules are left to others. */
function lastSets(added: readonly StepId[], draft: Draft): void {
  const last = draft.steps.findIndex(({ id }) => id === added.at(-1));
  const step = draft.steps[last];
  if (step === undefined) return;
  const needs = [...step.needs, ...added.slice(0, -1).map((other) => need(other))];
  draft.steps[last] = { ...step, needs, record: wasSet };
}

function targetNeed(rule: Rule, fresh: ReadonlyMap<Address, unknown>, draft: Draft): readonly Need[] {
  const target = groupAddressNamed(rule);
  return target !== undefined && fresh.has(target) ? draft.onceMade(target) : [];
}

const stepToAddRule = (
  difference: GroupDifference,
  group: Reference,
  rule: Rule,
  index: number,
  needs: readonly Need[],
  draft: Draft,
): StepId => {
  const { address } = difference;
  return planStep(draft, address, `rule-${index}`, {
    action: {
      operation: "group.rule.create",
      group,
      rule: sendable(rule, draft),
      undeclared: isUndeclared(difference)(rule) ? true : undefined,
    },
    title: `add rule to ${address}: ${describeRule(rule)}`,
    needs,
    holds: [`rule:${address}#${index}`],
  });
};

function changeGroup(difference: GroupDifference, draft: Draft): void {
  switch (difference.action) {
    case "none":
    // The new group was planned before, with the other new groups.
    case "create":
    case "replace":
      return;
    case "delete":
      stepsToDeleteGroup(difference, draft);
      return;
    case "forget":
      forgetGroup(
        difference,
        [],
        draft,
        orphansAdded(leftWhenForgotten({ ...difference.recorded, retired: difference.retired })),
      );
      return;
    case "update":
    case "import":
      stepsToUpdateGroup(difference, draft);
      return;
    default:
      difference satisfies never;
  }
}

function stepsToUpdateGroup(difference: To<"update" | "import">, draft: Draft): void {
  const { address, id, change, desired } = difference;
  const group: Reference = { id };
  const needs = difference.action === "import" ? draft.onceMade(address) : [];
  const fields = new Map(change.fields.map((field) => [field.field, field]));
  const name = fields.get("name");
  const description = fields.get("description");
  if (name !== undefined || description !== undefined) {
    const next = groupRecord(desired, resolver(draft), difference.platformRules);
    const step = planStep(draft, address, "update", {
      action: {
        operation: "group.update",
        group,
        name: name === undefined ? undefined : desired.name,
        description: description === undefined ? undefined : (desired.description ?? ""),
      },
      title:
        name === undefined ? `describe group ${change.name} anew` : `rename group ${name.before} to ${desired.name}`,
      needs,
      record: patchFor<RecordedGroup>(next, [
        ...(name === undefined ? [] : ["name"]),
        ...(description === undefined ? [] : ["description"]),
      ]),
    });
    if (name !== undefined) {
      freeNames(difference, String(name.before), step, draft);
      draft.takesName(nameKey("group", desired.name), step);
    }
  }
  const additions = difference.added.map((rule, index) =>
    stepToAddRule(difference, group, rule, index, [...needs, ...draft.onceMade(groupAddressNamed(rule))], draft),
  );
  if (stillToSetAt(address, draft.state) === "rules") lastSets(additions, draft);
  // Additions first: what stays admitted is never interrupted.
  const going = difference.removed.map(({ rule }) => rule);
  const declared = declaredBeside(going, desired.rules, (named) => resolver(draft)(named) ?? referenceText(named));
  difference.removed.forEach(({ live, rule }, index) => {
    const beside = declared[index] ?? [];
    planStep(draft, address, `remove-rule-${index}`, {
      action: {
        operation: "group.rule.delete",
        group,
        ruleId: live.id,
        rule,
        unless: beside.length === 0 ? undefined : beside.map((one) => sendable(one, draft)),
      },
      title: `remove rule from ${address}: ${describeRule(rule)}`,
      needs: [...needs, ...additions.map((step) => need(step))],
      // One after the other where each looks for others that admit the same: two would take each other for those.
      holds: [beside.length === 0 ? `rule:${address}-${index}` : `rules:${address}`],
    });
  });
}

/** What the record of a group remembers of its former selves. */
const buriedIn = ({ recorded }: GroupDifference): Pick<RecordedGroup, "buried"> =>
  recorded?.buried === undefined ? {} : { buried: recorded.buried };

function adoptGroup(difference: To<"import" | "replace">, draft: Draft): void {
  const { address, id, desired, live, added, removed, change } = difference;
  const { left, retired } = difference;
  const next: RecordedGroup = {
    ...groupRecord(desired, resolver(draft), difference.platformRules),
    id,
    ...onlyDefined({
      left: ifAny([...recordRules(left, resolver(draft)), ...difference.owed]),
      retired: ifAny(retired),
      stillToSet: added.length === 0 ? undefined : stillToSetAt(address, draft.state),
    }),
    ...buriedIn(difference),
  };
  const before: Partial<RecordedGroup> = {
    name: live?.name === undefined ? undefined : canonicalName(live.name),
    description: live?.description,
    // Which of the desired rules exist already, and which rules to remove still exist.
    rules: recordRules(
      rulesLeftAlone(difference, resolver(draft)) ?? [
        ...desired.rules.filter((rule) => !added.includes(rule)),
        ...removed.map(({ rule }) => rule),
      ],
      resolver(draft),
    ),
  };
  const step = planRecord(
    draft,
    address,
    "import",
    `take over group ${unseenName(difference).length > 0 ? id : `${live?.name ?? change.name} (${id})`}`,
    settledRecord(
      address,
      holdBack(next, before, [...keptAsShown(difference, next, before), ...unseenName(difference)]),
    ),
  );
  draft.makes(address, step);
}

function stepsToDeleteGroup(difference: To<"delete">, draft: Draft): void {
  const { address, id, change } = difference;
  const noted = difference.adopts === true ? [need(noteFound(draft, difference.recorded, change.name))] : [];
  const retired = retireSteps(difference, difference.retired, noted, draft).map(({ step }) => need(step));
  const needs = [...noted, ...retired];
  if (change.reason === "gone") {
    forgetGroup(difference, needs, draft);
    return;
  }
  const step = planStep(draft, address, "delete", {
    action: { operation: "group.delete", group: { id }, name: change.name, retired: false },
    title: `delete group ${change.name}`,
    needs,
    forgets: true,
  });
  freeNames(difference, change.name, step, draft);
}

function forgetGroup(
  { address, change }: To<"delete" | "forget">,
  needs: readonly Need[],
  draft: Draft,
  noted: readonly StateChange[] = [],
): void {
  planRecord(
    draft,
    address,
    "forget",
    `forget group ${change.name}`,
    [...noted, ...settledRecord(address, null)],
    needs,
  );
}

/**
 * Frees `name`, and `recorded.updating.name` as well: a rename whose answer was lost may have taken effect. Not when that
 * is the desired name.
 */
function freeNames({ recorded, desired }: GroupDifference, name: string, step: StepId, draft: Draft): void {
  draft.freesName(nameKey("group", name), step);
  const told = recorded?.updating?.name;
  if (told === undefined || told === desired?.name) return;
  const key = nameKey("group", told);
  if (draft.freedBy(key) === undefined) draft.freesName(key, step);
}
