import { describe, expect, it } from "vitest";
import type { RuleEntity } from "../../emulator/entities";
import { createdGroup, type EmulatedWorld, emulatedWorld, messageOf, unknownId } from "../support/virtual-world";

const https = { protocol: "tcp", dst_port: "443", remote_ip: "0.0.0.0/0" };
const rules = (emulated: EmulatedWorld, id: string) =>
  (emulated.call("group.rule.list", undefined, { id }).body as { data: RuleEntity[] }).data;
const defaultGroupId = (emulated: EmulatedWorld) => emulated.dump().groups.find((group) => group.platform)!.id;
const duplicate = "This rule already exists in the selected security group.";

describe("creating a group", () => {
  it("without rules admits nothing inbound, and lets everything out", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web" });
    expect(rules(emulated, id).map((rule) => [rule.direction, rule.ether_type, rule.remote_ip_prefix])).toEqual([
      ["egress", "IPv4", null],
      ["egress", "IPv6", null],
    ]);
  });

  it("answers with the id and the rules, and tags it with the creator's e-mail (rule 1)", () => {
    const answer = emulatedWorld().call("group.create", { name: "Web", rules: [https] }, { as: "member-token" });
    expect(answer.body).toMatchObject({
      name: "web",
      created_by: "member@acme.example",
      rules: [{ protocol: "tcp" }, {}, {}],
    });
  });

  const refused: Record<string, [unknown, number, string]> = {
    "without a name: the contract's message": [{}, 400, "name cannot be empty"],
    "with an empty name": [{ name: "" }, 400, "name cannot be empty"],
    "with a name of two characters": [{ name: "ab" }, 400, "name must be"],
    "with a description that is no string": [{ name: "web", description: 1 }, 400, "description must be a string"],
    "with rules that are no array": [{ name: "web", rules: {} }, 400, "rules must be an array"],
    "with a rule that is no object": [{ name: "web", rules: ["x"] }, 400, "rules[0] must be an object"],
    "with one bad rule among good ones": [
      { name: "web", rules: [https, { protocol: "TCP" }] },
      400,
      "rules[1].protocol",
    ],
    "with the same rule twice (rule 2)": [{ name: "web", rules: [https, https] }, 409, duplicate],
    "with the same rule under another description": [
      { name: "web", rules: [https, { ...https, description: "again" }] },
      409,
      duplicate,
    ],
    "with the same network spelt differently": [
      {
        name: "web",
        rules: [
          { ...https, remote_ip: "10.0.0.7/24" },
          { ...https, remote_ip: "10.0.0.0/24" },
        ],
      },
      409,
      duplicate,
    ],
    "with the name of the platform's group": [{ name: "Default" }, 409, "already exists"],
  };
  it.each(Object.entries(refused))("%s is refused, and nothing of it stays", (_, [body, status, message]) => {
    const emulated = emulatedWorld();
    const before = emulated.dump();
    const answer = emulated.call("group.create", body);
    expect([answer.status, messageOf(answer)]).toEqual([status, expect.stringContaining(message)]);
    expect(emulated.dump()).toEqual(before);
  });

  it("with a name another group of the project has is a conflict; another project may use it", () => {
    const emulated = emulatedWorld();
    createdGroup(emulated, { name: "web" });
    expect(emulated.call("group.create", { name: "WEB" }).status).toBe(409);
    expect(emulated.call("group.create", { name: "web" }, { as: "outsider-token" }).status).toBe(201);
  });

  it("with an egress rule that says what the default says is no conflict, and makes no second one", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web", rules: [{ direction: "egress", remote_ip: "0.0.0.0/0" }] });
    expect(rules(emulated, id).map((rule) => [rule.ether_type, rule.remote_ip_prefix])).toEqual([
      ["IPv4", "0.0.0.0/0"],
      ["IPv6", null],
    ]);
  });
});

describe("adding a rule", () => {
  it("returns every field of the contract's rule record", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web" });
    const body = {
      direction: "ingress",
      ethertype: "IPv4",
      protocol: "tcp",
      dst_port: "443",
      remote_ip: "10.0.0.7/24",
      description: "in",
    };
    const answer = emulated.call("group.rule.create", body, { id });
    expect(answer.status).toBe(201);
    expect((answer.body as { data: RuleEntity }).data).toEqual({
      id: expect.any(String),
      security_group_id: id,
      project_id: "00000000-0000-4000-8001-000000000001",
      name: null,
      direction: "ingress",
      protocol: "tcp",
      port_range_min: 443,
      port_range_max: 443,
      ether_type: "IPv4",
      remote_ip_prefix: "10.0.0.7/24",
      normalized_cidr: "10.0.0.0/24",
      remote_group_id: null,
      remote_address_group_id: null,
      belongs_to_default_sg: false,
      revision_number: 0,
      description: "in",
      created_at: expect.any(String),
    });
  });

  const accepted: Record<string, [Record<string, unknown>, Partial<RuleEntity>]> = {
    "an empty input is any inbound IPv4": [{}, { direction: "ingress", ether_type: "IPv4", protocol: null }],
    "icmp takes no port": [{ protocol: "icmp" }, { protocol: "icmp", port_range_min: null }],
    "tcp without a port is every port": [{ protocol: "tcp" }, { port_range_min: null, port_range_max: null }],
    "an IPv6 network makes it IPv6": [
      { remote_ip: "2001:db8::1/32" },
      { ether_type: "IPv6", normalized_cidr: "2001:db8::/32" },
    ],
    "a /32 is one address": [{ remote_ip: "192.0.2.1/32" }, { normalized_cidr: "192.0.2.1/32" }],
    "port 65535 is the last": [{ protocol: "udp", dst_port: "65535" }, { port_range_max: 65535 }],
  };
  it.each(Object.entries(accepted))("%s", (_, [body, expected]) => {
    const emulated = emulatedWorld();
    const answer = emulated.call("group.rule.create", body, { id: createdGroup(emulated, { name: "web" }) });
    expect(answer.body).toMatchObject({ data: expected });
  });

  const refused: Record<string, Record<string, unknown>> = {
    "upper case protocols are not accepted": { protocol: "TCP" },
    "an unknown protocol": { protocol: "sctp" },
    "an unknown direction": { direction: "in" },
    "an ethertype in lower case": { ethertype: "ipv4" },
    "a port as a number": { protocol: "tcp", dst_port: 443 },
    "port 0": { protocol: "tcp", dst_port: "0" },
    "port 65536": { protocol: "tcp", dst_port: "65536" },
    "a port range, unless this service writes ranges": { protocol: "tcp", dst_port: "80-90" },
    "a port with icmp": { protocol: "icmp", dst_port: "1" },
    "a port without a protocol": { dst_port: "80" },
    "remote_ip and remote_group together": { remote_ip: "10.0.0.0/8", remote_group: "self" },
    "an address without a length": { remote_ip: "10.0.0.1" },
    "a length beyond 32": { remote_ip: "10.0.0.0/33" },
    "an octal address": { remote_ip: "010.0.0.1/32" },
    "a short address": { remote_ip: "10/8" },
    "an IPv6 zone": { remote_ip: "fe80::1%eth0/64" },
    "an ethertype that the network contradicts": { ethertype: "IPv4", remote_ip: "::/0" },
    "a remote group that is no UUID": { remote_group: "web" },
    "a remote group that is not there": { remote_group: unknownId },
  };
  it.each(Object.entries(refused))("refused: %s", (_, body) => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web" });
    const sent = body["remote_group"] === "self" ? { ...body, remote_group: id } : body;
    expect(emulated.call("group.rule.create", sent, { id }).status).toBe(400);
  });

  it("takes a range where this service writes ranges", () => {
    const emulated = emulatedWorld({ portRange: "{min}-{max}" });
    const id = createdGroup(emulated, { name: "web" });
    const add = (dst_port: string) => emulated.call("group.rule.create", { protocol: "tcp", dst_port }, { id });
    expect(add("80-90").body).toMatchObject({ data: { port_range_min: 80, port_range_max: 90 } });
    expect(add("90-80").status).toBe(400);
    expect(add("22").status).toBe(201);
  });

  it.each([
    ["the very same", https, https],
    ["from anywhere, written out or left out", https, { protocol: "tcp", dst_port: "443" }],
    ["another description", https, { ...https, description: "x" }],
  ])("an identical rule is a 409 with the contract's message: %s (rule 6)", (_, first, second) => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web", rules: [first] });
    const answer = emulated.call("group.rule.create", second, { id });
    expect([answer.status, messageOf(answer)]).toEqual([409, duplicate]);
  });

  it("may name the group itself", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web" });
    expect(emulated.call("group.rule.create", { remote_group: id }, { id }).status).toBe(201);
  });
});

describe("updating a group", () => {
  it("changes what is given and leaves the rest", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web", description: "old" });
    expect(emulated.call("group.update", { name: "Shop" }, { id }).body).toMatchObject({
      name: "shop",
      description: "old",
    });
    expect(emulated.call("group.update", { description: "" }, { id }).body).toMatchObject({
      name: "shop",
      description: "",
    });
  });

  it.each([
    ["nothing to change (rule 4)", {}, 400],
    ["an empty name", { name: "" }, 400],
    ["a bad name", { name: "a b c" }, 400],
    ["a name another group has (rule 4)", { name: "Taken" }, 409],
    ["its own name", { name: "web" }, 200],
  ])("%s", (_, body, status) => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web" });
    createdGroup(emulated, { name: "taken" });
    expect(emulated.call("group.update", body, { id }).status).toBe(status);
  });
});

describe("deleting a group", () => {
  it("takes its rules along, and the rules of other groups that name it", () => {
    const emulated = emulatedWorld();
    const web = createdGroup(emulated, { name: "web" });
    const db = createdGroup(emulated, {
      name: "store",
      rules: [{ protocol: "tcp", dst_port: "5432", remote_group: web }],
    });
    expect(emulated.call("group.delete", undefined, { id: web }).body).toEqual({ data: "Security group deleted" });
    expect(rules(emulated, db).every((rule) => rule.remote_group_id === null)).toBe(true);
    expect(emulated.dump().rules.some((rule) => rule.security_group_id === web)).toBe(false);
    expect(emulated.call("group.delete", undefined, { id: web }).status).toBe(404);
  });

  it("is refused while it is attached to a VM (rule 5)", () => {
    const emulated = emulatedWorld(
      {},
      { groups: [{ id: unknownId, name: "web" }], vms: [{ name: "vm-1", groups: [unknownId] }] },
    );
    const answer = emulated.call("group.delete", undefined, { id: unknownId });
    expect([answer.status, messageOf(answer)]).toEqual([409, "Security group is attached to one or more VMs"]);
  });

  it("of something that is no id is an invalid id (rules 5 and 7)", () => {
    const emulated = emulatedWorld();
    for (const operation of ["group.delete", "group.rule.list"] as const)
      expect(messageOf(emulated.call(operation, undefined, { id: "x" }))).toMatch(/^invalid id/);
  });
});

describe("who may do what (authentication clauses 2 to 4)", () => {
  type Row = [as: string, create: number, addToOwn: number, editOthers: number, editMembers: number];
  it.each([
    ["owner-token", 201, 201, 200, 200],
    ["admin-token", 201, 201, 200, 200],
    ["member-token", 201, 201, 403, 200],
    ["other-member-token", 201, 201, 403, 403],
    ["inactive-token", 403, 0, 403, 403],
    ["outsider-token", 201, 201, 404, 404],
  ] satisfies Row[])("%s", (as, create, addToOwn, editOthers, editMembers) => {
    const emulated = emulatedWorld();
    const others = createdGroup(emulated, { name: "others" });
    const members = createdGroup(emulated, { name: "members" }, "member-token");
    const own = emulated.call("group.create", { name: "own-group" }, { as });
    expect(own.status).toBe(create);
    if (own.status === 201) {
      const { id } = own.body as { id: string };
      expect(emulated.call("group.rule.create", https, { id, as }).status).toBe(addToOwn);
    }
    for (const [id, status] of [
      [others, editOthers],
      [members, editMembers],
    ] as const) {
      expect(emulated.call("group.update", { description: "x" }, { id, as }).status).toBe(status);
      expect(emulated.call("group.rule.create", https, { id, as }).status).toBe(status === 200 ? 201 : status);
      expect(emulated.call("group.delete", undefined, { id, as }).status).toBe(status);
    }
  });

  it("an inactive member does not edit even a group of their own", () => {
    const group = { id: unknownId, name: "web", created_by: "inactive@acme.example" };
    const answer = emulatedWorld({}, { groups: [group] }).call("group.delete", undefined, {
      id: unknownId,
      as: "inactive-token",
    });
    expect(answer.status).toBe(403);
  });

  it("a member without permission may still read the rules", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web" });
    expect(emulated.call("group.rule.list", undefined, { id, as: "inactive-token" }).status).toBe(200);
  });

  it.each(["owner-token", "admin-token", "member-token"])(
    "nobody changes the platform's group: %s (clause 4)",
    (as) => {
      const emulated = emulatedWorld();
      const id = defaultGroupId(emulated);
      expect(emulated.call("group.update", { description: "x" }, { id, as }).status).toBe(403);
      expect(emulated.call("group.delete", undefined, { id, as }).status).toBe(403);
    },
  );

  it("a group of another project is neither seen nor named", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web" }, "outsider-token");
    expect(emulated.call("group.rule.list", undefined, { id }).status).toBe(404);
    expect(emulated.call("group.create", { name: "mine", rules: [{ remote_group: id }] }).status).toBe(400);
  });

  it("a caller without a project can do nothing", () => {
    const emulated = emulatedWorld();
    expect(emulated.call("volume.create", { name: "d", size: "1" }, { as: "homeless-token" }).status).toBe(403);
    expect(emulated.call("group.import", { SecurityGroups: [] }, { as: "homeless-token" }).status).toBe(400);
  });
});

describe("deleting a rule and reading groups (assumed)", () => {
  it("drops the one rule", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web", rules: [https] });
    const ruleId = rules(emulated, id)[0]!.id;
    const other = createdGroup(emulated, { name: "other" });
    expect(emulated.call("group.rule.delete", undefined, { id: other, ruleId }).status).toBe(404);
    expect(emulated.call("group.rule.delete", undefined, { id, ruleId }).status).toBe(200);
    expect(rules(emulated, id)).toHaveLength(2);
    expect(emulated.call("group.rule.delete", undefined, { id, ruleId }).status).toBe(404);
    expect(emulated.call("group.rule.create", https, { id }).status).toBe(201);
  });

  it("shows groups with their rules, one by one and in a list", () => {
    const emulated = emulatedWorld();
    const id = createdGroup(emulated, { name: "web", rules: [https] });
    expect(emulated.call("group.get", undefined, { id }).body).toMatchObject({ id, name: "web", rules: [{}, {}, {}] });
    expect(emulated.call("group.list").body).toMatchObject({ data: [{ name: "default" }, { name: "web" }] });
  });
});

it("a VM that has a group attached still can be deleted, and frees it", () => {
  const emulated = emulatedWorld(
    {},
    { groups: [{ id: unknownId, name: "web" }], vms: [{ id: "v", name: "vm-1", groups: [unknownId] }] },
  );
  emulated.call("vm.delete", undefined, { id: "v" });
  expect(emulated.call("group.delete", undefined, { id: unknownId }).status).toBe(200);
});
