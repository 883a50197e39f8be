/** A disk that is full, for the output or for the state: what was done is done, recorded as far as it can be, and told. */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { cliPath, jsonLines, type Ran, runCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { readDump } from "../support/world-shape";

let folder: string;
let emulator: RunningEmulator;
const hook = { NODE_OPTIONS: `--require ${resolve(__dirname, "full-disk.cjs")}` };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "reconcile-full-"));
  emulator = await startEmulator({ timeScale: 0 });
  writeFileSync(
    join(folder, "reconcile.yaml"),
    JSON.stringify({
      ...{ version: 1, project: "acme", region: "in-west-1", volumes: { data: { size: 5 } } },
      service: { timing: { poll_interval: "5ms", discovery_window: "50ms" } },
    }),
  );
});
afterEach(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

const environment = (): Record<string, string> => ({ RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url });
const reconcile = (args: readonly string[], env = {}): Promise<Ran> =>
  runCli(args, { cwd: folder, env: { ...environment(), ...env } });
const state = () => JSON.parse(readFileSync(join(folder, "reconcile.state.json"), "utf8"));
const volumes = async () => readDump(await (await fetch(`${emulator.url}/_control/world`)).json()).volume;

/** Standard output is a file here, as with `> log`. */
const intoFile = (args: readonly string[], env: Record<string, string>) =>
  new Promise<{ exitCode: number | null; stderr: string }>((done) => {
    const file = openSync(join(folder, "log"), "w");
    const child = spawn(process.execPath, [cliPath, ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], ...environment(), ...env },
      stdio: ["ignore", file, "pipe"],
    });
    let stderr = "";
    child.stderr!.on("data", (piece) => (stderr += piece));
    child.on("close", (exitCode) => {
      closeSync(file);
      done({ exitCode, stderr });
    });
  });

describe("no room for the output", () => {
  it.each([
    ["for people", []],
    ["as JSON", ["--json"]],
  ])("%s: an apply goes on to its end, says so in one line and exits with 1", async (_, flags) => {
    const ran = await intoFile(["apply", "-y", ...flags], { ...hook, FULL_OUTPUT: "1" });
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("error[cli/output-lost]: standard output could not be written: ENOSPC");
    expect(ran.stderr).not.toMatch(/^\s+at /m);
    expect((await volumes()).map(({ id }) => id)).toEqual([state().resources["volume.data"].id]);
    expect((await reconcile(["plan", "--detailed-exitcode"])).exitCode).toBe(0);
  });

  it("--json-into a file that takes no more: the apply goes on to its end, and says so", async () => {
    const ran = await reconcile(["apply", "-y", "--json-into", "/dev/full"]);
    expect([ran.exitCode, ran.stderr]).toEqual([
      1,
      expect.stringContaining("--json-into /dev/full could not be written"),
    ]);
    expect(ran.stdout).toContain("Done: the service matches the file");
  });

  it("--json-into a file that takes no more, beside --json: the summary says so and has the exit code of the end", async () => {
    const ran = await reconcile(["apply", "-y", "--json", "--json-into", "/dev/full"]);
    expect([ran.exitCode, jsonLines(ran.stdout).at(-1)]).toMatchObject([
      1,
      { ok: false, exit_code: 1, diagnostics: [{ code: "cli/output-lost" }], steps: { done: 1 } },
    ]);
  });

  it("state pull into a file that takes no more exits with 1", async () => {
    await reconcile(["apply", "-y"]);
    expect((await intoFile(["state", "pull"], { ...hook, FULL_OUTPUT: "1" })).exitCode).toBe(1);
  });
});

describe("no room for the state", () => {
  /** Of a first apply of one volume: the create's intent, its outcome, and what closes the run. */
  const [outcome, closing] = [13, 15];

  it("at the outcome of a create: the id is told with the command that gives it back, and that converges", async () => {
    const ran = await reconcile(["apply", "-y"], { ...hook, FULL_FROM: String(outcome) });
    const volume = (await volumes())[0]!;
    expect(ran.exitCode).toBe(1);
    expect(ran.stdout).toContain(`reconcile import volume.data ${volume.id}`);
    expect(ran.stdout.replace(/\s+/g, " ")).toContain(
      "give it the ids that it lacks (reconcile import, above), then run it again",
    );
    expect((await reconcile(["import", "volume.data", volume.id])).exitCode).toBe(0);
    expect((await reconcile(["plan", "--detailed-exitcode"])).exitCode).toBe(0);
    expect(await volumes()).toHaveLength(1);
  });

  it("at the end of a run: what was done is told, and the next run has nothing to do", async () => {
    const ran = await reconcile(["apply", "-y", "--json"], { ...hook, FULL_FROM: String(closing) });
    const summary = jsonLines(ran.stdout).at(-1) as { exit_code: number; steps: object; diagnostics: object[] };
    expect([ran.exitCode, summary.exit_code, summary.steps]).toEqual([
      1,
      1,
      { done: 1, failed: 0, skipped: 0, waiting: 0 },
    ]);
    expect(summary.diagnostics).toMatchObject([{ severity: "error", code: "state/store-failed" }]);
    expect((await reconcile(["apply", "-y"])).stdout).toContain("Nothing to do");
  });
});

it("a folder that is removed under a run is called gone, and not somebody else's lock", async () => {
  const place = join(folder, "states");
  mkdirSync(place);
  await fetch(`${emulator.url}/_control/faults`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ operation: "volume.create", kind: "latency", ms: 700, when: "after" }),
  });
  const running = reconcile(["apply", "-y", "--state", join(place, "state.json")]);
  await eventually("a volume", async () => (await volumes()).length > 0 || undefined);
  rmSync(place, { recursive: true });
  const ran = await running;
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain("is gone");
  expect(ran.stdout + ran.stderr).not.toContain("somebody else");
});
