/** What `reachability:` asserts. */
import type { AnyPortText, Day, PortNumber, Text } from "./values";

type Icmp = boolean | "any";

/** @minItems 1 */
type SomeParties = Party[];

/** @minItems 1 */
type SomePorts = AssertionPort[];

/** Who: internet (all addresses less private, shared, loopback, link-local and documentation ranges), anywhere (everything), group.KEY, group.* (every group of the file), vm.KEY where its address is known, { id: … } for a group that is not managed here, an address or a CIDR. */
export type Party = Text | { id: Text };

/** One or several. */
export type Parties = Party | SomeParties;

/** A port, a range such as 8000-8010, or any. */
export type AssertionPort = PortNumber | AnyPortText;

/** A port, a range such as 8000-8010, a list of them, or any. */
export type AssertionPorts = AssertionPort | SomePorts;

/** Traffic from somebody to somebody. Left out: any protocol and port. */
export interface Flow {
  /** Who sends. */
  from: Parties;
  /** Who is reached. */
  to: Parties;
  /** TCP ports. */
  tcp?: AssertionPorts;
  /** UDP ports. */
  udp?: AssertionPorts;
  /** true: any ICMP. */
  icmp?: Icmp;
  /** Whose rules are meant: ingress those of `to`, egress those of `from`. Left out: ingress, or egress where `to` is no group. */
  direction?: "ingress" | "egress";
  /** Left out: both. */
  ethertype?: "IPv4" | "IPv6";
}

/** What an assertion says nothing about. */
export interface Exemption {
  /** Who sends. */
  from?: Parties;
  /** Who is reached. */
  to?: Parties;
  /** TCP ports. */
  tcp?: AssertionPorts;
  /** UDP ports. */
  udp?: AssertionPorts;
  /** true: any ICMP. */
  icmp?: Icmp;
}

/** An exception with an end. */
export interface Allowance {
  /** Who sends. */
  from: Parties;
  /** TCP ports. */
  tcp?: AssertionPorts;
  /** UDP ports. */
  udp?: AssertionPorts;
  /** true: any ICMP. */
  icmp?: Icmp;
  /** The last day on which it holds, a year ahead at most: 2026-12-31. */
  until: Day;
  /** Why. */
  reason: Text;
  /** Who takes care of it. */
  owner?: Text;
}

/** What groups must never (never), must always (always) or may only (only) admit: one of the three. @one never always only */
export interface Assertion {
  never?: Flow;
  always?: Flow;
  only?: Flow;
  /** Part of a never: for what all its keys say together it says nothing. */
  except?: Exemption | Exemption[];
  /** Exceptions that end. */
  allow?: Allowance | Allowance[];
  /** Why, for whoever runs into it. */
  because?: Text;
}
