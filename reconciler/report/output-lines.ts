/** Outputs for people and programs: what a plan makes of them, and what there is after a run. Sensitive ones are hidden. */
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
    // What is open in it is said in words for people; a program gets no value that is not one.
    after: after === undefined || !known ? null : sensitive === true ? hiddenValue : after,
    known,
  }));
}

/** For the summary: after a run what there is, before one what there will be, as far as it is known. */
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
  for (const output of changed) yield* hang("  ", `${output.name}: ${changeText(output)}`, width);
  yield "";
}

function changeText({ before, after, known, sensitive }: PlannedOutput): string {
  if (sensitive === true) return after === undefined ? "is taken away" : `${hiddenValue}, changes`;
  if (after === undefined) return `${outputText(before ?? null)} → is taken away`;
  const next = outputText(after);
  if (before === undefined) return next;
  return known && outputText(before) === next ? next : `${outputText(before)} → ${next}`;
}

/** What there is after a run. */
export function outputLines(outputs: Outputs | undefined, width: number): string[] {
  const entries = Object.entries(outputs === undefined ? {} : shownOutputs(outputs));
  if (entries.length === 0) return [];
  return ["", "outputs:", ...entries.flatMap(([name, value]) => hang("  ", `${name} = ${outputText(value)}`, width))];
}
