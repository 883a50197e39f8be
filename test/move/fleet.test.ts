/** A move between projects that a fleet runs: their states, their pause, and the fleet's file. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { createRecords } from "../../reconciler/fleet/database/records";
import { newStatus } from "../../reconciler/fleet/status";
import { openStateStore } from "../../reconciler/store/open";
import { jsonLines, runCli } from "../support/cli-process";
import { beginRun, recordsOn } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";
import { stateIn } from "./moving-states";

let emulator: RunningEmulator;
beforeAll(async () => {
  emulator = await startEmulator({ timeScale: 0 });
});
afterAll(() => emulator.close());

const shop = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms } }
groups:
  web-in: { rules: [{ protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 }] }
  db-in: { rules: [{ protocol: tcp, dst_port: 5432, remote_group: web-in }] }
`;
const fleet = `version: 1
defaults: { state: "./states/\${stack}.json" }   # beside this file
stacks:
  # the shop, in production
  prod-shop:
    source: { folder: ./shop }
    approve: auto
    interval: 10m
  other: { source: { folder: ./other } }
`;

it("uses the states of the fleet's file, pauses the stacks first, adds a stack, and goes back byte for byte", async () => {
  const folder = makeFolder({
    "shop/reconcile.yaml": shop,
    "fleet.yaml": fleet,
    "states/.keep": "",
    "other/reconcile.yaml": shop,
    ".git/x": "",
  });
  const states = ["prod-shop", "prod-database"].map((name) => join(folder, "states", `${name}.json`));
  const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url };
  const fleets = { ...env, RECONCILE_FLEET_DATABASE: "embedded" };
  const run = (project: string, args: readonly string[], more: Record<string, string> = fleets) =>
    runCli(args, { cwd: join(folder, project), env: more });
  const done = async (...[project, args, more]: Parameters<typeof run>) => {
    const ran = await run(project, args, more);
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    return ran;
  };
  const resourcesIn = async (location: string) =>
    [...(await stateIn(openStateStore(location, { environment: {} }))).resources.keys()].sort();
  const pausedIn = async () =>
    jsonLines((await done("shop", ["fleet", "list", "--json"])).stdout)
      .flatMap(({ stack, paused }) => (paused === true ? [stack] : []))
      .sort();

  await done("shop", ["apply", "-y", "--state", states[0] ?? ""]);
  await done("shop", ["fleet", "sync", "../fleet.yaml", "--auto-approve"]);
  const move = ["move", "group.db-in", "--to", "../database", "--yes"];
  const sent = emulator.requests().log.length;

  const refused = await run("shop", move, env);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr + refused.stdout).toContain("a fleet runs these projects (prod-shop)");
  expect(existsSync(join(folder, "database/reconcile.yaml"))).toBe(false);
  expect(await pausedIn()).toEqual([]);

  // A round that began before the pause has read the files of before.
  const database = await openDatabase("embedded", join(folder, "shop"));
  const { records } = await recordsOn(database);
  const { id } = await beginRun(records, { stack: "prod-shop", worker: "w:1" });
  await database.close();
  const busy = await run("shop", move);
  expect([busy.exitCode, busy.stderr]).toEqual([1, expect.stringContaining("a run of prod-shop is under way")]);
  expect(busy.stdout).toContain("the one that is under way goes on to its end");
  expect(existsSync(join(folder, "database/reconcile.yaml"))).toBe(false);
  const again = await openDatabase("embedded", join(folder, "shop"));
  const end = { result: "in_sync", reason: null, counts: {} } as const;
  await createRecords(again).finishRun(id, end, newStatus, null);
  await again.close();

  const moved = await done("shop", move);
  expect(moved.stdout).toContain("reconcile fleet sync, reconcile fleet resume prod-shop");
  expect(await pausedIn()).toEqual(["prod-shop"]);
  expect(await resourcesIn(states[0] ?? "")).toEqual(["group.web-in"]);
  expect(await resourcesIn(states[1] ?? "")).toEqual(["group.db-in"]);
  expect(readFileSync(join(folder, "database/reconcile.yaml"), "utf8")).not.toContain("\nstate:");
  const text = readFileSync(join(folder, "fleet.yaml"), "utf8");
  expect(text.replace(/\n {2}prod-database:(\n {4}.*|.*)+/, "")).toBe(fleet);
  expect(text).toMatch(/prod-database:[\s\S]*folder: database[\s\S]*approve: auto/);
  await done("shop", ["fleet", "sync", "../fleet.yaml", "--auto-approve"]);
  for (const [index, project] of ["shop", "database"].entries())
    await done(project, ["plan", "--detailed-exitcode", "--no-refresh", "--state", states[index] ?? ""]);

  await done("shop", ["move", "group.db-in", "-f", "../database/reconcile.yaml", "--to", ".", "--yes"]);
  expect(readFileSync(join(folder, "fleet.yaml"), "utf8")).toBe(fleet);
  expect(readFileSync(join(folder, "shop/reconcile.yaml"), "utf8")).toBe(shop);
  expect(await resourcesIn(states[0] ?? "")).toEqual(["group.db-in", "group.web-in"]);
  expect(emulator.requests().log.length).toBe(sent);
});
