/**
 * An assertion as exact questions to the rules of one group each: which direction, which ports, which peers. A group as
 * a peer is known by its name alone, since who is a member is not for rules to say.
 */

import type { Address } from "../../../core/model/address";
import type { Allowance, Assertion, Party, ServicePorts } from "../../../core/model/assertion";
import { allOfKind } from "../../../core/model/kinds";
import type { Reference } from "../../../core/model/reference";
import type { Direction, Ethertype } from "../../../core/model/rule";
import { internet } from "../exposure/address-ranges";
import {
  addressText,
  bitsOf,
  everyAddress,
  type Intervals,
  intersect,
  intervalOf,
  normalize,
  sameIntervals,
  subtract,
  unite,
} from "../exposure/intervals";
import { type ProtocolSpan, spanOf, wholeLine } from "../exposure/protocols";
import { unknownAddressOf } from "../exposure/traffic";

export const families = ["IPv4", "IPv6"] as const satisfies readonly Ethertype[];

/** The groups named, or all groups but these. */
export interface GroupSet {
  readonly allBut: boolean;
  readonly names: ReadonlySet<string>;
}

export interface Peers {
  readonly addresses: Readonly<Record<Ethertype, Intervals>>;
  readonly groups: GroupSet;
}

export interface ReachQuery {
  readonly assertion: Assertion;
  /** Whose rules are asked. */
  readonly group: Address;
  readonly direction: Direction;
  readonly families: readonly Ethertype[];
  readonly spans: Readonly<Record<Ethertype, readonly ProtocolSpan[]>>;
  readonly peers: Peers;
  /** Groups that are named as peers: which addresses their members have is not for rules to say. */
  readonly named: readonly string[];
  /** Parties whose addresses are not known. */
  readonly unknown: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** What an exception takes out of a question: for good, or until its day. */
export interface LeftOut {
  readonly allowance?: Allowance;
  readonly expired: boolean;
  readonly peers: Peers;
  readonly spans: Readonly<Record<Ethertype, readonly ProtocolSpan[]>>;
}

export interface QueryContext {
  /** Every group that is managed here, by address. */
  readonly groups: readonly Address[];
  readonly identify: (group: Reference) => string;
  /** What is known of the addresses of a VM, as CIDRs: the private one first. */
  readonly addressesOf: (vm: Address) => readonly string[];
  /** VMs that get another address by the plan. */
  readonly madeAnew?: ReadonlySet<Address> | undefined;
  /** Today, in UTC: `2026-01-31`. */
  readonly today: string;
}

const noGroups: GroupSet = { allBut: false, names: new Set() };
const noPeers: Peers = { addresses: { IPv4: [], IPv6: [] }, groups: noGroups };
const everyPeer: Peers = { addresses: everyAddress, groups: { allBut: true, names: new Set() } };

export const hasGroup = ({ allBut, names }: GroupSet, name: string): boolean => names.has(name) !== allBut;

function minusGroups(a: GroupSet, b: GroupSet): GroupSet {
  if (!b.allBut) {
    if (a.allBut) return { allBut: true, names: new Set([...a.names, ...b.names]) };
    return { allBut: false, names: new Set([...a.names].filter((name) => !b.names.has(name))) };
  }
  // After all but some are taken away, what is left is among those some.
  return { allBut: false, names: new Set([...b.names].filter((name) => hasGroup(a, name))) };
}

const mapFamilies = <T>(make: (family: Ethertype) => T): Record<Ethertype, T> => ({
  IPv4: make("IPv4"),
  IPv6: make("IPv6"),
});

const minusPeers = (a: Peers, b: Peers): Peers => ({
  addresses: mapFamilies((family) => subtract(a.addresses[family], b.addresses[family])),
  groups: minusGroups(a.groups, b.groups),
});

const unitePeers = (a: Peers, b: Peers): Peers => ({
  addresses: mapFamilies((family) => unite(a.addresses[family], b.addresses[family])),
  groups:
    a.groups.allBut || b.groups.allBut
      ? minusGroups(everyPeer.groups, minusGroups(minusGroups(everyPeer.groups, a.groups), b.groups))
      : { allBut: false, names: new Set([...a.groups.names, ...b.groups.names]) },
});

/** A member of a group has one address of the project's networks: not one of the internet. */
export const mayHoldMembers = (addresses: Intervals, family: Ethertype): boolean =>
  addresses.length > 0 && addresses !== internet[family] && subtract(addresses, internet[family]).length > 0;

export const isWholeFamily = (peers: Intervals, family: Ethertype): boolean =>
  sameIntervals(peers, everyAddress[family]);

export const peersOf = (parties: readonly Party[], context: QueryContext): Peers =>
  parties.reduce((peers, party) => unitePeers(peers, peersOfOne(party, context)), noPeers);

function peersOfOne(party: Party, { identify, addressesOf }: QueryContext): Peers {
  switch (party.kind) {
    case "anywhere":
      return everyPeer;
    case "internet":
      return { addresses: internet, groups: noGroups };
    case "groups":
      return { addresses: noPeers.addresses, groups: everyPeer.groups };
    case "group":
      return { addresses: noPeers.addresses, groups: { allBut: false, names: new Set([identify(party.group)]) } };
    case "cidr":
      return { addresses: addressesIn([party.cidr]), groups: noGroups };
    case "vm":
      return {
        addresses: addressesIn(addressesOf(party.address)),
        groups: { allBut: false, names: new Set(unknownNamesOf(party.address)) },
      };
  }
}

/**
 * The peers that a party is named as: a group, or a VM while its address is not known. All groups must be admitted one
 * by one; a rule that admits whoever there is, and must not, admits any of them, which is told once.
 */
function namesOf(
  party: Party,
  kind: Assertion["kind"],
  { groups, identify, addressesOf }: QueryContext,
): readonly string[] {
  if (party.kind === "group") return [identify(party.group)];
  if (party.kind === "groups") return kind === "always" ? groups : ["group.*"];
  return party.kind === "vm" && addressesOf(party.address).length === 0 ? [unknownAddressOf(party.address, false)] : [];
}

const unknownNamesOf = (vm: Address): readonly string[] => [unknownAddressOf(vm, false), unknownAddressOf(vm, true)];

const addressesIn = (cidrs: readonly string[]): Record<Ethertype, Intervals> =>
  mapFamilies((family) =>
    normalize(cidrs.flatMap((cidr) => (cidr.includes(":") === (family === "IPv6") ? (intervalOf(cidr) ?? []) : []))),
  );

export function spansOf(ports: readonly ServicePorts[], ethertype: Ethertype): readonly ProtocolSpan[] {
  if (ports.length === 0) return [wholeLine];
  const spans = ports.flatMap((one) => spanOf({ ...one, ethertype }) ?? []);
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

export function queriesOf(assertion: Assertion, known: QueryContext): ReachQuery[] {
  // A VM that is to be admitted is so by the address that it has in the network, as is one whose address is not known.
  const context: QueryContext =
    assertion.kind === "always" ? { ...known, addressesOf: (vm) => known.addressesOf(vm).slice(0, 1) } : known;
  const halves = halvesOf(assertion, context);
  return halves.flatMap(({ direction, subjects, others }) => {
    const { except, allow } = assertion;
    const part = (peers: Peers, ports: readonly ServicePorts[]): LeftOut => ({
      peers,
      spans: mapFamilies((family) => spansOf(ports, family)),
      expired: false,
    });
    const exemptions = except.map(({ from, to, ports }) => {
      const [own, peers] = direction === "ingress" ? [to, from] : [from, to];
      return {
        isOf: (group: Address) => own.length === 0 || groupsOf(own, context).includes(group),
        isWhole: own.length > 0 && peers.length === 0 && ports.length === 0,
        part: part(peers.length === 0 ? everyPeer : peersOf(peers, context), ports),
      };
    });
    const allowed = allow.map((allowance) => ({
      ...part(peersOf(allowance.from, context), allowance.ports),
      allowance,
      expired: allowance.until < context.today,
    }));
    const spans = mapFamilies((family) => spansOf(assertion.ports, family));
    return subjects
      .filter((group) => !exemptions.some(({ isOf, isWhole }) => isWhole && isOf(group)))
      .map((group) => ({
        assertion,
        group,
        direction,
        families:
          assertion.ethertype !== undefined
            ? [assertion.ethertype]
            : // Whom an only does not name, of either family, it forbids.
              assertion.kind === "only"
              ? families
              : familiesOf(others),
        spans,
        peers: assertion.kind === "only" ? minusPeers(everyPeer, peersOf(others, context)) : peersOf(others, context),
        named: assertion.kind === "only" ? [] : others.flatMap((party) => namesOf(party, assertion.kind, context)),
        unknown: allOfKind(others, "vm").flatMap((party) =>
          context.addressesOf(party.address).length === 0 || context.madeAnew?.has(party.address) === true
            ? [party.address]
            : [],
        ),
        leftOut: [...exemptions.filter(({ isOf }) => isOf(group)).map(({ part }) => part), ...allowed],
      }));
  });
}

/** A range of addresses has one family. */
function familiesOf(parties: readonly Party[]): readonly Ethertype[] {
  const said = parties.map((party) =>
    party.kind === "cidr" ? [party.cidr.includes(":") ? "IPv6" : "IPv4"] : families,
  );
  return families.filter((family) => said.some((some) => some.includes(family)));
}

interface Half {
  readonly direction: Direction;
  readonly subjects: readonly Address[];
  readonly others: readonly Party[];
}

export const isGroupParty = ({ kind }: Party): boolean => kind === "group" || kind === "groups";

/** Whose rules say it: those of who is reached, unless egress is asked for; `always` between groups needs both. */
function halvesOf({ kind, from, to, direction }: Assertion, context: QueryContext): Half[] {
  const ingress: Half = { direction: "ingress", subjects: groupsOf(to, context), others: from };
  const egress: Half = { direction: "egress", subjects: groupsOf(from, context), others: to };
  if (direction !== undefined) return [direction === "ingress" ? ingress : egress];
  if (!to.some(isGroupParty)) return [egress];
  return kind === "always" && from.some(isGroupParty) ? [ingress, { ...egress, others: to }] : [ingress];
}

function groupsOf(parties: readonly Party[], { groups, identify }: QueryContext): Address[] {
  const known = new Set(groups);
  return [
    ...new Set(
      parties.flatMap((party) =>
        party.kind === "groups"
          ? groups
          : party.kind === "group" && known.has(identify(party.group))
            ? [identify(party.group)]
            : [],
      ),
    ),
  ];
}

/** What two questions to the same group have in common: an address as a number, or a group. */
export function overlapOf(
  must: ReachQuery,
  not: ReachQuery,
): { readonly family: Ethertype; readonly span: ProtocolSpan; readonly peer: string } | undefined {
  if (must.group !== not.group || must.direction !== not.direction) return undefined;
  for (const family of must.families)
    for (const one of not.families.includes(family) ? must.spans[family] : [])
      for (const other of not.spans[family]) {
        const common = { from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) };
        for (const span of cutByExceptions(common, not, family)) {
          const left = leftAt(not, family, span);
          const [first] = intersect(must.peers.addresses[family], left.addresses[family]);
          if (first !== undefined) return { family, span, peer: addressText(first.from, bitsOf[family]) };
          const named = must.named.find((name) => hasGroup(left.groups, name));
          if (named !== undefined) return { family, span, peer: named };
        }
      }
  return undefined;
}

/** The span in parts, each of which an exception covers as a whole or not at all. */
function cutByExceptions({ from, to }: ProtocolSpan, { leftOut }: ReachQuery, family: Ethertype): ProtocolSpan[] {
  if (from > to) return [];
  const ends = leftOut.flatMap(({ spans }) => spans[family].flatMap((span) => [span.from - 1, span.to]));
  const cuts = [...new Set(ends)].filter((end) => from <= end && end < to).sort((a, b) => a - b);
  return [...cuts, to].map((end, index) => ({ from: (cuts[index - 1] ?? from - 1) + 1, to: end }));
}

/** Whom it is about at these ports, less those whom an exception lets through at all of them. */
const leftAt = ({ peers, leftOut }: ReachQuery, family: Ethertype, span: ProtocolSpan): Peers =>
  leftOut
    .filter((part) => !part.expired && part.spans[family].some(({ from, to }) => from <= span.from && span.to <= to))
    .reduce((left, part) => minusPeers(left, part.peers), peers);
