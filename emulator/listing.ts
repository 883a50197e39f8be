/** Reads the third-party listing into values, with every value of a wrong JSON type as a problem, null among them. Fields beyond the contract's are passed over. */
import { isBodyObject } from "./fields";

export interface ListedRange {
  readonly cidr: string;
  readonly description: string;
}
export interface ListedReference {
  readonly id: string;
  readonly description: string;
}
export interface PermissionOfListing {
  readonly protocol: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly ipv4: readonly ListedRange[];
  readonly ipv6: readonly ListedRange[];
  readonly prefixLists: readonly ListedReference[];
  readonly peers: readonly ListedReference[];
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
    ingress: reader
      .objects(group, "IpPermissions", at)
      .map(([permission, place]) => readPermission(reader, permission, place)),
    egress: reader
      .objects(group, "IpPermissionsEgress", at)
      .map(([permission, place]) => readPermission(reader, permission, place)),
  }));
  return { listing, problems };
}

function readPermission(reader: ListingReader, permission: Record<string, unknown>, at: string): PermissionOfListing {
  const ranges = (list: string, field: string) =>
    reader.objects(permission, list, at).map(([entry, place]) => ({
      cidr: reader.text(entry, field, place),
      description: reader.text(entry, "Description", place),
    }));
  const references = (list: string, field: string) =>
    reader.objects(permission, list, at).map(([entry, place]) => ({
      id: reader.text(entry, field, place),
      description: reader.text(entry, "Description", place),
    }));
  return {
    protocol: reader.text(permission, "IpProtocol", at),
    from: reader.integer(permission, "FromPort", at),
    to: reader.integer(permission, "ToPort", at),
    ipv4: ranges("IpRanges", "CidrIp"),
    ipv6: ranges("Ipv6Ranges", "CidrIpv6"),
    prefixLists: references("PrefixListIds", "PrefixListId"),
    peers: references("UserIdGroupPairs", "GroupId"),
  };
}

type ListingReader = ReturnType<typeof readerOf>;

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
    objects(object: Record<string, unknown>, name: string, at: string): (readonly [Record<string, unknown>, string])[] {
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
