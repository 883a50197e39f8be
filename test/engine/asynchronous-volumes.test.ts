/** A service that makes, attaches, detaches, resizes and deletes volumes only after it has answered, and refuses whatever comes meanwhile. */
import { describe, expect, it } from "vitest";
import type { LiveVolume } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import { hasNothingToDo } from "../../reconciler/engine/apply";
import { defaultTiming } from "../../reconciler/engine/ports";
import { desiredOf } from "../support/desired-file";
import { virtualWorld } from "../support/virtual-world";

const file = (size: number, attach = true) =>
  desiredOf(`vms: { database: { image_id: ubuntu-24.04 } }
volumes: { data: { size: ${size}, ${attach ? "attach_to: database, " : ""}flush: { via: command, command: [sync] } } }
`);

interface Pending {
  readonly status: string;
  readonly until: number;
  readonly effect: () => Promise<unknown>;
}

/** `ends`: the states in which what was begun ends without its effect. */
function slowVolumes({ takesMs = 20_000, ends = {} }: { takesMs?: number; ends?: Record<string, string> } = {}) {
  const stage = virtualWorld({});
  const { client, clock } = stage;
  const pending = new Map<string, Pending>();
  const stuck = new Map<string, string>();
  const refused: string[] = [];
  const real = {
    get: client.getVolume.bind(client),
    create: client.createVolume.bind(client),
    attach: client.attachVolume.bind(client),
    detach: client.detachVolume.bind(client),
    resize: client.resizeVolume.bind(client),
    delete: client.deleteVolume.bind(client),
  };
  const settle = async (id: string): Promise<void> => {
    const due = pending.get(id);
    if (due === undefined || clock.now() < due.until) return;
    pending.delete(id);
    const end = ends[due.status];
    if (end === undefined) await due.effect();
    else stuck.set(id, end);
  };
  const begin = async (id: string, status: string, effect: () => Promise<unknown>): Promise<Outcome<void>> => {
    await settle(id);
    const busy = pending.get(id);
    if (busy !== undefined) {
      refused.push(`${status} while ${busy.status}`);
      return { status: "rejected", condition: "conflict", message: `the volume is ${busy.status}`, httpStatus: 409 };
    }
    pending.set(id, { status, until: clock.now() + takesMs, effect });
    return accepted(undefined);
  };
  client.getVolume = async (id, options) => {
    await settle(id);
    const outcome = await real.get(id, options);
    if (outcome.status !== "accepted") return outcome;
    const status = pending.get(id)?.status ?? stuck.get(id);
    if (status === undefined) return outcome;
    const { changing: _, ...rest } = outcome.value;
    const shown: LiveVolume = { ...rest, status, failed: status === "error" };
    return accepted(pending.has(id) ? { ...shown, changing: true } : shown);
  };
  client.createVolume = async (name, sizeGb, options) => {
    const made = await real.create(name, sizeGb, options);
    if (made.status !== "accepted") return made;
    await begin(made.value.id, "creating", async () => undefined);
    return accepted({ ...made.value, status: "creating", changing: true });
  };
  client.attachVolume = (id, vm, options) => begin(id, "attaching", () => real.attach(id, vm, options));
  client.detachVolume = (id, vm, flushed, options) =>
    begin(id, "detaching", () => real.detach(id, vm, flushed, options));
  client.resizeVolume = (id, size, options) => begin(id, "extending", () => real.resize(id, size, options));
  client.deleteVolume = (id, options) => begin(id, "deleting", () => real.delete(id, options));
  return { stage, pending, refused };
}

const run = async (stage: ReturnType<typeof slowVolumes>["stage"], ...args: Parameters<typeof stage.plan>) => {
  const report = await stage.apply(await stage.plan(...args));
  return (report?.steps ?? []).map(({ step, result }) => `${step.id} ${result.end}`);
};

describe("volumes that answer first and do it afterwards", () => {
  it("are waited for at each step, and a second run changes nothing", async () => {
    const { stage, pending, refused } = slowVolumes();
    for (const desired of [file(10), file(20), file(20, false)]) {
      const steps = await run(stage, desired);
      expect(steps.length).toBeGreaterThan(0);
      expect(steps.filter((step) => !step.endsWith(" done"))).toEqual([]);
      expect(pending.size).toBe(0);
      const volumes = [...stage.emulated.world.tables.volume.values()].filter(({ root }) => !root);
      const data = volumes.find(({ name }) => name === "data")!;
      const wanted = desired.resources.find(({ kind }) => kind === "volume");
      expect(data).toMatchObject({ size: wanted?.kind === "volume" ? wanted.sizeGb : 0 });
      expect(data.attached_to === null).toBe(
        desired.resources.every((one) => one.kind !== "volume" || one.attachTo === undefined),
      );
      expect(hasNothingToDo((await stage.plan(desired)).plan)).toBe(true);
    }
    expect(refused).toEqual([]);
  });

  it("are deleted when they are gone, not when the delete was taken", async () => {
    const { stage, pending } = slowVolumes();
    await run(stage, file(10, false));
    expect(await run(stage, desiredOf("vms: { database: { image_id: ubuntu-24.04 } }\n"))).toEqual([
      "volume.data/delete done",
    ]);
    expect(pending.size).toBe(0);
    expect([...stage.emulated.world.tables.volume.values()].map(({ name }) => name)).not.toContain("data");
  });

  it("that are on their way already are asked once they have arrived", async () => {
    const { stage, pending, refused } = slowVolumes();
    await run(stage, file(10, false));
    const [data] = [...stage.emulated.world.tables.volume.values()].filter(({ name }) => name === "data");
    pending.set(data!.id, { status: "uploading", until: stage.clock.now() + 60_000, effect: async () => undefined });
    expect(await run(stage, file(20, false))).toEqual(["volume.data/resize done"]);
    expect(refused).toEqual(["extending while uploading"]);
  });

  it.each([
    ["attaching", "available", file(10), "the service does not show that it was attached; its state is available"],
    ["attaching", "error", file(10), "the volume ended in state error"],
    ["extending", "error", file(30, false), "the volume ended in state error"],
    [
      "deleting",
      "error",
      desiredOf("vms: { database: { image_id: ubuntu-24.04 } }\n"),
      "the service does not show that it was deleted; its state is error",
    ],
  ])(
    "%s that ends in %s without its effect is told, and nothing is forgotten",
    async (status, end, desired, message) => {
      const { stage } = slowVolumes({ ends: { [status]: end } });
      await run(stage, file(10, false));
      const report = await stage.apply(await stage.plan(desired));
      const failed = (report?.steps ?? []).filter(({ result }) => result.end !== "done");
      expect(failed.map(({ result }) => result.message)).toEqual([expect.stringContaining(message)]);
      expect((await stage.state()).resources.get("volume.data")).toMatchObject({ id: expect.any(String) });
    },
  );

  it("are not waited for without end", async () => {
    const { stage } = slowVolumes({ takesMs: 10 * defaultTiming.vmCreateTimeoutMs });
    const started = stage.clock.now();
    const report = await stage.apply(await stage.plan(desiredOf("volumes: { data: { size: 1 } }\n")));
    expect(report?.steps.map(({ result }) => result)).toEqual([
      {
        end: "failed",
        code: "apply/volume-not-settled",
        message:
          "the service accepted it, and 900 s later the service does not show that it settled; its state is creating",
        fix: expect.stringContaining("vm_create_timeout"),
      },
    ]);
    expect(stage.clock.now() - started).toBeLessThan(2 * defaultTiming.vmCreateTimeoutMs);
  });
});

it("a service without such states is looked at once after each operation", async () => {
  const stage = virtualWorld({});
  let looks = 0;
  const get = stage.client.getVolume.bind(stage.client);
  stage.client.getVolume = (...args) => {
    looks++;
    return get(...args);
  };
  const prepared = await stage.plan(file(10));
  looks = 0;
  const started = stage.clock.now();
  await stage.apply(prepared);
  expect(looks).toBe(1);
  expect(stage.clock.now() - started).toBeLessThan(defaultTiming.discoveryWindowMs);
});
