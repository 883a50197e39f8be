/**
 * What a set of rules admits, as an exact set of (direction, peer, protocol, port): for each space of peers (IPv4,
 * IPv6, or one group whose members are not known) slabs along the line of protocols and ports, each with its set of
 * addresses. Slabs are sorted, disjoint and merged, so that equal traffic is an equal value.
 */

import { computedIn, type OpenText, textKey } from "../../../core/model/computed";
import type { Reference } from "../../../core/model/desired";
import type { Direction, Ethertype, Rule } from "../../../core/model/rule";
import { itemAt } from "../../../core/text/invariant";
import {
  everyAddress,
  type Interval,
  type Intervals,
  intersect,
  intervalOf,
  normalize,
  sameIntervals,
  subtract,
  unite,
} from "./intervals";
import { type ProtocolSpan, spanOf, wholeLine } from "./protocols";

export interface Slab extends ProtocolSpan {
  readonly peers: Intervals;
}

export interface Space {
  readonly direction: Direction;
  readonly family: Ethertype;
  /** A group or another set of peers that only the service can resolve; left out: addresses. */
  readonly group?: string;
  /** The peers are no group: an address group of the service, or an address that is not known yet and may be any. */
  readonly isOpaque?: boolean;
  /** Of an address that is not known yet: the network around it, as the length of its prefix. */
  readonly network?: number | undefined;
  /** A protocol word without a number stands for itself. */
  readonly word?: string;
}

/** By the text of the space. */
export type Traffic = ReadonlyMap<string, { readonly space: Space; readonly slabs: readonly Slab[] }>;

export const noTraffic: Traffic = new Map();
export const everyMember: Intervals = [{ from: 0n, to: 0n }];

/** Parts in any order, as traffic. */
export function trafficOfParts(parts: Iterable<{ readonly space: Space; readonly slab: Slab }>): Traffic {
  const drafts = new Map<string, { space: Space; parts: Slab[] }>();
  for (const { space, slab } of parts) {
    const key = spaceKey(space);
    const draft = drafts.get(key);
    if (draft === undefined) drafts.set(key, { space, parts: [slab] });
    else draft.parts.push(slab);
  }
  const sorted = [...drafts].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([key, { space, parts }]) => [key, { space, slabs: slabsAlong(parts) }]));
}

const spaceKey = ({ direction, family, group, word }: Space): string =>
  `${direction} ${family} ${group ?? ""} ${word ?? ""}`;

/** `identify` gives a group the name under which all its ids are one. */
export const trafficOf = (rules: Iterable<Rule>, identify: (group: Reference) => string): Traffic =>
  trafficOfParts([...rules].map((rule) => partOfTraffic(rule, identify)));

/** A record of an earlier version may have a range under the other family, where the service showed none. */
const familyOfRange = (cidr: string): Ethertype => (cidr.includes(":") ? "IPv6" : "IPv4");

function partOfTraffic(
  rule: Rule,
  identify: (group: Reference) => string,
): { readonly space: Space; readonly slab: Slab } {
  const { direction, ethertype: family, remote } = rule;
  const span = spanOf(rule);
  const line = span ?? wholeLine;
  const space: Space = { direction, family, word: span === undefined ? rule.protocol : undefined };
  switch (remote.kind) {
    case "any":
      return { space, slab: { ...line, peers: everyAddress[family] } };
    case "cidr": {
      const interval = intervalOf(remote.cidr);
      return interval === undefined
        ? { space: { ...space, group: remote.cidr, isOpaque: true }, slab: { ...line, peers: everyMember } }
        : { space: { ...space, family: familyOfRange(remote.cidr) }, slab: { ...line, peers: [interval] } };
    }
    case "group":
      return { space: { ...space, group: identify(remote.group) }, slab: { ...line, peers: everyMember } };
    // A VM whose address is not known yet is a peer of its own: it will be somebody, and nobody knows whom.
    case "computed": {
      const network = networkAround(remote.text);
      return network === 0
        ? { space, slab: { ...line, peers: everyAddress[family] } }
        : { space: { ...space, ...unknownPeer(remote.text, network) }, slab: { ...line, peers: everyMember } };
    }
  }
}

/** The name of a VM as a peer while its address is not known. */
export const unknownAddressOf = (vm: string, floating: boolean): string =>
  `${vm}, ${floating ? "floating " : ""}address not known yet`;

/** A VM by its private address alone counts as a group does: it is one in the project's networks. */
function unknownPeer(text: OpenText, network: number | undefined): Pick<Space, "group" | "isOpaque" | "network"> {
  const open = computedIn(text);
  const [only] = open;
  if (open.length !== 1 || only === undefined)
    return { group: `${textKey(text)}, address not known yet`, isOpaque: true, network };
  const floating = only.attribute === "floating_ip";
  const range = network === undefined ? "" : `/${network}`;
  return {
    group: unknownAddressOf(`${only.address}${range}`, floating),
    isOpaque: floating || network !== undefined,
    network,
  };
}

/** `24` of `/24`; nothing for one address. */
function networkAround({ parts }: OpenText): number | undefined {
  const length = /\/([0-9]+)$/.exec(String(parts.at(-1)))?.[1];
  return length === undefined || length === "32" || length === "128" ? undefined : Number(length);
}

/** A sweep along the line: what begins at a point joins, what has ended leaves. */
function slabsAlong(parts: readonly Slab[]): Slab[] {
  const starts = joinSpans(parts).sort((a, b) => a.from - b.from || a.to - b.to);
  const points = [...new Set(parts.flatMap(({ from, to }) => [from, to + 1]))].sort((a, b) => a - b);
  const slabs: Slab[] = [];
  let active: Slab[] = [];
  let next = 0;
  for (let index = 0; index + 1 < points.length; index++) {
    const from = itemAt(points, index);
    if (active.some((part) => part.to < from)) active = active.filter((part) => part.to >= from);
    while (next < starts.length && itemAt(starts, next).from === from) active.push(itemAt(starts, next++));
    if (active.length > 0)
      slabs.push({ from, to: itemAt(points, index + 1) - 1, peers: normalize(active.flatMap(({ peers }) => peers)) });
  }
  return joinSlabs(slabs);
}

/** Rules for the same ports are one part, however many there are: the sweep carries few parts, not many. */
function joinSpans(parts: readonly Slab[]): Slab[] {
  const bySpan = new Map<string, { from: number; to: number; peers: Interval[] }>();
  for (const { from, to, peers } of parts) {
    const key = `${from}-${to}`;
    const same = bySpan.get(key);
    if (same === undefined) bySpan.set(key, { from, to, peers: [...peers] });
    else same.peers.push(...peers);
  }
  return [...bySpan.values()].map(({ from, to, peers }) => ({ from, to, peers: normalize(peers) }));
}

/** Neighbours with the same peers are one slab. */
function joinSlabs(slabs: readonly Slab[]): Slab[] {
  const joined: Slab[] = [];
  for (const slab of slabs) {
    if (slab.peers.length === 0) continue;
    const last = joined.at(-1);
    if (last !== undefined && last.to + 1 === slab.from && sameIntervals(last.peers, slab.peers))
      joined[joined.length - 1] = { ...last, to: slab.to };
    else joined.push(slab);
  }
  return joined;
}

type Combine = (a: Intervals, b: Intervals) => Intervals;

/** `alone`: which side stays as it is where the other has nothing of its space. */
function combine(a: Traffic, b: Traffic, peers: Combine, alone: { readonly a: boolean; readonly b: boolean }): Traffic {
  const combined = new Map<string, { space: Space; slabs: readonly Slab[] }>();
  for (const key of [...new Set([...a.keys(), ...b.keys()])].sort()) {
    const left = a.get(key);
    const right = b.get(key);
    if (left !== undefined && right !== undefined) {
      const slabs = combineSlabs(left.slabs, right.slabs, peers);
      if (slabs.length > 0) combined.set(key, { space: left.space, slabs });
    } else if (left !== undefined && alone.a) combined.set(key, left);
    else if (right !== undefined && alone.b) combined.set(key, right);
  }
  return combined;
}

function combineSlabs(a: readonly Slab[], b: readonly Slab[], peers: Combine): Slab[] {
  const points = [...new Set([...a, ...b].flatMap(({ from, to }) => [from, to + 1]))].sort((x, y) => x - y);
  const slabs: Slab[] = [];
  let i = 0;
  let j = 0;
  for (let index = 0; index + 1 < points.length; index++) {
    const from = itemAt(points, index);
    while (i < a.length && itemAt(a, i).to < from) i++;
    while (j < b.length && itemAt(b, j).to < from) j++;
    const left = i < a.length && itemAt(a, i).from <= from ? itemAt(a, i).peers : [];
    const right = j < b.length && itemAt(b, j).from <= from ? itemAt(b, j).peers : [];
    slabs.push({ from, to: itemAt(points, index + 1) - 1, peers: peers(left, right) });
  }
  return joinSlabs(slabs);
}

export const uniteTraffic = (a: Traffic, b: Traffic): Traffic => combine(a, b, unite, { a: true, b: true });
export const subtractTraffic = (a: Traffic, b: Traffic): Traffic => combine(a, b, subtract, { a: true, b: false });
export const intersectTraffic = (a: Traffic, b: Traffic): Traffic => combine(a, b, intersect, { a: false, b: false });
export const admitsNothing = (traffic: Traffic): boolean => traffic.size === 0;
export const covers = (whole: Traffic, part: Traffic): boolean => admitsNothing(subtractTraffic(part, whole));

/** The slabs of a space, or none. */
export const slabsOf = (traffic: Traffic, space: Space): readonly Slab[] => traffic.get(spaceKey(space))?.slabs ?? [];

/** The traffic of one direction. */
export const inDirection = (traffic: Traffic, direction: Direction): Traffic =>
  new Map([...traffic].filter(([, { space }]) => space.direction === direction));

/** The slab over a point of the line. */
export const slabAt = (slabs: readonly Slab[], point: number): Slab | undefined =>
  slabs.find(({ from, to }) => from <= point && point <= to);
