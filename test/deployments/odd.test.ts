/**
 * The doctor before services that are odd on purpose, with nothing but what a person knows of them: its file works as it
 * is written, for the whole life of a project, and for runs that are killed at their writes; its trial leaves nothing,
 * whatever happens to it. `ODD_STRIDE=1` kills at every write, of every service.
 */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { type Ran, runCli, startCli } from "../support/cli-process";
import { type RunningOdd, startOdd } from "../support/odd/server";
import { type Odd, odds } from "../support/odd/shapes";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const servedBy = async (odd: Odd): Promise<RunningOdd> => {
  const server = await startOdd(odd.shape);
  closers.push(() => server.close());
  return server;
};

const projectAt = (url: string, blocks: string, dialect = ""): string => `version: 1
project: acme
region: in-west-1
service: { base_url: "${url}", timing: { poll_interval: 20ms, discovery_window: 900ms, vm_create_timeout: 20s }${dialect} }
defaults: { vm: { flavor_id: m1.small, image_id: ubuntu-24.04, owner: ops@acme.example, user_id: "1042", size: 10 } }
${blocks}`;

const tcp = (port: number, more = "") => `{ protocol: tcp, dst_port: ${port}${more} }`;
const ask = "flush: { via: ask }";
const chapters: readonly string[] = [
  `vms: { web: {}, base: { name: db-1 } }
volumes: { data: { size: 20, attach_to: base, ${ask} }, spare: { size: 5, ${ask} } }
groups: { front: { description: first, rules: [${tcp(443)}, ${tcp(80)}] }, back: { rules: [${tcp(5432, ", remote_group: front")}] } }
`,
  `vms: { web: { flavor_id: m1.medium }, base: { name: base } }
volumes: { data: { size: 30, attach_to: base, ${ask} }, spare: { size: 8, attach_to: web, ${ask} } }
groups: { front: { name: edge, description: second, rules: [${tcp(443)}] }, back: { rules: [${tcp(5432, ", remote_group: front")}, ${tcp(22)}] } }
`,
  `vms: { web: { flavor_id: m1.medium, image_id: debian-12 }, base: { name: base, power: stopped } }
volumes: { data: { size: 30, attach_to: web, ${ask} }, spare: { size: 8, ${ask} } }
groups: { front: { name: edge, rules: [${tcp(443)}, ${tcp(8443)}] } }
`,
];

const consents = ["-y", "--allow-data-loss", "--confirm-flush", "all", "--allow-removal", "all"];
const envOf = ({ env = { RECONCILE_TOKEN: "ops-token" } }: Odd) => env;

function doctorArgs(odd: Odd, { url }: RunningOdd): readonly string[] {
  const permitted = `m1.small,m1.medium${odd.keepsVolumes === true ? ",keep-volume" : ""}`;
  const told = odd.told.map((word) => word.replaceAll("URL", url));
  return ["doctor", "reconcile.yaml", "--trial", "--allow-trial", permitted, ...told, "--out", "my.yaml"];
}

/** What is in the service beside what is the platform's, and what had to stay. */
const leftIn = ({ world }: RunningOdd, odd: Odd): readonly string[] => [
  ...[...world.vms.values()].map(({ name }) => `VM ${name}`),
  ...[...world.volumes.values()].flatMap(({ name }) => (odd.keepsVolumes === true ? [] : [`volume ${name}`])),
  ...[...world.groups.values()].flatMap(({ name }) => (name === "default" ? [] : [`group ${name}`])),
];

async function learn(odd: Odd): Promise<{ readonly folder: string; readonly ran: Ran; readonly server: RunningOdd }> {
  const folder = mkdtempSync(join(tmpdir(), "odd-"));
  const server = await servedBy(odd);
  writeFileSync(join(folder, "reconcile.yaml"), projectAt(server.url, "vms: { web: {} }\n"));
  const ran = await runCli(doctorArgs(odd, server), { cwd: folder, env: envOf(odd) });
  return { folder, ran, server };
}

const learnt = new Map<string, string>();

test.each(odds.map((odd) => [odd.shape.title, odd] as const))(
  "%s: the doctor's file works as it is written, from making to destroying",
  async (title, odd) => {
    const { folder, ran, server } = await learn(odd);
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining("Use it with")]);
    expect(leftIn(server, odd)).toEqual([]);
    expect(existsSync(join(folder, ".reconcile/trial.json"))).toBe(false);
    learnt.set(title, readFileSync(join(folder, "my.yaml"), "utf8"));
    const { world, url } = await servedBy(odd);
    const run = (...args: string[]) => runCli(args, { cwd: folder, env: envOf(odd) });
    for (const blocks of chapters) {
      writeFileSync(join(folder, "reconcile.yaml"), projectAt(url, blocks, ", dialect: ./my.yaml"));
      const applied = await run("apply", ...consents);
      expect([applied.exitCode, applied.exitCode === 0 ? "" : applied.stdout + applied.stderr]).toEqual([0, ""]);
      const again = await run("plan", "--detailed-exitcode");
      expect([again.exitCode, again.exitCode === 0 ? "" : again.stdout + again.stderr]).toEqual([0, ""]);
    }
    expect((await run("destroy", ...consents)).exitCode).toBe(0);
    expect([...world.vms.values(), ...[...world.groups.values()].filter(({ name }) => name !== "default")]).toEqual([]);
  },
);

const stride = Number(process.env["ODD_STRIDE"] ?? 0);

/** Kills a process at a write, before or after its effect. */
async function killedAt(
  args: readonly string[],
  { folder, odd, server }: { readonly folder: string; readonly odd: Odd; readonly server: RunningOdd },
  nth: number,
  when: "before" | "after",
): Promise<void> {
  const { child, finished } = startCli(args, { cwd: folder, env: envOf(odd) });
  const from = server.writes.length;
  server.onWrite = (count, moment) => {
    if (count - from !== nth || moment !== when) return false;
    child.kill("SIGKILL");
    return true;
  };
  await finished;
  server.onWrite = undefined;
}

/** Two of them stand for all: one that is waited for by its jobs, one that takes its time for everything. */
const killed = odds.filter(({ shape: { title } }) => stride > 0 || /asynchronous/.test(title));

test.each(killed.map((odd) => [odd.shape.title, odd] as const))(
  "%s: runs that are killed at a write go on without a twin, and trials that are killed leave nothing",
  async (title, odd) => {
    const writes = stride > 0 ? Array.from({ length: Math.floor(30 / stride) }, (_, at) => at * stride + 1) : [5, 12];
    for (const nth of writes)
      for (const when of ["before", "after"] as const) {
        const folder = mkdtempSync(join(tmpdir(), "odd-"));
        const server = await servedBy(odd);
        writeFileSync(join(folder, "reconcile.yaml"), projectAt(server.url, "vms: { web: {} }\n"));
        await killedAt(doctorArgs(odd, server), { folder, odd, server }, nth, when);
        const after = await runCli(doctorArgs(odd, server), { cwd: folder, env: envOf(odd) });
        expect([nth, when, after.exitCode, leftIn(server, odd)]).toEqual([nth, when, 0, []]);
      }
    const text = learnt.get(title) ?? readFileSync(join((await learn(odd)).folder, "my.yaml"), "utf8");
    expect(readDialectText(text, "my.yaml").diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    const runs = stride > 0 ? Array.from({ length: Math.floor(12 / stride) }, (_, at) => at * stride + 1) : [2, 7];
    for (const nth of runs)
      for (const when of ["before", "after"] as const) {
        const folder = mkdtempSync(join(tmpdir(), "odd-"));
        const server = await servedBy(odd);
        writeFileSync(join(folder, "my.yaml"), text);
        writeFileSync(join(folder, "reconcile.yaml"), projectAt(server.url, chapters[0] ?? "", ", dialect: ./my.yaml"));
        await killedAt(["apply", ...consents], { folder, odd, server }, nth, when);
        const run = (...args: string[]) => runCli(args, { cwd: folder, env: envOf(odd) });
        const goneOn = await run("apply", ...consents);
        const again = await run("plan", "--detailed-exitcode");
        const { vms, volumes, groups } = server.world;
        expect([
          nth,
          when,
          goneOn.exitCode === 0 ? "" : goneOn.stdout + goneOn.stderr,
          again.exitCode,
          [vms.size, volumes.size, groups.size],
        ]).toEqual([nth, when, "", 0, [2, 6, 3]]);
      }
  },
);
