import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HandlerContext, PartialFailure, type Props } from "../../reconciler/one/handler";
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

describe("commands that a program's VM owes", () => {
  let world: BenchWorld;
  let context: HandlerContext;
  let folder: string;
  let ran: string[];
  let exitCode: number;
  beforeEach(async () => {
    ran = [];
    exitCode = 0;
    folder = mkdtempSync(join(tmpdir(), "reconcile-owed-"));
    world = await startBenchWorld({
      with: abilities,
      dialect: dialectFor({ with: abilities }),
      runCommand: async ({ argv }, options) => {
        ran.push(`${argv.join(" ")} ${options?.values?.["RECONCILE_REASON"]}`);
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
});
