/** Reads a secret from the environment of this worker, or from the output of a program. It is stored nowhere. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { SecretSource } from "./model";

const secretLimitMs = 30_000;

export async function readSecret(source: SecretSource, limitMs = secretLimitMs): Promise<string> {
  if ("env" in source) {
    const value = process.env[source.env];
    if (value === undefined || value === "")
      throw new Error(`the environment variable ${source.env} is not set on this worker`);
    return value;
  }
  const [program = "", ...args] = source.command;
  // One that does not heed another signal would be waited for without end.
  const limits = { timeout: limitMs, killSignal: "SIGKILL", env: withoutStateKeys() } as const;
  const { stdout } = await promisify(execFile)(program, args, limits).catch(() => ({ stdout: "" }));
  const secret = stdout.trim();
  // What it printed may be a part of the secret, so it is not in the message.
  if (secret === "") throw new Error(`the program ${program} gave no secret`);
  return secret;
}

/** A program for a secret gets no keys of states. */
const withoutStateKeys = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(RECONCILE_STATE|PGPASSWORD)/.test(name)));
