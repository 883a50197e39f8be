/** A group with what is known of its computed values written in, and what is said where one will never be known. */

import { fixOfPrefix, parseCidr } from "../../core/canonical/cidr";
import { canonicalRemote, sortRules } from "../../core/canonical/rules";
import type { Standings } from "../../core/diff/standing";
import {
  type Computed,
  computedIn,
  computedName,
  fillText,
  type PlacedText,
  type Text,
} from "../../core/model/computed";
import type { DesiredGroup, DesiredResource } from "../../core/model/desired";
import type { Diagnostic, SourcePosition } from "../../core/model/diagnostic";
import { type Advice, told } from "../../core/model/fix";
import type { Rule } from "../../core/model/rule";
import { onlyDefined } from "../../core/text/objects";

/** An address that is known: the one host that has it, and of its own family unless the file says another. */
export type FilledRule = { readonly rule: Rule } | { readonly problem: string; readonly fix?: Advice };

export function ruleWithAddress(rule: Rule, text: string, family: Rule["ethertype"] | undefined): FilledRule {
  const cidr = parseCidr(text);
  if (cidr === undefined)
    return {
      problem: `${JSON.stringify(text)} is no address`,
      fix: fixOfPrefix(text) ?? "records.vm in the dialect says where a VM's record has its addresses",
    };
  if (family !== undefined && family !== cidr.ethertype)
    return {
      problem: `${text} is ${cidr.ethertype}, but the rule's ethertype is ${family}`,
      fix: "leave ethertype out",
    };
  return { rule: { ...rule, ethertype: cidr.ethertype, remote: canonicalRemote(text, cidr.ethertype) } };
}

/** A rule of the file as the service has it, where the values that its address is made of are known. */
export function knownRule(rule: Rule, value: (computed: Computed) => string | undefined): Rule {
  if (rule.remote.kind !== "computed") return rule;
  const text = fillText(rule.remote.text, (computed) => value(computed) ?? computed);
  const filled = typeof text === "string" ? ruleWithAddress(rule, text, rule.remote.family) : undefined;
  return filled !== undefined && "rule" in filled ? filled.rule : rule;
}

export const usesComputed = (resource: DesiredResource): boolean =>
  resource.kind === "group" &&
  (typeof resource.description === "object" ||
    resource.rules.some(({ remote, description }) => remote.kind === "computed" || typeof description === "object"));

export function fillGroup(
  group: DesiredGroup,
  standings: Standings,
): { readonly group: DesiredGroup; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const fill = (text: Text, where: string, source: SourcePosition | undefined): Text =>
    fillText(text, (computed) => {
      const standing = standings(computed);
      if (standing.is === "known") return standing.text;
      if (standing.is === "open") return standing.computed;
      if (standing.quiet !== true)
        diagnostics.push({
          severity: "error",
          code: "plan/value-not-shown",
          summary: `\${${computedName(computed)}} in ${where} of ${group.address} has no value: ${standing.why}`,
          ...told(standing.fix),
          address: group.address,
          source: source ?? group.source,
        });
      return computed;
    });
  const rules = group.rules.map((rule): Rule => {
    const described =
      typeof rule.description === "object"
        ? { ...rule, description: fill(rule.description, "a rule's description", undefined) }
        : rule;
    if (rule.remote.kind !== "computed") return described;
    const { family } = rule.remote;
    const template: PlacedText = rule.remote.text;
    const text = fill(template, "a rule", template.source);
    if (typeof text !== "string") return { ...described, remote: { ...rule.remote, text } };
    const filled = ruleWithAddress(described, text, family);
    if ("rule" in filled) return filled.rule;
    diagnostics.push({
      severity: "error",
      code: "plan/value-not-shown",
      summary: `\${${computedIn(template).map(computedName).join(", ")}} cannot be the remote_ip of a rule of ${group.address}: ${filled.problem}`,
      ...told(filled.fix),
      address: group.address,
      source: template.source ?? group.source,
    });
    return described;
  });
  const description =
    group.description === undefined ? undefined : fill(group.description, "the description", undefined);
  return {
    // Two values may turn out to be one address.
    group: { ...group, ...onlyDefined({ description }), rules: sortRules(rules) },
    diagnostics,
  };
}
