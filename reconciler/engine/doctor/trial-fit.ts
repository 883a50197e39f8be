/** The doctor's report with what a trial learnt over it. */
import type { Dialect } from "../../dialect/dialect";
import { withWords } from "./fit";
import { type DoctorReport, notFound, type OperationFinding, type TrialFindings } from "./report";
import { leftToDo } from "./todo";

export function withTrial(report: DoctorReport, trial: TrialFindings): DoctorReport {
  const operations = report.operations.map((finding): OperationFinding => {
    const route = trial.routes[finding.operation];
    const inVain = trial.inVain[finding.operation];
    if (route === undefined && inVain !== undefined) return notFound(finding.operation, null, inVain, false);
    return route === undefined || route === null
      ? finding
      : { operation: finding.operation, verdict: "found", route, tried: [], isTried: true };
  });
  const words = new Set([...Object.values(trial.states.vm), ...Object.values(report.dialect.states.vm)].flat());
  const whole = {
    ...report,
    operations,
    unknownVmStates: report.unknownVmStates.filter((word) => !words.has(word)),
    likelyStates: Object.fromEntries(
      Object.entries(report.likelyStates).map(([phase, likely]) => [
        phase,
        likely.filter((word) => !Object.values(trial.states.vm).some((seen) => seen.includes(word))),
      ]),
    ),
    dialect: tried(report.dialect, trial),
    trial,
  };
  return { ...whole, todo: [...leftToDo(whole), ...trial.open] };
}

/** A word has one meaning: what was seen goes before what was guessed by the word alone. */
function tried(dialect: Dialect, { states, routes, inVain, errors }: TrialFindings): Dialect {
  const seen = new Set(Object.values(states.vm).flat());
  const guessed = Object.fromEntries(
    Object.entries(dialect.states.vm).map(([phase, words]) => [phase, words.filter((word) => !seen.has(word))]),
  ) as unknown as Dialect["states"]["vm"];
  const without = Object.keys(inVain).map((operation) => [operation, null]);
  return {
    ...dialect,
    operations: { ...dialect.operations, ...Object.fromEntries(without), ...routes },
    states: {
      ...dialect.states,
      vm: withWords(guessed, states.vm),
      volume: withWords(dialect.states.volume, states.volume),
    },
    errors: [...errors, ...dialect.errors],
  };
}
