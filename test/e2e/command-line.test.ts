/** The words of a command line: where flags may stand, what is refused and how, and what an empty variable means. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliPath, jsonLines, runCli, startCli } from "../support/cli-process";

let folder: string;
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runCli(args, { cwd: folder, env: { RECONCILE_TIME_SCALE: "200", ...env } });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "reconcile-words-"));
  await run(["init"]);
  writeFileSync(join(folder, "dialect-nowhere.yaml"), "version: 1\nservice: { dialect: ./nowhere/camel-case }\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a variable that is nearly a setting", () => {
  const name = "RECONCILE_STATE_KYE";

  it.each([["validate"], ["state list"], ["orphans list"]])("is named by every command: %s", async (words) => {
    const ran = await run(words.split(" "), { [name]: "x", RECONCILE_VERSION: "1", RECONCILE_READ_TOKEN: "t" });
    expect([ran.exitCode, ran.stderr.match(/the variable \S+/g), ran.stderr]).toEqual([
      0,
      ["the variable RECONCILE_STATE_KYE"],
      expect.stringContaining("write RECONCILE_STATE_KEY"),
    ]);
  });

  it("stands in the summary for programs, and counts for nothing where it is empty or the setting is made", async () => {
    const ran = await run(["validate", "--json"], { [name]: "x" });
    expect(jsonLines(ran.stdout).at(-1)).toMatchObject({ ok: true, diagnostics: [{ code: "cli/unknown-setting" }] });
    expect((await run(["validate"], { [name]: "" })).stderr).toBe("");
    expect((await run(["validate"], { [name]: "x", RECONCILE_STATE_KEY: "a passphrase" })).stderr).toBe("");
  });
});

it.each(["report", "profile"])("--%s names a file that can be written, before anything is sent", async (flag) => {
  for (const [file, why] of [
    ["nowhere/page.html", "there is no folder nowhere"],
    ["reconcile.yaml", "holds a desired state"],
  ]) {
    const ran = await run(["apply", "-y", `--${flag}`, file ?? "", "--json"]);
    const [summary, ...more] = jsonLines(ran.stdout);
    expect([ran.exitCode, more, summary?.["diagnostics"]]).toEqual([
      1,
      [],
      [expect.objectContaining({ code: "cli/file-unwritable", summary: expect.stringContaining(why ?? "") })],
    ]);
  }
  expect(existsSync(join(folder, "reconcile.state.json"))).toBe(false);
});

it.each([
  ["plan --target-file own --json-into own", "--json-into own"],
  ["plan --target-file own --out ./own", "--out ./own"],
  ["apply -y --target-file own --report own", "--report own"],
  ["validate --var-file own --json-into link", "--json-into link"],
  ["doctor --sample vm.list=own --json-into own", "--json-into own"],
  ["show own --json-into own", "--json-into own"],
])("a file that a command reads is not written by it: %s", async (words, flag) => {
  writeFileSync(join(folder, "own"), "group.web\n");
  rmSync(join(folder, "link"), { force: true });
  symlinkSync("own", join(folder, "link"));
  const ran = await run(words.split(" "));
  expect([ran.exitCode, ran.stderr]).toEqual([
    1,
    expect.stringContaining(`${flag} cannot be written: the same command reads it`),
  ]);
  expect(readFileSync(join(folder, "own"), "utf8")).toBe("group.web\n");
});

it.each([
  ["state show vm.web --json-into vm.web", "state/unknown-address"],
  ["output web --format env --write web", "cli/unknown-output"],
])("an argument that is no file may have the name of the one that is written: %s", async (words, code) => {
  writeFileSync(join(folder, words.split(" ").at(-1) ?? ""), "");
  const ran = await run(words.split(" "));
  expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(code)]);
});

it.each([
  ["plan --json-into reconcile.state.json.journal"],
  ["plan --out reconcile.state.json.journal.end"],
  ["plan --json-into other.json.lock", "other.json"],
  ["validate --json-into reconcile.state.json.lock.mark"],
])("a file that belongs to a state is written by nothing else: %s", async (words: string, state?: string) => {
  if (state !== undefined) writeFileSync(join(folder, state), '{"format": "reconcile-cloud/state"}');
  const file = words.split(" ").at(-1) ?? "";
  const ran = await run(words.split(" "));
  expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(`${file} is a file of the state`)]);
  expect(existsSync(join(folder, file))).toBe(false);
});

it("a lock of something else is any file", async () => {
  expect((await run(["validate", "--json-into", "package.json.lock"])).exitCode).toBe(0);
});

it.each([["state pull"], ["output --format hosts"]])(
  "where standard output is a document, the summary is in the file for programs: %s",
  async (words) => {
    const ran = await run([...words.split(" "), "--json", "--json-into", "lines"]);
    expect([ran.exitCode, ran.stdout]).toEqual([0, expect.not.stringContaining('"summary"')]);
    expect(jsonLines(readFileSync(join(folder, "lines"), "utf8")).at(-1)).toMatchObject({
      command: words.slice(0, 10).trim().split(" --")[0],
    });
  },
);

it.each([
  ["rehearse --seed 5", "--seed says nothing without --chaos"],
  ["doctor --allow-trial m1.small", "--allow-trial says nothing without --trial"],
  ["docs --listen 127.0.0.1:0", "--listen says nothing without --serve"],
  ["orphans list --refresh changed", "--refresh changed is for plans"],
  ["plan vm.app", "an address stands behind a flag: --target vm.app of a plan, --accept vm.app of drift"],
  ["drift vm.app[a]", "--accept 'vm.app[a]' of drift"],
  ["plan app", "an address has its kind before it, as vm.KEY"],
  ["state resolve vm.nope --paid", "the state has no vm.nope"],
])("what would do nothing is refused: %s", async (words, told) => {
  const ran = await run(words.split(" "));
  expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(told)]);
});

it.each([
  ["graph --format dot --out /dev/stdout", /^digraph[\s\S]*\}\nWrote \/dev\/stdout\.\n$/],
  ["plan --summary --json-into /dev/stdout", /^project [\s\S]*4 to create[\s\S]*\{"type":"summary".*\}\n$/],
])("an output that is a file has all that is written to it, in its order: %s", (words, whole) => {
  const shown = execFileSync(
    "/bin/sh",
    ["-c", `"$0" "$@" > shown 2>errors; cat shown`, process.execPath, cliPath, ...words.split(" ")],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
  expect(shown).toMatch(whole);
});

it.each(["--out /dev/stdout", "--out large.plan.json --json-into /dev/stdout"])(
  "a reader that takes its time gets all of it: plan %s",
  async (words) => {
    // More than fits between the two.
    const groups = Array.from({ length: 500 }, (_, at) => `  group-${at}: { description: ${"long ".repeat(40)} }\n`);
    writeFileSync(join(folder, "large"), `version: 1\nservice: { base_url: embedded }\ngroups:\n${groups.join("")}`);
    const { child, says, finished } = startCli(["plan", "-f", "large", ...words.split(" ")], { cwd: folder });
    child.stdout.pause();
    await says("that it has written", ({ stderr }) => /Saved the plan|error\[/.exec(stderr));
    child.stdout.resume();
    const { exitCode, stdout, stderr } = await finished;
    expect([exitCode, stderr, stdout.length > 400_000]).toEqual([0, expect.not.stringContaining("error"), true]);
  },
);

it("two results in one file are refused", async () => {
  const ran = await run(["plan", "--out", "x.json", "--json-into", "./x.json"]);
  expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("--out and --json-into name one file")]);
  expect(existsSync(join(folder, "x.json"))).toBe(false);
});

describe("flags", () => {
  it.each([
    [["--json", "plan"]],
    [["-f", "reconcile.yaml", "--json", "plan"]],
    [["--var", "flavor=m1.large", "plan", "--json"]],
    [["plan", "-f=reconcile.yaml", "--json"]],
    [["plan", "reconcile.yaml", "--var=flavor=m1.large", "--json"]],
  ])("stand before or behind the command, with or without an equals sign: %j", async (args) => {
    const ran = await run(args);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(jsonLines(ran.stdout).at(-1)).toMatchObject({ command: "plan", changes: { create: 4 } });
  });

  it("of one letter are read with an equals sign as their long form is", async () => {
    const [short, long] = await Promise.all([run(["apply", "-y=false"]), run(["apply", "--auto-approve=false"])]);
    expect([short?.exitCode, short?.stderr]).toEqual([long?.exitCode, long?.stderr]);
    expect(short?.stderr).toContain("--auto-approve takes no value");
  });

  it.each([
    ["version", "reconcile 0"],
    ["completion bash", "# bash completion"],
    ["explain consent/flush", "consent/flush"],
    ["docs install", "# Getting"],
  ])("about what is printed are taken by every command: %s", async (words, begin) => {
    const ran = await run([...words.split(" "), "--no-color", "--log-level", "silent"]);
    expect([ran.exitCode, ran.stderr, ran.stdout.startsWith(begin)]).toEqual([0, "", true]);
  });

  it("of a plan are taken by validate as they are, so that one list serves a whole script", async () => {
    const common = ["--state=x.json", "--base-url=embedded", "--var=flavor=m1.large", "--no-color"];
    const ran = await run(["validate", ...common, "--log-level=debug", "--parallelism=3", "--json"]);
    expect([ran.exitCode, jsonLines(ran.stdout).length], ran.stderr).toEqual([0, 1]);
  });

  it("of a command with two words stand before both", async () => {
    expect(jsonLines((await run(["--json", "state", "list"])).stdout).at(-1)).toMatchObject({ command: "state list" });
  });

  it.each([
    ["RECONCILE_TIME_SCALE", "abc", "= fix: RECONCILE_TIME_SCALE=20"],
    ["RECONCILE_BASE_URL", "localhost:80", "The base URL localhost:80 is neither http nor https"],
    ["RECONCILE_BASE_URL", "//u:canary@host", "RECONCILE_BASE_URL and --base-url go before it"],
  ])("are not blamed for what a variable says: %s=%s", async (name, value, told) => {
    const ran = await run(["plan"], { [name]: value });
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(told)]);
    expect(ran.stderr).not.toContain("canary");
  });

  it.each<readonly [words: string, told: string]>([
    ["plan --dialect nope.yaml", "nope.yaml cannot be read: there is no such file"],
    // The package brings a dialect of that name, and none at that place.
    ["plan --dialect ./nowhere/camel-case", "./nowhere/camel-case cannot be read: there is no such file"],
    ["validate -f dialect-nowhere.yaml", "nowhere/camel-case cannot be read: there is no such file"],
    ["plan --json-into nowhere/x", "nowhere/x cannot be written: there is no folder nowhere"],
    ["plan --json-into .", ". cannot be written: it is a folder"],
    ["doctor --record reconcile.yaml", "reconcile.yaml cannot be made: there is a file in its place"],
    ["schema --out reconcile.yaml/x/y.json", "reconcile.yaml/x cannot be made: a part of its path is a file"],
    // Node 20 makes the folders of such a path again and again.
    ...(process.platform === "linux"
      ? [
          ["doctor --record /proc/x/y", "/proc/x/y cannot be made: its file system makes no folder there"] as const,
          ["schema --out /proc/x/y.json", "/proc/x cannot be made: its file system makes no folder there"] as const,
          ["init /proc/x/y", "/proc/x/y/reconcile.yaml cannot be written: ENOENT"] as const,
        ]
      : []),
    ["plan --json-into reconcile.yaml", "reconcile.yaml holds a desired state"],
  ])("that name no file of the right kind are told so in words: %s", async (words, told) => {
    const ran = await run(words.split(" "));
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(told)]);
  });

  it.each([
    [
      "plan --json-into https://u:canary@host/x",
      "--json-into https://***@host/x cannot be written: there is no folder",
    ],
    ["test https://u:canary@host/x", "there is no file https://***@host/x"],
    ["doctor --from https://u:canary@host/x", "the answers in https://***@host/x cannot be read"],
    ["history https://u:canary@host/x", 'takes no "https://***@host/x"'],
  ])("that are addresses are told without their password: %s", async (words, told) => {
    const ran = await run(words.split(" "));
    expect([ran.exitCode, ran.stderr + ran.stdout]).toEqual([1, expect.stringContaining(told)]);
    expect(ran.stderr + ran.stdout).not.toContain("canary");
  });

  it("are not taken for the value of the flag before them", async () => {
    const ran = await run(["plan", "--out", "--json"]);
    expect(ran.exitCode).toBe(1);
    expect(ran.stdout).toContain("--out needs a value: --out FILE, not --json");
    expect(existsSync(join(folder, "--json"))).toBe(false);
  });

  it("with few values take no other", async () => {
    const ran = await run(["plan", "--log-level", "debgu"]);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("--log-level is one of silent, info, debug, not debgu; did you mean debug?");
  });

  it("that may stand without a value take a misspelt one for it, and a file for a file", async () => {
    const misspelt = await run(["plan", "--refresh", "chnaged"]);
    expect([misspelt.exitCode, misspelt.stderr]).toEqual([
      1,
      expect.stringContaining("--refresh is one of all, changed, none, not chnaged; did you mean changed?"),
    ]);
    mkdirSync(join(folder, "non"));
    await run(["init", "non"]);
    expect((await run(["plan", "--refresh", "non"])).exitCode).toBe(0);
  });
});

describe("what is wrong with the words themselves", () => {
  it.each([
    [["plan", "--tagret", "vm.db"], "plan", "did you mean --target?"],
    [["plna"], "plna", "did you mean: reconcile plan?"],
    [["hlep"], "hlep", "did you mean: reconcile help?"],
    [["state"], "state", "reconcile state needs another word"],
    [["state", "lst"], "state", 'reconcile state has no "lst"; did you mean: reconcile state list?'],
    [["import", "vm.db"], "import", "reconcile import needs an address and an id"],
    [["version", "now"], "version", 'reconcile version takes no "now"'],
    [["state", "list", __filename], "state list", '.ts"; a file or folder is named with -f'],
    [["emulator"], "emulator", "reconcile emulator has no flag --json"],
    [["--bogus"], "", "reconcile has no flag --bogus"],
    [["-out"], "", "-out: flags have two dashes here: --out FILE"],
    [["output", "-raw", "url"], "output", "reconcile output has no flag -raw; here it is reconcile output NAME"],
    [["plan", "-lock=false"], "plan", "reconcile plan has no flag -lock=false; here it is nothing: whoever writes"],
    [["plan", "-wise=x"], "plan", "reconcile plan has no flag -wise"],
    [["explain", "plan/stale", "plan/gone"], "explain", 'reconcile explain plan/stale takes no "plan/gone"'],
  ])("ends in a summary with --json, like every other failure: %j", async (args, name, says) => {
    const ran = await run([...args, "--json"]);
    expect([ran.exitCode, ran.stderr]).toEqual([1, ""]);
    const lines = jsonLines(ran.stdout);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      type: "summary",
      command: name,
      ok: false,
      exit_code: 1,
      changes: { create: 0, update: 0, replace: 0, delete: 0, import: 0 },
      diagnostics: [{ severity: "error", code: "cli/usage", summary: expect.stringContaining(says) }],
    });
  });

  it.each([
    ["plan -token=canary", "reconcile plan has no flag -token; here it is RECONCILE_TOKEN in the environment"],
    ["plan -var=password=canary", "-var: flags have two dashes here: --var NAME=VALUE"],
    ["fmt -var=password=canary", "reconcile fmt has no flag -var"],
    ["test -filter=canary", "reconcile test has no flag -filter"],
    ["plan -pC4nary", "reconcile plan has no flag -p; here it is --parallelism N"],
    ["plan -u=canary", "reconcile plan has no flag -u"],
    ["vm list --token canary", "reconcile vm list has no flag --token; here it is RECONCILE_TOKEN in the environment"],
    ["vm list -token canary", "reconcile vm list has no flag -token; here it is RECONCILE_TOKEN in the environment"],
  ])("is not repeated with its value, which may be a secret: %s", async (words, says) => {
    const ran = await run(words.split(" "));
    expect([ran.exitCode, ran.stderr.split("\n\n")[0]]).toEqual([1, says]);
  });

  const turned = "a\u202eb";
  it.each([
    [[turned]],
    [["help", turned]],
    [["state", turned]],
    [["state", "list", turned]],
    [["plan", `--${turned}`]],
    [["plan", `--refresh=${turned}`]],
    [["emulator", `--${turned}`]],
    [["emulator", "--with", turned]],
    [["emulator", "--dir", `reconcile.yaml/${turned}`]],
  ])("turns no text around: %j", async (args) => {
    const { exitCode, stderr } = await run(args);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("a\\u202eb")]);
    expect(stderr).not.toContain(turned);
  });

  it.each<readonly [args: readonly string[], says: string]>([
    [["x"], "error: the emulator takes flags alone, and no other words\n"],
    [
      ["--dir", "reconcile.yaml"],
      "error: reconcile.yaml cannot hold a world: there is a file in its place, and no folder\n",
    ],
    [
      ["--dir", "reconcile.yaml/world"],
      "error: reconcile.yaml/world cannot hold a world: a part of its path is a file, and no folder\n",
    ],
    ...(process.platform === "linux"
      ? [
          [
            ["--dir", "/proc/x/y"],
            "error: /proc/x/y cannot hold a world: its file system makes no folder there\n",
          ] as const,
        ]
      : []),
  ])("is told in words of ours by the emulator: %j", async (args, says) => {
    const { exitCode, stdout, stderr } = await run(["emulator", ...args]);
    expect([exitCode, stdout, stderr]).toEqual([1, "", says]);
  });

  it.each([[["orphans", "delete", "ID", "--yes"]], [["validate", "--yes"]]])(
    "names no flag that the command lacks as well: %j",
    async (args) => expect((await run(args)).stderr).toMatch(/has no flag --yes$/m),
  );

  it("is told to a person where --json belongs to a command of another machine", async () => {
    const ran = await run(["ssh", "--bogus", "vm.db", "--", "kubectl", "--json"]);
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([1, "", expect.stringContaining("no flag --bogus")]);
  });
});

describe("a variable that is set and empty", () => {
  it.each([
    ["RECONCILE_BASE_URL"],
    ["RECONCILE_STATE"],
    ["RECONCILE_DIALECT"],
    ["RECONCILE_TIME_SCALE"],
    ["RECONCILE_TOKEN"],
  ])("is as if it were not set, as pipelines mean it: %s", async (name) => {
    const ran = await run(["plan"], { [name]: "" });
    expect([ran.exitCode, ran.stdout], ran.stderr).toEqual([0, expect.stringContaining("Plan: 4 to create")]);
    if (name === "RECONCILE_TIME_SCALE") expect(ran.stderr).toContain("20 times faster");
  });
});
