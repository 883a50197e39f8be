/**
 * One world for several processes that come and go: serves a folder from a process of its own, writes its address down,
 * and ends when no request came for a while. The first process that needs the world starts it; of two that were started
 * at once, the folder's lock lets one live. Run as a program: FOLDER TIME-SCALE IDLE-MS.
 */
import { announce, countGuests } from "./folder-lock";
import { startEmulator } from "./index";

export async function serveShared([dir = "", timeScaleText, idleText]: readonly string[]): Promise<void> {
  const [timeScale, idleMs] = [Number(timeScaleText), Number(idleText)];
  const emulator = await startEmulator({ dir, timeScale });
  const withdraw = announce(dir, { url: emulator.url, timeScale });
  const total = (): number => Object.values(emulator.requests().counts).reduce((sum, count) => sum + count, 0);
  await new Promise<void>((resolve) => {
    let seen = total();
    let since = Date.now();
    const timer = setInterval(
      () => {
        const now = total();
        if (now !== seen || countGuests(dir) > 0) {
          seen = now;
          since = Date.now();
        } else if (Date.now() - since >= idleMs) end();
      },
      Math.min(1000, idleMs / 4),
    );
    const end = (): void => {
      clearInterval(timer);
      resolve();
    };
    process.once("SIGTERM", end);
    process.once("SIGINT", end);
  });
  withdraw();
  await emulator.close();
}

if (require.main === module) {
  serveShared(process.argv.slice(2)).catch((error: Error) => {
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 1;
  });
}
