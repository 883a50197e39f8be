/**
 * Workers that die in the middle of applies: another one goes on, nothing is made twice and nothing forgotten. Real
 * processes, a real PostgreSQL, a service over HTTP. FLEET_KILLS sets how many die.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { countCampaign } from "../support/campaign-count";
import { jsonLines, runCli, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { type PostgresServer, postgresMissing, postgresPassword, startPostgres } from "../support/postgres-server";
import { readDump, shapeOf } from "../support/world-shape";

const kills = Number(process.env["FLEET_KILLS"] ?? 2);

const yaml = (url: string, stack: string, generation: number): string => `version: 1
project: acme
region: in-west-1
service: { base_url: "${url}", timing: { poll_interval: 50ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms:
  web: { for_each: [a, b], name: "${stack}-${generation}-\${each}" }
volumes:
  data: { name: ${stack}-data, size: 5 }
groups:
  web: { name: ${stack}, rules: [ { protocol: tcp, dst_port: ${1000 + generation}, remote_ip: 198.51.100.0/24 } ] }
`;

describe.skipIf(postgresMissing !== undefined)("a worker that dies in mid-apply", () => {
  let server: PostgresServer;
  let emulator: RunningEmulator;
  let cwd: string;
  let env: Record<string, string>;
  const workers = new Set<ReturnType<typeof startCli>>();

  beforeAll(async () => {
    server = await startPostgres();
    emulator = await startEmulator({ timeScale: 20 });
    cwd = makeFolder();
    const { username, host, pathname } = new URL(server.url);
    const database = `postgres://${username}@${host}${pathname}`;
    env = { PGPASSWORD: postgresPassword, RECONCILE_FLEET_DATABASE: database, RECONCILE_TOKEN: "ops-token" };
    const stacks = ["one", "two", "three"];
    writeFileSync(
      join(cwd, "fleet.yaml"),
      `version: 1\ndefaults: { interval: 1h, state: "${database}?state=\${stack}", retry: { first: 1s, max: 1s } }\nstacks:\n${stacks.map((name) => `  ${name}: { source: { folder: ./${name} } }`).join("\n")}\n`,
    );
    for (const name of stacks) write(name, 0);
    await runCli(["fleet", "sync", "fleet.yaml", "-y"], { cwd, env });
  });
  afterAll(async () => {
    for (const { child } of workers) child.kill("SIGTERM");
    await Promise.all([...workers].map(({ finished }) => finished));
    await emulator.close();
    await server.stop();
  });

  function write(stack: string, generation: number): void {
    mkdirSync(join(cwd, stack), { recursive: true });
    writeFileSync(join(cwd, stack, "reconcile.yaml"), yaml(emulator.url, stack, generation));
  }
  function start(): ReturnType<typeof startCli> {
    const worker = startCli(
      ["fleet", "work", "--listen", "none", "--concurrency", "3", "--cache", join(cwd, "cache")],
      { cwd, env },
    );
    workers.add(worker);
    return worker;
  }
  const stacks = async () =>
    jsonLines((await runCli(["fleet", "list", "--json"], { cwd, env })).stdout).filter(({ type }) => type === "stack");
  const untilReady = (generation: number) =>
    eventually(`all stacks ready at ${generation}`, async () => {
      const all = await stacks();
      const names = readDump(emulator.dump()).vm.map(({ name }) => name);
      const is =
        all.every(({ ready }) => ready === true) &&
        names.filter((name) => name.includes(`-${generation}-`)).length === 6;
      return is ? all : undefined;
    });

  test("is taken over from, and the world is as wished", { timeout: 0 }, async () => {
    let victim = start();
    start();
    await untilReady(0);
    for (let generation = 1; generation <= kills; generation++) {
      for (const name of ["one", "two", "three"]) write(name, generation);
      const before = emulator.requests().log.length;
      for (const name of ["one", "two", "three"]) await runCli(["fleet", "run", name], { cwd, env });
      // Somewhere in the middle: after so many changing requests as there were kills before.
      await eventually("the applies have begun", () =>
        emulator
          .requests()
          .log.slice(before)
          .filter(({ method }) => method !== "GET").length >= generation
          ? true
          : undefined,
      );
      victim.child.kill("SIGKILL");
      workers.delete(victim);
      await victim.finished;
      victim = start();
      await untilReady(generation);
      const shape = shapeOf(readDump(emulator.dump()));
      expect(shape.vms).toHaveLength(6);
      expect(shape.groups).toHaveLength(3);
      // Renamed and changed in place: the volumes of before are the volumes of now, and each VM has its own.
      expect(shape.volumes).toHaveLength(9);
    }
    countCampaign("fleet kills", kills, 0);
    const { stdout } = await runCli(["fleet", "history", "--json"], { cwd, env });
    expect(stdout).not.toContain(postgresPassword);
    expect(stdout).not.toContain("ops-token");
  });
});
