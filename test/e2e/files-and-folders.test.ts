import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cliPath, runCli } from "../support/cli-process";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reconcile-files-"));
  for (const folder of ["here", "site", "shared"]) mkdirSync(join(root, folder));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
const validate = (...args: string[]) => runCli(["validate", ...args], { cwd: join(root, "here") });

const shared = "version: 1\nproject: acme\nregion: in-west-1\nservice: { base_url: embedded }\n";

describe("several files and folders", () => {
  it("a command runs in the folder of the file it is written in, also where that file holds defaults", async () => {
    const script = (name: string) =>
      `require("node:fs").appendFileSync(${JSON.stringify(join(root, "ran"))}, "${name} ");`;
    for (const folder of ["site", "shared"])
      for (const name of ["flush.js", "check.js"]) write(`${folder}/${name}`, script(`${folder}/${name}`));
    const vm =
      "{ owner: o@x.example, user_id: '1', image_id: ubuntu-24.04, flavor_id: FLAVOR, size: 1, lifecycle: { verify_resize: { check: { command: [node, ./check.js] } } } }";
    const lay = (flavor: string, attach: string) => {
      write(
        "site/reconcile.yaml",
        `version: 1\nproject: acme\nregion: in-west-1\nservice: { base_url: embedded }\ndefaults: { volume: { flush: { via: command, command: [node, ./flush.js] } } }\n`,
      );
      write(
        "shared/parts.yaml",
        `version: 1\nvms: { one: ${vm.replace("FLAVOR", flavor)} }\nvolumes: { data: { size: 1${attach} }, logs: { size: 1${attach}, flush: { command: [node, ./flush.js] } } }\n`,
      );
    };
    const apply = () =>
      runCli(["apply", "../site/reconcile.yaml", "-f", "../shared/parts.yaml", "-y", "--time-scale", "1000"], {
        cwd: join(root, "here"),
      });
    lay("m1.small", ", attach_to: one");
    expect((await apply()).exitCode).toBe(0);
    lay("m1.medium", "");
    const ran = await apply();
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(readFileSync(join(root, "ran"), "utf8").trim().split(" ").sort()).toEqual([
      "shared/check.js",
      "shared/flush.js",
      "site/flush.js",
    ]);
  });

  it("what a shell hands over is read to its end and lies in the working folder, with its state", () => {
    write("environments.yaml", `${shared}environments: { one: {}, two: {} }\n`);
    write("groups.yaml", `${shared}groups: { web: {} }\n`);
    const shell = (script: string): string =>
      execFileSync("bash", ["-c", script], {
        cwd: join(root, "here"),
        env: { ...process.env, RECONCILE: `${process.execPath} ${cliPath}` },
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
    expect(shell("cat ../groups.yaml | $RECONCILE apply -y /dev/stdin")).toContain("(<stdin>:5)");
    expect(readdirSync(join(root, "here")).sort()).toEqual([".reconcile", "reconcile.state.json"]);
    // The program behind the pipe writes when it is read from, and not before.
    expect(
      shell("mkfifo go; $RECONCILE plan <(read < go; cat ../groups.yaml) --out a.plan.json & echo > go; wait $!"),
    ).toContain("Nothing to do");
    expect(shell("$RECONCILE apply a.plan.json")).toContain("Nothing to do");
    expect(shell("$RECONCILE plan --env all <(cat ../environments.yaml)")).toContain("environment two");
    expect(() => shell("cat ../groups.yaml | $RECONCILE drift --accept /dev/stdin")).toThrow(
      "there is no file <stdin>",
    );
  });

  it("a folder's dotfiles belong to other programs, and a file named beside its folder is one file", async () => {
    write("site/reconcile.yaml", "version: 1\ngroups: { web: {} }\n");
    write("site/.gitlab-ci.yml", "stages: [ plan ]\n");
    const ran = await validate("../site", "-f", "../site/reconcile.yaml");
    expect(ran.stderr).toBe("");
    expect(ran.stdout).toContain("1 security group in 1 file.");
  });

  it("a file in JSON is planned and applied like any other, and what has no version is a plan or nothing", async () => {
    const text = '{"version":1,"project":"acme","region":"in-west-1","service":{"base_url":"embedded"},"volumes":{}}';
    write("here/d.json", text);
    for (const words of [["plan"], ["apply", "-y"]])
      expect(await runCli([...words, "d.json"], { cwd: join(root, "here") })).toMatchObject({ exitCode: 0 });
    for (const same of [
      `\uFEFF${text}`,
      `# made by a program\n${text.replace(",", ", # ours\n")}`,
      "version: 1\nservice: {base_url: embedded}\n",
    ]) {
      write("here/d.json", same);
      expect(await runCli(["apply", "-y", "d.json"], { cwd: join(root, "here") })).toMatchObject({ exitCode: 0 });
    }
    write("here/cut.json", '{\n "base_url": "embedded",\n "version": 1, ');
    const cut = await runCli(["apply", "cut.json"], { cwd: join(root, "here") });
    expect([cut.exitCode, cut.stderr]).toEqual([1, expect.stringContaining("plan/unreadable")]);
    write("here/f", text.replace('"volumes"', '"volumes":{"data":{"size":5}},"environments":{"prod":{}},"groups"'));
    write("here/g.json", readFileSync(join(root, "here/f"), "utf8"));
    for (const [given, named] of [
      [["f"], "-f f --env prod"],
      [["-f", "g.json"], "-f g.json --env prod"],
    ] as const) {
      const asked = await runCli(["apply", ...given, "--env", "prod"], { cwd: join(root, "here") });
      expect([asked.exitCode, asked.stderr]).toEqual([3, expect.stringContaining(`reconcile plan ${named} --out F`)]);
    }
    write("here/e.json", '{"volumes":{}}');
    const other = await runCli(["apply", "-y", "e.json"], { cwd: join(root, "here") });
    expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining("e.json is no plan of this tool")]);
  });

  it("a component in a folder that is read is told by what it is", async () => {
    write("site/reconcile.yaml", `${shared}groups: { web: {} }\ncomponents: { shop: { from: ./tier.yaml } }\n`);
    write("site/tier.yaml", "component: 1\nparameters: { n: {} }\ngroups: { web: { name: tier-web } }\n");
    const ran = await validate("../site");
    expect([ran.exitCode, ran.stderr.match(/^error.*$/gm)]).toEqual([
      1,
      ["error[config/wrong-type]: the file is no desired state"],
    ]);
    expect(ran.stderr).toContain("it is a component");
    write("site/my plan.json", '{ "format": "reconcile-cloud/plan" }\n');
    const plan = await validate("../site/my plan.json");
    expect(plan.stderr).toContain(
      "fix: reconcile show '../site/my plan.json' shows it, reconcile apply '../site/my plan.json' carries it out",
    );
  });

  it.each([
    ["relative to the file that names it", "./our.dialect.yaml", "--> ../shared/our.dialect.yaml:1:9"],
    ["absolute", "ABSOLUTE", "our.dialect.yaml:1:9"],
  ])("a dialect's path is %s, and its problems are shown where it is seen from here", async (_, path, place) => {
    write("shared/our.dialect.yaml", "rules: {port_rnge: x}\n");
    write("site/reconcile.yaml", "version: 1\n");
    const given = path === "ABSOLUTE" ? join(root, "shared/our.dialect.yaml") : path;
    write("shared/service.yaml", `version: 1\nservice: { dialect: ${JSON.stringify(given)} }\n`);
    const ran = await validate("../site/reconcile.yaml", "-f", "../shared/service.yaml");
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("error[dialect/unknown-key]");
    expect(ran.stderr).toContain(place);
  });
});
