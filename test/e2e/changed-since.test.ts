import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { realPath } from "../../reconciler/outside/commit";
import { changedSince, uncommitted } from "../../reconciler/outside/git";
import { jsonLines, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

let folder: string;
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const git = (...words: string[]): string =>
  execFileSync("git", ["-c", "user.email=a@example.com", "-c", "user.name=a", ...words], {
    cwd: folder,
    encoding: "utf8",
  });
const plan = (...words: string[]) => runCli(["plan", "--changed-since", ...words], { cwd: folder });

beforeEach(() => {
  folder = makeFolder();
  git("init", "--quiet");
  write(".gitignore", ".reconcile\n*.state.json*\n");
  for (const [name, dialect] of [
    ["a", "./d.yaml"],
    ["b", "../shared/d.yaml"],
    ["c", "./d.yaml"],
  ] as const) {
    mkdirSync(join(folder, name));
    write(`${name}/d.dialect.yaml`, "{}\n");
    write(
      `${name}/reconcile.yaml`,
      `version: 1\nservice: { base_url: embedded, dialect: ${dialect.replace("d.yaml", "d.dialect.yaml")} }\nvolumes: { data: { size: 1 } }\n`,
    );
  }
  mkdirSync(join(folder, "shared"));
  write("shared/d.dialect.yaml", "{}\n");
  git("add", "--all");
  git("commit", "--quiet", "--message", "one");
  git("branch", "base");
});

describe("plan --changed-since", () => {
  it("plans the projects that a change touches, by their folder or by a file that they name", async () => {
    write("a/reconcile.yaml", "version: 1\nservice: { base_url: embedded }\nvolumes: { data: { size: 2 } }\n");
    write("shared/d.dialect.yaml", "{} # said anew\n");
    git("commit", "--quiet", "--all", "--message", "two");
    const ran = await plan("base", "a", "b", "c", "--json", "--detailed-exitcode");
    expect(ran.exitCode, ran.stderr).toBe(2);
    const summary = jsonLines(ran.stdout).at(-1)!;
    expect(summary["folders"].map(({ folder: name }: { folder: string }) => name)).toEqual(["a", "b"]);
    expect(summary["changes"]["create"]).toBe(2);
    const said = await plan("base", "a", "b", "c");
    expect(said.stdout.match(/^(?:[abc]$|Plan: 1 to create)/gm)).toEqual([
      "a",
      "Plan: 1 to create",
      "b",
      "Plan: 1 to create",
    ]);
  });

  it("tells the commands that a message names of the project that it is about, and of no other", async () => {
    const file = (project: string) =>
      `version: 1\nproject: ${project}\nservice: { base_url: embedded }\ngroups: { web: {} }\n`;
    write("a/reconcile.yaml", file("one"));
    const applied = await runCli(["apply", "a", "-y"], { cwd: folder });
    expect(applied.exitCode, applied.stderr).toBe(0);
    write("a/reconcile.yaml", file("other"));
    const ran = await plan("base", "a", "b", "--json");
    expect(jsonLines(ran.stdout).at(-1)!["diagnostics"]).toContainEqual(
      expect.objectContaining({ fix: expect.stringContaining("reconcile apply -f a --accept-service") }),
    );
  });

  it("finds a project by a file elsewhere that breaks it, by one that an environment names, and by its policy", async () => {
    const head = "version: 1\nservice: { base_url: embedded }\n";
    write("a/reconcile.yaml", `${head}components: { web: { from: ../shared/web.yaml } }\n`);
    write("b/reconcile.yaml", `${head}environments: { one: { vars_file: ../shared/one.vars.yaml }, two: {} }\n`);
    write("shared/web.yaml", "component: 1\nvolumes: { data: { size: 1 } }\n");
    write("shared/one.vars.yaml", "{}\n");
    write("c/reconcile.yaml", `${head}policy: { command: [node, ../shared/judge.js, --rules=../shared/rules] }\n`);
    write("shared/judge.js", "");
    git("add", "--all");
    git("commit", "--quiet", "--message", "named");
    git("branch", "named");
    rmSync(join(folder, "shared/web.yaml"));
    const broken = await plan("named", "a", "b", "c");
    expect([broken.exitCode, broken.stderr]).toEqual([
      1,
      expect.stringContaining("there is no file ../shared/web.yaml"),
    ]);
    git("reset", "--quiet", "--hard", "named");
    write("shared/one.vars.yaml", "{} # said anew\n");
    write("shared/judge.js", "// said anew\n");
    const ran = await plan("named", "a", "b", "c", "--env", "all", "--json");
    expect(
      jsonLines(ran.stdout)
        .at(-1)!
        ["folders"].map((one: { folder: string }) => one.folder),
    ).toEqual(["b"]);
    const ofPolicy = async () => jsonLines((await plan("named", "a", "c", "--json")).stdout).at(-1)!["folders"];
    expect(await ofPolicy()).toMatchObject([{ folder: "c" }]);
    git("reset", "--quiet", "--hard", "named");
    mkdirSync(join(folder, "shared/rules"));
    write("shared/rules/ports.rego", "");
    git("add", "--all");
    expect(await ofPolicy()).toMatchObject([{ folder: "c" }]);
  });

  it("sees a project in a submodule that changed, and one that names a file there", async () => {
    const inside = (...words: string[]) => git("-C", "library", ...words);
    mkdirSync(join(folder, "library/d"), { recursive: true });
    const text = "version: 1\nservice: { base_url: embedded, dialect: ../library/d.dialect.yaml }\n";
    write("library/d/reconcile.yaml", text.replace("library/", ""));
    write("library/d.dialect.yaml", "{}\n");
    write("a/reconcile.yaml", text);
    inside("init", "--quiet");
    inside("add", "--all");
    inside("commit", "--quiet", "--message", "one");
    git("add", "--all", "--no-warn-embedded-repo");
    git("commit", "--quiet", "--message", "two");
    write("library/d.dialect.yaml", "{} # said anew\n");
    inside("commit", "--quiet", "--all", "--message", "two");
    const ran = await plan("HEAD", "library/d", "a", "b", "--json");
    expect(jsonLines(ran.stdout).at(-1)!["folders"]).toMatchObject([{ folder: "library/d" }, { folder: "a" }]);
  });

  it("sees what is not committed in a submodule and behind a link, also beside a file outside of the checkout", () => {
    mkdirSync(join(folder, "library"));
    write("library/c.yaml", "component: 1\n");
    git("-C", "library", "init", "--quiet");
    git("-C", "library", "add", "--all");
    git("-C", "library", "commit", "--quiet", "--message", "one");
    symlinkSync("../a/reconcile.yaml", join(folder, "b/link.yaml"));
    git("add", "--all", "--no-warn-embedded-repo");
    git("commit", "--quiet", "--message", "two");
    const files = ["library/c.yaml", "b/link.yaml", "b/reconcile.yaml", "../outside.yaml"].map((name) =>
      join(folder, name),
    );
    expect(uncommitted(files, folder)).toEqual([]);
    write("library/c.yaml", "component: 1 # said anew\n");
    write("a/reconcile.yaml", "version: 1 # said anew\n");
    expect(uncommitted(files, folder)).toEqual(files.slice(0, 2));
  });

  it("takes a file that went to another project for a change of both", () => {
    git("mv", "b/reconcile.yaml", "c/more.yaml");
    git("commit", "--quiet", "--message", "two");
    expect(changedSince("base", folder)).toEqual({
      files: ["b/reconcile.yaml", "c/more.yaml"].map((file) => join(realPath(folder), file)),
    });
  });

  it("writes one comment with a part and a marker each, and a plan each", async () => {
    write("a/new.yaml", "version: 1\nvolumes: { more: { size: 2 } }\n");
    rmSync(join(folder, "c"), { recursive: true });
    const ran = await plan("base", "a", "b", "c", "--markdown", "--out", "plans");
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.stdout.match(/^<!-- reconcile-plan .+ -->$/gm)).toEqual([
      "<!-- reconcile-plan c -->",
      "<!-- reconcile-plan a -->",
    ]);
    expect(ran.stdout).toMatch(/^### c: No plan: 1 warning\n\n- \*\*warning\*\* the files of c are gone/m);
    expect(readdirSync(join(folder, "plans"))).toEqual(["a.plan.json"]);
    expect(ran.stderr).toContain("warning[plan/project-removed]: the files of c are gone");
  });

  it("loses no plan of two folders with like names, and has a part for a project that cannot be planned", async () => {
    const text = "version: 1\nservice: { base_url: embedded }\nvolumes: { data: { size: 1 } }\n";
    for (const name of ["x/y", "x-y", "z"]) {
      mkdirSync(join(folder, name), { recursive: true });
      write(`${name}/reconcile.yaml`, name === "z" ? "version: [\n" : text);
    }
    const ran = await plan("base", "x/y", "x-y", "z", "--markdown", "--out", "plans");
    expect(ran.exitCode).toBe(1);
    expect(readdirSync(join(folder, "plans")).sort()).toEqual(["x-y-2.plan.json", "x-y.plan.json"]);
    expect(ran.stdout.match(/^### .*?plan: /gim)).toEqual(["### x/y: Plan: ", "### x-y: Plan: ", "### z: No plan: "]);
  });

  it("does not take a folder that is nowhere for one that is not touched", async () => {
    mkdirSync(join(folder, "network"));
    for (const words of [["netwrok"], ["a", "netwrok"]]) {
      const ran = await plan("base", ...words);
      expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("there is no folder netwrok")]);
      expect(ran.stderr).toContain("did you mean network?");
    }
  });

  it("says that nothing is touched, and what git says where it cannot tell", async () => {
    const none = await plan("base", "a", "b", "c");
    expect(none).toMatchObject({ exitCode: 0, stdout: "No project is touched since base.\n" });
    rmSync(join(folder, "c"), { recursive: true });
    expect((await plan("base", "a", "b", "c")).stdout).toBe("");
    const unknown = await plan("no-such-branch", "a");
    expect(unknown.exitCode).toBe(1);
    expect(unknown.stderr).toContain("git says: fatal: Not a valid object name no-such-branch");
    expect(unknown.stderr).toContain("git fetch origin BRANCH first");
    rmSync(join(folder, ".git"), { recursive: true });
    const nowhere = await plan("base", "a");
    expect(nowhere.stderr).toContain("is not in a git repository");
    expect(nowhere.stderr).toContain("where git status works");
  });
});
