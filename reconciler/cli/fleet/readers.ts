/**
 * Reads the files of a stack for the first time in a process that can be ended: a file may keep its reader busy for
 * ever or take all its memory, and the worker has the stacks of others to look at. What was read once within the limits
 * is read by the worker itself from then on.
 */
import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import type { Diagnostic } from "../../core/model/diagnostic";
import { canonicalJson } from "../../core/text/canonical-json";
import { ReadingEnded } from "../../fleet/project";
import type { Trust } from "../../outside/trust";
import { packageFolder } from "../../version";
import type { Flags } from "../flags";

export interface ReadRequest {
  readonly folder: string;
  readonly flags: Flags;
  readonly trust?: Trust;
}

export interface ReadAnswer {
  readonly problems?: readonly Diagnostic[];
}

export interface ReaderLimits {
  readonly timeMs: number;
  readonly memoryMb: number;
  /** How many processes there are at most. */
  readonly most: number;
}

export interface Readers {
  /** Resolves with what is wrong with the files; nothing: they can be read. `revision` names what they hold now. */
  check(request: ReadRequest, revision: string, signal?: AbortSignal): Promise<readonly Diagnostic[]>;
}

const usual: ReaderLimits = { timeMs: 60_000, memoryMb: 768, most: 8 };
/** A reading that takes longer lets another process be started for those that wait. */
const slowMs = 250;
const lowPriority = 10;
const idleMs = 60_000;
const mostKnown = 20_000;

function lower(pid: number): void {
  try {
    setPriority(pid, lowPriority);
  } catch {
    // It has ended, or the machine does not permit it.
  }
}

interface Waiting {
  readonly request: ReadRequest;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (answer: ReadAnswer) => void;
  readonly reject: (error: Error) => void;
}

export function createReaders({ timeMs, memoryMb, most }: ReaderLimits = usual): Readers {
  const program = join(packageFolder, "dist/reconciler/cli/fleet/read-in-child.js");
  const known = new Set<string>();
  const waiting: Waiting[] = [];
  const idle = new Map<ChildProcess, NodeJS.Timeout>();
  const all = new Set<ChildProcess>();
  process.on("exit", () => {
    for (const child of all) child.kill("SIGKILL");
  });

  function start(): ChildProcess {
    const child = fork(program, [], {
      execArgv: [`--max-old-space-size=${memoryMb}`],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    all.add(child);
    // Rounds of others have the machine first.
    if (child.pid !== undefined) lower(child.pid);
    child.once("exit", () => {
      all.delete(child);
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
      const free = child ?? (mayStart && all.size < most ? start() : undefined);
      const next = free === undefined ? undefined : waiting.shift();
      if (free === undefined || next === undefined) return;
      clearTimeout(idle.get(free));
      idle.delete(free);
      read(free, next);
    }
  }

  function read(child: ChildProcess, { request, signal, resolve, reject }: Waiting): void {
    child.ref();
    child.channel?.ref();
    let isOver = false;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(limit);
      clearTimeout(slow);
      signal?.removeEventListener("abort", stop);
      child.removeAllListeners("message");
      child.removeListener("exit", onExit);
      settle();
    };
    const cut = (why: string): void =>
      end(() => {
        child.kill("SIGKILL");
        reject(new ReadingEnded(why));
      });
    const onExit = (): void =>
      end(() => reject(new ReadingEnded(`its files cannot be read with ${memoryMb} MB of memory`)));
    const stop = (): void => cut("the reading of its files was stopped");
    const limit = setTimeout(
      () => cut(`its files could not be read within ${timeMs / 1000} s, and the reading was ended`),
      timeMs,
    );
    const slow = setTimeout(() => serve(true), slowMs);
    child.once("exit", onExit);
    child.once("message", (answer: ReadAnswer) =>
      end(() => {
        rest(child);
        resolve(answer);
        serve();
      }),
    );
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
    else
      child.send(request, (error) => {
        if (error !== null) child.kill("SIGKILL");
      });
  }

  return {
    async check(request, revision, signal) {
      // The single executable has no file that a process could be started with.
      if (!existsSync(program)) return [];
      const key = canonicalJson([revision, request.folder, request.flags]);
      if (known.has(key)) return [];
      const { problems = [] } = await new Promise<ReadAnswer>((resolve, reject) => {
        waiting.push({ request, signal, resolve, reject });
        serve();
        // Where all are busy, one of them may be with a file that does not end.
        setTimeout(() => serve(true), slowMs).unref();
      });
      if (problems.length > 0) return problems;
      if (known.size >= mostKnown) known.clear();
      known.add(key);
      return [];
    },
  };
}
