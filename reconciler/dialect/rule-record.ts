/** The rules of a group: as the contract describes one, and where the dialect says that the record has them. */
import type { LiveRule } from "../core/model/live";
import { accepted } from "../core/model/outcome";
import { isObject, onlyDefined } from "../core/text/objects";
import type { Dialect } from "./dialect";
import { own } from "./messages";
import { compilePointers, findArray, findId, numberInUnit } from "./pointers";
import { type Reading, readId, texts } from "./reading";
import { unreadable, unusableId } from "./unreadable";

/** The rules that stand under several keys, each with the direction of its key. */
export function directionsOf({ records }: Dialect) {
  const places = records.group.rules.map((place) => ({
    // A bare pointer tells a key that is not there from an empty list.
    paths: compilePointers([typeof place === "object" && place.in === undefined ? (place.value ?? "") : place]),
    direction: typeof place === "object" ? place.direction : undefined,
  }));
  return {
    hasDirections: places.some(({ direction }) => direction !== undefined),
    /** `undefined`: none of the keys is there. */
    rulesByDirection(record: unknown): readonly unknown[] | undefined {
      const found = places.flatMap(({ paths, direction }) => {
        const items = findArray(record, paths);
        if (items === undefined) return [];
        return [items.map((item) => (isObject(item) && direction !== undefined ? { direction, ...item } : item))];
      });
      return found.length === 0 ? undefined : found.flat();
    },
  };
}

/** Whether it may be one of the contract's: what lacks these is a rule in the service's own form, or something else. */
export const isContractRule = (item: unknown): boolean => isObject(item) && "id" in item && "direction" in item;

/** A rule as the contract describes it ("Security group rule as returned"); nothing of it is left to the dialect. */
export function readLiveRule(record: unknown): Reading<LiveRule> {
  const text = (key: string): string | undefined => {
    const found = own(record, key);
    return typeof found === "string" && found !== "" ? found : typeof found === "number" ? String(found) : undefined;
  };
  const id = readId("a rule", undefined, ["/id"], ruleId, record);
  if (id.status !== "accepted") return id;
  const remoteGroup = findId(record, ruleRemoteGroup);
  if (remoteGroup !== undefined && "problem" in remoteGroup)
    return unusableId("the group that a rule names", remoteGroup.problem, undefined);
  const direction = text("direction");
  if (direction === undefined) return unreadable("a rule", "direction", undefined, ["/direction"], record);
  const portMin = numberInUnit(own(record, "port_range_min"));
  const portMax = numberInUnit(own(record, "port_range_max"));
  const platform = own(record, "belongs_to_default_sg");
  return accepted({
    id: id.value,
    direction,
    ...texts({
      ethertype: text("ether_type") ?? text("ethertype"),
      protocol: text("protocol"),
      remoteIp: text("remote_ip_prefix") ?? text("normalized_cidr"),
      remoteGroupId: remoteGroup?.id,
      remoteAddressGroupId: text("remote_address_group_id"),
      description: text("description"),
    }),
    ...onlyDefined({ portMin, portMax, platform: typeof platform === "boolean" ? platform : undefined }),
  });
}

/**
 * The group that a rule says it belongs to, where that is certainly not the one that was asked for: an id of the same
 * form. A service may have another spelling there, such as a name.
 */
export function otherGroupOf(record: unknown, groupId: string): string | undefined {
  const found = findId(record, ruleGroup);
  if (found === undefined || "problem" in found) return undefined;
  const [shown, asked] = [found.id.toLowerCase(), groupId.toLowerCase()];
  return shown !== asked && formOf(shown) === formOf(asked) ? found.id : undefined;
}

const formOf = (id: string): string => id.replace(/[0-9a-f]+/g, "x");

const ruleGroup = compilePointers(["/security_group_id"]);
const ruleId = compilePointers(["/id"]);
const ruleRemoteGroup = compilePointers(["/remote_group_id"]);
