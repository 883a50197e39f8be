/**
 * The one way to start a program that a file names: a policy, a flush command, a check, the helper that prints the
 * credential. No shell; an environment by a list of what it may see; no terminal; a limit of time that ends it with
 * everything it started; output that is bounded, and none of this program's secrets in what it says beside its answer.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { asError } from "../core/text/errors";
import { itemAt } from "../core/text/invariant";
import { onlyDefined } from "../core/text/objects";
import { createMasking } from "../service/masking";
import { withheldVariables } from "./environment";
import { tracing } from "./tracing";

export interface Program {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** Of the file that names it. */
  readonly folder: string;
  /** The variables that the file names for it, beside those that every program sees. */
  readonly env?: readonly string[];
  /** What this program is told for its purpose, such as RECONCILE_VM_IP. */
  readonly values?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly limitMs: number;
  /** More than this on standard output ends the program. Absent: only the end of what it prints is kept. */
  readonly longestAnswer?: number;
  readonly signal?: AbortSignal | undefined;
}

export type ProgramEnd = {
  /** The answer, as it was printed: a credential may be one of the secrets. Empty where none was asked for. */
  readonly stdout: string;
  /** The end of what it printed besides, for a message. */
  readonly said: string;
} & (
  | { readonly kind: "ended"; readonly exitCode: number }
  | { readonly kind: "killed"; readonly by: string }
  | { readonly kind: "not_started"; readonly why: string; readonly code?: string }
  | { readonly kind: "out_of_time" | "too_long" | "interrupted" }
);

const keptOutput = 8000;
/** Beside that, so that no secret is cut where what is kept begins, and shows in part. */
const keptBeside = 4000;
/** How often a program that was asked to end is looked for, and how many looks later it is killed. */
const endLookMs = 50;
const looksForEnd = 40;
/** What a program started may hold its output open after its end. */
const lingerMs = 1000;

const seenByAll = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "TRACEPARENT"];
/** Without these no program starts on Windows. */
const seenOnWindows = ["SystemRoot", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE"];

function environmentFor({ env = [], values = {} }: Pick<Program, "env" | "values">): NodeJS.ProcessEnv {
  const withheld = new Set(withheldVariables());
  const names = [
    ...seenByAll,
    ...(process.platform === "win32" ? seenOnWindows : []),
    ...Object.keys(process.env).filter((name) => name.startsWith("LC_")),
    ...env,
  ];
  const environment: NodeJS.ProcessEnv = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined && !withheld.has(name)) environment[name] = value;
  }
  const traceparent = tracing()?.traceparent();
  return { ...environment, ...onlyDefined({ TRACEPARENT: traceparent }), ...values };
}

/** A value that is short is an ordinary word too often to be taken out of what a program says. */
const shortestSecret = 8;
const soundsSecret = /TOKEN|SECRET|PASS|KEY|CREDENTIAL|AUTH/i;

/** What no output may show: this program's own secrets, and those that the file hands on by their names. */
export function maskingFor(env: readonly string[]) {
  const names = [...withheldVariables(), ...env.filter((name) => soundsSecret.test(name))];
  // Who uses one leaves the line feed behind it out.
  const values = names.flatMap((name) => process.env[name]?.trim() ?? []);
  return createMasking(new Set(values.filter((value) => value.length >= shortestSecret)));
}

export function runProgram(program: Program): Promise<ProgramEnd> {
  const { input, limitMs, longestAnswer, signal, env = [] } = program;
  const masking = maskingFor(env);
  return new Promise((resolve) => {
    const child = startProgram(program);
    if (child instanceof Error) return resolve({ kind: "not_started", why: child.message, stdout: "", said: "" });
    const answer: Buffer[] = [];
    let length = 0;
    let said = "";
    let isOver = false;
    const over = (how: HowItEnded): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
      const stdout = Buffer.concat(answer).toString("utf8");
      resolve({ ...how, stdout, said: masking.text(said).slice(-keptOutput).trim() });
      if (how.kind === "not_started") return;
      // A process that the program started may hold the output open; nobody waits for it.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      if (how.kind !== "ended" || longestAnswer !== undefined) setImmediate(endGroup, child);
      else releaseChild(child);
    };
    const interrupt = (): void => over({ kind: "interrupted" });
    const timer = setTimeout(() => over({ kind: "out_of_time" }), limitMs);
    signal?.addEventListener("abort", interrupt, { once: true });
    const hear = (text: string): void => {
      said = (said + text).slice(-keptOutput - keptBeside);
    };
    // A letter of several bytes may come in parts.
    child.stderr?.setEncoding("utf8").on("data", hear);
    if (longestAnswer === undefined) child.stdout?.setEncoding("utf8").on("data", hear);
    else
      child.stdout?.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > longestAnswer) return over({ kind: "too_long" });
        answer.push(chunk);
      });
    child.on("error", (error: NodeJS.ErrnoException) =>
      over({ kind: "not_started", why: error.message, code: error.code }),
    );
    const ended = (code: number | null, by: string | null): void =>
      over(code === null ? { kind: "killed", by: by ?? "a signal" } : { kind: "ended", exitCode: code });
    child.on("close", ended);
    child.on("exit", (code, by) => setTimeout(ended, lingerMs, code, by).unref());
    // A program may end without reading its input.
    child.stdin?.on("error", () => undefined).end(input ?? "");
    if (signal?.aborted) interrupt();
  });
}

type HowItEnded = ProgramEnd extends infer End
  ? End extends ProgramEnd
    ? Omit<End, "stdout" | "said">
    : never
  : never;

/** Starting a program throws for a word with a null byte in it, which a service may have put into a name. */
function startProgram({ argv, folder, env, values }: Program): ChildProcess | Error {
  try {
    const child = spawn(itemAt(argv, 0), argv.slice(1), {
      cwd: folder,
      stdio: ["pipe", "pipe", "pipe"],
      env: environmentFor({ env, values }),
      // A group of its own, which the time limit ends as a whole.
      detached: hasGroups,
      windowsHide: true,
    });
    if (child.pid !== undefined) watchOver(child);
    return child;
  } catch (error) {
    return asError(error);
  }
}

const hasGroups = process.platform !== "win32";

/**
 * Programs that run now, each with the signal that ends it. A terminal's Ctrl-C does not reach their groups, so that it
 * is passed on.
 */
const runningPrograms = new Map<ChildProcess, "SIGTERM" | "SIGKILL">();
const signalsPassedOn = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function watchOver(child: ChildProcess): void {
  if (runningPrograms.size === 0) {
    process.on("exit", endAll);
    for (const name of signalsPassedOn) process.on(name, endWithThem);
  }
  runningPrograms.set(child, "SIGTERM");
}

function releaseChild(child: ChildProcess): void {
  runningPrograms.delete(child);
  if (runningPrograms.size > 0) return;
  process.off("exit", endAll);
  for (const name of signalsPassedOn) process.off(name, endWithThem);
}

const endAll = (): void => {
  for (const [child, signal] of runningPrograms) signalChild(child, signal);
};

/** A command that listens for the signal itself decides what becomes of its programs. */
function endWithThem(name: NodeJS.Signals): void {
  if (process.listenerCount(name) > 1) return;
  endAll();
  process.off(name, endWithThem);
  process.kill(process.pid, name);
}

/** This process waits for the end of the group: after its own end nobody would kill one that does not listen. */
function endGroup(child: ChildProcess): void {
  if (!signalChild(child, "SIGTERM")) {
    releaseChild(child);
    return;
  }
  runningPrograms.set(child, "SIGKILL");
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    if (looks < looksForEnd && signalChild(child, 0)) return;
    clearInterval(timer);
    signalChild(child, "SIGKILL");
    releaseChild(child);
  }, endLookMs);
}

/** False: nothing of it is there any more. */
function signalChild(child: ChildProcess, name: NodeJS.Signals | 0): boolean {
  try {
    if (!hasGroups || child.pid === undefined) return child.kill(name);
    return process.kill(-child.pid, name);
  } catch {
    return false;
  }
}
