/** A counterexample as one concrete flow: who admits it, from which step on; and the whole set in a few words. */

import type { Ethertype } from "../../../core/model/rule";
import { fewOf } from "../../../core/text/list-text";
import { internet, wellKnown } from "../exposure/address-ranges";
import type { Admission } from "../exposure/describe";
import { describeTraffic } from "../exposure/describe";
import type { Fact } from "../exposure/group-world";
import { addressText, bitsOf, contains, type Intervals, sameIntervals } from "../exposure/intervals";
import { describeSpan, type ProtocolSpan, portPoint, protocolAt } from "../exposure/protocols";
import { admitsNothing, type Space, type Traffic } from "../exposure/traffic";
import { admitted } from "./admitted";
import type { Judge, JudgedAssertion } from "./judge";

/** Its peer is an address or a group. */
export interface WitnessFlow extends Admission {
  readonly span: ProtocolSpan;
  readonly peers: Intervals;
  readonly space: Space;
}

/** An address that people recognise, else the smallest one. */
export function flowIn(traffic: Traffic): WitnessFlow | undefined {
  const entries = [...traffic.values()].sort((a, b) => rank(a.space) - rank(b.space));
  const [first] = entries;
  const slab = first?.slabs[0];
  if (first === undefined || slab === undefined) return undefined;
  const { space } = first;
  const span = flowSpan(slab);
  const address = addressIn(slab.peers, space.family);
  return {
    direction: space.direction,
    ethertype: space.family,
    service: space.word ?? describeSpan(span).join(""),
    peer: space.group ?? addressText(address, bitsOf[space.family]),
    span,
    peers: [{ from: address, to: address }],
    space,
  };
}

const rank = ({ group, family, word }: Space): number =>
  (group === undefined ? 0 : 4) + (family === "IPv4" ? 0 : 2) + (word === undefined ? 0 : 1);

const familiar = [portPoint("tcp", 22), portPoint("tcp", 443), portPoint("tcp", 1), portPoint("udp", 53)];

/** Of a protocol as a whole, a port that a packet may have; of one that people know no port of, all of it. */
export function flowSpan(span: ProtocolSpan): ProtocolSpan {
  const protocol = protocolAt(span);
  if (protocol === undefined) return { from: span.from, to: span.from };
  const known = familiar.find((point) => span.from <= point && point <= span.to);
  return known === undefined ? protocol : { from: known, to: known };
}

const addressIn = (peers: Intervals, family: Ethertype): bigint => {
  const known = wellKnown[family];
  return contains(peers, { from: known, to: known }) ? known : (peers[0]?.from ?? 0n);
};

/** The rules of the group that admit the flow, at any moment. */
export function admitting(flow: WitnessFlow, { query }: Pick<JudgedAssertion, "query">, judge: Judge): Fact[] {
  const { space, span, peers } = flow;
  const asked = {
    direction: space.direction,
    families: [space.family],
    spans: { IPv4: [span], IPv6: [span] },
    peers: {
      addresses: space.group === undefined ? { IPv4: peers, IPv6: peers } : { IPv4: [], IPv6: [] },
      groups: { allBut: false, names: new Set(space.group === undefined ? [] : [space.group]) },
    },
    named: space.group === undefined ? [] : [space.group],
  };
  return (judge.group(query.group)?.facts ?? []).filter(
    (fact) => !admitsNothing(admitted(judge.traffic([fact]), asked)),
  );
}

const mostParts = 4;

/** `tcp 5432 from internet (IPv4)`. */
export function setText(traffic: Traffic): string {
  const parts: string[] = [];
  for (const [key, entry] of traffic) {
    const { space, slabs } = entry;
    const whole = space.group === undefined && slabs.every(({ peers }) => sameIntervals(peers, internet[space.family]));
    if (whole) {
      const way = space.direction === "ingress" ? "from" : "to";
      for (const slab of slabs)
        for (const service of describeSpan(slab)) parts.push(`${service} ${way} internet (${space.family})`);
      continue;
    }
    for (const { service, peer, direction, ethertype } of describeTraffic(new Map([[key, entry]])))
      parts.push(
        `${service} ${direction === "ingress" ? "from" : "to"} ${peer}${space.group === undefined && peer.includes("/") ? "" : ` (${ethertype})`}`,
      );
  }
  return fewOf(parts, mostParts);
}
