/** Whatever a program catches has a code. */
import { expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { codeOf, connect, readDesired } from "../../reconciler/index";
import { makeFolder } from "../support/folder";

const { desired } = readDesired([{ file: "f.yaml", text: "version: 1\ngroups: { web: {} }" }]);

async function planAt(baseUrl: string, parallelism = 10): Promise<unknown> {
  if (desired === undefined) throw new Error("the file has errors");
  const cloud = connect({ baseUrl, parallelism, token: "t", timing: { request_timeout: "5s" } }, makeFolder());
  try {
    return await cloud.plan(desired, { state: "s.json" }).then(() => "a plan", codeOf);
  } finally {
    await cloud.close();
  }
}

it("a service that is not there", async () => {
  const emulator = await startEmulator({ timeScale: 0 });
  await emulator.close();
  expect(await planAt(emulator.url)).toBe("service/unavailable");
});

it("a service that a credential must not go to", async () => {
  expect(await planAt("http://cloud.example")).toBe("service/insecure-http");
});

it.each([0, -1, 1.5, Number.NaN])("a parallelism of %d", async (parallelism) => {
  expect(await planAt("http://127.0.0.1:9", parallelism)).toBe("config/invalid-value");
});

it("a plan that was stopped while it looked, of a state with something and of an empty one", async () => {
  if (desired === undefined) throw new Error("the file has errors");
  const emulator = await startEmulator({ timeScale: 0 });
  const cloud = connect({ baseUrl: emulator.url, token: "t" }, makeFolder());
  try {
    const plan = await cloud.plan(desired, { state: "s.json" });
    const kept = JSON.stringify(plan);
    const signal = AbortSignal.abort();
    const stopped = async (): Promise<unknown[]> => [
      await cloud.plan(desired, { state: "s.json", signal }).then(() => "a plan", codeOf),
      await cloud.readPlan(kept, { signal }).then(() => "a plan", codeOf),
    ];
    expect(await stopped()).toEqual(["apply/interrupted", "apply/interrupted"]);
    await cloud.apply(plan);
    expect(await stopped()).toEqual(["apply/interrupted", "apply/interrupted"]);
  } finally {
    await cloud.close();
    await emulator.close();
  }
});

it("a listener that throws stops the run, which is recorded, and the caller gets what it threw", async () => {
  if (desired === undefined) throw new Error("the file has errors");
  const emulator = await startEmulator({ timeScale: 0 });
  const cloud = connect({ baseUrl: emulator.url, token: "t" }, makeFolder());
  const mine = new Error("mine");
  const onEvent = (): never => {
    throw mine;
  };
  try {
    await expect(cloud.plan(desired, { state: "s.json", onEvent })).rejects.toBe(mine);
    const plan = await cloud.plan(desired, { state: "s.json" });
    await expect(cloud.rehearse(plan, { onEvent })).rejects.toBe(mine);
    await expect(cloud.apply(plan, { onEvent })).rejects.toBe(mine);
    const left = await cloud.plan(desired, { state: "s.json" });
    await cloud.apply(left);
    expect(emulator.dump().groups.filter(({ name }) => name === "web")).toHaveLength(1);
    expect((await cloud.plan(desired, { state: "s.json" })).changes).toEqual([]);
  } finally {
    await cloud.close();
    await emulator.close();
  }
});

it("a plan is carried out where it was made for, as long as the state is that of the plan", async () => {
  if (desired === undefined) throw new Error("the file has errors");
  const emulator = await startEmulator({ timeScale: 0 });
  const [folder, settings] = [makeFolder(), { baseUrl: emulator.url, token: "t" }];
  const cloud = connect(settings, folder);
  const others = [
    connect({ ...settings, baseUrl: "http://127.0.0.1:9" }, folder),
    connect({ ...settings, dialect: { operations: { "volume.list": { method: "GET", path: "/v" } } } }, folder),
    connect(settings, makeFolder()),
  ];
  const alike = connect(settings, folder);
  try {
    const plan = await cloud.plan(desired, { state: "s.json" });
    for (const other of others) {
      expect(await other.apply(plan).catch(codeOf)).toBe("plan/stale");
      expect(await other.rehearse(plan).catch(codeOf)).toBe("plan/stale");
    }
    for (const none of [JSON.parse(JSON.stringify(plan)), undefined, {}]) {
      expect(await cloud.apply(none).catch(codeOf)).toBe("plan/unreadable");
      expect(() => cloud.exposure(none)).toThrow("readPlan");
    }
    expect(emulator.dump().groups.filter(({ name }) => name === "web")).toEqual([]);
    await cloud.close();
    // The connections of the plan are closed by now.
    expect((await alike.apply(plan)).counts).toMatchObject({ done: 1, failed: 0 });
    expect(await cloud.rehearse(plan).catch(codeOf)).toBe("state/moved-on");
    expect((await cloud.plan(desired, { state: "s.json" })).changes).toEqual([]);
  } finally {
    await Promise.all([cloud, alike, ...others].map((one) => one.close()));
    await emulator.close();
  }
});
