import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, type Ran, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { ownPlace, said } from "../support/own-place";

const place = ownPlace();
const { reconcile } = place;

const write = (webs: string, size: number): void =>
  writeFileSync(
    join(place.folder, "reconcile.yaml"),
    `version: 1
project: acme
region: in-west-1
defaults:
  vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
vms:
  bastion: { name: bastion-1, root_size: ${size} }
  web: { for_each: ${webs}, name: "web-\${each}", skip_floating_ip: true }
groups:
  db:
    name: db-tier
    description: behind \${vm.bastion.name} (\${vm.bastion.id})
    rules:
      - { protocol: tcp, dst_port: 5432, remote_ip: "\${vm.web[*].private_ip}", description: "for \${vm.bastion.id}" }
      - { protocol: tcp, dst_port: 22, remote_ip: "\${vm.bastion.floating_ip}" }
outputs:
  bastion: "\${vm.bastion.floating_ip}"
  webs: { value: "\${vm.web[*].private_ip}", description: the web tier }
  token: { value: not-for-everybody, sensitive: true }
`,
  );

interface Line {
  readonly type: string;
  readonly [key: string]: unknown;
}
const lines = (ran: Ran): Line[] => jsonLines(ran.stdout) as Line[];
const vmNamed = (name: string) => place.emulator.dump().vms.find((vm) => vm.name === name);
function admitted(): string[] {
  const { groups, rules } = place.emulator.dump();
  const group = groups.find(({ name }) => name === "db-tier");
  return rules
    .filter((rule) => rule.security_group_id === group?.id && rule.direction === "ingress")
    .map((rule) => `${rule.port_range_min} ${rule.remote_ip_prefix}`)
    .sort();
}

async function expectConverged(): Promise<void> {
  const again = await reconcile("plan", "--detailed-exitcode");
  expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining("Nothing to do")]);
  const webs = place.emulator.dump().vms.filter(({ name }) => name.startsWith("web-"));
  const expected = [
    ...webs.map((vm) => `5432 ${vm.private_ip}/32`),
    `22 ${place.emulator.dump().vms.find(({ name }) => name === "bastion-1")?.floating_ip}/32`,
  ];
  expect(admitted()).toEqual(expected.sort());
}

describe("one tier admits another by its addresses", () => {
  it("over four applies, each in one run, with the outputs that follow", async () => {
    write("[a, b]", 50);
    const planned = lines(await reconcile("plan", "--json"));
    expect(planned.filter(({ type }) => type === "output")).toMatchObject([
      { name: "bastion", before: null, after: null, known: false },
      { name: "token", before: null, after: "(sensitive)", known: true },
      { name: "webs", before: null, after: null, known: false },
    ]);
    expect(planned.find(({ step }) => step === "group.db/create")?.["needs"]).toEqual([
      "vm.bastion/create",
      "vm.web[a]/create",
      "vm.web[b]/create",
    ]);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    await expectConverged();

    // A VM is replaced: its address is another one, and the group is replaced once.
    write("[a, b]", 60);
    const replaced = await reconcile("apply", "-y", "--allow-data-loss", "--json");
    expect(replaced.exitCode).toBe(0);
    const summary = lines(replaced).at(-1);
    expect(summary?.["outputs"]).toEqual({
      bastion: vmNamed("bastion-1")?.floating_ip,
      token: "(sensitive)",
      webs: [vmNamed("web-a")?.private_ip, vmNamed("web-b")?.private_ip],
    });
    await expectConverged();
    expect(place.emulator.dump().groups.filter(({ name }) => name.includes("-old-"))).toEqual([]);

    write("[b, c]", 60);
    expect((await reconcile("apply", "-y", "--allow-data-loss")).exitCode).toBe(0);
    await expectConverged();

    // Only an output changes: that is a change, and nothing is sent for it.
    write("[b, c]", 60);
    writeFileSync(join(place.folder, "more.yaml"), 'outputs: { extra: "${group.db.id}" }\n');
    const files = ["-f", "reconcile.yaml", "-f", "more.yaml"];
    const pending = await reconcile("plan", "--detailed-exitcode", ...files);
    expect([pending.exitCode, pending.stdout]).toEqual([2, expect.stringContaining("1 output changes")]);
    const before = place.emulator.requests().log.filter(({ method }) => method !== "GET").length;
    expect((await reconcile("apply", ...files)).exitCode).toBe(0);
    expect(place.emulator.requests().log.filter(({ method }) => method !== "GET").length).toBe(before);
    const group = place.emulator.dump().groups.find(({ name }) => name === "db-tier");
    expect((await reconcile("output", "extra")).stdout).toBe(`${group?.id}\n`);
    expect((await reconcile("destroy", "-y", "--allow-data-loss", "--allow-removal", "all")).exitCode).toBe(0);
    expect((await reconcile("output")).stdout).toContain("No outputs");
  });

  it("also of a VM under a new key, where the targets leave its move out", async () => {
    const file = (key: string, moved: string) =>
      writeFileSync(
        join(place.folder, "reconcile.yaml"),
        `version: 1
project: acme
region: in-west-1
defaults:
  vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
vms: { ${key}: { name: bastion-1 } }
groups: { db: { name: db-tier } }
outputs: { ${key}: "\${vm.${key}.private_ip}" }
${moved}`,
      );
    file("bastion", "");
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    file("jump", "moved: [ { from: vm.bastion, to: vm.jump } ]");
    const narrow = ["--target", "group.db"];
    expect((await reconcile("plan", "--detailed-exitcode", ...narrow)).exitCode).toBe(2);
    expect((await reconcile("apply", "-y", ...narrow)).exitCode).toBe(0);
    expect((await reconcile("output", "jump")).stdout).toBe(`${vmNamed("bastion-1")?.private_ip}\n`);
    expect((await reconcile("plan", "--detailed-exitcode", ...narrow)).exitCode).toBe(0);
  });

  it("that a destroy of a part leaves are those that it leaves something of, as its plan says", async () => {
    write("[a]", 50);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const bastion = vmNamed("bastion-1")?.floating_ip;
    const afterwards = (ran: Ran) =>
      lines(ran).flatMap(({ type, name, after }) => (type === "output" ? [[name, after]] : []));
    const narrow = ["--target", "group.db", "--target", "vm.web"];
    const planned = await reconcile("plan", "--destroy", "--json", ...narrow);
    expect(afterwards(planned)).toEqual([
      ["bastion", bastion],
      ["token", "(sensitive)"],
      ["webs", null],
    ]);
    const destroyed = await reconcile("destroy", "-y", "--allow-data-loss", "--json", ...narrow);
    const left = { bastion, token: "(sensitive)" };
    expect([destroyed.exitCode, lines(destroyed).at(-1)?.["outputs"]]).toEqual([0, left]);
    expect((await reconcile("output", "bastion")).stdout).toBe(`${bastion}\n`);

    const whole = await reconcile("plan", "--destroy", "--json");
    expect(afterwards(whole)).toEqual([
      ["bastion", null],
      ["token", null],
    ]);
    expect((await reconcile("destroy", "-y", "--allow-data-loss")).exitCode).toBe(0);
    const again = await reconcile("plan", "--destroy", "--detailed-exitcode");
    expect([again.exitCode, again.stdout]).toEqual([0, expect.not.stringContaining("token")]);
  });

  it("a saved plan is filled in when it is applied, and refused when an address has changed since", async () => {
    write("[a]", 50);
    expect((await reconcile("plan", "--out", "first.plan.json")).exitCode).toBe(0);
    expect((await reconcile("apply", "first.plan.json")).exitCode).toBe(0);
    await expectConverged();
  });

  it("what a deployment does not show is an error where it is used, with the line that would say where it is", async () => {
    write("[a]", 50);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    writeFileSync(join(place.folder, "dialect.yaml"), "records: { vm: { private_ip: [/nowhere] } }\n");
    writeFileSync(join(place.folder, "state-free.yaml"), "");
    const ran = await reconcile("plan", "--dialect", "dialect.yaml");
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("reconcile.yaml:14");
    expect(ran.stderr).toContain("records: { vm: { private_ip: [/…] } }");
  });

  it("a floating IP that the file itself rules out is told before anything is sent", async () => {
    write("[a]", 50);
    writeFileSync(join(place.folder, "more.yaml"), 'outputs: { wrong: "${vm.web[a].floating_ip}" }\n');
    const ran = await reconcile("plan", "-f", "reconcile.yaml", "-f", "more.yaml");
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("its skip_floating_ip is true")]);
  });
});

describe("reconcile output", () => {
  it("gives every form that the tools of the next step read", async () => {
    write("[a, b]", 50);
    const applied = await reconcile("apply", "-y");
    expect(applied.exitCode).toBe(0);
    const [a, b, bastion] = [vmNamed("web-a"), vmNamed("web-b"), vmNamed("bastion-1")];
    expect(applied.stdout).toContain(
      `created    vm.bastion (${bastion?.id}, ${bastion?.private_ip}, ${bastion?.floating_ip})`,
    );
    expect((await reconcile("output")).stdout).toBe(
      `bastion = ${bastion?.floating_ip}\ntoken = (sensitive)\nwebs = ["${a?.private_ip}","${b?.private_ip}"]\n`,
    );
    expect((await reconcile("output", "token")).stdout).toBe("not-for-everybody\n");
    const unknown = await reconcile("output", "bastian");
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("reconcile output bastion")]);
    const env = await reconcile("output", "--format", "env");
    expect(env.stdout).toBe(`BASTION='${bastion?.floating_ip}'\nWEBS='${a?.private_ip} ${b?.private_ip}'\n`);
    expect(env.stderr).toContain("token");
    for (const [form, isTold] of [
      [["ansible"], true],
      [["ansible", "--list"], false],
      [["hosts"], false],
    ] as const)
      expect((await reconcile("output", "--format", ...form)).stderr.includes("token"), form.join(" ")).toBe(isTold);
    expect((await reconcile("output", "--format", "hosts")).stdout).toBe(
      `${bastion?.private_ip}\tbastion-1\t# vm.bastion\n${a?.private_ip}\tweb-a\t# vm.web[a]\n${b?.private_ip}\tweb-b\t# vm.web[b]\n`,
    );
    expect((await reconcile("output", "--format", "ssh-config")).stdout).toContain(
      `Host bastion-1\n  HostName ${bastion?.floating_ip}\n`,
    );
    const inventory = JSON.parse((await reconcile("output", "--format", "ansible", "--list")).stdout);
    expect(inventory).toMatchObject({
      web: { hosts: ["web-a", "web-b"] },
      bastion: { hosts: ["bastion-1"] },
      each_a: { hosts: ["web-a"] },
      all: { vars: { bastion: bastion?.floating_ip } },
    });
    const host = JSON.parse((await reconcile("output", "--format", "ansible", "--host", "web-a")).stdout);
    expect(host).toMatchObject({ ansible_host: a?.private_ip, reconcile_address: "vm.web[a]" });
    expect(inventory._meta.hostvars["web-a"]).toEqual(host);
    const targets = JSON.parse((await reconcile("output", "--format", "prometheus-sd", "--port", "9100")).stdout);
    expect(targets[1]).toMatchObject({
      targets: [`${a?.private_ip}:9100`],
      labels: { __meta_reconcile_name: "web-a" },
    });
    writeFileSync(join(place.folder, "twins.yaml"), "outputs: { web-door: one, web_door: two }\n");
    expect((await reconcile("apply", "-y", "-f", "reconcile.yaml", "-f", "twins.yaml")).exitCode).toBe(0);
    for (const [form, variable] of [
      ["env", "WEB_DOOR"],
      ["ansible", "web_door"],
    ] as const) {
      const twins = await reconcile("output", "--format", form);
      expect([twins.exitCode, twins.stderr]).toEqual([
        1,
        expect.stringContaining(`web-door and web_door would both be ${variable}`),
      ]);
    }
    const bad = await reconcile("output", "--format", "ansibel");
    expect([bad.exitCode, bad.stderr]).toEqual([1, expect.stringContaining("--format ansible")]);
    const listed = await reconcile("vm", "list");
    expect(listed.stdout).toContain(bastion?.floating_ip ?? "");
    expect((await reconcile("state", "show", "vm.bastion")).stdout).toContain(bastion?.private_ip ?? "");
  });
});

/** Ansible's own program, where this machine has it. */
const ansible = process.env["ANSIBLE_INVENTORY_BIN"] ?? "ansible-inventory";
const hasAnsible = spawnSync(ansible, ["--version"]).status === 0;
if (!hasAnsible)
  console.warn(`SKIPPED: ${ansible} is not here, so the inventory was not tried with Ansible (ANSIBLE_INVENTORY_BIN)`);

describe.skipIf(!hasAnsible)("the inventory as Ansible itself reads it", () => {
  it("lists every host in the groups of its block and its key, with its variables", async () => {
    write("[a, b]", 50);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const script = join(place.folder, "inventory.sh");
    const command = join(__dirname, "../../bin/reconcile.js");
    writeFileSync(
      script,
      `#!/bin/sh\ncd '${place.folder}' && exec '${process.execPath}' '${command}' output --format ansible "$@"\n`,
      { mode: 0o755 },
    );
    const graph = execFileSync(ansible, ["-i", script, "--graph"], { encoding: "utf8" });
    expect(graph).toContain("|--@web:\n  |  |--web-a\n  |  |--web-b\n");
    expect(graph).toContain("|--@each_a:\n  |  |--web-a\n");
    const host = JSON.parse(execFileSync(ansible, ["-i", script, "--host", "web-a"], { encoding: "utf8" }));
    expect(host).toMatchObject({
      ansible_host: vmNamed("web-a")?.private_ip,
      bastion: vmNamed("bastion-1")?.floating_ip,
      reconcile_address: "vm.web[a]",
    });
    expect(JSON.stringify(host)).not.toContain("not-for-everybody");
  });
});

it("two groups that use each other's id in a text are an error with its place, and no bug", async () => {
  place.write(`version: 1
project: acme
groups:
  aaa: { name: aaa-group, rules: [ { protocol: tcp, dst_port: 22, remote_group: bbb } ] }
  bbb: { name: bbb-group, description: "see \${group.aaa.id}" }
`);
  const ran = await place.reconcile("plan");
  expect([ran.exitCode, said(ran)]).toEqual([
    1,
    expect.stringContaining("error[plan/circle]: group.aaa and group.bbb"),
  ]);
  expect(said(ran)).toContain("group.bbb uses ${group.aaa.id}");
  expect(said(ran)).toMatch(/reconcile\.yaml:5/);
});

it("a text with the id of its own group is an error until the group exists", async () => {
  const head = "version: 1\nproject: acme\nservice: { base_url: embedded }\ngroups:\n";
  const own = `${head}  aaa: { name: aaa-own, description: "this is \${group.aaa.id}" }\n`;
  place.write(own);
  const first = await place.reconcile("apply", "-y");
  expect([first.exitCode, said(first)]).toEqual([
    1,
    expect.stringContaining("group.aaa needs itself before it exists"),
  ]);
  place.write(`${head}  aaa: { name: aaa-own }\n`);
  await place.reconcile("apply", "-y");
  place.write(own);
  expect((await place.reconcile("apply", "-y")).exitCode).toBe(0);
  expect((await place.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

it("leaves nothing of a sensitive value where a picture breaks it or spells it in its own way", async () => {
  const secret = 'hunter2&"quoted"-and-longer-than-a-line-of-a-box';
  const cwd = makeFolder({
    "reconcile.yaml": `version: 1
project: acme
region: in-west-1
service: { base_url: embedded, timing: { poll_interval: 5ms } }
vars: { pw: { sensitive: true }, flavor: { default: m1.small } }
vms:
  one:
    { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: "\${var.flavor}", size: 10, lifecycle:
      { verify_resize: { timeout: 10ms, check: { http: "http://127.0.0.1:9/?p=\${var.pw}" } } } }
`,
  });
  const env = { RECONCILE_VAR_pw: secret };
  const first = await runCli(["apply", "-y", "--time-scale", "0"], { cwd, env });
  expect(first.exitCode, first.stderr).toBe(0);
  for (const format of ["mermaid", "dot", "svg"]) {
    const args = ["graph", "--plan", "--var", "flavor=m1.large", "--format", format];
    const { stdout, stderr } = await runCli(args, { cwd, env });
    expect(stdout, stderr).toContain("check");
    expect(stdout).not.toContain("hunter2");
  }
  // A saved plan is shown and applied where nobody gives the variable.
  const sealed = { RECONCILE_STATE_KEY: "a key of the plans", RECONCILE_STATE_ENCRYPTION: "optional" };
  const planned = await runCli(["plan", "--var", "flavor=m1.large", "--out", "p.plan.json"], {
    cwd,
    env: { ...env, ...sealed },
  });
  expect(planned.exitCode, planned.stderr).toBe(0);
  for (const args of [["show", "--steps"], ["show", "--markdown"], ["show", "--json"], ["apply"]]) {
    const { stdout, stderr } = await runCli([...args, "p.plan.json"], { cwd, env: sealed });
    expect(stdout, stderr).toContain("check");
    expect(stdout + stderr).not.toContain("hunter2");
  }
  // Nothing answers the check, so the resize is taken back.
  const again = ["apply", "-y", "--var", "flavor=m1.large", "--report", "report.html"];
  await runCli(again, { cwd, env: { ...env, ...sealed } });
  expect(readFileSync(join(cwd, "report.html"), "utf8")).not.toContain("hunter2");
});

it("leaves nothing of a sensitive value in a sentence of a rehearsal that is broken over lines", async () => {
  const words = ["hunter2", "alpha", "beta", "gamma", "delta"].map((word) => `${word}-${"x".repeat(30)}`).join(" ");
  const cwd = makeFolder({
    "reconcile.yaml": `version: 1
project: acme
region: in-west-1
service: { base_url: embedded, timing: { poll_interval: 5ms } }
vars: { pw: { sensitive: true }, flavor: { default: m1.small } }
vms:
  one:
    { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: "\${var.flavor}", size: 10, lifecycle:
      { verify_resize: { check: { command: [check, "\${var.pw}"] } } } }
`,
  });
  const env = { RECONCILE_VAR_pw: words };
  expect((await runCli(["apply", "-y", "--time-scale", "0"], { cwd, env })).exitCode).toBe(0);
  const { stdout } = await runCli(["rehearse", "--var", "flavor=m1.large"], { cwd, env });
  expect(stdout).toContain("is taken to pass");
  expect(stdout).not.toContain("hunter2");
});
