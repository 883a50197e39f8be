/** A fleet in a database of this process, without workers, that shows everything a page may have to show. */

import { join } from "node:path";
import { vi } from "vitest";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import { hashOf, type Role } from "../../reconciler/fleet/access";
import type { Database } from "../../reconciler/fleet/database/database";
import { openDatabase } from "../../reconciler/fleet/database/open";
import { createRecords, type Records } from "../../reconciler/fleet/database/records";
import type { StartedRun } from "../../reconciler/fleet/database/runs";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import type { PlanFacts } from "../../reconciler/fleet/decide";
import { mayRead } from "../../reconciler/fleet/may-read";
import { noSettings, type StackSpec } from "../../reconciler/fleet/model";
import { type Picture, pictureDigest } from "../../reconciler/fleet/picture";
import type { Planned } from "../../reconciler/fleet/project";
import type { Queue } from "../../reconciler/fleet/queue";
import { newStatus, type Status } from "../../reconciler/fleet/status";
import { makeFolder } from "./folder";
import { postgresMissing, startPostgres } from "./postgres-server";

/** A run that has to begin. */
export async function beginRun(
  records: Records,
  run: { readonly stack: string; readonly worker: string; readonly cause?: string; readonly status?: Status },
): Promise<StartedRun> {
  const begun = await records.startRun({ cause: "interval", status: newStatus, ...run });
  if ("held" in begun) throw new Error(`${run.stack} is held: ${begun.held}`);
  return begun;
}

/** A new database: that of a server where there is one on this machine, which works less than one in this process. */
export async function newDatabase(): Promise<Database> {
  if (postgresMissing !== undefined) return openDatabase("embedded", makeFolder());
  const server = await startPostgres();
  const database = await openDatabase(server.url, makeFolder());
  const close = async (): Promise<void> => {
    await database.close();
    await server.stop();
  };
  return { ...database, close };
}

/** What a fleet keeps there. */
export async function recordsOn(
  database: Database,
): Promise<{ readonly database: Database; readonly records: Records }> {
  await prepareTables(database);
  return { database, records: createRecords(database) };
}
export const newRecords = async () => recordsOn(await newDatabase());

/** Nothing comes to it. */
export const idleQueue: Queue = {
  enqueue: async () => undefined,
  hasten: async () => undefined,
  hastenAll: async () => undefined,
  tend: async () => undefined,
  maintain: async () => undefined,
  forget: async () => undefined,
  work: async () => undefined,
  load: async () => [
    { tenant: "payments", waiting: 3, running: 2 },
    { tenant: "default", waiting: 0, running: 1 },
  ],
  behind: async () => [],
  unserved: async () => [],
  take: () => undefined,
  wake: () => undefined,
  drain: async () => undefined,
  close: async () => undefined,
};

/** A plan of one step that needs nobody. */
export const planFacts: PlanFacts = {
  digest: "p",
  empty: false,
  steps: 1,
  consents: [],
  opens: [],
  drifted: [],
  leases: true,
  wish: "w",
};

export const markup = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>"'&`;

export const stackSpec = (name: string, more: Partial<StackSpec> = {}): StackSpec => ({
  name,
  source: { kind: "git", url: "https://git.example/infra", ref: "main", path: name },
  service: "in-west",
  tenant: "default",
  approve: "safe",
  consents: [],
  intervalMs: 600_000,
  retry: { firstMs: 30_000, maxMs: 3_600_000, giveUpAfter: 8 },
  state: `postgres://fleet@db.example/fleet?state=${name}`,
  vars: {},
  varFiles: [],
  inputs: {},
  dependsOn: [],
  destroy: false,
  paused: false,
  ...more,
});

const picture: Picture = {
  asOf: "looked",
  left: 0,
  orphans: {
    lines: [`volume shop-old (0a1b), 20 GB, its VM was replaced ${markup}`],
    cost: "Cost of what is left behind: 2.40 EUR a month",
  },
  graph: {
    title: "What there is",
    description: "vm.web in the group group.web; volume.data hangs on vm.web",
    nodes: [
      { id: "group.web", head: "group.web", lines: ["2 rules"], tone: "group" },
      { id: "vm.web", head: "vm.web", lines: ["m1.small", markup], tone: "vm" },
      { id: "volume.data", head: "volume.data", lines: ["20 GB"], tone: "volume" },
    ],
    edges: [
      { from: "vm.web", to: "volume.data" },
      { from: "group.web", to: "vm.web", label: "tcp 443" },
    ],
  },
  sides: [
    {
      address: "group.web",
      kind: "group",
      action: "update",
      because: "the service shows a rule that the file does not have",
      live: "seen",
      rows: [
        { field: "name", desired: "shop-web", live: "shop-web" },
        { field: "description", desired: "the shop", live: markup, differs: true },
        {
          field: "rule",
          desired: "ingress tcp 443 from anywhere (IPv4)",
          live: "ingress tcp 443 from anywhere (IPv4)",
        },
        { field: "rule", live: "ingress tcp 22 from anywhere (IPv4)", differs: true },
      ],
    },
    {
      address: "vm.web",
      kind: "vm",
      live: "seen",
      rows: [
        { field: "name", desired: "shop-web-1", live: "shop-web-1" },
        { field: "flavor_id", desired: "m1.small", live: "m1.small" },
        { field: "root_size", desired: "50 GB", live: "50 GB", recorded: true },
        { field: "power", live: "ACTIVE" },
      ],
    },
    {
      address: "volume.data",
      kind: "volume",
      action: "replace",
      because: "changed in reconcile.yaml:12",
      live: "seen",
      rows: [
        { field: "name", desired: "shop-data-2", live: "shop-data", differs: true },
        { field: "size", desired: "20 GB", live: "20 GB" },
        { field: "attach_to", desired: "vm.web", live: "vm.web" },
      ],
    },
  ],
};

const planBody = {
  text: `Plan:\n\n  ± volume.data  replaced: its data is lost\n      changed (reconcile.yaml:12)\n      name          shop-data → shop-data-2 (forces the replacement)\n  ~ group.web  update\n      - rule ingress tcp 22 from anywhere (IPv4)\n\n1 to replace, 1 to update. ${markup}`,
  consents: [{ detail: "volume.data loses its data", grant: "--allow-data-loss" }],
  opens: [],
  why: "volume.data loses its data",
  exposure: "  - 0.0.0.0/0 reaches vm.web on tcp 22\n  = 0.0.0.0/0 reaches vm.web on tcp 443",
  graph: {
    title: "Plan",
    description: "Two steps",
    nodes: [
      { id: "1", head: "volume.data", lines: ["create the new one"], tone: "create" as const },
      { id: "2", head: "volume.data", lines: ["delete the old one"], tone: "danger" as const },
    ],
    edges: [{ from: "1", to: "2" }],
  },
};

export const planDigest = "0123456789abcdef-0a1b2c3d";

const stood = (more: Partial<Status>): Status => ({
  ...newStatus,
  reason: null,
  observedRevision: "6f1c0e8f4c1de2a9",
  appliedRevision: "6f1c0e8f4c1de2a9",
  ...more,
});

/** One stack for each condition, and some whose names and texts are markup. */
const stacks: readonly (readonly [
  spec: StackSpec,
  status: Status,
  result: "in_sync" | "applied" | "failed" | "awaiting_approval" | "blocked",
])[] = [
  [stackSpec("prod-network", { tenant: "payments" }), stood({ ready: true }), "in_sync"],
  [
    stackSpec("prod-shop", { tenant: "payments", dependsOn: ["prod-network"], approve: "plan" }),
    stood({ awaitingApproval: true, plan: planDigest, reason: "volume.data loses its data" }),
    "awaiting_approval",
  ],
  [stackSpec("prod-mail", { tenant: "payments", dependsOn: ["prod-network"] }), stood({ ready: true }), "applied"],
  [
    stackSpec("lab-broken"),
    stood({
      stalled: true,
      failures: 8,
      reason: `reconcile.yaml:2 the key groops is not known here: write groups ${markup}`,
    }),
    "failed",
  ],
  [
    stackSpec("lab-drifted", { approve: "never" }),
    stood({ drifted: true, reason: "vm.web differs from what was applied, and is left so (approve: never)" }),
    "in_sync",
  ],
  [
    stackSpec("lab-held"),
    stood({
      blocked: true,
      reason: "a deny window is open until 2026-11-23T06:00:00.000Z",
      waitingFor: { what: "window", detail: "0 18 * * 5" },
    }),
    "blocked",
  ],
  [stackSpec(`evil-${markup}`, { tenant: "default", service: markup }), stood({ ready: true }), "applied"],
];

export const people: Readonly<Record<string, { role: Role; stacks: readonly string[] }>> = {
  vera: { role: "viewer", stacks: ["prod-*"] },
  ann: { role: "approver", stacks: [] },
  otto: { role: "operator", stacks: [] },
};
export const tokenOf = (name: string): string => `stage-token-of-${name}`;

export async function fillFleet(database: Database): Promise<Records> {
  const records = createRecords(database);
  await records.saveSettings({
    ...noSettings,
    services: [
      { name: "in-west", baseUrl: "https://cloud.example", insecureHttp: false, budget: { perSecond: 50, burst: 10 } },
      {
        name: "in-north",
        baseUrl: "https://north.example",
        insecureHttp: false,
        budget: { perSecond: 20, burst: 20 },
        concurrency: 5,
      },
    ],
    tenants: [{ name: "payments", weight: 2, maxRunning: 8 }],
  });
  for (const [spec, status, result] of stacks) {
    await records.saveStacks([spec]);
    const run = await beginRun(records, { stack: spec.name, worker: `worker-${markup}:1`, status });
    await records.finishRun(
      run.id,
      { result, reason: status.reason, counts: { update: result === "in_sync" ? 0 : 2 } },
      status,
      new Date(Date.now() + 300_000),
    );
  }
  await records.pauseStack("prod-mail", true);
  await records.saveOutputs("prod-network", { db_group: "sg-1", note: markup }, {});
  for (const name of ["prod-shop", "prod-network"]) await records.savePicture(name, pictureDigest(picture), picture);
  await records.savePlan("prod-shop", { digest: planDigest, revision: "r", body: planBody });
  await records.beat({
    name: "worker-1:4711",
    version: "0.1.0",
    concurrency: 8,
    doing: [{ stack: "prod-shop", since: new Date().toISOString() }],
    draining: false,
    services: [],
    troubles: [],
  });
  await records.beat({
    name: markup,
    version: "0.1.0",
    concurrency: 8,
    doing: [],
    draining: true,
    services: [],
    troubles: [],
  });
  await database.query(
    "UPDATE reconcile_fleet.budgets SET used = 4711, refusals = 3, paused_until = now() + interval '1 hour' WHERE service = 'in-north'",
  );
  await records.note({ who: markup, what: "sync", stack: "prod-shop", detail: markup });
  for (const [name, { role, stacks: patterns }] of Object.entries(people))
    await records.addToken({ hash: hashOf(tokenOf(name)), name, role, stacks: patterns });
  return records;
}

/* A stack in a fleet of several tenants, planned in this process: what the plan says, or why there is none. */

const never = new AbortController().signal;

interface Stacked {
  /** The address that the fleet's file says. */
  readonly service?: string | undefined;
  /** Left out: its tenant is not trusted. */
  readonly isClosed?: boolean;
  readonly readsAnything?: true;
}

export async function planStack(
  folder: string,
  { service, isClosed = true, readsAnything }: Stacked,
): Promise<Planned> {
  const spec = stackSpec("shop", { source: { kind: "folder", folder }, state: join(folder, "state.json") });
  const open = createProjectOpener({ cache: makeFolder() });
  const project = await open({
    stack: spec,
    checkout: { folder, root: folder, revision: "r", content: "c" },
    inputs: {},
    destroy: false,
    worker: "w",
    ...(isClosed ? { closedBy: "a fleet of several tenants" } : {}),
    signal: never,
    ...(service === undefined ? {} : { service: { name: "here", baseUrl: service, insecureHttp: false } }),
    mayRead: async (location) => (readsAnything === true ? { state: location } : mayRead(location, spec, {}, [])),
    siblings: async () => [],
  });
  try {
    return await project.plan(never);
  } finally {
    await project.close();
  }
}

export async function planClosed(folder: string, service: string | undefined, token: string): Promise<string> {
  vi.stubEnv("RECONCILE_TOKEN", token);
  try {
    const { body, errors } = await planStack(folder, { service });
    return [body.text, ...errors].join("\n");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    vi.unstubAllEnvs();
  }
}
