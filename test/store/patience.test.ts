import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { withPatience, withStop } from "../../reconciler/store/patience";
import { type Holder, StateLocked, type StateStore } from "../../reconciler/store/store";

const holder: Holder = { who: "ada", host: "h", pid: 7, since: "2026-01-02T03:04:05Z", command: "reconcile apply" };
const locked = {
  location: "here",
  holder: async () => holder,
  lock: async () => {
    throw new StateLocked(holder);
  },
} as unknown as StateStore;

describe("waiting for a lock", () => {
  it("a stop ends an hour's wait at once, says whose lock it was, and leaves no listener", async () => {
    const stop = new AbortController();
    const patience = { waitMs: 3_600_000, onWait: () => setImmediate(() => stop.abort()) };
    await expect(withPatience(locked, patience).lock(holder, stop.signal)).rejects.toMatchObject({
      code: "state/wait-stopped",
      message: expect.stringMatching(/^stopped while the state was locked by ada on h .*; nothing was sent$/),
    });
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });

  it("without a time to wait the lock is an error at once", async () => {
    const told: Holder[] = [];
    const patience = { waitMs: 0, onWait: (one: Holder) => told.push(one) };
    await expect(withPatience(locked, patience).lock(holder)).rejects.toThrow(StateLocked);
    expect(told).toEqual([]);
  });
});

describe("a store that does not answer", () => {
  it("is not waited for any more after a stop, and a lock that comes late is let go", async () => {
    let released = false;
    let give: (session: unknown) => void = () => undefined;
    const never = new Promise<never>(() => undefined);
    const mute = {
      location: "here",
      holder: () => never,
      read: () => never,
      lock: () =>
        new Promise((resolve) => {
          give = resolve;
        }),
    } as unknown as StateStore;
    const stop = new AbortController();
    const store = withStop(mute, stop.signal);
    const asked = [store.read(), store.holder(), store.lock(holder)].map((one) => one.catch((error: unknown) => error));
    stop.abort();
    for (const error of await Promise.all(asked))
      expect(error).toMatchObject({ code: "state/wait-stopped", message: expect.stringContaining("did not answer") });
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
    const release = async (): Promise<void> => {
      released = true;
    };
    give({ release });
    await new Promise((done) => setImmediate(done));
    expect(released).toBe(true);
  });

  it("nor in the middle of a run: what is to be written fails once, and nothing more is waited for", async () => {
    const never = new Promise<never>(() => undefined);
    let appended = 0;
    const session = {
      epoch: 1,
      assertHeld: () => never,
      append: () => (appended++ === 0 ? Promise.resolve() : never),
      replace: () => never,
      release: () => never,
    };
    const stop = new AbortController();
    const store = withStop({ ...locked, lock: async () => session } as unknown as StateStore, stop.signal);
    const held = await store.lock(holder);
    await held.append(["answered"]);
    stop.abort();
    const failed = expect.objectContaining({ code: "state/store-failed" });
    await expect(held.append(["lost"])).rejects.toEqual(failed);
    // It was given up: these end without a wait of their own.
    const turn = new Promise((done) => setImmediate(done, "waited"));
    const rest = [held.append(["later"]), held.replace("{}"), held.assertHeld(), held.release()];
    for (const one of rest) expect(await Promise.race([one.catch((error: unknown) => error), turn])).toEqual(failed);
    expect(appended).toBe(2);
  });

  it.each([
    ["one that is silent is told while nothing is written, by a question after the stop", true, 1],
    ["one that answers is not", false, 0],
  ])("%s", async (_, isMute, expected) => {
    const ask = (): Promise<void> => (isMute ? new Promise<never>(() => undefined) : Promise.resolve());
    const stop = new AbortController();
    let told = 0;
    const session = { epoch: 1, release: async () => undefined };
    const mute = { ...locked, lock: async () => session, holder: ask } as unknown as StateStore;
    const held = await withStop(mute, stop.signal, () => told++).lock(holder);
    stop.abort();
    await new Promise((done) => setTimeout(done, 1300));
    expect(told).toBe(expected);
    await held.release().catch(() => undefined);
    expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  });

  it("one that answers is heard out after a stop", async () => {
    const stop = new AbortController();
    stop.abort();
    const store = withStop({ ...locked, read: async () => ({ journal: ["x"] }) }, stop.signal);
    expect(await store.read()).toEqual({ journal: ["x"] });
  });
});
