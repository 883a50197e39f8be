/** Reads a secret from the environment of this worker, or from the output of a program. It is stored nowhere. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { SecretSource } from "./model";

const secretLimitMs = 30_000;

export async function readSecret(source: SecretSource): Promise<string> {
  if ("env" in source) {
    const value = process.env[source.env];
    if (value === undefined || value === "")
      throw new Error(`the environment variable ${source.env} is not set on this worker`);
    return value;
  }
  const [program = "", ...args] = source.command;
  try {
    const { stdout } = await promisify(execFile)(program, args, { timeout: secretLimitMs, env: withoutStateKeys() });
    return stdout.trim();
  } catch {
    // The output may be the secret, so it is not in the message.
    throw new Error(`the program ${program} gave no secret`);
  }
}

/** A program for a secret gets no keys of states. */
const withoutStateKeys = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(RECONCILE_STATE|PGPASSWORD)/.test(name)));
