/** SARIF 2.1.0, which code scanners and editors read: one result for each finding, one rule for each code. */
import type { Severity } from "../core/model/diagnostic";
import { printable } from "../core/text/printable";
import { explanations, isExplained } from "./explanations";

/** A finding at a place, in one line. */
export interface Annotation {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column?: number;
  /** What a code host knows the finding by from one run to the next. */
  readonly fingerprint: string;
}

const levels: Record<Severity, string> = { error: "error", warning: "warning", note: "note" };

export function sarifLog(results: readonly Annotation[], version: string): object {
  const codes = [...new Set(results.map(({ code }) => code))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "reconcile",
            version,
            informationUri: "https://github.com/reconcile-cloud/reconcile-cloud",
            rules: codes.map(sarifRule),
          },
        },
        columnKind: "utf16CodeUnits",
        results: results.map((result) => sarifResult(result, codes)),
      },
    ],
  };
}

const sarifRule = (code: string): object => ({
  id: code,
  ...(isExplained(code)
    ? { shortDescription: { text: explanations[code].means }, help: { text: explanations[code].todo } }
    : { shortDescription: { text: `A finding of a policy: ${code}` } }),
});

const sarifResult = (
  { severity, code, message, file, line, column, fingerprint }: Annotation,
  codes: readonly string[],
): object => ({
  ruleId: code,
  ruleIndex: codes.indexOf(code),
  level: levels[severity],
  message: { text: printable(message) },
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: file.replace(/^\.\//, "").split("/").map(encodeURIComponent).join("/") },
        region: { startLine: line, startColumn: column },
      },
    },
  ],
  partialFingerprints: { finding: fingerprint },
});
