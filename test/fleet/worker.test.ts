/** A worker between two rounds: whom it wakes, and what it does for stacks that leave. Its files and its service are made up. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fingerprint } from "../../reconciler/core/text/hash";
import { reject, resume, runNow } from "../../reconciler/fleet/actions";
import type { Database } from "../../reconciler/fleet/database/database";
import { createRecords, type Records } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { noSettings, type Occasion, type StackSpec } from "../../reconciler/fleet/model";
import type { Picture } from "../../reconciler/fleet/picture";
import type { OpenProject, Planned } from "../../reconciler/fleet/project";
import type { Queue } from "../../reconciler/fleet/queue";
import type { WorkerSetting } from "../../reconciler/fleet/shared";
import { newStatus } from "../../reconciler/fleet/status";
import { startWorker, type Worker } from "../../reconciler/fleet/worker";
import { StoreFailed } from "../../reconciler/store/store";
import { eventually } from "../support/eventually";
import { beginRun, idleQueue, newDatabase, stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";

const never = new AbortController().signal;

type Git = (...words: string[]) => void;

const noPicture: Picture = {
  asOf: "looked",
  left: 0,
  graph: { title: "", description: "", nodes: [], edges: [] },
  sides: [],
};

describe("a worker", () => {
  let database: Database;
  let records: Records;
  let setting: WorkerSetting;
  let worker: Worker;
  let round: Parameters<Queue["work"]>[0]["round"];
  const service = { name: "in-west", baseUrl: "http://127.0.0.1:9", insecureHttp: false, credential: { env: "NONE" } };
  const known = { ...noSettings, services: [service] };
  const hastened: string[] = [];
  /** Plans of pull requests that were put back. */
  const later: string[] = [];
  const outputs: Record<string, Record<string, unknown>> = {};
  const folder = makeFolder({ "reconcile.yaml": "version: 1\n" });
  const source = { kind: "folder", folder } as const;
  const variables: Record<string, unknown>[] = [];
  /** What the database's clock shows, where it is not this machine's. */
  let readAt: Date | undefined;
  let during: (stack: string) => void | Promise<void> = () => undefined;
  /** What somebody does in the moment in which a round ends. */
  let beforeEnd = async (): Promise<void> => undefined;
  let afterEnd = async (): Promise<void> => undefined;

  /** Of what leaves, those that have nothing (left). */
  const nothingIn = new Set<string>();
  const applied: string[] = [];
  /** The database breaks off when a round looks for whom to wake. */
  let failsOnce = false;
  /** What somebody does while a round plans under the lock. */
  let underLock = async (): Promise<void> => undefined;
  /** Those whose plan asks for something. */
  const asking = new Set<string>();
  /** What leaves is deleted, and everything else is in sync. */
  const openProject: OpenProject = async ({ stack, destroy, inputs }) => {
    variables.push(inputs);
    const steps = (destroy && !nothingIn.has(stack.name)) || asking.has(stack.name) ? 1 : 0;
    const planned: Planned = {
      facts: {
        digest: "0123456789abcdef",
        empty: steps === 0,
        steps,
        consents: [],
        opens: [],
        drifted: [],
        leases: true,
        wish: "w",
      },
      body: { text: "", consents: [], opens: [] },
      errors: [],
      counts: {},
      outputs: outputs[stack.name] ?? {},
      picture: () => noPicture,
      async apply() {
        applied.push(stack.name);
        const counts = { done: 1, failed: 0, waiting: 0, skipped: 0 };
        return {
          report: { counts, interrupted: false, steps: [], orphans: [] },
          outputs: {},
          picture: () => noPicture,
        };
      },
    };
    return {
      leases: true,
      files: [],
      ...(stack.name === "much" ? { apart: true } : {}),
      plan: async () => {
        await during(stack.name);
        return planned;
      },
      async underLock(_, use) {
        await underLock();
        return use(planned);
      },
      close: async () => undefined,
    };
  };

  beforeAll(async () => {
    database = await newDatabase();
    await prepareTables(database);
    const real = createRecords(database);
    await real.saveSettings(known);
    records = {
      ...real,
      // The worker's own look at a repository, which a test does in its place, could end before or after it.
      repositories: async () => [],
      async takeStack(name, turn) {
        const stack = await real.takeStack(name, turn);
        return stack === undefined || readAt === undefined ? stack : { ...stack, readAt };
      },
      async dependents(name) {
        if (failsOnce) {
          failsOnce = false;
          throw new Error("Connection terminated unexpectedly");
        }
        return real.dependents(name);
      },
      async finishRun(...end) {
        await beforeEnd();
        const isMine = await real.finishRun(...end);
        await afterEnd();
        return isMine;
      },
    };
    const queue: Queue = {
      ...idleQueue,
      hasten: async ({ stack }) => void hastened.push(stack),
      enqueue: async ({ stack, pull }) => void (pull !== undefined && later.push(`${stack} ${pull}`)),
      work: async (options) => {
        round = options.round;
      },
    };
    setting = {
      name: "here:1",
      version: "1",
      database,
      records,
      queue,
      concurrency: 1,
      services: [],
      cache: makeFolder(),
      openProject,
      within: (_, act) => act(),
      say: () => undefined,
      onSettings: () => undefined,
    };
    worker = await startWorker(setting);
  });
  afterAll(async () => {
    await worker.drain();
    await database.close();
  });

  const run = (stack: string): Promise<void> =>
    round({ stack, cause: "interval", signal: new AbortController().signal, lend: () => () => undefined });
  async function approveAndRun(stack: string): Promise<void> {
    await run(stack);
    const plan = await records.waitingPlan(stack);
    if (plan === undefined) throw new Error(`no plan of ${stack} waits`);
    const now = Date.now();
    const approval = { digest: plan.digest, by: "ann", at: new Date(now).toISOString() };
    await records.approve(stack, { ...approval, until: new Date(now + 60_000).toISOString() });
    await run(stack);
  }
  const statusOf = async (stack: string) => (await records.stack(stack))?.status;

  test("one that is there before the fleet's file was written takes rounds by it", async () => {
    let settledAt: number | undefined;
    const taken: unknown[] = [];
    const other = await startWorker({
      ...{ ...setting, name: "here:3" },
      records: { ...records, beat: async (...sign) => ({ ...(await records.beat(...sign)), settledAt }) },
      queue: { ...idleQueue, take: (rounds) => void taken.push(rounds) },
    });
    settledAt = 1;
    await other.drain();
    expect(taken).toEqual([{ tenants: [], services: ["in-west"], only: [] }]);
  });

  test("one that is started for a service that the fleet has not says so", async () => {
    const said: string[] = [];
    const services = ["in-west", "in-wset"];
    const other = await startWorker({
      ...{ ...setting, name: "here:2", queue: idleQueue, services },
      say: (text) => said.push(text),
    });
    await other.drain();
    expect(said).toEqual([
      "The fleet has no service in-wset (did you mean in-west?), so that this worker takes no rounds of it before there is one.",
    ]);
  });

  test("windows open and close by the database's clock, whatever the worker's shows", async () => {
    await records.saveStacks([stackSpec("clocked", { source })]);
    const friday = { kind: "deny", schedule: "0 18 * * 5", timeZone: "UTC", durationMs: 3_600_000 } as const;
    const receiver = { on: ["blocked"], stacks: ["clocked"], webhook: "http://127.0.0.1:9/hook" } as const;
    await records.saveSettings({
      ...{ ...known, receivers: [receiver] },
      windows: [{ ...friday, stacks: ["clocked"], actions: ["look"] }],
    });
    // The settings are read anew after two seconds.
    await new Promise((resolve) => setTimeout(resolve, 2100));
    for (const [time, isHeld] of [
      ["17:59:00", false],
      ["18:30:00", true],
      ["19:30:00", false],
    ] as const) {
      readAt = new Date(`2026-11-20T${time}Z`);
      await run("clocked");
      const { status, spec, nextAt } = (await records.stack("clocked"))!;
      expect([time, status.blocked]).toEqual([time, isHeld]);
      // Also the next look is told by that clock.
      expect(Math.abs((nextAt?.getTime() ?? 0) - readAt.getTime())).toBeLessThan(2 * spec.intervalMs);
    }
    readAt = undefined;
    // And so is the time that receivers are told.
    const told = await database.query("DELETE FROM reconcile_fleet.letters RETURNING left(body ->> 'time', 16) AS at");
    expect(told).toEqual([{ at: "2026-11-20T18:30" }]);
    await records.saveSettings(known);
  });

  test("a pull request is not planned while a window lets nobody look, and is afterwards", async () => {
    const url = "https://127.0.0.1:9/acme/none";
    await records.saveStacks([stackSpec("asked", { source: { kind: "git", url, ref: "main", path: "" } })]);
    const pull = { url, ref: "main", base: "b", number: 7, head: "h", author: "x", outside: false };
    await records.savePull({ ...pull, link: "l", mark: "m" }, [{ stack: "asked", content: "c" }]);
    const always = { kind: "deny", schedule: "* * * * *", timeZone: "UTC", durationMs: 3_600_000 } as const;
    for (const windows of [[{ ...always, stacks: ["asked"], actions: ["look" as const] }], []]) {
      await records.saveSettings({ ...known, windows });
      // The settings are read anew after two seconds.
      await new Promise((resolve) => setTimeout(resolve, 2100));
      later.length = 0;
      await round({ stack: "asked", cause: "pull request", pull: 7, signal: never, lend: () => () => undefined });
      const isHeld = windows.length > 0;
      expect(later).toEqual(isHeld ? ["asked 7"] : []);
      expect((await records.pullPlan(url, 7, "asked"))?.result).toBe(isHeld ? "waits" : "failed");
    }
    await records.saveSettings(known);
  });

  test("a stack that is planned in a process of its own lends its place meanwhile, and gets it back", async () => {
    await records.saveStacks([stackSpec("much", { source })]);
    const places: string[] = [];
    let lent = (): void => undefined;
    const isLent = new Promise<void>((resolve) => {
      lent = resolve;
    });
    during = (stack) => (stack === "much" ? isLent : undefined);
    const lend = () => {
      places.push("lent");
      lent();
      return () => void places.push("back");
    };
    await round({ stack: "much", cause: "interval", signal: new AbortController().signal, lend });
    during = () => undefined;
    expect([places, (await statusOf("much"))?.ready]).toEqual([["lent", "back"], true]);
  });

  test("a stack whose service only its own files name keeps no other stack waiting when that is silent", async () => {
    const alone = { source, service: undefined };
    await records.saveStacks([stackSpec("mute", alone), stackSpec("heard", alone)]);
    const began: string[] = [];
    during = async (stack) => {
      began.push(stack);
      if (stack !== "mute") return;
      // While it tries once more, the other one is due.
      if (began.length > 2) await run("heard");
      const silent = { severity: "error", code: "service/unavailable", summary: "no answer" };
      throw Object.assign(new Error("no answer"), { diagnostics: [silent] });
    };
    for (let times = 0; times < 3; times++) await run("mute");
    during = () => undefined;
    expect(began).toEqual(["mute", "mute", "mute", "heard"]);
  });

  test("stacks that leave together go in the reverse of their order, and none waits for ever", async () => {
    await records.saveStacks([stackSpec("network", { source, destroy: true })]);
    const inputs = { port: { stack: "network", output: "port" } };
    await records.saveStacks([stackSpec("shop", { source, dependsOn: ["network"], inputs, destroy: true })]);
    await records.saveOutputs("shop", {}, { "network.port": 443 });
    for (const stack of ["network", "shop"]) await records.leaveStack(stack);
    await run("network");
    expect((await statusOf("network"))?.waitingFor).toEqual({ what: "dependency", detail: "shop" });
    // The network was never applied, as far as anybody knows: what goes needs nothing of it.
    await approveAndRun("shop");
    expect(await records.stack("shop")).toBeUndefined();
    expect(variables.at(-1)).toEqual({ port: 443 });
    expect(hastened.splice(0)).toEqual(["network"]);
    await approveAndRun("network");
    expect(await records.stack("network")).toBeUndefined();
  });

  test("a rejected plan is not offered again, however often it is looked at, until a person asks or it is another one", async () => {
    await records.saveStacks([stackSpec("unwanted", { source })]);
    await records.leaveStack("unwanted");
    const desk = { records, queue: idleQueue, who: "ann" };
    const offered = async () => (await records.waitingPlan("unwanted"))?.digest;
    await run("unwanted");
    expect((await statusOf("unwanted"))?.reason).toMatch(/^the stack has left the fleet's file/);
    const digest = (await offered()) ?? "";
    await reject(desk, "unwanted", digest, { why: "not now" });
    const why = `the plan ${digest} was rejected by ann: not now; change the files, or run it again`;
    const rejected = { awaitingApproval: false, plan: null, drifted: true, failures: 0, reason: why };
    expect(await statusOf("unwanted")).toMatchObject(rejected);
    for (let looks = 0; looks < 3; looks++) {
      await run("unwanted");
      expect([await offered(), await statusOf("unwanted")]).toEqual([undefined, expect.objectContaining(rejected)]);
    }
    expect((await records.runs("unwanted", 3)).map(({ result }) => result)).toEqual(Array(3).fill("observed"));

    await runNow(desk, "unwanted");
    await run("unwanted");
    expect([await offered(), (await statusOf("unwanted"))?.awaitingApproval]).toEqual([digest, true]);
    // The round that would offer it again runs already.
    during = (stack) => (stack === "unwanted" ? reject(desk, stack, digest) : undefined);
    await run("unwanted");
    during = () => undefined;
    expect([await offered(), (await statusOf("unwanted"))?.awaitingApproval]).toEqual([undefined, false]);

    // It ends already.
    await runNow(desk, "unwanted");
    await run("unwanted");
    const rejectNow = () => reject(desk, "unwanted", digest, { why: "not now" });
    beforeEnd = rejectNow;
    await run("unwanted");
    beforeEnd = async () => undefined;
    expect([await offered(), await statusOf("unwanted")]).toEqual([undefined, expect.objectContaining(rejected)]);
    await runNow(desk, "unwanted");
    await run("unwanted");
    afterEnd = rejectNow;
    await run("unwanted");
    afterEnd = async () => undefined;
    expect([await offered(), await statusOf("unwanted")]).toEqual([undefined, expect.objectContaining(rejected)]);

    // Who approves it in that moment is too late.
    const at = new Date().toISOString();
    expect(await records.approve("unwanted", { digest, by: "bob", at, until: at })).toBeUndefined();

    // Other files make it another plan.
    await records.saveStacks([stackSpec("unwanted", { source: { kind: "folder", folder: makeFolder({ a: "1" }) } })]);
    await records.leaveStack("unwanted");
    await run("unwanted");
    expect([await offered(), (await statusOf("unwanted"))?.awaitingApproval]).toEqual([expect.any(String), true]);
  });

  test("a stack that is resumed while its round runs is tried anew, and takes what its store has now", async () => {
    const desk = { records, queue: idleQueue, who: "ann" };
    const spec = stackSpec("held", { source });
    const stateSeen = { lineage: "l", serial: 7, place: fingerprint(spec.state), isLess: true } as const;
    const heldBack = { ...newStatus, stalled: true, failures: 8, reason: "given up" };
    const failing = (): never => {
      throw new Error("no answer");
    };
    const anew = { stalled: false, failures: 0, reason: newStatus.reason };
    await records.saveStacks([spec]);
    for (const status of [heldBack, { ...heldBack, stateSeen }]) {
      await records.saveStatus("held", status);
      during = async () => {
        await resume(desk, "held");
        failing();
      };
      await run("held");
      expect(await statusOf("held")).toMatchObject(anew);
      expect((await statusOf("held"))?.stateSeen).toBeUndefined();
      // Whoever resumed it before the round began takes nothing back of how the round ends.
      during = failing;
      await run("held");
      expect(await statusOf("held")).toMatchObject({ failures: 1, reason: "no answer" });
    }
    // Who resumes it has not seen yet that there is less.
    await records.saveStatus("held", { ...newStatus, stateSeen: { ...stateSeen, serial: 9 } });
    await database.query(
      "UPDATE reconcile_fleet.stacks SET status = status #- '{stateSeen,isLess}' WHERE name = 'held'",
    );
    during = async () => {
      await resume(desk, "held");
      const less = { severity: "error", code: "state/went-back", summary: "the state has less" };
      throw Object.assign(new Error("less"), { diagnostics: [less] });
    };
    await run("held");
    during = () => undefined;
    expect((await statusOf("held"))?.stateSeen).toMatchObject({ serial: 9, isLess: true });
  });

  test("a stack goes that never made anything, or whose worker died when all of it was deleted", async () => {
    await records.saveStacks([stackSpec("ground", { source, destroy: true })]);
    const goes = { source, dependsOn: ["ground"], destroy: true };
    await records.saveStacks([stackSpec("never-made", goes), stackSpec("deleted", goes)]);
    for (const stack of ["never-made", "deleted"]) {
      await records.leaveStack(stack);
      nothingIn.add(stack);
    }
    await records.leaveStack("ground");
    await beginRun(records, { stack: "deleted", worker: "dead:1" });
    for (const stack of ["never-made", "deleted"]) {
      await run(stack);
      expect(await records.stack(stack)).toBeUndefined();
    }
    expect(hastened.splice(0)).toEqual(["ground", "ground"]);
    await approveAndRun("ground");
    expect(await records.stack("ground")).toBeUndefined();
  });

  test("a stack that is in the file again when all of it was deleted stays, and is made anew", async () => {
    const again = stackSpec("again", { source, destroy: true });
    await records.saveStacks([again]);
    await records.leaveStack("again");
    beforeEnd = async () => {
      if (applied.at(-1) === "again") await records.saveStacks([again]);
    };
    await approveAndRun("again");
    beforeEnd = async () => undefined;
    expect((await records.stack("again"))?.leaving).toBe(false);
    expect(hastened.splice(0)).toEqual(["again"]);
  });

  const frozen = { kind: "deny", schedule: "* * * * *", timeZone: "UTC", durationMs: 3_600_000 } as const;
  const freeze = (stack: string) =>
    records.saveSettings({ ...known, windows: [{ ...frozen, stacks: [stack], actions: ["apply"] }] });
  test.each<[string, (spec: StackSpec) => Promise<unknown>]>([
    ["the stack is in the file again", (spec) => records.saveStacks([spec])],
    ["the file says something else of it", (spec) => records.saveStacks([{ ...spec, approvers: 2 }])],
    ["who approved it has no right any more", () => records.dropTokens("ann")],
    ["somebody stops it", () => records.stopStack("saved", { by: "ann", at: "", now: false })],
    ["somebody has a run undone", () => records.undo("saved", { run: 1, id: "r", by: "ann", at: "" })],
    ["somebody closes a window", () => freeze("saved")],
    ["it is let go", () => records.releaseStack("saved")],
    ["another worker took it over", () => records.endLostRuns("saved", "there:1")],
  ])("what was approved is not carried out where, while it is planned, %s", async (_, meanwhile) => {
    const spec = stackSpec("saved", { source, destroy: true });
    await records.saveStacks([spec]);
    await records.leaveStack("saved");
    applied.length = 0;
    underLock = async () => {
      await meanwhile(spec);
    };
    await approveAndRun("saved");
    underLock = async () => undefined;
    expect(applied).toEqual([]);
    expect((await records.runs("saved", 1))[0]).toMatchObject({ result: expect.stringMatching(/taken_over|awaiting/) });
    hastened.length = 0;
    await records.releaseStack("saved");
    await records.saveSettings(known);
    // Nothing was said meanwhile.
    await records.saveStacks([spec]);
    await records.leaveStack("saved");
    await approveAndRun("saved");
    expect(applied).toEqual(["saved"]);
  });

  test("a plan that somebody rejects while the round plans that may carry it out is not carried out", async () => {
    asking.add("unwanted");
    await records.saveStacks([stackSpec("unwanted", { source, approve: "safe" })]);
    const ended = async () => (await records.runs("unwanted", 1))[0];
    // Nobody has to approve it: a window holds it, and opens.
    underLock = () => freeze("unwanted");
    await run("unwanted");
    const { digest = "" } = (await records.waitingPlan("unwanted")) ?? {};
    await records.saveSettings(known);
    applied.length = 0;
    underLock = () => reject({ records, queue: idleQueue, who: "ann" }, "unwanted", digest);
    await run("unwanted");
    underLock = async () => undefined;
    expect([applied, (await ended())?.result]).toEqual([[], "taken_over"]);
    await run("unwanted");
    expect([applied, (await ended())?.reason]).toEqual([[], expect.stringContaining("was rejected by ann")]);
    await records.releaseStack("unwanted");
  });

  test("a stack that was stopped, and that the file lets go on since, is carried out", async () => {
    asking.add("stopped");
    const says = (paused: boolean) => records.saveStacks([stackSpec("stopped", { source, approve: "safe", paused })]);
    await says(false);
    await records.stopStack("stopped", { by: "ann", at: "", now: false });
    await says(true);
    await says(false);
    applied.length = 0;
    await run("stopped");
    expect([applied, (await records.runs("stopped", 1))[0]?.result]).toEqual([["stopped"], "applied"]);
    await records.releaseStack("stopped");
  });

  test("a stack goes although what it depended on is gone", async () => {
    const inputs = { port: { stack: "absent", output: "port" } };
    await records.saveStacks([stackSpec("orphan", { source, dependsOn: ["absent"], inputs, destroy: true })]);
    await records.leaveStack("orphan");
    await approveAndRun("orphan");
    expect(await records.stack("orphan")).toBeUndefined();
  });

  test.each([
    {
      what: "folder",
      take: (git: Git): void => {
        git("rm", "-r", "--quiet", "old");
        git("commit", "--quiet", "--allow-empty", "--message", "gone");
      },
      says: /has no folder old at main/,
    },
    { what: "branch", take: (git: Git): void => git("branch", "--move", "main", "other"), says: /failed 2 times/ },
    {
      what: "repository",
      take: (_: Git, at: string): void => rmSync(at, { recursive: true }),
      says: /failed 2 times/,
    },
  ])("a stack goes although its $what went with it", async ({ what, take, says }) => {
    const name = `old-${what}`;
    const repository = makeFolder({ "old/reconcile.yaml": "version: 1\n" });
    const git: Git = (...words) =>
      void execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...words], { cwd: repository });
    git("init", "--quiet", "--initial-branch", "main");
    git("add", "--all");
    git("commit", "--quiet", "--message", "x");
    const from = { kind: "git", url: repository, ref: "main", path: "old" } as const;
    await records.saveStacks([stackSpec(name, { source: from, destroy: true })]);
    await run(name);
    take(git, repository);
    // What the workers' looks at the repository find.
    for (let failures = 0; what !== "folder" && failures < 2; failures++)
      await records.repositoryFailed(repository, "main", "it is gone");
    // A stack that stays has no files.
    const cause = what === "folder" ? "person" : "interval";
    await round({ stack: name, cause, signal: new AbortController().signal, lend: () => () => undefined });
    expect((await statusOf(name))?.reason).toMatch(says);
    await records.leaveStack(name);
    await approveAndRun(name);
    expect(await records.stack(name)).toBeUndefined();
  });

  test("a stack that leaves and whose files nobody has says how it gets them", async () => {
    const from = { kind: "folder", folder: "/none/of/this" } as const;
    await records.saveStacks([stackSpec("bare", { source: from, destroy: true })]);
    await run("bare");
    expect((await statusOf("bare"))?.reason).not.toMatch(/write it into/);
    await records.leaveStack("bare");
    await run("bare");
    expect((await statusOf("bare"))?.reason).toMatch(/ENOENT.*; .*write it into the fleet's file again with a source/);
    // It is in the file again with files, and goes.
    await records.saveStacks([stackSpec("bare", { source, destroy: true })]);
    await run("bare");
    await records.leaveStack("bare");
    await approveAndRun("bare");
    expect(await records.stack("bare")).toBeUndefined();
  });

  test("a repository that gave files to whoever was asked to look is asked again by every round", async () => {
    const repository = makeFolder({ "reconcile.yaml": "version: 1\n" });
    const git: Git = (...words) =>
      void execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...words], { cwd: repository });
    git("init", "--quiet", "--initial-branch", "main");
    git("add", "--all");
    git("commit", "--quiet", "--message", "x");
    await records.saveStacks([stackSpec("back", { source: { kind: "git", url: repository, ref: "main", path: "" } })]);
    for (let failures = 0; failures < 2; failures++) await records.repositoryFailed(repository, "main", "it is away");
    await run("back");
    expect((await statusOf("back"))?.reason).toMatch(/failed 2 times/);
    await round({ stack: "back", cause: "person", signal: new AbortController().signal, lend: () => () => undefined });
    await run("back");
    expect(await statusOf("back")).toMatchObject({ ready: true, reason: null });
    // The next look is due, and wakes the others that failed.
    expect(await records.claimRepository(repository, "main", 60)).toBe(true);
    expect((await records.repositorySeen(repository, "main")).failures).toBe(1);
  });

  test("who depends on it is woken by whoever goes on, when its worker died before it could", async () => {
    const inputs = { port: { stack: "base", output: "port" } };
    await records.saveStacks([stackSpec("base", { source })]);
    for (const [name, used] of [
      ["stale", 22],
      ["fresh", 443],
      // It was looked at while the output was not there.
      ["failed", 443],
    ] as const) {
      await records.saveStacks([stackSpec(name, { source, dependsOn: ["base"], inputs })]);
      await records.saveOutputs(name, {}, { "base.port": used });
    }
    await records.saveStatus("failed", { ...newStatus, failures: 1 });
    outputs["base"] = { port: 443 };
    // The dead one had saved how the stack stands and what it gives out, and nothing of the next one is to be saved.
    await records.saveOutputs("base", { port: 443 }, {});
    await records.saveStatus("base", { ...newStatus, ready: true, observedRevision: "r", appliedRevision: "r" });
    await beginRun(records, {
      stack: "base",
      worker: "dead:1",
      status: { ...newStatus, ready: true, observedRevision: "r", appliedRevision: "r" },
    });
    await run("base");
    expect(hastened.splice(0)).toEqual(["failed", "stale"]);
    await run("base");
    expect(hastened.splice(0)).toEqual([]);
    // The round was recorded, and its worker died before it woke anybody: the queue gives it to another one.
    outputs["base"] = { port: 8443 };
    failsOnce = true;
    await expect(run("base")).rejects.toThrow("Connection terminated");
    expect(await records.runs("base", 1)).toMatchObject([{ result: "in_sync" }]);
    await round({ stack: "base", cause: "interval", again: true, signal: never, lend: () => () => undefined });
    expect(hastened.splice(0)).toEqual(["failed", "fresh", "stale"]);
  });

  test("a round that cannot be recorded, not for the first time, waits before the queue gives it again", async () => {
    await records.saveStacks([stackSpec("unsaid", { source })]);
    let isOver = false;
    let isSeen = false;
    const abort = new AbortController();
    beforeEnd = async () => {
      isSeen = true;
      throw new Error("the database refuses what the round says");
    };
    const trying = round({
      stack: "unsaid",
      cause: "interval",
      again: true,
      signal: abort.signal,
      lend: () => () => undefined,
    });
    const over = trying
      .catch((error: Error) => error.message)
      .finally(() => {
        isOver = true;
      });
    await eventually("that it is to be recorded", () => isSeen || undefined);
    // What has nothing to wait for is over by now.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isOver).toBe(false);
    abort.abort();
    expect(await over).toBe("the database refuses what the round says");
    beforeEnd = async () => undefined;
    await run("unsaid");
    expect(await statusOf("unsaid")).toMatchObject({ ready: true });
  });

  test("a round that sent nothing leaves the stack as it stood, and nobody is told of it anew", async () => {
    const conditions: readonly Occasion[] = ["ready", "awaiting_approval", "stalled", "blocked", "drifted"];
    const webhook = "http://127.0.0.1:9/x";
    await records.saveSettings({ ...known, receivers: [{ on: conditions, stacks: ["same-*"], webhook }] });
    // The settings are read anew after two seconds.
    await new Promise((resolve) => setTimeout(resolve, 2100));
    await records.saveStacks([
      stackSpec("same-waiting", { source, destroy: true }),
      stackSpec("same-ready", { source }),
    ]);
    await records.leaveStack("same-waiting");
    const told = async () =>
      (await database.query("SELECT body ->> 'event' AS event FROM reconcile_fleet.letters ORDER BY id")).map(
        ({ event }) => event,
      );
    for (const stack of ["same-waiting", "same-ready"]) {
      await run(stack);
      const before = await statusOf(stack);
      during = () => {
        throw Object.assign(new StoreFailed("away"), { isAway: true });
      };
      await run(stack);
      expect(await statusOf(stack)).toEqual({ ...before, reconciling: true, reason: expect.stringContaining("away") });
      during = () => undefined;
      await run(stack);
      expect(await statusOf(stack)).toEqual(before);
    }
    expect(await told()).toEqual(["awaiting_approval", "ready"]);
    await records.saveSettings(known);
  });

  test("a repository that gives this worker alone no files is left to the others, and its rounds fail where nobody gets them", async () => {
    const url = `file://${makeFolder()}/gone.git`;
    await records.saveStacks([stackSpec("spoiled", { source: { kind: "git", url, ref: "main", path: "" } })]);
    const other = { name: "there:1", version: "1", concurrency: 1, doing: [], draining: false, services: [] };
    await records.beat({ ...other, troubles: [] }, 3600);
    /** Whether a round of it is carried out here. */
    const isRun = async (): Promise<boolean> => {
      const newest = async () => (await records.runs("spoiled", 1))[0]?.id;
      const before = await newest();
      await run("spoiled");
      return (await newest()) !== before;
    };
    await eventually("that it is left to the others", async () => !(await isRun()) || undefined);
    const [trouble] = await eventually("that it tells so", async () => {
      const mine = (await records.workers()).find(({ name }) => name === "here:1");
      return mine?.troubles.length === 0 ? undefined : mine?.troubles;
    });
    expect(trouble).toMatchObject({ origin: url, why: expect.stringContaining("git fetch: ") });
    expect((await statusOf("spoiled"))?.failures).toBeGreaterThanOrEqual(3);
    await records.beat({ ...other, troubles: trouble === undefined ? [] : [trouble] }, 3600);
    await eventually("that it fails here as well", async () => (await isRun()) || undefined);
    await records.leave(other.name);
  });

  test("a worker that is stopped at once is not counted as dead by whoever goes on with its round", async () => {
    await records.saveStacks([stackSpec("halved", { source })]);
    let own: typeof round | undefined;
    const queue: Queue = {
      ...idleQueue,
      work: async (options) => {
        own = options.round;
      },
      drain: () => new Promise(() => undefined),
    };
    const other = await startWorker({ ...setting, name: "here:3", queue });
    let goOn = (): void => undefined;
    const stopped = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let isUnderWay = (): void => undefined;
    const underWay = new Promise<void>((resolve) => {
      isUnderWay = resolve;
    });
    during = () => {
      isUnderWay();
      return stopped;
    };
    const cut = own?.({ stack: "halved", cause: "interval", signal: never, lend: () => () => undefined });
    await underWay;
    void other.drain();
    await eventually("that it drains", async () =>
      (await records.workers()).find(({ name, draining }) => name === "here:3" && draining),
    );
    await other.stop();
    expect(await beginRun(records, { stack: "halved", worker: "here:4" })).toMatchObject({ tookOver: true, lost: 0 });
    during = () => undefined;
    goOn();
    await cut;
    await records.leave("here:3");
  });

  test("a round that was taken before stays one where it is put back", async () => {
    await records.saveStacks([stackSpec("elsewhere", { source })]);
    let own: typeof round | undefined;
    const putBack: unknown[] = [];
    const queue: Queue = {
      ...idleQueue,
      work: async (options) => {
        own = options.round;
      },
      enqueue: async ({ stack, again }) => void putBack.push([stack, again]),
    };
    const other = await startWorker({ ...setting, name: "here:5", services: ["in-east"], queue });
    await own?.({ stack: "elsewhere", cause: "interval", again: true, signal: never, lend: () => () => undefined });
    await other.drain();
    expect(putBack).toEqual([["elsewhere", true]]);
  });

  test("a round that was cut short has not failed: whoever takes it over ends its run, and is named", async () => {
    await records.saveStacks([stackSpec("cut", { source })]);
    const lapse = new AbortController();
    during = (stack) => {
      if (stack !== "cut") return;
      lapse.abort(new Error("its heartbeat lapsed"));
      throw new Error("the list of VMs could not be read: cancelled");
    };
    await round({ stack: "cut", cause: "interval", signal: lapse.signal, lend: () => () => undefined });
    const [open] = await records.runs("cut", 1);
    expect([open?.endedAt, open?.result, open?.reason]).toEqual([undefined, undefined, undefined]);
    expect(await statusOf("cut")).toMatchObject({ failures: 0, reconciling: true });
    during = () => undefined;
    await run("cut");
    const [newest, before] = await records.runs("cut", 2);
    expect(newest).toMatchObject({ cause: "taken over", result: "in_sync" });
    expect(before).toMatchObject({
      result: "taken_over",
      reason: "its worker lives, and was cut off from the database; here:1 went on",
    });
    expect(await statusOf("cut")).toMatchObject({ failures: 0, ready: true });
  });
});
