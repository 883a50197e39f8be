/**
 * The embedded service for a world that several processes use at the same time. A command serves the world itself, and
 * commands beside it are its guests. The providers of a Pulumi program come and go, so the first of them starts the
 * service in a process of its own, which ends by itself when no request comes any more.
 */
import { spawn } from "node:child_process";
import {
  announce,
  announced,
  becomeGuest,
  countGuests,
  makeWorldFolder,
  type Served,
  serveWorldWord,
  startEmulator,
  WorldInUse,
} from "../../emulator";
import { fieldsIn } from "../core/text/objects";
import { connectionsTo } from "../service/connections-here";
import type { Connections } from "../service/transport";
import { isSingleExecutable } from "../version";

export { WorldInUse };

const idleWorldMs = 20_000;
const startMs = 10_000;
const lookForWorldMs = 30;

const nextLook = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, lookForWorldMs));

export interface EmbeddedWorld extends Served {
  /** Where this process serves the world: it asks itself, without a socket. */
  readonly connections?: Connections;
  /** Ends when no guest uses the world any more; `onWait` is called once if other guests still use it. */
  close(onWait: (guests: number) => void): Promise<void>;
}

interface EmbeddedOptions {
  readonly timeScale: number;
  readonly portRange?: string;
  readonly keepsNamedGroups?: boolean;
}

/** Serves the world from this process, or uses it beside the process that serves it. */
export async function openWorld(dir: string, options: EmbeddedOptions): Promise<EmbeddedWorld> {
  for (const deadline = performance.now() + startMs; ; await nextLook()) {
    try {
      return await serveWorld(dir, options);
    } catch (error) {
      if (!(error instanceof WorldInUse)) throw error;
      const leave = becomeGuest(dir);
      const world = await findSharedWorld(dir);
      if (world !== undefined) return { ...world, close: async () => leave() };
      leave();
      if (performance.now() > deadline) throw error;
    }
  }
}

async function serveWorld(dir: string, options: EmbeddedOptions): Promise<EmbeddedWorld> {
  const emulator = await startEmulator({ dir, ...options });
  const served: Served = { url: emulator.url, timeScale: options.timeScale };
  let withdraw = announce(dir, served);
  return {
    ...served,
    connections: connectionsTo(new URL(served.url).host, emulator.answer),
    async close(onWait) {
      withdraw();
      let guests = countGuests(dir);
      if (guests > 0) onWait(guests);
      // Who comes while it stays for others is served as well.
      for (; guests > 0; withdraw(), guests = countGuests(dir)) {
        withdraw = announce(dir, served);
        while (countGuests(dir) > 0) await nextLook();
      }
      await emulator.close();
    },
  };
}

async function findSharedWorld(dir: string): Promise<Served | undefined> {
  const world = announced(dir);
  if (world === undefined) return undefined;
  try {
    // Any answer proves that the process lives: a killed one leaves a file with a port on which nobody listens.
    await fetch(`${world.url}/_control`, { signal: AbortSignal.timeout(2000) }).then((answer) => answer.body?.cancel());
    return world;
  } catch (error) {
    // Somebody listens, and has much to do.
    return fieldsIn(error)["name"] === "TimeoutError" ? world : undefined;
  }
}

export async function shareWorld(dir: string, timeScale: number): Promise<Served> {
  const known = await findSharedWorld(dir);
  if (known !== undefined) return known;
  makeWorldFolder(dir);
  const program = isSingleExecutable() ? serveWorldWord : require.resolve("../../emulator/shared");
  const child = spawn(process.execPath, [program, dir, String(timeScale), String(idleWorldMs)], {
    detached: true,
    stdio: "ignore",
    env: { PATH: process.env["PATH"] ?? "" },
  });
  child.unref();
  for (const deadline = performance.now() + startMs; performance.now() < deadline; await nextLook()) {
    const world = await findSharedWorld(dir);
    if (world !== undefined) return world;
  }
  throw new Error(`it does not answer in ${dir}: another command may be using the same world`);
}
