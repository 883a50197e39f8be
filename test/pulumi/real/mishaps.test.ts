/** Engines that are killed and answers that are lost, at each operation, and what Pulumi is told to replace. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { FaultSpec } from "../../../emulator/faults";
import { dialectWithRuleDelete as dialect, everything } from "../shared-scenarios";
import { head, modes, urnOf, worldOf } from "./program";
import { type RealStack, type StackOptions, startStack, whyNot } from "./stack";

const reason = whyNot();

interface Wish {
  readonly vm?: string;
  readonly group?: string;
  readonly size?: number;
  readonly port?: number;
  readonly parts?: number;
}

/** A VM, a volume, a group, an attachment and a rule: the first so many of them. */
function program({ vm = "", group = "", size = 5, port = 22, parts = 5 }: Wish): string {
  const all = [
    `const vm = new cloud.Vm("db-1", { ...vmArgs, ${vm} }, opts);`,
    `const volume = new cloud.Volume("data", { size: ${size}, flushConfirmed: true }, opts);`,
    `const group = new cloud.SecurityGroup("web-group", { rulesMode: "shared", rules: [{ protocol: "tcp", dstPort: "443", remoteIp: "0.0.0.0/0" }], ${group} }, opts);`,
    `new cloud.VolumeAttachment("attached", { vmId: vm.id, volumeId: volume.id, flushConfirmed: true }, opts);`,
    `new cloud.SecurityGroupRule("ssh", { securityGroupId: group.id, protocol: "tcp", dstPort: "${port}", remoteIp: "10.0.0.0/8" }, opts);`,
  ];
  return [head, ...all.slice(0, parts)].join("\n");
}

const lists = {
  "volume.list": { method: "GET", path: "/api/v1/volume/list" },
  "group.list": { method: "GET", path: "/api/v1/security-group" },
};

const made = { vms: ["db-1 ACTIVE"], volumes: ["data 5 db-1"], groups: ["web-group"], ports: [22, 443] };

describe.skipIf(reason !== undefined).each(modes)("the real engine, %s", (mode) => {
  let stack: RealStack;
  const open = async (options: StackOptions = {}): Promise<void> => {
    stack = await startStack({ with: everything, ...options });
    stack.write({ "dialect.yaml": dialect });
    stack.environment["RECONCILE_DIALECT"] = "dialect.yaml";
    await stack.pulumi("config", "set", "mode", mode);
  };
  const bring = (text: string) => stack.write({ "index.js": text });
  const up = (...args: string[]) => stack.pulumi("up", "--yes", "--skip-preview", ...args);
  /** Twice at most: what was open after the first is settled by the second. */
  const settle = async (command: () => Promise<{ code: number; text: string }>): Promise<void> => {
    const first = await command();
    const last = first.code === 0 ? first : await command();
    expect(last.code, `${first.text}\n${last.text}`).toBe(0);
  };
  /** Pulumi's backend of files leaves half a file when it is ended while it writes; its user takes the one before. */
  const restoreCheckpoint = (): void => {
    const file = join(stack.folder, "../state/.pulumi/stacks/demo/dev.json");
    try {
      JSON.parse(readFileSync(file, "utf8"));
    } catch {
      copyFileSync(`${file}.bak`, file);
    }
  };
  /** Ends the engine of an update with a signal while one request of the operation is being answered. */
  const end = async (signal: NodeJS.Signals, operation: string, wish: Wish): Promise<void> => {
    bring(program(wish));
    stack.emulator.setFaults([{ operation, kind: "latency", ms: 5000, when: "after", count: 1 }]);
    const before = stack.emulator.requests().log.length;
    const child = stack.start("up", "--yes", "--skip-preview");
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const isSent = () =>
      stack.emulator
        .requests()
        .log.slice(before)
        .some((request) => request.operation === operation);
    while (child.exitCode === null && !isSent()) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill(signal);
    await ended;
    stack.emulator.setFaults([]);
    restoreCheckpoint();
  };
  afterEach(() => stack.close());

  it("every answer is lost once: nothing is made twice, and nothing is left", async () => {
    await open();
    stack.write({ "dialect.yaml": JSON.stringify({ operations: { ...JSON.parse(dialect).operations, ...lists } }) });
    const lose = (...operations: string[]): void =>
      stack.emulator.setFaults(operations.map((operation): FaultSpec => ({ operation, kind: "drop-after", count: 1 })));
    lose("vm.create", "volume.create", "volume.attach", "group.create", "group.rule.add");
    bring(program({}));
    await settle(up);
    expect(worldOf(stack)).toEqual(made);
    lose(...["vm.resize", "vm.resize.confirm", "vm.rename", "volume.detach", "volume.resize", "volume.attach"]);
    bring(program({ vm: `name: "db-2", flavorId: "m1.large"`, size: 8, group: `description: "x"`, port: 2222 }));
    await settle(up);
    expect(worldOf(stack)).toEqual({ ...made, vms: ["db-2 ACTIVE"], volumes: ["data 8 db-2"], ports: [2222, 443] });
    expect((await up("--expect-no-changes")).code).toBe(0);
    lose("volume.detach", "vm.delete", "volume.delete", "group.delete", "group.rule.delete");
    await settle(() => stack.pulumi("destroy", "--yes", "--skip-preview"));
    expect(worldOf(stack)).toEqual({ vms: [], volumes: [], groups: [], ports: [] });
  });

  it("an engine that is killed at an operation: the next update goes on", async () => {
    await open();
    const kill = async (operation: string, wish: Wish): Promise<void> => {
      await end("SIGKILL", operation, wish);
      await stack.pulumi("cancel", "--yes");
      await settle(up);
    };
    await kill("group.create", { parts: 3 });
    await kill("volume.attach", {});
    expect(worldOf(stack)).toEqual(made);
    await kill("vm.resize", { vm: `flavorId: "m1.large"` });
    await kill("volume.resize", { vm: `flavorId: "m1.large"`, size: 8 });
    expect(worldOf(stack)).toEqual({ ...made, volumes: ["data 8 db-1"] });
    await kill("vm.delete", { parts: 0 });
    expect(worldOf(stack)).toEqual({ vms: [], volumes: [], groups: [], ports: [] });
    expect((await up("--expect-no-changes")).code).toBe(0);
  });

  it("an engine that is killed while something is renamed, taken off or deleted: the next update goes on", async () => {
    await open();
    const kill = async (operation: string, wish: Wish): Promise<void> => {
      await end("SIGKILL", operation, wish);
      await stack.pulumi("cancel", "--yes");
      await settle(up);
      expect((await up("--expect-no-changes")).code, operation).toBe(0);
    };
    bring(program({}));
    await settle(up);
    const id = () => stack.emulator.dump().vms.map((one) => one.id);
    const before = id();
    const vm = `name: "db-2"`;
    await kill("vm.rename", { vm });
    expect(worldOf(stack)).toEqual({ ...made, vms: ["db-2 ACTIVE"], volumes: ["data 5 db-2"] });
    await kill("group.rule.add", { vm, port: 2222 });
    await kill("group.rule.delete", { vm, port: 2022 });
    const group = `rules: [{ protocol: "tcp", dstPort: "8443", remoteIp: "0.0.0.0/0" }]`;
    await kill("group.rule.delete", { vm, port: 2022, group });
    const then = { ...made, vms: ["db-2 ACTIVE"], volumes: ["data 5 db-2"], ports: [2022, 8443] };
    expect(worldOf(stack)).toEqual(then);
    await kill("volume.detach", { vm, group, parts: 3 });
    expect(worldOf(stack)).toEqual({ ...then, volumes: ["data 5 -"], ports: [8443] });
    await kill("group.delete", { vm, parts: 2 });
    expect(worldOf(stack)).toEqual({ ...then, volumes: ["data 5 -"], groups: [], ports: [] });
    await kill("volume.delete", { vm, parts: 1 });
    expect(worldOf(stack)).toEqual({ vms: ["db-2 ACTIVE"], volumes: [], groups: [], ports: [] });
    expect(id()).toEqual(before);
  });

  it("an engine that is interrupted at an operation: the next update goes on", async () => {
    await open();
    const interrupt = async (operation: string, wish: Wish): Promise<void> => {
      await end("SIGINT", operation, wish);
      await settle(up);
    };
    await interrupt("volume.attach", {});
    expect(worldOf(stack)).toEqual(made);
    await interrupt("vm.resize", { vm: `flavorId: "m1.large"`, size: 8 });
    expect(worldOf(stack)).toEqual({ ...made, volumes: ["data 8 db-1"] });
    await interrupt("vm.delete", { parts: 0 });
    expect(worldOf(stack)).toEqual({ vms: [], volumes: [], groups: [], ports: [] });
    expect((await up("--expect-no-changes")).code).toBe(0);
  });

  it("what Pulumi is told to replace goes first where its name or place demands it, and its loss is told", async () => {
    await open();
    bring(program({}));
    await settle(up);
    const ids = () => stack.emulator.dump().vms.map(({ id }) => id);
    const [first] = ids();
    const urn = await urnOf(stack, "db-1");
    const preview = await stack.pulumi("preview", "--replace", urn);
    expect(preview.text).toMatch(/db-1 exists already .* goes first, and the root disk/s);
    expect(preview.code, preview.text).toBe(0);
    expect(ids()).toEqual([first]);
    const replaced = await up("--replace", urn);
    expect(replaced.code, replaced.text).toBe(0);
    expect(ids()).not.toContain(first);
    expect(worldOf(stack)).toEqual(made);
    for (const name of ["attached", "ssh", "web-group"])
      await stack.pulumi("state", "taint", await urnOf(stack, name), "--yes");
    const tainted = await up();
    expect(tainted.code, tainted.text).toBe(0);
    expect(worldOf(stack)).toEqual(made);
    expect((await up("--expect-no-changes")).code).toBe(0);
  });

  it("an open create stays open through a refresh, is named by every run, and a destroy says what it leaves", async () => {
    await open({ with: [] });
    bring(`${head} new cloud.Volume("data", { size: 5 }, opts);`);
    stack.emulator.setFaults([{ operation: "volume.create", kind: "drop-after", count: 9 }]);
    expect((await up()).text).toMatch(/outcome unknown.*pulumi state delete/);
    stack.emulator.setFaults([]);
    const open1 = /outcome of creating data is not known/;
    expect((await stack.pulumi("refresh", "--yes", "--skip-preview")).text).toMatch(open1);
    expect((await stack.pulumi("preview")).text).toMatch(open1);
    expect((await up()).text).toMatch(open1);
    const id = stack.emulator.dump().volumes[0]?.id;
    bring(`${head} new cloud.Volume("data", { size: 5, adopt: "${id}" }, opts);`);
    expect((await up()).text).not.toMatch(/given up/);
    expect(stack.emulator.dump().volumes.map((volume) => volume.id)).toEqual([id]);
    await stack.pulumi("state", "delete", await urnOf(stack, "data"), "--yes");
    stack.emulator.setFaults([{ operation: "volume.create", kind: "drop-after", count: 9 }]);
    bring(`${head} new cloud.Volume("other", { size: 6 }, opts);`);
    await up();
    expect((await stack.pulumi("destroy", "--yes", "--skip-preview")).text).toMatch(/given up: look .* with 6 GB/);
  });
});
