/** Reads the third-party listing into values, with every value of a wrong JSON type as a problem, null among them. Fields beyond the contract's are passed over. */
import { isBodyObject } from "./fields";

/** A CIDR, or the id of a prefix list or a group. */
export interface SourceOfListing {
  readonly source: string;
  readonly description: string;
}
export interface PermissionOfListing {
  readonly protocol: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly ipv4: readonly SourceOfListing[];
  readonly ipv6: readonly SourceOfListing[];
  readonly prefixLists: readonly SourceOfListing[];
  readonly peers: readonly SourceOfListing[];
}
export interface GroupOfListing {
  readonly name: string;
  readonly description: string;
  readonly ingress: readonly PermissionOfListing[];
  readonly egress: readonly PermissionOfListing[];
}

export function readImportListing(body: unknown): {
  readonly listing: readonly GroupOfListing[];
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const reader = readerOf(problems);
  if (!isBodyObject(body)) return { listing: [], problems: ["the body must be a JSON object"] };
  if (!Array.isArray(body["SecurityGroups"])) return { listing: [], problems: ["SecurityGroups must be an array"] };
  const listing = reader.objects(body, "SecurityGroups", "").map(([group, at]) => ({
    name: reader.text(group, "GroupName", at),
    description: reader.text(group, "Description", at),
    ingress: reader.objects(group, "IpPermissions", at).map((one) => readPermission(reader, one)),
    egress: reader.objects(group, "IpPermissionsEgress", at).map((one) => readPermission(reader, one)),
  }));
  return { listing, problems };
}

function readPermission(reader: ListingReader, [permission, at]: ObjectAtPlace): PermissionOfListing {
  const sources = (list: string, field: string) =>
    reader.objects(permission, list, at).map(([entry, place]) => ({
      source: reader.text(entry, field, place),
      description: reader.text(entry, "Description", place),
    }));
  return {
    protocol: reader.text(permission, "IpProtocol", at),
    from: reader.integer(permission, "FromPort", at),
    to: reader.integer(permission, "ToPort", at),
    ipv4: sources("IpRanges", "CidrIp"),
    ipv6: sources("Ipv6Ranges", "CidrIpv6"),
    prefixLists: sources("PrefixListIds", "PrefixListId"),
    peers: sources("UserIdGroupPairs", "GroupId"),
  };
}

type ListingReader = ReturnType<typeof readerOf>;
type ObjectAtPlace = readonly [object: Record<string, unknown>, at: string];

function readerOf(problems: string[]) {
  const complain = (at: string, name: string, expected: string) => {
    // A huge listing of nonsense needs no huge answer.
    if (problems.length < 20) problems.push(`${at}${name} must be ${expected}`);
  };
  return {
    text(object: Record<string, unknown>, name: string, at: string): string {
      const value = object[name];
      if (value === undefined) return "";
      if (typeof value === "string") return value;
      complain(at, name, "a string");
      return "";
    },
    integer(object: Record<string, unknown>, name: string, at: string): number | undefined {
      const value = object[name];
      if (value === undefined || (typeof value === "number" && Number.isInteger(value))) return value;
      complain(at, name, "an integer");
      return undefined;
    },
    objects(object: Record<string, unknown>, name: string, at: string): ObjectAtPlace[] {
      const value = object[name];
      if (value === undefined) return [];
      if (!Array.isArray(value)) {
        complain(at, name, "an array");
        return [];
      }
      return value.flatMap((entry, n) => {
        if (isBodyObject(entry)) return [[entry, `${at}${name}[${n}].`] as const];
        complain(at, `${name}[${n}]`, "an object");
        return [];
      });
    },
  };
}
