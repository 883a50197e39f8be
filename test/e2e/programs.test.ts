/** The programs that a file names: what they see, how they end, and that a closed run starts none of them. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { askProgram, runHelperIn } from "../../reconciler/outside/commands";
import { runProgram } from "../../reconciler/outside/programs";
import { jsonLines, runCli } from "../support/cli-process";
import { eventually, isGone } from "../support/eventually";
import { fileOf, ownPlace, said } from "../support/own-place";

const place = ownPlace();
const secrets = {
  AWS_SECRET_ACCESS_KEY: "aws-secret-canary",
  GH_TOKEN: "gh-token-canary",
  PROJECT_TOKEN: "project-token-canary",
  PGPASSWORD: "pg-password-canary",
  RECONCILE_STATE_PASSWORD: "state-password-canary",
  RECONCILE_VAR_secret: "variable-canary",
  NAMED: "what the file names",
};
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCli(args, { cwd: place.folder, env: { ...place.surroundings().env, ...secrets, ...env } });
const tell = (name: string): string[] => ["sh", "-c", `env > "$PWD/${name}.env"; echo '[]'`];
const names = (file: string): string[] =>
  readFileSync(join(place.folder, `${file}.env`), "utf8")
    .split("\n")
    .flatMap((line) => /^([A-Za-z_]\w*)=/.exec(line)?.[1] ?? [])
    // A shell sets these by itself.
    .filter((name) => !["PWD", "SHLVL", "_", "OLDPWD"].includes(name))
    .sort();

const vm = (flavor: string, check: object) => ({
  web: { name: "web", flavor_id: flavor, lifecycle: { verify_resize: { check, timeout: "60s" } } },
});
const vars = { vars: { secret: { default: "x" } } };

describe("a program that a file names sees", () => {
  it("of the environment what every program sees and what `env` names: a policy", async () => {
    place.declare({ ...vars, groups: { web: {} }, policy: { command: tell("policy"), env: ["NAMED"] } });
    expect((await run(["plan"], { LC_ALL: "C", TZ: "UTC" })).exitCode).toBe(0);
    expect(names("policy")).toEqual(["HOME", "LC_ALL", "NAMED", "PATH", "TZ"]);
  });

  it("the same: a check, with the address that it is for", async () => {
    place.declare({ ...vars, vms: vm("m1.small", { tcp: 22 }) });
    expect((await run(["apply", "-y"])).exitCode).toBe(0);
    place.declare({ ...vars, vms: vm("m1.large", { command: tell("check"), env: ["NAMED"] }) });
    const ran = await run(["apply", "-y"]);
    expect(ran.exitCode, said(ran)).toBe(0);
    const told = ["HOME", "NAMED", "PATH", "RECONCILE_VM_ID", "RECONCILE_VM_NAME"];
    expect(names("check").filter((name) => name !== "RECONCILE_VM_IP")).toEqual(told);
  });

  it("the same: a flush command", async () => {
    const flush = { via: "command", command: tell("flush"), env: ["NAMED"] };
    const volumes = (attached: object) => ({ data: { name: "data", size: 5, flush, ...attached } });
    place.declare({ ...vars, vms: { web: { name: "web" } }, volumes: volumes({ attach_to: "web" }) });
    expect((await run(["apply", "-y"])).exitCode).toBe(0);
    place.declare({ ...vars, vms: { web: { name: "web" } }, volumes: volumes({}) });
    const ran = await run(["apply", "-y"]);
    expect(ran.exitCode, said(ran)).toBe(0);
    expect(names("flush")).toEqual(["HOME", "NAMED", "PATH"]);
  });

  it("the same: the helper of a dialect that prints the credential", async () => {
    const command = ["sh", "-c", 'env > "$PWD/helper.env"; echo ops-token'];
    place.declare({ ...vars, groups: { web: {} } }, { dialect: { authorization: { command, env: ["NAMED"] } } });
    const ran = await run(["apply", "-y"], { RECONCILE_TOKEN: "" });
    expect(ran.exitCode, said(ran)).toBe(0);
    expect(names("helper")).toEqual(["HOME", "NAMED", "PATH"]);
  });

  it("none of this program's own variables, which `env` may not name", async () => {
    place.declare({ groups: { web: {} }, policy: { command: ["true"], env: ["RECONCILE_TOKEN"] } });
    const ran = await run(["validate"]);
    expect(ran.exitCode).toBe(1);
    expect(said(ran)).toContain('env cannot be "RECONCILE_TOKEN"');
  });
});

describe("a program that a file names", () => {
  const start = (script: string, options: Partial<Parameters<typeof runProgram>[0]> = {}) =>
    runProgram({ argv: ["sh", "-c", script], folder: place.folder, limitMs: 60_000, ...options });

  it("is ended after its time with everything that it started", async () => {
    const end = await start("sh -c 'trap \"\" TERM; echo $$ > deaf; while :; do sleep 0.1; done' & wait", {
      limitMs: 1000,
    });
    expect(end.kind).toBe("out_of_time");
    await eventually("its end", () => isGone(Number(readFileSync(join(place.folder, "deaf"), "utf8"))));
  });

  it("leaves nothing behind that answers for it", async () => {
    const end = await start("sleep 3600 & echo $! > left; echo '[]'", { longestAnswer: 100 });
    expect(end).toMatchObject({ kind: "ended", exitCode: 0, stdout: "[]\n" });
    await eventually("its end", () => isGone(Number(readFileSync(join(place.folder, "left"), "utf8"))));
  });

  it("is ended when it answers without end", async () => {
    const end = await start("while :; do echo yes; done", { longestAnswer: 10_000 });
    expect([end.kind, end.stdout.length <= 10_000]).toEqual(["too_long", true]);
  });

  it("shows none of the secrets that it was handed", async () => {
    process.env["CANARY_TOKEN"] = "canary-in-the-output\n";
    const end = await start("printf %s $CANARY_TOKEN >&2; exit 1", { env: ["CANARY_TOKEN"] });
    delete process.env["CANARY_TOKEN"];
    expect(end).toMatchObject({ kind: "ended", exitCode: 1, said: "********" });
  });

  it("that prints the credential hands it over as it is, be it one of the secrets; what a policy answers is shown", async () => {
    process.env["CANARY_TOKEN"] = "canary-in-the-output";
    const env = ["CANARY_TOKEN"];
    const print = ["sh", "-c", 'echo "$CANARY_TOKEN"'];
    const helped = await runHelperIn(place.folder)(print, env);
    const asked = await askProgram(print, place.folder, "", 60_000, env);
    delete process.env["CANARY_TOKEN"];
    expect(helped).toEqual({ output: "canary-in-the-output\n" });
    expect(asked).toMatchObject({ exitCode: 0, stdout: "********\n" });
  });
});

describe("--no-programs", () => {
  const canary = () => join(place.folder, "canary");
  const touch = ["sh", "-c", 'touch "$PWD/canary"; echo ops-token'];
  const codes = (stdout: string) =>
    jsonLines(stdout)
      .at(-1)!
      ["findings"].map(({ code, severity }: { code: string; severity: string }) => `${severity} ${code}`);
  beforeEach(() => place.declare({ groups: { web: {} }, policy: { command: touch } }));

  it.each([
    ["the flag", ["--no-programs"], {}],
    ["the environment", [], { RECONCILE_PROGRAMS: "none" }],
  ])("starts no policy, says so, and --strict refuses: by %s", async (_, flags, env) => {
    const ran = await run(["plan", "--json", ...flags], env);
    expect([ran.exitCode, codes(ran.stdout)]).toEqual([0, ["warning policy/not-run"]]);
    expect((await run(["plan", "--strict", ...flags], env)).exitCode).toBe(3);
    expect((await run(["plan", "--deny", "policy/not-run", ...flags], env)).exitCode).toBe(3);
    expect(existsSync(canary())).toBe(false);
  });

  it("asks the policy of RECONCILE_POLICY instead, also when the file names none", async () => {
    place.write('#!/bin/sh\necho \'[{"code":"x","summary":"judged"}]\'\n', "trusted/judge.sh");
    const env = { RECONCILE_PROGRAMS: "none", RECONCILE_POLICY: "trusted/judge.sh" };
    chmodSync(join(place.folder, "trusted/judge.sh"), 0o755);
    const ran = await run(["plan", "--json"], env);
    expect([ran.exitCode, codes(ran.stdout)]).toEqual([3, ["error policy/x", "note policy/not-run"]]);
    place.declare({ groups: { web: {} } });
    const without = await run(["plan", "--json"], env);
    expect([without.exitCode, codes(without.stdout)]).toEqual([3, ["error policy/x"]]);
    expect(existsSync(canary())).toBe(false);
  });

  it("takes no other word for none", async () => {
    const ran = await run(["plan"], { RECONCILE_PROGRAMS: "nothing" });
    expect([ran.exitCode, existsSync(canary())]).toEqual([1, false]);
    expect(said(ran)).toContain("RECONCILE_PROGRAMS=none");
  });

  it("refuses, before anything is sent, what needs the helper of the file's dialect", async () => {
    const dialect = { authorization: { command: touch } };
    place.declare({ groups: { web: {} } }, { dialect });
    const env = { RECONCILE_TOKEN: "" };
    const before = place.emulator.requests().log.length;
    const ran = await run(["plan", "--no-programs"], env);
    expect([ran.exitCode, existsSync(canary())]).toEqual([1, false]);
    expect(said(ran)).toContain("trust/program");
    expect(place.emulator.requests().log.length).toBe(before);
    place.write(JSON.stringify(dialect), "given.dialect.yaml");
    const given = await run(["apply", "-y", "--no-programs", "--dialect", "given.dialect.yaml"], env);
    expect([given.exitCode, existsSync(canary())]).toEqual([0, true]);
  });

  it("starts nothing that the settings of a repository name which a commit contains", async () => {
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.email=a@example.com", "-c", "user.name=a", ...words], { cwd: place.folder });
    git("init", "--quiet");
    for (const name of ["objects", "refs/heads"]) mkdirSync(join(place.folder, "part", name), { recursive: true });
    place.write("ref: refs/heads/main\n", "part/HEAD");
    place.write("* filter=x\n", "part/.gitattributes");
    place.write(fileOf({ groups: { web: {} } }), "part/reconcile.yaml");
    const inside = ["-C", "part", "--git-dir=.", "--work-tree=."];
    git(...inside, "add", "reconcile.yaml");
    git(...inside, "commit", "--quiet", "--message", "inside");
    const said = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch ${canary()}\n[filter "x"]\n\tclean = "touch ${canary()}; cat"\n`;
    place.write(said, "part/config");
    place.write(fileOf({ groups: { web: {}, more: {} } }), "part/reconcile.yaml");
    git("add", "--all", "--force");
    git("commit", "--quiet", "--message", "outside");
    const closed = {
      cwd: join(place.folder, "part"),
      env: { ...place.surroundings().env, RECONCILE_PROGRAMS: "none" },
    };
    for (const words of [[], ["--changed-since", "HEAD", "."]]) {
      const ran = await runCli(["plan", ...words], closed);
      expect([ran.exitCode, existsSync(canary())], ran.stderr).toEqual([0, false]);
    }
  });

  it("refuses to apply a plan that needs a flush command or a check, and shows it in a plan", async () => {
    const volumes = (attached: object) => ({
      data: { name: "data", size: 5, flush: { via: "command", command: touch }, ...attached },
    });
    place.declare({ vms: vm("m1.small", { tcp: 22 }), volumes: volumes({ attach_to: "web" }) });
    expect((await run(["apply", "-y"])).exitCode).toBe(0);
    const writes = place.writes();
    for (const [blocks, word] of [
      [{ vms: vm("m1.small", { tcp: 22 }), volumes: volumes({}) }, "flush command"],
      [{ vms: vm("m1.large", { command: touch }), volumes: volumes({ attach_to: "web" }) }, "check"],
    ] as const) {
      place.declare(blocks);
      const plan = await run(["plan", "--json", "--no-programs"]);
      expect([plan.exitCode, codes(plan.stdout)]).toEqual([0, ["note trust/program"]]);
      const apply = await run(["apply", "-y", "--no-programs"]);
      expect([apply.exitCode, place.writes(), existsSync(canary())]).toEqual([3, writes, false]);
      expect(said(apply)).toContain(`needs its ${word}: sh -c`);
    }
  });
});

it("what it prints is whole, also where a letter comes in parts", async () => {
  const script = "printf '\\303'; printf '\\342' >&2; sleep 0.2; printf '\\244'; printf '\\202\\254' >&2";
  const { said: printed } = await runProgram({ argv: ["sh", "-c", script], folder: place.folder, limitMs: 60_000 });
  expect([...printed].sort()).toEqual(["ä", "€"]);
});

it("a closed run sends the credential to no address that only the file names", async () => {
  place.write(fileOf({ groups: { web: {} } }, { base_url: place.emulator.url } as object));
  const env = { RECONCILE_BASE_URL: "" };
  const before = place.emulator.requests().log.length;
  const ran = await run(["plan", "--no-programs"], env);
  expect(ran.exitCode).toBe(1);
  expect(said(ran)).toContain("trust/address");
  expect(place.emulator.requests().log.length).toBe(before);
  expect((await run(["plan", "--no-programs"], { ...env, RECONCILE_ADDRESSES: place.emulator.url })).exitCode).toBe(0);
});
