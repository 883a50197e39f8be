/**
 * The embedded service for a world that several processes use at a time, as the providers of one program do: the first
 * starts it in a process of its own, the others find it, and it ends by itself when nobody asks any more.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const idleMs = 20_000;
const startMs = 10_000;
const lookEveryMs = 30;

export interface SharedWorld {
  readonly url: string;
  readonly timeScale: number;
}

async function findSharedWorld(dir: string): Promise<SharedWorld | undefined> {
  const { addressFile } = require("../../emulator/shared") as typeof import("../../emulator/shared");
  const file = join(dir, addressFile);
  if (!existsSync(file)) return undefined;
  try {
    const world = JSON.parse(readFileSync(file, "utf8")) as SharedWorld;
    // Any answer will do: a file that a killed process left behind names a port where nobody listens.
    await fetch(`${world.url}/_control`, { signal: AbortSignal.timeout(2000) }).then((answer) => answer.body?.cancel());
    return world;
  } catch {
    return undefined;
  }
}

export async function shareWorld(dir: string, timeScale: number): Promise<SharedWorld> {
  const known = await findSharedWorld(dir);
  if (known !== undefined) return known;
  mkdirSync(dir, { recursive: true });
  const program = require.resolve("../../emulator/shared");
  const child = spawn(process.execPath, [program, dir, String(timeScale), String(idleMs)], {
    detached: true,
    stdio: "ignore",
    env: { PATH: process.env["PATH"] ?? "" },
  });
  child.unref();
  for (const deadline = Date.now() + startMs; Date.now() < deadline; ) {
    const world = await findSharedWorld(dir);
    if (world !== undefined) return world;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  throw new Error(`the embedded service did not start in ${dir}: another command may be using the same world`);
}
