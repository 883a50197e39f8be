/**
 * Under its lock a state is read once: nobody else writes it, so until this holder writes, what was read is what is
 * there. After a write the store is asked again, because a store that did not keep it should be noticed.
 */
import type { StateSession, StateStore, StoredState } from "./store";

/** A longer text is not kept in memory beside what was made of it. */
const mostKept = 32 * 1024 * 1024;

const storedSize = ({ snapshot, journal }: StoredState): number =>
  journal.reduce((sum, line) => sum + line.length, snapshot?.length ?? 0);

const kept = (stored: StoredState): StoredState | undefined => (storedSize(stored) <= mostKept ? stored : undefined);

export const readOnce = (store: StateStore): StateStore => ({
  ...store,
  lock: async (holder, signal) => reading(await store.lock(holder, signal)),
});

function reading({ found, ...session }: StateSession): StateSession {
  let known = found === undefined ? undefined : kept(found);
  return {
    ...session,
    async read() {
      if (known !== undefined) {
        await session.assertHeld();
        return known;
      }
      const stored = await session.read();
      known = kept(stored);
      return stored;
    },
    async append(lines) {
      known = undefined;
      await session.append(lines);
    },
    async replace(snapshot) {
      known = undefined;
      await session.replace(snapshot);
    },
    async release() {
      known = undefined;
      await session.release();
    },
  };
}
