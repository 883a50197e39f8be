/** The built command line as a process, the way a shell or a CI runner starts it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const cliPath = join(__dirname, "../../bin/reconcile.js");

export interface Finished {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Only what is given: no credential and no setting of whoever runs the tests. */
const baseEnvironment = () => ({ PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", NO_COLOR: "1" });

export function startCli(args: readonly string[], { cwd, env = {} }: CliOptions) {
  const child = spawn(process.execPath, [cliPath, ...args], {
    cwd,
    env: { ...baseEnvironment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const finished = new Promise<Finished>((resolve) =>
    child.on("close", (code) => resolve({ exitCode: code ?? -1, stdout, stderr })),
  );
  return {
    child,
    finished,
    output: () => ({ stdout, stderr }),
  };
}

export const runCli = (args: readonly string[], options: CliOptions): Promise<Finished> =>
  startCli(args, options).finished;

/** A folder of its own with these files in it. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "reconcile-test-"));
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of each line
export const jsonLines = (stdout: string): Record<string, any>[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** Until it is so; says what never came. */
export async function eventually<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
