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
