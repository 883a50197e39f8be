/** That the state has no such resource is not said of one whose record is damaged, and no other is named in its place. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

let cwd: string;

beforeAll(async () => {
  const vm = (name: string) =>
    `{ name: ${name}, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10, after_ready: { command: ["true"] } }`;
  cwd = makeFolder({
    "reconcile.yaml": `version: 1\nproject: acme\nregion: in-west-1\nservice: { base_url: embedded }\nvms: { db: ${vm("db-1")}, db2: ${vm("db-2")} }\ngroups: { web: {} }\n`,
  });
  const applied = await runCli(["apply", "-y"], { cwd });
  expect(applied.exitCode, applied.stdout + applied.stderr).toBe(0);
  const path = join(cwd, "reconcile.state.json");
  const state = JSON.parse(readFileSync(path, "utf8"));
  for (const address of ["vm.db", "group.web"]) state.resources[address].id = 5;
  writeFileSync(path, JSON.stringify(state));
});

test.each([
  [["state", "show", "vm.db"]],
  [["state", "mv", "vm.db", "vm.other"]],
  [["state", "mv", "vm.db2", "vm.db"]],
  [["state", "resolve", "vm.db", "--not-created"]],
  [["vm", "stop", "vm.db"]],
  [["ssh", "vm.db"]],
  [["ssh", "db"]],
  [["ssh", "vm.db2", "--jump", "vm.db"]],
  [["owe", "vm.db"]],
])("%j says that the record is damaged", async (args) => {
  const { exitCode, stderr } = await runCli(args, { cwd });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("error[state/quarantined]: the record of vm.db in the state is damaged and was set aside");
  expect(stderr).toContain("reconcile state rm vm.db");
  expect(stderr).not.toContain("did you mean");
});

test("files for other programs say which VMs they leave out", async () => {
  const { exitCode, stdout, stderr } = await runCli(["output", "--format", "hosts"], { cwd });
  expect(exitCode).toBe(0);
  expect(stdout).toContain("db-2");
  expect(stderr).toContain("their VMs are left out: vm.db.");
});
