/** Ctrl-C where a run waits: at a question, while the plan is made, in a health check. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { cliPath, type Ran, runCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { postgresMissing, startPostgres } from "../support/postgres-server";
import { readDump } from "../support/world-shape";

describe("Ctrl-C", () => {
  let folder: string;
  let emulator: RunningEmulator;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "reconcile-stopping-"));
    emulator = await startEmulator({ timeScale: 0 });
  });
  afterEach(async () => {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const environment = (): Record<string, string> => ({
    RECONCILE_TOKEN: "ops-token",
    RECONCILE_BASE_URL: emulator.url,
  });
  const declare = (vm: object): void =>
    writeFileSync(
      join(folder, "reconcile.yaml"),
      JSON.stringify({
        ...{ version: 1, project: "acme", region: "in-west-1", vms: { web: vm } },
        service: { timing: { poll_interval: "5ms", discovery_window: "50ms" } },
        defaults: {
          vm: { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: "m1.small", size: 10 },
        },
      }),
    );
  const reconcile = (...args: string[]): Promise<Ran> => runCli(args, { cwd: folder, env: environment() });
  const control = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${emulator.url}/_control${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return answer.json();
  };

  /** An apply that is interrupted so often, once `isReady`. */
  const interrupt = (times: number, isReady: () => Promise<boolean>, ...flags: readonly string[]) =>
    signalled(Array<NodeJS.Signals>(times).fill("SIGINT"), isReady, flags);
  const signalled = (
    signals: readonly NodeJS.Signals[],
    isReady: () => Promise<boolean>,
    flags: readonly string[],
    andThen: () => void = () => undefined,
    { words = ["apply", "-y"], cwd = folder } = {},
  ) =>
    new Promise<Ran>((done) => {
      const child = spawn(process.execPath, [cliPath, ...words, ...flags], {
        cwd,
        env: { PATH: process.env["PATH"], ...environment() },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [stdout, stderr, isOver] = ["", "", false];
      child.stdout.on("data", (piece) => (stdout += piece));
      child.stderr.on("data", (piece) => (stderr += piece));
      child.on("close", (code) => {
        isOver = true;
        done({ exitCode: code ?? -1, stdout, stderr });
      });
      void (async () => {
        await eventually("the moment to interrupt", async () => (await isReady()) || undefined);
        for (const signal of signals) {
          const before = stderr;
          child.kill(signal);
          // One that is told is waited for: two that come at once are one for a process that is busy.
          if (signal === "SIGINT")
            await eventually("a word on the signal", () => stderr !== before || isOver || undefined);
          else await new Promise((tick) => setTimeout(tick, 100));
        }
        andThen();
      })();
    });

  it("while the plan is made ends it at once, and nothing is sent or written", async () => {
    declare({});
    await control("POST", "/faults", { operation: "vm.list", kind: "latency", ms: 60_000 });
    const isAsked = async () =>
      ((await control("GET", "/faults")) as { data: { hit: number }[] }).data.some(({ hit }) => hit > 0);
    const ran = await interrupt(1, isAsked);
    expect([ran.exitCode, ran.stdout]).toEqual([1, ""]);
    expect(ran.stderr).toContain("stopped before anything was sent");
    expect(readDump(await control("GET", "/world")).vm).toEqual([]);
  });

  it("while a command only looks ends it, and nothing is sent: whichever it is", async () => {
    declare({});
    await reconcile("apply", "-y");
    writeFileSync(join(folder, "listing.json"), '{"SecurityGroups":[{"GroupName":"web-front","Description":"web"}]}');
    const commands = [
      ["vm", "stop", "vm.web"],
      ["import", "vm.web", "00000000-0000-4000-8000-000000000001"],
      ["orphans", "delete", "--all"],
      ["group", "import", "listing.json"],
      ["apply", "-f", "looks-up.yaml", "-f", "reconcile.yaml"],
    ];
    writeFileSync(join(folder, "looks-up.yaml"), "version: 1\nlookups: { other: { vm: { name: other } } }\n");
    await control("POST", "/faults", { operation: "vm.list", kind: "latency", ms: 60_000 });
    const asked = async () =>
      ((await control("GET", "/faults")) as { data: { hit: number }[] }).data.reduce((sum, { hit }) => sum + hit, 0);
    const areAsked = async () => (await asked()) >= commands.length;
    const ran = await Promise.all(
      commands.map((words, at) => {
        // Each has the state to itself.
        const cwd = join(folder, String(at));
        for (const file of readdirSync(folder, { withFileTypes: true }))
          if (file.isFile()) cpSync(join(folder, file.name), join(cwd, file.name));
        return signalled(["SIGINT"], areAsked, ["--new-state"], undefined, { words, cwd });
      }),
    );
    for (const [at, { exitCode, stderr }] of ran.entries())
      expect([exitCode, stderr], commands[at]?.join(" ")).toEqual([
        1,
        expect.stringContaining("stopped before anything was sent"),
      ]);
    expect(readDump(await control("GET", "/world")).group.map(({ name }) => name)).not.toContain("web-front");
  });

  it("while a dialect is proven says that it is not", async () => {
    const words = ["dialect", "prove", "openstack-like", "--part", "kills", "--json"];
    const child = spawn(process.execPath, [cliPath, ...words], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
    let stdout = "";
    child.stdout.on("data", (piece) => {
      if (stdout === "") child.kill("SIGINT");
      stdout += piece;
    });
    const [exitCode] = await once(child, "close");
    expect([exitCode, JSON.parse(stdout.trim().split("\n").at(-1) ?? "")]).toEqual([
      1,
      expect.objectContaining({
        ok: false,
        diagnostics: [expect.objectContaining({ summary: "stopped before the proof was over" })],
      }),
    ]);
  });

  it("three times leaves without the answer to what was sent, and says so in a summary", async () => {
    declare({});
    await control("POST", "/faults", { operation: "vm.create", kind: "latency", ms: 60_000 });
    const isSent = async () =>
      ((await control("GET", "/faults")) as { data: { hit: number }[] }).data.some(({ hit }) => hit > 0);
    const ran = await interrupt(3, isSent, "--json");
    const last = JSON.parse(ran.stdout.trim().split("\n").at(-1)!) as unknown;
    expect([ran.exitCode, last]).toMatchObject([
      1,
      { type: "summary", ok: false, exit_code: 1, diagnostics: [{ code: "apply/interrupted" }] },
    ]);
  });

  it("a terminal that is closed, however often it is told, lets what is in flight be finished", async () => {
    declare({});
    await reconcile("apply", "-y");
    const check = ["sh", "-c", "touch checked; until [ -e told ]; do sleep 0.05; done"];
    declare({ flavor_id: "m1.large", lifecycle: { verify_resize: { check: { command: check }, timeout: "60s" } } });
    const isChecked = async () => existsSync(join(folder, "checked"));
    const ran = await signalled(["SIGHUP", "SIGHUP", "SIGHUP"], isChecked, ["--json"], () =>
      writeFileSync(join(folder, "told"), ""),
    );
    const last = JSON.parse(ran.stdout.trim().split("\n").at(-1)!) as unknown;
    expect([ran.exitCode, last]).toMatchObject([1, { type: "summary", steps: { done: 2, failed: 0 } }]);
  });

  it("twice in a health check does not say that the check had its time, and the next run goes on", async () => {
    declare({});
    await reconcile("apply", "-y");
    const resized = (check: string) =>
      declare({
        flavor_id: "m1.large",
        lifecycle: { verify_resize: { check: { command: ["sh", "-c", check] }, timeout: "60s" } },
      });
    resized("touch checked; false");
    const isChecked = async () => existsSync(join(folder, "checked"));
    const ran = await interrupt(2, isChecked);
    expect(ran.exitCode).toBe(1);
    expect(ran.stdout).toContain("neither confirmed nor reverted");
    expect(ran.stdout).not.toContain("did not pass");
    resized("true");
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it.skipIf(postgresMissing !== undefined)(
    "does not wait for VMs that are being built when the state is silent",
    async () => {
      const server = await startPostgres();
      const between = await silentProxy(new URL(server.url));
      await emulator.close();
      emulator = await startEmulator({ timeScale: 0.2 });
      try {
        declare({});
        const child = spawn(process.execPath, [cliPath, "apply", "-y", "--state", between.url], {
          cwd: folder,
          env: { PATH: process.env["PATH"], ...environment() },
          stdio: "ignore",
        });
        const ended = new Promise((done) => child.once("close", done));
        await eventually("a VM that is being built", async () => emulator.dump().vms[0]);
        between.fallSilent();
        child.kill("SIGINT");
        await ended;
        expect(emulator.dump().vms[0]?.status).toBe("BUILD");
      } finally {
        await between.close();
        await server.stop();
      }
    },
  );
});

/** Stands before a database and says nothing more once it is told to. */
async function silentProxy(target: URL) {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.on("data", (piece) => void (isSilent || to.write(piece)));
      from.on("error", () => undefined);
      from.on("close", () => to.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    fallSilent() {
      isSilent = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}
