/**
 * With the real command line: several processes and people at once. `pulumi cancel` from a second process, what
 * --continue-on-error goes on with, `pulumi watch`, and two stacks of one backend that two people bring up at a time.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually";
import { linkModules } from "../provider-process";
import { everything } from "../shared-scenarios";
import { head, type Mode, modes, worldOf } from "./program";
import { type Ran, type RealStack, runPulumi, startStack, whyNot } from "./stack";

const reason = whyNot();
let stack: RealStack;
afterEach(() => stack.close());

async function open(mode: Mode): Promise<void> {
  stack = await startStack({ with: everything });
  await stack.pulumi("config", "set", "mode", mode);
}
const bring = (text: string): void => stack.write({ "index.js": `${head}${text}` });
const up = (...args: string[]) => stack.pulumi("up", "--yes", "--skip-preview", ...args);
const succeeds = async (running: Promise<Ran>): Promise<string> => {
  const { code, text } = await running;
  expect(code, text).toBe(0);
  return text;
};
const names = (): readonly string[] =>
  stack.emulator
    .dump()
    .volumes.map(({ name }) => name)
    .sort();

/** Pulumi's own watcher of files is a program of its own, which is not everywhere: one that tells of the program's file. */
function putWatcher(): void {
  const folder = join(stack.folder, "../tools");
  mkdirSync(folder);
  const text = `#!${process.execPath}
const at = process.argv[process.argv.indexOf("--watch") + 1];
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(), 500);
require("node:fs").watch(at, (_, name) => name === "index.js" && console.log(at + "/" + name));
`;
  writeFileSync(join(folder, "pulumi-watch"), text, { mode: 0o755 });
  stack.environment["PATH"] = `${folder}${delimiter}${stack.environment["PATH"]}`;
}

/** Of updates that are under way. */
const locks = (): readonly string[] =>
  readdirSync(join(stack.folder, "../state/.pulumi/locks"), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".json"));

describe.skipIf(reason !== undefined).each(modes)("the real engine, %s", (mode) => {
  it("cancelled from a second process while a volume is made: the lock is free, and the next up makes nothing twice", async () => {
    await open(mode);
    bring(`new cloud.Volume("data", { size: 5 }, opts); new cloud.SecurityGroup("web-group", { rules: [] }, opts);`);
    stack.emulator.setFaults([{ operation: "volume.create", kind: "latency", ms: 40_000, when: "after", count: 1 }]);
    const child = stack.start("up", "--yes", "--skip-preview");
    const ended = new Promise((resolve) => child.once("exit", resolve));
    await eventually("the volume to be made", () => (names().length === 1 ? true : undefined));
    expect(locks()).toHaveLength(1);
    await succeeds(stack.pulumi("cancel", "--yes"));
    expect([child.exitCode, locks()]).toEqual([null, []]);
    // The first engine has lost its lock; whether it ends well is Pulumi's matter.
    await ended;
    stack.emulator.setFaults([]);
    const after = await up();
    if (after.code !== 0) await succeeds(up());
    expect(names()).toEqual(["data"]);
    expect(worldOf(stack).groups).toEqual(["web-group"]);
    await succeeds(up("--expect-no-changes"));
  });

  it("--continue-on-error: what one refused create does not touch is made, updated and deleted", async () => {
    await open(mode);
    const program = `
const vm = new cloud.Vm("db-1", vmArgs, opts);
const volume = new cloud.Volume("data", { size: 5, flushConfirmed: true }, opts);
new cloud.VolumeAttachment("att", { vmId: vm.id, volumeId: volume.id, flushConfirmed: true }, opts);
new cloud.Volume("logs", { size: 3 }, opts);
new cloud.SecurityGroup("web-group", { rules: [] }, opts);`;
    bring(program);
    stack.emulator.setFaults([{ operation: "vm.create", kind: "status", code: 403, when: "before", count: 1 }]);
    const failed = await up("--continue-on-error");
    expect(failed.code).not.toBe(0);
    expect(failed.text).toMatch(/403/);
    const volumes = ["data 5 -", "logs 3 -"];
    expect(worldOf(stack), failed.text).toEqual({ vms: [], volumes, groups: ["web-group"], ports: [] });
    await succeeds(up());
    expect(worldOf(stack)).toMatchObject({ vms: ["db-1 ACTIVE"], volumes: ["data 5 db-1", "logs 3 -"] });
    stack.emulator.setFaults([{ operation: "volume.delete", kind: "status", code: 403, when: "before", count: 1 }]);
    expect((await stack.pulumi("destroy", "--yes", "--skip-preview", "--continue-on-error")).code).not.toBe(0);
    expect(worldOf(stack)).toMatchObject({ vms: [], groups: [] });
    expect(worldOf(stack).volumes).toHaveLength(1);
    await succeeds(stack.pulumi("destroy", "--yes", "--skip-preview"));
    expect(worldOf(stack)).toEqual({ vms: [], volumes: [], groups: [], ports: [] });
  });

  it("pulumi watch follows a change of the program", async () => {
    await open(mode);
    putWatcher();
    bring("");
    const child = stack.start("watch");
    const sizes = () => stack.emulator.dump().volumes.map(({ size }) => size);
    /** A change that is saved before the folder is watched is not seen, so it is saved until it is carried out. */
    const save = (size: number) =>
      eventually(`an update of the volume to ${size}`, async () => {
        expect(child.exitCode).toBeNull();
        bring(`new cloud.Volume("data", { size: ${size} }, opts); // ${Date.now()}`);
        for (let i = 0; i < 120 && sizes()[0] !== size; i++) await new Promise((resolve) => setTimeout(resolve, 250));
        return sizes()[0] === size ? true : undefined;
      });
    try {
      await save(5);
      await save(8);
      await eventually("the update to have ended", () => (locks().length === 0 ? true : undefined));
    } finally {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      // At an interrupt it waits for the next change.
      child.kill("SIGKILL");
      await ended;
    }
    await stack.pulumi("cancel", "--yes");
    await succeeds(up());
    await succeeds(up("--expect-no-changes"));
    expect(names()).toEqual(["data"]);
  });

  it("two people bring two stacks of one backend up at a time, each from a folder of their own", async () => {
    await open(mode);
    const text = (of: string): string => `${head}
const vm = new cloud.Vm("${of}-1", vmArgs, opts);
const volume = new cloud.Volume("${of}-disk", { size: 5, flushConfirmed: true }, opts);
new cloud.VolumeAttachment("att", { vmId: vm.id, volumeId: volume.id, flushConfirmed: true }, opts);`;
    const other = join(stack.folder, "../other");
    mkdirSync(other);
    linkModules(other);
    writeFileSync(join(other, "Pulumi.yaml"), "name: demo\nruntime: nodejs\n");
    writeFileSync(join(other, "package.json"), JSON.stringify({ name: "demo", private: true }));
    writeFileSync(join(other, "index.js"), text("two"));
    const there = (...args: string[]) => runPulumi(args, { cwd: other, env: stack.environment });
    await succeeds(there("stack", "init", "second"));
    await succeeds(there("config", "set", "mode", mode));
    stack.write({ "index.js": text("one") });
    const both = (...args: string[]) =>
      Promise.all([succeeds(stack.pulumi(...args, "--stack", "dev")), succeeds(there(...args, "--stack", "second"))]);
    await both("up", "--yes", "--skip-preview");
    const { vms, volumes } = worldOf(stack);
    expect([...vms].sort()).toEqual(["one-1 ACTIVE", "two-1 ACTIVE"]);
    expect([...volumes].sort()).toEqual(["one-disk 5 one-1", "two-disk 5 two-1"]);
    await both("up", "--yes", "--skip-preview", "--expect-no-changes");
    // The one goes while the other looks.
    await Promise.all([
      succeeds(stack.pulumi("destroy", "--yes", "--skip-preview", "--stack", "dev")),
      succeeds(there("refresh", "--yes", "--skip-preview", "--expect-no-changes", "--stack", "second")),
    ]);
    expect(worldOf(stack)).toMatchObject({ vms: ["two-1 ACTIVE"], volumes: ["two-disk 5 two-1"] });
  });
});
