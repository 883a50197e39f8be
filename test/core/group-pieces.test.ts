/** A group as a file, as properties of a program and in words, and its rules once an address is known (kinds/group). */
import { describe, expect, it } from "vitest";
import { ruleKey } from "../../reconciler/core/canonical/rules";
import type { LiveGroup, LiveRule } from "../../reconciler/core/model/live";
import type { RecordedGroup } from "../../reconciler/core/model/recorded";
import type { Rule } from "../../reconciler/core/model/rule";
import { blockOfGroup, ruleFields } from "../../reconciler/kinds/group/block";
import { isDeclarable } from "../../reconciler/kinds/group/compare-rules";
import { ruleWithAddress } from "../../reconciler/kinds/group/fill-in";
import { ruleAsProperties, ruleForFile } from "../../reconciler/kinds/group/one-rule-properties";
import { groupWords } from "../../reconciler/kinds/group/words";
import { type Props, unknownValue } from "../../reconciler/one/handler";
import { group, rule } from "../support/sample-plans";

const cidr = (port: number, net: string): Rule => rule(port, { remote: { kind: "cidr", cidr: net } });
const of = (id: string): Rule["remote"] => ({ kind: "group", group: { id } });
const any: Rule = { direction: "ingress", ethertype: "IPv4", protocol: "any", remote: { kind: "any" } };

describe("a rule of a program, as a file has it", () => {
  it.each<readonly [what: string, rule: Props, field: object]>([
    ["nothing but what is given", { protocol: "tcp", dstPort: 22 }, { protocol: "tcp", dst_port: 22 }],
    ["a group by its id", { remoteGroup: "g-1" }, { remote_group: { id: "g-1" } }],
    ["its own group", { remoteGroup: "self" }, { remote_group: "self" }],
    [
      "a group that is not known yet, which is one of its own",
      { remoteGroup: unknownValue },
      { remote_group: { id: "stand" } },
    ],
    [
      "an address that is not known yet, which is a group of its own",
      { remoteIp: unknownValue },
      { remote_group: { id: "stand" } },
    ],
    [
      "what is not known yet elsewhere is left out",
      {
        direction: unknownValue,
        ethertype: unknownValue,
        protocol: unknownValue,
        dstPort: unknownValue,
        description: unknownValue,
      },
      {},
    ],
    ["what is null is left out", { remoteIp: null, description: null }, {}],
    ["what there is not is kept, so that it is refused", { dstPorts: 1 }, { dstPorts: 1 }],
    [
      "all of it",
      { direction: "egress", ethertype: "IPv6", protocol: "udp", dstPort: "1-2", remoteIp: "::/0", description: "d" },
      { direction: "egress", ethertype: "IPv6", protocol: "udp", dst_port: "1-2", remote_ip: "::/0", description: "d" },
    ],
  ])("%s", (_, one, field) => {
    expect(ruleForFile(one, "stand")).toEqual(field);
  });
});

describe("a rule as a program writes it", () => {
  const ingress = { direction: "ingress", ethertype: "IPv4", protocol: "tcp" };
  it.each<readonly [what: string, rule: Rule, properties: Props]>([
    ["of everybody", rule(22), { ...ingress, dstPort: "22", remoteIp: "0.0.0.0/0" }],
    [
      "of everybody over IPv6",
      rule(22, { ethertype: "IPv6" }),
      { ...ingress, ethertype: "IPv6", dstPort: "22", remoteIp: "::/0" },
    ],
    ["of a network", cidr(22, "10.0.0.0/8"), { ...ingress, dstPort: "22", remoteIp: "10.0.0.0/8" }],
    [
      "of a range of ports",
      rule(1, { ports: { min: 1, max: 9 } }),
      { ...ingress, dstPort: "1-9", remoteIp: "0.0.0.0/0" },
    ],
    ["of any protocol", any, { direction: "ingress", ethertype: "IPv4", remoteIp: "0.0.0.0/0" }],
    ["of another group", rule(22, { remote: of("g-2") }), { ...ingress, dstPort: "22", remoteGroup: "g-2" }],
    ["of its own group", rule(22, { remote: of("g-1") }), { ...ingress, dstPort: "22", remoteGroup: "self" }],
    [
      "with a description",
      { ...rule(22), description: "why" },
      { ...ingress, dstPort: "22", remoteIp: "0.0.0.0/0", description: "why" },
    ],
  ])("%s", (_, one, properties) => {
    expect(ruleAsProperties(one, "g-1")).toEqual(properties);
  });
});

describe("a rule as people read it in a file", () => {
  const reference = (one: { readonly address: string } | { readonly id: string }) =>
    "id" in one ? one.id : one.address;
  it.each<readonly [what: string, rule: Rule, fields: readonly (readonly [string, unknown])[]]>([
    [
      "of everybody",
      rule(22),
      [
        ["protocol", "tcp"],
        ["dst_port", 22],
        ["remote_ip", "0.0.0.0/0"],
      ],
    ],
    [
      "of everybody over IPv6",
      rule(22, { ethertype: "IPv6" }),
      [
        ["protocol", "tcp"],
        ["dst_port", 22],
        ["remote_ip", "::/0"],
      ],
    ],
    [
      "that goes out",
      rule(22, { direction: "egress" }),
      [
        ["direction", "egress"],
        ["protocol", "tcp"],
        ["dst_port", 22],
        ["remote_ip", "0.0.0.0/0"],
      ],
    ],
    [
      "of a group over IPv6, which nothing else says",
      rule(22, { ethertype: "IPv6", remote: of("g") }),
      [
        ["ethertype", "IPv6"],
        ["protocol", "tcp"],
        ["dst_port", 22],
        ["remote_group", "g"],
      ],
    ],
    [
      "of a network over IPv6, which says it itself",
      rule(22, { ethertype: "IPv6", remote: { kind: "cidr", cidr: "2001:db8::/32" } }),
      [
        ["protocol", "tcp"],
        ["dst_port", 22],
        ["remote_ip", "2001:db8::/32"],
      ],
    ],
    [
      "of a range",
      rule(1, { ports: { min: 1, max: 9 } }),
      [
        ["protocol", "tcp"],
        ["dst_port", "1-9"],
        ["remote_ip", "0.0.0.0/0"],
      ],
    ],
    [
      "of any protocol",
      any,
      [
        ["protocol", "any"],
        ["remote_ip", "0.0.0.0/0"],
      ],
    ],
    [
      "with a description",
      { ...rule(22), description: "why" },
      [
        ["protocol", "tcp"],
        ["dst_port", 22],
        ["remote_ip", "0.0.0.0/0"],
        ["description", "why"],
      ],
    ],
    [
      "with an empty description",
      { ...rule(22), description: "" },
      [
        ["protocol", "tcp"],
        ["dst_port", 22],
        ["remote_ip", "0.0.0.0/0"],
      ],
    ],
  ])("%s", (_, one, fields) => {
    expect(Object.entries(ruleFields(one, reference))).toEqual(fields);
  });

  it.each<readonly [what: string, rule: Rule, can: boolean]>([
    ["a port", rule(22), true],
    ["port 0", rule(1, { ports: { min: 0, max: 9 } }), false],
    ["port 1", rule(1), true],
    ["all ports", any, true],
    ["a protocol by its number", { ...rule(22), protocol: "47" } as Rule, false],
    ["icmp", { ...any, protocol: "icmp" }, true],
    ["ports of which the last is before the first", rule(22, { ports: { min: 200, max: 100 } }), false],
    ["addresses that have a name in the service", rule(22, { remote: { kind: "cidr", cidr: "pl-123" } }), false],
  ])("a file can declare %s: %s", (_, one, can) => {
    expect(isDeclarable(one)).toBe(can);
  });
});

describe("a group that the service shows, as a block", () => {
  const live = (id: string, more: Partial<LiveRule> = {}): LiveRule => ({
    id,
    direction: "ingress",
    ethertype: "IPv4",
    protocol: "tcp",
    portMin: 22,
    portMax: 22,
    remoteIp: "10.0.0.0/8",
    ...more,
  });
  const block = (more: Partial<LiveGroup>) =>
    blockOfGroup(
      {
        group: { kind: "group", id: "g-1", name: "front", ...more },
        naming: { key: "front", fields: { name: "front" }, notes: ["a note"], ignored: [] } as never,
      },
      (id) => (id === "g-2" ? "back" : undefined),
    );
  it("has its description, its rules in one order, and the keys of other groups of the file", () => {
    const rules = [
      live("r-3", { portMin: 80, portMax: 80 }),
      live("r-1", { remoteIp: undefined as never, remoteGroupId: "g-2" }),
      live("r-2", { remoteIp: undefined as never, remoteGroupId: "g-9" }),
    ];
    const { fields, notes, id, key } = block({ description: "of the web", rules });
    expect([id, key, notes, fields["description"], fields["rules_mode"]]).toEqual([
      "g-1",
      "front",
      ["a note"],
      "of the web",
      undefined,
    ]);
    expect(
      (fields["rules"] as readonly Props[])
        .map(({ remote_group: one, remote_ip: ip, dst_port: port }) => [one ?? ip, port])
        .sort(),
    ).toEqual(
      [
        ["10.0.0.0/8", 80],
        ["back", 22],
        [{ id: "g-9" }, 22],
      ].sort(),
    );
  });
  it("leaves out the rules that the service puts on every group, and an empty description", () => {
    const { fields } = block({
      description: "",
      rules: [{ id: "p", direction: "egress", ethertype: "IPv4" } as LiveRule, live("r-1")],
    });
    expect([(fields["rules"] as readonly object[]).length, Object.hasOwn(fields, "description")]).toEqual([1, false]);
  });
  it.each<readonly [what: string, rules: readonly LiveRule[] | undefined, notes: readonly (string | RegExp)[]]>([
    ["whose rules are not shown", undefined, ["its rules are not shown; additive leaves them as they are"]],
    [
      "with a rule that no file can declare",
      [live("r-1", { protocol: "47" })],
      [/^beyond what a file can declare, and left as it is: /],
    ],
    [
      "with two rules that no file can declare",
      [live("r-1", { protocol: "47" }), live("r-2", { protocol: "50" })],
      [/^beyond what a file can declare, and left as they are: .*; /],
    ],
  ])("%s is additive", (_, rules, notes) => {
    const found = block(rules === undefined ? {} : { rules });
    expect(found.fields["rules_mode"]).toBe("additive");
    expect(found.notes?.slice(1)).toEqual(
      notes.map((one) => (typeof one === "string" ? one : expect.stringMatching(one))),
    );
    expect(found.fields["rules"]).toEqual([]);
  });
});

describe("a rule once the address is known", () => {
  const open: Rule = rule(22);
  it.each<readonly [what: string, text: string, family: Rule["ethertype"] | undefined, filled: object]>([
    ["is of the one host", "10.0.0.5", undefined, { rule: { ...open, remote: { kind: "cidr", cidr: "10.0.0.5/32" } } }],
    [
      "is of the family of the address",
      "2001:db8::1",
      undefined,
      { rule: { ...open, ethertype: "IPv6", remote: { kind: "cidr", cidr: "2001:db8::1/128" } } },
    ],
    [
      "is of the family that the file says",
      "10.0.0.5",
      "IPv4",
      { rule: { ...open, remote: { kind: "cidr", cidr: "10.0.0.5/32" } } },
    ],
    [
      "cannot be of another family than the file says",
      "10.0.0.5",
      "IPv6",
      { problem: "10.0.0.5 is IPv4, but the rule's ethertype is IPv6", fix: "leave ethertype out" },
    ],
    [
      "cannot be of what is no address",
      "web",
      undefined,
      { problem: '"web" is no address', fix: "records.vm in the dialect says where a VM's record has its addresses" },
    ],
  ])("%s", (_, text, family, filled) => {
    expect(ruleWithAddress(open, text, family)).toEqual(filled);
  });
});

describe("what is said of a group", () => {
  const ssh = cidr(22, "10.0.0.0/8");
  const record = (more: Partial<RecordedGroup> = {}): RecordedGroup => ({
    kind: "group",
    address: "group.front",
    id: "g-1",
    name: "front",
    rules: [ssh],
    platformRules: [],
    preventDestroy: false,
    ...more,
  });
  const addressOf = (key: string) => (JSON.stringify(key).includes("g-2") ? "group.back" : undefined);
  const said = (key: string, of: RecordedGroup): unknown => {
    const row = (
      groupWords.rows(addressOf as never) as unknown as Record<
        string,
        readonly [string, (record: RecordedGroup) => unknown]
      >
    )[key]!;
    return row[1](of);
  };
  it.each<readonly [key: string, record: RecordedGroup, words: unknown]>([
    ["rules", record(), ["ingress tcp 22 from 10.0.0.0/8"]],
    [
      "rules",
      record({ rules: [{ ...rule(22, { remote: of("g-2") }), description: "why" }] }),
      ["ingress tcp 22 from group.back (why)"],
    ],
    [
      "rules",
      record({
        rules: [rule(22, { description: { parts: ["for ", { address: "vm.web", attribute: "private_ip" }] } })],
      }),
      ["ingress tcp 22 from anywhere (IPv4) (for ${vm.web.private_ip})"],
    ],
    ["rules", record({ rules: [rule(22, { remote: of("g-9") })] }), ["ingress tcp 22 from g-9"]],
    [
      "rules",
      record({ rules: [rule(22, { remote: { kind: "group", group: { address: "group.side" } } })] }),
      ["ingress tcp 22 from group.side"],
    ],
    ["platformRules", record({ platformRules: ["a"] }), ["a (the service's own)"]],
    ["updating", record(), undefined],
    [
      "updating",
      record({ updating: { name: "new", description: "d" } }),
      "new, d (no answer came, and nobody can look)",
    ],
    ["retired", record({ retired: [{ id: "g-0", name: "old" }] }), ["old (g-0), still to delete"]],
    ["retired", record(), undefined],
    ["buried", record({ buried: ["g-0"] }), ["g-0"]],
    ["preventDestroy", record({ preventDestroy: true }), true],
  ])("the row of %s", (key, from, words) => {
    expect(said(key, from)).toEqual(words);
  });
  it("in short, and what is left to do", () => {
    expect(groupWords.described(group("front", { rules: [ssh] }))).toBe("group front, 1 rule");
    const [none] = groupWords.remarks(record());
    const [one] = groupWords.remarks(record({ retired: [{ id: "g-0", name: "old" }] }));
    expect([
      JSON.stringify(none ?? "").includes("to delete"),
      JSON.stringify(one ?? "").includes("1 replaced group to delete"),
    ]).toEqual([false, true]);
  });

  const sides = (more: object) =>
    groupWords
      .sides({
        want: undefined,
        record: undefined,
        shown: undefined,
        addressOf: (key: object) => (JSON.stringify(key).includes("g-2") ? "group.back" : undefined),
        ...more,
      } as never)
      .filter(({ field }) => field === "rule");
  const shown = (...rules: readonly LiveRule[]): LiveGroup => ({ kind: "group", id: "g-1", name: "front", rules });
  const live: LiveRule = {
    id: "r-1",
    direction: "ingress",
    ethertype: "IPv4",
    protocol: "tcp",
    portMin: 22,
    portMax: 22,
    remoteIp: "10.0.0.0/8",
  };
  const words = "ingress tcp 22 from 10.0.0.0/8";
  it.each<readonly [what: string, sides: object, rows: readonly object[]]>([
    [
      "wanted and shown",
      { want: group("front", { rules: [ssh] }), shown: shown(live) },
      [{ field: "rule", desired: words, live: words }],
    ],
    [
      "wanted and not shown",
      { want: group("front", { rules: [ssh] }), shown: shown() },
      [{ field: "rule", desired: words }],
    ],
    ["shown and not wanted", { want: group("front"), shown: shown(live) }, [{ field: "rule", live: words }]],
    [
      "shown, and the service's own as it says",
      { want: group("front"), shown: shown({ ...live, platform: true }) },
      [{ field: "rule", own: true, live: words }],
    ],
    [
      "shown, and the service's own as the record says",
      { want: group("front"), record: record({ platformRules: [ruleKey(ssh)] }), shown: shown(live) },
      [{ field: "rule", own: true, live: words }],
    ],
    ["recorded where nothing was shown", { record: record() }, [{ field: "rule", live: words, recorded: true }]],
    [
      "not taken from the record where the group is shown without rules",
      { record: record(), shown: { kind: "group", id: "g-1", name: "front" } },
      [],
    ],
    [
      "by the address of a group that is named by its id",
      {
        want: group("front", { rules: [rule(22, { remote: { kind: "group", group: { address: "group.back" } } })] }),
        shown: shown({ ...live, remoteIp: undefined as never, remoteGroupId: "g-2" }),
      },
      [{ field: "rule", desired: "ingress tcp 22 from group.back", live: "ingress tcp 22 from group.back" }],
    ],
  ])("a rule that is %s", (_, given, rows) => {
    expect(sides(given).map((row) => JSON.parse(JSON.stringify(row)))).toEqual(rows);
  });
});
