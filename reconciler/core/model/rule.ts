/**
 * One rule of a group in canonical form. Two rules admit the same traffic exactly when their keys are equal
 * (canonical/rules.ts makes the key); the description is a remark and not part of what a rule is.
 */
import type { Address } from "./address";
import type { PlacedText, Text } from "./computed";
import type { Reference } from "./reference";

export type Direction = "ingress" | "egress";
export type Ethertype = "IPv4" | "IPv6";

export interface PortRange {
  readonly min: number;
  readonly max: number;
}

/** Whom a rule admits, as `remote_ip` says it. `undefined`: it names a group. */
export function remoteIpOf({ remote, ethertype }: Pick<Rule, "remote" | "ethertype">): Text | undefined {
  switch (remote.kind) {
    case "any":
      return ethertype === "IPv6" ? "::/0" : "0.0.0.0/0";
    case "cidr":
      return remote.cidr;
    case "computed":
      return remote.text;
    case "group":
      return undefined;
  }
}

/** One port is a number. */
export const portsWritten = ({ min, max }: PortRange): number | string => (min === max ? min : `${min}-${max}`);

export type RuleRemote =
  | { readonly kind: "any" }
  | { readonly kind: "cidr"; readonly cidr: string }
  | { readonly kind: "group"; readonly group: Reference }
  /** An IP address that is not known yet. `family`: the file names the family, and no other one will do. */
  | { readonly kind: "computed"; readonly text: PlacedText; readonly family?: Ethertype };

export interface Rule {
  readonly direction: Direction;
  readonly ethertype: Ethertype;
  /** Lower case; `any` when none is named. */
  readonly protocol: string;
  /** `undefined`: all ports. */
  readonly ports?: PortRange;
  readonly remote: RuleRemote;
  readonly description?: Text;
}

/** The group that the rule names. */
export const groupNamed = ({ remote }: Pick<Rule, "remote">): Reference | undefined =>
  "group" in remote ? remote.group : undefined;

export function groupIdNamed(rule: Pick<Rule, "remote">): string | undefined {
  const named = groupNamed(rule);
  return named !== undefined && "id" in named ? named.id : undefined;
}

export function groupAddressNamed(rule: Pick<Rule, "remote">): Address | undefined {
  const named = groupNamed(rule);
  return named !== undefined && "address" in named ? named.address : undefined;
}

/** The rule with the group that it names written in another way; one that names none as it is. */
export function namingGroup(rule: Rule, rename: (named: Reference) => Reference): Rule {
  const named = groupNamed(rule);
  return named === undefined ? rule : { ...rule, remote: { kind: "group", group: rename(named) } };
}
