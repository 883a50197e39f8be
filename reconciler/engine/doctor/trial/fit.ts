/** The doctor's report with what a trial learnt over it. */
import type { AssumedOperation } from "../../../core/model/operation";
import { keysOf, tableOf } from "../../../core/text/objects";
import type { Dialect, Route } from "../../../dialect/dialect";
import { withMoreWords } from "../fit";
import {
  type DoctorReport,
  isGivenRoute,
  keptIfGiven,
  type OperationFinding,
  operationNotFound,
  type TrialFindings,
} from "../report";
import { wordsOfPhases } from "../states";

export function withTrial(report: DoctorReport, trial: TrialFindings): DoctorReport {
  const routes: Partial<Record<AssumedOperation, Route>> = trial.routes;
  const vain: Partial<Record<AssumedOperation, OperationFinding["tried"]>> = trial.inVain;
  const operations = report.operations.map((finding): OperationFinding => {
    const route = routes[finding.operation];
    const inVain = vain[finding.operation];
    if (route === undefined && inVain !== undefined)
      return keptIfGiven(report, operationNotFound(finding.operation, null, inVain, false));
    return route === undefined
      ? finding
      : { operation: finding.operation, verdict: "found", route, tried: [], isTried: true };
  });
  const words = new Set([...Object.values(trial.states.vm), ...Object.values(report.dialect.states.vm)].flat());
  return {
    ...report,
    operations,
    unknownVmStates: report.unknownVmStates.filter((word) => !words.has(word)),
    likelyStates: Object.fromEntries(
      Object.entries(report.likelyStates).map(([phase, likely]) => [
        phase,
        likely.filter((word) => !Object.values(trial.states.vm).some((seen) => seen.includes(word))),
      ]),
    ),
    dialect: tried(report, trial),
    trial,
  };
}

/** Each word has one meaning: what the trial saw counts before a guess by the word alone. */
function tried(report: DoctorReport, { states, routes, inVain, errors, rules, limits }: TrialFindings): Dialect {
  const { dialect } = report;
  const seen = wordsOfPhases(states.vm);
  const guessed = tableOf(keysOf(dialect.states.vm), (phase) =>
    dialect.states.vm[phase].filter((word) => !seen.has(word.toLowerCase())),
  );
  let operations: Dialect["operations"] = { ...dialect.operations, ...routes };
  for (const operation of keysOf(inVain))
    if (routes[operation] === undefined && !isGivenRoute(report, operation))
      operations = { ...operations, [operation]: null };
  return {
    ...dialect,
    operations,
    states: {
      ...dialect.states,
      vm: withMoreWords(guessed, states.vm),
      volume: withMoreWords(dialect.states.volume, states.volume),
    },
    errors: [...errors, ...dialect.errors],
    rules: { ...dialect.rules, ...rules },
    limits: { ...dialect.limits, ...limits },
  };
}
