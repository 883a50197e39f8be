/** A plan that was reviewed is what is applied: all of it, nothing else, once, wherever the checkout lies. */
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { readKeys, sealFile } from "../../reconciler/store/seal";
import { jsonLines, runCli } from "../support/cli-process";
import { makeFolder, writeFiles } from "../support/folder";

const emulators: RunningEmulator[] = [];
afterEach(async () => {
  for (const emulator of emulators.splice(0)) await emulator.close();
});

const vms = (...names: string[]) =>
  `version: 1
project: acme
region: in-west-1
service: { dialect: ./parts/my.dialect.yaml, timing: { poll_interval: 20ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms:
${names.map((name) => `  ${name}: {}\n`).join("")}`;
const dialect = "operations: { volume.list: { method: GET, path: /api/v1/volume/list } }\n";

async function setUp() {
  const emulator = await startEmulator({ timeScale: 0, with: ["volume.list"] });
  emulators.push(emulator);
  const first = makeFolder({ "infra/reconcile.yaml": vms("one"), "infra/parts/my.dialect.yaml": dialect });
  const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url };
  const run = (cwd: string, ...args: string[]) => runCli(args, { cwd, env });
  const names = () =>
    emulator
      .dump()
      .vms.map(({ name }) => name)
      .sort();
  return { emulator, first, env, run, names };
}

/** Another checkout of the same repository at another place. */
function checkout(from: string): string {
  const folder = makeFolder();
  cpSync(from, folder, { recursive: true });
  return folder;
}

it("applies what was reviewed and not what the files say by now, and only once", async () => {
  const { first, run, names } = await setUp();
  expect((await run(first, "plan", "infra/reconcile.yaml", "--out", "p.plan.json")).exitCode).toBe(0);
  writeFiles(first, { "infra/reconcile.yaml": vms("one", "two") });
  const applied = await run(first, "apply", "p.plan.json");
  expect(applied).toMatchObject({ exitCode: 0 });
  expect(names()).toEqual(["one"]);
  const again = await run(first, "apply", "p.plan.json");
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toMatch(/plan\/stale.*the state has moved on \(serial 0 then, \d+ now\)/);
});

it("is the same file each time it is made of the same files and the same world, also before there is a state", async () => {
  const { first, run } = await setUp();
  const made = async () => {
    expect((await run(first, "plan", "infra", "--out", "p.plan.json")).exitCode).toBe(0);
    return readFileSync(join(first, "p.plan.json"), "utf8");
  };
  expect(await made()).toBe(await made());
  await run(first, "apply", "infra", "--auto-approve");
  writeFiles(first, { "infra/reconcile.yaml": vms("one", "two") });
  expect(await made()).toBe(await made());
});

it("holds for another checkout, another folder, and without the environment it was made in", async () => {
  const { emulator, first, run, names } = await setUp();
  expect((await run(first, "plan", "infra", "--out", "p.plan.json")).exitCode).toBe(0);
  const saved = readFileSync(join(first, "p.plan.json"), "utf8");
  expect(saved).not.toContain(first);
  expect(saved).not.toContain("ops-token");
  const second = checkout(first);
  renameSync(join(first, "infra"), join(first, "gone"));
  mkdirSync(join(second, "elsewhere"));
  const applied = await runCli(["apply", "../p.plan.json"], {
    cwd: join(second, "elsewhere"),
    env: { RECONCILE_TOKEN: "ops-token" },
  });
  expect(applied).toMatchObject({ exitCode: 0 });
  expect(names()).toEqual(["one"]);
  expect(readFileSync(join(second, "infra/reconcile.state.json"), "utf8")).toContain('"vm.one"');
  expect(emulator.requests().counts["volume.list"]).toBeGreaterThan(0);
});

it("holds when the plan itself was carried to another folder than the checkout, as an artifact is", async () => {
  const { first, run, names } = await setUp();
  await run(first, "plan", "infra", "--out", "p.plan.json");
  const second = checkout(first);
  const download = makeFolder();
  renameSync(join(second, "p.plan.json"), join(download, "p.plan.json"));
  expect((await run(second, "apply", join(download, "p.plan.json"))).exitCode).toBe(0);
  expect(names()).toEqual(["one"]);
  const lost = await run(download, "apply", "p.plan.json");
  expect(lost.exitCode).toBe(1);
  expect(lost.stderr).toMatch(/plan\/no-checkout.*\(reconcile\.yaml in \S+\)$/m);
});

it.each([
  ["in the clear", {}],
  ["sealed", { RECONCILE_STATE_KEY: Buffer.alloc(32, 7).toString("base64") }],
])("may have any name, %s", async (_, env) => {
  const { first, env: service } = await setUp();
  const here = (...args: string[]) => runCli(args, { cwd: first, env: { ...service, ...env } });
  const saved = await here("plan", "infra", "--out", "pl'an #1");
  expect(saved.stderr).toContain("Saved the plan: reconcile apply 'pl'\\''an #1'\n");
  await here("plan", "infra", "--out", "planned");
  const shown = await here("show", "planned");
  expect(shown.stdout, shown.stderr).toContain("Plan: ");
  const applied = await here("apply", "planned", "-y");
  expect(applied.exitCode, applied.stdout + applied.stderr).toBe(0);
});

it("is not written over one of a newer version that is sealed", async () => {
  const { first, env: service } = await setUp();
  const key = Buffer.alloc(32, 7).toString("base64");
  const env = { ...service, RECONCILE_STATE_KEY: key };
  const path = join(first, "p.plan.json");
  const newer = JSON.stringify({ format: "reconcile-cloud/plan", version: 2 });
  const sealed = sealFile(readKeys(env), "plan", newer);
  writeFileSync(path, sealed);
  const refused = await runCli(["plan", "infra", "--out", path], { cwd: first, env });
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("error[state/newer]")]);
  expect(readFileSync(path, "utf8")).toBe(sealed);
  // What does not open is written over, as any other plan.
  const other = { ...env, RECONCILE_STATE_KEY: Buffer.alloc(32, 8).toString("base64") };
  expect((await runCli(["plan", "infra", "--out", path], { cwd: first, env: other })).exitCode).toBe(0);
});

it("is refused, with what changed, when the service or the state is not as it was, and sends nothing", async () => {
  const { emulator, first, run, names } = await setUp();
  await run(first, "apply", "infra", "-y");
  writeFiles(first, { "infra/reconcile.yaml": vms("one", "two") });
  await run(first, "plan", "infra", "--out", "p.plan.json");
  const seen = emulator.dump();
  await emulator.load({ ...seen, vms: seen.vms.map((vm) => ({ ...vm, name: "by-hand" })) });
  const drifted = await run(first, "apply", "p.plan.json");
  expect([drifted.exitCode, drifted.stderr]).toEqual([
    1,
    expect.stringMatching(/stale: vm\.one would change now, and did not then/),
  ]);
  expect(names()).toEqual(["by-hand"]);
  await emulator.load(seen);
  await run(first, "state", "rm", "vm.one", "-f", "infra");
  expect((await run(first, "apply", "p.plan.json")).stderr).toMatch(/the state has moved on/);
  expect(names()).toEqual(["one"]);
});

it("says nothing of the volumes on a VM that needs no change any more", async () => {
  const { first, run } = await setUp();
  await run(first, "apply", "infra", "-y");
  writeFiles(first, { "infra/reconcile.yaml": vms("one").replace("one: {}", "one: { flavor_id: m1.large }") });
  await run(first, "plan", "infra", "--out", "p.plan.json");
  expect((await run(first, "apply", "p.plan.json")).exitCode).toBe(0);
  const { stderr } = await run(first, "apply", "p.plan.json");
  expect(stderr).toMatch(/plan\/stale.*; vm\.one needs no change any more$/m);
});

it("is refused when it was changed, even by one character of one field", async () => {
  const { first, run, names } = await setUp();
  await run(first, "plan", "infra", "--out", "p.plan.json");
  const path = join(first, "p.plan.json");
  const text = readFileSync(path, "utf8");
  for (const [from, to] of [
    ["m1.small", "m1.large"],
    ['"serial": 0', '"serial": 1'],
    ['"reconcile.state.json"', '"other.state.json"'],
  ] as const) {
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
    expect((await run(first, "apply", "p.plan.json")).stderr).toContain("plan/tampered");
  }
  writeFileSync(path, text.slice(0, 100));
  expect((await run(first, "apply", "p.plan.json")).stderr).toContain("plan/unreadable");
  expect(names()).toEqual([]);
});

it("is refused for another service, another state or another dialect than it was reviewed for", async () => {
  const { emulator, first, run, names } = await setUp();
  await run(first, "plan", "infra", "--out", "p.plan.json");
  const other = await startEmulator({ timeScale: 0 });
  emulators.push(other);
  expect((await run(first, "apply", "p.plan.json", "--base-url", other.url)).stderr).toMatch(
    /it is for the service http\S+, not/,
  );
  const elsewhere = await run(first, "apply", "p.plan.json", "--state", "e.json", "--base-url", `${emulator.url}/`);
  expect(elsewhere.stderr).toMatch(/it is for the state reconcile\.state\.json, not/);
  expect(elsewhere.stderr).not.toContain("it is for the service");
  writeFiles(first, { "other.yaml": "operations: { vm.list: null }\n" });
  expect((await run(first, "apply", "p.plan.json", "--dialect", "other.yaml")).stderr).toContain(
    "the dialect is another one now",
  );
  expect(names()).toEqual([]);
  expect(other.dump().vms).toEqual([]);
});

it("takes no flag that would make another plan of it, and needs the flush consent that no review gives", async () => {
  const { first, run } = await setUp();
  await run(first, "plan", "infra", "--out", "p.plan.json");
  for (const flag of [
    ["--target", "vm.one"],
    ["--target-file", "targets"],
    ["--exclude", "vm.one"],
    ["--prices", "prices.yaml"],
    ["--replace", "vm.one"],
    ["--var", "a=b"],
    ["-f", "infra/reconcile.yaml"],
    ["--adopt"],
  ])
    expect((await run(first, "apply", "p.plan.json", ...flag)).stderr).toContain("a saved plan is applied as it is");
  const withVolume = (size: number) => `${vms("one")}volumes: { logs: { size: ${size}, attach_to: one } }\n`;
  writeFiles(first, { "infra/reconcile.yaml": withVolume(10) });
  await run(first, "apply", "infra", "-y");
  writeFiles(first, { "infra/reconcile.yaml": withVolume(20) });
  const saved = await run(first, "plan", "infra", "--out", "p.plan.json", "--confirm-flush", "all");
  expect(saved.stderr).toContain("A saved plan does not hold this: give --confirm-flush to apply as well.");
  const blocked = await run(first, "apply", "p.plan.json", "--json");
  expect(blocked.exitCode).toBe(3);
  expect(
    jsonLines(blocked.stdout)
      .at(-1)!
      ["diagnostics"].map(({ code }: { code: string }) => code),
  ).toContain("consent/flush");
  expect((await run(first, "apply", "p.plan.json", "--confirm-flush", "volume.logs")).exitCode).toBe(0);
});

it("a reviewed plan that loses data is applied without a second consent, and the report is written beside it", async () => {
  const { first, run, names } = await setUp();
  writeFiles(first, { "infra/reconcile.yaml": vms("one", "two") });
  await run(first, "apply", "infra", "-y");
  writeFiles(first, { "infra/reconcile.yaml": vms("one") });
  // A plan of more than what was asked for would lose more, and its approval is its review.
  const asked = await run(first, "apply", "infra", "--target", "vm.two", "--allow-data-loss");
  expect([asked.exitCode, asked.stderr]).toEqual([
    3,
    expect.stringContaining("save it with reconcile plan -f infra --out F, with the same --target, and apply that"),
  ]);
  const saved = await run(first, "plan", "infra", "--out", "p.plan.json", "--allow-data-loss");
  expect(saved.stderr).not.toContain("to apply as well");
  expect((await run(first, "apply", "p.plan.json", "--report", "report.html")).exitCode).toBe(0);
  expect(names()).toEqual(["one"]);
  expect(readFileSync(join(first, "report.html"), "utf8")).toMatch(/role="status">done</);
});

it("an embedded world and several files travel too", async () => {
  const one = vms("one").replace(
    "{ dialect: ./parts/my.dialect.yaml, timing: { poll_interval: 20ms } }",
    "{ base_url: embedded }",
  );
  const groups = "version: 1\ngroups: { web: { rules: [ { protocol: tcp, dst_port: 443 } ] } }\n";
  const first = makeFolder({ "infra/a.yaml": one, "infra/b.yaml": groups });
  const env = { RECONCILE_TIME_SCALE: "0" };
  expect(
    (await runCli(["plan", "infra/a.yaml", "infra/b.yaml", "--out", "out/p.plan.json"], { cwd: first, env })).exitCode,
  ).toBe(1);
  mkdirSync(join(first, "out"));
  expect(
    (
      await runCli(["plan", "-f", "infra/a.yaml", "-f", "infra/b.yaml", "--out", "out/p.plan.json"], {
        cwd: first,
        env,
      })
    ).exitCode,
  ).toBe(0);
  const second = checkout(first);
  const applied = await runCli(["apply", "out/p.plan.json", "--json"], { cwd: second, env });
  expect(jsonLines(applied.stdout).at(-1)).toMatchObject({ ok: true, changes: { create: 2 } });
  expect(
    (await runCli(["plan", "infra/a.yaml", "infra/b.yaml", "--detailed-exitcode"], { cwd: second, env })).exitCode,
  ).toBe(0);
});

it("says of a whole component that it moves, or that it is let go", async () => {
  const { first, run, names } = await setUp();
  const tier = 'component: 1\nvms:\n  web: { name: "${component}-web" }\n';
  const uses = (text: string) =>
    writeFiles(first, { "infra/parts/tier.yaml": tier, "infra/reconcile.yaml": vms("one") + text });
  const saved = async () => [
    (await run(first, "plan", "infra", "--out", "p.plan.json")).exitCode,
    (await run(first, "apply", "p.plan.json")).exitCode,
  ];
  uses("components:\n  shop: { from: ./parts/tier.yaml }\n  desk: { from: ./parts/tier.yaml }\n");
  expect(await saved()).toEqual([0, 0]);
  uses(
    "components:\n  store: { from: ./parts/tier.yaml }\n" +
      "moved: [{ from: shop/, to: store/ }]\nremoved: [{ from: desk/, destroy: false }]\n",
  );
  const shown = (await run(first, "plan", "infra")).stdout;
  expect(shown).toMatch(/removed entry says to let it go \(infra\/reconcile\.yaml:\d+\)/);
  expect(await saved()).toEqual([0, 0]);
  expect(names()).toEqual(["desk-web", "one", "store-web"]);
  expect((await run(first, "state", "list", "infra")).stdout).not.toMatch(/desk|shop\//);
});

it("made without a look and refused after one, it says what helps", async () => {
  const { first, run, names } = await setUp();
  writeFiles(first, { "infra/reconcile.yaml": vms("one", "two") });
  expect((await run(first, "apply", "infra", "-y")).exitCode).toBe(0);
  writeFiles(first, { "infra/reconcile.yaml": vms("one") });
  const unlooked = await run(first, "plan", "infra", "--no-refresh", "--out", "p.plan.json");
  expect([unlooked.exitCode, unlooked.stdout]).toEqual([0, expect.stringMatching(/\d from memory, as seen last/)]);
  const refused = await run(first, "apply", "p.plan.json");
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(/plan\/stale.*\n.*fix: plan again \(without --no-refresh\)/);
  expect((await run(first, "plan", "infra", "--out", "p.plan.json")).exitCode).toBe(0);
  expect((await run(first, "apply", "p.plan.json")).exitCode).toBe(0);
  expect(names()).toEqual(["one"]);
});

it("tells what was owed, and runs programs in the folders of the files that name them, wherever it is applied", async () => {
  const { first, run } = await setUp();
  const where = (name: string) => `[sh, -c, 'pwd >> "$0"', "${join(first, name)}"]`;
  const tier = `component: 1\nvms: { web: { name: part-web, after_ready: { command: ${where("ready")} } } }\n`;
  const rollout = `rollout: { all: { of: [vm.one], check: { command: ${where("check")} } } }\n`;
  const policy = `policy: { command: [sh, -c, 'pwd >> "$0"; echo "[]"', "${join(first, "policy")}"] }\n`;
  const uses = "components: { part: { from: ./parts/tier.yaml } }\n";
  const given = ["-f", "infra/reconcile.yaml", "-f", "beside"];
  writeFiles(first, { "infra/reconcile.yaml": vms("one"), "beside/more.yaml": rollout + policy });
  expect((await run(first, "apply", ...given, "-y")).exitCode).toBe(0);
  const image = vms("one").replace("ubuntu-24.04", "debian-12");
  writeFiles(first, { "infra/reconcile.yaml": image + uses, "infra/parts/tier.yaml": tier });
  expect((await run(first, "plan", ...given, "--out", "p.plan.json")).exitCode).toBe(0);
  const folder = makeFolder();
  const applied = await run(folder, "apply", join(first, "p.plan.json"));
  expect(applied.exitCode, applied.stdout + applied.stderr).toBe(0);
  const last = (name: string) => readFileSync(join(first, name), "utf8").trimEnd().split("\n").at(-1);
  expect(["ready", "check", "policy"].map((name) => last(name)?.slice(first.length))).toEqual([
    "/infra/parts",
    "/beside",
    "/beside",
  ]);
  expect((await run(first, "owe", "part/vm.web", ...given)).exitCode).toBe(0);
  expect((await run(first, "plan", ...given, "--out", "p.plan.json")).exitCode).toBe(0);
  const shown = await run(first, "show", "p.plan.json");
  expect(shown.stdout).toMatch(/^owed: after_ready of part\/vm\.web, since \S+ \(asked\)$/m);
});
