/**
 * One process at a time works in a folder of the cache. Whoever has the turn shows that it lives by touching a mark; a
 * mark that stays untouched while somebody watches it was left by the dead. Only time that this process measured counts.
 */
import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errorCode } from "../../core/text/errors";

const touchMs = 1000;
/** A process that is busy with something else touches its mark late. */
const deadAfterMs = 10_000;
const lookMs = 50;

export async function inTurn<T>(mark: string, signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
  await take(mark, signal);
  const timer = setInterval(() => {
    const now = new Date();
    void utimes(mark, now, now).catch(() => undefined);
  }, touchMs);
  timer.unref();
  try {
    return await act();
  } finally {
    clearInterval(timer);
    await rm(mark, { force: true });
  }
}

async function take(mark: string, signal: AbortSignal | undefined): Promise<void> {
  await mkdir(dirname(mark), { recursive: true });
  let seen: { readonly sign: string; readonly at: number } | undefined;
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await (await open(mark, "wx")).close();
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
    const sign = await fileSign(mark);
    if (sign === undefined) continue;
    if (seen?.sign !== sign) seen = { sign, at: performance.now() };
    else if (performance.now() - seen.at > deadAfterMs) {
      // Taken aside, so that of several that wait one removes it.
      const aside = `${mark}.${randomUUID()}`;
      await rename(mark, aside).catch(() => undefined);
      await rm(aside, { force: true });
      seen = undefined;
    }
    await pause(lookMs);
  }
}

async function fileSign(mark: string): Promise<string | undefined> {
  try {
    const { ino, mtimeMs } = await stat(mark);
    return `${ino} ${mtimeMs}`;
  } catch {
    return undefined;
  }
}
