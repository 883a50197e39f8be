/** The built command in this process, with a folder and an environment of its own for as long as it runs: one at a time. */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { CliOptions, Ran } from "./cli-process";

const { run } = createRequire(__filename)(
  resolve(__dirname, "../../dist/reconciler/cli/main.js"),
) as typeof import("../../reconciler/cli/main");

export async function runHere(args: readonly string[], { cwd, env = {} }: CliOptions): Promise<Ran> {
  const said = { stdout: "", stderr: "" };
  const before = { folder: process.cwd(), environment: { ...process.env } };
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  // The command waits for the last write before it ends.
  for (const name of ["stdout", "stderr"] as const)
    process[name].write = ((piece: unknown, ...more: readonly unknown[]) => {
      said[name] += String(piece);
      const written = more.at(-1);
      if (typeof written === "function") written();
      return true;
    }) as typeof process.stdout.write;
  for (const name of Object.keys(process.env)) if (name.startsWith("RECONCILE_")) delete process.env[name];
  Object.assign(process.env, { NO_COLOR: "1" }, env);
  process.chdir(cwd);
  try {
    return { exitCode: await run(args), ...said };
  } finally {
    process.chdir(before.folder);
    for (const name of Object.keys(process.env)) if (!(name in before.environment)) delete process.env[name];
    Object.assign(process.env, before.environment);
    for (const name of ["stdout", "stderr"] as const) process[name].write = writes[name];
  }
}
