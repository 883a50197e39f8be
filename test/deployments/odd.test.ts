/**
 * The doctor before services that are odd on purpose, with nothing but what a person knows of them: its file works as it
 * is written, for the whole life of a project, and for runs that are killed at their writes; its trial leaves nothing,
 * also where the one that cleans up after it is killed as well. `ODD_STRIDE=1` kills at every write of every service, or
 * of those whose titles `ODD_ONLY` matches.
 */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { type Ran, runCli, startCli } from "../support/cli-process";
import { everyOdd } from "../support/odd/every";
import { chapters, projectAt } from "../support/odd/project";
import { type RunningOdd, startOdd } from "../support/odd/server";
import type { Odd } from "../support/odd/shapes";

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
const titled = (usual: string): readonly (readonly [string, Odd])[] => {
  const which = new RegExp(process.env["ODD_ONLY"] ?? (stride > 0 ? "" : usual));
  return everyOdd.flatMap((odd) => (which.test(odd.shape.title) ? [[odd.shape.title, odd] as const] : []));
};
const lived = titled("asynchronous|tasks for");
/** Odd-near kills before all of them; processes are killed before the one that takes few connections. */
const killed = titled("asynchronous");

const learnt = new Map<string, string>();

test.each(lived)("%s: the doctor's file works as it is written, from making to destroying", async (title, odd) => {
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
});

/** Where a process dies: at its n-th write, before or after the effect. */
interface Kill {
  readonly nth: number;
  readonly when: "before" | "after";
}

/** A few, or as many as are asked for. */
const killsAmong = (writes: number, few: readonly Kill[]): readonly Kill[] =>
  stride === 0
    ? few
    : Array.from({ length: Math.ceil(writes / stride) }, (_, at) => at * stride + 1).flatMap((nth) =>
        (["before", "after"] as const).map((when) => ({ nth, when })),
      );

async function killedAt(
  args: readonly string[],
  { folder, odd, server }: { readonly folder: string; readonly odd: Odd; readonly server: RunningOdd },
  { nth, when }: Kill,
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

/** What went otherwise, of so many. Most of each is waiting, so a few go on at once. */
async function wrongOf<T>(
  what: string,
  each: readonly T[],
  wrong: (one: T) => Promise<readonly unknown[]>,
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const left = [...each];
  const work = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const problems = await wrong(one);
      if (problems.length > 0) found.push([one, ...problems]);
    }
  };
  await Promise.all(Array.from({ length: stride > 0 ? 6 : 2 }, work));
  if (stride > 0) console.log(`${what}: ${each.length - found.length} of ${each.length}`);
  return found;
}

const freshFolder = (files: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "odd-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
};

test.each(killed)(
  "%s: trials that are killed leave nothing, also where the next one is killed as well",
  async (title, odd) => {
    const few: readonly (readonly Kill[])[] = [
      [{ nth: 5, when: "before" }],
      [
        { nth: 5, when: "after" },
        { nth: 1, when: "after" },
      ],
      [{ nth: 12, when: "after" }],
    ];
    const singly = stride > 0 ? killsAmong((await learn(odd)).server.writes.length, []) : [];
    const again = singly.map(({ nth, when }): readonly Kill[] => [
      { nth, when },
      { nth: 1 + (nth % 6), when: nth % 2 === 0 ? "before" : "after" },
    ]);
    const wrong = await wrongOf(
      `${title}, trials`,
      stride > 0 ? [...singly.map((kill) => [kill]), ...again] : few,
      async (kills) => {
        const server = await servedBy(odd);
        const folder = freshFolder({ "reconcile.yaml": projectAt(server.url, "vms: { web: {} }\n") });
        for (const kill of kills) await killedAt(doctorArgs(odd, server), { folder, odd, server }, kill);
        const { exitCode, stderr } = await runCli(doctorArgs(odd, server), { cwd: folder, env: envOf(odd) });
        const notes = existsSync(join(folder, ".reconcile/trial.json"));
        const left = leftIn(server, odd);
        return exitCode === 0 && !notes && left.length === 0 ? [] : [exitCode, notes, left, stderr.slice(-1000)];
      },
    );
    expect(wrong).toEqual([]);
  },
);

test.each(killed)("%s: runs that are killed at a write go on without a twin", async (title, odd) => {
  const text = learnt.get(title) ?? readFileSync(join((await learn(odd)).folder, "my.yaml"), "utf8");
  expect(readDialectText(text, "my.yaml").diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const few: readonly Kill[] = [
    { nth: 2, when: "before" },
    { nth: 2, when: "after" },
    { nth: 7, when: "after" },
  ];
  const wrong = await wrongOf(`${title}, runs`, killsAmong(12, few), async (kill) => {
    const server = await servedBy(odd);
    const project = projectAt(server.url, chapters[0] ?? "", ", dialect: ./my.yaml");
    const folder = freshFolder({ "my.yaml": text, "reconcile.yaml": project });
    await killedAt(["apply", ...consents], { folder, odd, server }, kill);
    const run = (...args: string[]) => runCli(args, { cwd: folder, env: envOf(odd) });
    let goneOn = await run("apply", ...consents);
    const questions = [...(goneOn.stdout + goneOn.stderr).matchAll(/fix: reconcile import (volume\.(\w+)) ID/g)];
    // Where no list shows volumes, a person says what became of a create whose answer was lost.
    for (const [, address = "", name] of /volume\.list: null/.test(text) ? questions : []) {
      const made = [...server.world.volumes.values()].find((volume) => volume.name === name);
      await run(
        ...(made === undefined ? ["state", "resolve", address, "--not-created"] : ["import", address, made.id]),
      );
    }
    if (questions.length > 0) goneOn = await run("apply", ...consents);
    const again = await run("plan", "--detailed-exitcode");
    const { vms, volumes, groups } = server.world.left();
    const counts = [vms.length, volumes.length, groups.length];
    const isWhole = goneOn.exitCode === 0 && again.exitCode === 0 && counts.join() === "2,6,3";
    return isWhole ? [] : [goneOn.exitCode, again.exitCode, counts, (goneOn.stdout + goneOn.stderr).slice(-1000)];
  });
  expect(wrong).toEqual([]);
});
