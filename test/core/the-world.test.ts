/** What counts as opened to the world: a part of the internet that is routed, in whatever spelling and in how many parts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Rule } from "../../reconciler/core/model/rule";
import { type GroupExposure, opensToWorld } from "../../reconciler/kinds/group/exposure/exposure";
import { type Intervals, intervalOf, normalize } from "../../reconciler/kinds/group/exposure/intervals";
import { describeSpan, spanOf } from "../../reconciler/kinds/group/exposure/protocols";
import { inDirection, noTraffic, subtractTraffic, trafficOf } from "../../reconciler/kinds/group/exposure/traffic";
import { asIpv4, worldIn } from "../../reconciler/kinds/group/exposure/world";

const set = (cidrs: readonly string[]): Intervals => normalize(cidrs.map((cidr) => intervalOf(cidr)!));
const isIpv6 = (cidr: string): boolean => cidr.includes(":");
const peers = (...cidrs: string[]) => ({
  IPv4: set(cidrs.filter((cidr) => !isIpv6(cidr))),
  IPv6: set(cidrs.filter(isIpv6)),
});
const octets = (cidr: string): string[] => Array.from({ length: 256 }, (_, first) => cidr.replace("N", String(first)));

describe("the world", () => {
  it.each<[what: string, cidrs: string[], families: string[]]>([
    ["all of IPv4", ["0.0.0.0/0"], ["IPv4"]],
    ["either half of it", ["128.0.0.0/1"], ["IPv4"]],
    ["both halves", ["0.0.0.0/1", "128.0.0.0/1"], ["IPv4"]],
    ["a quarter", ["64.0.0.0/2"], ["IPv4"]],
    ["many parts that cover it", octets("N.0.0.0/8"), ["IPv4"]],
    [
      "all but private addresses",
      ["1.0.0.0/8", "2.0.0.0/7", "4.0.0.0/6", "11.0.0.0/8", "16.0.0.0/4", "32.0.0.0/3"],
      ["IPv4"],
    ],
    ["all of IPv6", ["::/0"], ["IPv6"]],
    ["what is routed of IPv6", ["2000::/3"], ["IPv6"]],
    ["half of that", ["2000::/4"], ["IPv6"]],
    ["IPv4 as mapped addresses", ["::ffff:0:0/96"], ["IPv6"]],
    ["IPv4 as mapped addresses, in dots", ["::ffff:0.0.0.0/96"], ["IPv6"]],
    ["IPv4 by NAT64", ["64:ff9b::/96"], ["IPv6"]],
    ["IPv4 by a NAT64 of one's own", ["64:ff9b:1::/48"], ["IPv6"]],
    ["IPv4 as compatible addresses", ["::/96"], ["IPv6"]],
    ["IPv4 as translated addresses", ["::ffff:0:0:0/96"], ["IPv6"]],
    ["IPv4 by 6to4", ["2002::/16"], ["IPv6"]],
    ["halves in two spellings of IPv6", ["::ffff:0.0.0.0/98", "64:ff9b::4000:0/98"], ["IPv6"]],
    ["parts of IPv4 and mapped ones", ["0.0.0.0/4", "::ffff:32.0.0.0/100", "16.0.0.0/4"], ["IPv4"]],
    ["both", ["0.0.0.0/0", "::/0"], ["IPv4", "IPv6"]],
  ])("is %s", (_, cidrs, families) => {
    expect(worldIn(peers(...cidrs))).toEqual(families);
  });

  it.each<[what: string, cidrs: string[]]>([
    ["private addresses", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"]],
    ["what is reserved, large as it is", ["224.0.0.0/3", "127.0.0.0/8", "0.0.0.0/8"]],
    ["unique local addresses", ["fc00::/7", "fe80::/10"]],
    ["what nobody has been given of IPv6", ["4000::/2", "8000::/1"]],
    ["a network", ["203.0.113.0/24", "2001:db8::/32", "2a00:1450::/32"]],
    ["a provider's many networks", ["3.0.0.0/8", "13.0.0.0/8", "18.0.0.0/8", "52.0.0.0/8", "54.0.0.0/8"]],
    ["a network as mapped addresses", ["::ffff:203.0.113.0/120"]],
  ])("is not %s", (_, cidrs) => {
    expect(worldIn(peers(...cidrs))).toEqual([]);
  });

  it.each<[cidr: string, prefix: number, isOpen: boolean]>([
    ["8.0.0.0/8", 8, true],
    ["8.0.0.0/9", 8, false],
    ["10.0.0.0/8", 8, false],
    ["172.0.0.0/8", 8, true],
    ["203.0.112.0/20", 20, true],
    ["2a00::/11", 8, true],
    ["2a00::/12", 8, false],
    ["::ffff:8.0.0.0/104", 8, true],
    ["0.0.0.0/0", 0, true],
    ["0.0.0.0/1", 0, false],
  ])("by the size that is asked for: %s with /%i: %s", (cidr, prefix, isOpen) => {
    expect(worldIn(peers(cidr), prefix).length > 0).toBe(isOpen);
  });

  const first = fc.integer({ min: 0, max: 255 });
  it("is it in any parts, in any order, and grows with what is added", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(octets("N.0.0.0/8")), fc.array(first), (some, more) => {
        const isOpen = worldIn(peers(...some)).length > 0;
        expect(worldIn(peers(...[...some].reverse())).length > 0).toBe(isOpen);
        if (isOpen) expect(worldIn(peers(...some, ...more.map((one) => `${one}.0.0.0/8`)))).toEqual(["IPv4"]);
      }),
    );
  });

  it("is the same set of IPv4 addresses in each spelling of IPv6", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(first, first), { minLength: 1, maxLength: 40 }), (nets) => {
        const plain = set(nets.map(([a, b]) => `${a}.${b}.0.0/16`));
        const hex = (a: number, b: number): string => ((a << 8) | b).toString(16);
        for (const spelled of [
          nets.map(([a, b]) => `::ffff:${a}.${b}.0.0/112`),
          nets.map(([a, b]) => `64:ff9b::${hex(a, b)}:0/112`),
          nets.map(([a, b]) => `2002:${hex(a, b)}::/32`),
        ])
          expect(asIpv4(set(spelled))).toEqual(plain);
      }),
    );
  });
});

describe("a plan opens a group to the world", () => {
  const rule = (cidr: string, port = 22): Rule => ({
    direction: "ingress",
    ethertype: isIpv6(cidr) ? "IPv6" : "IPv4",
    protocol: "tcp",
    ports: { min: port, max: port },
    remote: { kind: "cidr", cidr },
  });
  const around = (prefix: string): Rule => ({
    ...rule("0.0.0.0/0"),
    remote: { kind: "computed", text: { parts: [{ address: "vm.web", attribute: "private_ip" }, prefix] } },
  });
  const exposed = (before: readonly Rule[], after: readonly Rule[]) => {
    const [had, has] = [before, after].map((rules) => inDirection(trafficOf(rules, String), "ingress"));
    const ingress = { before: had!, after: has!, gained: subtractTraffic(has!, had!), lost: noTraffic };
    return { groups: [{ address: "group.x", ingress } as unknown as GroupExposure] };
  };
  it.each<[what: string, before: Rule[], after: Rule[], opens: boolean]>([
    ["at once", [], [rule("0.0.0.0/0")], true],
    ["by the last part of many", [rule("0.0.0.0/4")], [rule("0.0.0.0/4"), rule("16.0.0.0/4")], true],
    ["not for two ports, half of the part each", [], [rule("0.0.0.0/4"), rule("16.0.0.0/4", 80)], false],
    ["by mapped addresses beside IPv4", [rule("0.0.0.0/4")], [rule("0.0.0.0/4"), rule("::ffff:16.0.0.0/100")], true],
    [
      "by IPv4 beside mapped addresses",
      [rule("::ffff:16.0.0.0/100")],
      [rule("::ffff:16.0.0.0/100"), rule("0.0.0.0/4")],
      true,
    ],
    ["not by private addresses beside a part", [rule("0.0.0.0/4")], [rule("0.0.0.0/4"), rule("fd00::/8")], false],
    [
      "not where it was open and something is added elsewhere",
      [rule("0.0.0.0/0")],
      [rule("0.0.0.0/0"), rule("10.0.0.0/8", 80)],
      false,
    ],
    ["not by private IPv6 where IPv4 was open", [rule("0.0.0.0/0")], [rule("0.0.0.0/0"), rule("fd00::/8")], false],
    ["by all addresses, said as a network of one that is not known", [], [around("/0")], true],
    ["by a large network of an address that is not known", [], [around("/2")], true],
    ["not by a small network of an address that is not known", [], [around("/24")], false],
    ["not by an address that is not known", [], [around("/32")], false],
  ])("%s", (_, before, after, opens) => {
    expect(opensToWorld(exposed(before, after))).toEqual(opens ? ["group.x"] : []);
  });
  it("by a size that a fleet names", () => {
    const one = exposed([], [rule("8.0.0.0/8")]);
    expect([opensToWorld(one), opensToWorld(one, 8)]).toEqual([[], ["group.x"]]);
  });
});

it.each<[rule: Parameters<typeof spanOf>[0], words: readonly string[] | undefined]>([
  [{ protocol: "any", ethertype: "IPv4" }, ["any protocol"]],
  [{ protocol: "tcp", ethertype: "IPv4" }, ["tcp"]],
  [{ protocol: "tcp", ethertype: "IPv4", ports: { min: 22, max: 22 } }, ["tcp 22"]],
  [{ protocol: "17", ethertype: "IPv4", ports: { min: 6000, max: 6100 } }, ["udp 6000-6100"]],
  [{ protocol: "icmp", ethertype: "IPv6" }, ["icmp"]],
  [{ protocol: "tcp", ethertype: "IPv4", ports: { min: -1, max: 99_999 } }, ["tcp"]],
  [{ protocol: "256", ethertype: "IPv4" }, undefined],
  [{ protocol: "toString", ethertype: "IPv4" }, undefined],
])("a rule for %o is a stretch of the line of all protocols and ports", (rule, words) => {
  const span = spanOf(rule);
  expect(span && describeSpan(span)).toEqual(words);
});
