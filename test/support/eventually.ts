import { inject } from "vitest";
import type { RunningEmulator } from "../../emulator";

declare module "vitest" {
  interface ProvidedContext {
    readonly waitLimitMs: number;
  }
}

/** From patience.mts. */
export const waitLimitMs = inject("waitLimitMs");

/** Waits until something is there; a machine that has other work takes its time. Says what never came. */
export async function eventually<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + waitLimitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** No process has the id, or none of the group whose id is given as a negative number. */
export function isGone(pid: number): true | undefined {
  try {
    process.kill(pid, 0);
    return undefined;
  } catch {
    return true;
  }
}

/* A service that is slow for as long as a test wants something to be under way, and then in a hurry. */

/** Moves the service's clock on until all is over. */
export async function hurried<T>(emulator: RunningEmulator, running: Promise<T>): Promise<T> {
  let isOver = false;
  const over = running.finally(() => {
    isOver = true;
  });
  over.catch(() => undefined);
  while (!isOver) {
    const body = JSON.stringify({ advance_ms: 60_000 });
    await fetch(`${emulator.url}/_control/time`, { method: "POST", body });
    await Promise.race([over.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  return over;
}
