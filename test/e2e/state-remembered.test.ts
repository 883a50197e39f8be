/**
 * A store that answers with less than was seen of its state: nothing, an older state, another one. It is refused by name,
 * nothing is made a second time, and the document stays as it is, byte by byte. `--new-state` is the way on.
 */
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { otherStatesNoted, stateNote } from "../../reconciler/store/state-note";
import { jsonLines, type Ran, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { headOf } from "../support/own-place";
import { type S3Server, startS3Server } from "../support/state-server";
import { type Oddity, type OddStateServer, startOddStateServer } from "./odd-state-server";

let folder: string;
let emulator: RunningEmulator;
let server: OddStateServer;
let s3: S3Server;

beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(() => s3.stop());
beforeEach(async () => {
  folder = makeFolder();
  emulator = await startEmulator({ timeScale: 1000 });
  server = await startOddStateServer();
  write("data: { name: data, size: 5 }");
});
afterEach(async () => {
  await emulator.close();
  await server.stop();
});

const write = (volumes: string, cwd = folder): void =>
  writeFileSync(
    join(cwd, "reconcile.yaml"),
    `version: 1\nproject: p\nregion: in-west-1\nservice: { base_url: ${emulator.url}, timing: { poll_interval: 20ms, discovery_window: 500ms } }\nvolumes: { ${volumes} }\n`,
  );

const reconcile = (args: readonly string[], state = `${server.url}/s`, cwd = folder): Promise<Ran> =>
  runCli([...args, "--state", state], {
    cwd,
    env: {
      RECONCILE_TOKEN: "ops-token",
      AWS_ENDPOINT_URL: s3.url,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "tester",
      AWS_SECRET_ACCESS_KEY: "canary-aws",
    },
  });
const codesOf = ({ stdout }: Ran): string[] =>
  jsonLines(stdout).flatMap(({ diagnostics = [] }: { diagnostics?: readonly { severity: string; code: string }[] }) =>
    diagnostics.flatMap(({ severity, code }) => (severity === "error" ? [code] : [])),
  );
const volumes = (): string[] =>
  emulator
    .dump()
    .volumes.map(({ name }) => name)
    .sort();

const refusals: Readonly<Record<Oddity, string>> = {
  "empty 200": "state/store-failed",
  "204": "state/gone",
  "404": "state/gone",
  older: "state/went-back",
  foreign: "state/other-state",
};
const oddities = Object.entries(refusals) as [Oddity, string][];

/** How many writes a run of one change has, so that each may be the last that is kept. */
it("a server that answers writes and keeps none is no success, whichever of them it forgets", async () => {
  expect((await reconcile(["apply", "-y"])).exitCode).toBe(0);
  const before = server.requests.length;
  write("data: { name: data, size: 6 }");
  expect((await reconcile(["apply", "-y"])).exitCode).toBe(0);
  const writes = server.requests.slice(before).filter((request) => request.startsWith("POST")).length;
  expect(writes).toBeGreaterThan(2);
  for (let kept = 0; kept < writes; kept++) {
    const sizeGb = 7 + kept;
    write(`data: { name: data, size: ${sizeGb} }`);
    server.keep(kept);
    const ran = await reconcile(["apply", "-y"]);
    expect([kept, ran.exitCode, ran.stderr]).toEqual([
      kept,
      1,
      expect.stringContaining("what it shows is from before"),
    ]);
    expect(ran.stderr).not.toContain("Everything that was done is recorded");
    server.keep(Number.POSITIVE_INFINITY);
    const again = await reconcile(["apply", "-y", "--new-state"]);
    expect(again.exitCode, again.stderr).toBe(0);
    expect(volumes()).toEqual(["data"]);
  }
});

/** Two runs, so that there is an older document than the present one. */
async function applied(): Promise<string> {
  expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
  server.keepAsOlder("s");
  write("data: { name: data, size: 5 }, logs: { name: logs, size: 2 }");
  expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
  return server.document("s") ?? "";
}

describe("a state server", () => {
  it.each(oddities)(
    "that answers with %s is refused with %s by every command, and nothing is changed",
    async (oddity, code) => {
      const before = await applied();
      server.answer(oddity);
      for (const args of [
        ["plan"],
        ["apply", "-y"],
        ["state", "list"],
        ["destroy", "-y", "--allow-data-loss"],
        ["state", "rm", "volume.data"],
        // A lock is taken away from a state that nobody can read, too.
        ...(oddity === "empty 200" ? [] : [["state", "unlock", "--force"]]),
      ]) {
        const ran = await reconcile([...args, "--json"]);
        expect({ args, exit: ran.exitCode, codes: codesOf(ran) }).toEqual({ args, exit: 1, codes: [code] });
        expect(ran.stdout).toContain(code === "state/store-failed" ? "200" : "--new-state");
        expect(server.document("s")).toBe(before);
      }
      expect(volumes()).toEqual(["data", "logs"]);
      server.answer(oddity, 0);
      expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
      expect(volumes()).toEqual(["data", "logs"]);
    },
  );

  it.each(oddities)(
    "that answers with %s once, at any of its reads, makes nothing twice and loses nothing",
    async (oddity) => {
      await applied();
      for (let after = 0; after < 5; after++) {
        write(`data: { name: data, size: 5 }, logs: { name: logs, size: ${3 + after} }`);
        server.answer(oddity, 1, after);
        const ran = await reconcile(["apply", "-y"]);
        server.answer(oddity, 0);
        expect({ after, exit: ran.exitCode <= 1, volumes: volumes() }).toEqual({
          after,
          exit: true,
          volumes: ["data", "logs"],
        });
        expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
        expect(volumes()).toEqual(["data", "logs"]);
      }
    },
  );

  it("that answers a fresh checkout with nothing once is not believed either", async () => {
    const before = await applied();
    const fresh = makeFolder();
    write("data: { name: data, size: 5 }, logs: { name: logs, size: 2 }", fresh);
    server.answer("404", 1);
    const ran = await reconcile(["apply", "-y", "--json"], `${server.url}/s`, fresh);
    expect({ exit: ran.exitCode, codes: codesOf(ran) }).toEqual({ exit: 1, codes: ["state/store-failed"] });
    expect(server.document("s")).toBe(before);
    server.answer("404", 0);
    expect(await reconcile(["apply", "-y"], `${server.url}/s`, fresh)).toMatchObject({ exitCode: 0 });
    expect(volumes()).toEqual(["data", "logs"]);
  });

  it("is taken as it is with --new-state, and remembered from then on", async () => {
    await applied();
    server.answer("older");
    expect(await reconcile(["plan", "--new-state"])).toMatchObject({ exitCode: 0 });
    expect(await reconcile(["state", "list"])).toMatchObject({ exitCode: 0 });
    server.answer("older", 0);
    // What is newer than the state that was taken is believed.
    expect(await reconcile(["plan"])).toMatchObject({ exitCode: 0 });
  });

  it("a state of a newer version is named with the version to install, and no command replaces it", async () => {
    await applied();
    const copy = join(folder, "copy.json");
    writeFileSync(copy, (await reconcile(["state", "pull"])).stdout);
    const newer = (server.document("s") ?? "").replace('\\"version\\":1', '\\"version\\":2');
    const asFile = join(folder, "newer.state.json");
    const text = (JSON.parse(newer) as { snapshot: string }).snapshot;
    for (const args of [
      ["plan"],
      ["apply", "-y"],
      ["destroy", "-y", "--allow-data-loss"],
      ["state", "push", "--force", copy],
      ["state", "push", "--force", "--new-state", copy],
      ["state", "unlock", "--force"],
      ["state", "rm", "volume.data"],
      ["state", "mv", "volume.data", "volume.other"],
      ["state", "pull", "--force"],
      ["undo", "last", "-y"],
      ["import", "volume.logs", "id-1"],
      ["history"],
      ["orphans", "list"],
    ]) {
      writeFileSync(asFile, text);
      const ran = await reconcile([...args, "--json"], asFile);
      expect({ args, exit: ran.exitCode, codes: codesOf(ran) }).toEqual({ args, exit: 1, codes: ["state/newer"] });
      expect(ran.stdout).toContain("npm install");
      expect(ran.stdout).not.toContain("state push FILE");
      expect(readFileSync(asFile, "utf8")).toBe(text);
    }
  });
});

describe("the note", () => {
  it("is private, and holds lineage and serial and no credential", async () => {
    expect(await reconcile(["apply", "-y"], `${server.url}/s?token=canary-query`)).toMatchObject({ exitCode: 0 });
    const states = join(folder, ".reconcile", "states");
    const [name, ...more] = readdirSync(states);
    expect(more).toEqual([]);
    const path = join(states, name ?? "");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const note = readFileSync(path, "utf8");
    expect(note).not.toContain("canary");
    expect(Object.keys(JSON.parse(note) as object)).toEqual(["state", "lineage", "serial", "at"]);
  });
});

describe("a file", () => {
  const state = (): string => join(folder, "reconcile.state.json");
  it("that was removed, restored or exchanged is refused; --new-state takes it", async () => {
    expect(await reconcile(["apply", "-y"], state())).toMatchObject({ exitCode: 0 });
    copyFileSync(state(), join(folder, "backup.json"));
    write("data: { name: data, size: 5 }, logs: { name: logs, size: 2 }");
    expect(await reconcile(["apply", "-y"], state())).toMatchObject({ exitCode: 0 });
    rmSync(state());
    expect(codesOf(await reconcile(["apply", "-y", "--json"], state()))).toEqual(["state/gone"]);
    copyFileSync(join(folder, "backup.json"), state());
    expect(codesOf(await reconcile(["plan", "--json"], state()))).toEqual(["state/went-back"]);
    const other = makeFolder();
    write("data: { name: other, size: 5 }", other);
    expect(await reconcile(["apply", "-y"], join(other, "s.json"), other)).toMatchObject({ exitCode: 0 });
    copyFileSync(join(other, "s.json"), state());
    expect(codesOf(await reconcile(["plan", "--json"], state()))).toEqual(["state/other-state"]);
    copyFileSync(join(folder, "backup.json"), state());
    expect((await reconcile(["state", "list", "--new-state"], state())).stdout).toContain("volume.data");
    expect(await reconcile(["state", "list"], state())).toMatchObject({ exitCode: 0 });
  });

  it("that is pushed on purpose is remembered as it was pushed", async () => {
    expect(await reconcile(["apply", "-y"], state())).toMatchObject({ exitCode: 0 });
    const old = (await reconcile(["state", "pull"], state())).stdout;
    writeFileSync(join(folder, "copy.json"), old);
    write("data: { name: data, size: 5 }, logs: { name: logs, size: 2 }");
    expect(await reconcile(["apply", "-y"], state())).toMatchObject({ exitCode: 0 });
    expect(await reconcile(["state", "push", "--force", join(folder, "copy.json")], state())).toMatchObject({
      exitCode: 0,
    });
    expect(await reconcile(["state", "list"], state())).toMatchObject({ exitCode: 0 });
    rmSync(state());
    expect(await reconcile(["state", "push", join(folder, "copy.json")], state())).toMatchObject({ exitCode: 1 });
    expect(await reconcile(["state", "push", "--new-state", join(folder, "copy.json")], state())).toMatchObject({
      exitCode: 0,
    });
    expect(await reconcile(["state", "list"], state())).toMatchObject({ exitCode: 0 });
  });

  it("is the same project's in another folder, where nothing was seen yet", async () => {
    expect(await reconcile(["apply", "-y"], state())).toMatchObject({ exitCode: 0 });
    const copy = makeFolder();
    mkdirSync(copy, { recursive: true });
    cpSync(join(folder, "reconcile.yaml"), join(copy, "reconcile.yaml"));
    cpSync(state(), join(copy, "s.json"));
    expect(await reconcile(["plan"], join(copy, "s.json"), copy)).toMatchObject({ exitCode: 0 });
  });
});

describe("a state that is given another place", () => {
  it("is not begun anew there, and says where it is; what it does not have may be made", async () => {
    expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
    const moved = join(folder, "moved.json");
    for (const command of [["plan"], ["apply", "-y"]]) {
      const ran = await reconcile([...command, "--json"], moved);
      expect([ran.exitCode, codesOf(ran)]).toEqual([1, ["state/elsewhere"]]);
      expect(ran.stdout).toContain(`${server.url}/s`);
    }
    expect(volumes()).toEqual(["data"]);
    write("more: { name: more, size: 5 }");
    expect(await reconcile(["plan"], moved)).toMatchObject({ exitCode: 0 });
    write("data: { name: data, size: 5 }");
    writeFileSync(join(folder, "copy.json"), (await reconcile(["state", "pull"])).stdout);
    expect(await reconcile(["state", "push", join(folder, "copy.json")], moved)).toMatchObject({ exitCode: 0 });
    expect(await reconcile(["plan", "--detailed-exitcode"], moved)).toMatchObject({ exitCode: 0 });
    expect(await reconcile(["apply", "-y", "--new-state"], join(folder, "twin.json"))).toMatchObject({ exitCode: 0 });
    expect(volumes()).toEqual(["data", "data"]);
  });

  it("is not begun anew there after an import either", async () => {
    write("data: { name: data, size: 5 }, more: { name: more, size: 5 }");
    expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
    const moved = join(folder, "moved.json");
    const id = emulator.dump().volumes.find(({ name }) => name === "data")?.id ?? "";
    expect(await reconcile(["import", "volume.data", id], moved)).toMatchObject({ exitCode: 0 });
    const refused = await reconcile(["apply", "-y"], moved);
    expect([refused.exitCode, volumes()]).toEqual([1, ["data", "more"]]);
    expect(refused.stderr).toContain("has had no run yet, and what is to be created is in the state");
    expect(refused.stderr).toMatch(/: volume\.more$/m);
    expect(await reconcile(["plan", "--new-state"], moved)).toMatchObject({ exitCode: 0 });
    const [, push = ""] = /state push (.*?) --state/.exec(refused.stderr) ?? [];
    writeFileSync(join(folder, "copy.json"), (await reconcile(["state", "pull"])).stdout);
    expect(await reconcile(["state", "push", push, join(folder, "copy.json")], moved)).toMatchObject({ exitCode: 0 });
    expect(await reconcile(["plan", "--detailed-exitcode"], moved)).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ["--target", "volume.more"],
    ["--exclude", "volume.data"],
  ])("is not begun anew there after a run of a part, and loses nothing of that: %s %s", async (...part) => {
    expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
    write("data: { name: data, size: 5 }, more: { name: more, size: 5 }");
    const moved = join(folder, "moved.json");
    expect(await reconcile(["apply", "-y", ...part], moved)).toMatchObject({ exitCode: 0 });
    const refused = await reconcile(["apply", "-y"], moved);
    expect([refused.exitCode, volumes()]).toEqual([1, ["data", "more"]]);
    expect(refused.stderr).toMatch(/has had runs of a part alone, and what is to be created .*: volume\.data$/m);
    expect(await reconcile(["plan", "--new-state"], moved)).toMatchObject({ exitCode: 0 });
    expect(refused.stderr).toContain(`reconcile state mv ADDR ADDR --state ${server.url}/s --to-state ${moved}`);
    expect(await reconcile(["state", "mv", "volume.data", "volume.data", "--to-state", moved])).toMatchObject({
      exitCode: 0,
    });
    expect(await reconcile(["plan", "--detailed-exitcode"], moved)).toMatchObject({ exitCode: 0 });
  });

  it("is told to have had no run yet where records came to it alone", async () => {
    write("data: { name: data, size: 5 }, more: { name: more, size: 5 }");
    expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
    const moved = join(folder, "moved.json");
    expect(await reconcile(["state", "mv", "volume.more", "volume.more", "--to-state", moved])).toMatchObject({
      exitCode: 0,
    });
    const refused = await reconcile(["apply", "-y"], moved);
    expect([refused.exitCode, volumes()]).toEqual([1, ["data", "more"]]);
    expect(refused.stderr).toContain("has had no run yet, and what is to be created is in the state");
    expect(refused.stderr).toContain("reconcile state mv ADDR ADDR");
  });

  it.each([
    ["destroyed", ["destroy", "-y", "--allow-data-loss"]],
    ["undone", ["undo", "last", "-y", "--allow-data-loss", "--allow-empty"]],
  ])("is not begun anew there either after what a run of a part made was %s", async (_, command) => {
    expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
    write("data: { name: data, size: 5 }, more: { name: more, size: 5 }");
    const moved = join(folder, "moved.json");
    expect(await reconcile(["apply", "-y", "--target", "volume.more"], moved)).toMatchObject({ exitCode: 0 });
    expect(await reconcile(command, moved)).toMatchObject({ exitCode: 0 });
    const refused = await reconcile(["apply", "-y", "--json"], moved);
    expect([refused.exitCode, codesOf(refused), volumes()]).toEqual([1, ["state/elsewhere"], ["data"]]);
  });

  it("says what the former state has of what bears the name, and takes it over with a consent alone", async () => {
    const vm = (words = "") =>
      writeFileSync(
        join(folder, "reconcile.yaml"),
        `${headOf("poll_interval: 5ms").replace("service: {", `service: { base_url: ${emulator.url},`)}vms: { db: { name: db-1 } }\n${words}`,
      );
    vm();
    expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
    const moved = join(folder, "moved.json");
    const id = emulator.dump().vms.find(({ name }) => name === "db-1")?.id ?? "";
    const bare = await reconcile(["apply", "-y", "--json"], moved);
    expect([bare.exitCode, codesOf(bare).sort()]).toEqual([1, ["plan/name-taken", "state/elsewhere"]]);
    for (const [words, ...flags] of [["", "--adopt"], ["imports: [ { to: vm.db, name: db-1 } ]"]] as const) {
      vm(words);
      const ran = await reconcile(["plan", "--json", ...flags], moved);
      expect([ran.exitCode, codesOf(ran)]).toEqual([0, []]);
      expect(ran.stdout).toContain("two states would manage it: vm.db");
      const replaced = await reconcile(["plan", "--json", ...flags, "--replace", "vm.db"], moved);
      expect(replaced.stdout).toContain("two states would manage it: vm.db");
    }
    vm();
    const quiet = await reconcile(["plan", "--adopt", "--new-state"], moved);
    expect([quiet.exitCode, quiet.stderr]).toEqual([0, ""]);
    vm(`imports: [ { to: vm.db, id: "${id}" } ]`);
    expect(await reconcile(["plan"], moved)).toMatchObject({ exitCode: 0 });
  });

  it("is where the file that came first before has it, when the files are given in another order", async () => {
    const more = makeFolder();
    mkdirSync(more, { recursive: true });
    writeFileSync(join(more, "more.yaml"), "version: 1\nvolumes: { more: { name: more, size: 5 } }\n");
    const ordered = (...folders: string[]) =>
      runCli(["apply", "-y", "--json", ...folders], { cwd: folder, env: { RECONCILE_TOKEN: "ops-token" } });
    expect(await ordered(folder, more)).toMatchObject({ exitCode: 0 });
    const other = await ordered(more, folder);
    expect([other.exitCode, codesOf(other), volumes()]).toEqual([1, ["state/elsewhere"], ["data", "more"]]);
  });

  it("is brought to its new place as it says, where the files get environments", async () => {
    const alone = (args: readonly string[]) => runCli(args, { cwd: folder, env: { RECONCILE_TOKEN: "ops-token" } });
    expect(await alone(["apply", "-y"])).toMatchObject({ exitCode: 0 });
    appendFileSync(join(folder, "reconcile.yaml"), "environments: { prod: {}, dev: { project: other } }\n");
    const refused = await alone(["plan", "--env", "prod"]);
    expect(refused.stderr).toContain("error[state/elsewhere]");
    const [, from = "", to = ""] =
      /state pull --state (\S+) --env prod \| reconcile state push --state (\S+) --env prod -;/.exec(refused.stderr) ??
      [];
    writeFileSync(join(folder, "copy.json"), (await alone(["state", "pull", "--state", from, "--env", "prod"])).stdout);
    expect(await alone(["state", "push", "--state", to, "--env", "prod", join(folder, "copy.json")])).toMatchObject({
      exitCode: 0,
    });
    expect(await alone(["plan", "--env", "prod", "--detailed-exitcode"])).toMatchObject({ exitCode: 0 });
    expect(await alone(["plan", "--env", "dev"])).toMatchObject({ exitCode: 0 });
  });

  it.each(["data", "data-${env}"])("is found under the former name of its environment alone: %s", async (name) => {
    write(`data: { name: "${name}", size: 5 }`);
    const alone = (args: readonly string[]) => runCli(args, { cwd: folder, env: { RECONCILE_TOKEN: "ops-token" } });
    const file = readFileSync(join(folder, "reconcile.yaml"), "utf8");
    const declare = (names: string) => writeFileSync(join(folder, "reconcile.yaml"), `${file}environments: ${names}\n`);
    declare("{ prod: {} }");
    expect(await alone(["apply", "-y", "--env", "prod"])).toMatchObject({ exitCode: 0 });
    const made = volumes();
    declare("{ production: {} }");
    const refused = await alone(["apply", "-y", "--env", "production"]);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("error[state/elsewhere]")]);
    expect(volumes()).toEqual(made);
    declare("{ production: {}, prod: {} }");
    expect(await alone(["plan", "--env", "production"])).toMatchObject({ exitCode: 0 });
    // The former state lies there still when it was brought, and is nobody's any more.
    declare("{ production: {}, dev: {} }");
    const [, from = "", to = ""] = /--state (\S+) .* --state (\S+)/.exec(refused.stderr) ?? [];
    const brought = join(folder, "brought.json");
    writeFileSync(brought, (await alone(["state", "pull", "--state", from, "--env", "production"])).stdout);
    const push = ["state", "push", "--state", to, "--env", "production", brought];
    expect(await alone(push)).toMatchObject({ exitCode: 0 });
    const consents = ["--accept-service", "--allow-data-loss"];
    expect(await alone(["apply", "-y", "--env", "production", ...consents])).toMatchObject({ exitCode: 0 });
    expect((await alone(["plan", "--env", "dev"])).stderr).not.toContain("state/elsewhere");
  });

  it("of which nobody can say what it has is named", async () => {
    expect(await reconcile(["apply", "-y"])).toMatchObject({ exitCode: 0 });
    server.answer("empty 200");
    const ran = await reconcile(["plan"], join(folder, "moved.json"));
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining("warning[state/elsewhere]")]);
  });

  it.each([
    ["http://states.example/s?name=one", "http://states.example/s?name=two"],
    ["http://states.example/s?name=one", "s3://states/one"],
  ])("of which the note keeps a part of the address (%s) is not taken for the one that is left", (former, present) => {
    stateNote(folder, former, {}).write({ lineage: "a", serial: 1 });
    stateNote(folder, present, {}).write({ lineage: "b", serial: 1 });
    expect(otherStatesNoted(folder, present, {})).toEqual([{ location: "http://states.example/s?…", isWhole: false }]);
  });

  it.each([".reconcile", ".reconcile/states"])("is not remembered where %s cannot be gone into", (file) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "");
    const note = stateNote(folder, "s3://states/one", {});
    note.write({ lineage: "a", serial: 1 });
    note.forget();
    expect(note.read()).toBe(undefined);
    expect(otherStatesNoted(folder, "s3://states/two", {})).toEqual([]);
  });

  it("is another one where its bucket is on another server", () => {
    const on = (server: string) => ({ AWS_ENDPOINT_URL: server });
    stateNote(folder, "s3://states/one", on("https://a.example")).write({ lineage: "a", serial: 1 });
    const noted = (server: string) => otherStatesNoted(folder, "s3://states/one", on(server));
    expect(noted("https://a.example")).toEqual([]);
    expect(noted("https://b.example")).toEqual([{ location: "s3://states/one", isWhole: false }]);
  });

  it("in a database is asked as the user who asked before, whose password is noted nowhere", () => {
    const former = "postgres://ops:canary@db.example/infra?sslmode=verify-full&state=one&password=canary";
    stateNote(folder, former, {}).write({ lineage: "a", serial: 1 });
    expect(otherStatesNoted(folder, "postgres://ops@db.example/infra?state=two", {})).toEqual([
      { location: "postgres://ops@db.example/infra?sslmode=verify-full&state=one", isWhole: true },
    ]);
  });

  it("of a query that is not kept is named, and what it has is not believed to be nothing", async () => {
    expect(await reconcile(["apply", "-y"], `${server.url}/s?name=one`)).toMatchObject({ exitCode: 0 });
    const ran = await reconcile(["plan"], join(folder, "moved.json"));
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining(`${server.url}/s?…, which was used here`)]);
    // With what is left of it the state would be looked for, and brought, elsewhere.
    expect(ran.stderr).toMatch(/state pull --state ADDRESS \| reconcile state push \S.*moved\.json -$/m);
  });

  it("is not brought to an address of which a part is not shown", async () => {
    const file = join(folder, "reconcile.state.json");
    expect(await reconcile(["apply", "-y"], file)).toMatchObject({ exitCode: 0 });
    const { stderr } = await reconcile(["plan"], `${server.url}/t?name=two`);
    expect(stderr).toContain(`state pull --state ${file} | reconcile state push --state ADDRESS -;`);
  });
});

describe("a bucket", () => {
  it("whose objects are gone is refused, and nothing is made again", async () => {
    expect(await reconcile(["apply", "-y"], "s3://states/gone")).toMatchObject({ exitCode: 0 });
    for (const key of [...s3.objects.keys()]) if (key.includes("gone/")) s3.objects.delete(key);
    const ran = await reconcile(["apply", "-y", "--json"], "s3://states/gone");
    expect(codesOf(ran)).toEqual(["state/gone"]);
    expect(volumes()).toEqual(["data"]);
  });
});
