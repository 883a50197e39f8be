import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { connect, readDesired } from "../../reconciler";
import { type Ran, runCli } from "../support/cli-process";
import { ownPlace } from "../support/own-place";

const here = ownPlace();

const head = `version: 1
project: acme
region: in-west-1
defaults:
  vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
`;
const run = (place: string, ...args: string[]): Promise<Ran> =>
  runCli(args, { ...here.surroundings(), cwd: join(here.folder, place) });
const write = (place: string, body: string): void => here.write(head + body, join(place, "reconcile.yaml"));
const network = (more = ""): void =>
  write(
    "network",
    `groups: { edge: { name: edge-group, rules: [ { protocol: tcp, dst_port: 443 } ] } }
outputs:
  edge: "\${group.edge.id}"
  offices: [198.51.100.0/24, 203.0.113.0/25]
  hidden: { value: hushhush, sensitive: true }
${more}`,
  );
const app = (port: number, more = ""): void =>
  write(
    "app",
    `reads:
  network: { state: ../network/reconcile.state.json }
lookups:
  legacy: { vm: { name: legacy-app } }
  base: { image: { name: ubuntu-24.04 } }
vms:
  web: { name: web-1, image_id: "\${lookup.base.id}" }
groups:
  app:
    name: app-group
    rules:
      - { protocol: tcp, dst_port: ${port}, remote_group: { id: "\${read.network.edge}" } }
      - { protocol: tcp, dst_port: 22, remote_ip: "\${read.network.offices}" }
      - { protocol: tcp, dst_port: 9000, remote_ip: "\${lookup.legacy.private_ip}" }
${more}`,
  );

beforeEach(async () => {
  mkdirSync(join(here.folder, "app"));
  write("legacy", "vms: { old: { name: legacy-app } }\n");
  network();
  for (const place of ["legacy", "network"]) expect((await run(place, "apply", "-y")).exitCode).toBe(0);
});

const admitted = (): string[] => {
  const { groups, rules } = here.emulator.dump();
  const id = groups.find(({ name }) => name === "app-group")?.id;
  return rules
    .filter((rule) => rule.security_group_id === id && rule.direction === "ingress")
    .map((rule) => `${rule.port_range_min} ${rule.remote_ip_prefix ?? rule.remote_group_id}`)
    .sort();
};

describe("reading what is elsewhere", () => {
  it("another project's outputs and a VM that nobody manages here, into names, images and rules", async () => {
    app(80);
    expect((await run("app", "validate")).exitCode).toBe(0);
    const applied = await run("app", "apply", "-y");
    expect([applied.exitCode, applied.stderr]).toEqual([0, expect.not.stringContaining("error")]);
    const edge = here.emulator.dump().groups.find(({ name }) => name === "edge-group")?.id;
    const legacy = here.emulator.dump().vms.find(({ name }) => name === "legacy-app")?.private_ip;
    expect(admitted()).toEqual([`22 198.51.100.0/24`, `22 203.0.113.0/25`, `80 ${edge}`, `9000 ${legacy}/32`]);
    expect((await run("app", "plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("a state under another key, with the advice that leaves both states under their own", async () => {
    const [own, other] = ["the key of the app 1", "the key of the network 2"];
    const under = (place: string, env: Record<string, string>, ...args: string[]): Promise<Ran> =>
      runCli(args, { cwd: join(here.folder, place), env: { ...here.surroundings().env, ...env } });
    network("  more: 1\n");
    expect((await under("network", { RECONCILE_STATE_KEY: other }, "apply", "-y")).exitCode).toBe(0);
    app(80);
    const refused = await under("app", { RECONCILE_STATE_KEY: own }, "plan");
    expect(refused.stderr).toContain("fix: give the key of that state as RECONCILE_STATE_KEY_PREVIOUS");
    const both = { RECONCILE_STATE_KEY: own, RECONCILE_STATE_KEY_PREVIOUS: other };
    expect((await under("app", both, "apply", "-y")).exitCode).toBe(0);
    for (const [place, key] of [
      ["app", own],
      ["network", other],
    ] as const)
      expect((await under(place, { RECONCILE_STATE_KEY: key }, "state", "list")).exitCode).toBe(0);
  });

  it("a state of a newer version, with its code and the version to install", async () => {
    app(80);
    const path = "network/reconcile.state.json";
    here.write(JSON.stringify({ ...JSON.parse(here.read(path)), version: 2 }), path);
    const refused = await run("app", "plan");
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/error\[state\/newer\](?:.|\n)*npm install/),
    ]);
  });

  it("a state that was replaced is taken by the flag that names it, and not by the one for the own state", async () => {
    const own = JSON.parse(here.read("network/reconcile.state.json"));
    app(80);
    expect((await run("app", "apply", "-y")).exitCode).toBe(0);
    here.write(
      JSON.stringify({ ...own, lineage: "00000000-0000-4000-8000-000000000009" }),
      "network/reconcile.state.json",
    );
    for (const flags of [[], ["--new-state"], ["--new-state-of", "another.json"]]) {
      const refused = await run("app", "plan", ...flags);
      expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("answers with another state")]);
      expect(refused.stderr).not.toMatch(/--new-state[^-]/);
    }
    const { stderr } = await run("app", "plan");
    const [, named = ""] = /--new-state-of (\S+),/.exec(stderr.replaceAll(/\s+/g, " ")) ?? [];
    const sources = [{ file: "reconcile.yaml", text: here.read("app/reconcile.yaml") }];
    const { desired } = readDesired(sources, { external: "later" });
    if (desired === undefined) throw new Error("it cannot be read");
    const { url: baseUrl } = here.emulator;
    await using cloud = connect({ baseUrl, token: "ops-token" }, join(here.folder, "app"));
    await expect(cloud.look(desired)).rejects.toThrow("lineage");
    expect((await run("app", "plan", "--new-state-of", named)).exitCode).toBe(0);
    expect((await run("app", "plan", "--detailed-exitcode")).exitCode).toBe(0);
    await cloud.look(desired, { newStateOf: [named] });
  });

  it("a saved plan holds only while it finds the same there", async () => {
    app(80);
    expect((await run("app", "plan", "--out", "p.plan.json")).exitCode).toBe(0);
    network("  extra: 1\n");
    expect((await run("network", "apply", "-y")).exitCode).toBe(0);
    const same = await run("app", "apply", "p.plan.json");
    expect(same.exitCode).toBe(0);

    app(81);
    expect((await run("app", "plan", "--out", "p.plan.json")).exitCode).toBe(0);
    write("network", "groups: { edge: { name: edge-group } }\noutputs: { edge: other, offices: [10.0.0.0/8] }\n");
    expect((await run("network", "apply", "-y")).exitCode).toBe(0);
    const moved = await run("app", "apply", "p.plan.json");
    expect([moved.exitCode, moved.stderr]).toEqual([1, expect.stringContaining("${read.network.edge} was")]);
  });

  it.each([
    ["an output that is not there", 'outputs: { x: "${read.network.egde}" }', "write ${read.network.edge}"],
    ["a sensitive one", 'outputs: { x: "${read.network.hidden}" }', "a sensitive output is not handed out"],
    ["a read that is not declared", 'outputs: { x: "${read.netwrk.edge}" }', "write ${read.network.edge}"],
    [
      "an attribute that is not there",
      'outputs: { x: "${lookup.legacy.private_up}" }',
      "write ${lookup.legacy.private_ip}",
    ],
  ])("%s is an error that says what there is", async (_, more, says) => {
    app(80, more);
    const ran = await run("app", "plan");
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(says)]);
  });

  it("a lookup that finds several, or none, says which", async () => {
    write(
      "app",
      'lookups: { all: { vm: { name: legacy-app } }, none: { vm: { name: legacy-ap } } }\noutputs: { x: "${lookup.all.id}" }\n',
    );
    const none = await run("app", "plan");
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("did you mean legacy-app?")]);
    const world = here.emulator.dump();
    const [old] = world.vms;
    if (old === undefined) throw new Error("there is no VM");
    await here.emulator.load({
      ...world,
      vms: [...world.vms, { ...old, id: "11111111-1111-4111-8111-111111111111", seq: 99_999 }],
    });
    const several = await run("app", "plan");
    expect(several.stderr).toContain("2 vms are named legacy-app:");
    expect(several.stderr).toContain("11111111-1111-4111-8111-111111111111");
  });

  it("a state that is not there has no outputs, and nothing of the file is decided", async () => {
    write("app", 'reads: { network: { state: ../nowhere.json } }\noutputs: { x: "${read.network.edge}" }\n');
    const ran = await run("app", "plan");
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("its state has no outputs")]);
    expect((await run("app", "state", "list")).exitCode).toBe(0);
  });
});

describe("every door reads what the file takes from elsewhere", () => {
  const dialect = "service: { dialect: { operations: { group.rule.delete: null } } }\n";
  const withPolicy = 'policy: { command: [sh, -c, "cat > asked.json; echo []"] }\n';

  it("a picture, a policy, an exported program and a rehearsal have every rule", async () => {
    app(80, withPolicy);
    expect((await run("app", "rehearse")).stdout).not.toContain("error");
    expect((await run("app", "graph")).stdout).toContain("4 rules");
    expect((await run("app", "apply", "-y")).exitCode).toBe(0);
    const asked = here.read("app/asked.json");
    expect(asked).toContain("198.51.100.0/24");
    expect(JSON.stringify(JSON.parse(asked))).not.toContain("undefined");
    const program = await run("app", "export", "pulumi");
    expect(program.stdout).toContain("198.51.100.0/24");
    expect(program.stdout).toContain("9000");
    rmSync(join(here.folder, "network/reconcile.state.json"));
    for (const command of [["graph"], ["export", "pulumi"], ["exposure"], ["rehearse"], ["plan"]]) {
      const lost = await run("app", ...command);
      expect([command, lost.exitCode, lost.stderr]).toEqual([
        command,
        1,
        expect.stringMatching(/there is no state|answers that there is none/),
      ]);
    }
  });

  it("undo goes back to what was before the run, and not to what the file says", async () => {
    app(80);
    expect((await run("app", "apply", "-y")).exitCode).toBe(0);
    const first = admitted();
    app(81);
    expect((await run("app", "apply", "-y")).exitCode).toBe(0);
    expect(admitted()).not.toEqual(first);
    const undone = await run("app", "undo", "last", "-y");
    expect([undone.exitCode, admitted()]).toEqual([0, first]);
  });

  it("import takes a group over with the rules of the file, and the next plan is empty", async () => {
    app(80, dialect);
    expect((await run("app", "apply", "-y")).exitCode).toBe(0);
    const group = here.emulator.dump().groups.find(({ name }) => name === "app-group");
    expect((await run("app", "state", "rm", "group.app")).exitCode).toBe(0);
    expect((await run("app", "import", "group.app", group?.id ?? "")).exitCode).toBe(0);
    expect((await run("app", "plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("an output without a value opens no rule", async () => {
    app(80);
    expect((await run("app", "apply", "-y")).exitCode).toBe(0);
    const state = join(here.folder, "network/reconcile.state.json");
    writeFileSync(state, readFileSync(state, "utf8").replaceAll(/\["198[^\]]*\]/g, "null"));
    const ran = await run("app", "plan");
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("hands out no output offices")]);
  });
});

it("a program looks, and reads the file with what was found; without a look nothing is planned", async () => {
  app(8080);
  const cwd = join(here.folder, "app");
  const sources = [{ file: join(cwd, "reconcile.yaml"), text: readFileSync(join(cwd, "reconcile.yaml"), "utf8") }];
  const cloud = connect({ baseUrl: here.emulator.url, token: "ops-token" }, cwd);
  try {
    const { desired: unseen } = readDesired(sources, { external: "later" });
    if (unseen === undefined) throw new Error("it cannot be read");
    const state = join(cwd, "reconcile.state.json");
    await expect(cloud.plan(unseen, { state })).rejects.toThrow("external: await cloud.look(desired)");
    const external = await cloud.look(unseen);
    expect(external).toMatchObject({
      reads: { network: { offices: ["198.51.100.0/24", "203.0.113.0/25"] } },
      lookups: { legacy: { private_ip: here.emulator.dump().vms[0]?.private_ip } },
    });
    expect(JSON.stringify(external)).not.toContain("hushhush");
    const { desired, diagnostics } = readDesired(sources, { external });
    expect(diagnostics).toEqual([]);
    if (desired === undefined) throw new Error("it cannot be read");
    expect((await cloud.apply(await cloud.plan(desired, { state }))).counts).toMatchObject({ failed: 0, done: 2 });
    write(
      "app",
      "reads: { network: { state: ../nowhere.state.json } }\nlookups: { none: { vm: { name: legacy-ap } } }\n",
    );
    const text = readFileSync(join(cwd, "reconcile.yaml"), "utf8");
    const lost = readDesired([{ file: "reconcile.yaml", text }], { external: "later" }).desired;
    if (lost === undefined) throw new Error("it cannot be read");
    await expect(cloud.look(lost)).rejects.toThrow("did you mean legacy-app?");
  } finally {
    await cloud.close();
  }
});
