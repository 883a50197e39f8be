/**
 * The engines on this machine, by its list of processes. Where a system shows no such list, or hides a process,
 * nothing is known of it.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, sep } from "node:path";
import { type Neighbours, stackIn } from "../reconciler/for-provider";

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly args: readonly string[];
}

const isEngine = ({ args }: Running): boolean => /^pulumi(\.exe)?$/.test(basename(args[0] ?? ""));

function lookUp(pid: number): Running {
  if (process.platform === "linux") {
    const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return { pid, parent: Number(parent), args: readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0") };
  }
  const [row] = listed("-p", String(pid));
  if (row === undefined) throw new Error(`there is no process ${pid}`);
  return row;
}

const listed = (...which: string[]): Running[] =>
  execFileSync("ps", ["-ww", "-o", "pid=,ppid=,args=", ...which], { encoding: "utf8", maxBuffer: 1 << 26 })
    .trim()
    .split("\n")
    .map((row) => {
      const [pid, parent, ...args] = row.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), args };
    });

/** The processes above this one, the nearest first. There may be a launcher between this one and its engine. */
export function* processesAbove(): Generator<Running & { readonly isEngine: boolean }> {
  try {
    for (let pid = process.ppid; pid > 0; ) {
      const one = lookUp(pid);
      yield { ...one, isEngine: isEngine(one) };
      pid = one.parent;
    }
  } catch {
    // It ended, or is hidden from us.
  }
}

/** What cannot be looked at is none. */
function lookIfShown<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

const isWithin = (folder: string, other: string): boolean => folder === other || folder.startsWith(`${other}${sep}`);

/** Whether a process may serve a program of this folder: on systems that do not tell where a process works, each may. */
function mayBeOf(pid: number, folder: string): boolean {
  if (process.platform !== "linux") return true;
  const at = lookIfShown(() => readlinkSync(`/proc/${pid}/cwd`));
  return at !== undefined && (isWithin(at, folder) || isWithin(folder, at));
}

function allRunning(): readonly Running[] {
  if (process.platform !== "linux") return process.platform === "win32" ? [] : (lookIfShown(() => listed("-ax")) ?? []);
  return (lookIfShown(() => readdirSync("/proc")) ?? []).flatMap((name) => {
    const one = /^\d+$/.test(name) ? lookIfShown(() => lookUp(Number(name))) : undefined;
    return one === undefined ? [] : [one];
  });
}

/** The stack that an engine is told on its command line; `undefined`: the one that is selected, whichever that is. */
function stackTold(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => /^(-s|--stack)(=|$)/.test(arg));
  if (at < 0) return undefined;
  const [, value = args[at + 1]] = args[at]?.split("=") ?? [];
  // It may stand behind its organization and its project.
  return value?.split("/").at(-1);
}

/**
 * Whether another engine is at work on a stack of a program of this folder: one that lost its lock (`pulumi cancel`)
 * goes on with the state that it has read, and writes it over that of the next one.
 */
export function areOtherEnginesAtWork(stack: string, folder = process.cwd()): boolean {
  const above = new Set([...processesAbove()].map(({ pid }) => pid));
  return allRunning().some(
    (one) =>
      isEngine(one) &&
      !above.has(one.pid) &&
      [undefined, stack].includes(stackTold(one.args)) &&
      mayBeOf(one.pid, folder),
  );
}

/** This process serves one stack. */
let wereThere: boolean | undefined;

export function otherEnginesOf(urn: string): Neighbours {
  const stack = stackIn(urn);
  return {
    areThere: () => areOtherEnginesAtWork(stack),
    wereThere() {
      wereThere ??= areOtherEnginesAtWork(stack);
      return wereThere;
    },
  };
}
