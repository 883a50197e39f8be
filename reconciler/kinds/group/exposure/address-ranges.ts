/**
 * What `internet` is: all addresses less those that no packet from the internet comes from. As registered by IANA
 * (special-purpose address registries, as of 2025-10-09). Multicast and reserved ranges are no sources either.
 */

import type { Ethertype } from "../../../core/model/rule";
import { everyAddress, type Intervals, intervalOf, normalize, subtract } from "./intervals";

const notIn4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** A firewall may take the mapped spelling of an IPv4 address for that address. */
const mapped = notIn4.map((cidr) => `::ffff:${cidr.replace(/\d+$/, (bits) => `${96 + Number(bits)}`)}`);
const notIn6 = [
  "::/128",
  "::1/128",
  ...mapped,
  "64:ff9b:1::/48",
  "100::/64",
  "100:0:0:1::/64",
  "2001::/23",
  "2001:db8::/32",
  "3fff::/20",
  "5f00::/16",
  "fc00::/7",
  "fe80::/10",
  "ff00::/8",
];

const intervalsOf = (cidrs: readonly string[]): Intervals => normalize(cidrs.flatMap((cidr) => intervalOf(cidr) ?? []));

export const internet: Readonly<Record<Ethertype, Intervals>> = {
  IPv4: subtract(everyAddress.IPv4, intervalsOf(notIn4)),
  IPv6: subtract(everyAddress.IPv6, intervalsOf(notIn6)),
};

/** What people think of as an address of the internet, where the set has it. */
export const wellKnown: Readonly<Record<Ethertype, bigint>> = {
  IPv4: intervalOf("8.8.8.8/32")?.from ?? 0n,
  IPv6: intervalOf("2001:4860:4860::8888/128")?.from ?? 0n,
};
