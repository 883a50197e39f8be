/** What a file says of the plans that may be carried out, beside the resources: which findings it refuses. */
import type { Denial, Desired } from "../core/model/desired";
import { type Merged, placeOf } from "./sources";
import { positionOf } from "./yaml-file";

export function readGuards({ lists }: Merged): Pick<Desired, "deny"> {
  const deny = lists.deny.flatMap(({ value, source, index }): Denial[] =>
    typeof value === "string"
      ? [{ code: value.trim(), source: positionOf(placeOf(source, ["deny", index], "value")) }]
      : [],
  );
  return deny.length === 0 ? {} : { deny };
}
