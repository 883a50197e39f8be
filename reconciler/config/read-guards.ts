/** What a file says of the plans that may be carried out, beside the resources. */
import type { Denial, Desired } from "../core/model/desired";
import { type ReachabilityContext, readReachability } from "./read-reachability";
import { type Merged, placeOf } from "./sources";
import { positionOf } from "./yaml-file";

export function readGuards({ lists }: Merged, context: ReachabilityContext): Pick<Desired, "deny" | "reachability"> {
  const deny = lists.deny.flatMap(({ value, source, index }): Denial[] =>
    typeof value === "string"
      ? [{ code: value.trim(), source: positionOf(placeOf(source, ["deny", index], "value")) }]
      : [],
  );
  const reachability = readReachability(lists.reachability, context);
  return { ...(deny.length === 0 ? {} : { deny }), ...(reachability.length === 0 ? {} : { reachability }) };
}
