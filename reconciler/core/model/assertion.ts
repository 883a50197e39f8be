/**
 * What the file declares that groups must never, must always, and may only admit. Parties and ports are as read;
 * kinds/group/reachability gives them their exact sets.
 */
import type { Address } from "./address";
import type { SourcePosition } from "./diagnostic";
import type { Reference } from "./reference";
import type { Direction, Ethertype, PortRange } from "./rule";

export type Party =
  | { readonly kind: "internet" }
  | { readonly kind: "anywhere" }
  /** Every group that is managed here. */
  | { readonly kind: "groups" }
  | { readonly kind: "group"; readonly group: Reference }
  | { readonly kind: "cidr"; readonly cidr: string }
  /** Where the address of the VM is known. */
  | { readonly kind: "vm"; readonly address: Address };

export interface ServicePorts {
  readonly protocol: "tcp" | "udp" | "icmp";
  /** Left out: all of them. */
  readonly ports?: PortRange;
}

/** Part of a `never`: for these parties, at these ports, it says nothing. */
export interface Exemption {
  readonly from: readonly Party[];
  readonly to: readonly Party[];
  readonly ports: readonly ServicePorts[];
}

/** A known debt with an end. */
export interface Allowance {
  readonly from: readonly Party[];
  readonly ports: readonly ServicePorts[];
  /** The last day on which it holds: `2026-12-31`, in UTC. */
  readonly until: string;
  readonly reason: string;
  readonly owner?: string;
  readonly source: SourcePosition;
}

export interface Assertion {
  readonly kind: "never" | "always" | "only";
  /** The assertion's name in messages and metrics: `never internet -> group.db tcp 5432`. */
  readonly label: string;
  readonly from: readonly Party[];
  readonly to: readonly Party[];
  /** The reason, where the file gives one. */
  readonly direction?: Direction;
  /** None: any protocol and port. */
  readonly ports: readonly ServicePorts[];
  readonly ethertype?: Ethertype;
  readonly except: readonly Exemption[];
  readonly allow: readonly Allowance[];
  readonly because?: string;
  readonly source: SourcePosition;
}

/** Where a rule of a group is written. */
export interface RulePlace {
  /** The rule's index in the group's list, from 0. */
  readonly index: number;
  readonly source: SourcePosition;
}
