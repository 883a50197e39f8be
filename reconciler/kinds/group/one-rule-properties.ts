/** A rule as properties, one by one or within a group. */
import { textKey } from "../../core/model/computed";
import { groupIdNamed, portsWritten, type Rule, remoteIpOf } from "../../core/model/rule";
import { isObject, onlyDefined } from "../../core/text/objects";
import { type Checked, holdsUnknown, isUnknown, type Property, type Props } from "../../one/handler";

export const ruleProperties: Readonly<Record<string, Property>> = {
  direction: { type: "string", values: ["ingress", "egress"], description: "ingress (the default) or egress." },
  ethertype: { type: "string", values: ["IPv4", "IPv6"], description: "IPv4 (the default) or IPv6; follows remoteIp." },
  protocol: {
    type: "string",
    values: ["tcp", "udp", "icmp", "any"],
    description: "tcp, udp, icmp, or any when left out.",
  },
  dstPort: {
    type: "string",
    description: "The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out.",
  },
  remoteIp: { type: "string", description: "A CIDR. Left out, and without remoteGroup: everyone." },
  remoteGroup: {
    type: "string",
    description: "The id of another security group; self means the group the rule is in. Use this or remoteIp.",
  },
  description: { type: "string", description: "Free text, stored with the rule when it is made." },
};

/**
 * A rule as a file has it. A value that is not known yet becomes an id of its own, so that two such rules are not
 * equal.
 */
export function ruleForFile(rule: Props, stand: string): Record<string, unknown> {
  const { direction, ethertype, protocol, dstPort, remoteIp, remoteGroup, description } = rule;
  const known = (value: unknown): unknown => (isUnknown(value) ? undefined : value);
  const entries: Record<string, unknown> = {
    direction: known(direction),
    ethertype: known(ethertype),
    // A port needs a protocol, whichever it will be.
    protocol: isUnknown(protocol) && known(dstPort) !== undefined ? "tcp" : known(protocol),
    dst_port: known(dstPort),
    remote_ip: known(remoteIp),
    remote_group:
      isUnknown(remoteGroup) || isUnknown(remoteIp)
        ? { id: stand }
        : remoteGroup === "self" || remoteGroup === undefined
          ? remoteGroup
          : { id: remoteGroup },
    description: known(description),
  };
  const unknownKeys = Object.keys(rule).filter((key) => !Object.hasOwn(ruleProperties, key));
  for (const key of unknownKeys) entries[key] = rule[key];
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== null));
}

/**
 * What an output without a value gives is left out by most languages, or null, and a rule without a remote admits
 * everyone. `at`: the path of the list of rules; left out where the properties are those of one rule.
 */
export function tellingOpen(checked: Checked, rules: unknown, at?: string): Checked {
  const failures = [...checked.failures];
  const warnings = [...checked.warnings];
  for (const [index, rule] of (Array.isArray(rules) ? rules : []).entries()) {
    if (!isObject(rule) || rule["direction"] === "egress") continue;
    const { remoteIp, remoteGroup } = rule;
    if ((remoteIp ?? remoteGroup ?? undefined) !== undefined) continue;
    const path = at === undefined ? "" : `${at}[${index}]`;
    const within = (name: string): string => (path === "" ? name : `${path}.${name}`);
    const isNull = [remoteIp, remoteGroup].includes(null);
    const meant = 'write remoteIp: "0.0.0.0/0" (or "::/0") where everyone is meant';
    if (isNull)
      failures.push({
        property: within(remoteIp === null ? "remoteIp" : "remoteGroup"),
        reason: `has no value (null), and without a remote the rule would admit everyone: ${meant}`,
      });
    else
      warnings.push(
        `${path === "" ? "the rule" : path} names no remote, so it admits everyone: ${meant}; an output that turns out to have no value leaves it out, too`,
      );
  }
  return { ...checked, failures, warnings };
}

/** Whether the traffic that a rule admits is not known yet. */
export const isTrafficUnknown = (rule: Props): boolean => holdsUnknown({ ...rule, description: undefined });

/** A rule as a program writes it. `own`: the id that is written as self. */
export function ruleAsProperties(rule: Rule, own?: string): Props {
  const { ports } = rule;
  const group = groupIdNamed(rule);
  const ip = rule.remote.kind === "computed" ? undefined : remoteIpOf(rule);
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    ...(rule.protocol === "any" ? {} : { protocol: rule.protocol }),
    ...(ports === undefined ? {} : { dstPort: String(portsWritten(ports)) }),
    ...onlyDefined({ remoteIp: ip }),
    ...(group === undefined ? {} : { remoteGroup: group === own ? "self" : group }),
    ...(rule.description === undefined ? {} : { description: textKey(rule.description) }),
  };
}
