/** Security group rules: every field of the input, and every field of the rule as returned. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase } from "../case";
import type { ClauseId } from "../clauses";

const web = {
  direction: "ingress",
  ethertype: "IPv4",
  protocol: "tcp",
  dst_port: "443",
  remote_ip: "192.0.2.0/24",
  description: "HTTPS",
};

const refusedInputs: readonly (readonly [clause: ClauseId, what: string, inputs: readonly object[]])[] = [
  [
    "Rule input direction",
    "a direction other than ingress and egress",
    [{ direction: "in" }, { direction: "INGRESS" }, { direction: "" }, { direction: 1 }],
  ],
  [
    "Rule input ethertype",
    "an ethertype other than IPv4 and IPv6",
    [{ ethertype: "ipv4" }, { ethertype: "IPv5" }, { ethertype: 4 }],
  ],
  ["Rule input protocol", "a protocol in upper case", [{ protocol: "TCP" }, { protocol: "Udp" }, { protocol: "ICMP" }]],
  [
    "Rule input protocol",
    "a protocol other than tcp, udp and icmp",
    [{ protocol: "sctp" }, { protocol: "6" }, { protocol: 6 }],
  ],
  [
    "Rule input dst_port",
    "a port that is no text",
    [
      { protocol: "tcp", dst_port: 443 },
      { protocol: "tcp", dst_port: [443] },
    ],
  ],
  [
    "Rule input dst_port",
    "a port that is none",
    [
      { protocol: "tcp", dst_port: "http" },
      { protocol: "tcp", dst_port: "65536" },
      { protocol: "tcp", dst_port: "-1" },
    ],
  ],
  ["Rule input dst_port", "a port with icmp", [{ protocol: "icmp", dst_port: "8" }]],
  [
    "Rule input remote_ip",
    "a remote_ip that is no CIDR",
    [{ remote_ip: "somewhere" }, { remote_ip: "300.0.0.0/8" }, { remote_ip: "10.0.0.0/33" }, { remote_ip: 10 }],
  ],
  [
    "Rule input remote_group",
    "a remote_group that is no UUID or no group",
    [{ remote_group: "web" }, { remote_group: 7 }, { remote_group: randomUUID() }],
  ],
  ["Rule input description", "a description that is no text", [{ ...web, description: 7 }]],
];

const returned: readonly (readonly [
  field: string,
  clause: ClauseId,
  fits: (value: unknown, groupId: string) => boolean,
])[] = [
  ["id", "Rule id", (value) => typeof value === "string" && value !== ""],
  ["security_group_id", "Rule security_group_id", (value, groupId) => value === groupId],
  ["project_id", "Rule project_id", (value) => value === undefined || typeof value === "string"],
  ["name", "Rule name", (value) => value === undefined || value === null],
  ["direction", "Rule direction", (value) => value === "ingress"],
  ["protocol", "Rule protocol", (value) => value === "tcp"],
  ["port_range_min", "Rule port_range_min", (value) => value === 443],
  ["port_range_max", "Rule port_range_max", (value) => value === 443],
  ["ether_type", "Rule ether_type", (value) => value === "IPv4"],
  ["remote_ip_prefix", "Rule remote_ip_prefix", (value) => value === "192.0.2.0/24"],
  [
    "normalized_cidr",
    "Rule normalized_cidr",
    (value) => value === undefined || value === null || typeof value === "string",
  ],
  ["remote_group_id", "Rule remote_group_id", (value) => value === undefined || value === null || value === ""],
  [
    "remote_address_group_id",
    "Rule remote_address_group_id",
    (value) => value === undefined || value === null || typeof value === "string",
  ],
  ["belongs_to_default_sg", "Rule belongs_to_default_sg", (value) => value === undefined || value === false],
  ["revision_number", "Rule revision_number", (value) => value === undefined || Number.isInteger(value)],
  ["description", "Rule description", (value) => value === "HTTPS"],
  ["created_at", "Rule created_at", (value) => value === undefined || !Number.isNaN(Date.parse(String(value)))],
];

export const ruleCases: readonly ConformanceCase[] = [
  ...refusedInputs.map(
    ([clause, what, inputs]): ConformanceCase => ({
      clauses: [clause, "Groups rule 6"],
      title: `${what} is a bad request, alone and in a create`,
      async run(context) {
        const id = await context.group();
        for (const body of inputs) {
          await context.refused("bad_request", "group.rule.create", { params: { id }, body });
          await context.refused("bad_request", "group.create", {
            body: { name: context.name("group"), rules: [body] },
          });
        }
      },
    }),
  ),
  ...returned.map(
    ([field, clause, fits]): ConformanceCase => ({
      clauses: [clause, "Group row add rule", "Group row list rules"],
      title: `${field} of a rule is as the contract says, in the answer and in the list`,
      async run(context) {
        const id = await context.group();
        const rule = await context.addRule(id, web);
        const listed = (await context.rules(id)).find((each) => each["id"] === rule["id"]);
        assert.ok(listed, "the rule is not in the list");
        for (const shown of [rule, listed])
          assert.ok(fits(shown[field], id), `${field} is ${JSON.stringify(shown[field])}`);
      },
    }),
  ),
  {
    clauses: ["Group row list rules", "Group rules"],
    title: "the list holds every rule of the group, and none of another group",
    async run(context) {
      const [one, other] = [await context.group(), await context.group()];
      const made: unknown[] = [];
      for (let port = 8000; port < 8025; port++)
        made.push((await context.addRule(one, { ...web, dst_port: String(port) }))["id"]);
      const listed = (await context.rules(one)).map((rule) => rule["id"]);
      assert.deepEqual(
        made.filter((id) => !listed.includes(id)),
        [],
      );
      assert.ok((await context.rules(other)).every((rule) => !made.includes(rule["id"])));
    },
  },
  {
    clauses: ["Rule input optional"],
    title: "a rule with no field at all is taken",
    async run(context) {
      const id = await context.group();
      const rule = await context.addRule(id, {});
      assert.equal(rule["security_group_id"], id);
    },
  },
  {
    clauses: ["Rule input direction", "Rule input ethertype"],
    title: "a rule without direction and ethertype is for ingress, over the ethertype of its remote_ip",
    needs: ["assumed"],
    async run(context) {
      const id = await context.group();
      const v4 = await context.addRule(id, { protocol: "tcp", dst_port: "22" });
      assert.deepEqual([v4["direction"], v4["ether_type"]], ["ingress", "IPv4"]);
      const v6 = await context.addRule(id, { protocol: "tcp", dst_port: "22", remote_ip: "2001:db8::/32" });
      assert.deepEqual([v6["direction"], v6["ether_type"]], ["ingress", "IPv6"]);
    },
  },
  {
    clauses: ["Rule input direction", "Rule direction"],
    title: "ingress and egress are returned as sent",
    async run(context) {
      const id = await context.group();
      for (const direction of ["ingress", "egress"])
        assert.equal((await context.addRule(id, { ...web, direction }))["direction"], direction);
    },
  },
  {
    clauses: ["Rule input ethertype", "Rule ether_type", "Rule remote_ip_prefix"],
    title: "ethertype comes back as ether_type, for IPv4 and IPv6",
    async run(context) {
      const id = await context.group();
      for (const [ethertype, remote_ip] of [
        ["IPv4", "198.51.100.0/24"],
        ["IPv6", "2001:db8::/32"],
      ]) {
        const rule = await context.addRule(id, { ...web, ethertype, remote_ip });
        assert.equal(rule["ether_type"], ethertype);
        assert.equal(rule["ethertype"], undefined);
        assert.equal(rule["remote_ip_prefix"], remote_ip);
      }
    },
  },
  {
    clauses: ["Rule input protocol", "Rule protocol", "Rule input dst_port"],
    title: "tcp, udp and icmp are returned as sent, icmp without ports",
    async run(context) {
      const id = await context.group();
      for (const protocol of ["tcp", "udp", "icmp"]) {
        const { dst_port, ...rest } = web;
        const rule = await context.addRule(id, { ...rest, protocol, ...(protocol === "icmp" ? {} : { dst_port }) });
        assert.equal(rule["protocol"], protocol);
        if (protocol === "icmp") assert.ok(rule["port_range_min"] == null && rule["port_range_max"] == null);
      }
    },
  },
  {
    clauses: ["Rule input dst_port", "Rule port_range_min", "Rule port_range_max"],
    title: "a port sent as a text comes back as two integers, from 1 to 65535",
    async run(context) {
      const id = await context.group();
      for (const port of [1, 22, 65535]) {
        const rule = await context.addRule(id, { ...web, dst_port: String(port) });
        assert.deepEqual([rule["port_range_min"], rule["port_range_max"]], [port, port]);
      }
    },
  },
  {
    clauses: ["Rule input remote_ip", "Rule remote_ip_prefix", "Rule normalized_cidr"],
    title: "the whole internet, a network and a single address are taken, and come back",
    async run(context) {
      const id = await context.group();
      for (const remote_ip of ["0.0.0.0/0", "10.1.0.0/16", "192.0.2.7/32"]) {
        const rule = await context.addRule(id, { ...web, remote_ip });
        assert.equal(rule["remote_ip_prefix"], remote_ip);
        assert.ok(rule["normalized_cidr"] == null || rule["normalized_cidr"] === remote_ip);
      }
    },
  },
  {
    clauses: ["Rule normalized_cidr", "Rule remote_ip_prefix"],
    title: "a CIDR with host bits is kept as sent, and normalized beside it",
    needs: ["assumed"],
    async run(context) {
      const rule = await context.addRule(await context.group(), { ...web, remote_ip: "10.0.0.7/24" });
      assert.deepEqual([rule["remote_ip_prefix"], rule["normalized_cidr"]], ["10.0.0.7/24", "10.0.0.0/24"]);
    },
  },
  {
    clauses: ["Rule input remote_group", "Rule remote_group_id"],
    title: "remote_group comes back as remote_group_id, for another group and for the group itself",
    async run(context) {
      const [id, other] = [await context.group(), await context.group()];
      const { remote_ip: _, ...rest } = web;
      for (const remote_group of [other, id]) {
        const rule = await context.addRule(id, { ...rest, remote_group });
        assert.equal(rule["remote_group_id"], remote_group);
        assert.ok(rule["remote_ip_prefix"] == null || rule["remote_ip_prefix"] === "");
      }
    },
  },
  {
    clauses: ["Rule input remote_ip", "Rule input remote_group", "Groups rule 6"],
    title: "remote_ip and remote_group together are a bad request, alone and in a create",
    async run(context) {
      const id = await context.group();
      const body = { ...web, remote_group: id };
      await context.refused("bad_request", "group.rule.create", { params: { id }, body });
      await context.refused("bad_request", "group.create", { body: { name: context.name("both"), rules: [body] } });
    },
  },
  {
    clauses: ["Rule input remote_ip", "Rule input ethertype"],
    title: "a remote_ip of the other ethertype is a bad request",
    needs: ["assumed"],
    async run(context) {
      const params = { id: await context.group() };
      for (const body of [
        { ...web, ethertype: "IPv6" },
        { ...web, remote_ip: "2001:db8::/32" },
      ])
        await context.refused("bad_request", "group.rule.create", { params, body });
    },
  },
  {
    clauses: ["Rule input description", "Rule description"],
    title: "a description is stored with the rule as it is",
    async run(context) {
      const description = "Zugriff für “alle”, <b>5 %</b> \\ ok";
      const id = await context.group();
      const rule = await context.addRule(id, { ...web, description });
      assert.equal(rule["description"], description);
      assert.ok((await context.rules(id)).some((each) => each["description"] === description));
    },
  },
  {
    clauses: ["Rule name"],
    title: "the name of a rule made with its group is null too",
    async run(context) {
      const rules = await context.rules(await context.group({ rules: [web] }));
      assert.ok(rules.length > 0);
      for (const rule of rules) assert.ok(rule["name"] === null || rule["name"] === undefined);
    },
  },
  {
    clauses: ["Rule belongs_to_default_sg"],
    title: "the rules of the group named default say that they belong to it",
    needs: ["operation group.list", "assumed"],
    async run(context) {
      const groups = await context.list("group.list");
      const platform = groups.find((group) => context.field("group", "name", group) === "default");
      const rules = await context.rules(context.text("group", "id", platform));
      assert.ok(rules.length > 0);
      for (const rule of rules) assert.equal(rule["belongs_to_default_sg"], true);
    },
  },
  {
    clauses: ["Groups rule 6"],
    title:
      "identical is what the rule means: what is defaulted or spelt otherwise is the same rule, but a description is not a difference",
    needs: ["assumed"],
    async run(context) {
      const params = { id: await context.group({ rules: [web] }) };
      const { direction: _, ethertype: __, ...defaulted } = web;
      for (const body of [defaulted, { ...web, remote_ip: "192.0.2.9/24" }, { ...web, description: "other words" }])
        await context.refused("rule_exists", "group.rule.create", { params, body });
    },
  },
  {
    clauses: ["Groups rule 7", "Endpoints ids", "Errors 2"],
    title: "listing the rules of an id that cannot be one is refused, and of a group that does not exist too",
    async run(context) {
      for (const id of ["7", "not-an-id"]) await context.refused("invalid_id", "group.rule.list", { params: { id } });
      await context.refused("not_found", "group.rule.list", { params: { id: randomUUID() } });
    },
  },
  {
    clauses: ["Groups rule 6", "Endpoints ids"],
    title: "a body that is no rule, or an id that cannot be one, is a bad request",
    async run(context) {
      const params = { id: await context.group() };
      for (const body of [[], "text", 7, null])
        await context.refused("bad_request", "group.rule.create", { params, body });
      await context.refused("bad_request", "group.rule.create", { params: { id: "not-an-id" }, body: web });
    },
  },
  {
    clauses: ["Group row delete", "Rule remote_group_id"],
    title: "the rules of other groups that name a deleted group go with it",
    needs: ["assumed"],
    async run(context) {
      const [id, other] = [await context.group(), await context.group()];
      const { remote_ip: _, ...rest } = web;
      const rule = await context.addRule(id, { ...rest, remote_group: other });
      await context.accepted("group.delete", { params: { id: other } });
      assert.ok((await context.rules(id)).every((each) => each["id"] !== rule["id"]));
    },
  },
  {
    clauses: ["Group row list rules"],
    title: "a rule that is taken out is in the list no more",
    needs: ["operation group.rule.delete"],
    async run(context) {
      const id = await context.group();
      const rule = await context.addRule(id, web);
      const params = { id, rule_id: String(rule["id"]) };
      await context.accepted("group.rule.delete", { params });
      assert.ok((await context.rules(id)).every((each) => each["id"] !== rule["id"]));
      await context.refused("not_found", "group.rule.delete", { params });
    },
  },
];
