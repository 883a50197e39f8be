/**
 * Notes about creates as files, one for each resource, in a folder beside the program. They hold only ids and times.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { OpenCreate, OpenCreateNotes, OpenDelete } from "../one/open-creates";
import { writePrivately } from "./private-file";

interface Note extends OpenCreate {
  readonly pid: number;
  /**
   * The outcome was told to an engine that lived then, and nobody has seen the engine die before it could keep the
   * outcome.
   */
  readonly told?: true;
}

/** How long to wait for a process that still works on the create. */
const patienceMs = 60_000;
const lookEveryMs = 200;
/**
 * After this time an engine has kept the outcome that it was told. It ends this process when everything is kept, often
 * earlier.
 */
const keptAfterMs = 2000;
/** A create that is older than this is no leftover of a run that was cut off. */
const madeForMs = 24 * 3600_000;

/**
 * `owner`: names the resource among all programs that use the folder. `isEngineThere`: whether the engine that was told
 * an outcome lives to keep it.
 */
export function openCreateNotes(folder: string, owner: string, isEngineThere: () => Promise<boolean>): OpenCreateNotes {
  const file = createHash("sha256").update(owner).digest("hex").slice(0, 32);
  const path = join(folder, `${file}.json`);
  const leaving = join(folder, `${file}.left.json`);
  const forget = (): void => {
    for (const one of [path, leaving]) rmSync(one, { force: true });
  };
  const rewrite = (change: (note: Note) => Note): void => {
    const note = readNote(path);
    if (note !== undefined && note.pid === process.pid) writePrivately(path, JSON.stringify(change(note)));
  };
  return {
    async find(signal) {
      for (let waited = 0; ; waited += lookEveryMs) {
        const note = readNote(path);
        if (note === undefined || note.pid === process.pid) return undefined;
        const isDecided = !isAlive(note.pid) || waited >= 2 * keptAfterMs;
        if (note.told === true && isDecided) {
          forget();
          return undefined;
        }
        const isKnown = note.id !== undefined && note.told !== true;
        if (isKnown || waited >= patienceMs || signal.aborted || !isAlive(note.pid)) {
          if (note.id === undefined || Date.now() - Date.parse(note.sentAt) < madeForMs) return note;
          forget();
          return undefined;
        }
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      }
    },
    write(open) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writePrivately(path, JSON.stringify({ ...open, pid: process.pid } satisfies Note));
    },
    writeLeaving(open) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writePrivately(leaving, JSON.stringify(open));
    },
    findLeft(id) {
      const note = readJson(leaving);
      return isLeaving(note) && note.id === id ? note.disks : undefined;
    },
    told() {
      const mark = async (): Promise<void> => {
        if (!(await isEngineThere())) return;
        rewrite((note) => ({ ...note, told: true }));
        setTimeout(() => {
          void isEngineThere().then((isThere) => {
            // An engine that is gone may not have kept the outcome.
            if (isThere) forget();
            else rewrite(({ told: _told, ...note }) => note);
          });
        }, keptAfterMs).unref();
      };
      void mark();
    },
    forget() {
      if (existsSync(path) || existsSync(leaving)) forget();
    },
  };
}

function readNote(path: string): Note | undefined {
  const note = readJson(path);
  return isNote(note) ? note : undefined;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

const isLeaving = (note: unknown): note is OpenDelete =>
  typeof note === "object" && note !== null && "id" in note && "disks" in note && Array.isArray(note.disks);

const isNote = (note: unknown): note is Note =>
  typeof note === "object" &&
  note !== null &&
  "pid" in note &&
  typeof note.pid === "number" &&
  "sentAt" in note &&
  typeof note.sentAt === "string" &&
  "idsBefore" in note &&
  Array.isArray(note.idsBefore);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
