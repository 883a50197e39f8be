/**
 * The security group operations. A create is one decision: either the group with all its rules, or a refusal without
 * any change, which is the contract's roll-back.
 */

import { mayCreateGroup, mayEditGroup } from "./access";
import {
  acknowledge,
  answer,
  pathPart,
  projectOfCaller,
  type Reply,
  type Request,
  refusals,
  refuseWith,
} from "./decision";
import type { Group, RuleEntity, RuleShape, WorldChange } from "./entities";
import { isEntityId, readEntityName, readFields } from "./fields";
import { pageOfKind } from "./paging";
import { defaultEgress, readRuleBody, ruleEntityOf } from "./rule";
import { firstUnder, idsUnder, ruleIdentity, rulesInGroup, type World } from "./world";

const ruleExistsMessage = "This rule already exists in the selected security group.";
export const nameTakenMessage = "A security group with this name already exists in the project.";

export function createGroup(request: Request): Reply {
  const { world, settings } = request;
  const projectId = projectOfCaller(request);
  if (!mayCreateGroup(request.caller)) return refusals.forbidden("only active project members create security groups");
  const fields = readFields(request.body);
  const name = readEntityName(fields);
  const description = fields.text("description") ?? "";
  const inputs = (fields.list("rules") ?? []).map((rule, n) =>
    readRuleBody(world, projectId, rule, `rules[${n}].`, settings.portRange),
  );
  const problems = [...fields.problems, ...inputs.flatMap((input) => input.problems)];
  if (problems.length > 0) return refusals.badRequest(problems);
  const shapes = inputs.map(({ shape }) => shape);
  const created = buildGroup(request, name, description, shapes, world.nextSeq);
  if ("refusal" in created) return refuseWith(409, created.refusal);
  return answer(201, groupRecord(created.group, created.rules), created.changes);
}

interface BuiltGroup {
  readonly group: Group;
  /** The rules that were asked for, then those that the service adds. */
  readonly rules: readonly RuleEntity[];
  readonly changes: readonly WorldChange[];
}

/** The group with its rules, or why there cannot be one; also what an import makes of each of its groups. */
export function buildGroup(
  request: Request,
  name: string,
  description: string,
  shapes: readonly RuleShape[],
  seq: number,
): BuiltGroup | { readonly refusal: string } {
  const projectId = projectOfCaller(request);
  if (
    request.settings.groupNamesTwice !== true &&
    firstUnder(request.world, `group/name/${projectId}/${name}`) !== undefined
  )
    return { refusal: nameTakenMessage };
  const created_at = new Date(request.now).toISOString();
  const group: Group = {
    id: request.newId(),
    seq,
    project_id: projectId,
    name,
    description,
    created_by: request.caller.email,
    platform: false,
    created_at,
  };
  const given = shapes.map((shape) => ruleEntityOf(shape, group, request.newId(), created_at));
  const identities = new Set(given.map(ruleIdentity));
  if (identities.size < given.length) return { refusal: ruleExistsMessage };
  // An egress rule that was asked for and equals a default rule takes the place of that default; it is no duplicate.
  const added = defaultEgress(group, request.newId, created_at).filter((rule) => !identities.has(ruleIdentity(rule)));
  const rules = [...given, ...added];
  const changes: WorldChange[] = [
    { put: "group", value: group },
    ...rules.map((value) => ({ put: "rule", value }) as const),
  ];
  return { group, rules, changes };
}

export function updateGroup(request: Request): Reply {
  const fields = readFields(request.body);
  const renamed = fields.text("name") !== undefined;
  const name = renamed ? readEntityName(fields) : undefined;
  const description = fields.text("description");
  return onOwnGroup(request, refuseEdit, (group) => {
    if (fields.problems.length > 0) return refusals.badRequest(fields.problems);
    if (name === undefined && description === undefined)
      return refuseWith(400, "at least one of name and description must be supplied");
    const holders = idsUnder(request.world, `group/name/${group.project_id}/${name}`);
    const isTaken = request.settings.groupNamesTwice !== true && holders.size > 0 && !holders.has(group.id);
    if (name !== undefined && isTaken) return refuseWith(409, nameTakenMessage);
    const next: Group = { ...group, name: name ?? group.name, description: description ?? group.description };
    return answer(200, shownGroup(request.world, next), [{ put: "group", value: next }]);
  });
}

export const deleteGroup = (request: Request): Reply =>
  onOwnGroup(request, refuseEdit, (group) => {
    if (idsUnder(request.world, `vm/group/${group.id}`).size > 0)
      return refuseWith(409, "Security group is attached to one or more VMs");
    if (request.settings.keepsNamedGroups && isNamedByOthers(request.world, group))
      return refuseWith(409, `Security Group ${group.id} in use.`);
    return acknowledge("Security group deleted", removeGroup(request.world, group));
  });

const isNamedByOthers = (world: World, group: Group): boolean =>
  [...idsUnder(world, `rule/remote/${group.id}`)].some(
    (id) => world.tables.rule.get(id)?.security_group_id !== group.id,
  );

/** The group goes with its rules, and the rules of other groups that name it go with it. */
export function removeGroup(world: World, group: Group): WorldChange[] {
  const rules = new Set([...idsUnder(world, `rule/group/${group.id}`), ...idsUnder(world, `rule/remote/${group.id}`)]);
  return [{ drop: "group", id: group.id }, ...[...rules].map((id) => ({ drop: "rule", id }) as const)];
}

type RefusalOfGroup = (request: Request, group: Group) => Reply | undefined;

/** Rule 4 of the authentication clauses first: nobody, whatever the role, changes a platform-managed group. */
const refuseEdit: RefusalOfGroup = (request, group) =>
  group.platform ? refusals.forbidden("this security group is platform-managed") : refuseRuleEdit(request, group);

const refuseRuleEdit: RefusalOfGroup = ({ caller }, group) =>
  mayEditGroup(caller, group) ? undefined : refusals.forbidden("members change only the security groups they created");

const refuseNothing: RefusalOfGroup = () => undefined;

export function createRule(request: Request): Reply {
  const { world, settings } = request;
  const projectId = projectOfCaller(request);
  return onOwnGroup(request, refuseRuleEdit, (group) => {
    const { shape, problems } = readRuleBody(world, projectId, request.body, "", settings.portRange);
    if (problems.length > 0) return refusals.badRequest(problems);
    const rule = ruleEntityOf(shape, group, request.newId(), new Date(request.now).toISOString());
    if (firstUnder(world, `rule/same/${group.id}/${ruleIdentity(rule)}`) !== undefined)
      return refuseWith(409, ruleExistsMessage);
    return answer(201, { data: rule }, [{ put: "rule", value: rule }]);
  });
}

export const listRules = (request: Request): Reply =>
  onOwnGroup(request, refuseNothing, (group) => answer(200, { data: rulesInGroup(request.world, group.id) }));

export const deleteRule = (request: Request): Reply =>
  onOwnGroup(request, refuseRuleEdit, (group) => {
    const rule = request.world.tables.rule.get(pathPart(request, "rule_id"));
    if (rule?.security_group_id !== group.id) return refuseWith(404, "Rule not found in this security group");
    return acknowledge("Rule deleted", [{ drop: "rule", id: rule.id }]);
  });

export const getGroup = (request: Request): Reply =>
  onOwnGroup(request, refuseNothing, (group) => answer(200, shownGroup(request.world, group)));

export const listGroups = (request: Request): Reply =>
  pageOfKind(request, "group", (group) => shownGroup(request.world, group));

const shownGroup = (world: World, group: Group) => groupRecord(group, rulesInGroup(world, group.id));

export function groupRecord(group: Group, rules: readonly RuleEntity[]) {
  const { id, name, description, project_id, created_by, created_at } = group;
  return { id, name, description, project_id, created_by, created_at, rules };
}

function onOwnGroup(request: Request, refuse: RefusalOfGroup, then: (group: Group) => Reply): Reply {
  const id = pathPart(request);
  const group = request.world.tables.group.get(id);
  if (group !== undefined && group.project_id === request.caller.projectId)
    return refuse(request, group) ?? then(group);
  return group === undefined && !isEntityId(id) ? refusals.invalidId("security group") : refusals.groupNotFound();
}
