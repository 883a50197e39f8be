import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { transpileModule } from "typescript";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { readDesired } from "../../reconciler/config/read/desired";
import { outputPartsOf } from "../../reconciler/one/parts";
import { exportedParts, pulumiProgram } from "../../reconciler/one/program-text";
import { openBeside } from "../../reconciler/outside/beside";
import { virtualWorld } from "../support/virtual-world";
import { createFakeEngine } from "./fake-engine";
import { makeProgramFolder } from "./provider-process";
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
    // Which of the two is made first is up to the engine.
    const named = (name: string) => emulator.dump().vms.find((vm) => vm.name === name);
    expect(up.outputs["webs"]).toEqual([named("web-a")?.private_ip, named("web-b")?.private_ip]);
    expect(up.outputs["hint"]).toBe(`ssh ${named("web-a")?.floating_ip}`);
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

describe("examples/company in a program", () => {
  const company = join(root, "examples/company/reconcile.yaml");

  it("is made and edited as a whole file, with its components and outputs", async () => {
    const program = (webs: number) =>
      writeFileSync(
        join(folder, "index.js"),
        `const { DesiredState } = require("reconcile-cloud/pulumi");
const all = DesiredState.fromYaml(${JSON.stringify(company)}, { env: "dev", vars: { shop_webs: "${webs}" } });
exports.shop = all.outputs.shop;
exports.first = all.vm("shop/vm.web[0]").privateIp;
`,
      );
    program(2);
    const engine = engineFor("index.js");
    const up = await engine.up();
    expect(up.errors).toEqual([]);
    expect(emulator.dump().vms.map(({ name }) => name)).toContain("shop-web-dev-1");
    expect(up.outputs["shop"]).toEqual([up.outputs["first"], expect.stringMatching(/^10\./)]);
    program(3);
    expect((await engine.up()).errors).toEqual([]);
    const shops = emulator.dump().vms.filter(({ name }) => name.startsWith("shop-web"));
    expect(shops).toHaveLength(3);
    // Both databases of the file take the new one in.
    expect(admitted()).toEqual(expect.arrayContaining(shops.map((vm) => `${vm.private_ip}/32`)));
  });

  it("is exported with a component resource for each of its components", async () => {
    const world = virtualWorld();
    const { desired } = readDesired([{ file: company, text: readFileSync(company, "utf8") }], {
      env: "dev",
      open: openBeside,
    });
    if (desired === undefined) throw new Error("it cannot be read");
    await world.apply(await world.plan(desired));
    const state = await world.state();
    const files = pulumiProgram("acme", exportedParts(desired, state), state, outputPartsOf(desired));
    const program = files["index.ts"] ?? "";
    expect(transpileModule(program, { reportDiagnostics: true }).diagnostics).toEqual([]);
    expect(program).toContain('const shop = new pulumi.ComponentResource("reconcile-cloud:index:Component", "shop");');
    expect(program).toMatch(/const shopVmWeb0 = new Vm\("shop\/vm\.web\[0\]", \{[^}]*\}, \{\n {2}parent: shop,\n\}\);/);
    const list: { resources: object[] } = JSON.parse(files["import.json"] ?? "");
    expect(list.resources).toContainEqual({ type: "reconcile-cloud:index:Component", name: "shop", component: true });
    expect(list.resources).toContainEqual({
      type: "reconcile-cloud:index:Vm",
      name: "shop/vm.web[0]",
      id: state.resources.get("shop/vm.web[0]")?.id,
      parent: "shop",
    });
  });
});
