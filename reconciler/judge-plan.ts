/** What the files want of a plan as a whole, in whatever program it is planned. */
import { checkPlan } from "./core/findings/checks";
import type { Finding, Strictness } from "./core/findings/finding";
import { findingsOfPlan } from "./core/findings/plan-findings";
import type { Diagnostic } from "./core/model/diagnostic";
import type { Prepared } from "./engine/plan";
import { type Exposure, exposureOfPlan } from "./kinds/group/exposure/exposure";
import { judgeReachability } from "./kinds/group/reachability/findings";
import { todayUtc } from "./outside/clock";

export interface JudgedPlan {
  /** Absent when the plan changes no group. */
  readonly exposure: Exposure | undefined;
  /** With those of others, such as the policy's. */
  findingsWith(more: readonly Finding[]): readonly Finding[];
}

export function judgePlan(prepared: Prepared, diagnostics: readonly Diagnostic[], strictness: Strictness): JudgedPlan {
  const { desired, plan, state } = prepared;
  const exposure = exposureOfPlan(prepared);
  const { findings: reached } = judgeReachability(prepared, { today: todayUtc() });
  const checked = checkPlan({ desired, plan, recorded: state.resources.size, now: new Date() });
  return {
    exposure,
    findingsWith: (more) =>
      findingsOfPlan({ plan, diagnostics, exposure, more: [...reached, ...checked, ...more] }, strictness),
  };
}
