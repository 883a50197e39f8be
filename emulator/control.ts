/**
 * The local control endpoint, for what no call of the contract can do. It dumps and loads the world, changes it without
 * a request of the service, attaches groups to VMs, sets faults, counts requests and moves the clock. It has no
 * credential, so the server lets only local programs reach it.
 */
import { answer, type Reply, refuseWith } from "./decision";
import type { RuleEntity, Vm, WorldChange } from "./entities";
import { messageOfError } from "./errors";
import { type ActiveFault, FaultProblem, readFault } from "./faults";
import { isBodyObject } from "./fields";
import { removeGroup } from "./group";
import { createRequestLog, type RequestLog, showLog } from "./request-log";
import { readRuleBody, ruleEntityOf } from "./rule";
import { seedChanges, type WorldSeed } from "./seed";
import { removeVm } from "./vm";
import { applyChanges, clockOffset, createWorld, dumpWorld, settleVmEntity, type World, type WorldDump } from "./world";

/** The instruments that the control endpoint may change besides the world. */
export interface Instruments {
  log: RequestLog;
  faults: ActiveFault[];
}

export interface ControlRequest {
  readonly method: string;
  readonly segments: readonly string[];
  readonly body: unknown;
  readonly world: World;
  readonly now: number;
  readonly newId: () => string;
  readonly portRange: string | null;
  readonly instruments: Instruments;
}

/** `load`: the world is to be replaced by these changes on an empty one. */
export type ControlDecision = Reply & { readonly load?: readonly WorldChange[] };

export function control(request: ControlRequest): ControlDecision {
  const [, id = "", , partId = ""] = request.segments;
  // The ids are the second and the fourth segment of the path.
  const route = request.segments.map((segment, index) => (index % 2 === 1 ? "*" : segment)).join("/");
  const carry = controls.get(`${request.method} ${route}`) ?? controls.get(`any ${route}`);
  return carry === undefined
    ? refuseWith(404, `no such control: ${request.method} /_control/${request.segments.join("/")}`)
    : carry(request, { id, partId });
}

interface PartPath {
  readonly id: string;
  readonly partId: string;
}

const patchables = ["vm", "volume", "group"] as const;
type Patchable = (typeof patchables)[number];

const controls = new Map<string, (request: ControlRequest, named: PartPath) => ControlDecision>([
  ["GET world", ({ world, now }) => answer(200, dumpWorld(world, now))],
  ["POST world", (request) => loadWorld(request)],
  ["GET requests", ({ instruments }) => answer(200, showLog(instruments.log))],
  ["DELETE requests", (request) => forgetRequests(request)],
  ["any faults", (request) => faults(request)],
  ["POST time", (request) => advance(request)],
  ...patchables.flatMap((kind) => [
    [`PATCH ${kind}/*`, (request: ControlRequest, { id }: PartPath) => patch(request, kind, id)] as const,
    [`DELETE ${kind}/*`, (request: ControlRequest, { id }: PartPath) => vanish(request, kind, id)] as const,
  ]),
  ["POST vm/*/groups", (request, { id }) => attachGroup(request, id)],
  ["DELETE vm/*/groups/*", (request, { id, partId }) => detachGroup(request, id, partId)],
  ["POST group/*/rule", (request, { id }) => addRuleBehind(request, id)],
  ["DELETE group/*/rule/*", (request, { id, partId }) => dropRule(request, id, partId)],
]);

function forgetRequests({ instruments }: ControlRequest): ControlDecision {
  instruments.log = createRequestLog();
  return done;
}

const done: Reply = answer(200, { data: "done" });
const doneWith = (changes: readonly WorldChange[]): Reply => ({ ...done, changes });
const refuseNotFound = (what: string): Reply => refuseWith(404, `${what} not found`);

function loadWorld({ body, newId, now }: ControlRequest): ControlDecision {
  if (!isBodyObject(body)) return refuseWith(400, "the body must be a world dump or a seed");
  try {
    // `seedChanges` refuses a body that is neither.
    const load = seedChanges(body as Partial<WorldSeed> | WorldDump, newId, now);
    // Tried on a world that is thrown away, so that a dump that does not fit is refused as a whole.
    applyChanges(createWorld(), load);
    return { ...done, load };
  } catch (error) {
    return refuseWith(400, `this is not a world dump or a seed: ${messageOfError(error)}`);
  }
}

function faults({ method, body, instruments }: ControlRequest): Reply {
  if (method === "DELETE") instruments.faults = [];
  else if (method === "POST") {
    try {
      const specs = (Array.isArray(body) ? body : [body]).map((spec) => readFault(spec));
      instruments.faults = [...instruments.faults, ...specs.map((spec) => ({ spec, seen: 0, hit: 0 }))];
    } catch (error) {
      if (error instanceof FaultProblem) return refuseWith(400, error.message);
      throw error;
    }
  } else if (method !== "GET") return refuseWith(405, "GET, POST or DELETE");
  return answer(200, { data: instruments.faults.map(({ spec, seen, hit }) => ({ ...spec, seen, hit })) });
}

function advance({ body, world }: ControlRequest): Reply {
  const ms = isBodyObject(body) ? body["advance_ms"] : undefined;
  if (typeof ms !== "number" || !Number.isInteger(ms) || ms < 0)
    return refuseWith(400, "advance_ms must be a whole number, 0 or more");
  const value = clockOffset(world) + ms;
  return doneWith([{ put: "setting", value: { id: "clock_offset_ms", value } }]);
}

const isOfType = (value: unknown, current: unknown): boolean =>
  (current === null || value === null || typeof current === typeof value) &&
  Array.isArray(current) === Array.isArray(value);

/** Drift: any field the entity has, with a value of its type. The VM's pending transition ends with a new status. */
function patch({ world, body, now }: ControlRequest, kind: Patchable, id: string): Reply {
  const stored = world.tables[kind].get(id);
  if (stored === undefined) return refuseNotFound(kind);
  const before = "pending" in stored ? settleVmEntity(stored, now) : stored;
  const fields = new Map(Object.entries(before));
  if (!isBodyObject(body)) return refuseWith(400, "the body must be an object of fields");
  for (const [name, value] of Object.entries(body)) {
    const current: unknown = fields.get(name);
    if (["id", "seq", "project_id"].includes(name) || current === undefined)
      return refuseWith(400, `${name} is not a field of a ${kind} that can be set`);
    if (!isOfType(value, current))
      return refuseWith(400, `${name} must be ${Array.isArray(current) ? "an array" : `a ${typeof current}`}`);
  }
  const settled = kind === "vm" && Object.hasOwn(body, "status") ? { pending: null } : {};
  // Each field was checked against the type of its former value.
  return doneWith([{ put: kind, value: { ...before, ...settled, ...body } } as WorldChange]);
}

function vanish({ world, now }: ControlRequest, kind: Patchable, id: string): Reply {
  if (!world.tables[kind].has(id)) return refuseNotFound(kind);
  if (kind === "volume") return doneWith([{ drop: "volume", id }]);
  const vm = kind === "vm" ? world.tables.vm.get(id) : undefined;
  if (vm !== undefined) return doneWith(removeVm(world, settleVmEntity(vm, now), true).changes);
  const group = world.tables.group.get(id);
  if (group === undefined) return refuseNotFound(kind);
  const attached = [...world.tables.vm.values()].filter((one) => one.groups.includes(id));
  return doneWith([...removeGroup(world, group), ...attached.map((one) => withoutGroup(one, id))]);
}

const withoutGroup = (vm: Vm, id: string): WorldChange =>
  withGroups(
    vm,
    vm.groups.filter((group) => group !== id),
  );

const withGroups = (vm: Vm, groups: readonly string[]): WorldChange => ({ put: "vm", value: { ...vm, groups } });

function attachGroup({ world, body }: ControlRequest, id: string): Reply {
  const vm = world.tables.vm.get(id);
  const groupId = isBodyObject(body) ? body["group_id"] : undefined;
  if (vm === undefined) return refuseNotFound("vm");
  if (typeof groupId !== "string" || !world.tables.group.has(groupId)) return refuseNotFound("group");
  return doneWith([withGroups(vm, [...new Set([...vm.groups, groupId])])]);
}

function detachGroup({ world }: ControlRequest, id: string, groupId: string): Reply {
  const vm = world.tables.vm.get(id);
  if (vm === undefined) return refuseNotFound("vm");
  if (!vm.groups.includes(groupId)) return refuseNotFound("group");
  return doneWith([withoutGroup(vm, groupId)]);
}

/** A rule input as the contract has it, or a whole rule as returned. */
function addRuleBehind({ world, body, now, newId, portRange }: ControlRequest, id: string): Reply {
  const group = world.tables.group.get(id);
  if (group === undefined) return refuseNotFound("group");
  const { shape, problems } = readRuleBody(world, group.project_id, body, "", portRange);
  if (problems.length > 0) return refuseWith(400, problems.join("; "));
  const known = Object.entries(isBodyObject(body) ? body : {}).filter(([name]) => settableRuleFields.has(name));
  const made = ruleEntityOf(shape, group, newId(), new Date(now).toISOString());
  const rule: RuleEntity = { ...made, ...Object.fromEntries(known) };
  return answer(200, { data: rule }, [{ put: "rule", value: rule }]);
}

const settableRuleFields = new Set([
  "port_range_min",
  "port_range_max",
  "name",
  "remote_address_group_id",
  "belongs_to_default_sg",
]);

function dropRule({ world }: ControlRequest, id: string, ruleId: string): Reply {
  if (world.tables.rule.get(ruleId)?.security_group_id !== id) return refuseNotFound("rule");
  return doneWith([{ drop: "rule", id: ruleId }]);
}
