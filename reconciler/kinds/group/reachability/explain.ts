/** One question of who reaches whom, answered by the rules of a file: which admit it, or which one is missing. */

import type { Address } from "../../../core/model/address";
import type { Assertion, Party, ServicePorts } from "../../../core/model/assertion";
import type { Computed } from "../../../core/model/computed";
import { type Desired, isOpen } from "../../../core/model/desired";
import type { Direction } from "../../../core/model/rule";
import { admitsNothing, subtractTraffic } from "../exposure/traffic";
import { admitted, everythingAsked, perhapsAdmitted } from "./admitted";
import { declaredWorld, ruleTexts } from "./findings";
import { createJudge } from "./judge";
import { queriesOf } from "./query";
import { setText } from "./witness";

export interface ReachHalf {
  readonly direction: Direction;
  /** Whose rules are asked. */
  readonly group: Address;
  /**
   * `unknown`: no rule of the file lets all of it out, so the service's own rules decide. A rule whose values were not
   * read (`reads`, `lookups`) may admit what the others do not: `perhaps`.
   */
  readonly answer: "all" | "part" | "none" | "perhaps" | "unknown";
  /** The rules that admit some of it, as the file has them. */
  readonly rules: readonly string[];
  /** The traffic that no rule admits. */
  readonly missing: string;
}

export interface ReachQuestion {
  readonly from: readonly Party[];
  readonly to: readonly Party[];
  readonly ports: readonly ServicePorts[];
}

/** `value`: what is known of the values that rules are made of. */
export function explainReach(
  desired: Desired,
  { from, to, ports }: ReachQuestion,
  value?: (computed: Computed) => string | undefined,
): ReachHalf[] {
  const world = declaredWorld(desired, value);
  const judge = createJudge(world, new Map());
  const texts = ruleTexts(desired, world);
  const assertion: Assertion = {
    kind: "always",
    label: "",
    from,
    to,
    ports,
    except: [],
    allow: [],
    source: { file: "", line: 0 },
  };
  const context = { groups: [...world.facts.keys()], identify: world.identify, addressesOf: () => [], today: "" };
  return queriesOf(assertion, context).map((query): ReachHalf => {
    const facts = judge.group(query.group)?.facts ?? [];
    const its = facts.filter((fact) => !admitsNothing(admitted(judge.traffic([fact]), query)));
    const all = judge.traffic(facts);
    const given = admitted(all, query);
    // A rule is for one family, and whoever asks for a port means whichever it is.
    const used = query.families.filter((family) => !admitsNothing(admitted(all, { ...query, families: [family] })));
    const asked = { ...query, families: used.length === 0 ? query.families : used };
    const missing = subtractTraffic(everythingAsked(asked), given);
    return {
      direction: query.direction,
      group: query.group,
      answer: admitsNothing(missing)
        ? "all"
        : isOpen(desired)
          ? "perhaps"
          : query.direction === "egress"
            ? "unknown"
            : !admitsNothing(given)
              ? "part"
              : admitsNothing(perhapsAdmitted(all, query))
                ? "none"
                : "perhaps",
      rules: its.map(({ rule }) => texts(query.group, rule)),
      missing: setText(missing),
    };
  });
}
