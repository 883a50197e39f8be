/**
 * Whether a set of peers is the world. What is measured is the part of the internet that is routed: private and
 * reserved addresses make a set no larger, and an IPv4 address counts as one in whatever spelling IPv6 has for it.
 */
import type { Ethertype } from "../../../core/model/rule";
import { internet } from "./address-ranges";
import { type Intervals, intersect, intervalOf, normalize, unite } from "./intervals";

/**
 * The share that counts as the world, as the length of a prefix: `/3` is an eighth of what is routed. Nobody writes an
 * eighth of all addresses to mean a few friends.
 */
export const usualWorld = 3;

const cidr = (text: string): Intervals => normalize([intervalOf(text) ?? []].flat());

/** All that is given out of IPv6 lies in one eighth of it. */
const routed: Readonly<Record<Ethertype, Intervals>> = { IPv4: internet.IPv4, IPv6: cidr("2000::/3") };

const addressCount = (intervals: Intervals): bigint =>
  intervals.reduce((sum, { from, to }) => sum + (to - from + 1n), 0n);
const whole: Readonly<Record<Ethertype, bigint>> = { IPv4: addressCount(routed.IPv4), IPv6: addressCount(routed.IPv6) };

/** At least one part in 2^`prefix` of what is routed. */
const isWorld = (peers: Intervals, family: Ethertype, prefix: number = usualWorld): boolean =>
  addressCount(intersect(peers, routed[family])) << BigInt(prefix) >= whole[family];

/** IPv4 addresses as IPv6 spells them: mapped, translated, compatible, by NAT64, by 6to4. `below`: how many bits stand behind them. */
const spellings = [
  { range: cidr("::ffff:0:0/96"), below: 0n },
  { range: cidr("::ffff:0:0:0/96"), below: 0n },
  { range: cidr("::/96"), below: 0n },
  { range: cidr("64:ff9b::/96"), below: 0n },
  { range: cidr("64:ff9b:1::/96"), below: 0n },
  { range: cidr("2002::/16"), below: 80n },
];

/** The IPv4 addresses that a set of IPv6 ones reaches. */
export const asIpv4 = (peers: Intervals): Intervals =>
  normalize(
    spellings.flatMap(({ range, below }) => {
      const base = range[0]?.from ?? 0n;
      return intersect(peers, range).map(({ from, to }) => ({
        from: (from - base) >> below,
        to: (to - base) >> below,
      }));
    }),
  );

/** Whether a range of addresses alone is the world. */
export function isWorldRange(range: string): boolean {
  const peers = cidr(range);
  return worldIn(range.includes(":") ? { IPv4: [], IPv6: peers } : { IPv4: peers, IPv6: [] }).length > 0;
}

/** In which families these peers together are the world; none: they are not. */
export function worldIn(
  { IPv4: v4, IPv6: v6 }: Readonly<Record<Ethertype, Intervals>>,
  prefix: number = usualWorld,
): Ethertype[] {
  const spelled = asIpv4(v6);
  const families: Ethertype[] = [];
  const together = isWorld(unite(v4, spelled), "IPv4", prefix);
  if (v4.length > 0 && together) families.push("IPv4");
  if (
    isWorld(v6, "IPv6", prefix) ||
    (spelled.length > 0 && together && (v4.length === 0 || isWorld(spelled, "IPv4", prefix)))
  )
    families.push("IPv6");
  return families;
}
