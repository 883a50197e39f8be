/** A run that was paused, as a laptop's lid does it, wakes up when another one has done its work on the same state. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { cliPath, runCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { readDump } from "../support/world-shape";

const names = ["one", "two", "three", "four", "five"];

it("what it had not sent when its lock was taken over is never sent, and it says so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reconcile-paused-"));
  const emulator = await startEmulator({ timeScale: 0 });
  const environment = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url };
  const declare = (volumes: readonly string[]): void =>
    writeFileSync(
      join(folder, "reconcile.yaml"),
      JSON.stringify({
        ...{ version: 1, project: "acme", region: "in-west-1", groups: { web: {} } },
        volumes: Object.fromEntries(volumes.map((name) => [name, { name: `${name}-data`, size: 5 }])),
      }),
    );
  const apply = ["apply", "-y", "--allow-data-loss", "--allow-removal", "all"];
  const control = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${emulator.url}/_control${path}`, { method, headers, body: JSON.stringify(body) });
    return answer.json();
  };
  const volumes = async (): Promise<string[]> =>
    readDump(await control("GET", "/world"))
      .volume.map(({ name }) => name)
      .sort();
  let paused: ChildProcess | undefined;
  try {
    declare(names);
    expect((await runCli(apply, { cwd: folder, env: environment })).exitCode).toBe(0);

    declare([]);
    await control("POST", "/faults", { operation: "volume.delete", kind: "latency", ms: 2000, when: "after" });
    const child = spawn(process.execPath, [cliPath, ...apply, "--parallelism", "1"], {
      cwd: folder,
      env: { PATH: process.env["PATH"], ...environment },
      stdio: ["ignore", "pipe", "ignore"],
    });
    paused = child;
    let said = "";
    child.stdout.on("data", (piece) => (said += piece));
    const ended = new Promise<number | null>((done) => child.on("close", done));
    await eventually("a first volume deleted", async () => (await volumes()).length < names.length || undefined);
    child.kill("SIGSTOP");
    await new Promise((tick) => setTimeout(tick, 3000));
    await control("DELETE", "/faults");

    declare(names);
    const longAgo = new Date(Date.now() - 120_000);
    utimesSync(join(folder, "reconcile.state.json.lock"), longAgo, longAgo);
    expect((await runCli(apply, { cwd: folder, env: environment })).exitCode).toBe(0);
    const before = await volumes();
    expect(before).toHaveLength(names.length);

    child.kill("SIGCONT");
    expect(await ended).toBe(1);
    expect(await volumes()).toEqual(before);
    expect(said.replaceAll(/\s+/g, " ")).toContain("was taken over by somebody else");
    expect((await runCli(["plan", "--detailed-exitcode"], { cwd: folder, env: environment })).exitCode).toBe(0);
  } finally {
    paused?.kill("SIGKILL");
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
