/**
 * The world's folder. Every answer waits until the changes behind it are on the disk; many requests share one sync.
 *
 *   world.json        a snapshot, and the number of the first journal that goes on from it
 *   journal-N.jsonl   one line a request: its changes, all or none
 *
 * Compaction starts journal N+1, writes a snapshot that names it, and only then removes what came before; a kill in
 * between leaves the old snapshot with both journals. Replaying a change that a snapshot already holds does no harm,
 * because changes are whole entities. A last line without its end is a write that was never answered, and is dropped.
 */

import { open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WorldChange } from "./entities";
import { codeOfError } from "./errors";
import { isBodyObject } from "./fields";
import type { WorldDump } from "./world";

export type Journal = Awaited<ReturnType<typeof openJournal>>;

export interface Loaded {
  readonly dump: WorldDump | undefined;
  readonly changes: readonly (readonly WorldChange[])[];
  /** The number the next journal gets. */
  readonly next: number;
}

interface Snapshot {
  readonly journal: number;
  readonly world: WorldDump;
}

const journalName = (n: number): string => `journal-${n}.jsonl`;

export async function loadFolder(dir: string): Promise<Loaded> {
  const snapshot = await readWorldSnapshot(join(dir, "world.json"));
  const numbers = (await readdir(dir))
    .map((name) => Number(/^journal-([0-9]+)\.jsonl$/.exec(name)?.[1] ?? Number.NaN))
    .filter((n) => Number.isInteger(n))
    .sort((a, b) => a - b);
  const changes: (readonly WorldChange[])[] = [];
  let next = snapshot?.journal ?? 1;
  for (const n of numbers) {
    if (n < (snapshot?.journal ?? 0)) continue;
    const text = await readFile(join(dir, journalName(n)), "utf8");
    for (const change of readLines(text, journalName(n))) changes.push(change);
    // A journal with a line that a kill cut off is never continued. An empty one is, so that runs that write nothing
    // leave one empty file and not one each.
    next = text === "" ? n : n + 1;
  }
  return { dump: snapshot?.world, changes, next };
}

async function readWorldSnapshot(path: string): Promise<Snapshot | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (codeOfError(error) === "ENOENT") return undefined;
    throw error;
  }
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Error("world.json is damaged: the world's folder was changed by something else");
  }
  if (!isSnapshot(read)) throw new Error("world.json is of another program or of another version: it is left as it is");
  return read;
}

const isSnapshot = (read: unknown): read is Snapshot =>
  isBodyObject(read) &&
  Number.isInteger(read["journal"]) &&
  isBodyObject(read["world"]) &&
  read["world"]["version"] === 1;

export function readLines(text: string, name: string): (readonly WorldChange[])[] {
  const lines = text.split("\n");
  // The rest after the last line end, which a kill cut off; empty when there is none.
  lines.pop();
  return lines.map((line, n) => {
    try {
      // Written by `append`.
      return JSON.parse(line);
    } catch {
      throw new Error(`${name}, line ${n + 1} is damaged: the world's folder was changed by something else`);
    }
  });
}

export async function openJournal(
  dir: string,
  first: number,
  takeSnapshot: () => WorldDump,
  compactAfterBytes = 16 * 1024 * 1024,
) {
  let number = first;
  let file = await open(join(dir, journalName(number)), "a", 0o600);
  let written = 0;
  let pending: string[] = [];
  let waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  let flushing: Promise<void> | undefined;
  let failure: unknown;
  let wantsCompaction = false;
  let threshold = compactAfterBytes;

  function enqueue(): Promise<void> {
    const done = new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
    flushing ??= flush().finally(() => {
      flushing = undefined;
    });
    return done;
  }

  async function flush(): Promise<void> {
    // One turn later, so that requests that arrived together are written together.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const lines = pending;
      const waiters = waiting;
      // The journal is chosen with the batch: changes from before a load must not follow the new world's snapshot.
      const compacting = wantsCompaction;
      wantsCompaction = false;
      pending = [];
      waiting = [];
      try {
        if (failure !== undefined) throw failure;
        if (lines.length > 0) {
          const text = lines.join("");
          await file.appendFile(text);
          await file.datasync();
          written += Buffer.byteLength(text);
        }
        if (compacting || (written > threshold && !wantsCompaction)) await rotate();
        for (const waiter of waiters) waiter.resolve();
      } catch (error) {
        failure = error;
        for (const waiter of waiters) waiter.reject(error);
      }
    }
  }

  async function rotate(): Promise<void> {
    const next = await open(join(dir, journalName(number + 1)), "a", 0o600);
    const before = file;
    number += 1;
    file = next;
    // From here on all changes go to the new journal. Changes that are pending now are in the snapshot too.
    const text = JSON.stringify({ journal: number, world: takeSnapshot() } satisfies Snapshot);
    threshold = Math.max(compactAfterBytes, 2 * text.length);
    written = 0;
    await before.close();
    await writeWorldFile(dir, "world.json", text);
    for (const name of await readdir(dir)) {
      const old = /^journal-([0-9]+)\.jsonl$/.exec(name)?.[1];
      if (old !== undefined && Number(old) < number) await rm(join(dir, name));
    }
  }

  return {
    /** Resolves once these changes are durable; rejects when the disk refuses, after which nothing is accepted any more. */
    append(changes: readonly WorldChange[]): Promise<void> {
      pending.push(`${JSON.stringify(changes)}\n`);
      return enqueue();
    },
    /** Resolves once everything appended so far is durable. */
    settled: () => (flushing === undefined && failure === undefined ? undefined : enqueue()),
    /** Replaces everything by what `takeSnapshot` gives now. */
    compact(): Promise<void> {
      wantsCompaction = true;
      return enqueue();
    },
    async close(): Promise<void> {
      await flushing;
      await file.close();
    },
  };
}

/** The new content or the old, never a mixture: written aside, synced, renamed, and the folder synced. */
async function writeWorldFile(dir: string, name: string, text: string): Promise<void> {
  const aside = join(dir, `${name}.new`);
  await writeFile(aside, text, { mode: 0o600, flush: true });
  await rename(aside, join(dir, name));
  const folder = await open(dir, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
