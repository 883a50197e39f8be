/**
 * Scenarios of whole programs that run word for word on the in-process engine and on the real one, with dynamic
 * resources and with the plugin: what an engine is made of is the caller's.
 */
import { expect } from "vitest";
import type { RunningEmulator } from "../../emulator";

export const token = "ops-token";
export const timing = JSON.stringify({ poll_interval: "20ms", discovery_window: "500ms" });
export const everything = ["volume.list", "group.list", "group.get", "group.rule.delete"];
/** The built-in dialect has no operation for it. */
export const dialectWithRuleDelete = JSON.stringify({
  operations: { "group.rule.delete": { method: "DELETE", path: "/api/v1/security-group/{id}/rule/{rule_id}" } },
});

export interface Outcome {
  readonly ok: boolean;
  readonly text: string;
  /** How many were created, updated, replaced, deleted; what stayed as it is does not count. */
  readonly changes: Readonly<Record<string, number>>;
}

export interface ProgramStack {
  readonly emulator: RunningEmulator;
  write(files: Readonly<Record<string, string>>): void;
  /** A setting of the project. */
  set(key: string, value: string): Promise<unknown>;
  /** A setting of the provider, for both ways to run. */
  configure(key: "timing" | "dialect", value: string): Promise<unknown>;
  preview(): Promise<Outcome>;
  up(): Promise<Outcome>;
  refresh(): Promise<Outcome>;
  destroy(): Promise<Outcome>;
  output(name: string): Promise<unknown>;
  /** Everything that is kept, secrets as they are kept. */
  state(): Promise<string>;
  /** Another service beside the first. */
  startOther(): Promise<RunningEmulator>;
}

const head = `
const pulumi = require("@pulumi/pulumi");
const cloud = require("reconcile-cloud/pulumi");
const config = new pulumi.Config();
const plugin = config.get("mode") === "plugin";
const settings = { timing: config.get("timing"), dialect: config.get("dialect") };
const provider = plugin ? new cloud.Provider("cloud", settings) : undefined;
const opts = { provider };
const vmArgs = { flavorId: config.get("flavor") ?? "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042", project: "acme", region: "in-west-1", size: 10 };
`;

const succeeds = async (running: Promise<Outcome>, changes?: Outcome["changes"]): Promise<void> => {
  const { ok, text, changes: done } = await running;
  expect(ok, text).toBe(true);
  if (changes !== undefined) expect(done, text).toEqual(changes);
};
const fails = async (running: Promise<Outcome>, because: RegExp): Promise<void> => {
  const { ok, text } = await running;
  expect([ok, text]).toEqual([false, expect.stringMatching(because)]);
};
const nothing = {};

export const scenarios: Readonly<Record<string, (stack: ProgramStack) => Promise<void>>> = {
  "what the program does not manage is looked up by its id, and what is not there is an error": async (stack) => {
    const program = `${head} const vm = new cloud.Vm("db-1", vmArgs, opts);`;
    stack.write({ "index.js": program });
    await succeeds(stack.up());
    const { id } = stack.emulator.dump().vms[0]!;
    stack.write({
      "index.js": `${program} const found = cloud.Vm.get("found", "${id}", opts); exports.found = found.name;`,
    });
    await succeeds(stack.up());
    expect(await stack.output("found")).toBe("db-1");
    stack.write({ "index.js": `${program} cloud.Vm.get("found", "no-such-vm", opts);` });
    await fails(stack.up(), /does not exist/);
    stack.write({ "index.js": program });
    await succeeds(stack.up());
    expect(stack.emulator.dump().vms.map((vm) => vm.id)).toEqual([id]);
  },

  "an ES module is a program like any other": async (stack) => {
    stack.write({
      "package.json": JSON.stringify({ name: "demo", private: true, type: "module" }),
      "index.js": `
import * as pulumi from "@pulumi/pulumi";
import { Provider, Volume } from "reconcile-cloud/pulumi";
const provider = new pulumi.Config().get("mode") === "plugin" ? new Provider("cloud") : undefined;
export const volume = new Volume("data", { size: 5 }, { provider }).id;`,
    });
    await succeeds(stack.up());
    expect(await stack.output("volume")).toBe(stack.emulator.dump().volumes[0]?.id);
    await succeeds(stack.up(), nothing);
  },

  "what changes its name in the program without an alias is kept in the service": async (stack) => {
    await stack.configure("dialect", dialectWithRuleDelete);
    const program = (name: string, vm: string) => `${head}
const vm = ${vm};
const volume = new cloud.Volume("data", { size: 5 }, opts);
const group = new cloud.SecurityGroup("web-group", { rulesMode: "shared" }, opts);
new cloud.VolumeAttachment(${JSON.stringify(name)}, { vmId: vm.id, volumeId: volume.id, flushConfirmed: true }, opts);
new cloud.SecurityGroupRule(${JSON.stringify(name)}, { securityGroupId: group.id, protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" }, opts);`;
    stack.write({ "index.js": program("first", `new cloud.Vm("db-1", vmArgs, opts)`) });
    await succeeds(stack.up());
    const { id } = stack.emulator.dump().vms[0]!;
    const world = () => {
      const { vms, volumes, rules } = stack.emulator.dump();
      const hosts = volumes.filter(({ name }) => name === "data").map((volume) => volume.attached_to);
      return [vms.map((vm) => vm.id), hosts, rules.filter((rule) => rule.port_range_min === 22).length];
    };
    expect(world()).toEqual([[id], [id], 1]);
    stack.write({ "index.js": program("second", `new cloud.Vm("db-1", vmArgs, opts)`) });
    await succeeds(stack.up());
    expect(world()).toEqual([[id], [id], 1]);
    stack.write({
      "index.js": program("second", `new cloud.Vm("other", { ...vmArgs, name: "db-1", adopt: "${id}" }, opts)`),
    });
    await succeeds(stack.up());
    expect(world()).toEqual([[id], [id], 1]);
    const isDone = `new cloud.Vm("other", { ...vmArgs, name: "db-1" }, opts)`;
    for (const text of [undefined, program("second", isDone)]) {
      if (text !== undefined) stack.write({ "index.js": text });
      await succeeds(stack.up(), nothing);
      await succeeds(stack.refresh(), nothing);
      await succeeds(stack.up(), nothing);
    }
    await succeeds(stack.destroy());
    expect(world()).toEqual([[], [], 0]);
  },

  "a secret input is nowhere in the clear": async (stack) => {
    const canaries = [
      ...["canary-vm", "canary-volume", "canary-group", "canary text", "203.0.113.77/32", "canary-1042"],
      ...[
        "canary-owner@acme.example",
        "canary-check",
        "canary-flush",
        "canary-unmount",
        "canary rule",
        "203.0.113.78/32",
      ],
    ];
    const program = (volume: string, wrong = "") => `${head}
const s = pulumi.secret;
const check = { command: ["true", s("canary-check")] };
const vm = new cloud.Vm("db-1", { ...vmArgs, name: s("canary-vm"), owner: s("canary-owner@acme.example"), userId: s("canary-1042"), snapshotBefore: s(["rebuild"]), verifyResize: { check, timeout: "2s" } }, opts);
const volume = new cloud.Volume("data", { name: s("${volume}"), size: 5, flush: { via: "command", command: ["true", s("canary-flush")] } }, opts);
new cloud.VolumeAttachment("attached", { vmId: vm.id, volumeId: volume.id, flush: { via: "command", command: ["true", s("canary-unmount")] } }, opts);
const group = new cloud.SecurityGroup("web-group", { name: s("canary-group"), description: s("canary text"), rulesMode: "shared", rules: [{ protocol: "tcp", dstPort: "22", remoteIp: s("203.0.113.77/32") }] }, opts);
new cloud.SecurityGroupRule("ssh", { securityGroupId: group.id, protocol: "tcp", dstPort: "80", remoteIp: s("203.0.113.78/32"), description: s("canary rule") }, { ...opts, deletedWith: group });
${wrong}`;
    const said: string[] = [];
    const told = async (running: Promise<Outcome>) => {
      const outcome = await running;
      said.push(outcome.text);
      return outcome;
    };
    const leaks = async () =>
      canaries
        .filter((canary) => said.some((text) => text.includes(canary)))
        .concat(await stack.state().then((state) => canaries.filter((canary) => state.includes(canary))));
    stack.write({ "index.js": program("canary-volume") });
    await told(stack.preview());
    expect((await told(stack.up())).ok, said.at(-1)).toBe(true);
    expect(stack.emulator.dump().volumes.map(({ name }) => name)).toContain("canary-volume");
    expect(await leaks()).toEqual([]);
    await told(stack.refresh());
    stack.write({
      "index.js": program(
        "canary-volume-2",
        `new cloud.Vm("other", { ...vmArgs, name: pulumi.secret("canary-vm") }, opts);`,
      ),
    });
    await told(stack.preview());
    expect((await told(stack.up())).ok).toBe(false);
    await told(stack.refresh());
    expect(await leaks()).toEqual([]);
    // What the program calls a secret no longer may still be remembered.
    const less = program("canary-volume-3").replace(/s\("[^"]*(owner|text|rule)[^"]*"\)/g, '"plain"');
    // A name that is left out stays what it was.
    for (const text of [less, less.replaceAll(/name: s\("[^"]*"\), /g, "")]) {
      stack.write({ "index.js": text });
      expect((await told(stack.up())).ok, said.at(-1)).toBe(true);
      expect(await leaks()).toEqual([]);
    }
    expect(stack.emulator.dump().vms.map(({ name }) => name)).toContain("canary-vm");
    await told(stack.refresh());
    expect(await leaks()).toEqual([]);
    await told(stack.destroy());
    expect(await leaks()).toEqual([]);
  },

  "a preview refuses what the update would refuse": async (stack) => {
    const program = (vm: string, rest = "") => `${head}
const vm = new cloud.Vm("db-1", ${vm}, opts);
const volume = new cloud.Volume("data", { size: config.getNumber("size") ?? 5 }, opts);
new cloud.VolumeAttachment("attached", { vmId: vm.id, volumeId: volume.id }, opts);
${rest}`;
    const requests = () => stack.emulator.requests().log.filter(({ method }) => method !== "GET").length;
    stack.write({ "index.js": program(`{ ...vmArgs, flavorId: "no-such-flavor" }`) });
    await fails(stack.preview(), /no-such-flavor/);
    stack.write({ "index.js": program("vmArgs") });
    await succeeds(stack.up());
    const sent = requests();
    stack.write({
      "index.js": program(
        "vmArgs",
        `new cloud.Vm("second", { ...vmArgs, name: "db-1" }, { ...opts, dependsOn: [vm] });`,
      ),
    });
    await fails(stack.preview(), /adopt/);
    stack.write({ "index.js": program("vmArgs") });
    await stack.set("size", "8");
    await fails(stack.preview(), /flushConfirmed: true/);
    await stack.set("size", "5");
    stack.write({ "index.js": program(`{ ...vmArgs, rootSize: 80 }`) });
    await fails(stack.preview(), /flushConfirmed: true/);
    expect(requests()).toBe(sent);
  },

  "an automatic name stays what it was when the resource gets another one": async (stack) => {
    const program = (name: string, alias: string) =>
      `${head} new cloud.Volume("${name}", { size: 5 }, { ...opts${alias} });`;
    stack.write({ "index.js": program("data", "") });
    await succeeds(stack.up());
    const [volume] = stack.emulator.dump().volumes;
    stack.write({ "index.js": program("store", `, aliases: [{ name: "data" }]`) });
    await succeeds(stack.up(), nothing);
    expect(stack.emulator.dump().volumes).toEqual([volume]);
  },

  "a name that was changed elsewhere is shown by a refresh, and changed back": async (stack) => {
    stack.write({ "index.js": `${head} new cloud.Vm("db-1", vmArgs, opts);` });
    await succeeds(stack.up());
    const [vm] = stack.emulator.dump().vms;
    await fetch(`${stack.emulator.url}/api/v1/vm/rename/${vm?.id}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "hacked" }),
    });
    await succeeds(stack.refresh(), { updated: 1 });
    await succeeds(stack.refresh(), nothing);
    await succeeds(stack.up(), { updated: 1 });
    expect(stack.emulator.dump().vms.map(({ id, name }) => [id, name])).toEqual([[vm?.id, "db-1"]]);
    await succeeds(stack.up(), nothing);
  },

  "what is protected stays, until it no longer is": async (stack) => {
    const program = (protect: boolean) => `${head} new cloud.Vm("db-1", vmArgs, { ...opts, protect: ${protect} });`;
    stack.write({ "index.js": program(true) });
    await succeeds(stack.up());
    await fails(stack.destroy(), /protected/);
    expect(stack.emulator.dump().vms).toHaveLength(1);
    stack.write({ "index.js": program(false) });
    await succeeds(stack.up());
    await succeeds(stack.destroy());
    expect(stack.emulator.dump().vms).toEqual([]);
  },

  "where the service cannot delete one rule, a separate rule goes with its group": async (stack) => {
    const program = (rest: string) => `${head}
const group = new cloud.SecurityGroup("web-group", { rulesMode: "shared" }, opts);
new cloud.SecurityGroupRule("ssh", { securityGroupId: group.id, protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" }, { ...opts${rest} });`;
    stack.write({ "index.js": program("") });
    await succeeds(stack.up());
    await fails(stack.destroy(), /deletedWith/);
    stack.write({ "index.js": program(", deletedWith: group") });
    await succeeds(stack.up());
    await succeeds(stack.destroy());
    expect(stack.emulator.dump().groups.filter(({ name }) => name === "web-group")).toEqual([]);
  },

  "inline rules and separate rules of one group leave each other alone": async (stack) => {
    await stack.configure("dialect", dialectWithRuleDelete);
    stack.write({
      "index.js": `${head}
const rules = [{ protocol: "tcp", dstPort: config.get("inline") ?? "443", remoteIp: "0.0.0.0/0" }, { protocol: "tcp", dstPort: "5432", remoteGroup: "self" }];
const group = new cloud.SecurityGroup("web-group", { rulesMode: "shared", rules }, opts);
new cloud.SecurityGroupRule("ssh", { securityGroupId: group.id, protocol: "tcp", dstPort: config.get("separate") ?? "22", remoteIp: "10.0.0.0/8" }, opts);`,
    });
    const ports = () => {
      const { groups, rules } = stack.emulator.dump();
      const own = groups.find(({ name }) => name === "web-group")?.id;
      return rules
        .filter((rule) => rule.security_group_id === own && rule.direction === "ingress")
        .map((rule) => rule.port_range_min)
        .sort((a, b) => Number(a) - Number(b));
    };
    await succeeds(stack.up());
    expect(ports()).toEqual([22, 443, 5432]);
    await succeeds(stack.up(), nothing);
    await stack.set("inline", "8443");
    await succeeds(stack.up(), { updated: 1 });
    expect(ports()).toEqual([22, 5432, 8443]);
    await stack.set("separate", "2222");
    await succeeds(stack.up(), { replaced: 1 });
    expect(ports()).toEqual([2222, 5432, 8443]);
    await succeeds(stack.up(), nothing);
    await succeeds(stack.destroy());
  },

  "a resize is confirmed when its check passes, and taken back when it does not": async (stack) => {
    stack.write({
      "index.js": `${head}
const works = [process.execPath, "-e", "process.exit(" + (config.get("works") ?? "0") + ")"];
new cloud.Vm("db-1", { ...vmArgs, verifyResize: { check: { command: works }, timeout: "1s" } }, opts);`,
    });
    const flavor = () => {
      const { vms, flavors } = stack.emulator.dump();
      return [vms[0]!.status, flavors.find(({ id }) => id === vms[0]!.flavor_id)?.name];
    };
    await succeeds(stack.up());
    await stack.set("works", "1");
    await stack.set("flavor", "m1.large");
    await fails(stack.up(), /check/);
    expect(flavor()).toEqual(["ACTIVE", "m1.small"]);
    await stack.set("works", "0");
    await succeeds(stack.up());
    expect(flavor()).toEqual(["ACTIVE", "m1.large"]);
    await succeeds(stack.up(), nothing);
  },

  "a volume is not taken off before its flush is stated": async (stack) => {
    const program = (attachment: string) => `${head}
const vm = new cloud.Vm("db-1", vmArgs, opts);
const volume = new cloud.Volume("data", { size: 5 }, opts);
${attachment}`;
    const attached = (flush: string) =>
      program(`new cloud.VolumeAttachment("attached", { vmId: vm.id, volumeId: volume.id${flush} }, opts);`);
    const host = () => stack.emulator.dump().volumes.find(({ name }) => name === "data")?.attached_to;
    stack.write({ "index.js": attached("") });
    await succeeds(stack.up());
    const { id } = stack.emulator.dump().vms[0]!;
    stack.write({ "index.js": program("") });
    await fails(stack.up(), /flushConfirmed: true/);
    expect(host()).toBe(id);
    stack.write({ "index.js": attached(", flushConfirmed: true") });
    await succeeds(stack.up(), { updated: 1 });
    stack.write({ "index.js": program("") });
    await succeeds(stack.up(), { deleted: 1 });
    expect(host()).toBeNull();
  },

  "a whole file comes up as one component, follows the file, and goes": async (stack) => {
    const file = (size: number, port: number) => `
version: 1
project: acme
region: in-west-1
vms:
  db: { name: db-1, flavor_id: m1.small, image_id: ubuntu-24.04, owner: ops, user_id: "1042", size: 10 }
volumes:
  data: { size: ${size}, attach_to: db, flush: { via: stop } }
groups:
  front: { name: front, rules: [ { protocol: tcp, dst_port: ${port}, remote_group: back } ] }
  back: { name: back, rules: [ { protocol: tcp, dst_port: 5432, remote_group: front } ] }
`;
    stack.write({
      "reconcile.yaml": file(20, 22),
      "index.js": `${head}
const all = cloud.DesiredState.fromYaml("reconcile.yaml", {}, plugin ? { providers: [provider] } : {});
exports.ids = all.ids;
exports.address = all.vm("db").floatingIp;`,
    });
    await succeeds(stack.preview());
    expect(stack.emulator.dump().vms).toEqual([]);
    await succeeds(stack.up());
    const [vm] = stack.emulator.dump().vms;
    expect(await stack.output("address")).toBe(vm?.floating_ip);
    expect(await stack.output("ids")).toMatchObject({ "vm.db": vm?.id });
    await succeeds(stack.up(), nothing);
    await succeeds(stack.refresh(), nothing);
    stack.write({ "reconcile.yaml": file(22, 22) });
    await succeeds(stack.up(), { updated: 1 });
    expect(stack.emulator.dump().volumes).toContainEqual(
      expect.objectContaining({ name: "data", size: 22, attached_to: vm?.id }),
    );
    await succeeds(stack.destroy());
    expect(stack.emulator.dump().vms).toEqual([]);
  },

  "what a file imports is taken over, and what it removes leaves the program and stays in the service": async (
    stack,
  ) => {
    await fetch(`${stack.emulator.url}/api/v1/volume/create`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "found", size: "7" }),
    });
    const { id } = stack.emulator.dump().volumes[0]!;
    const file = (more: string) => `
version: 1
project: acme
region: in-west-1
vms:
  db: { name: db-1, flavor_id: m1.small, image_id: ubuntu-24.04, owner: ops, user_id: "1042", size: 10 }
${more}`;
    const declared = file(`
volumes:
  data: { size: 20, attach_to: db, flush: { via: stop } }
  found: { size: 7 }
  scratch: { for_each: [a, b], name: "scratch-\${each}", size: 5 }
groups: { front: { name: front, rules: [ { protocol: tcp, dst_port: 22 } ] } }
imports: [ { to: volume.found, id: "${id}" } ]`);
    stack.write({
      "reconcile.yaml": declared,
      // As a program of the Automation API, this one works in another folder than its provider.
      "index.js": `${head}
require("node:fs").mkdirSync("elsewhere", { recursive: true });
process.chdir("elsewhere");
cloud.DesiredState.fromYaml("../reconcile.yaml", {}, plugin ? { providers: [provider] } : {});`,
    });
    const volumes = () =>
      stack.emulator
        .dump()
        .volumes.filter(({ root, name }) => !root && !name.endsWith("-data"))
        .map(({ name, attached_to }) => `${name} ${attached_to === null ? "" : "attached"}`.trim())
        .sort();
    const all = ["data attached", "found", "scratch-a", "scratch-b"];
    await succeeds(stack.up());
    expect(volumes()).toEqual(all);
    await succeeds(stack.up(), nothing);
    const removed = (more: string) =>
      file(
        `removed: [ { from: volume.data, destroy: false }, { from: volume.scratch }, { from: volume.found } ${more} ]`,
      );
    stack.write({ "reconcile.yaml": removed(", { from: group.front, destroy: true }") });
    await succeeds(stack.preview());
    await succeeds(stack.up(), { deleted: 6 });
    expect(volumes()).toEqual(all);
    expect(stack.emulator.dump().groups.map(({ name }) => name)).not.toContain("front");
    expect(await stack.state()).not.toContain("scratch-a");
    stack.write({ "reconcile.yaml": file(`volumes: { scratch: { name: other, size: 5 } }`) });
    await succeeds(stack.up(), { created: 1 });
    stack.write({ "reconcile.yaml": file("") });
    await succeeds(stack.up(), { deleted: 1 });
    expect(volumes()).toEqual(all);
  },

  "two providers are two services, each with its own credential, which no state shows": async (stack) => {
    const other = await stack.startOther();
    await stack.set("token", token);
    await stack.set("here", stack.emulator.url);
    await stack.set("there", other.url);
    stack.write({
      "index.js": `${head}
const Instance = plugin ? cloud.Provider : cloud.DynamicProvider;
const instance = (name) => new Instance(name, { ...settings, baseUrl: config.require(name), token: config.requireSecret("token") });
for (const name of ["here", "there"]) new cloud.Vm(name + "-1", vmArgs, { provider: instance(name) });`,
    });
    const names = () => [stack.emulator, other].map((one) => one.dump().vms.map(({ name }) => name));
    await succeeds(stack.up());
    expect(names()).toEqual([["here-1"], ["there-1"]]);
    await succeeds(stack.up(), nothing);
    await succeeds(stack.refresh(), nothing);
    expect(await stack.state()).not.toContain(token);
    await succeeds(stack.destroy());
    expect(names()).toEqual([[], []]);
  },
};
