/** Completion as each shell does it, in a folder with a state. A shell that is not installed is named and left out. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { cliPath, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

let folder: string;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  folder = makeFolder();
  mkdirSync(join(folder, "bin"));
  const shim = join(folder, "bin", "reconcile");
  writeFileSync(shim, `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n`);
  chmodSync(shim, 0o755);
  env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}`, HOME: folder };
  await runCli(["init"], { cwd: folder });
  const applied = await runCli(["apply", "-y"], { cwd: folder, env: { RECONCILE_TIME_SCALE: "200" } });
  expect(applied.exitCode, applied.stderr).toBe(0);
  const yaml = join(folder, "reconcile.yaml");
  writeFileSync(yaml, readFileSync(yaml, "utf8").replace("volumes:\n", "volumes:\n  later: { size: 5 }\n"));
  for (const shell of ["bash", "zsh", "fish"])
    writeFileSync(join(folder, `complete.${shell}`), (await runCli(["completion", shell], { cwd: folder })).stdout);
});

const run = (shell: string, script: string): string[] =>
  execFileSync(shell, ["-c", script], { cwd: folder, env, encoding: "utf8" })
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t")[0]!);

const quoted = (word: string): string => `'${word}'`;

/** What each shell offers for these words, the last being typed. */
const shells: Readonly<Record<string, (words: readonly string[]) => string[]>> = {
  bash: (words) =>
    run(
      "bash",
      `source complete.bash; COMP_WORDS=(reconcile ${words.map(quoted).join(" ")}); COMP_CWORD=${words.length}; _reconcile 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  zsh: (words) =>
    run(
      "zsh",
      `compdef() { }; _files() { print -l -- *; }; _describe() { print -l -- "\${(@)\${(@P)2}%%:*}"; }; source complete.zsh; words=(reconcile ${words.map(quoted).join(" ")}); CURRENT=${words.length + 1}; _reconcile`,
    ),
  fish: (words) => run("fish", `source complete.fish; complete -C 'reconcile ${words.join(" ")}'`),
};

const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["commands", ["de"], ["destroy"]],
  ["the second word of a command with two", ["state", "re"], ["resolve"]],
  ["flags of this command alone", ["plan", "--det"], ["--detailed-exitcode"]],
  ["flags of a command with two words", ["state", "push", "--fo"], ["--force"]],
  ["the emulator's own flags", ["emulator", "--contract"], ["--contract-only"]],
  ["no flag that is given already", ["plan", "--steps", "--step"], []],
  ["values of a flag", ["graph", "--format", "m"], ["mermaid"]],
  ["addresses in the state", ["state", "show", "vm."], ["vm.web[a]", "vm.web[b]"]],
  ["only VMs where a VM is wanted", ["vm", "stop", ""], ["vm.web[a]", "vm.web[b]"]],
  ["volumes for --confirm-flush", ["apply", "--confirm-flush", "v"], ["volume.data"]],
  ["what is declared, too, for --target", ["plan", "--target", "volume."], ["volume.data", "volume.later"]],
  ["addresses for every flag that takes one", ["apply", "--allow-loss", "volume."], ["volume.data", "volume.later"]],
  ["only what is not managed yet for import", ["import", ""], ["volume.later"]],
  ["codes", ["explain", "consent/f"], ["consent/flush"]],
  ["files, elsewhere", ["plan", "-f", "reconcile.y"], ["reconcile.yaml"]],
];

for (const [shell, complete] of Object.entries(shells)) {
  const installed = spawnSync(shell, ["-c", "true"]).status === 0;
  if (!installed) process.stderr.write(`\n${shell} is not installed: its completion is NOT tested here\n`);
  describe.runIf(installed)(`${shell} completes`, () => {
    it.each(cases)("%s", (_title, words, expected) => {
      const offered = complete(words);
      if (words.includes("-f")) expect(offered).toEqual(expect.arrayContaining([...expected]));
      else expect(offered.sort()).toEqual([...expected].sort());
    });
  });
}

describe("suggestions", () => {
  it("are silent when there is nothing to say, whatever the folder holds", async () => {
    const broken = makeFolder({ "reconcile.yaml": "version: [", "reconcile.state.json": "{ torn" });
    for (const words of [["state", "show", ""], ["plan", "--target", ""], ["import", ""], ["nope", ""], [""]]) {
      const ran = await runCli(["completion", "suggest", "--", ...words], { cwd: broken });
      expect(ran.exitCode, words.join(" ")).toBe(0);
      expect(ran.stderr).toBe("");
    }
  });

  it.each([`"my shop/it's.yaml"`, "my\\ shop/it\\'s.yaml", "'my shop'/it\\'s.yaml"])(
    "read the file %s",
    async (file) => {
      const other = makeFolder({ "my shop/it's.yaml": "version: 1\nvolumes: { data: { size: 5 } }\n" });
      const ran = await runCli(["completion", "suggest", "--", "plan", "-f", file, "--target", "vol"], { cwd: other });
      expect(ran.stdout).toBe("volume.data\tdata\n");
    },
  );

  it("ask no remote store", async () => {
    const words = ["state", "show", "--state", "https://127.0.0.1:1/state", ""];
    const ran = await runCli(["completion", "suggest", "--", ...words], { cwd: folder });
    expect(ran).toMatchObject({ exitCode: 0, stdout: "" });
  });
});
