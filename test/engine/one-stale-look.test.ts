/** Where a volume hangs, by a service of which one look in a row is answered with what was true before. */
import { describe, expect, it } from "vitest";
import type { LiveVolume } from "../../reconciler/core/model/live";
import { accepted, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import type { ServiceClient } from "../../reconciler/service/client";
import { type BenchWorld, dialectFor, projectOf, startBenchWorld } from "../support/bench-world";
import { readDump } from "../support/world-shape";

const on = (place: object) =>
  projectOf({ vms: { db: { name: "db-1" }, web: { name: "web-1" } }, volumes: { data: { size: 5, ...place } } });
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
  const late = (volume: LiveVolume): LiveVolume =>
    looks === 1 && volume.name === "data" ? { ...volume, attachedTo } : volume;
  const told = <T>(answer: Outcome<T>, as: (value: T) => T): Outcome<T> => {
    looks++;
    return answer.status === "accepted" ? accepted(as(answer.value)) : answer;
  };
  const of = {
    ...client,
    listVolumes: async () => told(await client.listVolumes(), (all) => all.map(late)),
    getVolume: async (id: string) => told(await client.getVolume(id), late),
  };
  return { client: of, looks: () => looks };
}

/** It finds the volume only where it is shown on nothing. */
const foundOnNothing =
  ({ getVolume }: ServiceClient, notFound: Rejection): ServiceClient["getVolume"] =>
  async (id) => {
    const answer = await getVolume(id);
    return answer.status === "accepted" && answer.value.attachedTo === null ? answer : notFound;
  };

const idOf = ({ emulator }: BenchWorld, name: string) =>
  readDump(emulator.dump()).vm.find((vm) => vm.name === name)?.id ?? "";

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

  it("a volume that a second look does not find is not made anew", () =>
    onWorld(async (world) => {
      await world.apply(onDb);
      const { client } = stale(world, null);
      const notFound = { status: "rejected", condition: "not_found", message: "no such volume" } as const;
      const { changes } = (
        await world.apply(onDb, {}, { client: { ...client, getVolume: foundOnNothing(client, notFound) } })
      ).plan;
      expect(changes).toEqual([]);
    }));

  it("one look is enough where it shows what is recorded, and of a place that is left to others", () =>
    onWorld(async (world) => {
      await world.apply(onDb);
      const looksOf = async (wish: typeof onDb) => {
        const { client, looks } = stale(world, idOf(world, "db-1"));
        await world.apply(wish, {}, { client });
        return looks();
      };
      expect(await looksOf(onDb)).toBe(1);
      const volume = readDump(world.emulator.dump()).volume.find(({ name }) => name === "data");
      // Somebody takes it off.
      await world.control("PATCH", `/volume/${volume?.id}`, { attached_to: null, status: "available" });
      const left = stale(world, null);
      await world.apply(on({ attach_to: "db", lifecycle: { ignore_changes: ["attach_to"] } }), {}, left);
      expect([left.looks(), hangs(world)]).toEqual([1, null]);
      await world.apply(onDb);
      expect(hangs(world)).toBe("db-1");
    }));
});
