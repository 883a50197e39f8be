/** `--refresh=changed`: what was seen not long ago is taken from memory, and whatever a plan touches is looked at first. */
import { describe, expect, it } from "vitest";
import type { Desired } from "../../reconciler/core/model/desired";
import type { LookMemory } from "../../reconciler/core/plan/memory";
import { seenAfter } from "../../reconciler/core/state/fold";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { rememberSeen } from "../../reconciler/engine/apply";
import { projectOf } from "../support/bench-world";
import { holder, prepareOn } from "../support/engine-on";
import { virtualWorld } from "../support/virtual-world";

const hour = 3_600_000;
const maxAgeMs = 24 * hour;

const file = (size = 5, count = 20): Desired =>
  projectOf({
    vms: { web: { image_id: "00000000-0000-4000-8003-000000000001" } },
    volumes: {
      data: { size, flush: { via: "ask" } },
      spare: { for_each: count, name: "spare-${each}", size: 5 },
    },
    groups: { front: { rules: [{ protocol: "tcp", dst_port: 80, remote_ip: "0.0.0.0/0" }] } },
  });

/** A project that stands, everything of which was seen at its start. */
async function standing() {
  const stage = virtualWorld();
  const reads: string[] = [];
  const count =
    <A extends unknown[], R>(name: string, read: (...args: A) => R) =>
    (...args: A): R => {
      reads.push(name);
      return read(...args);
    };
  const { client } = stage;
  client.listVms = count("vm.list", client.listVms);
  client.getVolume = count("volume.get", client.getVolume);
  client.listRules = count("group.rule.list", client.listRules);
  const plan = (desired = file(), more: object = {}) => stage.plan(desired, { maxAgeMs, ...more });
  const apply = async (desired = file()) => {
    const prepared = await plan(desired);
    if (prepared.plan.steps.length > 0) await stage.apply(prepared);
    else await rememberSeen(prepared, stage.store, holder);
    return prepared;
  };
  await apply();
  await apply();
  reads.length = 0;
  return { ...stage, plan, apply, takeReads: () => reads.splice(0).sort() };
}

describe("a plan of what changed", () => {
  it("asks nothing where nothing changed and everything was seen, and says what it took from memory", async () => {
    const { plan, takeReads } = await standing();
    const { plan: made } = await plan();
    expect(takeReads()).toEqual([]);
    expect([made.changes, made.steps, made.unchanged]).toEqual([[], [], 23]);
    expect(made.fromMemory).toHaveLength(23);
    expect(made.fromMemory?.every(({ seenAt }) => seenAt !== undefined)).toBe(true);
  });

  it("asks nothing right after an apply that did not ask for it, and after a change of one thing", async () => {
    const stage = virtualWorld();
    let asked = 0;
    const { listVms, getVolume, listRules } = stage.client;
    const counted =
      <A extends unknown[], R>(read: (...args: A) => R) =>
      (...args: A): R => {
        asked++;
        return read(...args);
      };
    Object.assign(stage.client, {
      listVms: counted(listVms),
      getVolume: counted(getVolume),
      listRules: counted(listRules),
    });
    for (const desired of [file(), file(6)]) {
      await stage.apply(await stage.plan(desired));
      asked = 0;
      const { plan: made } = await stage.plan(desired, { maxAgeMs });
      expect([asked, made.changes, made.fromMemory?.length]).toEqual([0, [], 23]);
    }
  });

  it("looks at what the file changes, and plans on what it sees there", async () => {
    const { plan, takeReads, client, state } = await standing();
    const { id } = (await state()).resources.get("volume.data") as { id: string };
    await client.resizeVolume(id, 9);
    takeReads();
    const { plan: made } = await plan(file(8));
    expect(takeReads()).toEqual(["volume.get"]);
    // Eight would have been a growth from memory; nine is there.
    expect(made.diagnostics).toContainEqual(expect.objectContaining({ code: "plan/shrink" }));
    expect(made.fromMemory).toHaveLength(22);
  });

  it("looks at what was not seen for too long, and remembers that it did, once", async () => {
    const { apply, plan, takeReads, clock, state } = await standing();
    await clock.sleep(maxAgeMs + hour);
    const { serial } = await state();
    await apply();
    expect(takeReads()).toEqual(["group.rule.list", ...Array(1).fill("vm.list"), ...Array(21).fill("volume.get")]);
    const after = await state();
    expect(after.serial).toBe(serial + 1);
    await apply();
    await plan();
    expect([takeReads(), (await state()).serial]).toEqual([[], after.serial]);
  });

  it("looks at everything that nobody has noted to have seen: a state of an older version", async () => {
    const stage = virtualWorld();
    await stage.apply(await stage.plan(file()));
    const { seen: _, ...older } = await stage.state();
    const session = await stage.store.lock(holder);
    await session.replace(writeSnapshot({ ...older, journalled: 0 }));
    await session.release();
    expect((await stage.state()).seen).toBeUndefined();
    const { plan } = await stage.plan(file(), { maxAgeMs });
    expect(plan.fromMemory).toBeUndefined();
  });

  it("does not take for gone what it did not look at, and finds it gone when it does", async () => {
    const { plan, client, state, clock } = await standing();
    const { id } = (await state()).resources.get("volume.spare[3]") as { id: string };
    await client.deleteVolume(id);
    const fromMemory = (await plan()).plan;
    expect([fromMemory.changes, fromMemory.bookkeeping]).toEqual([[], []]);
    await clock.sleep(maxAgeMs);
    expect((await plan()).plan.changes).toEqual([
      expect.objectContaining({ address: "volume.spare[3]", action: "create", reason: "gone" }),
    ]);
  });

  it("looks at what an open create names", async () => {
    const { plan, takeReads, record } = await standing();
    const sentAt = "2026-01-01T00:00:00.000Z";
    const intent = { step: "vm.new/create", address: "vm.new", operation: "vm.create" as const, name: "new" };
    await record([{ type: "intent", address: "vm.new", intent: { ...intent, sentAt, idsBefore: [] } }]);
    await plan();
    expect(takeReads()).toContain("vm.list");
  });

  it("looks at its share of everything in each of many rounds, so that all is seen in time and no round is a peak", async () => {
    const { plan: _, ...stage } = await standing();
    let memory: LookMemory = { seen: undefined, again: new Set(), share: 1 / 8 };
    const looked: number[] = [];
    const seen = new Set<string>();
    for (let round = 0; round < 8; round++) {
      await stage.clock.sleep(hour);
      const prepared = await prepareOn(stage, file(), { options: { maxAgeMs: 8 * hour }, memory });
      const { sightings } = prepared;
      const addresses = sightings?.addresses ?? [...prepared.state.resources.keys()];
      looked.push(addresses.length);
      for (const address of addresses) seen.add(address);
      memory = { ...memory, seen: sightings === undefined ? memory.seen : seenAfter(memory.seen, sightings) };
    }
    expect(Math.max(...looked)).toBeLessThanOrEqual(5);
    expect(seen.size).toBe(23);
  });

  it("believes no time that is still to come", async () => {
    const { plan, record, takeReads } = await standing();
    await record([{ type: "seen", at: "2099-01-01T00:00:00.000Z", addresses: ["volume.data"] }]);
    await plan();
    expect(takeReads()).toEqual(["volume.get"]);
  });
});
