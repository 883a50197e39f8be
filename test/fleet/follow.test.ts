/** A fleet whose own file is in a repository: what a push adds is carried out, and what leaves waits for a person. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ran, runCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage } from "../support/fleet-processes";
import { makeFolder } from "../support/folder";
import { postgresMissing } from "../support/postgres-server";

describe.skipIf(postgresMissing !== undefined)("a fleet that follows its file", () => {
  const repository = makeFolder({ readme: "" });
  const project = "version: 1\nproject: acme\n";
  let stage: FleetStage;
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...words], {
      cwd: repository,
      encoding: "utf8",
    });
  function push(files: Record<string, string | undefined>): void {
    for (const [path, text] of Object.entries(files)) {
      if (text === undefined) rmSync(join(repository, path), { recursive: true });
      else {
        mkdirSync(join(repository, path, ".."), { recursive: true });
        writeFileSync(join(repository, path), text);
      }
    }
    git("add", "--all");
    git("commit", "--quiet", "--message", "x");
  }
  const fleet = (stacks: readonly string[], more = ""): string => `version: 1
services: { here: { base_url: "${stage.emulator.url}", dialect: ./here.dialect.yaml } }
follow: { git: "${repository}", path: fleet/fleet.yaml }
defaults: { service: here, interval: 1h, state: "${stage.database}?state=\${stack}", retry: { first: 1s, max: 2s } }
generate: [ { git: "${repository}", folders: "apps/*/reconcile.yaml", stack: "app-\${folder}" } ]
stacks:
${stacks.map((name) => `  ${name}: { source: { git: "${repository}", path: stacks/${name} } }`).join("\n")}
${more}`;
  const names = async (): Promise<string[]> => (await stage.session.records.stacks()).map(({ name }) => name);
  /** As a webhook asks for a look. */
  const until = (what: string, is: () => Promise<boolean>) =>
    eventually(what, async () => {
      await stage.session.records.releaseTask("follow");
      await new Promise((resolve) => setTimeout(resolve, 500));
      return (await is()) ? true : undefined;
    });
  const elsewhere = (...args: string[]): Promise<Ran> => runCli(args, { cwd: makeFolder(), env: stage.env });

  beforeAll(async () => {
    stage = await openFleetStage({ timeScale: 200 });
    git("init", "--quiet", "--initial-branch", "main");
    push({
      "fleet/fleet.yaml": fleet(["one", "two"]),
      "fleet/here.dialect.yaml": "{}",
      "stacks/one/reconcile.yaml": project,
      "stacks/two/reconcile.yaml": project,
      "apps/shop/reconcile.yaml": project,
    });
    stage.write("fleet/here.dialect.yaml", "{}");
    stage.write("fleet/fleet.yaml", fleet(["one", "two"]));
    const synced = await stage.run("fleet", "sync", "fleet/fleet.yaml", "--auto-approve");
    expect([synced.exitCode, synced.stderr]).toEqual([0, expect.stringContaining("From now on it follows")]);
    await stage.worker();
  });
  afterAll(() => stage.close());

  test("what a push adds and changes is carried out", { timeout: 0 }, async () => {
    expect(await names()).toEqual(["app-shop", "one", "two"]);
    for (const name of await names()) await stage.until(name, ({ status }) => status.ready);
    push({
      "fleet/fleet.yaml": fleet(["one", "two", "three"]).replace("interval: 1h", "interval: 2h"),
      "stacks/three/reconcile.yaml": project,
      "apps/blog/reconcile.yaml": project,
    });
    await until("the new stacks", async () => (await names()).length === 5);
    expect(await names()).toEqual(["app-blog", "app-shop", "one", "three", "two"]);
    const one = await stage.until("one", ({ spec }) => spec.intervalMs === 7_200_000);
    expect(one.status.ready).toBe(true);
    // The dialect is one of the repository, wherever a worker keeps it.
    await stage.until("three", ({ status }) => status.ready);
    const { services } = await stage.session.records.settings();
    expect(services[0]?.dialectIn).toMatchObject({ url: repository, path: "fleet/here.dialect.yaml" });
    expect((await stage.session.records.decisions(undefined, 20)).map(({ what }) => what)).toContain("follow");
  });

  test("what leaves waits for a person, and a file with errors changes nothing", { timeout: 0 }, async () => {
    push({ "fleet/fleet.yaml": fleet(["one", "three"]), "apps/shop": undefined });
    const { records } = stage.session;
    await until("what would leave", async () => (await records.followed())?.leaving.length === 2);
    expect(await names()).toEqual(["app-blog", "app-shop", "one", "three", "two"]);
    const listed = await elsewhere("fleet", "list");
    expect(listed.stdout).toContain("2 stacks are not in the fleet's own file any more: app-shop, two.");

    push({ "fleet/fleet.yaml": fleet(["one"], "stackz: {}\n") });
    await until("the error", async () => (await records.followed())?.why !== undefined);
    expect((await elsewhere("fleet", "list")).stdout).toMatch(
      /could not be carried out: fleet\/fleet.yaml:\d+ .*stackz/,
    );
    expect(await names()).toHaveLength(5);

    push({ "fleet/fleet.yaml": fleet(["one", "three"]) });
    const asked = await elsewhere("fleet", "sync");
    expect([asked.exitCode, asked.stdout]).toEqual([3, expect.stringContaining("- two is released")]);
    const synced = await elsewhere("fleet", "sync", "--auto-approve");
    expect(synced.exitCode, synced.stderr).toBe(0);
    expect(await names()).toEqual(["app-blog", "one", "three"]);
    await until("nothing to leave", async () => (await records.followed())?.leaving.length === 0);
    expect((await elsewhere("fleet", "list")).stdout).not.toContain("own file");
  });

  test("what looks like another name of a stack waits for a person", { timeout: 0 }, async () => {
    const { records } = stage.session;
    const named = (more: string): string =>
      fleet(["three"], `  uno: { source: { git: "${repository}", path: stacks/one }${more} }\n`);
    push({ "fleet/fleet.yaml": named("") });
    await until("what waits", async () => (await records.followed())?.anew?.length === 1);
    expect(await names()).toEqual(["app-blog", "one", "three"]);
    expect((await elsewhere("fleet", "list")).stdout).toContain("made a second time: uno. Give it the state");
    expect((await elsewhere("fleet", "sync")).stdout).toContain(`give it that state: ${stage.database}?state=one`);
    push({ "fleet/fleet.yaml": named(`, state: "${stage.database}?state=one"`) });
    expect((await elsewhere("fleet", "sync", "--auto-approve")).exitCode).toBe(0);
    expect(await names()).toEqual(["app-blog", "three", "uno"]);
    await until("nothing to wait for", async () => (await records.followed())?.anew?.length === 0);
    expect((await elsewhere("fleet", "list")).stdout).not.toContain("own file");
  });

  test("a folder that has another name by now makes no stack by itself", { timeout: 0 }, async () => {
    const { records } = stage.session;
    await stage.until("app-blog", ({ status }) => status.ready);
    push({ "apps/blog": undefined, "apps/journal/reconcile.yaml": `${project}region: in-west-1\n` });
    await until("what waits", async () => (await records.followed())?.anew?.length === 1);
    expect(await names()).toEqual(["app-blog", "three", "uno"]);
    const { stdout } = await elsewhere("fleet", "sync");
    expect(stdout).toContain("+ app-journal is added, with the files of app-blog and another state");
    // It is meant to be another one: a person says so.
    expect((await elsewhere("fleet", "sync", "--auto-approve")).exitCode).toBe(0);
    expect(await names()).toEqual(["app-journal", "three", "uno"]);
    await until("nothing to wait for", async () => (await records.followed())?.anew?.length === 0);
  });

  test.each([
    ["  near: { source: { folder: ./near } }\n", "fleet/near"],
    ["  near: { source: { folder: /near }, state: ./near.json }\n", "fleet/near.json"],
    ['generate: [ { folder: /near, folders: "*/x.yaml", state: "./${stack}.json" } ]\n', "fleet/${stack}.json"],
  ])("a path beside the file that no worker finds is told: %s", { timeout: 0 }, async (more, lost) => {
    const text = fleet(["one"], more);
    push({ "fleet/fleet.yaml": more.startsWith("generate") ? text.replace(/^generate: .*\n/m, "") : text });
    const { stderr, exitCode } = await elsewhere("fleet", "sync");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${lost} is relative to a fleet's file`)]);
  });
});
