/** `reachability:`: what groups must never, must always and may only admit, from what is written to parties and ports. */

import {
  arePorts,
  fieldOf,
  isGiven,
  portsOfText,
  readEnum,
  readText,
  readUnmanagedId,
  reportAt,
  reportValue,
  requireKey,
  type Subject,
  subjectWithin,
  type Values,
  type ValuesOfRow,
} from "../../../config/fields";
import { type Declared, unknownAddress } from "../../../config/references";
import type { Allowance as AllowanceBlock, Assertion as AssertionBlock, Flow } from "../../../config/rows/reachability";
import { itemsOfList, type SectionContext } from "../../../config/sections";
import type { Merged } from "../../../config/sources";
import { isMap, type Path, positionOf } from "../../../config/yaml/file";
import { parseCidr } from "../../../core/canonical/cidr";
import { formatAddress, kindOf, parseAddress } from "../../../core/model/address";
import type { Allowance, Assertion, Exemption, Party, ServicePorts } from "../../../core/model/assertion";
import type { SourcePosition } from "../../../core/model/diagnostic";
import { type PortRange, portsWritten } from "../../../core/model/rule";
import { nearestName } from "../../../core/text/nearest";
import { isGroupParty } from "./query";

export interface ReachabilityContext extends SectionContext {
  readonly declared: Declared;
}

const assertionKinds = ["never", "always", "only"] as const;

export const readReachability = (lists: Merged["lists"], context: ReachabilityContext): Assertion[] =>
  itemsOfList("reachability", lists, context).flatMap(
    ({ subject, values }) => readAssertion(subject, values, context) ?? [],
  );

function readAssertion(
  subject: Subject,
  values: ValuesOfRow<AssertionBlock>,
  { declared }: ReachabilityContext,
): Assertion | undefined {
  const given = assertionKinds.filter((kind) => isGiven(values, kind));
  const [kind] = given;
  if (kind === undefined || given.length > 1) return reportKinds(subject, given);
  const flow = fieldOf(values, kind);
  if (!isMap(flow)) return undefined;
  const before = subject.problems.reported;
  const own = subjectWithin(subject, kind);
  const from = readParties(own, flow, "from", declared);
  const to = readParties(own, flow, "to", declared);
  const direction = readEnum(own, flow, "direction", ["ingress", "egress"]);
  const ethertype = readEnum(own, flow, "ethertype", ["IPv4", "IPv6"]);
  const ports = readServicePorts(own, flow);
  for (const key of ["from", "to"]) requireKey(own, flow, key, `add ${key}:`);
  checkAsked(own, flow, { from, to, direction });
  const because = readText(subject, values, "because");
  const except = listOf(subject, values, "except").flatMap(([item, one]): Exemption[] => {
    const exemption = {
      from: readParties(one, item, "from", declared),
      to: readParties(one, item, "to", declared),
      ports: readServicePorts(one, item),
    };
    return leavesOutNothing(item, exemption) ? [] : [exemption];
  });
  const allow = listOf(subject, values, "allow").flatMap(([item, one]) => readAllowance(one, item, declared) ?? []);
  if (kind === "always" && (except.length > 0 || allow.length > 0))
    subject.problems.add({
      code: "config/not-allowed",
      summary: "an always has no exceptions",
      fix: "narrow its from, to or ports instead",
      at: subject.place([except.length > 0 ? "except" : "allow"], "key"),
    });
  if (subject.problems.reported > before) return undefined;
  return {
    kind,
    label: labelOf(kind, from, to, ports, direction),
    from,
    to,
    direction,
    ports,
    ethertype,
    except,
    allow,
    because,
    source: positionOf(subject.place([])),
  };
}

function reportKinds(subject: Subject, given: readonly string[]): undefined {
  const isMissing = given.length === 0;
  return reportAt(subject, [], {
    code: "config/missing",
    summary: isMissing ? "an assertion says never, always or only" : `an assertion says one of ${given.join(", ")}`,
    fix: isMissing ? "write - never: { from: internet, to: group.KEY }" : "make two assertions of it",
  });
}

/** The groups whose rules are asked have to be groups of the file. */
function checkAsked(
  subject: Subject,
  flow: ValuesOfRow<Flow>,
  { from, to, direction }: Pick<Assertion, "from" | "to" | "direction">,
): void {
  const subjectKey =
    direction === "egress" || (direction === undefined && to.length > 0 && !to.some(isGroupParty)) ? "from" : "to";
  const subjects = subjectKey === "from" ? from : to;
  if (subjects.length > 0 && !subjects.every((party) => isGroupParty(party) && !isForeign(party)))
    reportValue(
      subject,
      [subjectKey],
      fieldOf(flow, subjectKey),
      `group.KEY or group.*: the rules of the groups in this file are asked, those of \`${subjectKey}\` for ${subjectKey === "to" ? "ingress" : "egress"}`,
      {
        fix: subjectKey === "from" ? "name a group in from or in to" : "name a group in to, or write direction: egress",
      },
    );
}

function readAllowance(subject: Subject, item: ValuesOfRow<AllowanceBlock>, declared: Declared): Allowance | undefined {
  const from = readParties(subject, item, "from", declared);
  const ports = readServicePorts(subject, item);
  const until = readText(subject, item, "until");
  const reason = readText(subject, item, "reason");
  const owner = readText(subject, item, "owner");
  requireKey(subject, item, "from", "add from: and whom it lets through");
  requireKey(subject, item, "until", "add until: and its last day, such as 2026-12-31");
  requireKey(subject, item, "reason", "add reason: an exception without one is forgotten");
  if (until !== undefined && !isDay(until)) return reportValue(subject, ["until"], until, "a day such as 2026-12-31");
  if (until === undefined || reason === undefined) return undefined;
  if (leavesOutNothing(item, { from, to: [], ports })) return undefined;
  const source: SourcePosition = positionOf(subject.place([]));
  return { from, ports, until, reason, owner, source };
}

/** A list that turns out empty is nobody, or no port. What is not written at all is everybody, or every port. */
const leavesOutNothing = (item: Values, { from, to, ports }: Exemption): boolean =>
  from.length + to.length + ports.length === 0 ||
  (isGiven(item, "from") && from.length === 0) ||
  (isGiven(item, "to") && to.length === 0) ||
  (ports.length === 0 && ["tcp", "udp", "icmp"].some((key) => isGiven(item, key)));

const isDay = (text: string): boolean => {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
};

/** One map, or a list of them. */
function listOf(
  subject: Subject,
  values: ValuesOfRow<AssertionBlock>,
  key: "except" | "allow",
): (readonly [Values, Subject])[] {
  const value = fieldOf(values, key);
  if (value === undefined) return [];
  if (isMap(value)) return [[value, subjectWithin(subject, key)]];
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown, index): (readonly [Values, Subject])[] => {
    if (isMap(item)) return [[item, subjectWithin(subject, key, index)]];
    reportValue(subject, [key, index], item, "a map", { code: "config/wrong-type" });
    return [];
  });
}
const isForeign = (party: Party): boolean => party.kind === "group" && "id" in party.group;

function readParties(subject: Subject, values: ValuesOfRow<Flow>, key: "from" | "to", declared: Declared): Party[] {
  const value = fieldOf(values, key);
  if (value === undefined) return [];
  const one = (item: unknown, path: Path): Party[] => {
    const party = readParty(subject, item, path, declared);
    return party === undefined ? [] : [party];
  };
  return Array.isArray(value)
    ? value.flat().flatMap((item: unknown, index) => one(item, [key, index]))
    : one(value, [key]);
}

const partyWords = ["internet", "anywhere"] as const;
const expected = "internet, anywhere, group.KEY, group.*, vm.KEY, { id: … }, an address or a CIDR such as 10.0.0.0/8";

function readParty(subject: Subject, value: unknown, path: Path, declared: Declared): Party | undefined {
  if (isMap(value)) {
    const id = readUnmanagedId(subjectWithin(subject, ...path), value);
    return id === undefined ? undefined : { kind: "group", group: { id } };
  }
  // A value that could not be interpolated is reported already.
  if (value === undefined) return undefined;
  const text = String(value).trim();
  const word = partyWords.find((known) => known === text);
  if (word !== undefined) return { kind: word };
  if (text === "group.*") return { kind: "groups" };
  const cidr = parseCidr(text);
  if (cidr !== undefined) return { kind: "cidr", cidr: cidr.text };
  const parts = parseAddress(text);
  if (parts === undefined || parts.kind === "volume") {
    const names = [
      ...partyWords,
      "group.*",
      ...[...declared.addresses].filter((address) => kindOf(address) !== "volume"),
    ];
    const bare = [`group.${text}`, `vm.${text}`].find((address) => declared.addresses.has(address));
    const near = bare ?? nearestName(text, names);
    return reportValue(subject, path, value, expected, { fix: near === undefined ? undefined : `write ${near}` });
  }
  const address = formatAddress(parts);
  if (declared.addresses.has(address))
    return parts.kind === "group" ? { kind: "group", group: { address } } : { kind: "vm", address };
  return reportAt(subject, path, unknownAddress(address, parts.kind, declared, true));
}

function readServicePorts(subject: Subject, values: ValuesOfRow<Flow>): ServicePorts[] {
  const ports: ServicePorts[] = [];
  for (const protocol of ["tcp", "udp"] as const) {
    const value = fieldOf(values, protocol);
    if (value === undefined) continue;
    const list: readonly unknown[] = Array.isArray(value) ? value.flat() : [value];
    for (const [index, item] of list.entries()) {
      if (item === "any" || item === true) ports.push({ protocol });
      else {
        const range = readRange(subject, item, Array.isArray(value) ? [protocol, index] : [protocol]);
        if (range !== undefined) ports.push({ protocol, ports: range });
      }
    }
  }
  const icmp = fieldOf(values, "icmp");
  if (icmp !== undefined && icmp !== false) ports.push({ protocol: "icmp" });
  return ports;
}

function readRange(subject: Subject, value: unknown, path: Path): PortRange | undefined {
  const range = portsOfText(value);
  return range !== undefined && arePorts(range)
    ? range
    : reportValue(subject, path, value, "a port from 1 to 65535, a range such as 8000-8010, or any");
}

/** Reads a party of a command line, where a bare key is a group. */
export function partyFromWord(word: string, addresses: ReadonlySet<string>): Party | undefined {
  const named = partyWords.find((known) => known === word);
  if (named !== undefined) return { kind: named };
  const cidr = parseCidr(word);
  if (cidr !== undefined) return { kind: "cidr", cidr: cidr.text };
  // A group in a component may be named without the word for its kind: shop/web.
  for (const text of [word, word.replace(/[^/]*$/, "group.$&")]) {
    const parts = parseAddress(text);
    const address = parts === undefined ? undefined : formatAddress(parts);
    if (parts === undefined || address === undefined || !addresses.has(address)) continue;
    if (parts.kind === "group") return { kind: "group", group: { address } };
  }
  return undefined;
}

/** `5432`, `8000-8010`, `udp/53`, `icmp`. */
export function portsFromWord(word: string): ServicePorts | undefined {
  if (word === "icmp") return { protocol: "icmp" };
  const [, protocol, text] = /^(?:(tcp|udp)\/)?(.*)$/.exec(word) ?? [];
  const named = { protocol: protocol === "udp" ? protocol : "tcp" } as const;
  if (text === "any") return named;
  const ports = portsOfText(text);
  return ports !== undefined && arePorts(ports) ? { ...named, ports } : undefined;
}

export const partyText = (party: Party): string => {
  switch (party.kind) {
    case "groups":
      return "group.*";
    case "group":
      return "address" in party.group ? party.group.address : party.group.id;
    case "cidr":
      return party.cidr;
    case "vm":
      return party.address;
    default:
      return party.kind;
  }
};

const portsText = (ports: readonly ServicePorts[]): string =>
  ports
    .map(({ protocol, ports: range }) => (range === undefined ? protocol : `${protocol} ${portsWritten(range)}`))
    .join(", ");

const labelOf = (
  kind: Assertion["kind"],
  from: readonly Party[],
  to: readonly Party[],
  ports: readonly ServicePorts[],
  direction: string | undefined,
): string =>
  [
    `${kind} ${from.map(partyText).join(", ")} -> ${to.map(partyText).join(", ")}`,
    portsText(ports),
    direction === "egress" ? "(egress)" : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
