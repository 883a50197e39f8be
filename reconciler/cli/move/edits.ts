/**
 * The edits of files that belong to a move, written down in full before the states change: `.reconcile/moves/ID.json` in
 * the folder of each of the two projects. Whoever goes on with the move writes them, as often as it takes.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Asked } from "../../core/state/handover";
import { makeOwnFolder, replaceOwnFile } from "../../outside/private-file";
import { sha256 } from "../../outside/sha256";
import { fail } from "../compose";

export interface FileEdit {
  /** The whole path. */
  readonly path: string;
  /** A hash of its text. `undefined`: there is no such file. */
  readonly before?: string;
  /** Its text, where it is at hand. */
  readonly text?: string;
  /** `undefined`: the file is removed. */
  readonly after?: string;
}

/** One pair of states, by their locations, and what goes between them. */
export interface StatesOfMove {
  readonly giving: string;
  readonly taking: string;
  readonly asked: Asked;
}

export interface MoveEdits {
  readonly id: string;
  readonly at: string;
  readonly by: string;
  readonly states: readonly StatesOfMove[];
  /** The folders in which these edits are written down. */
  readonly folders: readonly string[];
  readonly edits: readonly FileEdit[];
}

const folderOfMoves = (folder: string): string => join(folder, ".reconcile", "moves");
const pathOfEdits = (folder: string, id: string): string => join(folderOfMoves(folder), `${id}.json`);

/** The bytes are on the disk before the file has its name. */
function writeEditFile(path: string, text: string, mode: number): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode });
  const file = openSync(temporary, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

export function writeDown(move: MoveEdits): void {
  for (const folder of move.folders) {
    makeOwnFolder(folderOfMoves(folder), 0o700);
    writeEditFile(pathOfEdits(folder, move.id), JSON.stringify(move), 0o600);
  }
}

/** The edits of a move, where this machine has them. Only this program writes there, whole or not at all. */
export function writtenDown(folder: string, id: string): MoveEdits | undefined {
  const path = pathOfEdits(folder, id);
  // `writeDown` has written it.
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

export const textAt = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

/** The files that somebody has changed since the edits were made. */
export const editedSince = ({ edits }: MoveEdits): readonly string[] =>
  edits.flatMap(({ path, before, after }) => {
    const now = textAt(path);
    const isKnown = now === after || (now === undefined ? undefined : sha256(now)) === before;
    return isKnown ? [] : [path];
  });

/** Writes what is not written yet. A file that somebody has changed since is left alone, and is an error. */
export function carryOutEdits(move: MoveEdits): void {
  const changed = editedSince(move);
  if (changed.length > 0)
    throw fail(
      "state/half-moved",
      `the files were changed in the middle of a move: ${changed.join(", ")}`,
      "put them back as they were (the records are moved already), and run the same command again",
    );
  for (const { path, after } of move.edits) {
    if (textAt(path) === after) continue;
    if (after === undefined) {
      rmSync(path);
      continue;
    }
    makeOwnFolder(dirname(path));
    if (existsSync(path)) replaceOwnFile(path, after);
    else writeEditFile(path, after, 0o644);
  }
}

export function forgetEdits({ id, folders }: MoveEdits): void {
  for (const folder of folders) rmSync(pathOfEdits(folder, id), { force: true });
}
