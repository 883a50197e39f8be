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
import { further } from "../support/odd/further";
import { chapters, projectAt } from "../support/odd/project";
import { type RunningOdd, startOdd } from "../support/odd/server";
import { odds as first, type Odd } from "../support/odd/shapes";

const odds = [...first, ...further];

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const servedBy = async (odd: Odd): Promise<RunningOdd> => {
  const server = await startOdd(odd.shape);
  closers.push(() => server.close());
  return server;
};

const consents = ["-y", "--allow-data-loss", "--confirm-flush", "all", "--allow-removal", "all"];
const envOf = ({ env = { RECONCILE_TOKEN: "ops-token" } }: Odd) => env;

function doctorArgs(odd: Odd, { url }: RunningOdd): readonly string[] {
  const permitted = `m1.small,m1.medium${odd.keepsVolumes === true ? ",keep-volume" : ""}`;
  const told = odd.told.map((word) => word.replaceAll("URL", url));
  return ["doctor", "reconcile.yaml", "--trial", "--allow-trial", permitted, ...told, "--out", "my.yaml"];
}

/** What is in the service beside what is the platform's, and what had to stay. */
const leftIn = ({ world }: RunningOdd, odd: Odd): readonly string[] => {
  const { vms, volumes, groups } = world.left();
  return [
    ...vms.map(({ name }) => `VM ${name}`),
    ...volumes.flatMap(({ name }) => (odd.keepsVolumes === true ? [] : [`volume ${name}`])),
    ...groups.flatMap(({ name }) => (name === "default" ? [] : [`group ${name}`])),
  ];
};

async function learn(odd: Odd): Promise<{ readonly folder: string; readonly ran: Ran; readonly server: RunningOdd }> {
  const folder = mkdtempSync(join(tmpdir(), "odd-"));
  const server = await servedBy(odd);
  writeFileSync(join(folder, "reconcile.yaml"), projectAt(server.url, "vms: { web: {} }\n"));
  const ran = await runCli(doctorArgs(odd, server), { cwd: folder, env: envOf(odd) });
  return { folder, ran, server };
}

const stride = Number(process.env["ODD_STRIDE"] ?? 0);
/** All of them where every write is to be tried; two stand for them, and the rest are tried in one process. */
const tried = odds.filter(({ shape: { title } }) => stride > 0 || /asynchronous|tasks for/.test(title));

const learnt = new Map<string, string>();

test.each(tried.map((odd) => [odd.shape.title, odd] as const))(
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
    const { vms, groups } = world.left();
    expect([...vms, ...groups.filter(({ name }) => name !== "default")]).toEqual([]);
  },
);

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

test.each(tried.map((odd) => [odd.shape.title, odd] as const))(
  "%s: runs that are killed at a write go on without a twin, and trials that are killed leave nothing",
  async (title, odd) => {
    const writes = stride > 0 ? Array.from({ length: Math.floor(30 / stride) }, (_, at) => at * stride + 1) : [5, 12];
    for (const nth of writes)
      for (const when of stride > 0 || nth === 5 ? (["before", "after"] as const) : (["after"] as const)) {
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
      for (const when of stride > 0 || nth === 2 ? (["before", "after"] as const) : (["after"] as const)) {
        const folder = mkdtempSync(join(tmpdir(), "odd-"));
        const server = await servedBy(odd);
        writeFileSync(join(folder, "my.yaml"), text);
        writeFileSync(join(folder, "reconcile.yaml"), projectAt(server.url, chapters[0] ?? "", ", dialect: ./my.yaml"));
        await killedAt(["apply", ...consents], { folder, odd, server }, nth, when);
        const run = (...args: string[]) => runCli(args, { cwd: folder, env: envOf(odd) });
        const goneOn = await run("apply", ...consents);
        const again = await run("plan", "--detailed-exitcode");
        const { vms, volumes, groups } = server.world.left();
        expect([
          nth,
          when,
          goneOn.exitCode === 0 ? "" : goneOn.stdout + goneOn.stderr,
          again.exitCode,
          [vms.length, volumes.length, groups.length],
        ]).toEqual([nth, when, "", 0, [2, 6, 3]]);
      }
  },
);
