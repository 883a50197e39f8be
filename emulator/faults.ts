/**
 * Faults on purpose: which fault hits which request, by operation and count. The server carries out what a fault does
 * to the exchange, and decision code what it does to the decision; nothing here touches the world.
 */
import { type Reply, refuseWith } from "./decision";
import { isBodyObject } from "./fields";
import { isOperation, operations } from "./operations";

export const faultKinds = [
  "latency",
  "status",
  "garbage",
  "truncate",
  "html",
  "drop-before",
  "drop-after",
  "stale-list",
  "page-skips",
  "page-repeats",
  "vm-fails",
] as const;
/** Faults that change the decision; all others change the exchange. */
const decidedKinds: readonly string[] = ["stale-list", "page-skips", "page-repeats", "vm-fails"];
export type FaultKind = (typeof faultKinds)[number];

export interface FaultSpec {
  /** An operation, `*`, `read` (GET) or `write` (all others). */
  readonly operation: string;
  readonly kind: FaultKind;
  /** How many requests it hits; left out: all. */
  readonly count?: number;
  /** How many matching requests it lets pass first. */
  readonly skip?: number;
  /** latency: how long; stale-list: lists do not show what is younger. */
  readonly ms?: number;
  /** status, html: the status code. */
  readonly code?: number;
  /** status: the Retry-After header, in seconds. */
  readonly retry_after?: number;
  /** status, html, garbage, truncate, latency: whether the request has had its effect. */
  readonly when?: "before" | "after";
}

export class FaultProblem extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join("; "));
    this.name = "FaultProblem";
  }
}

const numberFields = ["count", "skip", "ms", "code", "retry_after"] as const;
const fieldNames = ["operation", "kind", ...numberFields, "when"];

/** Reads `operation=vm.create,kind=drop-after,count=1,skip=0`. Throws a FaultProblem that names everything wrong with it. */
export function parseFault(text: string): FaultSpec {
  const problems: string[] = [];
  const given: Record<string, unknown> = {};
  for (const part of text.split(",")) {
    const at = part.indexOf("=");
    const name = (at < 0 ? part : part.slice(0, at)).trim();
    const value = at < 0 ? "" : part.slice(at + 1).trim();
    if (Object.hasOwn(given, name)) problems.push(`${name} is given twice`);
    const isNumber = numberFields.some((field) => field === name) && /^[0-9]+$/.test(value);
    given[name] = isNumber ? Number(value) : value;
  }
  return readFault(given, problems);
}

const canBeHit = (operation: unknown): boolean =>
  typeof operation === "string" && (isOperation(operation) || ["*", "read", "write"].includes(operation));

const isWholeNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** A day: more than any test waits for, and less than a timer holds. */
const longestFaultMs = 86_400_000;

/** As parseFault, from a JSON object, which is what the control endpoint takes. */
export function readFault(given: unknown, problems: string[] = []): FaultSpec {
  const fault: Readonly<Record<string, unknown>> = isBodyObject(given) ? given : {};
  for (const name of Object.keys(fault))
    if (!fieldNames.includes(name)) problems.push(`${name || "(empty)"} is not one of ${fieldNames.join(", ")}`);
  const operation = fault["operation"] ?? "*";
  if (!canBeHit(operation))
    problems.push(`operation must be the name of an operation, *, read or write, not ${String(operation)}`);
  const kind = faultKinds.find((known) => known === fault["kind"]);
  if (kind === undefined)
    problems.push(`kind must be one of ${faultKinds.join(", ")}, not ${String(fault["kind"] ?? "(nothing)")}`);
  for (const name of numberFields) {
    const value = fault[name];
    if (value !== undefined && !isWholeNumber(value))
      problems.push(`${name} must be a whole number, not ${String(value)}`);
  }
  problems.push(...unfitting(fault));
  if (problems.length > 0) throw new FaultProblem(problems);
  // Every field was checked.
  return { ...fault, operation, kind } as FaultSpec;
}

/** Fields that contradict each other. */
function unfitting({ kind, code, ms, when }: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  if (typeof code === "number" && (code < 400 || code > 599)) problems.push("code must be from 400 to 599");
  if (kind === "status" && code === undefined) problems.push("kind=status needs code");
  if ((kind === "latency" || kind === "stale-list") && ms === undefined) problems.push(`kind=${kind} needs ms`);
  if (typeof ms === "number" && ms > longestFaultMs)
    problems.push(`ms must be at most ${longestFaultMs}, which is a day`);
  if (!["before", "after", undefined].some((moment) => moment === when)) problems.push("when must be before or after");
  return problems;
}

export interface ActiveFault {
  readonly spec: FaultSpec;
  seen: number;
  hit: number;
}

/** The faults that hit this request, each counted. Those let pass by `skip` or used up by `count` do not. */
export function takeFaults(active: readonly ActiveFault[], operation: string): FaultSpec[] {
  const taken: FaultSpec[] = [];
  for (const fault of active) {
    if (!concerns(fault.spec, operation)) continue;
    fault.seen += 1;
    if (fault.seen <= (fault.spec.skip ?? 0)) continue;
    if (fault.hit >= (fault.spec.count ?? Number.POSITIVE_INFINITY)) continue;
    fault.hit += 1;
    taken.push(fault.spec);
  }
  return taken;
}

function concerns(spec: FaultSpec, operation: string): boolean {
  if (spec.operation === "*") return true;
  if (spec.operation !== "read" && spec.operation !== "write") return spec.operation === operation;
  if (!isOperation(operation)) return false;
  return (operations[operation].method === "GET") === (spec.operation === "read");
}

/** The faults that change the decision, in its terms. */
export function decidedFaults(faults: readonly FaultSpec[]): {
  readonly staleMs: number;
  readonly pageShift: number;
  readonly vmFails: boolean;
} {
  const has = (kind: FaultKind): boolean => faults.some((fault) => fault.kind === kind);
  return {
    staleMs: faults.find((fault) => fault.kind === "stale-list")?.ms ?? 0,
    pageShift: has("page-skips") ? 1 : has("page-repeats") ? -1 : 0,
    vmFails: has("vm-fails"),
  };
}

/** The fault that breaks the exchange, if any. */
export const breakingFault = (faults: readonly FaultSpec[]): FaultSpec | undefined =>
  faults.find(({ kind }) => kind !== "latency" && !decidedKinds.includes(kind));

/** A VM in transition ends in ERROR, and the answer of a call that blocks until the VM has settled says so. */
export function failVms(decision: Reply): Reply {
  const changes = decision.changes.map((change) =>
    "put" in change && change.put === "vm" && change.value.pending !== null
      ? { put: change.put, value: { ...change.value, pending: { ...change.value.pending, becomes: failedStatus } } }
      : change,
  );
  return decision.holdUntil === undefined
    ? { ...decision, changes }
    : { ...refuseWith(500, "the VM ended in state ERROR"), changes, holdUntil: decision.holdUntil };
}
const failedStatus = { status: "ERROR" };
