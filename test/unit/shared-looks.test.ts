/** Lists that many handlers share: one that is to prove an absence is another than one that was read for less. */
import { expect, it } from "vitest";
import { accepted } from "../../reconciler/core/model/outcome";
import { shareLooks } from "../../reconciler/one/shared-looks";
import type { ServiceClient } from "../../reconciler/service/client";
import { systemClock } from "../../reconciler/service/system-clock";

it("a list that proves is asked for as such beside one that does not", async () => {
  const asked: unknown[] = [];
  const client = {
    listVms: async (options?: unknown) => {
      asked.push(options);
      return accepted([]);
    },
  } as unknown as ServiceClient;
  const { fresh } = shareLooks(client, systemClock);
  await Promise.all([fresh.listVms(), fresh.listVms({ proves: true })]);
  expect(asked).toEqual([undefined, { proves: true }]);
});

it("who asks within some milliseconds is told by one request, and a refresh that goes on reads no list again", async () => {
  let lists = 0;
  const client = {
    listVms: async () => {
      lists++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return accepted([]);
    },
  } as unknown as ServiceClient;
  const { fresh, recent } = shareLooks(client, systemClock);
  await Promise.all([fresh.listVms(), fresh.listVms(), fresh.listVms()]);
  expect(lists).toBe(1);
  const asked = [recent.listVms()];
  for (let since = 0; since < 5; since++) {
    await new Promise((resolve) => setTimeout(resolve, 8));
    asked.push(recent.listVms());
  }
  await Promise.all(asked);
  expect(lists).toBe(2);
  await fresh.listVms();
  expect(lists).toBe(3);
});

it("what sends nothing is passed on as it is, and makes no answer older", async () => {
  let lists = 0;
  const client = {
    listCost: () => ({ pageItems: 100, pageReads: 1 }),
    listVms: async () => {
      lists++;
      return accepted([]);
    },
  } as unknown as ServiceClient;
  const { recent } = shareLooks(client, systemClock);
  await recent.listVms();
  expect(recent.listCost?.("vm")).toEqual({ pageItems: 100, pageReads: 1 });
  await recent.listVms();
  expect(lists).toBe(1);
});

it("a refresh that takes minutes reads a list once; after a pause it is read again", async () => {
  let lists = 0;
  let now = 0;
  const client = {
    listVms: async () => {
      lists++;
      return accepted([]);
    },
  } as unknown as ServiceClient;
  const { recent } = shareLooks(client, { ...systemClock, now: () => now });
  for (; now < 120_000; now += 10_000) await recent.listVms();
  expect(lists).toBe(1);
  now += 20_000;
  await recent.listVms();
  expect(lists).toBe(2);
  for (; now < 600_000; now += 10_000) await recent.listVms();
  expect(lists).toBe(3);
});

it("a create is told by the last list while a newer one is on its way", async () => {
  const pending: (() => void)[] = [];
  let lists = 0;
  const client = {
    listVms: () => {
      const value = accepted([{ id: `list-${++lists}` }]);
      return new Promise((resolve) => pending.push(() => resolve(value)));
    },
  } as unknown as ServiceClient;
  const { fresh, forCreate } = shareLooks(client, systemClock);
  const asked = async (): Promise<void> => {
    while (pending.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const first = fresh.listVms();
  await asked();
  pending.shift()?.();
  await first;
  const second = fresh.listVms();
  await asked();
  expect(await forCreate.listVms()).toEqual(await first);
  pending.shift()?.();
  await second;
  expect(pending).toEqual([]);
});

it("a list of VMs from before a delete shows no disk that was deleted since", async () => {
  const sent = async () => accepted(undefined);
  const client = {
    listVms: async () => accepted([{ kind: "vm", id: "a", phase: "running", volumes: [{ id: "d" }, { id: "e" }] }]),
    detachVolume: sent,
    deleteVolume: sent,
  } as unknown as ServiceClient;
  const { fresh, forRemoval } = shareLooks(client, systemClock);
  await forRemoval.listVms();
  for (const id of ["d", "e"]) await fresh.detachVolume(id, "a", true);
  await fresh.deleteVolume("d");
  const listed = await forRemoval.listVms();
  expect(listed.status === "accepted" && listed.value.map(({ volumes }) => volumes)).toEqual([[{ id: "e" }]]);
  // A delete that was accepted may not have been done: what a later list shows is so.
  await fresh.listVms();
  const later = await forRemoval.listVms();
  expect(later.status === "accepted" && later.value.map(({ volumes }) => volumes)).toEqual([
    [{ id: "d" }, { id: "e" }],
  ]);
});

it("a catalogue is read once, and anew by who waits for what is new in it", async () => {
  let lists = 0;
  const client = { listImages: async () => accepted([++lists]) } as unknown as ServiceClient;
  const { fresh, recent } = shareLooks(client, systemClock);
  const seen: unknown[] = [];
  for (const options of [undefined, undefined, { proves: true }, { proves: true }, undefined]) {
    const { value } = (await fresh.listImages(options)) as unknown as { value: unknown };
    seen.push(value);
  }
  expect(seen).toEqual([[1], [1], [2], [3], [1]]);
  await recent.listImages({ proves: true });
  expect(lists).toBe(4);
});

it("a list shows a VM lately where it was asked for after all that was sent about it, and for a second", async () => {
  let now = 0;
  let phase = "stopped";
  const sent = async () => accepted(undefined);
  const client = {
    listVms: async () => accepted([{ kind: "vm", id: "a", name: "a", phase, volumes: [{ id: "d" }] }]),
    stopVm: sent,
    startVm: sent,
    detachVolume: sent,
  } as unknown as ServiceClient;
  const { fresh, vmShownLately } = shareLooks(client, { ...systemClock, now: () => now });
  const shown = () => vmShownLately("a")?.phase;
  expect(shown()).toBeUndefined();
  await fresh.listVms();
  await fresh.stopVm("a");
  expect(shown(), "a list from before the stop").toBeUndefined();
  const stopping = fresh.stopVm("a");
  const meanwhile = fresh.listVms();
  await stopping;
  await meanwhile;
  await fresh.listVms();
  expect(shown(), "a list from after the stop").toBe("stopped");
  now += 1001;
  expect(shown(), "a list of another second").toBeUndefined();
  await fresh.listVms();
  await fresh.detachVolume("d", "a", true);
  expect(shown(), "a list from before a volume came off it").toBeUndefined();
  await fresh.listVms();
  phase = "running";
  await fresh.startVm("a");
  expect(shown(), "a list from before a start").toBeUndefined();
});

it.each([
  ["a list", "stopVm", 0],
  ["a list", "attachVolume", 1],
  ["one volume", "stopVm", 0],
  ["one volume", "attachVolume", 0],
  ["one volume", "resizeVolume", 1],
] as const)("%s that was read before makes sure again after %s: asked %i times more", async (what, write, more) => {
  let reads = 0;
  const read = async () => {
    reads++;
    return accepted([]);
  };
  const sent = async () => accepted(undefined);
  const client = {
    can: { seesVolumes: "each" },
    listVms: read,
    getVolume: read,
    stopVm: sent,
    attachVolume: sent,
    resizeVolume: sent,
  } as unknown as ServiceClient;
  const { fresh } = shareLooks(client, systemClock);
  const look = () =>
    what === "a list" ? fresh.listVms({ makesSure: true }) : fresh.getVolume("a", { makesSure: true });
  await look();
  await look();
  expect(reads).toBe(1);
  // Each is of another volume than the one that is read, but for the last.
  if (write === "stopVm") await fresh.stopVm("vm");
  else if (write === "attachVolume") await fresh.attachVolume("b", "vm");
  else await fresh.resizeVolume("a", 2);
  await look();
  expect(reads - 1).toBe(more);
});
