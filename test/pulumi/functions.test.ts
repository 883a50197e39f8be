import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Props } from "../../reconciler/one/handler";
import { lookups } from "../../reconciler/one/lookups";
import { handlers } from "../../reconciler/one/table";
import { type BenchWorld, dialectFor, startBenchWorld } from "../support/bench-world";
import { contextFor } from "../support/handler-program";

const everything = ["vm.get", "volume.list", "group.list", "group.get"];
const vm = {
  ...{ flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10 },
};

describe("functions of a program", () => {
  let world: BenchWorld;
  const open = async (names: readonly string[]): Promise<void> => {
    world = await startBenchWorld({ with: names, dialect: dialectFor({ with: names }) });
  };
  beforeEach(() => open(everything));
  afterEach(() => world.close());

  const create = async (type: keyof typeof handlers, inputs: Props): Promise<string> => {
    const checked = handlers[type].check(inputs);
    expect(checked.failures).toEqual([]);
    return (await handlers[type].create(contextFor(world), checked.inputs)).id;
  };
  const call = async (name: string, inputs: Props): Promise<Props> => {
    const lookup = lookups.find((one) => one.name === name);
    if (lookup === undefined) throw new Error(`there is no ${name}`);
    return lookup.look(await contextFor(world).service(), inputs);
  };
  const namesOf = (listed: unknown): unknown[] =>
    Array.isArray(listed) ? listed.map((one: { name?: string }) => one.name) : [];

  it("list what fits, in the order of the numbers in their names, and the newest first when asked", async () => {
    for (const name of ["web-10", "web-9", "db-1"]) await create("Volume", { name, size: 5 });
    const all = await call("getVolumes", {});
    expect(namesOf(all["volumes"])).toEqual(["db-1", "web-9", "web-10"]);
    const web = await call("getVolumes", { name: "WEB-*", newestFirst: true });
    expect(namesOf(web["volumes"])).toEqual(["web-10", "web-9"]);
    expect(web["ids"]).toEqual((web["volumes"] as { id: string }[]).map(({ id }) => id));
    expect(await call("getVolumes", { name: "none-*" })).toEqual({ volumes: [], ids: [] });
    const images = await call("getImages", { name: "ubuntu-*", newestFirst: true });
    expect(namesOf(images["images"])[0]).toBe("ubuntu-24.04");
    for (const name of ["getFlavors", "getRegions", "getSecurityGroups"])
      expect((await call(name, {}))["ids"]).toBeInstanceOf(Array);
  });

  it("narrow a list by what its records show", async () => {
    const id = await create("Vm", { ...vm, name: "web-1" });
    const volume = await create("Volume", { name: "data", size: 5 });
    await create("Volume", { name: "other", size: 5 });
    await create("VolumeAttachment", { vmId: id, volumeId: volume, flushConfirmed: true });
    expect((await call("getVms", { owner: "OPS@acme.example" }))["ids"]).toEqual([id]);
    expect((await call("getVms", { owner: "nobody@acme.example" }))["ids"]).toEqual([]);
    expect((await call("getVolumes", { vmId: id }))["ids"]).toContain(volume);
    expect(namesOf((await call("getVolumes", { vmId: id }))["volumes"])).not.toContain("other");
    await expect(call("getVms", { colour: "red" })).rejects.toThrow("there is no colour");
  });

  const rules = [{ protocol: "tcp", dstPort: "443", remoteIp: "10.0.0.0/8" }];
  it.each([
    ["with a list of groups", everything],
    ["where only rules of a known group can be read", []],
  ])("show the rules of a group, %s", async (_, names) => {
    await world.close();
    await open(names);
    const id = await create("SecurityGroup", { name: "front", rules });
    const found = await call("getSecurityGroup", { id });
    expect(found["rules"]).toEqual(
      expect.arrayContaining([expect.objectContaining({ protocol: "tcp", dstPort: "443", remoteIp: "10.0.0.0/8" })]),
    );
    await expect(call("getSecurityGroup", { id: "00000000-0000-4000-8000-000000000000" })).rejects.toThrow();
  });
});

describe("a preview refuses an id that names nothing", () => {
  const nobody = "00000000-0000-4000-8000-000000000000";
  let world: BenchWorld;
  afterEach(() => world.close());
  const volume = async (): Promise<string> =>
    (await handlers.Volume.create(contextFor(world), { name: "data", size: 5 })).id;

  it.each([
    ["with whole lists", everything],
    ["where one can be read by its id alone", []],
  ])("%s", async (_, names) => {
    world = await startBenchWorld({ with: names, dialect: dialectFor({ with: names }) });
    const context = contextFor(world);
    const preview = (type: keyof typeof handlers, inputs: Props) =>
      handlers[type].preview(context, handlers[type].check(inputs).inputs);
    await expect(preview("VolumeAttachment", { vmId: nobody, volumeId: nobody })).rejects.toThrow(
      `the service shows no volume ${nobody}`,
    );
    const volumeId = await volume();
    await expect(preview("VolumeAttachment", { vmId: nobody, volumeId })).rejects.toThrow(
      `the service shows no VM ${nobody}`,
    );
    await expect(preview("SecurityGroupRule", { securityGroupId: nobody, protocol: "tcp" })).rejects.toThrow(
      `the service shows no security group ${nobody}`,
    );
    const rules = [{ protocol: "tcp", remoteGroup: nobody }];
    await expect(preview("SecurityGroup", { name: "front", rules })).rejects.toThrow(
      `the service shows no security group ${nobody}`,
    );
    const group = await handlers.SecurityGroup.create(context, { name: "front", rules: [] });
    const more = handlers.SecurityGroup.check({ name: "front", rules }, true).inputs;
    await expect(handlers.SecurityGroup.diff(context, group.id, group.outputs, more)).rejects.toThrow(
      `the service shows no security group ${nobody}`,
    );
  });
});

it("a VM that is replaced is told of without a word on volumes that the service shows", async () => {
  const world = await startBenchWorld({ with: everything, dialect: dialectFor({ with: everything }) });
  try {
    const context = contextFor(world);
    const { inputs } = handlers.Vm.check({ ...vm, name: "web-1" });
    const made = await handlers.Vm.create(context, inputs);
    const elsewhere = handlers.Vm.check({ ...vm, name: "web-1", region: "in-south-1" }, true).inputs;
    const found = await handlers.Vm.diff(context, made.id, made.outputs, elsewhere);
    expect(found.replaces).toEqual(["region"]);
    expect(found.warnings).toEqual([expect.stringContaining("the root disk of 50 GB of VM web-1")]);
  } finally {
    await world.close();
  }
});
