/** What workers ask the database while nothing is due, and what they do with rounds that are not theirs. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { closeFleet, type FleetSession, openFleet } from "../../reconciler/cli/fleet/session";
import { startWork } from "../../reconciler/cli/fleet/work";
import { carryOutSync, plannedSync } from "../../reconciler/fleet/actions";
import { nextTurn, takeDuties } from "../../reconciler/fleet/duties";
import { noSettings } from "../../reconciler/fleet/model";
import type { Shared, WorkerSetting } from "../../reconciler/fleet/shared";
import type { Worker } from "../../reconciler/fleet/worker";
import { eventually } from "../support/eventually";
import { idleQueue, stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const service = (name: string) => ({ name, baseUrl: "http://127.0.0.1:9", insecureHttp: false });

test("each tick belongs to one place, whatever the number of workers", () => {
  for (const workers of [1, 2, 3, 7])
    for (let from = 0; from < 20_000; from += 700) {
      const next = Array.from({ length: workers }, (_, place) =>
        nextTurn({ place, workers, now: from, troubled: [] }, 1000),
      );
      // Together they have the ticks that follow, each once.
      expect([...next].sort((a, b) => a - b)).toEqual(
        Array.from({ length: workers }, (_, index) => (Math.floor(from / 1000) + 1 + index) * 1000),
      );
    }
});

test("a code host that never answers keeps neither the followed file nor other duties waiting", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const looks = { follow: 0, pulls: 0, pushes: 0 };
    const records = {
      settings: async () => ({ ...noSettings, follow: { url: "u", ref: "main", path: "" } }),
      claimTask: async () => {
        looks.follow++;
        return false;
      },
      repositories: async (having?: "pulls") => {
        if (having !== "pulls") {
          looks.pushes++;
          return [];
        }
        looks.pulls++;
        return new Promise(() => undefined);
      },
      takeUntold: () => new Promise(() => undefined),
    };
    const setting = { records, queue: idleQueue, say: () => undefined } as unknown as WorkerSetting;
    const shared = { settings: records.settings } as unknown as Shared;
    const duties = takeDuties(
      setting,
      shared,
      { send: () => undefined, close: async () => undefined },
      new AbortController().signal,
    );
    duties.stand({ place: 0, workers: 1, now: 0, troubled: [] });
    await vi.advanceTimersByTimeAsync(20_500);
    expect(looks).toEqual({ follow: 4, pulls: 1, pushes: 4 });
    duties.close();
  } finally {
    vi.useRealTimers();
  }
});

describe.skipIf(postgresMissing !== undefined)("workers with nothing to do", () => {
  let server: PostgresServer;
  let desk: FleetSession;
  const started: { readonly worker: Worker; readonly session: FleetSession }[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    desk = await openFleet(server.url, { sendsOnly: true });
    await desk.records.saveSettings({ ...noSettings, services: [service("here"), service("there")] });
  });
  afterAll(async () => {
    for (const { worker, session } of started) {
      await worker.stop();
      await closeFleet(session);
    }
    await closeFleet(desk);
    await server.stop();
  });
  const cache = makeFolder({});
  async function start(services: readonly string[] = []): Promise<void> {
    const session = await openFleet(server.url, { sendsOnly: false });
    started.push({
      session,
      worker: await startWork(session, { concurrency: 8, services, cache, say: () => undefined }),
    });
  }
  /** What all sessions asked in so many seconds, by the server's own count of what it committed. */
  const committed = async (): Promise<number> =>
    Number(
      (
        await desk.database.query("SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()")
      )[0]?.["n"],
    );
  async function perSecond(): Promise<number> {
    // A connection that is idle tells up to ten seconds late what it did.
    await pause(12_000);
    const [from, before] = [Date.now(), await committed()];
    await pause(10_000);
    // This look itself is one of them.
    const each = ((await committed()) - before - 1) / ((Date.now() - from) / 1000);
    if (process.env["FIGURES"] !== undefined)
      console.log(`${started.length} idle workers: ${each.toFixed(1)} a second`);
    return each;
  }

  test("sixteen workers ask little more than one", { timeout: 0 }, async () => {
    await start(["here"]);
    expect(await perSecond()).toBeLessThanOrEqual(5);
    for (let more = 0; more < 15; more++) await start(["here"]);
    // The aim is five; what PostgreSQL tells late on a busy machine comes on top.
    expect(await perSecond()).toBeLessThanOrEqual(10);
  });

  test("rounds of a service that no worker takes stay where they are, and say so", { timeout: 0 }, async () => {
    const folder = makeFolder({ "reconcile.yaml": "version: 1\nproject: p\n" });
    const source = { kind: "folder", folder } as const;
    const retry = { firstMs: 3_600_000, maxMs: 3_600_000, giveUpAfter: 5 };
    const stacks = [
      // There is no credential: a round fails, and is not tried again meanwhile.
      ...Array.from({ length: 40 }, (_, index) => stackSpec(`away-${index}`, { source, service: "there", retry })),
      stackSpec("mine", { source, service: "here" }),
    ];
    const fleet = { ...noSettings, services: [service("here"), service("there")], stacks, generators: [] };
    await carryOutSync(desk, fleet, await plannedSync(desk, stacks));
    await eventually("a round of the service that is served", async () =>
      (await desk.records.stack("mine"))?.lastRun?.endedAt === undefined ? undefined : true,
    );
    const told = await eventually("that it is said", async () => {
      const { status } = (await desk.records.stack("away-7")) ?? {};
      return status?.waitingFor == null ? undefined : status.waitingFor;
    });
    expect(told).toEqual({
      what: "worker",
      detail: "no worker takes rounds of the service there: reconcile fleet work --service there",
    });
    // Nobody took one to put it back: no round of them was begun, and none waits for a later time.
    const [row] = await desk.database.query(
      "SELECT count(*) FILTER (WHERE started_on IS NULL AND start_after <= now())::int AS n FROM reconcile_queue.job WHERE group_tier = 'default there'",
    );
    expect(row?.["n"]).toBe(40);
    await start(["there"]);
    await eventually("a round of each", async () => {
      const [row] = await desk.database.query(
        "SELECT count(DISTINCT stack)::int AS n FROM reconcile_fleet.runs WHERE ended_at IS NOT NULL AND stack LIKE 'away-%'",
      );
      return row?.["n"] === 40 ? true : undefined;
    });
    expect((await desk.records.stack("away-7"))?.status.waitingFor).toBeNull();
  });
});
