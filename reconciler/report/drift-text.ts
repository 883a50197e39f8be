/** Drift for people. */
import type { DriftReport } from "../engine/drift";
export const driftText = (report: DriftReport, _options: { colour: boolean }): string =>
  report.drifts.length === 0
    ? `No drift in ${report.compared} resources.`
    : report.drifts
        .map(
          (drift) =>
            `${drift.address}${drift.gone ? " is gone" : ""}${drift.fields.map((f) => `\n  ${f.field}: ${f.before} → ${f.after}`).join("")}`,
        )
        .join("\n");
