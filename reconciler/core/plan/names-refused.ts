/** Says before anything is sent which names this service does not take, where its dialect has rules of its own. */
import { type Address, type Kind, parseAddress } from "../model/address";
import type { Diagnostic, SourcePosition } from "../model/diagnostic";
import type { NameProblem } from "../model/name-rule";
import type { Step, StepAction } from "./step";

export const namesRefused = (
  steps: readonly Step[],
  problemOf: NameProblem,
  sourceOf: (address: Address) => SourcePosition | undefined,
): Diagnostic[] =>
  steps.flatMap(({ address, action }) => {
    const kind = parseAddress(address)?.kind;
    const name = nameSent(action);
    if (kind === undefined || name === undefined) return [];
    const problem = problemOf(kind, name);
    return problem === undefined ? [] : [nameRefused(address, kind, name, problem, sourceOf(address))];
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

function nameSent(action: StepAction): string | undefined {
  switch (action.operation) {
    case "vm.create":
      return action.vm.name;
    case "vm.rename":
    case "volume.create":
    case "group.create":
      return action.name;
    case "group.update":
      return action.name;
    default:
      return undefined;
  }
}
