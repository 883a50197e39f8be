/**
 * Outputs for people and programs: what a plan changes in them, and their values after a run. Sensitive values are
 * hidden.
 */
import { hiddenValue, type Json, type Outputs } from "../core/model/output";
import type { PlannedOutput } from "../core/plan/outputs";
import type { Plan } from "../core/plan/plan";
import { printable } from "../core/text/printable";
import type { RunReport } from "../engine/run-plan";
import { hang } from "./style";

/** A text as it is, everything else as JSON. */
export const outputText = (value: Json): string => printable(typeof value === "string" ? value : JSON.stringify(value));

export function outputEvents(plan: Plan): object[] {
  return (plan.outputs ?? []).map(({ name, before, after, known, sensitive }) => ({
    type: "output",
    name,
    before: before === undefined ? null : sensitive === true ? hiddenValue : before,
    // An output that is not known yet is described in words for people; programs get null.
    after: after === undefined || !known ? null : sensitive === true ? hiddenValue : after,
    known,
  }));
}

/** For the summary: after a run the values there are, before one the values that are known already. */
export function outputsForPrograms(plan: Plan | undefined, run: RunReport | undefined): Record<string, Json> {
  if (run?.outputs !== undefined) return shownOutputs(run.outputs);
  return Object.fromEntries(
    (plan?.outputs ?? []).flatMap(({ name, after, known, sensitive }): [string, Json][] =>
      after === undefined ? [] : [[name, !known ? null : sensitive === true ? hiddenValue : after]],
    ),
  );
}

export const shownOutputs = (outputs: Outputs): Record<string, Json> =>
  Object.fromEntries(
    Object.entries(outputs).map(([name, { value, sensitive }]) => [name, sensitive === true ? hiddenValue : value]),
  );

/** The outputs that a plan changes. */
export function* plannedOutputLines(plan: Plan, width: number): Generator<string> {
  const changed = (plan.outputs ?? []).filter(({ changes }) => changes);
  if (changed.length === 0) return;
  yield "outputs:";
  for (const output of changed) yield* hang("  ", `${output.name}: ${outputChangeText(output)}`, width);
  yield "";
}

function outputChangeText({ before, after, known, sensitive }: PlannedOutput): string {
  if (sensitive === true) return after === undefined ? "is taken away" : `${hiddenValue}, changes`;
  if (after === undefined) return `${outputText(before ?? null)} → is taken away`;
  const next = outputText(after);
  if (before === undefined) return next;
  return known && outputText(before) === next ? next : `${outputText(before)} → ${next}`;
}

/** The outputs after a run. */
export function outputLines(outputs: Outputs | undefined, width: number): string[] {
  const entries = Object.entries(outputs === undefined ? {} : shownOutputs(outputs));
  if (entries.length === 0) return [];
  return ["", "outputs:", ...entries.flatMap(([name, value]) => hang("  ", `${name} = ${outputText(value)}`, width))];
}
