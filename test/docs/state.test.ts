/** The shell blocks of docs/state.md, in their order, as a reader's shell runs them: on a GitLab, an S3 and a service of ours. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createHost, type Environment, type Host, runScript } from "../support/ci-runner";
import { root } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { type S3Server, type StateServer, startS3Server, startStateServer } from "../support/state-server";

const [gitlabBlock, encryptionBlock, moveBlock, ...others] = [
  ...readFileSync(join(root, "docs/state.md"), "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm),
].map(([, block]) => block!);

const desired = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms } }
vms: { app: { name: app-1, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;

let folder: string;
let host: Host;
let emulator: RunningEmulator;
let gitlab: StateServer;
let s3: S3Server;
beforeEach(async () => {
  folder = makeFolder({ "reconcile.yaml": desired });
  host = createHost();
  emulator = await startEmulator({ timeScale: 0 });
  gitlab = await startStateServer({ kind: "gitlab", username: "gitlab-ci-token", password: "job-canary" });
  s3 = await startS3Server();
});
afterEach(async () => {
  await emulator.close();
  await gitlab.stop();
  await s3.stop();
});

const run = (script: string, env: Environment = {}) =>
  runScript(script, folder, host, { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url, ...env });

describe("docs/state.md", () => {
  it("has no shell block that is not run here", () => expect(others).toEqual([]));

  it("GitLab: the variables of a job are all it needs", async () => {
    const ran = await run(gitlabBlock!, {
      CI_JOB_TOKEN: "job-canary",
      CI_API_V4_URL: gitlab.url.replace(/\/projects\/.*/, ""),
      CI_PROJECT_ID: "7",
      CI_ENVIRONMENT_SLUG: "prod",
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(gitlab.documentOf("prod")).toContain("vm.app");
    expect(gitlab.requests).toContainEqual(expect.stringMatching(/^POST .*\/prod\/lock$/));
    expect(ran.stdout + ran.stderr).not.toContain("job-canary");
  });

  it("Encryption: what the two variables ask for holds for what is written under them", async () => {
    const ran = await run(
      `${encryptionBlock!}\nreconcile apply -y --state sealed.json\nreconcile plan --state sealed.json`,
    );
    expect(ran.exitCode, ran.stderr).toBe(0);
    const sealed = readFileSync(join(folder, "sealed.json"), "utf8");
    expect(sealed).toContain("reconcile-cloud/sealed");
    expect(sealed).not.toContain("app-1");
    const without = await run("reconcile state pull --state sealed.json");
    expect([without.exitCode, without.stderr]).toEqual([1, expect.stringContaining("set RECONCILE_STATE_KEY")]);
  });

  it("Moving: pull and push carry the state from the file into the bucket, and a plan there is empty", async () => {
    await run("reconcile apply -y");
    const env = {
      AWS_ENDPOINT_URL: s3.url,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "tester",
      AWS_SECRET_ACCESS_KEY: "canary-aws",
    };
    const ran = await run(`${moveBlock!}\nreconcile plan --detailed-exitcode --state s3://my-bucket/prod`, env);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect([...s3.objects.keys()]).toContainEqual(expect.stringMatching(/^my-bucket\/prod\/0/));
  });
});
