/** The processes that read the files of stacks: one that a file keeps busy is ended, and the others go on. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createChildren, createSuspects } from "../../reconciler/cli/fleet/children";
import { createReaders } from "../../reconciler/cli/fleet/readers";
import { makeFolder } from "../support/folder";

const well = "version: 1\nproject: acme\n";
const volumes = (count: number): string =>
  `volumes:\n${Array.from({ length: count }, (_, at) => `  v${at}: { size: 5 }\n`).join("")}`;
/** More than a process of this memory can hold, whatever the speed of the machine. */
const endless = well + volumes(300_000);

const childProcesses = (): number[] => {
  try {
    return readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ").map(Number);
  } catch {
    return [];
  }
};
/** Of the thread that comes first. */
const priorityOf = (pid: number): number => {
  try {
    return Math.min(...readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread))));
  } catch {
    return 0;
  }
};

test("a file that is too much for a process is given up, the others are read meanwhile, and what was read is known", async () => {
  const readers = createReaders(
    createChildren({
      timeMs: 30_000,
      longestMs: 1_200_000,
      memoryMb: 128,
      most: 3,
      slowMs: 250,
      niceness: 10,
      givesWayMs: 1,
    }),
  );
  const [good, broken, bad] = [
    makeFolder({ "reconcile.yaml": well }),
    makeFolder({ "reconcile.yaml": `${well}groops: {}\n` }),
    makeFolder(),
  ];
  writeFileSync(join(bad, "reconcile.yaml"), endless);
  const check = async (folder: string, revision: string, signal?: AbortSignal) =>
    (await readers.check(folder, { folder, flags: {} }, revision, signal)).problems;
  const before = new Set(childProcesses());
  let isGiven = false;
  const given = check(bad, "r").then(
    () => "read",
    (error: Error) => error.message,
  );
  const priorities = new Set<number>();
  const looked = (async () => {
    while (!isGiven) {
      for (const pid of childProcesses()) if (!before.has(pid)) priorities.add(priorityOf(pid));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  expect(await check(good, "r")).toEqual([]);
  expect((await check(broken, "r")).map(({ code }) => code)).toEqual(["config/unknown-key"]);
  // What was read before needs no process.
  let known: unknown;
  void check(good, "r").then((problems) => {
    known = problems;
  });
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(known).toEqual([]);
  const answer = await given;
  isGiven = true;
  await looked;
  if (process.platform === "linux") expect(Math.max(...priorities), "it gives way to the others").toBe(15);
  expect(answer).toMatch(/its files (could not be read within 30 s|cannot be read with 128 MB)/);
  const stop = new AbortController();
  const ended = childProcesses();
  const stopped = expect(check(bad, "r2", stop.signal)).rejects.toThrow("was stopped");
  // As soon as its process is there: how long it takes to be too much differs between versions of Node.
  while (childProcesses().every((pid) => ended.includes(pid))) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await stopped;
  expect(await check(good, "r3")).toEqual([]);
});

test("a process that cannot even start is not said to have had too little memory", async () => {
  vi.stubEnv("NODE_OPTIONS", "--require=./absent.cjs");
  const limits = { timeMs: 30_000, longestMs: 1_200_000, memoryMb: 256, most: 1, slowMs: 0, niceness: 10 };
  const readers = createReaders(createChildren({ ...limits, givesWayMs: 1000 }));
  const folder = makeFolder({ "reconcile.yaml": well });
  await expect(readers.check(folder, { folder, flags: {} }, "r")).rejects.toThrow(
    "its files cannot be read: the process that was to do it ended with the exit code 1",
  );
  vi.unstubAllEnvs();
  expect((await readers.check(folder, { folder, flags: {} }, "r")).problems).toEqual([]);
});

test("a process that is only starting is waited for, and no others are started beside it", async () => {
  const limits = { timeMs: 30_000, longestMs: 1_200_000, memoryMb: 256, most: 6, slowMs: 0, niceness: 10 };
  const readers = createReaders(createChildren({ ...limits, givesWayMs: 1000 }));
  const before = new Set(childProcesses());
  const folders = Array.from({ length: 6 }, () => makeFolder({ "reconcile.yaml": well }));
  const read = Promise.all(folders.map((folder) => readers.check(folder, { folder, flags: {} }, "r")));
  // Sooner than any process of Node has begun.
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(childProcesses().filter((pid) => !before.has(pid)).length).toBeLessThanOrEqual(1);
  expect((await read).flatMap(({ problems }) => problems)).toEqual([]);
});

test("a stack whose files take long to be found wrong comes last from then on", async () => {
  const limits = {
    ...{ timeMs: 30_000, longestMs: 1_200_000, memoryMb: 768, most: 3 },
    ...{ slowMs: 250, niceness: 10, givesWayMs: 1000 },
  };
  const suspects = createSuspects(limits);
  const pool = createChildren(limits, suspects);
  const tookMs: number[] = [];
  const children: typeof pool = {
    ...pool,
    async lend(...lending) {
      const lent = await pool.lend(...lending);
      const call: typeof lent.call = async (...asking) => {
        const answer = await lent.call(...asking);
        tookMs.push((answer as { cpuMs: number }).cpuMs);
        return answer;
      };
      return { ...lent, call };
    },
  };
  const folders = {
    slow: makeFolder({ "reconcile.yaml": `${well}groops: {}\n${volumes(20_000)}` }),
    quick: makeFolder({ "reconcile.yaml": `${well}groops: {}\n` }),
  };
  const checkBoth = async (muchMs: number): Promise<void> => {
    const readers = createReaders(children, muchMs);
    for (const [name, folder] of Object.entries(folders))
      expect((await readers.check(name, { folder, flags: {} }, "r")).problems).not.toEqual([]);
  };
  // What is much on this machine lies between what the two files take of its processor.
  await checkBoth(Number.POSITIVE_INFINITY);
  expect([...suspects.names]).toEqual([]);
  const [slowMs = 0, quickMs = 0] = tookMs;
  expect(slowMs).toBeGreaterThan(4 * quickMs);
  await checkBoth(Math.sqrt(slowMs * Math.max(1, quickMs)));
  expect([...suspects.names]).toEqual(["slow"]);
});

test("a process whose loop hangs ends itself, and one that works does not", () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "x"));
  const stuck = join(process.cwd(), "dist/reconciler/outside/stuck.js");
  const run = (then: string) =>
    spawnSync(
      process.execPath,
      ["-e", `require(${JSON.stringify(stuck)}).endWhenStuck(2000, "This worker"); ${then}`],
      {
        encoding: "utf8",
        timeout: 60_000,
      },
    );
  const hung = run("for (;;) {}");
  expect([hung.signal, hung.stderr]).toEqual(["SIGKILL", "This worker did nothing for 2 s and is ended.\n"]);
  expect(run("setTimeout(() => process.exit(7), 5000)").status).toBe(7);
});
