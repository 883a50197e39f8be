/** How a trial ends, and what it says of things and outcomes. */
import { kindRows } from "../../../core/model/kinds";
import { failureText, type Outcome } from "../../../core/model/outcome";
import type { TrialThing } from "./notes";

export class Stopped extends Error {}

/** Ends the trial. What it made stays written down. */
export class TrialProblem extends Error {}

export const nounOf = (kind: TrialThing["kind"]): string => kindRows[kind].noun;

export const wordsOf = (outcome: Outcome<unknown>): string =>
  outcome.status === "accepted" ? "it was accepted" : failureText(outcome);

export const secondsOf = (ms: number): string => (ms < 1000 ? "less than a second" : `${Math.round(ms / 1000)} s`);

export const stateWords = (words: readonly string[]): string =>
  words.length === 0 ? "no word for its state" : words.join(", ");

/** A message without the parts that differ each time: ids, names, numbers and quotes. */
export function telling(message: string): string | undefined {
  const pattern = message
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|trial-[0-9a-f]{6}(-\w+)?|\b(?=\w*\d)[\w-]{6,}\b|\b\d+\b/gi, "*")
    .replaceAll(/(\*[\s,;:]*)+\*/g, "*")
    .trim();
  return pattern.replaceAll(/[*\s]/g, "").length < 6 ? undefined : pattern.slice(0, 200);
}
