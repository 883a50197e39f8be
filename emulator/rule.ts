/**
 * One security group rule: from the contract's rule input to the rule as returned, or every problem of the input.
 * group.ts says which rules may stand beside each other.
 */
import { type Network, networkOf } from "./cidr";
import type { Group, RuleEntity, RuleShape } from "./entities";
import { isEntityId, readFields } from "./fields";
import type { World } from "./world";

export const ruleEntityOf = (
  shape: RuleShape,
  group: Pick<Group, "id" | "project_id" | "platform">,
  id: string,
  created_at: string,
): RuleEntity => ({
  id,
  security_group_id: group.id,
  project_id: group.project_id,
  name: null,
  ...shape,
  remote_address_group_id: null,
  belongs_to_default_sg: group.platform,
  revision_number: 0,
  created_at,
});

/** The rules that such services put into every new group: outbound traffic is open until somebody closes it. */
export const defaultEgress = (group: Group, newId: () => string, created_at: string): RuleEntity[] =>
  (["IPv4", "IPv6"] as const).map((ether_type) =>
    ruleEntityOf({ ...anyTraffic, direction: "egress", ether_type }, group, newId(), created_at),
  );

export const anyTraffic = {
  protocol: null,
  port_range_min: null,
  port_range_max: null,
  remote_ip_prefix: null,
  normalized_cidr: null,
  remote_group_id: null,
  description: "",
} as const;

function portProblems(protocol: RuleShape["protocol"] | undefined, prefix: string): string[] {
  if (protocol === "icmp") return [`${prefix}dst_port must be left out for icmp`];
  return protocol === undefined ? [`${prefix}dst_port needs a protocol: tcp or udp`] : [];
}

/** Reads a rule input, one row for each field. `prefix` names its place in the body, such as `rules[2].`. */
export function readRuleBody(
  world: World,
  projectId: string,
  body: unknown,
  prefix: string,
  portRange: string | null,
): { readonly shape: RuleShape; readonly problems: readonly string[] } {
  const fields = readFields(body, prefix);
  const { problems } = fields;
  const direction = oneOfTexts(fields.text("direction"), ["ingress", "egress"], `${prefix}direction`, problems);
  const ethertype = oneOfTexts(fields.text("ethertype"), ["IPv4", "IPv6"], `${prefix}ethertype`, problems);
  const protocol = oneOfTexts(fields.text("protocol"), ["tcp", "udp", "icmp"], `${prefix}protocol`, problems);
  const ports = readRulePorts(fields.text("dst_port"), portRange, `${prefix}dst_port`, problems);
  if (ports !== undefined) problems.push(...portProblems(protocol, prefix));

  const remoteIp = fields.text("remote_ip");
  const remoteGroup = fields.text("remote_group");
  if (remoteIp !== undefined && remoteGroup !== undefined)
    problems.push(`${prefix}remote_ip and ${prefix}remote_group exclude each other`);
  const network = networkOf(remoteIp ?? "");
  if (remoteIp !== undefined) problems.push(...networkProblems(network, ethertype, prefix));
  if (remoteGroup !== undefined) problems.push(...remoteGroupProblems(world, projectId, remoteGroup, prefix));
  return {
    problems,
    shape: {
      direction: direction ?? "ingress",
      ether_type: ethertype ?? network?.version ?? "IPv4",
      protocol: protocol ?? null,
      port_range_min: ports?.min ?? null,
      port_range_max: ports?.max ?? null,
      remote_ip_prefix: remoteIp ?? null,
      normalized_cidr: network?.cidr ?? null,
      remote_group_id: remoteGroup ?? null,
      description: fields.text("description") ?? "",
    },
  };
}

function networkProblems(network: Network | undefined, ethertype: string | undefined, prefix: string): string[] {
  if (network === undefined) return [`${prefix}remote_ip must be a CIDR such as 10.0.0.0/24 or 2001:db8::/32`];
  if (ethertype === undefined || network.version === ethertype) return [];
  return [`${prefix}remote_ip is ${network.version}, but ethertype is ${ethertype}`];
}

function remoteGroupProblems(world: World, projectId: string, id: string, prefix: string): string[] {
  const target = world.tables.group.get(id);
  if (target === undefined && !isEntityId(id))
    return [`${prefix}remote_group must be the id (UUID) of a security group`];
  return target?.project_id === projectId ? [] : [`${prefix}remote_group names no security group of this project`];
}

function oneOfTexts<T extends string>(
  text: string | undefined,
  allowed: readonly T[],
  name: string,
  problems: string[],
): T | undefined {
  const known = allowed.find((word) => word === text);
  if (text === undefined || known !== undefined) return known;
  problems.push(`${name} must be one of ${allowed.join(", ")}`);
  return undefined;
}

function readRulePorts(
  text: string | undefined,
  portRange: string | null,
  name: string,
  problems: string[],
): { readonly min: number; readonly max: number } | undefined {
  if (text === undefined) return undefined;
  const single = portNumber(text);
  if (single !== undefined) return { min: single, max: single };
  const range = portRange === null ? null : rangePattern(portRange).exec(text);
  const min = portNumber(range?.groups?.["min"] ?? "");
  const max = portNumber(range?.groups?.["max"] ?? "");
  if (min !== undefined && max !== undefined && min <= max) return { min, max };
  problems.push(`${name} must be a port from 1 to 65535, as a string`);
  return undefined;
}

function portNumber(text: string): number | undefined {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : undefined;
}

/** `{min}-{max}` as a pattern; everything but the two places stands for itself. */
function rangePattern(portRange: string): RegExp {
  const literal = portRange.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replace("{min}", "(?<min>[0-9]{1,5})").replace("{max}", "(?<max>[0-9]{1,5})")}$`);
}
