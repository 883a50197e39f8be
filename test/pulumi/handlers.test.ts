import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FaultSpec } from "../../emulator/faults";
import { createPoller, type Poller } from "../../reconciler/engine/poller";
import { type Handler, type HandlerContext, type Props, unknownValue } from "../../reconciler/one/handler";
import { type HandlerType, handlers } from "../../reconciler/one/table";
import { type BenchWorld, dialectFor, startBenchWorld } from "../support/bench-world";
import { contextFor } from "../support/handler-program";

const vm = {
  name: "db-1",
  flavorId: "m1.small",
  imageId: "ubuntu-24.04",
  owner: "ops@acme.example",
  userId: "1042",
  project: "acme",
  region: "in-west-1",
  size: 10,
};
const rule = { protocol: "tcp", dstPort: "443", remoteIp: "0.0.0.0/0" };
const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];

describe("check says what is wrong, at its property", () => {
  const cases: Record<string, readonly [HandlerType, Props, readonly string[]]> = {
    "a VM as it should be": ["Vm", vm, []],
    "a size as text is a size": ["Vm", { ...vm, size: "10" }, []],
    "upper case in a name is lower-cased by the service": ["Vm", { ...vm, name: "DB-1" }, []],
    "a name of one word of a-z, 0-9 and hyphen": ["Vm", { ...vm, name: "d b" }, ["name"]],
    "every required property": [
      "Vm",
      { name: "db-1" },
      ["flavorId", "imageId", "owner", "project", "region", "size", "userId"],
    ],
    "a property that is none": ["Vm", { ...vm, flavour: "x" }, ["flavour"]],
    "a nested value at its whole path": [
      "Vm",
      { ...vm, verifyResize: { check: { tcp: 99999 } } },
      ["verifyResize.check.tcp"],
    ],
    "a value in a list at its place": [
      "SecurityGroup",
      { name: "web-group", rules: [rule, { ...rule, dstPort: "none" }] },
      ["rules[1].dstPort"],
    ],
    "a word that is not allowed": ["Vm", { ...vm, power: "off" }, ["power"]],
    "text that would be an interpolation in a file is text": [
      "SecurityGroup",
      { name: "web-group", description: "${var.x}" },
      [],
    ],
    "a data volume of at least 1 GB (contract: VM creation)": ["Vm", { ...vm, size: 0 }, ["size"]],
    "a flush command needs the command": ["Volume", { name: "data", size: 5, flush: { via: "command" } }, ["flush"]],
    "remote_ip and remote_group exclude each other": [
      "SecurityGroupRule",
      { securityGroupId: "g", protocol: "tcp", remoteIp: "10.0.0.0/8", remoteGroup: "h" },
      ["remoteGroup"],
    ],
    "an id that is none": ["Volume", { name: "data", size: 5, adopt: true }, ["adopt"]],
    "a word about a flush that says neither": [
      "Volume",
      { name: "data", size: 5, flushConfirmed: "yes" },
      ["flushConfirmed"],
    ],
    "an attachment of a map": ["VolumeAttachment", { vmId: {}, volumeId: "v" }, ["vmId"]],
    "an id that is a number is its text": ["VolumeAttachment", { vmId: 4711, volumeId: "v" }, []],
    "icmp takes no port": ["SecurityGroupRule", { securityGroupId: "g", protocol: "icmp", dstPort: "1" }, ["dstPort"]],
    "two identical rules (the service would roll the group back)": [
      "SecurityGroup",
      { name: "web-group", rules: [rule, { ...rule, remoteIp: undefined }] },
      ["rules[1]"],
    ],
    "what is not known yet is no failure": ["Vm", { ...vm, imageId: unknownValue, size: unknownValue }, []],
    "unknown ids in rules are not one rule": [
      "SecurityGroup",
      {
        name: "web-group",
        rules: [
          { protocol: "tcp", remoteGroup: unknownValue },
          { protocol: "tcp", remoteGroup: unknownValue },
        ],
      },
      [],
    ],
    "rules that differ in what is not known yet": [
      "SecurityGroup",
      {
        name: "web-group",
        rules: ["dstPort", "protocol", "direction", "ethertype"].flatMap((property) => [
          { ...rule, [property]: unknownValue },
          { ...rule, [property]: unknownValue },
        ]),
      },
      [],
    ],
    "two identical rules, whatever they are described as": [
      "SecurityGroup",
      { name: "web-group", rules: [{ ...rule, description: unknownValue }, rule] },
      ["rules[1]"],
    ],
    "a port whose protocol is not known yet": [
      "SecurityGroupRule",
      { ...rule, securityGroupId: "g", protocol: unknownValue },
      [],
    ],
    "the platform's own group cannot be declared": ["SecurityGroup", { name: "default" }, ["name"]],
  };
  it.each(Object.entries(cases))("%s", (_, [type, inputs, properties]) => {
    const { failures } = handlers[type].check(inputs);
    expect(failures.map(({ property }) => property).sort()).toEqual(properties);
  });
});

describe("a rule without a remote admits everyone, and an output without a value leaves the remote out:", () => {
  const bare = { protocol: "tcp", dstPort: "22" };
  const told = ["warns"];
  const cases: Record<string, readonly [Props, readonly string[]]> = {
    "neither is given": [bare, told],
    "for IPv6": [{ ...bare, ethertype: "IPv6" }, told],
    "everyone is said": [{ ...bare, remoteIp: "0.0.0.0/0" }, []],
    "a group is named": [{ ...bare, remoteGroup: "self" }, []],
    "a remote is not known yet": [{ ...bare, remoteIp: unknownValue }, []],
    "the direction is not known yet": [{ ...bare, direction: unknownValue }, told],
    "of what goes out": [{ ...bare, direction: "egress" }, []],
    "the address is null": [{ ...bare, remoteIp: null }, ["remoteIp"]],
    "the group is null": [{ ...bare, remoteGroup: null }, ["remoteGroup"]],
    "one of the two is null": [{ ...bare, remoteIp: null, remoteGroup: "g" }, []],
  };
  it.each(Object.entries(cases))("%s", (_, [rule, expected]) => {
    const group = handlers.SecurityGroup.check({
      name: "web-group",
      rules: [{ ...bare, remoteIp: "10.0.0.0/8" }, rule],
    });
    const alone = handlers.SecurityGroupRule.check({ ...rule, securityGroupId: "g" });
    for (const { failures, warnings } of [group, alone])
      expect([
        ...failures.map(({ property }) => property.replace("rules[1].", "")),
        ...warnings.map((one) => (/^(rules\[1\]|the rule) names no remote/.test(one) ? "warns" : one)),
      ]).toEqual(expected);
  });
});

describe("diff says what a change leads to", () => {
  let world: BenchWorld;
  let context: HandlerContext;
  beforeEach(async () => {
    const capabilities = { with: everything };
    world = await startBenchWorld({ ...capabilities, dialect: dialectFor(capabilities) });
    context = contextFor(world);
  });
  afterEach(() => world.close());

  const same: readonly string[] = [];
  const cases: Record<
    string,
    readonly [
      HandlerType,
      Props,
      Props,
      { changes: readonly string[]; replaces?: readonly string[]; first?: boolean; warns?: RegExp },
    ]
  > = {
    nothing: ["Vm", vm, vm, { changes: same }],
    "a flavor by id is the flavor by name": [
      "Vm",
      vm,
      { ...vm, flavorId: "00000000-0000-4000-8002-000000000001" },
      { changes: same },
    ],
    "a username is never a difference to the e-mail": ["Vm", vm, { ...vm, owner: "ops" }, { changes: same }],
    "another flavor resizes": ["Vm", vm, { ...vm, flavorId: "m1.large" }, { changes: ["flavorId"] }],
    "another image rebuilds, and says what is lost": [
      "Vm",
      vm,
      { ...vm, imageId: "debian-12" },
      { changes: ["imageId"], warns: /wiped by the rebuild/ },
    ],
    "on_image_change: replace": [
      "Vm",
      { ...vm, onImageChange: "replace" },
      { ...vm, onImageChange: "replace", imageId: "debian-12" },
      {
        changes: ["imageId"],
        replaces: ["imageId"],
        first: true,
        warns: /root disk of 50 GB of VM db-1 .* is deleted/,
      },
    ],
    "on_image_change: ignore": [
      "Vm",
      { ...vm, onImageChange: "ignore" },
      { ...vm, onImageChange: "ignore", imageId: "debian-12" },
      { changes: same },
    ],
    "what the service cannot change replaces, the old one first": [
      "Vm",
      vm,
      { ...vm, rootSize: 80 },
      { changes: ["rootSize"], replaces: ["rootSize"], first: true, warns: /deleted/ },
    ],
    "a policy is noted in place": ["Vm", vm, { ...vm, preservedVolumes: "delete" }, { changes: ["preservedVolumes"] }],
    "a default written out is no difference": [
      "Vm",
      vm,
      { ...vm, preservedVolumes: "retain", onImageChange: "rebuild" },
      { changes: same },
    ],
    "power that becomes managed": ["Vm", vm, { ...vm, power: "stopped" }, { changes: ["power"] }],
    "what is not known yet in what cannot change replaces": [
      "Vm",
      vm,
      { ...vm, region: unknownValue },
      { changes: ["region"], replaces: ["region"], first: true },
    ],
    "what is not known yet elsewhere updates": ["Vm", vm, { ...vm, flavorId: unknownValue }, { changes: ["flavorId"] }],
    "a volume grows": ["Volume", { name: "data", size: 5 }, { name: "data", size: 6 }, { changes: ["size"] }],
    "a volume cannot be renamed: an empty one takes its place": [
      "Volume",
      { name: "data", size: 5 },
      { name: "data-2", size: 5 },
      { changes: ["name"], replaces: ["name"], warns: /replaced by an empty one/ },
    ],
    "rules are compared by meaning": [
      "SecurityGroup",
      { name: "web-group", rules: [{ ...rule, remoteIp: "10.0.0.7/8" }] },
      { name: "web-group", rules: [{ ...rule, dstPort: 443, remoteIp: "10.0.0.0/8", direction: "ingress" }] },
      { changes: same },
    ],
    "a description less": [
      "SecurityGroup",
      { name: "web-group", description: "of the web" },
      { name: "web-group" },
      { changes: ["description"] },
    ],
    "a rule less": [
      "SecurityGroup",
      { name: "web-group", rules: [rule] },
      { name: "web-group", rules: [] },
      { changes: ["rules"] },
    ],
  };
  it.each(Object.entries(cases))("%s", async (_, [type, before, after, expected]) => {
    const handler: Handler = handlers[type];
    const kept = await handler.create(context, handler.check(before).inputs);
    const found = await handler.diff(context, kept.id, kept.outputs, handler.check(after).inputs);
    expect(found.changes.map(({ property }) => property)).toEqual(expected.changes);
    expect([found.replaces, found.deleteBeforeReplace]).toEqual([
      expected.replaces ?? [],
      expected.first ?? (expected.changes.length > 0 && type !== "Volume"),
    ]);
    expect(found.warnings.join("\n")).toMatch(expected.warns ?? /^$/);
  });

  it("a description that is left out is emptied in the service", async () => {
    const kept = await handlers.SecurityGroup.create(context, { name: "web-group", description: "of the web" });
    const next = await handlers.SecurityGroup.update(context, kept.id, kept.outputs, { name: "web-group" });
    expect(world.emulator.dump().groups.find(({ id }) => id === kept.id)?.description).toBe("");
    expect((await handlers.SecurityGroup.diff(context, kept.id, next.outputs, { name: "web-group" })).changes).toEqual(
      [],
    );
  });

  it("text that would be an interpolation in a file reaches the service as it is", async () => {
    const texts = ["of ${var.x}", "$${HOME}", "${open"];
    for (const [index, description] of texts.entries()) {
      const inputs = { name: `group-${index}`, description, rules: [{ ...rule, description }] };
      const kept = await handlers.SecurityGroup.create(context, inputs);
      const { groups, rules } = world.emulator.dump();
      expect(groups.find(({ id }) => id === kept.id)?.description).toBe(description);
      expect(rules.flatMap((one) => (one.security_group_id === kept.id ? [one.description] : []))).toContain(
        description,
      );
    }
  });

  it("refuses to shrink, in the words of the plan", async () => {
    const kept = await handlers.Volume.create(context, { name: "data", size: 5 });
    await expect(handlers.Volume.diff(context, kept.id, kept.outputs, { name: "data", size: 4 })).rejects.toThrow(
      "cannot shrink",
    );
  });

  it("a separate rule stays beside a shared group, and goes with an authoritative one", async () => {
    const group = await handlers.SecurityGroup.create(context, {
      name: "web-group",
      rulesMode: "shared",
      rules: [rule],
    });
    const own = { securityGroupId: group.id, protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" };
    const made = await handlers.SecurityGroupRule.create(context, own);
    expect(made.id).toMatch(new RegExp(`^${group.id}/`));
    const shared = { name: "web-group", rulesMode: "shared", rules: [{ ...rule, dstPort: "80" }] };
    const updated = await handlers.SecurityGroup.update(context, group.id, group.outputs, shared);
    const ports = () =>
      world.emulator
        .dump()
        .rules.filter(({ security_group_id: id, direction }) => id === group.id && direction === "ingress")
        .map(({ port_range_min: port }) => port)
        .sort();
    expect(ports()).toEqual([22, 80]);
    expect((await handlers.SecurityGroup.diff(context, group.id, updated.outputs, shared)).changes).toEqual([]);
    await handlers.SecurityGroup.update(context, group.id, updated.outputs, { ...shared, rulesMode: "authoritative" });
    expect(ports()).toEqual([80]);
    expect(await handlers.SecurityGroupRule.read(context, made.id, made.outputs)).toBeUndefined();
  });

  it("an update never loses what the preview did not show", async () => {
    const kept = await handlers.Vm.create(context, vm);
    await world.client.rebuildVm(kept.id, "00000000-0000-4000-8003-000000000002");
    await expect(handlers.Vm.update(context, kept.id, kept.outputs, { ...vm, name: "db-2" })).rejects.toThrow(
      "run a refresh",
    );
    const read = await handlers.Vm.read(context, kept.id, kept.outputs);
    expect((await handlers.Vm.diff(context, kept.id, read!.outputs, vm)).warnings.join()).toMatch(
      /wiped by the rebuild/,
    );
  });

  it("an update leaves alone what was changed elsewhere and no preview has shown, until a refresh shows it", async () => {
    const kept = await handlers.Vm.create(context, vm);
    const flavor = () => world.emulator.dump().vms.map(({ flavor_id }) => flavor_id);
    const first = flavor();
    await handlers.Vm.update(contextFor(world), kept.id, kept.outputs, { ...vm, flavorId: "m1.large" });
    const resized = flavor();
    const next = { ...vm, name: "db-2" };
    const told = /db-1 was changed elsewhere, and stays so until a refresh: flavorId is m1.large, and not m1.small/;
    const { changes, warnings } = await handlers.Vm.diff(context, kept.id, kept.outputs, next);
    expect(changes).toEqual([{ property: "name", replaces: false }]);
    expect(warnings.join()).toMatch(told);
    const log: string[] = [];
    const updated = await handlers.Vm.update(contextFor(world, log), kept.id, kept.outputs, next);
    expect(log.join("\n")).toMatch(told);
    expect(flavor()).toEqual(resized);
    expect((await handlers.Vm.diff(context, kept.id, updated.outputs, next)).changes).toEqual([]);
    const read = await handlers.Vm.read(context, kept.id, updated.outputs);
    expect((await handlers.Vm.diff(context, kept.id, read!.outputs, next)).changes).toEqual([
      { property: "flavorId", replaces: false },
    ]);
    await handlers.Vm.update(context, kept.id, read!.outputs, next);
    expect(flavor()).toEqual(first);
  });

  it("an update of something else neither opens nor closes what a group's rules were changed to elsewhere", async () => {
    const group = { name: "web-group", description: "one", rules: [rule] };
    const kept = await handlers.SecurityGroup.create(context, group);
    const elsewhere = { ...group, rules: [{ ...rule, dstPort: "80" }] };
    await handlers.SecurityGroup.update(contextFor(world), kept.id, kept.outputs, elsewhere);
    const next = { ...group, description: "two" };
    const { changes, warnings } = await handlers.SecurityGroup.diff(context, kept.id, kept.outputs, next);
    expect(changes).toEqual([{ property: "description", replaces: false }]);
    expect(warnings.join()).toMatch(/rules lacks ingress tcp 443 .*; rules has ingress tcp 80 .* as well/);
    const updated = await handlers.SecurityGroup.update(contextFor(world), kept.id, kept.outputs, next);
    const ports = () =>
      world.emulator
        .dump()
        .rules.filter(({ security_group_id: id, direction }) => id === kept.id && direction === "ingress")
        .map(({ port_range_min: port }) => port);
    expect(ports()).toEqual([80]);
    const read = await handlers.SecurityGroup.read(context, kept.id, updated.outputs);
    await handlers.SecurityGroup.update(context, kept.id, read!.outputs, next);
    expect(ports()).toEqual([443]);
  });

  it("deleting a VM with its data volume leaves volumes alone that were attached to it", async () => {
    const host = await handlers.Vm.create(context, { ...vm, preservedVolumes: "delete" });
    const data = await handlers.Volume.create(context, { name: "other", size: 5 });
    await handlers.VolumeAttachment.create(context, { vmId: host.id, volumeId: data.id });
    await handlers.Vm.delete(context, host.id, host.outputs);
    expect(world.emulator.dump().volumes.map(({ name }) => name)).toEqual(["other"]);
  });

  it("a grow of an attached volume needs a flush, and puts it back where it was", async () => {
    const host = await handlers.Vm.create(context, vm);
    const data = await handlers.Volume.create(context, { name: "data", size: 5 });
    await handlers.VolumeAttachment.create(context, { vmId: host.id, volumeId: data.id });
    const grown = { name: "data", size: 8 };
    await expect(handlers.Volume.update(context, data.id, data.outputs, grown)).rejects.toThrow("flushConfirmed: true");
    const kept = await handlers.Volume.update(context, data.id, data.outputs, { ...grown, flushConfirmed: true });
    const found = () => world.emulator.dump().volumes.find(({ id }) => id === data.id);
    expect(found()).toMatchObject({ size: 8, attached_to: host.id });
    // Nothing claims the place where it hangs: that is the attachment's.
    await handlers.Volume.update(context, data.id, kept.outputs, { ...grown, size: 9, flushConfirmed: true });
    expect(found()).toMatchObject({ size: 9, attached_to: host.id });
  });

  it("a volume is grown before or after its VM is resized, and not meanwhile", async () => {
    const host = await handlers.Vm.create(context, vm);
    const data = await handlers.Volume.create(context, { name: "data", size: 5 });
    await handlers.VolumeAttachment.create(context, { vmId: host.id, volumeId: data.id });
    const under = new Set<string>();
    const together: string[] = [];
    const service = await context.service();
    const client = new Proxy(service.client, {
      get(target, method) {
        const call = Reflect.get(target, method);
        if (!["resizeVm", "confirmResize", "detachVolume", "resizeVolume", "attachVolume"].includes(String(method)))
          return call;
        return async (...args: unknown[]) => {
          under.add(String(method));
          if (under.size > 1) together.push([...under].join(" beside "));
          try {
            return await call.apply(target, args);
          } finally {
            under.delete(String(method));
          }
        };
      },
    });
    const watched = { ...context, service: async () => ({ ...service, client }) };
    await Promise.all([
      handlers.Vm.update(watched, host.id, host.outputs, { ...vm, flavorId: "m1.large" }),
      handlers.Volume.update(watched, data.id, data.outputs, { name: "data", size: 8, flushConfirmed: true }),
    ]);
    expect(together).toEqual([]);
    const grown = world.emulator.dump().volumes.find(({ id }) => id === data.id);
    expect(grown).toMatchObject({ size: 8, attached_to: host.id });
  });
});

it("what to do about a failure names no command of reconcile, which knows no state of a program", async () => {
  const world = await startBenchWorld({ with: ["volume.list"], dialect: dialectFor({ with: ["volume.list"] }) });
  try {
    const log: string[] = [];
    const context = contextFor(world, log);
    world.emulator.setFaults([{ kind: "vm-fails", operation: "vm.create", count: 1 }]);
    const failed = handlers.Vm.create(context, vm);
    await expect(failed).rejects.toThrow(/ended in state ERROR — the next run offers to replace it$/);
    world.emulator.setFaults([]);
    const kept = await handlers.Vm.create(context, { ...vm, name: "db-2", preservedVolumes: "delete" });
    world.emulator.setFaults([{ kind: "status", code: 403, operation: "volume.delete", when: "before" }]);
    await expect(handlers.Vm.delete(context, kept.id, kept.outputs)).rejects.toThrow(/run the same update again$/);
  } finally {
    await world.close();
  }
});

describe("with a service that has less", () => {
  it("a create whose id cannot be learnt is kept as pending, never made twice, and settled by its id", async () => {
    const capabilities = { without: ["vm.list"] };
    const world = await startBenchWorld({ ...capabilities, dialect: dialectFor(capabilities) });
    try {
      const context = contextFor(world);
      const error = await handlers.Vm.create(context, vm).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "PartialFailure", kept: { id: expect.stringMatching(/^pending:/) } });
      const { kept } = error as { kept: { id: string; outputs: Props } };
      await expect(handlers.Vm.update(context, kept.id, kept.outputs, vm)).rejects.toThrow("adopt");
      expect(world.emulator.dump().vms).toHaveLength(1);
      const adopted = { ...vm, adopt: world.emulator.dump().vms[0]!.id };
      expect((await handlers.Vm.diff(context, kept.id, kept.outputs, adopted)).replaces).not.toEqual([]);
      await handlers.Vm.delete(context, kept.id, kept.outputs);
      expect((await handlers.Vm.create(context, adopted)).id).toBe(adopted.adopt);
      expect(world.emulator.dump().vms).toHaveLength(1);
    } finally {
      await world.close();
    }
  });

  it("a rule that cannot be deleted by itself is an error, unless it is said to stay; a group is replaced for it", async () => {
    const world = await startBenchWorld();
    try {
      const log: string[] = [];
      const context = contextFor(world, log);
      const inputs = { name: "web-group", rules: [rule] };
      const group = await handlers.SecurityGroup.create(context, inputs);
      const found = await handlers.SecurityGroup.diff(context, group.id, group.outputs, { ...inputs, rules: [] });
      expect([found.replaces, found.deleteBeforeReplace]).toEqual([["rules"], true]);
      const one = await handlers.SecurityGroupRule.create(context, {
        securityGroupId: group.id,
        protocol: "udp",
        dstPort: "53",
      });
      await expect(handlers.SecurityGroupRule.delete(context, one.id, one.outputs)).rejects.toThrow("deletedWith");
      await handlers.SecurityGroupRule.delete(context, one.id, { ...one.outputs, onRuleRemoval: "keep" });
      expect(log.join("\n")).toContain("it stays");
    } finally {
      await world.close();
    }
  });

  it("a rule that is made anew goes with a group that does, or is said to stay; else the preview refuses it", async () => {
    const world = await startBenchWorld();
    try {
      const context = contextFor(world);
      const inputs = { name: "web-group", rulesMode: "shared", rules: [rule] };
      const web = await handlers.SecurityGroup.create(context, inputs);
      const db = await handlers.SecurityGroup.create(context, { name: "db-group" });
      const ended: unknown[] = [];
      for (const [index, changed] of [
        { securityGroupId: unknownValue },
        { remoteGroup: unknownValue },
        { dstPort: "443", onRuleRemoval: "keep" },
        { dstPort: unknownValue },
        { dstPort: "443" },
        { securityGroupId: db.id },
        { securityGroupId: db.id },
      ].entries()) {
        if (index === 6) await handlers.SecurityGroup.diff(context, web.id, web.outputs, { ...inputs, rules: [] });
        const own = { securityGroupId: web.id, protocol: "tcp", dstPort: `${index + 1}`, remoteGroup: db.id };
        const { id, outputs } = await handlers.SecurityGroupRule.create(context, own);
        const told = await handlers.SecurityGroupRule.diff(context, id, outputs, { ...own, ...changed }).then(
          ({ replaces, warnings }) => [...replaces, ...warnings.map((one) => one.split(/[;:] /).at(-1))],
          ({ message }: Error) => message.split(" — ")[1],
        );
        const deleted = handlers.SecurityGroupRule.delete(context, id, outputs);
        ended.push([
          told,
          await deleted.then(
            () => "deleted",
            () => "refused",
          ),
        ]);
      }
      expect(ended).toEqual([
        [["securityGroupId"], "deleted"],
        [["remoteGroup", "where the service does not drop it with the group that it names, it stays"], "deleted"],
        [["dstPort", "it stays"], "deleted"],
        [["dstPort", "where what is not known yet changes it, the update is refused"], "refused"],
        [expect.stringContaining("replace its group with it"), "refused"],
        [expect.stringContaining("replace its group with it"), "refused"],
        [["securityGroupId"], "deleted"],
      ]);
    } finally {
      await world.close();
    }
  });
});

describe("a rule that is deleted by itself", () => {
  it.each<readonly [what: string, others: readonly Props[]]>([
    ["others of its group", [{ dstPort: "22" }, { dstPort: "23" }]],
    ["others that admit the same", [{ remoteIp: "10.0.0.0/8" }, { remoteIp: "10.1.0.0/16" }]],
  ])("goes beside %s that go at the same time", async (_, others) => {
    const capabilities = { with: everything };
    const world = await startBenchWorld({ ...capabilities, dialect: dialectFor(capabilities) });
    try {
      const log: string[] = [];
      const context = contextFor(world, log);
      const { id: securityGroupId } = await handlers.SecurityGroup.create(context, {
        name: "web-group",
        rulesMode: "shared",
      });
      const made: Awaited<ReturnType<Handler["create"]>>[] = [];
      for (const other of [rule, ...others])
        made.push(await handlers.SecurityGroupRule.create(context, { ...rule, ...other, securityGroupId }));
      await Promise.all(made.map((one) => handlers.SecurityGroupRule.delete(context, one.id, one.outputs)));
      expect(world.emulator.dump().rules.filter(({ direction }) => direction === "ingress")).toEqual([]);
      expect(log.filter((line) => line.startsWith("warning"))).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it.each<readonly [what: string, faults: readonly Omit<FaultSpec, "operation">[], fails: boolean, left: number]>([
    ["goes", [], false, 0],
    ["goes where only the answer was lost", [{ kind: "drop-after", count: 1 }], false, 0],
    ["stays where the service refuses, and the delete fails", [{ kind: "status", code: 403 }], true, 1],
  ])("%s", async (_, faults, fails, left) => {
    const capabilities = { with: everything };
    const world = await startBenchWorld({ ...capabilities, dialect: dialectFor(capabilities) });
    try {
      const context = contextFor(world);
      const group = await handlers.SecurityGroup.create(context, { name: "web-group", rulesMode: "shared" });
      const one = await handlers.SecurityGroupRule.create(context, { ...rule, securityGroupId: group.id });
      world.emulator.setFaults(faults.map((fault) => ({ operation: "group.rule.delete", ...fault })));
      const ended = await handlers.SecurityGroupRule.delete(context, one.id, one.outputs).then(
        () => "deleted",
        (error: unknown) => error,
      );
      expect(ended instanceof Error).toBe(fails);
      const listed = await world.ports.client.listRules(group.id);
      expect(listed).toMatchObject({ status: "accepted" });
      const rules = listed.status === "accepted" ? listed.value : [];
      expect(rules.filter(({ protocol }) => protocol === "tcp")).toHaveLength(left);
    } finally {
      await world.close();
    }
  });
});

describe("all resources of a process", () => {
  it("wait for VMs with the one poller that they are given", async () => {
    const world = await startBenchWorld();
    const { client, clock, timing } = world.ports;
    const poller = createPoller(client, clock, timing.pollIntervalMs, undefined, { busyAt: () => 0 });
    const waitedFor: (readonly string[])[] = [];
    const counted: Poller = {
      watch(look, timeoutMs, ids, options) {
        waitedFor.push(ids);
        return poller.watch(look, timeoutMs, ids, options);
      },
    };
    const context = contextFor(world);
    const service = { ...(await context.service()), poller: counted };
    const names = ["db-1", "db-2", "db-3"];
    await Promise.all(
      names.map((name) => handlers.Vm.create({ ...context, service: async () => service }, { ...vm, name })),
    );
    expect(waitedFor.length).toBeGreaterThanOrEqual(names.length);
    await world.close();
  });
});
