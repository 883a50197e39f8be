/** Says before anything is sent which names this service does not take, where its dialect has rules of its own. */
import type { Address, Kind } from "../model/address";
import type { Diagnostic, SourcePosition } from "../model/diagnostic";
import type { NameProblem } from "../model/name-rule";
import { nameGiven, type Step } from "./step";

export const namesRefused = (
  steps: readonly Step[],
  problemOf: NameProblem,
  sourceOf: (address: Address) => SourcePosition | undefined,
): Diagnostic[] =>
  steps.flatMap((step) => {
    const given = nameGiven(step);
    const problem = given === undefined ? undefined : problemOf(given.kind, given.name);
    if (given === undefined || problem === undefined) return [];
    return [nameRefused(step.address, given.kind, given.name, problem, sourceOf(step.address))];
  });

export const nameRefused = (
  address: Address,
  kind: Kind,
  name: string,
  problem: string,
  source: SourcePosition | undefined,
): Diagnostic => ({
  severity: "error",
  code: "plan/name-refused",
  summary: `${address}: the name ${name} ${problem}`,
  detail: `The dialect says which names of this kind the service takes (names.${kind}).`,
  fix: "choose another name, or correct the rule in the dialect",
  address,
  source,
});
