// Runs whole processes and says how long they took, what they held at most and how long the first word took. What is
// compared is run in turns, so that a machine that is busy for a while is busy for all of them.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");
export const cli = join(root, "bin", "reconcile.js");
export const floor = (name) => join(root, "bench", "floors", name);

/** `{ argv, cwd?, env?, exits? }` -> `{ ms, firstMs, peakMb, stdout, stderr }`; another exit code is an error. */
export function runOnce({ argv, cwd = root, env = {}, exits = [0], memory = false }) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(argv[0], argv.slice(1), {
      cwd,
      env: { ...process.env, RECONCILE_TOKEN: "ops-token", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let firstMs;
    let peakMb = 0;
    const words = { stdout: [], stderr: [] };
    for (const stream of ["stdout", "stderr"])
      child[stream].on("data", (chunk) => {
        firstMs ??= performance.now() - began;
        words[stream].push(chunk);
      });
    // The kernel keeps the high-water mark, so looking now and then misses only what happens at the very end.
    const watch = memory
      ? setInterval(() => {
          peakMb = Math.max(peakMb, highWaterMb(child.pid));
        }, 20)
      : undefined;
    child.on("error", reject);
    child.on("close", (code) => {
      clearInterval(watch);
      const ms = performance.now() - began;
      const stdout = Buffer.concat(words.stdout).toString("utf8");
      const stderr = Buffer.concat(words.stderr).toString("utf8");
      if (exits.includes(code)) resolve({ ms, firstMs, peakMb, stdout, stderr });
      else
        reject(
          new Error(`${argv.slice(0, 4).join(" ")} ended with ${code}\n${stdout.slice(-2000)}${stderr.slice(-2000)}`),
        );
    });
  });
}

function highWaterMb(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/**
 * Each of `runs` (name -> options, or a function that prepares and runs) `times` times, in turns.
 *
 * @param {Record<string, any>} runs
 * @param {number} times
 * @param {{ memory?: boolean, before?: (name: string, turn: number) => unknown }} [options]
 */
export async function inTurns(runs, times, { memory = false, before } = {}) {
  const results = Object.fromEntries(Object.keys(runs).map((name) => [name, []]));
  for (let turn = 0; turn < times; turn++)
    for (const [name, run] of Object.entries(runs)) {
      await before?.(name, turn);
      results[name].push(typeof run === "function" ? await run() : await runOnce({ memory, ...run }));
    }
  return Object.fromEntries(Object.entries(results).map(([name, list]) => [name, spread(list)]));
}

export function spread(list) {
  const sorted = list.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    ms: medianOf(sorted),
    min: sorted[0],
    max: sorted.at(-1),
    times: sorted.length,
    firstMs: medianOf(list.map(({ firstMs }) => firstMs ?? 0).sort((a, b) => a - b)),
    peakMb: Math.max(...list.map(({ peakMb }) => peakMb ?? 0)),
    last: list.at(-1),
  };
}

const medianOf = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;

/** How work grows: the slope of log(ms) over log(n), less what a run costs that has next to nothing to do. */
export function exponentOf(points, idleMs) {
  const [[n1, t1], [n2, t2]] = points.slice(-2);
  return Math.log(Math.max(1, t2 - idleMs) / Math.max(1, t1 - idleMs)) / Math.log(n2 / n1);
}

/** The emulated service as a program of its own, with a control connection. */
export async function startService(folder, flags = []) {
  const argv = [join(root, "dist/emulator/main.js"), "--dir", folder, ...flags];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    child.stdout.once("data", (line) => resolve(String(line).trim().replace("listening on ", "")));
    child.once("exit", () => reject(new Error("the emulator did not start")));
  });
  const control = async (method, path, body) => {
    const answer = await fetch(`${url}/_control${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`control ${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    url,
    control,
    /** Requests since the last call, by operation. */
    async requests() {
      const { counts } = await control("GET", "/requests");
      await control("DELETE", "/requests");
      return counts;
    },
    async close() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

export const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);
