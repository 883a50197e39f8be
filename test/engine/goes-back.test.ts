/**
 * A volume that comes off its VM only to be grown, where the file does not say where it hangs: somebody attached it by
 * hand, or `ignore_changes` leaves the place to others. It goes back, whatever ends the run, and stays somebody's.
 */
import { describe, expect, it } from "vitest";
import { dialectFor, projectOf, startBenchWorld } from "../support/bench-world";
import { createMortal, type Moment } from "../support/mortal";
import { readDump } from "../support/world-shape";

const vms = { db: { name: "db-1" } };
const places = {
  "by hand": {},
  "left to others": { attach_to: "db", lifecycle: { ignore_changes: ["attach_to"] } },
};
/** Before and after the detach, and after the growth. */
const moments: Readonly<Record<string, Moment | undefined>> = {
  undisturbed: undefined,
  "killed before the detach": { of: "request", nth: 1, when: "before" },
  "killed after the detach": { of: "request", nth: 1, when: "after" },
  "killed after the growth": { of: "request", nth: 2, when: "after" },
};

describe.each(Object.entries(places))("a volume that was attached: %s", (_, place) => {
  it.each(Object.entries(moments))("%s", async (__, moment) => {
    const options = { with: ["volume.list"] };
    const world = await startBenchWorld({ ...options, dialect: dialectFor(options), reach: "here" });
    try {
      const wish = (size: number) => projectOf({ vms, volumes: { data: { size, ...place } } });
      await world.apply(wish(5));
      const { vm, volume } = readDump(world.emulator.dump());
      const [host, { id } = { id: "" }] = [vm[0]?.id, volume.find(({ name }) => name === "data")];
      await world.control("PATCH", `/volume/${id}`, { attached_to: host, status: "in-use" });
      const mortal = createMortal({ ...world, clock: world.ports.clock }, moment);
      await Promise.race([world.apply(wish(6), {}, mortal), mortal.death]);
      if (mortal.isDead()) await world.store.breakLock();
      await world.apply(wish(6));
      const now = readDump(world.emulator.dump()).volume.find((one) => one.id === id);
      expect(now).toMatchObject({ size: 6, attached_to: host });
      expect((await world.plan(wish(6))).changes).toEqual([]);
    } finally {
      await world.close();
    }
  });
});
