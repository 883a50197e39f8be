/**
 * A third-party cloud's listing of security groups, as its command line prints it, into plain values. Fields beyond
 * those the service's import knows are passed over; a value of the wrong JSON type is a problem with its place.
 */
import { type Fields, fieldsIn, isObject, ownValue } from "../../core/text/objects";

export interface ListedSource {
  /** A CIDR, the id of a prefix list, or the id of a group. */
  readonly id: string;
  readonly description: string;
}

export interface ListedPermission {
  readonly protocol: string;
  readonly from?: number;
  readonly to?: number;
  readonly ipv4: readonly ListedSource[];
  readonly ipv6: readonly ListedSource[];
  readonly prefixLists: readonly ListedSource[];
  readonly peers: readonly ListedSource[];
}

export interface ListedGroup {
  readonly name: string;
  readonly id?: string;
  readonly description: string;
  readonly ingress: readonly ListedPermission[];
  readonly egress: readonly ListedPermission[];
}

export interface ReadListing {
  readonly groups: readonly ListedGroup[];
  readonly problems: readonly string[];
}

export function readListing(listing: unknown): ReadListing {
  const problems: string[] = [];
  const listed = fieldsIn(listing)["SecurityGroups"];
  if (!Array.isArray(listed))
    return { groups: [], problems: ["SecurityGroups must be an array at the top of the file"] };
  const groups = listed.map((group, index) => readListedGroup(group, `SecurityGroups[${index}]`, problems));
  return { groups, problems };
}

function readListedGroup(value: unknown, at: string, problems: string[]): ListedGroup {
  const group = objectAt(value, at, problems);
  const id = textUnder(group, "GroupId", at, problems);
  const name = textUnder(group, "GroupName", at, problems);
  if (name === "") problems.push(`${at}.GroupName is missing`);
  const permissions = (key: string): ListedPermission[] =>
    listUnder(group, key, at, problems).map((item, index) =>
      readListedPermission(item, `${at}.${key}[${index}]`, problems),
    );
  return {
    name,
    id: id === "" ? undefined : id,
    description: textUnder(group, "Description", at, problems),
    ingress: permissions("IpPermissions"),
    egress: permissions("IpPermissionsEgress"),
  };
}

function readListedPermission(value: unknown, at: string, problems: string[]): ListedPermission {
  const permission = objectAt(value, at, problems);
  const sources = (key: string, idKey: string): ListedSource[] =>
    listUnder(permission, key, at, problems).map((item, index) => {
      const place = `${at}.${key}[${index}]`;
      const source = objectAt(item, place, problems);
      return {
        id: textUnder(source, idKey, place, problems),
        description: textUnder(source, "Description", place, problems),
      };
    });
  const from = portAt(permission, "FromPort", at, problems);
  const to = portAt(permission, "ToPort", at, problems);
  return {
    protocol: textUnder(permission, "IpProtocol", at, problems).toLowerCase(),
    from,
    to,
    ipv4: sources("IpRanges", "CidrIp"),
    ipv6: sources("Ipv6Ranges", "CidrIpv6"),
    prefixLists: sources("PrefixListIds", "PrefixListId"),
    peers: sources("UserIdGroupPairs", "GroupId"),
  };
}

function objectAt(value: unknown, at: string, problems: string[]): Fields {
  if (!isObject(value)) problems.push(`${at} must be an object`);
  return fieldsIn(value);
}

function textUnder(object: Fields, key: string, at: string, problems: string[]): string {
  const value = ownValue(object, key) ?? "";
  if (typeof value === "string") return value;
  problems.push(`${at}.${key} must be a string`);
  return "";
}

function listUnder(object: Fields, key: string, at: string, problems: string[]): readonly unknown[] {
  const value = ownValue(object, key) ?? [];
  if (Array.isArray(value)) return value;
  problems.push(`${at}.${key} must be an array`);
  return [];
}

function portAt(object: Fields, key: string, at: string, problems: string[]): number | undefined {
  const value = ownValue(object, key) ?? undefined;
  if (value === undefined || (typeof value === "number" && Number.isInteger(value))) return value;
  problems.push(`${at}.${key} must be a whole number`);
  return undefined;
}
