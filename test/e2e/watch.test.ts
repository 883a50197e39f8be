import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { commandsIn, wordsOf } from "../support/ci-runner";
import { jsonLines, runCli, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { makeFolder, writeFiles } from "../support/folder";
import { startS3Server } from "../support/state-server";
import { startOddStateServer } from "./odd-state-server";

const env = { RECONCILE_TOKEN: "ops-token" };
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

const yaml = (
  url: string,
  name: string,
  groups = "groups: { web: { rules: [ { protocol: tcp, dst_port: 22 } ] } }",
) => `version: 1
project: acme
region: in-west-1
service: { base_url: "${url}", timing: { poll_interval: 20ms } }
vms:
  web: { name: ${name}, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
${groups}
`;

async function setUp(more: Readonly<Record<string, string>> = {}) {
  const emulator: RunningEmulator = await startEmulator({ timeScale: 0 });
  open.push(emulator);
  const cwd = makeFolder({ "reconcile.yaml": yaml(emulator.url, "web-one") });
  const place = { cwd, env: { ...env, ...more } };
  const run = (...args: string[]) => runCli(args, place);
  const watcher = (...args: string[]) => {
    const process = startCli(["watch", "--interval", "50ms", "--listen", "127.0.0.1:0", ...args], place);
    open.push({ close: () => process.child.exitCode === null && process.child.kill("SIGKILL") });
    const rounds = () =>
      jsonLines(process.output().stdout.replace(/[^\n]*$/, "")).filter(({ type }) => type === "round");
    const round = (result: string, from = 0) =>
      process.says(`a round that is ${result}`, () =>
        rounds()
          .slice(from)
          .find((one) => one["result"] === result),
      );
    return { ...process, rounds, round };
  };
  const driftOnce = async () => {
    const seen = emulator.dump();
    await emulator.load({ ...seen, vms: seen.vms.map((vm) => ({ ...vm, name: "renamed-by-hand" })) });
  };
  return { emulator, cwd, run, watcher, driftOnce };
}

const writesOf = (emulator: RunningEmulator) => emulator.requests().log.filter(({ method }) => method !== "GET").length;

it("looks only: tells drift and pending changes round after round, and sends no write", async () => {
  const { emulator, run, watcher, driftOnce } = await setUp();
  expect((await run("apply", "-y")).exitCode).toBe(0);
  const writes = writesOf(emulator);
  const { child, finished, round, rounds, says, output } = watcher("--json");
  expect(await round("in_sync")).toMatchObject({ drifted: [], why: null });
  emulator.setFaults([{ kind: "status", code: 403, operation: "group.rule.list", when: "before" }]);
  const untold = () => rounds().find(({ why }) => String(why).includes("may not be looked at"));
  expect(await says("a round that says what it may not look at", untold)).toMatchObject({ result: "in_sync" });
  emulator.setFaults([]);
  await driftOnce();
  expect(await round("pending")).toMatchObject({ drifted: ["vm.web"], pending: { update: 1 } });
  const url = /(http:\S+)\/metrics/.exec(output().stderr)![1]!;
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain("reconcile_drifted_resources 1\n");
  expect(metrics).toContain('reconcile_pending_changes{action="update"} 1\n');
  expect(metrics).toContain("reconcile_world_open_ports 1\n");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/other`)).status).toBe(404);
  child.kill("SIGTERM");
  expect((await finished).exitCode).toBe(0);
  expect(writesOf(emulator)).toBe(writes);
});

it("--apply corrects drift, follows the file as it changes, and stops cleanly on SIGTERM", async () => {
  const { emulator, cwd, watcher, driftOnce } = await setUp();
  const { child, finished, round, rounds } = watcher("--json", "--apply");
  await round("applied");
  await round("in_sync");
  await driftOnce();
  await round("applied", rounds().length);
  expect(emulator.dump().vms.map(({ name }) => name)).toEqual(["web-one"]);
  writeFiles(cwd, { "reconcile.yaml": yaml(emulator.url, "web-two") });
  await round("applied", rounds().length);
  expect(emulator.dump().vms.map(({ name }) => name)).toEqual(["web-two"]);
  child.kill("SIGTERM");
  expect((await finished).exitCode).toBe(0);
  expect(existsSync(join(cwd, "reconcile.state.json.lock"))).toBe(false);
});

it("--apply: a place whose answers were lost while it recorded is locked anew, and the rounds go on", async () => {
  const places = await startS3Server();
  open.push({ close: () => places.stop() });
  const { emulator, cwd, run, watcher } = await setUp({
    AWS_ENDPOINT_URL: places.url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "tester",
    AWS_SECRET_ACCESS_KEY: "s3-53cr3t",
    RECONCILE_STATE: "s3://states/acme",
  });
  const { child, finished, round, rounds } = watcher("--json", "--apply");
  await round("in_sync");
  places.loseAnswers("PUT", Number.POSITIVE_INFINITY);
  writeFiles(cwd, { "reconcile.yaml": `${yaml(emulator.url, "web-one")}volumes: { data: { size: 5 } }\n` });
  expect((await round("failed", rounds().length))["why"]).toContain("cannot be reached");
  places.loseAnswers("PUT", 0);
  await round("applied", rounds().length);
  child.kill("SIGTERM");
  expect((await finished).exitCode).toBe(0);
  expect(emulator.dump().volumes.filter(({ name }) => name === "data")).toHaveLength(1);
  expect((await run("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

it("a state that the files give another place while it runs is not worked on in the old one", async () => {
  const { emulator, cwd, run, watcher } = await setUp();
  const { child, finished, round, rounds, output } = watcher("--json", "--apply");
  await round("in_sync");
  const elsewhere = `${yaml(emulator.url, "web-one")}state: ./moved.json\nvolumes: { data: { size: 5 } }\n`;
  writeFiles(cwd, { "moved.json": (await run("state", "pull")).stdout, "reconcile.yaml": elsewhere });
  expect((await round("failed", rounds().length))["why"]).toContain("start the watch again");
  expect((await run("apply", "-y")).exitCode).toBe(0);
  await round("failed", rounds().length);
  expect(emulator.dump().volumes.filter(({ name }) => name === "data")).toHaveLength(1);
  const url = /(http:\S+)\/metrics/.exec(output().stderr)![1]!;
  expect((await fetch(`${url}/healthz`)).status).toBe(503);
  child.kill("SIGTERM");
  expect((await finished).exitCode).toBe(0);
});

it("looks at everything once, and from then on between the rounds; a round begins when something is not as it was", async () => {
  const { emulator, run, watcher, driftOnce } = await setUp();
  expect((await run("apply", "-y")).exitCode).toBe(0);
  const { child, finished, round } = watcher("--json", "--interval", "3s");
  await round("in_sync");
  const looks = () => emulator.requests().log.filter(({ operation }) => operation === "group.rule.list").length;
  const before = looks();
  await round("in_sync", 1);
  // By a slice, and not by the round again.
  expect(looks() - before).toBe(1);
  await driftOnce();
  expect(await round("pending")).toMatchObject({ drifted: ["vm.web"] });
  child.kill("SIGTERM");
  expect((await finished).exitCode).toBe(0);
});

it("--apply without the consent is blocked, names the flag, and sends nothing", async () => {
  const { emulator, cwd, run, watcher } = await setUp();
  expect((await run("apply", "-y")).exitCode).toBe(0);
  const writes = writesOf(emulator);
  writeFiles(cwd, {
    "reconcile.yaml": yaml(emulator.url, "web-one").replace(/vms:\n.*\n/, ""),
  });
  const blocked = watcher("--json", "--apply");
  expect((await blocked.round("blocked"))["why"]).toContain("--allow-data-loss");
  blocked.child.kill("SIGTERM");
  expect((await blocked.finished).exitCode).toBe(0);
  expect(writesOf(emulator)).toBe(writes);
  const permitted = watcher("--json", "--apply", "--allow-data-loss");
  await permitted.round("applied");
  expect(emulator.dump().vms).toEqual([]);
});

it("one watcher holds the state; the other stands by, says who holds it, and takes over", async () => {
  const { run, watcher } = await setUp();
  const first = watcher("--json", "--apply");
  await first.round("in_sync");
  const second = watcher("--json", "--apply");
  expect((await second.round("standby"))["why"]).toMatch(/locked by .*pid \d+, reconcile watch/);
  const byHand = await run("apply", "-y", "--no-color");
  // Whoever holds the state is named before anything is planned.
  expect(byHand.exitCode).toBe(1);
  expect(byHand.stderr).toMatch(/locked by .*reconcile watch/);
  first.child.kill("SIGTERM");
  await first.finished;
  await second.round("in_sync");
});

it("a service that cannot be reached fails the round and not the watcher, which is ill and comes back", async () => {
  const { emulator, run, watcher } = await setUp();
  expect((await run("apply", "-y")).exitCode).toBe(0);
  emulator.setFaults([{ operation: "*", kind: "status", code: 403 }]);
  const { round, rounds, output } = watcher("--json");
  expect((await round("failed"))["why"]).toContain("could not be read");
  await eventually("two failed rounds", () => (rounds().length >= 2 ? true : undefined));
  const url = /(http:\S+)\/metrics/.exec(output().stderr)![1]!;
  expect((await fetch(`${url}/healthz`)).status).toBe(503);
  emulator.setFaults([]);
  await round("in_sync");
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

it.each(["is silent", "is gone"])("ends when it is told to, also where the state %s by then", async (how) => {
  const { watcher } = await setUp();
  const states = await startOddStateServer();
  if (how === "is silent") open.push({ close: () => states.stop() });
  const { child, finished, round } = watcher("--json", "--apply", "--state", `${states.url}/s`);
  await round("in_sync");
  if (how === "is silent") states.fallSilent();
  else await states.stop();
  child.kill("SIGTERM");
  expect((await finished).stdout).toContain("state/store-failed");
});

it("does not start on a file that is wrong, an interval that is none, or an address that is taken", async () => {
  const { cwd, run, watcher } = await setUp();
  expect((await run("watch", "--interval", "soon")).stderr).toContain("--interval soon is no duration");
  const { output, round } = watcher("--json");
  await round("pending");
  const port = /:(\d+)\/metrics/.exec(output().stderr)![1]!;
  const taken = await run("watch", "--listen", `127.0.0.1:${port}`);
  expect([taken.exitCode, /EADDRINUSE/.test(taken.stderr)]).toEqual([1, true]);
  writeFiles(cwd, { "reconcile.yaml": "version: 1\nvmz: {}\n" });
  expect((await run("watch", "--listen", "none")).exitCode).toBe(1);
});

it("runs as docs/gitops.md says", async () => {
  const { watcher } = await setUp();
  const commands = commandsIn("docs/gitops.md").filter((line) => line.startsWith("reconcile watch"));
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    // The same words; only the port is the test's.
    const started = watcher(...wordsOf(command).slice(2));
    await started.says("a first round", ({ stdout }) => /next in/.exec(stdout));
    started.child.kill("SIGTERM");
    expect([command, (await started.finished).exitCode]).toEqual([command, 0]);
  }
});
