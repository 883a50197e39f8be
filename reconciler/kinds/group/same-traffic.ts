/** What sets of rules admit, compared: a rule is one of many ways to write some traffic. */
import { type GroupIdentity, referenceText, ruleKey, ruleOfKey } from "../../core/canonical/rules";
import type { Rule } from "../../core/model/rule";
import { admitsNothing, covers, intersectTraffic, type Traffic, trafficOf } from "./exposure/traffic";

/**
 * The undeclared rules in which a service keeps what is declared and missing, such as two ranges of ports as one: together
 * they admit it, and none of them admits what is not declared. None where they do not admit all of it.
 */
export function otherForms(
  declared: readonly Rule[],
  missing: readonly Rule[],
  undeclared: readonly Rule[],
  identify: GroupIdentity,
): ReadonlySet<Rule> {
  if (missing.length === 0 || undeclared.length === 0) return new Set();
  const all = trafficOf(declared, identify);
  const forms = undeclared.filter((rule) => covers(all, trafficOf([rule], identify)));
  return new Set(covers(trafficOf(forms, identify), trafficOf(missing, identify)) ? forms : []);
}

/** Whether live rules show a rule that was sent in another form. Rules are told by their keys. */
export function isShownOtherwise(asked: string, declared: readonly string[], live: readonly Rule[]): boolean {
  const keys = new Set(declared);
  const undeclared = live.filter((rule) => !keys.has(ruleKey(rule)));
  return otherForms(declared.map(ruleOfKey), [ruleOfKey(asked)], undeclared, referenceText).size > 0;
}

/** Of each rule that goes, the declared ones that share traffic with it. One whose address is not known yet may be any. */
export function declaredBeside(
  going: readonly Rule[],
  declared: readonly Rule[],
  identify: GroupIdentity,
): readonly (readonly Rule[])[] {
  const all = trafficOf(declared, identify);
  const open = declared.filter(({ remote }) => remote.kind === "computed");
  return going.map((rule) => {
    const own = trafficOf([rule], identify);
    if (!isShared(own, all)) return open;
    return declared.filter((one) => open.includes(one) || isShared(own, trafficOf([one], identify)));
  });
}

const isShared = (a: Traffic, b: Traffic): boolean => !admitsNothing(intersectTraffic(a, b));
