/** The doctor as a command: what it keeps, works from, is told, and says of a dialect that does not fit. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import type { RunningEmulator } from "../../emulator";
import { runCli } from "../support/cli-process";
import { deployments } from "../support/deployments/all";
import { type RunningFront, startFront } from "../support/deployments/front";
import { listeningEmulator } from "../support/emulator-here";
import { everything } from "../support/stories";

let emulator: RunningEmulator;
let front: RunningFront;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "doctor-"));
  emulator = await listeningEmulator({ with: everything, pageSize: 500, timeScale: 0 });
  const [known] = deployments;
  if (known === undefined) throw new Error("no deployment");
  front = await startFront(known.deployment, emulator.url);
});
afterEach(async () => {
  await front.close();
  await emulator.close();
});

const doctor = (...args: string[]) =>
  runCli(["doctor", "--base-url", front.url, "--log-level", "silent", ...args], {
    cwd: folder,
    env: { RECONCILE_TOKEN: "ops-token" },
  });
const written = (name: string): string =>
  readFileSync(join(folder, name), "utf8")
    .split("\n")
    .filter((line) => !line.startsWith("# What reconcile"))
    .join("\n");

test("answers that were kept teach the same without the service, and hold no credential", async () => {
  expect(await doctor("--record", "answers", "--out", "live.yaml")).toMatchObject({ exitCode: 0 });
  const answers = readdirSync(join(folder, "answers"));
  expect(answers.length).toBeGreaterThan(10);
  expect(answers.map((name) => readFileSync(join(folder, "answers", name), "utf8")).join("")).not.toContain(
    "ops-token",
  );
  await front.close();
  const start = join(folder, "start.yaml");
  writeFileSync(start, 'authorization: { name: X-Auth-Token, header: "{token}" }\n', { mode: 0o644 });
  const again = await runCli(["doctor", "--from", "answers", "--dialect", start, "--out", "kept.yaml"], {
    cwd: folder,
  });
  expect([again.exitCode, again.stderr]).toEqual([0, expect.not.stringContaining("error")]);
  const learnt = (name: string) => ({ ...parse(written(name)), authorization: undefined });
  expect(learnt("kept.yaml")).toEqual(learnt("live.yaml"));
  // What it starts from, it writes in its place.
  const inPlace = await runCli(["doctor", "--from", "answers", "--dialect", start, "--out", start], { cwd: folder });
  expect([inPlace.exitCode, parse(written("start.yaml"))]).toEqual([0, parse(written("kept.yaml"))]);
  expect(statSync(start).mode & 0o777).toBe(0o644);
});

test("a command for curl and a description say what no read can find", async () => {
  writeFileSync(
    join(folder, "api.yaml"),
    `openapi: 3.0.0
paths:
  /api/v1/volumes/{volume}: { delete: { operationId: deleteVolume } }
  /api/v1/security-group-rules/{rule}: { delete: { operationId: deleteRule } }
`,
  );
  const curl = `curl -X POST -H 'X-Auth-Token: secret-of-mine' -H "Content-Type: application/json" -d '{"confirmResize": null}' ${front.url}/api/v1/servers/0b7c1a52-8f6e-4b0e-9d0f-6f2d1f6a9e11/action`;
  const { exitCode } = await doctor("--openapi", "api.yaml", "--curl", "vm.resize.confirm", curl, "--out", "told.yaml");
  expect(exitCode).toBe(0);
  const yaml = written("told.yaml");
  expect(yaml).not.toContain("secret-of-mine");
  expect(yaml).toMatch(
    /vm\.resize\.confirm:[\s\S]*path: "\/api\/v1\/servers\/\{id\}\/action"\n {4}body: \{ confirmResize: null \}/,
  );
  expect(yaml).toContain('volume.delete: { method: DELETE, path: "/api/v1/volumes/{id}" }');
  expect(yaml).toContain('path: "/api/v1/security-group-rules/{rule_id}"');
});

test.each([
  ["says why it cannot be read", "openapi: 3.0.0\npaths: {}\npaths: {}\n", "api.yaml:3"],
  ["is told to be none where it has no paths", "channels: {}\n", "is no OpenAPI document"],
  ["may hold any number", "paths: {}\nx: 007\n", undefined],
])("a description %s", async (_, text, said) => {
  writeFileSync(join(folder, "api.yaml"), text);
  const { exitCode, stderr } = await doctor("--openapi", "api.yaml");
  expect([exitCode, stderr]).toEqual([said === undefined ? 0 : 1, expect.stringContaining(said ?? "")]);
});

test.each([
  [["--from", "nope"], "there is no such folder"],
  [["--from", "empty"], "there are none"],
  [["--from", "other"], "there are none"],
  [["--from", "kept", "--trial", "--allow-trial", "m1.small"], "--trial needs it"],
  [["--from", "kept", "--record", "more"], "--record needs it"],
  [["--sample", "vm.list=page.txt"], "the sample of vm.list is no JSON"],
])("%j is refused", async (args, said) => {
  for (const name of ["empty", "other", "kept"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "other", "a.json"), "null");
  writeFileSync(join(folder, "page.txt"), "<html>");
  const { exitCode, stderr } = await runCli(["doctor", "--base-url", front.url, ...args], {
    cwd: folder,
    env: { RECONCILE_TOKEN: "ops-token" },
  });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(said)]);
});

test("a sample teaches the records of one operation", async () => {
  writeFileSync(
    join(folder, "vms.json"),
    JSON.stringify({ servers: [{ serverId: "s-1", label: "web", phase: "UP" }] }),
  );
  const { exitCode } = await doctor("--sample", "vm.list", "vms.json", "--out", "sample.yaml");
  expect(exitCode).toBe(0);
  const yaml = written("sample.yaml");
  expect(yaml).toContain("id: /serverId   # shows s-1");
  expect(yaml).toContain("name: /label   # shows web");
  expect(yaml).toContain("vm.list: learnt from a sample");
});

test("a dialect is checked: the lines that do not hold, each with its place, and exit 2", async () => {
  writeFileSync(
    join(folder, "wrong.yaml"),
    `authorization: { name: X-Auth-Token, header: "{token}" }
operations:
  volume.delete: null
  flavor.list: { method: GET, path: /api/v1/flavour/list }
records:
  flavor:
    id: [/flavour_id]
`,
  );
  const { exitCode, stdout, stderr } = await runCli(["doctor", "--base-url", front.url, "--dialect", "wrong.yaml"], {
    cwd: folder,
    env: { RECONCILE_TOKEN: "ops-token" },
  });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining("wrong.yaml:4")]);
  expect(stderr).toContain("write path: /api/v1/flavors");
  expect(stderr).toMatch(/wrong\.yaml:7/);
  expect(stdout).toMatch(/wrong\.yaml does not fit this service in \d places/);
});

test("a dialect that fits is told so with exit 0, by its name as well", async () => {
  expect(await doctor("--dialect", "openstack-like")).toMatchObject({ exitCode: 0 });
});

test("the dialects that are ready pass their tests, and a case that does not hold is told", async () => {
  for (const name of ["openstack-like", "camel-case", "documented-only"])
    expect([name, (await runCli(["dialect", "test", name], { cwd: folder })).exitCode]).toEqual([name, 0]);
  mkdirSync(join(folder, "cases"));
  writeFileSync(join(folder, "cases/named.yaml"), "dialect: openstack-like\ncases: []\n");
  expect(await runCli(["dialect", "test", "cases/named.yaml"], { cwd: folder })).toMatchObject({ exitCode: 0 });
  writeFileSync(join(folder, "my.yaml"), "records: { vm: { name: /label } }\n");
  writeFileSync(
    join(folder, "my.test.yaml"),
    'cases:\n  - { title: a name, operation: vm.list, answer: [{ id: a, label: web }], reads: [{ name: "other" }] }\n  - { operation: vm.list, answer: [{ id: a }], reads: [] }\n',
  );
  const { exitCode, stderr, stdout } = await runCli(["dialect", "test", "my.test.yaml"], { cwd: folder });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('a name: [0].name reads "web", not "other"');
  expect(stderr).toContain("shows no name");
  expect(stdout).toContain("0 of 2 answers");
});

/** Passes bytes on and counts how many connections are open at once. */
async function countingRelay(to: string) {
  const { port } = new URL(to);
  let most = 0;
  const open = new Set<Socket>();
  const relay = createServer((socket) => {
    open.add(socket);
    most = Math.max(most, open.size);
    const behind = connect(Number(port), "127.0.0.1");
    socket.pipe(behind).pipe(socket);
    for (const end of [socket, behind]) end.on("error", () => socket.destroy());
    socket.on("close", () => {
      open.delete(socket);
      behind.destroy();
    });
  });
  await new Promise<void>((done) => relay.listen(0, "127.0.0.1", done));
  const address = relay.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  return { url: `http://127.0.0.1:${address.port}`, most: () => most, close: () => relay.close() };
}

const trialProject = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 200ms } }
vms: { web: { flavor_id: m1.small, image_id: ubuntu-24.04, owner: ops@acme.example, user_id: "1042", size: 10 } }
`;

test.each([
  ["group.create", ["group"]],
  ["vm.create", ["VM"]],
  // Without a volume that can be deleted again there is no VM.
  ["volume.create", ["volume", "VM"]],
  ["group.create volume.create vm.create", ["group", "volume", "VM"]],
])(
  "a trial to which the service refuses %s says of which kinds nothing is proven, and exit 2",
  async (refused, nouns) => {
    writeFileSync(join(folder, "reconcile.yaml"), trialProject);
    const count = 99;
    emulator.setFaults(refused.split(" ").map((operation) => ({ operation, kind: "status", code: 403, count })));
    const ran = await doctor("reconcile.yaml", "--trial", "--allow-trial", "m1.small", "--out", "mine.yaml", "--json");
    const { diagnostics, exit_code } = JSON.parse(ran.stdout.trim().split("\n").at(-1) ?? "");
    const unproven = diagnostics.filter(({ code }: { readonly code: string }) => code === "dialect/not-proven");
    const told = unproven.map(({ summary }: { readonly summary: string }) => /of a (\S+)/.exec(summary)?.[1]);
    expect([ran.exitCode, exit_code, told.sort()]).toEqual([2, 2, [...nouns].sort()]);
    expect(ran.stderr).not.toContain("Use it");
    expect(written("mine.yaml")).toContain("todo:");
  },
);

test("a trial sends nothing without its consent, and learns and leaves nothing with it", async () => {
  writeFileSync(join(folder, "reconcile.yaml"), trialProject);
  const refused = await doctor("reconcile.yaml", "--trial");
  expect([refused.exitCode, front.asked]).toEqual([3, []]);
  expect(refused.stderr).toContain("--allow-trial m1.small");
  expect((await doctor("reconcile.yaml", "--trial", "--allow-trial", "m1.large")).exitCode).toBe(3);

  const relay = await countingRelay(front.url);
  const permitted = ["--trial", "--allow-trial", "m1.small,m1.medium", "--parallelism", "2", "--out", "learnt.yaml"];
  const done = await doctor("reconcile.yaml", "--base-url", relay.url, ...permitted);
  relay.close();
  expect(relay.most()).toBeLessThanOrEqual(2);
  expect(done.stdout).toMatch(/What the trial made, and what became of it\n {2}- group trial-\S+-a \S+ was deleted/);
  expect([done.exitCode, done.stderr]).toEqual([0, expect.not.stringContaining("error")]);
  const learnt = written("learnt.yaml");
  expect(learnt).toContain("stopped: [SHUTOFF]   # seen in a trial");
  expect(learnt).toMatch(/vm\.resize\.confirm: {3}# tried, and seen to work/);
  expect(learnt).not.toContain("todo:");
  const { vms, volumes } = emulator.dump() as unknown as Record<"vms" | "volumes", readonly unknown[] | undefined>;
  expect([vms ?? [], volumes ?? [], readdirSync(join(folder, ".reconcile"))]).toEqual([[], [], []]);

  writeFileSync(
    join(folder, ".reconcile", "trial.json"),
    JSON.stringify({
      version: 1,
      service: front.url,
      made: [{ kind: "group", id: "00000000-0000-4000-8009-000000000000", askedAt: 0 }],
    }),
  );
  const warned = await doctor("reconcile.yaml", "--json", "--out", "read.yaml");
  expect(warned.stdout).toContain("service/trial-left");
  expect(written("read.yaml")).toContain("# not tried");
  const further = ["--dialect", "read.yaml", "--trial", "--allow-trial", "m1.small,m1.medium", "--out", "tried.yaml"];
  expect((await doctor("reconcile.yaml", ...further)).exitCode).toBe(0);
  const isTried = "# tried, and seen to work";
  expect(written("tried.yaml").match(/# (not tried|tried, .*)$/gm)).toEqual([isTried, isTried, isTried, isTried]);
  expect(readdirSync(join(folder, ".reconcile"))).toEqual([]);
});

const gone = { kind: "group", id: "00000000-0000-4000-8009-000000000000", askedAt: 0 };

test.each([
  ["the embedded service, at another address each time", { version: 1, service: "embedded", made: [gone] }, 0, ""],
  ["a list that holds nothing", { version: 1, service: "embedded", made: [null] }, 1, "does not hold the notes"],
  ["no kind of things", { version: 1, service: "embedded", made: [{ ...gone, kind: "x" }] }, 1, "does not hold the"],
  ["no JSON", '{"version": 1', 1, "does not hold the notes of a trial"],
])("an earlier trial's notes of %s", async (_, notes, exitCode, said) => {
  writeFileSync(join(folder, "reconcile.yaml"), trialProject);
  mkdirSync(join(folder, ".reconcile"));
  const path = join(folder, ".reconcile", "trial.json");
  writeFileSync(path, typeof notes === "string" ? notes : JSON.stringify(notes));
  const args = ["--base-url", "embedded", "--time-scale", "0", "--trial", "--allow-trial", "m1.small"];
  const ran = await doctor("reconcile.yaml", ...args);
  expect([ran.exitCode, ran.stderr, existsSync(path)]).toEqual([
    exitCode,
    expect.stringContaining(said),
    exitCode !== 0,
  ]);
});

test("the file of desired state may name the dialect that is about to be written", async () => {
  writeFileSync(join(folder, "reconcile.yaml"), "version: 1\nproject: acme\nservice: { dialect: ./mine.yaml }\n");
  const ran = await doctor("--out", "mine.yaml");
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(written("mine.yaml")).toContain("operations:");
  expect((await doctor("--out", "other.yaml", "--dialect", "none.yaml")).exitCode).toBe(1);
});

test("a pipe that is to be written is not read, and a folder is told as one", async () => {
  execFileSync("mkfifo", [join(folder, "pipe")]);
  const [piped, ran] = await Promise.all([readFile(join(folder, "pipe"), "utf8"), doctor("--out", "pipe")]);
  expect([ran.exitCode, piped]).toEqual([0, expect.stringContaining("operations:")]);
  const ofFolder = await doctor("--out", ".");
  expect([ofFolder.exitCode, ofFolder.stderr]).toEqual([1, expect.stringContaining("it is a folder")]);
});

test("what was given stays in what is written, with its comments, and the result is proven before it is to be used", async () => {
  const mine = `# my own notes
todo: [ask the provider about quotas, "nothing new was made, since it is there", "a rule could not be made: no"]
authorization: { name: X-Auth-Token, header: "{token}" }
operations:
  # from the manual, section 7
  vm.resize.confirm: { method: POST, path: "/api/v1/servers/{id}/action", body: { confirmResize: null } }
  volume.delete: { method: DELETE, path: "/api/v1/volumes/{id}" }
records:
  vm:
    owner: /metadata/owner   # by hand
states: { vm: { gone: [SOFT_DELETED] } }
limits: { connections: 3 }
`;
  writeFileSync(join(folder, "mine.yaml"), mine);
  const { exitCode, stderr } = await runCli(
    ["doctor", "--base-url", front.url, "--dialect", "mine.yaml", "--out", "mine.yaml"],
    {
      cwd: folder,
      env: { RECONCILE_TOKEN: "ops-token" },
    },
  );
  const text = readFileSync(join(folder, "mine.yaml"), "utf8");
  expect(text).not.toMatch(/(nothing new was|could not be) made/);
  for (const line of ["# my own notes", "# from the manual, section 7", "# by hand", "ask the provider about quotas"])
    expect(text).toContain(line);
  expect(parse(text)).toMatchObject({
    ...parse(mine),
    todo: expect.arrayContaining(["ask the provider about quotas"]),
    operations: { ...parse(mine).operations, "volume.list": { path: "/api/v1/volumes/detail" } },
  });
  expect(stderr).toMatch(/carries a project through 4 of 4 parts of a life\. Use it/);
  expect(exitCode).toBe(0);
  expect((await doctor("--dialect", "mine.yaml")).exitCode).toBe(0);

  // Another dialect is not written over it, and without a name it is what the doctor starts from.
  writeFileSync(join(folder, "other.yaml"), "{}\n");
  const refused = await doctor("--dialect", "other.yaml", "--out", "mine.yaml");
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("limits.connections")]);
  expect(readFileSync(join(folder, "mine.yaml"), "utf8")).toBe(text);
  expect((await doctor("--out", "mine.yaml")).exitCode).toBe(0);
  expect(parse(readFileSync(join(folder, "mine.yaml"), "utf8"))).toEqual(parse(text));
});

test("what a person tells stands anywhere among the words, and its credential's place is used", async () => {
  writeFileSync(join(folder, "volume.json"), JSON.stringify({ volume: { volume_uuid: "v-1", gigabytes: 3 } }));
  const curl = `curl -X DELETE -H 'X-Auth-Token: ops-token' ${front.url}/api/v1/security-group-rules/0b7c1a52-8f6e-4b0e-9d0f-6f2d1f6a9e11`;
  const { exitCode, stderr } = await doctor(
    ...["--curl", "group.rule.delete", curl, "--sample", "volume.create", "volume.json"],
    ...["--none", "vm.resize.revert,vm.resize.confirm", "--out", "told.yaml"],
  );
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("error")]);
  const told = parse(written("told.yaml"));
  expect(told.operations["group.rule.delete"].path).toBe("/api/v1/security-group-rules/{rule_id}");
  expect([told.operations["vm.resize.confirm"], told.operations["vm.resize.revert"]]).toEqual([null, null]);
  expect(told.answers["volume.create"]).toEqual({ item: "/volume" });
});

test.each([
  ["a request", ["--curl", "vm.list=curl https://cloud.example/api/v1/vms"]],
  ["an answer", ["--sample", "vm.list=vms.json"]],
])("an operation that there is none of has not %s as well", async (_, told) => {
  writeFileSync(join(folder, "vms.json"), "[]");
  const { exitCode, stderr } = await doctor("--none", "vm.get,vm.list", ...told, "--out", "told.yaml");
  const said = `--none vm.list and ${told[0]} vm.list=… contradict each other`;
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(said)]);
});

test("a proof is a line for each thing that was tried, and its figures stand in the file's head", async () => {
  const routes = ["vm.list", "vm.resize.confirm", "vm.resize.revert", "volume.delete", "flavor.list", "image.list"];
  const text = `# mine\noperations: { ${routes.map((name) => `${name}: null`).join(", ")}, region.list: null }\n`;
  writeFileSync(join(folder, "bare.yaml"), text, { mode: 0o640 });
  symlinkSync("bare.yaml", join(folder, "link.yaml"));
  const { exitCode, stdout } = await runCli(["dialect", "prove", "link.yaml", "--json", "--part", "life-cycle"], {
    cwd: folder,
  });
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(exitCode).toBe(0);
  const { figures } = events.find(({ type }) => type === "proven");
  for (const { held, of } of figures) expect([held, of > 3]).toEqual([of, true]);
  const words = figures.map(({ part, held, of }: Record<string, unknown>) => `${part} ${held}/${of}`).join(", ");
  const [head, ...rest] = readFileSync(join(folder, "bare.yaml"), "utf8").split("\n");
  expect([head, rest.join("\n")]).toEqual([expect.stringContaining(words), text]);
  // The file is somebody's own: others read it as before.
  expect(statSync(join(folder, "bare.yaml")).mode & 0o777).toBe(0o640);
  expect(lstatSync(join(folder, "link.yaml")).isSymbolicLink()).toBe(true);
});
