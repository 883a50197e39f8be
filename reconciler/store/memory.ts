/** A state in memory: a copy for trying something. No other process sees it, and it ends with this process. */
import { addAll } from "../core/text/objects";
import { type Holder, LeaseLost, StateLocked, type StateSession, type StateStore, type StoredState } from "./store";

/** `lastEpoch`: the epoch of the copied state's last holder; entries with a lower one are not folded. */
export function createMemoryStore(initial: StoredState = { journal: [] }, lastEpoch = 0): StateStore {
  let snapshot = initial.snapshot;
  let journal = [...initial.journal];
  let holder: Holder | undefined;
  let epoch = lastEpoch;

  const read = async (): Promise<StoredState> => ({ snapshot, journal: [...journal] });

  return {
    location: "memory",
    leases: true,
    read,
    holder: async () => holder,
    async breakLock(onlyLapsed) {
      if (onlyLapsed === true && holder !== undefined) throw new StateLocked(holder);
      const broken = holder;
      holder = undefined;
      return broken;
    },
    async lock(wanted) {
      if (holder !== undefined) throw new StateLocked(holder);
      const mine: Holder = { ...wanted };
      holder = mine;
      epoch++;
      const held = async (write: () => void): Promise<void> => {
        if (holder !== mine) throw new LeaseLost("memory");
        write();
      };
      const session: StateSession = {
        epoch,
        read,
        assertHeld: () => held(() => undefined),
        append: (lines) => held(() => addAll(journal, lines)),
        replace: (text) =>
          held(() => {
            snapshot = text;
            journal = [];
          }),
        async release() {
          if (holder === mine) holder = undefined;
        },
      };
      return session;
    },
  };
}
