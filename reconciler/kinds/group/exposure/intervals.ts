/**
 * Sets of addresses as sorted, disjoint, non-adjacent intervals of numbers: one form for every set, so that equal sets
 * are equal values. IPv6 needs 128 bits, hence bigint. Knows nothing of ports or groups.
 */

import ipaddr from "ipaddr.js";
import { itemAt } from "../../../core/text/invariant";
import { remembered } from "../../../core/text/remembered";

export interface Interval {
  readonly from: bigint;
  readonly to: bigint;
}
export type Intervals = readonly Interval[];

export const bitsOf = { IPv4: 32, IPv6: 128 } as const;
export const lastAddress = (bits: number): bigint => (1n << BigInt(bits)) - 1n;

export const everyAddress: Readonly<Record<keyof typeof bitsOf, Intervals>> = {
  IPv4: [{ from: 0n, to: lastAddress(bitsOf.IPv4) }],
  IPv6: [{ from: 0n, to: lastAddress(bitsOf.IPv6) }],
};

/** `undefined` when the text is no CIDR. Every question about traffic asks it of the same few ranges. */
export const intervalOf = remembered(parse, 1000);

function parse(cidr: string): Interval | undefined {
  try {
    const [address, prefix] = ipaddr.parseCIDR(cidr);
    const bytes = address.toByteArray();
    const from = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    const hostBits = BigInt(bytes.length * 8 - prefix);
    const start = (from >> hostBits) << hostBits;
    return { from: start, to: start + (1n << hostBits) - 1n };
  } catch {
    return undefined;
  }
}

/** Sorted, merged where they touch. */
export function normalize(intervals: Intervals): Intervals {
  if (intervals.length < 2) return intervals;
  const sorted = [...intervals].sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  const merged: { from: bigint; to: bigint }[] = [];
  for (const { from, to } of sorted) {
    const last = merged.at(-1);
    if (last === undefined || from > last.to + 1n) merged.push({ from, to });
    else if (to > last.to) last.to = to;
  }
  return merged;
}

export const unite = (a: Intervals, b: Intervals): Intervals =>
  a.length === 0 ? b : b.length === 0 ? a : normalize([...a, ...b]);

export function subtract(a: Intervals, b: Intervals): Intervals {
  if (a.length === 0 || b.length === 0) return a;
  const left: Interval[] = [];
  let next = 0;
  for (const { from, to } of a) {
    let start = from;
    while (next < b.length && itemAt(b, next).to < start) next++;
    for (let index = next; index < b.length && itemAt(b, index).from <= to && start <= to; index++) {
      const { from: cutFrom, to: cutTo } = itemAt(b, index);
      if (cutFrom > start) left.push({ from: start, to: cutFrom - 1n });
      start = cutTo + 1n;
    }
    if (start <= to) left.push({ from: start, to });
  }
  return left;
}

const emptySet: Intervals = [];

export function intersect(a: Intervals, b: Intervals): Intervals {
  const [firstA, lastA, firstB, lastB] = [a[0], a.at(-1), b[0], b.at(-1)];
  if (firstA === undefined || lastA === undefined || firstB === undefined || lastB === undefined) return emptySet;
  if (lastA.to < firstB.from || lastB.to < firstA.from) return emptySet;
  const common: Interval[] = [];
  for (let i = 0, j = 0; ; ) {
    const [one, other] = [a[i], b[j]];
    if (one === undefined || other === undefined) return common;
    const from = one.from > other.from ? one.from : other.from;
    const to = one.to < other.to ? one.to : other.to;
    if (from <= to) common.push({ from, to });
    if (one.to < other.to) i++;
    else j++;
  }
}

export const sameIntervals = (a: Intervals, b: Intervals): boolean =>
  a.length === b.length &&
  a.every(({ from, to }, index) => itemAt(b, index).from === from && itemAt(b, index).to === to);

/** The interval lies wholly in the set. */
export function contains(set: Intervals, { from, to }: Interval): boolean {
  let low = 0;
  let high = set.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = itemAt(set, middle);
    if (at.to < from) low = middle + 1;
    else if (at.from > from) high = middle - 1;
    else return at.to >= to;
  }
  return false;
}

/** The fewest CIDRs that make up the interval. */
export function cidrsOf({ from, to }: Interval, family: "IPv4" | "IPv6"): string[] {
  const bits = bitsOf[family];
  const cidrs: string[] = [];
  for (let start = from; start <= to; ) {
    let hostBits = 0;
    while (
      hostBits < bits &&
      (start & ((1n << BigInt(hostBits + 1)) - 1n)) === 0n &&
      start + (1n << BigInt(hostBits + 1)) - 1n <= to
    )
      hostBits++;
    cidrs.push(`${addressText(start, bits)}/${bits - hostBits}`);
    start += 1n << BigInt(hostBits);
  }
  return cidrs;
}

export function addressText(address: bigint, bits: number): string {
  const bytes: number[] = [];
  for (let shift = bits - 8; shift >= 0; shift -= 8) bytes.push(Number((address >> BigInt(shift)) & 255n));
  return ipaddr.fromByteArray(bytes).toString();
}
