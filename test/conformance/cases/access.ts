/** Who may do what: the header on every operation, the project, and the permissions on security groups. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ConformanceCase, Need } from "../case";
import type { ClauseId } from "../clauses";
import type { Asker } from "../client";
import type { Context } from "../context";

const documented = [
  ["vm.create", "vm.rename", "vm.rebuild", "vm.resize", "vm.snapshot", "vm.stop", "vm.start", "vm.reboot", "vm.delete"],
  ["volume.create", "volume.get", "volume.attach", "volume.detach", "volume.resize"],
  ["group.create", "group.update", "group.delete", "group.rule.create", "group.rule.list", "group.import"],
].flat();
const assumed = [
  ["vm.list", "vm.get", "vm.resize.confirm", "vm.resize.revert", "volume.list", "volume.delete"],
  ["group.list", "group.get", "group.rule.delete", "flavor.list", "image.list", "region.list"],
].flat();

const internalErrorClauses: Readonly<Record<string, ClauseId>> = {
  "vm.create": "VM errors create",
  "vm.rename": "VM errors rename",
  "vm.rebuild": "VM errors change",
  "vm.resize": "VM errors change",
  "vm.snapshot": "VM errors change",
  "vm.stop": "VM errors power",
  "vm.start": "VM errors power",
  "vm.reboot": "VM errors power",
  "vm.delete": "VM errors power",
  "group.create": "Groups rule 3",
  "group.update": "Groups rule 4",
  "group.delete": "Groups rule 5",
  "group.rule.create": "Groups rule 6",
  "group.rule.list": "Groups rule 7",
  "group.import": "Groups rule 8",
};

const https = { protocol: "tcp", dst_port: "443", remote_ip: "0.0.0.0/0" };

/** Update, delete, add a rule and, where there is such a thing, take one out. */
async function editsOf(context: Context, groupId: string, edit: (operation: string, call: object) => Promise<unknown>) {
  const params = { id: groupId };
  await edit("group.update", { params, body: { description: "changed" } });
  await edit("group.rule.create", { params, body: { ...https, dst_port: "8443" } });
  if (context.has("group.rule.delete")) {
    const rule = (await context.rules(groupId)).find((each) => each["direction"] === "ingress");
    await edit("group.rule.delete", { params: { ...params, rule_id: String(rule?.["id"]) } });
  }
  await edit("group.delete", { params });
}

interface Editing {
  readonly maker: Asker;
  readonly editor: Asker;
  readonly may: boolean;
  readonly title: string;
}

const editings: readonly Editing[] = [
  { maker: "member", editor: "member", may: true, title: "a member changes and deletes the group they created" },
  {
    maker: "member",
    editor: "otherMember",
    may: false,
    title: "a member changes no group that another member created",
  },
  { maker: "caller", editor: "member", may: false, title: "a member changes no group that an owner created" },
  { maker: "member", editor: "caller", may: true, title: "an owner changes and deletes a member's group" },
  { maker: "member", editor: "admin", may: true, title: "a system admin changes and deletes a member's group" },
  { maker: "caller", editor: "admin", may: true, title: "a system admin changes and deletes an owner's group" },
  { maker: "caller", editor: "caller", may: true, title: "an owner changes and deletes their own group" },
  { maker: "member", editor: "inactive", may: false, title: "an inactive member changes no group" },
];

const roleNeeds = (...askers: readonly Asker[]): readonly Need[] =>
  [...new Set(askers)].filter((asker) => asker !== "caller").map((asker) => `role ${asker}` as Need);

export const accessCases: readonly ConformanceCase[] = [
  ...[...documented, ...assumed].flatMap((operation) =>
    (["nobody", "stranger"] as const).map(
      (as): ConformanceCase => ({
        clauses: ["Authentication 1", "Endpoints authorization"],
        title: `${operation} ${as === "nobody" ? "without an Authorization header" : "with a credential that nobody has"} is refused`,
        needs: [`operation ${operation}`],
        async run(context) {
          await context.refused("unauthenticated", operation, {
            params: { id: randomUUID(), rule_id: randomUUID() },
            as,
          });
        },
      }),
    ),
  ),
  ...documented.map(
    (operation): ConformanceCase => ({
      clauses: [internalErrorClauses[operation] ?? "Volumes rule 8", "Errors 1", "Errors 2"],
      title: `${operation} that fails inside is answered with the envelope`,
      needs: ["control"],
      async run(context) {
        await context.control("POST", "faults", { operation, kind: "status", code: 500, count: 1 });
        try {
          const reads = operation === "volume.get" || operation === "group.rule.list";
          const answer = await context.call(operation, {
            params: { id: randomUUID() },
            ...(reads ? {} : { body: {} }),
          });
          assert.equal(answer.status, 500);
        } finally {
          await context.control("DELETE", "faults");
        }
      },
    }),
  ),
  ...editings.map(
    ({ maker, editor, may, title }): ConformanceCase => ({
      clauses: ["Authentication 3", "Groups rule 1", "Groups rule 4", "Groups rule 5", "Groups rule 6"],
      title,
      needs: roleNeeds(maker, editor),
      async run(context) {
        const id = await context.group({ rules: [https] }, maker);
        await editsOf(context, id, (operation, call) =>
          may
            ? context.accepted(operation, { ...call, as: editor })
            : context.refused("forbidden", operation, { ...call, as: editor }),
        );
        if (!may) assert.ok((await context.rules(id)).some((rule) => rule["port_range_min"] === 443));
      },
    }),
  ),
  {
    clauses: ["Groups rule 1", "Authentication 3"],
    title: "an active member creates groups, an inactive one does not",
    needs: ["role member", "role inactive"],
    async run(context) {
      await context.group({}, "member");
      await context.refused("forbidden", "group.create", { body: { name: context.name("inactive") }, as: "inactive" });
    },
  },
  {
    clauses: ["Groups rule 1"],
    title: "a group shows the e-mail of the member who created it",
    needs: ["role member", "control", "assumed"],
    async run(context) {
      const id = await context.group({}, "member");
      const world = JSON.stringify(await context.control("GET", "world"));
      assert.match(world, new RegExp(`"id":"${id}"[^}]*"created_by":"[^"@]+@[^"]+"`));
    },
  },
  {
    clauses: ["Groups rule 7", "Authentication 3"],
    title: "a member lists the rules of a group that somebody else created",
    needs: ["role member"],
    async run(context) {
      const id = await context.group({ rules: [https] });
      assert.ok((await context.rules(id, "member")).length >= 1);
    },
  },
  {
    clauses: ["Authentication 2", "Scope 1", "Groups rule 7"],
    title: "another project neither reads, changes nor deletes a group, nor refers to it",
    needs: ["role outsider"],
    async run(context) {
      const id = await context.group({ rules: [https] });
      const as = "outsider";
      await context.refused("not_found", "group.rule.list", { params: { id }, as });
      await editsOf(context, id, (operation, call) => context.refused("not_found", operation, { ...call, as }));
      const body = { name: context.name("outside"), rules: [{ protocol: "tcp", dst_port: "22", remote_group: id }] };
      await context.refused("bad_request", "group.create", { body, as });
      assert.ok((await context.rules(id)).length >= 1);
    },
  },
  {
    clauses: ["Authentication 2", "Scope 1", "VM errors power"],
    title: "another project operates no VM of this one, and does not see it",
    needs: ["vm", "other flavor", "role outsider"],
    async run(context) {
      const vm = await context.vm();
      const as = "outsider";
      const params = { id: vm.id };
      const { image_id: image } = context.vmRequest();
      const calls: readonly (readonly [operation: string, body?: object])[] = [
        ["vm.rename", { name: context.name("stolen") }],
        ["vm.rebuild", { image }],
        ["vm.resize", { flavor: context.otherFlavor() }],
        ["vm.snapshot", { name: context.name("stolen") }],
        ["vm.stop"],
        ["vm.start"],
        ["vm.reboot"],
        ["vm.delete"],
        ["vm.get"],
        ["vm.resize.confirm"],
        ["vm.resize.revert"],
      ];
      for (const [operation, body] of calls)
        if (context.has(operation))
          await context.refused("not_found", operation, { params, as, ...(body === undefined ? {} : { body }) });
      const seen = await context.list("vm.list", as);
      assert.ok(seen.every((record) => context.field("vm", "id", record) !== vm.id));
      assert.equal(context.phase(await context.vmById(vm.id)), "running");
    },
  },
  {
    clauses: ["Authentication 2"],
    title: "a name that another project uses is free",
    needs: ["role outsider"],
    async run(context) {
      const name = context.name("shared");
      await context.group({ name });
      const theirs = await context.group({ name }, "outsider");
      context.made.groups.delete(theirs);
      await context.accepted("group.delete", { params: { id: theirs }, as: "outsider" });
    },
  },
  {
    clauses: ["Authentication 3", "Authentication 2"],
    title: "an active member operates the project's VMs and volumes, since permissions concern groups",
    needs: ["vm", "role member", "assumed"],
    async run(context) {
      const as = "member";
      const vm = await context.freshVm({}, as);
      const volume = await context.volume(1, as);
      await context.accepted("volume.get", { params: { id: volume }, as });
      const body = { vm_id: vm.id, volume_id: volume };
      await context.accepted("volume.attach", { body, as });
      await context.accepted("volume.detach", { body: { ...body, flush_confirmed: true }, as });
      await context.accepted("volume.resize", { params: { id: volume }, body: { size: "2" }, as });
      await context.accepted("vm.stop", { params: { id: vm.id }, as });
      await context.accepted("vm.start", { params: { id: vm.id }, as });
      await context.untilPhase(vm, "running");
      await context.accepted("vm.delete", { params: { id: vm.id }, as });
    },
  },
];
