/**
 * The state in a bucket: `s3://bucket/key` is a log of numbered objects, `key/0000000001` and so on, each with journal
 * lines or with a snapshot that stands for all before it, which are then deleted; `key/lock` says who writes.
 *
 * An object is only ever created where there is none (If-None-Match), so the next number is the one thing that writers
 * compete for. A new holder takes it first: one that was paused finds its place taken, whatever it was about to write.
 */
import { randomUUID } from "node:crypto";
import { lastEpoch, readHolder, startHeartbeat, unknownHolder, vouch } from "./lease";
import { createBucket } from "./s3-bucket";
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

/** The first line of an object: what follows it, and whose it is. */
type Head = "lines" | "snapshot";

interface Segment {
  readonly number: number;
  readonly head: Head;
  readonly text: string;
}

interface Log extends StoredState {
  /** The number of the last object. */
  readonly last: number;
  readonly numbers: readonly number[];
}

const digits = 10;
const atOnce = 16;

export function createS3Store(address: string, times: LeaseTimes = defaultLease): StateStore {
  const { bucketName, key, location } = readAddress(address);
  const bucket = createBucket(bucketName, location);
  const lockKey = `${key}/lock`;
  const keyOf = (number: number): string => `${key}/${String(number).padStart(digits, "0")}`;

  async function readLog(): Promise<Log> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const numbers = (await bucket.list(`${key}/`))
        .map((name) => name.slice(key.length + 1))
        .filter((name) => /^\d{10}$/.test(name))
        .map(Number)
        .sort((a, b) => a - b);
      const segments = await readSegments(numbers);
      // Compacted away while it was read.
      if (segments === undefined) continue;
      const stored = foldSegments(segments);
      if (stored === undefined) continue;
      return { ...stored, last: numbers.at(-1) ?? 0, numbers };
    }
    throw new StoreFailed(
      `the state ${location} cannot be read: an object is missing between others, or it changes all the time`,
    );
  }

  /** `undefined`: some of it is not there any more. */
  async function readSegments(numbers: readonly number[]): Promise<Segment[] | undefined> {
    const segments: Segment[] = [];
    for (let at = 0; at < numbers.length; at += atOnce) {
      const batch = await Promise.all(
        numbers.slice(at, at + atOnce).map(async (number) => {
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

  /** False when somebody else has that place. A try whose answer was lost finds its own object there. */
  async function claim(number: number, head: Head, writer: string, text: string): Promise<boolean> {
    const body = `${head} ${writer}\n${text}`;
    if (await bucket.create(keyOf(number), body)) return true;
    return (await bucket.get(keyOf(number)))?.text === body;
  }

  /** After this, whoever wrote before cannot any more. */
  async function fence(writer: string): Promise<Log> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const log = await readLog();
      if (await claim(log.last + 1, "lines", writer, ""))
        return { ...log, last: log.last + 1, numbers: [...log.numbers, log.last + 1] };
    }
    throw new StoreFailed(`the state ${location} is being written by others all the time`);
  }

  async function takeLock(holder: Holder, token: string): Promise<void> {
    const body = JSON.stringify({ ...holder, token });
    for (let attempt = 0; attempt < 20; attempt++) {
      if (await bucket.create(lockKey, body)) return;
      const present = await bucket.get(lockKey);
      if (present === undefined) continue;
      if (present.text === body) return;
      if (present.ageMs <= times.leaseMs) throw new StateLocked(readHolder(parse(present.text)));
      if (await bucket.replace(lockKey, body, present.etag)) return;
    }
    const present = await bucket.get(lockKey);
    throw new StateLocked(present === undefined ? unknownHolder : readHolder(parse(present.text)));
  }

  return {
    location,
    leases: true,
    async read() {
      const { snapshot, journal } = await readLog();
      return { ...(snapshot === undefined ? {} : { snapshot }), journal };
    },
    async holder() {
      const present = await bucket.get(lockKey);
      return present === undefined || present.ageMs > times.leaseMs ? undefined : readHolder(parse(present.text));
    },
    async breakLock() {
      const present = await bucket.get(lockKey);
      if (present === undefined) return undefined;
      // In this order: while the lock is there, nobody new can have begun to write.
      await fence(randomUUID());
      await bucket.remove(lockKey);
      return readHolder(parse(present.text));
    },
    async lock(holder) {
      const token = randomUUID();
      await takeLock(holder, token);
      try {
        return openSession(await fence(token), token, holder);
      } catch (error) {
        await bucket.remove(lockKey).catch(() => undefined);
        throw error;
      }
    },
  };

  function openSession(log: Log, token: string, holder: Holder): StateSession {
    let { last } = log;
    let former = log.numbers;
    const lockBody = JSON.stringify({ ...holder, token });
    const isOurs = (text: string): boolean => parse(text)["token"] === token;
    const heartbeat = startHeartbeat(times, async () => {
      const present = await bucket.get(lockKey);
      if (present !== undefined && isOurs(present.text)) await bucket.replace(lockKey, lockBody, present.etag);
    });
    const assertOurs = async (): Promise<void> => {
      if (!isOurs((await bucket.get(lockKey))?.text ?? "")) throw new LeaseLost(location);
    };
    const vouching = vouch(times.leaseMs / 2, assertOurs);
    const write = async (head: Head, text: string): Promise<void> => {
      if (!(await claim(last + 1, head, token, text))) throw new LeaseLost(location);
      // A later holder's compaction freed old numbers again; who still has the lock now wrote before any of that.
      await assertOurs();
      vouching.renew();
      last++;
      former = [...former, last];
    };
    return {
      epoch: lastEpoch(log) + 1,
      async read() {
        const { snapshot, journal } = await readLog();
        return { ...(snapshot === undefined ? {} : { snapshot }), journal };
      },
      assertHeld: vouching.assertHeld,
      append: (lines) => write("lines", lines.map((line) => `${line}\n`).join("")),
      async replace(snapshot) {
        const covered = former;
        await write("snapshot", snapshot);
        former = [last];
        // Newest last: a reader that meets a gap knows that there is a newer snapshot.
        for (let at = 0; at < covered.length; at += atOnce)
          await Promise.all(covered.slice(at, at + atOnce).map((number) => bucket.remove(keyOf(number))));
      },
      async release() {
        heartbeat.stop();
        const present = await bucket.get(lockKey);
        if (present !== undefined && isOurs(present.text)) await bucket.remove(lockKey);
      },
    };
  }
}

function readAddress(address: string): { bucketName: string; key: string; location: string } {
  const found = /^s3:\/\/([^/?#@]+)\/([^?#]+?)\/*$/i.exec(address);
  if (found === null) throw new StoreFailed("--state s3://… is no address: s3://BUCKET/KEY");
  const [, bucketName, key] = found;
  return { bucketName: bucketName!, key: key!, location: `s3://${bucketName}/${key}` };
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

/** `undefined`: there is a gap, so this is not all of it. */
function foldSegments(segments: readonly Segment[]): StoredState | undefined {
  const start = segments.findLastIndex(({ head }) => head === "snapshot");
  const after = segments.slice(start + 1);
  const first = start < 0 ? 1 : segments[start]!.number + 1;
  const journal: string[] = [];
  for (const [index, { number, text }] of after.entries()) {
    if (number !== first + index) return undefined;
    for (const line of text.split("\n")) if (line !== "") journal.push(line);
  }
  return start < 0 ? { journal } : { snapshot: segments[start]!.text, journal };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
