/**
 * Findings on the lines of the YAML that they are about, in the formats that code hosts and scanners show beside a
 * change: GitHub's workflow commands, GitLab's Code Quality report, SARIF, and JUnit for everything else.
 */

import { createHash } from "node:crypto";
import type { Finding } from "../core/findings/finding";
import type { Severity } from "../core/model/diagnostic";
import { asOneSentence } from "../core/text/list-text";
import { printable } from "../core/text/printable";
import { junitText } from "./junit";
import { type Annotation, sarifLog } from "./sarif";

export type AnnotationFormat = keyof typeof writers;

export interface AnnotationOptions {
  /** The file under which a finding without a line is shown. */
  readonly firstFile: string;
  /** A file as the code host names it. */
  readonly placeOf: (file: string) => string;
  /** The version of this program. */
  readonly version: string;
}

export function annotationsText(
  format: AnnotationFormat,
  findings: readonly Finding[],
  { firstFile, placeOf, version }: AnnotationOptions,
): string {
  const annotations = findings
    // A note about the service as a whole belongs to no line; on any line it would be noise on every merge request.
    .filter(({ severity, source }) => severity !== "note" || source !== undefined)
    .map((finding) => annotationOf(finding, firstFile, placeOf));
  // What is said of several environments or projects is said once.
  const each = new Map(annotations.map((annotation) => [JSON.stringify(annotation), annotation]));
  return writers[format](withFingerprints([...each.values()]), version);
}

/**
 * A fingerprint names the finding and not its line, so that a line added above the finding makes no new one. Of several
 * findings in the same words each has its own: GitLab shows one for each fingerprint.
 */
function withFingerprints(found: readonly Omit<Annotation, "fingerprint">[]): Annotation[] {
  const times = new Map<string, number>();
  return found.map((one) => {
    const words = `${one.code}\n${one.file}\n${one.message}`;
    const before = times.get(words) ?? 0;
    times.set(words, before + 1);
    return {
      ...one,
      fingerprint: createHash("sha256")
        .update(before === 0 ? words : `${words}\n${before}`)
        .digest("hex"),
    };
  });
}

const asJson = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

const writers = {
  github: (annotations) => annotations.map(githubCommand).join(""),
  gitlab: (annotations) => asJson(annotations.map(codeQuality)),
  sarif: (annotations, version) => asJson(sarifLog(annotations, version)),
  junit: (annotations) => junitText("reconcile", annotations.map(junitCase)),
} satisfies Record<string, (annotations: readonly Annotation[], version: string) => string>;

function annotationOf(
  { severity, code, summary, detail, fix, address, source, refused }: Finding,
  firstFile: string,
  placeOf: AnnotationOptions["placeOf"],
): Omit<Annotation, "fingerprint"> {
  const about = address === undefined || summary.includes(address) ? "" : `${address}: `;
  return {
    severity,
    code,
    message: asOneSentence(`${about}${summary}`, detail, refused, fix),
    file: placeOf(source?.file ?? firstFile),
    line: source?.line ?? 1,
    column: source?.column,
  };
}

/** Only an error fails the case: a warning is reported and passes, as in the plan. */
const junitCase = ({ severity, code, message, file, line }: Annotation) => ({
  suite: code,
  name: `${file}:${line} ${message}`,
  ...(severity === "error" ? { failure: message } : { said: `${severity}: ${message}` }),
});

const githubWords: Record<Severity, string> = { error: "error", warning: "warning", note: "notice" };

/**
 * Every character with a meaning in a workflow command is encoded, so that no text of a service can become a command.
 */
function githubCommand({ severity, code, message, file, line, column }: Annotation): string {
  const place = [`file=${escapedProperty(file)}`, `line=${line}`, ...(column === undefined ? [] : [`col=${column}`])];
  return `::${githubWords[severity]} ${[...place, `title=${escapedProperty(code)}`].join(",")}::${escapedMessage(message)}\n`;
}

const escapedMessage = (text: string): string =>
  printable(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapedProperty = (text: string): string => escapedMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

const gitlabWords: Record<Severity, string> = { error: "critical", warning: "major", note: "info" };

const codeQuality = ({ severity, code, message, file, line, fingerprint }: Annotation): object => ({
  description: printable(message),
  check_name: code,
  fingerprint,
  severity: gitlabWords[severity],
  location: { path: file.replace(/^\.\//, ""), lines: { begin: line } },
});
