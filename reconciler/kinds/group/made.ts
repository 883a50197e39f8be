/** The record of a group that a create has made. */
import { canonicalLiveRule, ruleKey } from "../../core/canonical/rules";
import { findSeen } from "../../core/model/live";
import type { RecordedGroup, RecordToMake } from "../../core/model/recorded";
import type { SeenMade } from "../../core/plan/records";
import { isPlatformShaped, platformRulesBeyond } from "./compare-rules";

/** Rules that were neither sent nor declared were put there by the service itself: they stay. */
export function groupMade(record: RecordToMake<"group">, id: string, seen: SeenMade): RecordedGroup {
  const { live, declared = [], isFoundLater } = seen;
  const made: RecordedGroup = { ...record, id };
  if (live === undefined) return made;
  const shown = findSeen(live, "group", id)?.rules?.filter(
    (rule) => isFoundLater !== true || rule.platform === true || isPlatformShaped(canonicalLiveRule(rule)),
  );
  const known = new Set([...made.rules, ...declared].map((rule) => ruleKey(rule)));
  return { ...made, platformRules: platformRulesBeyond(shown, known) };
}
