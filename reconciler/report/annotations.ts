/**
 * Findings on the lines of the YAML they come from, as code hosts show them beside a change: GitHub's workflow commands,
 * and GitLab's Code Quality report. What a plan loses and what it needs a consent for are findings like any other.
 */

import { createHash } from "node:crypto";
import type { Diagnostic } from "../core/model/diagnostic";
import { consentCodes } from "../core/plan/consent";
import type { Plan } from "../core/plan/plan";
import { printable } from "../core/text/printable";

const annotationFormats = ["github", "gitlab"] as const;
export type AnnotationFormat = (typeof annotationFormats)[number];

interface Finding {
  readonly severity: Diagnostic["severity"];
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

export function annotationsText(
  format: AnnotationFormat,
  diagnostics: readonly Diagnostic[],
  plan: Plan | undefined,
  /** Where what has no line of its own is shown. */
  firstFile: string,
): string {
  const findings = [
    // A note about the service as such belongs to no line; shown at some line, it would be noise on every merge request.
    ...diagnostics
      .filter(({ severity, source }) => severity !== "note" || source !== undefined)
      .map((diagnostic) => fromDiagnostic(diagnostic, firstFile)),
    ...(plan === undefined ? [] : fromPlan(plan, firstFile)),
  ];
  return format === "github"
    ? findings.map(githubCommand).join("")
    : `${JSON.stringify(findings.map(codeQuality), undefined, 2)}\n`;
}

function fromDiagnostic(
  { severity, code, summary, detail, fix, address, source }: Diagnostic,
  firstFile: string,
): Finding {
  const about = address === undefined || summary.includes(address) ? "" : `${address}: `;
  return {
    severity,
    code,
    message: [`${about}${summary}`, detail, fix].filter((part) => part !== undefined).join("; "),
    file: source?.file ?? firstFile,
    line: source?.line ?? 1,
    ...(source?.column === undefined ? {} : { column: source.column }),
  };
}

function fromPlan(plan: Plan, firstFile: string): Finding[] {
  const sourceOf = new Map(plan.changes.map((change) => [change.address, change.source]));
  return plan.consents.map(({ kind, address, detail, grant }) => {
    const source = address === undefined ? undefined : sourceOf.get(address);
    const about = address === undefined || detail.includes(address) ? "" : `${address}: `;
    return {
      severity: kind === "prevent_destroy" ? "error" : "warning",
      code: consentCodes[kind],
      message: `${about}${detail}; ${grant}`,
      file: source?.file ?? firstFile,
      line: source?.line ?? 1,
    };
  });
}

const githubWords: Record<Diagnostic["severity"], string> = { error: "error", warning: "warning", note: "notice" };

/** Every character with a meaning of its own is encoded, so that no text of a service can be a command. */
function githubCommand({ severity, code, message, file, line, column }: Finding): string {
  const place = [`file=${propertyText(file)}`, `line=${line}`, ...(column === undefined ? [] : [`col=${column}`])];
  return `::${githubWords[severity]} ${[...place, `title=${propertyText(code)}`].join(",")}::${messageText(message)}\n`;
}

const messageText = (text: string): string =>
  printable(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const propertyText = (text: string): string => messageText(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

const gitlabWords: Record<Diagnostic["severity"], string> = { error: "critical", warning: "major", note: "info" };

/** The fingerprint names the finding, not its line: a line above it that comes or goes makes no new finding. */
const codeQuality = ({ severity, code, message, file, line }: Finding): object => ({
  description: printable(message),
  check_name: code,
  fingerprint: createHash("sha256").update(`${code}\n${file}\n${message}`).digest("hex"),
  severity: gitlabWords[severity],
  location: { path: file.replace(/^\.\//, ""), lines: { begin: line } },
});
