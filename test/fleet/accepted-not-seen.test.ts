/** A service that says yes and does nothing: the round of a stack is not Ready, and says what does not show. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import { noSettings } from "../../reconciler/fleet/model";
import { type RoundOutcome, runRound } from "../../reconciler/fleet/round";
import { checkOut } from "../../reconciler/fleet/sources/source";
import { afterRound, newStatus, type Status } from "../../reconciler/fleet/status";
import { stackSpec } from "../support/fleet-stage";
import { makeFolder, writeFiles } from "../support/folder";
import { json, type MeddlingProxy, startMeddlingProxy } from "../support/own-place";

let emulator: RunningEmulator;
let proxy: MeddlingProxy;
beforeAll(async () => {
  emulator = await startEmulator({ timeScale: 0 });
  proxy = await startMeddlingProxy(emulator.url);
  vi.stubEnv("ROUND_TOKEN", "t0ken");
});
afterAll(async () => {
  await proxy.close();
  await emulator.close();
});

const head = `version: 1
project: acme
service: { timing: { poll_interval: 5ms, discovery_window: 100ms } }
`;
const fileWith = (...ports: number[]): Record<string, string> => fileOf("shop-web", ...ports);
const fileOf = (name: string, ...ports: number[]): Record<string, string> => ({
  "reconcile.yaml": `${head}groups:
  web: { name: ${name}, rules: [ ${ports.map((port) => `{ protocol: tcp, dst_port: ${port}, remote_ip: 198.51.100.0/24 }`).join(", ")} ] }
`,
});

const never = new AbortController().signal;

/** Rounds of a stack, each on a worker of its own, over the files of a folder. */
function roundsOf(folder: string, state: string) {
  const spec = stackSpec("shop", {
    ...{ source: { kind: "folder", folder }, state },
    ...{ approve: "auto", consents: [] },
  });
  const services = [{ name: "in-west", baseUrl: proxy.url, insecureHttp: false, credential: { env: "ROUND_TOKEN" } }];
  return (status: Status = newStatus): Promise<RoundOutcome> => {
    const cache = makeFolder();
    return runRound(
      {
        stack: {
          ...{ name: "shop", spec, status, paused: false, jitter: 0, outputs: {}, outputsUsed: {} },
          ...{ files: [], leaving: false },
        },
        ...{ settings: { ...noSettings, services }, resumed: false, signal: never, drain: never },
      },
      {
        openProject: createProjectOpener({ cache }),
        checkOut: (stack, signal) => checkOut(stack.spec.source, cache, { signal, now: true }),
        budgetOf: () => undefined,
        outputsOf: async () => undefined,
        dependentsOf: async () => [],
        approvedBefore: async () => undefined,
        begins: async () => true,
        windows: async () => [],
        statesWith: async () => [],
        siblingsOf: async () => [],
        emit: () => undefined,
        now: () => new Date(),
        worker: "w:1",
      },
    );
  };
}

test("a rule that was accepted and does not show keeps the stack from being ready, until it shows", async () => {
  const folder = makeFolder(fileWith(443));
  const round = roundsOf(folder, join(makeFolder(), "state.json"));
  expect((await round()).result).toEqual({ end: "applied" });
  writeFiles(folder, fileWith(443, 22));
  proxy.meddle(({ method, path }, forward) =>
    method === "POST" && path.endsWith("/rule")
      ? Promise.resolve(json({ data: { id: "57a17000-0000-4000-8000-000000000004", direction: "ingress" } }))
      : forward(),
  );
  expect((await round()).result).toMatchObject({
    end: "failed",
    why: expect.stringContaining("does not show it (rule: ingress tcp 22 from 198.51.100.0/24)"),
  });
  proxy.meddle((_, forward) => forward());
  expect((await round()).result).toEqual({ end: "applied" });
  expect((await round()).result).toEqual({ end: "in_sync" });
});

test("a group that may not be looked at is told, though the stack has nothing to do", async () => {
  const round = roundsOf(makeFolder(fileOf("unseen", 443)), join(makeFolder(), "state.json"));
  expect((await round()).result).toEqual({ end: "applied" });
  proxy.meddle(({ path }, forward) =>
    path.endsWith("/rule")
      ? Promise.resolve(json({ error: { code: 403, message: "not a member of this project" } }, 403))
      : forward(),
  );
  const { result } = await round();
  proxy.meddle((_, forward) => forward());
  expect(result).toMatchObject({ end: "in_sync", note: expect.stringContaining("may not be looked at") });
  expect((await round()).result).toEqual({ end: "in_sync" });
});

test("what the run before has deleted has not drifted, where its look failed", async () => {
  const folder = makeFolder(fileOf("deleted", 443));
  const round = roundsOf(folder, join(makeFolder(), "state.json"));
  expect((await round()).result).toEqual({ end: "applied" });
  writeFiles(folder, { "reconcile.yaml": `${head}volumes: { kept: { size: 1 } }\n` });
  let isDeleted = false;
  proxy.meddle(({ method }, forward) => {
    const isLook = isDeleted && method === "GET";
    isDeleted ||= method === "DELETE";
    return isLook ? Promise.resolve(json({ message: "no route" }, 404)) : forward();
  });
  const failed = await round();
  proxy.meddle((_, forward) => forward());
  expect(failed.result).toMatchObject({ end: "failed", why: expect.stringContaining("accepted the delete of group") });
  expect(await round()).toMatchObject({ result: { end: "applied" }, drifted: 0 });
});

test.each([
  ["nothing", "answers that there is none", () => undefined],
  ["an older state", "answers with an older state", (older: string) => older],
])("a state's store that answers with %s is not believed, whichever worker saw more", async (_, why, less) => {
  const volumes = (...names: string[]): Record<string, string> => ({
    "reconcile.yaml": `version: 1\nproject: acme\nvolumes: { ${names.map((name) => `${name}: { size: 1 }`).join(", ")} }\n`,
  });
  const before = emulator.dump().volumes.length;
  const folder = makeFolder(volumes("one"));
  const state = join(makeFolder(), "state.json");
  const round = roundsOf(folder, state);
  let status: Status = newStatus;
  const next = async (): Promise<RoundOutcome> => {
    const outcome = await round(status);
    status = afterRound(status, { ...outcome, giveUpAfter: 8 });
    return outcome;
  };
  expect((await next()).result).toEqual({ end: "applied" });
  const older = readFileSync(state, "utf8");
  writeFiles(folder, volumes("one", "two"));
  expect((await next()).result).toEqual({ end: "applied" });
  const whole = readFileSync(state, "utf8");
  const answered = less(older);
  rmSync(state);
  if (answered !== undefined) writeFileSync(state, answered);
  for (let look = 0; look < 2; look++) {
    const { result } = await next();
    expect(result).toMatchObject({ end: "failed", why: expect.stringContaining(why) });
    expect(result).toMatchObject({ why: expect.stringContaining("reconcile fleet resume shop") });
  }
  expect(emulator.dump().volumes.length).toBe(before + 2);
  writeFileSync(state, whole);
  expect((await next()).result).toEqual({ end: "in_sync" });
  expect(status.stateSeen?.isLess).toBeUndefined();
});

test("a state that is given another place is brought there, and not begun anew", async () => {
  const folder = makeFolder({ "reconcile.yaml": "version: 1\nproject: acme\nvolumes: { moved: { size: 1 } }\n" });
  const [state, elsewhere] = [join(makeFolder(), "state.json"), join(makeFolder(), "state.json")];
  let status: Status = newStatus;
  const next = async (round: ReturnType<typeof roundsOf>): Promise<RoundOutcome["result"]> => {
    const outcome = await round(status);
    status = afterRound(status, { ...outcome, giveUpAfter: 8 });
    return outcome.result;
  };
  expect(await next(roundsOf(folder, state))).toEqual({ end: "applied" });
  const made = emulator.dump().volumes.length;
  const moved = roundsOf(folder, elsewhere);
  const way = /gives it another place, to which reconcile state pull and push bring it; .*reconcile fleet resume shop/;
  for (let look = 0; look < 2; look++)
    expect(await next(moved)).toMatchObject({ end: "failed", why: expect.stringMatching(way) });
  expect(emulator.dump().volumes.length).toBe(made);
  copyFileSync(state, elsewhere);
  expect(await next(moved)).toEqual({ end: "in_sync" });
});
