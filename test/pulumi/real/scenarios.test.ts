import { afterEach, describe, expect, it } from "vitest";
import { eventually, hurried } from "../../support/eventually";
import { dialectWithRuleDelete as dialect, everything, scenarios } from "../shared-scenarios";
import { type RealStack, type StackOptions, secretToken, startScenarioStack, startStack, whyNot } from "./stack";

const reason = whyNot();
if (reason !== undefined) console.error(`\n*** ${reason} ***\n`);

const head = `
const pulumi = require("@pulumi/pulumi");
const cloud = require("reconcile-cloud/pulumi");
const config = new pulumi.Config();
const opts = config.get("mode") === "plugin" ? { provider: new cloud.Provider("cloud") } : {};
const vmArgs = { flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042", project: "acme", region: "in-west-1", size: 10 };
`;

/** A VM with an attached volume and a group, each with one thing that a setting changes. */
const program = `${head}
const vm = new cloud.Vm("db-1", { ...vmArgs, flavorId: config.get("flavor") ?? "m1.small", region: config.get("region") ?? "in-west-1" }, opts);
const volume = new cloud.Volume("data", { size: config.getNumber("size") ?? 5, flushConfirmed: true }, opts);
new cloud.VolumeAttachment("attached", { vmId: vm.id, volumeId: volume.id, flushConfirmed: true }, opts);
const group = new cloud.SecurityGroup("web-group", { rulesMode: "shared", rules: [{ protocol: "tcp", dstPort: "443", remoteIp: "0.0.0.0/0" }, { protocol: "tcp", dstPort: "5432", remoteGroup: "self" }] }, opts);
new cloud.SecurityGroupRule("ssh", { securityGroupId: group.id, protocol: "tcp", dstPort: config.get("port") ?? "22", remoteIp: "10.0.0.7/8" }, { ...opts, deletedWith: group });
exports.address = vm.floatingIp;
exports.vmId = vm.id;
`;

describe.skipIf(reason !== undefined).each(["dynamic", "plugin"] as const)("the real engine, %s", (mode) => {
  let stack: RealStack;
  const provided = mode === "plugin" ? 1 : 0;
  const open = async (text: string, options: StackOptions = {}): Promise<void> => {
    stack = await startStack({ with: everything, ...options });
    stack.write({ "index.js": text });
    await stack.pulumi("config", "set", "mode", mode);
    stack.environment["RECONCILE_DIALECT"] = "dialect.yaml";
    stack.write({ "dialect.yaml": dialect });
  };
  const set = (key: string, value: string) => stack.pulumi("config", "set", key, value);
  const up = () => stack.changes("up", "--yes", "--skip-preview");
  const vms = () => stack.emulator.dump().vms;
  const volumes = () => stack.emulator.dump().volumes.filter(({ name }) => name === "data");
  afterEach(async () => {
    await stack.close();
  });

  it("preview, up, nothing to do, update, replace with what hangs on it, destroy", async () => {
    await open(program);
    expect(await stack.changes("preview")).toEqual({ create: 6 + provided });
    expect(vms()).toEqual([]);
    expect(await up()).toEqual({ created: 6 + provided });
    expect(vms().map(({ name, status }) => [name, status])).toEqual([["db-1", "ACTIVE"]]);
    expect(volumes()[0]?.attached_to).toBe(vms()[0]?.id);
    expect(await up()).toEqual({ unchanged: 6 + provided });
    expect((await stack.pulumi("preview", "--expect-no-changes")).code).toBe(0);

    await set("flavor", "m1.large");
    await set("size", "8");
    expect(await up()).toEqual({ updated: 2, unchanged: 4 + provided });
    expect(vms().map(({ status }) => status)).toEqual(["ACTIVE"]);
    expect(volumes()).toMatchObject([{ size: 8, attached_to: vms()[0]?.id }]);

    await set("port", "2222");
    expect(await up()).toEqual({ replaced: 1, unchanged: 5 + provided });

    await set("region", "nowhere-1");
    expect((await stack.pulumi("up", "--yes", "--skip-preview")).text).toContain("region nowhere-1 is no region");
    expect(vms()).toMatchObject([{ region: "in-west-1", status: "ACTIVE" }]);

    await set("region", "in-south-1");
    const preview = await stack.pulumi("preview");
    expect(preview.text).toMatch(/the root disk of 50 GB of VM db-1 \(.*\) is deleted with it/);
    const before = vms()[0]?.id;
    expect(await up()).toEqual({ replaced: 2, unchanged: 4 + provided });
    expect(vms()).toMatchObject([{ region: "in-south-1" }]);
    expect(vms()[0]?.id).not.toBe(before);
    expect(volumes()).toMatchObject([{ attached_to: vms()[0]?.id }]);

    expect(await stack.changes("destroy", "--yes", "--skip-preview")).toEqual({ deleted: 6 + provided });
    expect([vms(), volumes()]).toEqual([[], []]);
  });

  it("a refresh shows drift, and the next update mends it; what is gone is made again", async () => {
    // Another group shows that the credential sees groups, so that the absence of one says something.
    await open(`${program} new cloud.SecurityGroup("other-group", { rules: [] }, opts);`);
    await up();
    const control = (method: string, path: string, body?: unknown) =>
      fetch(`${stack.emulator.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${secretToken}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    await control("POST", `/vm/rename/${vms()[0]!.id}`, { name: "hacked" });
    const group = stack.emulator.dump().groups.find(({ name }) => name === "web-group")!;
    const rule = stack.emulator.dump().rules.find(({ port_range_min }) => port_range_min === 443)!;
    await control("DELETE", `/security-group/${group.id}/rule/${rule.id}`);
    expect(await stack.changes("refresh", "--yes", "--skip-preview")).toEqual({ updated: 2, unchanged: 5 + provided });
    expect(await stack.changes("preview")).toEqual({ update: 2, unchanged: 5 + provided });
    expect(await up()).toEqual({ updated: 2, unchanged: 5 + provided });
    expect(vms()[0]?.name).toBe("db-1");
    expect(stack.emulator.dump().rules.some(({ port_range_min }) => port_range_min === 443)).toBe(true);

    await control("DELETE", `/security-group/${group.id}`);
    await stack.changes("refresh", "--yes", "--skip-preview");
    expect(await up()).toEqual({ created: 2, unchanged: 5 + provided });
    expect(await up()).toEqual({ unchanged: 7 + provided });
  });

  it("a create that fails on the way keeps its id, and the next update goes on or replaces it", async () => {
    await open(program);
    stack.emulator.setFaults([{ kind: "status", status: 500, operation: "volume.attach", count: 9 } as never]);
    const failed = await stack.pulumi("up", "--yes", "--skip-preview");
    expect(failed.code).not.toBe(0);
    const id = vms()[0]?.id;
    stack.emulator.setFaults([]);
    await up();
    expect(vms().map((vm) => vm.id)).toEqual([id]);
    expect(volumes()[0]?.attached_to).toBe(id);
  });

  it("an interrupt during a create leaves nothing unnamed, and `up` again finishes it", async () => {
    await open(`${head} new cloud.Vm("slow-1", vmArgs, opts);`, { timeScale: 6 });
    const child = stack.start("up", "--yes", "--skip-preview");
    let said = "";
    child.stdout?.on("data", (chunk) => {
      said += String(chunk);
    });
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    await eventually("the VM to be made", () => (vms().length === 1 ? true : undefined));
    child.kill("SIGINT");
    const code = await ended;
    const id = vms()[0]?.id;
    expect(await stack.exported(), said).toContain(id);
    if (mode === "plugin") expect(code).not.toBe(0);
    await up();
    expect(vms().map((vm) => [vm.id, vm.status])).toEqual([[id, "ACTIVE"]]);
    expect(await up()).toEqual({ unchanged: 2 + provided });
  });

  it.each([
    ["VM", `new cloud.Vm("db-1", vmArgs, opts);`],
    ["volume", `new cloud.Volume("data", { size: 5 }, opts);`],
  ])("an engine that is killed during the create of a %s makes nothing twice", async (what, declared) => {
    await open(`${head} ${declared}`, { timeScale: 6 });
    delete stack.environment["RECONCILE_DIALECT"];
    stack.emulator.setFaults([{ operation: "volume.create", kind: "latency", ms: 4000, when: "after", count: 1 }]);
    const ids = () => (what === "VM" ? vms() : volumes()).map(({ id }) => id);
    const child = stack.start("up", "--yes", "--skip-preview");
    const ended = new Promise((resolve) => child.once("exit", resolve));
    await eventually("the create to have had its effect", () => (ids().length === 1 ? true : undefined));
    child.kill("SIGKILL");
    await ended;
    const made = ids();
    await stack.pulumi("cancel", "--yes");
    await up();
    expect(ids()).toEqual(made);
    expect(await up()).toEqual({ unchanged: 2 + provided });
  });

  it.runIf(mode === "plugin")("a custom timeout ends a create early, and `up` again finishes it", async () => {
    await open(
      `${head} new cloud.Vm("slow-1", vmArgs, { ...opts, customTimeouts: { create: config.require("limit") } });`,
      // A build that takes long, which is hurried at the end.
      { timeScale: 0.1 },
    );
    // What is a limit for this machine only shows: before it, the create is to be sent, and after it nothing is.
    for (let seconds = 1; vms().length === 0; seconds *= 2) {
      await set("limit", `${seconds}s`);
      const { code, text } = await stack.pulumi("up", "--yes", "--skip-preview");
      expect(code, text).not.toBe(0);
    }
    const [vm] = vms();
    expect(await stack.exported()).toContain(vm?.id);
    await set("limit", "24h");
    await hurried(stack.emulator, up());
    expect(vms().map(({ id, status }) => [id, status])).toEqual([[vm?.id, "ACTIVE"]]);
  });

  it.runIf(mode === "plugin")(
    "custom timeouts end an update and a delete early, and `up` again finishes them",
    async () => {
      const declared = `const limit = config.get("limit") ?? "5m";
new cloud.Vm("db-1", { ...vmArgs, flavorId: config.get("flavor") ?? "m1.small" }, { ...opts, customTimeouts: { update: limit, delete: limit } });`;
      await open(`${head}${declared}`);
      await up();
      const id = vms()[0]?.id;
      const cutShort = async (operation: string): Promise<void> => {
        stack.emulator.setFaults([{ operation, kind: "latency", ms: 60_000, when: "after", count: 1 }]);
        const { code, text } = await stack.pulumi("up", "--yes", "--skip-preview");
        stack.emulator.setFaults([]);
        expect(code, text).not.toBe(0);
        expect(await stack.exported()).toContain(id);
      };
      await set("limit", "5s");
      await set("flavor", "m1.large");
      await cutShort("vm.resize");
      await set("limit", "5m");
      await up();
      expect(vms().map((vm) => [vm.id, vm.status])).toEqual([[id, "ACTIVE"]]);
      expect(await up()).toEqual({ unchanged: 2 + provided });
      await set("limit", "5s");
      await up();
      stack.write({ "index.js": head });
      await cutShort("vm.delete");
      await up();
      expect(vms()).toEqual([]);
      expect(await up()).toEqual({ unchanged: 1 + provided });
    },
  );

  it("takes over what exists instead of creating it", async () => {
    await open(program);
    await up();
    const id = vms()[0]!.id;
    const other = await startStack({ with: everything });
    try {
      other.environment["RECONCILE_BASE_URL"] = stack.emulator.url;
      other.write({ "index.js": `${head} new cloud.Vm("db-1", { ...vmArgs, adopt: "${id}" }, opts);` });
      await other.pulumi("config", "set", "mode", mode);
      expect(await other.changes("up", "--yes", "--skip-preview")).toEqual({ created: 2 + provided });
      expect(await other.changes("up", "--yes", "--skip-preview")).toEqual({ unchanged: 2 + provided });
      expect(vms().map((vm) => vm.id)).toEqual([id]);
    } finally {
      await other.close();
    }
  });

  it("no credential is in the state", async () => {
    await open(program);
    await up();
    expect(await stack.exported(true)).not.toContain(secretToken);
    // A token in the stack's configuration is a secret there, and in the state only as ciphertext.
    delete stack.environment["RECONCILE_TOKEN"];
    await stack.pulumi("config", "set", "--secret", "reconcile-cloud:token", secretToken);
    if (mode === "plugin")
      stack.write({
        "index.js": program.replace(
          `new cloud.Provider("cloud")`,
          `new cloud.Provider("cloud", { token: new pulumi.Config("reconcile-cloud").requireSecret("token") })`,
        ),
      });
    await set("size", "9");
    await up();
    expect(volumes()[0]?.size).toBe(9);
    expect(await stack.exported()).not.toContain(secretToken);
  });

  it.runIf(mode === "plugin")("imports what exists by its id, and then changes nothing", async () => {
    await open(program);
    await up();
    const group = stack.emulator.dump().groups.find(({ name }) => name === "web-group")!;
    const ids = { vm: vms()[0]!.id, volume: volumes()[0]!.id, group: group.id };
    const other = await startStack({ with: everything });
    try {
      other.environment["RECONCILE_BASE_URL"] = stack.emulator.url;
      other.environment["RECONCILE_DIALECT"] = "dialect.yaml";
      await other.pulumi("config", "set", "mode", mode);
      other.write({
        "dialect.yaml": dialect,
        "index.js": `${head}
new cloud.Vm("db-1", vmArgs, { ...opts, import: "${ids.vm}" });
new cloud.Volume("data", { size: 5 }, { ...opts, import: "${ids.volume}" });
new cloud.VolumeAttachment("attached", { vmId: "${ids.vm}", volumeId: "${ids.volume}" }, { ...opts, import: "${ids.vm}/${ids.volume}" });`,
      });
      const imported = await other.pulumi("up", "--yes", "--skip-preview");
      expect(imported.text).toContain("3 imported");
      expect(await other.changes("up", "--yes", "--skip-preview")).toEqual({ unchanged: 5 });
    } finally {
      await other.close();
    }
  });
});

describe.skipIf(reason !== undefined).each(["dynamic", "plugin"] as const)(
  "as on the in-process engine: the real engine, %s",
  (mode) => {
    let stack: Awaited<ReturnType<typeof startScenarioStack>> | undefined;
    afterEach(async () => {
      await stack?.close();
      stack = undefined;
    });

    it.each(Object.entries(scenarios))("%s", async (_, scenario) => {
      stack = await startScenarioStack(mode, { with: everything });
      await scenario(stack);
    });
  },
);
