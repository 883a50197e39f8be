/** A service that is slow for as long as a test wants something to be under way, and then in a hurry. */
import type { RunningEmulator } from "../../emulator";

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
