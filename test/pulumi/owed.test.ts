import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HandlerContext, type Kept, PartialFailure, type Props } from "../../reconciler/one/handler";
import { recordedKey } from "../../reconciler/one/shape";
import { handlers } from "../../reconciler/one/table";
import { programNotes } from "../../reconciler/outside/program-notes";
import { type BenchWorld, dialectFor, startBenchWorld } from "../support/bench-world";
import { contextFor } from "../support/handler-program";

const abilities = ["vm.get", "volume.list", "group.list", "group.get"];
const inputs = {
  ...{ name: "web-1", flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
  ...{ project: "acme", region: "in-west-1", size: 10, flushConfirmed: true },
  afterReady: { command: ["provision", "web-1"], timeout: "1m" },
  afterAttach: { command: ["mount-data"] },
};

describe("commands that a program's VM and attachments owe", () => {
  let world: BenchWorld;
  let context: HandlerContext;
  let folder: string;
  let ran: string[];
  let exitCode: number;
  let values: Readonly<Record<string, string>>;
  beforeEach(async () => {
    ran = [];
    exitCode = 0;
    folder = mkdtempSync(join(tmpdir(), "reconcile-owed-"));
    world = await startBenchWorld({
      with: abilities,
      dialect: dialectFor({ with: abilities }),
      runCommand: async ({ argv }, options) => {
        ran.push(`${argv.join(" ")} ${options?.values?.["RECONCILE_REASON"]}`);
        values = options?.values ?? {};
        return { exitCode, output: "no route to host" };
      },
    });
    context = contextFor(world);
  });
  afterEach(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const checked = (props: Props): Props => {
    const { inputs: wanted, failures } = handlers.Vm.check(props);
    expect(failures).toEqual([]);
    return wanted;
  };

  it("run once after a create, and nothing is left to do", async () => {
    const wanted = checked(inputs);
    const made = await handlers.Vm.create(context, wanted);
    expect(ran).toEqual(["provision web-1 created", "mount-data created"]);
    expect((await handlers.Vm.diff(context, made.id, made.outputs, wanted)).changes).toEqual([]);
    const larger = checked({ ...inputs, size: 20 });
    const grown = await handlers.Vm.update(context, made.id, made.outputs, larger);
    expect(ran.slice(2)).toEqual(["mount-data grown"]);
    expect((await handlers.Vm.diff(context, made.id, grown.outputs, larger)).changes).toEqual([]);
  });

  it("stay owed where they fail, and an update that follows runs them", async () => {
    exitCode = 1;
    const wanted = checked(inputs);
    const failed = await handlers.Vm.create(context, wanted).catch((error: unknown) => error);
    if (!(failed instanceof PartialFailure)) throw failed;
    expect(failed.message).toContain("no route to host");
    const { id, outputs } = failed.kept;
    const found = await handlers.Vm.diff(context, id, outputs, wanted);
    expect(found).toMatchObject({ changes: [{ property: "recorded", replaces: false }], replaces: [] });
    exitCode = 0;
    const paid = await handlers.Vm.update(context, id, outputs, wanted);
    expect(ran).toEqual(["provision web-1 created", "provision web-1 created", "mount-data created"]);
    expect((await handlers.Vm.diff(context, id, paid.outputs, wanted)).changes).toEqual([]);
    expect(world.emulator.dump().vms).toHaveLength(1);
  });

  it("are owed by a VM whose create was cut off", async () => {
    const notesOf = (name: string) =>
      programNotes(folder, { urn: "urn:pulumi:dev::demo::x:index:Vm::web-1", service: "x" }, { name, pid: 0x3fffffff });
    const cutOff = new Proxy(world.client, {
      get: (client, method) =>
        method === "createVm"
          ? async (...args: Parameters<typeof client.createVm>) => {
              await client.createVm(...args);
              throw new Error("killed");
            }
          : Reflect.get(client, method),
    });
    const service = async () => ({ ...(await context.service()), client: cutOff });
    const wanted = checked(inputs);
    await expect(handlers.Vm.create({ ...context, service, notes: notesOf("first") }, wanted)).rejects.toThrow(
      "killed",
    );
    expect(ran).toEqual([]);
    await handlers.Vm.create({ ...context, notes: notesOf("second") }, wanted);
    expect(ran).toEqual(["provision web-1 created", "mount-data created"]);
    expect(world.emulator.dump().vms).toHaveLength(1);
  });

  const { VolumeAttachment, Volume, Vm } = handlers;
  const afterAttach = { command: ["mount-volume"] };
  async function vmAndVolume(name = "db-1") {
    const vmInputs = checked({ ...inputs, name, afterReady: undefined, afterAttach: undefined });
    const { id: vmId, outputs: vm } = await Vm.create(context, vmInputs);
    const volume = Volume.check({ name: `${name}-files`, size: 10, flushConfirmed: true });
    const { id: volumeId, outputs } = await Volume.create(context, volume.inputs);
    const wanted = VolumeAttachment.check({ vmId, volumeId, flushConfirmed: true, afterAttach });
    expect(wanted).toMatchObject({ failures: [], warnings: [] });
    return { vmId, vm, vmInputs, volumeId, volume: outputs, wanted: wanted.inputs };
  }
  const changesOf = async ({ id, outputs }: Pick<Kept, "id" | "outputs">, wanted: Props) =>
    (await VolumeAttachment.diff(context, id, outputs, wanted)).changes;
  const owing = [{ property: "recorded", replaces: false }];

  it("run once after an attach, and again once the volume grew or hangs on another VM", async () => {
    const { vmId, volumeId, volume, wanted } = await vmAndVolume();
    await VolumeAttachment.preview(context, wanted);
    const made = await VolumeAttachment.create(context, wanted);
    expect(ran).toEqual(["mount-volume attached"]);
    expect(values).toMatchObject({
      RECONCILE_VM_ID: vmId,
      RECONCILE_VOLUME_ID: volumeId,
      RECONCILE_VOLUME_SIZE: "10",
    });
    expect(await changesOf(made, wanted)).toEqual([]);

    const larger = { ...volume, size: 20 };
    const declared = asDeclared(larger);
    await Volume.diff(context, volumeId, volume, declared);
    expect(await changesOf(made, wanted)).toEqual(owing);
    await Volume.update(context, volumeId, volume, declared);
    const grown = await VolumeAttachment.update(context, made.id, made.outputs, wanted);
    expect(ran.slice(1)).toEqual(["mount-volume grown"]);
    expect(values).toMatchObject({ RECONCILE_VOLUME_SIZE: "20" });
    expect(await changesOf(grown, wanted)).toEqual([]);

    const other = await vmAndVolume("db-2");
    const moved = { ...wanted, vmId: other.vmId };
    expect((await VolumeAttachment.diff(context, made.id, grown.outputs, moved)).replaces).toEqual(["vmId"]);
    await VolumeAttachment.delete(context, made.id, grown.outputs);
    expect(ran).toHaveLength(2);
    await VolumeAttachment.create(context, moved);
    expect(ran.slice(2)).toEqual(["mount-volume attached"]);
    expect(values).toMatchObject({ RECONCILE_VM_ID: other.vmId });
  });

  /** What it knows is what the state has. */
  const anotherProcess = () => {
    const client = new Proxy(world.client, {});
    context = { ...context, service: async () => ({ ...(await contextFor(world).service()), client }) };
  };
  const asDeclared = ({ [recordedKey]: _recorded, ...props }: Props): Props => props;

  it("are owed by an attachment whose engine died after its volume had grown", async () => {
    const { volumeId, volume, wanted } = await vmAndVolume();
    const made = await VolumeAttachment.create(context, wanted);
    const larger = { ...asDeclared(volume), size: 20 };
    await Volume.diff(context, volumeId, volume, larger);
    const grown = await Volume.update(context, volumeId, volume, larger);
    for (const death of ["before the update of the attachment", "within it"]) {
      anotherProcess();
      expect((await Volume.diff(context, volumeId, grown.outputs, larger)).changes, death).toEqual([]);
      expect(await changesOf(made, wanted), death).toEqual(owing);
    }
    const paid = await VolumeAttachment.update(context, made.id, made.outputs, wanted);
    expect(ran.slice(1)).toEqual(["mount-volume grown"]);
    expect(values).toMatchObject({ RECONCILE_VOLUME_SIZE: "20" });
    anotherProcess();
    await Volume.diff(context, volumeId, grown.outputs, larger);
    expect(await changesOf(paid, wanted)).toEqual([]);
  });

  it.each(["in the process that rebuilt it", "in another one"])(
    "are owed by the attachment of a VM that was rebuilt: %s",
    async (where) => {
      const { vmId, vm, vmInputs, wanted } = await vmAndVolume();
      const made = await VolumeAttachment.create(context, wanted);
      expect((await Vm.diff(context, vmId, vm, vmInputs)).changes).toEqual([]);
      expect(await changesOf(made, wanted)).toEqual([]);
      const otherImage = { ...vmInputs, imageId: "debian-12" };
      await Vm.diff(context, vmId, vm, otherImage);
      expect(await changesOf(made, wanted)).toEqual(owing);
      const rebuilt = await Vm.update(context, vmId, vm, otherImage);
      if (where === "in another one") {
        anotherProcess();
        expect((await Vm.diff(context, vmId, rebuilt.outputs, otherImage)).changes).toEqual([]);
      }
      expect(await changesOf(made, wanted)).toEqual(owing);
      const paid = await VolumeAttachment.update(context, made.id, made.outputs, wanted);
      expect(ran.slice(1)).toEqual(["mount-volume vm_rebuilt"]);
      for (const _ of [1, 2]) {
        expect(await changesOf(paid, wanted)).toEqual([]);
        anotherProcess();
        await Vm.diff(context, vmId, rebuilt.outputs, otherImage);
      }
    },
  );

  it("stay owed by an attachment where they fail, and an update that follows runs them", async () => {
    exitCode = 1;
    const { volumeId, vmId, wanted } = await vmAndVolume();
    const failed = await VolumeAttachment.create(context, wanted).catch((error: unknown) => error);
    if (!(failed instanceof PartialFailure)) throw failed;
    expect(failed.message).toContain("no route to host");
    expect(failed.kept.id).toBe(`${vmId}/${volumeId}`);
    expect(await changesOf(failed.kept, wanted)).toEqual(owing);
    const found = await VolumeAttachment.read(context, failed.kept.id, failed.kept.outputs);
    expect(await changesOf(found ?? failed.kept, wanted)).toEqual(owing);
    const again = await VolumeAttachment.update(context, failed.kept.id, failed.kept.outputs, wanted).catch(
      (error: unknown) => error,
    );
    if (!(again instanceof PartialFailure)) throw again;
    expect(await changesOf(again.kept, wanted)).toEqual(owing);
    exitCode = 0;
    const paid = await VolumeAttachment.update(context, again.kept.id, again.kept.outputs, wanted);
    expect(ran).toEqual(Array(3).fill("mount-volume attached"));
    expect(await changesOf(paid, wanted)).toEqual([]);
  });

  it("stay owed by an attachment where no program may be started", async () => {
    const { wanted } = await vmAndVolume();
    const service = async () => ({ ...(await context.service()), noPrograms: "--no-programs" });
    const failed = await VolumeAttachment.create({ ...context, service }, wanted).catch((error: unknown) => error);
    if (!(failed instanceof PartialFailure)) throw failed;
    expect(ran).toEqual([]);
    await VolumeAttachment.update(context, failed.kept.id, failed.kept.outputs, wanted);
    expect(ran).toEqual(["mount-volume attached"]);
  });

  it("are owed by an attachment whose create was cut off", async () => {
    const { wanted } = await vmAndVolume();
    const cutOff = new Proxy(world.client, {
      get: (client, method) =>
        method === "attachVolume"
          ? async (...args: Parameters<typeof client.attachVolume>) => {
              await client.attachVolume(...args);
              throw new Error("killed");
            }
          : Reflect.get(client, method),
    });
    const service = async () => ({ ...(await context.service()), client: cutOff });
    await expect(VolumeAttachment.create({ ...context, service }, wanted)).rejects.toThrow("killed");
    expect(ran).toEqual([]);
    const made = await VolumeAttachment.create(context, wanted);
    expect(ran).toEqual(["mount-volume attached"]);
    expect(await changesOf(made, wanted)).toEqual([]);
  });

  it("are owed again where another text says so, and not by an attachment that is there already", async () => {
    const { wanted } = await vmAndVolume();
    const { afterAttach: _none, ...without } = wanted;
    const made = await VolumeAttachment.create(context, without);
    const added = await VolumeAttachment.update(context, made.id, made.outputs, wanted);
    expect(ran).toEqual([]);
    const anew = { ...wanted, afterAttach: { command: ["mount-both"], again: "when_changed" } };
    await VolumeAttachment.update(context, made.id, added.outputs, anew);
    expect(ran).toEqual(["mount-both changed"]);
  });
});
