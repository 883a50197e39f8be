/** What a careless or a hostile person does to a fleet: what was approved, rejected or undone is that and nothing else. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startEmulator } from "../../emulator";
import { createHereOpener } from "../../reconciler/cli/fleet/open-project";
import { approve, carryOutSync, pause, reject, stop, undo } from "../../reconciler/fleet/actions";
import { changesOf } from "../../reconciler/fleet/changes";
import type { Database } from "../../reconciler/fleet/database/database";
import type { Records } from "../../reconciler/fleet/database/records";
import type { StackRecord } from "../../reconciler/fleet/database/stacks";
import { followFleet } from "../../reconciler/fleet/follow";
import { type FleetSettings, noSettings, type StackSpec } from "../../reconciler/fleet/model";
import { type OpeningPorts, projectInput } from "../../reconciler/fleet/open-stack";
import { readFleet } from "../../reconciler/fleet/read-fleet";
import { type RoundPorts, runRound } from "../../reconciler/fleet/round";
import { checkOut } from "../../reconciler/fleet/sources/source";
import { newStatus } from "../../reconciler/fleet/status";
import { openingOf, scheduleProblem } from "../../reconciler/fleet/windows";
import { beginRun, idleQueue, newRecords, stackSpec } from "../support/fleet-stage";
import { makeFolder, writeFiles } from "../support/folder";

const [first, second] = ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"];

/** As the database gives it. */
const stackRecord = (name: string): StackRecord => ({
  ...{ name, spec: stackSpec(name), status: newStatus, paused: false, jitter: 0, leaving: false },
  ...{ outputs: {}, outputsUsed: {}, files: [] },
});

describe("the desk", () => {
  let database: Database;
  let records: Records;
  beforeAll(async () => {
    ({ database, records } = await newRecords());
  });
  afterAll(() => database.close());

  const desk = (who: string, with_: Records = records) => ({ records: with_, queue: idleQueue, who });
  const body = { text: "", consents: [], opens: [], why: "", sum: "Plan: 1 to update." };
  async function waiting(name: string, digest: string, more: Partial<StackSpec> = {}): Promise<void> {
    await records.saveStacks([stackSpec(name, { approve: "plan", ...more })]);
    await offer(name, digest);
  }
  async function offer(name: string, digest: string): Promise<void> {
    await records.saveStatus(name, { ...newStatus, awaitingApproval: true, plan: digest });
    await records.savePlan(name, { digest, revision: "r", body });
  }
  test("whoever rejects a plan in the moment in which another takes its place rejects nothing of that one", async () => {
    await waiting("raced", first);
    const late: Records = {
      ...records,
      waitingPlan: async (name) => {
        const plan = await records.waitingPlan(name);
        await offer("raced", second);
        await approve(desk("bob"), "raced", second);
        return plan;
      },
    };
    await expect(reject(desk("ann", late), "raced", first)).rejects.toThrow("does not wait for approval (any more)");
    expect(await records.stack("raced")).toMatchObject({ approval: { by: "bob", digest: second } });
    expect(await records.waitingPlan("raced")).toMatchObject({ digest: second });
  });

  test("what no database keeps, of a commit, an output or a person, keeps nothing else from being written", async () => {
    const [odd, kept] = ["a\0b\ud83d \\u0000 😀", "a\ufffdb\ufffd \\u0000 😀"];
    await records.saveStacks([stackSpec("odd")]);
    await records.savePlan("odd", { digest: first, revision: "r", body: { ...body, text: odd } });
    await approve(desk("ann"), "odd", first, { why: odd });
    await records.saveOutputs("odd", { odd }, {});
    const run = await beginRun(records, { stack: "odd", worker: "w:1" });
    await records.addLines(run.id, [{ at: new Date(), body: { odd } }]);
    const end = { result: "failed", reason: odd, counts: {} } as const;
    await records.finishRun(run.id, end, { ...newStatus, reason: odd }, null);
    expect(await records.waitingPlan("odd")).toMatchObject({ body: { text: kept } });
    const status = { reason: kept };
    expect(await records.stack("odd")).toMatchObject({ approval: { why: kept }, outputs: { odd: kept }, status });
    expect((await records.run(run.id))?.reason).toBe(kept);
    expect(await records.lines(run.id)).toMatchObject([{ body: { odd: kept } }]);
    expect(await records.stacksNamed([odd])).toEqual(new Map());
  });

  test("an approval ends with what the fleet's file said of the stack", async () => {
    await waiting("moved", first);
    await approve(desk("ann"), "moved", first);
    await records.saveStacks([stackSpec("moved", { approve: "plan" })]);
    expect((await records.stack("moved"))?.approval).toMatchObject({ by: "ann" });
    await records.saveStacks([stackSpec("moved", { approve: "plan", notTheAuthor: true })]);
    expect((await records.stack("moved"))?.approval).toBeUndefined();
  });

  test("what was undone stays so where a second undo is rejected, or cannot be made", async () => {
    await waiting("back", first);
    const { id } = await beginRun(records, { stack: "back", worker: "w:1" });
    const report = { plan: "", consents: [], opens: [] };
    await records.finishRun(id, { result: "applied", reason: null, plan: first, counts: {}, report }, newStatus, null);
    const undone = { run: 4, id: "x", by: "ann", at: "2026-11-20T10:00:00Z", held: "w" };
    await records.undo("back", undone);
    await undo(desk("bob"), await records.run(id), String(id));
    // Asked for twice, as by two buttons.
    await undo(desk("eve"), await records.run(id), String(id));
    expect((await records.stack("back"))?.undoing).toMatchObject({ run: id, by: "eve", before: undone });
    await offer("back", second);
    await reject(desk("ann"), "back", second);
    expect((await records.stack("back"))?.undoing).toEqual(undone);

    await undo(desk("bob"), await records.run(id), String(id));
    const { undoing } = (await records.stack("back")) ?? {};
    await records.endUndo("back", undoing!, "v");
    expect((await records.stack("back"))?.undoing).toMatchObject({ run: id, held: "v" });
    expect((await records.stack("back"))?.undoing).not.toHaveProperty("before");
  });

  test("whoever has lost a role in the file is not let in with it for the rest of the day", async () => {
    const operators = { role: "operator", stacks: [], claim: "groups", is: "platform" } as const;
    const signIn = {
      ...{ issuer: "https://login.example", clientId: "x", url: "https://fleet.example" },
      ...{ scopes: ["profile"], nameClaim: "name", roles: [operators] },
    };
    const open = async (name: string) =>
      records.openSession({ name, hash: `of ${name}`, grants: [{ role: "operator", stacks: [] }], hours: 12 });
    const isIn = async (name: string) => (await records.visitorWithSession(`of ${name}`)) !== undefined;
    await records.saveSettings({ ...noSettings, signIn });
    await records.addToken({ hash: "t", name: "tom", role: "operator", stacks: [] });
    await Promise.all(["oda", "tom"].map(open));
    await records.saveSettings({
      ...noSettings,
      services: [west],
      signIn: { ...signIn, clientSecret: { env: "NEW" } },
    });
    expect(await isIn("oda")).toBe(true);
    await records.saveSettings({ ...noSettings, signIn: { ...signIn, roles: [{ ...operators, is: "others" }] } });
    expect([await isIn("oda"), await isIn("tom")]).toEqual([false, true]);
    await records.saveSettings(noSettings);
  });

  test("whoever pauses a stack in the moment in which its run is being stopped takes the stop back by nothing", async () => {
    await waiting("both", first);
    const { id } = await beginRun(records, { stack: "both", worker: "w:1" });
    await stop(desk("ann"), "both", { now: true });
    await pause(desk("bob"), "both");
    expect(await records.stopsOf(["both"])).toMatchObject(new Map([["both", { by: "ann", now: true }]]));
    await records.finishRun(id, { result: "taken_over", reason: null, counts: {} }, newStatus, null);
    await pause(desk("bob"), "both");
    expect(await records.stack("both")).toMatchObject({ paused: true });
    expect((await records.stack("both"))?.stopping).toBeUndefined();
  });

  const serviceOf = (name: string) => ({ name, baseUrl: `https://${name}.example`, insecureHttp: false });
  const [west, east] = [serviceOf("in-west"), serviceOf("in-east")];
  const services = async () => (await records.settings()).services.map(({ name }) => name);

  test("the service of a stack stays for as long as the stack does, whatever the file says by then", async () => {
    const sync = (fleet: Partial<FleetSettings>, changes: Parameters<typeof carryOutSync>[2]) =>
      carryOutSync(desk("fleet"), { ...noSettings, generators: [], stacks: [], ...fleet }, changes);
    const [goes, destroyed] = [stackSpec("goes", { service: "in-east" }), stackSpec("ends", { service: "in-north" })];
    for (const { name } of await records.stacks()) await records.releaseStack(name);
    await records.saveStacks([goes, destroyed, stackSpec("stays")]);
    await records.saveSettings({ ...noSettings, services: [west, east, serviceOf("in-north")] });
    const change = (spec: StackSpec, action: "release" | "destroy") =>
      ({ name: spec.name, action, spec, fields: [] }) as const;
    // What would leave by a push waits for a person, and is no change.
    await sync({ services: [west] }, [change(destroyed, "destroy")]);
    expect(await services()).toEqual(["in-west", "in-east", "in-north"]);
    await sync({ services: [west] }, [change(goes, "release")]);
    expect(await services()).toEqual(["in-west", "in-north"]);
    await records.releaseStack("ends");
    await sync({ services: [west] }, []);
    expect(await services()).toEqual(["in-west"]);
  });

  test("a folder that is added takes nothing back that a person wrote meanwhile", async () => {
    const folder = makeFolder({ "apps/shop/reconcile.yaml": "version: 1\n" });
    const generate = `[ { folder: "${folder}", folders: "apps/*/reconcile.yaml", stack: "gen-\${folder}" } ]`;
    const text = `version: 1\ndefaults: { state: "s-\${stack}" }\ngenerate: ${generate}\n`;
    const { fleet } = readFleet([{ file: "fleet.yaml", text }], {
      ...{ resolvePath: (_, path) => path, scheduleProblem },
    });
    const known = { ...noSettings, generators: fleet?.generators ?? [] };
    const look = async (): Promise<void> => {
      await records.releaseTask("follow");
      await followFleet({ ...desk("fleet"), cache: folder, say: () => undefined }, known, new AbortController().signal);
    };
    const names = async () =>
      (await records.stacks()).map(({ name }) => name).filter((name) => name.startsWith("gen-"));
    await records.saveSettings({ ...known, services: [west] });
    await look();
    expect([await names(), await services()]).toEqual([["gen-shop"], ["in-west"]]);
    writeFiles(folder, { "apps/blog/reconcile.yaml": "version: 1\n" });
    await records.forgetFollowed();
    await records.saveSettings(noSettings);
    await look();
    expect([await names(), (await records.settings()).generators]).toEqual([["gen-shop"], undefined]);
    // As where a generator gave the same folder another name: everything would be made a second time.
    const shop = await records.stack("gen-shop");
    await records.releaseStack("gen-shop");
    await records.saveStacks([{ ...(shop?.spec ?? stackSpec("gen-old")), name: "gen-old", state: "s-gen-old" }]);
    await records.saveSettings(known);
    await look();
    expect([await names(), (await records.followed())?.anew]).toEqual([["gen-blog", "gen-old"], ["gen-shop"]]);
    for (const name of await names()) await records.releaseStack(name);
  });

  test("a stack of a service or a tenant that is gone goes to no other service, and is trusted by nobody", async () => {
    await records.saveStacks([stackSpec("left", { tenant: "labs" })]);
    const stack = (await records.stack("left"))!;
    const checkout = { folder: "/x", root: "/x", revision: "r", content: "c" };
    const ports = { worker: "w", budgetOf: () => undefined } as unknown as OpeningPorts;
    const inputOf = (settings: Partial<FleetSettings>) =>
      projectInput({ stack, settings: { ...noSettings, ...settings } }, ports, checkout, {});
    expect(() => inputOf({ services: [east] })).toThrow("has no service in-west any more");
    const tenant = (name: string) => ({ name, weight: 1, mayRead: [] });
    const closed = (...tenants: FleetSettings["tenants"]) => inputOf({ services: [west], tenants }).closedBy;
    expect(closed(tenant("labs"), tenant("payments"))).toBeDefined();
    expect(closed(tenant("labs"))).toBeUndefined();
    expect(closed({ ...tenant("payments"), trusted: true })).toBeDefined();
    expect(closed()).toBeDefined();
  });
});

describe("an approval through a window that looks are held by as well", () => {
  const at = new Date("2026-11-20T19:30:00Z");
  const windows = [
    {
      ...({ kind: "deny", schedule: "0 0 * * *", timeZone: "UTC", stacks: [] } as const),
      ...{ durationMs: 86_400_000, actions: ["look"] as const },
    },
  ];
  const approval = { digest: first, by: "ann", why: "it burns", at: at.toISOString(), until: "2026-11-21T19:30:00Z" };
  test.each([
    ["none", undefined, "blocked"],
    ["one that does not go through", approval, "blocked"],
    ["one that goes through", { ...approval, throughWindow: true as const }, "failed"],
    [
      "one that went, until yesterday",
      { ...approval, throughWindow: true as const, until: "2026-11-19T00:00:00Z" },
      "blocked",
    ],
  ])("%s", async (_, given, ends) => {
    const ports = { now: () => at, checkOut: async () => Promise.reject(new Error("it was looked at")) };
    const never = new AbortController().signal;
    const input = { settings: { ...noSettings, windows }, resumed: false, signal: never, drain: never };
    const looked = { ...stackRecord("shop"), ...(given === undefined ? {} : { approval: given }) };
    const { result } = await runRound({ ...input, stack: looked }, ports as unknown as RoundPorts);
    expect(result.end).toBe(ends);
  });
  test("nothing that may not be looked at may be applied", () =>
    expect(openingOf(windows, "shop", "apply", at)).toMatchObject({ open: false }));
});

test("a stack that comes with the files of one that goes may be meant as that one under another name", () => {
  const known = (...specs: readonly StackSpec[]) => new Map(specs.map((spec) => [spec.name, spec]));
  const shop = stackSpec("shop");
  const named = (more: Partial<StackSpec> = {}): StackSpec => ({ ...stackSpec("store"), source: shop.source, ...more });
  const instead = (after: StackSpec, ...others: readonly StackSpec[]) =>
    changesOf(known(shop), known(after, ...others)).find(({ name }) => name === "store")?.insteadOf?.name;
  expect(instead(named())).toBe("shop");
  expect(instead(named({ source: { ...shop.source, ref: "next" } as StackSpec["source"] }))).toBe("shop");
  // It stays beside it, goes on with its state, or is for another environment.
  expect(instead(named(), shop)).toBeUndefined();
  expect(instead(named({ state: shop.state }))).toBeUndefined();
  expect(instead(named({ env: "test" }))).toBeUndefined();
});

test("a plan for one service is no plan for another one, and an approval of it does not go along", async () => {
  vi.stubEnv("HOSTILE_TOKEN", "t0ken");
  const emulator = await startEmulator();
  const folder = makeFolder({ "reconcile.yaml": "version: 1\nproject: acme\ngroups: { web: { name: shop-web } }\n" });
  const stack = stackSpec("shop", { source: { kind: "folder", folder }, state: `${folder}/state.json` });
  const checkout = await checkOut(stack.source, makeFolder());
  const digestAt = async (name: string, baseUrl: string): Promise<string> => {
    const project = await createHereOpener({ cache: makeFolder() })({
      ...{ stack, checkout, inputs: {}, destroy: false, worker: "w" },
      service: { name, baseUrl, insecureHttp: true, credential: { env: "HOSTILE_TOKEN" } },
      mayRead: async (state) => ({ state }),
      siblings: async () => [],
    });
    const { facts } = await project.plan(new AbortController().signal);
    await project.close();
    return facts.digest;
  };
  try {
    const staging = await digestAt("staging", emulator.url);
    expect(await digestAt("staging", emulator.url)).toBe(staging);
    // Two accounts of one service differ in nothing but the fleet's name of them.
    expect(await digestAt("production", emulator.url)).not.toBe(staging);
    expect(await digestAt("staging", emulator.url.replace("127.0.0.1", "localhost"))).not.toBe(staging);
  } finally {
    await emulator.close();
    vi.unstubAllEnvs();
  }
});
