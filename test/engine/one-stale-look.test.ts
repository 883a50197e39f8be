/** Where a volume hangs, and whether its VM is stopped, by a service that answers a look with what was true before. */
import { describe, expect, it } from "vitest";
import type { Desired } from "../../reconciler/core/model/desired";
import type { LiveVolume } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import { type BenchWorld, dialectFor, projectOf, startBenchWorld } from "../support/bench-world";
import { createMortal } from "../support/mortal";
import { readDump } from "../support/world-shape";

const on = (place: object) =>
  projectOf({
    vms: { db: { name: "db-1" }, web: { name: "web-1" } },
    volumes: { data: { size: 5, ...place }, other: { size: 1 } },
  });
const [onDb, onWeb, onNone] = [on({ attach_to: "db" }), on({ attach_to: "web" }), on({})];

const services = { "that lists volumes": ["volume.list"], "that reads them one by one": [] };

/** What the volume hangs on, as the service has it. */
function hangs({ emulator }: BenchWorld): string | null | undefined {
  const { vm, volume } = readDump(emulator.dump());
  const host = volume.find(({ name }) => name === "data")?.attached_to;
  return host == null ? host : vm.find(({ id }) => id === host)?.name;
}

/** Its first look at the volume is answered with it on this host; how often it was looked at. */
function stale({ ports: { client } }: BenchWorld, attachedTo: string | null) {
  let looks = 0;
  const late = (volume: LiveVolume): LiveVolume => {
    if (volume.name !== "data") return volume;
    looks++;
    return looks === 1 ? { ...volume, attachedTo } : volume;
  };
  const told = <T>(answer: Outcome<T>, as: (value: T) => T): Outcome<T> =>
    answer.status === "accepted" ? accepted(as(answer.value)) : answer;
  const of = {
    ...client,
    listVolumes: async () => told(await client.listVolumes(), (all) => all.map(late)),
    getVolume: async (id: string) => told(await client.getVolume(id), late),
  };
  return { client: of, looks: () => looks };
}

const idOf = ({ emulator }: BenchWorld, name: string) =>
  readDump(emulator.dump()).vm.find((vm) => vm.name === name)?.id ?? "";

/** As a person does it. */
async function putOn(world: BenchWorld, name?: string): Promise<void> {
  const volume = readDump(world.emulator.dump()).volume.find((one) => one.name === "data");
  const place =
    name === undefined
      ? { attached_to: null, status: "available" }
      : { attached_to: idOf(world, name), status: "in-use" };
  await world.control("PATCH", `/volume/${volume?.id}`, place);
}

/** The run dies when so many of its requests have been carried out. */
async function cutOff(world: BenchWorld, wish: Desired, nth = 1): Promise<void> {
  const mortal = createMortal({ ...world, clock: world.ports.clock }, { of: "request", nth, when: "after" });
  await Promise.race([world.apply(wish, {}, mortal), mortal.death]);
  await world.store.breakLock();
}

describe.each(Object.entries(services))("a service %s", (_, operations) => {
  const onWorld = async (story: (world: BenchWorld) => Promise<void>) => {
    const options = { with: operations };
    const world = await startBenchWorld({ ...options, dialect: dialectFor(options), reach: "here" });
    try {
      await story(world);
    } finally {
      await world.close();
    }
  };

  it("a volume that one look shows on nothing is taken off all the same", () =>
    onWorld(async (world) => {
      await world.apply(onDb);
      await world.apply(onNone, {}, stale(world, null));
      expect(hangs(world)).toBe(null);
      expect((await world.plan(onNone)).changes).toEqual([]);
    }));

  it("a volume that one look shows where it was before comes off no VM that it has left", () =>
    onWorld(async (world) => {
      await world.apply(onDb);
      await world.apply(onNone);
      const { plan } = await world.apply(onWeb, {}, stale(world, idOf(world, "db-1")));
      expect(plan.steps.map(({ action }) => action.operation)).toEqual(["volume.attach"]);
      expect(hangs(world)).toBe("web-1");
    }));

  it("a volume that somebody took off, and that a second look does not find, is not made anew", () =>
    onWorld(async (world) => {
      await world.apply(onDb);
      await putOn(world);
      const { client, looks } = stale(world, null);
      const getVolume = async (id: string): Promise<Outcome<LiveVolume>> => {
        const answer = await client.getVolume(id);
        return looks() > 1 ? { status: "rejected", condition: "not_found", message: "no such volume" } : answer;
      };
      await world.apply(onDb, {}, { client: { ...client, getVolume } });
      expect(readDump(world.emulator.dump()).volume.filter(({ name }) => name === "data").length).toBe(1);
    }));

  it("a volume that was taken off to be grown goes back, whatever one look shows", () =>
    onWorld(async (world) => {
      const grown = on({ size: 6 });
      await world.apply(onNone);
      await putOn(world, "db-1");
      await cutOff(world, grown);
      expect(hangs(world)).toBe(null);
      // Its user wants it as it was.
      await world.apply(onNone, {}, stale(world, idOf(world, "db-1")));
      expect(hangs(world)).toBe("db-1");
    }));

  it("a volume whose attach was cut off is taken off, whatever one look shows", () =>
    onWorld(async (world) => {
      await world.apply(onNone);
      await cutOff(world, onDb);
      expect(hangs(world)).toBe("db-1");
      await world.apply(onNone, {}, stale(world, null));
      expect(hangs(world)).toBe(null);
    }));

  it("one look is enough where it shows what is recorded, and of a place that is left to others", () =>
    onWorld(async (world) => {
      await world.apply(onDb);
      const looksOf = async (wish: Desired) => {
        const { client, looks } = stale(world, idOf(world, "db-1"));
        await world.apply(wish, {}, { client });
        return looks();
      };
      expect(await looksOf(onDb)).toBe(1);
      await putOn(world);
      const left = stale(world, null);
      await world.apply(on({ attach_to: "db", lifecycle: { ignore_changes: ["attach_to"] } }), {}, left);
      expect([left.looks(), hangs(world)]).toEqual([1, null]);
      await world.apply(onDb);
      expect(hangs(world)).toBe("db-1");
    }));
});

describe.each([[[]], [["vm.get"]]])("a VM that the list shows as it was before its start (%s)", (operations) => {
  const wish = (power: string, size: number) =>
    projectOf({
      vms: { db: { name: "db-1", power } },
      volumes: { data: { size, attach_to: "db", flush: { via: "stop" } } },
    });
  const ofItsOwn = projectOf({
    vms: { db: { name: "db-1", power: "running", size: 11, flush: { via: "stop" } } },
    volumes: { data: { size: 5, attach_to: "db", flush: { via: "stop" } } },
  });
  const gone = projectOf({ volumes: { data: { size: 5, flush: { via: "stop" } } } });
  const statusOf = (world: BenchWorld) =>
    readDump(world.emulator.dump()).vm.find(({ name }) => name === "db-1")?.status;

  it.each([
    ["grown", wish("running", 6), ["SHUTOFF"], "ACTIVE"],
    ["grown, its own one", ofItsOwn, ["SHUTOFF"], "ACTIVE"],
    ["left by its VM", gone, ["SHUTOFF"], undefined],
  ])("is stopped before its volume is %s", async (_, then, flushed, end) => {
    const options = { with: operations };
    const world = await startBenchWorld({ ...options, dialect: dialectFor(options), reach: "here" });
    try {
      const { client } = world.ports;
      await world.apply(wish("stopped", 5));
      const before = await client.listVms();
      await world.apply(wish("running", 5));
      const off: unknown[] = [];
      const late = {
        ...client,
        listVms: async () => (off.length === 0 ? before : await client.listVms()),
        detachVolume: async (...asked: Parameters<typeof client.detachVolume>) => {
          off.push(statusOf(world));
          return client.detachVolume(...asked);
        },
      };
      await world.apply(then, {}, { client: late });
      expect({ off, end: statusOf(world) }).toEqual({ off: flushed, end });
      expect((await world.plan(then)).changes).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it.each(
    (["invalid_state", "conflict", "bad_request"] as const).flatMap((condition) =>
      [wish("running", 6), gone].map((then) => ({ condition, then })),
    ),
  )("is taken for stopped where it shows so and the stop is refused: $condition", async ({ condition, then }) => {
    const options = { with: operations };
    const world = await startBenchWorld({ ...options, dialect: dialectFor(options), reach: "here" });
    try {
      await world.apply(wish("running", 5));
      await world.control("PATCH", `/vm/${idOf(world, "db-1")}`, { status: "SHUTOFF" });
      const refused = { status: "rejected", condition, message: "it is stopped" } as const;
      const client = { ...world.ports.client, stopVm: async () => refused };
      const { report } = await world.apply(then, {}, { client });
      expect(report?.steps.filter(({ result }) => result.end !== "done")).toEqual([]);
      expect(statusOf(world)).toBe(then === gone ? undefined : "ACTIVE");
    } finally {
      await world.close();
    }
  });
});

describe("a VM at which a run was cut off, and that one list shows as it was before", () => {
  /** The run after the one that dies once `nth` requests have been carried out plans with a list of VMs from before it. */
  async function afterCut(
    first: Desired,
    then: Desired,
    nth: number,
    ends: (world: BenchWorld) => unknown,
  ): Promise<unknown> {
    const world = await startBenchWorld({ reach: "here" });
    try {
      await world.apply(first);
      const { client } = world.ports;
      const before = await client.listVms();
      await cutOff(world, then, nth);
      let isLate = true;
      const late = {
        ...client,
        listVms: async () => (isLate ? before : client.listVms()),
        // Asked for beside the first list of the plan.
        getVolume: async (id: string) => {
          isLate = false;
          return client.getVolume(id);
        },
      };
      await world.apply(then, {}, { client: late });
      expect((await world.plan(then)).changes).toEqual([]);
      return ends(world);
    } finally {
      await world.close();
    }
  }
  it("is started where the run stopped it for a flush", async () => {
    const wish = (size: number) =>
      projectOf({
        vms: { db: { name: "db-1" } },
        volumes: { data: { size, attach_to: "db", flush: { via: "stop" } } },
      });
    // The stop, the detach, the growth and the attach.
    const status = ({ emulator }: BenchWorld) => readDump(emulator.dump()).vm[0]?.status;
    expect(await afterCut(wish(5), wish(6), 4, status)).toBe("ACTIVE");
  });

  it("gets the data volume back that the run took off", async () => {
    const wish = (size: number) => projectOf({ vms: { db: { name: "db-1", size } } });
    // The detach and the growth.
    const hosts = ({ emulator }: BenchWorld) => readDump(emulator.dump()).volume.map((one) => one.attached_to !== null);
    expect(await afterCut(wish(5), wish(6), 2, hosts)).toEqual([true]);
  });
});
