/**
 * Protocols and ports as one line of numbers: the protocol's number times 65,536, plus the port. `any` is the whole
 * line, a protocol without ports is its whole stretch, and a range of ports is a range, so that one kind of set is
 * enough for all of them.
 */
import type { Rule } from "../../../core/model/rule";

export interface ProtocolSpan {
  readonly from: number;
  readonly to: number;
}

const portsPerProtocol = 65536;
const protocolCount = 256;
export const wholeLine: ProtocolSpan = { from: 0, to: protocolCount * portsPerProtocol - 1 };

/** By the words that such services use; a number stands for itself. */
const numbers: Readonly<Record<string, number>> = {
  icmp: 1,
  igmp: 2,
  ipip: 4,
  tcp: 6,
  egp: 8,
  udp: 17,
  dccp: 33,
  rsvp: 46,
  gre: 47,
  esp: 50,
  ah: 51,
  icmpv6: 58,
  "ipv6-icmp": 58,
  ospf: 89,
  vrrp: 112,
  pgm: 113,
  sctp: 132,
  udplite: 136,
};
const words = new Map(
  Object.entries(numbers)
    .reverse()
    .map(([word, number]) => [number, word]),
);

/** `undefined` for a word that stands for no known protocol. ICMP on IPv6 is another protocol than on IPv4. */
export function spanOf(rule: Pick<Rule, "protocol" | "ports" | "ethertype">): ProtocolSpan | undefined {
  if (rule.protocol === "any") return wholeLine;
  const number =
    rule.protocol === "icmp" && rule.ethertype === "IPv6"
      ? numbers["icmpv6"]
      : /^[0-9]{1,3}$/.test(rule.protocol)
        ? Number(rule.protocol)
        : Object.hasOwn(numbers, rule.protocol)
          ? numbers[rule.protocol]
          : undefined;
  if (number === undefined || number >= protocolCount) return undefined;
  const start = number * portsPerProtocol;
  if (rule.ports === undefined) return { from: start, to: start + portsPerProtocol - 1 };
  const [min, max] = [portWithin(rule.ports.min), portWithin(rule.ports.max)];
  const first = Math.min(min, max);
  // Nothing talks on port 0, so what begins at port 1 begins there: ports 1 to 65535, in however many parts, are all.
  return { from: start + (first === 1 ? 0 : first), to: start + Math.max(min, max) };
}

/** A record may name any number. A number that is no port counts as the last port, and 0 as the first. */
const portWithin = (port: number): number => Math.min(Math.max(Math.trunc(port) || 0, 1), portsPerProtocol - 1);

export const portPoint = (protocol: "tcp" | "udp", port: number): number =>
  (numbers[protocol] ?? 0) * portsPerProtocol + port;

/** All of the protocol at the beginning of a stretch; left out: only some of its ports lie in the stretch. */
export function protocolAt({ from, to }: ProtocolSpan): ProtocolSpan | undefined {
  const last = from + portsPerProtocol - 1;
  return from % portsPerProtocol === 0 && last <= to ? { from, to: last } : undefined;
}

/** A stretch of the line in words: `tcp 22`, `udp 6000-6100`, `icmp`, `protocols 7-16`. */
export function describeSpan(span: ProtocolSpan): string[] {
  if (span.from === wholeLine.from && span.to === wholeLine.to) return ["any protocol"];
  const texts: string[] = [];
  let at = span.from;
  while (at <= span.to) {
    const protocol = Math.floor(at / portsPerProtocol);
    const start = protocol * portsPerProtocol;
    const end = start + portsPerProtocol - 1;
    if (at > start || span.to < end) {
      const to = Math.min(span.to, end);
      const [first, last] = [Math.max(1, at - start), Math.max(1, to - start)];
      texts.push(`${wordOf(protocol)} ${first === last ? first : `${first}-${last}`}`);
      at = to + 1;
      continue;
    }
    const last = Math.floor((span.to + 1) / portsPerProtocol) - 1;
    texts.push(last === protocol ? wordOf(protocol) : `protocols ${protocol}-${last}`);
    at = (last + 1) * portsPerProtocol;
  }
  return texts;
}

const wordOf = (protocol: number): string => {
  const word = words.get(protocol);
  return word === undefined ? `protocol ${protocol}` : word === "icmpv6" ? "icmp" : word;
};
