/**
 * Any store, with its contents encrypted under a key. The snapshot is one sealed document; each journal line is sealed
 * by itself, bound to its state, its holder's epoch and its place, so that recording a step still costs one line. The
 * first run that locks a state in the clear, or under the previous key, seals it anew.
 */
import { itemAt } from "../core/text/invariant";
import { lastEpoch } from "./lease";
import {
  deriveKey,
  findKey,
  isSealed,
  type Keys,
  newSalt,
  notEncrypted,
  readKeys,
  seal,
  sealDamaged,
  sealDocument,
  unseal,
  unsealDocument,
} from "./seal";
import type { StateSession, StateStore, StoredState } from "./store";

const linePrefix = "sealed1 ";

/** The state that was read, with what sealing the next line needs. */
interface OpenedState extends StoredState {
  /** The salt of the state's key. `undefined`: there is no snapshot, or it is in the clear. */
  readonly salt?: string;
  readonly isNewest: boolean;
}

/** A reader without a key reads a state in the clear, and is told of any other that it is encrypted. */
export function protectStore(store: StateStore, environment: Readonly<Record<string, string | undefined>>): StateStore {
  const keys = readKeys(environment);
  const what = `the state ${store.location}`;
  if (keys.secrets.length > 0) return encryptStore(store, keys, what);
  const check = (stored: StoredState): StoredState => plainOnly(stored, keys, what);
  return storeOpenedBy(store, check, async (session) => {
    check(await session.read());
    return session;
  });
}

/** The store with what it reads opened. A session that cannot be opened lets its lock go. */
const storeOpenedBy = (
  inner: StateStore,
  open: (stored: StoredState) => StoredState,
  openSession: (session: StateSession) => Promise<StateSession>,
): StateStore => ({
  ...inner,
  read: async () => open(await inner.read()),
  async lock(holder) {
    const session = await inner.lock(holder);
    try {
      return await openSession(session);
    } catch (error) {
      await session.release().catch(() => undefined);
      throw error;
    }
  },
});

function encryptStore(inner: StateStore, keys: Keys, what: string): StateStore {
  const open = (stored: StoredState): OpenedState => openStored(stored, keys, what);
  const plain = ({ snapshot, journal, acknowledged }: OpenedState): StoredState => ({
    snapshot,
    journal,
    acknowledged,
  });

  return storeOpenedBy(inner, (stored) => plain(open(stored)), openSession);

  async function openSession(session: StateSession): Promise<StateSession> {
    const stored = open(await session.read());
    const salt = stored.salt ?? newSalt();
    const key = deriveKey(itemAt(keys.secrets, 0), salt);
    const { epoch } = session;
    let lines = 0;
    const replace = (snapshot: string, journal: readonly string[]): Promise<void> =>
      session.replace(
        sealDocument(keys, {
          purpose: "state",
          epoch: Math.max(epoch, lastEpoch({ snapshot, journal })),
          salt,
          text: JSON.stringify({ snapshot, journal }),
        }),
      );
    // A journal that lost lines is not sealed anew, so that the loss stays visible.
    const isWhole = (stored.acknowledged ?? 0) <= stored.journal.length;
    let isSealedAnew = !isWhole || (stored.salt !== undefined && stored.isNewest);
    return {
      ...session,
      read: async () => plain(open(await session.read())),
      async append(added) {
        // With the first write and not with the lock: whoever only reads, or refuses what is there, leaves it as it is.
        if (!isSealedAnew) await replace(stored.snapshot ?? "", stored.journal);
        isSealedAnew = true;
        await session.append(
          added.map((line) => {
            const place = lines++;
            return `${linePrefix}${key.id} ${epoch} ${place} ${seal(key, boundLine(salt, epoch, place), line)}`;
          }),
        );
      },
      async replace(snapshot) {
        await replace(snapshot, []);
        isSealedAnew = true;
      },
    };
  }
}

/** A copy of a state as a file, in the clear or not. */
export function openStoredText(
  text: string,
  what: string,
  environment: Readonly<Record<string, string | undefined>>,
): StoredState {
  if (!isSealed(text)) return { snapshot: text, journal: [] };
  const { snapshot, journal } = openStored({ snapshot: text, journal: [] }, readKeys(environment), what);
  return { snapshot, journal };
}

function plainOnly(stored: StoredState, keys: Keys, what: string): StoredState {
  if (stored.snapshot !== undefined && isSealed(stored.snapshot)) unsealDocument(keys, "state", what, stored.snapshot);
  return stored;
}

const boundLine = (salt: string, epoch: number, place: number): string => `line:${salt}:${epoch}:${place}`;

function openStored(stored: StoredState, keys: Keys, what: string): OpenedState {
  const { snapshot } = stored;
  if (snapshot === undefined || !isSealed(snapshot)) {
    const isEmpty = (snapshot === undefined || snapshot === "") && stored.journal.length === 0;
    if (keys.required && !isEmpty) throw notEncrypted(what);
    if (stored.journal.some((line) => line.startsWith(linePrefix))) throw sealDamaged(what);
    return { ...stored, isNewest: true };
  }
  const document = unsealDocument(keys, "state", what, snapshot);
  const { salt } = document;
  // Sealed by this file, so nobody else can have written it.
  const inside: { snapshot: string; journal: readonly string[] } = JSON.parse(document.text);
  const places = new Map<number, number>();
  let isNewest = document.isNewest;
  const opened = stored.journal.map((line) => {
    if (!line.startsWith(linePrefix)) {
      if (keys.required) throw notEncrypted(`a line of ${what}`);
      return line;
    }
    const [, id = "", epochText, placeText, body] = line.split(" ");
    const epoch = Number(epochText);
    const place = Number(placeText);
    const key = findKey(keys.secrets, salt, id, what);
    const former = places.get(epoch);
    // Each line of a holder follows the one before, so a line that was left out, doubled or moved is noticed.
    if (former !== undefined && place !== former + 1) throw sealDamaged(what);
    places.set(epoch, place);
    if (key !== deriveKey(itemAt(keys.secrets, 0), salt)) isNewest = false;
    // A line that cannot be opened counts as damaged, and is set aside like a damaged line in the clear.
    return unseal(key, boundLine(salt, epoch, place), body ?? "") ?? line.slice(0, 60);
  });
  return {
    snapshot: inside.snapshot === "" ? undefined : inside.snapshot,
    journal: [...inside.journal, ...opened],
    acknowledged: stored.acknowledged === undefined ? undefined : inside.journal.length + stored.acknowledged,
    salt,
    isNewest,
  };
}
