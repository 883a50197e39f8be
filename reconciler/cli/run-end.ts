/** How a run ended, for programs: the exit code, and what failed or waits as diagnostics. People read report/run-text. */
import type { Diagnostic } from "../core/model/diagnostic";
import type { RunReport } from "../engine/run-plan";

export function exitCodeOf(report: RunReport): number {
  if (report.broken !== undefined || report.counts.failed > 0 || report.interrupted) return 1;
  return report.counts.waiting > 0 ? 4 : 0;
}

export function runDiagnostics(report: RunReport): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const { step, result } of report.steps) {
    if (result.end === "done" || result.end === "skipped") continue;
    const said = "code" in result ? result : undefined;
    diagnostics.push({
      severity: result.end === "waiting" ? "warning" : "error",
      code: said?.code ?? `apply/${result.end}`,
      summary: `${step.title}: ${result.message ?? result.end}`,
      address: step.address,
      ...(said?.fix === undefined ? {} : { fix: said.fix }),
    });
  }
  const error = (code: string, summary: string): void => {
    diagnostics.push({ severity: "error", code, summary, fix: "run the same command again: it goes on from here" });
  };
  const { broken } = report;
  if (broken !== undefined) {
    const { code } = broken as Error & { code?: unknown };
    error(typeof code === "string" ? code : "state/store-failed", `the state could not be written: ${broken.message}`);
  } else if (report.interrupted)
    error("apply/interrupted", "the run was stopped before its end; what was in flight is recorded");
  return diagnostics;
}
