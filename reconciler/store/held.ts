/** One lock for everything that is read, planned, asked and written under it: nobody else changes the state meanwhile. */
import type { Holder, StateSession, StateStore } from "./store";

export interface HeldStore {
  /** The store as the holder of its lock sees it. */
  readonly store: StateStore;
  release(): Promise<void>;
}

/**
 * `until: "run"`: the first run that ends under the lock lets it go, so that what goes wrong there is told with the run.
 * `until: "released"`: as many runs as there are.
 */
export async function holdStore(
  store: StateStore,
  holder: Holder,
  until: "run" | "released",
  signal?: AbortSignal,
): Promise<HeldStore> {
  const session = await store.lock(holder, signal);
  let released = false;
  const release = async (): Promise<void> => {
    if (released) return;
    released = true;
    await session.release();
  };
  const mine: StateSession = { ...session, release: until === "run" ? release : async () => undefined };
  return { store: { ...store, read: () => session.read(), lock: async () => mine }, release };
}
