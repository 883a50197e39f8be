/** Rules of the twin's groups: as the service returned them, or as they were recorded where the service shows none. */

import type { Group, RuleEntity as TwinRule } from "../../emulator/entities";
import { ruleEntityOf } from "../../emulator/rule";
import { canonicalLiveRule } from "../core/canonical/rules";
import { textKey } from "../core/model/computed";
import type { LiveGroup, LiveRule } from "../core/model/live";
import type { RecordedGroup, State } from "../core/model/recorded";
import { groupAddressNamed, groupIdNamed, type Rule } from "../core/model/rule";

interface RuleContext {
  readonly state: State;
  readonly newId: () => string;
  readonly createdAt: string;
}

export function twinRules(
  groups: readonly (readonly [Group, LiveGroup | RecordedGroup])[],
  context: RuleContext,
): { readonly rules: TwinRule[]; readonly strangers: Set<string> } {
  const strangers = new Set<string>();
  const rules: TwinRule[] = [];
  const add = (rule: TwinRule): void => {
    rules.push(rule);
    if (rule.remote_group_id !== null) strangers.add(rule.remote_group_id);
  };
  for (const [group, source] of groups)
    for (const rule of source.rules ?? [])
      add("id" in rule ? fromLive(rule, group, context.createdAt) : fromRecord(rule, group, context));
  return { rules, strangers };
}

const fromLive = (rule: LiveRule, group: Group, createdAt: string): TwinRule => {
  const { direction, ethertype, remote } = canonicalLiveRule(rule);
  const shape = {
    direction,
    ether_type: ethertype,
    protocol: rule.protocol ?? null,
    port_range_min: rule.portMin ?? null,
    port_range_max: rule.portMax ?? null,
    remote_ip_prefix: rule.remoteIp ?? null,
    normalized_cidr: remote.kind === "cidr" ? remote.cidr : (rule.remoteIp ?? null),
    remote_group_id: rule.remoteGroupId ?? null,
    description: rule.description ?? "",
  };
  return {
    ...ruleEntityOf(shape, { ...group, platform: rule.platform ?? false }, rule.id, createdAt),
    remote_address_group_id: rule.remoteAddressGroupId ?? null,
  };
};

function fromRecord(rule: Rule, group: Group, { state, newId, createdAt }: RuleContext): TwinRule {
  const cidr = rule.remote.kind === "cidr" ? rule.remote.cidr : null;
  const shape = {
    direction: rule.direction,
    ether_type: rule.ethertype,
    protocol: rule.protocol === "any" ? null : rule.protocol,
    port_range_min: rule.ports?.min ?? null,
    port_range_max: rule.ports?.max ?? null,
    remote_ip_prefix: cidr,
    normalized_cidr: cidr,
    remote_group_id: groupIdNamed(rule) ?? state.resources.get(groupAddressNamed(rule) ?? "")?.id ?? null,
    description: textKey(rule.description ?? ""),
  };
  return ruleEntityOf(shape, { ...group, platform: false }, newId(), createdAt);
}
