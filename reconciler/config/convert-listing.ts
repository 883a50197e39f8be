/**
 * A third-party listing as blocks of a desired-state file, without asking anybody. A rule is written only when it admits
 * exactly what the source does; whatever cannot be said so is skipped with its reason, never widened and never guessed.
 *
 *   source                     here
 *   CIDR, tcp / udp            a rule, with the port or the range of ports
 *   protocol -1                protocol: any
 *   icmp, all types            protocol: icmp (IPv6 sources: the one of IPv6)
 *   icmp type or code          skipped
 *   another protocol           skipped
 *   prefix list                skipped
 *   group of this listing      remote_group, for IPv4 and IPv6, as the source means both
 *   any other group            skipped
 *   egress: anything anywhere  skipped: the provider's default, and each group here has its own
 */
import { parseCidr } from "../core/canonical/cidr";
import { canonicalPorts, canonicalRemote, sortRules } from "../core/canonical/rules";
import type { Direction, Ethertype, PortRange, Rule, RuleRemote } from "../core/model/rule";
import { onlyDefined } from "../core/text/objects";
import { ruleFields } from "../kinds/group/block";
import { isDeclarable } from "../kinds/group/compare-rules";
import { createNames, fitName } from "./live-blocks";
import type { ListedGroup, ListedPermission, ListedSource } from "./read/listing";
import type { YamlBlock } from "./yaml/write";

export interface ConvertedGroup {
  readonly listedName: string;
  readonly name: string;
  readonly rules: readonly Rule[];
  /** `source: reason`, one each. */
  readonly skipped: readonly string[];
  /** Rules with more than one port, which a service may take through its import alone. */
  readonly ranges: number;
  readonly block: YamlBlock;
}

export function convertListing(groups: readonly ListedGroup[]): ConvertedGroup[] {
  const names = createNames();
  const keyed = groups.map((group) => {
    const name = names.name(
      "group",
      reservedKeys.has(fitName(group.name)) ? `${fitName(group.name)}-sg` : fitName(group.name),
    );
    return { group, name, key: names.key("group", name) };
  });
  const keyOfId = new Map(
    keyed.flatMap(({ group, key }) => (group.id === undefined ? [] : [[group.id, key] as const])),
  );
  return keyed.map(({ group, name, key }) => {
    const skipped: string[] = [];
    const rules = sortRules([
      ...group.ingress.flatMap((permission) => convertPermission("ingress", permission, keyOfId, skipped)),
      ...group.egress.flatMap((permission) => convertPermission("egress", permission, keyOfId, skipped)),
    ]);
    const renamed = group.name.toLowerCase() === name ? [] : [`the listing calls it ${group.name}`];
    return {
      listedName: group.name,
      name,
      rules,
      skipped,
      ranges: rules.filter(({ ports }) => ports !== undefined && ports.min < ports.max).length,
      block: {
        kind: "group" as const,
        key,
        fields: {
          ...onlyDefined({
            name: name === key ? undefined : name,
            description: group.description === "" ? undefined : group.description,
          }),
          rules: rules.map((rule) =>
            ruleFields(rule, (reference) =>
              "id" in reference ? { id: reference.id } : reference.address.slice("group.".length),
            ),
          ),
        },
        notes: [...renamed, ...skipped.map((source) => `skipped: ${source}`)],
      },
    };
  });
}

/** The source restricts outgoing traffic. A service that opens it by itself on every group undoes that. */
export const restrictsEgress = (group: ListedGroup): boolean =>
  !group.egress.some(
    ({ protocol, ipv4 }) =>
      (protocol === "-1" || protocol === "all") && ipv4.some(({ id }) => parseCidr(id)?.prefix === 0),
  );

/** Names that only the platform's own groups bear. */
const reservedKeys: ReadonlySet<string> = new Set(["default"]);

function convertPermission(
  direction: Direction,
  permission: ListedPermission,
  keyOfId: ReadonlyMap<string, string>,
  skipped: string[],
): Rule[] {
  const what = describePermission(direction, permission);
  const towards = direction === "ingress" ? "from" : "to";
  const skip = (kind: string, { id, description }: ListedSource, reason: string): void => {
    skipped.push(`${what} ${towards} ${kind}${id}${description === "" ? "" : ` (${description})`}: ${reason}`);
  };
  for (const source of permission.prefixLists)
    skip("prefix list ", source, "rules take no prefix lists; write its CIDRs as rules of their own");

  const addresses = [
    ...permission.ipv4.map((source) => ({ source, ethertype: "IPv4" as const })),
    ...permission.ipv6.map((source) => ({ source, ethertype: "IPv6" as const })),
  ];
  const service = serviceOf(permission);
  if ("reason" in service) {
    for (const { source } of addresses) skip("", source, service.reason);
    for (const source of permission.peers) skip("group ", source, service.reason);
    return [];
  }
  const rules: Rule[] = [];
  const add = (ethertype: Ethertype, remote: RuleRemote, { description }: ListedSource): void => {
    rules.push({
      direction,
      ethertype,
      protocol: service.protocol,
      remote,
      ...onlyDefined({ ports: service.ports, description: description === "" ? undefined : description }),
    });
  };
  for (const { source, ethertype } of addresses) {
    const reason = whyNoRule(direction, service, source.id, ethertype);
    if (reason === undefined) add(ethertype, canonicalRemote(source.id, ethertype), source);
    else skip("", source, reason);
  }
  for (const source of permission.peers) {
    const key = keyOfId.get(source.id);
    if (key === undefined) skip("group ", source, "that group is not in this listing");
    else
      for (const ethertype of ["IPv4", "IPv6"] as const)
        if (service.only === undefined || service.only === ethertype)
          add(ethertype, { kind: "group", group: { address: `group.${key}` } }, source);
  }
  return rules.filter((rule) => {
    if (isDeclarable(rule)) return true;
    skipped.push(`${what}: port 0 cannot be written`);
    return false;
  });
}

type ListedPorts =
  | { readonly protocol: string; readonly ports?: PortRange; readonly only?: Ethertype }
  | { readonly reason: string };

/** Why an address of a listing makes no rule; absent: it makes one. */
function whyNoRule(
  direction: Direction,
  { protocol, only }: Exclude<ListedPorts, { reason: string }>,
  address: string,
  ethertype: Ethertype,
): string | undefined {
  const cidr = parseCidr(address);
  if (cidr?.ethertype !== ethertype) return `this is no ${ethertype} CIDR`;
  if (only !== undefined && only !== ethertype) return `this protocol belongs to ${only}`;
  return direction === "egress" && protocol === "any" && cidr.prefix === 0
    ? "the provider's default, which lets everything out; each group here has its own"
    : undefined;
}

/** One row for each protocol: listings spell some as numbers, and `all ports` in several ways. */
const protocolNumbers: ReadonlyMap<string, string> = new Map([
  ["-1", "all"],
  ["6", "tcp"],
  ["17", "udp"],
  ["1", "icmp"],
  ["58", "icmpv6"],
]);

function serviceOf({ protocol, from, to }: ListedPermission): ListedPorts {
  const name = protocolNumbers.get(protocol) ?? protocol;
  switch (name) {
    case "all":
      return { protocol: "any" };
    case "tcp":
    case "udp":
      return listedPorts(name, from, to);
    case "icmp":
    case "icmpv6":
      if ((from ?? -1) !== -1) return { reason: typed };
      return { protocol: "icmp", only: name === "icmp" ? undefined : "IPv6" };
    default:
      return { reason: `rules know tcp, udp and icmp, not protocol ${protocol === "" ? "(none)" : protocol}` };
  }
}

const typed = "a rule for icmp is for all of its types and codes, which is more than this source";

function listedPorts(protocol: "tcp" | "udp", from: number | undefined, to: number | undefined): ListedPorts {
  if ((from ?? -1) === -1 && (to ?? -1) === -1) return { protocol };
  const max = to ?? from;
  if (from === undefined || max === undefined || from < 0 || from > max || max > 65535)
    return { reason: "FromPort and ToPort are no range of ports" };
  const ports = canonicalPorts(protocol, from, max);
  return ports === undefined ? { protocol } : { protocol, ports };
}

function describePermission(direction: Direction, { protocol, from, to }: ListedPermission): string {
  if (protocol === "-1" || protocol === "all") return `${direction} any protocol`;
  const words = `${direction} ${protocol === "" ? "(no protocol)" : protocol}`;
  if (from === undefined || from === -1) return words;
  if (["icmp", "icmpv6", "1", "58"].includes(protocol))
    return `${words} type ${from}${to === undefined || to === -1 ? "" : ` code ${to}`}`;
  return `${words} ${to === undefined || to === from ? from : `${from}-${to}`}`;
}
