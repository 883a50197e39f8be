/** The commit of a folder's files: from the pipeline's variables, or from the checkout's own files. */

import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ifPossible } from "../core/text/errors";

const commitPattern = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

export function checkedOutCommit(folder: string): string | undefined {
  const checkout = checkoutOf(realPath(resolve(folder)));
  const repository = checkout === undefined ? undefined : repositoryOf(checkout);
  const read = repository === undefined ? undefined : commitAtHead(repository);
  if (read !== undefined) return read;
  const told = process.env["GITHUB_SHA"] ?? process.env["CI_COMMIT_SHA"];
  return told !== undefined && commitPattern.test(told) ? told : undefined;
}

export const realPath = (path: string): string => ifPossible(() => realpathSync(path)) ?? path;

/** The nearest folder above this one, or this one, that has `.git`. */
export function checkoutOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** `.git`, or the folder that the `.git` file of a worktree names. */
function repositoryOf(checkout: string): string | undefined {
  const git = join(checkout, ".git");
  if (statSync(git, { throwIfNoEntry: false })?.isFile() !== true) return git;
  const named = /^gitdir: (.+)$/m.exec(textIfThere(git) ?? "")?.[1];
  return named === undefined ? undefined : resolve(checkout, named);
}

function commitAtHead(git: string): string | undefined {
  const head = textIfThere(join(git, "HEAD"))?.trim();
  if (head === undefined || commitPattern.test(head)) return head;
  const ref = /^ref: (.+)$/.exec(head)?.[1];
  if (ref === undefined) return undefined;
  // The branches of a worktree are in the folder of the checkout that it belongs to.
  const common = textIfThere(join(git, "commondir"))?.trim();
  for (const place of common === undefined ? [git] : [git, resolve(git, common)]) {
    const direct = textIfThere(join(place, ref))?.trim();
    if (direct !== undefined && commitPattern.test(direct)) return direct;
    const packed = textIfThere(join(place, "packed-refs"))
      ?.split("\n")
      .find((line) => line.endsWith(` ${ref}`));
    if (packed !== undefined) return packed.slice(0, packed.indexOf(" "));
  }
  return undefined;
}

const textIfThere = (path: string): string | undefined => ifPossible(() => readFileSync(path, "utf8"));
