import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { jsonLines, type Ran, runCli, startCli } from "../support/cli-process";
import { eventually, hurried } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { startMoodyProxy } from "../support/own-place";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";
import { type S3Server, type StateServer, startS3Server, startStateServer } from "../support/state-server";

if (postgresMissing !== undefined) process.stderr.write(`\n*** PostgreSQL NOT tested: ${postgresMissing} ***\n\n`);

const key = Buffer.alloc(32, 9).toString("base64");
const password = "canary-state-pw";

let folder: string;
let emulator: RunningEmulator;
let http: StateServer;
let s3: S3Server;
let postgres: PostgresServer | undefined;

beforeAll(async () => {
  http = await startStateServer({ kind: "gitlab", username: "ci", password });
  s3 = await startS3Server();
  Object.assign(process.env, aws());
  if (postgresMissing === undefined) postgres = await startPostgres();
});
afterAll(async () => {
  await http.stop();
  await s3.stop();
  await postgres?.stop();
});
beforeEach(async () => {
  folder = makeFolder();
  emulator = await startEmulator({ timeScale: 200 });
});
afterEach(() => emulator.close());

/** A create takes a minute, unless it is hurried: long enough for the other run to come along. */
const slowDown = async (): Promise<void> => {
  await emulator.close();
  emulator = await startEmulator({ timeScale: 1 });
};

const aws = (): Record<string, string> => ({
  AWS_ENDPOINT_URL: s3.url,
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "tester",
  AWS_SECRET_ACCESS_KEY: "canary-aws",
});

let states = 0;
const places: Record<string, () => string> = {
  file: () => join(folder, "reconcile.state.json"),
  http: () => `${http.url}/state-${states++}`,
  s3: () => `s3://states/state-${states++}`,
  ...(postgresMissing === undefined ? { postgres: () => `${postgres!.url}?state=state-${states++}` } : {}),
};

const here = (env: Record<string, string> = {}) => ({
  cwd: folder,
  env: {
    RECONCILE_TOKEN: "ops-token",
    RECONCILE_BASE_URL: emulator.url,
    RECONCILE_STATE_USERNAME: "ci",
    RECONCILE_STATE_PASSWORD: password,
    ...aws(),
    ...env,
  },
});
const reconcile = (args: readonly string[], env: Record<string, string> = {}, input?: string): Promise<Ran> =>
  runCli(args, { ...here(env), ...(input === undefined ? {} : { input }) });

const write = (vms: string): void =>
  writeFileSync(
    join(folder, "reconcile.yaml"),
    `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 20ms, discovery_window: 500ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { app: { for_each: ${vms}, name: "app-\${each}" } }
`,
  );
const vmNames = (): string[] =>
  emulator
    .dump()
    .vms.map(({ name }) => name)
    .sort();
const writes = (): number => emulator.requests().log.filter(({ method }) => method !== "GET").length;
const untilWriting = () => eventually("a first write", () => (writes() > 0 ? true : undefined));

describe.each(Object.keys(places))("with the state in %s", (kind) => {
  it("two applies at once: one does it, the other fails with the name of the one that does", async () => {
    await slowDown();
    write("[a, b]");
    const state = places[kind]!();
    const both = [1, 2].map(() => reconcile(["apply", "-y", "--state", state]));
    const loser = await Promise.race(both);
    const [winner] = (await hurried(emulator, Promise.all(both))).filter((ran) => ran !== loser);
    expect([winner?.exitCode, loser.exitCode], `${winner?.stderr}${loser.stderr}`).toEqual([0, 1]);
    // Without leases nothing shows a holder before the lock is tried, so that what it has written may be noticed first.
    const named = /the state is locked by \S+ on \S+ \(pid \d+, reconcile apply\) since 20/;
    expect(loser.stderr).toMatch(kind === "http" ? /is locked by \S+ on|was changed by somebody else/ : named);
    expect(vmNames()).toEqual(["app-a", "app-b"]);
  });

  it("--lock-timeout: the other waits, plans again on what was done, and does only what is left", async () => {
    await slowDown();
    write("[a, b]");
    const state = places[kind]!();
    const first = reconcile(["apply", "-y", "--state", state]);
    await untilWriting();
    write("[a, b, c]");
    const other = startCli(["apply", "-y", "--state", state, "--lock-timeout", "60s"], here());
    await other.says("the other one waiting", ({ stderr }) => /Waiting: the state is locked by/.exec(stderr));
    const [done, second] = await hurried(emulator, Promise.all([first, other.finished]));
    expect([done.exitCode, second.exitCode], second.stderr).toEqual([0, 0]);
    expect(vmNames()).toEqual(["app-a", "app-b", "app-c"]);
    expect((await reconcile(["plan", "--detailed-exitcode", "--state", state])).exitCode).toBe(0);
  });

  it("plan and state pull beside a running apply read one moment's state, and change nothing", async () => {
    await slowDown();
    write("[a, b]");
    const state = places[kind]!();
    const apply = reconcile(["apply", "-y", "--state", state]);
    await untilWriting();
    const [plan, pull] = await Promise.all([
      reconcile(["plan", "--state", state]),
      reconcile(["state", "pull", "--state", state]),
    ]);
    expect([plan.exitCode, pull.exitCode], plan.stderr).toEqual([0, 0]);
    expect((JSON.parse(pull.stdout) as { format: string }).format).toBe("reconcile-cloud/state");
    expect((await hurried(emulator, apply)).exitCode).toBe(0);
    expect(vmNames()).toEqual(["app-a", "app-b"]);
  });

  it("moves here from a file with pull and push, encrypted on the way in, and goes on as if nothing had been", async () => {
    write("[a]");
    expect((await reconcile(["apply", "-y"])).exitCode).toBe(0);
    const pulled = await reconcile(["state", "pull"]);
    const state = kind === "file" ? join(folder, "moved.json") : places[kind]!();
    const env = { RECONCILE_STATE_KEY: key, RECONCILE_STATE_ENCRYPTION: "required" };
    const pushed = await reconcile(["state", "push", "-", "--state", state], env, pulled.stdout);
    expect(pushed.exitCode, pushed.stderr).toBe(0);
    expect((await reconcile(["plan", "--detailed-exitcode", "--state", state], env)).exitCode).toBe(0);
    expect((await reconcile(["plan", "--state", state])).stderr).toMatch(/is encrypted: set RECONCILE_STATE_KEY/);
    write("[a, b]");
    expect((await reconcile(["apply", "-y", "--state", state], env)).exitCode).toBe(0);
    expect(vmNames()).toEqual(["app-a", "app-b"]);
    const older = await reconcile(["state", "push", "-", "--state", state], env, pulled.stdout);
    expect([older.exitCode, older.stderr]).toEqual([1, expect.stringMatching(/is older/)]);
    for (const ran of [pushed, older])
      for (const secret of [password, key, "canary"]) expect(ran.stderr + ran.stdout).not.toContain(secret);
  });

  it("state unlock takes a living holder's lock only when it is told to, and that one writes nothing more", async () => {
    write("[a]");
    const state = places[kind]!();
    // The built code: it loads each kind of store when it is used.
    const { openStateStore } =
      require("../../dist/reconciler/store/open") as typeof import("../../reconciler/store/open");
    const environment = { RECONCILE_STATE_USERNAME: "ci", RECONCILE_STATE_PASSWORD: password };
    const session = await openStateStore(state, { environment }).lock({
      who: "ada",
      host: hostname(),
      pid: process.pid,
      since: new Date().toISOString(),
      command: "reconcile apply",
    });
    // Without leases only --force takes a lock, and the first message says so.
    const locked = await reconcile(["apply", "-y", "--state", state]);
    expect(locked.stderr).toContain(
      `that process is gone: reconcile state unlock --state ${kind === "postgres" ? `'${state.replace(/[^/]*@/, "")}'` : state}${kind === "http" ? " --force" : ""}\n`,
    );
    const refused = await reconcile(["state", "unlock", "--state", state]);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("--force")]);
    const forced = await reconcile(["state", "unlock", "--force", "--state", state]);
    expect(forced.stdout, forced.stderr).toMatch(/Took the lock from ada on \S+ \(pid \d+, reconcile apply\)/);
    await expect(session.append(["stale"])).rejects.toThrow(/taken over/);
    await session.release();
    expect((await reconcile(["apply", "-y", "--state", state])).exitCode).toBe(0);
    expect(vmNames()).toEqual(["app-a"]);
  });
});

describe("with a PostgreSQL that does not answer", () => {
  it.runIf(postgresMissing === undefined)("a stop ends the run, and nothing was sent", async () => {
    write("[a]");
    const proxy = await startMoodyProxy(new URL(postgres!.url));
    try {
      proxy.set("swallows requests");
      const url = new URL(postgres!.url);
      url.port = String(proxy.port);
      const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url };
      const { child, finished } = startCli(["apply", "-y", "--state", `${url}`], { cwd: folder, env });
      await eventually("the command at the server", () => (proxy.isUsed() ? true : undefined));
      child.kill("SIGINT");
      const began = performance.now();
      const ran = await finished;
      expect(ran.stderr).toMatch(/state\/wait-stopped.*did not answer; nothing was sent/);
      expect(ran.exitCode).not.toBe(0);
      expect(performance.now() - began).toBeLessThan(20_000);
      expect(writes()).toBe(0);
    } finally {
      await proxy.stop();
    }
  });
});

it("where only the lock stays, what was done is said to be done", async () => {
  const plain = await startStateServer({ kind: "plain" });
  try {
    const at = ["--state", `${plain.url}/prod`];
    writeFileSync(
      join(folder, "reconcile.yaml"),
      JSON.stringify({ version: 1, project: "acme", region: "in-west-1", volumes: { data: { size: 5 } } }),
    );
    expect(await reconcile(["apply", "-y", ...at])).toMatchObject({ exitCode: 0 });
    const copy = (await reconcile(["state", "pull", ...at])).stdout;
    for (const [args, input] of [
      [["state", "rm", "volume.data"], undefined],
      [["state", "push", "-", "--force"], copy],
      [["orphans", "delete", "--all"], undefined],
    ] as const) {
      plain.answerInstead("UNLOCK", 403, "", Number.POSITIVE_INFINITY);
      const ran = await reconcile([...args, ...at], {}, input);
      expect([args, ran.exitCode, ran.stderr]).toEqual([
        args,
        1,
        expect.stringMatching(/Everything that was done is recorded.*\n.*fix: .*reconcile state unlock/),
      ]);
      plain.answerInstead("UNLOCK", 403, "", 0);
      expect(await reconcile(["state", "unlock", "--force", ...at])).toMatchObject({ exitCode: 0 });
    }
    expect((await reconcile(["state", "list", ...at])).stdout).toContain("volume.data");
    // One summary, which says how the work ended and that the lock stayed.
    for (const args of [["apply", "-y"], ["destroy"], ["orphans", "delete", "--all"]]) {
      plain.answerInstead("UNLOCK", 403, "", Number.POSITIVE_INFINITY);
      const { stdout, exitCode } = await reconcile([...args, "--json", ...at]);
      const [summary, ...more] = stdout.split("\n").filter((line) => line.startsWith('{"type":"summary"'));
      expect([args, exitCode, more]).toEqual([args, 1, []]);
      const { exit_code, diagnostics, changes } = JSON.parse(summary ?? "");
      expect([exit_code, changes.delete]).toEqual([1, args[0] === "destroy" ? 1 : 0]);
      expect(diagnostics.map(({ code }: { code: string }) => code)).toContain("state/store-failed");
      plain.answerInstead("UNLOCK", 403, "", 0);
      await reconcile(["state", "unlock", "--force", ...at]);
    }
  } finally {
    await plain.stop();
  }
});

describe("state push", () => {
  const pullText = async (): Promise<string> => (await reconcile(["state", "pull"])).stdout;

  it("refuses another lineage and a shrink, and does both with --force", async () => {
    write("[a, b]");
    await reconcile(["apply", "-y"]);
    const text = await pullText();
    const shrunk = text.replace(/^"vm\.app\[b\]":.*\n/m, "").replace(/^("vm\.app\[a\]":.*),$/m, "$1");
    for (const [pushed, problem] of [
      [text.replace(/"lineage":"[^"]+"/, '"lineage":"other"'), /another lineage/],
      [shrunk, /forgets 1 resource: vm\.app\[b\]/],
      // The same addresses, and yet one id less.
      [text.replace(/^("vm\.app\[b\]":.*"id":")[^"]+"/m, '$1another"'), /forgets 1 resource: vm\.app\[b\] \([^)]+\)/],
      ["{", /is no state/],
      ["", /is no state/],
    ] as const) {
      const refused = await reconcile(["state", "push", "-"], {}, pushed);
      expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(problem)]);
      expect(await pullText()).toBe(text);
    }
    expect((await reconcile(["state", "push", "-", "--force"], {}, shrunk)).exitCode).toBe(0);
    expect(await pullText()).not.toMatch(/^"vm\.app\[b\]"/m);
    writeFileSync(join(folder, "reconcile.state.json"), "not a state");
    expect((await reconcile(["state", "push", "-"], {}, text)).exitCode).toBe(1);
    expect((await reconcile(["state", "push", "-", "--force"], {}, text)).exitCode).toBe(0);
    expect(await pullText()).toMatch(/^"vm\.app\[b\]"/m);
  });

  it("takes a copy of an encrypted state file as it is", async () => {
    write("[a]");
    const env = { RECONCILE_STATE_KEY: key };
    await reconcile(["apply", "-y"], env);
    const copy = readFileSync(join(folder, "reconcile.state.json"), "utf8");
    expect(copy).toContain("reconcile-cloud/sealed");
    writeFileSync(join(folder, "copy.json"), copy);
    rmSync(join(folder, "reconcile.state.json"));
    expect((await reconcile(["state", "push", "copy.json"], env)).exitCode).toBe(0);
    expect((await reconcile(["plan", "--detailed-exitcode"], env)).exitCode).toBe(0);
  });
});

describe("a saved plan", () => {
  it("is encrypted when there is a key, and applied with it alone", async () => {
    write("[a]");
    const env = { RECONCILE_STATE_KEY: key };
    await reconcile(["plan", "--out", "p.json"], env);
    expect(readFileSync(join(folder, "p.json"), "utf8")).not.toContain("app-a");
    const without = await reconcile(["apply", "p.json", "--json"]);
    expect(without.exitCode).toBe(1);
    expect(jsonLines(without.stdout).at(-1)).toMatchObject({
      ok: false,
      diagnostics: [{ summary: "p.json is encrypted: set RECONCILE_STATE_KEY or RECONCILE_STATE_KEY_COMMAND" }],
    });
    const ran = await reconcile(["apply", "p.json"], env);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(vmNames()).toEqual(["app-a"]);
  });

  it("in the clear is refused where there is a key, whoever made it", async () => {
    write("[a]");
    await reconcile(["plan", "--out", "p.json"]);
    const ran = await reconcile(["apply", "p.json"], { RECONCILE_STATE_KEY: key });
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("state/not-encrypted")]);
    expect(ran.stderr).toContain("p.json is not encrypted, and there is a key");
    expect(vmNames()).toEqual([]);
  });
});
