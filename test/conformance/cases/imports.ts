/** The bulk import: every path of a listing, every field of the report, and what becomes of groups that cannot be. */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../case";
import type { ClauseId } from "../clauses";
import type { Context } from "../context";

interface Entry {
  readonly name: string;
  readonly id?: string | null;
  readonly status: string;
  readonly rules_created?: number;
  readonly skipped?: readonly string[] | null;
  readonly error?: string | null;
}
interface Report {
  readonly imported: number;
  readonly failed: number;
  readonly groups: readonly Entry[];
}

const send = async (context: Context, groups: readonly object[]): Promise<Report> =>
  (await context.accepted("group.import", { body: { SecurityGroups: groups } })) as Report;

const https = {
  IpProtocol: "tcp",
  FromPort: 443,
  ToPort: 443,
  IpRanges: [{ CidrIp: "0.0.0.0/0", Description: "web" }],
};
const allowAll = { IpProtocol: "-1", IpRanges: [{ CidrIp: "0.0.0.0/0" }] };

/** Imports one group and returns its entry with the rules it got, the platform's own left out. */
async function importOne(context: Context, group: object) {
  const name = context.name("import");
  const { groups } = await send(context, [{ GroupName: name, Description: "imported", ...group }]);
  const entry = groups[0]!;
  const open = (rule: Record<string, unknown>) => rule["direction"] === "egress" && rule["remote_ip_prefix"] == null;
  const rules = typeof entry.id === "string" ? (await context.rules(entry.id)).filter((rule) => !open(rule)) : [];
  return { name, entry, rules };
}

const badListings: readonly (readonly [clause: ClauseId, what: string, body: unknown])[] = [
  ["Import SecurityGroups", "without SecurityGroups", {}],
  ["Import SecurityGroups", "whose SecurityGroups is no array", { SecurityGroups: {} }],
  ["Import SecurityGroups", "that is an array itself", []],
  ["Import SecurityGroups", "with a group that is no object", { SecurityGroups: ["web"] }],
  ["Import GroupName", "with a GroupName that is no text", { SecurityGroups: [{ GroupName: 7 }] }],
  [
    "Import Description",
    "with a Description that is no text",
    { SecurityGroups: [{ GroupName: "web", Description: 7 }] },
  ],
  [
    "Import IpPermissions",
    "whose IpPermissions is no array",
    { SecurityGroups: [{ GroupName: "web", IpPermissions: {} }] },
  ],
  [
    "Import IpPermissionsEgress",
    "whose IpPermissionsEgress is no array",
    { SecurityGroups: [{ GroupName: "web", IpPermissionsEgress: "x" }] },
  ],
  [
    "Import FromPort",
    "with a FromPort that is no integer",
    { SecurityGroups: [{ GroupName: "web", IpPermissions: [{ ...https, FromPort: "443" }] }] },
  ],
  [
    "Import ToPort",
    "with a ToPort that is no integer",
    { SecurityGroups: [{ GroupName: "web", IpPermissions: [{ ...https, ToPort: 443.5 }] }] },
  ],
  [
    "Import IpProtocol",
    "with an IpProtocol that is no text",
    { SecurityGroups: [{ GroupName: "web", IpPermissions: [{ ...https, IpProtocol: 6 }] }] },
  ],
  [
    "Import IpRanges",
    "whose IpRanges is no array of objects",
    { SecurityGroups: [{ GroupName: "web", IpPermissions: [{ ...https, IpRanges: ["0.0.0.0/0"] }] }] },
  ],
  [
    "Import Ipv6Ranges",
    "whose Ipv6Ranges is no array",
    { SecurityGroups: [{ GroupName: "web", IpPermissions: [{ ...https, Ipv6Ranges: {} }] }] },
  ],
  [
    "Import PrefixListIds",
    "whose PrefixListIds is no array",
    { SecurityGroups: [{ GroupName: "web", IpPermissions: [{ ...https, PrefixListIds: 1 }] }] },
  ],
  [
    "Import UserIdGroupPairs",
    "whose UserIdGroupPairs is no array",
    { SecurityGroups: [{ GroupName: "web", IpPermissions: [{ ...https, UserIdGroupPairs: 1 }] }] },
  ],
];

const skippedSources: readonly (readonly [clause: ClauseId, what: string, group: object, named: string])[] = [
  [
    "Import PrefixListIds",
    "a prefix list",
    {
      IpPermissions: [
        {
          IpProtocol: "tcp",
          FromPort: 443,
          ToPort: 443,
          PrefixListIds: [{ PrefixListId: "pl-1a2b", Description: "cdn" }],
        },
      ],
    },
    "pl-1a2b",
  ],
  [
    "Import UserIdGroupPairs",
    "a peer group",
    {
      IpPermissions: [
        {
          IpProtocol: "tcp",
          FromPort: 5432,
          ToPort: 5432,
          UserIdGroupPairs: [{ GroupId: "sg-9f8e", Description: "app" }],
        },
      ],
    },
    "sg-9f8e",
  ],
  [
    "Import FromPort",
    "an ICMP type and code",
    { IpPermissions: [{ IpProtocol: "icmp", FromPort: 8, ToPort: 0, IpRanges: [{ CidrIp: "10.9.0.0/16" }] }] },
    "10.9.0.0/16",
  ],
  [
    "Import IpPermissionsEgress",
    "the provider's default rule that allows all egress",
    { IpPermissionsEgress: [allowAll] },
    "0.0.0.0/0",
  ],
];

export const importCases: readonly ConformanceCase[] = [
  ...badListings.map(
    ([clause, what, body]): ConformanceCase => ({
      clauses: [clause, "Groups rule 8"],
      title: `a listing ${what} is refused as a whole`,
      async run(context) {
        await context.refused("bad_request", "group.import", { body });
      },
    }),
  ),
  ...skippedSources.map(
    ([clause, what, group, named]): ConformanceCase => ({
      clauses: [clause, "Report skipped", "Groups rule 8"],
      title: `${what} is skipped and reported, and makes no rule`,
      async run(context) {
        const { entry, rules } = await importOne(context, group);
        assert.equal(entry.status, "created");
        assert.equal(entry.skipped?.length, 1);
        assert.deepEqual(rules, []);
        assert.ok(!entry.rules_created);
        if (context.target.strict) assert.ok(entry.skipped?.[0]?.includes(named), `${entry.skipped?.[0]}`);
      },
    }),
  ),
  {
    clauses: [
      "Group row import",
      "Import SecurityGroups",
      "Report imported",
      "Report failed",
      "Report groups",
      "Report name",
      "Report id",
      "Report status",
      "Scope 4",
    ],
    title: "the report counts the groups and has an entry with name, id and status for each, in order",
    async run(context) {
      const names = ["one", "two", "three"].map((label) => context.name(label));
      const report = await send(
        context,
        names.map((GroupName) => ({ GroupName, Description: "d", IpPermissions: [https] })),
      );
      assert.deepEqual([report.imported, report.failed], [3, 0]);
      assert.deepEqual(report.groups.map(({ name }) => name).sort(), [...names].sort());
      for (const { id, status, rules_created } of report.groups) {
        assert.equal(status, "created");
        assert.equal(rules_created, 1);
        assert.ok((await context.rules(String(id))).length >= 1);
      }
    },
  },
  {
    clauses: ["Import SecurityGroups", "Report imported"],
    title: "an empty listing imports nothing",
    async run(context) {
      const { imported, failed, groups } = await send(context, []);
      assert.deepEqual([imported, failed, groups.length], [0, 0, 0]);
    },
  },
  {
    clauses: ["Import IpPermissions", "Import IpPermissionsEgress", "Report rules_created"],
    title: "permissions become ingress rules, egress permissions egress rules",
    async run(context) {
      const egress = { IpProtocol: "udp", FromPort: 53, ToPort: 53, IpRanges: [{ CidrIp: "10.0.0.2/32" }] };
      const { entry, rules } = await importOne(context, { IpPermissions: [https], IpPermissionsEgress: [egress] });
      assert.equal(entry.rules_created, 2);
      assert.deepEqual(
        rules.map((rule) => `${rule["direction"]} ${rule["protocol"]} ${rule["port_range_min"]}`).sort(),
        ["egress udp 53", "ingress tcp 443"],
      );
    },
  },
  {
    clauses: ["Import FromPort", "Import ToPort"],
    title: "FromPort and ToPort become the rule's range",
    async run(context) {
      const { rules } = await importOne(context, { IpPermissions: [{ ...https, FromPort: 8000, ToPort: 8080 }] });
      assert.deepEqual([rules[0]?.["port_range_min"], rules[0]?.["port_range_max"]], [8000, 8080]);
    },
  },
  {
    clauses: ["Import IpRanges", "Import Ipv6Ranges", "Report rules_created"],
    title: "each range becomes a rule of its own with its CIDR, ethertype and description",
    async run(context) {
      const permission = {
        ...https,
        IpRanges: [{ CidrIp: "10.0.0.0/8", Description: "ten" }, { CidrIp: "192.0.2.0/24" }],
        Ipv6Ranges: [{ CidrIpv6: "2001:db8::/32", Description: "six" }],
      };
      const { entry, rules } = await importOne(context, { IpPermissions: [permission] });
      assert.equal(entry.rules_created, 3);
      const shown = rules.map((rule) =>
        `${rule["ether_type"]} ${rule["remote_ip_prefix"]} ${rule["description"] ?? ""}`.trim(),
      );
      assert.deepEqual(shown.sort(), ["IPv4 10.0.0.0/8 ten", "IPv4 192.0.2.0/24", "IPv6 2001:db8::/32 six"]);
    },
  },
  {
    clauses: ["Import IpProtocol"],
    title: "tcp, udp and icmp of all types keep their protocol; -1 is any",
    needs: ["assumed"],
    async run(context) {
      const IpRanges = [{ CidrIp: "10.0.0.0/8" }];
      const ports = { FromPort: 53, ToPort: 53 };
      const { entry, rules } = await importOne(context, {
        IpPermissions: [
          { IpProtocol: "tcp", ...ports, IpRanges },
          { IpProtocol: "udp", ...ports, IpRanges },
          { IpProtocol: "icmp", FromPort: -1, ToPort: -1, IpRanges },
          { IpProtocol: "-1", IpRanges },
        ],
      });
      assert.deepEqual(entry.skipped, []);
      assert.deepEqual(rules.map((rule) => String(rule["protocol"])).sort(), ["icmp", "null", "tcp", "udp"]);
    },
  },
  {
    clauses: ["Import IpProtocol", "Report skipped"],
    title: "a protocol that no rule can have is skipped and reported, never widened",
    needs: ["assumed"],
    async run(context) {
      const { entry, rules } = await importOne(context, {
        IpPermissions: [{ IpProtocol: "50", IpRanges: [{ CidrIp: "10.0.0.0/8" }] }],
      });
      assert.equal(entry.skipped?.length, 1);
      assert.deepEqual(rules, []);
    },
  },
  {
    clauses: ["Report skipped", "Import PrefixListIds", "Import UserIdGroupPairs", "Import IpRanges"],
    title: "what can be represented of a permission is imported, the rest of it skipped",
    async run(context) {
      const permission = {
        ...https,
        PrefixListIds: [{ PrefixListId: "pl-1" }],
        UserIdGroupPairs: [{ GroupId: "sg-1" }, { GroupId: "sg-2" }],
      };
      const { entry, rules } = await importOne(context, { IpPermissions: [permission] });
      assert.equal(entry.rules_created, 1);
      assert.equal(entry.skipped?.length, 3);
      assert.equal(rules.length, 1);
    },
  },
  {
    clauses: ["Import GroupName", "Report name", "Group name"],
    title: "an imported group has the listing's name, in lower case, and takes it",
    async run(context) {
      const name = context.name("Mixed").toUpperCase();
      await send(context, [{ GroupName: name, Description: "d" }]);
      await context.refused("conflict", "group.create", { body: { name: name.toLowerCase() } });
    },
  },
  {
    clauses: ["Import Description", "Group description"],
    title: "an imported group has the listing's description",
    needs: ["operation group.get"],
    async run(context) {
      const { entry } = await importOne(context, { Description: "from elsewhere" });
      const record = await context.accepted("group.get", { params: { id: String(entry.id) } });
      assert.equal(context.field("group", "description", record), "from elsewhere");
    },
  },
  {
    clauses: ["Groups rule 8", "Report failed", "Report status", "Report error"],
    title: "a group that fails is reported with its error, and the groups before and after it are made",
    async run(context) {
      const taken = context.name("taken");
      await context.group({ name: taken });
      const report = await send(context, [
        { GroupName: context.name("before"), IpPermissions: [https] },
        { GroupName: taken, IpPermissions: [https] },
        { GroupName: "no good name", IpPermissions: [https] },
        { GroupName: context.name("after"), IpPermissions: [https] },
      ]);
      assert.deepEqual([report.imported, report.failed], [2, 2]);
      assert.deepEqual(
        report.groups.map(({ status }) => status),
        ["created", "failed", "failed", "created"],
      );
      for (const { status, error } of report.groups)
        assert.equal(typeof error === "string" && error !== "", status === "failed");
    },
  },
  {
    clauses: ["Groups rule 8", "Report error"],
    title: "one rule that fails takes its whole group back, and no other",
    async run(context) {
      const [bad, good] = [context.name("bad"), context.name("good")];
      const broken = { ...https, IpRanges: [{ CidrIp: "10.0.0.0/8" }, { CidrIp: "not a cidr" }] };
      const report = await send(context, [
        { GroupName: bad, IpPermissions: [https, broken] },
        { GroupName: good, IpPermissions: [https] },
      ]);
      assert.deepEqual([report.imported, report.failed], [1, 1]);
      // The name is free, so nothing of the failed group is left.
      await context.group({ name: bad });
    },
  },
  {
    clauses: ["Groups rule 8"],
    title: "two identical rules in one group take that group back",
    async run(context) {
      const name = context.name("twice");
      const report = await send(context, [{ GroupName: name, IpPermissions: [https, https] }]);
      assert.deepEqual([report.imported, report.failed], [0, 1]);
      await context.group({ name });
    },
  },
  {
    clauses: ["Groups rule 8", "Group name"],
    title: "of two groups of one name in a listing, one is made",
    async run(context) {
      const GroupName = context.name("double");
      const report = await send(context, [{ GroupName }, { GroupName }]);
      assert.deepEqual([report.imported, report.failed], [1, 1]);
    },
  },
  {
    clauses: ["Groups rule 8"],
    title: "fields that the contract does not list are passed over, as a real listing has many",
    async run(context) {
      const { entry } = await importOne(context, {
        OwnerId: "123456789012",
        GroupId: "sg-1",
        VpcId: "vpc-1",
        Tags: [{ Key: "a", Value: "b" }],
        IpPermissions: [https],
      });
      assert.equal(entry.status, "created");
    },
  },
  {
    clauses: ["Groups rule 8"],
    title: "a caller without a project cannot import",
    needs: ["role homeless"],
    async run(context) {
      await context.refused("bad_request", "group.import", { body: { SecurityGroups: [] }, as: "homeless" });
    },
  },
  {
    clauses: ["Groups rule 8", "Authentication 3"],
    title: "a member imports groups and may delete them later; an inactive one may not import",
    needs: ["role member", "role inactive"],
    async run(context) {
      const body = { SecurityGroups: [{ GroupName: context.name("members"), IpPermissions: [https] }] };
      await context.refused("forbidden", "group.import", { body, as: "inactive" });
      const { groups } = (await context.accepted("group.import", { body, as: "member" })) as Report;
      await context.accepted("group.delete", { params: { id: String(groups[0]?.id) }, as: "member" });
    },
  },
];
