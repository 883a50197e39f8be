/** What the handlers of groups, rules, attachments and VMs answer, send and say, where their kinds have code of their own. */
import { describe, expect, it } from "vitest";
import type { Outcome } from "../../reconciler/core/model/outcome";
import type { Found, Props } from "../../reconciler/one/handler";
import { unknownValue } from "../../reconciler/one/handler";
import { handlers } from "../../reconciler/one/table";
import type { KeptOne, ProgramProcess } from "../support/program-process";
import { checkTold, type ToldRow } from "../support/told-by-a-program";
import type { VirtualProgram } from "../support/virtual-program";

const full = { with: ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"] };
const listed = { with: ["vm.get", "volume.list", "group.list", "group.get"] };
const rule = (dstPort: string, remoteIp = "10.0.0.0/8") => ({ protocol: "tcp", dstPort, remoteIp });
const shut: Outcome<never> = { status: "rejected", condition: "forbidden", message: "no" };
const vm = {
  ...{ name: "web", flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};
const data = { name: "data", size: 5 };
const addElsewhere = (program: VirtualProgram, id: string, port: number) =>
  program.client.createRule(id, {
    direction: "ingress",
    ethertype: "IPv4",
    protocol: "tcp",
    portMin: port,
    portMax: port,
    remoteIp: "10.0.0.0/8",
  });
const portsIn = (program: VirtualProgram) =>
  program
    .dump()
    .rules.flatMap(({ direction, port_range_min: port }) => (direction === "ingress" && port !== null ? [port] : []))
    .sort((a, b) => a - b);
const portsOf = (found: Found | undefined) =>
  (found?.inputs["rules"] as readonly Props[] | undefined)?.map(({ dstPort }) => dstPort).sort();
/** A client whose n-th list of rules, counted from 0, lacks the rule for this port; of no port: lacks all. */
const lackingOnce = ({ client }: VirtualProgram, nth: number, port?: number): Pick<typeof client, "listRules"> => {
  let asked = 0;
  return {
    listRules: async (...of) => {
      const listed = await client.listRules(...of);
      if (asked++ !== nth || listed.status !== "accepted") return listed;
      return { ...listed, value: listed.value.filter(({ portMin }) => port !== undefined && portMin !== port) };
    },
  };
};
const imported = async ({ read }: ProgramProcess, type: KeptOne["type"], id: string): Promise<Found> => {
  const found = await read({ type, name: "it", id, outputs: undefined as unknown as Props });
  if (found === undefined) throw new Error("it is not there");
  return found;
};

const tooMuch = "front: taking it over would go further than a preview can show";
const byAnEarlierRun = expect.stringMatching(/^front \(#5\) was made by an earlier run/);

const groups: Readonly<Record<string, ToldRow>> = {
  "read by its id has its rules, without the service's own": {
    given: full,
    asks: async (_, process) => {
      const { id } = await process.create("SecurityGroup", "front", {
        name: "front",
        description: "why",
        rules: [rule("22"), rule("80")],
      });
      return async () => {
        const { inputs, outputs } = await imported(process, "SecurityGroup", id);
        const { record } = outputs["recorded"] as { record: { platformRules: readonly string[] } };
        return [inputs["name"], inputs["description"], portsOf({ inputs } as Found), record.platformRules.length > 0];
      };
    },
    answer: ["front", "why", ["22", "80"], true],
  },
  "made by an earlier run, without the rule that somebody added since": {
    given: full,
    asks: async (program, { create, read }) => {
      const wanted = { name: "front", rules: [rule("22")] };
      const { id } = await program.startProcess().create("SecurityGroup", "front", wanted);
      await addElsewhere(program, id, 80);
      return async () => [portsOf(await read(await create("SecurityGroup", "front", wanted))), portsIn(program)];
    },
    answer: [["22"], [22]],
    sent: ["group.rule.delete #5 200"],
    says: [byAnEarlierRun],
  },
  "made by an earlier run, with a rule since then that the service cannot delete: the preview refuses it as the update does":
    {
      given: listed,
      asks: async (program, { create, preview }) => {
        const wanted = { name: "front", rules: [rule("22")] };
        const { id } = await program.startProcess().create("SecurityGroup", "front", wanted);
        await addElsewhere(program, id, 80);
        return async () => {
          const said = async (call: Promise<unknown>) => call.catch((error: Error) => error.message.split(" — ")[0]);
          return [
            await said(preview("SecurityGroup", "front", wanted)),
            await said(create("SecurityGroup", "front", wanted)),
            await said(preview("SecurityGroup", "front", { ...wanted, rules: [rule("22"), rule("80")] })),
          ];
        };
      },
      answer: [tooMuch, tooMuch, []],
      says: [byAnEarlierRun, byAnEarlierRun, byAnEarlierRun],
    },
  "made by an earlier run, with the rules of others, whose it is to keep them": {
    given: full,
    asks: async (program, { create, read }) => {
      const wanted = { name: "front", rulesMode: "shared", rules: [rule("22")] };
      const { id } = await program.startProcess().create("SecurityGroup", "front", wanted);
      await addElsewhere(program, id, 80);
      return async () => [portsOf(await read(await create("SecurityGroup", "front", wanted))), portsIn(program)];
    },
    answer: [["22"], [22, 80]],
    says: [byAnEarlierRun],
  },
  "read again shows a rule that was added elsewhere": {
    given: full,
    asks: async (program, { create, read }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rules: [rule("22")] });
      await addElsewhere(program, kept.id, 80);
      return async () => portsOf(await read(kept));
    },
    answer: ["22", "80"],
  },
  "read again shows no rule that was added elsewhere where such may stay": {
    given: full,
    asks: async (program, { create, read }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rulesMode: "shared", rules: [rule("22")] });
      await addElsewhere(program, kept.id, 80);
      return async () => portsOf(await read(kept));
    },
    answer: ["22"],
  },
  "read again shows no rule any more that was taken away elsewhere": {
    given: full,
    asks: async (program, { create, read }) => {
      const kept = await create("SecurityGroup", "front", {
        name: "front",
        rulesMode: "shared",
        rules: [rule("22"), rule("80")],
      });
      const gone = program.dump().rules.find(({ port_range_min }) => port_range_min === 80);
      await program.client.deleteRule(kept.id, gone!.id);
      return async () => portsOf(await read(kept));
    },
    answer: ["22"],
  },
  "read again shows another name and description": {
    given: full,
    asks: async (program, { create, read }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", description: "why", rules: [rule("22")] });
      await program.client.updateGroup(kept.id, { name: "other", description: "because" });
      return async () => {
        const found = await read(kept);
        return [found?.inputs["name"], found?.inputs["description"], portsOf(found)];
      };
    },
    answer: ["other", "because", ["22"]],
  },
  "imported by its id it is not believed to have no rules, because one list falsely lacks them": {
    given: full,
    asks: async (program, { create }) => {
      const { id } = await create("SecurityGroup", "front", { name: "front", rules: [rule("22")] });
      const process = program.startProcess({ client: lackingOnce(program, 0) });
      return async () => {
        const refused = await imported(process, "SecurityGroup", id).then(portsOf, (error: unknown) => String(error));
        return [refused, portsOf(await imported(process, "SecurityGroup", id))];
      };
    },
    answer: [expect.stringContaining("two answers in a row showed different rules"), ["22"]],
  },
  "a refresh does not lose its rules, because one list falsely lacks them": {
    given: full,
    asks: async (program, { create }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rules: [rule("22")] });
      const process = program.startProcess({ client: lackingOnce(program, 0) });
      return async () => portsOf(await process.read(kept));
    },
    answer: ["22"],
  },
  "an update removes a rule, though the list that it reads lacks all of them falsely": {
    given: full,
    asks: async (program, { create }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rules: [rule("22")] });
      const { update } = program.startProcess({ client: lackingOnce(program, 0) });
      return async () => {
        await update(kept, { name: "front", rules: [rule("443")] });
        return portsIn(program);
      };
    },
    answer: [443],
    sent: ["group.rule.create #5 201", "group.rule.delete #5 200"],
  },
  "an update removes a rule, though the list that it reads lacks that one falsely and shows another one": {
    given: full,
    asks: async (program, { create }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rules: [rule("22")] });
      await addElsewhere(program, kept.id, 80);
      const { update } = program.startProcess({ client: lackingOnce(program, 0, 22) });
      return async () => {
        await update(kept, { name: "front", rules: [rule("443")] });
        return portsIn(program);
      };
    },
    answer: [443],
    sent: ["group.rule.create #5 201", "group.rule.delete #5 200", "group.rule.delete #5 200"],
  },
  "of which rules made elsewhere may stay: an update leaves them": {
    given: full,
    asks: async (program, { create, update }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rulesMode: "shared", rules: [rule("22")] });
      await addElsewhere(program, kept.id, 80);
      return async () => {
        const next = await update(kept, { name: "front", rulesMode: "shared", rules: [rule("443")] });
        const { record } = next.outputs["recorded"] as { record: { rules: readonly unknown[] } };
        return [portsIn(program), record.rules.length];
      };
    },
    answer: [[80, 443], 1],
    sent: ["group.rule.create #5 201", "group.rule.delete #5 200"],
  },
  "imported as one of which rules made elsewhere may stay, and nothing of it changes": {
    given: full,
    asks: async (_, process) => {
      const { id } = await process.create("SecurityGroup", "front", { name: "front", rules: [rule("22"), rule("80")] });
      const found = await imported(process, "SecurityGroup", id);
      return () =>
        process.diff(
          { type: "SecurityGroup", name: "it", ...found },
          { name: "front", rulesMode: "shared", rules: [rule("80")] },
        );
    },
    answer: [],
  },
  "imported with all of its rules, of which one goes": {
    given: full,
    asks: async (_, process) => {
      const { id } = await process.create("SecurityGroup", "front", { name: "front", rules: [rule("22"), rule("80")] });
      const found = await imported(process, "SecurityGroup", id);
      return () =>
        process.diff({ type: "SecurityGroup", name: "it", ...found }, { name: "front", rules: [rule("80")] });
    },
    answer: ["rules", "the old one first"],
  },
  "whose rule goes where none can be deleted is made anew": {
    given: listed,
    asks: async (_, { create, diff }) => {
      const kept = await create("SecurityGroup", "front", { name: "front", rules: [rule("22")] });
      return () => diff(kept, { name: "front", rules: [] });
    },
    answer: ["rules anew", "the old one first"],
  },
  "whose rule may stay where none can be deleted keeps it, with a warning": {
    given: listed,
    asks: async (_, { create, diff }) => {
      const kept = await create("SecurityGroup", "front", {
        name: "front",
        onRuleRemoval: "keep",
        rules: [rule("22")],
      });
      return () => diff(kept, { name: "front", onRuleRemoval: "keep", rules: [] });
    },
    answer: [expect.stringMatching(/^warns: .*22/)],
  },
  "that is made with rules of which nothing is known yet is not asked for": {
    given: full,
    asks:
      async (_, { preview }) =>
      () =>
        preview("SecurityGroup", "front", { name: "front", rules: unknownValue }),
    answer: [],
  },
  "with a rule for itself": {
    given: full,
    asks: async (program, { create, diff }) => {
      const inputs = { name: "front", rules: [{ protocol: "tcp", dstPort: "22", remoteGroup: "self" }] };
      const kept = await create("SecurityGroup", "front", inputs);
      return async () => [
        program.dump().rules.filter(({ remote_group_id: id }) => id === kept.id).length,
        (await diff(kept, inputs)).changes,
      ];
    },
    answer: [1, []],
  },
  "that is taken over keeps its rules": {
    given: full,
    asks: async (program, { create }) => {
      const inputs = { name: "front", rules: [{ protocol: "tcp", dstPort: "22", remoteGroup: "self" }, rule("80")] };
      const { id } = await create("SecurityGroup", "front", inputs);
      return async () => {
        const taken = await create("SecurityGroup", "other", { ...inputs, adopt: id });
        const { record } = taken.outputs["recorded"] as { record: { rules: readonly unknown[] } };
        return [
          taken.id === id,
          record.rules.length,
          program.dump().rules.filter(({ port_range_min }) => port_range_min !== null).length,
        ];
      };
    },
    answer: [true, 2, 2],
  },
};

describe("a group", () => {
  it.each(Object.entries(groups))("%s", (_, row) => checkTold(row));
});

const shared = { name: "front", rulesMode: "shared" };
const ssh = (securityGroupId: string, more: Props = {}): Props => ({ securityGroupId, ...rule("22"), ...more });

const rules: Readonly<Record<string, ToldRow>> = {
  "is added to its group": {
    given: full,
    asks: async (program, { create }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      return async () => {
        const kept = await create("SecurityGroupRule", "ssh", ssh(id));
        return [kept.id.startsWith(`${id}/`), kept.outputs["ruleId"] === kept.id.split("/")[1], portsIn(program)];
      };
    },
    answer: [true, true, [22]],
    sent: ["group.rule.create #5 201"],
  },
  "that is there already is taken over, with a warning": {
    given: full,
    asks: async (program, { create }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      await addElsewhere(program, id, 22);
      return async () => [
        (await create("SecurityGroupRule", "ssh", ssh(id))).id.startsWith(`${id}/`),
        portsIn(program),
      ];
    },
    answer: [true, [22]],
    says: [expect.stringMatching(/is managed here/)],
  },
  "of a group that is gone is not found": {
    given: full,
    asks: async (program, { create, read }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const other = await create("SecurityGroup", "other", { name: "other" });
      await program.client.deleteGroup(id);
      await read(other);
      return () => create("SecurityGroupRule", "ssh", ssh(id));
    },
    answer: expect.stringMatching(/^refused: the service shows no security group #5/),
  },
  "that the service refuses is an error": {
    given: full,
    asks: async (program, { create }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      program.setFaults([{ kind: "status", code: 403, operation: "group.rule.create" }]);
      return () => create("SecurityGroupRule", "ssh", ssh(id));
    },
    answer: expect.stringMatching(/^refused: .*HTTP 403/),
    sent: ["group.rule.create #5 403"],
  },
  "previewed, and nothing is there": {
    given: full,
    asks: async (_, { create, preview }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      return () => preview("SecurityGroupRule", "ssh", ssh(id));
    },
    answer: [],
  },
  "previewed, and it is there": {
    given: full,
    asks: async (program, { create, preview }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      await addElsewhere(program, id, 22);
      return () => preview("SecurityGroupRule", "ssh", ssh(id));
    },
    answer: [expect.stringMatching(/already: nothing is added, and it is managed here/)],
  },
  "previewed, and Pulumi is told to replace it": {
    given: full,
    asks: async (program, { create }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      await create("SecurityGroupRule", "ssh", ssh(id));
      await program.clock.sleep(120_000);
      const { preview } = program.startProcess({ isInState: true });
      return () => preview("SecurityGroupRule", "ssh", ssh(id));
    },
    answer: [expect.stringMatching(/already: where that is this rule, which is being replaced and goes first/)],
  },
  "previewed for a group that is not known yet": {
    given: full,
    asks:
      async (_, { preview }) =>
      () =>
        preview("SecurityGroupRule", "ssh", ssh(unknownValue)),
    answer: [],
  },
  "previewed for a group that nothing shows": {
    given: full,
    asks:
      async (_, { preview }) =>
      () =>
        preview("SecurityGroupRule", "ssh", ssh("nowhere")),
    answer:
      "refused: the service shows no security group nowhere — check the id, and the credential's project and rights",
  },
  "read again in the spelling in which it was written": {
    given: full,
    asks: async (_, { create, read }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id, { remoteIp: "10.0.0.7/8" }));
      return async () => (await read(kept))?.inputs["remoteIp"];
    },
    answer: "10.0.0.7/8",
  },
  "read by its id has all that it admits": {
    given: full,
    asks: async (_, process) => {
      const { id } = await process.create("SecurityGroup", "front", shared);
      const kept = await process.create("SecurityGroupRule", "ssh", ssh(id));
      return async () => {
        const { inputs } = await imported(process, "SecurityGroupRule", kept.id);
        return [inputs["securityGroupId"] === id, inputs["dstPort"], inputs["remoteIp"], inputs["direction"]];
      };
    },
    answer: [true, "22", "10.0.0.0/8", "ingress"],
  },
  "read again, and it is gone": {
    given: full,
    asks: async (program, { create, read }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      await program.client.deleteRule(id, kept.id.split("/")[1]!);
      return () => read(kept);
    },
    answer: undefined,
  },
  "read again, and nobody may look: it is kept": {
    asks: async (program, { create, read }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      program.setFaults([{ kind: "status", code: 403, operation: "group.rule.list" }]);
      return async () => (await read(kept))?.id === kept.id;
    },
    answer: true,
    says: [expect.stringMatching(/^rule #5\/\S+ was not seen, and is kept as it was/)],
  },
  "read by its id, and nobody may look: that does not say that it is not there": {
    asks: async (program, process) => {
      const { id } = await process.create("SecurityGroup", "front", shared);
      const kept = await process.create("SecurityGroupRule", "ssh", ssh(id));
      program.setFaults([{ kind: "status", code: 403, operation: "group.rule.list" }]);
      return () => imported(process, "SecurityGroupRule", kept.id);
    },
    answer: expect.stringMatching(/^refused: rule #5\/\S+ cannot be looked at: .* — declare it without an import/),
  },
  "read by its id, and there is no such group": {
    asks:
      async (_, { read }) =>
      () =>
        read({ type: "SecurityGroupRule", name: "it", id: "no/such", outputs: undefined as never }),
    answer: undefined,
  },
  "another description, which is only noted": {
    given: full,
    asks: async (_, { create, diff }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      return () => diff(kept, ssh(id, { description: "why" }));
    },
    answer: ["description", "warns: the service cannot change the description of a rule; it is only noted"],
  },
  "another description and another port, which makes it anew": {
    given: full,
    asks: async (_, { create, diff }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      return () => diff(kept, ssh(id, { description: "why", dstPort: "23" }));
    },
    answer: ["dstPort anew", "description"],
  },
  "deleted leaves the others": {
    given: full,
    asks: async (program, { create, remove }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      await addElsewhere(program, id, 80);
      return async () => {
        await remove(kept);
        return portsIn(program);
      };
    },
    answer: [80],
    sent: ["group.rule.delete #5 200"],
  },
  ...Object.fromEntries(
    [0, 1].map((nth): [string, ToldRow] => [
      `deleted, though list ${nth} of its group lacks it falsely`,
      {
        given: full,
        asks: async (program, { create }) => {
          const { id } = await create("SecurityGroup", "front", shared);
          const kept = await create("SecurityGroupRule", "ssh", ssh(id));
          const { remove } = program.startProcess({ client: lackingOnce(program, nth) });
          return async () => {
            await remove(kept);
            return portsIn(program);
          };
        },
        answer: [],
        sent: ["group.rule.delete #5 200"],
      },
    ]),
  ),
  "read again, though a list of its group lacks it falsely": {
    given: full,
    asks: async (program, { create }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      const { read } = program.startProcess({ client: lackingOnce(program, 0) });
      return async () => (await read(kept))?.id === kept.id;
    },
    answer: true,
  },
  "deleted, and it is gone already": {
    given: full,
    asks: async (program, { create, remove }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      await program.client.deleteRule(id, kept.id.split("/")[1]!);
      return () => remove(kept);
    },
    answer: undefined,
  },
  "deleted, and the service refuses": {
    given: full,
    asks: async (program, { create, remove }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      program.setFaults([{ kind: "status", code: 403, operation: "group.rule.delete" }]);
      return () => remove(kept);
    },
    answer: expect.stringMatching(/^refused: .*HTTP 403/),
    sent: ["group.rule.delete #5 403"],
  },
  "deleted, and nobody may look": {
    given: { with: ["group.rule.delete"] },
    asks: async (program, { create, remove }) => {
      const { id } = await create("SecurityGroup", "front", shared);
      const kept = await create("SecurityGroupRule", "ssh", ssh(id));
      program.setFaults([{ kind: "status", code: 403, operation: "group.rule.list" }]);
      return () => remove(kept);
    },
    answer: expect.stringMatching(/^refused: rule #5\/\S+ is kept, and nothing was sent: of its group, /),
  },
};

describe("a rule", () => {
  it.each(Object.entries(rules))("%s", (_, row) => checkTold(row));
  it.each<readonly [removal: unknown, failures: readonly string[]]>([
    ["keep", []],
    ["fail", []],
    [undefined, []],
    [unknownValue, []],
    ["later", ["onRuleRemoval: must be fail or keep"]],
  ])("that says onRuleRemoval: %j", (removal, failures) => {
    const checked = handlers.SecurityGroupRule.check({ ...ssh("g"), onRuleRemoval: removal });
    expect(checked.failures.map(({ property, reason }) => `${property}: ${reason}`)).toEqual(failures);
  });
});

const others: Readonly<Record<string, ToldRow>> = {
  "a VM keeps its addresses where the look after an update is refused": {
    given: full,
    asks: async (program, { create }) => {
      const kept = await create("Vm", "web", vm);
      let isSent = false;
      const process = program.startProcess({
        client: {
          renameVm: async (...of) => {
            isSent = true;
            return program.client.renameVm(...of);
          },
          listVms: async (...of) => (isSent ? shut : program.client.listVms(...of)),
        },
      });
      return async () => {
        const { outputs } = await process.update(kept, { ...vm, name: "other" });
        return [
          outputs["name"],
          outputs["privateIp"] === kept.outputs["privateIp"],
          outputs["floatingIp"] !== undefined,
        ];
      };
    },
    answer: ["other", true, true],
    sent: ["vm.rename #5 200"],
  },
  "a VM that was renamed elsewhere shows its name": {
    asks: async (program, { create, read }) => {
      const kept = await create("Vm", "web", vm);
      await program.client.renameVm(kept.id, "other");
      return async () => (await read(kept))?.inputs["name"];
    },
    answer: "other",
  },
  "a VM that was stopped elsewhere shows that only where its power is managed": {
    asks: async (program, { create, read }) => {
      const one = await create("Vm", "web", { ...vm, power: "running" });
      const other = await create("Vm", "free", { ...vm, name: "free" });
      for (const { id } of [one, other]) await program.client.stopVm(id);
      await program.clock.sleep(60_000);
      return async () => [(await read(one))?.inputs["power"], (await read(other))?.inputs["power"]];
    },
    answer: ["stopped", undefined],
  },
  "a VM that is stopped may hide a public address that it keeps; one that runs without it has none": {
    asks: async (program, { create }) => {
      const kept = await create("Vm", "web", vm);
      const listVms = async () => {
        const listed = await program.client.listVms();
        if (listed.status !== "accepted") return listed;
        return { ...listed, value: listed.value.map(({ floatingIp: _, ...shown }) => shown) };
      };
      const { read } = program.startProcess({ client: { listVms } });
      const addressShown = async () => {
        await program.clock.sleep(60_000);
        const { status, floatingIp } = (await read(kept))?.outputs ?? {};
        return [status, floatingIp === undefined ? "none" : floatingIp === kept.outputs["floatingIp"]];
      };
      return async () => {
        const running = await addressShown();
        await program.client.stopVm(kept.id);
        return [running, await addressShown()];
      };
    },
    answer: [
      ["ACTIVE", "none"],
      ["SHUTOFF", true],
    ],
    sent: ["vm.stop #5 200"],
  },
  "a VM read by its id shows what the service shows of it": {
    asks: async (_, process) => {
      const { id } = await process.create("Vm", "web", vm);
      return async () => {
        const { inputs, outputs } = await imported(process, "Vm", id);
        return [inputs["name"], inputs["userId"], outputs["status"], typeof outputs["privateIp"]];
      };
    },
    answer: ["web", undefined, "ACTIVE", "string"],
  },
  "a VM that is deleted with its data volume leaves another one alone": {
    given: full,
    asks: async (program, { create, remove }) => {
      const kept = await create("Vm", "web", { ...vm, preservedVolumes: "delete" });
      const { id: volumeId } = await create("Volume", "data", data);
      await create("VolumeAttachment", "att", { vmId: kept.id, volumeId });
      // Answers of before are no longer used.
      await program.clock.sleep(600_000);
      return async () => {
        await remove(kept);
        return program.dump().volumes.map(({ name }) => name);
      };
    },
    answer: ["data"],
    sent: ["vm.stop #5 200", "vm.delete #5 200", "volume.delete #7 200"],
  },
  "a VM that is gone says what a new one does not have": {
    given: full,
    asks: async (program, { create, read }) => {
      const kept = await create("Vm", "web", vm);
      const other = await create("Vm", "other", { ...vm, name: "other" });
      await program.client.deleteVm(kept.id, undefined);
      await program.clock.sleep(60_000);
      await read(other);
      return () => read(kept);
    },
    answer: undefined,
    says: [
      expect.stringMatching(
        /^vm web \(#5\) is gone: .*; the next update makes a new one, with an empty root disk and an empty data volume; whether the data volume #7 still exists/,
      ),
    ],
  },
  "an attachment is made once, and the second one takes it over": {
    given: full,
    asks: async (program, { create }) => {
      const { id: vmId } = await create("Vm", "web", vm);
      const { id: volumeId } = await create("Volume", "data", data);
      const inputs = { vmId, volumeId };
      const first = await create("VolumeAttachment", "att", inputs);
      // Answers of before are no longer used.
      await program.clock.sleep(600_000);
      return async () => (await create("VolumeAttachment", "again", inputs)).id === first.id;
    },
    answer: true,
    says: [expect.stringMatching(/^volume #8 is attached to #5 already: nothing is attached/)],
  },
  "an attachment of a volume that hangs on another VM": {
    given: full,
    asks: async (program, { create }) => {
      const { id: vmId } = await create("Vm", "web", vm);
      const { id: other } = await create("Vm", "other", { ...vm, name: "other" });
      const { id: volumeId } = await create("Volume", "data", data);
      await create("VolumeAttachment", "att", { vmId, volumeId });
      // Answers of before are no longer used.
      await program.clock.sleep(600_000);
      return () => create("VolumeAttachment", "again", { vmId: other, volumeId });
    },
    answer: "refused: volume #11 is attached to #5 — remove that attachment first",
  },
  "an attachment that moves needs a flush": {
    given: full,
    asks: async (_, { create, diff }) => {
      const { id: vmId } = await create("Vm", "web", vm);
      const { id: other } = await create("Vm", "other", { ...vm, name: "other" });
      const { id: volumeId } = await create("Volume", "data", data);
      const kept = await create("VolumeAttachment", "att", { vmId, volumeId });
      return () => diff(kept, { vmId: other, volumeId });
    },
    answer: expect.stringMatching(/^refused: volume #11 has to be detached, and nothing confirms that it is flushed/),
  },
  "an attachment that moves, with its flush confirmed": {
    given: full,
    asks: async (_, { create, diff }) => {
      const { id: vmId } = await create("Vm", "web", vm);
      const { id: other } = await create("Vm", "other", { ...vm, name: "other" });
      const { id: volumeId } = await create("Volume", "data", data);
      const kept = await create("VolumeAttachment", "att", { vmId, volumeId, flushConfirmed: true });
      return () => diff(kept, { vmId: other, volumeId, flushConfirmed: true });
    },
    answer: ["vmId anew", "the old one first"],
  },
  "an attachment whose volume was taken off elsewhere is gone": {
    given: full,
    asks: async (program, { create, read }) => {
      const { id: vmId } = await create("Vm", "web", vm);
      const { id: volumeId } = await create("Volume", "data", data);
      const kept = await create("VolumeAttachment", "att", { vmId, volumeId });
      await program.client.detachVolume(volumeId, vmId, true);
      return () => read(kept);
    },
    answer: undefined,
  },
  "an attachment that is previewed of a volume that hangs elsewhere": {
    given: full,
    asks: async (_, { create, preview }) => {
      const { id: vmId } = await create("Vm", "web", vm);
      const { id: other } = await create("Vm", "other", { ...vm, name: "other" });
      const { id: volumeId } = await create("Volume", "data", data);
      await create("VolumeAttachment", "att", { vmId, volumeId });
      return () => preview("VolumeAttachment", "new", { vmId: other, volumeId });
    },
    answer: ["volume #11 is attached to #5, and has to be taken off it before"],
  },
  "a volume that another process took off its VM a moment ago is deleted": {
    given: full,
    asks: async (program, { create, remove }) => {
      const { id: vmId } = await create("Vm", "web", vm);
      const gone = await create("Volume", "gone", { ...data, name: "gone" });
      const kept = await create("Volume", "data", data);
      const { id: volumeId } = kept;
      const other = program.startProcess();
      const attached = await other.create("VolumeAttachment", "att", { vmId, volumeId, flushConfirmed: true });
      await program.clock.sleep(60_000, new AbortController().signal);
      await remove(gone);
      await other.remove(attached);
      return () => remove(kept);
    },
    answer: undefined,
    sent: ["volume.delete #9 200"],
  },
  "an attachment that is previewed with a flush that is not known yet": {
    given: full,
    asks: async (_, { create, preview }) => {
      const { id: vmId } = await create("Vm", "web", vm);
      const { id: volumeId } = await create("Volume", "data", data);
      const flush = { via: "command", command: unknownValue };
      return () => preview("VolumeAttachment", "att", { vmId, volumeId, flush });
    },
    answer: [],
  },
  "a rule that is previewed with a port that is not known yet": {
    given: full,
    asks: async (_, { create, preview }) => {
      const { id: securityGroupId } = await create("SecurityGroup", "front", shared);
      await create("SecurityGroupRule", "all", { securityGroupId, protocol: "tcp", remoteIp: "10.0.0.0/8" });
      return () => preview("SecurityGroupRule", "one", { securityGroupId, ...rule(unknownValue) });
    },
    answer: [],
  },
  "an attachment that is previewed without one of its ids": {
    given: full,
    asks:
      async (_, { preview }) =>
      () =>
        preview("VolumeAttachment", "new", { vmId: "v" }),
    answer: "refused: VolumeAttachment needs volumeId — give the id",
  },
};

describe("of the others", () => {
  it.each(Object.entries(others))("%s", (_, row) => checkTold(row));
});
