/**
 * Reads one rule as it is written into the form in which rules are compared, and refuses every impossible combination.
 */

import {
  arePorts,
  fieldOf,
  isGiven,
  isPort,
  portsOfText,
  portsPattern,
  readEnum,
  readOpenText,
  readRemark,
  reportAt,
  reportValue,
  type Subject,
  type Values,
} from "../../config/fields";
import { hasHole } from "../../config/interpolation";
import { mark, withoutMarks } from "../../config/open-text";
import { type Declared, fixOfNaming, readReference } from "../../config/references";
import { type Path, positionOf } from "../../config/yaml/file";
import { fixOfPrefix, parseCidr } from "../../core/canonical/cidr";
import { canonicalPorts, canonicalRemote } from "../../core/canonical/rules";
import { kindOf } from "../../core/model/address";
import { isAddressAttribute, type OpenText } from "../../core/model/computed";
import { runsGuest } from "../../core/model/kinds";
import type { Ethertype, PortRange, Rule, RuleRemote } from "../../core/model/rule";

/** The fields of a rule that take a list: each combination of their items is a rule. */
const listed = ["protocol", "dst_port", "remote_ip", "remote_group"] as const;

/** No service takes as many rules in a group; more of them take all memory that there is. */
const mostOfRule = 10_000;

interface FoundRule {
  readonly rule: Rule;
  /** The place of the rule; for a rule that comes from lists, of the item in which it differs from the one before. */
  readonly at: Path;
}

/** A rule as it is written, which is several when it holds lists. An empty list makes none. */
export function readRuleProduct(subject: Subject, written: Values, declared: Declared): FoundRule[] {
  const lists = listed.filter((key) => Array.isArray(fieldOf(written, key)));
  if (lists.length === 0) {
    const rule = readRule(subject, written, declared);
    return rule === undefined ? [] : [{ rule, at: [] }];
  }
  const count = lists.reduce((product, key) => product * itemsOf(fieldOf(written, key)).length, 1);
  if (count > mostOfRule) {
    reportAt(subject, [], {
      code: "config/too-large",
      summary: `the lists of a rule stand for ${count} rules, and ${mostOfRule} are the most`,
      detail: "Each combination of their items is a rule of its own.",
      fix: "write ranges of ports and CIDRs in place of single ports and addresses, or a group of its own for them",
    });
    return [];
  }
  let combinations: Combination[] = [{ values: written, steps: new Map() }];
  for (const key of lists)
    combinations = itemsOf(fieldOf(written, key)).flatMap(({ item, index }) =>
      combinations.map(({ values, steps }) => ({
        values: { ...values, [key]: item },
        steps: new Map([...steps, [key, index]]),
      })),
    );
  return combinations.flatMap(({ values, steps }) => {
    const within = (inner: Path, on?: "key" | "value") => {
      const index = inner.length === 1 ? steps.get(String(inner[0])) : undefined;
      return index === undefined ? subject.place(inner, on) : subject.place([...inner, index]);
    };
    const rule = readRule({ ...subject, place: within }, values, declared);
    const [key, index] = [...steps].at(-1) ?? [];
    return rule === undefined || key === undefined || index === undefined ? [] : [{ rule, at: [key, index] }];
  });
}

interface Combination {
  readonly values: Values;
  /** For each key with a list, the index of its item. */
  readonly steps: ReadonlyMap<string, number>;
}

/** A list within a list comes from a variable that holds a list, beside other items. */
const itemsOf = (list: unknown): { readonly item: unknown; readonly index: number }[] =>
  Array.isArray(list)
    ? list.flatMap((item, index) => (Array.isArray(item) ? item.flat(4) : [item]).map((one) => ({ item: one, index })))
    : [];

/** `undefined`: the rule cannot be compared with others; the reason is reported. */
function readRule(subject: Subject, written: Values, declared: Declared): Rule | undefined {
  const before = subject.problems.reported;
  const direction = readEnum(subject, written, "direction", ["ingress", "egress"], directionsOfOthers) ?? "ingress";
  const protocol = readProtocol(subject, written);
  const ports = readPorts(subject, written, protocol);
  const { remote, ethertype } = readRemote(subject, written, declared);
  const description = readRemark(subject, written, "description");
  // Without the missing value the rest of the rule would admit others than the rule does.
  if (subject.problems.reported > before || hasHole(written)) return undefined;
  return { direction, ethertype, protocol, remote, ports, description: description ? description : undefined };
}

function readProtocol(subject: Subject, written: Values): string {
  const value = fieldOf(written, "protocol");
  const lowered = typeof value === "string" ? value.toLowerCase() : value;
  const known = readEnum(
    subject,
    value === undefined ? {} : { protocol: lowered },
    "protocol",
    ["tcp", "udp", "icmp", "any"],
    protocolsOfOthers,
  );
  return known ?? "any";
}

/** What people write for a direction and for a protocol. */
const directionsOfOthers = {
  in: "ingress",
  inbound: "ingress",
  input: "ingress",
  out: "egress",
  outbound: "egress",
  output: "egress",
} as const;
const protocolsOfOthers = {
  ssh: "tcp",
  http: "tcp",
  https: "tcp",
  tls: "tcp",
  dns: "udp",
  icmpv6: "icmp",
  ping: "icmp",
  all: "any",
  "-1": "any",
  "*": "any",
} as const;

/** The names of ports that people write most. */
const knownPorts: Readonly<Record<string, number>> = {
  ssh: 22,
  smtp: 25,
  dns: 53,
  domain: 53,
  http: 80,
  https: 443,
  mysql: 3306,
  rdp: 3389,
  postgres: 5432,
  postgresql: 5432,
  redis: 6379,
};

function fixOfPort(value: unknown): string | undefined {
  const several = typeof value === "string" ? value.split(/[,;\s]+/) : [];
  if (several.length > 1 && several.every((one) => portsPattern.test(one) && one.split("-").every(isPort)))
    return `write [${several.join(", ")}]`;
  const name = String(value).toLowerCase();
  const port = Object.hasOwn(knownPorts, name) ? knownPorts[name] : undefined;
  return port === undefined ? undefined : `write ${port}`;
}

function readPorts(subject: Subject, written: Values, protocol: string): PortRange | undefined {
  const value = fieldOf(written, "dst_port");
  if (value === undefined) return undefined;
  const at = ["dst_port"];
  const { min, max } = portsOfText(value) ?? { min: 0, max: 0 };
  if (!arePorts({ min: Math.min(min, max), max: Math.max(min, max) }))
    return reportValue(subject, at, value, "a port from 1 to 65535, or a range such as 8000-8010", {
      fix: fixOfPort(value),
    });
  if (min > max)
    return reportValue(subject, at, value, "a range from the lower to the higher port", { fix: `write ${max}-${min}` });
  if (protocol === "icmp" || protocol === "any") return reportPort(subject, written, protocol);
  return canonicalPorts(protocol, min, max);
}

/** A port where the protocol has none. */
function reportPort(subject: Subject, written: Values, protocol: "icmp" | "any"): undefined {
  const isIcmp = protocol === "icmp";
  const isRead = !isGiven(written, "protocol") || String(fieldOf(written, "protocol")).toLowerCase() === "any";
  // A protocol that could not be read is reported already, and says nothing about ports.
  if (!isIcmp && !isRead) return;
  subject.problems.add({
    code: "config/invalid-rule",
    summary: isIcmp ? "a rule for icmp takes no port" : "a rule with a port needs a protocol",
    detail: isIcmp ? undefined : "ports belong to tcp or udp",
    fix: isIcmp ? "remove dst_port" : "add protocol: tcp or protocol: udp",
    address: subject.address,
    at: subject.place(["dst_port"], "key"),
  });
}

function readRemote(
  subject: Subject,
  written: Values,
  declared: Declared,
): { remote: RuleRemote; ethertype: Ethertype } {
  const stated = readEnum(subject, written, "ethertype", ["IPv4", "IPv6"]);
  const any: RuleRemote = { kind: "any" };
  for (const key of ["remote_ip", "remote_group"]) if (written[key] === null) reportEmpty(subject, key);
  if (isGiven(written, "remote_ip") && isGiven(written, "remote_group"))
    subject.problems.add({
      code: "config/invalid-rule",
      summary: "a rule has either remote_ip or remote_group",
      detail: "both",
      fix: "make two rules of it",
      address: subject.address,
      at: subject.place(["remote_group"], "key"),
    });
  const target = fieldOf(written, "remote_group");
  const group = target === undefined ? undefined : readReference(subject, target, "group", ["remote_group"], declared);
  if (group !== undefined && !isGiven(written, "remote_ip"))
    return { remote: { kind: "group", group }, ethertype: stated ?? "IPv4" };
  const text = readOpenText(subject, written, "remote_ip");
  if (typeof text === "object")
    return { remote: readOpenRemote(subject, text, stated, declared), ethertype: stated ?? "IPv4" };
  return text === undefined ? { remote: any, ethertype: stated ?? "IPv4" } : readAddress(subject, text, stated);
}

/** Left out, the key admits everybody. Written with nothing behind it, it may mean that or be a mistake. */
const reportEmpty = (subject: Subject, key: string): void =>
  reportAt(subject, [key], {
    code: "config/invalid-rule",
    summary: `${key} is empty`,
    detail: "without it the rule would admit everybody",
    fix: `write whom it admits, or take ${key} out if everybody is meant`,
  });

const rightAddress = (text: string): string | undefined =>
  /^(any|\*)$/i.test(text) ? "leave remote_ip out to admit everyone" : fixOfPrefix(text);

function readAddress(
  subject: Subject,
  text: string,
  stated: Ethertype | undefined,
): { remote: RuleRemote; ethertype: Ethertype } {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    reportValue(subject, ["remote_ip"], text, "an address or a CIDR such as 10.0.0.0/24 or 2001:db8::/32", {
      fix: rightAddress(text.trim()),
    });
    return { remote: { kind: "any" }, ethertype: stated ?? "IPv4" };
  }
  if (stated !== undefined && stated !== cidr.ethertype)
    reportAt(subject, ["remote_ip"], {
      code: "config/invalid-rule",
      summary: `remote_ip ${text} is ${cidr.ethertype}, but the rule's ethertype is ${stated}`,
      fix: `write ethertype: ${cidr.ethertype}, or leave it out`,
    });
  return { remote: canonicalRemote(text, cidr.ethertype), ethertype: cidr.ethertype };
}

/** One address, alone or with the length of its prefix. */
function readOpenRemote(
  subject: Subject,
  text: OpenText,
  family: Ethertype | undefined,
  { within }: Declared,
): RuleRemote {
  const at = subject.place(["remote_ip"]);
  const [computed, suffix = "", ...more] = text.parts;
  if (
    typeof computed !== "object" ||
    more.length > 0 ||
    typeof suffix !== "string" ||
    !/^(?:\/[0-9]{1,3})?$/.test(suffix) ||
    Number(suffix.slice(1)) > (family === "IPv4" ? 32 : 128)
  )
    subject.problems.add({
      code: "config/invalid-rule",
      summary: "remote_ip takes the address of one VM, alone or with a prefix such as /32",
      fix: `write "\${vm.KEY.private_ip}", or a list of them`,
      address: subject.address,
      at,
    });
  else if (!isAddressAttribute(computed.attribute))
    subject.problems.add({
      code: "config/invalid-rule",
      summary: `remote_ip cannot be ${withoutMarks(mark(computed), within)}`,
      detail: "expected an address: the private_ip or the floating_ip of a VM",
      fix: runsGuest(kindOf(computed.address)) ? fixOfNaming(computed.address, within, "private_ip") : undefined,
      address: subject.address,
      at,
    });
  return { kind: "computed", text: { ...text, source: positionOf(at) }, family };
}
