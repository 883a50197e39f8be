/** Assertions that the rules of a file keep as they are: what `pull --assert` writes for somebody to prune. */

import type { Assertion, Party, ServicePorts } from "../../../core/model/assertion";
import type { Desired, DesiredGroup } from "../../../core/model/desired";
import { allOfKind } from "../../../core/model/kinds";
import type { Rule } from "../../../core/model/rule";
import { appendTo } from "../../../core/text/objects";

export interface Proposed {
  readonly kind: "never" | "only";
  readonly from: readonly Party[];
  readonly to: Party;
  readonly ports: readonly ServicePorts[];
}

const mostPeers = 8;
const administration: readonly ServicePorts[] = [22, 3389].map((port) => ({
  protocol: "tcp",
  ports: { min: port, max: port },
}));

export function proposeAssertions(desired: Desired, holds: (assertion: Assertion) => boolean): Proposed[] {
  const groups = allOfKind(desired.resources, "group");
  const proposed: Proposed[] = [
    {
      kind: "never" as const,
      from: [{ kind: "internet" as const }],
      to: { kind: "groups" as const },
      ports: administration,
    },
    ...groups.flatMap((group): Proposed[] => [
      { kind: "never", from: [{ kind: "internet" }], to: partyOf(group), ports: [] },
      ...onlyOf(group),
    ]),
  ];
  return proposed.filter((one) => holds(assertionOf(one)));
}

const partyOf = ({ address }: DesiredGroup): Party => ({ kind: "group", group: { address } });

/** One for each port that a few are admitted to. */
function onlyOf(group: DesiredGroup): Proposed[] {
  const byPort = new Map<string, Rule[]>();
  for (const rule of group.rules)
    if (
      rule.direction === "ingress" &&
      rule.ports !== undefined &&
      (rule.protocol === "tcp" || rule.protocol === "udp")
    ) {
      const key = `${rule.protocol} ${rule.ports.min}-${rule.ports.max}`;
      appendTo(byPort, key, rule);
    }
  return [...byPort.values()].flatMap((rules): Proposed[] => {
    const [first] = rules;
    const from = rules.flatMap(({ remote }): Party[] =>
      remote.kind === "group" ? [{ kind: "group", group: remote.group }] : remote.kind === "cidr" ? [remote] : [],
    );
    if (first?.ports === undefined || from.length !== rules.length || from.length > mostPeers) return [];
    const protocol = first.protocol === "udp" ? "udp" : "tcp";
    return [{ kind: "only", from, to: partyOf(group), ports: [{ protocol, ports: first.ports }] }];
  });
}

const assertionOf = ({ kind, from, to, ports }: Proposed): Assertion => ({
  kind,
  label: kind,
  from,
  to: [to],
  ports,
  except: [],
  allow: [],
  source: { file: "", line: 0 },
});
