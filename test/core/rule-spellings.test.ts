/** How services write a rule that a file can declare: each spelling is the declared rule, and no other one. */
import { expect, it } from "vitest";
import { canonicalLiveRule, canonicalRemote, ruleKey } from "../../reconciler/core/canonical/rules";
import type { LiveRule } from "../../reconciler/core/model/live";
import type { Ethertype, Rule } from "../../reconciler/core/model/rule";

const declared = (protocol: string, remoteIp: string, ethertype: Ethertype = "IPv4"): string => {
  const rule: Rule = {
    ...{ direction: "ingress", ethertype, protocol, remote: canonicalRemote(remoteIp, ethertype) },
    ports: protocol === "tcp" || protocol === "udp" ? { min: 22, max: 22 } : undefined,
  };
  return ruleKey(rule);
};

const shown = (rule: Partial<LiveRule>): string =>
  ruleKey(canonicalLiveRule({ id: "r", direction: "ingress", ethertype: "IPv4", portMin: 22, portMax: 22, ...rule }));

it.each<[what: string, shown: Partial<LiveRule>, declared: string]>([
  ["a protocol by its number", { protocol: "6", remoteIp: "10.0.0.0/8" }, declared("tcp", "10.0.0.0/8")],
  ["udp by its number", { protocol: "17", remoteIp: "10.0.0.0/8" }, declared("udp", "10.0.0.0/8")],
  ["icmp by its number", { protocol: "1", remoteIp: "10.0.0.0/8" }, declared("icmp", "10.0.0.0/8")],
  [
    "icmp of IPv6 by its number",
    { protocol: "58", ethertype: "IPv6", remoteIp: "fd00::/8" },
    declared("icmp", "fd00::/8", "IPv6"),
  ],
  [
    "icmp of IPv6 by its name",
    { protocol: "ipv6-icmp", ethertype: "IPv6", remoteIp: "fd00::/8" },
    declared("icmp", "fd00::/8", "IPv6"),
  ],
  ["capitals", { protocol: "TCP", direction: "INGRESS", remoteIp: "10.0.0.0/8" }, declared("tcp", "10.0.0.0/8")],
  ["a mask in place of a prefix", { protocol: "tcp", remoteIp: "10.0.0.0/255.0.0.0" }, declared("tcp", "10.0.0.0/8")],
  ["a mask of nothing", { protocol: "tcp", remoteIp: "0.0.0.0/0.0.0.0" }, declared("tcp", "0.0.0.0/0")],
  ["everybody in a word", { protocol: "tcp", remoteIp: "ANY" }, declared("tcp", "0.0.0.0/0")],
  [
    "an IPv6 range without its family",
    { protocol: "tcp", ethertype: undefined, remoteIp: "::/0" } as Partial<LiveRule>,
    declared("tcp", "::/0", "IPv6"),
  ],
  [
    "an IPv6 range in a rule of the other family",
    { protocol: "tcp", remoteIp: "2001:db8::/32" },
    declared("tcp", "2001:db8::/32", "IPv6"),
  ],
  ["every protocol in a word", { protocol: "ALL", remoteIp: "10.0.0.0/8" }, declared("any", "10.0.0.0/8")],
])("%s", (_, live, key) => {
  expect(shown(live)).toBe(key);
});

it.each<[what: string, shown: Partial<LiveRule>, declared: string]>([
  ["another protocol's number", { protocol: "47", remoteIp: "10.0.0.0/8" }, declared("tcp", "10.0.0.0/8")],
  ["the icmp of the other family", { protocol: "58", remoteIp: "10.0.0.0/8" }, declared("icmp", "10.0.0.0/8")],
  ["a mask with a hole", { protocol: "tcp", remoteIp: "10.0.0.0/255.0.255.0" }, declared("tcp", "10.0.0.0/8")],
  ["a narrower mask", { protocol: "tcp", remoteIp: "10.0.0.0/255.255.0.0" }, declared("tcp", "10.0.0.0/8")],
])("is another rule: %s", (_, live, key) => {
  expect(shown(live)).not.toBe(key);
});
