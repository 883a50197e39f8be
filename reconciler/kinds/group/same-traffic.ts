/** What sets of rules admit, compared: a rule is one of many ways to write some traffic. */
import { type GroupIdentity, referenceText, ruleKey, ruleOfKey } from "../../core/canonical/rules";
import type { Rule } from "../../core/model/rule";
import { admitsNothing, covers, intersectTraffic, type Traffic, trafficOf } from "./exposure/traffic";

interface OtherForms {
  /** Of what is declared and missing, what undeclared rules admit all the same. */
  readonly held: ReadonlySet<Rule>;
  readonly forms: ReadonlySet<Rule>;
}

/**
 * The undeclared rules in which a service keeps what is declared and missing, such as two ranges of ports as one: none of
 * them admits what is not declared.
 */
export function otherForms(
  declared: readonly Rule[],
  missing: readonly Rule[],
  undeclared: readonly Rule[],
  identify: GroupIdentity,
): OtherForms {
  if (missing.length === 0 || undeclared.length === 0) return { held: new Set(), forms: new Set() };
  const all = trafficOf(declared, identify);
  const within = undeclared.filter((rule) => covers(all, trafficOf([rule], identify)));
  const admitted = trafficOf(within, identify);
  const isHeld = (rules: readonly Rule[]): boolean => covers(admitted, trafficOf(rules, identify));
  const held = isHeld(missing) ? missing : missing.filter((rule) => isHeld([rule]));
  const wanted = trafficOf(held, identify);
  return {
    held: new Set(held),
    forms: new Set(within.filter((rule) => isShared(trafficOf([rule], identify), wanted))),
  };
}

/** Of declared rules those that live rules show, as they are or in another form. Rules are told by their keys. */
export function shownAmong(declared: readonly string[], live: readonly Rule[]): ReadonlySet<string> {
  const shown = new Set(live.map((rule) => ruleKey(rule)));
  const asked = new Set(declared);
  const undeclared = live.filter((rule) => !asked.has(ruleKey(rule)));
  const missing = declared.filter((key) => !shown.has(key)).map(ruleOfKey);
  const { held } = otherForms(declared.map(ruleOfKey), missing, undeclared, referenceText);
  return new Set([...declared.filter((key) => shown.has(key)), ...[...held].map((rule) => ruleKey(rule))]);
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
