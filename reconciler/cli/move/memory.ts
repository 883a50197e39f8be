/**
 * The last moves between two projects, kept in `.reconcile/moved.json` of each, so that the same move the other way gives
 * both the bytes that they had: where a block stood is in no other place.
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fieldsOfJson, isObject } from "../../core/text/objects";
import { sha256 } from "../../outside/sha256";
import { type FileEdit, textAt } from "./edits";

interface RememberedMove {
  readonly moved: readonly string[];
  readonly files: readonly { readonly path: string; readonly was?: string; readonly is?: string }[];
}

const mostMoves = 20;
const memoryPath = (folder: string): string => join(folder, ".reconcile", "moved.json");

function movesRemembered(folder: string): readonly RememberedMove[] {
  const text = textAt(memoryPath(folder));
  const { moves } = text === undefined ? { moves: [] } : fieldsOfJson(text);
  // Only this program writes there; what is no such thing is left out.
  return (Array.isArray(moves) ? moves : []).filter(
    (one) => isObject(one) && Array.isArray(one["files"]),
  ) as RememberedMove[];
}

/** Nothing depends on it: where it cannot be written, a move back puts blocks at the end of their sections. */
export function rememberMove(
  folders: readonly string[],
  { moved, edits }: { readonly moved: readonly string[]; readonly edits: readonly FileEdit[] },
): void {
  if (edits.length === 0) return;
  const files = edits.map(({ path, text, after }) => ({
    path,
    was: text,
    is: after === undefined ? undefined : sha256(after),
  }));
  for (const folder of new Set(folders))
    try {
      const moves = [...movesRemembered(folder), { moved, files }].slice(-mostMoves);
      const path = memoryPath(folder);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.tmp`, JSON.stringify({ moves }), { mode: 0o600 });
      renameSync(`${path}.tmp`, path);
    } catch {
      // A folder in which nothing can be written remembers nothing.
    }
}

/**
 * The edits back, if these parts were moved before and no byte of the files was changed since. Each of the two projects,
 * which are given by the paths of their files, is one of those between which they were moved.
 */
export function recallMove(
  folders: readonly string[],
  moved: readonly string[],
  projects: readonly ReadonlySet<string>[],
): readonly FileEdit[] | undefined {
  const isSame = ({ path, is }: RememberedMove["files"][number]): boolean => {
    const text = textAt(path);
    return is === undefined ? text === undefined : text !== undefined && sha256(text) === is;
  };
  const found = [...folders.flatMap(movesRemembered)]
    .reverse()
    .find(
      (one) =>
        JSON.stringify(one.moved) === JSON.stringify(moved) &&
        projects.every((paths) => one.files.some(({ path }) => paths.has(path))) &&
        one.files.every(isSame),
    );
  return found?.files.map(({ path, was }) => ({ path, after: was }));
}
