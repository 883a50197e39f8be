/**
 * What became of each group of a listing, in words: whether it was made, under which name, and every source that was
 * left out.
 */
import { printable } from "../core/text/printable";
import { countOf } from "./style";

export interface ListingOutcome {
  readonly name: string;
  readonly listedName?: string;
  readonly id?: string;
  readonly status: "created" | "converted" | "failed";
  readonly rules: number;
  readonly skipped: readonly string[];
  readonly error?: string;
}

const verbs = { created: "created", converted: "written", failed: "NOT created" } as const;

export function listingLines(outcomes: readonly ListingOutcome[]): string[] {
  const lines: string[] = [];
  for (const { name, listedName, id, status, rules, skipped, error } of outcomes) {
    const known = [id, listedName === undefined ? undefined : `the listing calls it ${listedName}`].filter(Boolean);
    lines.push(
      `${name}${known.length === 0 ? "" : ` (${known.join("; ")})`}: ${verbs[status]}${status === "failed" ? `: ${error ?? "no reason given"}` : `, ${countOf(rules, "rule")}`}`,
    );
    for (const source of skipped) lines.push(`  skipped: ${source}`);
  }
  const made = outcomes.filter(({ status }) => status !== "failed").length;
  const left = outcomes.reduce((sum, { skipped }) => sum + skipped.length, 0);
  lines.push(
    `${countOf(made, "group")} ${outcomes[0]?.status === "converted" ? "written" : "created"}, ${outcomes.length - made} failed, ${countOf(left, "source")} skipped`,
  );
  return lines.map((line) => printable(line));
}
