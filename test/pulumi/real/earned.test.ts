/**
 * With the real command line: what is deleted, made and owned rests on what was seen. Another project's credential, two
 * providers, twenty power cuts (POWER_CUTS=3 for fewer), a note that is a week old, the advice of a message followed
 * to the letter, and everything that Pulumi can be told to replace.
 */
import { type ChildProcess, execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { dialectWithRuleDelete as dialect, everything } from "../shared-scenarios";
import { head, type Mode, modes, urnOf, worldOf } from "./program";
import { type RealStack, type StackOptions, startStack, whyNot } from "./stack";

const reason = whyNot();

const parts = {
  vm: `const vm = new cloud.Vm("db-1", vmArgs, opts);`,
  volume: `const volume = new cloud.Volume("data", { size: 5, flushConfirmed: true }, opts);`,
  group: `const group = new cloud.SecurityGroup("web-group", { rulesMode: "shared", rules: [] }, opts);`,
  attachment: `new cloud.VolumeAttachment("att", { vmId: vm.id, volumeId: volume.id, flushConfirmed: true }, opts);`,
  rule: `new cloud.SecurityGroupRule("ssh", { securityGroupId: group.id, protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" }, opts);`,
};
const program = (changed: Partial<typeof parts> = {}): string =>
  [head, ...Object.values({ ...parts, ...changed })].join("\n");
const made = { vms: ["db-1 ACTIVE"], volumes: ["data 5 db-1"], groups: ["web-group"], ports: [22] };

/** The processes that a process has started, and those that they have. */
function descendants(of: number): number[] {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" });
  const pairs = rows
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number) as [number, number]);
  const below = (pid: number): number[] =>
    pairs.flatMap(([child, parent]) => (parent === pid ? [child, ...below(child)] : []));
  return below(of);
}

/** As when the machine loses its power: all at once, none of them asked. */
async function cutPower(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const all = child.pid === undefined ? [] : [child.pid, ...descendants(child.pid)];
  for (const pid of all)
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  await ended;
}

let stack: RealStack;
afterEach(() => stack.close());

async function open(mode: Mode, options: StackOptions = {}, isWhole = true): Promise<void> {
  stack = await startStack(isWhole ? { with: everything, ...options } : options);
  if (isWhole) {
    stack.write({ "dialect.yaml": dialect });
    stack.environment["RECONCILE_DIALECT"] = "dialect.yaml";
  }
  await stack.pulumi("config", "set", "mode", mode);
}
const bring = (text: string): void => stack.write({ "index.js": text });
const up = (...args: string[]) => stack.pulumi("up", "--yes", "--skip-preview", ...args);
const succeeds = async (running: Promise<{ code: number; text: string }>): Promise<string> => {
  const { code, text } = await running;
  expect(code, text).toBe(0);
  return text;
};
const volumes = () => stack.emulator.dump().volumes.filter(({ root, name }) => !root && !name.endsWith("-data"));
const creates = (): string => join(stack.folder, ".reconcile/creates");
const restart = async (): Promise<void> => void (await stack.pulumi("cancel", "--yes"));

describe.skipIf(reason !== undefined).each(modes)("the real engine, %s", (mode) => {
  it("another project's credential forgets nothing, by a destroy or by an update that removes it", async () => {
    await open(mode);
    bring(program());
    await succeeds(up());
    const before = await stack.exported();
    stack.environment["RECONCILE_TOKEN"] = "outsider-token";
    const destroyed = await stack.pulumi("destroy", "--yes", "--skip-preview");
    expect(destroyed.code, destroyed.text).not.toBe(0);
    expect(destroyed.text).toMatch(/credential/);
    bring(head);
    expect((await up("--continue-on-error")).code).not.toBe(0);
    const urns = (text: string): string[] => [...text.matchAll(/"urn": "(\S+)"/g)].map(([, urn]) => urn!);
    expect(urns(await stack.exported())).toEqual(urns(before));
    expect(worldOf(stack)).toEqual(made);
    stack.environment["RECONCILE_TOKEN"] = "ops-token";
    bring(program());
    await succeeds(up("--expect-no-changes"));
  });

  it("a refresh says that a VM has another name, also where another VM has its own by now; the update refuses", async () => {
    await open(mode);
    bring(`${head} const vm = new cloud.Vm("db-1", vmArgs, opts);`);
    await succeeds(up());
    const id = stack.emulator.dump().vms[0]?.id;
    const call = async (path: string, body: object): Promise<void> => {
      const headers = { Authorization: "Bearer ops-token", "Content-Type": "application/json" };
      const at = `${stack.emulator.url}/api/v1/vm/${path}`;
      expect((await fetch(at, { method: "POST", headers, body: JSON.stringify(body) })).ok).toBe(true);
    };
    await call(`rename/${id}`, { name: "elsewhere" });
    const before = await stack.exported();
    bring(`${head} const vm = new cloud.Vm("thief", { ...vmArgs, name: "db-1" }, opts);`);
    const thief = await up("--target", "**thief");
    expect(thief.code, thief.text).toBe(0);
    writeFileSync(join(stack.folder, "before.json"), before);
    await succeeds(stack.pulumi("stack", "import", "--file", "before.json"));
    bring(`${head} const vm = new cloud.Vm("db-1", vmArgs, opts);`);
    expect(await succeeds(stack.pulumi("refresh", "--yes", "--skip-preview"))).toMatch(/cannot have the name db-1/);
    expect(await stack.exported()).toContain('"name": "elsewhere"');
    for (const args of [["preview"], ["preview", "--refresh"], ["up", "--yes", "--skip-preview", "--refresh"]]) {
      const refused = await stack.pulumi(...args);
      expect([refused.code === 0, refused.text]).toEqual([false, expect.stringContaining("cannot have the name db-1")]);
    }
  });

  it.each([400, 500])(
    "beside what failed nothing is said of what depends on it, all else is made (%i)",
    async (code) => {
      await open(mode);
      stack.emulator.setFaults([{ operation: "group.create", kind: "status", code, when: "before" }]);
      bring(`${program()}
      Promise.all([group.urn, vm.urn].map((one) => new Promise((done) => one.apply(done))))
        .then(() => new Promise((done) => setTimeout(done, 1000)))
        .then(() => new cloud.Volume("later", { size: 1 }, opts));`);
      const ran = await up("--continue-on-error");
      expect(ran.code, ran.text).not.toBe(0);
      expect(ran.text).toContain("create group web-group");
      expect(ran.text).not.toContain("is required");
      expect(worldOf(stack), ran.text).toMatchObject({
        vms: made.vms,
        volumes: [...made.volumes, "later 1 -"],
        ports: [],
      });
    },
  );

  it("a note that is a week old: the volume that was made is the one that is managed", async () => {
    await open(mode, {}, false);
    bring(`${head} new cloud.Volume("data", { size: 5 }, opts);`);
    stack.emulator.setFaults([{ operation: "volume.create", kind: "latency", ms: 1500, when: "after", count: 1 }]);
    const child = stack.start("up", "--yes", "--skip-preview");
    while (child.exitCode === null && volumes().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    // The provider's process lives on until its answer has come, and notes the id.
    const noted = (): string | undefined => readdirSync(creates()).find((file) => !/^made-|left/.test(file));
    const hasId = (): boolean => readFileSync(join(creates(), noted()!), "utf8").includes('"id"');
    while (!hasId()) await new Promise((resolve) => setTimeout(resolve, 50));
    const path = join(creates(), noted()!);
    const note = JSON.parse(readFileSync(path, "utf8")) as object;
    writeFileSync(path, JSON.stringify({ ...note, sentAt: new Date(Date.now() - 8 * 86_400_000).toISOString() }));
    await restart();
    const [first] = volumes();
    await succeeds(up());
    expect(volumes().map(({ id }) => id)).toEqual([first?.id]);
    await succeeds(up("--expect-no-changes"));
  });

  it("a stack that is renamed while a create is open asks for what was made, and makes nothing twice", async () => {
    await open(mode, {}, false);
    const wish = (adopt = "") => `${head} new cloud.Volume("data", { size: 5${adopt} }, opts);`;
    bring(wish());
    stack.emulator.setFaults([{ operation: "volume.create", kind: "latency", ms: 5000, when: "after", count: 1 }]);
    const child = stack.start("up", "--yes", "--skip-preview");
    while (child.exitCode === null && volumes().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await cutPower(child);
    stack.emulator.setFaults([]);
    await restart();
    await succeeds(stack.pulumi("stack", "rename", "prod"));
    const refused = await up();
    expect([refused.code === 0, refused.text]).toEqual([false, expect.stringContaining("sent the create of data")]);
    expect(refused.text).toContain("urn:pulumi:dev::demo");
    const [{ id } = { id: "" }, ...twins] = volumes();
    expect(twins).toEqual([]);
    bring(wish(`, adopt: "${id}"`));
    await succeeds(up());
    bring(wish());
    await succeeds(up("--expect-no-changes"));
    expect(volumes().map((one) => one.id)).toEqual([id]);
  });

  it("an update goes on after a cancel, and another one of the same stack begins: nothing is made twice or forgotten", async () => {
    await open(mode, {}, false);
    const attached = [head, parts.vm, parts.volume, parts.group, parts.attachment].join("\n");
    bring(attached);
    // The first update lives until the second one has begun to make the same.
    const slow = { "vm.create": 20_000, "volume.create": 4000, "group.create": 4000 };
    const faults = Object.entries(slow).map(([operation, ms]) => ({ operation, ms, when: "after", count: 1 }) as const);
    stack.emulator.setFaults(faults.map((fault) => ({ kind: "latency", ...fault })));
    const first = stack.start("up", "--yes", "--skip-preview");
    const ended = new Promise((resolve) => first.once("exit", resolve));
    while (first.exitCode === null && volumes().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await restart();
    await up();
    await ended;
    await restart();
    await succeeds(up());
    const wanted = { ...made, ports: [] };
    expect(worldOf(stack)).toEqual(wanted);
    await succeeds(up("--expect-no-changes"));
    const state = await stack.exported();
    for (const { id } of [...stack.emulator.dump().vms, ...volumes()]) expect(state).toContain(id);
    await succeeds(stack.pulumi("destroy", "--yes", "--skip-preview"));
    expect(worldOf(stack)).toEqual({ vms: [], volumes: [], groups: [], ports: [] });
  });

  it("a stack that is removed by force and made again goes on with what its first update made", async () => {
    await open(mode, {}, false);
    bring([head, parts.vm, parts.volume, parts.group, parts.attachment].join("\n"));
    await succeeds(up());
    const before = stack.emulator.dump();
    await succeeds(stack.pulumi("stack", "rm", "dev", "--yes", "--force"));
    await succeeds(stack.pulumi("stack", "init", "dev"));
    await stack.pulumi("config", "set", "mode", mode);
    expect(await succeeds(up())).toContain("is managed from now on");
    expect(stack.emulator.dump()).toEqual(before);
    await succeeds(up("--expect-no-changes"));
  });

  // Its rounds say how much it does, and it takes as long as they do.
  it("power cuts beside a slow state: no volume is made twice or asked for though known", { timeout: 0 }, async () => {
    await open(mode, {}, false);
    const perRound = 10;
    const rounds = Number(process.env["POWER_CUTS"] ?? 20);
    const counts = { rounds: 0, made: 0, inNoState: 0, known: 0, asked: 0, twins: 0 };
    // Each step writes the whole state, and these make that take longer than a create does.
    const pads = `class Pad extends pulumi.ComponentResource { constructor(name) { super("demo:index:Pad", name); this.registerOutputs({ text: "x".repeat(40000) }); } }
      for (let i = 0; i < 60; i++) new Pad("pad-" + i);`;
    const programOf = (round: number, answers: Readonly<Record<string, string>>): string =>
      `${head} ${pads} const answers = ${JSON.stringify(answers)};
      for (let i = 0; i < ${perRound * round}; i++) new cloud.Volume("vol-" + i, { size: 1 + (i % 5), ...(answers["vol-" + i] ? { adopt: answers["vol-" + i] } : {}) }, opts);`;
    bring(programOf(0, {}));
    await succeeds(up());
    for (let round = 1; round <= rounds; round++) {
      const before = volumes().length;
      stack.emulator.setFaults([{ operation: "volume.create", kind: "latency", ms: 40, when: "after", count: 1000 }]);
      bring(programOf(round, {}));
      const child = stack.start("up", "--yes", "--skip-preview");
      const enough = before + 1 + (round % (perRound - 1));
      while (child.exitCode === null && volumes().length < enough)
        await new Promise((resolve) => setTimeout(resolve, 5));
      await cutPower(child);
      stack.emulator.setFaults([]);
      await restart();
      const state = await stack.exported();
      const forgotten = volumes().filter(({ id }) => !state.includes(id));
      const notes = readdirSync(creates()).map((file) => readFileSync(join(creates(), file), "utf8"));
      const known = forgotten.filter(({ id }) => notes.some((note) => note.includes(id)));
      const after = await up("--continue-on-error");
      const names = volumes().map(({ name }) => name);
      const twins = names.length - new Set(names).size;
      const asked = new Set([...after.text.matchAll(/sent the create of (vol-\d+)/g)].map(([, name]) => name!));
      expect(twins, after.text).toBe(0);
      expect(
        known.filter(({ name }) => asked.has(name)).map(({ name }) => name),
        after.text,
      ).toEqual([]);
      counts.rounds++;
      counts.made += names.length - before;
      counts.inNoState += forgotten.length;
      counts.known += known.length;
      counts.asked += asked.size;
      if (asked.size === 0) continue;
      // What is asked for is settled by what the message says.
      const idOf = (name: string): string => volumes().find((one) => one.name === name)?.id ?? "none";
      bring(programOf(round, Object.fromEntries([...asked].map((name) => [name, idOf(name)]))));
      await succeeds(up());
    }
    console.log(mode, JSON.stringify(counts));
    const all = volumes().map(({ name }) => name);
    expect(all.sort()).toEqual(Array.from({ length: perRound * rounds }, (_, i) => `vol-${i}`).sort());
    expect(counts.inNoState).toBeGreaterThan(0);
    await succeeds(stack.pulumi("destroy", "--yes", "--skip-preview"));
    expect(volumes()).toEqual([]);
  });

  it("a volume that nothing names and no list shows is replaced right after the update that made it", async () => {
    await open(mode, {}, false);
    bring([head, parts.volume].join("\n"));
    await succeeds(up());
    const [{ id = "" } = {}] = volumes();
    const text = await succeeds(up("--replace", await urnOf(stack, "data")));
    expect(text).not.toContain("cut off");
    expect(volumes()).toHaveLength(1);
    expect(volumes()[0]?.id).not.toBe(id);
    await succeeds(up("--expect-no-changes"));
  });

  it("everything that Pulumi is told to replace is there afterwards, and a refresh finds nothing", async () => {
    await open(mode);
    bring(program());
    await succeeds(up());
    for (const name of ["att", "ssh", "data", "db-1", "web-group"]) {
      await succeeds(up("--replace", await urnOf(stack, name)));
      await succeeds(stack.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes"));
      expect(worldOf(stack), `--replace ${name}`).toEqual(made);
      await succeeds(stack.pulumi("state", "taint", await urnOf(stack, name), "--yes"));
      await succeeds(up());
      await succeeds(stack.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes"));
      expect(worldOf(stack), `taint of ${name}`).toEqual(made);
    }
    // Alone, while what hangs on it is no target.
    for (const name of ["db-1", "web-group"]) {
      await succeeds(up("--target-replace", await urnOf(stack, name)));
      expect(worldOf(stack), `--target-replace ${name}`).toEqual(made);
      await succeeds(up());
      await succeeds(stack.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes"));
      expect(worldOf(stack), `after --target-replace ${name}`).toEqual(made);
    }
    // A change that is made in place, or noted, becomes a replacement by the option.
    const replacing = (changes: string) => `, { ...opts, replaceOnChanges: ["*"] });`.replace("*", changes);
    const changed: Partial<typeof parts>[] = [
      {
        attachment: parts.attachment
          .replace("flushConfirmed: true", 'flushConfirmed: true, flush: { via: "stop" }')
          .replace(", opts);", replacing("flush")),
      },
      {
        rule: parts.rule
          .replace('dstPort: "22"', 'dstPort: "22", onRuleRemoval: "keep"')
          .replace(", opts);", replacing("onRuleRemoval")),
      },
      {
        volume: parts.volume
          .replace("flushConfirmed: true", 'flushConfirmed: true, flush: { via: "stop" }')
          .replace(", opts);", replacing("flush")),
      },
      {
        vm: parts.vm
          .replace("vmArgs", "{ ...vmArgs, deleteFloatingIp: true }")
          .replace(", opts);", replacing("deleteFloatingIp")),
      },
      {
        group: parts.group
          .replace("rules: []", 'rules: [], onRuleRemoval: "keep"')
          .replace(", opts);", replacing("onRuleRemoval")),
      },
    ];
    for (const change of changed) {
      bring(program(change));
      await succeeds(up());
      await succeeds(stack.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes"));
      expect(worldOf(stack), JSON.stringify(change)).toEqual(made);
      bring(program());
      await succeeds(up());
    }
  });
});

describe.skipIf(reason !== undefined)("the real engine, two providers", () => {
  it("a new name with another provider is a take-over, which the preview says and the old one's delete leaves alone", async () => {
    await open("plugin");
    const providers = `const p2 = { provider: new cloud.Provider("p2", { baseUrl: process.env.RECONCILE_BASE_URL }) };`;
    bring(program({ vm: `${providers} ${parts.vm}` }));
    await succeeds(up());
    const [{ id = "" } = {}] = stack.emulator.dump().vms;
    const moved = {
      vm: `${providers} ${parts.vm}`,
      attachment: parts.attachment.replace('"att"', '"att2"').replace("opts", "p2"),
      rule: parts.rule.replace('"ssh"', '"ssh2"').replace("opts", "p2"),
    };
    bring(program(moved));
    const previewed = await succeeds(stack.pulumi("preview"));
    expect(previewed).toMatch(/the two are one attachment/);
    expect(previewed).toMatch(/the two are one rule/);
    await succeeds(up());
    expect(worldOf(stack)).toEqual(made);
    await succeeds(up("--expect-no-changes"));
    await succeeds(stack.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes"));
    const adopted = {
      ...moved,
      vm: `${providers} const vm = new cloud.Vm("web-z", { ...vmArgs, name: "db-1", adopt: "${id}" }, p2);`,
    };
    bring(program(adopted));
    expect(await succeeds(stack.pulumi("preview"))).toMatch(/is taken over: nothing is made/);
    await succeeds(up());
    expect(stack.emulator.dump().vms.map((vm) => vm.id)).toEqual([id]);
    expect(worldOf(stack)).toEqual(made);
    await succeeds(stack.pulumi("destroy", "--yes", "--skip-preview"));
    expect(worldOf(stack)).toEqual({ vms: [], volumes: [], groups: [], ports: [] });
  });
});
