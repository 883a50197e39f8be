/** The built command line as a process, the way a shell or a CI runner starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { eventually } from "./eventually";

export const root = join(__dirname, "../..");
export const cliPath = join(root, "bin/reconcile.js");

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Of another build; absent: of this one. */
  readonly program?: string;
}

/** Only what is given: no credential and no setting of whoever runs the tests. */
const baseEnvironment = () => ({ PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", NO_COLOR: "1" });

export function startCli(args: readonly string[], { cwd, env = {}, input = "", program = cliPath }: CliOptions) {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...baseEnvironment(), ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  // A command that ends without reading is no failure of the test.
  child.stdin.on("error", () => undefined).end(input);
  const finished = new Promise<Ran>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ exitCode: code ?? -1, stdout, stderr }));
  });
  let over: Ran | undefined;
  finished.then(
    (ran) => {
      over = ran;
    },
    () => undefined,
  );
  return {
    child,
    finished,
    output: () => ({ stdout, stderr }),
    /** Waits for what it says or for what follows from it; a process that has ended says nothing more. */
    says: <T>(what: string, look: (output: Omit<Ran, "exitCode">) => T | null | undefined): Promise<T> =>
      eventually(what, () => {
        const ended = over;
        const found = look({ stdout, stderr });
        if (found !== undefined && found !== null) return found;
        if (ended !== undefined)
          throw new Error(`never came: ${what}; it ended with ${ended.exitCode}: ${ended.stdout}${ended.stderr}`);
        return undefined;
      }),
  };
}

/** To its end: in a process that has run the command before, unless it asks for what only a fresh one has. */
export function runCli(args: readonly string[], options: CliOptions): Promise<Ran> {
  const { cwd, env = {}, input = "", program = cliPath } = options;
  const needsFresh = input !== "" || Object.keys(env).some((name) => /^(NODE_|TZ$|LANG$|LC_)/.test(name));
  if (needsFresh) return startCli(args, options).finished;
  return startWarm(program, args, { cwd, env: { ...baseEnvironment(), ...env } }).finished;
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of each line
export const jsonLines = (stdout: string): Record<string, any>[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/* Short processes of Node that cost little: one after the other in a few that have loaded what they run before. */

export interface WarmOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Which Node, and what it is started with. */
  readonly node?: string;
  readonly nodeOptions?: string;
  /** Nothing else runs in its process, before or after it. */
  readonly alone?: boolean;
  /** All that it has written so far. */
  onOutput?(stdout: string): void;
}

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface WarmRun {
  readonly finished: Promise<Ended>;
  /** Ends a server that nobody waits for: its sockets are closed, and then it has nothing more to do. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** Which of them wait for something to run, by what they were started with. */
const idle = new Map<string, ChildProcess[]>();
const end = /\0ended (\d+)\0$/;
const streams = ["stdout", "stderr"] as const;

export function startWarm(script: string, args: readonly string[], options: WarmOptions): WarmRun {
  const { cwd, env, node = process.execPath, nodeOptions = "", alone = false, onOutput } = options;
  const key = `${node} ${nodeOptions}`;
  const child = (alone ? undefined : idle.get(key)?.pop()) ?? startProcess(node, nodeOptions);
  const said = { stdout: "", stderr: "" };
  const finished = new Promise<Ended>((resolve) => {
    const died = (code: number | null): void => finish(code ?? -1);
    const finish = (exitCode: number): void => {
      for (const name of streams) child[name]?.removeAllListeners("data");
      child.removeListener("close", died);
      resolve({ exitCode, stdout: said.stdout.replace(end, ""), stderr: said.stderr.replace(end, "") });
    };
    for (const name of streams)
      child[name]?.on("data", (text: string) => {
        said[name] += text;
        if (name === "stdout") onOutput?.(said.stdout);
        const code = end.exec(said.stdout)?.[1];
        if (code === undefined || !end.test(said.stderr)) return;
        if (alone) child.disconnect();
        else idle.set(key, [...(idle.get(key) ?? []), child]);
        finish(Number(code));
      });
    child.once("close", died);
  });
  child.send({
    script,
    args,
    cwd,
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await finished;
  };
  return {
    finished,
    kill,
    async stop() {
      child.send("stop");
      const late = setTimeout(kill, 2000);
      await finished;
      clearTimeout(late);
    },
  };
}

function startProcess(node: string, nodeOptions: string): ChildProcess {
  const child = spawn(node, [join(__dirname, "warm-process.cjs")], {
    env: { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"], NODE_OPTIONS: nodeOptions },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8");
  child.once("close", () => {
    for (const [key, free] of idle)
      idle.set(
        key,
        free.filter((one) => one !== child),
      );
  });
  return child;
}
