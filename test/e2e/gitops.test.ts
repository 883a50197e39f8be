/** examples/gitops, run as its CI runners would: the same command lines, in their order, against the embedded service. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type RunningEmulator, startEmulator } from "../../emulator";
import {
  commandsIn,
  createHost,
  type Environment,
  type Host,
  runGithub,
  runGitlab,
  runScript,
  wordsOf,
} from "../support/ci-runner";
import { jsonLines, root, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { type S3Server, type StateServer, startS3Server, startStateServer } from "../support/state-server";

const example = join(__dirname, "../../examples/gitops");
const workflows = join(example, ".github/workflows");

let emulator: RunningEmulator;
let host: Host;
beforeEach(async () => {
  emulator = await startEmulator({ timeScale: 0 });
  host = createHost();
});
afterEach(() => emulator.close());

/** The embedded service needs no time for what takes the real one minutes. */
const quick = "\nservice: { timing: { poll_interval: 20ms } }\n";

/** A fresh checkout, as every job has its own. */
function checkout(change: (yaml: string) => string = (yaml) => yaml): string {
  const folder = makeFolder();
  cpSync(example, folder, { recursive: true });
  const file = join(folder, "infra/reconcile.yaml");
  writeFileSync(file, change(readFileSync(file, "utf8")) + quick);
  return folder;
}

const larger = (yaml: string): string => yaml.replace("m1.small", "m1.large");
const renameByHand = async (): Promise<void> => {
  const seen = emulator.dump();
  await emulator.load({ ...seen, vms: seen.vms.map((vm) => ({ ...vm, name: "by-hand" })) });
};
const repair = async (): Promise<void> => {
  const seen = emulator.dump();
  await emulator.load({ ...seen, vms: seen.vms.map((vm) => ({ ...vm, name: "shop-web" })) });
};
const writes = (): string[] =>
  emulator
    .requests()
    .log.filter(({ method }) => method !== "GET")
    .map(({ operation }) => operation);
const flavors = (): string[] => {
  const { vms, flavors: listed } = emulator.dump();
  return vms.map(({ flavor_id }) => listed.find(({ id }) => id === flavor_id)!.name);
};

const encryptionKey = Buffer.alloc(32, 7).toString("base64");

interface Pipeline {
  plan(cwd: string): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  apply(cwd: string): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  drift(cwd: string): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  close(): Promise<void>;
}

/** What the repository and the event of a request to merge give to every job. */
const githubValues = (): Environment => ({
  "vars.RECONCILE_BASE_URL": emulator.url,
  "vars.AWS_REGION": "eu-central-1",
  "secrets.RECONCILE_READ_TOKEN": "member-token",
  "secrets.RECONCILE_TOKEN": "ops-token",
  "secrets.ENCRYPTION_KEY": encryptionKey,
  "secrets.STATE_READ_KEY_ID": "reader",
  "secrets.STATE_READ_KEY": "reader-secret",
  "secrets.STATE_KEY_ID": "writer",
  "secrets.STATE_KEY": "writer-secret",
  "github.token": "gh-token",
  "github.event.pull_request.number": "12",
  "github.event.pull_request.base.ref": "main",
});

async function github(): Promise<Pipeline> {
  const bucket: S3Server = await startS3Server();
  const values: Environment = { ...githubValues(), "vars.STATE_BUCKET": "states" };
  // What no pipeline file can say: where the bucket of this test is.
  const own = { AWS_ENDPOINT_URL: bucket.url };
  const withBucket = (name: string, cwd: string) => runGithub(join(workflows, name), cwd, host, values, own);
  return {
    plan: (cwd) => withBucket("reconcile-plan.yml", cwd),
    apply: (cwd) => withBucket("reconcile-apply.yml", cwd),
    drift: (cwd) => withBucket("reconcile-drift.yml", cwd),
    close: () => bucket.stop(),
  };
}

async function gitlab(): Promise<Pipeline> {
  const server: StateServer = await startStateServer({
    kind: "gitlab",
    username: "gitlab-ci-token",
    password: "job-token",
  });
  const given: Environment = {
    CI_API_V4_URL: server.url.replace(/\/projects\/.*$/, ""),
    CI_PROJECT_ID: "7",
    CI_JOB_TOKEN: "job-token",
    CI_MERGE_REQUEST_IID: "12",
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
    RECONCILE_STATE_KEY: encryptionKey,
    CI_COMMIT_SHA: "def456",
    PROJECT_TOKEN: "glpat-abc",
    RECONCILE_BASE_URL: emulator.url,
    RECONCILE_READ_TOKEN: "member-token",
    RECONCILE_TOKEN: "ops-token",
  };
  const job = (name: string) => (cwd: string) => runGitlab(join(example, ".gitlab-ci.yml"), name, cwd, host, given);
  return { plan: job("plan"), apply: job("apply"), drift: job("drift"), close: () => server.stop() };
}

describe.each<[string, () => Promise<Pipeline>, RegExp]>([
  [
    "GitHub Actions, state in S3",
    github,
    /^gh api --silent --method PATCH repos\/acme\/shop\/issues\/comments\/5 --field body=@plan.md/,
  ],
  ["GitLab CI, GitLab-managed state", gitlab, /--request PUT .*\/merge_requests\/12\/notes\/5$/],
])("%s", (_, start, updates) => {
  let pipeline: Pipeline;
  beforeEach(async () => {
    pipeline = await start();
  });
  afterEach(() => pipeline.close());

  const passed = async (run: Promise<{ exitCode: number; stdout: string; stderr: string }>): Promise<string> => {
    const { exitCode, stdout, stderr } = await run;
    expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0 });
    return stdout;
  };

  it("plans on the merge request with reads alone, and applies exactly that plan after the merge", async () => {
    await passed(pipeline.plan(checkout()));
    expect(writes()).toEqual([]);
    expect(host.kept("comment")).toMatch(/^<!-- reconcile-plan .* -->\nproject acme .*\n\n### Plan: 2 to create/);
    const merged = checkout();
    await passed(pipeline.apply(merged));
    expect(emulator.dump().vms.map(({ name }) => name)).toEqual(["shop-web"]);
    expect(
      readFileSync(
        join(merged, existsSync(join(merged, "report.html")) ? "report.html" : "reports/reviewed.html"),
        "utf8",
      ),
    ).toContain('role="status">done<');
    // Nothing of the state was left in a checkout.
    expect(existsSync(join(merged, "infra/reconcile.state.json"))).toBe(false);

    await passed(pipeline.plan(checkout(larger)));
    expect(host.kept("comment")).toMatch(/### Plan: 1 to update/);
    expect(host.asked().at(-1)).toMatch(updates);
    await passed(pipeline.apply(checkout(larger)));
    expect(flavors()).toEqual(["m1.large"]);
  });

  it("starts no program that the request names, and says so in its comment", async () => {
    const hostile = checkout((yaml) => `${yaml}\npolicy: { command: [sh, -c, "touch ran; env > seen; echo []"] }\n`);
    await passed(pipeline.plan(hostile));
    expect([existsSync(join(hostile, "infra/ran")), existsSync(join(hostile, "ran"))]).toEqual([false, false]);
    expect(host.kept("comment")).toContain("policy was not run");
  });

  it("refuses a plan that is stale, one that was applied already, and one that was tampered with", async () => {
    await passed(pipeline.plan(checkout()));
    await passed(pipeline.apply(checkout()));
    expect((await pipeline.apply(checkout())).stderr).toContain("plan/stale");
    await passed(pipeline.plan(checkout(larger)));
    await renameByHand();
    expect((await pipeline.apply(checkout(larger))).stderr).toMatch(/plan\/stale/);
    await repair();
    const artifact = existsSync(join(host.folder, "artifacts/plan"))
      ? "artifacts/plan/reviewed.plan.json"
      : "artifacts/reconcile-plans/reviewed.plan.json";
    host.keep(
      artifact,
      // Not the last character: of that one, base64 may leave bits unused.
      host.kept(artifact)!.replace(/[A-Za-z0-9+/](?=[^"]{20}[^A-Za-z0-9]*$)/, (one) => (one === "A" ? "B" : "A")),
    );
    const tampered = await pipeline.apply(checkout(larger));
    expect([tampered.exitCode, tampered.stderr]).toEqual([1, expect.stringMatching(/state\/damaged|plan\/tampered/)]);
    expect(flavors()).toEqual(["m1.small"]);
  });

  it("drift opens one issue, keeps it up to date, and closes it", async () => {
    await passed(pipeline.plan(checkout()));
    await passed(pipeline.apply(checkout()));
    await passed(pipeline.drift(checkout()));
    expect(host.kept("issue")).toBeUndefined();
    await renameByHand();
    const before = writes().length;
    await passed(pipeline.drift(checkout()));
    expect(host.kept("issue")).toContain("by-hand");
    host.keep("issue", "as it was yesterday");
    await passed(pipeline.drift(checkout()));
    expect(host.kept("issue")).toContain("by-hand");
    await repair();
    await passed(pipeline.drift(checkout()));
    expect(host.kept("issue")).toBeUndefined();
    expect(writes().length).toBe(before);
  });

  it("an issue about more drift than one holds is opened all the same, as text", async () => {
    const [line, sum] = ["vm.web  name: shop-web → @all", "Drift: 3,000 of 3,000 resources differ"];
    const drift = `#!/bin/bash\nfor n in {1..3000}; do echo "${line}"; done; echo "${sum}"; exit 2\n`;
    writeFileSync(join(host.bin, "reconcile"), drift);
    await passed(pipeline.drift(checkout()));
    const issue = host.kept("issue")!;
    expect([issue.startsWith(`\`\`\`\n${line}\n`), Buffer.byteLength(issue) < 65_536]).toEqual([true, true]);
    expect(issue).toMatch(new RegExp(`${line}\n\`\`\`\n${sum}\nThere is no room`));
  });

  it("a file that is wrong fails the plan job with its finding on the line", async () => {
    const cwd = checkout((yaml) => yaml.replace("flavor_id:", "flavour_id:"));
    const failed = await pipeline.plan(cwd);
    expect(failed.exitCode).toBe(1);
    // Nobody reads the plan of the push before as the one of this.
    expect(host.kept("comment")).toMatch(/^<!-- reconcile-plan default -->\n### No plan: \d+ errors?\n/);
    const report = join(cwd, "gl-code-quality-report.json");
    const said = existsSync(report) ? readFileSync(report, "utf8") : failed.stdout;
    expect(said).toMatch(/flavour_id/);
    expect(said).toMatch(/line=10,|"begin": 10/);
  });
});

describe("examples/two-projects", () => {
  it("plans what a request touches in one comment, and applies each plan after the merge", async () => {
    const bucket = await startS3Server();
    const folder = makeFolder();
    cpSync(join(__dirname, "../../examples/two-projects"), folder, { recursive: true });
    rmSync(join(host.bin, "git"));
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.email=a@example.com", "-c", "user.name=a", ...words], { cwd: folder });
    git("init", "--quiet", "--initial-branch=main");
    git("add", "--all");
    git("commit", "--quiet", "--message", "one");
    git("update-ref", "refs/remotes/origin/main", "HEAD");
    for (const name of ["network", "shop"]) {
      const file = join(folder, name, "reconcile.yaml");
      writeFileSync(file, readFileSync(file, "utf8").replace("acme-states", "states") + quick);
    }
    git("commit", "--quiet", "--all", "--message", "two");
    const values = githubValues();
    const run = (name: string) =>
      runGithub(join(folder, ".github/workflows", name), folder, host, values, { AWS_ENDPOINT_URL: bucket.url });
    try {
      expect(await run("reconcile-plan.yml")).toMatchObject({ exitCode: 0 });
      expect(host.kept("comment")?.match(/^<!-- reconcile-plan .+ -->$/gm)).toEqual([
        "<!-- reconcile-plan network -->",
        "<!-- reconcile-plan shop -->",
      ]);
      rmSync(join(folder, "plans"), { recursive: true });
      // The first plan is refused, and holds the second one up neither now nor when the job is started again.
      const first = "artifacts/reconcile-plans/network.plan.json";
      const reviewed = host.kept(first)!;
      host.keep(first, "{}");
      const refused = await run("reconcile-apply.yml");
      expect(refused).toMatchObject({
        exitCode: 1,
        stdout: expect.stringContaining("::error::the plan network ended"),
      });
      expect(emulator.dump().vms.map(({ name }) => name)).toEqual(["acme-shop-a", "acme-shop-b"]);
      host.keep(first, reviewed);
      const again = await run("reconcile-apply.yml");
      expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^error\[plan\/stale\]/m) });
      expect(again.stdout).toMatch(/::error::the plan (?!network)/);
      expect(emulator.dump().vms.map(({ name }) => name)).toEqual(["acme-shop-a", "acme-shop-b"]);
      expect(readFileSync(join(folder, "reports/network.html"), "utf8")).toContain('id="h-exposure"');
    } finally {
      await bucket.stop();
    }
  });
});

it("GitLab: a request whose newest plan failed has none that was reviewed, whatever an earlier push left", async () => {
  const pipeline = await gitlab();
  try {
    expect((await pipeline.plan(checkout())).exitCode).toBe(0);
    host.keep("failed", "");
    const { exitCode, stderr } = await pipeline.apply(checkout());
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("there is no plan that was reviewed")]);
    expect(writes()).toEqual([]);
  } finally {
    await pipeline.close();
  }
});

it("GitLab: a commit that came with no request has no plan that was reviewed", async () => {
  const pipeline = await gitlab();
  try {
    host.keep("pushed", "");
    const { exitCode, stderr } = await pipeline.apply(checkout());
    expect([exitCode, stderr]).toEqual([
      1,
      "commit def456 came with no merge request: there is no plan that was reviewed\n",
    ]);
  } finally {
    await pipeline.close();
  }
});

it("GitHub: a commit that came with no request has no plan that was reviewed", async () => {
  host.keep("pushed", "");
  const values = { ...githubValues(), "vars.STATE_BUCKET": "states" };
  const { exitCode, stdout } = await runGithub(join(workflows, "reconcile-apply.yml"), checkout(), host, values);
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining("came with no pull request: there is no plan")]);
});

it("GitLab: curl takes the token to no other host", () => {
  const component = readFileSync(join(root, "templates/pipeline.yml"), "utf8");
  for (const [line] of component.matchAll(/^.*curl .*--location.*$/gm)) expect(line).toContain("Authorization: Bearer");
});

it.each([
  ["read", 1, []],
  ["write", 0, ["gh workflow run reconcile-apply.yml --field request=12 --field flushed=volume.data"]],
])("GitHub: a comment of somebody who may %s the repository ends with %d", async (right, code, started) => {
  host.keep("right", right);
  const { jobs } = parse(readFileSync(join(workflows, "reconcile-comment.yml"), "utf8")) as {
    jobs: { command: { steps: { run: string }[] } };
  };
  const env = { GITHUB_REPOSITORY: "o/r", AUTHOR: "somebody", COMMENT: "/reconcile apply volume.data", REQUEST: "12" };
  const ran = await runScript(jobs.command.steps[0]?.run ?? "", makeFolder(), host, env);
  expect([ran.exitCode, host.asked().filter((line) => line.includes("workflow run"))]).toEqual([code, started]);
});

it("what plans a request sees no token of the code host, and starts no program of its files", () => {
  const { runs } = parse(readFileSync(join(root, "actions/plan/action.yml"), "utf8")) as {
    runs: { steps: { run?: string; env?: Record<string, string> }[] };
  };
  const planning = runs.steps.filter(({ run }) => run?.includes("reconcile plan ") === true);
  expect(planning).toHaveLength(1);
  expect(planning[0]?.env).not.toHaveProperty("GH_TOKEN");
  expect(planning[0]?.env).toMatchObject({ RECONCILE_PROGRAMS: "none" });
  const component = readFileSync(join(root, "templates/pipeline.yml"), "utf8");
  for (const [line] of component.matchAll(/^.* reconcile (?:plan|apply|drift) .*$/gm))
    expect(line).toContain("env -u PROJECT_TOKEN reconcile ");
});

it("no pipeline file gives the plan or the drift job a credential that writes", () => {
  for (const name of ["reconcile-plan.yml", "reconcile-drift.yml"])
    expect(readFileSync(join(workflows, name), "utf8")).not.toMatch(/secrets\.(RECONCILE_TOKEN|STATE_KEY)/);
});

describe("docs/gitops.md", () => {
  it("its commands do what it says, in their order", async () => {
    const cwd = checkout();
    const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url };
    const lines = commandsIn("docs/gitops.md").filter((line) => !line.startsWith("reconcile watch"));
    expect(lines).toHaveLength(6);
    for (const line of lines) {
      const words = wordsOf(line).slice(1);
      const end = words.indexOf(">");
      const result = await runCli(end === -1 ? words : words.slice(0, end), { cwd, env });
      expect([line, result.exitCode, result.stderr]).toEqual([line, 0, expect.any(String)]);
    }
    rmSync(cwd, { recursive: true });
  });
});

describe("--annotations", () => {
  const env = () => ({ RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url });

  it("github: one workflow command a finding, and no text can be a command of its own", async () => {
    const cwd = checkout((yaml) => yaml.replace("flavor_id: m1.small", 'flavor_id: "no::error file=x%0A,"'));
    const { stdout, exitCode } = await runCli(["plan", "infra", "--annotations", "github"], { cwd, env: env() });
    expect(exitCode).toBe(1);
    for (const line of stdout.trimEnd().split("\n"))
      expect(line).toMatch(
        /^::(error|warning|notice) file=infra\/reconcile\.yaml,line=\d+(,col=\d+)?,title=[a-z/-]+::/,
      );
    expect(stdout).toContain("%250A");
  });

  it("gitlab: what loses data stands at its line, with a fingerprint that lines above do not change", async () => {
    const cwd = checkout();
    expect((await runCli(["apply", "infra", "-y"], { cwd, env: env() })).exitCode).toBe(0);
    const report = async (above: string) => {
      const file = join(cwd, "infra/reconcile.yaml");
      const text = readFileSync(join(example, "infra/reconcile.yaml"), "utf8");
      writeFileSync(file, above + text.replace("ubuntu-24.04", "debian-12") + quick);
      const { stdout } = await runCli(["plan", "infra", "--annotations", "gitlab"], { cwd, env: env() });
      return (
        JSON.parse(stdout) as {
          check_name: string;
          fingerprint: string;
          location: { path: string; lines: { begin: number } };
        }[]
      ).find(({ check_name }) => check_name === "consent/data-loss")!;
    };
    const first = await report("");
    const second = await report("# one more line\n");
    expect(first.location.path).toBe("infra/reconcile.yaml");
    expect(second.location.lines.begin).toBe(first.location.lines.begin + 1);
    expect(second.fingerprint).toBe(first.fingerprint);
  });

  it("gives each finding a fingerprint of its own, also of several in the same words", async () => {
    const cwd = makeFolder({ "reconcile.yaml": "version: 1\nvolumes:\n  one: { siz: 1 }\n  two: { siz: 1 }\n" });
    const { stdout } = await runCli(["validate", "--annotations", "gitlab"], { cwd });
    const found = (JSON.parse(stdout) as { description: string; fingerprint: string }[]).filter(({ description }) =>
      description.startsWith("the key siz"),
    );
    expect(found).toHaveLength(2);
    expect(found[0]!.description).toBe(found[1]!.description);
    expect(found[0]!.fingerprint).not.toBe(found[1]!.fingerprint);
  });

  it("names a file by its place in the checkout, from a folder below it as well", async () => {
    const cwd = checkout((yaml) => yaml.replace(" size:", " siz:"));
    mkdirSync(join(cwd, ".git"));
    const { stdout } = await runCli(["validate", "--annotations", "github"], { cwd: join(cwd, "infra"), env: env() });
    expect(stdout).toMatch(/^::error file=infra\/reconcile\.yaml,line=/);
  });

  it("wants standard output for itself, and one of two words", async () => {
    const cwd = checkout();
    for (const flags of [["--json"], ["--markdown"]])
      expect((await runCli(["plan", "infra", "--annotations", "github", ...flags], { cwd, env: env() })).exitCode).toBe(
        1,
      );
    const unknown = await runCli(["plan", "infra", "--annotations", "gitea", "--json"], { cwd, env: env() });
    expect(jsonLines(unknown.stdout).at(-1)!["diagnostics"][0]["summary"]).toContain(
      "is one of github, gitlab, sarif, junit, not gitea",
    );
    const clean = await runCli(["validate", "infra", "--annotations", "gitlab"], { cwd, env: env() });
    expect([clean.exitCode, clean.stdout]).toEqual([0, "[]\n"]);
  });
});
