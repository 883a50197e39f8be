/** Which steps a run took its time for: backwards from the one that ended last, each time to what it had waited for. */

import type { Step } from "../plan/step";
import { appendTo } from "../text/objects";

export interface Timed {
  readonly step: Pick<Step, "id" | "address" | "needs" | "holds">;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The steps of the path, earliest first. */
export function criticalPath<Ran extends Timed>(steps: readonly Ran[]): readonly Ran[] {
  const byId = new Map(steps.map((timed) => [timed.step.id, timed]));
  const holders = new Map<string, Ran[]>();
  for (const timed of steps) for (const hold of timed.step.holds) appendTo(holders, hold, timed);
  const path: Ran[] = [];
  for (let at = last(steps); at !== undefined; ) {
    path.unshift(at);
    const { step, startedAt } = at;
    const before = [
      ...step.needs.flatMap((need) => byId.get(need.step) ?? []),
      ...step.holds.flatMap((hold) => holders.get(hold) ?? []),
    ].filter((one) => one !== at && one.endedAt <= startedAt && !path.includes(one));
    at = last(before);
  }
  return path;
}

const last = <Ran extends Timed>(steps: readonly Ran[]): Ran | undefined =>
  steps.reduce<Ran | undefined>(
    (latest, one) => (latest === undefined || one.endedAt > latest.endedAt ? one : latest),
    undefined,
  );
