/** What a file may name beside itself: plain files, of this program, and nothing of others is shown. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkoutDiffers } from "../../reconciler/cli/plan-file";
import { jsonLines, runCli } from "../support/cli-process";
import { makeFolder, writeFiles } from "../support/folder";
import { said } from "../support/own-place";

const foreign: Readonly<Record<string, string>> = {
  passwd: "root:x:0:0:canary:/root:/bin/bash\ndaemon:x:1:1:canary:/usr/sbin\n",
  token: "canary-4711\n",
  netrc: "machine api.example login me password canary\n",
  "secret.yaml": "password: canary\nuser: canary\n",
  "secret.json": '{"auths": {"registry.example": {"auth": "canary"}}}\n',
  "broken.yaml": 'password: "canary\n  - [canary\n',
  "list.yaml": "- canary\n- canary\n",
  key: "-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n",
};
const head = "version: 1\nservice: { base_url: embedded }\n";
const doors: Readonly<Record<string, (path: string) => string>> = {
  "a component": (path) => `${head}components: { shop: { from: ${path} } }\n`,
  "a file of variables": (path) =>
    `${head}vars: { env: { default: x } }\nenvironments: { a: { vars_file: ${path} } }\n`,
  "a dialect": (path) => `version: 1\nservice: { base_url: embedded, dialect: ${path} }\n`,
};
const run = (folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCli(args, { cwd: folder, env });

describe.each(Object.entries(doors))("%s that is no file of this program", (door, text) => {
  it.each(Object.keys(foreign))("%s: is refused, and nothing of it is shown", async (name) => {
    const folder = makeFolder();
    writeFiles(folder, { ...foreign, "reconcile.yaml": text(`./${name}`) });
    const more = door === "a file of variables" ? ["--env", "a"] : [];
    for (const args of [
      ["validate", ...more],
      ["plan", "--json", ...more],
      ["plan", "--markdown", ...more],
    ]) {
      const ran = await run(folder, args);
      expect([args[0], ran.exitCode, ran.stdout + ran.stderr]).toEqual([
        args[0],
        1,
        expect.not.stringContaining("canary"),
      ]);
    }
  });
});

describe.each([
  ["with -f", ["validate", "-f"], "the file is no desired state"],
  ["as a file of tests", ["test"], "the file is no file of tests"],
  ["as a fleet", ["fleet", "sync", "--database", "folder"], "the file is no file of a fleet"],
] as const)("a file given %s that is no file of this program", (_, words, refusal) => {
  it.each(Object.keys(foreign))("%s: is refused, and nothing of it is shown", async (name) => {
    const folder = makeFolder();
    writeFiles(folder, foreign);
    const ran = await run(folder, [...words, name]);
    expect([ran.exitCode, ran.stdout + ran.stderr]).toEqual([1, expect.not.stringContaining("canary")]);
    expect(said(ran)).toContain(refusal);
  });
});

it("a saved plan or a state in the place of a file is called what it is, once", async () => {
  const folder = makeFolder();
  const files = {
    "reconcile.yaml": "version: 1\nproject: acme\nservice: { base_url: embedded }\ngroups: { web: {} }\n",
  };
  writeFiles(folder, files);
  await run(folder, ["apply", "-y"]);
  await run(folder, ["plan", "--out", "a.plan.json"]);
  for (const [file, what] of [
    ["a.plan.json", "it is a saved plan"],
    ["reconcile.state.json", "it is a state"],
  ] as const) {
    const ran = await run(folder, ["apply", "reconcile.yaml", file, "-y", "--json"]);
    expect(jsonLines(ran.stdout).at(-1)?.["diagnostics"]).toMatchObject([{ detail: expect.stringContaining(what) }]);
  }
});

it("a file of this program with a mistake shows the line, also when it is no YAML or its one key is misspelt", async () => {
  const folder = makeFolder();
  writeFiles(folder, { "a.yaml": "version: 1\nvms: [\n", "b.yaml": "grups: { web: {} }\n" });
  expect((await run(folder, ["validate", "-f", "a.yaml"])).stderr).toContain("vms: [");
  expect((await run(folder, ["validate", "-f", "b.yaml"])).stderr).toContain("grups: { web: {} }");
});

describe("what is no plain file", () => {
  const odd = ["/dev/zero", "./pipe", "./folder", "./large.yaml"];
  it.each(Object.entries(doors))("is refused at once, as %s", async (door, text) => {
    const folder = makeFolder();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    writeFiles(folder, { "folder/x": "", "large.yaml": `component: 1\n#${"x".repeat(1 << 20)}\n` });
    for (const path of odd) {
      writeFileSync(join(folder, "reconcile.yaml"), text(path));
      const ran = await run(folder, ["validate", ...(door === "a file of variables" ? ["--env", "a"] : [])]);
      expect([path, ran.exitCode]).toEqual([path, 1]);
      expect(said(ran)).toMatch(/it is (a folder|no plain file|larger than 1 MiB)/);
      expect(said(ran)).not.toContain("check its rights");
    }
  });
  it("nor is it read when a person gives it, nor behind a link", async () => {
    const folder = makeFolder();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    symlinkSync("/dev/zero", join(folder, "link.yaml"));
    for (const path of ["/dev/zero", "pipe", "link.yaml"])
      expect(said(await run(folder, ["validate", "-f", path]))).toContain("no plain file");
  });
  it("nor where a saved plan had a file of the checkout", () => {
    const folder = makeFolder();
    symlinkSync("/dev/zero", join(folder, "link.yaml"));
    const files = ["link.yaml", "none.yaml"].map((file) => ({ file, sha256: "" }));
    expect(checkoutDiffers({ files }, folder)?.summary).toMatch(/: link\.yaml, none\.yaml \(not there\)$/);
  });
  it.each([
    ["state", "push"],
    ["group", "import"],
    ["dialect", "test"],
    ["doctor", "--openapi"],
    ["doctor", "--sample", "vm.list"],
    ["fleet", "sync"],
    ["state", "list", "--state"],
  ])("nor by %s %s", async (...words) => {
    const folder = makeFolder({ "reconcile.yaml": head });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const path of ["/dev/zero", "pipe"])
      expect(said(await run(folder, [...words, path]))).toContain("no plain file");
  });
});

describe("a closed run", () => {
  const closed = { RECONCILE_PROGRAMS: "none" };
  const component = "component: 1\ngroups: { web: {} }\n";
  it.each(Object.entries(doors))("reads %s below the checkout alone, after all links", async (door, text) => {
    const outside = makeFolder();
    const folder = makeFolder();
    const texts: Record<string, string> = {
      "a component": component,
      "a file of variables": "env: y\n",
      "a dialect": "states: {}\n",
    };
    writeFiles(outside, { "named.yaml": texts[door]! });
    writeFiles(folder, { ".git/HEAD": "", "infra/x": "", "named.yaml": texts[door]! });
    symlinkSync(join(outside, "named.yaml"), join(folder, "link.yaml"));
    const more = door === "a file of variables" ? ["--env", "a"] : [];
    for (const [path, exitCode] of [
      ["../named.yaml", 0],
      ["../link.yaml", 1],
      [join(outside, "named.yaml"), 1],
    ] as const) {
      writeFiles(folder, { "infra/reconcile.yaml": text(path) });
      const ran = await run(join(folder, "infra"), ["validate", ...more], closed);
      expect([path, ran.exitCode, said(ran)]).toEqual([
        path,
        exitCode,
        exitCode === 0 ? expect.anything() : expect.stringContaining("lies outside of"),
      ]);
      expect((await run(join(folder, "infra"), ["validate", ...more])).exitCode).toBe(0);
    }
  });

  it("follows no link out of the checkout for a given file either", async () => {
    const outside = makeFolder();
    const folder = makeFolder();
    writeFiles(outside, { "reconcile.yaml": `${head}groups: { canary: {} }\n` });
    writeFiles(folder, { ".git/HEAD": "" });
    symlinkSync(join(outside, "reconcile.yaml"), join(folder, "reconcile.yaml"));
    const ran = await run(folder, ["validate"], closed);
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("trust/path")]);
    // What a person names beside the checkout is the person's.
    expect((await run(folder, ["validate", "-f", join(outside, "reconcile.yaml")], closed)).exitCode).toBe(0);
  });

  it("nor whichever word of the command line names it", async () => {
    const [outside, folder] = [makeFolder(), makeFolder()];
    writeFiles(outside, { secret: '{"canary": canary-4711}\n', "reconcile.yaml": `${head}canary: canary-4711\n` });
    writeFiles(folder, { ".git/HEAD": "", "own.yaml": `${head}groups: { web: {} }\n`, "linked/x": "" });
    symlinkSync(join(outside, "secret"), join(folder, "link"));
    symlinkSync(join(outside, "reconcile.yaml"), join(folder, "linked/reconcile.yaml"));
    writeFiles(outside, { "answers/one.json": "canary-4711" });
    writeFiles(folder, { "kept/more": "" });
    symlinkSync(join(outside, "answers"), join(folder, "answers"));
    symlinkSync(join(outside, "answers/one.json"), join(folder, "kept/one.json"));
    for (const words of [
      "plan own.yaml --target-file link",
      "plan own.yaml --dialect link",
      "plan own.yaml --prices link",
      "plan own.yaml --var-file link",
      "group import link -f own.yaml --convert",
      "doctor -f own.yaml --sample vm.list=link",
      "state push link -f own.yaml",
      "plan linked --env all",
      "schema linked",
      "move group.web -f linked/reconcile.yaml --to other",
      "move group.web -f own.yaml --to linked",
      "doctor -f own.yaml --from answers",
      "doctor -f own.yaml --from kept",
    ]) {
      const ran = await run(folder, [...words.split(" "), "--no-programs"]);
      expect([words, said(ran)]).toEqual([words, expect.stringMatching(/\[trust\/path\]: .*lies outside of/)]);
      expect([words, said(ran)]).toEqual([words, expect.not.stringContaining("canary")]);
    }
    writeFiles(outside, { empty: "" });
    symlinkSync(join(outside, "empty"), join(folder, "result"));
    for (const words of ["output -f own.yaml --format hosts --write result", "doctor -f own.yaml --out result"]) {
      const ran = await run(folder, [...words.split(" "), "--no-programs"]);
      expect([words, said(ran)]).toEqual([words, expect.stringMatching(/result is not written: it lies outside of/)]);
      expect(readFileSync(join(outside, "empty"), "utf8")).toBe("");
    }
    const record = await run(folder, ["doctor", "-f", "own.yaml", "--record", "answers", "--no-programs"]);
    expect(said(record)).toMatch(/answers is not written: it lies outside of/);
    expect(readdirSync(join(outside, "answers"))).toEqual(["one.json"]);
    const named = await run(folder, ["plan", "own.yaml"], { ...closed, RECONCILE_DIALECT: "link" });
    expect([named.exitCode, said(named)]).toEqual([1, expect.stringContaining("trust/path")]);
  });

  it.each([
    [".reconcile", "."],
    [".reconcile/world", "."],
    [".reconcile/states", "."],
    [".reconcile/world/journal-1.jsonl", "empty"],
  ])("nor in the folder of its own, where it would write: %s", async (link, to) => {
    const [outside, folder] = [makeFolder(), makeFolder()];
    writeFiles(outside, { empty: "" });
    writeFiles(folder, { ".git/HEAD": "", "own.yaml": `${head}groups: { web: {} }\n` });
    mkdirSync(dirname(join(folder, link)), { recursive: true });
    symlinkSync(join(outside, to), join(folder, link));
    const words = ["plan", "own.yaml", "--base-url", "embedded"];
    const state = ["state", "list", "-f", "own.yaml", "--state", `http://127.0.0.1:9/s`];
    for (const closedRun of [words, state]) {
      const ran = await run(folder, [...closedRun, "--no-programs"]);
      expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringMatching(/\[trust\/path\]: .* is not written: /)]);
    }
    expect([readdirSync(outside), readFileSync(join(outside, "empty"), "utf8")]).toEqual([["empty"], ""]);
    // In a person's own terminal the folder may lie elsewhere.
    if (to === ".") expect((await run(folder, words)).exitCode).toBe(0);
  });

  it("nor out of the checkout to another state", async () => {
    const [outside, folder] = [makeFolder(), makeFolder()];
    const text = `${head}groups: { canary: {} }\n`;
    writeFiles(outside, { "reconcile.yaml": text });
    expect((await run(outside, ["apply", "-y"])).exitCode).toBe(0);
    const state = join(outside, "reconcile.state.json");
    writeFiles(folder, { ".git/HEAD": "", "reconcile.yaml": text });
    symlinkSync(state, join(folder, "reconcile.state.json"));
    for (const given of [[], ["--state", "reconcile.state.json"]]) {
      const ran = await run(folder, ["state", "list", ...given], closed);
      expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("trust/path")]);
      expect((await run(folder, ["state", "list", ...given])).exitCode).toBe(0);
    }
    expect((await run(folder, ["state", "list", "--state", state], closed)).exitCode).toBe(0);
  });

  it.each([
    ["to a file that is not there", {}, "reconcile.state.json"],
    ["by way of another link", { between: "../outside" }, "reconcile.state.json"],
    ["from a folder that is a link", { "a/b/up": "../.." }, "a/b/up/own.state.json"],
  ])("nor makes a state outside of it at the end of a link %s", async (_, links, state) => {
    const above = makeFolder();
    const folder = join(above, "checkout");
    writeFiles(above, { "outside/x": "" });
    writeFiles(folder, { ".git/HEAD": "", "a/b/x": "", "reconcile.yaml": `${head}groups: { web: {} }\n` });
    for (const [link, to] of Object.entries(links)) symlinkSync(to, join(folder, link));
    const way = "between" in links ? "between" : "../outside";
    symlinkSync(join(way, "new.json"), join(folder, state));
    const ran = await run(folder, ["apply", "-y", "--state", state], closed);
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("trust/path")]);
    expect(readdirSync(join(above, "outside"))).toEqual(["x"]);
  });

  it.each([
    ["a folder", "linked", "."],
    ["what git leaves out", ".gitignore", "git"],
  ])("nor to %s of a file that it begins", async (_, link, to) => {
    const [outside, folder] = [makeFolder(), makeFolder()];
    writeFiles(outside, { git: "mine\n" });
    writeFiles(folder, { ".git/HEAD": "" });
    symlinkSync(join(outside, to), join(folder, link));
    const words = link === "linked" ? ["init", "linked"] : ["init"];
    const ran = await run(folder, words, closed);
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("trust/path")]);
    expect([readdirSync(outside), readFileSync(join(outside, "git"), "utf8")]).toEqual([["git"], "mine\n"]);
    expect((await run(folder, words)).exitCode).toBe(0);
  });

  it("nor to what lies beside another state", async () => {
    const [outside, folder] = [makeFolder(), makeFolder()];
    const text = `${head}groups: { web: {} }\n`;
    writeFiles(outside, { journal: '"address":"vm.canary"\nmore\n' });
    writeFiles(folder, { ".git/HEAD": "", "own.yaml": text, "named.yaml": `${text}state: ./reconcile.state.json\n` });
    expect((await run(folder, ["apply", "own.yaml", "-y"])).exitCode).toBe(0);
    symlinkSync(join(outside, "journal"), join(folder, "reconcile.state.json.journal"));
    for (const [words, code] of [
      ["plan own.yaml", "trust/path"],
      ["plan own.yaml --state reconcile.state.json", "trust/path"],
      ["plan named.yaml", "trust/state"],
    ] as const) {
      const ran = await run(folder, words.split(" "), closed);
      expect([words, ran.exitCode, said(ran)]).toEqual([words, 1, expect.stringContaining(code)]);
      expect(said(ran)).not.toContain("canary");
    }
    // What was seen of a state lies beside its file as well.
    writeFiles(folder, { "below/x": "" });
    symlinkSync(outside, join(folder, "below/.reconcile"));
    const noted = await run(folder, ["state", "list", "--state", "below/s.json"], closed);
    expect([noted.exitCode, said(noted)]).toEqual([1, expect.stringContaining("trust/path")]);
    expect(readdirSync(outside)).toEqual(["journal"]);
  });
});

it("a link to nothing in the place of the lock's mark ends a run, which names it", async () => {
  const folder = makeFolder();
  writeFiles(folder, { "reconcile.yaml": `${head}groups: { web: {} }\n` });
  symlinkSync("nowhere", join(folder, "reconcile.state.json.lock.mark"));
  const ran = await run(folder, ["apply", "-y"]);
  expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringMatching(/lock\.mark is there and cannot be read/)]);
});
