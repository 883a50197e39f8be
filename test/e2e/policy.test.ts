/** Built-in checks and a policy program of the user's own, from outside. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Finding, judge } from "../../reconciler/core/findings/finding";
import { findingsOfAnswer } from "../../reconciler/core/findings/policy-answer";
import { jsonLines, type Ran } from "../support/cli-process";
import { ownPlace } from "../support/own-place";

const place = ownPlace();
const { reconcile } = place;

const vms = `vms:
  database: { flavor_id: m1.large, name: acme-db }
`;
const write = (guards: string, resources = vms): void =>
  writeFileSync(
    join(place.folder, "reconcile.yaml"),
    `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 20ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
${resources}${guards}`,
  );
const writes = () => place.emulator.requests().log.filter(({ method }) => method !== "GET");
const codesOf = (ran: Ran) =>
  (jsonLines(ran.stdout).at(-1)!["findings"] as Finding[])
    .filter(({ code }) => /^(check|policy)\//.test(code))
    .map(({ code, severity }) => `${severity} ${code}`);
const program = (body: string): void => {
  writeFileSync(join(place.folder, "judge.sh"), `#!/bin/sh\n${body}\n`);
  chmodSync(join(place.folder, "judge.sh"), 0o755);
};
const policy = "policy: { command: [./judge.sh] }\n";

describe("checks", () => {
  it.each([
    ["a flavor", "checks: { flavors: [m1.small] }\n", "error check/flavor"],
    ["an image", "checks: { images: [debian-12] }\n", "error check/image"],
    ["a region", "checks: { regions: [in-east-1] }\n", "error check/region"],
    ["a name", "checks: { names: { vm: 'shop-.*' } }\n", "error check/name"],
    ["a lifecycle", "checks: { lifecycle: { vm: { prevent_destroy: true } } }\n", "error check/lifecycle"],
    ["a snapshot", "checks: { lifecycle: { vm: { snapshot_before: [rebuild] } } }\n", "error check/lifecycle"],
  ])("refuse %s, in validate, plan and apply, before anything is sent", async (_, guards, code) => {
    write(guards);
    for (const words of [["validate"], ["plan"], ["apply", "-y"]]) {
      const ran = await reconcile(...words, "--json");
      expect([words, ran.exitCode, codesOf(ran)]).toEqual([words, 3, [code]]);
    }
    expect(writes()).toEqual([]);
  });

  it("warn of what is so already, so that an old estate can switch them on", async () => {
    write("");
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write("checks: { flavors: [m1.small] }\n");
    const ran = await reconcile("plan", "--json");
    expect([ran.exitCode, codesOf(ran)]).toEqual([0, ["warning check/flavor"]]);
  });

  it("limit what one plan removes and stops, and when", async () => {
    const many =
      "volumes: { one: { size: 1, name: one }, two: { size: 1, name: two }, three: { size: 1, name: three } }\n";
    write("", many);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    write("checks: { at_most: { remove: 50% } }\n", "volumes: { one: { size: 1, name: one } }\n");
    const removes = await reconcile("apply", "-y", "--allow-data-loss", "--json");
    expect([removes.exitCode, codesOf(removes)]).toEqual([3, ["error check/removals"]]);
    const hour = new Date().getUTCHours();
    const clock = (hours: number): string => `"${String((hours + 24) % 24).padStart(2, "0")}:00"`;
    write(
      `checks: { hours: { from: ${clock(hour + 2)}, to: ${clock(hour + 3)} } }\n`,
      "volumes: { one: { size: 2, name: one } }\n",
    );
    const late = await reconcile("plan", "--json");
    expect([late.exitCode, codesOf(late)]).toEqual([3, ["error check/hours"]]);
    write(
      `checks: { hours: { from: ${clock(hour - 1)}, to: ${clock(hour + 2)} } }\n`,
      "volumes: { one: { size: 2, name: one } }\n",
    );
    expect((await reconcile("plan", "--json")).exitCode).toBe(0);
  });
});

describe("policy", () => {
  it("reads the plan on standard input, and its findings refuse it or are told", async () => {
    program(
      `cat > seen.json; echo '[{"code":"no-large","summary":"large is dear","address":"vm.database"},{"severity":"warning","message":"look twice"}]'`,
    );
    write(policy);
    const ran = await reconcile("apply", "-y", "--json");
    expect([ran.exitCode, codesOf(ran)]).toEqual([3, ["error policy/no-large", "warning policy/denied"]]);
    expect(writes()).toEqual([]);
    const seen = JSON.parse((await import("node:fs")).readFileSync(join(place.folder, "seen.json"), "utf8"));
    expect(seen).toMatchObject({
      format: "reconcile-cloud/policy-input",
      version: 1,
      counts: { create: 1 },
      changes: [{ type: "change", address: "vm.database", action: "create" }],
      steps: [{ type: "step_planned", operation: "vm.create" }],
    });
    expect(JSON.stringify(seen)).not.toContain("ops-token");
    expect((await reconcile("plan")).stderr).toContain("refused by policy (reconcile.yaml:8)");
    program("cat > /dev/null; echo '[]'");
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
  });

  it.each([
    ["fails without an answer", "cat > /dev/null; echo broken >&2; exit 2"],
    ["prints what is no JSON", "cat > /dev/null; echo all is well"],
    ["is not there", undefined],
    ["is killed behind a warning", `cat > /dev/null; echo '{"severity":"warning","summary":"odd"}'; kill -9 $$`],
  ])("one that %s refuses the plan", async (_, body) => {
    if (body !== undefined) program(body);
    write(policy);
    const ran = await reconcile("plan", "--json");
    expect([ran.exitCode, codesOf(ran)]).toEqual([3, expect.arrayContaining(["error policy/failed"])]);
  });

  it("shows no sensitive value, however a report escapes it", async () => {
    write(`vars: { hook: { sensitive: true } }\n${policy}`);
    const hook = `open_<sesame>&"9'!`;
    program(`cat > /dev/null\ncat <<'END'\n${JSON.stringify([{ summary: `said ${hook}`, severity: "warning" }])}\nEND`);
    for (const form of [["--json"], ["--markdown"], ["--annotations", "junit"], ["--annotations", "github"]]) {
      const { stdout, stderr } = await reconcile("plan", ...form, "--var", `hook=${hook}`);
      expect([form, stdout + stderr]).toEqual([form, expect.stringContaining("said")]);
      expect(stdout + stderr).not.toContain("sesame");
    }
    const applied = await reconcile("apply", "-y", "--report", "report.html", "--var", `hook=${hook}`);
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect(readFileSync(join(place.folder, "report.html"), "utf8")).not.toContain("sesame");
  });

  it("reads no sensitive value, also where a health check has one", async () => {
    program("cat > seen.json; echo '[]'");
    const check = 'lifecycle: { verify_resize: { check: { http: "https://acme.example/${var.hook}" } } }';
    write(`vars: { hook: { sensitive: true } }\n${policy}`, vms.replace("name:", `${check}, name:`));
    const ran = await reconcile("plan", "--var", "hook=open-sesame");
    expect(ran.exitCode, ran.stderr).toBe(0);
    const seen = JSON.parse(readFileSync(join(place.folder, "seen.json"), "utf8"));
    expect(seen.resources[0].lifecycle.verifyResize.check).toEqual({
      kind: "http",
      url: "https://acme.example/********",
    });
  });

  it("is told the project and its environment, whatever is planned and from where", async () => {
    program("cat > seen.json; echo '[]'");
    write(`environments: { dev: {}, prod: {} }\n${policy}`);
    const seen = join(place.folder, "seen.json");
    for (const words of [
      ["plan", "--out", "prod.plan.json"],
      ["apply", "prod.plan.json"],
      ["plan", "--destroy"],
      ["undo", "last", "-y", "--allow-data-loss", "--allow-empty"],
    ]) {
      writeFileSync(seen, "null");
      const ran = await reconcile(...words, "--env", "prod");
      expect([words, ran.exitCode, ran.stderr]).toEqual([words, 0, expect.anything()]);
      const input = JSON.parse(readFileSync(seen, "utf8"));
      expect([words, input]).toEqual([words, expect.objectContaining({ project: "acme", environment: "prod" })]);
    }
  });

  it("gets no credential", async () => {
    program("cat > /dev/null; env > environment.txt; echo '[]'");
    write(policy);
    await reconcile("plan");
    expect((await import("node:fs")).readFileSync(join(place.folder, "environment.txt"), "utf8")).not.toContain(
      "ops-token",
    );
  });
});

describe("answers", () => {
  const source = { file: "reconcile.yaml", line: 1 };
  const codes = (stdout: string, exitCode = 0) =>
    judge(findingsOfAnswer({ exitCode, stdout, said: "" }, source), { deny: [], strict: false }).map(
      ({ severity, code, summary }) => `${severity} ${code} ${summary}`,
    );
  it.each([
    ["a list", '[{"code":"a","summary":"no"}]', ["error policy/a no"]],
    ["an object", '{"findings":[{"code":"policy/a","message":"no","severity":"note"}]}', ["note policy/a no"]],
    ["lines", '{"summary":"one"}\n{"summary":"two"}', ["error policy/denied one", "error policy/denied two"]],
    [
      "conftest",
      '[{"filename":"","namespace":"main","successes":1,"warnings":[{"msg":"hm"}],"failures":[{"msg":"no","metadata":{"code":"b"}}]}]',
      ["error policy/b no", "warning policy/denied hm"],
    ],
    ["opa eval", '{"result":[{"expressions":[{"value":["no"],"text":"data.main.deny"}]}]}', ["error policy/denied no"]],
    [
      "opa eval of a package",
      '{"result":[{"expressions":[{"value":{"deny":["no"],"warn":["hm"]}}]}]}',
      ["error policy/denied no", "warning policy/denied hm"],
    ],
    ["nothing", "", []],
    ["opa eval that is undefined", "{}", []],
  ])("%s", (_, stdout, expected) => {
    expect(codes(stdout)).toEqual(expected);
  });
  it("conftest fails when it finds something, which is no failure of it", () => {
    expect(codes('[{"filename":"","namespace":"main","successes":0,"failures":[{"msg":"no"}]}]', 1)).toEqual([
      "error policy/denied no",
    ]);
  });
});
