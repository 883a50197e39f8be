/**
 * The bulk import of a third-party listing: best-effort across groups, atomic within one. A value of the wrong JSON type
 * is a bad request as a whole; a group that this service cannot hold (its name, a CIDR, ports) fails alone; a source
 * that has no counterpart here is left out and reported, never widened into one that has.
 */
import { mayCreateGroup } from "./access";
import { type Network, networkOf } from "./cidr";
import { answer, type Reply, type Request, refusals, refuseWith } from "./decision";
import type { RuleShape, WorldChange } from "./entities";
import { checkName } from "./fields";
import { buildGroup, nameTakenMessage } from "./group";
import { type GroupOfListing, type PermissionOfListing, readImportListing } from "./listing";

type ImportDirection = "ingress" | "egress";

export function importGroups(request: Request): Reply {
  if (request.caller.projectId === undefined) return refuseWith(400, "missing project: the caller belongs to none");
  if (!mayCreateGroup(request.caller)) return refusals.forbidden("only active project members create security groups");
  const { listing, problems } = readImportListing(request.body);
  if (problems.length > 0) return refusals.badRequest(problems);

  const changes: WorldChange[] = [];
  const namesTaken = new Set<string>();
  let seq = request.world.nextSeq;
  const groups = listing.map((listed) => {
    const skipped: string[] = [];
    const failures: string[] = [];
    const name = listed.name.toLowerCase();
    if (listed.name === "") failures.push("name cannot be empty");
    else checkName(listed.name, failures);
    const shapes = shapesOf(listed, skipped, failures);
    if (failures.length > 0) return failedImport(listed.name, skipped, failures.join("; "));
    // The groups of this very import are not in the world yet.
    const built = namesTaken.has(name)
      ? { refusal: nameTakenMessage }
      : buildGroup(request, name, listed.description, shapes, seq);
    if ("refusal" in built) return failedImport(listed.name, skipped, built.refusal);
    seq += 1;
    namesTaken.add(name);
    changes.push(...built.changes);
    return { name, id: built.group.id, status: "created", rules_created: shapes.length, skipped };
  });
  const imported = groups.filter((group) => group.status === "created").length;
  return answer(200, { imported, failed: groups.length - imported, groups }, changes);
}

const failedImport = (name: string, skipped: readonly string[], error: string) => ({
  name,
  status: "failed",
  rules_created: 0,
  skipped,
  error,
});

const shapesOf = (group: GroupOfListing, skipped: string[], failures: string[]): RuleShape[] => [
  ...group.ingress.flatMap((permission) => shapesOfPermission("ingress", permission, skipped, failures)),
  ...group.egress.flatMap((permission) => shapesOfPermission("egress", permission, skipped, failures)),
];

/** One branch for each sort of source in the listing, with the reason why it is left out. */
function shapesOfPermission(
  direction: ImportDirection,
  permission: PermissionOfListing,
  skipped: string[],
  failures: string[],
): RuleShape[] {
  const what = permissionText(direction, permission);
  const skip = (source: string, why: string) => skipped.push(`${what} ${source}: ${why}`);
  const towards = direction === "ingress" ? "from" : "to";
  const ranges = [...permission.ipv4, ...permission.ipv6];
  for (const { source, description } of permission.prefixLists)
    skip(`${towards} prefix list ${source}${noted(description)}`, "prefix lists cannot be represented");
  for (const { source, description } of permission.peers)
    skip(
      `${towards} security group ${source}${noted(description)}`,
      "peer security-group references cannot be represented",
    );
  if (ranges.length === 0) return [];

  const protocol = protocolOf(permission.protocol);
  const icmpType = protocol === "icmp" && (permission.from ?? -1) !== -1;
  if (protocol === undefined || icmpType) {
    const why = `${icmpType ? "ICMP type/code" : "this protocol"} cannot be represented`;
    for (const range of ranges) skip(`${towards} ${range.source}${noted(range.description)}`, why);
    return [];
  }
  const ports = protocol === "tcp" || protocol === "udp" ? portsOfPermission(permission, what, failures) : allPorts;

  const shapes: RuleShape[] = [];
  for (const [ether_type, listed] of [
    ["IPv4", permission.ipv4],
    ["IPv6", permission.ipv6],
  ] as const) {
    for (const { source: cidr, description } of listed) {
      const network = networkOf(cidr);
      if (network?.version !== ether_type) {
        failures.push(`${what} ${towards} ${cidr}: not an ${ether_type} CIDR`);
        continue;
      }
      const why = notRepresented(direction, permission.protocol, protocol, network);
      if (why !== undefined) {
        skip(`${towards} ${cidr}${noted(description)}`, why);
        continue;
      }
      shapes.push({
        direction,
        ether_type,
        protocol,
        port_range_min: ports.min,
        port_range_max: ports.max,
        remote_ip_prefix: cidr,
        normalized_cidr: network.cidr,
        remote_group_id: null,
        description,
      });
    }
  }
  return shapes;
}

const noted = (description: string): string => (description === "" ? "" : ` (${description})`);

function permissionText(direction: ImportDirection, { protocol, from, to }: PermissionOfListing): string {
  if (protocol === "-1") return `${direction} any protocol`;
  const name = `${direction} ${protocol === "" ? "(no protocol)" : protocol}`;
  if (from === undefined) return name;
  // For ICMP the two ports are a type and a code, and -1 is any.
  if (protocolOf(protocol) === "icmp") {
    const code = to === undefined || to === -1 ? "" : ` code ${to}`;
    return from === -1 ? name : `${name} type ${from}${code}`;
  }
  return `${name} ${to === undefined || to === from ? from : `${from}-${to}`}`;
}

/** Why a source with a valid CIDR makes no rule; absent: it makes one. */
function notRepresented(
  direction: ImportDirection,
  listed: string,
  protocol: RuleShape["protocol"],
  { version, cidr }: Network,
): string | undefined {
  if (["icmpv6", "58"].includes(listed.toLowerCase()) && version === "IPv4")
    return "ICMPv6 over IPv4 cannot be represented";
  return direction === "egress" && protocol === null && /^(0\.0\.0\.0|::)\/0$/.test(cidr)
    ? "the provider's default egress allow-all is not imported"
    : undefined;
}

/** null: any protocol; undefined: none that a rule of this service can have. Listings spell some of them as numbers. */
const protocolOf = (listed: string): "tcp" | "udp" | "icmp" | null | undefined => protocols.get(listed.toLowerCase());

const protocols = new Map([
  ...["-1", "all"].map((word) => [word, null] as const),
  ...["tcp", "6"].map((word) => [word, "tcp"] as const),
  ...["udp", "17"].map((word) => [word, "udp"] as const),
  ...["icmp", "1", "icmpv6", "58"].map((word) => [word, "icmp"] as const),
]);

interface PermissionPorts {
  readonly min: number | null;
  readonly max: number | null;
}
const allPorts: PermissionPorts = { min: null, max: null };

/** Ranges are fine here, unlike in dst_port. The whole range is no restriction, and is stored as none. */
function portsOfPermission(permission: PermissionOfListing, what: string, failures: string[]): PermissionPorts {
  const { from, to } = permission;
  const open = (from === undefined || from === -1) && (to === undefined || to === -1);
  if (open || (from === 0 && to === 65535)) return allPorts;
  if (from !== undefined && to !== undefined && from >= 0 && from <= to && to <= 65535) return { min: from, max: to };
  failures.push(`${what}: FromPort and ToPort must be a range within 0 to 65535`);
  return allPorts;
}
