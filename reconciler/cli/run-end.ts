/**
 * The end of a run for programs: the exit code, and what failed or waits as diagnostics. report/run-text has the text
 * for people.
 */

import type { Diagnostic } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { unseenDiagnostic } from "../core/plan/unseen";
import { lacksIds, notSeenIn, type RunReport, type StepReport, unseenIn } from "../engine/run-plan";
import { remountDiagnostic } from "../kinds/volume/mount-again";
import { isExplained } from "../report/explanations";
import { StoreFailed } from "../store/store";

export function exitCodeOf(report: RunReport): number {
  if (
    report.broken !== undefined ||
    report.bug !== undefined ||
    report.unclosed !== undefined ||
    report.counts.failed > 0 ||
    report.interrupted
  )
    return 1;
  return report.counts.waiting > 0 || notSeenIn(report).length > 0 ? 4 : 0;
}

export function runDiagnostics(report: RunReport): Diagnostic[] {
  const { broken, unclosed } = report;
  const ended = (code: DiagnosticCode, summary: string): Diagnostic => ({
    severity: "error",
    code,
    summary,
    fix: `${lacksIds(report) ? "give the state the ids that it lacks (reconcile import, as the steps say), then " : ""}run the same command again: it goes on from here`,
  });
  return [
    ...report.steps.flatMap(stepDiagnostic),
    ...unseenIn(report).map(unseenDiagnostic),
    ...toldAtTheEnd(report),
    ...(broken !== undefined
      ? [
          ended(
            "code" in broken && isExplained(broken.code) ? broken.code : "state/store-failed",
            `the state could not be written: ${broken.message}`,
          ),
        ]
      : report.interrupted
        ? [ended("apply/interrupted", "the run was stopped before its end; what was in flight is recorded")]
        : []),
    ...(unclosed === undefined ? [] : [stateUnclosed(unclosed)]),
  ];
}

function stepDiagnostic({ step, result }: StepReport): Diagnostic[] {
  if (result.end === "done" || result.end === "skipped") return [];
  return [
    {
      severity: result.end === "waiting" ? "warning" : "error",
      code: ("code" in result ? result.code : undefined) ?? `apply/${result.end}`,
      summary: `${step.title}: ${result.message ?? result.end}`,
      address: step.address,
      detail: "output" in result ? result.output?.join("\n") : undefined,
      ...("fix" in result ? { fix: result.fix, fixParts: result.fixParts } : {}),
    },
  ];
}

/**
 * What the plan told, without what this run has settled: an earlier write that did not show is told anew where it is not
 * seen again.
 */
export const notSettledIn = (report: RunReport, told: readonly Diagnostic[]): readonly Diagnostic[] => {
  const done = new Set(report.steps.map(({ step }) => step.address));
  for (const { step, result } of report.steps) if (result.end !== "done") done.delete(step.address);
  return told.filter(({ code, address }) => code !== "apply/not-seen" || address === undefined || !done.has(address));
};

/** What whoever reads the end of a run has to know, also where all was done. */
export const toldAtTheEnd = ({ remounts = [], warnings = [] }: RunReport): Diagnostic[] => [
  ...remounts.map(remountDiagnostic),
  ...warnings,
];

export const stateUnclosed = (error: Error & { readonly code?: unknown }): Diagnostic => {
  const { message, code } = error;
  const hasLost = error instanceof StoreFailed && error.hasLost;
  return {
    severity: "error",
    code: isExplained(code) && code.startsWith("state/") ? code : "state/store-failed",
    summary: message,
    detail: hasLost
      ? "What the run did exists in the service, and the state may not have it: a run with --new-state would make it a second time."
      : "Everything that was done is recorded; only the end of the run is not: the lock may still be there.",
    fix: hasLost
      ? "check the place of the state; if it stays as it is, give back to it what it lacks: reconcile import ADDR ID --new-state"
      : "check the place of the state, then run the same command again; if its lock stays: reconcile state unlock",
  };
};
