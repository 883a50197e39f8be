/** A service that says yes and does nothing: the round of a stack is not Ready, and says what does not show. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import { noSettings } from "../../reconciler/fleet/model";
import { type RoundOutcome, runRound } from "../../reconciler/fleet/round";
import { checkOut } from "../../reconciler/fleet/sources/source";
import { newStatus } from "../../reconciler/fleet/status";
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

const fileWith = (...ports: number[]): Record<string, string> => ({
  "reconcile.yaml": `version: 1
project: acme
service: { timing: { poll_interval: 5ms, discovery_window: 100ms } }
groups:
  web: { name: shop-web, rules: [ ${ports.map((port) => `{ protocol: tcp, dst_port: ${port}, remote_ip: 198.51.100.0/24 }`).join(", ")} ] }
`,
});

test("a rule that was accepted and does not show keeps the stack from being ready, until it shows", async () => {
  const folder = makeFolder(fileWith(443));
  const cache = makeFolder();
  const spec = stackSpec("shop", {
    ...{ source: { kind: "folder", folder }, state: join(makeFolder(), "state.json") },
    ...{ approve: "auto", consents: [] },
  });
  const never = new AbortController().signal;
  const services = [{ name: "in-west", baseUrl: proxy.url, insecureHttp: false, credential: { env: "ROUND_TOKEN" } }];
  const round = (): Promise<RoundOutcome> =>
    runRound(
      {
        stack: {
          ...{ name: "shop", spec, status: newStatus, paused: false, jitter: 0, outputs: {}, outputsUsed: {} },
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
        statesWith: async () => [],
        siblingsOf: async () => [],
        emit: () => undefined,
        now: () => new Date(),
        worker: "w:1",
      },
    );
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
