/** What Pulumi does with stacks and states around the resources: references, moves, renames, transforms, other services. */
import { afterEach, describe, expect, it } from "vitest";
import { startEmulator } from "../../../emulator";
import { everything } from "../shared-scenarios";
import { head, modes, urnOf, worldOf } from "./program";
import { type RealStack, startStack, whyNot } from "./stack";

const reason = whyNot();

describe.skipIf(reason !== undefined).each(modes)("the real engine, %s", (mode) => {
  let stack: RealStack;
  const open = async (): Promise<void> => {
    stack = await startStack({ with: everything });
    await stack.pulumi("config", "set", "mode", mode);
  };
  const bring = (text: string) => stack.write({ "index.js": `${head}${text}` });
  const done = async (...args: string[]): Promise<string> => {
    const { code, text } = await stack.pulumi(...args);
    expect(code, text).toBe(0);
    return text;
  };
  const up = (...args: string[]) => done("up", "--yes", "--skip-preview", ...args);
  const volumes = () => stack.emulator.dump().volumes.map(({ id, name, size }) => ({ id, name, size }));
  afterEach(() => stack.close());

  it("a stack reference, and a resource that moves to the other stack", async () => {
    await open();
    bring(`
const volume = pulumi.getStack() === "dev" || config.get("has") ? new cloud.Volume("data", { size: 5 }, opts) : undefined;
if (pulumi.getStack() === "other" && !config.get("has"))
  new cloud.Volume("copy", { size: 6, name: new pulumi.StackReference("organization/demo/dev").getOutput("id").apply((id) => "of-" + id.slice(0, 4)) }, opts);
exports.id = volume?.id;`);
    await up();
    const [volume] = volumes();
    await done("stack", "init", "other");
    await done("config", "set", "mode", mode);
    await up();
    expect(volumes()).toEqual([volume, expect.objectContaining({ name: `of-${volume?.id.slice(0, 4)}` })]);
    await done("destroy", "--yes", "--skip-preview");
    expect(volumes()).toEqual([volume]);
    await done("stack", "select", "dev");
    await done("state", "move", "--source", "dev", "--dest", "other", "--yes", await urnOf(stack, "data"));
    await done("stack", "select", "other");
    await done("config", "set", "has", "1");
    bring(`if (config.get("has")) new cloud.Volume("data", { size: 5 }, opts);`);
    await up();
    expect(volumes()).toEqual([volume]);
    await up("--expect-no-changes");
  });

  it("a rule whose remote turns out to have no value is told to admit everyone", async () => {
    await open();
    const program = (remoteIp: string) => `
const vm = new cloud.Vm("db-1", { ...vmArgs, skipFloatingIp: true }, opts);
new cloud.SecurityGroup("web-group", { rules: [{ protocol: "tcp", dstPort: "22", remoteIp: ${remoteIp} }] }, opts);`;
    const told = /warning: rules\[0\] names no remote, so it admits everyone/;
    bring(program("vm.floatingIp"));
    expect(await up()).toMatch(told);
    bring(program('"0.0.0.0/0"'));
    expect(await up()).not.toMatch(told);
  });

  it("transforms change what a resource is given, its name as well; a rename in the state changes nothing", async () => {
    await open();
    const declared = (name: string) => `
const larger = (args) => ({ props: { ...args.props, size: 8, name: "transformed" }, opts: args.opts });
new cloud.Volume("${name}", { size: 5 }, { ...opts, transforms: [larger] });
new cloud.Volume("${name}-2", { size: 5 }, { ...opts, transformations: [(args) => ({ props: { ...args.props, size: 9 }, opts: args.opts })] });`;
    bring(declared("data"));
    await up();
    const before = volumes();
    expect(before.map(({ name, size }) => [name, size]).sort()).toEqual([
      ["data-2", 9],
      ["transformed", 8],
    ]);
    await up("--expect-no-changes");
    for (const name of ["data", "data-2"])
      await done("state", "rename", await urnOf(stack, name), name.replace("data", "store"), "--yes");
    bring(declared("store"));
    await up("--expect-no-changes");
    expect(volumes()).toEqual(before);
  });

  it("a stack whose program moves to the other kind of resources keeps everything, and is refreshed and destroyed", async () => {
    await open();
    bring(`
const vm = new cloud.Vm("db-1", { ...vmArgs, preservedVolumes: "delete" }, opts);
const volume = new cloud.Volume("data", { size: 5 }, opts);
new cloud.VolumeAttachment("att", { vmId: vm.id, volumeId: volume.id, flushConfirmed: true }, opts);
const group = new cloud.SecurityGroup("web-group", { rulesMode: "shared" }, opts);
new cloud.SecurityGroupRule("ssh", { securityGroupId: group.id, protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" }, { ...opts, deletedWith: group });`);
    await up();
    const before = [worldOf(stack), volumes()];
    await stack.pulumi("config", "set", "mode", mode === "plugin" ? "dynamic" : "plugin");
    await up();
    await up("--expect-no-changes");
    await done("refresh", "--yes", "--skip-preview", "--expect-no-changes");
    expect([worldOf(stack), volumes()]).toEqual(before);
    await done("destroy", "--yes", "--skip-preview");
    expect(volumes()).toEqual([]);
  });

  it("the state remembers its service: of another one nothing is changed, and nothing is gone", async () => {
    await open();
    bring(`new cloud.Volume("data", { size: 5 }, opts); new cloud.Vm("db-1", vmArgs, opts);`);
    await up();
    const state = await stack.exported();
    const other = await startEmulator({ timeScale: 0, with: everything });
    try {
      stack.environment["RECONCILE_BASE_URL"] = other.url;
      for (const command of ["preview", "up", "destroy"] as const) {
        const ran = await stack.pulumi(command, ...(command === "preview" ? [] : ["--yes", "--skip-preview"]));
        expect([ran.code === 0, ran.text]).toEqual([false, expect.stringMatching(/acceptService/)]);
      }
      await stack.pulumi("refresh", "--yes", "--skip-preview");
      for (const { id } of volumes()) expect(await stack.exported()).toContain(state.includes(id) ? id : "");
      stack.environment["RECONCILE_BASE_URL"] = "http://127.0.0.1:9";
      expect((await stack.pulumi("preview")).code).not.toBe(0);
    } finally {
      await other.close();
    }
  });
});
