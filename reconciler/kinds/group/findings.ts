/** What a reader of a plan has to know of a group's rules, beside what changes. */
import { canonicalLiveRule, describeRule, describeRuleKey, ruleKey } from "../../core/canonical/rules";
import type { DiffContext } from "../../core/diff/context";
import type { Known } from "../../core/diff/find";
import type { DesiredGroup } from "../../core/model/desired";
import type { Diagnostic, SourcePosition } from "../../core/model/diagnostic";
import type { LiveGroup } from "../../core/model/live";
import type { RecordedGroup } from "../../core/model/recorded";
import { isPlatformShaped, openEgress, type RulesComparison } from "./compare-rules";

export function groupNotes(
  desired: DesiredGroup,
  compared: RulesComparison,
  entry: Known<LiveGroup>,
  context: DiffContext,
): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const { rule } of compared.kept)
    diagnostics.push({
      severity: "warning",
      code: "plan/rule-kept",
      summary: `${desired.address} still admits ${describeRule(rule)}, which the file does not declare`,
      detail: "lifecycle.on_rule_removal is keep, and this service cannot delete one rule.",
      fix: "write lifecycle.on_rule_removal: replace",
      address: desired.address,
      source: desired.source,
    });
  if (compared.idle.length > 0)
    diagnostics.push({
      severity: "note",
      code: "plan/rule-idle",
      summary: `${desired.address} keeps ${compared.idle.length === 1 ? "a rule that names a group which is" : `${compared.idle.length} rules that name groups which are`} not there any more`,
      detail: `${compared.idle.map(({ rule }) => describeRule(rule)).join("; ")}: this admits nobody, and this service cannot delete one rule.`,
      address: desired.address,
      source: desired.source,
    });
  const shown = entry.live?.rules?.map((live) => ruleKey(canonicalLiveRule(live)));
  const letsAllOut = (key: string): boolean => compared.platformRules.includes(key) && shown?.includes(key) !== false;
  const meaningless = desired.rules.filter(
    (rule) => rule.direction === "egress" && !isPlatformShaped(rule) && letsAllOut(openEgress(rule.ethertype)),
  );
  if (meaningless.length > 0)
    diagnostics.push({
      severity: "warning",
      code: "plan/egress-open",
      summary: `${desired.address}: the service's own rule lets everything out, so ${meaningless.length === 1 ? "its egress rule restricts" : `its ${meaningless.length} egress rules restrict`} nothing`,
      detail: meaningless.map((rule) => describeRule(rule)).join("; "),
      address: desired.address,
      source: desired.source,
    });
  diagnostics.push(
    ...serviceIngress(
      desired,
      compared.serviceIngress.map((rule) => describeRule(rule)),
    ),
  );
  if (entry.live?.rules === undefined && context.live.of.group.byId.get(entry.id)?.seen === "yes")
    diagnostics.push({
      severity: "note",
      code: "plan/rules-unobserved",
      summary: `the rules of ${desired.address} could not be read; the state's record is used instead`,
      address: desired.address,
    });
  return diagnostics;
}

/** Rules that let traffic in, that the service put there by itself and that no file declares. No run takes them away. */
const serviceIngress = (
  { address, source }: { readonly address: string; readonly source?: SourcePosition | undefined },
  rules: readonly string[],
): Diagnostic[] =>
  rules.length === 0
    ? []
    : [
        {
          severity: "warning",
          code: "plan/service-ingress",
          summary: `${address} lets in more than its file declares: the service itself put ${rules.length === 1 ? "a rule" : `${rules.length} rules`} on it (${rules.join("; ")})`,
          detail: "What the service puts on a group by itself is never a difference, so no run takes it away.",
          fix: `if it is wanted, declare it in the rules of ${address}; if not, take it away where the service lets you`,
          address,
          source,
        },
      ];

/** The same of a group that a run made: what the service put there is known only then. */
export function serviceIngressOf(group: RecordedGroup, source: SourcePosition | undefined): readonly Diagnostic[] {
  const declared = new Set(group.rules.map((rule) => ruleKey(rule)));
  const rules = group.platformRules.filter((key) => key.startsWith("ingress ") && !declared.has(key));
  return serviceIngress({ address: group.address, source }, rules.map(describeRuleKey));
}
