/** Each store under many writers at once; `npm run campaign:history` tries more of them, and for longer. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { protectStore } from "../../reconciler/store/encrypted";
import { createFileStore } from "../../reconciler/store/file";
import { createHttpStore } from "../../reconciler/store/http";
import { createPostgresStore } from "../../reconciler/store/postgres";
import { createS3Store } from "../../reconciler/store/s3";
import type { LeaseTimes, StateStore } from "../../reconciler/store/store";
import { type Happened, type HistoryOptions, judge, makeHistory, setClocksApart } from "../store/history";
import { makeFolder } from "../support/folder";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";
import { type S3Server, type StateServer, startS3Server, startStateServer } from "../support/state-server";
import { createMemoryStore } from "../support/virtual-world";

const seeds = Number(process.env["HISTORY_SEEDS"] ?? 2);
const steps = Number(process.env["HISTORY_STEPS"] ?? 8);
const writers = Number(process.env["HISTORY_WRITERS"] ?? 5);

let postgres: PostgresServer;
let s3: S3Server;
let gitlab: StateServer;
let plain: StateServer;
let restore: () => void;
beforeAll(async () => {
  if (postgresMissing === undefined) postgres = await startPostgres();
  s3 = await startS3Server();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: s3.url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "tester",
    AWS_SECRET_ACCESS_KEY: "canary",
  });
  gitlab = await startStateServer({ kind: "gitlab" });
  plain = await startStateServer({ kind: "plain" });
  restore = setClocksApart();
});
afterAll(async () => {
  restore();
  await Promise.all([postgres?.stop(), s3.stop(), gitlab.stop(), plain.stop()]);
});

const quick = { times: { leaseMs: 60, heartbeatMs: 3_600_000 }, pauseMs: 80 };
/** HTTP's dates have whole seconds. */
const slow = { times: { leaseMs: 1000, heartbeatMs: 3_600_000 }, pauseMs: 1300 };
const key = Buffer.alloc(32, 3).toString("base64");

type Place = Pick<HistoryOptions, "open" | "times" | "pauseMs">;
const isSlow = (place: Place): boolean => place.times === slow.times;
const places: Record<string, () => Place> = {
  file: () => {
    const path = join(makeFolder(), "s.json");
    return { ...quick, open: (times) => createFileStore(path, times) };
  },
  "file, encrypted": () => {
    const path = join(makeFolder(), "s.json");
    return { ...quick, open: (times) => protectStore(createFileStore(path, times), { RECONCILE_STATE_KEY: key }) };
  },
  s3: () => {
    const name = randomUUID();
    return { ...slow, open: (times) => createS3Store(`s3://states/${name}`, times) };
  },
  "http (gitlab)": () => {
    const name = randomUUID();
    return { ...quick, open: () => createHttpStore(`${gitlab.url}/${name}`, { environment: {} }) };
  },
  "http (plain)": () => {
    const name = randomUUID();
    return { ...quick, open: () => createHttpStore(`${plain.url}/${name}`, { environment: {} }) };
  },
  ...(postgresMissing === undefined
    ? {
        postgres: () => {
          const name = randomUUID();
          return { ...quick, open: (times: LeaseTimes) => createPostgresStore(`${postgres.url}?state=${name}`, times) };
        },
      }
    : {}),
};

const counted = (history: readonly Happened[]) => history.filter(({ answer }) => answer === "ok").length;

describe.each(Object.keys(places))("the history of %s", (name) => {
  it("has one writer at a time, and loses nothing that was acknowledged", async () => {
    let happened = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      const place = places[name]!();
      const history = await makeHistory({ ...place, seed, writers, steps: isSlow(place) ? steps / 2 : steps });
      expect(judge(history), `seed ${seed}`).toEqual([]);
      happened += counted(history);
      if (process.env["HISTORY_SEEDS"] !== undefined)
        process.stderr.write(
          `${name}, seed ${seed}: ${history.length} operations, ${history.filter(({ answer }) => answer === "lost").length} leases lost\n`,
        );
    }
    expect(happened).toBeGreaterThan(seeds * 2);
  });
});

describe("the judge", () => {
  const judged = async (store: StateStore) =>
    judge(await makeHistory({ ...quick, open: () => store, seed: 1, writers: 4, steps: 12 }));

  it("finds a store that lets everybody in", async () => {
    const inner = createMemoryStore();
    const open: StateStore = {
      ...inner,
      async lock(holder) {
        await inner.breakLock();
        const session = await inner.lock(holder);
        const write = async (lines: readonly string[]) => void inner.stored.journal.push(...lines);
        return { ...session, append: write };
      },
    };
    expect((await judged(open).catch((error: Error) => [error.message])).length).toBeGreaterThan(0);
  });

  it("finds a store that forgets", async () => {
    const inner = createMemoryStore();
    let count = 0;
    const forgetful: StateStore = {
      ...inner,
      leases: false,
      async lock(holder) {
        const session = await inner.lock(holder);
        return { ...session, append: async (lines) => (++count % 7 === 0 ? undefined : session.append(lines)) };
      },
    };
    expect((await judged(forgetful).catch((error: Error) => [error.message])).length).toBeGreaterThan(0);
  });
});
