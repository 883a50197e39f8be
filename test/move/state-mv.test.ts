import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { jsonLines, type Ran, runCli, startCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

/** Every n-th durable write of `state mv --to-state` is one at which it is killed; 1 tries all. */
const stride = Number(process.env["MOVE_PROCESS_KILL_STRIDE"] ?? 29);
const hook = resolve(__dirname, "../support/kill-at-write.cjs");
const keys = { own: Buffer.alloc(32, 1).toString("base64"), other: Buffer.alloc(32, 2).toString("base64") };

const file = (vms: string): string => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { ${vms} }
`;

let folder: string;
let emulator: RunningEmulator;
beforeEach(async () => {
  folder = makeFolder({
    "shop/reconcile.yaml": file("web: {}, database: {}"),
    "database/reconcile.yaml": file("other: {}"),
  });
  emulator = await startEmulator({ timeScale: 0 });
});
afterEach(() => emulator.close());

const options = (project: string, env: Record<string, string> = {}) => ({
  cwd: join(folder, project),
  env: { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url, ...env },
});
const reconcile = (project: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  runCli(args, options(project, env));
const writes = (): number => emulator.requests().log.filter(({ method }) => method !== "GET").length;
const managed = async (project: string, env: Record<string, string> = {}): Promise<unknown[]> =>
  jsonLines((await reconcile(project, ["state", "list", "--json"], env)).stdout).flatMap((line) =>
    line["type"] === "resource" ? [line["address"]] : [],
  );
const moving = ["state", "mv", "vm.database", "vm.database", "--to-state", "../database/reconcile.state.json"];

const applied = async (): Promise<void> => {
  for (const project of ["shop", "database"]) expect((await reconcile(project, ["apply", "-y"])).exitCode).toBe(0);
};
const afterMove = (): void => {
  writeFileSync(join(folder, "shop/reconcile.yaml"), file("web: {}"));
  writeFileSync(join(folder, "database/reconcile.yaml"), file("other: {}, database: {}"));
};

it("a record goes to another state with nothing sent, and both files plan to nothing", async () => {
  await applied();
  const before = writes();
  const moved = await reconcile("shop", moving);
  expect(moved, moved.stderr).toMatchObject({ exitCode: 0 });
  expect(moved.stdout).toContain("Nothing was sent to the service.");
  expect([await managed("shop"), await managed("database")]).toEqual([["vm.web"], ["vm.database", "vm.other"]]);
  afterMove();
  for (const project of ["shop", "database"])
    expect((await reconcile(project, ["plan", "--detailed-exitcode"])).exitCode).toBe(0);
  expect(writes()).toBe(before);
  const again = await reconcile("shop", moving);
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("the state has no vm.database") });
});

it("killed at a durable write: plan refuses, and the next apply of either side finishes it and goes on", async () => {
  await applied();
  const texts = ["shop", "database"].map((project): [string, string] => {
    const path = join(folder, project, "reconcile.state.json");
    return [path, readFileSync(path, "utf8")];
  });
  const counted = join(folder, "writes");
  await startCli(moving, options("shop", { NODE_OPTIONS: `--require ${hook}`, COUNT_WRITES: counted })).finished;
  const count = Number(readFileSync(counted, "utf8"));
  expect(count).toBeGreaterThan(20);
  const before = writes();
  let refused = 0;
  for (let nth = 2; nth <= count; nth += stride) {
    for (const [path, text] of texts) {
      for (const suffix of ["", ".journal", ".journal.end", ".lock"]) rmSync(`${path}${suffix}`, { force: true });
      writeFileSync(path, text);
    }
    const env = { NODE_OPTIONS: `--require ${hook}`, KILL_AT_WRITE: `${nth}:after` };
    for (const project of ["shop", "database"])
      rmSync(join(folder, project, ".reconcile/states"), { recursive: true, force: true });
    const killed = startCli(moving, options("shop", env));
    await killed.finished;
    if (killed.child.signalCode !== "SIGKILL") continue;
    const isMoved = /"vm.database"/.test(JSON.stringify(await managed("database")));
    if (isMoved) afterMove();
    else {
      writeFileSync(join(folder, "shop/reconcile.yaml"), file("web: {}, database: {}"));
      writeFileSync(join(folder, "database/reconcile.yaml"), file("other: {}"));
    }
    const plan = await reconcile("shop", ["plan", "--detailed-exitcode"]);
    const isHalf = plan.stderr.includes("state/half-moved");
    if (isHalf) refused++;
    expect(plan.exitCode, `write ${nth}: ${plan.stdout}${plan.stderr}`).toBe(isHalf ? 1 : 0);
    const sides = nth % 2 === 0 ? ["database", "shop"] : ["shop", "database"];
    for (const project of sides) {
      const ran = await reconcile(project, ["apply", "-y"]);
      expect(ran, `write ${nth}: ${ran.stderr}`).toMatchObject({ exitCode: 0 });
    }
    const [shop, database] = [await managed("shop"), await managed("database")];
    expect([...shop, ...database].filter((address) => address === "vm.database")).toEqual(["vm.database"]);
  }
  expect(refused).toBeGreaterThan(0);
  expect(writes()).toBe(before);
});

it("between states that are encrypted under different keys", async () => {
  expect((await reconcile("shop", ["apply", "-y"], { RECONCILE_STATE_KEY: keys.own })).exitCode).toBe(0);
  expect((await reconcile("database", ["apply", "-y"], { RECONCILE_STATE_KEY: keys.other })).exitCode).toBe(0);
  const without = await reconcile("shop", moving, { RECONCILE_STATE_KEY: keys.own });
  expect(without).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("state/key-wrong") });
  // The other state under the own key would be lost to its own project.
  expect(without.stderr).toContain("fix: give the key of that state as RECONCILE_OTHER_STATE_KEY");
  expect(without.stderr).not.toContain("RECONCILE_STATE_KEY_PREVIOUS");
  const both = { RECONCILE_STATE_KEY: keys.own, RECONCILE_OTHER_STATE_KEY: keys.other };
  const moved = await reconcile("shop", moving, both);
  expect(moved, moved.stderr).toMatchObject({ exitCode: 0 });
  expect(await managed("database", { RECONCILE_STATE_KEY: keys.other })).toEqual(["vm.database", "vm.other"]);
  expect(await managed("shop", { RECONCILE_STATE_KEY: keys.own })).toEqual(["vm.web"]);
});
