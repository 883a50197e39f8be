/** What sets of rules admit, compared: a rule is one of many ways to write some traffic. */
import type { GroupIdentity } from "../../core/canonical/rules";
import type { Rule } from "../../core/model/rule";
import { admitsNothing, covers, intersectTraffic, type Traffic, trafficOf } from "./exposure/traffic";

/** The same traffic, in other rules. */
export function admitTheSame(a: readonly Rule[], b: readonly Rule[], identify: GroupIdentity): boolean {
  const [one, other] = [trafficOf(a, identify), trafficOf(b, identify)];
  return covers(one, other) && covers(other, one);
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
