/** Reads a secret where it is: the environment of this worker, or what a program prints. It is kept nowhere. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { SecretSource } from "./model";

const limitMs = 30_000;

export async function readSecret(source: SecretSource): Promise<string> {
  if ("env" in source) {
    const value = process.env[source.env];
    if (value === undefined || value === "")
      throw new Error(`the environment variable ${source.env} is not set on this worker`);
    return value;
  }
  const [program = "", ...args] = source.command;
  try {
    const { stdout } = await promisify(execFile)(program, args, { timeout: limitMs, env: withoutStateKeys() });
    return stdout.trim();
  } catch {
    // What it printed may be the secret.
    throw new Error(`the program ${program} gave no secret`);
  }
}

/** It needs no key of a state. */
const withoutStateKeys = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(RECONCILE_STATE|PGPASSWORD)/.test(name)));
