/** One finding, a port that a plan opens to the world, in every form that a reviewer may read, and denied. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { annotationsText } from "../../reconciler/report/annotations";
import { planMarkdown } from "../../reconciler/report/markdown";
import { jsonLines } from "../support/cli-process";
import { ownPlace } from "../support/own-place";
import { planFor, quickstartWorld } from "../support/sample-plans";

const place = ownPlace();
const { reconcile } = place;

const write = (head = "", rule = "{ protocol: tcp, dst_port: 22 }"): void =>
  writeFileSync(
    join(place.folder, "reconcile.yaml"),
    `version: 1\nproject: acme\nregion: in-west-1\n${head}groups:\n  web:\n    rules:\n      - ${rule}\n`,
  );
const writes = () => place.emulator.requests().log.filter(({ method }) => method !== "GET");
const opened = "group.web: SSH (tcp 22) is now open to the world over IPv4";

describe("a note that is denied", () => {
  it("is said, although a plan leaves it out otherwise", async () => {
    write("", "{ protocol: tcp, dst_port: 22 }");
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const code = "plan/group-names-unobserved";
    const plain = await reconcile("plan");
    expect([plain.exitCode, plain.stderr]).toEqual([0, ""]);
    const denied = await reconcile("plan", "--deny", code);
    expect(denied.exitCode).toBe(3);
    expect(denied.stderr).toContain(`error[${code}]`);
    expect(denied.stderr).toContain(`denied by --deny ${code}`);
  });
});

it.each([
  ["./a b.yaml", "a%20b.yaml"],
  ["../part #2/what?.yaml", "../part%20%232/what%3F.yaml"],
  ["a:b.yaml", "a%3Ab.yaml"],
])("SARIF names the file %s by the address %s", (file, uri) => {
  const finding = { severity: "error", code: "policy/no", summary: "no", source: { file, line: 1 } } as const;
  const text = annotationsText("sarif", [finding], {
    firstFile: "reconcile.yaml",
    placeOf: (file) => file,
    version: "0",
  });
  expect(JSON.parse(text).runs[0].results[0].locations[0].physicalLocation.artifactLocation).toEqual({ uri });
});

describe("a port that a plan opens to the world", () => {
  it("is in the terminal, in JSON, at the top of the comment, in annotations, SARIF and JUnit", async () => {
    write();
    expect((await reconcile("plan")).stdout).toContain("! SSH (tcp 22) is now open to the world over IPv4");
    const lines = jsonLines((await reconcile("plan", "--json")).stdout);
    const finding = {
      code: "exposure/open-port",
      severity: "warning",
      address: "group.web",
      file: "reconcile.yaml",
      line: 5,
      summary: opened,
      refused: null,
    };
    expect(lines.filter(({ type }) => type === "finding")).toMatchObject([finding]);
    expect(lines.at(-1)).toMatchObject({
      type: "summary",
      service: place.emulator.url,
      project: "acme",
      environment: null,
      findings: [finding],
    });
    expect(lines.filter(({ type }) => type === "step_planned")).toMatchObject([
      { step: "group.web/create", operation: "group.create", needs: [], downtime_of: null, estimate_ms: 500 },
    ]);
    const markdown = (await reconcile("plan", "--markdown")).stdout;
    const unfolded = markdown.slice(0, markdown.indexOf("<details>"));
    expect(unfolded).toContain("- **warning**");
    expect(unfolded).toContain("SSH (tcp 22) is now open to the world");
    // Where no plan is shown in words, too.
    for (const [command, exitCode] of [
      [["graph", "--plan"], 0],
      [["rehearse"], 0],
      [["rehearse", "--deny", "exposure/open-port"], 3],
    ] as const) {
      const ran = await reconcile(...command, "--json");
      expect([command, ran.exitCode]).toEqual([command, exitCode]);
      expect(jsonLines(ran.stdout).filter(({ type }) => type === "finding")).toMatchObject([
        { code: "exposure/open-port" },
      ]);
    }
    expect((await reconcile("rehearse")).stderr).toContain(opened);
    expect((await reconcile("plan", "--annotations", "github")).stdout).toMatch(
      /^::warning file=reconcile\.yaml,line=5,(col=\d+,)?title=exposure\/open-port::group\.web/m,
    );
    const sarif = JSON.parse((await reconcile("plan", "--annotations", "sarif")).stdout);
    expect(sarif.runs[0].results).toMatchObject([
      {
        ruleId: "exposure/open-port",
        level: "warning",
        locations: [{ physicalLocation: { artifactLocation: { uri: "reconcile.yaml" }, region: { startLine: 5 } } }],
      },
    ]);
    expect(sarif.runs[0].tool.driver.rules[0].id).toBe("exposure/open-port");
    const junit = (await reconcile("plan", "--annotations", "junit", "--deny", "exposure/open-port")).stdout;
    expect(junit).toContain('<testsuite name="exposure/open-port" tests="1" failures="1"');
    expect((await reconcile("plan", "--annotations", "junit")).stdout).toContain('failures="0"');
    const report = join(place.folder, "report.html");
    expect((await reconcile("apply", "-y", "--report", report)).exitCode).toBe(0);
    expect(readFileSync(report, "utf8")).toContain("is now open to the world");
  });

  it("is not said again by the next plan, which does not open it", async () => {
    write();
    await reconcile("apply", "-y");
    const lines = jsonLines((await reconcile("plan", "--json")).stdout);
    expect(lines.filter(({ code }) => code === "exposure/open-port")).toEqual([]);
  });

  it.each([
    ["--deny CODE", "", ["--deny", "exposure/open-port"], "denied by --deny exposure/open-port"],
    ["--deny of a room", "", ["--deny", "exposure/*"], "denied by --deny exposure/*"],
    ["deny: in the file", "deny: [exposure/open-port]\n", [], "denied by deny: exposure/open-port (reconcile.yaml:4)"],
    ["--strict", "", ["--strict"], "refused by --strict"],
  ])("is refused with %s: exit 3, and nothing is sent", async (_, head, flags, refused) => {
    write(head);
    for (const command of [["plan"], ["apply", "-y"]]) {
      const ran = await reconcile(...command, ...flags);
      expect([ran.exitCode, ran.stderr], ran.stderr).toEqual([3, expect.stringContaining(refused)]);
      const asJson = await reconcile(...command, ...flags, "--json");
      expect(asJson.exitCode).toBe(3);
      expect(jsonLines(asJson.stdout).at(-1)).toMatchObject({
        ok: false,
        exit_code: 3,
        diagnostics: [{ severity: "error", code: "exposure/open-port" }],
        findings: [{ severity: "error", refused }],
      });
    }
    expect(writes()).toEqual([]);
  });

  it("a plan that was saved before the file denied it is refused by nobody; one that is denied is not saved", async () => {
    write("deny: [exposure/open-port]\n");
    expect((await reconcile("plan", "--out", "p.plan.json")).exitCode).toBe(3);
    expect((await reconcile("apply", "p.plan.json")).exitCode).toBe(1);
    write();
    expect((await reconcile("plan", "--out", "p.plan.json")).exitCode).toBe(0);
    expect((await reconcile("apply", "p.plan.json", "--deny", "exposure/open-port")).exitCode).toBe(3);
    expect(writes()).toEqual([]);
    expect((await reconcile("apply", "p.plan.json")).exitCode).toBe(0);
  });

  it("a code that does not exist denies nothing, so it is an error with the nearest right one", async () => {
    write();
    const flag = await reconcile("plan", "--deny", "exposure/open-prt");
    expect([flag.exitCode, flag.stderr]).toEqual([1, expect.stringContaining("--deny exposure/open-port")]);
    write("deny: [exposure/open-prt]\n");
    const file = await reconcile("validate");
    expect([file.exitCode, file.stderr]).toEqual([1, expect.stringContaining("reconcile.yaml:4")]);
  });

  it("--strict takes nothing away from a consent that was given", async () => {
    writeFileSync(
      join(place.folder, "reconcile.yaml"),
      "version: 1\nproject: acme\nregion: in-west-1\nvolumes: { data: { size: 10 } }\n",
    );
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    expect((await reconcile("destroy", "-y")).exitCode).toBe(3);
    const denied = await reconcile("destroy", "-y", "--allow-data-loss", "--deny", "consent/data-loss");
    expect([denied.exitCode, denied.stderr]).toEqual([
      3,
      expect.stringContaining("denied by --deny consent/data-loss"),
    ]);
    expect((await reconcile("destroy", "-y", "--allow-data-loss", "--strict")).exitCode).toBe(0);
  });
});

it("hundreds of findings are counted at the top of the comment, and listed below a fold", () => {
  const findings = Array.from({ length: 300 }, (_, index) => ({
    severity: "warning" as const,
    code: "exposure/open-port" as const,
    summary: `group.g${index}: open`,
    address: `group.g${index}`,
  }));
  const text = planMarkdown(planFor(quickstartWorld()), { findings });
  expect(text.slice(0, text.indexOf("<details>"))).toMatch(
    /- \*\*warning\*\* <code>exposure&#47;open-port<\/code>: 300|exposure\/open-port<\/code>: 300/,
  );
  expect(text).toContain("<summary>All 300 findings</summary>");
  expect(text.length).toBeLessThan(65_536);
});
