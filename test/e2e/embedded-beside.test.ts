/** Commands beside each other on the embedded service's world: one process serves it, the others are its guests. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { becomeGuest } from "../../emulator";
import { runCli, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";

const world = (vm: string): string => `version: 1
project: acme
region: in-west-1
service: { base_url: embedded }
vms: { ${vm}: { owner: ops@acme.example, user_id: "1", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;

it("serves a plan and an apply beside an apply, names who holds the lock, and stays until its guests are done", async () => {
  const folder = makeFolder({ "a.yaml": world("first"), "b.yaml": world("second"), "c.yaml": world("third") });
  const run = (...words: string[]) => runCli(words, { cwd: folder, env: { RECONCILE_TIME_SCALE: "6" } });
  const first = run("apply", "-y", "a.yaml", "--state", "a.state.json");
  await eventually("the first one serves", () =>
    existsSync(join(folder, ".reconcile/world/serving.json")) ? true : undefined,
  );
  await eventually("the first one holds its state", () =>
    existsSync(join(folder, "a.state.json")) ? true : undefined,
  );
  const [refused, second, looked] = await Promise.all([
    run("apply", "-y", "a.yaml", "--state", "a.state.json"),
    run("apply", "-y", "b.yaml", "--state", "b.state.json"),
    run("plan", "c.yaml", "--state", "c.state.json"),
  ]);
  expect(refused.stderr).toContain("state/locked");
  expect(refused.exitCode).toBe(1);
  expect([looked.exitCode, second.exitCode, (await first).exitCode]).toEqual([0, 0, 0]);
  for (const name of ["a", "b"]) {
    const again = await run("plan", `${name}.yaml`, "--state", `${name}.state.json`, "--detailed-exitcode");
    expect([again.stderr.includes("stays for"), again.exitCode]).toEqual([false, 0]);
  }
});

it("serves who comes while it stays for others", async () => {
  const folder = makeFolder({ "a.yaml": world("first"), "b.yaml": world("second") });
  const leave = becomeGuest(join(folder, ".reconcile/world"));
  const first = startCli(["apply", "-y", "a.yaml", "--state", "a.state.json"], { cwd: folder });
  await first.says("that it stays", ({ stderr }) => /stays for 1 more/.exec(stderr));
  const second = await runCli(["apply", "-y", "b.yaml", "--state", "b.state.json"], { cwd: folder });
  expect(second).toMatchObject({ exitCode: 0 });
  leave();
  expect((await first.finished).exitCode).toBe(0);
  const again = await runCli(["plan", "b.yaml", "--state", "b.state.json", "--detailed-exitcode"], { cwd: folder });
  expect(again.exitCode).toBe(0);
});

it("takes over a world whose server was killed", async () => {
  const folder = makeFolder({ "reconcile.yaml": world("first") });
  expect((await runCli(["apply", "-y"], { cwd: folder })).exitCode).toBe(0);
  const gone = 2 ** 22 + 1;
  writeFileSync(
    join(folder, ".reconcile/world/serving.json"),
    JSON.stringify({ url: "http://127.0.0.1:9", timeScale: 1, pid: gone }),
  );
  writeFileSync(join(folder, ".reconcile/world/lock"), `${gone} 1`);
  expect((await runCli(["plan", "--detailed-exitcode"], { cwd: folder })).exitCode).toBe(0);
});
