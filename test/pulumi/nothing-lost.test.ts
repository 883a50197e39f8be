import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openConnection } from "../../reconciler/connect";
import { mergeDialect } from "../../reconciler/dialect/merge-dialect";
import type { HandlerContext, Props } from "../../reconciler/one/handler";
import type { ProgramNotes } from "../../reconciler/one/program-notes";
import { handlers } from "../../reconciler/one/table";
import { noteRemoved, programNotes } from "../../reconciler/outside/program-notes";
import { type BenchWorld, dialectFor, startBenchWorld } from "../support/bench-world";
import { eventually } from "../support/eventually";
import { contextFor } from "../support/handler-program";

const vm = {
  ...{ name: "db-1", flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};
const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];

describe("what one resource deletes is never what another has taken over", () => {
  let world: BenchWorld;
  let context: HandlerContext;
  let log: string[];
  beforeEach(async () => {
    world = await startBenchWorld({ with: everything, dialect: dialectFor({ with: everything }) });
    log = [];
    context = contextFor(world, log);
  });
  afterEach(() => world.close());

  it("an attachment that is created under another name, before the old one is deleted", async () => {
    const host = await handlers.Vm.create(context, vm);
    const data = await handlers.Volume.create(context, { name: "data", size: 5 });
    const inputs = { vmId: host.id, volumeId: data.id, flushConfirmed: true };
    const old = await handlers.VolumeAttachment.create(context, inputs);
    const renamed = await handlers.VolumeAttachment.create(context, inputs);
    expect(renamed.id).toBe(old.id);
    await handlers.VolumeAttachment.delete(context, old.id, old.outputs);
    expect(world.emulator.dump().volumes.find(({ id }) => id === data.id)?.attached_to).toBe(host.id);
    expect(log.join("\n")).toMatch(/another resource of this program manages it by now.*aliases/);
    await handlers.VolumeAttachment.delete(context, renamed.id, renamed.outputs);
    expect(world.emulator.dump().volumes.find(({ id }) => id === data.id)?.attached_to).toBeNull();
  });

  it("an attachment whose volume an engine took off to grow it, and was killed", async () => {
    const host = await handlers.Vm.create(context, vm);
    const data = await handlers.Volume.create(context, { name: "data", size: 5, flushConfirmed: true });
    const still = await handlers.Volume.create(context, { name: "still", size: 5 });
    const inputs = { vmId: host.id, volumeId: data.id, flushConfirmed: true };
    const attached = await handlers.VolumeAttachment.create(context, inputs);
    const other = { vmId: host.id, volumeId: still.id };
    const unchanged = await handlers.VolumeAttachment.create(context, other);
    const hostOf = (id: string) => world.emulator.dump().volumes.find((volume) => volume.id === id)?.attached_to;
    const wanted = { name: "data", size: 8, flushConfirmed: true };
    const { VolumeAttachment, Volume } = handlers;
    const requests = () => world.emulator.requests().log.length;

    await world.client.detachVolume(data.id, host.id, true);
    await world.client.resizeVolume(data.id, 8);
    const { client: _client, ...rest } = world.ports;
    const another = { ...rest, client: Object.create(world.client) as typeof world.client };
    const next: HandlerContext = { ...context, service: async () => another };
    expect((await Volume.diff(next, data.id, data.outputs, wanted)).changes).toHaveLength(1);
    // A preview tells it before the update of the volume, and the update after it.
    const told = await VolumeAttachment.diff(next, attached.id, attached.outputs, inputs);
    expect(told).toMatchObject({ changes: [{ property: "recorded", replaces: false }], replaces: [] });
    expect(told.warnings.join()).toContain(`volume ${data.id} is off VM ${host.id}`);
    const grown = await Volume.update(next, data.id, data.outputs, wanted);
    expect(hostOf(data.id)).toBeNull();
    await VolumeAttachment.update(next, attached.id, attached.outputs, inputs);
    expect(hostOf(data.id)).toBe(host.id);
    expect((await VolumeAttachment.diff(next, attached.id, attached.outputs, inputs)).changes).toEqual([]);

    // The attachment of a volume that does not change is not looked at.
    const before = requests();
    expect((await VolumeAttachment.diff(next, unchanged.id, unchanged.outputs, other)).changes).toEqual([]);
    expect(requests()).toBe(before);

    // A grow that is not cut off leaves nothing to do, and somebody else's move is not undone.
    const larger = { ...wanted, size: 9 };
    await Volume.diff(next, data.id, grown.outputs, larger);
    await Volume.update(next, data.id, grown.outputs, larger);
    expect((await VolumeAttachment.diff(next, attached.id, attached.outputs, inputs)).changes).toEqual([]);
    const elsewhere = await handlers.Vm.create(context, { ...vm, name: "db-2" });
    await world.client.detachVolume(data.id, host.id, true);
    await world.client.attachVolume(data.id, elsewhere.id);
    await expect(VolumeAttachment.update(next, attached.id, attached.outputs, inputs)).rejects.toThrow(
      `is attached to ${elsewhere.id}`,
    );
    expect(hostOf(data.id)).toBe(elsewhere.id);
  });

  it("a rule, also when the run ended between the two and the next one goes on", async () => {
    const group = await handlers.SecurityGroup.create(context, { name: "web-group", rulesMode: "shared" });
    const inputs = { securityGroupId: group.id, protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" };
    const old = await handlers.SecurityGroupRule.create(context, inputs);
    const renamed = await handlers.SecurityGroupRule.create(context, inputs);
    const rules = () => world.emulator.dump().rules.filter(({ port_range_min }) => port_range_min === 22);
    const { client: _client, ...rest } = world.ports;
    const another = { ...rest, client: Object.create(world.client) as typeof world.client };
    const next: HandlerContext = { ...context, service: async () => another };
    await handlers.SecurityGroupRule.diff(next, renamed.id, renamed.outputs, inputs);
    await handlers.SecurityGroupRule.delete(next, old.id, old.outputs);
    expect(rules()).toHaveLength(1);
  });

  it("a rule of a resource that goes, in a group that is adopted with that rule", async () => {
    const group = await handlers.SecurityGroup.create(context, { name: "web-group", rulesMode: "shared" });
    const rule = { protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" };
    const old = await handlers.SecurityGroupRule.create(context, { securityGroupId: group.id, ...rule });
    await handlers.SecurityGroup.create(context, { name: "web-group", adopt: group.id, rules: [rule] });
    await handlers.SecurityGroupRule.delete(context, old.id, old.outputs);
    expect(world.emulator.dump().rules.filter(({ port_range_min }) => port_range_min === 22)).toHaveLength(1);
  });

  it("a VM whose resource changes its name while adopt names its id", async () => {
    const old = await handlers.Vm.create(context, vm);
    const renamed = await handlers.Vm.create(context, { ...vm, adopt: old.id });
    await handlers.Vm.delete(context, old.id, old.outputs);
    expect(world.emulator.dump().vms.map(({ id }) => id)).toEqual([renamed.id]);
    await expect(
      handlers.Vm.diff(context, renamed.id, renamed.outputs, { ...vm, adopt: old.id, rootSize: 80 }),
    ).rejects.toThrow(/leave adopt out/);
  });

  it("an id that is only named, and wrong, keeps nothing else from being made", async () => {
    const inputs = { vmId: crypto.randomUUID(), volumeId: crypto.randomUUID() };
    await expect(handlers.VolumeAttachment.create(context, inputs)).rejects.toThrow(inputs.volumeId);
    const rule = { securityGroupId: crypto.randomUUID(), protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" };
    await expect(handlers.SecurityGroupRule.create(context, rule)).rejects.toThrow("Security group not found");
    await handlers.Vm.create(context, vm);
    expect(world.emulator.dump().vms).toHaveLength(1);
  });

  it("a VM that is to be replaced: what hangs on it is looked at, and no warning says that nothing shows it", async () => {
    const made = await handlers.Vm.create(context, vm);
    const { replaces, warnings } = await handlers.Vm.diff(context, made.id, made.outputs, { ...vm, rootSize: 80 });
    expect(replaces).toEqual(["rootSize"]);
    expect(warnings.join("\n")).not.toMatch(/nothing shows which volumes hang/);
  });

  it("what exists goes without what only a create needs, and another region is a replacement all the same", async () => {
    const made = await handlers.Vm.create(context, vm);
    const read = await handlers.Vm.read(context, made.id);
    const { userId: _user, project: _project, region: _region, size: _size, ...seen } = vm;
    expect(Object.keys(read!.inputs).sort()).toEqual(Object.keys(seen).sort());
    expect(handlers.Vm.check(seen).failures.map(({ property }) => property)).toEqual([
      ...["userId", "project", "region", "size"],
    ]);
    const wanted = handlers.Vm.check(seen, true);
    expect(wanted.failures).toEqual([]);
    expect((await handlers.Vm.diff(context, made.id, read!.outputs, wanted.inputs)).changes).toEqual([]);
    const renamed = await handlers.Vm.update(context, made.id, read!.outputs, { ...wanted.inputs, name: "db-9" });
    expect(renamed.outputs["recorded"]).not.toHaveProperty("record.region");
    expect(world.emulator.dump().vms.map(({ id, name }) => [id, name])).toEqual([[made.id, "db-9"]]);
    const stated = { ...vm, name: "db-9" };
    const differs = (before: Props, after: Props) =>
      handlers.Vm.diff(context, made.id, { ...renamed.outputs, ...before }, after);
    expect((await differs({}, stated)).changes).toEqual([]);
    const moved = await differs(stated, { ...stated, region: "in-south-1" });
    expect(moved.replaces).toEqual(["region"]);
    expect(moved.warnings.join()).toContain("root disk");
  });

  it("an attachment names its volume by the id: the name is another resource's, to which it may be a secret", async () => {
    const host = await handlers.Vm.create(context, vm);
    const data = await handlers.Volume.create(context, { name: "canary", size: 5 });
    log.length = 0;
    const inputs = { vmId: host.id, volumeId: data.id };
    const attached = await handlers.VolumeAttachment.create(context, inputs);
    const refused = handlers.VolumeAttachment.delete(context, attached.id, attached.outputs);
    await expect(refused).rejects.toThrow(data.id);
    await expect(refused).rejects.not.toThrow("canary");
    await handlers.VolumeAttachment.delete(context, attached.id, { ...attached.outputs, flushConfirmed: true });
    expect(log.join("\n")).toContain(`detach volume ${data.id}`);
    expect(log.join("\n")).not.toContain("canary");
  });

  it("a VM that has the name: it may be the resource's own, which is replaced, unless another one has shown it", async () => {
    const made = await handlers.Vm.create(context, vm);
    const { client: _client, ...rest } = world.ports;
    const another = { ...rest, client: Object.create(world.client) as typeof world.client };
    const next: HandlerContext = { ...context, service: async () => another };
    // Where another provider made the former version, that may be in another service.
    for (const former of [undefined, "unasked"] as const)
      expect(await handlers.Vm.preview(next, vm, former)).toEqual([
        expect.stringMatching(
          /a VM named db-1 exists already .* — if this resource is being replaced, that one goes first, and the root disk .* — if it is somebody else's, the update will be refused/,
        ),
      ]);
    for (const former of ["unasked", "there"] as const)
      expect(await handlers.Volume.preview(next, { name: "data", size: 5 }, former)).toEqual([
        expect.stringMatching(/volume data is replaced by an empty one/),
      ]);
    expect(await handlers.Vm.preview(next, vm, "there")).toEqual([
      expect.stringMatching(/^the root disk of the VM db-1 that is there is deleted with it$/),
    ]);
    await expect(handlers.Vm.create(next, vm)).rejects.toThrow(/adopt/);
    // The resource that has it may be asked about while the other is previewed already.
    const previewed = handlers.Vm.preview(next, vm);
    const refused = expect(previewed).rejects.toThrow(/adopt/);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await handlers.Vm.diff(next, made.id, made.outputs, vm);
    await refused;
  });

  it("importing a shared group leaves the rules that were made elsewhere", async () => {
    const rule = (dstPort: string) => ({ protocol: "tcp", dstPort, remoteIp: "10.0.0.0/8" });
    const made = await handlers.SecurityGroup.create(context, {
      name: "web-group",
      rules: [rule("22"), rule("80"), rule("443")],
    });
    const read = await handlers.SecurityGroup.read(context, made.id);
    const wanted = handlers.SecurityGroup.check({
      name: "web-group",
      rulesMode: "shared",
      rules: [rule("80"), rule("443")],
    }).inputs;
    // As the plugin hands it on: what the program declared last, over what was read.
    expect((await handlers.SecurityGroup.diff(context, made.id, read!.outputs, wanted)).changes).toEqual([]);
    const less = handlers.SecurityGroup.check({ ...wanted, rules: [rule("443")] }).inputs;
    await handlers.SecurityGroup.update(context, made.id, { ...read!.outputs, ...wanted }, less);
    const ports = world.emulator
      .dump()
      .rules.filter(({ security_group_id, direction }) => security_group_id === made.id && direction === "ingress")
      .map(({ port_range_min }) => port_range_min);
    expect(ports.sort()).toEqual([22, 443]);
  });

  it("what was imported is deleted as the program says, although no update has changed it since", async () => {
    const { emit: _emit, ...ports } = world.ports;
    const elsewhere = { ...context, service: async () => ({ ...ports, client: Object.create(world.client) }) };
    const host = await handlers.Vm.create(elsewhere, vm);
    const data = await handlers.Volume.create(elsewhere, { name: "data", size: 5 });
    await world.client.attachVolume(data.id, host.id);
    const said = {
      vm: { ...vm, snapshotBefore: ["delete"], deleteFloatingIp: true, preservedVolumes: "delete" },
      volume: { name: "data", size: 5, flush: { via: "stop" } },
    };
    const [readVm, readVolume] = [
      await handlers.Vm.read(context, host.id),
      await handlers.Volume.read(context, data.id),
    ];
    expect((await handlers.Vm.diff(context, host.id, readVm!.outputs, said.vm)).changes).toEqual([]);
    expect((await handlers.Volume.diff(context, data.id, readVolume!.outputs, said.volume)).changes).toEqual([]);
    // As the plugin hands it on: what the program declared last, over what was read.
    await handlers.Volume.delete(context, data.id, { ...readVolume!.outputs, ...said.volume });
    const stops = (): number => world.emulator.requests().log.filter(({ operation }) => operation === "vm.stop").length;
    expect(stops()).toBe(1);
    const beside = await handlers.Volume.create(elsewhere, { name: "beside", size: 5 });
    await world.client.attachVolume(beside.id, host.id);
    await handlers.Vm.delete(context, host.id, { ...readVm!.outputs, ...said.vm });
    const { vms, volumes, images, floating_ips } = world.emulator.dump();
    expect([vms, floating_ips]).toEqual([[], []]);
    expect(images.filter(({ name }) => name.includes("db-1"))).toHaveLength(1);
    // Which of the two was made with it is not known, so that both stay.
    expect(volumes.map(({ id }) => id).sort()).toEqual([host.outputs["dataVolumeId"], beside.id].sort());
  });

  it.each([
    ["an import", "the same process"],
    ["an import", "another process"],
    ["an import and an update", "another process"],
    ["adopt", "another process"],
  ])("a volume of its own on a VM that came by %s is not deleted with it by %s", async (how, by) => {
    const { emit: _emit, ...ports } = world.ports;
    const elsewhere = () => ({ ...context, service: async () => ({ ...ports, client: Object.create(world.client) }) });
    const host = await handlers.Vm.create(elsewhere(), vm);
    const own = String(host.outputs["dataVolumeId"]);
    await world.client.detachVolume(own, host.id, true);
    await world.client.deleteVolume(own);
    const data = await handlers.Volume.create(context, { name: "data", size: 10 });
    await handlers.VolumeAttachment.create(context, { vmId: host.id, volumeId: data.id });
    const said = { ...vm, preservedVolumes: "delete" };
    const taken = async () => {
      if (how === "adopt") return (await handlers.Vm.create(context, { ...said, adopt: host.id })).outputs;
      const read = await handlers.Vm.read(context, host.id);
      const before = { ...read!.outputs, ...said };
      if (how === "an import") return before;
      return (await handlers.Vm.update(context, host.id, before, { ...said, name: "db-2" })).outputs;
    };
    const before = await taken();
    await handlers.Vm.delete(by === "another process" ? elsewhere() : context, host.id, before);
    const { vms, volumes } = world.emulator.dump();
    expect([vms, volumes.map(({ id }) => id)]).toEqual([[], [data.id]]);
  });

  it.each([
    ["made here", true],
    ["made here, whose volume is a resource of its own", false],
    ["imported", false],
    ["adopted", false],
  ])("the preview of replacing a VM that was %s tells of its data volume what its delete does", async (how, goes) => {
    const { emit: _emit, ...ports } = world.ports;
    const elsewhere = { ...context, service: async () => ({ ...ports, client: Object.create(world.client) }) };
    const said = { ...vm, preservedVolumes: "delete" };
    const made = await handlers.Vm.create(how.startsWith("made") ? context : elsewhere, said);
    const own = String(made.outputs["dataVolumeId"]);
    if (how.includes("of its own")) await handlers.Volume.create(context, { name: "db-1-data", size: 10, adopt: own });
    const before = await (async () => {
      if (how === "imported") return { ...(await handlers.Vm.read(context, made.id))!.outputs, ...said };
      return how === "adopted"
        ? (await handlers.Vm.create(context, { ...said, adopt: made.id })).outputs
        : made.outputs;
    })();
    const { replaces, warnings } = await handlers.Vm.diff(context, made.id, before, { ...said, region: "in-south-1" });
    expect(replaces).toEqual(["region"]);
    expect(warnings.filter((one) => one.startsWith("the root disk"))).toHaveLength(1);
    expect(warnings.filter((one) => one.includes("is deleted with its data"))).toHaveLength(goes ? 1 : 0);
    await handlers.Vm.delete(context, made.id, before);
    expect(world.emulator.dump().volumes.map(({ id }) => id)).toEqual(goes ? [] : [own]);
  });

  it("a volume on an imported VM that another process has made is left, and named", async () => {
    const { emit: _emit, ...ports } = world.ports;
    const elsewhere = { ...context, service: async () => ({ ...ports, client: Object.create(world.client) }) };
    const host = await handlers.Vm.create(elsewhere, vm);
    const own = String(host.outputs["dataVolumeId"]);
    const read = await handlers.Vm.read(context, host.id);
    const said = { ...vm, preservedVolumes: "delete" };
    await handlers.Vm.diff(context, host.id, { ...read!.outputs, ...said }, { ...said, rootSize: 80 });
    await handlers.Vm.delete(context, host.id, { ...read!.outputs, ...said });
    expect(world.emulator.dump().volumes.map(({ id }) => id)).toEqual([own]);
    expect(log.join("\n")).toMatch(new RegExp(`${own}\\) still exists: outlived VM db-1`));
  });

  it.each([
    [{ flush: { via: "ask" } }, { flush: { via: "stop" } }, ["vm.stop", "volume.detach", "vm.start", "volume.delete"]],
    [{ flush: { via: "stop" } }, { flush: { via: "ask" }, flushConfirmed: true }, ["volume.detach", "volume.delete"]],
    [{ flushConfirmed: true }, {}, ["volume.detach", "volume.delete"]],
  ])("a volume with %o that is replaced comes off as the program says by now: %o", async (was, now, sent) => {
    const host = await handlers.Vm.create(context, vm);
    const data = await handlers.Volume.create(context, { name: "data", size: 5, ...was });
    await world.client.attachVolume(data.id, host.id);
    const { replaces } = await handlers.Volume.diff(context, data.id, data.outputs, { name: "next", size: 5, ...now });
    expect(replaces).toEqual(["name"]);
    const before = world.emulator.requests().log.length;
    await handlers.Volume.delete(context, data.id, data.outputs);
    const writes = world.emulator
      .requests()
      .log.slice(before)
      .map(({ operation }) => operation);
    expect(writes.filter((one) => /\.(stop|start|detach|delete)$/.test(String(one)))).toEqual(sent);
  });

  it("what was imported is compared with what the program has said since, where the service does not show it", async () => {
    const host = await handlers.Vm.create(context, vm);
    const read = await handlers.Vm.read(context, host.id);
    const said = { ...vm, rootSize: 50, skipFloatingIp: false, flushConfirmed: true };
    const differing = async (change: Props) => {
      const now = handlers.Vm.check({ ...said, ...change }, true).inputs;
      const { changes } = await handlers.Vm.diff(context, host.id, { ...read!.outputs, ...said }, now);
      return changes.map(({ property, replaces }) => `${property}${replaces ? " replaces" : ""}`);
    };
    expect(await differing({})).toEqual([]);
    expect(await differing({ rootSize: 80 })).toEqual(["rootSize replaces"]);
    expect(await differing({ skipFloatingIp: true })).toEqual(["skipFloatingIp replaces"]);
    expect(await differing({ region: "in-south-1", userId: "77" })).toEqual(["userId replaces", "region replaces"]);
    await expect(differing({ size: 20 })).rejects.toThrow(/cannot be grown: .* do not show which volume it is/);
  });

  it("what is of another service is neither changed nor deleted, and not seen is not gone", async () => {
    const made = await handlers.Volume.create(context, { name: "data", size: 5 });
    const other = await startBenchWorld({ with: everything, dialect: dialectFor({ with: everything }) });
    try {
      const there = contextFor(other, log);
      const grown = { name: "data", size: 6 };
      await expect(handlers.Volume.diff(there, made.id, made.outputs, grown)).rejects.toThrow("acceptService");
      await expect(handlers.Volume.update(there, made.id, made.outputs, grown)).rejects.toThrow("acceptService");
      await expect(handlers.Volume.delete(there, made.id, made.outputs)).rejects.toThrow("acceptService");
      expect((await handlers.Volume.read(there, made.id, made.outputs))?.id).toBe(made.id);
    } finally {
      await other.close();
    }
  });
});

describe("a create whose engine was killed", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "reconcile-notes-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Each look is another process's, and the one that wrote is no more. */
  const ofTheDead = (name: string): ProgramNotes => {
    const of = (writer: string) => programNotes(folder, { urn: name, service: "" }, { name: writer, pid: 0x3fffffff });
    return { ...of("first"), find: (signal) => of("second").find(signal) };
  };
  const creates = () => readdirSync(join(folder, "creates")).filter((file) => !file.startsWith("made-"));

  it.each([
    ["a volume, with the built-in dialect", "Volume", { name: "data", size: 5 }, []],
    ["a volume, where volumes are listed", "Volume", { name: "data", size: 5 }, everything],
    ["a VM", "Vm", vm, []],
    ["a group", "SecurityGroup", { name: "web-group", rules: [] }, []],
  ] as const)("%s is not made twice when its outcome was known", async (_, type, inputs: Props, abilities) => {
    const world = await startBenchWorld({ with: [...abilities], dialect: dialectFor({ with: [...abilities] }) });
    try {
      const log: string[] = [];
      const context = { ...contextFor(world, log), notes: ofTheDead("web") };
      const first = await handlers[type].create(context, inputs);
      expect(creates()).toHaveLength(1);
      const second = await handlers[type].create(context, inputs);
      expect(second.id).toBe(first.id);
      expect(log.join("\n")).toMatch(/was made by an earlier run, and Pulumi's state does not have it/);
    } finally {
      await world.close();
    }
  });

  it("is noted of its service, however the base URL is written", async () => {
    for (const baseUrl of ["http://cloud.example", "HTTP://Cloud.Example:80/"])
      await openConnection({ baseUrl }, folder)
        .notesOf("urn:pulumi:dev::demo::x:index:Volume::data")
        .write({ sentAt: "2026-01-01T00:00:00.000Z", idsBefore: [] }, { name: "data" });
    expect(readdirSync(join(folder, ".reconcile/creates")).filter((file) => file.endsWith(".json"))).toHaveLength(1);
  });

  it.each([
    ["volume", "vm"],
    ["vm", "volume"],
  ] as const)("what a destroy was deleting when it was cut off: all of it is gone, the %s first", async (...order) => {
    const world = await startBenchWorld({});
    const own = contextFor(world);
    const contexts = { vm: { ...own, notes: ofTheDead("db-1") }, volume: { ...own, notes: ofTheDead("data") } };
    const host = await handlers.Vm.create(contexts.vm, { ...vm, preservedVolumes: "delete" });
    const data = await handlers.Volume.create(contexts.volume, { name: "data", size: 5 });
    const goes = {
      vm: (one: HandlerContext) => handlers.Vm.delete(one, host.id, host.outputs),
      volume: (one: HandlerContext) => handlers.Volume.delete(one, data.id, data.outputs),
    };
    for (const one of order) await goes[one](contexts[one]);
    // The engine has not heard of it, and asks another process of the program for the same.
    const { client: _client, ...rest } = world.ports;
    const next = { ...rest, client: Object.create(world.client) as typeof world.client };
    for (const one of order) await goes[one]({ ...contexts[one], service: async () => next });
    expect(world.emulator.dump().volumes).toEqual([]);
    await world.close();
  });

  it("a VM whose delete was cut off: what it leaves is named by the next one, though no state tells which disk is which", async () => {
    const dialect = mergeDialect({ records: { vm: { volume_entry: { id: ["/id"], root: [] } } } });
    const world = await startBenchWorld({ dialect });
    try {
      const log: string[] = [];
      const context = { ...contextFor(world, log), notes: ofTheDead("web") };
      const made = await handlers.Vm.create(context, vm);
      const later = await handlers.Volume.create(contextFor(world, log), { name: "later", size: 7 });
      await world.client.attachVolume(later.id, made.id);
      const cutOff = new Proxy(world.client, {
        get: (client, method) =>
          method === "deleteVm"
            ? async (id: string) => {
                await client.deleteVm(id, undefined);
                throw new Error("killed");
              }
            : Reflect.get(client, method),
      });
      const service = async () => ({ ...(await context.service()), client: cutOff });
      await expect(handlers.Vm.delete({ ...context, service }, made.id, made.outputs)).rejects.toThrow("killed");
      await eventually("the VM to be gone", () => (world.emulator.dump().vms.length === 0 ? true : undefined));
      log.length = 0;
      await handlers.Vm.delete(context, made.id, made.outputs);
      expect(log.join("\n")).toContain(`(${later.id}) still exists`);
      expect(log.join("\n")).toContain(`has adopt: "${later.id}"`);
      expect(log[0]).toBe("info: forget VM db-1");
      expect(creates().filter((file) => !file.endsWith(".left.json"))).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it.each([
    ["its stack", "dev::demo::x:index:Volume::data", "prod", true],
    ["itself", "prod::demo::x:index:Volume::store", "prod", true],
    ["its parent", "prod::demo::x:index:Shop$x:index:Volume::data", "prod", true],
    ["no stack, but another one is there", "dev::demo::x:index:Volume::data", "dev prod", false],
    ["nothing, and is of another kind", "prod::demo::x:index:Vm::data", "prod", false],
  ])("whose resource has another name by now, of %s, is asked for", async (_, urn, stacks, isAsked) => {
    const notesIn = join(folder, ".reconcile");
    for (const stack of stacks.split(" ")) writeFileSync(join(folder, `Pulumi.${stack}.yaml`), "");
    const of = (name: string, of: string) =>
      programNotes(notesIn, { urn: `urn:pulumi:${of}`, service: "s" }, { name, pid: 0x3fffffff });
    const world = await startBenchWorld({});
    try {
      const contextOf = (process: string, notes = of(process, "prod::demo::x:index:Volume::data")) => ({
        ...contextFor(world, []),
        notes,
      });
      const inputs = { name: "data", size: 5 };
      const made = await handlers.Volume.create(contextOf("killed", of("killed", urn)), inputs);
      if (!isAsked) {
        expect(await handlers.Volume.preview(contextOf("next"), inputs)).toEqual([]);
        await handlers.Volume.create(contextOf("next"), inputs);
        return;
      }
      const asks = new RegExp(`which made ${made.id}, and no state.*adopt: "<its id>"`);
      expect((await handlers.Volume.preview(contextOf("next"), inputs)).join()).toMatch(asks);
      await expect(handlers.Volume.create(contextOf("next"), inputs)).rejects.toThrow(asks);
      const taken = await handlers.Volume.create(contextOf("next"), { ...inputs, adopt: made.id });
      expect(taken.id).toBe(made.id);
      const another = await handlers.Volume.create(contextOf("last"), inputs);
      expect(another.id).not.toBe(made.id);
    } finally {
      await world.close();
    }
  });

  it.each<readonly [which: string, stack: string, of: string, stays: boolean]>([
    ["a part of the component", "prod", "Site$x:index:Volume::volume.scratch[a]", true],
    ["what is part of that", "prod", "Site$x:index:VolumeAttachment::volume.scratch/attachment", true],
    ["what hangs in a component of the file", "prod", "Site$x:index:Vm::shop/vm.web", true],
    ["what is to be deleted", "prod", "Site$x:index:Vm::vm.old", false],
    ["what the file does not name", "prod", "Site$x:index:Volume::volume.other", false],
    ["what it had under another parent", "prod", "Region$x:index:Site$x:index:Volume::volume.scratch", true],
    ["a resource outside", "prod", "Volume::volume.scratch", false],
    ["another stack's", "dev", "Site$x:index:Volume::volume.scratch", false],
    ["a stack's that was renamed", "former", "Site$x:index:Volume::volume.scratch", true],
  ])("of what a file removes is about %s, or is not", async (_, stack, of, stays) => {
    const notesIn = join(folder, ".reconcile");
    for (const one of ["prod", "dev"]) writeFileSync(join(folder, `Pulumi.${one}.yaml`), "");
    const component = "urn:pulumi:prod::demo::x:index:Site::site";
    const removed = [
      { from: "volume.scratch", destroy: false },
      { from: "shop/", destroy: false },
      { from: "vm.old", destroy: true },
    ];
    await noteRemoved(component, removed, notesIn);
    const notes = programNotes(notesIn, { urn: `urn:pulumi:${stack}::demo::x:index:${of}`, service: "s" });
    expect(notes.staysAlive()).toBe(stays);
    await noteRemoved(component, [], notesIn);
    expect(notes.staysAlive()).toBe(false);
  });

  it("leaves nothing half-written behind: the next process finishes what is whole, and removes the rest", async () => {
    const dead = 0x3fffffff;
    const of = (name: string) => programNotes(folder, { urn: "urn:x::data", service: "s" }, { name, pid: dead });
    const open = { sentAt: "2026-01-01T00:00:00.000Z", idsBefore: [] };
    await of("killed").write(open, { thing: "s volume:made" });
    await of("killed").claim("s vm:1", "somebody");
    const files = (sub: string) => readdirSync(join(folder, sub)).sort();
    const before = { creates: files("creates"), owners: files("owners") };
    const [note = ""] = creates();
    const beside = (sub: string, file: string, pid: number, text: string): void =>
      writeFileSync(join(folder, sub, `${file}.${pid}.${crypto.randomUUID()}.tmp`), text);
    for (const file of before.creates) beside("creates", file, dead, '{"sentAt":"2026');
    beside("creates", "no-such-note.json", dead, "");
    for (const file of before.owners) beside("owners", file, dead, "");
    beside("creates", note, dead, JSON.stringify({ ...open, by: { name: "killed", pid: dead }, id: "made" }));
    beside("creates", note, process.pid, "");
    const next = of("next");
    const atWork = files("creates").filter((file) => file.includes(`.${process.pid}.`));
    expect(atWork).toHaveLength(1);
    expect(files("creates")).toEqual([...before.creates, ...atWork].sort());
    expect(files("owners")).toEqual(before.owners);
    expect((await next.find(new AbortController().signal))?.id).toBe("made");
  });

  it("is known by its id also where the process died before the note had its name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "reconcile-notes-"));
    try {
      const of = (name: string) =>
        programNotes(
          folder,
          { urn: "urn:pulumi:dev::demo::x:index:Volume::data", service: "s" },
          { name, pid: 0x3fffffff },
        );
      const { signal } = new AbortController();
      const open = { sentAt: "2026-01-01T00:00:00.000Z", idsBefore: [] };
      await of("killed").write(open);
      const [file = ""] = readdirSync(join(folder, "creates"));
      const path = join(folder, "creates", file);
      const by = { name: "killed", pid: 0x3fffffff };
      const texts = [
        ["", "half"],
        [JSON.stringify({ ...open, sentAt: "2025-01-01T00:00:00.000Z", by, id: "of an earlier create" }), "earlier"],
      ] as const;
      for (const [text, name] of texts) writeFileSync(`${path}.${name}.tmp`, text);
      expect((await of("next").find(signal))?.id).toBeUndefined();
      writeFileSync(`${path}.whole.tmp`, JSON.stringify({ ...open, by, id: "made" }));
      expect((await of("next").find(signal))?.id).toBe("made");
      expect(readdirSync(join(folder, "creates")).sort()).toEqual([file, `${file}.earlier.tmp`, `${file}.half.tmp`]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("is not sent again while nobody can tell what became of it, and a destroy says what it leaves", async () => {
    const world = await startBenchWorld();
    try {
      const log: string[] = [];
      const notes = ofTheDead("web");
      const context = { ...contextFor(world, log), notes };
      await notes.write({ sentAt: new Date().toISOString(), idsBefore: [] });
      await expect(handlers.Volume.create(context, { name: "data", size: 5 })).rejects.toThrow(/adopt/);
      expect(world.emulator.dump().volumes).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it("is forgotten by the notes once the program's state has it, and is taken over by its id without an alarm", async () => {
    const world = await startBenchWorld();
    try {
      const log: string[] = [];
      const context = { ...contextFor(world, log), notes: ofTheDead("web") };
      world.emulator.setFaults([{ kind: "drop-after", operation: "volume.create", count: 9 } as never]);
      const inputs = { name: "data", size: 5 };
      const failed = await handlers.Volume.create(context, inputs).catch((error: unknown) => error);
      const { kept } = failed as { kept: { id: string; outputs: Props } };
      expect(String(failed)).toMatch(/pulumi state delete/);
      expect(creates()).toHaveLength(1);
      await expect(handlers.Volume.create(context, inputs)).rejects.toThrow(/adopt: "none"/);
      await handlers.Volume.diff(context, kept.id, kept.outputs, inputs);
      expect(creates()).toEqual([]);
      world.emulator.setFaults([]);
      const [{ id = "" } = {}] = world.emulator.dump().volumes;
      const taken = await handlers.Volume.create(context, { ...inputs, adopt: id });
      log.length = 0;
      await handlers.Volume.delete(context, kept.id, kept.outputs);
      expect([log, world.emulator.dump().volumes.map((volume) => volume.id)]).toEqual([[], [taken.id]]);
    } finally {
      await world.close();
    }
  });

  it("an open create that was taken over by its id is not deleted with what the state kept of it", async () => {
    const world = await startBenchWorld({ with: everything, dialect: dialectFor({ with: everything }) });
    try {
      const log: string[] = [];
      const context = contextFor(world, log);
      world.emulator.setFaults([
        { kind: "drop-after", operation: "volume.create", count: 9 } as never,
        { kind: "status", status: 500, operation: "volume.list", count: 99, skip: 1 } as never,
      ]);
      const inputs = { name: "data", size: 5 };
      const failed = await handlers.Volume.create(context, inputs).catch((error: unknown) => error);
      const { kept } = failed as { kept: { id: string; outputs: Props } };
      expect(kept.id).toMatch(/^pending:/);
      world.emulator.setFaults([]);
      const [{ id = "" } = {}] = world.emulator.dump().volumes;
      await handlers.Volume.create(context, { ...inputs, adopt: id });
      await handlers.Volume.delete(context, kept.id, kept.outputs);
      expect(world.emulator.dump().volumes.map((volume) => volume.id)).toEqual([id]);
    } finally {
      await world.close();
    }
  });

  it("stays pending through a refresh, is named by it, and by the destroy that gives it up", async () => {
    const world = await startBenchWorld();
    try {
      const log: string[] = [];
      const context = contextFor(world, log);
      world.emulator.setFaults([{ kind: "drop-after", operation: "volume.create", count: 9 } as never]);
      const failed = await handlers.Volume.create(context, { name: "data", size: 5 }).catch((error: unknown) => error);
      const { kept } = failed as { kept: { id: string; outputs: Props } };
      expect(kept.id).toMatch(/^pending:/);
      const read = await handlers.Volume.read(context, kept.id, kept.outputs);
      expect(read).toMatchObject({ id: kept.id });
      expect(log.join("\n")).toMatch(/outcome of creating data is not known/);
      const { changes } = await handlers.Volume.diff(context, kept.id, read!.outputs, { name: "data", size: 5 });
      expect(changes).not.toEqual([]);
      await handlers.Volume.delete(context, kept.id, read!.outputs);
      expect(log.at(-1)).toMatch(/given up: look in the service for a volume of that name with 5 GB/);
    } finally {
      await world.close();
    }
  });
});
