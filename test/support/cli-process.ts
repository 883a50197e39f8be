/** The built command line as a process, the way a shell or a CI runner starts it. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { eventually } from "./eventually";
import { startWarm } from "./warm-process";

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
