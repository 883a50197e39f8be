/** A state store in memory, for tests that are about something else. */
import {
  type Holder,
  LeaseLost,
  StateLocked,
  type StateSession,
  type StateStore,
  type StoredState,
} from "../../reconciler/store/store";

export interface MemoryStore extends StateStore {
  stored: { snapshot?: string; journal: string[] };
  /** How often anything was written. */
  writes: number;
}

/** `stored`: what it holds at first; `epochs`: how often it was locked before. */
export function createMemoryStore(stored: MemoryStore["stored"] = { journal: [] }, epochs = 0): MemoryStore {
  let holder: (Holder & { epoch: number }) | undefined;
  let epoch = epochs;
  const store: MemoryStore = {
    location: "memory",
    leases: true,
    stored: { ...stored, journal: [...stored.journal] },
    writes: 0,
    read: async (): Promise<StoredState> => ({ snapshot: store.stored.snapshot, journal: [...store.stored.journal] }),
    holder: async () => holder,
    breakLock: async () => {
      const broken = holder;
      holder = undefined;
      return broken;
    },
    async lock(wanted) {
      if (holder !== undefined) throw new StateLocked(holder);
      epoch++;
      const mine = { ...wanted, epoch };
      holder = mine;
      const assertHeld = (): void => {
        if (holder !== mine) throw new LeaseLost("memory");
      };
      const session: StateSession = {
        epoch,
        read: store.read,
        assertHeld: async () => assertHeld(),
        async append(lines) {
          assertHeld();
          store.writes++;
          store.stored.journal.push(...lines);
        },
        async replace(snapshot) {
          assertHeld();
          store.writes++;
          store.stored = { snapshot, journal: [] };
        },
        async release() {
          if (holder === mine) holder = undefined;
        },
      };
      return session;
    },
  };
  return store;
}
