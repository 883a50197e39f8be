/** What every store must do, run for each of them: one place, several clients of it, and nothing assumed about how it is kept. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RecordedVolume } from "../../reconciler/core/model/recorded";
import { emptyState, type FoldedState } from "../../reconciler/core/state/fold";
import { readState, writeEntry, writeSnapshot } from "../../reconciler/core/state/text";
import { type Holder, LeaseLost, type LeaseTimes, StateLocked, type StateStore } from "../../reconciler/store/store";

/** One place for one state. */
export interface Place {
  /** Another client, as another process would have. */
  open(times?: LeaseTimes): StateStore;
  /** Loses what was appended last, as a disk, a database or a person may. */
  loseLast?(): Promise<void> | void;
  close?(): Promise<void> | void;
}

/** Never gives a sign of life: a paused or dead holder's lease is over after 40 ms. */
export const frozen: LeaseTimes = { leaseMs: 40, heartbeatMs: 3_600_000 };
/** Lives through short pauses only as long as its heartbeat is heard. */
const lively: LeaseTimes = { leaseMs: 3000, heartbeatMs: 150 };

export const holder = (who = "ada"): Holder => ({
  who,
  host: "runner-7",
  pid: 4242,
  since: "2026-01-02T03:04:05.000Z",
  command: "reconcile apply",
});

const volume = (key: string, name = key): RecordedVolume => ({
  kind: "volume",
  address: `volume.${key}`,
  id: `id-${key}`,
  name,
  flush: { via: "ask" },
  preventDestroy: false,
});

export const line = (serial: number, epoch: number, key = `v${serial}`, name?: string): string =>
  writeEntry({ serial, epoch, change: { type: "resource", address: `volume.${key}`, record: volume(key, name) } });

export const snapshot = (serial: number, epoch: number, keys: readonly string[] = []): string =>
  writeSnapshot({
    ...emptyState("lineage-1"),
    serial,
    epoch,
    resources: new Map(keys.map((key) => [`volume.${key}`, volume(key)])),
  });

export async function stateIn(store: Pick<StateStore, "read">): Promise<FoldedState> {
  const read = readState(await store.read(), "unborn");
  if (!read.ok) throw new Error(read.problem);
  return read.state;
}

export const keysIn = async (store: Pick<StateStore, "read">): Promise<string[]> =>
  [...(await stateIn(store)).resources.values()].map((record) => record.id!.slice(3)).sort();

/** Without its last line. */
export function cutJournal(path: string): void {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  writeFileSync(
    path,
    lines
      .slice(0, -1)
      .map((text) => `${text}\n`)
      .join(""),
  );
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** `lapse`: a lease that no heartbeat keeps alive, and when it is surely over. */
export function describeStore(
  name: string,
  makePlace: () => Promise<Place> | Place,
  lapse: { readonly times: LeaseTimes; readonly waitMs: number } = { times: frozen, waitMs: 60 },
): void {
  describe(`${name}: every store`, () => {
    let place: Place;
    beforeEach(async () => {
      place = await makePlace();
    });
    afterEach(async () => {
      await place.close?.();
    });

    /** The next holder, after the present one died: at once when its lease is over, or when somebody takes the lock away. */
    const takeOver = async (who: string) => {
      const store = place.open();
      if (!store.leases) await store.breakLock();
      else await pause(lapse.waitMs);
      return place.open(lapse.times).lock(holder(who));
    };

    it("is empty before anything was written", async () => {
      const stored = await place.open().read();
      expect(stored.snapshot ?? "").toBe("");
      expect(stored.journal).toEqual([]);
    });

    it("gives back a snapshot and the lines appended since, oldest first, to everybody", async () => {
      const session = await place.open().lock(holder());
      await session.replace(snapshot(1, session.epoch, ["a"]));
      await session.append([line(2, session.epoch), line(3, session.epoch)]);
      await session.append([line(4, session.epoch)]);
      expect(await keysIn(session)).toEqual(["a", "v2", "v3", "v4"]);
      await session.release();
      expect(await keysIn(place.open())).toEqual(["a", "v2", "v3", "v4"]);
      expect((await stateIn(place.open())).serial).toBe(4);
    });

    it("puts one snapshot in place of the former one and its lines", async () => {
      const session = await place.open().lock(holder());
      await session.replace(snapshot(1, session.epoch, ["a"]));
      await session.append([line(2, session.epoch)]);
      await session.replace(snapshot(3, session.epoch, ["c"]));
      expect(await keysIn(place.open())).toEqual(["c"]);
      expect((await place.open().read()).journal.filter((text) => text !== "")).toEqual([]);
      await session.append([line(4, session.epoch)]);
      await session.release();
      expect(await keysIn(place.open())).toEqual(["c", "v4"]);
    });

    it("lets one holder write at a time and tells the others who it is", async () => {
      const first = await place.open().lock(holder("ada"));
      const refused = await place
        .open()
        .lock(holder("bob"))
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StateLocked);
      expect((refused as StateLocked).message).toContain("ada on runner-7 (pid 4242, reconcile apply)");
      await first.release();
      const second = await place.open().lock(holder("bob"));
      await second.release();
    });

    it("shows the holder while its lease is alive, and nobody after", async () => {
      const store = place.open();
      expect(await store.holder()).toBeUndefined();
      const session = await store.lock(holder("ada"));
      if (store.leases) expect((await place.open().holder())?.who).toBe("ada");
      await session.release();
      expect(await place.open().holder()).toBeUndefined();
    });

    it("gives the lock to exactly one of many who want it at once", async () => {
      const tried = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => place.open().lock(holder(`runner-${index}`))),
      );
      const won = tried.filter((result) => result.status === "fulfilled");
      expect(won).toHaveLength(1);
      for (const result of tried) if (result.status === "rejected") expect(result.reason).toBeInstanceOf(StateLocked);
      await won[0]!.value.release();
    });

    it("gives each holder a higher epoch than all before", async () => {
      let former = 0;
      for (let round = 0; round < 4; round++) {
        const session = await place.open().lock(holder());
        expect(session.epoch).toBeGreaterThan(former);
        former = session.epoch;
        if (round === 0) await session.replace(snapshot(1, session.epoch));
        else await session.append([line(round + 1, session.epoch)]);
        await session.release();
      }
    });

    it("counts on from the epoch of a state that came from elsewhere", async () => {
      const first = await place.open().lock(holder());
      await first.replace(snapshot(900, 41, ["a"]));
      await first.release();
      const second = await place.open().lock(holder());
      expect(second.epoch).toBeGreaterThan(41);
      await second.append([line(901, second.epoch)]);
      await second.release();
      expect(await keysIn(place.open())).toEqual(["a", "v901"]);
    });

    it("a dead holder's lock goes to the next one: by itself where there are leases, else when it is taken away", async () => {
      const dead = await place.open(lapse.times).lock(holder("ada"));
      await dead.replace(snapshot(1, dead.epoch, ["a"]));
      await dead.append([line(2, dead.epoch)]);
      const next = await takeOver("bob");
      expect(await keysIn(next)).toEqual(["a", "v2"]);
      await next.append([line(3, next.epoch)]);
      await next.release();
      expect(await keysIn(place.open())).toEqual(["a", "v2", "v3"]);
    });

    it("a heartbeat keeps the lease of a holder that is busy with other things", async () => {
      const store = place.open(lively);
      if (!store.leases) return expect(store.leases).toBe(false);
      const session = await store.lock(holder("ada"));
      await pause(3500);
      await expect(place.open(lively).lock(holder("bob"))).rejects.toThrow(StateLocked);
      await session.append([line(1, session.epoch)]);
      await session.release();
    });

    it("a clock that is an hour wrong neither takes a living lock nor loses its own", async () => {
      for (const wrongMs of [3_600_000, -3_600_000]) {
        const here = await makePlace();
        try {
          const session = await here.open(lively).lock(holder("ada"));
          await session.append([line(1, session.epoch)]);
          vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + wrongMs });
          await expect(here.open(lively).lock(holder("bob"))).rejects.toThrow(StateLocked);
          await session.append([line(2, session.epoch)]);
          await session.release();
          // Whose own clock is wrong gives signs of life that others believe.
          const wrong = await here.open(lively).lock(holder("bob"));
          await pause(400);
          vi.useRealTimers();
          await expect(here.open(lively).lock(holder("ada"))).rejects.toThrow(StateLocked);
          await wrong.append([line(3, wrong.epoch)]);
          await wrong.release();
          expect(await keysIn(here.open())).toEqual(["v1", "v2", "v3"]);
        } finally {
          vi.useRealTimers();
          await here.close?.();
        }
      }
    });

    it("S4: a holder that wakes up after its lease was taken over cannot append, replace or release any more", async () => {
      const paused = await place.open(lapse.times).lock(holder("ada"));
      await paused.replace(snapshot(1, paused.epoch, ["a"]));
      await paused.append([line(2, paused.epoch)]);
      const next = await takeOver("bob");
      // Before anything is written: what is sent to the service first would act on another's state.
      if (place.open().leases) await expect(paused.assertHeld()).rejects.toThrow(LeaseLost);
      await expect(next.assertHeld()).resolves.toBeUndefined();
      await expect(paused.append([line(3, paused.epoch, "stale")])).rejects.toThrow(LeaseLost);
      await expect(paused.replace(snapshot(3, paused.epoch, ["stale"]))).rejects.toThrow(LeaseLost);
      await paused.release();
      await next.append([line(3, next.epoch)]);
      await expect(paused.append([line(4, paused.epoch, "stale")])).rejects.toThrow(LeaseLost);
      expect(await keysIn(place.open())).toEqual(["a", "v2", "v3"]);
      await next.replace(snapshot(4, next.epoch, ["b"]));
      await expect(paused.replace(snapshot(5, paused.epoch, ["stale"]))).rejects.toThrow(LeaseLost);
      await next.append([line(5, next.epoch)]);
      await next.release();
      await expect(paused.append([line(6, paused.epoch, "stale")])).rejects.toThrow(LeaseLost);
      expect(await keysIn(place.open())).toEqual(["b", "v5"]);
    });

    it("a lock that was taken away tells who had it, and its holder cannot write any more", async () => {
      const session = await place.open().lock(holder("ada"));
      await session.replace(snapshot(1, session.epoch, ["a"]));
      expect((await place.open().breakLock())?.who).toContain("ada");
      await expect(session.append([line(2, session.epoch)])).rejects.toThrow(LeaseLost);
      await expect(session.replace(snapshot(2, session.epoch))).rejects.toThrow(LeaseLost);
      await session.release();
      expect(await keysIn(place.open())).toEqual(["a"]);
      expect(await place.open().breakLock()).toBeUndefined();
    });

    it("a lock whose holder lives is not taken away by who means to take one of the dead", async () => {
      const store = place.open();
      if (!store.leases) return;
      const session = await place.open().lock(holder("ada"));
      await expect(store.breakLock(true)).rejects.toThrow("locked by ada");
      await session.append([line(1, session.epoch, "a")]);
      await session.release();
      expect(await place.open().breakLock(true)).toBeUndefined();
      await place.open(lapse.times).lock(holder("bob"));
      await pause(lapse.waitMs);
      expect((await place.open(lapse.times).breakLock(true))?.who).toContain("bob");
      expect(await keysIn(place.open())).toEqual(["a"]);
    });

    it("a holder that dies between any two operations loses nothing that was acknowledged", async () => {
      const operations: ((session: Awaited<ReturnType<StateStore["lock"]>>) => Promise<void>)[] = [
        (session) => session.replace(snapshot(10, session.epoch, ["s10"])),
        (session) => session.append([line(11, session.epoch)]),
        (session) => session.append([line(12, session.epoch), line(13, session.epoch)]),
        (session) => session.replace(snapshot(14, session.epoch, ["s14"])),
        (session) => session.append([line(15, session.epoch)]),
        (session) => session.release(),
      ];
      const expected = [
        [],
        ["s10"],
        ["s10", "v11"],
        ["s10", "v11", "v12", "v13"],
        ["s14"],
        ["s14", "v15"],
        ["s14", "v15"],
      ];
      for (let done = 0; done <= operations.length; done++) {
        const here = await makePlace();
        try {
          const dying = await here.open(lapse.times).lock(holder("ada"));
          for (const operate of operations.slice(0, done)) await operate(dying);
          const store = here.open(lapse.times);
          if (store.leases) await pause(lapse.waitMs);
          else await store.breakLock();
          const next = await store.lock(holder("bob"));
          expect(await keysIn(next)).toEqual(expected[done]);
          await next.append([line((await stateIn(next)).serial + 1, next.epoch, "after")]);
          await next.release();
          expect(await keysIn(here.open())).toEqual([...expected[done]!, "after"].sort());
        } finally {
          await here.close?.();
        }
      }
    });

    it("an append that was lost after it was acknowledged is noticed, by readers and by the next holder, until it is replaced", async () => {
      if (place.loseLast === undefined) return expect(place.loseLast).toBeUndefined();
      const session = await place.open().lock(holder());
      await session.replace(snapshot(1, session.epoch, ["a"]));
      for (let serial = 2; serial <= 4; serial++) await session.append([line(serial, session.epoch)]);
      await session.release();
      expect(await keysIn(place.open())).toEqual(["a", "v2", "v3", "v4"]);
      await place.loseLast();
      for (let attempt = 0; attempt < 3; attempt++) {
        await expect(stateIn(place.open())).rejects.toThrow(/lost/);
        const next = await place.open().lock(holder());
        await expect(stateIn(next)).rejects.toThrow(/lost/);
        await next.release();
      }
      const repairing = await place.open().lock(holder());
      await repairing.replace(snapshot(9, repairing.epoch, ["b"]));
      await repairing.append([line(10, repairing.epoch)]);
      await repairing.release();
      expect(await keysIn(place.open())).toEqual(["b", "v10"]);
    });

    it("keeps any text: other scripts, emoji, quotes, line separators and control characters", async () => {
      const names = [
        "Größe 數據 🗄️",
        'a"b\\c',
        "line\u2028break\u2029",
        "tab\tnew\nline\r",
        "nul\u0000\u001b[31m",
        "\ufeffbom",
      ];
      const session = await place.open().lock(holder());
      await session.replace(snapshot(1, session.epoch));
      await session.append(names.map((name, index) => line(index + 2, session.epoch, `v${index}`, name)));
      await session.release();
      const { resources, quarantined } = await stateIn(place.open());
      expect(quarantined).toEqual([]);
      expect([...resources.values()].map((record) => record.name)).toEqual(names);
    });

    it("keeps a state of 20,000 resources and a journal of 500 lines", async () => {
      const keys = Array.from({ length: 20_000 }, (_, index) => `r${String(index).padStart(5, "0")}`);
      const session = await place.open().lock(holder());
      await session.replace(snapshot(1, session.epoch, keys));
      for (let batch = 0; batch < 5; batch++)
        await session.append(Array.from({ length: 100 }, (_, index) => line(2 + batch * 100 + index, session.epoch)));
      await session.release();
      const state = await stateIn(place.open());
      expect(state.resources.size).toBe(20_500);
      expect(state.serial).toBe(501);
    });

    it("shows readers only whole states while another holder writes and compacts", async () => {
      const session = await place.open().lock(holder());
      await session.replace(snapshot(1, session.epoch, ["v1"]));
      let writing = true;
      const keys = ["v1"];
      const write = (async () => {
        for (let serial = 2; serial <= 40; serial++) {
          keys.push(`v${serial}`);
          if (serial % 5 === 0) await session.replace(snapshot(serial, session.epoch, keys));
          else await session.append([line(serial, session.epoch)]);
        }
        writing = false;
      })();
      const reader = place.open();
      let seen = 0;
      while (writing) {
        const state = await stateIn(reader);
        expect(state.quarantined).toEqual([]);
        expect(state.resources.size).toBe(state.serial);
        expect(state.serial).toBeGreaterThanOrEqual(seen);
        seen = state.serial;
        await pause(1);
      }
      await write;
      await session.release();
      expect((await stateIn(reader)).serial).toBe(40);
    });
  });
}
