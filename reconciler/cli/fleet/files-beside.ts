/**
 * The files outside of a stack's folder that its file names: programs and judges beside it, and what links show. They
 * are no part of the folder's digest, and what they do may change under an approval.
 */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { Checkout } from "../../fleet/sources/checkout";

/** A program that a stack brings along is no larger. */
const mostBytesBeside = 16 * 1024 * 1024;

export interface FileBeside {
  /** As the stack's files name it, from their folder. */
  readonly name: string;
  /** Where it is in truth, links followed. */
  readonly real: string;
  readonly digest: string;
}

/** `named`: any value of which texts may be paths. */
export function filesBeside(
  named: unknown,
  files: readonly string[],
  { root, folder }: Pick<Checkout, "root" | "folder">,
): readonly FileBeside[] {
  const found = new Map<string, FileBeside>();
  // Where the folder is a link, what it shows is elsewhere in the repository.
  const home = join(realPathOf(root) ?? root, relative(root, folder));
  const add = (path: string): void => {
    const real = realPathOf(path);
    if (real === undefined || isWithinFolder(home, real) || statSync(real).isDirectory()) return;
    const name = relative(folder, path).split(sep).join("/");
    if (!found.has(name))
      found.set(name, { name, real, digest: createHash("sha256").update(readFileSync(real)).digest("hex") });
  };
  for (const file of files) add(resolve(file));
  for (const text of textsWithin(named)) if (isPath(text)) add(resolve(folder, text));
  return [...found.values()];
}

/** Absent: there is no such file. */
export function digestBeside(files: readonly FileBeside[]): string | undefined {
  if (files.length === 0) return undefined;
  const lines = files.map(({ name, digest }) => `${digest} ${name}\n`).sort();
  return createHash("sha256").update(lines.join("")).digest("hex").slice(0, 16);
}

/** A program without a slash is one of the machine, and so is one with a whole path. */
const isPath = (text: string): boolean =>
  text.length < 300 && text.includes("/") && !text.startsWith("/") && !/[\0\n]|:\/\/|^[0-9a-f.:]+\/\d+$/i.test(text);

const isWithinFolder = (folder: string, path: string): boolean => path.startsWith(folder + sep);

/** Absent: it is no plain file, or too large to be a program. */
function realPathOf(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    const kind = statSync(real);
    return kind.isDirectory() || (kind.isFile() && kind.size <= mostBytesBeside) ? real : undefined;
  } catch {
    return undefined;
  }
}

function* textsWithin(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsWithin(item);
  else if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) yield* textsWithin(item);
}
