/**
 * Traffic in the words of rules. A set of traffic is told as its largest rectangles (a stretch of ports with a stretch
 * of addresses), which may overlap as rules do, so that `any protocol from 10.0.0.0/8` is not cut in two by a
 * `tcp 22 from anywhere` beside it.
 */

import type { Direction, Ethertype } from "../../../core/model/rule";
import { itemAt } from "../../../core/text/invariant";
import {
  bitsOf,
  cidrsOf,
  contains,
  everyAddress,
  type Interval,
  type Intervals,
  lastAddress,
  sameIntervals,
  subtract,
} from "./intervals";
import { describeSpan, type ProtocolSpan } from "./protocols";
import type { Slab, Traffic } from "./traffic";

export interface Admission {
  readonly direction: Direction;
  readonly ethertype: Ethertype;
  /** `tcp 22`, `udp 6000-6100`, `icmp`, `any protocol`. */
  readonly service: string;
  /** `anywhere`, `anywhere except 10.0.0.0/8`, a CIDR, or a group. */
  readonly peer: string;
}

export function describeTraffic(traffic: Traffic): Admission[] {
  const admissions: Admission[] = [];
  for (const { space, slabs } of traffic.values()) {
    const { direction, family: ethertype, group, word } = space;
    for (const { span, peers } of rectangles(slabs, group === undefined ? ethertype : undefined)) {
      const named = group !== undefined ? [group] : typeof peers === "string" ? [peers] : peersText(peers, ethertype);
      for (const service of word === undefined ? describeSpan(span) : [word])
        for (const peer of named) admissions.push({ direction, ethertype, service, peer });
    }
  }
  return admissions;
}

export const admissionText = ({ direction, ethertype, service, peer }: Admission): string =>
  `${service} ${direction === "ingress" ? "from" : "to"} ${peer === "anywhere" ? `anywhere (${ethertype})` : peer}`;

const peersText = (peers: Interval, family: Ethertype): string[] =>
  sameIntervals([peers], everyAddress[family]) ? ["anywhere"] : cidrsOf(peers, family);

interface Rectangle {
  readonly span: ProtocolSpan;
  readonly peers: Interval | string;
}

/** `family`: of which the peers are addresses. */
function rectangles(slabs: readonly Slab[], family?: Ethertype): Rectangle[] {
  const found: Rectangle[] = [];
  const seen = new Set<string>();
  let told = false;
  slabs.forEach((slab, index) => {
    const before = told ? undefined : slabs[index - 1];
    const exception = family === undefined ? undefined : exceptionText(slab, family);
    told = exception !== undefined;
    if (exception !== undefined) {
      found.push({ span: slab, peers: exception });
      return;
    }
    for (const peers of slab.peers) {
      // The slab before has the very same stretch of peers: its rectangle reaches over this slab too.
      const reached =
        before !== undefined &&
        before.to + 1 === slab.from &&
        before.peers.some(({ from, to }) => from === peers.from && to === peers.to);
      if (reached) continue;
      const span = reach(slabs, index, peers);
      const key = `${span.from} ${span.to} ${peers.from} ${peers.to}`;
      if (!seen.has(key)) found.push({ span, peers });
      seen.add(key);
    }
  });
  return found;
}

/** Nearly everybody is described by who is left out, where that is shorter. */
function exceptionText({ peers }: Slab, family: Ethertype): string | undefined {
  const last = lastAddress(bitsOf[family]);
  const ends = peers[0]?.from === 0n || peers.at(-1)?.to === last;
  if (!ends || peers.length > mostExceptions + 1) return undefined;
  const cidrs = (set: Intervals): string[] => set.flatMap((interval) => cidrsOf(interval, family));
  const out = cidrs(subtract(everyAddress[family], peers));
  return out.length > 0 && out.length <= mostExceptions && out.length < cidrs(peers).length
    ? `anywhere except ${out.join(", ")}`
    : undefined;
}
const mostExceptions = 3;

/** How far along the line all of these peers are admitted without a gap. */
function reach(slabs: readonly Slab[], index: number, peers: Interval): ProtocolSpan {
  let first = index;
  while (
    first > 0 &&
    itemAt(slabs, first - 1).to + 1 === itemAt(slabs, first).from &&
    contains(itemAt(slabs, first - 1).peers, peers)
  )
    first--;
  let last = index;
  while (
    last + 1 < slabs.length &&
    itemAt(slabs, last).to + 1 === itemAt(slabs, last + 1).from &&
    contains(itemAt(slabs, last + 1).peers, peers)
  )
    last++;
  return { from: itemAt(slabs, first).from, to: itemAt(slabs, last).to };
}
