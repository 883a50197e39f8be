/** `reconcile test`: what a user's own file would do, tested on the embedded service in virtual time. */
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readReferences } from "../../reconciler/config/first-tests";
import { jsonLines, type Ran, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const file = `version: 1
project: acme
region: in-west-1
vars: { size: { default: 10 } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { database: {} }
volumes: { data: { size: "\${var.size}", attach_to: database } }
groups: { web: { rules: [ { protocol: tcp, dst_port: 5432, remote_ip: 10.0.0.0/8 } ] } }
outputs: { disk: { value: "\${volume.data.name}" } }
reachability: [ { never: { from: internet, to: group.web } } ]
`;
const tests = `tests:
  - name: everything is made
    when: reconcile.yaml
    expect:
      changes: { vm.database: create, volume.data: create, group.web: create }
      consents: []
      findings: []
      reachability: holds
      outputs: { disk: data }
      converges: true
  - name: growing the disk of a running VM takes it off first
    given: reconcile.yaml
    when: { vars: { size: 20 } }
    expect:
      changes: { volume.data: update }
      steps: [volume.detach volume.data, volume.resize volume.data, volume.attach volume.data]
      consents: [flush]
  - name: nobody opens the group to the internet
    given: reconcile.yaml
    when: { set: { groups: { web: { rules: [ { protocol: tcp, dst_port: 5432 } ] } } } }
    expect: { exit_code: 3, reachability: violated, findings: [reachability/violated, exposure/open-port] }
  - name: a file that is wrong is refused
    when: { inline: { version: 1, vms: { x: {} } } }
    expect: { exit_code: 1 }
`;
const run = (cwd: string, ...args: string[]): Promise<Ran> => runCli(["test", ...args], { cwd });

it("passes what is as expected, with no service and no credential", async () => {
  const cwd = makeFolder({ "reconcile.yaml": file, "reconcile.test.yaml": tests });
  const ran = await run(cwd);
  expect([ran.exitCode, ran.stdout], ran.stdout + ran.stderr).toEqual([
    0,
    expect.stringContaining("4 tests: 4 passed, 0 failed."),
  ]);
  expect(existsSync(join(cwd, "reconcile.state.json"))).toBe(false);
});

it("the name of a file moves no cursor and turns no text around, wherever it is told", async () => {
  const name = "a\u001b[2J\u202eb";
  const cwd = makeFolder({
    [`${name}/reconcile.yaml`]:
      "version: 1\nproject:  acme\nregion: in-west-1\nservice: { base_url: embedded }\ngroups: { web: {} }\n",
    [`${name}/reconcile.test.yaml`]: "tests: [ { name: fails, when: reconcile.yaml, expect: { changes: {} } } ]\n",
  });
  const [given, saved] = [["-f", `${name}/reconcile.yaml`], `${name}/x.plan.json`];
  for (const args of [
    ["test", name],
    ["test", "--format", "tap", name],
    ["plan", "--out", saved, ...given],
    ["show", saved],
    ["graph", "--out", `${name}/x.svg`, ...given],
    ["fmt", "--check", `${name}/reconcile.yaml`],
    ["state", "check", ...given],
    ["init", `${name}/new`],
  ]) {
    const { stdout, stderr } = await runCli(args, { cwd });
    expect(stdout + stderr, args[0]).toContain("a\\u001b[2J\\u202eb");
    expect(stdout + stderr, args[0]).not.toMatch(/\u001b|\u202e/);
  }
});

it("a report is written over no tests and through no link, nowhere before it can be, and for everybody to read", async () => {
  const cwd = makeFolder({ "reconcile.yaml": file, "reconcile.test.yaml": tests });
  symlinkSync("elsewhere.xml", join(cwd, "link.xml"));
  for (const [out, why] of [
    ["reconcile.test.yaml", "holds tests, and nothing is written over it"],
    ["link.xml", "is a symbolic link"],
    ["none/report.xml", "there is no folder none"],
  ] as const) {
    const ran = await run(cwd, "--format", "junit", "--out", out);
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(`error[cli/file-unwritable]: ${out} `)]);
    expect(ran.stderr).toContain(why);
  }
  expect(readFileSync(join(cwd, "reconcile.test.yaml"), "utf8")).toBe(tests);
  expect(existsSync(join(cwd, "elsewhere.xml"))).toBe(false);
  expect((await run(cwd, "--format", "junit", "--out", "report.xml")).exitCode).toBe(0);
  expect(statSync(join(cwd, "report.xml")).mode & 0o444).toBe(0o444);
});

it("tells what is not, with its place, as text, TAP, JUnit and JSON", async () => {
  const wrong = tests
    .replace("volume.data: update", "volume.data: replace")
    .replace("converges: true", "converges: false")
    .replace("consents: [flush]", "consents: []")
    .replace("disk: data", "disk: other");
  const cwd = makeFolder({ "reconcile.yaml": file, "reconcile.test.yaml": wrong });
  const text = await run(cwd);
  expect(text.exitCode).toBe(1);
  expect(text.stdout).toContain("✗ growing the disk of a running VM takes it off first (reconcile.test.yaml:11)");
  expect(text.stdout).toContain("changes: expected volume.data replace; is volume.data update");
  expect(text.stdout).toContain("consents: expected none; is flush");
  expect(text.stdout).toContain('output disk: expected "other", is "data"');
  expect(text.stdout).toContain("it converges, and was expected not to");
  const tap = await run(cwd, "--format", "tap");
  expect(tap.stdout).toMatch(/^TAP version 14\n1\.\.4\nnot ok 1 - everything is made\n/);
  expect(tap.stdout).toContain("ok 3 - nobody opens the group to the internet");
  await run(cwd, "--format", "junit", "--out", "report.xml");
  expect(readFileSync(join(cwd, "report.xml"), "utf8")).toContain(
    '<testsuites name="reconcile test" tests="4" failures="2"',
  );
  const lines = jsonLines((await run(cwd, "--json")).stdout);
  expect(lines.filter(({ type }) => type === "test").map(({ ok }) => ok)).toEqual([false, false, true, true]);
  expect(lines.at(-1)).toMatchObject({
    exit_code: 1,
    diagnostics: expect.arrayContaining([
      expect.objectContaining({ code: "test/failed", file: "reconcile.test.yaml", line: 11 }),
    ]),
  });
});

it("expects everything that a test names, also of a plan that is not applied and of a file that is refused", async () => {
  const opened = "{ set: { groups: { web: { rules: [ { protocol: tcp, dst_port: 5432 } ] } } } }";
  const wrong = "{ inline: { version: 1, project: p, region: r, vms: { xyz: {} } } }";
  const rows: readonly [when: string, expected: string, problems: readonly string[]][] = [
    ["reconcile.yaml", "{ steps: }", [expect.stringMatching(/^steps: expected none; is group.create/)]],
    ["reconcile.yaml", "{ changes: }", [expect.stringMatching(/^changes: expected none; is group.web create/)]],
    ["reconcile.yaml", "{ outputs: { nope: null } }", ["output nope: expected null, is not there"]],
    [
      opened,
      "{ exit_code: 3, converges: true, outputs: { disk: other } }",
      [
        "it does not converge: the plan ends with exit code 3 and is not applied",
        "outputs: the plan ends with exit code 3 and is not applied",
      ],
    ],
    [opened, "{ exit_code: 3, converges: false }", []],
    [wrong, "{ exit_code: 1, findings: [config/missing], changes: {}, converges: false }", []],
    [
      wrong,
      "{ exit_code: 1, findings: [config/cycle], changes: { vm.xyz: create }, reachability: holds }",
      [
        "changes: expected vm.xyz create; is none",
        "findings: expected config/cycle; is config/missing",
        "reachability: expected holds; is not judged",
      ],
    ],
  ];
  const written = rows.map(([when, expected], at) => `  - { name: "${at}", when: ${when}, expect: ${expected} }\n`);
  const cwd = makeFolder({ "reconcile.yaml": file, "a.test.yaml": `tests:\n${written.join("")}` });
  const lines = jsonLines((await run(cwd, "--json")).stdout).filter(({ type }) => type === "test");
  expect(lines.map(({ problems }) => problems)).toEqual(rows.map(([, , problems]) => problems));
  // Several problems are several lines.
  expect((await run(cwd, "--format", "junit")).stdout).toContain("applied\noutputs: the plan ends");
});

it("names every mistake of a test file at its line", async () => {
  const cwd = makeFolder({
    "reconcile.yaml": file,
    "a.test.yaml": "tests:\n  - nam: x\n    expect: { changs: {}, converges: 7 }\n  - 5\n",
  });
  const ran = await run(cwd);
  expect(ran.exitCode).toBe(1);
  for (const said of ["a.test.yaml:2:", "a.test.yaml:3:", "a.test.yaml:4:", "write name", "write changes"])
    expect(ran.stderr).toContain(said);
});

it("--init writes the first, which passes, and never over one that is there", async () => {
  const cwd = makeFolder({ "reconcile.yaml": file });
  expect((await run(cwd)).exitCode).toBe(1);
  expect((await run(cwd, "--init")).exitCode).toBe(0);
  expect((await run(cwd)).stdout).toContain("3 tests: 3 passed, 0 failed.");
  expect((await run(cwd, "--init")).exitCode).toBe(1);
});

it("a read with a name that objects inherit has what the test gives, and nothing else", async () => {
  const cwd = makeFolder({
    "reconcile.yaml": `version: 1\nproject: acme\nregion: in-west-1
reads: { constructor: { state: ./other.state.json } }
groups: { web: { description: "\${read.constructor.name}" } }\n`,
    "none.test.yaml": "tests: [ { name: a, when: reconcile.yaml, expect: { exit_code: 1 } } ]\n",
    "other.state.json": "{}",
  });
  expect((await run(cwd)).stdout).toContain("1 test: 1 passed");
  expect([...readReferences("${read.constructor.a} ${read.constructor.b}")]).toEqual([["constructor", ["a", "b"]]]);
});

it("--init names the command that finds what it wrote, in a folder and under any name", async () => {
  const cwd = makeFolder({ "reconcile.yaml": file, "a b/reconcile.yaml": file });
  const next = async (...args: string[]) =>
    /Next: reconcile (.*)\n/.exec((await run(cwd, "--init", ...args)).stdout)?.[1];
  expect([await next("a b"), await next("mine.yaml"), await next("a b/mine.yaml")]).toEqual([
    "test",
    "test mine.yaml",
    "test 'a b/mine.yaml'",
  ]);
  expect((await run(cwd)).stdout).toContain("3 tests: 3 passed");
  expect((await run(cwd, "a b/mine.yaml", "--out", "report.txt")).exitCode).toBe(0);
  expect(readFileSync(join(cwd, "report.txt"), "utf8")).toContain("3 tests: 3 passed");
});

it("a misspelt name of what a test takes away, or of a lookup that it gives, fails the test", async () => {
  const lookups = "lookups: { legacy: { vm: { name: legacy-app } } }\n";
  const cwd = makeFolder({
    "reconcile.yaml": file + lookups,
    "a.test.yaml": `tests:
  - { name: a, when: { set: { volumes: { dta: null, other: null } } } }
  - { name: b, lookups: { legcy: { private_ip: 10.0.0.9 } } }
  - { name: c, when: { set: { outputs: null, volumes: { data: null, gone: null } } }, lookups: { legacy: {}, legacy2: {} } }
`,
  });
  const lines = jsonLines((await run(cwd, "--json")).stdout);
  expect(lines.flatMap(({ type, problems }) => (type === "test" ? [problems] : []))).toEqual([
    ["set takes volumes.dta away, which is not there; did you mean data?"],
    ["no file has the lookup legcy of the test; did you mean legacy?"],
    [],
  ]);
});

it("a key that the file gives twice fails the test, also where the test sets something over the file", async () => {
  const cwd = makeFolder({
    "reconcile.yaml": `${file}groups: { web: { rules: [] } }\n`,
    "a.test.yaml": "tests: [ { name: a, when: { set: { region: eu } } } ]\n",
  });
  const [found] = jsonLines((await run(cwd, "--json")).stdout);
  expect(found).toMatchObject({ type: "test", problems: [expect.stringContaining("the key groups is given twice")] });
});

it("--init writes no test that the limits of the file itself refuse", async () => {
  const prices = "prices: { currency: EUR, per: month, vm: { m1.small: 50 }, volume_gb: 1 }\n";
  const limits = "checks: { at_most: { remove: 0, monthly_increase: 1 } }\n";
  const cwd = makeFolder({ "reconcile.yaml": file + prices + limits });
  expect((await run(cwd, "--init")).exitCode).toBe(0);
  expect((await run(cwd)).stdout).toContain("2 tests: 2 passed, 0 failed.");
});

it("passes at any hour, and with --init for a file that takes something over", async () => {
  const notToday = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][(new Date().getUTCDay() + 3) % 7];
  const cwd = makeFolder({
    "reconcile.yaml": `${file}checks: { hours: { days: [${notToday}], from: "08:00", to: "09:00" } }
imports: [ { to: vm.database, id: "7" } ]\n`,
  });
  expect((await run(cwd, "--init")).exitCode).toBe(0);
  expect((await run(cwd)).stdout).toContain("3 tests: 3 passed, 0 failed.");
});

const elsewhere = `version: 1
project: acme
region: eu-own-1
vars: { owner: { type: text } }
service: { base_url: "https://cloud.acme.example" }
environments: { dev: {}, prod: {} }
defaults: { vm: { owner: "\${var.owner}", user_id: "7", image_id: our-image, flavor_id: gp.4x8, size: 10 } }
lookups: { legacy: { vm: { name: legacy-app } } }
reads: { network: { state: ./network.state.json } }
vms: { app: { name: "app-\${env}" } }
groups: { web: { rules: [ { protocol: tcp, dst_port: 80, remote_ip: "\${lookup.legacy.private_ip}" }, { protocol: tcp, dst_port: 81, remote_ip: "\${read.network.door}" } ] } }
`;

it("takes flavors, environments, variables, reads and lookups of anybody's file, and asks nobody", async () => {
  const cwd = makeFolder({ "reconcile.yaml": elsewhere });
  expect((await run(cwd, "--init", "--var", "owner=ops@acme.example")).exitCode).toBe(0);
  const first = await run(cwd);
  expect(first.stdout, first.stdout + first.stderr).toContain("3 tests: 3 passed, 0 failed.");
  writeFileSync(
    join(cwd, "reconcile.test.yaml"),
    "tests: [ { name: x, env: prod, lookups: { legacy: { private_ip: 10.0.0.9 } } } ]",
  );
  const unsaid = await run(cwd, "--var", "owner=ops@acme.example");
  expect(unsaid.stdout).toContain("reads: { network: { OUTPUT: … } }");
  // A folder with its tests is still a desired state.
  const validated = await runCli(["plan", ".", "--env", "dev"], { cwd });
  expect(validated.stderr).not.toContain("config/unknown-key");
});

it("knows what the file names by id, and nothing else", async () => {
  const cwd = makeFolder({
    "reconcile.yaml": `version: 1
project: acme
region: in-west-1
lookups: { shared: { group: { name: shared } }, old: { vm: { name: old-app } } }
groups:
  web: { rules: [{ protocol: tcp, dst_port: 22, remote_group: { id: 3f2b6f1c-8f0e-4d0e-9a57-0a4f5a5f8e11 } }] }
  database: { rules: [{ protocol: tcp, dst_port: 22, remote_group: { id: "\${lookup.shared.id}" } }] }
volumes:
  one: { size: 3, attach_to: { id: 3f2b6f1c-8f0e-4d0e-9a57-0a4f5a5f8e12 } }
  two: { size: 3, attach_to: { id: "\${lookup.old.id}" } }
`,
    "reconcile.test.yaml": `tests:
  - { name: all is made, expect: { changes: { group.web: create, group.database: create, volume.one: create, volume.two: create } } }
  - { name: all stays, given: reconcile.yaml, expect: { changes: {} } }
`,
  });
  const ran = await run(cwd);
  expect(ran.stdout, ran.stdout + ran.stderr).toContain("2 tests: 2 passed, 0 failed.");
});

it("takes port ranges and keeps named groups as the dialect of the file says", async () => {
  const cwd = makeFolder({
    "reconcile.yaml": `version: 1
project: acme
region: in-west-1
service: { base_url: embedded, dialect: ./my.dialect.yaml }
groups: { web: { rules: [ { protocol: tcp, dst_port: 8000-8010, remote_ip: 10.0.0.0/8 } ] } }
outputs: { door: { value: "kept-from-logs", sensitive: true } }
`,
    "my.dialect.yaml": 'rules: { port_range: "{min}-{max}" }\n',
    "a.test.yaml": "tests: [ { name: ranges, when: reconcile.yaml, expect: { changes: { group.web: create } } } ]\n",
  });
  const ran = await run(cwd);
  expect(ran.stdout, ran.stdout + ran.stderr).toContain("1 test: 1 passed, 0 failed.");
  // A dialect that cannot be read is told with its place.
  writeFileSync(join(cwd, "my.dialect.yaml"), "rules: { port_rnge: x }\n");
  expect((await run(cwd)).stdout).toContain("my.dialect.yaml:1: the key port_rnge is not known here (");
  // What is sensitive is in no log, and a fix names nothing that a test does not read.
  writeFileSync(join(cwd, "my.dialect.yaml"), 'rules: { port_range: "{min}..{max}" }\n');
  writeFileSync(
    join(cwd, "a.test.yaml"),
    "tests: [ { name: x, when: reconcile.yaml, expect: { outputs: { door: other } } } ]\n",
  );
  const { stdout } = await run(cwd);
  expect(stdout).toContain("output door: is not what is expected; it is sensitive");
  expect(stdout).not.toContain("kept-from-logs");
  writeFileSync(join(cwd, "reconcile.yaml"), "version: 1\nvars: { key: {} }\n");
  const unset = await runCli(["test"], { cwd, env: { RECONCILE_VAR_key: "x" } });
  expect(unset.stdout).toContain("(give --var key=…, or write a default)");
});

it("300 tests are a matter of a second or two, and are told in their order, whichever core ran them", async () => {
  const cases = Array.from({ length: 75 }, (_, index) =>
    tests.slice("tests:\n".length).replaceAll("- name: ", `- name: ${index} `),
  );
  const cwd = makeFolder({
    "reconcile.yaml": file,
    "reconcile.test.yaml": `tests:\n${cases.join("").replace("vm.database: create", "vm.database: delete")}`,
  });
  const started = performance.now();
  const told = jsonLines((await run(cwd, "--json")).stdout).filter(({ type }) => type === "test");
  expect(told.map(({ line }) => line)).toEqual(told.map(({ line }) => Number(line)).toSorted((a, b) => a - b));
  expect([told.length, told.filter(({ ok }) => ok !== true).map(({ name }) => name)]).toEqual([
    300,
    ["0 everything is made"],
  ]);
  console.log(`300 tests: ${Math.round(performance.now() - started)} ms`);
});
