/** The end of a run for people. */
import type { Plan } from "../core/plan/plan";
import type { RunReport } from "../engine/run-plan";
export function runText(run: RunReport, _plan: Plan, _options: { colour: boolean; width: number }): string {
  const { done, failed, skipped, waiting } = run.counts;
  return `${done} done, ${failed} failed, ${skipped} skipped, ${waiting} waiting`;
}
