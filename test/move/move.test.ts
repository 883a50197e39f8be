import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { handOver, type Move, noteMove, type TransferSide } from "../../reconciler/engine/transfer";
import { openStateStore } from "../../reconciler/store/open";
import type { StateStore } from "../../reconciler/store/store";
import { countCampaign } from "../support/campaign-count";
import { captureCommand } from "../support/captured-command";
import { type CliOptions, jsonLines, type Ran, runCli, startCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";
import { problemsOfEvent } from "../support/schemas";
import { contentOf, stateIn } from "./moving-states";

/** Every n-th durable write of a move with its files is one at which it is killed; 1 tries all. */
const stride = Number(process.env["MOVE_PROCESS_KILL_STRIDE"] ?? 67);
const hook = resolve(__dirname, "../support/kill-at-write.cjs");

let folder: string;
let emulator: RunningEmulator;
let postgres: PostgresServer | undefined;
beforeAll(async () => {
  if (postgresMissing === undefined) postgres = await startPostgres();
});
afterAll(() => postgres?.stop());
beforeEach(async () => {
  emulator = await startEmulator({ timeScale: 0 });
});
afterEach(() => emulator.close());

const options = (project: string, env: Record<string, string> = {}): CliOptions => ({
  cwd: join(folder, project),
  env: { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: emulator.url, ...password(), ...env },
});
/** Of the PostgreSQL server, which a file may not name. */
const password = (): Record<string, string> =>
  postgres === undefined ? {} : { PGPASSWORD: new URL(postgres.url).password };
const reconcile = (project: string, args: readonly string[]): Promise<Ran> => runCli(args, options(project));
const requests = (): number => emulator.requests().log.length;

const head = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms } }
`;
const defaults = `
defaults:
  vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
`;

const tier = `# The shop: everything that a customer sees.
${head}
vars:
  env: { default: prod }   # which one
  # how large the database is
  db_size: { default: 100 }
${defaults}
vms:
  # the web tier
  web:
    for_each: [a, b]
    name: web-\${var.env}-\${each}

  # the database: ask Ann first
  db:
    name: db-\${var.env}
    size: \${var.db_size}
    # a note inside
  cache: {}

volumes:
  db-data:
    size: 100
    attach_to: db
  web-logs: { size: 5, attach_to: "web[a]" }

groups:
  web-in:
    rules:
      - { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 }
  db-in:
    rules:
      - { protocol: tcp, dst_port: 5432, remote_group: web-in }
      - { protocol: tcp, dst_port: 5433, remote_ip: "\${vm.web[*].private_ip}" }  # both of them
  cache-in:
    rules:
      - { protocol: tcp, dst_port: 6379, remote_ip: "\${vm.db.private_ip}" }

outputs:
  db_ip: \${vm.db.private_ip}

moved: [{ from: vm.database, to: vm.db }, { from: vm.front, to: vm.web }]
`;

const component = `component: 1
parameters: { count: { type: number, default: 2 }, admit: { type: list } }
vms:
  web: { for_each: "\${param.count}", name: "\${component}-web-\${each}" }
groups:
  web: { name: "\${component}-web", rules: [{ protocol: tcp, dst_port: 443, remote_ip: "\${param.admit}" }] }
outputs: { addresses: "\${vm.web[*].private_ip}" }
`;

interface Shape {
  readonly files: Readonly<Record<string, string>>;
  readonly from: string;
  readonly to: string;
  readonly args: readonly string[];
  readonly environments?: readonly string[];
  readonly says?: readonly string[];
}

/** 1,000 in the campaign. */
const howMany = Number(process.env["MOVE_RESOURCES"] ?? 120);
const many = Array.from({ length: howMany }, (_, index) => `vm-${String(index).padStart(4, "0")}`);

const shapes: Readonly<Record<string, Shape>> = {
  "a tier, to a project that is made": {
    files: { "shop/reconcile.yaml": tier },
    from: "shop",
    to: "database",
    args: ["vm.db", "volume.db-*", "group.db-in"],
    says: [
      "group.db-in reads ${group.web-in.id} from the other project",
      "group.cache-in reads ${vm.db.private_ip} from the other project",
      "var.env is copied",
      "var.db_size goes along",
    ],
  },
  "a tier, to a project that exists and has defaults of its own": {
    files: {
      "shop/reconcile.yaml": tier,
      "database/reconcile.yaml": `${head}
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.large, size: 10 } }
vms:
  other: {}
volumes: { other: { size: 5 } }
groups:
  other:
    rules: [{ protocol: tcp, dst_port: 22, remote_ip: 198.51.100.0/24 }]
`,
    },
    from: "shop",
    to: "database",
    args: ["vm.db", "volume.db-*", "group.db-in"],
    says: ["defaults.vm differ, so flavor_id is written into the blocks that go"],
  },
  "a component with all that is in it": {
    files: {
      "shop/reconcile.yaml": `${head}${defaults}
vars: { offices: { default: [198.51.100.0/24] } }
components:
  # what customers see
  front: { from: ./tier.vars.yaml, with: { count: 2, admit: "\${var.offices}" } }
groups:
  db: { name: db-in, rules: [{ protocol: tcp, dst_port: 5432, remote_ip: "\${component.front.addresses}" }] }
`,
      "shop/tier.vars.yaml": component,
    },
    from: "shop",
    to: "front",
    args: ["front/"],
    says: ["group.db reads ${component.front.addresses} from the other project"],
  },
  "two projects, joined": {
    files: {
      "shop/reconcile.yaml": `${head}${defaults}
vms: { web: { name: web-1 } }
groups:
  web: { name: web-in, rules: [] }
outputs: { web_id: "\${group.web.id}", web_ip: "\${vm.web.private_ip}" }
`,
      "whole/reconcile.yaml": `${head}${defaults}
reads: { shop: { state: ../shop/reconcile.state.json } }
groups:
  db:
    name: db-in
    rules:
      - { protocol: tcp, dst_port: 5432, remote_group: { id: "\${read.shop.web_id}" } }
      - { protocol: tcp, dst_port: 5433, remote_ip: "\${read.shop.web_ip}" }
`,
    },
    from: "shop",
    to: "whole",
    args: ["--all"],
  },
  // The name of one of them stands in the name of the folder as well. Defaults and environments use variables too.
  "three environments": {
    files: {
      "production/reconcile.yaml": `${head}${defaults.replace("ubuntu-24.04", '"${var.image}"')}
vars:
  size: { default: 10 }
  tag: { default: x }
  image: { default: ubuntu-24.04 }
  company: { default: acme }
  letter: { default: p }
environments:
  dev: { vars: { tag: d } }
  stage: { project: "\${var.company}" }
  prod: { vars: { size: 20, tag: "\${var.letter}" } }
vms:
  web: { name: "web-\${env}-\${var.tag}" }
  db: { name: "db-\${env}-\${var.tag}", size: "\${var.size}" }
groups:
  db: { name: "db-\${env}-in", rules: [{ protocol: tcp, dst_port: 5432, remote_ip: "\${vm.web.private_ip}" }] }
`,
    },
    from: "production",
    to: "database",
    args: ["vm.db", "group.db", "--env", "all"],
    says: ["image", "company", "letter"].map((name) => `var.${name} is copied`),
    environments: ["dev", "stage", "prod"],
  },
  "a block of which a key has a slash": {
    files: {
      "shop/reconcile.yaml": `${head}
groups:
  net: { for_each: { 10.0.0.0/8: one, c: two }, name: "net-\${each.value}", rules: [] }
  app: { rules: [] }
moved:
  - { from: group.old, to: "group.net[10.0.0.0/8]" }
`,
    },
    from: "shop",
    to: "net",
    args: ["group.net"],
  },
  "a third of many resources": {
    files: {
      "shop/reconcile.yaml": `${head}${defaults}
groups:
${many.map((key) => `  ${key}: { rules: [{ protocol: tcp, dst_port: 22, remote_ip: 198.51.100.0/24 }] }  # ${key}`).join("\n")}
`,
    },
    from: "shop",
    to: "third",
    args:
      howMany > 300
        ? ["group.vm-00*", "group.vm-01*", "group.vm-02*", "group.vm-030*"]
        : ["group.vm-000*", "group.vm-001*", "group.vm-002*", "group.vm-003*", "group.vm-004*", "group.vm-005*"],
  },
};

const textsIn = (path = folder): Record<string, string> =>
  Object.fromEntries(
    readdirSync(path).flatMap((name): [string, string][] => {
      const full = join(path, name);
      if (statSync(full).isDirectory()) return name === ".reconcile" ? [] : Object.entries(textsIn(full));
      return name.includes(".state.json") ? [] : [[full, readFileSync(full, "utf8")]];
    }),
  );
const stateFiles = ({ environments }: Shape): readonly string[] =>
  environments === undefined ? ["reconcile.state.json"] : environments.map((env) => `reconcile.${env}.state.json`);
const statesOf = async (shape: Shape, projects: readonly string[]): Promise<unknown[]> =>
  Promise.all(
    projects.flatMap((project) =>
      stateFiles(shape).map(async (name) => {
        const path = join(folder, project, name);
        return existsSync(path) ? contentOf(await stateIn(openStateStore(path, { environment: {} }))) : undefined;
      }),
    ),
  );
const forEach = async ({ environments }: Shape, run: (flags: readonly string[]) => Promise<void>): Promise<void> => {
  for (const env of environments ?? [undefined]) await run(env === undefined ? [] : ["--env", env]);
};
const isThere = (project: string): boolean => existsSync(join(folder, project, "reconcile.yaml"));

async function applied(shape: Shape): Promise<void> {
  folder = makeFolder(shape.files);
  for (const project of [shape.from, shape.to])
    if (isThere(project))
      await forEach(shape, async (flags) => {
        const ran = await reconcile(project, ["apply", "-y", ...flags]);
        expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
      });
}
async function plansNothing(shape: Shape): Promise<void> {
  for (const project of [shape.from, shape.to])
    if (isThere(project))
      await forEach(shape, async (flags) => {
        const plan = await reconcile(project, ["plan", "--detailed-exitcode", ...flags]);
        expect(plan.exitCode, plan.stdout + plan.stderr).toBe(0);
      });
}

describe("moved there and back", () => {
  it.each(Object.entries(shapes))("%s", async (_, shape) => {
    await applied(shape);
    const projects = [shape.from, shape.to];
    const [texts, states] = [textsIn(), await statesOf(shape, projects)];
    const sent = requests();
    const shown = await reconcile(shape.from, ["move", ...shape.args, "--to", `../${shape.to}`]);
    expect(shown, shown.stdout + shown.stderr).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("Nothing was written"),
    });
    for (const line of shape.says ?? []) expect(shown.stdout).toContain(line);
    expect(textsIn()).toEqual(texts);
    const there = await reconcile(shape.from, ["move", ...shape.args, "--to", `../${shape.to}`, "--yes"]);
    expect(there, there.stdout + there.stderr).toMatchObject({ exitCode: 0 });
    expect(textsIn()).not.toEqual(texts);
    expect(requests() - sent, "requests").toBe(0);
    await plansNothing(shape);
    const afterPlans = requests();
    // The other way: what was joined is named by what was there.
    const parts = shape.args.includes("--all") ? ["vm.web", "group.web"] : shape.args;
    const back = await reconcile(shape.to, ["move", ...parts, "--to", `../${shape.from}`, "--yes"]);
    expect(back, back.stdout + back.stderr).toMatchObject({ exitCode: 0 });
    expect(requests() - afterPlans, "requests").toBe(0);
    expect(textsIn()).toEqual(texts);
    const now = await statesOf(shape, projects);
    for (const [index, state] of states.entries())
      if (state === undefined) expect(now[index]).toMatchObject({ resources: {}, intents: {}, orphans: {} });
      else expect(now[index]).toEqual(state);
    await plansNothing(shape);
  });
});

const shopWith = (body: string): string => `${head}${defaults}${body}`;

describe("refused, and nothing is written", () => {
  const refusals: Readonly<
    Record<
      string,
      { readonly files: Shape["files"]; readonly args: readonly string[]; readonly says: readonly (string | RegExp)[] }
    >
  > = {
    "a cut through a circle names it, and what would have to move too": {
      files: {
        "shop/reconcile.yaml": shopWith(`
groups:
  one: { name: one-in, rules: [{ protocol: tcp, dst_port: 1, remote_group: two }] }
  two: { name: two-in, rules: [{ protocol: tcp, dst_port: 1, remote_group: three }] }
  three: { name: three-in, rules: [{ protocol: tcp, dst_port: 1, remote_group: one }] }
  four: { name: four-in, rules: [{ protocol: tcp, dst_port: 1, remote_group: one }] }
`),
      },
      args: ["group.one", "--to", "../other"],
      says: ["group.one -> group.two -> group.three -> group.one", "move group.three, group.two too"],
    },
    "a volume does not part from its VM": {
      files: {
        "shop/reconcile.yaml": shopWith(
          "vms: { web: { name: web-1 } }\nvolumes: { data: { size: 5, attach_to: web } }\n",
        ),
      },
      args: ["volume.data", "--to", "../other"],
      says: ["volume.data hangs on vm.web, and the cut would part them", 'attach_to: { id: "${read.NAME.OUTPUT}" }'],
    },
    "what is not declared, with the nearest that is": {
      files: { "shop/reconcile.yaml": shopWith("vms: { web: { name: web-1 } }\n") },
      args: ["vm.wbe", "--to", "../other"],
      says: ["the files declare nothing that vm.wbe means", "did you mean vm.web?"],
    },
    "an anchor of YAML, at its line": {
      files: {
        "shop/reconcile.yaml": shopWith("vms:\n  web: &web { name: web-1 }\n  app: { name: app-1 }\n"),
      },
      args: ["vm.web", "--to", "../other"],
      says: ["vm.web: it uses an anchor or an alias of YAML", /reconcile\.yaml:\d+/, "fix: write its value out"],
    },
    "an instance of a for_each": {
      files: { "shop/reconcile.yaml": shopWith("vms: { web: { for_each: [a, b], name: 'web-${each}' } }\n") },
      args: ["vm.web[a]", "--to", "../other"],
      says: ["vm.web[a] is a part of vm.web"],
    },
    "a target in which it would change": {
      files: {
        "shop/reconcile.yaml": shopWith("vms: { web: { name: web-1 } }\n"),
        "other/reconcile.yaml": `${head.replace("in-west-1", "in-south-1")}${defaults}`,
      },
      args: ["vm.web", "--to", "../other"],
      says: ["move/would-change", /would then (update|replace) vm\.web: region/],
    },
    "variables of one name that differ": {
      files: {
        "shop/reconcile.yaml": shopWith("vars: { tag: { default: a } }\nvms: { web: { name: 'web-${var.tag}' } }\n"),
        "other/reconcile.yaml": shopWith("vars: { tag: { default: b } }\nvms: { app: { name: 'app-${var.tag}' } }\n"),
      },
      args: ["vm.web", "--to", "../other"],
      says: ["both projects have the variable tag, and they differ"],
    },
    "an address that the target has": {
      files: {
        "shop/reconcile.yaml": shopWith("vms: { web: { name: web-1 } }\n"),
        "other/reconcile.yaml": shopWith("vms: { web: { name: web-2 } }\n"),
      },
      args: ["vm.web", "--to", "../other"],
      says: ["the target has a block vm.web already"],
    },
    "a setting that is wrong in a project that is made": {
      files: {
        "shop/reconcile.yaml": shopWith(
          "ssh: { jump: vm.bastion }\nvms: { web: { name: web-1 }, bastion: { name: bastion-1 } }\n",
        ),
      },
      args: ["vm.web", "--to", "../other"],
      says: ["jump names vm.bastion, which is not declared", "as it would be after the move, and nothing was written"],
    },
    itself: {
      files: { "shop/reconcile.yaml": shopWith("vms: { web: { name: web-1 } }\n") },
      args: ["vm.web", "--to", "."],
      says: ["is the project itself"],
    },
  };
  it.each(Object.entries(refusals))("%s", async (_, { files, args, says }) => {
    await applied({ files, from: "shop", to: "other", args });
    const texts = textsIn();
    const states = await statesOf({ files, from: "", to: "", args }, ["shop", "other"]);
    const sent = requests();
    const ran = await reconcile("shop", ["move", ...args, "--yes"]);
    expect(ran.exitCode, ran.stdout).toBe(1);
    for (const line of says)
      expect(ran.stderr).toMatch(
        typeof line === "string" ? new RegExp(line.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")) : line,
      );
    expect(textsIn()).toEqual(texts);
    expect(await statesOf({ files, from: "", to: "", args }, ["shop", "other"])).toEqual(states);
    expect(requests()).toBe(sent);
  });
});

it("from several files with other line ends, with a rollout and what must be reachable, and as JSON", async () => {
  const shape = {
    files: {
      "shop/a.yaml": `${head}${defaults}vars: { tag: { default: x } }\n`,
      "shop/b.yaml":
        'vms:\r\n  # web\r\n  web: { name: "web-${var.tag}" }\r\n  # db\r\n  db:\r\n    name: "db-${var.tag}"\r\n',
      "shop/c.yaml": `groups:
  db-in: { rules: [{ protocol: tcp, dst_port: 1, remote_ip: "\${vm.web.private_ip}" }] }
rollout:
  waves: { of: [vm.db], canary: 1 }
reachability:
  - never: { from: 0.0.0.0/0, to: group.db-in, tcp: "22" }
`,
    },
    from: "shop",
    to: "database",
    args: ["vm.db", "group.db-in"],
  };
  folder = makeFolder(shape.files);
  expect((await reconcile("shop", ["apply", ".", "-y"])).exitCode).toBe(0);
  const texts = textsIn();
  const shown = await reconcile("shop", ["move", ...shape.args, "-f", ".", "--to", "../database/db.yaml", "--json"]);
  const lines = jsonLines(shown.stdout);
  expect(lines.map(({ type, address }) => [type, address])).toEqual([
    ["move", "group.db-in"],
    ["move", "vm.db"],
    ["summary", undefined],
  ]);
  expect(lines.map(problemsOfEvent).filter((problem) => problem !== "")).toEqual([]);
  const moved = await reconcile("shop", ["move", ...shape.args, "-f", ".", "--to", "../database/db.yaml", "--yes"]);
  expect(moved, moved.stderr).toMatchObject({ exitCode: 0 });
  const made = readFileSync(join(folder, "database/db.yaml"), "utf8");
  expect(made).not.toContain("\r");
  expect(made).toContain("  shop: { state: ../shop/reconcile.state.json }\n");
  expect(made).toContain("rollout:\n  waves: { of: [vm.db], canary: 1 }\n");
  expect(readFileSync(join(folder, "shop/b.yaml"), "utf8")).toBe(
    'vms:\r\n  # web\r\n  web: { name: "web-${var.tag}" }\r\n',
  );
  expect((await reconcile("shop", ["plan", ".", "--detailed-exitcode"])).exitCode).toBe(0);
  expect((await reconcile("database", ["plan", "db.yaml", "--detailed-exitcode"])).exitCode).toBe(0);
  const back = await reconcile("database", ["move", ...shape.args, "-f", "db.yaml", "--to", "../shop", "--yes"]);
  expect(back, back.stderr).toMatchObject({ exitCode: 0 });
  expect(textsIn()).toEqual(texts);
});

it("an output that is read of the other project goes with the rest", async () => {
  folder = makeFolder({
    "shop/reconcile.yaml": `${head}groups: { web: { name: web-in }, app: { name: app-in } }\noutputs: { web: "\${group.web.id}" }\n`,
  });
  for (const args of [
    ["apply", "-y"],
    ["move", "group.web"],
    ["move", "--all"],
  ]) {
    const ran = await reconcile("shop", args[0] === "move" ? [...args, "--to", "../whole", "--yes"] : args);
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  }
  expect((await reconcile("whole", ["plan", "--detailed-exitcode"])).exitCode).toBe(0);
});

it("to a project in YAML and back from one line of JSON", async () => {
  const vm = { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: "m1.small", size: 10 };
  const beginning = { version: 1, project: "acme", region: "in-west-1", defaults: { vm } };
  const blocks = { vms: { a: { name: "aaa" }, b: { name: "bbb" } }, volumes: { va: { size: 5, attach_to: "a" } } };
  folder = makeFolder({
    "shop/reconcile.yaml": `${JSON.stringify({ ...beginning, ...blocks })}\n`,
    "other/reconcile.yaml": `${JSON.stringify(beginning)}\n`,
  });
  const read = (project: string) => readFileSync(join(folder, project, "reconcile.yaml"), "utf8");
  expect((await reconcile("shop", ["apply", "-y"])).exitCode).toBe(0);
  for (const [from, to] of [
    ["shop", "database"],
    ["database", "shop"],
    ["shop", "other"],
  ] as const) {
    const moved = await reconcile(from, ["move", "vm.a", "volume.va", "--to", `../${to}`, "--yes"]);
    expect(moved, moved.stderr).toMatchObject({ exitCode: 0 });
    if (to === "database")
      expect(read("database")).toContain('vms:\n  "a": {"name":"aaa"}\n\nvolumes:\n  "va": {"size":5');
  }
  expect(JSON.parse(read("shop"))).toEqual({ ...beginning, vms: { b: blocks.vms.b }, volumes: {} });
  expect(JSON.parse(read("other"))).toEqual({ ...beginning, vms: { a: blocks.vms.a }, volumes: blocks.volumes });
});

it.each([
  ["a project", []],
  ["a component", ["--into", "data/"]],
] as const)("files are found from %s to which their names go, and where their names stay", async (_, into) => {
  const files = {
    "shop/reconcile.yaml": `${head.replace("timing", "dialect: its.dialect.yaml, timing")}
prices: prices.yaml
vars: { tag: {}, mount: { default: ./mount.sh } }
environments: { a: { vars_file: vars/a.yaml } }
policy: { command: [checks/policy.sh] }
ssh: { identity_file: keys/id }
${defaults.replace(" }", ', after_attach: { command: [sh, "${var.mount}", ./tasks] } }')}
vms:
  web: { name: "web-\${var.tag}" }
  db: { name: "db-\${var.tag}", after_ready: { command: [sh, play.sh, ./tasks, none.sh] } }
`,
    "shop/vars/a.yaml": "tag: one\n",
    "shop/its.dialect.yaml": "limits: { connections: 20 }\n",
    "shop/prices.yaml": "{ currency: EUR, per: month, vm: { m1.small: 10 } }\n",
    "shop/keys/id": "",
    "shop/checks/policy.sh": "#!/bin/sh\nexit 0\n",
    "shop/play.sh": 'test "$2" = none.sh && test -d "$1"\n',
    "shop/mount.sh": 'test -d "$1"\n',
    "shop/tasks/one": "",
  };
  const shape = { files, from: "shop", to: "database", args: ["vm.db"], environments: ["a"] };
  folder = makeFolder(files);
  chmodSync(join(folder, "shop/checks/policy.sh"), 0o755);
  const run = async (project: string, ...args: string[]): Promise<void> => {
    const ran = await reconcile(project, [...args, "--env", "a"]);
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  };
  await run("shop", "apply", "-y");
  await run("shop", "move", "vm.db", "--to", "../database", ...into, "--yes");
  expect(readFileSync(join(folder, "shop/reconcile.yaml"), "utf8")).toBe(
    files["shop/reconcile.yaml"].replace(/^ {2}db: .*\n/m, ""),
  );
  const made = readFileSync(join(folder, "database/reconcile.yaml"), "utf8");
  for (const name of ["its.dialect.yaml", "prices.yaml", "checks/policy.sh", "keys/id", "vars/a.yaml"])
    expect(made).toContain(`../shop/${name}`);
  await plansNothing(shape);
  await run("database", "apply", "-y", "--owe", into.length === 0 ? "vm.db" : "data/vm.db");
});

describe("into a component of the target", () => {
  const cases: Readonly<Record<string, { readonly files: Shape["files"]; readonly has: RegExp }>> = {
    "that is made": { files: { "shop/reconcile.yaml": tier }, has: /parameters:\n {2}env: \{\}\n/ },
    "that is there": {
      files: {
        "shop/reconcile.yaml": tier,
        "database/reconcile.yaml": `${head}${defaults}
components:
  data: { from: ./components/data.yaml, with: { size: 5 } }
`,
        "database/components/data.yaml": `component: 1
parameters: { size: {} }
vms:
  # the first one
  first: { name: first-db, size: "\${param.size}" }
`,
      },
      has: /# the first one\n {2}first: .*\n\n? {2}# the database: ask Ann first\n {2}db:/,
    },
    "that has what comes with it already": {
      files: {
        "shop/reconcile.yaml": tier,
        "database/reconcile.yaml": `${head}${defaults}
vars:
  env: { default: prod }
components: { data: { from: ./components/data.yaml, with: { env: "\${var.env}" } } }
`,
        "database/components/data.yaml": `component: 1
parameters: { env: {} }
vms:
  first: { name: "first-\${param.env}" }
`,
      },
      has: /parameters: \{ env: \{\}, db_size: \{\}, /,
    },
  };
  it.each(Object.entries(cases))("%s", async (_, { files, has }) => {
    const args = ["vm.db", "volume.db-*", "group.db-in"];
    const shape = { files, from: "shop", to: "database", args };
    await applied(shape);
    const sent = requests();
    const moved = await reconcile("shop", ["move", ...args, "--to", "../database", "--into", "data/", "--yes"]);
    expect(moved, moved.stdout + moved.stderr).toMatchObject({ exitCode: 0 });
    expect(requests()).toBe(sent);
    expect(readFileSync(join(folder, "database/components/data.yaml"), "utf8")).toMatch(has);
    await plansNothing(shape);
    const list = await reconcile("database", ["state", "list"]);
    for (const address of ["data/group.db-in", "data/vm.db", "data/volume.db-data"])
      expect(list.stdout).toContain(address);
    const shop = await reconcile("shop", ["state", "list"]);
    expect(shop.stdout).not.toContain("vm.db");
  });

  it("refuses one that is made once for each key", async () => {
    const args = ["vm.web", "--to", "../other", "--into", "data/"];
    const files = {
      "shop/reconcile.yaml": shopWith("vms: { web: { name: web-1 } }\n"),
      "other/reconcile.yaml": shopWith("components: { data: { for_each: [a, b], from: ./data/d.yaml } }\n"),
      "other/data/d.yaml": "component: 1\ngroups: { in: { name: '${component}-in', rules: [] } }\n",
    };
    await applied({ files, from: "shop", to: "other", args });
    const texts = textsIn();
    const ran = await reconcile("shop", ["move", ...args, "--yes"]);
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("the component data has a for_each") });
    expect(textsIn()).toEqual(texts);
  });
});

it("one environment at a time: the files go with the first, and the states each by itself", async () => {
  const shape = shapes["three environments"]!;
  await applied(shape);
  const parts = ["vm.db", "group.db", "--to", "../database", "--yes"];
  const others = "until the same command has run with --env all, both projects plan there to delete what went";
  for (const env of ["dev", "stage", "all"]) {
    const moved = await reconcile(shape.from, ["move", ...parts, "--env", env]);
    expect(moved, moved.stdout + moved.stderr).toMatchObject({ exitCode: 0 });
    expect(moved.stdout.includes(`the files are those of stage and prod too: ${others}`)).toBe(env === "dev");
    expect(moved.stdout.includes("planned before, except in stage and prod.")).toBe(env === "dev");
  }
  await plansNothing(shape);
});

describe("a file that is written on meanwhile", () => {
  const shape = shapes["a tier, to a project that exists and has defaults of its own"]!;
  const args = ["move", ...shape.args, "--to", "../database", "--yes"];
  const file = () => join(folder, "shop", "reconcile.yaml");
  const noted = "# somebody's note\n";

  it("while the move waits for a lock: nothing is moved, and the next try moves it with the note", async () => {
    await applied(shape);
    const [texts, states] = [textsIn(), await statesOf(shape, ["shop", "database"])];
    const store = openStateStore(join(folder, "database", "reconcile.state.json"), { environment: {} });
    const since = new Date().toISOString();
    const held = await store.lock({ who: "ann", host: hostname(), pid: process.pid, since, command: "apply" });
    const waiting = startCli([...args, "--lock-timeout", "60s"], options("shop"));
    await waiting.says("that it waits", ({ stderr }) => (stderr.includes("Waiting") ? true : undefined));
    appendFileSync(file(), noted);
    await held.release();
    const ran = await waiting.finished;
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("state/moved-on") });
    expect(textsIn()).toEqual({ ...texts, [file()]: `${texts[file()]}${noted}` });
    expect(await statesOf(shape, ["shop", "database"])).toEqual(states);
    const again = await reconcile("shop", args);
    expect(again, again.stdout + again.stderr).toMatchObject({ exitCode: 0 });
    expect(readFileSync(file(), "utf8")).toContain(noted);
    await plansNothing(shape);
  });

  it("when the records are moved already: put back as it was, the same command goes on", async () => {
    await applied(shape);
    const before = readFileSync(file(), "utf8");
    const late = join(folder, "late.cjs");
    writeFileSync(
      late,
      `const fs = require("node:fs");
const { fdatasync } = fs;
let isDone = false;
fs.fdatasync = (descriptor, done) => fdatasync(descriptor, (error) => {
  const texts = fs.readdirSync(".").filter((name) => name.includes(".state.json")).map((name) => fs.readFileSync(name, "utf8"));
  if (!isDone && texts.some((text) => text.includes('"gave"'))) {
    isDone = true;
    fs.appendFileSync("reconcile.yaml", ${JSON.stringify(noted)});
  }
  done(error);
});
`,
    );
    const ran = await runCli(args, options("shop", { NODE_OPTIONS: `--require ${late}` }));
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("state/half-moved") });
    writeFileSync(file(), before);
    const again = await reconcile("shop", args);
    expect(again, again.stdout + again.stderr).toMatchObject({ exitCode: 0 });
    await plansNothing(shape);
  });
});

it("killed at a durable write, files and states end in one of two worlds with the next runs", async () => {
  const shape = shapes["a tier, to a project that exists and has defaults of its own"]!;
  await applied(shape);
  const start = folder;
  const copy = (): void => {
    folder = makeFolder();
    cpSync(start, folder, { recursive: true });
  };
  const args = ["move", ...shape.args, "--to", "../database", "--yes"];
  copy();
  const counted = join(folder, "..", `writes-${process.pid}`);
  await startCli(args, options("shop", { NODE_OPTIONS: `--require ${hook}`, COUNT_WRITES: counted })).finished;
  const count = Number(readFileSync(counted, "utf8"));
  rmSync(counted);
  expect(count).toBeGreaterThan(30);
  const strip = (texts: Record<string, string>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([path, text]) => [path.slice(folder.length), text]));
  const moved = strip(textsIn());
  folder = start;
  const before = strip(textsIn());
  let [tried, violations] = [0, 0];
  for (let nth = 1; nth <= count; nth += stride)
    for (const project of ["shop", "database"]) {
      copy();
      const killed = startCli(
        args,
        options("shop", { NODE_OPTIONS: `--require ${hook}`, KILL_AT_WRITE: `${nth}:after` }),
      );
      await killed.finished;
      if (killed.child.signalCode !== "SIGKILL") continue;
      tried++;
      const sent = emulator.requests().log.filter(({ method }) => method !== "GET").length;
      for (const next of [project, project === "shop" ? "database" : "shop"]) {
        const ran = await reconcile(next, ["apply", "-y"]);
        expect(ran.exitCode, `write ${nth}, ${next} of ${project}: ${ran.stdout}${ran.stderr}`).toBe(0);
      }
      const texts = strip(textsIn());
      const [shop, database] = await Promise.all(
        ["shop", "database"].map((one) =>
          stateIn(openStateStore(join(folder, one, "reconcile.state.json"), { environment: {} })),
        ),
      );
      const managed = [...shop!.resources.keys(), ...database!.resources.keys()].filter((one) => one === "vm.db");
      const isWhole =
        JSON.stringify(texts) === JSON.stringify(moved) || JSON.stringify(texts) === JSON.stringify(before);
      const isSent = emulator.requests().log.filter(({ method }) => method !== "GET").length !== sent;
      if (managed.length !== 1 || !isWhole || isSent || shop!.moves !== undefined || database!.moves !== undefined)
        violations++;
      await plansNothing(shape);
    }
  countCampaign("moves with their files, killed at a durable write", tried, violations);
  expect(tried).toBeGreaterThan(0);
  expect(violations).toBe(0);
});

/** Nothing that is given is let go: the process was killed before that. */
const keeping = (store: StateStore): StateStore => ({
  ...store,
  lock: async (...args) => ({
    ...(await store.lock(...args)),
    append: () => Promise.reject(new Error("killed")),
    replace: () => Promise.reject(new Error("killed")),
  }),
});

it.each([
  ["noted alone", noteMove, "Took back", ["group.web"]],
  [
    "taken and not let go",
    async (move: Move) => {
      await noteMove(move);
      const { giving, taking } = move.sides;
      const cut = handOver({ ...move, sides: { giving: { ...giving, store: keeping(giving.store) }, taking } });
      await expect(cut).rejects.toThrow("killed");
    },
    "Finished",
    ["group.db", "group.web"],
  ],
] as const)(
  "a move of all environments first ends one of an environment that was cut off: %s",
  async (_, cutOff, says, taken) => {
    vi.stubEnv("RECONCILE_TOKEN", "ops-token");
    folder = makeFolder({
      "shop/reconcile.yaml": `${head}environments: { dev: {}, prod: {} }
groups:
  db: { name: "db-\${env}", rules: [] }
  web: { name: "web-\${env}", rules: [] }
`,
      "database/notes.txt": "",
    });
    const files = ["-f", join(folder, "shop/reconcile.yaml"), "--base-url", emulator.url];
    for (const env of ["dev", "prod"])
      expect(await captureCommand(["apply", "-y", "--env", env, ...files])).toMatchObject({ exitCode: 0 });
    const side = (project: string): TransferSide => ({
      store: openStateStore(join(folder, project, "reconcile.prod.state.json"), { environment: {} }),
      shown: `../${project}/reconcile.prod.state.json`,
    });
    const sides = { giving: side("shop"), taking: side("database") };
    const at = "2026-05-04T00:00:00.000Z";
    const holder = { who: "ann", host: hostname(), pid: process.pid, since: at, command: "state mv" };
    const decide = () => ({ addresses: { "group.db": "group.db" } });
    await cutOff({ id: "cut-off", at, by: "ann on here", sides, holder, lineage: () => "lineage-new", decide });
    const to = ["--to", join(folder, "database"), "--yes", "--env", "all"];
    const moved = await captureCommand(["move", "group.web", ...to, ...files]);
    expect(moved, moved.text).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining(`${says} the move of 1 resource between ${sides.giving.store.location}`),
    });
    const [shop, database] = await Promise.all([stateIn(sides.giving.store), stateIn(sides.taking.store)]);
    expect([...database.resources.keys()]).toEqual(taken);
    expect([...shop.resources.keys()]).toEqual(["group.db"].filter((one) => !database.resources.has(one)));
    expect([shop.moves, database.moves]).toEqual([undefined, undefined]);
  },
);

it("environments of services of their own are moved each with its own, and never to another one", async () => {
  vi.stubEnv("RECONCILE_TOKEN", "ops-token");
  const prod = await startEmulator({ timeScale: 0 });
  const of = (dev: string, live: string) => `${head}environments:
  dev: { service: { base_url: "${dev}" } }
  prod: { service: { base_url: "${live}" } }
`;
  try {
    const shop = `${of(emulator.url, prod.url)}groups:\n  db: { name: db-in, rules: [] }\n  web: { name: web-in, rules: [] }\n`;
    folder = makeFolder({
      "shop/reconcile.yaml": shop,
      "database/reconcile.yaml": of(emulator.url, emulator.url),
    });
    const files = ["-f", join(folder, "shop/reconcile.yaml")];
    for (const env of ["dev", "prod"])
      expect(await captureCommand(["apply", "-y", "--env", env, ...files])).toMatchObject({ exitCode: 0 });
    const move = () =>
      captureCommand(["move", "group.db", "--to", join(folder, "database"), "--yes", "--env", "all", ...files]);
    // A pipeline passes a variable that nobody has set on as an empty one.
    for (const unset of [undefined, ""]) {
      vi.stubEnv("RECONCILE_BASE_URL", unset);
      expect(await move()).toMatchObject({
        exitCode: 1,
        text: expect.stringContaining(`different services in prod: ${prod.url} and ${emulator.url}`),
      });
    }
    writeFileSync(join(folder, "database/reconcile.yaml"), of(emulator.url, prod.url));
    const moved = await move();
    expect(moved, moved.text).toMatchObject({ exitCode: 0, text: expect.stringContaining("1 resource of prod") });
  } finally {
    await prod.close();
  }
});

it("from a file to PostgreSQL, and the plan of both says nothing to do", async () => {
  if (postgres === undefined) return;
  const url = new URL(postgres.url);
  url.password = "";
  const shape = {
    files: {
      "shop/reconcile.yaml": tier,
      "database/reconcile.yaml": `${head}state: "${url.toString()}?state=database"\n${defaults}groups:\n  other: { name: other-in, rules: [] }\n`,
    },
    from: "shop",
    to: "database",
    args: ["vm.db", "volume.db-*", "group.db-in"],
  };
  await applied(shape);
  const moved = await reconcile("shop", ["move", ...shape.args, "--to", "../database", "--yes"]);
  expect(moved, moved.stdout + moved.stderr).toMatchObject({ exitCode: 0 });
  await plansNothing(shape);
});
