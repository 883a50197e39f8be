/**
 * What a policy program answered, as findings: a list of them, `{ "findings": [ … ] }`, one a line, or what conftest and
 * OPA print. What cannot be read, or was cut off before it refused anything, refuses the plan, since nobody knows what it
 * would have said.
 */
import type { Severity, SourcePosition } from "../model/diagnostic";
import type { PolicyCode } from "../model/diagnostic-code";
import { type Fields, isObject, parsedJson } from "../text/objects";
import { printable } from "../text/printable";
import type { Finding } from "./finding";

export interface PolicyAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  /** For the message, when it cannot be read. */
  readonly said: string;
}

export function findingsOfAnswer(answer: PolicyAnswer, source: SourcePosition): Finding[] {
  const found = readAnswer(answer.stdout)?.map((fields) => findingOf(fields, source));
  if (found !== undefined && (answer.exitCode === 0 || found.some(({ refused }) => refused !== undefined)))
    return found;
  // One that was ended, or ended in an error of its own, may have printed what it had found so far.
  return [...(found ?? []), failed(answer, found !== undefined && found.length > 0, source)];
}

function failed({ exitCode, said }: PolicyAnswer, isPart: boolean, source: SourcePosition): Finding {
  const what = isPart ? "failed, and refused nothing before" : "gave no answer that can be read";
  return {
    severity: "error",
    code: "policy/failed",
    summary: `the policy ${what} (exit ${exitCode})`,
    detail: said === "" ? undefined : said,
    fix:
      fixByExit.get(exitCode) ??
      (isPart
        ? "let the program end with 0 where its findings refuse nothing"
        : "let the program read the plan as JSON on standard input and print a JSON list of findings"),
    source,
    refused: policyRefusal(source),
  };
}

/** As a shell says it: 124 out of time, 127 not started. */
const fixByExit: ReadonlyMap<number, string> = new Map([
  [124, "let the program end sooner, or give it more time with timeout: beside its command"],
  [127, "name a program that there is: a path from the folder of the file that names it, or a name on the PATH"],
]);

const policyRefusal = ({ file, line }: SourcePosition): string => `refused by policy (${file}:${line})`;

function readAnswer(text: string): Fields[] | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  const whole = parsedJson(trimmed);
  if (whole !== undefined) return flatten(whole);
  const lines = trimmed.split(/\n\s*/).map(parsedJson);
  return lines.includes(undefined) ? undefined : flatten(lines);
}

/** `undefined`: the answer has none of the known forms. */
function flatten(value: unknown, severity?: Severity): Fields[] | undefined {
  if (Array.isArray(value)) {
    const all = value.map((item: unknown) => flatten(item, severity));
    return all.some((one) => one === undefined) ? undefined : all.flatMap((one) => one ?? []);
  }
  const of = severity === undefined ? {} : { severity };
  if (typeof value === "string") return [{ ...of, summary: value }];
  if (!isObject(value)) return undefined;
  if ("findings" in value) return flatten(value["findings"]);
  // conftest: one object a file and namespace.
  if (["failures", "warnings", "successes"].some((key) => key in value))
    return bySeverity(value["failures"], value["warnings"]);
  // opa eval: results with expressions with values.
  if ("result" in value) return flatten(value["result"]);
  if ("expressions" in value) {
    const { expressions } = value;
    return Array.isArray(expressions)
      ? flatten(expressions.map((one: unknown) => (isObject(one) ? one["value"] : one)))
      : undefined;
  }
  const [denied, warned] = [rulesNamed(value, /^(?:deny|violation)(?:_|$)/), rulesNamed(value, /^warn(?:_|$)/)];
  if (denied.length + warned.length > 0) return bySeverity(denied, warned);
  return ["summary", "message", "msg"].some((key) => key in value)
    ? [{ ...of, ...value }]
    : Object.keys(value).length === 0
      ? []
      : undefined;
}

/** What the rules of a package of OPA say: `deny`, and `deny_public` beside it. */
const rulesNamed = (value: Fields, pattern: RegExp): unknown[] =>
  Object.keys(value).flatMap((name) => (pattern.test(name) ? [value[name] ?? []] : []));

function bySeverity(errors: unknown, warnings: unknown): Fields[] | undefined {
  const read = [flatten(errors ?? [], "error"), flatten(warnings ?? [], "warning")];
  return read.some((one) => one === undefined) ? undefined : read.flatMap((one) => one ?? []);
}

function findingOf(fields: Fields, source: SourcePosition): Finding {
  const metadata = isObject(fields["metadata"]) ? fields["metadata"] : {};
  const text = (...keys: string[]): string | undefined => {
    for (const from of [fields, metadata])
      for (const key of keys) {
        const value = from[key];
        if (typeof value === "string" && value !== "") return printable(value);
      }
    return undefined;
  };
  const said = text("severity");
  const severity: Severity = said === "warning" || said === "note" ? said : "error";
  const [code, detail, fix, address] = [text("code"), text("detail"), text("fix"), text("address")];
  const file = text("file");
  const line = fields["line"];
  return {
    severity,
    code: policyCode(code),
    summary: text("summary", "message", "msg") ?? "the policy refuses the plan",
    detail,
    fix,
    address,
    source: file === undefined ? source : { file, line: isLineNumber(line) ? line : 1 },
    refused: severity === "error" ? policyRefusal(source) : undefined,
  };
}

const isLineNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;

/** The code's part before the slash is always `policy`; the part after it is the policy's own. */
function policyCode(given: string | undefined): PolicyCode {
  const word = (given ?? "denied").replace(/^policy\//, "").replaceAll(/[^A-Za-z0-9_./-]/g, "-");
  return `policy/${word === "" ? "denied" : word}`;
}
