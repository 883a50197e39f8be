/** Environments of one file, each on its own state, tried with the command as a process. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { jsonLines, type Ran, runCli } from "../support/cli-process";
import { ownPlace } from "../support/own-place";

const place = ownPlace();
beforeEach(async () => {
  mkdirSync(join(place.folder, "states"));
  writeFileSync(
    join(place.folder, "reconcile.yaml"),
    `version: 1
project: acme
region: in-west-1
service: { base_url: "${place.emulator.url}", timing: { poll_interval: 20ms } }
vars: { tier: { one_of: [small, large] } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: "m1.\${var.tier}", size: 10 } }
environments:
  dev: { vars: { tier: small } }
  prod: { vars: { tier: large }, protect: true, state: states/prod.json }
vms: { web: { name: "web-\${env}" } }
`,
  );
});
const reconcile = (...args: string[]): Promise<Ran> =>
  runCli(args, { cwd: place.folder, env: { RECONCILE_TOKEN: "ops-token" } });
const writes = (): number => place.emulator.requests().log.filter(({ method }) => method !== "GET").length;

it.each([["plan"], ["move", "--all", "--to", "../other"]])(
  "of a file that cannot be read are not none: %s",
  async (...words) => {
    appendFileSync(join(place.folder, "reconcile.yaml"), "x-more: [\n");
    const ran = await reconcile(...words, "--env", "all");
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("error[config/yaml-syntax]")]);
  },
);

it("have a comment each, which a plan that fails writes over too", async () => {
  const comments = async (env: string): Promise<[string | undefined, string | undefined][]> =>
    (await reconcile("plan", "--markdown", "--env", env)).stdout
      .split(/^(?=<!-- reconcile-plan)/m)
      .map((part) => [part.split("\n")[0], /^### .*?plan: /im.exec(part)?.[0]]);
  expect(await comments("prod")).toEqual([["<!-- reconcile-plan prod -->", "### Plan: "]]);
  // Shown from its file, it is the same comment.
  const planned = await reconcile("plan", "--markdown", "--env", "prod", "--out", "p.plan.json");
  expect((await reconcile("show", "p.plan.json", "--markdown")).stdout.split("###")[0]).toBe(
    planned.stdout.split("###")[0],
  );
  const file = join(place.folder, "reconcile.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("tier: large", "tier: vast"));
  const failed = ["<!-- reconcile-plan prod -->", "### prod: No plan: "];
  expect(await comments("prod")).toEqual([failed]);
  expect(await comments("all")).toEqual([["<!-- reconcile-plan dev -->", "### Plan: "], failed]);
});

it.each(["plan", "validate"])("have one document of annotations, with those that fail: %s", async (command) => {
  const annotated = async (form: string) => (await reconcile(command, "--annotations", form, "--env", "all")).stdout;
  expect(JSON.parse(await annotated("sarif")).runs).toHaveLength(1);
  const file = join(place.folder, "reconcile.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("tier: large", "tier: vast"));
  const found = JSON.parse(await annotated("gitlab"));
  expect(found).toMatchObject([{ check_name: "config/not-allowed", severity: "critical" }]);
  expect((await annotated("junit")).match(/<testsuites /g)).toHaveLength(1);
});

it("tell a common problem once and whose another one is, and have their own cost and commands in JSON", async () => {
  const file = join(place.folder, "reconcile.yaml");
  const written = readFileSync(file, "utf8");
  const problems = async (env: string) => {
    const ran = await reconcile("validate", "--env", env, "--json");
    const { diagnostics } = jsonLines(ran.stdout).at(-1) ?? {};
    const told = (await reconcile("validate", "--env", env)).stderr;
    expect(told.match(/^error/gm)).toHaveLength(1);
    return [diagnostics, told];
  };
  writeFileSync(file, written.replace("version: 1", "version: 1\nregoin: x"));
  expect(await problems("all")).toEqual(await problems("dev"));
  writeFileSync(file, written.replace("tier: large", "tier: vast"));
  expect(await problems("all")).toEqual([
    [expect.objectContaining({ detail: "expected one of small, large; in the environment prod" })],
    expect.stringContaining("= expected: one of small, large; in the environment prod\n"),
  ]);

  const prices = "prices: { currency: EUR, per: month, vm: { m1.small: 10, m1.large: 20 } }\n";
  writeFileSync(
    file,
    `${written.replace("vms: { web: {", "vms: { web: { after_ready: { command: [never] },")}${prices}`,
  );
  const applied = await reconcile("apply", "--env", "dev", "-y", "--no-programs", "--base-url", place.emulator.url);
  expect(applied.exitCode, applied.stderr).toBe(4);
  const summary = jsonLines((await reconcile("plan", "--env", "all", "--json")).stdout).at(-1);
  const owed = [expect.objectContaining({ address: "vm.web", command: "after_ready" })];
  expect(summary).toMatchObject({
    owed,
    environments: [
      { owed, cost: { after: "10.00" } },
      { owed: [], cost: { after: "20.00" } },
    ],
  });
});

it("have their own commands in what is to be done", async () => {
  for (const state of ["reconcile.dev.state.json", "states/prod.json"])
    writeFileSync(join(place.folder, state), '{"cut');
  const ran = await reconcile("plan", "--env", "all");
  const named = (env: string) => expect.stringContaining(`reconcile state push --env ${env} COPY --force`);
  expect([ran.exitCode, ran.stdout, ran.stderr, ran.stderr]).toEqual([1, "", named("dev"), named("prod")]);
});

it("share the length of the one comment that they are planned in", async () => {
  const file = join(place.folder, "reconcile.yaml");
  appendFileSync(file, 'volumes: { data: { for_each: 400, name: "${env}-${each}", size: 1 } }\n');
  const { stdout } = await reconcile("plan", "--env", "all", "--markdown", "--no-refresh");
  expect(stdout.match(/^<!-- reconcile-plan .*/gm)).toHaveLength(2);
  expect(stdout).toContain("without details here");
  expect(stdout.length).toBeLessThanOrEqual(65_536);
});

it("are planned in turn, applied one by one, each on its own state, and none on another's", async () => {
  const all = await reconcile("plan", "--env", "all", "--json", "--detailed-exitcode");
  expect(all.exitCode, all.stderr).toBe(2);
  const lines = jsonLines(all.stdout);
  expect(
    lines.filter(({ type }) => type === "change").map(({ environment, address }) => [environment, address]),
  ).toEqual([
    ["dev", "vm.web"],
    ["prod", "vm.web"],
  ]);
  expect(lines.at(-1)).toMatchObject({
    type: "summary",
    changes: { create: 2 },
    environment: "all",
    environments: [{ environment: "dev" }, { environment: "prod", state: "states/prod.json" }],
  });

  const none = await reconcile("plan");
  expect(none.exitCode).toBe(1);
  expect(none.stderr).toContain("no environment is chosen");

  const dev = await reconcile("apply", "--env", "dev", "-y", "--json");
  expect(jsonLines(dev.stdout).at(-1)).toMatchObject({
    exit_code: 0,
    environment: "dev",
    state: "reconcile.dev.state.json",
    service: place.emulator.url,
    project: "acme",
  });
  const prod = await runCli(["apply", "-y"], {
    cwd: place.folder,
    env: { RECONCILE_TOKEN: "ops-token", RECONCILE_ENV: "prod" },
  });
  expect(prod.exitCode, prod.stderr).toBe(0);
  expect(prod.stdout).toMatch(/^environment prod · project acme · service \S+ · state states\/prod.json\n/);
  expect(
    place.emulator
      .dump()
      .vms.map(({ name }) => name)
      .sort(),
  ).toEqual(["web-dev", "web-prod"]);

  // The other environment's state, once by a flag and once by a forgotten one: refused before anything is sent.
  const sent = writes();
  const before = readFileSync(join(place.folder, "reconcile.dev.state.json"), "utf8");
  for (const args of [["plan"], ["apply", "-y"], ["destroy", "-y", "--allow-data-loss"]]) {
    const ran = await reconcile(...args, "--env", "prod", "--state", "reconcile.dev.state.json");
    expect(ran.exitCode, args.join(" ") + ran.stdout + ran.stderr).toBe(3);
    expect(ran.stderr).toContain("this state is of the environment dev, and prod was chosen");
    expect(ran.stderr).toContain("--accept-service");
  }
  expect(writes()).toBe(sent);
  expect(readFileSync(join(place.folder, "reconcile.dev.state.json"), "utf8")).toBe(before);

  // What is protected goes by no consent, and a second run of each changes nothing.
  const gone = await reconcile("destroy", "--env", "prod", "-y", "--allow-data-loss");
  expect(gone.exitCode).toBe(3);
  expect(gone.stderr).toContain("prevent_destroy");
  for (const name of ["dev", "prod"])
    expect((await reconcile("plan", "--env", name, "--detailed-exitcode")).exitCode).toBe(0);
  expect(existsSync(join(place.folder, "reconcile.state.json"))).toBe(false);
});

it("bind a saved plan", async () => {
  const planned = await reconcile("plan", "--env", "dev", "--out", "x.plan.json");
  expect(planned.exitCode, planned.stderr).toBe(0);
  const other = await reconcile("apply", "x.plan.json", "--env", "prod");
  expect(other.exitCode).toBe(1);
  expect(other.stderr).toContain("it is for the environment dev, not prod");
  expect(writes()).toBe(0);
  const applied = await reconcile("apply", "x.plan.json");
  expect(applied.exitCode, applied.stderr).toBe(0);
  expect(existsSync(join(place.folder, "reconcile.dev.state.json"))).toBe(true);
});
