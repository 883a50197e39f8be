import { describe, expect, it } from "vitest";
import type { RuleEntity } from "../../emulator/entities";
import { createdGroup, emulatedWorld, messageOf } from "../support/virtual-world";

interface Report {
  imported: number;
  failed: number;
  groups: { name: string; id?: string; status: string; rules_created: number; skipped: string[]; error?: string }[];
}

function importInto(emulated: ReturnType<typeof emulatedWorld>, ...groups: unknown[]): Report {
  const answer = emulated.call("group.import", { SecurityGroups: groups });
  expect(answer.status).toBe(200);
  return answer.body as Report;
}

const web = {
  GroupName: "Web-Tier",
  GroupId: "sg-1",
  OwnerId: "123456789012",
  Description: "Public web",
  IpPermissions: [
    {
      IpProtocol: "tcp",
      FromPort: 443,
      ToPort: 443,
      IpRanges: [{ CidrIp: "0.0.0.0/0", Description: "everyone" }],
      Ipv6Ranges: [{ CidrIpv6: "::/0" }],
      PrefixListIds: [{ PrefixListId: "pl-63a5400a", Description: "storage" }],
      UserIdGroupPairs: [{ GroupId: "sg-2", UserId: "123456789012", Description: "peers" }],
    },
    { IpProtocol: "udp", FromPort: 6000, ToPort: 6100, IpRanges: [{ CidrIp: "10.1.2.3/16" }] },
    { IpProtocol: "icmp", FromPort: 8, ToPort: -1, IpRanges: [{ CidrIp: "10.0.0.0/8" }] },
    { IpProtocol: "icmp", FromPort: -1, ToPort: -1, IpRanges: [{ CidrIp: "10.0.0.0/8" }] },
    { IpProtocol: "-1", IpRanges: [{ CidrIp: "192.168.0.0/24" }] },
    { IpProtocol: "50", IpRanges: [{ CidrIp: "192.0.2.0/24", Description: "esp" }] },
  ],
  IpPermissionsEgress: [
    { IpProtocol: "-1", IpRanges: [{ CidrIp: "0.0.0.0/0" }], Ipv6Ranges: [{ CidrIpv6: "::/0" }] },
    { IpProtocol: "tcp", FromPort: 0, ToPort: 65535, IpRanges: [{ CidrIp: "172.16.0.0/12" }] },
  ],
};

describe("the bulk import (rule 8)", () => {
  it("reports each group with its id, its rules and everything skipped, and why", () => {
    const report = importInto(emulatedWorld(), web);
    expect(report).toEqual({
      imported: 1,
      failed: 0,
      groups: [
        {
          name: "web-tier",
          id: expect.any(String),
          status: "created",
          rules_created: 6,
          skipped: [
            "ingress tcp 443 from prefix list pl-63a5400a (storage): prefix lists cannot be represented",
            "ingress tcp 443 from security group sg-2 (peers): peer security-group references cannot be represented",
            "ingress icmp type 8 from 10.0.0.0/8: ICMP type/code cannot be represented",
            "ingress 50 from 192.0.2.0/24 (esp): this protocol cannot be represented",
            "egress any protocol to 0.0.0.0/0: the provider's default egress allow-all is not imported",
            "egress any protocol to ::/0: the provider's default egress allow-all is not imported",
          ],
        },
      ],
    });
  });

  it("makes the rules that the listing means, port ranges included", () => {
    const emulated = emulatedWorld();
    const { id } = importInto(emulated, web).groups[0]!;
    const { data } = emulated.call("group.rule.list", undefined, { id: id! }).body as { data: RuleEntity[] };
    const told = data.map((rule) =>
      [
        rule.direction,
        rule.ether_type,
        rule.protocol,
        rule.port_range_min,
        rule.port_range_max,
        rule.normalized_cidr,
      ].join(" "),
    );
    expect(told).toEqual([
      "ingress IPv4 tcp 443 443 0.0.0.0/0",
      "ingress IPv6 tcp 443 443 ::/0",
      "ingress IPv4 udp 6000 6100 10.1.0.0/16",
      "ingress IPv4 icmp   10.0.0.0/8",
      "ingress IPv4    192.168.0.0/24",
      "egress IPv4 tcp   172.16.0.0/12",
      "egress IPv4    ",
      "egress IPv6    ",
    ]);
    expect(data[0]).toMatchObject({ description: "everyone", remote_ip_prefix: "0.0.0.0/0" });
    expect(emulated.call("group.get", undefined, { id: id! }).body).toMatchObject({
      description: "Public web",
      created_by: "ops@acme.example",
    });
  });

  it("lists every imported group from then on", () => {
    const emulated = emulatedWorld();
    importInto(emulated, { GroupName: "one-group" }, { GroupName: "two-group" });
    const listed = emulated.call("group.list").body as { data: { name: string }[] };
    expect(listed.data.map((group) => group.name)).toEqual(["default", "one-group", "two-group"]);
  });

  const failing: Record<string, [Record<string, unknown>, string]> = {
    "a name this service cannot hold": [{ GroupName: "my group" }, "name must be one word"],
    "no name": [{}, "name cannot be empty"],
    "the platform's name": [{ GroupName: "default" }, "already exists"],
    "a name that is taken": [{ GroupName: "Taken" }, "already exists"],
    "a name twice in one listing": [{ GroupName: "GOOD-ONE" }, "already exists"],
    "a network that is none": [permission({ IpRanges: [{ CidrIp: "10.0.0.300/8" }] }), "not an IPv4 CIDR"],
    "an IPv6 network among IPv4 ones": [permission({ IpRanges: [{ CidrIp: "::/0" }] }), "not an IPv4 CIDR"],
    "ports the wrong way round": [permission({ FromPort: 90, ToPort: 80 }), "must be a range"],
    "a port beyond 65535": [permission({ FromPort: 1, ToPort: 70000 }), "must be a range"],
    "one end of a range": [permission({ ToPort: undefined }), "must be a range"],
    "the same rule twice": [
      permission({ IpRanges: [{ CidrIp: "10.0.0.1/8" }, { CidrIp: "10.0.0.0/8" }] }),
      "This rule already exists",
    ],
  };
  it.each(Object.entries(failing))("%s fails that group alone, whole, and no other", (_, [group, error]) => {
    const emulated = emulatedWorld();
    createdGroup(emulated, { name: "taken" });
    const report = importInto(emulated, { GroupName: "good-one" }, group, { GroupName: "good-two" });
    expect(report).toMatchObject({ imported: 2, failed: 1 });
    expect(report.groups.map((entry) => entry.status)).toEqual(["created", "failed", "created"]);
    expect(report.groups[1]).toMatchObject({ rules_created: 0, error: expect.stringContaining(error) });
    expect(emulated.dump().groups.filter((entry) => entry.created_by === "ops@acme.example")).toHaveLength(3);
  });

  const skipping: Record<string, [Record<string, unknown>, number, string[]]> = {
    "any ICMP is representable": [{ IpProtocol: "icmp", FromPort: -1, ToPort: -1 }, 1, []],
    "an ICMP type is skipped, never widened": [
      { IpProtocol: "icmp", FromPort: 3, ToPort: 4 },
      0,
      ["ingress icmp type 3 code 4 from 10.0.0.0/8: ICMP type/code cannot be represented"],
    ],
    "ICMP type 0 is a type": [
      { IpProtocol: "icmp", FromPort: 0, ToPort: 0 },
      0,
      ["ingress icmp type 0 code 0 from 10.0.0.0/8: ICMP type/code cannot be represented"],
    ],
    "ICMPv6 over IPv6 is icmp": [
      { IpProtocol: "icmpv6", FromPort: -1, ToPort: -1, IpRanges: [], Ipv6Ranges: [{ CidrIpv6: "2001:db8::/32" }] },
      1,
      [],
    ],
    "ICMPv6 over IPv4 is nothing": [
      { IpProtocol: "58", FromPort: undefined, ToPort: undefined },
      0,
      ["ingress 58 from 10.0.0.0/8: ICMPv6 over IPv4 cannot be represented"],
    ],
    "a protocol number that has a name": [{ IpProtocol: "6" }, 1, []],
    "no protocol at all": [
      { IpProtocol: undefined, FromPort: undefined, ToPort: undefined },
      0,
      ["ingress (no protocol) from 10.0.0.0/8: this protocol cannot be represented"],
    ],
    "a permission without sources is nothing": [{ IpRanges: [] }, 0, []],
    "ingress from everywhere by any protocol is imported": [
      { IpProtocol: "-1", FromPort: undefined, ToPort: undefined, IpRanges: [{ CidrIp: "0.0.0.0/0" }] },
      1,
      [],
    ],
  };
  it.each(Object.entries(skipping))("%s", (_, [changes, created, skipped]) => {
    const report = importInto(emulatedWorld(), permission(changes));
    expect(report.groups[0]).toMatchObject({ status: "created", rules_created: created, skipped });
  });

  const bad: Record<string, unknown> = {
    "no listing": undefined,
    "an array": [],
    "no SecurityGroups": {},
    "SecurityGroups that are no array": { SecurityGroups: {} },
    "a group that is no object": { SecurityGroups: ["web"] },
    "a name that is no string": { SecurityGroups: [{ GroupName: 1 }] },
    "permissions that are no array": { SecurityGroups: [{ GroupName: "web", IpPermissions: "x" }] },
    "a port that is no integer": { SecurityGroups: [permission({ FromPort: "80" })] },
    "a range that is no object": { SecurityGroups: [permission({ IpRanges: ["10.0.0.0/8"] })] },
  };
  it.each(Object.entries(bad))("%s is an invalid request as a whole", (_, body) => {
    const emulated = emulatedWorld();
    const before = emulated.dump();
    expect(emulated.call("group.import", body).status).toBe(400);
    expect(emulated.dump()).toEqual(before);
  });

  it("needs an active member of a project", () => {
    const call = (as: string) => emulatedWorld().call("group.import", { SecurityGroups: [] }, { as });
    expect(call("inactive-token").status).toBe(403);
    expect(messageOf(call("homeless-token"))).toMatch(/^missing project/);
    expect(call("member-token").body).toEqual({ imported: 0, failed: 0, groups: [] });
  });
});

function permission(changes: Record<string, unknown>) {
  const entry = { IpProtocol: "tcp", FromPort: 22, ToPort: 22, IpRanges: [{ CidrIp: "10.0.0.0/8" }], ...changes };
  return { GroupName: "listed", IpPermissions: [entry] };
}
