/** What of a question some rules admit: for certain, and perhaps, where only the addresses of a group's members would tell. */

import type { Ethertype } from "../../../core/model/rule";
import { everyAddress, type Intervals, intersect } from "../exposure/intervals";
import { type ProtocolSpan, wholeLine } from "../exposure/protocols";
import {
  everyMember,
  noTraffic,
  type Slab,
  type Space,
  subtractTraffic,
  type Traffic,
  trafficOfParts,
} from "../exposure/traffic";
import { hasGroup, isWholeFamily, type LeftOut, mayHoldMembers, type Peers, type ReachQuery } from "./query";

type Asked = Pick<ReachQuery, "direction" | "families" | "spans" | "peers" | "named">;

/** Exact: every flow of it is asked for and admitted. */
export function admitted(traffic: Traffic, asked: Asked): Traffic {
  const found = new Map<string, { space: Space; slabs: readonly Slab[] }>();
  const members: { space: Space; slab: Slab }[] = [];
  for (const [key, { space, slabs }] of traffic) {
    const { family } = space;
    if (space.direction !== asked.direction || !asked.families.includes(family)) continue;
    const spans = spansFor(space, asked.spans[family]);
    const allowed = peersFor(space, asked.peers);
    if (allowed.length > 0) {
      const its = cut(slabs, spans, (peers) => intersectionOf(peers, allowed, family));
      if (its.length > 0) found.set(key, { space, slabs: its });
    }
    // A rule that admits every address of a family admits the members of any group.
    if (space.group === undefined && space.word === undefined && asked.named.length > 0)
      for (const slab of cut(slabs, spans, (peers) => (isWholeFamily(peers, family) ? everyMember : [])))
        for (const group of asked.named) members.push({ space: { ...space, group }, slab });
  }
  if (members.length === 0) return found;
  for (const { space, slabs } of found.values()) for (const slab of slabs) members.push({ space, slab });
  return trafficOfParts(members);
}

/** Traffic that may be admitted beyond that: it depends on addresses that no rule shows. */
export function perhapsAdmitted(traffic: Traffic, asked: Asked): Traffic {
  const parts: { space: Space; slab: Slab }[] = [];
  for (const { space, slabs } of traffic.values()) {
    const { family, group } = space;
    if (space.direction !== asked.direction || !asked.families.includes(family)) continue;
    const spans = spansFor(space, asked.spans[family]);
    if (group === undefined) {
      if (asked.named.length === 0) continue;
      for (const slab of cut(slabs, spans, (peers) => (isWholeFamily(peers, family) ? [] : everyMember)))
        for (const name of asked.named) parts.push({ space: { ...space, group: name }, slab });
      continue;
    }
    const addresses = asked.peers.addresses[family];
    const depends =
      !hasGroup(asked.peers.groups, group) &&
      (space.isOpaque === true
        ? addresses.length > 0 || asked.named.length > 0
        : mayHoldMembers(addresses, family) && !asked.peers.groups.allBut);
    if (depends) for (const slab of cut(slabs, spans, () => everyMember)) parts.push({ space, slab });
  }
  return parts.length === 0 ? noTraffic : trafficOfParts(parts);
}

/** The whole question, as traffic. */
export function everythingAsked({ direction, families, spans, peers, named }: Asked): Traffic {
  const parts: { space: Space; slab: Slab }[] = [];
  for (const family of families)
    for (const span of spans[family]) {
      const addresses = peers.addresses[family];
      if (addresses.length > 0) parts.push({ space: { direction, family }, slab: { ...span, peers: addresses } });
      for (const group of named)
        parts.push({ space: { direction, family, group }, slab: { ...span, peers: everyMember } });
    }
  return trafficOfParts(parts);
}

export function withoutParts(
  traffic: Traffic,
  { direction, families }: ReachQuery,
  parts: readonly LeftOut[],
): Traffic {
  if (traffic.size === 0) return traffic;
  return parts.reduce(
    (left, { spans, peers }) => subtractTraffic(left, admitted(left, { direction, families, spans, peers, named: [] })),
    traffic,
  );
}

/** A protocol word without a number is somewhere on the line: only a question about all of it is about that word. */
const spansFor = (space: Space, spans: readonly ProtocolSpan[]): readonly ProtocolSpan[] =>
  space.word === undefined || (spans[0]?.from === wholeLine.from && spans[0].to === wholeLine.to) ? spans : [];

const peersFor = ({ group, family }: Space, { addresses, groups }: Peers): Intervals =>
  group === undefined ? addresses[family] : hasGroup(groups, group) ? everyMember : [];

const known = new WeakMap<Intervals, WeakMap<Intervals, Intervals>>();

/** The same few sets of peers meet the same rules in every assertion. */
function intersectionOf(peers: Intervals, allowed: Intervals, family: Ethertype): Intervals {
  if (allowed === everyAddress[family] || allowed === everyMember || peers === allowed) return peers;
  const its = known.get(allowed) ?? new WeakMap<Intervals, Intervals>();
  const met = its.get(peers) ?? intersect(peers, allowed);
  its.set(peers, met);
  known.set(allowed, its);
  return met;
}

/** The stretches of the slabs within the spans, with what is left of their peers. */
function cut(
  slabs: readonly Slab[],
  spans: readonly ProtocolSpan[],
  peersLeft: (peers: Intervals) => Intervals,
): Slab[] {
  const kept: Slab[] = [];
  for (const span of spans)
    for (let index = firstReaching(slabs, span.from); index < slabs.length; index++) {
      const slab = slabs[index];
      if (slab === undefined || slab.from > span.to) break;
      const peers = peersLeft(slab.peers);
      if (peers.length > 0) kept.push({ from: Math.max(slab.from, span.from), to: Math.min(slab.to, span.to), peers });
    }
  return kept;
}

function firstReaching(slabs: readonly Slab[], point: number): number {
  let low = 0;
  let high = slabs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((slabs[middle]?.to ?? 0) < point) low = middle + 1;
    else high = middle;
  }
  return low;
}
