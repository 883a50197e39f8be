/** The values that only the service knows, in what a step sends or runs. */

import type { Standings } from "../diff/standing";
import type { Address } from "../model/address";
import { computedName } from "../model/computed";
import type { Diagnostic } from "../model/diagnostic";
import { told } from "../model/fix";
import { computedOf, type Step, type StepOperation } from "./step";

/** The steps that run a program, in words. */
const commandOfStep: Readonly<Partial<Record<StepOperation, string>>> = {
  flush: "flush command",
  "vm.check": "check",
  after_ready: "after_ready",
  after_attach: "after_attach",
};

/**
 * A command takes its values when it runs. A value that no service will ever tell is reported before anything is sent.
 */
export const valuesMissing = (
  steps: readonly Step[],
  standings: Standings,
  isThere: (address: Address) => boolean,
): Diagnostic[] =>
  steps.flatMap(({ action, address }): Diagnostic[] => {
    const what = commandOfStep[action.operation];
    if (what === undefined) return [];
    return computedOf(action).flatMap((computed): Diagnostic[] => {
      const standing = standings(computed);
      // A flush comes before everything else of this plan, so it cannot wait for a value that the plan makes.
      const why =
        standing.is === "missing"
          ? standing.why
          : standing.is === "open" &&
              standing.computed.late !== true &&
              action.operation === "flush" &&
              !isThere(computed.address)
            ? `${computed.address} is not there yet when the volume is flushed`
            : undefined;
      if (why === undefined || (standing.is === "missing" && standing.quiet === true)) return [];
      return [
        {
          severity: "error",
          code: "plan/value-not-shown",
          summary: `\${${computedName(computed)}} in the ${what} of ${address} has no value: ${why}`,
          ...told(standing.is === "missing" ? standing.fix : undefined),
          address,
        },
      ];
    });
  });
