/** The record of a group that a create has made. */
import { ruleKey } from "../../core/canonical/rules";
import { findSeen } from "../../core/model/live";
import type { RecordedGroup, RecordToMake } from "../../core/model/recorded";
import type { SeenMade } from "../../core/plan/records";
import { platformRulesBeyond } from "./compare-rules";

/** Rules that were neither sent nor declared were put there by the service itself: they stay. */
export function groupMade(record: RecordToMake<"group">, id: string, { live, declared = [] }: SeenMade): RecordedGroup {
  const made: RecordedGroup = { ...record, id };
  if (live === undefined) return made;
  const known = new Set([...made.rules, ...declared].map((rule) => ruleKey(rule)));
  return { ...made, platformRules: platformRulesBeyond(findSeen(live, "group", id)?.rules, known) };
}
