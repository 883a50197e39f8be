/** Rules of the twin's groups: as the service returned them, or as they were recorded where the service shows none. */

import type { Group, RuleEntity as TwinRule } from "../../emulator/entities";
import { canonicalLiveRule } from "../core/canonical/rules";
import { textKey } from "../core/model/computed";
import type { LiveGroup, LiveRule } from "../core/model/live";
import type { RecordedGroup, State } from "../core/model/recorded";
import { groupAddressNamed, groupIdNamed, type Rule } from "../core/model/rule";

export function twinRules(
  groups: readonly (readonly [Group, LiveGroup | RecordedGroup])[],
  context: { readonly state: State; readonly newId: () => string; readonly createdAt: string },
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

const empty = (group: Group, created_at: string) => ({
  security_group_id: group.id,
  project_id: group.project_id,
  name: null,
  revision_number: 0,
  created_at,
});

function fromLive(rule: LiveRule, group: Group, createdAt: string): TwinRule {
  const { direction, ethertype, remote } = canonicalLiveRule(rule);
  return {
    ...empty(group, createdAt),
    id: rule.id,
    direction,
    protocol: rule.protocol ?? null,
    port_range_min: rule.portMin ?? null,
    port_range_max: rule.portMax ?? null,
    ether_type: ethertype,
    remote_ip_prefix: rule.remoteIp ?? null,
    normalized_cidr: remote.kind === "cidr" ? remote.cidr : (rule.remoteIp ?? null),
    remote_group_id: rule.remoteGroupId ?? null,
    remote_address_group_id: rule.remoteAddressGroupId ?? null,
    belongs_to_default_sg: rule.platform ?? false,
    description: rule.description ?? "",
  };
}

function fromRecord(
  rule: Rule,
  group: Group,
  { state, newId, createdAt }: { readonly state: State; readonly newId: () => string; readonly createdAt: string },
): TwinRule {
  const cidr = rule.remote.kind === "cidr" ? rule.remote.cidr : null;
  return {
    ...empty(group, createdAt),
    id: newId(),
    direction: rule.direction,
    protocol: rule.protocol === "any" ? null : rule.protocol,
    port_range_min: rule.ports?.min ?? null,
    port_range_max: rule.ports?.max ?? null,
    ether_type: rule.ethertype,
    remote_ip_prefix: cidr,
    normalized_cidr: cidr,
    remote_group_id: groupIdNamed(rule) ?? state.resources.get(groupAddressNamed(rule) ?? "")?.id ?? null,
    remote_address_group_id: null,
    belongs_to_default_sg: false,
    description: textKey(rule.description ?? ""),
  };
}
