/**
 * What becomes of triggers, approvals, outputs and secrets in a fleet that works: real processes, a real PostgreSQL, a
 * repository with a git that counts. The sizes here are those of CI; the whole ones are `npm run campaign:fleet`.
 */
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { jsonLines, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { type FleetStage, openFleetStage, stageToken } from "../support/fleet-processes";
import { postgresMissing, postgresPassword } from "../support/postgres-server";
import { problemsOfEvent } from "../support/schemas";
import { readDump } from "../support/world-shape";

const sizeOf = (name: string, small: number): number => Number(process.env[name] ?? small);
const secrets = {
  RECONCILE_STATE_KEY: "canary-state-key-0123456789abcdef",
  HERE_TOKEN: stageToken,
  HOOK_SECRET: "canary-hook-53cr3t-value",
  RECONCILE_FLEET_GITHUB_SECRET: "canary-github-53cr3t",
};
const sensitive = "canary-sensitive-0utput";

const group = (name: string, port: number, from = "198.51.100.0/24"): string => `version: 1
project: acme
groups:
  web: { name: ${name}, rules: [ { protocol: tcp, dst_port: ${port}, remote_ip: ${from} } ] }
`;

describe.skipIf(postgresMissing !== undefined)("a fleet at work", () => {
  const folders = Array.from({ length: sizeOf("FLEET_PUSH_STACKS", 9) }, (_, index) => `repo-${index}`);
  const changed = Array.from({ length: sizeOf("FLEET_CHANGES", 8) }, (_, index) => `gen-${index}`);
  let stage: FleetStage;
  let repository: string;
  let gitLog: string;

  beforeAll(async () => {
    stage = await openFleetStage({ env: secrets });
    repository = join(stage.cwd, "repository");
    gitLog = join(stage.cwd, "git.log");
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    stage.write("bin/git", `#!/bin/sh\necho "$@" >> ${gitLog}\nexec ${real} "$@"\n`);
    chmodSync(join(stage.cwd, "bin/git"), 0o755);
    for (const name of folders) stage.write(`repository/${name}/reconcile.yaml`, group(name, 1000));
    stage.write("repository/lab/reconcile.yaml", group("lab", 1000));
    git("init", "--quiet", "--initial-branch", "main");
    commit();
    stage.write("long/reconcile.yaml", long(0));
    for (let link = 1; link <= 5; link++) stage.write(`c${link}/reconcile.yaml`, chained(link, 1000));
    for (const name of changed) stage.write(`${name}/reconcile.yaml`, generated(name, {}));
    const chain = (link: number): string =>
      `  c${link}: { source: { folder: ./c${link} }${link === 1 ? "" : `, inputs: { port: "\${stack.c${link - 1}.outputs.port}" }`} }`;
    await stage.sync(`version: 1
services: { here: { base_url: "${stage.emulator.url}", dialect: ./here.dialect.yaml, credential: { env: HERE_TOKEN } } }
defaults: { service: here, interval: 1h, state: "${stage.database}?state=\${stack}", retry: { first: 1s, max: 1s } }
notify: [ { on: [applied], to: { webhook: "http://127.0.0.1:9/hook", secret: { env: HOOK_SECRET } } } ]
stacks:
  long: { source: { folder: ./long }, approve: auto, consents: [data_loss, flush, removal, recreate, empty] }
  lab: { source: { git: ./repository, path: lab }, approve: plan }
${folders.map((name) => `  ${name}: { source: { git: ./repository, path: ${name} } }`).join("\n")}
${[1, 2, 3, 4, 5].map(chain).join("\n")}
${changed.map((name) => `  ${name}: { source: { folder: ./${name} } }`).join("\n")}
`);
    for (let index = 0; index < 2; index++) await stage.worker("--concurrency", "4");
  });
  afterAll(() => stage.close());

  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], {
      cwd: repository,
      encoding: "utf8",
    });
  function commit(): void {
    git("add", "--all");
    git("commit", "--quiet", "--message", "x");
  }
  const runsOf = async (stack: string, after = 0) =>
    (await stage.session.records.runs(stack, 500)).filter(({ id }) => id > after);
  const lastRun = async (): Promise<number> => (await stage.session.records.runs(undefined, 1))[0]?.id ?? 0;
  const quiet = () =>
    eventually("nothing that is due or runs", async () => {
      const [row] = await stage.session.database.query(
        "SELECT count(*)::int AS n FROM reconcile_queue.job WHERE name = 'rounds' AND state <= 'active' AND (state = 'active' OR start_after <= now())",
      );
      return row?.["n"] === 0 ? true : undefined;
    });
  const ready = (stack: string) =>
    stage.until(stack, ({ status, lastRun }) => status.ready && lastRun?.endedAt !== undefined);

  function long(generation: number): string {
    const of = (line: (index: number) => string): string => [0, 1, 2].map(line).join("\n");
    return `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 50ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms:
${of((index) => `  m${index}: { name: long-${generation}-${index} }`)}
volumes:
${of((index) => `  v${generation}x${index}: { name: long-${generation}-${index}, size: 1, attach_to: m${index} }`)}
`;
  }

  function chained(link: number, port: number): string {
    const value = link === 1 ? String(port) : "${var.port}";
    const declared = link === 1 ? "" : "vars: { port: { type: port } }\n";
    return `version: 1
project: acme
${declared}groups:
  web: { name: chain-${link}, rules: [ { protocol: tcp, dst_port: "${value}", remote_ip: 198.51.100.0/24 } ] }
outputs:
  port: "${value}"
  other: { value: "${sensitive}", sensitive: true }
`;
  }

  test("L4: fifty triggers for a stack that runs are one more run, at the newest revision", async () => {
    await ready("long");
    // The first volume that is made from here on is this stack's.
    await quiet();
    const before = await lastRun();
    // Long enough to be seen at it, however fast the machine is.
    await fetch(`${stage.emulator.url}/_control/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "latency", ms: 4000, operation: "volume.create", count: 1 }),
    }).then(({ status }) => expect(status).toBe(200));
    const sent = (): number => stage.emulator.requests().log.filter(({ method }) => method !== "GET").length;
    const sentBefore = sent();
    stage.write("long/reconcile.yaml", long(1));
    await stage.hasten("long");
    // By its first write it has read its files; a run that has only begun may still read the next ones.
    await eventually("its first write", () => (sent() > sentBefore ? true : undefined));
    await stage.until("long", ({ lastRun }) => (lastRun?.id ?? 0) > before && lastRun?.endedAt === undefined);
    stage.write("long/reconcile.yaml", long(2));
    for (let times = 0; times < 50; times++) await stage.hasten("long");
    await eventually("the second run", async () => (await runsOf("long", before)).length > 1 || undefined);
    await quiet();
    const settled = await stage.untilSettled("long");
    expect(
      readDump(stage.emulator.dump())
        .vm.map(({ name }) => name)
        .filter((name) => name.startsWith("long-"))
        .sort(),
    ).toEqual([0, 1, 2].map((index) => `long-2-${index}`));
    expect((await runsOf("long", before)).length).toBe(2);
    expect(settled.lastRun?.result).toBe("applied");
  });

  test("D1: a chain of five keeps its order, and runs again only for what it uses", async () => {
    for (let link = 1; link <= 5; link++) await ready(`c${link}`);
    const order = (await stage.session.records.runs(undefined, 500))
      .filter(({ stack, result }) => /^c\d$/.test(stack) && result === "applied")
      .sort((a, b) => a.id - b.id);
    expect(order.map(({ stack }) => stack)).toEqual(["c1", "c2", "c3", "c4", "c5"]);
    const before = await lastRun();
    // What nobody uses: a description.
    stage.write("c1/reconcile.yaml", chained(1, 1000).replace("name: chain-1,", "name: chain-1, description: new,"));
    await stage.hasten("c1");
    await stage.untilSettled("c1");
    stage.write("c1/reconcile.yaml", chained(1, 1001));
    await stage.hasten("c1");
    await stage.until("c5", ({ lastRun }) => (lastRun?.id ?? 0) > before && lastRun?.endedAt !== undefined);
    const counts = await Promise.all(
      [2, 3, 4, 5].map(
        async (link) => (await runsOf(`c${link}`, before)).filter(({ cause }) => cause === "dependency").length,
      ),
    );
    expect(counts).toEqual([1, 1, 1, 1]);
    expect(
      readDump(stage.emulator.dump()).rule.some(
        (rule) =>
          rule.port_range_min === 1000 &&
          rule.direction === "ingress" &&
          String(rule.remote_ip_prefix).startsWith("198.51"),
      ),
    ).toBe(true);
  });

  test("L3: a push that touches three stacks is one fetch and three runs", async () => {
    for (const name of [...folders]) await ready(name);
    const pages = startCli(
      ["fleet", "serve", "--listen", "127.0.0.1:0", "--cache", join(stage.cwd, "cache-of-pages")],
      {
        cwd: stage.cwd,
        env: { ...stage.env, PATH: `${join(stage.cwd, "bin")}:${process.env["PATH"]}` },
      },
    );
    try {
      const [url] = await pages.says("pages", ({ stdout, stderr }) => /http:\S+/.exec(stderr + stdout));
      const body = JSON.stringify({ ref: "refs/heads/main", repository: { clone_url: repository } });
      const push = async () => {
        const signature = createHmac("sha256", secrets.RECONCILE_FLEET_GITHUB_SECRET).update(body).digest("hex");
        const headers = {
          "content-type": "application/json",
          "x-github-event": "push",
          "x-hub-signature-256": `sha256=${signature}`,
        };
        const answer = await fetch(new URL("/hooks/github", url), { method: "POST", headers, body });
        expect(answer.status).toBeLessThan(300);
      };
      // The first push makes the mirror; whoever saw no commit before looks at all of them.
      await push();
      await quiet();
      const before = await lastRun();
      rmSync(gitLog, { force: true });
      for (const name of folders.slice(0, 3)) stage.write(`repository/${name}/reconcile.yaml`, group(name, 2000));
      commit();
      const pushed = Date.now();
      await push();
      for (const name of folders.slice(0, 3))
        await stage.until(name, ({ lastRun }) => (lastRun?.id ?? 0) > before && lastRun?.result === "applied");
      const runs = (await stage.session.records.runs(undefined, 500)).filter(({ id }) => id > before);
      expect(runs.map(({ stack }) => stack).sort()).toEqual(folders.slice(0, 3));
      expect(
        readFileSync(gitLog, "utf8")
          .split("\n")
          .filter((line) => / fetch /.test(line)),
      ).toHaveLength(1);
      const began = Math.min(...runs.map(({ startedAt }) => startedAt.getTime())) - pushed;
      console.log(`L3: ${folders.length} stacks, 3 touched, the first began after ${began} ms`);
    } finally {
      pages.child.kill("SIGTERM");
      await pages.finished;
    }
  });

  test("A1: an approved plan is void with the next commit, and another one is offered", async () => {
    const waiting = await stage.until("lab", ({ status }) => status.awaitingApproval);
    const groups = (): string[] =>
      readDump(stage.emulator.dump())
        .group.map(({ name }) => name)
        .filter((name) => name === "lab");
    for (let port = 1001; port < 1001 + sizeOf("FLEET_VOIDS", 2); port++) {
      const { status } = port === 1001 ? waiting : await stage.until("lab", (stack) => stack.status.awaitingApproval);
      stage.write("repository/lab/reconcile.yaml", group("lab", port));
      commit();
      const committed = Date.now();
      expect((await stage.run("fleet", "approve", "lab", String(status.plan))).exitCode).toBe(0);
      await stage.until("lab", (stack) => stack.status.awaitingApproval && stack.status.plan !== status.plan);
      console.log(`A1: another plan after ${Date.now() - committed} ms`);
      expect(groups()).toEqual([]);
    }
    const { status } = await stage.until("lab", (stack) => stack.status.awaitingApproval);
    expect((await stage.run("fleet", "approve", "lab", String(status.plan))).exitCode).toBe(0);
    await ready("lab");
    expect(groups()).toEqual(["lab"]);
  });

  interface Wish {
    readonly withoutVm?: boolean;
    readonly withoutVolume?: boolean;
    readonly image?: string;
    readonly size?: number;
    readonly volume?: string;
    readonly from?: readonly string[];
    readonly more?: boolean;
    readonly vmName?: string;
  }

  function generated(name: string, wish: Wish): string {
    const { image = "ubuntu-24.04", size = 5, volume = "data", from = ["198.51.100.0/24"], vmName = "web" } = wish;
    return `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 50ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ${image}, flavor_id: m1.small, size: 10 } }
${wish.withoutVm === true && wish.more !== true ? "" : "vms:"}
${wish.withoutVm === true ? "" : `  web: { name: ${name}-${vmName} }`}
${wish.more === true ? `  more: { name: ${name}-more }` : ""}
${wish.withoutVolume === true ? "" : `volumes: { data: { name: ${name}-${volume}, size: ${size} } }`}
groups:
  web: { name: ${name}, rules: [ ${from.map((cidr) => `{ protocol: tcp, dst_port: 443, remote_ip: "${cidr}" }`).join(", ")} ] }
`;
  }

  test("A2: whatever the change, nothing is lost and nothing opened by itself", { timeout: 0 }, async () => {
    for (const name of changed) await ready(name);
    const kept = new Map(readDump(stage.emulator.dump()).volume.map(({ id, name, size }) => [id, { name, size }]));
    const vms = new Map(
      readDump(stage.emulator.dump()).vm.map(({ id, name, image_id, root_wipes }) => [
        id,
        { name, image_id, root_wipes },
      ]),
    );
    const fields = {
      withoutVm: fc.constant(true),
      withoutVolume: fc.constant(true),
      image: fc.constant("debian-12"),
      size: fc.integer({ min: 1, max: 9 }),
      volume: fc.constant("other"),
      from: fc.uniqueArray(
        fc.constantFrom("0.0.0.0/0", "::/0", "0.0.0.0/1", "128.0.0.0/1", "203.0.113.0/24", "198.51.100.0/24"),
        { minLength: 1 },
      ),
      more: fc.constant(true),
      vmName: fc.constant("www"),
    };
    const wishes = fc.sample(
      fc.tuple(fc.record(fields), fc.subarray(Object.keys(fields), { minLength: 1, maxLength: 2 })),
      { numRuns: changed.length, seed: sizeOf("FLEET_SEED", 7) },
    );
    const before = await lastRun();
    changed.forEach((name, index) => {
      const [all, chosen]: readonly [object, readonly string[]] = wishes[index] ?? [{}, []];
      const wish = Object.fromEntries(Object.entries(all).filter(([field]) => chosen.includes(field)));
      stage.write(`${name}/reconcile.yaml`, generated(name, wish));
    });
    for (const name of changed) await stage.hasten(name);
    const ends: Record<string, number> = {};
    const failures: string[] = [];
    for (const name of changed) {
      const { lastRun } = await stage.until(
        name,
        (stack) => (stack.lastRun?.id ?? 0) > before && stack.lastRun?.endedAt !== undefined,
      );
      ends[lastRun?.result ?? ""] = (ends[lastRun?.result ?? ""] ?? 0) + 1;
      if (lastRun?.result === "failed") failures.push(lastRun.reason ?? "");
    }
    const world = readDump(stage.emulator.dump());
    const wrong: string[] = [];
    for (const [id, { name, size }] of kept) {
      const now = world.volume.find((one) => one.id === id);
      if (now === undefined || now.size < size) wrong.push(`${name} was lost`);
    }
    for (const [id, { name, root_wipes }] of vms) {
      const now = world.vm.find((one) => one.id === id);
      if (now === undefined || now.root_wipes !== root_wipes) wrong.push(`${name} was lost`);
    }
    const mine = new Set(world.group.filter(({ name }) => changed.includes(name)).map(({ id }) => id));
    for (const rule of world.rule)
      if (
        mine.has(rule.security_group_id) &&
        rule.direction === "ingress" &&
        /\/[01]$/.test(rule.remote_ip_prefix ?? "")
      )
        wrong.push(`opened: ${JSON.stringify(rule)}`);
    console.log(`A2: ${changed.length} changes: ${JSON.stringify(ends)}`);
    countCampaign("fleet changes under safe", changed.length, wrong.length);
    expect(wrong).toEqual([]);
    // What no plan can do is a mistake of the file, and the only one that these changes make.
    for (const why of failures)
      expect(why).toMatch(/reconcile\.yaml:\d+ volume\.data cannot shrink from 5 to [1-4] GB/);
    // Something was carried out, and something waits, or the changes were too tame.
    expect(Object.keys(ends).sort()).toEqual(expect.arrayContaining(["applied", "awaiting_approval"]));
  });

  test("S1: no credential is in a table, a log, a metric or a page; and each line is as its schema says", async () => {
    const planted = [postgresPassword, stageToken, sensitive, ...Object.values(secrets)];
    const found: string[] = [];
    const scan = (where: string, text: string): void => {
      for (const secret of planted) if (text.includes(secret)) found.push(`${secret} in ${where}`);
    };
    const tables = await stage.session.database.query(
      "SELECT table_schema AS s, table_name AS t FROM information_schema.tables WHERE table_schema IN ('reconcile', 'reconcile_fleet', 'reconcile_queue')",
    );
    let rows = 0;
    for (const { s, t } of tables)
      for (const row of await stage.session.database.query(
        `SELECT x::text AS row FROM "${String(s)}"."${String(t)}" x`,
      )) {
        rows++;
        scan(`the table ${String(s)}.${String(t)}`, String(row["row"]));
      }
    expect(rows).toBeGreaterThan(100);
    for (const { name, output } of stage.workers) scan(`what ${name} said`, JSON.stringify(output()));
    const pages = startCli(["fleet", "serve", "--listen", "127.0.0.1:0", "--cache", join(stage.cwd, "cache")], {
      cwd: stage.cwd,
      env: stage.env,
    });
    try {
      const [url] = await pages.says("pages", ({ stdout, stderr }) => /http:\S+/.exec(stderr + stdout));
      const seen = new Set<string>();
      const links = ["/", "/metrics", "/api/stacks"];
      for (let path = links.pop(); path !== undefined && seen.size < 120; path = links.pop()) {
        if (seen.has(path)) continue;
        seen.add(path);
        const answer = await fetch(new URL(path, url));
        if (/event-stream/.test(answer.headers.get("content-type") ?? "")) {
          await answer.body?.cancel();
          continue;
        }
        const text = await answer.text();
        scan(`the page ${path}`, text + JSON.stringify([...answer.headers]));
        for (const [, link] of text.matchAll(/href="(\/[^"#]*)"/g)) if (link !== undefined) links.push(link);
      }
      expect(seen.size).toBeGreaterThan(20);
      const types = new Set<string>();
      const waiting = (await stage.session.records.stacks()).find(({ status }) => status.plan !== null);
      const applied = (await runsOf("long")).find(({ result }) => result === "applied");
      for (const command of ["list", "history", "show long", `log ${applied?.id}`, `plan ${waiting?.name}`])
        for (const json of [[], ["--json"]]) {
          const { stdout, stderr } = await stage.run("fleet", ...command.split(" "), ...json);
          scan(`fleet ${command}`, stdout + stderr);
          if (json.length > 0)
            for (const line of jsonLines(stdout)) {
              types.add(String(line["type"]));
              if (problemsOfEvent(line) !== "") found.push(problemsOfEvent(line));
            }
        }
      expect([...types].sort()).toEqual(["decision", "log", "plan", "run", "stack", "summary"]);
      scan("what the pages said", JSON.stringify(pages.output()));
      countCampaign("fleet secrets", rows + seen.size, found.length);
    } finally {
      pages.child.kill("SIGTERM");
      await pages.finished;
    }
    expect(found).toEqual([]);
    expect(
      existsSync(join(stage.cwd, "fleet.yaml")) && readFileSync(join(stage.cwd, "fleet.yaml"), "utf8"),
    ).not.toContain(stageToken);
  });

  test("a lost database: a sync makes the fleet anew, and nothing of what its stacks manage changes", async () => {
    for (const worker of [...stage.workers]) await stage.stop(worker);
    await stage.session.queue.close();
    await stage.session.database.run("DROP SCHEMA reconcile_fleet CASCADE; DROP SCHEMA reconcile_queue CASCADE");
    const writes = () =>
      Object.entries(stage.emulator.requests().counts)
        .filter(([operation]) => !/\.(list|get)$/.test(operation))
        .map(([, count]) => count);
    const before = writes();
    expect((await stage.run("fleet", "sync", "fleet.yaml", "--auto-approve")).exitCode).toBe(0);
    await stage.worker("--concurrency", "4");
    for (const name of ["long", ...folders]) expect((await ready(name)).lastRun?.result).toBe("in_sync");
    expect(writes()).toEqual(before);
  });

  test("U1: a worker of another version works beside these", async () => {
    // Tables only gain columns, so a newer version's tables serve an older worker.
    const { query } = stage.session.database;
    await query("ALTER TABLE reconcile_fleet.stacks ADD COLUMN of_tomorrow text NOT NULL DEFAULT 'x'");
    await query("ALTER TABLE reconcile_fleet.runs ADD COLUMN of_tomorrow text NOT NULL DEFAULT 'x'");
    await query("INSERT INTO reconcile_fleet.version VALUES (1000)");
    const worker = await stage.worker("--concurrency", "4");
    for (const other of [...stage.workers]) if (other !== worker) await stage.stop(other);
    const before = await lastRun();
    stage.write("long/reconcile.yaml", long(3));
    await stage.run("fleet", "run", "long");
    await stage.untilSettled("long");
    expect((await runsOf("long", before)).map(({ result }) => result)).toEqual(["applied"]);
  });
});
