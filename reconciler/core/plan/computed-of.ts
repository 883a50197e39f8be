/** The values that only the service knows, in what a step sends or runs. */

import type { Standings } from "../diff/standing";
import type { Address } from "../model/address";
import { type Computed, computedName } from "../model/computed";
import type { Diagnostic } from "../model/diagnostic";
import { ofKind } from "../model/kinds";
import type { State } from "../model/recorded";
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
          fix: standing.is !== "missing" || standing.fix === undefined ? undefined : standing.fix,
          address,
        },
      ];
    });
  });

/** The value as the records have it. */
export function recordedValue({ address, attribute }: Computed, resources: State["resources"]): string | undefined {
  const record = resources.get(address);
  if (record === undefined) return undefined;
  switch (attribute) {
    case "id":
      return record.id;
    case "name":
      return record.name;
    case "size":
      return ofKind(record, "volume")?.sizeGb?.toString();
    case "private_ip":
      return ofKind(record, "vm")?.privateIp;
    case "floating_ip":
      return ofKind(record, "vm")?.floatingIp;
    default:
      return attribute satisfies never;
  }
}
