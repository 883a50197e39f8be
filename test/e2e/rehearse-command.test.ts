import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { commandsIn, wordsOf } from "../support/ci-runner";
import { jsonLines, runCli, startCli } from "../support/cli-process";
import { makeFolder, writeFiles } from "../support/folder";

const emulators: RunningEmulator[] = [];
afterEach(async () => {
  for (const emulator of emulators.splice(0)) await emulator.close();
});

const yaml = (url: string, flavor: string) => `version: 1
project: acme
region: in-west-1
service: { base_url: "${url}", timing: { poll_interval: 20ms } }
vms:
  web:
    owner: ops@acme.example
    user_id: "1042"
    image_id: ubuntu-24.04
    flavor_id: ${flavor}
    size: 10
groups:
  web: { rules: [ { protocol: tcp, dst_port: 443 } ] }
`;

async function setUp(options: Parameters<typeof startEmulator>[0] = {}) {
  const emulator = await startEmulator({ timeScale: 0, ...options });
  emulators.push(emulator);
  const cwd = makeFolder({ "reconcile.yaml": yaml(emulator.url, "m1.small") });
  const env = { RECONCILE_TOKEN: "ops-token" };
  return { emulator, cwd, run: (...args: string[]) => runCli(args, { cwd, env }) };
}

it("rehearses with reads only, writes no file, and exits 0 because it converges", async () => {
  const { emulator, cwd, run } = await setUp();
  const result = await run("rehearse", "--json");
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  const [rehearsal, summary] = jsonLines(result.stdout);
  expect(rehearsal).toMatchObject({ type: "rehearsal", verdict: "converged", refusals: [], remaining: [] });
  expect(rehearsal!["timeline"].map((step: { operation: string }) => step.operation).sort()).toEqual([
    "group.create",
    "vm.create",
  ]);
  expect(summary).toMatchObject({ type: "summary", command: "rehearse", exit_code: 0 });
  expect(emulator.requests().log.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(existsSync(join(cwd, "reconcile.state.json"))).toBe(false);
});

it("exits 4 when the real run would wait for somebody, and 1 when there is no plan", async () => {
  const { cwd, run, emulator } = await setUp({
    contractOnly: true,
    with: ["vm.list", "flavor.list", "image.list", "region.list"],
  });
  writeFiles(cwd, {
    "dialect.yaml": "operations: { vm.resize.confirm: null, vm.resize.revert: null, volume.delete: null }\n",
  });
  expect((await run("apply", "-y", "--dialect", "dialect.yaml")).exitCode).toBe(0);
  writeFiles(cwd, { "reconcile.yaml": yaml(emulator.url, "m1.large") });
  const waits = await run("rehearse", "--dialect", "dialect.yaml");
  expect(waits.stdout).toMatch(/Waits for somebody\n {2}vm\.web: /);
  expect(waits.exitCode).toBe(4);
  writeFiles(cwd, { "reconcile.yaml": yaml(emulator.url, "m1.missing") });
  expect((await run("rehearse", "--dialect", "dialect.yaml")).exitCode).toBe(1);
});

it("prints the seed of every trial; a file after a bare --chaos is a file", async () => {
  const { run } = await setUp();
  const seeded = await run("rehearse", "--chaos", "3", "--seed", "40");
  expect(seeded.stdout.match(/seed \d+:/g)).toEqual(["seed 40:", "seed 41:", "seed 42:"]);
  expect(seeded.exitCode).toBe(0);
  const bare = await run("rehearse", "--seed", "40", "--chaos", "reconcile.yaml", "--json");
  expect(jsonLines(bare.stdout).filter(({ type }) => type === "trial")).toHaveLength(25);
  expect(bare.exitCode).toBe(0);
});

it("that is stopped among its trials has not held", async () => {
  const { cwd } = await setUp();
  const command = startCli(["rehearse", "--chaos", "100000", "--json"], { cwd, env: { RECONCILE_TOKEN: "ops-token" } });
  await command.says("a trial", ({ stdout }) => /"type":"trial"/.exec(stdout));
  command.child.kill("SIGINT");
  const { exitCode, stdout } = await command.finished;
  expect(exitCode).toBe(1);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ ok: false, diagnostics: [{ code: "apply/interrupted" }] });
});

it("does as docs/exposure.md says", async () => {
  const { run } = await setUp();
  const commands = commandsIn("docs/exposure.md").filter((line) => line.startsWith("reconcile rehearse"));
  expect(commands.length).toBeGreaterThan(1);
  for (const command of commands)
    expect([command, (await run(...wordsOf(command).slice(1))).exitCode]).toEqual([command, 0]);
});
