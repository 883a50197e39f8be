/**
 * The state in a bucket: `s3://bucket/key` is a log of numbered objects, `key/0000000001` and so on, each with journal
 * lines or with a snapshot that stands for all before it, which are then deleted; `key/lock` says who writes.
 *
 * An object is only ever created where there is none (If-None-Match), so the next number is the one thing that writers
 * compete for. A new holder takes it first: one that was paused finds its place taken, whatever it was about to write.
 *
 * `key/end` is the number of the last object that is known to have been written, noted with a sign of life and at the end
 * of a run. Numbers only grow, so it may lag behind; objects that end before it were lost.
 */

import { randomUUID } from "node:crypto";
import { fieldsOfJson } from "../core/text/objects";
import {
  bothClocks,
  type Clocks,
  lastEpoch,
  monotonicMs,
  readHolder,
  startHeartbeat,
  unknownHolder,
  vouch,
} from "./lease";
import { createBucket, type StoredObject } from "./s3-bucket";
import {
  defaultLease,
  type Holder,
  LeaseLost,
  type LeaseTimes,
  StateLocked,
  type StateSession,
  type StateStore,
  type StoredState,
  StoreFailed,
} from "./store";

/** The first line of an object: what follows, and which holder wrote it. */
type HeadSort = "lines" | "snapshot";

interface Segment {
  readonly number: number;
  readonly head: HeadSort;
  readonly text: string;
}

interface StoredLog extends StoredState {
  /** The number of the last object, lost ones included: no number is used again. */
  readonly last: number;
  readonly numbers: readonly number[];
}

const digits = 10;
const objectsAtOnce = 16;

export function createS3Store(address: string, times: LeaseTimes = defaultLease, timeoutMs?: number): StateStore {
  const { bucketName, key, location } = readS3Address(address);
  const bucket = createBucket(bucketName, location, timeoutMs);
  const lockKey = `${key}/lock`;
  const endKey = `${key}/end`;
  const keyOf = (number: number): string => `${key}/${String(number).padStart(digits, "0")}`;

  async function readLog(): Promise<StoredLog> {
    let former = "";
    for (let attempt = 0; attempt < 20; attempt++) {
      // The end is read before the list, which may only grow meanwhile.
      const end = numberOfText((await bucket.get(endKey))?.text);
      const numbers = (await bucket.list(`${key}/`))
        .map((name) => name.slice(key.length + 1))
        .filter((name) => /^\d{10}$/.test(name))
        .map(Number)
        .sort((a, b) => a - b);
      const segments = await readSegments(numbers);
      // The object was compacted away during the read.
      if (segments === undefined) continue;
      const last = Math.max(end, numbers.at(-1) ?? 0);
      const { missing, ...stored } = foldSegments(segments, last);
      // A gap that stays is a loss. A gap from a compaction under way is gone with the next look.
      const seen = numbers.join();
      if (missing > 0 && seen !== former) {
        former = seen;
        continue;
      }
      return { ...stored, acknowledged: stored.journal.length + missing, last, numbers };
    }
    throw new StoreFailed(`the state ${location} cannot be read: it changes all the time`);
  }

  const storedIn = ({ last: _last, numbers: _numbers, ...stored }: StoredLog): StoredState => stored;

  const readStored = async (): Promise<StoredState> => storedIn(await readLog());

  /** `undefined`: an object of it does not exist any more. */
  async function readSegments(numbers: readonly number[]): Promise<Segment[] | undefined> {
    const segments: Segment[] = [];
    for (let at = 0; at < numbers.length; at += objectsAtOnce) {
      const batch = await Promise.all(
        numbers.slice(at, at + objectsAtOnce).map(async (number) => {
          const object = await bucket.get(keyOf(number));
          return object === undefined ? undefined : readSegment(number, object.text, location);
        }),
      );
      for (const segment of batch) {
        if (segment === undefined) return undefined;
        segments.push(segment);
      }
    }
    return segments;
  }

  /** False: another writer has that number. A retry whose first answer was lost finds its own object there. */
  async function claim(number: number, head: HeadSort, writer: string, text: string): Promise<boolean> {
    const body = `${head} ${writer}\n${text}`;
    if (await bucket.create(keyOf(number), body)) return true;
    return (await bucket.get(keyOf(number)))?.text === body;
  }

  /** After this a former holder can no longer write. */
  async function fence(writer: string): Promise<StoredLog> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const log = await readLog();
      if (await claim(log.last + 1, "lines", writer, ""))
        return { ...log, last: log.last + 1, numbers: [...log.numbers, log.last + 1] };
    }
    throw new StoreFailed(`the state ${location} is being written by others all the time`);
  }

  /** The lock as this process saw it first, and when, by a clock that nobody sets. */
  let watched: { readonly version: string; readonly since: number } | undefined;
  const unchangedMs = ({ version }: StoredObject): number => {
    if (watched?.version !== version) watched = { version, since: monotonicMs() };
    return monotonicMs() - watched.since;
  };

  /** For a reader, who takes nothing away. Without an age, the lock counts as held until it has been watched for a lease. */
  const isHeld = (present: StoredObject): boolean => (present.ageMs ?? unchangedMs(present)) <= times.leaseMs;

  /**
   * A clock may be wrong, and two may speak through one server, so that a lock whose age says that its holder is gone is
   * looked at twice, with the time of two signs of life between: a holder that lives has changed it by then.
   */
  async function isProvenLapsed(present: StoredObject): Promise<boolean> {
    if (isHeld(present)) return false;
    if (present.ageMs === undefined) return true;
    unchangedMs(present);
    await new Promise((waited) => setTimeout(waited, Math.min(2 * times.heartbeatMs, times.leaseMs / 2)));
    const later = await bucket.get(lockKey);
    return later !== undefined && later.version === present.version;
  }

  async function takeLock(holder: Holder, token: string): Promise<void> {
    const body = JSON.stringify({ ...holder, token });
    for (let attempt = 0; attempt < 20; attempt++) {
      if (await bucket.create(lockKey, body)) return;
      const present = await bucket.get(lockKey);
      if (present === undefined) continue;
      if (present.text === body) return;
      if (!(await isProvenLapsed(present))) {
        const now = await bucket.get(lockKey);
        if (now === undefined) continue;
        throw new StateLocked(holderIn(now));
      }
      if (await bucket.replace(lockKey, body, present.etag)) return;
    }
    const present = await bucket.get(lockKey);
    throw new StateLocked(present === undefined ? unknownHolder : holderIn(present));
  }

  return {
    location,
    leases: true,
    read: readStored,
    async holder() {
      const present = await bucket.get(lockKey);
      return present === undefined || !isHeld(present) ? undefined : holderIn(present);
    },
    async breakLock(onlyLapsed) {
      const present = await bucket.get(lockKey);
      if (present === undefined) return undefined;
      const refuseHeld = (one: StoredObject): void => {
        if (onlyLapsed === true && isHeld(one)) throw new StateLocked(holderIn(one));
      };
      refuseHeld(present);
      // The fence comes before the lock is removed: while the lock is there, no new holder can have begun to write.
      await fence(randomUUID());
      const now = await bucket.get(lockKey);
      if (now !== undefined) refuseHeld(now);
      await bucket.remove(lockKey);
      return holderIn(present);
    },
    async lock(holder) {
      const token = randomUUID();
      const since = bothClocks();
      await takeLock(holder, token);
      try {
        return openSession(await fence(token), { token, holder, since });
      } catch (error) {
        // It may have lapsed meanwhile, and be another one's by now.
        const present = await bucket.get(lockKey).catch(() => undefined);
        if (fieldsOfJson(present?.text ?? "")["token"] === token) await bucket.remove(lockKey).catch(() => undefined);
        throw error;
      }
    },
  };

  interface TakenLock {
    readonly token: string;
    readonly holder: Holder;
    readonly since: Clocks;
  }

  function openSession(log: StoredLog, { token, holder, since }: TakenLock): StateSession {
    let { last } = log;
    let former = log.numbers;
    let beats = 0;
    /** Another text with every sign of life, so that whoever watches the lock sees one whatever the clocks say. */
    const lockBody = (): string => JSON.stringify({ ...holder, token, beat: ++beats });
    const isOurs = (text: string): boolean => fieldsOfJson(text)["token"] === token;
    let noted = 0;
    /** The end only helps to notice a loss: where it cannot be written, the objects are there all the same. */
    const noteEnd = async (): Promise<void> => {
      const end = last;
      if (end === noted || !hasWritten) return;
      await bucket.put(endKey, String(end)).then(
        () => {
          noted = end;
        },
        () => undefined,
      );
    };
    let hasWritten = false;
    const heartbeat = startHeartbeat(times, async () => {
      const present = await bucket.get(lockKey);
      if (present === undefined || !isOurs(present.text)) return;
      await bucket.replace(lockKey, lockBody(), present.etag);
      await noteEnd();
    });
    const assertOurs = async (): Promise<void> => {
      if (!isOurs((await bucket.get(lockKey))?.text ?? "")) throw new LeaseLost(location);
    };
    const vouching = vouch({ trustMs: times.leaseMs / 2, since, ask: assertOurs });
    /** Once a run: an object that is there is created a second time, which has to be refused. */
    const probe = async (number: number, head: HeadSort, text: string): Promise<void> => {
      if (await bucket.create(keyOf(number), `${head} ${token}\n${text}`))
        throw new StoreFailed(
          `the state ${location} is on a server that ignores conditional writes (If-None-Match), which the state needs: two runs at once would overwrite each other`,
        );
    };
    const write = async (head: HeadSort, text: string): Promise<void> => {
      if (!(await claim(last + 1, head, token, text))) throw new LeaseLost(location);
      if (!hasWritten) await probe(last + 1, head, text);
      // A compaction of a later holder may have freed old numbers. This process still has the lock, so it wrote before
      // such a compaction.
      await vouching.confirm(assertOurs);
      last++;
      hasWritten = true;
      former = [...former, last];
    };
    return {
      epoch: lastEpoch(log) + 1,
      found: storedIn(log),
      read: readStored,
      assertHeld: vouching.assertHeld,
      append: (lines) => write("lines", lines.map((line) => `${line}\n`).join("")),
      async replace(snapshot) {
        const covered = former;
        await write("snapshot", snapshot);
        former = [last];
        // Newest last: a reader that meets a gap knows that there is a newer snapshot.
        for (let at = 0; at < covered.length; at += objectsAtOnce)
          await Promise.all(covered.slice(at, at + objectsAtOnce).map((number) => bucket.remove(keyOf(number))));
      },
      async release() {
        heartbeat.stop();
        const present = await bucket.get(lockKey);
        if (present === undefined || !isOurs(present.text)) return;
        await noteEnd();
        await bucket.remove(lockKey);
      },
    };
  }
}

export function readS3Address(address: string): { bucketName: string; key: string; location: string } {
  // Only an ARN has a colon in front of the first slash; what else has one begins with a user and a password. That of an
  // access point has slashes of its own.
  const [, bucketName, key] =
    /^s3:\/\/(arn:[^/?#@]+:(?:outpost\/[^/?#@]+\/)?accesspoint\/[^/?#@]+|arn:[^/?#@]+|[^/?#@:]+)\/([^?#]+?)\/*$/i.exec(
      address,
    ) ?? [];
  if (bucketName === undefined || key === undefined)
    throw new StoreFailed("--state s3://… is no address: s3://BUCKET/KEY");
  return { bucketName, key, location: `s3://${bucketName}/${key}` };
}

function readSegment(number: number, object: string, location: string): Segment {
  const end = object.indexOf("\n");
  const [head, writer] = object.slice(0, end).split(" ");
  if (end < 0 || (head !== "lines" && head !== "snapshot") || writer === undefined)
    throw new StoreFailed(
      `the object ${location}/${String(number).padStart(digits, "0")} is not of this tool's making`,
    );
  return { number, head, text: object.slice(end + 1) };
}

/** `missing`: objects that are not there, between the last snapshot and the end. */
function foldSegments(segments: readonly Segment[], last: number): StoredState & { readonly missing: number } {
  const start = segments.findLast(({ head }) => head === "snapshot");
  const from = start?.number ?? 0;
  const after = segments.filter(({ number }) => number > from);
  const journal = after.flatMap(({ text }) => text.split("\n")).filter((line) => line !== "");
  const missing = last - from - after.length;
  return start === undefined ? { journal, missing } : { snapshot: start.text, journal, missing };
}

/** Of the object that is the lock. */
const holderIn = ({ text }: StoredObject): Holder => readHolder(fieldsOfJson(text));

const numberOfText = (text = ""): number => (/^\d{1,10}$/.test(text) ? Number(text) : 0);
