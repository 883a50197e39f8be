import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { eventually, hurried } from "../support/eventually";
import { createFakeEngine, type FakeEngine, type FakeEngineOptions } from "./fake-engine";
import { makeProgramFolder } from "./provider-process";

const common = `{ flavorId: config.get("flavor") ?? "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042", project: "acme", region: config.get("region") ?? "in-west-1", size: 10 }`;

/** The same program, by the way it gets its imports. */
const body = (exported: (name: string, value: string) => string): string => `
const config = new pulumi.Config();
const opts = config.get("mode") === "plugin" ? { provider: new cloud.Provider("cloud", { baseUrl: config.require("url"), token: config.requireSecret("token"), timing: config.require("timing") }) } : {};
const vm = new cloud.Vm("db-1", ${common}, opts);
const volume = new cloud.Volume("data", { size: config.getNumber("size") ?? 5, flushConfirmed: true }, opts);
new cloud.VolumeAttachment("attached", { vmId: vm.id, volumeId: volume.id, flushConfirmed: true }, opts);
new cloud.SecurityGroup("web-group", { rules: [{ protocol: "tcp", dstPort: "443", remoteIp: "0.0.0.0/0" }] }, opts);
${exported("address", "vm.floatingIp")}
`;
const programs = {
  "JavaScript (CommonJS)": {
    "index.js": `const pulumi = require("@pulumi/pulumi"); const cloud = require("reconcile-cloud/pulumi");${body((name, value) => `exports.${name} = ${value};`)}`,
  },
  "JavaScript (ES module)": {
    "index.mjs": `import * as pulumi from "@pulumi/pulumi"; import * as cloud from "reconcile-cloud/pulumi";${body((name, value) => `export const ${name} = ${value};`)}`,
  },
  TypeScript: {
    "index.ts": `import * as pulumi from "@pulumi/pulumi"; import * as cloud from "reconcile-cloud/pulumi";${body((name, value) => `export const ${name}: pulumi.Output<string | undefined> = ${value};`)}`,
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        module: "nodenext",
        moduleResolution: "nodenext",
        target: "es2022",
        strict: true,
        skipLibCheck: true,
        types: [],
      },
    }),
  },
} as const satisfies Record<string, Record<string, string>>;

const token = "ops-token";
const timing = JSON.stringify({ poll_interval: "20ms", discovery_window: "500ms" });
const everything = ["volume.list", "group.list", "group.get", "group.rule.delete"];

// Processes in processes: a machine that has other work takes its time.

let emulator: RunningEmulator;
beforeEach(async () => {
  emulator = await startEmulator({ timeScale: 0, with: everything });
});
afterEach(() => emulator.close());

function engineFor(
  files: Readonly<Record<string, string>>,
  mode: "dynamic" | "plugin",
  more: Partial<FakeEngineOptions> = {},
): FakeEngine {
  const folder = makeProgramFolder();
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "demo", private: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return createFakeEngine({
    folder,
    main: Object.keys(files)[0]!,
    config: {
      "demo:mode": mode,
      "demo:url": emulator.url,
      "demo:token": token,
      "demo:timing": timing,
      "reconcile-cloud:baseUrl": emulator.url,
      "reconcile-cloud:timing": timing,
      "reconcile-cloud:token": token,
    },
    ...more,
  });
}

const cloudSteps = ({ steps }: { steps: readonly string[] }): string[] => [...steps].sort();
const made = ["Vm db-1", "Volume data", "VolumeAttachment attached", "SecurityGroup web-group"];
const each = (what: string, names: readonly string[] = made): string[] => names.map((name) => `${what} ${name}`).sort();
const vms = () => emulator.dump().vms;

const ways = [
  ...Object.entries(programs).map(([name, files]) => [name, "dynamic", files] as const),
  ["JavaScript (CommonJS)", "plugin", programs["JavaScript (CommonJS)"]] as const,
];
describe.each(ways)("a whole program: %s, %s", (_, mode, files) => {
  it("previews, comes up, has nothing to do after that, and goes", async () => {
    const engine = engineFor(files, mode, { typescript: Object.keys(files)[0] === "index.ts" });
    const preview = await engine.preview();
    expect([preview.errors, cloudSteps(preview), vms()]).toEqual([[], each("create"), []]);
    const up = await engine.up();
    expect([up.errors, cloudSteps(up)]).toEqual([[], each("create")]);
    expect(up.outputs["address"]).toBe(vms()[0]?.floating_ip);
    expect(cloudSteps(await engine.up())).toEqual(each("same"));
    expect((await engine.destroy()).errors).toEqual([]);
    expect(vms()).toEqual([]);
  });
});

describe.each(["dynamic", "plugin"] as const)("a whole program on the in-process engine, %s", (mode) => {
  const files = programs["JavaScript (CommonJS)"];

  it("updates in place, and replaces with what hangs on it, old ones first", async () => {
    const engine = engineFor(files, mode);
    expect((await engine.up()).errors).toEqual([]);
    engine.config["demo:flavor"] = "m1.large";
    engine.config["demo:size"] = "8";
    const updated = await engine.up();
    expect(updated.errors).toEqual([]);
    expect(cloudSteps(updated).filter((step) => step.startsWith("update"))).toEqual([
      "update Vm db-1",
      "update Volume data",
    ]);
    engine.config["demo:region"] = "in-south-1";
    const replaced = await engine.up();
    expect([replaced.errors, replaced.steps.filter((step) => !step.startsWith("same"))]).toEqual([
      [],
      ["delete VolumeAttachment attached", "delete Vm db-1", "replace Vm db-1", "replace VolumeAttachment attached"],
    ]);
    expect(vms()).toMatchObject([{ region: "in-south-1", status: "ACTIVE" }]);
  });

  it("shows drift at a refresh and mends it; what is gone is made again; a credential is in no state", async () => {
    // Another group of the program shows, so that the one that does not is gone for this credential as well.
    const withWitness = `${files["index.js"]}new cloud.SecurityGroup("witness", { rules: [] }, opts);`;
    const engine = engineFor({ "index.js": withWitness }, mode);
    await engine.up();
    const asOps = (path: string, method: string, sent?: object) =>
      fetch(`${emulator.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      });
    await asOps(`/vm/rename/${vms()[0]!.id}`, "POST", { name: "hacked" });
    const group = emulator.dump().groups.find(({ name }) => name === "web-group")!;
    await asOps(`/security-group/${group.id}`, "DELETE");
    const refreshed = await engine.refresh();
    expect(refreshed.steps).toEqual(expect.arrayContaining(["drift Vm db-1", "gone SecurityGroup web-group"]));
    const mended = await engine.up();
    expect(mended.steps).toEqual(expect.arrayContaining(["create SecurityGroup web-group"]));
    expect(vms()[0]?.name).toBe("db-1");
    for (const { type, inputs, outputs } of engine.state.values())
      if (!type.startsWith("pulumi:")) expect(JSON.stringify([inputs, outputs])).not.toContain(token);
  });

  it("keeps a VM whose create fails after it was accepted, replaces it, and leaves no twin", async () => {
    const broken = emulator.dump().flavors.find(({ provisionable }) => !provisionable)!;
    const engine = engineFor(files, mode);
    engine.config["demo:flavor"] = broken.name;
    const failed = await engine.up();
    expect(failed.ok).toBe(false);
    const kept = [...engine.state.values()].find(({ type }) => type.endsWith(":Vm"))!;
    expect([kept.id, kept.initErrors?.length]).toEqual([vms()[0]?.id, 1]);
    delete engine.config["demo:flavor"];
    const healed = await engine.up();
    expect([healed.errors, healed.steps.filter((step) => step.includes("Vm db-1"))]).toEqual([
      [],
      ["delete Vm db-1", "replace Vm db-1"],
    ]);
    expect(vms()).toHaveLength(1);
  });

  it("names the property of every input that is not valid, and sends nothing", async () => {
    const engine = engineFor(files, mode);
    engine.config["demo:size"] = "0";
    const run = await engine.up();
    expect(run.errors.join()).toContain("property size");
    expect(emulator.dump().volumes.filter(({ name }) => name === "data")).toEqual([]);
  });

  it("takes over by id, and with the plugin imports by id; neither changes anything", async () => {
    await engineFor(files, mode).up();
    const before = emulator.dump();
    const head = `const pulumi = require("@pulumi/pulumi"); const cloud = require("reconcile-cloud/pulumi"); const config = new pulumi.Config();
const opts = config.get("mode") === "plugin" ? { provider: new cloud.Provider("cloud", { baseUrl: config.require("url"), token: config.requireSecret("token") }) } : {};`;
    const ways = [
      `new cloud.Vm("db-1", { ...${common}, adopt: "${vms()[0]!.id}" }, opts);`,
      ...(mode === "plugin" ? [`new cloud.Vm("db-1", ${common}, { ...opts, import: "${vms()[0]!.id}" });`] : []),
    ];
    for (const [index, way] of ways.entries()) {
      const engine = engineFor({ "index.js": `${head}${way}` }, mode);
      const run = await engine.up();
      expect([run.errors, run.steps]).toEqual([[], [index === 0 ? "create Vm db-1" : "import Vm db-1"]]);
      expect((await engine.up()).steps).toEqual(["same Vm db-1"]);
    }
    expect(emulator.dump()).toEqual(before);
  });
});

it.each([
  ["dynamic", "is waited for, where nothing can be cancelled", true],
  ["plugin", "ends early, with its id in the state; the next update goes on from there", false],
] as const)("an interrupt during a create, %s: it %s", async (mode, _, ends) => {
  await emulator.close();
  emulator = await startEmulator({ timeScale: 1, with: everything });
  const engine = engineFor(programs["JavaScript (CommonJS)"], mode);
  const running = engine.up();
  await eventually("a VM", () => vms()[0]);
  for (const provider of await engine.providers()) await provider.cancel();
  expect((await hurried(emulator, running)).ok).toBe(ends);
  const id = vms()[0]?.id;
  expect([...engine.state.values()].find(({ type }) => type.endsWith(":Vm"))?.id).toBe(id);
  expect((await hurried(emulator, engine.up())).errors).toEqual([]);
  expect(vms().map((vm) => [vm.id, vm.status])).toEqual([[id, "ACTIVE"]]);
});
