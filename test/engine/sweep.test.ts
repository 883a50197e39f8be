/** A look at everything, spread over the pause between two rounds of a watch: each thing once, and never much at a time. */
import { describe, expect, it } from "vitest";
import { nothingSwept, requestsLeft, type Swept, sweptWith, without } from "../../reconciler/core/plan/sweep";
import { sweepDuring } from "../../reconciler/engine/sweep";
import { projectOf } from "../support/bench-world";
import { prepareOn } from "../support/engine-on";
import { virtualWorld } from "../support/virtual-world";

const minute = 60_000;

const file = (spares: number, more: object = {}) =>
  projectOf({
    vms: { web: { for_each: 12, name: "web-${each}" } },
    volumes: { spare: { for_each: spares, name: "spare-${each}", size: 5 } },
    groups: { front: { for_each: 30, name: "front-${each}", rules: [{ protocol: "tcp", dst_port: 80 }] } },
    ...more,
  });

async function watched(desired = file(60)) {
  const stage = virtualWorld();
  const reads: { at: number; what: string }[] = [];
  const count =
    <A extends unknown[], R>(name: string, read: (...args: A) => R) =>
    (...args: A): R => {
      const [id] = args;
      reads.push({ at: stage.clock.now(), what: typeof id === "string" ? `${name} ${id}` : name });
      return read(...args);
    };
  const { client, clock } = stage;
  await stage.apply(await stage.plan(desired));
  client.listVms = count("vm.list", client.listVms);
  client.getVm = count("vm.get", client.getVm);
  client.getVolume = count("volume.get", client.getVolume);
  client.listRules = count("group.rule.list", client.listRules);
  client.listImages = count("image.list", client.listImages);
  let swept: Swept = nothingSwept;
  const round = async (wanted = desired) => {
    const prepared = await prepareOn(stage, wanted, { swept });
    swept = prepared.swept ?? nothingSwept;
    return prepared;
  };
  const sweep = async (pauseMs = 10 * minute, signal = new AbortController().signal) => {
    const from = clock.now();
    const state = await stage.state();
    swept = await sweepDuring({ client: async () => client, desired, state, swept, clock, pauseMs, signal });
    return { tookMs: clock.now() - from, state };
  };
  const idOf = async (address: string) => (await stage.state()).resources.get(address)?.id ?? "";
  await round();
  return {
    ...stage,
    round,
    sweep,
    idOf,
    forget: async (address: string) => {
      swept = without(swept, await stage.state(), new Set([address]));
    },
    swept: () => swept,
    takeReads: () => reads.splice(0),
  };
}

const slicesOf = (reads: readonly { at: number; what: string }[]): number[] => {
  const bySlice = new Map<number, number>();
  for (const { at } of reads) bySlice.set(at, (bySlice.get(at) ?? 0) + 1);
  return [...bySlice.values()];
};

describe("a look spread over the pause", () => {
  it("sees each thing once in the pause, a few at a time, and leaves nothing for the round to look at", async () => {
    const { sweep, round, takeReads, clock } = await watched();
    const whole = takeReads();
    expect(whole.filter(({ what }) => what !== "image.list")).toHaveLength(1 + 60 + 30);
    for (let turn = 0; turn < 3; turn++) {
      const from = clock.now();
      const { tookMs } = await sweep();
      expect(tookMs).toBe(10 * minute);
      const reads = takeReads();
      expect(reads).toHaveLength(1 + 60 + 30);
      expect(new Set(reads.map(({ what }) => what)).size).toBe(reads.length);
      const slices = slicesOf(reads);
      expect(Math.max(...slices)).toBeLessThanOrEqual(2);
      expect(slices.length).toBeGreaterThanOrEqual(46);
      const times = reads.map(({ at }) => at - from);
      for (let minutes = 1; minutes < 10; minutes++)
        expect(Math.abs(times.filter((at) => at <= minutes * minute).length - 9.1 * minutes)).toBeLessThan(4);
      const { plan, live } = await round();
      expect([plan.changes, plan.steps, plan.unchanged]).toEqual([[], [], 102]);
      expect([live.of.vm.byId.size, live.of.volume.byId.size, live.of.group.byId.size]).toEqual([12, 60, 30]);
      // The list of images is for comparing names, and is no look at any of them.
      expect(takeReads().map(({ what }) => what)).toEqual(["image.list"]);
    }
  });

  it("spreads a thousand reads evenly", async () => {
    const { sweep, takeReads } = await watched(file(1000));
    takeReads();
    await sweep();
    const slices = slicesOf(takeReads());
    expect([slices.length, Math.min(...slices), Math.max(...slices)]).toEqual([58, 17, 18]);
  });

  it("does not spread what is over at once", async () => {
    const { sweep, takeReads } = await watched();
    takeReads();
    expect((await sweep(1000)).tookMs).toBe(1000);
    expect(takeReads()).toEqual([]);
  });

  it("ends when something is not as it was, which the round then looks at and tells", async () => {
    const { sweep, round, idOf, client, takeReads, swept } = await watched();
    await client.resizeVolume(await idOf("volume.spare[30]"), 9);
    takeReads();
    const { tookMs } = await sweep();
    expect(tookMs).toBeLessThan(10 * minute);
    takeReads();
    const { plan, live } = await round();
    expect(plan.changes.map(({ address }) => address)).toEqual(["volume.spare[30]"]);
    const id = await idOf("volume.spare[30]");
    expect(takeReads().map(({ what }) => what)).toEqual([`volume.get ${id}`, "image.list"]);
    expect(live.of.volume.byId.get(id)).toMatchObject({ seen: "yes", value: { sizeGb: 9 } });
    // It differs still, and that is known: the next sweep goes on to its end.
    expect((await sweep()).tookMs).toBe(10 * minute);
    expect(swept().at.size).toBe(102);
  });

  it("proves that something is gone by the round's own look, and never by a slice", async () => {
    const { sweep, round, idOf, client, swept } = await watched();
    const id = await idOf("volume.spare[3]");
    await client.deleteVolume(id);
    await sweep();
    expect(swept().at.has(`volume:${id}`)).toBe(false);
    const { plan, live } = await round();
    expect(live.of.volume.byId.get(id)).toMatchObject({ seen: "gone" });
    expect(plan.changes).toMatchObject([{ address: "volume.spare[3]", reason: "gone" }]);
  });

  it("is not taken for news where the watcher made the change itself", async () => {
    const { sweep, idOf, client, forget, swept } = await watched();
    const id = await idOf("volume.spare[3]");
    await client.resizeVolume(id, 9);
    await forget("volume.spare[3]");
    expect((await sweep()).tookMs).toBe(10 * minute);
    expect(swept().live.of.volume.byId.get(id)).toMatchObject({ value: { sizeGb: 9 } });
  });

  it("follows the file: what it changes is looked at, and so is what nobody has seen", async () => {
    const { sweep, round, takeReads, idOf } = await watched();
    await sweep();
    takeReads();
    const { plan } = await round(file(61));
    expect(plan.changes.map(({ address, action }) => [address, action])).toEqual([["volume.spare[60]", "create"]]);
    expect(takeReads().filter(({ what }) => what.startsWith("volume.get"))).toEqual([]);
    const { plan: grown } = await round(
      file(60, { volumes: { spare: { for_each: 60, name: "spare-${each}", size: 6 } } }),
    );
    expect(grown.changes).toHaveLength(60);
    const read = takeReads().map(({ what }) => what);
    expect(read).toContain(`volume.get ${await idOf("volume.spare[7]")}`);
  });

  it("stops at once when the watch is stopped", async () => {
    const { sweep, takeReads } = await watched();
    takeReads();
    const stop = new AbortController();
    stop.abort();
    await sweep(10 * minute, stop.signal);
    expect(takeReads()).toEqual([]);
  });
});

it("a list is one look at all that it shows, and counts as its pages", async () => {
  const stage = virtualWorld({ with: ["volume.list", "group.list", "group.get"] });
  const desired = file(250);
  await stage.apply(await stage.plan(desired));
  const prepared = await stage.plan(desired);
  const state = await stage.state();
  const swept = sweptWith(nothingSwept, prepared.live, state, 5);
  const sight = { can: stage.client.can, pageItems: () => 100 };
  expect(requestsLeft(state, swept, sight, 4)).toBe(0);
  // One page of VMs, three of volumes; a group is a head and its rules.
  expect(requestsLeft(state, swept, sight, 5)).toBe(1 + 3 + 60);
});
