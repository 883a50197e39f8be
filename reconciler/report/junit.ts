/** JUnit's XML, which every pipeline shows: one case for each finding or test. */
import { groupedBy } from "../core/text/objects";
import { firstLine } from "../core/text/parts";
import { printable } from "../core/text/printable";

export interface JunitCase {
  readonly suite: string;
  readonly name: string;
  readonly durationMs?: number;
  readonly failure?: string;
  readonly skipped?: string;
  readonly said?: string;
}

export function junitText(name: string, cases: readonly JunitCase[]): string {
  const suites = groupedBy(cases, (one) => one.suite);
  const counts = (some: readonly JunitCase[]): string =>
    `tests="${some.length}" failures="${some.filter(({ failure }) => failure !== undefined).length}" skipped="${some.filter(({ skipped }) => skipped !== undefined).length}"`;
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="${xml(name)}" ${counts(cases)}>`];
  for (const [suite, its] of suites) {
    lines.push(`  <testsuite name="${xml(suite)}" ${counts(its)}>`);
    for (const one of its) lines.push(...caseLines(one));
    lines.push("  </testsuite>");
  }
  lines.push("</testsuites>");
  return `${lines.join("\n")}\n`;
}

function caseLines({ suite, name, durationMs, failure, skipped, said }: JunitCase): string[] {
  const time = durationMs === undefined ? "" : ` time="${(durationMs / 1000).toFixed(3)}"`;
  const head = `    <testcase classname="${xml(suite)}" name="${xml(name)}"${time}`;
  const inside = [
    ...(failure === undefined
      ? []
      : [`      <failure message="${xml(firstLine(failure))}">${xmlLines(failure)}</failure>`]),
    ...(skipped === undefined ? [] : [`      <skipped message="${xml(skipped)}"/>`]),
    ...(said === undefined ? [] : [`      <system-out>${xml(said)}</system-out>`]),
  ];
  return inside.length === 0 ? [`${head}/>`] : [`${head}>`, ...inside, "    </testcase>"];
}

const entities: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };
const xml = (text: string): string => printable(text).replace(/[<>&"]/g, (character) => entities[character] ?? "");
const xmlLines = (text: string): string => text.split("\n").map(xml).join("\n");
