/** The commit of a folder's files: from the pipeline's variables, or from the checkout's own files. */
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const commitPattern = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

export function checkedOutCommit(folder: string): string | undefined {
  const checkout = findCheckout(resolve(folder));
  const read = checkout === undefined ? undefined : commitAtHead(checkout);
  if (read !== undefined) return read;
  const told = process.env["GITHUB_SHA"] ?? process.env["CI_COMMIT_SHA"];
  return told !== undefined && commitPattern.test(told) ? told : undefined;
}

/** `.git`, or the folder that the `.git` file of a worktree names. */
function findCheckout(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const git = join(at, ".git");
    const there = statSync(git, { throwIfNoEntry: false });
    if (there?.isDirectory()) return git;
    if (there?.isFile()) {
      const named = /^gitdir: (.+)$/m.exec(textIfThere(git) ?? "")?.[1];
      return named === undefined ? undefined : resolve(at, named);
    }
    if (dirname(at) === at) return undefined;
  }
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

export function textIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
