/**
 * Processes for what may never end: a file may keep its reader or its planner busy for ever or take all its memory, and
 * the worker has the stacks of others to look at. Each process serves one stack at a time and is ended when its loop
 * does not turn any more. Stacks for which that had to be done before come one after the other, behind everything else
 * that the machine does.
 */

import { type ChildProcess, fork } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { ifPossible } from "../../core/text/errors";
import { ReadingEnded } from "../../fleet/project";
import { onAbort } from "../../service/abort-listeners";
import { packageFolder } from "../../version";
import type { ForChild, ForWorker } from "./apart-calls";
import { type Answers, createPeer, type Peer } from "./peer";

export interface ChildLimits {
  /** How long a process may be busy without an answer to anything. */
  readonly timeMs: number;
  /** The same where it got less than half of a processor meanwhile, because the machine has other work. */
  readonly longestMs: number;
  readonly memoryMb: number;
  /** How many processes there are at most. */
  readonly most: number;
  /** How long those that wait do so until another process is started for them. */
  readonly slowMs: number;
  /** What the machine's other processes have before these, from 0 to 19. */
  readonly niceness: number;
  /** So much of a processor a process may take without an answer to anything before it comes behind the others. */
  readonly givesWayMs: number;
}

export interface Lent extends Pick<Peer<ForChild>, "call"> {
  /** What it is about to do, for the message of what becomes too much. */
  begins(what: "files" | "plan"): void;
  giveBack(): void;
}

export interface Children {
  /** False: the single executable has no file that a process could be started with. */
  readonly canStart: boolean;
  /** A process for this stack, or for a change of it. A process that does not turn when the signal has fired is ended soon. */
  lend(stack: string, answers: Partial<Answers<ForWorker>>, signal?: AbortSignal): Promise<Lent>;
  /** From now on this stack comes after everything else. */
  putLast(stack: string): void;
}

/** The stacks whose last process had to be ended, and the one process that serves them. */
export interface Suspects {
  readonly names: Set<string>;
  readonly children: Children;
}

const idleMs = 60_000;
/** A process that has begun to work says so within this time, or it is busy with the first thing that it was given. */
const startMs = 5000;
const tickMs = 1000;
const lastOfAll = 19;
/** What has taken long comes behind those that may be soon done, and still gets its part of the machine. */
const behindOthers = 15;
/** So long a process may be busy once nobody wants its answer any more. */
const graceMs = 4000;

const sayings = {
  files: {
    cannot: "its files cannot be read",
    ended: "its files could not be read",
    stopped: "the reading of its files",
  },
  plan: { cannot: "its plan cannot be made", ended: "its plan could not be made", stopped: "its planning" },
};

/** Linux has a priority for each thread, and those that collect garbage do much of what a large file costs. */
function lower(pid: number, niceness: number): void {
  // One that has ended, or for which the machine does not permit it, is left as it is.
  for (const thread of threadsOf(pid)) ifPossible(() => setPriority(thread, niceness));
}

function threadsOf(pid: number): readonly number[] {
  // Another system, where a process has one priority.
  return ifPossible(() => readdirSync(`/proc/${pid}/task`).map(Number)) ?? [pid];
}

/** Every process of this kind that runs: they end with this one. */
let runningChildren: Set<ChildProcess> | undefined;

function endsWithThis(child: ChildProcess): void {
  if (runningChildren === undefined) {
    const all = new Set<ChildProcess>();
    runningChildren = all;
    process.on("exit", () => {
      for (const one of all) one.kill("SIGKILL");
    });
  }
  runningChildren.add(child);
}

/** What the process took of a processor; undefined: this system does not tell. */
function cpuMsOf({ pid }: ChildProcess): number | undefined {
  try {
    const [, rest = ""] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const fields = rest.split(" ");
    // In hundredths of a second, whatever the system's own clock has.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

export function createSuspects(limits: ChildLimits): Suspects {
  const names = new Set<string>();
  return { names, children: createPool({ ...limits, most: 1, niceness: lastOfAll }, names) };
}

export function createChildren(limits: ChildLimits, suspects: Suspects = createSuspects(limits)): Children {
  const pool = createPool(limits, suspects.names);
  return {
    canStart: pool.canStart,
    putLast: pool.putLast,
    lend: (stack, ...rest) => (suspects.names.has(stack) ? suspects.children : pool).lend(stack, ...rest),
  };
}

function createPool(
  { timeMs, longestMs, memoryMb, most, slowMs, niceness, givesWayMs }: ChildLimits,
  suspects: Set<string>,
): Children {
  const program = join(packageFolder, "bin/stack-of-fleet.js");
  /** Each takes a process for whoever waits. */
  const waiting: ((child: ChildProcess) => void)[] = [];
  const idle = new Map<ChildProcess, NodeJS.Timeout>();
  const all = new Set<ChildProcess>();
  /** It is waited for: others that are started beside it would only keep it from beginning. */
  let starting: ChildProcess | undefined;
  function start(): ChildProcess {
    const child = fork(program, [], {
      execArgv: [`--max-old-space-size=${memoryMb}`],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    all.add(child);
    endsWithThis(child);
    starting = child;
    const begins = (): void => {
      if (starting !== child) return;
      starting = undefined;
      setTimeout(() => serve(true), slowMs).unref();
    };
    child.once("message", begins);
    child.once("exit", begins);
    setTimeout(begins, startMs).unref();
    // Rounds of others have the machine first.
    if (child.pid !== undefined) lower(child.pid, niceness);
    child.once("exit", () => {
      all.delete(child);
      runningChildren?.delete(child);
      clearTimeout(idle.get(child));
      idle.delete(child);
      serve();
    });
    child.on("error", () => undefined);
    rest(child);
    return child;
  }

  /** It keeps no worker from ending. */
  function rest(child: ChildProcess): void {
    child.unref();
    child.channel?.unref();
    const timer = setTimeout(() => child.kill("SIGKILL"), idleMs);
    timer.unref();
    idle.set(child, timer);
  }

  function serve(mayStart = all.size === 0): void {
    while (waiting.length > 0) {
      const [child] = idle.keys();
      const free = child ?? (mayStart && starting === undefined && all.size < most ? start() : undefined);
      const next = free === undefined ? undefined : waiting.shift();
      if (free === undefined || next === undefined) return;
      clearTimeout(idle.get(free));
      idle.delete(free);
      next(free);
    }
  }

  function lendNow(
    child: ChildProcess,
    stack: string,
    answers: Partial<Answers<ForWorker>>,
    signal: AbortSignal | undefined,
  ): Lent {
    child.ref();
    child.channel?.ref();
    const peer = createPeer<ForChild, ForWorker>(child, answers);
    let text = sayings.files;
    let why: string | undefined;
    const isWanted = (): boolean => signal?.aborted !== true;
    const cut = (reason: string): void => {
      why = reason;
      if (isWanted()) suspects.add(stack);
      peer.fail(new ReadingEnded(reason));
      child.kill("SIGKILL");
    };
    const onExit = (code: number | null): void => {
      if (isWanted()) suspects.add(stack);
      // Without memory it is ended by a signal. One that ends by itself may have been replaced beneath this worker.
      const isOwnEnd = code !== null && code < 128;
      const cause = isOwnEnd
        ? `: the process that was to do it ended with the exit code ${code}`
        : ` with ${memoryMb} MB of memory`;
      peer.fail(new ReadingEnded(why ?? text.cannot + cause));
    };
    child.once("exit", onExit);
    // Turns are counted, not timed: a machine that was asleep has not hung, nor a process that was not asked.
    let missed = 0;
    let cpuMs: number | undefined;
    /** What had no processor to work with was not busy. */
    const isTooLong = (): boolean => {
      const [busyMs, now] = [missed * tickMs, cpuMsOf(child)];
      if (busyMs <= timeMs) return false;
      return now === undefined || cpuMs === undefined || now - cpuMs > timeMs / 2 || busyMs > longestMs;
    };
    let givesWay = false;
    const watch = setInterval(() => {
      const now = cpuMsOf(child);
      if (missed === 0) cpuMs = now;
      missed += 1;
      if (!givesWay && now !== undefined && cpuMs !== undefined && now - cpuMs > givesWayMs) {
        givesWay = true;
        if (child.pid !== undefined) lower(child.pid, Math.max(niceness, behindOthers));
      }
      if (!isWanted() && missed * tickMs > graceMs) cut(`${text.stopped} was stopped`);
      else if (isTooLong()) cut(`${text.ended} within ${timeMs / 1000} s, and was given up`);
      else
        peer.call("turns", undefined).then(
          () => {
            missed = 0;
          },
          () => undefined,
        );
    }, tickMs);
    watch.unref();
    return {
      call: peer.call,
      begins(what) {
        text = sayings[what];
      },
      giveBack() {
        clearInterval(watch);
        peer.close();
        child.removeListener("exit", onExit);
        if (child.exitCode !== null || child.signalCode !== null || child.killed) return;
        // Only the system's own user could raise its priority again.
        if (givesWay) child.kill("SIGKILL");
        else rest(child);
        serve();
      },
    };
  }

  return {
    canStart: existsSync(program),
    putLast: (stack) => void suspects.add(stack),
    lend(stack, answers, signal) {
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          const at = waiting.indexOf(take);
          if (at >= 0) waiting.splice(at, 1);
          reject(new ReadingEnded(`${sayings.files.stopped} was stopped`));
        };
        const take = (child: ChildProcess): void => {
          stay();
          resolve(lendNow(child, stack, answers, signal));
        };
        if (signal?.aborted === true) return leave();
        const stay = signal === undefined ? () => undefined : onAbort(signal, leave);
        waiting.push(take);
        serve();
        // Where all are busy, one of them may be with a file that does not end.
        setTimeout(() => serve(true), slowMs).unref();
      });
    },
  };
}
