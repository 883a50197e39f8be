/** Creating, changing and deleting security groups. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase } from "../case";
import { messageOf } from "../client";
import { isObject } from "../dialect";

const web = { protocol: "tcp", dst_port: "443", remote_ip: "0.0.0.0/0", direction: "ingress", ethertype: "IPv4" };
const ssh = { ...web, dst_port: "22", remote_ip: "10.0.0.0/8" };
const ruleExists = "This rule already exists in the selected security group.";

const badNames = {
  "two characters": "ab",
  "51 characters": "a".repeat(51),
  "two words": "two words",
  "an underscore": "under_score",
  "a letter beyond a-z": "münchen",
};

export const groupCases: readonly ConformanceCase[] = [
  {
    clauses: ["Group name", "Errors 3", "Groups rule 3"],
    title: "a create without a name is 400 with the message `name cannot be empty`",
    async run(context) {
      for (const body of [{}, { name: "" }, { description: "d" }]) {
        const answer = await context.refused("bad_request", "group.create", { body });
        assert.equal(answer.status, 400);
        assert.equal(messageOf(answer), "name cannot be empty");
      }
    },
  },
  ...Object.entries(badNames).map(
    ([what, name]): ConformanceCase => ({
      clauses: ["Group name", "Limit names", "Groups rule 3"],
      title: `a group name of ${what} is a bad request, on create and on update`,
      async run(context) {
        await context.refused("bad_request", "group.create", { body: { name } });
        await context.refused("bad_request", "group.update", { params: { id: await context.group() }, body: { name } });
      },
    }),
  ),
  {
    clauses: ["Group name", "Limit names"],
    title: "names of 3 and of 50 characters are taken",
    async run(context) {
      const short = Math.random().toString(36).slice(2, 5).padEnd(3, "x");
      for (const name of [short, context.name("long").padEnd(50, "x")]) await context.group({ name });
    },
  },
  {
    clauses: ["Group name", "Limit names", "Groups rule 3", "Errors 2"],
    title: "upper case becomes lower case, so that the same name in either spelling is a conflict",
    async run(context) {
      const name = context.name("Upper").toUpperCase();
      const record = await context.accepted("group.create", { body: { name } });
      assert.ok([undefined, name.toLowerCase()].includes(context.field("group", "name", record) as string | undefined));
      for (const taken of [name, name.toLowerCase()])
        await context.refused("conflict", "group.create", { body: { name: taken } });
    },
  },
  {
    clauses: ["Group row create", "Gap group create answer", "Record gap group", "Group rules", "Scope 4"],
    title: "a create answers with an object that has the group's id, and its rules are in the group",
    async run(context) {
      const record = await context.accepted("group.create", {
        body: { name: context.name("group"), description: "made with rules", rules: [web, ssh] },
      });
      assert.ok(isObject(record));
      const rules = await context.rules(context.text("group", "id", record));
      for (const { dst_port, remote_ip } of [web, ssh])
        assert.ok(
          rules.some((rule) => rule["port_range_min"] === Number(dst_port) && rule["remote_ip_prefix"] === remote_ip),
        );
      const shown = context.field("group", "rules", record);
      assert.ok(shown === undefined || (Array.isArray(shown) && shown.length >= 2));
    },
  },
  {
    clauses: ["Group rules"],
    title: "a group without rules, or with none in the list, lets nothing in",
    async run(context) {
      for (const fields of [{}, { rules: [] }]) {
        const rules = await context.rules(await context.group(fields));
        assert.deepEqual(
          rules.filter((rule) => rule["direction"] === "ingress"),
          [],
        );
      }
    },
  },
  {
    clauses: ["Group rules"],
    title: "a new group may send: the platform's own egress rules are there, one for each ethertype",
    needs: ["assumed"],
    async run(context) {
      const rules = await context.rules(await context.group());
      assert.deepEqual(rules.map((rule) => `${rule["direction"]} ${rule["ether_type"]}`).sort(), [
        "egress IPv4",
        "egress IPv6",
      ]);
    },
  },
  {
    clauses: ["Group name", "Group description", "Group rules", "Groups rule 3"],
    title: "a field of the wrong type is a bad request",
    async run(context) {
      const name = context.name("group");
      for (const body of [
        { name: 7 },
        { name, description: 7 },
        { name, rules: {} },
        { name, rules: ["tcp"] },
        [],
        "text",
      ])
        await context.refused("bad_request", "group.create", { body });
      const params = { id: await context.group() };
      for (const body of [{ name: 7 }, { description: ["d"] }, [], "text"])
        await context.refused("bad_request", "group.update", { params, body });
    },
  },
  {
    clauses: ["Groups rule 2", "Scope 4", "Errors 2"],
    title: "two identical rules in a create are a conflict that takes the group back",
    async run(context) {
      const name = context.name("twice");
      await context.refused("conflict", "group.create", { body: { name, rules: [web, ssh, web] } });
      await context.group({ name });
    },
  },
  {
    clauses: ["Groups rule 2", "Groups rule 3", "Scope 4"],
    title: "one invalid rule in a create takes the group back",
    async run(context) {
      const name = context.name("invalid");
      await context.refused("bad_request", "group.create", {
        body: { name, rules: [web, { ...ssh, protocol: "TCP" }] },
      });
      await context.group({ name });
    },
  },
  {
    clauses: ["Groups rule 2"],
    title: "rules that differ in one field alone are not identical",
    async run(context) {
      const rules = [
        web,
        { ...web, dst_port: "444" },
        { ...web, protocol: "udp" },
        { ...web, direction: "egress" },
        { ...web, remote_ip: "10.0.0.1/32" },
      ];
      const stored = await context.rules(await context.group({ rules }));
      assert.ok(stored.length >= rules.length);
    },
  },
  {
    clauses: ["Groups rule 3", "Errors 2"],
    title: "a name that a group of the project has is a conflict",
    async run(context) {
      const name = context.name("taken");
      await context.group({ name });
      await context.refused("conflict", "group.create", { body: { name } });
    },
  },
  {
    clauses: ["Group row update", "Gap group update answer", "Group update fields", "Record gap group"],
    title: "an update answers with an object; the name it leaves out stays taken, the one it changes is freed",
    async run(context) {
      const [before, after] = [context.name("before"), context.name("after")];
      const params = { id: await context.group({ name: before, description: "first" }) };
      assert.ok(isObject(await context.accepted("group.update", { params, body: { description: "second" } })));
      await context.refused("conflict", "group.create", { body: { name: before } });
      const record = await context.accepted("group.update", { params, body: { name: after } });
      assert.ok([undefined, "second"].includes(context.field("group", "description", record) as string | undefined));
      await context.refused("conflict", "group.create", { body: { name: after } });
      await context.group({ name: before });
    },
  },
  {
    clauses: ["Group update fields"],
    title: "an update of both changes both, in lower case; one to the name it has already is no conflict",
    async run(context) {
      const name = context.name("both");
      const params = { id: await context.group() };
      const body = { name: name.toUpperCase(), description: "new" };
      for (let time = 0; time < 2; time++) {
        const record = await context.accepted("group.update", { params, body });
        assert.ok([undefined, name].includes(context.field("group", "name", record) as string | undefined));
        assert.ok([undefined, "new"].includes(context.field("group", "description", record) as string | undefined));
      }
    },
  },
  {
    clauses: ["Group update fields", "Groups rule 4"],
    title: "an update with nothing in it is refused",
    async run(context) {
      const params = { id: await context.group() };
      for (const body of [{}, { unknown: "field" }])
        await context.refused("bad_request", "group.update", { params, body });
    },
  },
  {
    clauses: ["Group update fields", "Groups rule 4", "Errors 2"],
    title: "an update to the name of another group is a conflict",
    async run(context) {
      const name = context.name("taken");
      await context.group({ name });
      const params = { id: await context.group() };
      for (const taken of [name, name.toUpperCase()])
        await context.refused("name_taken", "group.update", { params, body: { name: taken } });
    },
  },
  {
    clauses: ["Group row delete", "Envelope data"],
    title: "a delete is acknowledged, and the group and its rules are gone",
    async run(context) {
      const name = context.name("gone");
      const params = { id: await context.group({ name, rules: [web] }) };
      assert.equal(typeof (await context.accepted("group.delete", { params })), "string");
      await context.refused("not_found", "group.rule.list", { params });
      await context.refused("not_found", "group.delete", { params });
      await context.group({ name });
    },
  },
  {
    clauses: ["Groups rule 5", "Endpoints ids", "Errors 2"],
    title: "a delete of an id that cannot be one is refused",
    async run(context) {
      for (const id of ["7", "not-an-id", "a b"])
        await context.refused("invalid_id", "group.delete", { params: { id } });
    },
  },
  {
    clauses: ["Groups rule 4", "Groups rule 5", "Groups rule 6"],
    title: "an update, a delete and a new rule of a group that does not exist are refused",
    async run(context) {
      const params = { id: randomUUID() };
      await context.refused("not_found", "group.update", { params, body: { description: "d" } });
      await context.refused("not_found", "group.delete", { params });
      await context.refused("not_found", "group.rule.create", { params, body: web });
    },
  },
  {
    clauses: ["Groups rule 5", "Errors 2"],
    title: "a group that a VM uses is not deleted, and can be once the VM is gone",
    needs: ["vm", "control"],
    async run(context) {
      const vm = await context.freshVm();
      const params = { id: await context.group({ rules: [web] }) };
      await context.control("POST", `vm/${vm.id}/groups`, { group_id: params.id });
      await context.refused("group_attached", "group.delete", { params });
      assert.ok((await context.rules(params.id)).length > 0);
      await context.accepted("vm.delete", { params: { id: vm.id } });
      await context.accepted("group.delete", { params });
    },
  },
  {
    clauses: ["Authentication 4", "Groups rule 4", "Groups rule 5", "Errors 2"],
    title: "the group named default is neither updated nor deleted, not even by a system admin",
    needs: ["operation group.list", "role admin"],
    async run(context) {
      const groups = await context.list("group.list");
      const platform = groups.find((group) => context.field("group", "name", group) === "default");
      assert.ok(platform, "there is no group named default");
      const params = { id: context.text("group", "id", platform) };
      for (const as of ["caller", "admin"] as const) {
        await context.refused("forbidden", "group.update", { params, body: { description: "mine" }, as });
        await context.refused("forbidden", "group.delete", { params, as });
      }
    },
  },
  {
    clauses: ["Authentication 4", "Groups rule 3"],
    title: "nobody makes a second group named default",
    needs: ["assumed"],
    async run(context) {
      await context.refused("conflict", "group.create", { body: { name: "default" } });
    },
  },
  {
    clauses: ["Record gap group"],
    title: "a group that is read shows its name and description, alone and in the list",
    needs: ["operation group.get", "operation group.list"],
    async run(context) {
      const name = context.name("read");
      const id = await context.group({ name, description: "to be read" });
      const alone = await context.accepted("group.get", { params: { id } });
      assert.equal(context.field("group", "name", alone), name);
      assert.equal(context.field("group", "description", alone), "to be read");
      const listed = (await context.list("group.list")).find((group) => context.field("group", "id", group) === id);
      assert.deepEqual(listed, alone);
      await context.refused("not_found", "group.get", { params: { id: randomUUID() } });
    },
  },
  {
    clauses: ["Group row add rule", "Groups rule 6", "Errors 3"],
    title: "an identical rule is 409 with the contract's message, and the group has it once",
    async run(context) {
      const id = await context.group({ rules: [web] });
      await context.addRule(id, ssh);
      for (const body of [web, ssh]) {
        const answer = await context.refused("rule_exists", "group.rule.create", { params: { id }, body });
        assert.equal(answer.status, 409);
        assert.equal(messageOf(answer), ruleExists);
      }
      const ingress = (await context.rules(id)).filter((rule) => rule["direction"] === "ingress");
      assert.equal(ingress.length, 2);
    },
  },
];
