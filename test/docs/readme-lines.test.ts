import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../support/cli-process";
import { makeFolder } from "../support/folder";

/** The first block of the README: what somebody types who has cloned this repository, and nothing else yet. */
const [, block = ""] = /^```sh\n([\s\S]*?)\n```$/m.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
const [apply = "", check = ""] = block.split("\n").map((line) => line.replace(/\s+# .*$/, ""));

/**
 * CI installs in a clean clone, which builds, and then runs all tests: `check` takes the packages and the build that CI
 * has just made, and runs what comes after the install. README_LINES=all installs and builds once more, and runs both
 * lines as they are written. Of all tests the clone has only this one: with the others, its second line would run this
 * file again, and so on.
 */
const isWhole = process.env["README_LINES"] === "all";
const kept = "test/unit/flag-values.test.ts";

/** What git has or would take, without node_modules, dist or anything else that a clone lacks. */
function cleanClone(): string {
  const folder = makeFolder();
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of list.toString("utf8").split("\0"))
    if (file !== "" && existsSync(join(root, file)) && (!file.endsWith(".test.ts") || file === kept))
      cpSync(join(root, file), join(folder, file));
  return folder;
}

/** As a person's shell would run it: without what this run of the tests has set. */
function inShell(line: string, cwd: string): Promise<{ readonly exitCode: number; readonly output: string }> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|NODE_ENV$|NODE_OPTIONS$|SKIP_BUILD$|RECONCILE_|TEST|npm_(?!config_))/.test(name),
  );
  const env = { ...Object.fromEntries(own), npm_config_prefer_offline: "true", NO_COLOR: "1" };
  return new Promise((resolve) => {
    execFile("bash", ["-c", line], { cwd, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : 1, output: `${stdout}${stderr}` });
    });
  });
}

describe("the first block of the README works in a clean clone, with Node and git alone", () => {
  let clone = "";
  beforeAll(() => {
    clone = cleanClone();
  });

  it("one line installs, builds and applies an example, and its second run changes nothing", async () => {
    expect(existsSync(join(clone, "node_modules"))).toBe(false);
    const [install = "", ...rest] = apply.split("&&").map((word) => word.trim());
    expect(install).toMatch(/^npm ci\b/);
    if (!isWhole) {
      symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
      cpSync(join(root, "dist"), join(clone, "dist"), { recursive: true });
    }
    const first = await inShell(isWhole ? apply : rest.join(" && "), clone);
    expect(first.output).toContain("Done: the service matches the file");
    expect(first.exitCode).toBe(0);
    const again = await inShell(rest.at(-1) ?? "", clone);
    expect(again.output).toContain("Nothing to do: the service matches the file");
    expect(again.exitCode).toBe(0);
  });

  it("one line installs and passes the tests: CI runs that line in a clean clone, with all of them", () => {
    expect(readFileSync(join(root, ".ci/run"), "utf8").split("\n")).toContain(check);
  });

  it.runIf(isWhole)("and it passes here too, with one of the tests", async () => {
    const { exitCode, output } = await inShell(check, clone);
    expect(output).toMatch(/Tests +\d+ passed/);
    expect(exitCode, output).toBe(0);
  });

  it("every link of the README is relative", () => {
    const links = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => /^[a-z]+:/.test(link!))).toEqual([]);
  });
});
