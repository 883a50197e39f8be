/**
 * How long a plan takes and how long each VM is down, from the times the service is known to need and the critical
 * path. An estimate informs people and orders the work; nothing depends on it.
 */
import type { Address } from "../model/address";
import { type Operation, operations, rowOf } from "../model/operation";
import { mustGet } from "../text/invariant";
import type { Step, StepOperation } from "./step";

const oneSecondMs = 1000;
const request = 0.5 * oneSecondMs;

/** The time of a step beyond one request. */
const ownMs: Readonly<Record<Exclude<StepOperation, Operation>, number>> = {
  "vm.settle": 30 * oneSecondMs,
  "vm.check": 10 * oneSecondMs,
  "group.verify": request,
  flush: oneSecondMs,
  after_ready: 60 * oneSecondMs,
  after_attach: 5 * oneSecondMs,
  record: 0,
  outside: 0,
};

const isRequest = (operation: StepOperation): operation is StepOperation & Operation =>
  Object.hasOwn(operations, operation);

export const estimateMs = (operation: StepOperation): number =>
  isRequest(operation) ? (rowOf(operation).estimateMs ?? request) : ownMs[operation];

export interface Estimate {
  readonly durationMs: number;
  /** Only VMs that are down for some time. */
  readonly downtimeMs: Readonly<Record<Address, number>>;
}

export interface StepSchedule {
  readonly start: ReadonlyMap<string, number>;
  readonly finish: ReadonlyMap<string, number>;
}

/** Earliest start and finish of every step, in one pass over steps that are already in order. */
function earliestTimes(steps: readonly Step[]): StepSchedule {
  const start = new Map<string, number>();
  const finish = new Map<string, number>();
  for (const step of steps) {
    if (isFallback(step)) continue;
    let at = 0;
    for (const { step: before } of step.needs) at = Math.max(at, finish.get(before) ?? 0);
    start.set(step.id, at);
    finish.set(step.id, at + step.estimateMs);
  }
  return { start, finish };
}

/** The step runs only when another one failed, so it is no part of what is expected to happen. */
export const isFallback = (step: Step): boolean => step.needs.some((need) => need.on === "failed");

interface TimeSpan {
  from: number;
  to: number;
}

/** From when to when each VM is down. */
function downSpans(steps: readonly Step[], { start, finish }: StepSchedule): ReadonlyMap<Address, TimeSpan> {
  const down = new Map<Address, TimeSpan>();
  for (const step of steps) {
    if (step.downtimeOf === undefined || !start.has(step.id)) continue;
    const span = down.get(step.downtimeOf);
    const from = mustGet(start, step.id);
    const to = mustGet(finish, step.id);
    if (span === undefined) down.set(step.downtimeOf, { from, to });
    else {
      span.from = Math.min(span.from, from);
      span.to = Math.max(span.to, to);
    }
  }
  return down;
}

/** The VMs that are down at one moment, where they are most; none where never two are. */
export function downTogether(steps: readonly Step[]): readonly Address[] {
  const down = [...downSpans(steps, earliestTimes(steps))];
  const moments = down.map(([, { from }]) =>
    down.flatMap(([address, span]) => (span.from <= from && from < span.to ? [address] : [])),
  );
  const most = moments.reduce((one, other) => (other.length > one.length ? other : one), []);
  return most.length < 2 ? [] : [...most].sort();
}

export function estimate(steps: readonly Step[]): Estimate {
  const times = earliestTimes(steps);
  let durationMs = 0;
  for (const end of times.finish.values()) durationMs = Math.max(durationMs, end);
  const down = downSpans(steps, times);
  const downtimeMs: Record<Address, number> = {};
  for (const address of [...down.keys()].sort())
    downtimeMs[address] = mustGet(down, address).to - mustGet(down, address).from;
  return { durationMs, downtimeMs };
}
