/** Assertions of a file, from outside: what plan, apply, validate, drift, watch and explain make of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { jsonLines, type Ran, runCli } from "../support/cli-process";
import { ownPlace } from "../support/own-place";

const place = ownPlace({ with: ["group.rule.delete"] });
beforeEach(async () => {
  writeFileSync(
    join(place.folder, "dialect.json"),
    JSON.stringify({
      operations: { "group.rule.delete": { method: "DELETE", path: "/api/v1/security-group/{id}/rule/{rule_id}" } },
    }),
  );
});

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
const reconcile = (...args: string[]): Promise<Ran> =>
  runCli(args, {
    cwd: place.folder,
    env: { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: place.emulator.url, RECONCILE_DIALECT: "dialect.json" },
  });
const fromWeb = "{ protocol: tcp, dst_port: 5432, remote_group: web }";
const fromAnywhere = "{ protocol: tcp, dst_port: 5432, remote_ip: 0.0.0.0/0 }";
const write = (assertions: string, rules: readonly string[] = [fromWeb]): void =>
  writeFileSync(
    join(place.folder, "reconcile.yaml"),
    `version: 1
project: acme
region: in-west-1
groups:
  web: { rules: [ { protocol: tcp, dst_port: 443 } ] }
  database:
    rules:
${rules.map((rule) => `      - ${rule}\n`).join("")}reachability:
${assertions}`,
  );
const never = "  - never: { from: internet, to: group.database }\n    because: cardholder data\n";
const always = "  - always: { from: group.web, to: group.database, tcp: 5432, ethertype: IPv4 }\n";
const writes = () => place.emulator.requests().log.filter(({ method }) => method !== "GET");
const summaryOf = (ran: Ran) => jsonLines(ran.stdout).at(-1)!;
const codesOf = (ran: Ran) =>
  (summaryOf(ran)["findings"] as { code: string; severity: string }[])
    .filter(({ code }) => code.startsWith("reachability/"))
    .map(({ code, severity }) => `${severity} ${code}`);

describe("a plan that would break an assertion", () => {
  it("is refused before the first write, with a counterexample: who admits what, where, from which step on", async () => {
    write(never + always);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const before = writes().length;
    write(never + always, [fromAnywhere]);
    for (const words of [["plan"], ["apply", "-y"]]) {
      const ran = await reconcile(...words, "--json");
      expect(ran.exitCode).toBe(3);
      expect(jsonLines(ran.stdout).find(({ code }) => code === "reachability/violated")).toMatchObject({
        type: "finding",
        severity: "error",
        address: "group.database",
        file: "reconcile.yaml",
        line: 10,
        summary: "never internet -> group.database (cardholder data)",
        refused: "refused by reachability (reconcile.yaml:10)",
        counterexample: {
          set: "tcp 5432 from internet (IPv4)",
          witness: { direction: "ingress", service: "tcp 5432", peer: "8.8.8.8" },
          rule: "group.database rules[0] { tcp 5432, remote_ip: 0.0.0.0/0 } (reconcile.yaml:8)",
        },
      });
    }
    const text = await reconcile("plan");
    expect(text.stderr).toMatch(
      /tcp 5432 from 8\.8\.8\.8 is admitted after step \d of \d \(group\.database\/[\w-]+\), and after the plan/,
    );
    const github = await reconcile("plan", "--annotations", "github");
    expect(github.stdout).toMatch(/::error file=reconcile\.yaml,line=10,/);
    expect((await reconcile("plan", "--markdown")).stdout).toContain("8.8.8.8 is admitted");
    expect((await reconcile("plan", "--annotations", "junit")).stdout).toContain("<failure");
    const sarif = JSON.parse((await reconcile("plan", "--annotations", "sarif")).stdout);
    expect(sarif.runs[0].results[0]).toMatchObject({ ruleId: "reachability/violated", level: "error" });
    expect(writes().length).toBe(before);
  });

  it("validate says it without any service, and --out saves no such plan", async () => {
    write(never, [fromAnywhere]);
    const ran = await runCli(["validate", "--json"], { cwd: place.folder });
    expect([ran.exitCode, codesOf(ran)]).toEqual([3, ["error reachability/violated"]]);
    expect((await reconcile("plan", "--out", "p.plan.json")).exitCode).toBe(3);
    expect((await reconcile("apply", "p.plan.json")).exitCode).toBe(1);
  });

  it("taking away what must always be admitted names the half and the rule", async () => {
    write(always);
    await reconcile("apply", "-y");
    write(always, ["{ protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/8 }"]);
    const ran = await reconcile("apply", "-y");
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain("it is the ingress half, the rules of group.database");
    expect(ran.stderr).toContain("tcp 5432 from group.web is not admitted after step");
  });

  it("a saved plan is held to the assertions that it brings along", async () => {
    write(always);
    await reconcile("apply", "-y");
    write("  []\n", ["{ protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/8 }"]);
    expect((await reconcile("plan", "--out", "p.plan.json")).exitCode).toBe(0);
    write(never, [fromWeb, "{ protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/8 }"]);
    expect((await reconcile("plan", "--out", "q.plan.json")).exitCode).toBe(0);
    expect((await reconcile("apply", "q.plan.json")).exitCode).toBe(0);
  });
});

describe("what is broken already", () => {
  it("is a warning while it gets no worse, an error when it does or with --strict, and a note when the plan repairs it", async () => {
    write("  []\n", [fromAnywhere]);
    await reconcile("apply", "-y");
    write(never, [fromAnywhere]);
    const same = await reconcile("plan", "--json");
    expect([same.exitCode, codesOf(same)]).toEqual([0, ["warning reachability/violated"]]);
    expect((await reconcile("plan", "--strict")).exitCode).toBe(3);
    const drift = await reconcile("drift", "--json");
    expect([drift.exitCode, codesOf(drift)]).toEqual([2, ["warning reachability/violated"]]);
    write(never, [fromAnywhere, "{ protocol: tcp, dst_port: 22 }"]);
    const worse = await reconcile("plan", "--json");
    expect([worse.exitCode, codesOf(worse)]).toEqual([3, ["error reachability/violated"]]);
    write(never);
    const repaired = await reconcile("apply", "-y", "--json");
    expect([repaired.exitCode, codesOf(repaired)]).toEqual([0, ["note reachability/repaired"]]);
    expect((await reconcile("drift")).exitCode).toBe(0);
    expect(codesOf(await reconcile("plan", "--json"))).toEqual([]);
  });
});

describe("exceptions", () => {
  const only = (until: string): string =>
    `  - only: { to: group.database, tcp: 5432, from: group.web }
    allow:
      - { from: 203.0.113.7, until: ${until}, reason: migration, owner: ops@acme.example }\n`;
  const vendor = "{ protocol: tcp, dst_port: 5432, remote_ip: 203.0.113.7/32 }";
  it.each([
    ["holds", day(100), [fromWeb, vendor], 0, []],
    ["ends soon", day(7), [fromWeb, vendor], 0, ["warning reachability/exception-ends"]],
    ["has ended", day(-1), [fromWeb, vendor], 3, ["error reachability/violated"]],
    ["is for too long", day(500), [fromWeb, vendor], 3, ["error reachability/exception-too-long"]],
    ["is needed by nothing", day(100), [fromWeb], 0, ["warning reachability/exception-unneeded"]],
  ])("one that %s", async (_, until, rules, exitCode, codes) => {
    write(only(until), rules);
    const ran = await reconcile("plan", "--json");
    expect([ran.exitCode, codesOf(ran)]).toEqual([exitCode, codes]);
  });

  it("one that ends is a violation although no plan changed anything", async () => {
    write(only(day(3)), [fromWeb, vendor]);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write(only(day(-1)), [fromWeb, vendor]);
    const ran = await reconcile("plan");
    expect([ran.exitCode, ran.stderr]).toEqual([3, expect.stringContaining("an exception that covered it has ended")]);
  });
});

it("who is a member is not for rules to say: that is a verdict of its own", async () => {
  write("  - never: { from: group.web, to: group.database, tcp: 22 }\n", [
    fromWeb,
    "{ protocol: tcp, dst_port: 22, remote_ip: 10.0.0.0/8 }",
  ]);
  const ran = await reconcile("plan", "--json");
  expect([ran.exitCode, codesOf(ran)]).toEqual([0, ["warning reachability/unproven"]]);
  expect((await reconcile("plan", "--strict")).exitCode).toBe(3);
});

it("assertions that contradict each other are an error, with what they have in common", async () => {
  write(`${always}  - never: { from: anywhere, to: group.*, tcp: 5432 }\n`);
  const ran = await runCli(["validate"], { cwd: place.folder });
  expect([ran.exitCode, ran.stderr]).toEqual([3, expect.stringContaining("reachability/contradiction")]);
  expect(ran.stderr).toContain("tcp 5432 from group.web");
});

it("every mistake at once, each at its line", async () => {
  write(`  - never: { from: internet, to: group.databse }
  - never: { from: internet, to: 10.0.0.0/8 }
  - always: { from: group.web, to: group.database }
    allow: { from: internet, until: 2026-02-30, reason: none }
  - only: { to: group.database, tcp: 70000, from: web }
  - { because: nothing }
`);
  const ran = await runCli(["validate"], { cwd: place.folder });
  expect(ran.exitCode).toBe(1);
  for (const line of [10, 11, 13, 14, 15]) expect(ran.stderr).toContain(`reconcile.yaml:${line}:`);
  expect(ran.stderr).toContain("write group.database");
  expect(ran.stderr).toContain("write group.web");
});

it("explain reach names the rules, or the one that is missing", async () => {
  write(never);
  const admitted = await runCli(["explain", "reach", "web", "database:5432"], { cwd: place.folder });
  expect([admitted.exitCode, admitted.stdout]).toEqual([
    0,
    expect.stringContaining("ingress of group.database: admitted"),
  ]);
  expect(admitted.stdout).toContain("rules[0] { tcp 5432, remote_group: web } (reconcile.yaml:8)");
  const missing = await runCli(["explain", "reach", "203.0.113.7", "database:22"], { cwd: place.folder });
  expect(missing.stdout).toContain("ingress of group.database: not admitted");
  expect(missing.stdout).toContain("missing: a rule of group.database that admits tcp 22 from 203.0.113.7/32");
  const unknown = await runCli(["explain", "reach", "wbe", "database:22"], { cwd: place.folder });
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("write web")]);
});

it("pull --assert writes what holds today, and a plan with it has nothing to say", async () => {
  write("  []\n");
  await reconcile("apply", "-y");
  const ids = place.emulator.dump().groups.flatMap(({ id, name }) => (name === "default" ? [] : ["--group", id]));
  const pulled = await reconcile("pull", "--assert", "--project", "acme", "--region", "in-west-1", ...ids);
  expect(pulled.stdout).toContain("reachability:");
  expect(pulled.stdout).toMatch(
    /- never: { from: internet, to: group\.group-\w+ }\n.*- only: { from: group\.group-\w+, to: group\.group-\w+, tcp: 5432 }/,
  );
  writeFileSync(join(place.folder, "reconcile.yaml"), pulled.stdout);
  const ran = await reconcile("plan", "--json", "--state", "other.state.json");
  expect([ran.exitCode, codesOf(ran).filter((code) => !code.startsWith("note"))]).toEqual([0, []]);
  // A group that is not pulled with it is named by its id.
  const [database] = place.emulator.dump().groups.flatMap(({ id, name }) => (name === "database" ? [id] : []));
  const alone = await reconcile("pull", "--assert", "--project", "acme", "--region", "in-west-1", "--group", database!);
  expect(alone.stdout).toMatch(/- only: { from: { id: [\w-]+ }, to: group\.group-\w+, tcp: 5432 }/);
  writeFileSync(join(place.folder, "reconcile.yaml"), alone.stdout);
  expect((await reconcile("validate")).exitCode).toBe(0);
});
