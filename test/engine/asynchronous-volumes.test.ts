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
interface Slow {
  readonly takesMs?: number;
  readonly ends?: Record<string, string>;
  /** The answers to what begins so are lost: how many of each. */
  readonly loses?: Record<string, number>;
  /** The requests themselves are lost. */
  readonly drops?: Record<string, number>;
  /** No state tells that something is under way. */
  readonly silent?: boolean;
}

function slowVolumes({ takesMs = 20_000, ends = {}, loses = {}, drops = {}, silent = false }: Slow = {}) {
  const stage = virtualWorld({});
  const { client, clock } = stage;
  const pending = new Map<string, Pending>();
  const stuck = new Map<string, string>();
  const refused: string[] = [];
  const sent: string[] = [];
  const lost: Outcome<never> = { status: "unknown", reason: "the connection was closed before the answer" };
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
    sent.push(status);
    if ((drops[status] ?? 0) > 0) {
      drops[status]!--;
      return lost;
    }
    const busy = pending.get(id);
    if (busy !== undefined) {
      refused.push(`${status} while ${busy.status}`);
      return { status: "rejected", condition: "conflict", message: `the volume is ${busy.status}`, httpStatus: 409 };
    }
    pending.set(id, { status, until: clock.now() + takesMs, effect });
    if ((loses[status] ?? 0) === 0) return accepted(undefined);
    loses[status]!--;
    return lost;
  };
  client.getVolume = async (id, options) => {
    await settle(id);
    const outcome = await real.get(id, options);
    if (outcome.status !== "accepted") return outcome;
    const status = pending.get(id)?.status ?? stuck.get(id);
    if (status === undefined || (silent && status !== "creating")) return outcome;
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
  return { stage, pending, refused, sent };
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

describe("a request whose answer was lost", () => {
  const steps = [
    ["attaching", file(10, false), file(10)],
    ["extending", file(10, false), file(20, false)],
    ["detaching", file(10), file(10, false)],
  ] as const;
  const cases = steps.flatMap(([status, before, after]) =>
    [80, 300, 1500, 20_000].flatMap((takesMs) =>
      [false, true].map((silent) => ({ status, before, after, takesMs, silent })),
    ),
  );
  it.each(cases)(
    "is not sent again while the volume is $status for $takesMs ms (no word of it: $silent)",
    async ({ status, before, after, takesMs, silent }) => {
      const loses: Record<string, number> = {};
      const { stage, refused, sent } = slowVolumes({ takesMs, loses, silent });
      await run(stage, before);
      sent.length = 0;
      loses[status] = 1;
      const steps = await run(stage, after);
      expect(steps.filter((step) => !step.endsWith(" done"))).toEqual([]);
      expect([sent.filter((one) => one === status), refused]).toEqual([[status], []]);
      expect(hasNothingToDo((await stage.plan(after)).plan)).toBe(true);
    },
  );

  it("is sent again when it never arrived, after the whole window", async () => {
    const drops = { attaching: 1 };
    const { stage, sent } = slowVolumes({ drops });
    const started = stage.clock.now();
    const steps = await run(stage, file(10));
    expect(steps.filter((step) => !step.endsWith(" done"))).toEqual([]);
    expect(sent.filter((one) => one === "attaching")).toHaveLength(2);
    expect(stage.clock.now() - started).toBeGreaterThan(defaultTiming.discoveryWindowMs);
  });

  it("in an earlier run is not sent again by the next one while the volume is on its way", async () => {
    const { stage, pending, sent, refused } = slowVolumes();
    await run(stage, file(10, false));
    const data = [...stage.emulated.world.tables.volume.values()].find(({ name }) => name === "data")!;
    const vm = (await stage.state()).resources.get("vm.database");
    if (vm?.kind !== "vm" || vm.id === undefined) throw new Error("the VM is not recorded");
    const vmId = vm.id;
    await stage.client.attachVolume(data.id, vmId);
    const record = (await stage.state()).resources.get("volume.data");
    if (record?.kind !== "volume") throw new Error("the volume is not recorded");
    await stage.record([{ type: "resource", address: "volume.data", record: { ...record, attaching: vmId } }]);
    expect(pending.size).toBe(1);
    sent.length = 0;
    const steps = await run(stage, file(10));
    expect(steps.filter((step) => !step.endsWith(" done"))).toEqual([]);
    expect([sent, refused]).toEqual([[], []]);
  });
});

describe("a volume whose create does not say in which state it is", () => {
  const unready = () => {
    const slow = slowVolumes({ takesMs: 5000 });
    const create = slow.stage.client.createVolume.bind(slow.stage.client);
    slow.stage.client.createVolume = async (name, sizeGb, options) => {
      const made = await create(name, sizeGb, options);
      if (made.status !== "accepted") return made;
      const { status: _, changing: __, ...rest } = made.value;
      return accepted(rest);
    };
    return slow;
  };

  it("is looked at until it is ready, and then attached", async () => {
    const { stage, refused } = unready();
    const steps = await run(stage, file(10));
    expect(steps.filter((step) => !step.endsWith(" done"))).toEqual([]);
    expect(refused).toEqual([]);
  });

  it("and that is refused as not ready although it looks so, is asked once more", async () => {
    const { stage } = slowVolumes({ takesMs: 0 });
    const attach = stage.client.attachVolume.bind(stage.client);
    let asked = 0;
    stage.client.attachVolume = async (...args) =>
      ++asked === 1
        ? { status: "rejected", condition: "bad_request", message: "the volume is not ready", httpStatus: 400 }
        : attach(...args);
    expect((await run(stage, file(10))).filter((step) => !step.endsWith(" done"))).toEqual([]);
    expect(asked).toBe(2);
  });
});
