import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reconcile-files-"));
  for (const folder of ["here", "site", "shared"]) mkdirSync(join(root, folder));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
const validate = (...args: string[]) => runCli(["validate", ...args], { cwd: join(root, "here") });

describe("several files and folders", { timeout: 60_000 }, () => {
  it("a folder's dotfiles belong to other programs, and a file named beside its folder is one file", async () => {
    write("site/reconcile.yaml", "version: 1\ngroups: { web: {} }\n");
    write("site/.gitlab-ci.yml", "stages: [ plan ]\n");
    const ran = await validate("../site", "-f", "../site/reconcile.yaml");
    expect(ran.stderr).toBe("");
    expect(ran.stdout).toContain("1 security group in 1 file.");
  });

  it.each([
    ["relative to the file that names it", "./our.dialect.yaml", "--> ../shared/our.dialect.yaml:1:9"],
    ["absolute", "ABSOLUTE", "our.dialect.yaml:1:9"],
  ])("a dialect's path is %s, and its problems are shown where it is seen from here", async (_, path, place) => {
    write("shared/our.dialect.yaml", "rules: {port_rnge: x}\n");
    write("site/reconcile.yaml", "version: 1\n");
    const given = path === "ABSOLUTE" ? join(root, "shared/our.dialect.yaml") : path;
    write("shared/service.yaml", `version: 1\nservice: { dialect: ${JSON.stringify(given)} }\n`);
    const ran = await validate("../site/reconcile.yaml", "-f", "../shared/service.yaml");
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("error[dialect/unknown-key]");
    expect(ran.stderr).toContain(place);
  });
});
