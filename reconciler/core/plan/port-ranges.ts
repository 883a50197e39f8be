/**
 * Reports, before anything is sent, rules that this service cannot take: a rule is sent with one port in one field, and
 * only the dialect knows how a range is written there. Rules that the service has already are not sent.
 */

import { describeRule } from "../canonical/rules";
import type { Address } from "../model/address";
import type { Diagnostic, SourcePosition } from "../model/diagnostic";
import type { Rule } from "../model/rule";
import { fewParts } from "../text/list-text";
import { appendTo } from "../text/objects";
import type { Step, StepAction } from "./step";

export function rangesRefused(
  steps: readonly Step[],
  sourceOf: (address: Address) => SourcePosition | undefined,
): Diagnostic[] {
  const byGroup = new Map<Address, string[]>();
  for (const { address, action } of steps)
    for (const rule of rulesSent(action)) {
      if (rule.ports === undefined || rule.ports.min === rule.ports.max) continue;
      appendTo(byGroup, address, describeRule(rule));
    }
  return [...byGroup].map(([address, rules]) => ({
    severity: "error",
    code: "plan/port-range",
    summary: `${address}: ${rules.length === 1 ? "a rule has a range" : `${rules.length} rules have ranges`} of ports, and the dialect does not say how this service takes ranges`,
    detail: fewParts(rules, 5),
    fix: 'write rules: { port_range: "{min}-{max}" } in the dialect, or one rule for each port',
    address,
    source: sourceOf(address),
  }));
}

function rulesSent(action: StepAction): readonly Rule[] {
  if (action.operation === "group.create") return action.rules;
  return action.operation === "group.rule.create" ? [action.rule] : [];
}
