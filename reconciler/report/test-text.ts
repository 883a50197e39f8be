/** Results of the tests of a user's own file: for people, as TAP, and as JUnit. */
import type { SourcePosition } from "../core/model/diagnostic";
import { printable } from "../core/text/printable";
import { junitText } from "./junit";
import { countOf, painter, type TextOptions } from "./style";

export interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly source: SourcePosition;
  readonly problems: readonly string[];
  readonly durationMs: number;
}

export function testsText(results: readonly TestResult[], options: TextOptions = {}): string {
  const paint = painter(options.colour === true);
  const lines: string[] = [];
  for (const { name, problems, source } of results) {
    if (problems.length === 0) {
      lines.push(`${paint("good", "✓")} ${printable(name)}`);
      continue;
    }
    lines.push(`${paint("danger", "✗")} ${printable(`${name} (${source.file}:${source.line})`)}`);
    for (const problem of problems) lines.push(`    ${printable(problem)}`);
  }
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  lines.push("", `${countOf(results.length, "test")}: ${results.length - failed} passed, ${failed} failed.`);
  return `${lines.join("\n")}\n`;
}

export function tapText(results: readonly TestResult[]): string {
  const lines = ["TAP version 14", `1..${results.length}`];
  for (const [index, { name, problems, source }] of results.entries()) {
    const title = printable(name).replaceAll("\\", "\\\\").replaceAll("#", "\\#");
    lines.push(`${problems.length === 0 ? "ok" : "not ok"} ${index + 1} - ${title}`);
    if (problems.length > 0)
      lines.push(
        "  ---",
        `  at: ${printable(JSON.stringify(`${source.file}:${source.line}`))}`,
        "  problems:",
        ...problems.map((problem) => `    - ${JSON.stringify(printable(problem))}`),
        "  ...",
      );
  }
  return `${lines.join("\n")}\n`;
}

export const junitOfTests = (results: readonly TestResult[]): string =>
  junitText(
    "reconcile test",
    results.map(({ file, name, problems, durationMs }) => ({
      suite: file,
      name,
      durationMs,
      failure: problems.length === 0 ? undefined : problems.join("\n"),
    })),
  );

export const testEvent = ({ file, name, source, problems, durationMs }: TestResult): object => ({
  type: "test",
  file,
  line: source.line,
  name,
  ok: problems.length === 0,
  problems,
  duration_ms: Math.round(durationMs),
});
