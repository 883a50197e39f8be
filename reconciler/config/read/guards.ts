/** The top-level settings that say which plans may be carried out. */

import type { Denial, Desired } from "../../core/model/desired";
import { ifAny } from "../../core/text/objects";
import { type ReachabilityContext, readReachability } from "../../kinds/group/reachability/read";
import { readRollouts } from "../../kinds/vm/read-rollouts";
import type { Room } from "../rooms";
import { settingOf } from "../sections";
import type { Merged } from "../sources";
import { placeOf, positionOf } from "../yaml/file";
import { readChecks, readPolicy } from "./checks";

type Guards = Pick<Desired, "deny" | "reachability" | "checks" | "policy" | "rollouts">;

export function readGuards(merged: Merged, context: ReachabilityContext, rooms: readonly Room[]): Guards {
  const { lists } = merged;
  const deny = lists.deny.flatMap(({ value, source, index }): Denial[] =>
    typeof value === "string"
      ? [{ code: value.trim(), source: positionOf(placeOf(source, ["deny", index], "value")) }]
      : [],
  );
  const reachability = readReachability(lists, context);
  const checks = settingOf("checks", merged, context);
  const policy = settingOf("policy", merged, context);
  const rollouts = readRollouts(merged, context, rooms);
  return {
    deny: ifAny(deny),
    reachability: ifAny(reachability),
    checks: checks === undefined ? undefined : readChecks(checks.subject, checks.values),
    policy: policy === undefined ? undefined : readPolicy(policy.subject, policy.values),
    rollouts: ifAny(rollouts),
  };
}
