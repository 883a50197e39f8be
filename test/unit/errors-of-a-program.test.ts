/** Whatever a program catches has a code. */
import { writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, it, vi } from "vitest";
import { startEmulator } from "../../emulator";
import { codeOf, connect, handlerOf, readDesired } from "../../reconciler/index";
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

it("an embedded service whose world cannot be there", async () => {
  const file = join(makeFolder(), "file");
  writeFileSync(file, "");
  const cloud = connect({ baseUrl: "embedded" }, file);
  expect(await cloud.service().catch(codeOf)).toBe("service/embedded");
});

it.each([
  [
    "throws",
    (error: Error): never => {
      throw error;
    },
  ],
  ["answers with a promise that is rejected", (error: Error): Promise<never> => Promise.reject(error)],
])("a listener that %s stops the run, which is recorded, and the caller gets its error", async (_, end) => {
  if (desired === undefined) throw new Error("the file has errors");
  const emulator = await startEmulator({ timeScale: 0 });
  const cloud = connect({ baseUrl: emulator.url, token: "t" }, makeFolder());
  const mine = new Error("mine");
  const onEvent = () => end(mine);
  try {
    await expect(cloud.plan(desired, { state: "s.json", onEvent })).rejects.toBe(mine);
    const plan = await cloud.plan(desired, { state: "s.json" });
    await expect(cloud.rehearse(plan, { onEvent })).rejects.toBe(mine);
    expect(await cloud.rehearse(plan, { speed: -1 }).catch(codeOf)).toBe("config/invalid-value");
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

it("a grant that is undefined is one that is not given", async () => {
  if (desired === undefined) throw new Error("the file has errors");
  const emulator = await startEmulator({ timeScale: 0 });
  const cloud = connect({ baseUrl: emulator.url, token: "t" }, makeFolder());
  const state = "s.json";
  const volumes = readDesired([
    { file: "f.yaml", text: "version: 1\nvolumes: { one: {}, two: {} }\ndefaults: { volume: { size: 1 } }" },
  ]);
  if (volumes.desired === undefined) throw new Error("the file has errors");
  try {
    await cloud.apply(await cloud.plan(volumes.desired, { state }));
    const { changes } = await cloud.plan(desired, { state });
    const service = { service: () => cloud.service(), signal: new AbortController().signal, log: () => undefined };
    const { id = "" } = changes.find(({ address }) => address === "volume.one") ?? {};
    await handlerOf("Volume").delete(service, id, { name: "one", size: 1 });
    const plan = await cloud.plan(volumes.desired, { state });
    expect(await cloud.apply(plan, { grants: { recreate: undefined } }).catch(codeOf)).toBe("consent/missing");
  } finally {
    await cloud.close();
    await emulator.close();
  }
});

it("a program that changes its working folder goes on with the state of the folder that it named", async () => {
  const folder = makeFolder();
  const cloud = connect({ baseUrl: "embedded" }, relative(process.cwd(), folder));
  const other = makeFolder();
  const elsewhere = vi.spyOn(process, "cwd").mockReturnValue(other);
  writeFileSync(join(folder, "s.json"), "no state");
  try {
    expect(resolve(".")).toBe(other);
    expect(await cloud.history({ state: "s.json" }).catch(codeOf)).toBe("state/unreadable");
  } finally {
    elsewhere.mockRestore();
    await cloud.close();
  }
});

it("a log of a program that throws costs it no resource", async () => {
  const emulator = await startEmulator({ timeScale: 0 });
  const cloud = connect({ baseUrl: emulator.url, token: "t" }, makeFolder());
  const log = (): never => {
    throw new Error("mine");
  };
  const context = { service: () => cloud.service(), signal: new AbortController().signal, log };
  try {
    const { id } = await handlerOf("Volume").create(context, { name: "kept", size: 1 });
    expect(emulator.dump().volumes.map((volume) => volume.id)).toEqual([id]);
  } finally {
    await cloud.close();
    await emulator.close();
  }
});

const opened = "version: 1\ngroups: { web: { rules: [{ protocol: tcp, dst_port: 22, remote_ip: 0.0.0.0/0 }] } }\n";

it.each([
  ["deny: [exposure/open-port]", "exposure/open-port"],
  ['checks: { names: { group: "^shop-" } }', "check/name"],
  ["reachability: [{ never: { from: internet, to: group.web } }]", "reachability/violated"],
])("a plan that its file refuses with %s", async (words, code) => {
  const file = readDesired([{ file: "f.yaml", text: opened + words }]);
  if (file.desired === undefined) throw new Error(JSON.stringify(file.diagnostics));
  const emulator = await startEmulator({ timeScale: 0 });
  const cloud = connect({ baseUrl: emulator.url, token: "t" }, makeFolder());
  try {
    const plan = await cloud.plan(file.desired, { state: "s.json" });
    expect(plan.diagnostics).toContainEqual(expect.objectContaining({ code, severity: "error" }));
    expect(await cloud.apply(plan).catch(codeOf)).toBe(code);
    expect(emulator.requests().log.filter(({ method }) => method !== "GET")).toEqual([]);
  } finally {
    await cloud.close();
    await emulator.close();
  }
});

it("a policy that does not judge the plan of a program is told", async () => {
  const file = readDesired([{ file: "f.yaml", text: `${opened}policy: { command: [judge] }` }]);
  if (file.desired === undefined) throw new Error("the file has errors");
  const emulator = await startEmulator({ timeScale: 0 });
  const cloud = connect({ baseUrl: emulator.url, token: "t" }, makeFolder());
  try {
    const plan = await cloud.plan(file.desired, { state: "s.json" });
    expect(plan.diagnostics).toContainEqual(expect.objectContaining({ code: "policy/not-run", severity: "warning" }));
  } finally {
    await cloud.close();
    await emulator.close();
  }
});
