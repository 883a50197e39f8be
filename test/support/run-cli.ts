/** The built command as a process, the way a user's shell runs it. */
import { spawn } from "node:child_process";
import { join } from "node:path";

export const root = join(__dirname, "../..");
export const command = join(root, "bin", "reconcile.js");

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function runCli(
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Record<string, string>; readonly input?: string },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    // The credential of whoever runs the tests stays out of them.
    const {
      RECONCILE_TOKEN: _token,
      RECONCILE_AUTHORIZATION: _authorization,
      RECONCILE_BASE_URL: _url,
      ...environment
    } = process.env;
    const child = spawn(process.execPath, [command, ...args], {
      cwd: options.cwd,
      env: { ...environment, NO_COLOR: "1", ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ exitCode: code ?? -1, stdout, stderr }));
    child.stdin.end(options.input ?? "");
  });
}

export const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
