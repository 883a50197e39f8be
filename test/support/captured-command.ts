/**
 * The built command in this process: with everything it prints caught, dead from a chosen moment on, or in a time that
 * passes only while it waits. What thousands of inputs and moments are put through.
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { StateStore } from "../../reconciler/store/store";
import "./in-memory";
import { createMortality, type Moment, type Mortality } from "./mortal";

/** The built program, as its lazy loading wants it. */
const built = <T>(path: string): T => createRequire(__filename)(resolve(__dirname, "../../dist/reconciler", path));
export const { run } = built<typeof import("../../reconciler/cli/main")>("cli/main.js");
const compose = built<typeof import("../../reconciler/cli/compose")>("cli/compose.js");
const lease = built<typeof import("../../reconciler/store/lease")>("store/lease.js");
const { systemClock } = built<typeof import("../../reconciler/service/system-clock")>("service/system-clock.js");

export interface Captured {
  readonly exitCode: number;
  readonly text: string;
  /** It threw instead of ending. */
  readonly thrown?: unknown;
}

export async function captureCommand(argv: readonly string[]): Promise<Captured> {
  let text = "";
  const catchAll = (piece: unknown): boolean => {
    text += String(piece);
    return true;
  };
  const [out, err] = [process.stdout.write, process.stderr.write];
  process.stdout.write = catchAll as typeof out;
  process.stderr.write = catchAll as typeof err;
  try {
    return { exitCode: await run(argv), text };
  } catch (thrown) {
    return { exitCode: -1, text, thrown };
  } finally {
    process.stdout.write = out;
    process.stderr.write = err;
  }
}

/** What no input may bring about, in words. */
export function misbehaviour({ exitCode, text, thrown }: Captured): string[] {
  const problems: string[] = [];
  if (thrown !== undefined) problems.push(`it threw: ${(thrown as Error).stack ?? String(thrown)}`);
  else if (![0, 1, 2, 3, 4].includes(exitCode)) problems.push(`exit ${exitCode}`);
  if (/^\s+at .+:\d+:\d+\)?$/m.test(text)) problems.push(`a stack trace: ${text.slice(0, 600)}`);
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.exec(text);
  if (hidden !== null)
    problems.push(
      `a control character gets through: ${JSON.stringify(text.slice(Math.max(0, hidden.index - 80), hidden.index + 20))}`,
    );
  if (exitCode !== 0 && text.trim() === "") problems.push("it failed without a word");
  return problems;
}

export function pollution(): string[] {
  const extra = [Object.prototype, Array.prototype, Function.prototype].flatMap((prototype) => Object.keys(prototype));
  const polluted = ({} as Record<string, unknown>)["polluted"];
  return extra.length === 0 && polluted === undefined ? [] : [`prototypes are polluted: ${extra.join(", ")}`];
}

export interface MortalRun {
  readonly counts: Mortality["counts"];
  /** `undefined`: it died. */
  readonly ended: Captured | undefined;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * It can die like a process that was killed: from the chosen moment on nothing that it asks of the service or of its
 * store comes back, and it gives no more signs of life. What it had sent has its effect.
 */
export async function runMortal(argv: readonly string[], moment?: Moment): Promise<MortalRun> {
  const mortality = createMortality(moment, { locks: true });
  const { openStore, openWorkspaceService } = compose;
  const { startHeartbeat } = lease;
  const beating: { stop(): void }[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  const output = [process.stdout.write, process.stderr.write] as const;
  const listening = signals.map((signal) => process.listeners(signal));
  Object.assign(compose, {
    openStore: (...args: Parameters<typeof openStore>): StateStore => mortality.store(openStore(...args)),
    openWorkspaceService: async (...args: Parameters<typeof openWorkspaceService>) => {
      const service = await openWorkspaceService(...args);
      closing.push(() => service.close());
      return { ...service, client: mortality.client(service.client) };
    },
  });
  Object.assign(lease, {
    startHeartbeat: (...args: Parameters<typeof startHeartbeat>) => {
      const heartbeat = startHeartbeat(...args);
      beating.push(heartbeat);
      return heartbeat;
    },
  });
  try {
    const ended = await Promise.race([captureCommand(argv), mortality.death.then(() => undefined)]);
    if (ended === undefined) {
      for (const heartbeat of beating) heartbeat.stop();
      // What was in flight beside it still has its effect.
      await mortality.idle();
      await Promise.all(closing.map((close) => close()));
    }
    return { counts: mortality.counts, ended };
  } finally {
    Object.assign(compose, { openStore, openWorkspaceService });
    Object.assign(lease, { startHeartbeat });
    [process.stdout.write, process.stderr.write] = output;
    for (const [index, signal] of signals.entries())
      for (const listener of process.listeners(signal))
        if (listening[index]?.includes(listener) !== true) process.removeListener(signal, listener);
  }
}

/*
 * Its time passes only while the command waits, and then at once. A window of seconds costs nothing, and a loaded machine
 * does not end it before anybody has looked.
 */

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

let passed = 0;
let sleepers: Sleeper[] = [];
let scheduled = false;
let day = Date.now();

/** What is asked for in between is answered first: the earliest is woken once the events of this moment are over. */
function schedule(): void {
  if (scheduled || sleepers.length === 0) return;
  scheduled = true;
  setImmediate(() => {
    scheduled = false;
    if (sleepers.length === 0) return;
    const earliest = sleepers.reduce((one, other) => (other.at < one.at ? other : one));
    sleepers = sleepers.filter((sleeper) => sleeper !== earliest);
    passed = Math.max(passed, earliest.at);
    earliest.wake();
    schedule();
  });
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted === true) return done();
    const sleeper: Sleeper = {
      at: passed + ms,
      wake: () => {
        signal?.removeEventListener("abort", end);
        done();
      },
    };
    const end = (): void => {
      sleepers = sleepers.filter((other) => other !== sleeper);
      done();
    };
    signal?.addEventListener("abort", end, { once: true });
    sleepers.push(sleeper);
    schedule();
  });
}

const hasty = { now: () => passed, instant: () => new Date(day + passed).toISOString(), sleep };
const steady = { ...systemClock };
let inHaste = 0;

/** What it runs of the program has the time that passes at once. What other tests import is the same program. */
export async function hastened<T>(run: () => Promise<T>): Promise<T> {
  // The time of day never lags behind the machine's, by which files and services are dated.
  day = Math.max(day, Date.now() - passed);
  if (inHaste++ === 0) Object.assign(systemClock, hasty);
  try {
    return await run();
  } finally {
    if (--inHaste === 0) Object.assign(systemClock, steady);
  }
}
