import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { root, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

/** Each example says in its first lines how it is run; these are the lines a reader would type. */
function commandsOf(text: string): { readonly line: string; readonly args: string[]; readonly exitCode: number }[] {
  return [...text.matchAll(/^#\s+\$ reconcile (.*?)(?:\s+# exit (\d))?$/gm)].map(([line, words, exit]) => ({
    line: line.trim(),
    args: words!.trim().split(/\s+/),
    exitCode: Number(exit ?? 0),
  }));
}

const examples = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .filter((name) => readdirSync(join(root, "examples", name)).includes("reconcile.yaml"))
  .filter((name) => commandsOf(readFileSync(join(root, "examples", name, "reconcile.yaml"), "utf8")).length > 0);

describe("every example runs as its first lines say, and a second apply finds nothing to do", () => {
  let folder: string;
  beforeEach(() => {
    folder = makeFolder();
    cpSync(join(root, "schemas"), join(folder, "schemas"), { recursive: true });
    cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  });

  it.each(examples)("%s", async (name) => {
    const env = { RECONCILE_TIME_SCALE: "200" };
    const commands = commandsOf(readFileSync(join(root, "examples", name, "reconcile.yaml"), "utf8"));
    for (const { line, args, exitCode } of commands) {
      const ran = await runCli(args, { cwd: folder, env });
      expect(ran.exitCode, `${line}\n${ran.stdout}\n${ran.stderr}`).toBe(exitCode);
    }
    const last = commands.filter(({ args, exitCode }) => args[0] === "apply" && exitCode === 0).at(-1);
    if (last === undefined) return;
    const again = await runCli(last.args, { cwd: folder, env });
    expect(again.stdout).toContain("Nothing to do");
    expect(again.exitCode).toBe(0);
  });

  it("finds the examples it is about", () => {
    expect(examples).toEqual(
      expect.arrayContaining([
        "quickstart",
        "web-tier",
        "grow-and-move",
        "resize-with-check",
        "take-over",
        "bare-service",
        "company",
      ]),
    );
  });
});
