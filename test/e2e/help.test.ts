import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { allCommands, findCommand, helpSections } from "../../reconciler/cli/command";
import { commonFlags, flagTable } from "../../reconciler/cli/flags";
import { ourCommand } from "../../reconciler/cli/foreign-words";
import { readFlags } from "../../reconciler/cli/read-flags";
import { commands } from "../../reconciler/cli/registry";
import { cliPath, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

const all = allCommands(commands);

describe("help", () => {
  it("has every command under a title, once, and its usage begins with its name", () => {
    expect(new Set(all.map(({ section }) => section))).toEqual(new Set(helpSections));
    for (const { name, usage } of all) expect(`${usage} `).toMatch(new RegExp(`^${name} `));
  });

  it("lists every definition of every file under commands/", async () => {
    const listed = new Set<unknown>(Object.values(commands).map((load) => load()));
    const folder = join(__dirname, "../../reconciler/cli/commands");
    for (const file of readdirSync(folder))
      for (const [name, value] of Object.entries<unknown>(await import(join(folder, file))))
        if (name.endsWith("Command")) expect(listed.has(value), `${name} of ${file} in cli/registry.ts`).toBe(true);
  });

  it.each(all.map(({ name, examples }) => [name, examples] as const))("the examples of %s run it", (name, examples) => {
    for (const [line] of examples) {
      const [, words] = /reconcile ([^>)]*)/.exec(line) ?? [];
      const { found, rest } = findCommand(commands, words!.trim().split(/\s+/))!;
      expect(found.name, line).toBe(name);
      if (found.ownFlags === undefined) expect(readFlags(rest, found).problems, line).toEqual([]);
    }
  });

  it("says something about each flag, in one sentence and without a full stop", () => {
    for (const [name, { help }] of Object.entries(flagTable)) {
      expect(help.length, name).toBeGreaterThan(10);
      expect(help, name).not.toMatch(/\.$/);
    }
  });

  it("fits 80 columns where the words allow it", async () => {
    for (const words of [
      ["help"],
      ["help", "all"],
      ["help", "flags"],
      ...all.map(({ name }) => ["help", ...name.split(" ")]),
    ]) {
      const { stdout, exitCode } = await runCli(words, { cwd: folder });
      expect(exitCode).toBe(0);
      const wide = stdout.split("\n").filter((line) => line.length > 80 && !/^(Usage:| {2}reconcile )/.test(line));
      expect(wide, words.join(" ")).toEqual([]);
    }
  });

  it.each([[[]], [["help"]], [["--help"]]])("begins with one screen of 24 lines and 80 columns: %j", async (words) => {
    const { stdout, exitCode } = await runCli(words, { cwd: folder });
    expect(exitCode).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    for (const name of ["init", "plan", "apply", "destroy", "explain"])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(stdout).toContain("help all");
  });

  it("has everything behind `help all`, and what nearly all commands take behind `help flags`", async () => {
    const everything = (await runCli(["help", "all"], { cwd: folder })).stdout;
    for (const { name } of all) expect(everything).toMatch(new RegExp(`^  ${name} `, "m"));
    const flags = (await runCli(["help", "flags"], { cwd: folder })).stdout;
    for (const name of commonFlags) expect(flags).toContain(`--${name}`);
    const plan = (await runCli(["help", "plan"], { cwd: folder })).stdout;
    expect(plan).toContain("--target ADDR");
    expect(plan).not.toContain("--insecure-http");
    expect(plan).toContain("reconcile help flags");
  });

  it.each([
    ["up", "reconcile apply"],
    ["status", "reconcile plan"],
    ["preview --stack prod", "reconcile plan"],
    ["diff", "reconcile plan"],
    ["ls", "reconcile state list"],
    ["workspace list", "--env NAME"],
    ["taint vm.db", "reconcile plan --replace ADDR"],
    ["ps", "reconcile vm list"],
    ["plan -out x", "--out FILE"],
    ["plan -out=x", "--out FILE"],
    ["apply -auto-approve", "--auto-approve"],
    ["apply -auto-aprove", "--auto-approve"],
    ["resize vm.web", "flavor_id: of the VM in the file"],
    ["drift --fix", "reconcile apply"],
    ["plan -refresh=false", "--no-refresh"],
    ["plan --refresh=false", "--no-refresh"],
    ["plan -generate-config-out=x", "reconcile import ADDR ID --generate"],
    ["apply -n prod", "--env NAME"],
    ["stack output", "reconcile output"],
    ["stack ls", "--env NAME"],
    ["rollout undo", "reconcile undo RUN"],
    ["patch vm web", "reconcile plan"],
    ["system prune", "reconcile orphans delete"],
    ["plan -refresh-only", "reconcile drift"],
    ["plan -var env=prod", "--var NAME=VALUE"],
    ["apply --yes", "--auto-approve"],
    ["destroy --force", "--allow-loss ADDR"],
    ["apply --dry-run", "reconcile plan"],
    ["plan -o json", "--json"],
    ["state rename vm.a vm.b", "reconcile state mv FROM TO"],
    ["state unprotect vm.a", "prevent_destroy: false"],
    ["vm restart vm.a", "reconcile vm reboot ADDR"],
    ["plan -filter=x", "--target ADDR"],
    ["graph -type=plan", "--plan"],
    ["init -migrate-state", "reconcile state pull"],
    ["plan --selector tier=web", "--target ADDR"],
    ["plan -input=false", "here it is nothing: without a terminal nothing is asked"],
    ["plan --non-interactive", "here it is nothing: without a terminal nothing is asked"],
    ["plan -lock-timeout=5m", "here it is nothing"],
    ["apply -destroy", "reconcile destroy"],
    ["apply -detailed-exitcode", "reconcile plan --detailed-exitcode"],
    ["plan --warnings-as-errors", "--strict"],
  ])("answers a command or flag of another tool with ours: %s", async (line, ours) => {
    const { stderr, stdout, exitCode } = await runCli(line.split(" "), { cwd: folder });
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr.split("\n")[0]).toContain(ours);
    const json = await runCli([...line.split(" "), "--json"], { cwd: folder });
    expect(JSON.parse(json.stdout).diagnostics[0].summary).toContain(ours);
  });

  it("advises no flag that the command has not", async () => {
    const { stderr } = await runCli(["fmt", "-write=false"], { cwd: folder });
    expect(stderr.split("\n")[0]).toBe("reconcile fmt has no flag -write=false");
  });

  it("knows no foreign command that is ours", () => {
    for (const name of Object.keys(commands)) expect(ourCommand(name), name).toBeUndefined();
  });

  it("names the words that may follow the first of a command with two", async () => {
    const alone = await runCli(["state"], { cwd: folder });
    expect(alone.exitCode).toBe(1);
    expect(alone.stderr).toContain("state resolve");
    const misspelt = await runCli(["state", "lst"], { cwd: folder });
    expect(misspelt.stderr).toContain("did you mean: reconcile state list?");
    expect((await runCli(["help", "state"], { cwd: folder })).exitCode).toBe(0);
    expect((await runCli(["emulator", "--help"], { cwd: folder })).stdout).toContain("--page-size N");
  });
});

describe("a new user", () => {
  const env = { RECONCILE_TIME_SCALE: "200" };
  it("gets a starter file that plans, applies, and then has nothing to do", async () => {
    for (const words of [["init"], ["validate"], ["plan"], ["apply", "-y"]]) {
      const ran = await runCli(words, { cwd: folder, env });
      expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    }
    expect((await runCli(["plan", "--detailed-exitcode"], { cwd: folder, env })).exitCode).toBe(0);
  });

  it.each([
    ["explain", "head -1", "apply/ambiguous"],
    ["version", "exec <&-", ""],
  ])("may stop reading in the middle: %s | %s", (words, reader, read) => {
    const ran = spawnSync("bash", ["-c", `"${process.execPath}" "${cliPath}" ${words} | ${reader}`], {
      cwd: folder,
      encoding: "utf8",
    });
    expect(ran.stdout).toContain(read);
    expect(ran.stderr).toBe("");
  });

  it.each(["apply -y", "apply -y --json", "plan", "explain", "version"])(
    "is told when the disk that takes the output is full, and the run goes on to its end: %s",
    async (words) => {
      await runCli(["init"], { cwd: folder, env });
      const ran = spawnSync("bash", ["-c", `"${process.execPath}" "${cliPath}" ${words} > /dev/full`], {
        cwd: folder,
        encoding: "utf8",
        env: { ...process.env, ...env },
      });
      expect(ran.status).toBe(1);
      expect(ran.stderr).toContain("error[cli/output-lost]: standard output could not be written: ENOSPC");
      expect(ran.stderr).not.toMatch(/\n\s+at /);
      const after = await runCli(["plan", "--detailed-exitcode"], { cwd: folder, env });
      expect(after.exitCode).toBe(words.startsWith("apply") ? 0 : 2);
    },
  );

  it("loses no run to a standard error that cannot be written", async () => {
    await runCli(["init"], { cwd: folder, env });
    const ran = spawnSync("bash", ["-c", `"${process.execPath}" "${cliPath}" apply -y --json 2> /dev/full`], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, ...env },
    });
    expect([ran.status, ran.stdout.split("\n").at(-2)]).toEqual([0, expect.stringContaining('"type":"summary"')]);
  });

  it("finds the program's version without a word", () => {
    expect(execFileSync(process.execPath, [cliPath, "--version"], { encoding: "utf8" })).toMatch(/^reconcile \d/);
    const lines = execFileSync(process.execPath, [cliPath, "--version", "--json"], { encoding: "utf8" });
    expect(JSON.parse(lines.split("\n")[0] ?? "")).toMatchObject({ type: "version" });
  });
});
