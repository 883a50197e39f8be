/** What this plan makes of the outputs: which change and to what, as far as that is known before it is carried out. */

import type { Standings } from "../diff/standing";
import { computedName } from "../model/computed";
import type { Diagnostic } from "../model/diagnostic";
import { recordedValue } from "../model/facts";
import { told } from "../model/fix";
import {
  computedInShaped,
  type DesiredOutput,
  fillShaped,
  type Json,
  jsonOf,
  type Outputs,
  type RecordedOutput,
  recordOutput,
} from "../model/output";
import type { State } from "../model/recorded";
import { deepEqual } from "../text/deep-equal";
import { ifAny } from "../text/objects";

export interface PlannedOutput {
  readonly name: string;
  /** Absent: the output had no value before. */
  readonly before?: Json;
  /** Absent: the output is removed, or nothing of it is known. A part that is still open stands there in words. */
  readonly after?: Json;
  readonly known: boolean;
  readonly changes: boolean;
  readonly sensitive?: true;
  readonly description?: string;
}

export interface OutputsPlanned {
  /** `undefined`: there are no outputs, before or after. */
  readonly outputs?: readonly PlannedOutput[];
  readonly diagnostics: readonly Diagnostic[];
}

export function planOutputs(
  desired: readonly DesiredOutput[] | undefined,
  { outputs: before = {} }: State,
  standings: Standings,
): OutputsPlanned {
  const wanted = desired ?? [];
  const diagnostics: Diagnostic[] = [];
  const planned = new Map(wanted.map((output) => [output.name, planOutput(output, before, standings, diagnostics)]));
  for (const [name, { value, sensitive }] of Object.entries(before))
    if (!planned.has(name)) planned.set(name, { name, before: value, known: true, changes: true, sensitive });
  const outputs = [...planned.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { outputs: ifAny(outputs), diagnostics };
}

function planOutput(
  output: DesiredOutput,
  outputs: Outputs,
  standings: Standings,
  diagnostics: Diagnostic[],
): PlannedOutput {
  const { name, sensitive, description } = output;
  const before = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
  let isLeftOut = false;
  const filled = fillShaped(output.value, (computed) => {
    const standing = standings(computed);
    if (standing.is === "known") return standing.text;
    if (standing.is === "open") return standing.computed;
    if (standing.leftOut === true || standing.quiet === true) isLeftOut = true;
    else
      diagnostics.push({
        severity: "error",
        code: "plan/value-not-shown",
        summary: `\${${computedName(computed)}} in the output ${name} has no value: ${standing.why}`,
        ...told(standing.fix),
        source: output.source,
      });
    return computed;
  });
  // One that is left out has no value after the plan, and that much is known.
  const known = isLeftOut || computedInShaped(filled).length === 0;
  const after = jsonOf(filled);
  return {
    name,
    before: before?.value,
    after: isLeftOut ? undefined : after,
    known,
    changes: isLeftOut
      ? before !== undefined
      : !known || before === undefined || !deepEqual(before, recordOutput(output, after)),
    sensitive,
    description,
  };
}

/**
 * The outputs as the records have them by now. An output of which a part is missing is left out: an old address in it
 * would be wrong.
 */
export function outputsNow(desired: readonly DesiredOutput[], resources: State["resources"]): Outputs {
  const outputs: Record<string, RecordedOutput> = {};
  for (const output of desired) {
    const filled = fillShaped(output.value, (computed) => recordedValue(computed, resources) ?? computed);
    if (computedInShaped(filled).length === 0) outputs[output.name] = recordOutput(output, jsonOf(filled));
  }
  return outputs;
}

export const changesOutputs = (outputs: readonly PlannedOutput[] | undefined): boolean =>
  outputs?.some(({ changes }) => changes) === true;
