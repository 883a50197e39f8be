import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createFakeEngine } from "../support/fake-engine";
import { makeProgramFolder } from "../support/pulumi-sdk";
import { timing, token } from "./shared-scenarios";

const root = resolve(__dirname, "../..");
let emulator: RunningEmulator;
let folder: string;
beforeEach(async () => {
  emulator = await startEmulator({ timeScale: 0 });
  folder = makeProgramFolder();
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "demo", private: true }));
});
afterEach(() => emulator.close());

const file = (size: number): string => `version: 1
project: acme
region: in-west-1
defaults:
  vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
vms: { web: { for_each: [a, b], name: "web-\${each}", root_size: ${size} } }
groups:
  db:
    name: db-tier
    description: "for \${vm.web[a].id}"
    rules: [ { protocol: tcp, dst_port: 5432, remote_ip: "\${vm.web[*].private_ip}" } ]
outputs:
  webs: "\${vm.web[*].private_ip}"
  hint: "ssh \${vm.web[a].floating_ip}"
`;
const engineFor = (main: string) =>
  createFakeEngine({
    folder,
    main,
    typescript: main.endsWith(".ts"),
    config: Object.fromEntries(
      Object.entries({ baseUrl: emulator.url, timing, token }).map(([key, value]) => [`reconcile-cloud:${key}`, value]),
    ),
  });
const admitted = (): (string | null)[] =>
  emulator
    .dump()
    .rules.filter(({ direction, remote_ip_prefix }) => direction === "ingress" && remote_ip_prefix !== null)
    .map((rule) => rule.remote_ip_prefix)
    .sort();
const addresses = (): string[] =>
  emulator
    .dump()
    .vms.map((vm) => `${vm.private_ip}/32`)
    .sort();

describe("values that only the service knows, in a program", () => {
  it("a file's rules get the addresses of its VMs, and its outputs are the program's", async () => {
    writeFileSync(join(folder, "reconcile.yaml"), file(50));
    writeFileSync(
      join(folder, "index.js"),
      `const { DesiredState } = require("reconcile-cloud/pulumi");
const all = DesiredState.fromYaml("reconcile.yaml");
exports.webs = all.outputs.webs;
exports.hint = all.outputs.hint;
`,
    );
    const engine = engineFor("index.js");
    const up = await engine.up();
    expect(up.errors).toEqual([]);
    expect(admitted()).toEqual(addresses());
    expect(up.outputs["webs"]).toEqual(emulator.dump().vms.map((vm) => vm.private_ip));
    expect(up.outputs["hint"]).toBe(`ssh ${emulator.dump().vms[0]?.floating_ip}`);
    const again = await engine.up();
    expect(again.steps.filter((step) => !step.startsWith("same"))).toEqual([]);
  });

  it("an exported program has them as the properties of its resources", async () => {
    writeFileSync(join(folder, "reconcile.yaml"), file(50));
    const env = { ...process.env, RECONCILE_TOKEN: token, RECONCILE_BASE_URL: emulator.url };
    const run = (...args: string[]): string =>
      execFileSync(process.execPath, [join(root, "bin/reconcile.js"), ...args], { cwd: folder, env, encoding: "utf8" });
    const { port } = new URL(emulator.url);
    expect(Number(port)).toBeGreaterThan(0);
    const program = await new Promise<string>((done) => {
      // The emulator runs in this process, so the command must not block it.
      void import("node:child_process").then(({ execFile }) =>
        execFile(process.execPath, [join(root, "bin/reconcile.js"), "apply", "-y"], { cwd: folder, env }, () =>
          done(run("export", "pulumi")),
        ),
      );
    });
    expect(program).toContain(
      'remoteIp: vmWebA.privateIp.apply((value) => shown(value, "the privateIp of vm.web[a]"))',
    );
    expect(program).toContain('export const hint = pulumi.concat("ssh ", vmWebA.floatingIp.apply(');
    expect(readFileSync(join(folder, "reconcile.state.json"), "utf8")).toContain('"outputs":');
  });
});
