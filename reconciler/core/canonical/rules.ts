/**
 * Rules of the desired file and rules of the service in one form. Equal keys mean equal traffic:
 * a missing remote and 0.0.0.0/0 (or ::/0) are one, ports of icmp do not exist, 0-65535 is all ports.
 */
import ipaddr from "ipaddr.js";
import { shownText, textKey } from "../model/computed";
import type { Reference } from "../model/desired";
import type { LiveRule } from "../model/live";
import {
  type Direction,
  type Ethertype,
  type PortRange,
  portsWritten,
  type Rule,
  type RuleRemote,
} from "../model/rule";
import { type Cidr, parseCidr } from "./cidr";

/** How a reference to a group becomes comparable: its id where it is known, else its address. */
export type GroupIdentity = (group: Reference) => string;

export const referenceText: GroupIdentity = (group) => ("id" in group ? group.id : group.address);

export const ruleKey = (rule: Rule, identify: GroupIdentity = referenceText): string =>
  `${rule.direction} ${rule.ethertype} ${rule.protocol} ${portsKey(rule)} ${remoteKey(rule.remote, identify)}`;

/** The rule that has this key, whose groups are told by id. */
export function ruleOfKey(key: string): Rule {
  const [direction = "", ethertype = "", protocol = "", ports = "*", ...rest] = key.split(" ");
  const [min, max] = ports.split("-").map(Number);
  const remote = rest.join(" ");
  return {
    direction: direction === "egress" ? "egress" : "ingress",
    ethertype: ethertype === "IPv6" ? "IPv6" : "IPv4",
    protocol,
    ...(ports === "*" || min === undefined || max === undefined ? {} : { ports: { min, max } }),
    remote:
      remote === "any"
        ? { kind: "any" }
        : remote.startsWith("group:")
          ? { kind: "group", group: { id: remote.slice("group:".length) } }
          : { kind: "cidr", cidr: remote },
  };
}

const portsKey = ({ ports }: Rule): string => (ports === undefined ? "*" : `${ports.min}-${ports.max}`);

function remoteKey(remote: RuleRemote, identify: GroupIdentity): string {
  switch (remote.kind) {
    case "any":
      return "any";
    case "cidr":
      return remote.cidr;
    case "group":
      return `group:${identify(remote.group)}`;
    case "computed":
      return `computed:${textKey(remote.text)}`;
  }
}

/** All ports and none named are the same range; icmp has none. Nothing talks on port 0, so a range may begin there or at 1. */
export function canonicalPorts(
  protocol: string,
  min: number | undefined,
  max: number | undefined,
): PortRange | undefined {
  if (protocol === "any" || protocol.startsWith("icmp") || min === undefined || max === undefined || min < 0)
    return undefined;
  if (min <= 1 && max >= 65535) return undefined;
  return { min: max > 0 ? Math.max(1, min) : min, max };
}

/** `10.0.0.0/255.0.0.0` as `10.0.0.0/8`. */
function withPrefix(range: string): string {
  const [address = "", mask = ""] = range.split("/");
  if (!mask.includes(".")) return range;
  const prefix = ipaddr.IPv4.isValidFourPartDecimal(mask) ? ipaddr.IPv4.parse(mask).prefixLengthFromSubnetMask() : null;
  return prefix === null ? range : `${address}/${prefix}`;
}

const rangeOf = (remoteIp: string): Cidr | undefined => parseCidr(remoteIp) ?? parseCidr(withPrefix(remoteIp));

export function canonicalRemote(remoteIp: string | undefined, ethertype: Ethertype): RuleRemote {
  if (remoteIp === undefined || /^(|any|all|\*)$/i.test(remoteIp)) return { kind: "any" };
  const cidr = rangeOf(remoteIp);
  if (cidr === undefined) return { kind: "cidr", cidr: remoteIp };
  return cidr.prefix === 0 && cidr.ethertype === ethertype ? { kind: "any" } : { kind: "cidr", cidr: cidr.text };
}

const allProtocols: ReadonlySet<string> = new Set(["", "-1", "all", "any"]);

/** Other spellings of the protocols of a file: the numbers that IANA gave them, and ICMP's own names under IPv6. */
const otherSpellings: Readonly<Record<Ethertype, ReadonlyMap<string, string>>> = {
  IPv4: new Map([
    ["1", "icmp"],
    ["6", "tcp"],
    ["17", "udp"],
  ]),
  IPv6: new Map([
    ["6", "tcp"],
    ["17", "udp"],
    ...["58", "icmpv6", "icmp6", "ipv6-icmp"].map((word) => [word, "icmp"] as const),
  ]),
};

/** A live rule in canonical form. What the service adds beyond our vocabulary (other protocols, address groups) stays distinct. */
export function canonicalLiveRule(live: LiveRule): Rule {
  // A range of addresses has one family, also where the record shows none or another.
  const ethertype: Ethertype =
    rangeOf(live.remoteIp ?? "")?.ethertype ?? (live.ethertype?.toLowerCase() === "ipv6" ? "IPv6" : "IPv4");
  const direction: Direction = live.direction.toLowerCase() === "egress" ? "egress" : "ingress";
  const written = (live.protocol ?? "").toLowerCase();
  const protocol = allProtocols.has(written) ? "any" : (otherSpellings[ethertype].get(written) ?? written);
  const ports = canonicalPorts(protocol, live.portMin, live.portMax ?? live.portMin);
  const remote: RuleRemote =
    live.remoteGroupId !== undefined
      ? { kind: "group", group: { id: live.remoteGroupId } }
      : live.remoteAddressGroupId !== undefined
        ? { kind: "cidr", cidr: `address-group:${live.remoteAddressGroupId}` }
        : canonicalRemote(live.remoteIp, ethertype);
  return {
    direction,
    ethertype,
    protocol,
    remote,
    ports,
    description: live.description ? live.description : undefined,
  };
}

/** Sorted by key and without repeats, so that two spellings of one set are one value. */
export function sortRules(rules: readonly Rule[], identify: GroupIdentity = referenceText): Rule[] {
  const byKey = new Map<string, Rule>();
  for (const rule of rules) {
    const key = ruleKey(rule, identify);
    if (!byKey.has(key)) byKey.set(key, rule);
  }
  return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, rule]) => rule);
}

/** A rule in a few words, the way people say it: `ingress tcp 443 from anywhere (IPv4)`. */
export function describeRule(rule: Rule, nameGroup: GroupIdentity = referenceText): string {
  const { direction, protocol, ports } = rule;
  const range = ports === undefined ? "" : ` ${portsWritten(ports)}`;
  const traffic = `${protocol === "any" ? "any protocol" : protocol}${range}`;
  return `${direction} ${traffic} ${direction === "ingress" ? "from" : "to"} ${describeRemote(rule, nameGroup)}`;
}

/** The same of a rule of which only the key is known. */
export const describeRuleKey = (key: string): string => describeRule(ruleOfKey(key));

function describeRemote({ remote, ethertype }: Rule, nameGroup: GroupIdentity): string {
  switch (remote.kind) {
    case "any":
      return `anywhere (${ethertype})`;
    case "cidr":
      return remote.cidr;
    case "group":
      return nameGroup(remote.group);
    case "computed":
      return shownText(remote.text);
  }
}
