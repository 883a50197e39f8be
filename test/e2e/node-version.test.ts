import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/cli-process";
import { makeFolder } from "../support/folder";

/** The program as `node` of that version would begin it. */
const runOn = (version: string, program: string, args: readonly string[]) =>
  runBehind(
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`,
    program,
    args,
  );

/** The program as `node` begins it after `first`. */
function runBehind(first: string, program: string, args: readonly string[]) {
  const folder = makeFolder({ "first.cjs": first });
  return new Promise<{ readonly exitCode: number; readonly stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      ["--require", join(folder, "first.cjs"), join(root, "bin", program), ...args],
      { cwd: folder },
      (error, _stdout, stderr) => resolve({ exitCode: error === null ? 0 : Number(error.code), stderr }),
    );
  });
}

describe("a Node that is too old is named at once", () => {
  it.each([
    ["18.20.8", "reconcile.js"],
    ["20.18.3", "reconcile.js"],
    ["18.20.8", "pulumi-resource-reconcile-cloud"],
  ])("%s, %s", async (version, program) => {
    expect(await runOn(version, program, ["version"])).toEqual({
      exitCode: 1,
      stderr: `reconcile needs Node 20.19 or newer; this is ${version}.\n`,
    });
  });

  it.each(["20.19.0", "22.12.0", "24.1.0", "100.0.0"])("%s is new enough", async (version) => {
    expect(await runOn(version, "reconcile.js", ["version"])).toEqual({ exitCode: 0, stderr: "" });
  });
});

it("the plugin without Pulumi's package says which one to install", async () => {
  const hide = `const Module = require("node:module");
const own = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  if (!name.startsWith("@pulumi/")) return own.call(this, name, ...rest);
  throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" });
};`;
  const { exitCode, stderr } = await runBehind(hide, "pulumi-resource-reconcile-cloud", []);
  expect({ exitCode, lines: stderr.split("\n") }).toEqual({
    exitCode: 1,
    lines: [
      "error[cli/package-missing]: the plugin needs the package @pulumi/pulumi, which is not installed",
      expect.stringContaining("npm install @pulumi/pulumi"),
      "",
    ],
  });
});
