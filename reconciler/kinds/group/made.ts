/** The record of a group that a create has made. */
import { canonicalLiveRule, ruleKey } from "../../core/canonical/rules";
import { findSeen, type LiveRule } from "../../core/model/live";
import type { RecordedGroup, RecordToMake } from "../../core/model/recorded";
import type { SeenMade } from "../../core/plan/records";
import { isPlatformShaped, platformRulesBeyond } from "./compare-rules";

/** Rules that were neither sent nor declared were put there by the service itself: they stay. */
export function groupMade(record: RecordToMake<"group">, id: string, seen: SeenMade): RecordedGroup {
  const { live, declared = [], isFoundLater } = seen;
  const made: RecordedGroup = { ...record, id };
  if (live === undefined) return made;
  const rules = findSeen(live, "group", id)?.rules;
  const isOthers = (rule: LiveRule): boolean =>
    isFoundLater === true && rule.platform !== true && !isPlatformShaped(canonicalLiveRule(rule));
  const others = [...declared, ...(rules ?? []).filter(isOthers).map(canonicalLiveRule)].map((rule) => ruleKey(rule));
  const beyond = platformRulesBeyond(rules, new Set(made.rules.map((rule) => ruleKey(rule))));
  return { ...made, platformRules: beyond.filter((key) => !others.includes(key)) };
}
