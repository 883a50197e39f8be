/** The package as a registry would hold it: two tools that know how packages are read look at it. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { root } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const run = promisify(execFile);
let packed: string;
beforeAll(async () => {
  const folder = makeFolder();
  // Without its scripts: the package was built before the tests.
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root });
  packed = join(folder, readdirSync(folder)[0] ?? "nothing was packed");
});

it("is a package in which publint finds nothing", async () => {
  const { stdout } = await run(process.execPath, [join(root, "node_modules/publint/src/cli.js"), "--strict", packed]);
  expect(stdout).toContain("All good!");
});

it("has types that every way of resolving a module finds", async () => {
  const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
  const { stdout } = await run(process.execPath, [attw, packed, "--format", "json"], { maxBuffer: 64 * 1024 * 1024 });
  const { analysis, problems } = JSON.parse(stdout);
  expect(problems).toEqual({});
  expect(Object.keys(analysis.entrypoints)).toContain("./pulumi/plugin");
});
