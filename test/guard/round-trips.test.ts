/**
 * How many requests follow one after the other, which is what a distant service or state makes a person wait for: the
 * longest chain of which each was sent when the one before had been answered. Counted in virtual time with as many
 * connections as there are requests, and for the stores as the turns that a connection takes.
 */
import { connect, createServer } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { fleet } from "../../bench/shapes.mjs";
import { startEmulator } from "../../emulator";
import { closeFleet, openFleet } from "../../reconciler/cli/fleet/session";
import { startWork } from "../../reconciler/cli/fleet/work";
import { carryOutSync, plannedSync } from "../../reconciler/fleet/actions";
import { noSettings } from "../../reconciler/fleet/model";
import type { ServiceClient } from "../../reconciler/service/client";
import type { Clock } from "../../reconciler/service/clock";
import { projectOf } from "../support/bench-world";
import { runCli } from "../support/cli-process";
import { prepareOn } from "../support/engine-on";
import { eventually } from "../support/eventually";
import { stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";
import { postgresMissing, startPostgres } from "../support/postgres-server";
import { startS3Server, startStateServer } from "../support/state-server";
import { virtualWorld } from "../support/virtual-world";

const tripMs = 1000;

/** Each request takes `tripMs`; answers with the longest chain of requests since it was asked last. */
function chainOf(client: ServiceClient, clock: Clock): () => number {
  let spans: { readonly from: number; readonly to: number }[] = [];
  const timed = Object.entries(client).filter(
    (entry): entry is [string, (...args: unknown[]) => Promise<unknown>] =>
      typeof entry[1] === "function" && !["close", "listCost"].includes(entry[0]),
  );
  for (const [name, call] of timed)
    Object.assign(client, {
      [name]: async (...args: unknown[]) => {
        const from = clock.now();
        await clock.sleep(tripMs / 2);
        const answer = await call(...args);
        await clock.sleep(tripMs / 2);
        spans.push({ from, to: clock.now() });
        return answer;
      },
    });
  return () => {
    let [chain, free] = [0, Number.NEGATIVE_INFINITY];
    for (const { from, to } of spans.sort((a, b) => a.to - b.to)) if (from >= free) [chain, free] = [chain + 1, to];
    spans = [];
    return chain;
  };
}

async function chains(count: number) {
  const stage = virtualWorld({}, () => true, { secondMs: 0 });
  const desired = projectOf({
    vms: { web: { for_each: count, name: "web-${each}" } },
    volumes: { disk: { for_each: count, name: "disk-${each}", size: 20, attach_to: "web[${each}]" } },
    groups: { front: { for_each: count / 10, name: "front-${each}", rules: [{ protocol: "tcp", dst_port: 80 }] } },
  });
  const chain = chainOf(stage.client, stage.clock);
  const plan = (options: { readonly destroy?: boolean } = {}) => prepareOn(stage, desired, { options });
  const first = await plan();
  const of: Record<string, number> = { "first plan": chain() };
  await stage.apply(first);
  of["apply"] = chain();
  await plan();
  of["plan with nothing to do"] = chain();
  const last = await plan({ destroy: true });
  of["plan of a destroy"] = chain();
  await stage.apply(last);
  of["destroy"] = chain();
  return of;
}

describe("requests to the service that follow one after the other", () => {
  for (const count of [10, 100])
    it(`${count} of each`, async () => {
      expect(await chains(count)).toEqual({
        "first plan": 2,
        apply: 5,
        "plan with nothing to do": 2,
        "plan of a destroy": 2,
        destroy: 10,
      });
    });
});

/** Counts how often the side that connects spoke after the other had. */
async function counting(port: number) {
  const turns: string[] = [];
  const server = createServer((from) => {
    const to = connect(port, "127.0.0.1");
    let mayTurn = true;
    from.on("data", (data) => {
      if (mayTurn) turns.push(data.toString("latin1"));
      mayTurn = false;
      to.write(data);
    });
    to.on("data", (data) => {
      mayTurn = true;
      from.write(data);
    });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      one.on("end", () => other.end());
      one.on("error", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" ? address?.port : undefined,
    take: () => turns.splice(0),
    close: () => server.close(),
  };
}

interface Remote {
  readonly url: string;
  stop(): Promise<void>;
}

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** A sign of life depends on how long the machine takes. */
const isSignOfLife = (turn: string): boolean =>
  /SET alive_at = clock_timestamp\(\) WHERE/.test(turn) || /^PUT \S+\/lock\?.*if-match/is.test(turn);

async function turnsOf(remote: Remote, location: (origin: URL) => string) {
  const address = new URL(remote.url);
  const proxy = await counting(Number(address.port));
  address.port = String(proxy.port);
  const folder = makeFolder({ "reconcile.yaml": fleet(3, 1, "20ms") });
  const emulator = await startEmulator({ dir: `${folder}/world`, timeScale: 0 });
  closing.push(
    () => emulator.close(),
    proxy.close,
    () => remote.stop(),
  );
  const state = location(address);
  const env = {
    ...{ RECONCILE_TOKEN: "ops-token", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_REGION: "eu-1" },
    AWS_ENDPOINT_URL: address.origin,
  };
  const run = async (...words: string[]): Promise<number> => {
    for (;;) {
      proxy.take();
      const { exitCode, stderr } = await runCli([...words, "--base-url", emulator.url, "--state", state], {
        cwd: folder,
        env,
      });
      expect(exitCode, stderr).toBe(0);
      const turns = proxy.take().filter((turn) => !turn.startsWith("X"));
      if (!turns.some(isSignOfLife)) return turns.length;
    }
  };
  await run("apply", "-y");
  return { plan: await run("plan"), "apply with nothing to do": await run("apply", "-y"), drift: await run("drift") };
}

/** What a round of a fleet asks its database. */
const steps: readonly (readonly [string, RegExp])[] = [
  ["the stack", /UPDATE \w+\.served SET start/],
  ["the run begins", /begin_run\(/],
  ["its state", /^.{0,9}SELECT snapshot/s],
  ["the run ends", /SET ended_at = now\(\), result/],
  ["the next round", /INSERT INTO reconcile_queue\.job_common/],
  ["the queue hears", /SET completed_on/],
];
/**
 * What a worker and its queue ask now and then, whatever rounds there are, and what no round waits for. One that comes while the
 * round has the connection opens another.
 */
const duties =
  /^.{8}user.reconcile.database|SKIP LOCKED|reconcile_fleet\.(documents|workers|tasks|letters|pulls|tenants|budgets|repositories)|SELECT DISTINCT spec|AS service FROM reconcile_queue|WITH due AS|stopping IS NOT NULL|\.pgboss\.|reconcile_queue\.instance|i\.relpages/s;
const stepsIn = (turns: readonly string[]): string[] =>
  turns.flatMap((turn) => {
    const step = steps.find(([, is]) => is.test(turn))?.[0];
    return step === undefined && duties.test(turn) ? [] : [step ?? turn.slice(0, 200)];
  });

describe.skipIf(postgresMissing !== undefined)("a fleet's round", () => {
  it("of a stack in sync asks its databases six times, one after the other", { timeout: 0 }, async () => {
    const server = await startPostgres();
    const address = new URL(server.url);
    const proxy = await counting(Number(address.port));
    address.port = String(proxy.port);
    const emulator = await startEmulator({ timeScale: 0 });
    const desk = await openFleet(server.url, { sendsOnly: true });
    const session = await openFleet(address.href, { sendsOnly: false });
    const here = { name: "here", baseUrl: emulator.url, insecureHttp: false, credential: { env: "TRIPS_TOKEN" } };
    process.env["TRIPS_TOKEN"] = "ops-token";
    const folder = makeFolder({ "reconcile.yaml": "version: 1\nproject: acme\ngroups: { web: { name: web } }\n" });
    const shop = stackSpec("shop", {
      ...{ source: { kind: "folder", folder }, service: "here", approve: "auto" },
      state: `${address.href}?state=shop`,
    });
    const settings = { ...noSettings, services: [here], stacks: [shop], generators: [] };
    await carryOutSync(desk, settings, await plannedSync(desk, [shop]));
    const quiet = { concurrency: 1, services: [], cache: makeFolder(), say: () => undefined };
    const worker = await startWork(session, quiet);
    const ended = (after: number) =>
      eventually("a round that has ended", async () => {
        const run = (await desk.records.stack("shop"))?.lastRun;
        return run?.endedAt !== undefined && run.id > after && run.result === "in_sync" ? run.id : undefined;
      });
    const hasten = () => desk.queue.hasten({ stack: "shop", tenant: "default", service: "here", cause: "push" });
    await eventually("the first apply", async () => (await desk.records.stack("shop"))?.status.ready || undefined);
    await hasten();
    let last = await ended(0);
    const seen: string[] = [];
    const heard = () =>
      eventually("that the queue hears of it", () => {
        seen.push(...proxy.take());
        const last = stepsIn(seen).findLast((one) => steps.some(([name]) => name === one));
        return last === "the queue hears" || undefined;
      });
    await heard();
    const alone = await eventually("a round beside which no other one begins or ends", async () => {
      seen.length = 0;
      await hasten();
      last = await ended(last);
      await heard();
      const found = stepsIn(seen);
      return steps.every(([name]) => found.filter((step) => step === name).length === 1) ? found : undefined;
    });
    expect(alone).toEqual(steps.map(([name]) => name));
    await worker.drain();
    for (const close of [() => closeFleet(session), () => closeFleet(desk), () => emulator.close(), proxy.close])
      await close();
    await server.stop();
  });
});

describe("requests to the state that follow one after the other", () => {
  it.skipIf(postgresMissing !== undefined)("PostgreSQL", async () => {
    expect(await turnsOf(await startPostgres(), ({ href }) => href)).toEqual({
      plan: 2,
      "apply with nothing to do": 4,
      drift: 2,
    });
  });
  it("HTTP", async () => {
    const server = await startStateServer({ kind: "gitlab" });
    expect(await turnsOf(server, ({ origin }) => `${origin}${new URL(server.url).pathname}/mine`)).toEqual({
      plan: 1,
      "apply with nothing to do": 3,
      drift: 1,
    });
  });
  it("S3", async () => {
    expect(await turnsOf(await startS3Server(100), () => "s3://bucket/mine")).toEqual({
      plan: 3,
      "apply with nothing to do": 7,
      drift: 4,
    });
  });
});
