/**
 * How long a plan takes and how long each VM is down, from the times the service is known to need and the critical
 * path. An estimate informs people and orders the work; nothing depends on it.
 */
import type { Address } from "../model/address";
import { type Operation, operations, rowOf } from "../model/operation";
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

interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** Earliest start and finish of every step, in one pass over steps that are already in order. */
function earliestTimes(steps: readonly Step[]): ReadonlyMap<string, TimeSpan> {
  const times = new Map<string, TimeSpan>();
  for (const step of steps) {
    if (isFallback(step)) continue;
    let from = 0;
    for (const { step: before } of step.needs) from = Math.max(from, times.get(before)?.to ?? 0);
    times.set(step.id, { from, to: from + step.estimateMs });
  }
  return times;
}

/** The step runs only when another one failed, so it is no part of what is expected to happen. */
export const isFallback = (step: Step): boolean => step.needs.some((need) => need.on === "failed");

/** From when to when each VM is down. */
function downSpans(steps: readonly Step[], times: ReadonlyMap<string, TimeSpan>): ReadonlyMap<Address, TimeSpan> {
  const down = new Map<Address, TimeSpan>();
  for (const { id, downtimeOf } of steps) {
    const span = times.get(id);
    if (downtimeOf === undefined || span === undefined) continue;
    const { from, to } = down.get(downtimeOf) ?? span;
    down.set(downtimeOf, { from: Math.min(from, span.from), to: Math.max(to, span.to) });
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
  for (const { to } of times.values()) durationMs = Math.max(durationMs, to);
  const down = [...downSpans(steps, times)].sort(([a], [b]) => (a < b ? -1 : 1));
  return { durationMs, downtimeMs: Object.fromEntries(down.map(([address, { from, to }]) => [address, to - from])) };
}
